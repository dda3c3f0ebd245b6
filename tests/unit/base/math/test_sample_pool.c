#include "base_test.h"

#include <math.h>

#include "profrig/base/sample_pool.h"

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * fabs(want)))
		fail_msg("%.15g, not %.15g", got, want);
}

static double uniform(uint64_t *seed)
{
	return ((double)(rnd(seed) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *seed)
{
	return sqrt(-2 * log(uniform(seed))) * cos(2 * M_PI * uniform(seed));
}

/* Abramowitz and Stegun 6.3.2, 6.3.3, 6.4.2, 6.4.4; the others by series beside it. */
TEST(gamma_functions)
{
	near(digamma(1), -0.57721566490153286);
	near(digamma(0.5), -1.96351002602142348);
	near(digamma(3.7), 1.1671535393615131);
	near(digamma(1e-3), -1000.5755719318103);
	near(trigamma(1), M_PI * M_PI / 6);
	near(trigamma(0.5), M_PI * M_PI / 2);
	near(trigamma(3.7), 0.3100378576700382);
	near(trigamma(1e-3), 1000001.6425331957);
	for (double x = 1e-5; x < 1e6; x *= 3.7)
		near(trigamma_inverse(trigamma(x)), x);
	assert_true(isnan(trigamma_inverse(0)) && isnan(trigamma_inverse(-1)));
	near(trigamma_inverse(1e20), 1e-10);
	near(trigamma_inverse(1e-12), 1e12);
}

/* Computed beside it. */
TEST(prior_known_answers)
{
	static const double v[] = { 0.8, 1.3, 0.25, 4.1, 2.2, 0.6, 9.5, 0.04, 1.9, 0.7, 3.3, 0.12 };
	static const double four[] = { 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4 };
	static const double mixed[] = { 4, 8, 4, 3, 5, 4, 4, 2, 4, 4, 6, 4 };
	struct variance_prior p;

	assert_int_equal(variance_prior(v, four, ARRAY_LEN(v), &p), 0);
	near(p.df, 1.8958284451493994);
	near(p.variance, 0.6388654620380206);
	assert_int_equal(variance_prior(v, mixed, ARRAY_LEN(v), &p), 0);
	near(p.df, 2.073629618555814);
	near(p.variance, 0.683748091914191);
}

TEST(prior_of_what_is_no_distribution)
{
	double v[20], df[20];
	struct variance_prior p;

	for (size_t i = 0; i < 20; i++) {
		v[i] = 2 + 0.01 * (double)i;
		df[i] = 4;
	}
	assert_int_equal(variance_prior(v, df, 20, &p), 0);
	assert_true(isinf(p.df));
	near(p.variance, 2.095);
	assert_int_equal(variance_prior(v, df, 9, &p), -ENODATA);
	v[3] = NAN;
	df[4] = 0;
	v[5] = INFINITY;
	v[6] = -1;
	assert_int_equal(variance_prior(v, df, 13, &p), -ENODATA);
	assert_int_equal(variance_prior(v, df, 14, &p), 0);
	for (size_t i = 0; i < 20; i++)
		v[i] = 0;
	assert_int_equal(variance_prior(v, df, 20, &p), -ENODATA);
}

/* Variances drawn from the model: d0 = 8, s0² = 0.0004. */
TEST(prior_is_found)
{
	enum { ROWS = 4000 };
	static double v[ROWS], df[ROWS];
	uint64_t seed = 11;
	struct variance_prior p;

	for (size_t i = 0; i < ROWS; i++) {
		double chi = 0, s = 0;

		for (int k = 0; k < 8; k++)
			chi += pow(normal(&seed), 2);
		for (int k = 0; k < 4; k++)
			s += pow(normal(&seed), 2);
		v[i] = 0.0004 * 8 / chi * s / 4;
		df[i] = 4;
	}
	assert_int_equal(variance_prior(v, df, ROWS, &p), 0);
	assert_true(p.df > 6.5 && p.df < 10);
	assert_true(fabs(p.variance / 0.0004 - 1) < 0.06);
}

enum { ROWS = 1000, RUNS = 5 };

static void row_draw(uint64_t *seed, bool paired, double shift, struct sample_effect *ret)
{
	struct sample a[RUNS], b[RUNS];
	double cv = 0.02 * exp(0.3 * normal(seed));

	for (uint32_t i = 0; i < RUNS; i++) {
		uint32_t block = paired ? i : SAMPLE_BLOCK_NONE;

		a[i] = (struct sample){ 100 * exp(cv * normal(seed)), block };
		b[i] = (struct sample){ 100 * exp(shift + cv * normal(seed)), block };
	}
	sample_compare_rows(a, RUNS, b, RUNS, 0.05, 0.95, ret);
}

/* Equal rows have p below 0.05 as often as that says; of different ones more are found. */
static void power_check(bool paired)
{
	static struct sample_effect e[ROWS], plain[ROWS];
	static struct sample_effect *at[ROWS];
	uint64_t seed = 5;
	size_t wrong = 0, found = 0, found_plain = 0, covered = 0;

	for (size_t i = 0; i < ROWS; i++) {
		row_draw(&seed, paired, i % 10 ? 0 : log(1.1), &e[i]);
		assert_int_equal(e[i].method, paired ? SAMPLE_PAIRED : SAMPLE_WELCH);
		assert_true(isnan(e[i].p_ranks));
		plain[i] = e[i];
		at[i] = &e[i];
	}
	assert_int_equal(sample_pool(at, ROWS, 0.05, 0.95), ROWS);
	for (size_t i = 0; i < ROWS; i++) {
		double truth = i % 10 ? 1 : 1.1;

		assert_int_equal(e[i].method, paired ? SAMPLE_PAIRED_POOLED : SAMPLE_WELCH_POOLED);
		assert_true(e[i].low < e[i].ratio && e[i].ratio < e[i].high);
		covered += e[i].low <= truth && truth <= e[i].high;
		wrong += i % 10 && e[i].p <= 0.05;
		found += i % 10 == 0 && e[i].p <= 0.05 / ROWS;
		found_plain += i % 10 == 0 && plain[i].p <= 0.05 / ROWS;
	}
	if (wrong < 25 || wrong > 66 || covered < 930 || covered > 970)
		fail_msg("%zu of 900 false, %zu covered", wrong, covered);
	if (found < 80 || found_plain > 60)
		fail_msg("%zu found pooled, %zu alone", found, found_plain);
}

TEST(pooled_rows)
{
	power_check(false);
	power_check(true);
}

TEST(rows_that_do_not_pool)
{
	static struct sample_effect e[12];
	static struct sample_effect *at[13];
	uint64_t seed = 9;

	for (size_t i = 0; i < 12; i++) {
		row_draw(&seed, false, 0, &e[i]);
		at[i] = &e[i];
	}
	e[11].method = SAMPLE_FEW;
	assert_int_equal(sample_pool(at, 9, 0.05, 0.95), 0);
	assert_int_equal(e[0].method, SAMPLE_WELCH);
	assert_int_equal(sample_pool(at, 13, 0.05, 0.95), 11);
	assert_int_equal(e[11].method, SAMPLE_FEW);
	assert_string_equal(sample_method_name(e[0].method), "welch-log-pooled");
	assert_int_equal(sample_judge(&e[11], 0, 0.05, 0.95), SAMPLE_UNCLEAR);
	assert_int_equal(sample_pool(at, 0, 0.05, 0.95), 0);
}
