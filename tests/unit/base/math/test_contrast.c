#include "base_test.h"

#include <math.h>

#include "profrig/base/contrast.h"

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-8 * fabs(want)))
		fail_msg("%.12g, not %.12g", got, want);
}

/* Computed beside it by numerical integration of the density (Simpson's rule). */
TEST(known_answers)
{
	struct contrast c;

	contrast(&(struct contrast_mean){ 100, 1, 2 }, &(struct contrast_mean){ 110, 2, 4 }, 0.95,
		 &c);
	near(c.ratio, 1.1);
	near(c.df, 5.736224257985439);
	near(c.p, 0.004167601669293446);
	near(c.low, 1.0449451977679827);
	near(c.high, 1.157955462721468);
	contrast(&(struct contrast_mean){ 3.5, 0.07, 5 }, &(struct contrast_mean){ 3.4, 0.02, 9 },
		 0.99, &c);
	near(c.df, 5.878030879130488);
	near(c.p, 0.21474306034958554);
	near(c.low, 0.898579895389211);
	near(c.high, 1.050183154808969);
}

TEST(what_is_unknown)
{
	static const struct contrast_mean fine = { 2, 0.1, 3 };
	static const struct contrast_mean none[] =
		LIST({ 0, 0.1, 3 }, { -1, 0.1, 3 }, { NAN, 0.1, 3 }, { INFINITY, 0.1, 3 });
	static const struct contrast_mean loose[] = LIST({ 2, NAN, 3 }, { 2, -1, 3 }, { 2, 0.1, 0 },
							 { 2, 0.1, NAN }, { 2, INFINITY, 3 });
	struct contrast c;

	for (size_t i = 0; i < ARRAY_LEN(none); i++) {
		contrast(&fine, &none[i], 0.95, &c);
		assert_true(isnan(c.ratio) && isnan(c.low) && isnan(c.high) && isnan(c.p));
		assert_int_equal(contrast_judge(&c, c.p, 0.05, 0.95), CONTRAST_UNCLEAR);
	}
	for (size_t i = 0; i < ARRAY_LEN(loose); i++) {
		contrast(&fine, &loose[i], 0.95, &c);
		near(c.ratio, 1);
		assert_true(isnan(c.low) && isnan(c.high) && isnan(c.p));
		assert_int_equal(contrast_judge(&c, c.p, 0.05, 0.95), CONTRAST_UNCLEAR);
	}
}

TEST(exact_means)
{
	struct contrast c;

	contrast(&(struct contrast_mean){ 2, 0, 3 }, &(struct contrast_mean){ 2, 0, 3 }, 0.95, &c);
	assert_true(c.p >= 1 && c.low >= 1 && c.high <= 1);
	assert_int_equal(contrast_judge(&c, c.p, 0, 0.95), CONTRAST_SAME);
	contrast(&(struct contrast_mean){ 2, 0, 3 }, &(struct contrast_mean){ 3, 0, 3 }, 0.95, &c);
	assert_true(c.p <= 0);
	assert_int_equal(contrast_judge(&c, c.p, 0.05, 0.95), CONTRAST_MORE);
	/* one of them alone is exact: the degrees of freedom are those of the other */
	contrast(&(struct contrast_mean){ 2, 0, 3 }, &(struct contrast_mean){ 3, 0.1, 7 }, 0.95,
		 &c);
	near(c.df, 7);
	contrast(&(struct contrast_mean){ 2, 0.1, INFINITY },
		 &(struct contrast_mean){ 3, 0.1, INFINITY }, 0.95, &c);
	assert_true(isinf(c.df));
}

