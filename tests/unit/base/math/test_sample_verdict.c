/* Verdicts over runs: known rates of false alarms and of power, drifts, claims of sameness. */
#include "base_test.h"

#include <inttypes.h>
#include <math.h>

#include "profrig/base/sample_verdict.h"

#define RUNS_MAX 64

static double uniform(uint64_t *seed)
{
	return ((double)(rnd(seed) % (UINT64_C(1) << 52)) + 0.5) / (double)(UINT64_C(1) << 52);
}

/* Box and Muller. */
static double normal(uint64_t *seed)
{
	double r = sqrt(-2 * log(uniform(seed)));

	return r * cos(2 * M_PI * uniform(seed));
}

/* Of `tries`, how many may be off by: three standard errors of a share p. */
static void rate_is(uint64_t hits, uint64_t tries, double low, double high)
{
	double share = (double)hits / (double)tries;
	double off = 3 * sqrt(fmax(high * (1 - high), 0.25 / (double)tries) / (double)tries);

	if (share < low - off || share > high + off)
		fail_msg("%.4f is not from %.4f to %.4f", share, low, high);
}

struct trial {
	size_t n;
	double cv, ratio, confidence;
	bool strict; /* the whole interval above the margin */
};

/* How often B is called slower. */
static uint64_t slower_of(const struct trial *t, uint64_t tries)
{
	uint64_t seed = 17, found = 0;

	for (uint64_t k = 0; k < tries; k++) {
		struct sample a[RUNS_MAX], b[RUNS_MAX];
		struct sample_effect e;

		for (size_t i = 0; i < t->n; i++) {
			a[i] = (struct sample){ exp(t->cv * normal(&seed)), SAMPLE_BLOCK_NONE };
			b[i] = (struct sample){ t->ratio * exp(t->cv * normal(&seed)),
						SAMPLE_BLOCK_NONE };
		}
		sample_compare(a, t->n, b, t->n, 0.05, t->confidence, &e);
		found += t->strict ? e.low > 1.05
				   : sample_judge(&e, e.p, 0.05, t->confidence) == SAMPLE_SLOWER;
	}
	return found;
}

/* The power of a gate at 99 %: rates as they were found with Welch's test alone. */
TEST(power)
{
	static const struct {
		struct trial t;
		double rate;
	} cases[] = LIST(
		{ { 5, 0.01, 1.1, 0.99, false }, 1 }, { { 5, 0.02, 1.1, 0.99, false }, 0.997 },
		{ { 5, 0.03, 1.1, 0.99, false }, 0.874 }, { { 5, 0.05, 1.1, 0.99, false }, 0.37 },
		{ { 5, 0.02, 1.1, 0.99, true }, 0.57 });
	uint64_t tries = test_cases(1500);

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		rate_is(slower_of(&cases[i].t, tries), tries, cases[i].rate - 0.01,
			fmin(1, cases[i].rate + 0.01));
}

TEST(false_alarms)
{
	static const struct trial cases[] =
		LIST({ 3, 0.02, 1, 0.95, false }, { 5, 0.05, 1, 0.95, false },
		     { 5, 0.05, 1, 0.99, false }, { 9, 0.2, 1, 0.95, false });
	uint64_t tries = test_cases(1500);

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		rate_is(slower_of(&cases[i], tries), tries, 0, (1 - cases[i].confidence) / 2);
}

/* Intervals hold the true ratio as often as they say, at every n. */
TEST(coverage)
{
	uint64_t seed = 5;

	for (size_t n = 3; n <= 30; n += 9)
		for (int paired = 0; paired < 2; paired++) {
			uint64_t holds = 0, tries = test_cases(n < SAMPLES_REARRANGED ? 1500 : 40);

			for (uint64_t k = 0; k < tries; k++) {
				struct sample a[RUNS_MAX], b[RUNS_MAX];
				struct sample_effect e;

				for (size_t i = 0; i < n; i++) {
					uint32_t block = paired ? (uint32_t)i : SAMPLE_BLOCK_NONE;

					a[i] = (struct sample){ exp(0.03 * normal(&seed)), block };
					b[i] = (struct sample){ 1.07 * exp(0.06 * normal(&seed)),
								block };
				}
				sample_compare(a, n, b, n, 0.05, 0.95, &e);
				assert_int_equal(e.method, paired ? SAMPLE_PAIRED : SAMPLE_WELCH);
				holds += e.low <= 1.07 && 1.07 <= e.high;
			}
			rate_is(holds, tries, 0.94, 0.97);
		}
}

/*
 * A machine that gets 3 % slower over 2 × 10 runs (CV 1 %, A = B): how often a difference is
 * believed at 5 %, by the order of the runs.
 */
TEST(drift)
{
	static const struct {
		const char *order;
		bool paired;
		double low, high; /* of the rate */
	} cases[] = LIST({ "AAAAAAAAAABBBBBBBBBB", false, 0.84, 0.90 },
			 { "ABABABABABABABABABAB", true, 0.05, 0.085 },
			 { "ABBAABBAABBAABBAABBA", true, 0.02, 0.055 });
	uint64_t tries = test_cases(200);

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t seed = 3, found = 0;

		for (uint64_t k = 0; k < tries; k++) {
			struct sample v[2][RUNS_MAX];
			size_t n[2] = { 0 };
			struct sample_effect e;

			for (uint32_t run = 0; run < 20; run++) {
				int side = cases[i].order[run] == 'B';
				double value = exp(0.03 * run / 19 + 0.01 * normal(&seed));

				v[side][n[side]++] = (struct sample){
					value, cases[i].paired ? run / 2 : SAMPLE_BLOCK_NONE
				};
			}
			sample_compare(v[0], n[0], v[1], n[1], 0.05, 0.95, &e);
			found += e.p <= 0.05;
		}
		rate_is(found, tries, cases[i].low, cases[i].high);
	}
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
				a[i] = (struct sample){ exp(0.02 * normal(&seed)),
							SAMPLE_BLOCK_NONE };
				b[i] = (struct sample){ (equal ? 1 : 1.05) *
								exp(0.02 * normal(&seed)),
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

			a[i] = (struct sample){ 1 + uniform(&seed), block };
			b[i] = (struct sample){ 1 + uniform(&seed), block };
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
			v[i] = 100 + normal(&seed);
		sample_order_check(v, 40, &o);
		seen_lag += o.lag1_p < 0.01;
		seen_drift += o.drift_p < 0.01;
		assert_true(o.n_effective <= 40 && o.n_effective > 0);
	}
	rate_is(seen_lag, tries, 0, 0.015);
	rate_is(seen_drift, tries, 0, 0.015);
	for (size_t i = 0; i < 40; i++)
		v[i] = 100 + 0.2 * (double)i + normal(&seed);
	sample_order_check(v, 40, &o);
	assert_true(o.drift_p < 0.001 && fabs(o.drift - 0.075) < 0.03);
	for (size_t i = 1; i < 40; i++)
		v[i] = 100 + 0.9 * (v[i - 1] - 100) + normal(&seed);
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
