#include "frames.h"
#include "ns.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

#define CATEGORY "python_function"
#define MODULE "nn.Module: "

/* What is open at a span is a recorded frame, or operators with a text; FRAME_NONE. */
#define TEXT_BIT (UINT32_C(1) << 31)
#define OTHER_KIND (UINT32_MAX - 1) /* the row of a name of the other kind */

struct frame_call {
	uint32_t span;
	uint32_t around; /* the frame around it; FRAME_NONE */
	uint32_t still;  /* the one around it that may be open yet */
	uint32_t row : 31;
	uint32_t outermost : 1; /* of its name */
};

/* All operators that have one text. */
struct frame_text {
	str_id text;
	uint32_t row; /* of the first frame in it */
	int64_t host_ns, nested_ns, backward_ns;
};

struct gathering {
	struct frames *f;
	const struct frames_backward *back;
	str_id category;
	uint32_t *row_of;             /* by name in the model; FRAME_NONE: not looked at */
	struct u64map named;          /* name in names → row */
	struct u64map at_text;        /* text of the model → index in texts */
	VEC(struct frame_call) calls; /* around < index */
	VEC(struct frame_text) texts;
	int64_t *nested_ns, *backward_ns; /* by call */
	uint32_t *at;                     /* by span: the innermost one at or around it */
	VEC(uint32_t) open;               /* calls, the innermost last */
	int64_t until_ns;                 /* host time of them is shared up to here */
	size_t fact; /* row of facts.ops at or behind the span that is looked at */
};

static str_id category_of(const struct model *m)
{
	return intern_find(m->strings, CATEGORY, strlen(CATEGORY));
}

bool frames_some(const struct model *m)
{
	if (category_of(m) != STR_NONE)
		return true;
	for (size_t i = 0; i < m->facts.ops.nr; i++)
		if (m->facts.ops.v[i].python_id != FACT_ABSENT ||
		    m->facts.ops.v[i].call_stack != STR_NONE)
			return true;
	return false;
}

static void ns_to(int64_t *sum, int64_t ns)
{
	*sum = ns_add(*sum, ns);
}

/* ---- rows ---- */

static uint32_t row_named(struct gathering *g, const char *name, size_t n)
{
	str_id id = intern_put(g->f->names, name, n);
	uint32_t *row = u64map_at(&g->named, id);

	if (*row == U64MAP_NONE) {
		*row = (uint32_t)g->f->v.nr;
		VEC_PUSH(&g->f->v, ((struct frame_row){ .name = id, .inside = FRAME_NONE }));
	}
	return *row;
}

/* OTHER_KIND: it is a module where functions are asked for, or none where modules are. */
static uint32_t row_of_name(struct gathering *g, str_id name)
{
	uint32_t *row = &g->row_of[name];
	const char *text;
	bool module;

	if (*row != FRAME_NONE)
		return *row;
	text = model_str(g->f->m, name);
	module = strncmp(text, MODULE, strlen(MODULE)) == 0;
	text += module ? strlen(MODULE) : 0;
	*row = module == (g->f->kind == FRAMES_MODULES) ? row_named(g, text, strlen(text))
							: OTHER_KIND;
	return *row;
}

/* ---- texts ---- */

/* The next frame of a text, without blanks around it; false: there is none. */
static bool text_next(const char **at, const char **ret, size_t *ret_n)
{
	while (**at) {
		const char *s = *at;
		size_t n = strcspn(s, ";");

		*at = s + n + (s[n] == ';');
		for (; n && isspace((unsigned char)*s); n--)
			s++;
		while (n && isspace((unsigned char)s[n - 1]))
			n--;
		*ret = s;
		*ret_n = n;
		if (n)
			return true;
	}
	return false;
}

static uint32_t text_at(struct gathering *g, str_id text)
{
	const char *at = model_str(g->f->m, text), *frame;
	uint32_t *index = u64map_at(&g->at_text, text);
	size_t n;

	if (*index != U64MAP_NONE)
		return *index;
	if (!text_next(&at, &frame, &n))
		return FRAME_NONE;
	*index = TEXT_BIT | (uint32_t)g->texts.nr;
	VEC_PUSH(&g->texts, ((struct frame_text){ .text = text, .row = row_named(g, frame, n) }));
	return *index;
}

static bool is_text(uint32_t open)
{
	return open != FRAME_NONE && (open & TEXT_BIT);
}

static bool is_call(uint32_t open)
{
	return !(open & TEXT_BIT);
}

static struct frame_text *text_of(struct gathering *g, uint32_t open)
{
	return &g->texts.v[open & ~TEXT_BIT];
}

/* ---- which spans are frames ---- */

static bool is_frame(const struct gathering *g, size_t i, const struct op_facts *facts)
{
	const struct model *m = g->f->m;

	return m->spans.kind[i] == SPAN_HOST &&
	       m->tracks.v[m->spans.track[i]].kind == TRACK_THREAD &&
	       ((g->category != STR_NONE && m->spans.category[i] == g->category) ||
		(facts && facts->python_id != FACT_ABSENT));
}

