/*
 * What is known once all events of FLEX are: the frequency of each device's counter and its turns
 * (cycle_clock.h). Then a phase has the length of its cycles, and ends where the host says. Where
 * the clock does not hold (too few events, or the counter contradicts the host), phases keep the
 * host's times; only an event that has no length on the host has that of its cycles, at the
 * nominal frequency.
 *
 * Spans of one pid and tid that overlap without one holding the other lie in several rows
 * (nest_rows.h), of devices those that overlap at all: rows as few as hold them.
 */
#include "tef_flex.h"

#include <inttypes.h>
#include <math.h>

#include "profrig/base/sort.h"
#include "profrig/model/nest_rows.h"
#include "profrig/model/warnings.h"

/* Of an AIU's system clock; read_opts.soc_mhz overrides it. */
#define NOMINAL_MHZ 1000.0

static struct flex_stamps *whole_stamps(const struct flex *x, const struct flex_item *i)
{
	struct flex_stamps *s = i->stamps ? &x->stamps.v[i->stamps - 1] : NULL;

	return s && s->whole ? s : NULL;
}

static enum stamp_phase phase_of(const struct flex_item *i)
{
	return (enum stamp_phase)i->phase;
}

/* ---- clocks ---- */

/* Whether the device has executions; else all phases tell its frequency. */
static bool any_exec(const struct cycle_stamp *v, size_t n, const struct flex *x)
{
	for (size_t i = 0; i < n; i++)
		if (x->items.v[v[i].row].phase == PHASE_EXEC)
			return true;
	return false;
}

static void clock_make(struct flex *x, struct flex_device *d, struct cycle_stamp *v, size_t n)
{
	bool exec = any_exec(v, n, x);

	for (size_t i = 0; i < n; i++)
		v[i].timed = !exec || x->items.v[v[i].row].phase == PHASE_EXEC;
	cycle_epochs(v, n);
	for (size_t i = 0; i < n; i++) {
		const struct flex_item *item = &x->items.v[v[i].row];
		struct flex_stamps *s = &x->stamps.v[item->stamps - 1];
		uint64_t turns = v[i].last - s->cycles[stamp_last(phase_of(item))];

		for (int k = 0; k < STAMPS_NR; k++)
			s->cycles[k] += turns;
	}
	d->clock = cycle_clock_fit(v, n);
}

/* Stamped items, device by device. */
static void clocks_make(struct tef *t, struct flex *x)
{
	CLEANUP(xfreep) size_t *at = xcalloc(x->devices.nr + 1, sizeof(*at));
	CLEANUP(xfreep) struct cycle_stamp *v = NULL;
	double nominal = t->opts->soc_mhz > 0 ? t->opts->soc_mhz : NOMINAL_MHZ;
	size_t nr = 0;

	for (size_t i = 0; i < x->items.nr; i++) {
		const struct flex_stamps *s = whole_stamps(x, &x->items.v[i]);

		if (s)
			x->devices.v[s->device].nr++;
	}
	for (size_t d = 0; d < x->devices.nr; d++) {
		at[d] = nr;
		nr += x->devices.v[d].nr;
	}
	v = xcalloc(nr + 1, sizeof(*v));
	for (size_t i = 0; i < x->items.nr; i++) {
		const struct flex_item *item = &x->items.v[i];
		const struct flex_stamps *s = whole_stamps(x, item);

		if (s)
			v[at[s->device]++] = (struct cycle_stamp){
				.start_ns = item->start_ns,
				.end_ns = item->end_ns,
				.first = s->cycles[stamp_first(phase_of(item))],
				.last = s->cycles[stamp_last(phase_of(item))],
				.order = (uint64_t)s->order,
				.row = i,
			};
	}
	for (size_t d = 0; d < x->devices.nr; d++) {
		struct flex_device *dev = &x->devices.v[d];

		clock_make(x, dev, v + at[d] - dev->nr, dev->nr);
		dev->mhz = cycle_clock_holds(&dev->clock) ? dev->clock.mhz : nominal;
	}
}

static int64_t cycles_ns(const struct flex_device *d, double cycles)
{
	double ns = cycles / d->mhz * 1e3;

	return fabs(ns) < 0x1p60 ? llround(ns) : 0;
}

int64_t flex_time_of(const struct flex *x, const struct flex_item *i, uint64_t cycles)
{
	const struct flex_stamps *s = &x->stamps.v[i->stamps - 1];

	return i->end_ns + cycles_ns(&x->devices.v[s->device],
				     (double)cycles - (double)s->cycles[stamp_last(phase_of(i))]);
}

/* The start of an item, whose end is the host's. */
static int64_t start_of(const struct flex *x, const struct flex_item *i)
{
	const struct flex_stamps *s = whole_stamps(x, i);
	bool empty = i->end_ns == i->start_ns;
	int64_t start;

	if (!s || (!empty && (phase_of(i) == PHASE_UNKNOWN ||
			      !cycle_clock_holds(&x->devices.v[s->device].clock))))
		return i->start_ns;
	start = flex_time_of(x, i, s->cycles[stamp_first(phase_of(i))]);
	return start <= i->end_ns ? start : i->start_ns;
}

/* ---- spans ---- */

