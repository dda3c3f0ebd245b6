#include "profrig/base/change_points.h"
#include "values.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/mix.h"
#include "profrig/base/student.h"
#include "profrig/base/xalloc.h"

#define FIRST_PASS 10 /* of Hunter's: times alpha */

void change_points_release(struct change_points *c)
{
	VEC_RELEASE(&c->v);
}

static double mean_between(const double *v, size_t begin, size_t end)
{
	return values_mean(v + begin, end - begin);
}

static double squares_of(const double *v, size_t begin, size_t end)
{
	double mean = mean_between(v, begin, end), sum = 0;

	for (size_t i = begin; i < end; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return sum;
}

/* ---- E-divisive ---- */

/*
 * to[k]: a row of prefix sums of the distances of value k, so that Σ |v[i] − v[k]| over a stretch
 * of i is one difference.
 */
struct distances {
	double *to;
	size_t n;
};

static struct distances distances_of(const double *v, size_t n)
{
	struct distances d = { xcalloc(n * (n + 1) + 1, sizeof(*d.to)), n };

	for (size_t k = 0; k < n; k++) {
		double *row = d.to + k * (n + 1);

		for (size_t i = 0; i < n; i++)
			row[i + 1] = row[i] + fabs(v[i] - v[k]);
	}
	return d;
}

static double distance(const struct distances *d, size_t k, size_t begin, size_t end)
{
	const double *row = d->to + k * (d->n + 1);

	return row[end] - row[begin];
}

static double split_q(double n, double m, double cross, double left, double right)
{
	double q = 2 / (m + n) * cross;

	if (n > 1)
		q -= 2 * m / ((m + n) * (n - 1)) * left;
	if (m > 1)
		q -= 2 * n / ((m + n) * (m - 1)) * right;
	return q;
}

/* The best split of v[begin … end). */
static struct change_split split_find(const struct distances *d, size_t begin, size_t end,
				      bool any_end)
{
	struct change_split best = { begin, end, -INFINITY };
	double left = 0;

	for (size_t at = begin + 1; at < end; at++) {
		double cross = 0, right = 0;

		left += distance(d, at - 1, begin, at - 1);
		for (size_t to = at + 1; to <= end; to++) {
			double q;

			cross += distance(d, to - 1, begin, at);
			right += distance(d, to - 1, at, to - 1);
			if (to < end && !any_end)
				continue;
			q = split_q((double)(at - begin), (double)(to - at), cross, left, right);
			if (q > best.q)
				best = (struct change_split){ at, to, q };
		}
	}
	return best;
}

struct change_split change_split_best(const double *v, size_t n, bool any_end)
{
	struct distances d = distances_of(v, n);
	struct change_split best = split_find(&d, 0, n, any_end);

	free(d.to);
	return best;
}

static size_t segment_begin(const struct change_points *c, size_t i)
{
	return i > 0 ? c->v.v[i - 1].at : 0;
}

static size_t segment_end(const struct change_points *c, size_t i, size_t n)
{
	return i < c->v.nr ? c->v.v[i].at : n;
}

/* The best split of all segments; *ret_segment is its one. */
static struct change_split split_next(const double *v, size_t n, const struct change_points *c,
				      size_t *ret_segment)
{
	struct distances d = distances_of(v, n);
	struct change_split best = { 0, 0, -INFINITY };

	for (size_t i = 0; i <= c->v.nr; i++) {
		struct change_split s =
			split_find(&d, segment_begin(c, i), segment_end(c, i, n), true);

		if (s.q > best.q) {
			best = s;
			*ret_segment = i;
		}
	}
	free(d.to);
	return best;
}

static void shuffle(double *v, size_t n, uint64_t *seed)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = (size_t)((unsigned __int128)splitmix64(seed) * i >> 64);
		double x = v[k];

		v[k] = v[i - 1];
		v[i - 1] = x;
	}
}

static void point_insert(struct change_points *c, size_t i, struct change_point p)
{
	VEC_RESERVE(&c->v, c->v.nr + 1);
	memmove(c->v.v + i + 1, c->v.v + i, (c->v.nr - i) * sizeof(*c->v.v));
	c->v.v[i] = p;
	c->v.nr++;
}