/* Closes what has ended by t; the time up to t belongs to the innermost open frame. */
static void time_to(struct gathering *g, int64_t t)
{
	struct frames *f = g->f;

	while (g->open.nr) {
		const struct frame_call *c = &g->calls.v[g->open.v[g->open.nr - 1]];
		int64_t end = f->m->spans.end_ns[c->span], to = end < t ? end : t;

		if (to > g->until_ns) {
			ns_to(&f->v.v[c->row].s.host_self_ns, to - g->until_ns);
			g->until_ns = to;
		}
		if (end > t)
			return;
		f->v.v[c->row].open--;
		g->open.nr--;
	}
}

static uint32_t frame_open(struct gathering *g, size_t i, uint32_t around, uint32_t row)
{
	struct frame_row *r = &g->f->v.v[row];
	struct frame_call c = {
		.span = (uint32_t)i, .around = around, .still = around, .row = row & ~TEXT_BIT
	};

	time_to(g, g->f->m->spans.start_ns[i]);
	g->until_ns = g->f->m->spans.start_ns[i];
	if (r->open++ == 0) {
		c.outermost = true;
		ns_to(&r->s.host_ns, span_ns(g->f->m, i));
	}
	if (r->calls++ == 0 && around != FRAME_NONE)
		r->inside = g->calls.v[around].row;
	VEC_PUSH(&g->open, (uint32_t)g->calls.nr);
	VEC_PUSH(&g->calls, c);
	return (uint32_t)g->calls.nr - 1;
}

static const struct op_facts *facts_at(struct gathering *g, size_t i)
{
	const struct facts *facts = &g->f->m->facts;

	while (g->fact < facts->ops.nr && facts->ops.v[g->fact].span < i)
		g->fact++;
	return g->fact < facts->ops.nr && facts->ops.v[g->fact].span == i ? &facts->ops.v[g->fact]
									  : NULL;
}

static bool ended(const struct gathering *g, uint32_t open, int64_t t)
{
	return is_call(open) && g->f->m->spans.end_ns[g->calls.v[open].span] <= t;
}

/*
 * The innermost frame at or around this one that has not ended yet. A range of the profiler that
 * begins in a function outlives it, and what lies below it later is not that function's. Times of a
 * thread do not decrease, so frames that have ended are passed once.
 */
static uint32_t still_open(struct gathering *g, uint32_t at, int64_t t)
{
	uint32_t open = at;

	while (ended(g, open, t))
		open = g->calls.v[open].still;
	while (ended(g, at, t)) {
		uint32_t next = g->calls.v[at].still;

		g->calls.v[at].still = open;
		at = next;
	}
	return open;
}

/* What a span opens, FRAME_NONE: nothing. around: what is open. */
static uint32_t span_opens(struct gathering *g, size_t i, uint32_t around)
{
	const struct op_facts *facts = facts_at(g, i);

	if (is_frame(g, i, facts)) {
		uint32_t row = row_of_name(g, g->f->m->spans.name[i]);

		return row == OTHER_KIND
			       ? FRAME_NONE
			       : frame_open(g, i, is_call(around) ? around : FRAME_NONE, row);
	}
	if (facts && facts->call_stack != STR_NONE && !is_call(around) &&
	    g->f->kind == FRAMES_FUNCTIONS)
		return text_at(g, facts->call_stack);
	return FRAME_NONE;
}

/* Parents come before children, and the spans of a thread are together. */
static void frames_find(struct gathering *g)
{
	struct frames *f = g->f;
	const struct span_columns *s = &f->m->spans;

	for (size_t i = 0; i < s->nr; i++) {
		uint64_t parent = span_parent(s, i);
		uint32_t around, opens;

		if (i && s->track[i] != s->track[i - 1])
			time_to(g, INT64_MAX);
		around = still_open(g, parent == SPAN_NONE ? FRAME_NONE : g->at[parent],
				    s->start_ns[i]);
		opens = span_opens(g, i, around);
		g->at[i] = opens == FRAME_NONE ? around : opens;
		if (f->m->tracks.v[s->track[i]].kind != TRACK_THREAD)
			continue;
		ns_to(&f->none.host_self_ns, s->exclusive_ns[i]);
		if (is_text(g->at[i]))
			ns_to(&text_of(g, g->at[i])->host_ns, s->exclusive_ns[i]);
	}
	time_to(g, INT64_MAX);
}

/* ---- their work ---- */

/* The row that has something as its own; FRAME_NONE: none. Adds it to what is nested. */
static uint32_t row_own(struct gathering *g, uint32_t open, int64_t ns, bool backward)
{
	if (is_call(open)) {
		ns_to(backward ? &g->backward_ns[open] : &g->nested_ns[open], ns);
		return g->calls.v[open].row;
	}
	if (is_text(open)) {
		ns_to(backward ? &text_of(g, open)->backward_ns : &text_of(g, open)->nested_ns, ns);
		return text_of(g, open)->row;
	}
	return FRAME_NONE;
}

