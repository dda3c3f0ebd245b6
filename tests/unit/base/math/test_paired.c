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

/*
 * By hand, logs −9, 1, 2, 3, 4, 5, 99 of seven pairs: 1 … 5 remain, mean 3; Winsorized 1 1 2 3 4 5
 * 5, mean 3, squares 18, error √(18/(5·4)), t(4) 2.776445. The same without the two ends by t alone
 * is narrower: √(10/(5·4)).
 */
TEST(trimmed_known_answer)
{
	const double logs[] = { 3, 99, 1, 5, -9, 2, 4 };
	double a[7], b[7];
	struct paired_ratio r;

	for (int i = 0; i < 7; i++) {
		b[i] = 10 + i;
		a[i] = b[i] * exp(logs[i]);
	}
	paired_ratio_trimmed(a, b, 7, 0.15, 0.95, &r);
	assert_int_equal(r.n, 7);
	near(r.ratio, exp(3), 1e-9);
	near(r.error, sqrt(18.0 / 20), 1e-9);
	near(r.df, 4, 0);
	near(log(r.high), 3 + 2.7764451 * sqrt(18.0 / 20), 1e-6);
	near(log(r.low), 3 - 2.7764451 * sqrt(18.0 / 20), 1e-6);
	/* of six none is left out */
	paired_ratio_trimmed(a, b, 6, 0.15, 0.95, &r);
	near(log(r.ratio), (3 + 99 + 1 + 5 - 9 + 2) / 6.0, 1e-9);
	near(r.df, 5, 0);
	/* two remain of four, one of three */
	paired_ratio_trimmed(a, b, 4, 0.34, 0.95, &r);
	near(log(r.ratio), 4, 1e-9);
	near(r.df, 1, 0);
	paired_ratio_trimmed(a, b, 3, 0.34, 0.95, &r);
	near(log(r.ratio), 3, 1e-9);
	assert_true(isnan(r.low) && isnan(r.high) && isnan(r.error));
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

struct pairs {
	size_t n;
	double slowdown, noise, drift;
	double share;   /* that is trimmed */
	double outlier; /* of one pair in ten, on the scale of logarithms */
};

/* How often the interval holds the slow-down that was put in. ABBA; drift is per run. */
static double coverage(struct pairs p, double *ret_width)
{
	double a[MOST], b[MOST], width = 0;
	int inside = 0;

	for (int c = 0; c < CASES; c++) {
		struct paired_ratio r;

		for (size_t i = 0; i < p.n; i++) {
			double off = p.outlier > 0 && uniform() < 0.1 ? p.outlier * normal() : 0;
			size_t first = 2 * i, at_b = first + i % 2, at_a = first + (i + 1) % 2;

			a[i] = 60 * p.slowdown *
			       exp(p.noise * normal() + p.drift * (double)at_a + off);
			b[i] = 60 * exp(p.noise * normal() + p.drift * (double)at_b);
		}
		paired_ratio_trimmed(a, b, p.n, p.share, 0.95, &r);
		inside += r.low <= p.slowdown && p.slowdown <= r.high;
		width += log(r.high / r.low) / CASES;
	}
	if (ret_width)
		*ret_width = width;
	return (double)inside / CASES;
}

/* ±3 standard errors of a proportion of 0.95 in 4000 are ±0.0103. */
TEST(intervals_hold)
{
	static const struct pairs all[] = {
		{ .n = 2, .slowdown = 1.1, .noise = 0.02 },
		{ .n = 3, .slowdown = 1.0, .noise = 0.05 },
		{ .n = 5, .slowdown = 1.03, .noise = 0.01 },
		{ .n = 5, .slowdown = 4.3, .noise = 0.3 },
		{ .n = 10, .slowdown = 0.9, .noise = 0.1 },
		{ .n = 7, .slowdown = 1.1, .noise = 0.02, .share = 0.15 },
		{ .n = 12, .slowdown = 1, .noise = 0.02, .share = 0.15 }
	};

	seed = UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		double c = coverage(all[i], NULL);

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
	assert_true(coverage((struct pairs){ 6, 1.05, 0.01, 0.01, 0, 0 }, NULL) >= 0.95 - 0.0103);
	assert_true(coverage((struct pairs){ 10, 1, 0.005, 0.02, 0, 0 }, NULL) >= 0.95 - 0.0103);
}

/* Single pairs that are far off: trimmed intervals hold no less, and are far narrower. */
TEST(trimmed_with_outliers)
{
	static const size_t pairs[] = { 7, 12 };
	double width, plain;

	seed = UINT64_C(0xfedcba987654321);
	for (size_t i = 0; i < 2; i++) {
		assert_true(coverage((struct pairs){ pairs[i], 1.1, 0.01, 0, 0.15, 0.3 }, &width) >=
			    0.95 - 0.0103);
		coverage((struct pairs){ pairs[i], 1.1, 0.01, 0, 0, 0.3 }, &plain);
		assert_true(width < plain / 1.5);
	}
}
