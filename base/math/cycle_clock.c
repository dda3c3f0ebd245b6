#include "profrig/base/cycle_clock.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/l1_line.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

/* Halves with fewer events tell no drift. */
#define DRIFT_EVENTS 8
/* A counter that goes back by less is the jitter of the host's stamps. */
#define BACK_NS 1000.0

int cycle_unwrap(uint64_t *cycles, size_t n)
{
	uint64_t turns = 0;
	int wraps = 0;

	for (size_t i = 1; i < n; i++) {
		cycles[i] += turns;
		if (cycles[i] >= cycles[i - 1])
			continue;
		if (cycles[i - 1] - cycles[i] <= CYCLE_TURN / 2)
			return -1;
		cycles[i] += CYCLE_TURN;
		turns += CYCLE_TURN;
		wraps++;
	}
	return wraps;
}

static double mhz_of(double cycles, double ns)
{
	return cycles / ns * 1e3;
}

static bool is_timed(const struct cycle_stamp *s)
{
	return s->timed && s->end_ns > s->start_ns && s->last > s->first;
}

static double duration_mhz(const struct cycle_stamp *s)
{
	return mhz_of((double)(s->last - s->first), (double)(s->end_ns - s->start_ns));
}

struct weighted {
	double mhz, ns;
};

static int cmp_weighted(const void *pa, const void *pb)
{
	const struct weighted *a = pa, *b = pb;

	return (a->mhz > b->mhz) - (a->mhz < b->mhz);
}

/* The median of what durations say, by their length; NaN without any. */
static double usual_mhz(const struct cycle_stamp *v, size_t n)
{
	size_t step = n / CYCLE_POINTS + 1;
	VEC(struct weighted) w = VEC_INIT;
	double all = 0, seen = 0, mhz = NAN;

	for (size_t i = 0; i < n; i += step)
		if (is_timed(&v[i])) {
			double ns = (double)(v[i].end_ns - v[i].start_ns);

			VEC_PUSH(&w, ((struct weighted){ duration_mhz(&v[i]), ns }));
			all += ns;
		}
	if (w.nr)
		qsort(w.v, w.nr, sizeof(*w.v), cmp_weighted);
	for (size_t i = 0; i < w.nr && isnan(mhz); i++) {
		seen += w.v[i].ns;
		if (2 * seen >= all)
			mhz = w.v[i].mhz;
	}
	VEC_RELEASE(&w);
	return mhz;
}

