/* Tables of Armitage, McPherson and Rowe, of Pocock, and of O'Brien and Fleming. */
#include "sim_runs.h"

#include "profrig/base/bootstrap.h"
#include "profrig/base/looks.h"
#include "profrig/base/samples_test.h"

#define RUNS 30

static void even_steps(double *n, size_t looks)
{
	for (size_t k = 0; k < looks; k++)
		n[k] = (double)(k + 1);
}

TEST(uncorrected)
{
	static const struct {
		size_t looks;
		double error;
	} cases[] =
		LIST({ 1, .05 }, { 2, .083 }, { 3, .107 }, { 5, .142 }, { 10, .193 }, { 20, .248 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		double n[20], level[20];

		even_steps(n, cases[i].looks);
		for (size_t k = 0; k < cases[i].looks; k++)
			level[k] = 0.05;
		near(looks_error(n, level, cases[i].looks), cases[i].error, 5e-4);
	}
}

TEST(pocock)
{
	static const struct {
		size_t looks;
		double c;
	} cases[] = LIST({ 2, 2.178 }, { 3, 2.289 }, { 5, 2.413 }, { 10, 2.555 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		double n[10], level[10];

		even_steps(n, cases[i].looks);
		level[0] = looks_level_even(n, cases[i].looks, 0.05);
		near(-normal_quantile(level[0] / 2), cases[i].c, 6e-4);
		for (size_t k = 1; k < cases[i].looks; k++)
			level[k] = level[0];
		near(looks_error(n, level, cases[i].looks), 0.05, 1e-9);
	}
}

TEST(obrien_fleming)
{
	double n[5], level[5];

	even_steps(n, 5);
	looks_level_late(n, 5, 0.05, level);
	for (size_t k = 0; k < 5; k++)
		near(-normal_quantile(level[k] / 2), 2.04 * sqrt(5.0 / (double)(k + 1)), 2e-3);
	near(looks_error(n, level, 5), 0.05, 1e-9);
}

/* Only shares of the runs count; a look that cannot stop changes nothing; one look is one test. */
TEST(laws)
{
	static const double n[] = { 1, 2, 4 }, scaled[] = { 5, 10, 20 }, two[] = { 1, 4 };
	static const double level[] = { 0.01, 0.02, 0.03 }, never[] = { 0.01, 0, 0.03 };
	static const double without[] = { 0.01, 0.03 }, none[] = { 0, 0, 0 };
	static const double back[] = { 2, 1, 3 }, wrong[] = { 0.01, 1, 0.03 };
	double got[3];

	near(looks_error(n, level, 3), looks_error(scaled, level, 3), 1e-9);
	near(looks_error(n, never, 3), looks_error(two, without, 2), 1e-6);
	near(looks_error(n, none, 3), 0, 1e-9);
	near(looks_level_even(n, 1, 0.05), 0.05, 1e-9);
	assert_true(isnan(looks_error(n, level, 0)) && isnan(looks_error(back, level, 3)));
	assert_true(isnan(looks_error(n, wrong, 3)) && isnan(looks_level_even(n, 3, 0)));
	assert_true(isnan(looks_level_even(back, 3, 0.05)));
	looks_level_late(back, 3, 0.05, got);
	assert_true(isnan(got[0]) && isnan(got[2]));
}

/* Of looks at t tests of two equal sides: how often one of them is at most its level. */
static void alarms_of(size_t first, size_t step, const double *level, size_t looks, bool paired,
		      double low, double high)
{
	static const double zero[RUNS];
	uint64_t tries = test_cases(1200), seed = 41, found = 0;

	for (uint64_t i = 0; i < tries; i++) {
		double a[RUNS], b[RUNS];
		bool hit = false;

		for (size_t k = 0; k < RUNS; k++) {
			a[k] = sim_normal(&seed);
			b[k] = sim_normal(&seed) - (paired ? a[k] : 0);
		}
		for (size_t k = 0; k < looks && !hit; k++) {
			size_t n = first + k * step;
			struct mean_test t;

			if (paired)
				paired_test(b, zero, n, 0.95, &t);
			else
				welch(a, n, b, n, 0.95, &t);
			hit = t.p <= level[k];
		}
		found += hit;
	}
	rate_is(found, tries, low, high);
}

/* Welch after each run from 5 to 30 at 5 %, and with levels that allow for it. */
TEST(with_t_tests)
{
	double level[RUNS], n[RUNS], even;

	for (size_t k = 0; k < 26; k++) {
		n[k] = 5 + (double)k;
		level[k] = 0.05;
	}
	alarms_of(5, 1, level, 26, false, 0.20, 0.225);
	even = looks_level_even(n, 26, 0.05);
	for (size_t k = 0; k < 26; k++)
		level[k] = even;
	alarms_of(5, 1, level, 26, false, 0.04, 0.055);
	alarms_of(5, 1, level, 26, true, 0.04, 0.055);
	looks_level_late(n, 26, 0.05, level);
	alarms_of(5, 1, level, 26, false, 0.04, 0.055);
	/* from 3 runs on, where t is furthest from normal */
	for (size_t k = 0; k < 10; k++)
		n[k] = 3 + 3 * (double)k;
	even = looks_level_even(n, 10, 0.05);
	for (size_t k = 0; k < 10; k++)
		level[k] = even;
	alarms_of(3, 3, level, 10, false, 0.03, 0.055);
	alarms_of(3, 3, level, 10, true, 0.03, 0.0575);
}
