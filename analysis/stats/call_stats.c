
#include <math.h>
#include <string.h>

#include "profrig/analysis.h"
#include "profrig/sort.h"
#include "profrig/xalloc.h"

/* Type 7: linear between the order statistics around (n − 1)·p. */
static double quantile(const int64_t *sorted, size_t n, double p)
{
	double h = (double)(n - 1) * p;
	size_t lo = (size_t)h;
	if (lo + 1 >= n)
		return (double)sorted[n - 1];
	double a = (double)sorted[lo], b = (double)sorted[lo + 1];
	return a + (h - (double)lo) * (b - a);
}

static double median(const int64_t *sorted, size_t n)
{
	size_t half = n / 2;
	__int128 sum = (__int128)sorted[half] + sorted[n % 2 ? half : half - 1];

	return (double)sum / 2;
}

struct call_stats call_stats_of(const int64_t *dur_ns, size_t n)
{
	struct call_stats s = { .calls = n };
	if (!n)
		return s;
	CLEANUP(xfreep) int64_t *sorted = xreallocarray(NULL, n, sizeof(*sorted));
	memcpy(sorted, dur_ns, n * sizeof(*sorted));
	sort_i64(sorted, n);
	__int128 sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += sorted[i];
	s.sum_ns = sum > INT64_MAX ? INT64_MAX : sum < INT64_MIN ? INT64_MIN : (int64_t)sum;
	s.min_ns = sorted[0];
	s.max_ns = sorted[n - 1];
	s.mean_ns = (double)((long double)sum / (long double)n);
	s.median_ns = median(sorted, n);
	s.p95_ns = quantile(sorted, n, 0.95);
	long double mean = (long double)sum / (long double)n, squares = 0;
	for (size_t i = 0; i < n; i++) {
		long double d = (long double)sorted[i] - mean;
		squares += d * d;
	}
	if (n > 1)
		s.stddev_ns = (double)sqrtl(squares / (long double)(n - 1));
	return s;
}
