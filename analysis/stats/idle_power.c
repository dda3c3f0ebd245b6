#include "analyses_private.h"
#include "series_label.h"

#include <math.h>
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

/* clang-format off */
#define IDLE_POWER(X) \
	X(STR, counter) X(STR, device) X(F64, level_w) X(F64, before_w) X(F64, after_w) \
	X(F64, drift_w) X(F64, stderr_w) X(U64, samples) X(I64, duration_ns) X(STR, method) \
	X(STR, reason) X(F64, before_degc) X(F64, after_degc) X(F64, idle_j)
/* clang-format on */
TABLE_FORM(idle_power, IDLE_POWER,
	   "one row per counter of power or energy: what its device draws when it has nothing to "
	   "do, and how that is known");

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

static void idle_row_add(struct table *t, const struct model *m, const struct series_label *l,
			 const struct series_label *thermo, const struct analysis_opts *o,
			 const struct idle_level *v, double idle_j)
{
	CLEANUP(curve_release) struct curve c = { 0 };
	struct energy_opts whole = o->energy;
	bool warm;

	whole.whole = true;
	warm = thermo && curve_make(m, thermo->series, &thermo->info, &whole, &c, NULL) == 0;
	table_add(t, &(struct idle_power_row){
			     l->name, l->device, v->level_w, v->before_w, v->after_w, v->drift_w,
			     v->stderr_w, v->samples, v->duration_ns, idle_method_name(v->method),
			     v->reason, warm ? idle_mean(&c, o->idle.before) : NAN,
			     warm ? idle_mean(&c, o->idle.after) : NAN, idle_j });
}

static void level_warn(struct model *m, const struct series_label *l, const struct idle_level *v)
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

static int idle_power_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			  struct err *err)
{
	CLEANUP(series_labels_freep) struct series_label *labels = NULL;
	struct energy_opts whole = o->energy;
	struct table *t;

	if (!is_asked(&o->idle))
		return 0;
	whole.whole = true;
	labels = series_labels(m);
	t = table_make(&idle_power_form);
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
		idle_row_add(t, m, l, thermometer(m, labels, l->device), o, &v,
			     idle_energy_j(m, &c, &o->idle));
		level_warn(m, l, &v);
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
	.nothing = "no idle time was recorded around the workload, and no idle power was stated",
	.tables = { &idle_power_form },
	.run = idle_power_run,
	.series_only = true,
};
