#include "sim_runs.h"

#include <math.h>

#include "profrig/base/median_ratio.h"

static double noise(uint64_t *seed)
{
	return (double)(splitmix64(seed) >> 11) / 9007199254740992.0;
}

/* n values around `level`, up to `spread` of it above. */
static double *sample(uint64_t seed, size_t n, double level, double spread)
{
	double *v = xcalloc(n + 1, sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = level * (1 + spread * noise(&seed));
	return v;
}

static struct median_ratio ratio_of(const double *a, size_t na, const double *b, size_t nb)
{
	struct median_ratio m;

	median_ratio(a, na, b, nb, 0.05, 0.95, &m);
	return m;
}

TEST(medians_and_their_ratio)
{
	static const double a[] = { 5, 1, 3, 2, 4 }, b[] = { 8, 6, 4, 2 };
	struct median_ratio m = ratio_of(a, 5, b, 4);

	assert_true(m.a == 3 && m.b == 5);
	near(m.ratio, 5 / 3.0, 1e-15);
	assert_true(m.low >= 2 / 5.0 && m.high <= 8 && m.low < m.ratio && m.ratio < m.high);
	assert_true(m.same_low >= m.low && m.same_high <= m.high);
	assert_int_equal(m.verdict, SAMPLE_UNCLEAR);
}

/* With three values a side each extreme comes up too often for a tail to be below it. */
TEST(three_values_have_the_whole_range)
{
	static const double a[] = { 100, 101, 102 }, b[] = { 110, 111, 113 };
	struct median_ratio m = ratio_of(a, 3, b, 3);

	near(m.low, 110 / 102.0, 1e-12);
	near(m.high, 113 / 100.0, 1e-12);
	assert_int_equal(m.verdict, SAMPLE_SLOWER);
	assert_int_equal(ratio_of(b, 3, a, 3).verdict, SAMPLE_FASTER);
}

TEST(values_that_do_not_count)
{
	static const double a[] = { 0, NAN, 7, -1, INFINITY, 7, 7 }, b[] = { 7, 7 };
	struct median_ratio m = ratio_of(a, 7, b, 2);

	assert_int_equal(m.n_a, 3);
	assert_int_equal(m.n_b, 2);
	assert_int_equal(m.left_out, 4);
	assert_true(m.ratio == 1 && isnan(m.low) && isnan(m.same_high));
	assert_int_equal(m.verdict, SAMPLE_UNCLEAR);
	m = ratio_of(a, 7, NULL, 0);
	assert_true(isnan(m.b) && isnan(m.ratio));
}

TEST(equal_values)
{
	static const double a[] = { 7, 7, 7 }, b[] = { 8, 8, 8 };

	assert_int_equal(ratio_of(a, 3, a, 3).verdict, SAMPLE_SAME);
	assert_int_equal(ratio_of(a, 3, b, 3).verdict, SAMPLE_SLOWER);
	assert_int_equal(ratio_of(b, 3, a, 3).verdict, SAMPLE_FASTER);
}

/* A few slow iterations do not move it, and the order of the numbers is no matter. */
TEST(outliers_and_order)
{
	double *a = sample(1, 50, 100, 0.01), *b = sample(2, 50, 100, 0.01);
	struct median_ratio m, turned;

	b[3] = b[9] = b[20] = 1e6;
	m = ratio_of(a, 50, b, 50);
	assert_int_equal(m.verdict, SAMPLE_SAME);
	for (size_t i = 0; i < 25; i++) {
		double t = a[i];

		a[i] = a[49 - i];
		a[49 - i] = t;
	}
	turned = ratio_of(a, 50, b, 50);
	near(turned.ratio, m.ratio, 0);
	near(turned.low, m.low, 0);
	near(turned.same_high, m.same_high, 0);
	free(a);
	free(b);
}

/* Thinned samples: the verdict stays, in bounded time. */
TEST(many_values)
{
	double *a = sample(3, 200000, 100, 0.1), *b = sample(4, 300000, 111, 0.1);
	struct median_ratio m = ratio_of(a, 200000, b, 300000);

	assert_int_equal(m.n_a, 200000);
	near(m.ratio, 1.11, 1e-3);
	assert_int_equal(m.verdict, SAMPLE_SLOWER);
	free(a);
	free(b);
}

/* How often equal sides are called slower or faster, and how often the interval holds the ratio. */
TEST(it_holds_what_it_says)
{
	size_t wrong = 0, held = 0, rounds = 200;

	for (size_t i = 0; i < rounds; i++) {
		double *a = sample(1000 + i, 12, 100, 0.4), *b = sample(5000 + i, 12, 100, 0.4);
		struct median_ratio m = ratio_of(a, 12, b, 12);

		wrong += m.verdict == SAMPLE_SLOWER || m.verdict == SAMPLE_FASTER;
		held += m.low <= 1 && 1 <= m.high;
		free(a);
		free(b);
	}
	assert_true(wrong <= rounds * 8 / 100);
	assert_true(held >= rounds * 92 / 100);
}