static void means_fill(const double *v, size_t n, struct change_points *c)
{
	for (size_t i = 0; i < c->v.nr; i++) {
		struct change_point *p = &c->v.v[i];

		p->before = mean_between(v, segment_begin(c, i), p->at);
		p->after = mean_between(v, p->at, segment_end(c, i + 1, n));
	}
}

/* p of the best split; stops as soon as it is above alpha for certain. */
static double split_p(const double *v, size_t n, const struct change_points *c, double q,
		      double alpha, uint64_t *seed)
{
	double *other = xmalloc((n + 1) * sizeof(*other));
	size_t as_large = 0, ignored;

	memcpy(other, v, n * sizeof(*other));
	for (int k = 0; k < CHANGE_SHUFFLES && as_large + 1 <= alpha * (CHANGE_SHUFFLES + 1); k++) {
		for (size_t i = 0; i <= c->v.nr; i++) {
			size_t begin = segment_begin(c, i);

			shuffle(other + begin, segment_end(c, i, n) - begin, seed);
		}
		as_large += split_next(other, n, c, &ignored).q >= q;
	}
	free(other);
	return (double)(as_large + 1) / (CHANGE_SHUFFLES + 1);
}

int change_points_divisive(const double *v, size_t n, double alpha, uint64_t seed,
			   struct change_points *ret)
{
	*ret = (struct change_points){ VEC_INIT };
	if (n > CHANGE_VALUES_MAX)
		return -ERANGE;
	for (;;) {
		size_t segment = 0;
		struct change_split s = split_next(v, n, ret, &segment);
		double p;

		if (!(s.q > 0))
			break;
		p = split_p(v, n, ret, s.q, alpha, &seed);
		if (p > alpha)
			break;
		point_insert(ret, segment, (struct change_point){ .at = s.at, .p = p });
	}
	means_fill(v, n, ret);
	return 0;
}

/* ---- Hunter's ---- */

/*
 * Student's two-sided p of the means beside `at`, with equal variances. Those are the mean squares,
 * by n and not by n − 1, as in Hunter: p is a little too small.
 */
static double student_between(const double *v, size_t begin, size_t at, size_t end)
{
	double n = (double)(at - begin), m = (double)(end - at), df = n + m - 2;
	double squares =
		squares_of(v, begin, at) * (n - 1) / n + squares_of(v, at, end) * (m - 1) / m;
	double difference = mean_between(v, at, end) - mean_between(v, begin, at);
	double error = sqrt(squares / df * (1 / n + 1 / m));

	if (!(df > 0))
		return 1;
	if (!(error > 0))
		return difference < 0 || difference > 0 ? 0 : 1;
	return student_p(difference / error, df);
}

/* The points of v[begin … end), a window. */
static void window_split(const double *v, size_t begin, size_t end, double alpha,
			 struct change_points *ret)
{
	for (;;) {
		size_t n = end - begin, segment = 0, from, to;
		struct change_split s = split_next(v + begin, n, ret, &segment);
		double p;

		if (!(s.q > -INFINITY))
			return;
		from = segment_begin(ret, segment);
		to = segment_end(ret, segment, n);
		p = student_between(v + begin, from, s.at, to);
		if (p > alpha)
			return;
		point_insert(ret, segment, (struct change_point){ .at = s.at, .p = p });
	}
}

static void point_add(struct change_points *c, size_t at)
{
	size_t i = 0;

	while (i < c->v.nr && c->v.v[i].at < at)
		i++;
	if (i == c->v.nr || c->v.v[i].at != at)
		point_insert(c, i, (struct change_point){ .at = at });
}

static void point_test(const double *v, size_t n, struct change_points *c, size_t i)
{
	if (i < c->v.nr)
		c->v.v[i].p = student_between(v, segment_begin(c, i), c->v.v[i].at,
					      segment_end(c, i + 1, n));
}

/* The larger one of what the mean after it is of the mean before it, and the other way round. */
static double change_of(const double *v, size_t n, const struct change_points *c, size_t i)
{
	double before = mean_between(v, segment_begin(c, i), c->v.v[i].at);
	double after = mean_between(v, c->v.v[i].at, segment_end(c, i + 1, n));

	return fmax(fabs(after / before - 1), fabs(before / after - 1));
}

