#include "analyses_private.h"
#include "series_label.h"
#include "track_names.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/fs.h"
#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

/* clang-format off */
#define COUNTERS(X) \
	X(STR, series) X(STR, device) X(STR, kind) X(STR, unit) X(F64, scale) X(U64, samples) \
	X(U64, distinct) X(I64, first_ns) X(I64, last_ns) X(F64, first) X(F64, last) X(F64, min) \
	X(F64, max) X(F64, mean) X(F64, total) X(STR, total_unit) X(I64, max_gap_ns) \
	X(I64, median_period_ns) X(STR, flags) X(STR, track) X(STR, input) X(U64, wraps) \
	X(U64, resets) X(U64, gaps) X(U64, stuck) X(U64, rates) X(I64, unknown_ns) \
	X(F64, period_s) X(F64, tau_s)
/* clang-format on */
TABLE_FORM(counters, COUNTERS,
	   "one row per sampled series, by name and device: what it is, what it says and what is "
	   "odd about it");

static const char *kind_name(enum series_kind kind)
{
	switch (kind) {
	case SERIES_CUMULATIVE:
		return "cumulative";
	case SERIES_GAUGE:
		return "gauge";
	case SERIES_UNKNOWN:
		break;
	}
	return "unknown";
}

static const char *total_unit(const struct counter_info *ci)
{
	if (ci->quantity == QUANTITY_POWER)
		return "J";
	return ci->kind == SERIES_CUMULATIVE ? ci->unit : "";
}

/* The total as in the attribution: with the integration of the options. */
static double total_of(const struct model *m, const struct series_label *l,
		       const struct energy_opts *o, const struct counter_scan *scan)
{
	CLEANUP(curve_release) struct curve c = { 0 };

	bool energy = m->windows.nr && l->info.kind == SERIES_CUMULATIVE;

	if ((l->info.quantity != QUANTITY_POWER && !energy) || isnan(scan->total) ||
	    curve_make(m, l->series, &l->info, o, &c, NULL) < 0)
		return scan->total;
	return curve_total(&c);
}

/* For a model that was cut: figures of the samples in its windows, and means of its curve. Flags
 * are those of the whole counter. */
static void scan_windows(const struct model *m, const struct series_label *l,
			 const struct energy_opts *o, struct counter_scan *scan)
{
	const struct series *se = &m->series.v[l->series];
	CLEANUP(curve_release) struct curve c = { 0 };
	double last = NAN, sum = 0, seconds = 0;
	size_t w = 0;

	scan->samples = scan->distinct = 0;
	scan->first = scan->last = scan->min = scan->max = scan->mean = NAN;
	for (size_t i = 0; i < se->t_ns.nr; i++) {
		double v = counter_value(&l->info, se->value.v[i]);

		while (w < m->windows.nr && se->t_ns.v[i] > m->windows.v[w].to_ns)
			w++;
		if (w == m->windows.nr || se->t_ns.v[i] < m->windows.v[w].from_ns || !isfinite(v))
			continue;
		if (scan->samples++ == 0) {
			scan->first_ns = se->t_ns.v[i];
			scan->first = scan->min = scan->max = v;
		}
		scan->distinct += !(v >= last && v <= last);
		scan->last_ns = se->t_ns.v[i];
		scan->last = last = v;
		scan->min = fmin(scan->min, v);
		scan->max = fmax(scan->max, v);
	}
	if (l->info.kind == SERIES_UNKNOWN || curve_make(m, l->series, &l->info, o, &c, NULL) < 0)
		return;
	for (size_t i = 0; i + 1 < c.n; i++)
		if (!c.marks || !(c.marks[i] & CURVE_DEAD)) {
			sum += c.de[i];
			seconds += (double)(c.t_ns[i + 1] - c.t_ns[i]) * 1e-9;
		}
	scan->mean = seconds > 0 ? sum / seconds : NAN;
}

