/* Verdicts over runs: which test, claims of sameness, laws; test_verdict_rates.c has the rates. */
#include "sim_runs.h"

#include "profrig/base/sample_verdict.h"
#include "profrig/base/samples_test.h"

/* Runs of 1 on one side and, on the other, these; blocks: in pairs. */
static void against_ones(const double *v, size_t n, bool blocks, double confidence,
			 struct sample_effect *ret)
{
	struct sample a[20], b[20];

	for (size_t i = 0; i < n; i++) {
		uint32_t block = blocks ? (uint32_t)i : SAMPLE_BLOCK_NONE;

		a[i] = (struct sample){ blocks ? 1 : 1 + 0.001 * (double)i, block };
		b[i] = (struct sample){ v[i], block };
	}
	sample_compare(a, n, b, n, 0.05, confidence, ret);
}

/*
 * Signs of k small negative logarithms may turn without a smaller sum: 2ᵏ choices, as many on the
 * other side, of 1024. With two of them t and the flips agree at 1 %, with three the flips do not.
 */
TEST(rearrangements)
{
	double v[10] = { 1.4, 1.5, 1.6, 1.5, 1.4, 1.5, 1.6, 1.5, 0.95, 0.96 };
	struct sample_effect e;

	against_ones(v, 10, true, 0.99, &e);
	assert_true(e.method == SAMPLE_PAIRED && e.p < 0.01 && e.low > 1);
	near(e.p_rearranged, 8 / 1024.0, 1e-12);
	near(e.floor, 2 / 1024.0, 1e-12);
	assert_int_equal(sample_judge(&e, e.p, 0.05, 0.99), SAMPLE_SLOWER);
	v[7] = 0.97;
	against_ones(v, 10, true, 0.99, &e);
	assert_true(e.p < 0.01 && e.low > 1);
	near(e.p_rearranged, 16 / 1024.0, 1e-12);
	assert_int_equal(sample_judge(&e, e.p, 0.05, 0.99), SAMPLE_UNCLEAR);
	/* at 99.5 % they go in steps that are too coarse to have a say */
	assert_int_equal(sample_judge(&e, 0.001, 0.05, 0.995), SAMPLE_SLOWER);
	assert_true(sample_floor_reaches(0.002, 0.99) && !sample_floor_reaches(0.0021, 0.99));
	/* nor below 10 pairs, and not among runs without blocks below 10 a side */
	against_ones(v, 9, true, 0.99, &e);
	assert_true(isnan(e.p_rearranged) && e.floor <= 0);
	against_ones(v, 9, false, 0.99, &e);
	assert_true(e.method == SAMPLE_WELCH && isnan(e.p_rearranged));
	against_ones(v, 10, false, 0.99, &e);
	near(e.floor, 2 / 184756.0, 1e-9);
	assert_true(e.p_rearranged > 0 && e.p_rearranged < 0.01);
}

/* The levels of several tests: a veto of the flips is asked for at the level of one of them. */
TEST(several_rows)
{
	double v[10];
	struct sample_effect e;

	for (size_t i = 0; i < 10; i++)
		v[i] = 1.2 + 0.001 * (double)i;
	against_ones(v, 10, true, 0.99, &e);
	assert_true(e.p < 1e-6 && e.p_rearranged > 0.001);
	/* 100 rows: 0.00195 · 100 reaches nothing, and p · 100 does */
	assert_int_equal(sample_judge(&e, e.p * 100, 0.05, 0.99), SAMPLE_SLOWER);
	assert_int_equal(sample_judge(&e, 0.02, 0.05, 0.99), SAMPLE_UNCLEAR);
}

/* Three runs against four have two degrees of freedom, three against three Welch's. */
TEST(few_and_unequal)
{
	static const struct sample a[] = LIST({ 1, SAMPLE_BLOCK_NONE }, { 1.01, SAMPLE_BLOCK_NONE },
					      { 1.02, SAMPLE_BLOCK_NONE });
	static const struct sample b[] =
		LIST({ 1.1, SAMPLE_BLOCK_NONE }, { 1.12, SAMPLE_BLOCK_NONE },
		     { 1.1, SAMPLE_BLOCK_NONE }, { 1.13, SAMPLE_BLOCK_NONE });
	double la[3], lb[4];
	struct sample_effect e;
	struct mean_test t;

	for (size_t i = 0; i < 4; i++) {
		lb[i] = log(b[i].value);
		if (i < 3)
			la[i] = log(a[i].value);
	}
	sample_compare(a, 3, b, 4, 0.05, 0.95, &e);
	hsu(lb, 4, la, 3, 0.95, &t);
	near(t.df, 2, 0);
	near(e.p, t.p, 1e-12);
	near(log(e.low), t.low, 1e-12);
	sample_compare(a, 3, b, 3, 0.05, 0.95, &e);
	welch(lb, 3, la, 3, 0.95, &t);
	assert_true(t.df > 2);
	near(e.p, t.p, 1e-12);
}

