/* Known answers by scipy 1.10 and from Hollander and Wolfe; Darwin's and Student's data. */
#include "base_test.h"

#include <math.h>

#include "profrig/base/samples_test.h"

static void near(double got, double want, double off)
{
	if (!(fabs(got - want) <= off))
		fail_msg("%.12g, not %.12g", got, want);
}

/* Student's sleep data: hours of additional sleep with two drugs. */
static const double sleep_a[] = { .7, -1.6, -.2, -1.2, -.1, 3.4, 3.7, .8, 0, 2 };
static const double sleep_b[] = { 1.9, .8, 1.1, .1, -.1, 4.4, 5.5, 1.6, 4.6, 3.4 };
#define SLEEPERS ARRAY_LEN(sleep_a)

TEST(means)
{
	struct mean_test t;

	welch(sleep_a, SLEEPERS, sleep_b, SLEEPERS, 0.95, &t);
	near(t.t, -1.860813, 5e-7);
	near(t.df, 17.776474, 5e-7);
	near(t.p, .07939414, 5e-9);
	near(t.low, -3.3654832, 5e-8);
	near(t.high, .2054832, 5e-8);
	near(tost_p(&t, 3), .05597891, 5e-9);
	near(tost_p(&t, 4), .00536162, 5e-9);
	paired_test(sleep_a, sleep_b, SLEEPERS, 0.95, &t);
	near(t.t, -4.062128, 5e-7);
	near(t.p, .00283289, 5e-9);
	near(t.low, -2.4598858, 5e-8);
	near(t.high, -.7001142, 5e-8);
}

/* Eight logarithms of runs: the same within 2 %, and not within 0.2 %. */
TEST(equivalence_of_logarithms)
{
	double a[] = { 10.02, 9.97, 10.05, 10.01, 9.98, 10.03, 9.99, 10.04 };
	double b[] = { 10.06, 10.01, 9.96, 10.02, 10, 10.05, 9.98, 10.03 };
	struct mean_test t;

	for (size_t i = 0; i < ARRAY_LEN(a); i++) {
		a[i] = log(a[i]);
		b[i] = log(b[i]);
	}
	welch(a, ARRAY_LEN(a), b, ARRAY_LEN(b), 0.9, &t);
	near(exp(t.low), .99698212, 5e-9);
	near(exp(t.high), 1.00252888, 5e-9);
	near(t.p, .8767976, 5e-8);
	near(tost_p(&t, log(1.02)), 3.8e-9, 5e-11);
	near(tost_p(&t, log(1.002)), .1425, 5e-5);
}

TEST(ranks)
{
	static const double a[] = { .80, .83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, .73, 1.46 };
	static const double b[] = { 1.15, .88, .90, .74, 1.21 };
	static const double c[] = { 19, 22, 16, 29, 24 }, d[] = { 20, 11, 17, 12 };
	struct rank_test r;

	mann_whitney(a, ARRAY_LEN(a), b, ARRAY_LEN(b), &r);
	assert_true(r.exact);
	near(r.u, 35, 1e-12);
	near(r.p, .25441225, 5e-9);
	near(r.greater, .12720613, 5e-9);
	mann_whitney(c, ARRAY_LEN(c), d, ARRAY_LEN(d), &r);
	near(r.u, 17, 1e-12);
	near(r.p, 1 / 9.0, 1e-12);
	mann_whitney(sleep_a, SLEEPERS, sleep_b, SLEEPERS, &r);
	near(r.u, 25.5, 1e-12);
	near(r.p, 12160.0 / 184756, 1e-12);
	mann_whitney_normal(sleep_a, SLEEPERS, sleep_b, SLEEPERS, true, &r);
	assert_false(r.exact);
	near(r.u, 25.5, 1e-12);
	near(r.p, .06932758, 5e-9);
	mann_whitney_normal(sleep_a, SLEEPERS, sleep_b, SLEEPERS, false, &r);
	near(r.p, .06372225, 5e-9);
	mann_whitney_normal(c, ARRAY_LEN(c), d, ARRAY_LEN(d), true, &r);
	near(r.p, .11134689, 5e-9);
}

