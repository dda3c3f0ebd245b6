/* Ratios of pairs: known answers, and that intervals hold what they promise. */
#include "base_test.h"

#include <math.h>

#include "profrig/base/paired.h"

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%.12g, want %.12g", got, want);
}

/* By hand: logs 0.095310, 0.182322, 0.048790; mean 0.108807, s 0.067775, t(2) 4.302653. */
TEST(known_answer)
{
	const double a[] = { 1.1, 2.4, 10.5 }, b[] = { 1, 2, 10 };
	struct paired_ratio r;

	paired_ratio(a, b, 3, 0.95, &r);
	assert_int_equal(r.n, 3);
	near(r.ratio, exp(0.1088075), 1e-6);
	near(r.low, exp(0.1088075 - 4.302653 * 0.067775 / sqrt(3)), 2e-5);
	near(r.high, exp(0.1088075 + 4.302653 * 0.067775 / sqrt(3)), 2e-5);
}

TEST(few)
{
	const double a[] = { 3, NAN, 5, -1, 4 }, b[] = { 2, 1, 0, 1, INFINITY };
	struct paired_ratio r;

	paired_ratio(a, b, 5, 0.95, &r);
	assert_int_equal(r.n, 1);
	near(r.ratio, 1.5, 1e-12);
	assert_true(isnan(r.low) && isnan(r.high));
	paired_ratio(a, b, 0, 0.95, &r);
	assert_true(r.n == 0 && isnan(r.ratio));
}

/* The ratio of what was swapped is the inverse, and so is its interval. */
TEST(turned_round)
{
	const double a[] = { 1.3, 2.1, 10.5, 8 }, b[] = { 1, 2, 10, 9 };
	struct paired_ratio r, s;

	paired_ratio(a, b, 4, 0.95, &r);
	paired_ratio(b, a, 4, 0.95, &s);
	near(r.ratio * s.ratio, 1, 1e-12);
	near(r.low * s.high, 1, 1e-12);
}

static uint64_t seed;

static double uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	double radius = sqrt(-2 * log(uniform()));

	return radius * cos(2 * M_PI * uniform());
}

#define CASES 4000
#define MOST 12

/* How often the interval holds the slow-down that was put in. ABBA; drift is per run. */
static double coverage(size_t n, double slowdown, double noise, double drift)
{
	double a[MOST], b[MOST];
	int inside = 0;

	for (int c = 0; c < CASES; c++) {
		struct paired_ratio r;

		for (size_t i = 0; i < n; i++) {
			size_t first = 2 * i, at_b = first + i % 2, at_a = first + (i + 1) % 2;

			a[i] = 60 * slowdown * exp(noise * normal() + drift * (double)at_a);
			b[i] = 60 * exp(noise * normal() + drift * (double)at_b);
		}
		paired_ratio(a, b, n, 0.95, &r);
		inside += r.low <= slowdown && slowdown <= r.high;
	}
	return (double)inside / CASES;
}

/* ±3 standard errors of a proportion of 0.95 in 4000 are ±0.0103. */
TEST(intervals_hold)
{
	static const struct {
		size_t n;
		double slowdown, noise;
	} all[] = { { 2, 1.1, 0.02 },
		    { 3, 1.0, 0.05 },
		    { 5, 1.03, 0.01 },
		    { 5, 4.3, 0.3 },
		    { 10, 0.9, 0.1 } };

	seed = UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		double c = coverage(all[i].n, all[i].slowdown, all[i].noise, 0);

		if (fabs(c - 0.95) > 0.0103)
			fail_msg("%zu pairs, slow-down %g, noise %g: %g of the intervals hold it",
				 all[i].n, all[i].slowdown, all[i].noise, c);
	}
}

/* A machine that gets slower all the time, as much per run as the noise is: a pair shows the drift
 * one way, the next one the other way, so intervals get wider and miss no more. */
TEST(drift_is_no_slowdown)
{
	seed = UINT64_C(0x123456789abcdef);
	assert_true(coverage(6, 1.05, 0.01, 0.01) >= 0.95 - 0.0103);
	assert_true(coverage(10, 1, 0.005, 0.02) >= 0.95 - 0.0103);
}
