#include "library_trace.h"
#include "library_names.h"
#include "ns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/u64map.h"
#include "profrig/base/vec.h"
#include "profrig/model/library_calls.h"

/* Matched calls around one that are looked at; no library hands calls on so deep. */
#define CHAIN_MAX 16

/* What a row has of one name. */
struct row_name {
	uint32_t row;
	str_id name;
	int64_t amount; /* ns, calls */
};

struct row_names {
	struct u64map at; /* row, name → index */
	VEC(struct row_name) v;
};

struct tracing {
	const struct model *m;
	const struct library_calls *lc;
	struct library_trace *lt;
	uint32_t *row_of; /* by span: of the matched call or kernel; LIBRARY_ROW_NONE */
	uint64_t *inner;  /* by span: the innermost matched call, itself or around it */
	uint8_t *timed;   /* by span: the matched call has time */
	struct row_names kernels, callers;
};

static void name_add(struct row_names *n, uint32_t row, str_id name, int64_t amount)
{
	uint32_t *at = u64map_at(&n->at, u64map_pair(row, name));

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)n->v.nr;
		VEC_PUSH(&n->v, ((struct row_name){ row, name, 0 }));
	}
	n->v.v[*at].amount = ns_add(n->v.v[*at].amount, amount);
}

static bool row_is_cpu(const struct tracing *tr, uint32_t row)
{
	return library_is_cpu(tr->lc->rows.v[row].library);
}

/* ---- which span is which call ---- */

static void spans_mark(struct tracing *tr)
{
	size_t n = tr->m->spans.nr;

	tr->row_of = xreallocarray(NULL, n + 1, sizeof(*tr->row_of));
	tr->inner = xreallocarray(NULL, n + 1, sizeof(*tr->inner));
	tr->timed = xcalloc(n + 1, 1);
	memset(tr->row_of, 0xff, n * sizeof(*tr->row_of)); /* LIBRARY_ROW_NONE */
	for (size_t i = 0; i < tr->lc->events.nr; i++) {
		uint64_t span = tr->lt->match.span[i];
		uint32_t row = tr->lc->events.v[i].row;

		if (span != SPAN_NONE)
			tr->row_of[span] = row;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t up = span_parent(&tr->m->spans, i);

		tr->inner[i] = tr->row_of[i] != LIBRARY_ROW_NONE ? i
			       : up != SPAN_NONE                 ? tr->inner[up]
								 : SPAN_NONE;
	}
}

/* The next matched call around a matched one. */
static uint64_t outer_call(const struct tracing *tr, uint64_t span)
{
	uint64_t up = span_parent(&tr->m->spans, span);

	return up == SPAN_NONE ? SPAN_NONE : tr->inner[up];
}

/* The matched calls that something belongs to, the innermost first. */
struct chain {
	uint64_t span[CHAIN_MAX];
	size_t nr;
};

static void chain_put(struct chain *c, uint64_t span)
{
	c->span[c->nr++] = span;
}

static void chain_climb(const struct tracing *tr, struct chain *c, uint64_t span)
{
	for (; span != SPAN_NONE && c->nr < CHAIN_MAX; span = outer_call(tr, span))
		chain_put(c, span);
}

/* Whether an inner call of the chain has the row of the i-th one. */
static bool chain_repeats(const struct tracing *tr, const struct chain *c, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (tr->row_of[c->span[k]] == tr->row_of[c->span[i]])
			return true;
	return false;
}

/* ---- times ---- */

static void time_add(struct tracing *tr, uint32_t row, int64_t ns, bool outermost)
{
	struct library_traced *t = &tr->lt->row[row];

	t->ns = ns_add(t->ns, ns);
	if (outermost)
		t->own_ns = ns_add(t->own_ns, ns);
}

/* Calls of the processor compute themselves what they launch no work for. */
static void work_add(struct tracing *tr, uint64_t work)
{
	uint64_t launch = tr->lt->match.launch ? tr->lt->match.launch[work] : SPAN_NONE;
	struct chain c = { .nr = 0 };
	size_t last = SIZE_MAX;

	if (tr->row_of[work] != LIBRARY_ROW_NONE)
		chain_put(&c, work);
	if (launch != SPAN_NONE)
		chain_climb(tr, &c, tr->inner[launch]);
	for (size_t i = 0; i < c.nr; i++)
		if (!row_is_cpu(tr, tr->row_of[c.span[i]]))
			last = i;
	for (size_t i = 0; i < c.nr; i++) {
		uint32_t row = tr->row_of[c.span[i]];

		if (row_is_cpu(tr, row))
			continue;
		tr->timed[c.span[i]] = 1;
		if (chain_repeats(tr, &c, i)) {
			if (i == last)
				tr->lt->row[row].own_ns =
					ns_add(tr->lt->row[row].own_ns, span_ns(tr->m, work));
			continue;
		}
		time_add(tr, row, span_ns(tr->m, work), i == last);
		name_add(&tr->kernels, row, tr->m->spans.name[work], span_ns(tr->m, work));
	}
}

