/* What tools cost: ratios, intervals and verdicts of pairs, by the statistics of `compare`. */
#include "baseline.h"
#include "test.h"

#include <math.h>

/* A run that is paired; its directory is none, so that nothing can be noted there. */
static void run_add(struct pairing *s, const char *tools, size_t block, double workload_s,
		    double performance, const char *unit, double budget)
{
	VEC_PUSH(&s->v, ((struct paired_run){ .run_dir = xstrdup("/none"),
					      .run_id = xasprintf("%s-%zu", tools, block),
					      .tools = xstrdup(tools),
					      .unit = xstrdup(unit),
					      .bare = !*tools,
					      .block = block,
					      .workload_s = workload_s,
					      .performance = performance,
					      .budget = budget }));
}

/* Without tools two seconds each; with "t" longer by exp of each logarithm. */
static struct pairing made(const double *logs, size_t n, double budget)
{
	struct pairing s = { .v = VEC_INIT };
	CLEANUP(strvec_release) struct strvec problems = STRVEC_INIT;

	for (size_t i = 0; i < n; i++) {
		run_add(&s, "", i, 2, 100, "it/s", NAN);
		run_add(&s, "t", i, 2 * exp(logs[i]), 100 * exp(-logs[i]), "it/s", budget);
	}
	pairing_conclude(&s, &problems);
	assert_int_equal(s.costs.nr, 1);
	return s;
}

static bool near_to(double a, double b)
{
	return fabs(a - b) < 1e-6;
}

/* Logarithms .1, .2, .3: mean .2, s .1, t(.975, 2) 4.3026527, half .1·t/√3 = .2484138 */
TEST(the_interval_is_that_of_pairs)
{
	const double logs[] = { .1, .2, .3 };
	struct pairing s = made(logs, 3, .15);
	const struct cost *c = &s.costs.v[0];

	assert_int_equal(c->time.effect.method, SAMPLE_PAIRED);
	assert_int_equal(cost_pairs(&c->time), 3);
	assert_true(near_to(c->time.effect.ratio, exp(.2)));
	assert_true(near_to(c->time.effect.low, exp(.2 - .2484138)));
	assert_true(near_to(c->time.effect.high, exp(.2 + .2484138)));
	assert_true(near_to(c->time.effect.p, .0741799));
	assert_true(near_to(c->time.baseline, 2) && near_to(c->time.tools, 2 * exp(.2)));
	assert_true(near_to(c->speed.effect.ratio, exp(-.2)));
	assert_true(near_to(c->speed.baseline, 100) && near_to(c->speed.tools, 100 * exp(-.2)));
	pairing_release(&s);
}

TEST(verdicts)
{
	static const struct {
		double logs[6];
		size_t n;
		double budget;
		const char *verdict, *change;
		bool over;
	} rows[] = {
		/* above the budget, and noise alone may do that: p .074 */
		{ { .1, .2, .3 }, 3, .15, "unclear", "unclear", true },
		/* exp(.2) is 1.2214; its interval begins at 1.1914 */
		{ { .19, .2, .21 }, 3, .15, "over", "slower", true },
		{ { .19, .2, .21 }, 3, .20, "over", "slower", true },
		{ { .19, .2, .21 }, 3, .25, "within", "slower", false },
		{ { .01, -.01, .005, -.005 }, 4, .05, "within", "same", false },
		{ { -.2, -.21, -.19 }, 3, .05, "within", "faster", false },
		/* too few for a test, and yet the budget was exceeded or not */
		{ { .19, .21 }, 2, .15, "unclear", "unclear", true },
		{ { .19, .21 }, 2, .25, "within", "unclear", false },
		{ { .2 }, 1, .15, "unclear", "unclear", true },
		{ { .2 }, 1, NAN, "", "unclear", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pairing s = made(rows[i].logs, rows[i].n, rows[i].budget);
		const struct cost *c = &s.costs.v[0];

		assert_string_equal(cost_verdict(c), rows[i].verdict);
		assert_string_equal(cost_change(c), rows[i].change);
		assert_int_equal(cost_over_budget(c), rows[i].over);
		assert_int_equal(isnan(c->time.effect.low), rows[i].n < 3);
		pairing_release(&s);
	}
}

/* Ten pairs: all choices of signs are asked, too, and one far off pair is not what decides. */
TEST(from_ten_pairs_on_rearrangements_are_asked)
{
	const double logs[] = { .3, .31, .29, .3, .3, .32, .28, .3, .31, .29 };
	struct pairing s = made(logs, 10, .1);
	const struct sample_effect *e = &s.costs.v[0].time.effect;

	assert_true(near_to(e->floor, 2.0 / 1024) && near_to(e->p_rearranged, 2.0 / 1024));
	assert_string_equal(cost_verdict(&s.costs.v[0]), "over");
	pairing_release(&s);
}

TEST(half_a_pair_does_not_count)
{
	struct pairing s = { .v = VEC_INIT };
	CLEANUP(strvec_release) struct strvec problems = STRVEC_INIT;

	run_add(&s, "", 0, 1, NAN, "", NAN);
	run_add(&s, "t", 0, NAN, NAN, "", .1);
	run_add(&s, "", 1, NAN, NAN, "", NAN);
	run_add(&s, "t", 1, 9, NAN, "", .1);
	run_add(&s, "", 2, 1, 5, "a", NAN);
	run_add(&s, "t", 2, 1.5, 5, "b", .1);
	run_add(&s, "t", 3, 9, NAN, "", .1);
	assert_true(pairing_conclude(&s, &problems));
	assert_int_equal(cost_pairs(&s.costs.v[0].time), 1);
	assert_true(near_to(s.costs.v[0].time.effect.ratio, 1.5));
	/* another unit is another figure */
	assert_int_equal(cost_pairs(&s.costs.v[0].speed), 0);
	assert_true(isnan(s.costs.v[0].speed.effect.ratio) && isnan(s.costs.v[0].speed.tools));
	pairing_release(&s);
}

TEST(no_pair_at_all)
{
	struct pairing s = { .v = VEC_INIT };
	CLEANUP(strvec_release) struct strvec problems = STRVEC_INIT;

	run_add(&s, "", 0, NAN, NAN, "", NAN);
	run_add(&s, "t", 0, NAN, NAN, "", .1);
	assert_false(pairing_conclude(&s, &problems));
	assert_string_equal(cost_verdict(&s.costs.v[0]), "");
	assert_string_equal(cost_change(&s.costs.v[0]), "");
	pairing_release(&s);
}
