#include "stack_spans.h"

/* Half of what the model can hold, so that a clock's shift still fits. */
#define LATEST_NS (INT64_C(1) << 61)

static void leave_to(struct sink *s, struct stack_track *t, size_t depth)
{
	while (t->open.nr > depth) {
		const struct stack_frame *f = &t->open.v[--t->open.nr];

		if (f->args != STR_NONE)
			s->ops->leave_args(s, t->id, f->args);
		s->ops->leave(s, t->id, t->end_ns, f->name);
	}
}

static size_t shared(const struct stack_track *t, const struct stack_frame *v, size_t n)
{
	size_t i = 0;

	while (i < n && i < t->open.nr && t->open.v[i].name == v[i].name &&
	       t->open.v[i].category == v[i].category)
		i++;
	return i;
}

int64_t stack_push(struct sink *s, struct stack_track *t, int64_t t_ns, int64_t weight_ns,
		   const struct stack_frame *v, size_t n)
{
	bool follows = t->begun && (t_ns <= t->end_ns || t_ns - t->end_ns < weight_ns / 2);
	int64_t start_ns = follows ? t->end_ns : t_ns;
	size_t keep = follows ? shared(t, v, n) : 0;

	if (start_ns > LATEST_NS - weight_ns || start_ns < -LATEST_NS)
		return -1;
	leave_to(s, t, keep);
	for (size_t i = keep; i < n; i++) {
		s->ops->enter(s, t->id, start_ns, v[i].name, v[i].category);
		VEC_PUSH(&t->open, v[i]);
	}
	t->begun = true;
	t->end_ns = start_ns + weight_ns;
	return start_ns > t_ns ? start_ns - t_ns : 0;
}

void stack_close(struct sink *s, struct stack_track *t)
{
	leave_to(s, t, 0);
	VEC_RELEASE(&t->open);
}