/* A call of the processor: it counts unless one of the same row is around it. */
static void cpu_call_add(struct tracing *tr, uint64_t span)
{
	uint32_t row = tr->row_of[span];
	bool outermost = true, inside = false;
	struct chain c = { .nr = 0 };

	chain_climb(tr, &c, outer_call(tr, span));
	for (size_t i = 0; i < c.nr; i++) {
		outermost &= !row_is_cpu(tr, tr->row_of[c.span[i]]);
		inside |= tr->row_of[c.span[i]] == row;
	}
	tr->timed[span] = 1;
	if (!inside)
		time_add(tr, row, span_ns(tr->m, span), outermost);
}

static int64_t works_add(struct tracing *tr)
{
	int64_t all = 0;

	for (uint64_t i = 0; i < tr->m->spans.nr; i++) {
		if (!span_is_work(tr->m, i))
			continue;
		all = ns_add(all, span_ns(tr->m, i));
		work_add(tr, i);
	}
	return all;
}

/* ---- callers ---- */

/* The call around a matched one that is of no library itself; SPAN_NONE. */
static uint64_t caller_of(const struct tracing *tr, uint64_t span)
{
	const struct span_columns *c = &tr->m->spans;
	uint64_t from = span;

	if (c->kind[span] == SPAN_KERNEL)
		from = tr->lt->match.launch ? tr->lt->match.launch[span] : SPAN_NONE;
	if (from == SPAN_NONE)
		return SPAN_NONE;
	from = span_parent(c, from);
	for (int i = 0; i < CHAIN_MAX && from != SPAN_NONE; i++, from = span_parent(c, from))
		if (tr->row_of[from] == LIBRARY_ROW_NONE)
			return from;
	return SPAN_NONE;
}

static void events_add(struct tracing *tr)
{
	for (size_t i = 0; i < tr->lc->events.nr; i++) {
		const struct library_event *e = &tr->lc->events.v[i];
		uint64_t span = tr->lt->match.span[i], caller = tr->lt->match.around[i];

		if (span == SPAN_NONE && caller == SPAN_NONE)
			continue;
		if (span == SPAN_NONE)
			time_add(tr, e->row, e->dur_ns, true);
		else if (row_is_cpu(tr, e->row))
			cpu_call_add(tr, span);
		tr->lt->row[e->row].timed += span == SPAN_NONE || tr->timed[span];
		if (caller == SPAN_NONE)
			caller = caller_of(tr, span);
		if (caller != SPAN_NONE)
			name_add(&tr->callers, e->row, tr->m->spans.name[caller], 1);
	}
}

/* ---- rows ---- */

/* The name with the largest amount of each row, by its text where two are equal. */
static void names_choose(const struct tracing *tr, const struct row_names *n, bool kernels)
{
	CLEANUP(xfreep) int64_t *most = xcalloc(tr->lc->rows.nr + 1, sizeof(*most));

	for (size_t i = 0; i < n->v.nr; i++) {
		const struct row_name *a = &n->v.v[i];
		struct library_traced *t = &tr->lt->row[a->row];
		const char **best = kernels ? &t->kernel : &t->caller;
		const char *name = model_str(tr->m, a->name);

		t->kernels += kernels;
		if (!**best || a->amount > most[a->row] ||
		    (a->amount == most[a->row] && strcmp(name, *best) < 0)) {
			*best = name;
			most[a->row] = a->amount;
		}
	}
}

static void rows_finish(const struct tracing *tr, int64_t all_work_ns)
{
	double covered = (double)tr->m->last_ns - (double)tr->m->first_ns;

	for (size_t i = 0; i < tr->lc->rows.nr; i++) {
		const struct library_row *r = &tr->lc->rows.v[i];
		struct library_traced *t = &tr->lt->row[i];
		double of = library_is_cpu(r->library) ? covered : (double)all_work_ns;

		if (!t->timed)
			continue;
		t->share = of > 0 ? (double)t->own_ns / of : NAN;
		if (r->flops != LIBRARY_UNKNOWN && t->ns > 0)
			t->tflops = (double)r->flops * (double)t->timed / (double)t->ns * 1e-3;
	}
}

static void tracing_release(struct tracing *tr)
{
	free(tr->row_of);
	free(tr->inner);
	free(tr->timed);
	u64map_release(&tr->kernels.at);
	u64map_release(&tr->callers.at);
	VEC_RELEASE(&tr->kernels.v);
	VEC_RELEASE(&tr->callers.v);
}

static bool any_matched(const struct library_trace *lt, size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		if (lt->match.row[i].calls)
			return true;
	return false;
}

void library_trace_of(const struct model *m, struct library_trace *ret)
{
	struct tracing tr = { .m = m, .lc = m->library, .lt = ret };
	int64_t all;

	library_match(m, &ret->match);
	ret->row = xcalloc(tr.lc->rows.nr + 1, sizeof(*ret->row));
	for (size_t i = 0; i < tr.lc->rows.nr; i++)
		ret->row[i] = (struct library_traced){ .match = &ret->match.row[i],
						       .share = NAN,
						       .tflops = NAN,
						       .kernel = "",
						       .caller = "" };
	if (!any_matched(ret, tr.lc->rows.nr))
		return;
	spans_mark(&tr);
	all = works_add(&tr);
	events_add(&tr);
	names_choose(&tr, &tr.kernels, true);
	names_choose(&tr, &tr.callers, false);
	rows_finish(&tr, all);
	tracing_release(&tr);
}

void library_trace_release(struct library_trace *lt)
{
	library_match_release(&lt->match);
	free(lt->row);
	lt->row = NULL;
}
