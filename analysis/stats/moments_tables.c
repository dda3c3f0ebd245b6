/* Marks, and when tools recorded: of a run, whatever part of it is analysed. */
#include "analyses_private.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/xalloc.h"

void analysis_moments_release(struct analysis_moments *mo)
{
	for (size_t i = 0; i < mo->marks.nr; i++) {
		free(mo->marks.v[i].name);
		free(mo->marks.v[i].by);
	}
	for (size_t i = 0; i < mo->windows.nr; i++) {
		free(mo->windows.v[i].name);
		free(mo->windows.v[i].by);
	}
	for (size_t i = 0; i < mo->overhead.nr; i++) {
		free(mo->overhead.v[i].tools);
		free(mo->overhead.v[i].unit);
		free(mo->overhead.v[i].verdict);
	}
	VEC_RELEASE(&mo->overhead);
	VEC_RELEASE(&mo->marks);
	VEC_RELEASE(&mo->windows);
}

static struct table *marks_table(const struct model *m, const struct analysis_moments *mo)
{
	struct table *t = table_new("marks");

	table_about(t, "one row per moment that was marked");
	table_col(t, "name", TABLE_STR, NULL);
	table_col(t, "t_ns", TABLE_I64, "ns");
	table_col(t, "uncertainty_ns", TABLE_F64, "ns");
	table_col(t, "stamped", TABLE_STR, NULL);
	table_col(t, "by", TABLE_STR, NULL);
	for (size_t i = 0; i < mo->marks.nr; i++) {
		const struct analysis_mark *k = &mo->marks.v[i];

		table_str(t, k->name);
		table_i64(t, k->t_ns - m->first_ns);
		table_f64(t, k->uncertainty_ns < 0 ? NAN : (double)k->uncertainty_ns);
		table_str(t, k->made ? "made" : "received");
		table_str(t, k->by);
		table_row(t);
	}
	return t;
}

static struct table *windows_table(const struct model *m, const struct analysis_moments *mo)
{
	struct table *t = table_new("windows");

	table_about(t, "one row per time in which tools recorded");
	table_col(t, "name", TABLE_STR, NULL);
	table_col(t, "start_ns", TABLE_I64, "ns");
	table_col(t, "end_ns", TABLE_I64, "ns");
	table_col(t, "by", TABLE_STR, NULL);
	for (size_t i = 0; i < mo->windows.nr; i++) {
		const struct analysis_window *w = &mo->windows.v[i];
		int64_t end = w->w.to_ns < m->last_ns ? w->w.to_ns : m->last_ns;

		table_str(t, w->name);
		table_i64(t, w->w.from_ns - m->first_ns);
		table_i64(t, (end > w->w.from_ns ? end : w->w.from_ns) - m->first_ns);
		table_str(t, w->by);
		table_row(t);
	}
	return t;
}

static void overhead_row(struct table *t, const struct analysis_overhead *o)
{
	const double numbers[] = { o->overhead,
				   o->ci_low,
				   o->ci_high,
				   o->baseline_s,
				   o->tools_s,
				   o->baseline_performance,
				   o->tools_performance,
				   o->performance_ratio,
				   o->performance_low,
				   o->performance_high,
				   o->budget };

	table_str(t, o->tools);
	table_str(t, o->alone ? "alone" : "all");
	table_u64(t, o->pairs);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		table_f64(t, numbers[i]);
	table_str(t, o->unit);
	table_str(t, o->verdict);
	table_row(t);
}

struct table *analysis_overhead_table(const struct analysis_moments *mo)
{
	static const char *const numbers[] = { "overhead",
					       "ci_low",
					       "ci_high",
					       "baseline_s",
					       "tools_s",
					       "baseline_performance",
					       "tools_performance",
					       "performance_ratio",
					       "performance_low",
					       "performance_high",
					       "budget" };
	struct table *t;

	if (!mo->overhead.nr)
		return NULL;
	t = table_new("overhead");
	table_about(t, "one row per set of tools: how much longer the workload takes with it than "
		       "without, from pairs of runs; 0.1 is 10 %, intervals are of 95 %");
	table_col(t, "tools", TABLE_STR, NULL);
	table_col(t, "set", TABLE_STR, NULL);
	table_col(t, "pairs", TABLE_U64, NULL);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		table_col(t, numbers[i], TABLE_F64, NULL);
	table_col(t, "unit", TABLE_STR, NULL);
	table_col(t, "verdict", TABLE_STR, NULL);
	for (size_t i = 0; i < mo->overhead.nr; i++)
		overhead_row(t, &mo->overhead.v[i]);
	return t;
}

static int run(struct model *m, const struct analysis_opts *o, struct table_set *out,
	       struct err *err)
{
	(void)err;
	if (o->moments && o->moments->marks.nr)
		table_set_add(out, marks_table(m, o->moments));
	if (o->moments && o->moments->windows.nr)
		table_set_add(out, windows_table(m, o->moments));
	if (o->moments && o->moments->overhead.nr)
		table_set_add(out, analysis_overhead_table(o->moments));
	return 0;
}

const struct analysis analysis_moments_tables = {
	.name = "moments",
	.about = "marks, the times in which tools recorded, and what tools cost",
	.tables = "marks,windows,overhead",
	.run = run,
	.series_only = true,
};