TEST(verdicts)
{
	static const struct {
		struct contrast c;
		double p_adj, threshold;
		enum contrast_verdict want;
	} cases[] = LIST({ { 1.10, 1.06, 1.14, 0, 9 }, 0.01, 0.05, CONTRAST_MORE },
			 { { 1.10, 1.01, 1.19, 0, 9 }, 0.04, 0.05, CONTRAST_MORE },
			 /* the other rows' tests take its certainty away */
			 { { 1.10, 1.01, 1.19, 0, 9 }, 0.06, 0.05, CONTRAST_UNCLEAR },
			 { { 1.10, 0.99, 1.19, 0, 9 }, 0.04, 0.05, CONTRAST_UNCLEAR },
			 /* a difference that is sure and small */
			 { { 1.04, 1.03, 1.049, 0, 9 }, 0.0, 0.05, CONTRAST_SAME },
			 { { 1.04, 1.03, 1.06, 0, 9 }, 0.0, 0.05, CONTRAST_UNCLEAR },
			 { { 1.04, 1.03, 1.06, 0, 9 }, 0.0, 0.01, CONTRAST_MORE },
			 { { 0.90, 0.85, 0.94, 0, 9 }, 0.01, 0.05, CONTRAST_LESS },
			 { { 0.96, 0.951, 0.97, 0, 9 }, 0.01, 0.05, CONTRAST_SAME },
			 { { 0.90, 0.85, 0.94, 0, 9 }, 0.01, 0.2, CONTRAST_SAME },
			 { { 1.00, 0.5, 2, 0, 9 }, 1, 0.05, CONTRAST_UNCLEAR });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (contrast_judge(&cases[i].c, cases[i].p_adj, cases[i].threshold, 0.95) !=
		    cases[i].want)
			ROW_FAIL(i, "another verdict");
}

TEST(families_known_answers)
{
	static const double four[] = { 0.01, 0.04, 0.03, 0.005 };
	static const double by_holm[] = { 0.03, 0.06, 0.06, 0.02 };
	static const double by_bh[] = { 0.02, 0.04, 0.04, 0.02 };
	/* of the paper of 1995: Holm rejects three at 0.05, they reject four */
	static const double paper[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201,
					0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
					0.4262, 0.5719, 0.6528, 0.7590, 1 };
	double p[ARRAY_LEN(paper)], q[ARRAY_LEN(paper)];
	size_t holm_found = 0, bh_found = 0;

	memcpy(p, four, sizeof(four));
	holm(p, 4);
	memcpy(q, four, sizeof(four));
	benjamini_hochberg(q, 4);
	for (size_t i = 0; i < 4; i++) {
		near(p[i], by_holm[i]);
		near(q[i], by_bh[i]);
	}
	memcpy(p, paper, sizeof(p));
	holm(p, ARRAY_LEN(p));
	memcpy(q, paper, sizeof(q));
	benjamini_hochberg(q, ARRAY_LEN(q));
	for (size_t i = 0; i < ARRAY_LEN(paper); i++) {
		holm_found += p[i] <= 0.05;
		bh_found += q[i] <= 0.05;
		assert_true(q[i] <= p[i] && paper[i] <= q[i] && q[i] <= 1);
	}
	assert_int_equal(holm_found, 3);
	assert_int_equal(bh_found, 4);
	near(q[3], 0.035625);
	near(q[14], 1);
}

TEST(benjamini_hochberg_and_what_is_unknown)
{
	double p[] = { NAN, 0.5, NAN, 0.2 }, none[] = { NAN };

	benjamini_hochberg(p, ARRAY_LEN(p));
	near(p[3], 0.4);
	near(p[1], 0.5);
	assert_true(isnan(p[0]) && isnan(p[2]));
	benjamini_hochberg(none, 1);
	benjamini_hochberg(none, 0);
	assert_true(isnan(none[0]));
}

TEST(holm_known_answers)
{
	/* 0.01·4, 0.02·3 > 0.04, 0.03·2 is below it, 0.04·1 too */
	double p[] = { 0.04, NAN, 0.01, 0.03, 0.02 }, big[] = { 0.5, 0.6 }, none[] = { NAN };

	holm(p, ARRAY_LEN(p));
	near(p[2], 0.04);
	near(p[4], 0.06);
	near(p[3], 0.06);
	near(p[0], 0.06);
	assert_true(isnan(p[1]));
	holm(big, 2);
	near(big[0], 1);
	near(big[1], 1);
	holm(none, 1);
	holm(none, 0);
	assert_true(isnan(none[0]));
}

static void near_all(const double *got, const double *want, size_t n)
{
	for (size_t i = 0; i < n; i++)
		near(got[i], want[i]);
}

