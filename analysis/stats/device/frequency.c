/*
 * Frequency: how fast clocks ran while their devices computed. Every gauge in Hz has a row; of one
 * whose device has kernels the time in which a kernel ran is its busy time (copies need no clock).
 *
 * Levels are those of the intervals of the series' curve, weighted by time: of change points exact,
 * else means between two samples. Only intervals in which the device was busy for at least half of
 * the time tell how fast a busy device runs, unless changes are stored; the others are no part of
 * busy_ns.
 *
 *	usual	weighted median of the busy time
 *	idle	lowest level while the device was idle
 *	top	the clock that the trace states for the device, or the highest level, if that is
 *		higher
 *	low	busy time below LOW_PART of the usual clock; or at the idle clock (up to
 *		IDLE_SLACK above it), where that is below LOW_PART of the top. A device whose clock
 *		is pinned has one level, and is never low.
 *	lost	by how much shorter the low time could be at the usual clock, or at the top one:
 *		sum of (1 − level / reference) · time, as computing takes no fewer cycles
 */
#include "analyses_private.h"
#include "series_label.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/facts.h"

/* clang-format off */
#define FREQUENCY(X) \
	X(STR, series) X(STR, device) X(STR, domain) X(F64, min_hz) X(F64, max_hz) \
	X(F64, mean_hz) X(F64, busy_ns) X(F64, busy_hz) X(F64, usual_hz) X(F64, idle_hz) \
	X(F64, top_hz) X(F64, low_ns) X(F64, at_idle_ns) X(F64, lost_ns)
/* clang-format on */
TABLE_FORM(frequency, FREQUENCY,
	   "one row per clock: its frequency by time, and while its device computed");

#define LOW_PART 0.7
#define IDLE_SLACK 1.1

struct clock_level {
	double hz;
	int64_t busy_ns, idle_ns;
};

struct clock_scan {
	const struct works *w;
	uint32_t device; /* in works.devices; UINT32_MAX: none */
	bool changes;
	struct curve c;
	VEC(struct clock_level) v; /* by interval, then by level */
	double min_hz, max_hz, mean_hz;
	double usual_hz, idle_hz, top_hz;
	double busy_hz, lost_ns;
	int64_t busy_ns, low_ns, at_idle_ns;
};

/* "mem_clock", "mclk", "soc" …: clocks that kernels do not count their cycles by. */
static const char *domain_of(const char *name)
{
	static const char *const memory[] = { "mem", "mclk", "uclk" };
	static const char *const others[] = { "soc", "fclk", "vclk", "dclk", "dcef", "video" };

	for (size_t i = 0; i < sizeof(memory) / sizeof(*memory); i++)
		if (strcasestr(name, memory[i]))
			return "memory";
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strcasestr(name, others[i]))
			return "other";
	return "core";
}

static uint32_t device_of(const struct works *w, const char *name)
{
	for (size_t d = 0; *name && d < w->devices.nr; d++)
		if (strcmp(model_str(w->m, w->devices.v[d].name), name) == 0)
			return (uint32_t)d;
	return UINT32_MAX;
}

/* What an interval has in common with the busy times, which are in order; *at moves along. */
static int64_t common(const struct intervals *busy, size_t *at, int64_t from, int64_t to)
{
	int64_t ns = 0;

	while (*at < busy->v.nr && busy->v.v[*at].end_ns <= from)
		(*at)++;
	for (size_t i = *at; i < busy->v.nr && busy->v.v[i].start_ns < to; i++) {
		int64_t a = busy->v.v[i].start_ns, b = busy->v.v[i].end_ns;

		ns += (b < to ? b : to) - (a > from ? a : from);
	}
	return ns;
}

/* In mHz, which takes out what the curve's sums have rounded. */
static double level_of(const struct curve *c, size_t i)
{
	double seconds = (double)(c->t_ns[i + 1] - c->t_ns[i]) * 1e-9;

	return nearbyint(c->de[i] / seconds * 1e3) / 1e3;
}

static void levels_find(struct clock_scan *s)
{
	unsigned kernels = 1u << WORK_COMPUTE | 1u << WORK_COLLECTIVE;
	CLEANUP(intervals_release) struct intervals busy = INTERVALS_INIT;
	double sum = 0, all = 0;
	size_t at = 0;

	if (s->device != UINT32_MAX)
		works_union(s->w, s->device, kernels, INT64_MIN, INT64_MAX, &busy);
	for (size_t i = 0; i + 1 < s->c.n; i++) {
		int64_t from = s->c.t_ns[i], to = s->c.t_ns[i + 1];
		struct clock_level l = { .hz = level_of(&s->c, i) };

		if (s->c.marks && s->c.marks[i] & CURVE_DEAD)
			continue;
		l.busy_ns = common(&busy, &at, from, to);
		l.idle_ns = to - from - l.busy_ns;
		if (!s->changes && l.busy_ns < l.idle_ns)
			l.busy_ns = 0;
		else if (!s->changes && l.busy_ns > 0)
			l.idle_ns = 0;
		sum += l.hz * (double)(to - from);
		all += (double)(to - from);
		VEC_PUSH(&s->v, l);
	}
	s->mean_hz = all > 0 ? sum / all : NAN;
}