static int cmp_end(const void *pa, const void *pb)
{
	const struct cycle_stamp *a = pa, *b = pb;

	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static bool in_order(const struct cycle_stamp *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (cmp_end(&v[i - 1], &v[i]) > 0)
			return false;
	return true;
}

/* Turns between two values of the counter, of which the later is `ahead` cycles on by the clock. */
static double turns_between(double from, double to, double ahead)
{
	double turn = (double)CYCLE_TURN;

	if (isnan(ahead))
		return from - to > turn / 2 ? 1 : 0;
	return nearbyint((ahead - (to - from)) / turn);
}

/* So that no sum overflows; no recording has as many turns. */
#define TURNS_MAX 0x1p28

void cycle_epochs(struct cycle_stamp *v, size_t n)
{
	double mhz = usual_mhz(v, n);
	int64_t turns = 0;
	uint64_t before = 0;

	if (!in_order(v, n))
		qsort(v, n, sizeof(*v), cmp_end);
	for (size_t i = 0; i < n; i++) {
		uint64_t raw = v[i].last;

		if (i > 0) {
			double ns = (double)v[i].end_ns - (double)v[i - 1].end_ns;
			double t = turns_between((double)before, (double)raw, ns * mhz / 1e3);

			turns += (int64_t)fmin(fmax(t, -TURNS_MAX), TURNS_MAX);
			turns = turns < 0                    ? 0
				: turns > (int64_t)TURNS_MAX ? (int64_t)TURNS_MAX
							     : turns;
		}
		before = raw;
		v[i].first += (uint64_t)turns * CYCLE_TURN;
		v[i].last += (uint64_t)turns * CYCLE_TURN;
	}
}

static void range_add(struct cycle_range *r, double mhz)
{
	r->min = r->nr == 0 || mhz < r->min ? mhz : r->min;
	r->max = r->nr == 0 || mhz > r->max ? mhz : r->max;
	r->mean += (mhz - r->mean) / (double)++r->nr;
}

static void range_end(struct cycle_range *r)
{
	if (r->nr == 0)
		r->min = r->mean = r->max = NAN;
}

static bool range_varies(const struct cycle_range *r)
{
	return r->nr > 0 && !((r->max - r->min) <= CYCLE_SPREAD * fabs(r->mean));
}

static int cmp_order(const void *pa, const void *pb)
{
	const struct cycle_stamp *const *a = pa, *const *b = pb;

	return ((*a)->order > (*b)->order) - ((*a)->order < (*b)->order);
}

/* In the order of the file; the durations of events that no interval leads to stand in for it. */
static void ranges_make(const struct cycle_stamp *v, size_t n, struct cycle_clock *c)
{
	CLEANUP(xfreep) const struct cycle_stamp **by = xcalloc(n + 1, sizeof(*by));
	const struct cycle_stamp *before = NULL;

	for (size_t i = 0; i < n; i++)
		by[i] = &v[i];
	qsort(by, n, sizeof(*by), cmp_order);
	for (size_t i = 0; i < n; i++) {
		const struct cycle_stamp *s = by[i];
		bool goes_on = before && s->start_ns > before->start_ns;

		if (!s->timed)
			continue;
		if (is_timed(s))
			range_add(&c->duration, duration_mhz(s));
		if (goes_on)
			range_add(&c->interval, mhz_of((double)s->first - (double)before->first,
						       (double)(s->start_ns - before->start_ns)));
		else if (is_timed(s))
			range_add(&c->interval, duration_mhz(s));
		c->zero_gaps += before && !goes_on;
		before = s;
	}
	range_end(&c->duration);
	range_end(&c->interval);
}

/* Of events [from, to): cycles per ns. 0: no line. */
static struct l1_line line_of(const struct cycle_stamp *v, size_t from, size_t to, double *ret_mean)
{
	size_t n = to - from, step = n / CYCLE_POINTS + 1, nr = 0;
	CLEANUP(xfreep) struct l1_point *p = xcalloc(n / step + 2, sizeof(*p));
	struct l1_line l;

	for (size_t i = from; i < to; i += step)
		p[nr++] = (struct l1_point){ (double)(v[i].end_ns - v[from].end_ns),
					     (double)v[i].last - (double)v[from].last };
	l = l1_line_fit(p, nr);
	if (ret_mean)
		*ret_mean = nr > 0 ? l1_line_sum(p, nr, l) / (double)nr : 0;
	return l;
}

static size_t count_back(const struct cycle_stamp *v, size_t n, double mhz, double residual_ns)
{
	double slack = (BACK_NS + 10 * residual_ns) * mhz / 1e3;
	size_t nr = 0;

	for (size_t i = 1; i < n; i++)
		nr += (double)v[i - 1].last - (double)v[i].last > slack;
	return nr;
}

static double drift_of(const struct cycle_stamp *v, size_t n)
{
	struct l1_line early, late;

	if (n < (size_t)2 * DRIFT_EVENTS)
		return NAN;
	early = line_of(v, 0, n / 2, NULL);
	late = line_of(v, n / 2, n, NULL);
	return early.slope > 0 && late.slope > 0 ? (late.slope / early.slope - 1) * 1e6 : NAN;
}

static void line_make(const struct cycle_stamp *v, size_t n, struct cycle_clock *c)
{
	double mean, usual = usual_mhz(v, n);
	struct l1_line l = line_of(v, 0, n, &mean);

	if (!(l.slope > 0)) {
		c->flags |= CYCLE_EPOCH;
		return;
	}
	c->mhz = l.slope * 1e3;
	c->residual_ns = mean / l.slope;
	c->drift_ppm = drift_of(v, n);
	c->epochs = (v[n - 1].last - v[0].last) / CYCLE_TURN;
	c->backwards = count_back(v, n, c->mhz, c->residual_ns);
	if (c->backwards)
		c->flags |= CYCLE_BACK;
	if (usual > 0 && fabs(c->mhz / usual - 1) > CYCLE_WRONG_EPOCH)
		c->flags |= CYCLE_EPOCH;
}

struct cycle_clock cycle_clock_fit(const struct cycle_stamp *v, size_t n)
{
	struct cycle_clock c = { .events = n, .mhz = NAN, .residual_ns = NAN, .drift_ppm = NAN };

	ranges_make(v, n, &c);
	if (n == 0 || v[n - 1].end_ns <= v[0].end_ns) {
		c.flags |= CYCLE_FEW;
		c.mhz = c.duration.mean;
		return c;
	}
	line_make(v, n, &c);
	if (range_varies(&c.duration) || range_varies(&c.interval))
		c.flags |= CYCLE_VARIES;
	return c;
}
