/*
 * Device clocks: the frequency of cycle counters as it was measured, and a stated one beside it
 * (--freq), which is only checked: times that follow from cycles are those of the measured clock.
 *
 * Warned of: durations or intervals that spread more than 10 %; a counter that goes back, or
 * contradicts the durations; a stated frequency that differs by 0.1 MHz and more, with the error
 * of times at the end of the recording; several inputs of one device at one time.
 */
#include "analyses_private.h"
#include "cycle_devices.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/model/warnings.h"

/* clang-format off */
#define DEVICE_CLOCKS(X) \
	X(STR, device) X(F64, rank) X(I64, events) X(F64, mhz) \
	X(F64, duration_min_mhz) X(F64, duration_mean_mhz) X(F64, duration_max_mhz) \
	X(F64, interval_min_mhz) X(F64, interval_mean_mhz) X(F64, interval_max_mhz) \
	X(F64, drift_ppm) X(F64, residual_ns) X(I64, epochs) X(I64, zero_gaps) \
	X(I64, backwards) X(F64, stated_mhz) X(F64, stated_error_ns) X(STR, flags)
/* clang-format on */
TABLE_FORM(device_clocks, DEVICE_CLOCKS,
	   "one row per device: the frequency of its cycle counter against the host's clock");

/* A stated frequency that is nearer than this is right. */
#define STATED_MHZ 0.1

static const char *flags_text(unsigned flags, char *buf, size_t n)
{
	static const struct {
		unsigned flag;
		const char *word;
	} words[] = {
		{ CYCLE_FEW, "few" },
		{ CYCLE_VARIES, "varies" },
		{ CYCLE_EPOCH, "epoch" },
		{ CYCLE_BACK, "back" },
	};
	size_t at = 0;

	buf[0] = 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (flags & words[i].flag)
			at += (size_t)snprintf(buf + at, n - at, "%s%s", at ? " " : "",
					       words[i].word);
	return buf;
}

/* By how much times at the end would be wrong. */
static double stated_error_ns(const struct cycle_device *d, double stated)
{
	return (double)(d->last_ns - d->first_ns) * fabs(1 - d->clock.mhz / stated);
}

static void clock_warn(struct model *m, const struct cycle_device *d, double stated)
{
	const struct cycle_clock *c = &d->clock;

	if (c->flags & CYCLE_VARIES)
		model_warn(
			m, UINT32_MAX, W_DEVICE_CLOCK, 1,
			"the frequency of %s varies: %.2f to %.2f MHz by durations, %.2f to %.2f "
			"by intervals",
			d->name, c->duration.min, c->duration.max, c->interval.min,
			c->interval.max);
	if (c->flags & (CYCLE_EPOCH | CYCLE_BACK))
		model_warn(m, UINT32_MAX, W_DEVICE_CLOCK, 1,
			   "the cycle counter of %s %s (%zu times back)", d->name,
			   c->flags & CYCLE_BACK ? "goes back"
						 : "contradicts the durations of its events",
			   c->backwards);
	if (stated > 0 && c->mhz > 0 && fabs(c->mhz - stated) > STATED_MHZ)
		model_warn(
			m, UINT32_MAX, W_DEVICE_CLOCK, 1,
			"%s runs at %.3f MHz, not at the stated %.10g (ratio %.3f): times by that "
			"would be wrong by %.0f us at the end; --freq %.3f",
			d->name, c->mhz, stated, stated / c->mhz, stated_error_ns(d, stated) / 1e3,
			c->mhz);
}

struct reach {
	input_id input;
	int64_t first_ns, last_ns;
};

static int cmp_reach(const void *pa, const void *pb)
{
	const struct reach *a = pa, *b = pb;

	if (a->first_ns != b->first_ns)
		return a->first_ns < b->first_ns ? -1 : 1;
	return (a->input > b->input) - (a->input < b->input);
}

/* Files of one device follow each other; at one time they are of two that are called alike. */
static void inputs_warn(struct model *m, const struct cycle_devices *cd,
			const struct cycle_device *d)
{
	CLEANUP(xfreep) struct reach *r = xcalloc(m->inputs.nr + 1, sizeof(*r));
	int64_t last = INT64_MIN;
	size_t nr = 0;

	for (size_t i = 0; i < m->inputs.nr; i++)
		r[i] = (struct reach){ (input_id)i, INT64_MAX, INT64_MIN };
	for (size_t i = d->first; i < d->first + d->nr; i++) {
		uint64_t span = m->facts.stamps.v[cd->rows.v[i]].span;
		struct reach *at = &r[span_input(&m->spans, span)];

		if (m->spans.start_ns[span] < at->first_ns)
			at->first_ns = m->spans.start_ns[span];
		if (m->spans.end_ns[span] > at->last_ns)
			at->last_ns = m->spans.end_ns[span];
	}
	qsort(r, m->inputs.nr, sizeof(*r), cmp_reach);
	for (size_t i = 0; i < m->inputs.nr && r[i].first_ns <= r[i].last_ns; i++) {
		nr += i > 0 && r[i].first_ns < last;
		last = r[i].last_ns > last ? r[i].last_ns : last;
	}
	if (nr)
		model_warn(
			m, UINT32_MAX, W_RANK_TWICE, nr,
			"%zu inputs have work of %s at the time of others; are they of one rank?",
			nr + 1, d->name);
}

static void clock_row(struct table *t, const struct cycle_device *d, double stated)
{
	const struct cycle_clock *c = &d->clock;
	char flags[64];

	table_add(t,
		  &(struct device_clocks_row){
			  d->name, d->rank, (int64_t)c->events, c->mhz, c->duration.min,
			  c->duration.mean, c->duration.max, c->interval.min, c->interval.mean,
			  c->interval.max, c->drift_ppm, c->residual_ns, (int64_t)c->epochs,
			  (int64_t)c->zero_gaps, (int64_t)c->backwards, stated > 0 ? stated : NAN,
			  stated > 0 && c->mhz > 0 ? stated_error_ns(d, stated) : NAN,
			  flags_text(c->flags, flags, sizeof(flags)) });
}

static int device_clocks_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			     struct err *err)
{
	CLEANUP(table_freep) struct table *t = table_make(&device_clocks_form);
	CLEANUP(cycle_devices_freep) struct cycle_devices *cd = cycle_devices_new(m);

	(void)err;
	for (size_t i = 0; i < cd->v.nr; i++) {
		clock_row(t, &cd->v.v[i], o->soc_mhz);
		clock_warn(m, &cd->v.v[i], o->soc_mhz);
		inputs_warn(m, cd, &cd->v.v[i]);
	}
	if (table_rows(t) == 0)
		return table_set_skip(out, "device_clocks", SAY_NO_CYCLES);
	table_set_add(out, STEAL(t));
	return 0;
}

const struct analysis analysis_device_clocks = {
	.name = "device_clocks",
	.about = "the frequency of devices' cycle counters against the host's clock",
	.tables = { &device_clocks_form },
	.run = device_clocks_run,
	.needs_work = true,
};
