#include "stack_spans.h"

#include <inttypes.h>
#include <stdio.h>

#include "profrig/model/warnings.h"

/* Half of the model's range, so that a clock's shift still fits. */
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

static bool is_open(const struct stack_track *t, size_t i, const struct stack_frame *f)
{
	return i < t->open.nr && t->open.v[i].name == f->name &&
	       t->open.v[i].category == f->category;
}

static size_t frames_shared(const struct stack_track *t, const struct stack_frame *v, size_t n)
{
	size_t i = 0;

	while (i < n && is_open(t, i, &v[i]))
		i++;
	return i;
}

/* How many of n frames there is memory for, where keep are open already. */
static size_t frames_affordable(const struct stack_limit *l, size_t keep, size_t n)
{
	uint64_t left = l->memory.left > 0 ? (uint64_t)l->memory.left / MEM_SPAN : 0;

	return n - keep <= left ? n : keep + (size_t)left;
}

int64_t stack_push(struct sink *s, struct stack_limit *l, struct stack_track *t, int64_t t_ns,
		   int64_t weight_ns, const struct stack_frame *v, size_t n, size_t more)
{
	bool follows = t->begun && (t_ns <= t->end_ns || t_ns - t->end_ns < weight_ns / 2), cut;
	int64_t start_ns = follows ? t->end_ns : t_ns;
	size_t keep = follows ? frames_shared(t, v, n) : 0, end = frames_affordable(l, keep, n);
	struct stack_frame deeper = { .args = STR_NONE };

	if (start_ns > LATEST_NS - weight_ns || start_ns < -LATEST_NS)
		return -1;
	if (!follows && !mem_budget_has(&l->memory, MEM_SPAN)) {
		l->lost++;
		return 0;
	}
	cut = end < n || more > 0;
	if (cut) {
		l->samples++;
		l->frames += n - end + more;
		deeper.name = sink_puts(s, "[deeper]");
		deeper.category = l->category;
		keep += follows && keep == end && is_open(t, keep, &deeper);
	}
	leave_to(s, t, keep);
	for (size_t i = keep; i < end + cut; i++) {
		const struct stack_frame *f = i < end ? &v[i] : &deeper;

		s->ops->enter(s, t->id, start_ns, f->name, f->category);
		if (t->kind != SPAN_HOST)
			s->ops->open_kind(s, t->id, t->kind);
		VEC_PUSH(&t->open, *f);
		mem_budget_take(&l->memory, MEM_SPAN);
	}
	t->begun = true;
	t->end_ns = start_ns + weight_ns;
	return start_ns > t_ns ? start_ns - t_ns : 0;
}

void stack_named(struct stack_limit *l, str_id id, size_t n)
{
	if (id <= l->newest)
		return;
	l->newest = id;
	mem_budget_take(&l->memory, n + MEM_STRING);
}

void stack_limit_warn(const struct stack_limit *l, struct sink *s)
{
	char text[200];

	if (l->lost > 0) {
		snprintf(text, sizeof(text),
			 "%" PRIu64 " samples that there is no memory for, left out", l->lost);
		s->ops->warn(s, W_MEMORY_LIMIT, l->lost, text);
	}
	if (l->samples == 0)
		return;
	snprintf(text, sizeof(text),
		 "so many different stacks that not all can be kept: of %" PRIu64
		 " samples the %" PRIu64 " deepest frames are [deeper]",
		 l->samples, l->frames);
	s->ops->warn(s, W_MEMORY_LIMIT, l->samples, text);
}

void stack_close(struct sink *s, struct stack_track *t)
{
	leave_to(s, t, 0);
	VEC_RELEASE(&t->open);
}