static void facts_push(struct tef *t, const struct flex_item *i, span_id span)
{
	const struct flex_stamps *s = &t->flex->stamps.v[i->stamps - 1];
	struct span_facts f = { .kind = FACTS_COPY, .copy = COPY_FACTS_NONE };

	if (!t->opts->facts || t->opts->file_facts || t->sink->counts_only)
		return;
	if (i->span == SPAN_NONE && !i->rdma &&
	    (i->phase == PHASE_DMA_IN || i->phase == PHASE_DMA_OUT)) {
		f.copy.bytes = s->bytes;
		f.copy.direction = i->phase == PHASE_DMA_IN ? COPY_H2D : COPY_D2H;
		t->sink->ops->facts(t->sink, span, &f);
	}
	if (!s->whole)
		return;
	f = (struct span_facts){ .kind = FACTS_STAMP, .stamp = STAMP_FACTS_NONE };
	f.stamp.phase = phase_of(i);
	for (int k = 0; k < STAMPS_NR; k++)
		f.stamp.cycles[k] = (int64_t)s->cycles[k];
	f.stamp.host_ns = i->end_ns - i->start_ns;
	f.stamp.order = s->order;
	t->sink->ops->facts(t->sink, span, &f);
}

/* Preparation waits in a queue most of the time: it is shown, and is no work. */
static enum span_kind kind_of(const struct flex_item *i)
{
	switch (phase_of(i)) {
	case PHASE_EXEC:
		return SPAN_KERNEL;
	case PHASE_DMA_IN:
	case PHASE_DMA_OUT:
		return i->rdma ? SPAN_KERNEL : SPAN_COPY;
	case PHASE_UNKNOWN:
	case PHASE_PREP:
		break;
	}
	return SPAN_ANNOTATION;
}

static void item_push(struct tef *t, struct flex_item *i, int64_t start_ns, uint32_t row)
{
	const struct flex *x = t->flex;
	const struct tef_edge_place place = t->edge_places.v[i->place];
	const struct flex_device *dev =
		i->stamps ? &x->devices.v[x->stamps.v[i->stamps - 1].device] : NULL;
	struct span_def d = { .start_ns = start_ns,
			      .end_ns = i->end_ns,
			      .name = i->name,
			      .category = i->category,
			      .args = i->args,
			      .kind = dev ? kind_of(i) : SPAN_HOST };
	span_id span;

	span = tef_span(t, tef_lane(t, &place.pid, &place.tid, dev ? dev->name : NULL, row), &d);

	if (dev)
		facts_push(t, i, span);
	i->span = span;
}

/* Items of the host and of the device at one pid and tid are two groups. */
static size_t group_of(const struct flex_item *i)
{
	return (size_t)i->place * 2 + (i->stamps != 0);
}

static void group_push(struct tef *t, struct sort_span *v, size_t n)
{
	CLEANUP(nest_rows_release) struct nest_rows rows = NEST_ROWS_INIT;
	struct flex *x = t->flex;

	sort_spans(v, n);
	for (size_t i = 0; i < n; i++) {
		struct flex_item *item = &x->items.v[v[i].row];
		bool nests = kind_of(item) == SPAN_ANNOTATION || item->stamps == 0;

		item_push(t, item, v[i].start_ns,
			  nest_rows_put(&rows, 0, v[i].start_ns, v[i].end_ns, nests));
	}
}

static void items_push(struct tef *t)
{
	struct flex *x = t->flex;
	size_t groups = t->edge_places.nr * 2, sum = 0;
	CLEANUP(xfreep) size_t *ends = xcalloc(groups + 1, sizeof(*ends));
	CLEANUP(xfreep) struct sort_span *v = xcalloc(x->items.nr + 1, sizeof(*v));

	for (size_t i = 0; i < x->items.nr; i++) {
		if (x->items.v[i].span == SPAN_NONE)
			ends[group_of(&x->items.v[i]) + 1]++;
		else
			facts_push(t, &x->items.v[i], x->items.v[i].span);
	}
	for (size_t g = 0; g < groups; g++)
		ends[g] = sum += ends[g];
	for (size_t i = 0; i < x->items.nr; i++) {
		const struct flex_item *item = &x->items.v[i];

		if (item->span == SPAN_NONE)
			v[ends[group_of(item)]++] =
				(struct sort_span){ start_of(x, item), item->end_ns, i };
	}
	for (size_t g = 0, from = 0; g < groups; from = ends[g++])
		if (ends[g] > from)
			group_push(t, v + from, ends[g] - from);
}

/* ---- what is wrong ---- */

static void clock_warn(const struct tef *t, const struct flex_device *d)
{
	const char *why = d->clock.flags & CYCLE_BACK    ? "goes back"
			  : d->clock.flags & CYCLE_EPOCH ? "contradicts the host's durations"
							 : NULL;

	if (why)
		sink_warnf(t->sink, W_DEVICE_CLOCK,
			   "the cycle counter of %s %s; its events keep the host's times", d->name,
			   why);
}

static void warn(struct tef *t, const struct flex *x)
{
	char text[160];

	snprintf(text, sizeof(text), "events end before they begin; they were left out");
	sink_warn(t->sink, W_NEGATIVE_DURATION, x->negative, text);
	snprintf(text, sizeof(text), "events have no duration; %" PRIu64 " of them have cycles",
		 x->zero_cycles);
	sink_warn(t->sink, W_ZERO_DURATION, x->zero, text);
	tally_warn(&x->incomplete, t->sink, W_CYCLE_STAMPS, NULL);
	tally_warn(&x->disorder, t->sink, W_CYCLE_STAMPS, NULL);
	for (size_t d = 0; d < x->devices.nr; d++)
		clock_warn(t, &x->devices.v[d]);
}

void tef_flex_push(struct tef *t)
{
	struct flex *x = t->flex;

	if (!x)
		return;
	clocks_make(t, x);
	items_push(t);
	flex_messages_push(t, x);
	flex_series_push(t, x);
	warn(t, x);
}
