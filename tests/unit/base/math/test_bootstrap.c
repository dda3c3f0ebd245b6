#include "sim_runs.h"

#include "profrig/base/bootstrap.h"

static double mean(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum / (double)n;
}

/* The plug-in one, by n. */
static double variance(const double *v, size_t n)
{
	double m = mean(v, n), squares = 0;

	for (size_t i = 0; i < n; i++)
		squares += (v[i] - m) * (v[i] - m);
	return squares / (double)n;
}

TEST(all_resamples)
{
	static const double v[] = { 1, 2, 3, 5, 8, 13 };
	struct bootstrap b;

	bootstrap(mean, v, ARRAY_LEN(v), 0.95, 1, &b);
	assert_true(b.exact);
	near(b.value, 32 / 6.0, 1e-12);
	near(b.low, 2 + 1 / 3.0, 1e-9);
	near(b.high, 8 + 5 / 6.0, 1e-9);
	near(b.z0, .05558102, 5e-9);
	near(b.a, .05529777, 5e-9);
	near(b.bca_low, 2 + 2 / 3.0, 1e-9);
	near(b.bca_high, 9.5, 1e-9);
}

/* Efron and Tibshirani, table 14.1: 26 children; their interval is of other draws. */
TEST(spatial_test)
{
	static const double v[] = { 48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6,
				    0,  33, 28, 34, 4,  32, 24, 47, 41, 24, 26, 30, 41 };
	struct bootstrap b;

	bootstrap(variance, v, ARRAY_LEN(v), 0.90, 1, &b);
	assert_false(b.exact);
	near(b.value, 171.534, 5e-4);
	near(b.a, .0612401, 5e-8);
	near(b.bca_low, 115.8, 4);
	near(b.bca_high, 259.6, 6);
}

TEST(few_or_equal)
{
	static const double one[] = { 4 }, same[] = { 4, 4, 4 };
	struct bootstrap b;

	bootstrap(mean, one, 0, 0.95, 1, &b);
	assert_true(isnan(b.value) && isnan(b.low));
	bootstrap(mean, one, 1, 0.95, 1, &b);
	near(b.value, 4, 0);
	assert_true(isnan(b.low) && isnan(b.bca_low));
	bootstrap(mean, same, 3, 0.95, 1, &b);
	near(b.low, 4, 0);
	near(b.high, 4, 0);
	assert_true(isnan(b.bca_low));
}

TEST(normal_distribution)
{
	near(normal_quantile(0.975), 1.959963984540054, 1e-12);
	near(normal_below(1.959963984540054), 0.975, 1e-14);
	near(normal_quantile(0.5), 0, 1e-12);
	assert_true(isinf(normal_quantile(0)) && isinf(normal_quantile(1)));
	assert_true(isnan(normal_quantile(NAN)));
}

/* Why means have t intervals instead. */
TEST(few_values)
{
	uint64_t tries = test_cases(1000), seed = 101, held = 0, held_bca = 0;

	for (uint64_t i = 0; i < tries; i++) {
		struct bootstrap b;
		double v[5];

		for (size_t k = 0; k < ARRAY_LEN(v); k++)
			v[k] = sim_normal(&seed);
		bootstrap(mean, v, ARRAY_LEN(v), 0.95, 1, &b);
		held += b.low <= 0 && 0 <= b.high;
		held_bca += b.bca_low <= 0 && 0 <= b.bca_high;
	}
	rate_is(held, tries, 0.85, 0.87);
	rate_is(held_bca, tries, 0.85, 0.87);
}

/* C(10, 0) + C(10, 1) of 1024 on each side are 2.1 %, with C(10, 2) 11 %. */
TEST(medians)
{
	static const double v[] = { 7, 1, 10, 4, 2, 8, 5, 3, 9, 6 };
	struct median_interval m;

	median_interval(v, 10, 0.95, &m);
	near(m.value, 5.5, 0);
	near(m.low, 2, 0);
	near(m.high, 9, 0);
	median_interval(v, 6, 0.95, &m);
	near(m.low, 1, 0);
	near(m.high, 10, 0);
	median_interval(v, 5, 0.95, &m);
	near(m.value, 4, 0);
	assert_true(isnan(m.low) && isnan(m.high));
	median_interval(v, 7, 0.99, &m);
	assert_true(isnan(m.low));
	median_interval(v, 8, 0.99, &m);
	near(m.high, 10, 0);
	median_interval(v, 0, 0.95, &m);
	assert_true(isnan(m.value));
}

/* Of exponential values, whose median is log 2: never below what it says. */
TEST(median_coverage)
{
	for (size_t n = 6; n <= 30; n += 4) {
		uint64_t tries = test_cases(2000), seed = 103, held = 0;

		for (uint64_t i = 0; i < tries; i++) {
			struct median_interval m;
			double v[30];

			for (size_t k = 0; k < n; k++)
				v[k] = -log(sim_uniform(&seed));
			median_interval(v, n, 0.95, &m);
			held += m.low <= M_LN2 && M_LN2 <= m.high;
		}
		rate_is(held, tries, 0.95, 1);
	}
}
