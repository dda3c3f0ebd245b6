#include "analyses_private.h"
#include "series_label.h"

#include <math.h>
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

static struct table *new_table(void)
{
	struct table *t = table_new("idle_power");

	table_about(t, "one row per counter of power or energy: what its device draws when it has "
		       "nothing to do, and how that is known");
	table_col(t, "counter", TABLE_STR, NULL);
	table_col(t, "device", TABLE_STR, NULL);
	table_col(t, "level_w", TABLE_F64, "W");
	table_col(t, "before_w", TABLE_F64, "W");
	table_col(t, "after_w", TABLE_F64, "W");
	table_col(t, "drift_w", TABLE_F64, "W");
	table_col(t, "stderr_w", TABLE_F64, "W");
	table_col(t, "samples", TABLE_U64, NULL);
	table_col(t, "duration_ns", TABLE_I64, "ns");
	table_col(t, "method", TABLE_STR, NULL);
	table_col(t, "reason", TABLE_STR, NULL);
	table_col(t, "before_degc", TABLE_F64, "degC");
	table_col(t, "after_degc", TABLE_F64, "degC");
	table_col(t, "idle_j", TABLE_F64, "J");
	return t;
}

static bool is_asked(const struct idle_opts *o)
{
	return o->stated.nr || o->before.end_ns > o->before.start_ns ||
	       o->after.end_ns > o->after.start_ns;
}

static bool has_power(const struct series_label *l)
{
	return l->info.kind != SERIES_UNKNOWN && l->info.quantity != QUANTITY_OTHER;
}

/* The first temperature of a device; where it has several sensors, the first by name. */
static const struct series_label *thermometer(const struct model *m, const struct series_label *all,
					      const char *device)
{
	for (size_t i = 0; *device && i < m->series.nr; i++)
		if (strcmp(all[i].info.unit, "degC") == 0 && strcmp(all[i].device, device) == 0)
			return &all[i];
	return NULL;
}

static void add_temperatures(struct table *t, const struct model *m,
			     const struct series_label *thermo, const struct analysis_opts *o)
{
	CLEANUP(curve_release) struct curve c = { 0 };
	struct energy_opts whole = o->energy;
	bool known;

	whole.whole = true;
	known = thermo && curve_make(m, thermo->series, &thermo->info, &whole, &c, NULL) == 0;

	table_f64(t, known ? idle_mean(&c, o->idle.before) : NAN);
	table_f64(t, known ? idle_mean(&c, o->idle.after) : NAN);
}

static void add_row(struct table *t, const struct series_label *l, const struct idle_level *v)
{
	table_str(t, l->name);
	table_str(t, l->device);
	table_f64(t, v->level_w);
	table_f64(t, v->before_w);
	table_f64(t, v->after_w);
	table_f64(t, v->drift_w);
	table_f64(t, v->stderr_w);
	table_u64(t, v->samples);
	table_i64(t, v->duration_ns);
	table_str(t, idle_method_name(v->method));
	table_str(t, v->reason);
}

static void warn(struct model *m, const struct series_label *l, const struct idle_level *v)
{
	input_id input = m->series.v[l->series].input;

	if (v->too_few)
		model_warn(m, input, W_IDLE_UNKNOWN, 1, "%s: %s", l->name, v->reason);
	if (v->unsettled)
		model_warn(m, input, W_IDLE_UNSETTLED, 1, "%s still changes in the idle time",
			   l->name);
}

static void warn_of_unmatched(struct model *m, const struct series_label *all,
			      const struct idle_opts *o)
{
	for (size_t i = 0; i < o->stated.nr; i++) {
		const struct idle_stated *st = &o->stated.v[i];
		bool met = false;

		for (size_t k = 0; k < m->series.nr && !met; k++)
			met = has_power(&all[k]) &&
			      idle_is_about(st, m, all[k].series, &all[k].info);
		if (!met)
			model_warn(m, UINT32_MAX, W_IDLE_STATED, 1,
				   "no counter of power or energy is of %s",
				   *st->device ? st->device : "any device");
	}
}

static int run(struct model *m, const struct analysis_opts *o, struct table_set *out,
	       struct err *err)
{
	CLEANUP(series_labels_freep) struct series_label *labels = NULL;
	struct energy_opts whole = o->energy;
	struct table *t;

	if (!is_asked(&o->idle))
		return 0;
	whole.whole = true;
	labels = series_labels(m);
	t = new_table();
	for (size_t i = 0; i < m->series.nr; i++) {
		const struct series_label *l = &labels[i];
		CLEANUP(curve_release) struct curve c = { 0 };
		struct idle_level v;
		int r;

		if (!has_power(l))
			continue;
		r = curve_make(m, l->series, &l->info, &whole, &c, err);
		if (r < 0) {
			table_free(t);
			return r;
		}
		idle_find(m, l->series, &l->info, &c, &o->idle, &v);
		add_row(t, l, &v);
		add_temperatures(t, m, thermometer(m, labels, l->device), o);
		table_f64(t, idle_energy_j(m, &c, &o->idle));
		table_row(t);
		warn(m, l, &v);
	}
	warn_of_unmatched(m, labels, &o->idle);
	if (table_rows(t))
		table_set_add(out, t);
	else
		table_free(t);
	return 0;
}

const struct analysis analysis_idle_power = {
	.name = "idle_power",
	.about = "idle power of each counter, from the idle time around the workload or as stated",
	.tables = "idle_power",
	.run = run,
	.series_only = true,
};
