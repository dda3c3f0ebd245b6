#include "analyses_private.h"
#include "ns.h"

#include <string.h>

#include "profrig/base/moments.h"
#include "profrig/base/sort.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

/* Type 7: linear between the order statistics around (n − 1)·p. */
static double sorted_quantile(const int64_t *sorted, size_t n, double p)
{
	double h = (double)(n - 1) * p;
	size_t lo = (size_t)h;
	if (lo + 1 >= n)
		return (double)sorted[n - 1];
	double a = (double)sorted[lo], b = (double)sorted[lo + 1];
	return a + (h - (double)lo) * (b - a);
}

static double sorted_median(const int64_t *sorted, size_t n)
{
	size_t half = n / 2;
	__int128 sum = (__int128)sorted[half] + sorted[n % 2 ? half : half - 1];

	return (double)sum / 2;
}

static struct call_stats call_stats_exact(const struct moments *mo)
{
	return (struct call_stats){
		.calls = mo->n,
		.sum_ns = moments_sum(mo),
		.min_ns = mo->min,
		.max_ns = mo->max,
		.mean_ns = moments_mean(mo),
		.stddev_ns = moments_stddev(mo),
	};
}

struct call_stats call_stats_of(const int64_t *dur_ns, size_t n)
{
	struct moments mo = MOMENTS_INIT;
	struct call_stats s;

	for (size_t i = 0; i < n; i++)
		moments_add(&mo, dur_ns[i]);
	s = call_stats_exact(&mo);
	if (!n)
		return s;
	CLEANUP(xfreep) int64_t *sorted = xreallocarray(NULL, n, sizeof(*sorted));
	memcpy(sorted, dur_ns, n * sizeof(*sorted));
	sort_i64(sorted, n);
	s.median_ns = sorted_median(sorted, n);
	s.p95_ns = sorted_quantile(sorted, n, 0.95);
	return s;
}

/* The ends are known exactly. */
static double order_statistic(const struct moments *mo, const struct sketch *sk, uint64_t k)
{
	double v;

	if (k == 0)
		return (double)mo->min;
	if (k + 1 >= mo->n)
		return (double)mo->max;
	v = sketch_at(sk, k);
	return v < (double)mo->min ? (double)mo->min : v > (double)mo->max ? (double)mo->max : v;
}

static double quantile_approx(const struct moments *mo, const struct sketch *sk, double p)
{
	double h = (double)(mo->n - 1) * p, a, b;
	uint64_t lo = (uint64_t)h;

	a = order_statistic(mo, sk, lo);
	b = order_statistic(mo, sk, lo + 1);
	return a + (h - (double)lo) * (b - a);
}

struct call_stats call_stats_approx(const struct moments *mo, const struct sketch *sk)
{
	struct call_stats s = call_stats_exact(mo);

	if (mo->n) {
		s.median_ns = quantile_approx(mo, sk, 0.5);
		s.p95_ns = quantile_approx(mo, sk, 0.95);
	}
	return s;
}

void call_stats_by(const struct model *m, const uint32_t *of_span, size_t nr,
		   struct call_stats *ret)
{
	CLEANUP(xfreep) size_t *at = xcalloc(nr + 1, sizeof(*at));
	CLEANUP(xfreep) int64_t *dur = NULL;
	size_t sum = 0;

	for (size_t i = 0; i < m->spans.nr; i++)
		if (of_span[i] != U64MAP_NONE)
			at[of_span[i]]++;
	for (size_t k = 0; k < nr; k++) {
		size_t n = at[k];

		at[k] = sum;
		sum += n;
	}
	dur = xreallocarray(NULL, sum + 1, sizeof(*dur));
	for (size_t i = 0; i < m->spans.nr; i++)
		if (of_span[i] != U64MAP_NONE)
			dur[at[of_span[i]]++] = span_ns(m, i);
	/* each is now the start of the next one */
	for (size_t k = 0; k < nr; k++)
		ret[k] = call_stats_of(dur + (k ? at[k - 1] : 0), at[k] - (k ? at[k - 1] : 0));
}