/* `same` is claimed where it is so, and hardly ever where B is at the margin. */
TEST(sameness)
{
	uint64_t tries = test_cases(200);

	for (int equal = 0; equal < 2; equal++) {
		uint64_t seed = 23, same = 0, other = 0;

		for (uint64_t k = 0; k < tries; k++) {
			struct sample a[10], b[10];
			struct sample_effect e;

			for (size_t i = 0; i < 10; i++) {
				a[i] = (struct sample){ exp(0.02 * sim_normal(&seed)),
							SAMPLE_BLOCK_NONE };
				b[i] = (struct sample){ (equal ? 1 : 1.05) *
								exp(0.02 * sim_normal(&seed)),
							SAMPLE_BLOCK_NONE };
			}
			sample_compare(a, 10, b, 10, 0.05, 0.95, &e);
			same += sample_judge(&e, e.p, 0.05, 0.95) == SAMPLE_SAME;
			other += sample_judge(&e, e.p, 0.05, 0.95) == SAMPLE_SLOWER;
		}
		if (equal)
			rate_is(same, tries, 0.99, 1);
		else
			rate_is(same, tries, 0, 0.05);
		assert_true(equal ? other == 0 : other > 0);
	}
}

/* Whatever the order of the arguments: B against A is 1 / (A against B). */
TEST(laws)
{
	uint64_t seed = 9;

	for (uint64_t c = 0; c < test_cases(300); c++) {
		struct sample a[20], b[20];
		struct sample_effect x, y;
		size_t na = 1 + rnd(&seed) % 14, nb = 1 + rnd(&seed) % 14;

		for (size_t i = 0; i < 20; i++) {
			uint32_t block = rnd(&seed) % 3 ? (uint32_t)i : SAMPLE_BLOCK_NONE;

			a[i] = (struct sample){ 1 + sim_uniform(&seed), block };
			b[i] = (struct sample){ 1 + sim_uniform(&seed), block };
			if (rnd(&seed) % 20 == 0)
				b[i].value = rnd(&seed) % 2 ? NAN : -1;
		}
		sample_compare(a, na, b, nb, 0.05, 0.95, &x);
		sample_compare(b, nb, a, na, 0.05, 0.95, &y);
		assert_int_equal(x.method, y.method);
		assert_int_equal(x.pairs, y.pairs);
		assert_int_equal(x.n_a, y.n_b);
		assert_int_equal(x.left_out + x.n_a + x.n_b, na + nb);
		if (x.method == SAMPLE_FEW) {
			assert_int_equal(sample_judge(&x, x.p, 0.05, 0.95), SAMPLE_UNCLEAR);
			continue;
		}
		assert_true(fabs(x.ratio * y.ratio - 1) < 1e-9);
		assert_true(fabs(x.low * y.high - 1) < 1e-9);
		assert_true(fabs(x.p - y.p) < 0.02 && x.p_same >= 0 && x.p_same <= 1);
		assert_true(x.low <= x.ratio && x.ratio <= x.high);
	}
}

TEST(orders)
{
	double v[40];
	uint64_t seed = 31, seen_lag = 0, seen_drift = 0, tries = test_cases(400);
	struct sample_order o;

	for (uint64_t k = 0; k < tries; k++) {
		for (size_t i = 0; i < 40; i++)
			v[i] = 100 + sim_normal(&seed);
		sample_order_check(v, 40, &o);
		seen_lag += o.lag1_p < 0.01;
		seen_drift += o.drift_p < 0.01;
		assert_true(o.n_effective <= 40 && o.n_effective > 0);
	}
	rate_is(seen_lag, tries, 0, 0.015);
	rate_is(seen_drift, tries, 0, 0.015);
	for (size_t i = 0; i < 40; i++)
		v[i] = 100 + 0.2 * (double)i + sim_normal(&seed);
	sample_order_check(v, 40, &o);
	assert_true(o.drift_p < 0.001 && fabs(o.drift - 0.075) < 0.03);
	for (size_t i = 1; i < 40; i++)
		v[i] = 100 + 0.9 * (v[i - 1] - 100) + sim_normal(&seed);
	sample_order_check(v, 40, &o);
	assert_true(o.lag1_p < 0.01 && o.lag1 > 0.4 && o.n_effective < 20);
	sample_order_check(v, 7, &o);
	assert_true(isnan(o.lag1) && isnan(o.drift_p));
}

TEST(outliers)
{
	static const double v[] = { 10, 10.1, 9.9, 10.05, 30, 9.95, 0.1 };
	static const double flat[] = { 1, 1, 1, 1, 9 };
	bool is[7];

	assert_int_equal(sample_outliers(v, 7, is), 2);
	assert_true(is[4] && is[6] && !is[0]);
	assert_int_equal(sample_outliers(v, 4, is), 0);
	assert_int_equal(sample_outliers(flat, 5, is), 0);
	assert_int_equal(sample_outliers(v, 0, is), 0);
}
