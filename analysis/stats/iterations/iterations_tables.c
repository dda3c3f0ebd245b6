/*
 * iterations: how long one step of the workload takes, and from where on it takes that long
 * (work/iterations.h). periods: after how many works a device repeats itself (work/period_find.h).
 */
#include "analyses_private.h"
#include "track_names.h"
#include "work_energy.h"

#include <math.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

/* clang-format off */
#define ITERATIONS(X) \
	X(STR, track) X(STR, marker) X(I64, index) X(I64, start_ns) X(I64, dur_ns) X(STR, steady) \
	X(I64, works) X(I64, sum_ns) X(I64, union_ns) X(F64, device_start_ns) \
	X(I64, device_span_ns) X(STR, change) X(F64, rank) X(F64, joules) X(F64, edp_js) \
	X(STR, energy_flags) X(F64, uncertainty_j)
#define PERIODS(X) \
	X(STR, device) X(I64, works) X(I64, period) X(I64, match) X(I64, of) X(STR, accepted)
/* clang-format on */
TABLE_FORM(iterations, ITERATIONS,
	   "one row per iteration: a marker's range, or a period of a device's works");
TABLE_FORM(periods, PERIODS, "one row per device: after how many works its names repeat");

static const char *yes_no(bool yes)
{
	return yes ? "yes" : "no";
}

static void iteration_row(struct table *t, const struct works *w, const char *track,
			  const struct iteration *i, const struct joules *j)
{
	const struct model *m = w->m;
	int64_t span_ns = i->device_end_ns - i->device_start_ns;
	char flags[ENERGY_FLAGS_MAX];

	table_add(t, &(struct iterations_row){
			     track,
			     i->marker != SPAN_NONE ? model_str(m, m->spans.name[i->marker])
						    : "period",
			     i->index, i->start_ns - m->first_ns, i->end_ns - i->start_ns,
			     yes_no(i->steady), (int64_t)i->works, i->sum_ns, i->union_ns,
			     i->works ? (double)(i->device_start_ns - m->first_ns) : NAN, span_ns,
			     yes_no(i->change), iteration_rank(m, w, i), joules_value(j),
			     joules_value(j) * (double)iteration_ns(i) * 1e-9,
			     joules_flags(j, flags), joules_width(j) });
}

static void iterations_table(const struct work_energy *we, const struct iterations *it,
			     struct table_set *out)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	const struct works *w = we->w;
	CLEANUP(xfreep) struct joules *j = iteration_joules(we, it);
	struct table *t = table_make(&iterations_form);

	track_names(w->m, &names);
	for (size_t k = 0; k < it->v.nr; k++) {
		const struct iteration *i = &it->v.v[k];

		iteration_row(t, w,
			      i->marker != SPAN_NONE
				      ? names.v[i->track]
				      : model_str(w->m, w->devices.v[i->device].name),
			      i, &j[k]);
	}
	table_set_add(out, t);
}

static void periods_table(const struct model *m, const struct works *w, const struct iterations *it,
			  struct table_set *out)
{
	struct table *t = table_make(&periods_form);

	for (size_t i = 0; i < it->periods.nr; i++) {
		const struct device_period *d = &it->periods.v[i];

		table_add(t, &(struct periods_row){ model_str(m, w->devices.v[d->device].name),
						    (int64_t)d->works, (int64_t)d->period.lag,
						    (int64_t)d->period.match, (int64_t)d->period.of,
						    yes_no(d->period.accepted) });
	}
	table_set_add(out, t);
}

static int iterations_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			  struct err *err)
{
	const struct iterations *it;
	const struct works *w = analysis_works(m, o);
	int r = analysis_iterations(m, o, &it, err);

	if (r < 0)
		return r;
	if (it->periods.nr)
		periods_table(m, w, it, out);
	if (it->v.nr == 0)
		return table_set_skip(out, "iterations",
				      "no range is a marker (--marker names others), and no device "
				      "repeats its works");
	if (it->all_warmup)
		model_warn(
			m, UINT32_MAX, W_ALL_WARMUP, it->all_warmup,
			"all executions of a program are warm-up, by its compilation and its first "
			"communication: they are all taken for steady");
	iterations_table(analysis_work_energy(m, o), it, out);
	return 0;
}

const struct analysis analysis_iterations_tables = {
	.name = "iterations",
	.about = "steps of the workload: their times, warm-up, periods of devices",
	.tables = { &iterations_form, &periods_form },
	.run = iterations_run,
	.needs_calls = true,
};