static int cmp_level(const void *pa, const void *pb)
{
	const struct clock_level *a = pa, *b = pb;

	return (a->hz > b->hz) - (a->hz < b->hz);
}

static void levels_sum(struct clock_scan *s)
{
	double sum = 0, seen = 0;

	if (s->v.nr)
		qsort(s->v.v, s->v.nr, sizeof(*s->v.v), cmp_level);
	s->min_hz = s->v.nr ? s->v.v[0].hz : NAN;
	s->max_hz = s->v.nr ? s->v.v[s->v.nr - 1].hz : NAN;
	s->usual_hz = s->idle_hz = NAN;
	for (size_t i = 0; i < s->v.nr; i++) {
		s->busy_ns += s->v.v[i].busy_ns;
		sum += s->v.v[i].hz * (double)s->v.v[i].busy_ns;
		if (isnan(s->idle_hz) && s->v.v[i].idle_ns > 0)
			s->idle_hz = s->v.v[i].hz;
	}
	s->busy_hz = s->busy_ns > 0 ? sum / (double)s->busy_ns : NAN;
	for (size_t i = 0; i < s->v.nr && isnan(s->usual_hz) && s->busy_ns > 0; i++) {
		seen += (double)s->v.v[i].busy_ns;
		if (2 * seen >= (double)s->busy_ns)
			s->usual_hz = s->v.v[i].hz;
	}
}

static void low_find(struct clock_scan *s)
{
	bool idles = s->idle_hz < LOW_PART * s->top_hz;

	for (size_t i = 0; i < s->v.nr; i++) {
		const struct clock_level *l = &s->v.v[i];
		bool at_idle = idles && l->hz <= IDLE_SLACK * s->idle_hz;
		bool below = l->hz < LOW_PART * s->usual_hz;
		double reference = below ? s->usual_hz : s->top_hz;

		if (l->busy_ns == 0 || (!at_idle && !below))
			continue;
		s->low_ns += l->busy_ns;
		s->at_idle_ns += at_idle ? l->busy_ns : 0;
		s->lost_ns += (1 - l->hz / reference) * (double)l->busy_ns;
	}
}

static double stated_hz(const struct clock_scan *s)
{
	const struct device_facts *f =
		s->device == UINT32_MAX ? NULL
					: analysis_device_facts(s->w, &s->w->devices.v[s->device]);

	return f && f->clock_hz != FACT_ABSENT ? (double)f->clock_hz : 0;
}

static void clock_row(struct table *t, const struct series_label *l, struct clock_scan *s)
{
	const char *domain = domain_of(l->name);
	bool busy;

	levels_find(s);
	levels_sum(s);
	busy = s->busy_ns > 0;
	s->top_hz = s->max_hz;
	if (strcmp(domain, "core") == 0 && stated_hz(s) > s->top_hz)
		s->top_hz = stated_hz(s);
	low_find(s);
	table_add(t, &(struct frequency_row){
			     l->name, l->device, domain, s->min_hz, s->max_hz, s->mean_hz,
			     busy ? (double)s->busy_ns : NAN, s->busy_hz, s->usual_hz,
			     busy ? s->idle_hz : NAN, busy ? s->top_hz : NAN,
			     busy ? (double)s->low_ns : NAN, busy ? (double)s->at_idle_ns : NAN,
			     busy ? s->lost_ns : NAN });
}

static int frequency_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			 struct err *err)
{
	CLEANUP(series_labels_freep) struct series_label *labels = series_labels(m);
	CLEANUP(table_freep) struct table *t = table_make(&frequency_form);
	const struct works *w = analysis_works(m, o);

	for (size_t i = 0; i < m->series.nr; i++) {
		const struct counter_info *ci = &labels[i].info;
		struct clock_scan s = { .w = w, .device = device_of(w, labels[i].device) };
		int r;

		if (ci->kind != SERIES_GAUGE || strcmp(ci->unit, "Hz") != 0)
			continue;
		r = curve_make(m, labels[i].series, ci, &o->energy, &s.c, err);
		if (r < 0)
			return r;
		s.changes = m->series.v[labels[i].series].change_points;
		clock_row(t, &labels[i], &s);
		curve_release(&s.c);
		VEC_RELEASE(&s.v);
	}
	if (table_rows(t) == 0)
		return table_set_skip(out, "frequency", "the inputs hold no samples of clocks");
	table_set_add(out, STEAL(t));
	return 0;
}

const struct analysis analysis_frequency = {
	.name = "frequency",
	.about = "clocks over time, and while their devices compute",
	.tables = { &frequency_form },
	.run = frequency_run,
	.needs_work = true,
};
