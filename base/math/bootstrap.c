#include "profrig/base/bootstrap.h"
#include "values.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/mix.h"
#include "profrig/base/rates.h"
#include "profrig/base/xalloc.h"

#define NORMAL_MAX 40.0
#define STEPS 80

double normal_below(double z)
{
	return erfc(-z * M_SQRT1_2) / 2;
}

double normal_quantile(double p)
{
	double lo = -NORMAL_MAX, hi = NORMAL_MAX;

	if (!(p > 0 && p < 1))
		return p >= 1 ? INFINITY : p <= 0 ? -INFINITY : NAN;
	for (int i = 0; i < STEPS; i++) {
		double mid = lo + (hi - lo) / 2;

		if (normal_below(mid) < p)
			lo = mid;
		else
			hi = mid;
	}
	return lo + (hi - lo) / 2;
}

double quantile_sorted(const double *v, size_t n, double share)
{
	double at = share * (double)(n - 1), below = floor(at);
	size_t i = (size_t)below;

	if (n == 0 || !(share >= 0 && share <= 1))
		return NAN;
	return i + 1 < n ? v[i] + (at - below) * (v[i + 1] - v[i]) : v[n - 1];
}

/* nⁿ, or more than BOOTSTRAP_ALL_MAX. */
static size_t resamples_all(size_t n)
{
	size_t all = 1;

	for (size_t i = 0; i < n && all <= BOOTSTRAP_ALL_MAX; i++)
		all *= n;
	return all;
}

/* The k-th of all resamples: its values are the digits of k to the base n. */
static void resample_all(const double *v, size_t n, size_t k, double *to)
{
	for (size_t i = 0; i < n; i++, k /= n)
		to[i] = v[k % n];
}

static void resample_random(const double *v, size_t n, uint64_t *seed, double *to)
{
	for (size_t i = 0; i < n; i++)
		to[i] = v[(size_t)((unsigned __int128)splitmix64(seed) * n >> 64)];
}

static double acceleration(bootstrap_statistic *of, const double *v, size_t n, double *room)
{
	double *u = xcalloc(n, sizeof(*u)), mean = 0, squares = 0, cubes = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k + 1 < n; k++)
			room[k] = v[k < i ? k : k + 1];
		u[i] = of(room, n - 1);
		mean += u[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		double d = mean - u[i];

		squares += d * d;
		cubes += d * d * d;
	}
	free(u);
	return cubes / (6 * pow(squares, 1.5));
}

static double bca_quantile(const struct bootstrap *b, const double *stats, size_t nr, double share)
{
	double z = b->z0 + normal_quantile(share);

	return quantile_sorted(stats, nr, normal_below(b->z0 + z / (1 - b->a * z)));
}

/* stats: sorted. */
static void bounds_find(const double *stats, size_t nr, double confidence, struct bootstrap *b)
{
	double tail = (1 - confidence) / 2, below = 0;

	for (size_t i = 0; i < nr; i++)
		below += stats[i] < b->value ? 1 : stats[i] > b->value ? 0 : 0.5;
	b->low = quantile_sorted(stats, nr, tail);
	b->high = quantile_sorted(stats, nr, 1 - tail);
	b->z0 = normal_quantile(below / (double)nr);
	b->bca_low = bca_quantile(b, stats, nr, tail);
	b->bca_high = bca_quantile(b, stats, nr, 1 - tail);
}

void bootstrap(bootstrap_statistic *of, const double *v, size_t n, double confidence, uint64_t seed,
	       struct bootstrap *ret)
{
	size_t all = resamples_all(n), nr = all <= BOOTSTRAP_ALL_MAX ? all : BOOTSTRAP_DRAWS;
	double *room, *stats;

	*ret = (struct bootstrap){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, all <= BOOTSTRAP_ALL_MAX };
	if (n > 0)
		ret->value = of(v, n);
	if (n < 2)
		return;
	room = xcalloc(n, sizeof(*room));
	stats = xcalloc(nr, sizeof(*stats));
	for (size_t k = 0; k < nr; k++) {
		if (ret->exact)
			resample_all(v, n, k, room);
		else
			resample_random(v, n, &seed, room);
		stats[k] = of(room, n);
	}
	values_sort(stats, nr);
	ret->a = acceleration(of, v, n, room);
	bounds_find(stats, nr, confidence, ret);
	free(room);
	free(stats);
}

void median_interval(const double *v, size_t n, double confidence, struct median_interval *ret)
{
	double *sorted;
	size_t k = 0; /* values outside on each side */

	*ret = (struct median_interval){ NAN, NAN, NAN };
	if (n == 0)
		return;
	sorted = xcalloc(n, sizeof(*sorted));
	for (size_t i = 0; i < n; i++)
		sorted[i] = v[i];
	ret->value = values_median(sorted, n);
	while (k < n / 2 && 2 * binomial_below(k, n, 0.5) <= 1 - confidence)
		k++;
	if (k > 0) {
		ret->low = sorted[k - 1];
		ret->high = sorted[n - k];
	}
	free(sorted);
}