/* The 15 p-values of Benjamini and Hochberg (1995): 3 rows by Bonferroni and Holm, 4 by theirs. */
TEST(several_tests)
{
	static const double few[] = { 0.01, 0.04, 0.03, 0.005 };
	static const double by_holm[] = { 0.03, 0.06, 0.06, 0.02 };
	static const double by_rate[] = { 0.02, 0.04, 0.04, 0.02 };
	static const double paper[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201,
					0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
					0.4262, 0.5719, 0.6528, 0.7590, 1 };
	double p[ARRAY_LEN(paper)], none[] = { NAN }, some[] = { NAN, 0.9, 0.02, 0.8 };
	size_t rows_all = ARRAY_LEN(paper), bonferroni = 0, rows = 0, discoveries = 0;

	memcpy(p, few, sizeof(few));
	holm(p, ARRAY_LEN(few));
	near_all(p, by_holm, ARRAY_LEN(few));
	memcpy(p, few, sizeof(few));
	benjamini_hochberg(p, ARRAY_LEN(few));
	near_all(p, by_rate, ARRAY_LEN(few));
	memcpy(p, paper, sizeof(paper));
	holm(p, ARRAY_LEN(paper));
	for (size_t i = 0; i < ARRAY_LEN(paper); i++) {
		bonferroni += paper[i] <= 0.05 / (double)rows_all;
		rows += p[i] <= 0.05;
	}
	memcpy(p, paper, sizeof(paper));
	benjamini_hochberg(p, ARRAY_LEN(paper));
	for (size_t i = 0; i < ARRAY_LEN(paper); i++)
		discoveries += p[i] <= 0.05;
	assert_int_equal(bonferroni, 3);
	assert_int_equal(rows, 3);
	assert_int_equal(discoveries, 4);
	near(p[3], 0.035625);
	benjamini_hochberg(some, ARRAY_LEN(some));
	near_all(some + 1, (const double[]){ 0.9, 0.06, 0.9 }, 3);
	assert_true(isnan(some[0]));
	benjamini_hochberg(none, 1);
	benjamini_hochberg(none, 0);
	assert_true(isnan(none[0]));
}

static double unit(uint64_t *seed)
{
	return (double)(rnd(seed) >> 11) * 0x1p-53;
}

/* Swapping the two turns the interval over; p stays. */
TEST(swapped)
{
	uint64_t seed = 5;

	for (uint64_t i = test_cases(500); i; i--) {
		struct contrast_mean a = { exp(unit(&seed) * 8), 0, 1 + unit(&seed) * 20 };
		struct contrast_mean b = { a.mean * (0.8 + unit(&seed) * 0.4), 0,
					   1 + unit(&seed) * 20 };
		struct contrast c, d;

		a.error = a.mean * unit(&seed) * 0.05;
		b.error = b.mean * unit(&seed) * 0.05;
		contrast(&a, &b, 0.95, &c);
		contrast(&b, &a, 0.95, &d);
		near(c.ratio * d.ratio, 1);
		near(c.low * d.high, 1);
		near(c.high * d.low, 1);
		near(c.p, d.p);
		/* the interval and the p-value say the same */
		assert_true((c.p < 0.05) == (c.low > 1 || c.high < 1));
	}
}

/* Of pairs without a difference at most 5 % have a p-value below 0.05, also with few values. */
TEST(level)
{
	uint64_t seed = 3, cases = test_cases(4000), below = 0, held = 0;

	for (uint64_t i = 0; i < cases; i++) {
		struct contrast_mean m[2];
		struct contrast c;

		for (int s = 0; s < 2; s++) {
			double v[5], sum = 0, squares = 0;

			for (int k = 0; k < 5; k++) {
				v[k] = 100;
				for (int j = 0; j < 12; j++)
					v[k] += unit(&seed) - 0.5;
				sum += v[k];
			}
			for (int k = 0; k < 5; k++)
				squares += (v[k] - sum / 5) * (v[k] - sum / 5);
			m[s] = (struct contrast_mean){ sum / 5, sqrt(squares / 4 / 5), 4 };
		}
		contrast(&m[0], &m[1], 0.95, &c);
		below += c.p < 0.05;
		held += c.low <= 1 && c.high >= 1;
	}
	assert_true((double)below / (double)cases < 0.06);
	assert_true((double)held / (double)cases > 0.94);
}
