/*
 * Series that follow from FLEX's events, for each device:
 *
 *	power.gpu0		W. Power is a counter of energy in steps of 12/512 µJ, modulo 2^32,
 *				taken at the end of the execution (TS4). Between two values of it
 *				the power is 12/512 · difference / time, and holds from the earlier
 *				one on. An equal value is no turn: no energy was counted. Unknown,
 *				and so missing, is the power where no event has a value (0 counts
 *				as none), where more than POWER_MAX_W follow, and over gaps in which
 *				the counter may have turned unseen at that power.
 *	preparing.gpu0		how many pieces of work are being prepared (Cmpt Prep)
 *
 * The sensor's model is that of aiu-trace-analyzer.
 */
#include "tef_flex.h"

#include <inttypes.h>
#include <math.h>

#include "profrig/base/sort.h"
#include "profrig/model/warnings.h"

#define STEP_J (12e-6 / 512)
/* Above what a card can take: such a value is no reading. */
#define POWER_MAX_W 100.0
#define TURN_J ((double)CYCLE_TURN * STEP_J)

struct power_sample {
	int64_t t_ns;
	uint64_t cycles; /* TS4 */
	uint64_t value;
};

static int cmp_sample(const void *pa, const void *pb)
{
	const struct power_sample *a = pa, *b = pb;

	if (a->cycles != b->cycles)
		return a->cycles < b->cycles ? -1 : 1;
	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns ? -1 : 1;
	return (a->value > b->value) - (a->value < b->value);
}

static series_id series_of(struct tef *t, const struct flex_device *d, const char *name,
			   const char *unit)
{
	CLEANUP(xfreep) char *full = xasprintf("%s.%s", name, d->name);
	struct series_def sd = { .name = full,
				 .unit = unit,
				 .device = d->name,
				 .host = t->doc.host[0] ? t->doc.host : NULL,
				 .kind = SERIES_GAUGE,
				 .track = TRACK_NONE,
				 .change_points = true,
				 .ends = *unit != 0 };

	return t->sink->ops->series(t->sink, &sd);
}

/* Of an interval; NaN: it cannot be told. */
static double watts(const struct power_sample *a, const struct power_sample *b)
{
	double s = (double)(b->t_ns - a->t_ns) * 1e-9, w;
	uint64_t steps = (b->value - a->value) & (CYCLE_TURN - 1);

	if (!(s > 0) || s * POWER_MAX_W > TURN_J)
		return NAN;
	w = (double)steps * STEP_J / s;
	return w <= POWER_MAX_W ? w : NAN;
}

/* A value that is repeated would end (series.ends), so it holds on without a sample. */
static void power_push(struct tef *t, const struct flex_device *d, const struct power_sample *v,
		       size_t n)
{
	series_id id = SERIES_NONE;
	double before = NAN;
	uint64_t unknown = 0;

	for (size_t i = 0; i + 1 < n; i++) {
		double w = watts(&v[i], &v[i + 1]);

		unknown += isnan(w) && v[i + 1].t_ns > v[i].t_ns;
		if (isnan(w) ? isnan(before) : w == before)
			continue;
		if (id == SERIES_NONE)
			id = series_of(t, d, "power", "W");
		t->sink->ops->sample(t->sink, id, v[i].t_ns, isnan(w) ? before : w);
		before = w;
	}
	if (!isnan(before))
		t->sink->ops->sample(t->sink, id, v[n - 1].t_ns, before);
	if (unknown)
		sink_warnf(t->sink, W_POWER_UNKNOWN,
			   "%" PRIu64 " of %zu intervals of the energy counter of %s tell no power",
			   unknown, n - 1, d->name);
}

/* Of several samples of one moment, as B and E repeat them, the last one counts. */
static size_t samples_join(struct power_sample *v, size_t n)
{
	size_t nr = 0;

	qsort(v, n, sizeof(*v), cmp_sample);
	for (size_t i = 0; i < n; i++) {
		if (nr > 0 && v[nr - 1].cycles == v[i].cycles)
			nr--;
		v[nr++] = v[i];
	}
	return nr;
}

static void device_power(struct tef *t, const struct flex *x, uint32_t device)
{
	const struct flex_device *d = &x->devices.v[device];
	CLEANUP(xfreep) struct power_sample *v = xcalloc(d->nr + 1, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < x->items.nr; i++) {
		const struct flex_item *item = &x->items.v[i];
		const struct flex_stamps *s = item->stamps ? &x->stamps.v[item->stamps - 1] : NULL;

		if (!s || !s->whole || s->device != device || item->phase == PHASE_PREP ||
		    s->power == FACT_ABSENT || s->power == 0)
			continue;
		v[n++] = (struct power_sample){ flex_time_of(x, item, s->cycles[3]), s->cycles[3],
						(uint64_t)s->power };
	}
	n = samples_join(v, n);
	if (n > 1)
		power_push(t, d, v, n);
}

/* ---- work in preparation ---- */

static void preparing_push(struct tef *t, const struct flex_device *d, int64_t *starts,
			   int64_t *ends, size_t n)
{
	series_id id = series_of(t, d, "preparing", "");
	size_t s = 0, e = 0, before = 0;

	sort_i64(starts, n);
	sort_i64(ends, n);
	while (e < n) {
		int64_t at = s < n && starts[s] < ends[e] ? starts[s] : ends[e];

		for (; e < n && ends[e] == at; e++)
			;
		for (; s < n && starts[s] == at; s++)
			;
		if (s - e != before)
			t->sink->ops->sample(t->sink, id, at, (double)(s - e));
		before = s - e;
	}
}

static void device_preparing(struct tef *t, const struct flex *x, uint32_t device)
{
	CLEANUP(xfreep) int64_t *starts = NULL, *ends = NULL;
	size_t n = 0;

	for (int pass = 0; pass < 2; pass++) {
		if (pass == 1) {
			starts = xcalloc(n + 1, sizeof(*starts));
			ends = xcalloc(n + 1, sizeof(*ends));
			n = 0;
		}
		for (size_t i = 0; i < x->items.nr; i++) {
			const struct flex_item *item = &x->items.v[i];

			if (item->phase != PHASE_PREP || item->end_ns == item->start_ns ||
			    !item->stamps || x->stamps.v[item->stamps - 1].device != device)
				continue;
			if (pass == 1) {
				starts[n] = item->start_ns;
				ends[n] = item->end_ns;
			}
			n++;
		}
	}
	if (n > 0)
		preparing_push(t, &x->devices.v[device], starts, ends, n);
}

void flex_series_push(struct tef *t, struct flex *x)
{
	for (uint32_t d = 0; d < x->devices.nr; d++) {
		device_power(t, x, d);
		device_preparing(t, x, d);
	}
}
