#include "analyses_private.h"
#include "series_label.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/xalloc.h"
#include "profrig/counters/tau_fit.h"
#include "profrig/model/warnings.h"

static struct table *new_table(void)
{
	struct table *t = table_new("power_filter");

	table_about(t, "one row per power reading, by name and device: whether it lags behind an "
		       "energy counter of the same device, and what is done about it");
	table_col(t, "counter", TABLE_STR, NULL);
	table_col(t, "device", TABLE_STR, NULL);
	table_col(t, "tau_s", TABLE_F64, "s");
	table_col(t, "source", TABLE_STR, NULL);
	table_col(t, "verdict", TABLE_STR, NULL);
	table_col(t, "energy_counter", TABLE_STR, NULL);
	table_col(t, "fit_tau_s", TABLE_F64, "s");
	table_col(t, "gain", TABLE_F64, NULL);
	table_col(t, "offset_w", TABLE_F64, "W");
	table_col(t, "rms_w", TABLE_F64, "W");
	table_col(t, "face_rms_w", TABLE_F64, "W");
	table_col(t, "boxcar_s", TABLE_F64, "s");
	table_col(t, "boxcar_rms_w", TABLE_F64, "W");
	table_col(t, "step_w", TABLE_F64, "W");
	table_col(t, "readings", TABLE_U64, NULL);
	table_col(t, "hint_tau_s", TABLE_F64, "s");
	return t;
}

static const char *label_of(const struct series_label *labels, const size_t *place, series_id s)
{
	return s == SERIES_NONE ? "" : labels[place[s]].name;
}

static void add_row(struct table *t, const struct series_label *l, const struct power_filter *f,
		    const char *energy)
{
	static const char *const sources[] = { "none", "user", "fit" };

	table_str(t, l->name);
	table_str(t, l->device);
	table_f64(t, l->info.tau_s);
	table_str(t, sources[l->info.tau_source]);
	table_str(t, filter_verdict_name(f->fit.verdict));
	table_str(t, energy);
	table_f64(t, f->fit.tau_s);
	table_f64(t, f->fit.gain);
	table_f64(t, f->fit.offset_w);
	table_f64(t, f->fit.rms_w);
	table_f64(t, f->fit.face_rms_w);
	table_f64(t, f->fit.boxcar_s);
	table_f64(t, f->fit.boxcar_rms_w);
	table_f64(t, f->fit.step_w);
	table_u64(t, f->fit.readings);
	table_f64(t, l->info.tau_hint_s > 0 ? l->info.tau_hint_s : NAN);
	table_row(t);
}

static void warn(struct model *m, const struct series_label *l, const struct power_filter *f)
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

static int run(struct model *m, const struct analysis_opts *o, struct table_set *out,
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
	t = new_table();
	for (size_t i = 0; i < n; i++)
		place[labels[i].series] = i;
	for (size_t i = 0; i < r->filters.nr; i++)
		filter[r->filters.v[i].power] = &r->filters.v[i];
	for (size_t i = 0; i < n; i++) {
		const struct power_filter *f = filter[labels[i].series];

		if (!f)
			continue;
		add_row(t, &labels[i], f, label_of(labels, place, f->energy));
		warn(m, &labels[i], f);
	}
	table_set_add(out, t);
	return 0;
}

const struct analysis analysis_power_filter = {
	.name = "power_filter",
	.about = "whether power readings lag behind energy counters, by which time constant",
	.tables = "power_filter",
	.run = run,
	.series_only = true,
};