/* What a sample of each size can reach at best. */
TEST(floors)
{
	static const struct {
		size_t n;
		double floor;
		size_t rows; /* of Holm at 5 %, of which the smallest p can still count */
	} cases[] = LIST({ 3, .1, 0 }, { 4, .02857143, 1 }, { 5, .00793651, 6 },
			 { 6, .002164502, 23 }, { 8, .0001554002, 321 }, { 10, 1.0825e-5, 4618 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		double a[10], b[10];
		struct rank_test r;
		struct split_test s;

		for (size_t k = 0; k < cases[i].n; k++) {
			a[k] = (double)k;
			b[k] = 100 + (double)k;
		}
		mann_whitney(a, cases[i].n, b, cases[i].n, &r);
		near(r.p, cases[i].floor, 1e-4 * cases[i].floor);
		near(r.floor, r.p, 1e-9 * r.p);
		assert_int_equal((size_t)(0.05 / r.floor), cases[i].rows);
		permutation_p(a, cases[i].n, b, cases[i].n, 1, &s);
		near(s.p, r.p, 1e-12);
		near(s.floor, s.p, 1e-9 * s.p);
		sign_flip_p(b, cases[i].n, 1, &s);
		near(s.p, exp2(1 - (double)cases[i].n), 1e-12);
		near(s.floor, s.p, 1e-12);
	}
}

TEST(rearrangements)
{
	/* Darwin: heights of plants, crossed less self-fertilised, 15 pairs */
	static const double darwin[] = {
		49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48
	};
	static const double zero[ARRAY_LEN(darwin)];
	struct split_test s;
	struct mean_test t;

	sign_flip_p(darwin, ARRAY_LEN(darwin), 1, &s);
	assert_int_equal(s.as_large, 1726);
	assert_int_equal(s.of, 32768);
	paired_test(darwin, zero, ARRAY_LEN(darwin), 0.95, &t);
	near(t.t, 2.14798746, 5e-9);
	near(t.p, .04970294, 5e-9);
	permutation_p(sleep_a, SLEEPERS, sleep_b, SLEEPERS, 1, &s);
	assert_true(s.exact);
	assert_int_equal(s.as_large, 15048);
	assert_int_equal(s.of, 184756);
}

/* Random draws agree with all of them, and never give 0. */
TEST(draws)
{
	double a[40], b[40], d[40];
	struct split_test s;
	struct rank_test r;
	struct mean_test t;
	uint64_t seed = 7;

	for (size_t i = 0; i < ARRAY_LEN(a); i++) {
		a[i] = (double)(rnd(&seed) % 1000);
		b[i] = (double)(rnd(&seed) % 1000) + 120;
		d[i] = b[i] - a[i];
	}
	welch(a, ARRAY_LEN(a), b, ARRAY_LEN(b), 0.95, &t);
	permutation_p(a, ARRAY_LEN(a), b, ARRAY_LEN(b), 3, &s);
	assert_false(s.exact);
	near(s.p, t.p, 0.01);
	mann_whitney(a, ARRAY_LEN(a), b, ARRAY_LEN(b), &r);
	assert_false(r.exact);
	near(r.p, t.p, 0.05);
	paired_test(b, a, ARRAY_LEN(a), 0.95, &t);
	sign_flip_p(d, ARRAY_LEN(d), 3, &s);
	assert_false(s.exact);
	near(s.p, t.p, 0.01);
	for (size_t i = 0; i < ARRAY_LEN(a); i++)
		b[i] += 1e6;
	permutation_p(a, ARRAY_LEN(a), b, ARRAY_LEN(b), 3, &s);
	near(s.p, 1.0 / (TEST_DRAWS + 1), 1e-12);
}

TEST(little_or_nothing)
{
	static const double one[] = { 3 }, same[] = { 2, 2, 2 }, more[] = { 4, 4, 4 };
	struct mean_test t;
	struct rank_test r;
	struct split_test s;

	welch(one, 1, same, 3, 0.95, &t);
	near(t.difference, 1, 0);
	assert_true(isnan(t.p) && isnan(t.low) && isnan(tost_p(&t, 1)));
	welch(same, 3, same, 3, 0.95, &t);
	near(t.p, 1, 0);
	near(tost_p(&t, 0.1), 0, 0);
	welch(more, 3, same, 3, 0.95, &t);
	near(t.p, 0, 0);
	near(t.low, 2, 0);
	near(tost_p(&t, 1), 1, 0);
	mann_whitney(same, 3, same, 3, &r);
	near(r.p, 1, 0);
	near(r.u, 4.5, 0);
	mann_whitney(same, 0, same, 3, &r);
	assert_true(isnan(r.p));
	permutation_p(same, 3, same, 0, 1, &s);
	assert_true(isnan(s.p));
	permutation_p(same, 3, same, 3, 1, &s);
	near(s.p, 1, 0);
	sign_flip_p(same, 0, 1, &s);
	assert_true(isnan(s.p));
}
