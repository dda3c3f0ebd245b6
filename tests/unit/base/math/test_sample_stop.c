#include "sim_runs.h"

#include "profrig/base/sample_stop.h"
#include "profrig/base/student.h"

#define RUNS_MAX 4000

typedef void stop_way(const double *v, size_t n, const struct sample_stop_rule *rule,
		      struct sample_stop *ret);

/* By hand: logarithms 0, 0.1, 0.2 have s = 0.1, t(2) = 4.3027, h = log 1.1: n = ⌈20.4⌉. */
TEST(two_stages)
{
	double v[32] = { 1, 0, 0 };
	struct sample_stop_rule rule = { 0.1, 0.95, 3, 0 };
	struct sample_stop s;

	v[1] = exp(0.1);
	v[2] = exp(0.2);
	sample_stop_stein(v, 2, &rule, &s);
	assert_true(!s.done && s.needed == 3 && isnan(s.low) && s.n == 2);
	near(s.value, exp(0.05), 1e-12);
	sample_stop_stein(v, 3, &rule, &s);
	assert_int_equal(s.needed, 21);
	assert_false(s.done);
	near(s.high / s.value, exp(student_t(0.95, 2) * 0.1 / sqrt(3)), 1e-9);
	/* later runs change the mean, and neither the deviation nor the number */
	for (size_t i = 3; i < 21; i++)
		v[i] = 5;
	sample_stop_stein(v, 20, &rule, &s);
	assert_true(!s.done && s.needed == 21);
	sample_stop_stein(v, 21, &rule, &s);
	assert_true(s.done && !s.capped && s.low < s.value && s.high <= s.value * 1.1);
	rule.most = 10;
	sample_stop_stein(v, 10, &rule, &s);
	assert_true(s.done && s.capped && s.needed == 10 && s.high > s.value * 1.1);
}

TEST(what_does_not_count)
{
	static const double v[] = { 1, NAN, 2, 0, -1, INFINITY, 4, 2 };
	static const double equal[] = { 3, 3, 3 };
	struct sample_stop_rule rule = { 0.1, 0.95, 0, 0 };
	struct sample_stop s;

	sample_stop_stein(v, ARRAY_LEN(v), &rule, &s);
	assert_int_equal(s.n, 4);
	assert_int_equal(s.left_out, 4);
	near(s.value, 2, 1e-12);
	sample_stop_stein(v, 0, &rule, &s);
	assert_true(s.n == 0 && isnan(s.value) && !s.done && s.needed == SAMPLE_STOP_FIRST);
	sample_stop_stein(equal, 3, &rule, &s);
	assert_true(s.done && s.needed == 3 && s.low >= s.high);
	sample_stop_looking(equal, 3, &rule, &s);
	assert_true(!s.done && s.needed == SAMPLE_STOP_LOOKS);
}

/* Runs until it is done; whether the interval holds the mean, which is 1. */
static bool stopped_right(stop_way *way, const struct sample_stop_rule *rule, double cv,
			  uint64_t *seed, size_t *ret_runs)
{
	static double v[RUNS_MAX];
	struct sample_stop s = { .needed = 1 };
	size_t n = 0;

	while (!s.done && n < RUNS_MAX) {
		/* two stages need no look in between */
		size_t upto = way == sample_stop_stein && s.needed > n ? s.needed : n + 1;

		for (; n < upto && n < RUNS_MAX; n++)
			v[n] = exp(cv * sim_normal(seed));
		way(v, n, rule, &s);
	}
	assert_true(s.done);
	assert_true(s.high <= s.value * (1 + rule->half) * (1 + 1e-12));
	*ret_runs += n;
	return s.low <= 1 && 1 <= s.high;
}

static void covers(stop_way *way, size_t first, double half, uint64_t tries, double low,
		   double high)
{
	struct sample_stop_rule rule = { half, 0.95, first, 0 };
	uint64_t seed = 77, held = 0;
	size_t runs = 0;

	for (uint64_t i = 0; i < tries; i++)
		held += stopped_right(way, &rule, 0.02, &seed, &runs);
	rate_is(held, tries, low, high);
}

/* Noise of 2 %, intervals of ± 0.8, 1.2 and 2 %. */
TEST(coverage)
{
	static const double halves[] = { 0.008, 0.012, 0.02 };

	for (size_t i = 0; i < ARRAY_LEN(halves); i++) {
		uint64_t tries = test_cases(2000);

		/* above 0.95 where the number is rounded up much */
		covers(sample_stop_stein, 3, halves[i], tries, 0.95, 0.97);
		covers(sample_stop_stein, 5, halves[i], tries, 0.95, 0.97);
		covers(sample_stop_stein, 10, halves[i], tries, 0.95, 0.99);
		covers(sample_stop_looking, 20, halves[i], tries, 0.944, 0.955);
	}
}

/* Why a narrow interval alone is no reason to stop: the usual interval, looked at from `first`. */
TEST(greedy)
{
	static const struct {
		size_t first;
		double low, high;
	} cases[] = LIST({ 3, 0.89, 0.915 }, { 5, 0.915, 0.93 }, { 10, 0.93, 0.945 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t tries = test_cases(3000), seed = 5, held = 0;

		for (uint64_t k = 0; k < tries; k++) {
			double sum = 0, squares = 0, half = INFINITY;
			size_t n = 0;

			while (n < cases[i].first || half > 0.5) {
				double x = sim_normal(&seed), off = n > 0 ? x - sum / (double)n : 0;

				squares += off * off * (double)n / (double)(n + 1);
				sum += x;
				n++;
				if (n >= cases[i].first)
					half = student_t(0.95, n - 1) *
					       sqrt(squares / (double)(n - 1) / (double)n);
			}
			held += fabs(sum / (double)n) <= half;
		}
		rate_is(held, tries, cases[i].low, cases[i].high);
	}
}
