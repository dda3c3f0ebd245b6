#include "analyses_private.h"
#include "series_label.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/xalloc.h"

/* Points per series that a page can draw, for a run of any length. */
#define MAX_BINS 2000

/* clang-format off */
#define TIMELINE(X) \
	X(STR, series) X(STR, device) X(STR, unit) X(STR, kind) X(I64, t_ns) X(I64, dt_ns) \
	X(F64, mean) X(F64, min) X(F64, max)
/* clang-format on */
TABLE_FORM(timeline, TIMELINE,
	   "one row per series and time bin: gauges, and energy counters as power; at most 2000 "
	   "equal bins from the first to the last sample of a series");

/* State of one series. */
struct binning {
	const struct model *m;
	const struct series_label *label;
	struct curve c;
	size_t at;     /* interval of the curve that holds the bin's start */
	size_t sample; /* the first that no bin has had */
};

/* A bin is no shorter than a sampling period, so that no bin is empty. */
static int64_t bins_of(const struct binning *b)
{
	int64_t length = b->c.t_ns[b->c.n - 1] - b->c.t_ns[0], n;

	if (counter_holds(b->m, b->label->series, &b->label->info) || b->c.median_period_ns <= 0)
		return MAX_BINS < length ? MAX_BINS : length;
	n = length / b->c.median_period_ns;
	return n < 1 ? 1 : n > MAX_BINS ? MAX_BINS : n;
}

struct bin {
	int64_t from_ns, to_ns;
	double sum, live_s; /* ∫ value dt and time, without dead intervals */
	double min, max;
};

static void bin_widen(struct bin *bin, double v)
{
	if (isnan(bin->min) || v < bin->min)
		bin->min = v;
	if (isnan(bin->max) || v > bin->max)
		bin->max = v;
}

/* Adds interval i to the bin: the value at both ends of their intersection, and the integral over
 * it. */
static void add_interval(struct binning *b, struct bin *bin, size_t i)
{
	const struct curve *c = &b->c;
	int64_t from = bin->from_ns > c->t_ns[i] ? bin->from_ns : c->t_ns[i];
	int64_t to = bin->to_ns < c->t_ns[i + 1] ? bin->to_ns : c->t_ns[i + 1];
	double len_s = (double)(c->t_ns[i + 1] - c->t_ns[i]) * 1e-9;
	double x0 = (double)(from - c->t_ns[i]) * 1e-9, x1 = (double)(to - c->t_ns[i]) * 1e-9;
	double v0 = c->de[i] / len_s, v1 = v0;

	if (c->marks && c->marks[i] & CURVE_DEAD)
		return;
	if (c->p0) {
		double slope = (c->p1[i] - c->p0[i]) / len_s;

		v0 = c->p0[i] + slope * x0;
		v1 = c->p0[i] + slope * x1;
	}
	bin_widen(bin, v0);
	bin_widen(bin, v1);
	bin->sum += (v0 + v1) / 2 * (x1 - x0);
	bin->live_s += x1 - x0;
}

/* A curve with even intervals shows their means; the bin also has the readings at their ends,
 * unless a filter makes them differ from the device's power. */
static void add_samples(struct binning *b, struct bin *bin)
{
	const struct series *se = &b->m->series.v[b->label->series];
	bool shown = b->label->info.kind == SERIES_GAUGE && b->c.tau_s == 0 && bin->live_s > 0;

	for (; b->sample < se->t_ns.nr && se->t_ns.v[b->sample] < bin->to_ns; b->sample++) {
		double v = counter_value(&b->label->info, se->value.v[b->sample]);

		if (shown && se->t_ns.v[b->sample] >= bin->from_ns && isfinite(v))
			bin_widen(bin, v);
	}
}

static void add_bin(struct table *t, struct binning *b, struct bin *bin)
{
	const struct curve *c = &b->c;
	bool energy = b->label->info.quantity == QUANTITY_ENERGY;

	while (b->at + 2 < c->n && c->t_ns[b->at + 1] <= bin->from_ns)
		b->at++;
	for (size_t i = b->at; i + 1 < c->n && c->t_ns[i] < bin->to_ns; i++)
		add_interval(b, bin, i);
	add_samples(b, bin);
	table_add(t, &(struct timeline_row){
			     b->label->name, b->label->device, energy ? "W" : b->label->info.unit,
			     energy ? "cumulative" : "gauge", bin->from_ns - b->m->first_ns,
			     bin->to_ns - bin->from_ns,
			     bin->live_s > 0 ? bin->sum / bin->live_s : NAN, bin->min, bin->max });
}

static void add_series(struct table *t, struct binning *b)
{
	const struct curve *c = &b->c;
	int64_t n, length;

	if (c->n < 2)
		return;
	n = bins_of(b);
	length = c->t_ns[c->n - 1] - c->t_ns[0];
	for (int64_t i = 0; i < n; i++) {
		/* the whole part first: length · i would overflow for a long series */
		struct bin bin = {
			.from_ns = c->t_ns[0] + length / n * i + length % n * i / n,
			.to_ns = c->t_ns[0] + length / n * (i + 1) + length % n * (i + 1) / n,
			.min = NAN,
			.max = NAN,
		};

		add_bin(t, b, &bin);
	}
}

static int timeline_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			struct err *err)
{
	CLEANUP(series_labels_freep) struct series_label *labels = series_labels(m);
	struct table *t = table_make(&timeline_form);
	int r = 0;

	for (size_t i = 0; i < m->series.nr && r == 0; i++) {
		struct binning b = { .m = m, .label = &labels[i] };
		const struct counter_info *ci = &labels[i].info;

		if (ci->kind != SERIES_GAUGE && ci->quantity != QUANTITY_ENERGY)
			continue;
		r = curve_make(m, labels[i].series, ci, &o->energy, &b.c, err);
		if (r == 0)
			add_series(t, &b);
		curve_release(&b.c);
	}
	if (r == 0 && table_rows(t) > 0)
		table_set_add(out, STEAL(t));
	table_free(t);
	return r;
}

const struct analysis analysis_timeline = {
	.name = "timeline",
	.about = "gauges and power over time, in bins that a page can draw",
	.nothing = "no counter was sampled",
	.tables = { &timeline_form },
	.run = timeline_run,
	.series_only = true,
};
