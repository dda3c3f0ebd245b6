#include "frames.h"
#include "ns.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

#define CATEGORY "python_function"
#define MODULE "nn.Module: "

struct gathering {
	struct frames *f;
	str_id category;
	struct u64map row_of;  /* name of the model → row */
	struct u64map named;   /* name in names → row */
	struct u64map text_of; /* text of the model → call */
	VEC(uint32_t) open;    /* calls, the innermost last */
	int64_t until_ns;      /* host time of them is shared up to here */
	size_t fact;           /* row of facts.ops at or behind the span that is looked at */
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

static bool is_module(const char *name)
{
	return strncmp(name, MODULE, strlen(MODULE)) == 0;
}

/* The row of a frame's name; FRAME_NONE: it is of the other kind. */
static uint32_t row_of_name(struct gathering *g, str_id name)
{
	bool modules = g->f->kind == FRAMES_MODULES;
	uint32_t *row = u64map_at(&g->row_of, name);

	if (*row == U64MAP_NONE) {
		const char *text = model_str(g->f->m, name);

		/* one more, so that 0 is a name of the other kind */
		*row = is_module(text) != modules ? 0
		       : modules                  ? 1 + row_named(g, text + strlen(MODULE),
								  strlen(text + strlen(MODULE)))
						  : 1 + row_named(g, text, strlen(text));
	}
	return *row == 0 ? FRAME_NONE : *row - 1;
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

static uint32_t text_call(struct gathering *g, str_id text)
{
	const char *at = model_str(g->f->m, text), *frame;
	uint32_t *call = u64map_at(&g->text_of, text);
	size_t n;

	if (*call != U64MAP_NONE)
		return *call;
	if (!text_next(&at, &frame, &n))
		return FRAME_NONE;
	*call = (uint32_t)g->f->calls.nr;
	VEC_PUSH(&g->f->calls, ((struct frame_call){ .span = SPAN_NONE,
						     .text = text,
						     .around = FRAME_NONE,
						     .row = row_named(g, frame, n) }));
	return *call;
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
		struct frame_call *c = &f->calls.v[g->open.v[g->open.nr - 1]];
		int64_t end = f->m->spans.end_ns[c->span], to = end < t ? end : t;

		if (to > g->until_ns) {
			c->s.host_self_ns = ns_add(c->s.host_self_ns, to - g->until_ns);
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
	struct frames *f = g->f;
	struct frame_call c = {
		.span = i, .text = STR_NONE, .around = around, .still = around, .row = row
	};

	time_to(g, f->m->spans.start_ns[i]);
	g->until_ns = f->m->spans.start_ns[i];
	c.outermost = f->v.v[row].open++ == 0;
	VEC_PUSH(&g->open, (uint32_t)f->calls.nr);
	if (f->v.v[row].calls++ == 0 && around != FRAME_NONE)
		f->v.v[row].inside = f->calls.v[around].row;
	VEC_PUSH(&f->calls, c);
	f->recorded++;
	return (uint32_t)f->calls.nr - 1;
}

static const struct op_facts *facts_at(struct gathering *g, size_t i)
{
	const struct facts *facts = &g->f->m->facts;

	while (g->fact < facts->ops.nr && facts->ops.v[g->fact].span < i)
		g->fact++;
	return g->fact < facts->ops.nr && facts->ops.v[g->fact].span == i ? &facts->ops.v[g->fact]
									  : NULL;
}

static bool ended(const struct frames *f, uint32_t call, int64_t t)
{
	return call != FRAME_NONE && f->calls.v[call].text == STR_NONE &&
	       f->m->spans.end_ns[f->calls.v[call].span] <= t;
}

/*
 * The innermost call at or around this one that has not ended yet. A range of the profiler that
 * begins in a function outlives it, and what lies below it later is not that function's. Times of a
 * thread do not decrease, so calls that have ended are passed once.
 */
static uint32_t still_open(struct frames *f, uint32_t call, int64_t t)
{
	uint32_t open = call;

	while (ended(f, open, t))
		open = f->calls.v[open].still;
	while (ended(f, call, t)) {
		uint32_t next = f->calls.v[call].still;

		f->calls.v[call].still = open;
		call = next;
	}
	return open;
}

/* The call that a span begins, FRAME_NONE: none. around: the one that is open. */
static uint32_t call_begin(struct gathering *g, size_t i, uint32_t around)
{
	const struct op_facts *facts = facts_at(g, i);
	bool recorded = around != FRAME_NONE && g->f->calls.v[around].text == STR_NONE;

	if (is_frame(g, i, facts)) {
		uint32_t row = row_of_name(g, g->f->m->spans.name[i]);

		return row == FRAME_NONE ? FRAME_NONE
					 : frame_open(g, i, recorded ? around : FRAME_NONE, row);
	}
	if (facts && facts->call_stack != STR_NONE && !recorded && g->f->kind == FRAMES_FUNCTIONS)
		return text_call(g, facts->call_stack);
	return FRAME_NONE;
}

/* Parents come before children, and the spans of a thread are together. */
static void calls_find(struct gathering *g)
{
	struct frames *f = g->f;
	const struct span_columns *s = &f->m->spans;

	f->at = xmalloc((s->nr + 1) * sizeof(*f->at));
	for (size_t i = 0; i < s->nr; i++) {
		uint32_t around, call;

		if (i && s->track[i] != s->track[i - 1])
			time_to(g, INT64_MAX);
		around = still_open(f, s->parent[i] == SPAN_NONE ? FRAME_NONE : f->at[s->parent[i]],
				    s->start_ns[i]);
		call = call_begin(g, i, around);
		f->at[i] = call == FRAME_NONE ? around : call;
		if (f->m->tracks.v[s->track[i]].kind != TRACK_THREAD)
			continue;
		f->none.host_self_ns = ns_add(f->none.host_self_ns, s->exclusive_ns[i]);
		if (f->at[i] != FRAME_NONE && f->calls.v[f->at[i]].text != STR_NONE)
			f->calls.v[f->at[i]].s.host_self_ns =
				ns_add(f->calls.v[f->at[i]].s.host_self_ns, s->exclusive_ns[i]);
	}
	time_to(g, INT64_MAX);
	for (size_t i = 0; i < f->calls.nr; i++)
		f->none.host_self_ns -= f->calls.v[i].s.host_self_ns;
}

/* ---- their work ---- */

static void works_share(struct frames *f, const struct works *w, const struct work_energy *we)
{
	for (size_t i = 0; i < w->v.nr; i++) {
		const struct work *k = &w->v.v[i];
		uint32_t call = k->launch == SPAN_NONE ? FRAME_NONE : f->at[k->launch];
		struct frame_sums *to = k->launch == SPAN_NONE ? &f->unlinked
					: call == FRAME_NONE   ? &f->none
							       : &f->calls.v[call].s;

		to->works++;
		to->own_ns = ns_add(to->own_ns, k->end_ns - k->start_ns);
		if (we->meters.nr)
			joules_add_work(k->launch == SPAN_NONE ? &f->unlinked_j
					: call == FRAME_NONE   ? &f->none_j
							       : &f->v.v[f->calls.v[call].row].j,
					we, i);
	}
}

static void backward_share(struct frames *f, const struct frames_backward *back)
{
	for (size_t i = 0; i < back->oc->v.nr; i++) {
		uint32_t forward = back->forward[i], call;
		struct frame_sums *to;

		if (forward == OPERATOR_NONE)
			continue;
		call = f->at[back->oc->v.v[forward].span];
		to = call == FRAME_NONE ? &f->none : &f->calls.v[call].s;
		to->backward_own_ns = ns_add(to->backward_own_ns, back->oc->v.v[i].nested_ns);
	}
}

/* Adds a call's sums to a row; whole: what the row has nested, too. */
static void row_add(struct frame_row *r, const struct frame_call *c, bool own, bool whole)
{
	if (own) {
		r->s.works += c->s.works;
		r->s.own_ns = ns_add(r->s.own_ns, c->s.own_ns);
		r->s.host_self_ns = ns_add(r->s.host_self_ns, c->s.host_self_ns);
		r->s.backward_own_ns = ns_add(r->s.backward_own_ns, c->s.backward_own_ns);
	}
	if (whole) {
		r->s.nested_ns = ns_add(r->s.nested_ns, c->s.nested_ns);
		r->s.host_ns = ns_add(r->s.host_ns, c->s.host_ns);
		r->s.backward_nested_ns = ns_add(r->s.backward_nested_ns, c->s.backward_nested_ns);
	}
}

static void rows_of_text(struct gathering *g, uint32_t call)
{
	struct frames *f = g->f;
	const char *at = model_str(f->m, f->calls.v[call].text), *frame;
	bool first = true;
	size_t n;

	for (; text_next(&at, &frame, &n); first = false) {
		uint32_t row = row_named(g, frame, n);

		row_add(&f->v.v[row], &f->calls.v[call], first, f->v.v[row].text != call + 1);
		f->v.v[row].text = call + 1;
	}
}

static void rows_fill(struct gathering *g)
{
	struct frames *f = g->f;

	for (size_t i = f->calls.nr; i-- > 0;) {
		struct frame_call *c = &f->calls.v[i];

		c->s.nested_ns = ns_add(c->s.nested_ns, c->s.own_ns);
		c->s.backward_nested_ns = ns_add(c->s.backward_nested_ns, c->s.backward_own_ns);
		c->s.host_ns = c->text == STR_NONE ? span_ns(f->m, c->span) : c->s.host_self_ns;
		if (c->around != FRAME_NONE) {
			struct frame_sums *up = &f->calls.v[c->around].s;

			up->nested_ns = ns_add(up->nested_ns, c->s.nested_ns);
			up->backward_nested_ns =
				ns_add(up->backward_nested_ns, c->s.backward_nested_ns);
		}
		if (c->text == STR_NONE)
			row_add(&f->v.v[c->row], c, true, c->outermost);
	}
	for (uint32_t i = 0; i < f->calls.nr; i++)
		if (f->calls.v[i].text != STR_NONE)
			rows_of_text(g, i);
}

struct frames *frames_new(const struct model *m, const struct works *w,
			  const struct work_energy *we, const struct frames_backward *back,
			  enum frames_kind kind)
{
	struct frames *f = xcalloc(1, sizeof(*f));
	struct gathering g = { .f = f, .category = category_of(m) };

	f->m = m;
	f->kind = kind;
	f->names = intern_new();
	calls_find(&g);
	works_share(f, w, we);
	if (back)
		backward_share(f, back);
	rows_fill(&g);
	u64map_release(&g.row_of);
	u64map_release(&g.named);
	u64map_release(&g.text_of);
	VEC_RELEASE(&g.open);
	return f;
}

void frames_free(struct frames *f)
{
	if (!f)
		return;
	intern_free(f->names);
	VEC_RELEASE(&f->calls);
	VEC_RELEASE(&f->v);
	free(f->at);
	free(f);
}

void frames_freep(struct frames **f)
{
	frames_free(*f);
}
