/* Marks and recording windows of a whole run, also when a part of it is analysed. */
#include "analyses_private.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/xalloc.h"

void analysis_marks_release(struct analysis_marks *am)
{
	for (size_t i = 0; i < am->marks.nr; i++) {
		free(am->marks.v[i].name);
		free(am->marks.v[i].by);
	}
	for (size_t i = 0; i < am->windows.nr; i++) {
		free(am->windows.v[i].name);
		free(am->windows.v[i].by);
	}
	for (size_t i = 0; i < am->overhead.nr; i++) {
		free(am->overhead.v[i].tools);
		free(am->overhead.v[i].unit);
		free(am->overhead.v[i].verdict);
	}
	VEC_RELEASE(&am->overhead);
	VEC_RELEASE(&am->marks);
	VEC_RELEASE(&am->windows);
}

/* clang-format off */
#define MARKS(X) \
	X(STR, name) X(I64, t_ns) X(F64, uncertainty_ns) X(STR, stamped) X(STR, by)
/* clang-format on */
TABLE_FORM(marks, MARKS, "one row per moment that was marked");

/* clang-format off */
#define WINDOWS(X) \
	X(STR, name) X(I64, start_ns) X(I64, end_ns) X(STR, by)
/* clang-format on */
TABLE_FORM(windows, WINDOWS, "one row per time in which tools recorded");

/* clang-format off */
#define OVERHEAD(X) \
	X(STR, tools) X(STR, set) X(U64, pairs) X(F64, overhead) X(F64, ci_low) X(F64, ci_high) \
	X(F64, baseline_s) X(F64, tools_s) X(F64, baseline_performance) \
	X(F64, tools_performance) X(F64, performance_ratio) X(F64, performance_low) \
	X(F64, performance_high) X(F64, budget) X(STR, unit) X(STR, verdict)
/* clang-format on */
TABLE_FORM(overhead, OVERHEAD,
	   "one row per set of tools: how much longer the workload takes with it than without, "
	   "from pairs of runs; 0.1 is 10 %, intervals are of 95 %");

static struct table *marks_table(const struct model *m, const struct analysis_marks *am)
{
	struct table *t = table_make(&marks_form);

	for (size_t i = 0; i < am->marks.nr; i++) {
		const struct analysis_mark *k = &am->marks.v[i];

		table_add(t, &(struct marks_row){ k->name, k->t_ns - m->first_ns,
						  k->uncertainty_ns < 0 ? NAN
									: (double)k->uncertainty_ns,
						  k->made ? "made" : "received", k->by });
	}
	return t;
}

static struct table *windows_table(const struct model *m, const struct analysis_marks *am)
{
	struct table *t = table_make(&windows_form);

	for (size_t i = 0; i < am->windows.nr; i++) {
		const struct analysis_window *w = &am->windows.v[i];
		int64_t end = w->w.to_ns < m->last_ns ? w->w.to_ns : m->last_ns;

		end = end > w->w.from_ns ? end : w->w.from_ns;
		table_add(t, &(struct windows_row){ w->name, w->w.from_ns - m->first_ns,
						    end - m->first_ns, w->by });
	}
	return t;
}

struct table *analysis_overhead_table(const struct analysis_marks *am)
{
	struct table *t = am->overhead.nr ? table_make(&overhead_form) : NULL;

	for (size_t i = 0; i < am->overhead.nr; i++) {
		const struct analysis_overhead *o = &am->overhead.v[i];

		table_add(t, &(struct overhead_row){
				     o->tools, o->alone ? "alone" : "all", o->pairs, o->overhead,
				     o->ci_low, o->ci_high, o->baseline_s, o->tools_s,
				     o->baseline_performance, o->tools_performance,
				     o->performance_ratio, o->performance_low, o->performance_high,
				     o->budget, o->unit, o->verdict });
	}
	return t;
}

static int marks_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
		     struct err *err)
{
	(void)err;
	if (o->marks && o->marks->marks.nr)
		table_set_add(out, marks_table(m, o->marks));
	if (o->marks && o->marks->windows.nr)
		table_set_add(out, windows_table(m, o->marks));
	if (o->marks && o->marks->overhead.nr)
		table_set_add(out, analysis_overhead_table(o->marks));
	return 0;
}

const struct analysis analysis_marks_tables = {
	.name = "moments",
	.about = "marks, the times in which tools recorded, and what tools cost",
	.nothing = "the inputs have no marks, no windows and no tools whose cost is known",
	.tables = { &marks_form, &windows_form, &overhead_form },
	.run = marks_run,
	.series_only = true,
};
