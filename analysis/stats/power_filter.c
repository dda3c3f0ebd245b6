#include "analyses_private.h"
#include "series_label.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/xalloc.h"
#include "profrig/counters/tau_fit.h"
#include "profrig/model/warnings.h"

/* clang-format off */
#define POWER_FILTER(X) \
	X(STR, counter) X(STR, device) X(F64, tau_s) X(STR, source) X(STR, verdict) \
	X(STR, energy_counter) X(F64, fit_tau_s) X(F64, gain) X(F64, offset_w) X(F64, rms_w) \
	X(F64, face_rms_w) X(F64, boxcar_s) X(F64, boxcar_rms_w) X(F64, step_w) X(U64, readings) \
	X(F64, hint_tau_s)
/* clang-format on */
TABLE_FORM(power_filter, POWER_FILTER,
	   "one row per power reading, by name and device: whether it lags behind an energy "
	   "counter of the same device, and what is done about it");

static const char *label_of(const struct series_label *labels, const size_t *place, series_id s)
{
	return s == SERIES_NONE ? "" : labels[place[s]].name;
}

static void filter_row_add(struct table *t, const struct series_label *l,
			   const struct power_filter *f, const char *energy)
{
	static const char *const sources[] = { "none", "user", "fit" };

	table_add(t, &(struct power_filter_row){
			     l->name, l->device, l->info.tau_s, sources[l->info.tau_source],
			     filter_verdict_name(f->fit.verdict), energy, f->fit.tau_s, f->fit.gain,
			     f->fit.offset_w, f->fit.rms_w, f->fit.face_rms_w, f->fit.boxcar_s,
			     f->fit.boxcar_rms_w, f->fit.step_w, f->fit.readings,
			     l->info.tau_hint_s > 0 ? l->info.tau_hint_s : NAN });
}

static void filter_warn(struct model *m, const struct series_label *l, const struct power_filter *f)
{
	input_id input = m->series.v[f->power].input;

	if (l->info.tau_s > 0 || f->fit.verdict == FILTER_NONE)
		return;
	if (f->fit.verdict == FILTER_ONE_POLE)
		model_warn(m, input, W_POWER_FILTERED, 1,
			   "%s lags behind by a time constant of %.3f s", l->name, f->fit.tau_s);
	else if (m->counter_rules->tau_fit)
		model_warn(m, input, W_TAU_UNKNOWN, 1, "%s: %s", l->name,
			   filter_verdict_name(f->fit.verdict));
}

static int power_filter_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			    struct err *err)
{
	CLEANUP(series_labels_freep) struct series_label *labels = series_labels(m);
	const struct counter_rules *r = m->counter_rules;
	size_t n = m->series.nr;
	CLEANUP(xfreep) size_t *place = xreallocarray(NULL, n + 1, sizeof(*place));
	CLEANUP(xfreep)
	const struct power_filter **filter = xcalloc(n + 1, sizeof(const struct power_filter *));
	struct table *t;

	(void)o;
	(void)err;
	if (!r || r->filters.nr == 0)
		return 0;
	t = table_make(&power_filter_form);
	for (size_t i = 0; i < n; i++)
		place[labels[i].series] = i;
	for (size_t i = 0; i < r->filters.nr; i++)
		filter[r->filters.v[i].power] = &r->filters.v[i];
	for (size_t i = 0; i < n; i++) {
		const struct power_filter *f = filter[labels[i].series];

		if (!f)
			continue;
		filter_row_add(t, &labels[i], f, label_of(labels, place, f->energy));
		filter_warn(m, &labels[i], f);
	}
	table_set_add(out, t);
	return 0;
}

const struct analysis analysis_power_filter = {
	.name = "power_filter",
	.about = "whether power readings lag behind energy counters, by which time constant",
	.nothing = "no reading of power has an energy counter beside it",
	.tables = { &power_filter_form },
	.run = power_filter_run,
	.series_only = true,
};
