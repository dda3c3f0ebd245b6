#include "profrig/compare/trace_compare.h"
#include "trace_facts.h"

#include <math.h>
#include <stdlib.h>

/* clang-format off */
#define DIFF(X) \
	X(STR, kind) X(STR, name) X(U64, count_a) X(U64, count_b) X(I64, total_a_ns) \
	X(I64, total_b_ns) X(I64, delta_ns) X(F64, count_effect_ns) X(F64, rate_effect_ns) \
	X(STR, state) X(STR, side) X(STR, against)
#define COMPARABILITY(X) \
	X(STR, fact) X(STR, a) X(STR, b) X(STR, verdict) X(STR, side) X(STR, against)
/* clang-format on */
TABLE_FORM(diff, DIFF, "one row per kernel or operator: how its time changed, by count and rate");
TABLE_FORM(comparability, COMPARABILITY,
	   "one row per fact that decides whether two traces compare");

const char *trace_kind_name(enum trace_kind k)
{
	static const char *const names[] = { "kernel", "cpu_op", "operator", "path",
					     "device_path" };

	return names[k];
}

const char *trace_fact_verdict_name(enum trace_fact_verdict v)
{
	static const char *const names[] = { "ok", "noted", "refused", "unknown" };

	return names[v];
}

void trace_compare_free(struct trace_compare *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < TRACE_KINDS; i++)
		trace_diff_release(&t->of[i]);
	for (size_t i = 0; i < t->facts.nr; i++) {
		free(t->facts.v[i].a);
		free(t->facts.v[i].b);
	}
	VEC_RELEASE(&t->facts);
	free(t);
}

const char *trace_compare_verdict(const struct trace_compare *t)
{
	if (t->refused)
		return "not comparable";
	return sample_verdict_name(t->judged ? t->verdict : SAMPLE_UNCLEAR);
}

static struct trace_compare *sides_compare(const struct trace_facts_in *in, size_t runs)
{
	struct trace_compare *t = xcalloc(1, sizeof(*t));
	size_t rows = 0;

	t->runs = runs;
	t->time =
		(struct median_ratio){ .a = NAN, .b = NAN, .ratio = NAN, .low = NAN, .high = NAN };
	for (size_t i = 0; i < TRACE_KINDS; i++) {
		trace_diff_make(in->side_a->totals[i].v, in->side_a->totals[i].nr,
				in->side_b->totals[i].v, in->side_b->totals[i].nr, &t->of[i]);
		rows += i < TRACE_PATH ? t->of[i].v.nr : 0;
	}
	if (!rows) {
		trace_compare_free(t);
		return NULL;
	}
	trace_facts_find(t, in);
	return t;
}

int trace_compare_new(const struct run_set *a, const struct run_set *b,
		      const struct trace_compare_opts *o, struct comparable *comparable,
		      struct trace_compare **ret, struct err *err)
{
	size_t runs = a->runs.nr < b->runs.nr ? a->runs.nr : b->runs.nr;
	struct trace_side sa, sb = { .precisions = VEC_INIT };
	int r = trace_side_read(a, runs, o->texts, o->problems, &sa, err);

	*ret = NULL;
	if (r == 0)
		r = trace_side_read(b, runs, o->texts, o->problems, &sb, err);
	if (r == 0)
		trace_paths_put(&sa, &sb, o->texts);
	if (r == 0 && runs)
		*ret = sides_compare(&(struct trace_facts_in){ o, a, b, &sa, &sb, comparable },
				     runs);
	trace_side_release(&sa);
	trace_side_release(&sb);
	return r;
}

/* ---- tables ---- */

struct table *trace_diff_table(void)
{
	return table_make(&diff_form);
}

struct table *trace_facts_table(void)
{
	return table_make(&comparability_form);
}

void trace_diff_rows(struct table *to, const struct trace_compare *t, const char *side,
		     const char *against)
{
	for (size_t k = 0; k < TRACE_KINDS; k++)
		for (size_t i = 0; i < t->of[k].v.nr; i++) {
			const struct trace_diff_row *r = &t->of[k].v.v[i];

			table_add(to, &(struct diff_row){
					      trace_kind_name((enum trace_kind)k), r->name,
					      r->count_a, r->count_b, r->total_a_ns, r->total_b_ns,
					      r->delta_ns, r->count_effect_ns, r->rate_effect_ns,
					      trace_state_name(r->state), side, against });
		}
}

void trace_facts_rows(struct table *to, const struct trace_compare *t, const char *side,
		      const char *against)
{
	for (size_t i = 0; i < t->facts.nr; i++) {
		const struct trace_fact *f = &t->facts.v[i];

		table_add(to, &(struct comparability_row){ f->fact, f->a, f->b,
							   trace_fact_verdict_name(f->verdict),
							   side, against });
	}
}