static void counters_row_add(struct table *t, const struct model *m, const struct series_label *l,
			     const struct energy_opts *o, const struct counter_scan *scan,
			     const struct strvec *tracks)
{
	const struct series *se = &m->series.v[l->series];
	int64_t origin = scan->samples ? m->first_ns : 0;
	char flags[128];

	table_add(t, &(struct counters_row){
			     .series = l->name,
			     .device = l->device,
			     .kind = kind_name(l->info.kind),
			     .unit = l->info.kind == SERIES_UNKNOWN ? model_str(m, se->unit)
								    : l->info.unit,
			     .scale = l->info.scale,
			     .samples = scan->samples,
			     .distinct = scan->distinct,
			     .first_ns = scan->first_ns - origin,
			     .last_ns = scan->last_ns - origin,
			     .first = scan->first,
			     .last = scan->last,
			     .min = scan->min,
			     .max = scan->max,
			     .mean = scan->mean,
			     .total = total_of(m, l, o, scan),
			     .total_unit = total_unit(&l->info),
			     .max_gap_ns = scan->max_gap_ns,
			     .median_period_ns = scan->median_period_ns,
			     .flags = counter_flags(scan->flags, flags),
			     .track = se->track < m->tracks.nr ? tracks->v[se->track] : "",
			     .input = fs_base(m->inputs.v[se->input].path),
			     .wraps = scan->wraps,
			     .resets = scan->resets,
			     .gaps = scan->gaps,
			     .stuck = scan->stuck,
			     .rates = scan->rates,
			     .unknown_ns = scan->unknown_ns,
			     .period_s = l->info.period_s > 0 ? l->info.period_s : NAN,
			     .tau_s = l->info.quantity == QUANTITY_POWER ? l->info.tau_s : NAN });
}

/* The sink warns of failed reads. */
static void scan_warn(struct model *m, const struct series_label *l,
		      const struct counter_scan *scan)
{
	const struct series *se = &m->series.v[l->series];
	const struct {
		const char *code;
		uint64_t count;
		const char *what;
	} all[] = {
		{ W_DUPLICATE_TIME, scan->duplicates, "several values for one time" },
		{ W_COUNTER_UNKNOWN, !!(scan->flags & CF_UNKNOWN), "is not a known counter" },
		{ W_COUNTER_SHORT, !!(scan->flags & CF_SHORT), "has fewer than two values" },
		{ W_COUNTER_WRAP, scan->wraps, "wraps around" },
		{ W_COUNTER_RESET, scan->resets, "goes backwards" },
		{ W_COUNTER_STUCK, scan->stuck,
		  "stands still while it should count, for many periods" },
		{ W_COUNTER_STALE, !!(scan->flags & CF_STALE),
		  "is read more often than it changes" },
		{ W_COUNTER_GAP, scan->gaps, "has holes far longer than its period" },
		{ W_COUNTER_RATE, scan->rates, "is beyond what its device can do" },
		{ W_ESTIMATED, !!(scan->flags & CF_ESTIMATED), "is estimated" },
		{ W_COUNTER_UNITS, l->info.inexact,
		  "has values that are no whole steps of its library's; they are kept as "
		  "recorded" },
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		if (all[i].count == 0)
			continue;
		model_warn(m, se->input, all[i].code, all[i].count, "%s %s", l->name, all[i].what);
	}
}

/* A misspelt entry of --counters would do nothing in silence. */
static void warn_unused(struct model *m)
{
	for (size_t i = 0; m->counter_rules && i < m->counter_rules->v.nr; i++) {
		const char *match = m->counter_rules->v.v[i].match;
		bool used = false;

		for (size_t s = 0; !used && s < m->series.nr; s++)
			used = counter_matches(match, model_str(m, m->series.v[s].name));
		if (!used)
			model_warn(m, UINT32_MAX, W_UNUSED_RULE, 1,
				   "no counter is called '%s' (--counters)", match);
	}
}

static int counters_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			struct err *err)
{
	CLEANUP(series_labels_freep) struct series_label *labels = series_labels(m);
	CLEANUP(strvec_release) struct strvec tracks = STRVEC_INIT;
	struct table *t;

	(void)err;
	if (m->series.nr == 0)
		return 0;
	track_names(m, &tracks);
	t = table_make(&counters_form);
	for (size_t i = 0; i < m->series.nr; i++) {
		const struct series_label *l = &labels[i];
		struct counter_scan scan =
			counter_scan(m, l->series, &l->info, o->energy.max_gap_ns);

		scan_warn(m, l, &scan);
		if (m->windows.nr)
			scan_windows(m, l, &o->energy, &scan);
		counters_row_add(t, m, l, &o->energy, &scan, &tracks);
	}
	warn_unused(m);
	table_set_add(out, t);
	return 0;
}

const struct analysis analysis_counters = {
	.name = "counters",
	.about = "every sampled series: kind, unit, range, total and what is odd about it",
	.nothing = "no counter was sampled",
	.tables = { &counters_form },
	.run = counters_run,
	.series_only = true,
};
