#include "profrig/base/moments.h"

#include <math.h>

typedef unsigned __int128 u128;

void moments_merge(struct moments *m, const struct moments *more)
{
	if (more->n == 0)
		return;
	if (m->n == 0 || more->min < m->min)
		m->min = more->min;
	if (more->max > m->max)
		m->max = more->max;
	m->n += more->n;
	m->sum += more->sum;
	if (__builtin_add_overflow(m->squares, more->squares, &m->squares))
		m->squares = ~(u128)0;
}

double moments_mean(const struct moments *m)
{
	return m->n ? (double)((long double)m->sum / (long double)m->n) : 0;
}

int64_t moments_sum(const struct moments *m)
{
	return m->sum > INT64_MAX ? INT64_MAX : (int64_t)m->sum;
}

struct u256 {
	u128 hi, lo;
};

static struct u256 product(u128 a, u128 b)
{
	uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64);
	uint64_t b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
	u128 low = (u128)a0 * b0, high = (u128)a1 * b1;
	u128 left = (u128)a0 * b1, right = (u128)a1 * b0;
	u128 middle = (low >> 64) + (uint64_t)left + (uint64_t)right;

	return (struct u256){ high + (left >> 64) + (right >> 64) + (middle >> 64),
			      middle << 64 | (uint64_t)low };
}

/*
 * Σ(x − mean)² = (n·Σx² − (Σx)²) / n: the difference is taken in integers, so that a small
 * deviation of large values loses nothing.
 */
double moments_stddev(const struct moments *m)
{
	struct u256 all, mean;
	u128 hi;
	long double n = (long double)m->n;

	if (m->n < 2)
		return 0;
	all = product(m->squares, m->n);
	mean = product(m->sum, m->sum);
	/* only after the sum of squares has saturated */
	if (all.hi < mean.hi || (all.hi == mean.hi && all.lo < mean.lo))
		return 0;
	hi = all.hi - mean.hi - (all.lo < mean.lo);
	return (double)sqrtl(((long double)hi * 0x1p128L + (long double)(all.lo - mean.lo)) / n /
			     (n - 1));
}