/* The point to take away; nr: all are strong. */
static size_t point_weakest(const double *v, size_t n, const struct change_points *c, double alpha,
			    double min_change)
{
	size_t weakest = 0, least = 0;

	for (size_t i = 1; i < c->v.nr; i++) {
		if (c->v.v[i].p > c->v.v[weakest].p)
			weakest = i;
		if (change_of(v, n, c, i) < change_of(v, n, c, least))
			least = i;
	}
	if (c->v.nr == 0 || c->v.v[weakest].p >= alpha)
		return weakest;
	return change_of(v, n, c, least) > min_change ? c->v.nr : least;
}

static void points_merge(const double *v, size_t n, double alpha, double min_change,
			 struct change_points *c)
{
	size_t i;

	while (c->v.nr > 0 && (i = point_weakest(v, n, c, alpha, min_change)) < c->v.nr) {
		c->v.nr--;
		memmove(c->v.v + i, c->v.v + i + 1, (c->v.nr - i) * sizeof(*c->v.v));
		if (i > 0)
			point_test(v, n, c, i - 1);
		point_test(v, n, c, i);
	}
}

int change_points_windowed(const double *v, size_t n, size_t window, double alpha,
			   double min_change, struct change_points *ret)
{
	*ret = (struct change_points){ VEC_INIT };
	if (n > CHANGE_VALUES_MAX || window < 2)
		return -ERANGE;
	for (size_t begin = 0, next; begin < n; begin = next) {
		size_t end = n - begin < window ? n : begin + window;
		struct change_points in = { VEC_INIT };

		window_split(v, begin, end, alpha * FIRST_PASS, &in);
		next = begin + window / 2;
		for (size_t i = 0; i < in.v.nr; i++) {
			point_add(ret, begin + in.v.v[i].at);
			next = next > begin + in.v.v[i].at ? next : begin + in.v.v[i].at;
		}
		change_points_release(&in);
	}
	for (size_t i = 0; i < ret->v.nr; i++)
		point_test(v, n, ret, i);
	points_merge(v, n, alpha, min_change, ret);
	means_fill(v, n, ret);
	return 0;
}

/* ---- the optimal partition ---- */

double change_noise(const double *v, size_t n)
{
	double *d, median, noise;

	if (n < 2)
		return NAN;
	d = xcalloc(n - 1, sizeof(*d));
	for (size_t i = 0; i + 1 < n; i++)
		d[i] = v[i + 1] - v[i];
	median = values_median(d, n - 1);
	for (size_t i = 0; i + 1 < n; i++)
		d[i] = fabs(d[i] - median);
	noise = 1.4826 * values_median(d, n - 1) / M_SQRT2;
	free(d);
	return noise;
}

/* least[i]: the least cost of the first i values; last[i]: where their last segment begins. */
static void partition_find(const double *v, size_t n, double penalty, double variance,
			   double *least, size_t *last)
{
	least[0] = -penalty;
	for (size_t end = 1; end <= n; end++) {
		double sum = 0, squares = 0, shift = v[end - 1];

		least[end] = INFINITY;
		for (size_t begin = end; begin-- > 0;) {
			double x = v[begin] - shift, of = (double)(end - begin), cost;

			sum += x;
			squares += x * x;
			cost = least[begin] + penalty +
			       fmax(squares - sum * sum / of, 0) / variance;
			if (cost <= least[end]) {
				least[end] = cost;
				last[end] = begin;
			}
		}
	}
}

int change_points_partition(const double *v, size_t n, double penalty, struct change_points *ret,
			    double *ret_cost)
{
	double noise = change_noise(v, n), *least;
	size_t *last;

	*ret = (struct change_points){ VEC_INIT };
	*ret_cost = NAN;
	if (n > CHANGE_VALUES_MAX)
		return -ERANGE;
	if (!(noise > 0))
		return 0;
	least = xcalloc(n + 1, sizeof(*least));
	last = xcalloc(n + 1, sizeof(*last));
	partition_find(v, n, penalty, noise * noise, least, last);
	*ret_cost = least[n];
	for (size_t end = last[n]; end > 0; end = last[end])
		point_insert(ret, 0, (struct change_point){ .at = end, .p = NAN });
	means_fill(v, n, ret);
	free(least);
	free(last);
	return 0;
}