static void works_share(struct gathering *g, const struct works *w, const struct work_energy *we)
{
	struct frames *f = g->f;

	for (size_t i = 0; i < w->v.nr; i++) {
		const struct work *k = &w->v.v[i];
		int64_t ns = k->end_ns - k->start_ns;
		struct frame_sums *to = &f->unlinked;
		struct joules *j = &f->unlinked_j;

		if (k->launch != SPAN_NONE) {
			uint32_t row = row_own(g, g->at[k->launch], ns, false);

			to = row == FRAME_NONE ? &f->none : &f->v.v[row].s;
			j = row == FRAME_NONE ? &f->none_j : &f->v.v[row].j;
		}
		to->works++;
		ns_to(&to->own_ns, ns);
		if (we->meters.nr)
			joules_add_work(j, we, i);
	}
}

static void backward_share(struct gathering *g)
{
	const struct operator_calls *oc = g->back->oc;

	for (size_t i = 0; i < oc->v.nr; i++) {
		uint32_t forward = g->back->forward[i], row;

		if (forward == OPERATOR_NONE)
			continue;
		row = row_own(g, g->at[oc->v.v[forward].span], oc->v.v[i].nested_ns, true);
		ns_to(row == FRAME_NONE ? &g->f->none.backward_own_ns
					: &g->f->v.v[row].s.backward_own_ns,
		      oc->v.v[i].nested_ns);
	}
}

static void nested_share(struct gathering *g)
{
	for (size_t i = g->calls.nr; i-- > 0;) {
		const struct frame_call *c = &g->calls.v[i];
		struct frame_sums *to = &g->f->v.v[c->row].s;

		if (c->outermost) {
			ns_to(&to->nested_ns, g->nested_ns[i]);
			ns_to(&to->backward_nested_ns, g->back ? g->backward_ns[i] : 0);
		}
		if (c->around == FRAME_NONE)
			continue;
		ns_to(&g->nested_ns[c->around], g->nested_ns[i]);
		if (g->back)
			ns_to(&g->backward_ns[c->around], g->backward_ns[i]);
	}
}

/* Each frame of a text has it once. */
static void text_share(struct gathering *g, uint32_t index)
{
	const struct frame_text *t = &g->texts.v[index];
	const char *at = model_str(g->f->m, t->text), *frame;
	size_t n;

	ns_to(&g->f->v.v[t->row].s.host_self_ns, t->host_ns);
	while (text_next(&at, &frame, &n)) {
		struct frame_row *r = &g->f->v.v[row_named(g, frame, n)];

		if (r->text == index + 1)
			continue;
		r->text = index + 1;
		ns_to(&r->s.nested_ns, t->nested_ns);
		ns_to(&r->s.backward_nested_ns, t->backward_ns);
		ns_to(&r->s.host_ns, t->host_ns);
	}
}

static void works_add(struct gathering *g, const struct works *w, const struct work_energy *we)
{
	struct frames *f = g->f;

	g->nested_ns = xcalloc(g->calls.nr + 1, sizeof(*g->nested_ns));
	works_share(g, w, we);
	if (g->back) {
		g->backward_ns = xcalloc(g->calls.nr + 1, sizeof(*g->backward_ns));
		backward_share(g);
	}
	nested_share(g);
	for (uint32_t i = 0; i < g->texts.nr; i++)
		text_share(g, i);
	for (size_t i = 0; i < f->v.nr; i++)
		f->none.host_self_ns -= f->v.v[i].s.host_self_ns;
}

struct frames *frames_new(const struct model *m, const struct works *w,
			  const struct work_energy *we, const struct frames_backward *back,
			  enum frames_kind kind)
{
	struct frames *f = xcalloc(1, sizeof(*f));
	struct gathering g = { .f = f, .back = back, .category = category_of(m) };

	f->m = m;
	f->kind = kind;
	f->names = intern_new();
	g.at = xreallocarray(NULL, m->spans.nr + 1, sizeof(*g.at));
	g.row_of = xreallocarray(NULL, intern_count(m->strings) + 1, sizeof(*g.row_of));
	memset(g.row_of, 0xff, intern_count(m->strings) * sizeof(*g.row_of));
	frames_find(&g);
	works_add(&g, w, we);
	u64map_release(&g.named);
	u64map_release(&g.at_text);
	VEC_RELEASE(&g.calls);
	VEC_RELEASE(&g.texts);
	VEC_RELEASE(&g.open);
	free(g.row_of);
	free(g.at);
	free(g.nested_ns);
	free(g.backward_ns);
	return f;
}

void frames_free(struct frames *f)
{
	if (!f)
		return;
	intern_free(f->names);
	VEC_RELEASE(&f->v);
	free(f);
}

void frames_freep(struct frames **f)
{
	frames_free(*f);
}
