/*
 * The rates that verdicts promise, over simulated campaigns: false alarms, coverage of intervals,
 * drifting machines, a slowed kernel and an identical pair.
 */
#include "sim_runs.h"

#include "profrig/base/power.h"
#include "profrig/base/sample_verdict.h"
#include "profrig/base/samples_test.h"

#define RUNS_MAX 64
#define LEVEL 0.05

/* ---- level and coverage, for each size and noise ---- */

struct sides {
	double a[RUNS_MAX], b[RUNS_MAX]; /* logarithms */
	size_t na, nb;
	bool paired;
};

static void sides_draw(struct sides *s, enum sim_noise noise, double wider, uint64_t *seed)
{
	for (size_t i = 0; i < s->na; i++)
		s->a[i] = 0.02 * sim_noise(noise, seed);
	for (size_t i = 0; i < s->nb; i++)
		s->b[i] = 0.02 * wider * sim_noise(noise, seed);
}

static void sides_compare(const struct sides *s, struct sample_effect *e)
{
	struct sample a[RUNS_MAX], b[RUNS_MAX];

	for (size_t i = 0; i < s->na; i++)
		a[i] = (struct sample){ exp(s->a[i]), s->paired ? (uint32_t)i : SAMPLE_BLOCK_NONE };
	for (size_t i = 0; i < s->nb; i++)
		b[i] = (struct sample){ exp(s->b[i]), s->paired ? (uint32_t)i : SAMPLE_BLOCK_NONE };
	sample_compare(a, s->na, b, s->nb, 1e-9, 1 - LEVEL, e);
}

/* Whether a difference is claimed, at no margin; *ret_covers: the interval holds the true ratio. */
static bool alarm_of(const struct sides *s, bool *ret_covers)
{
	struct sample_effect e;
	enum sample_verdict v;

	if (s->na >= SAMPLES_REARRANGED) {
		struct mean_test t;

		/* the same test, without rearrangements: they take time, and only take away */
		if (s->paired)
			paired_test(s->b, s->a, s->na, 1 - LEVEL, &t);
		else
			welch(s->b, s->nb, s->a, s->na, 1 - LEVEL, &t);
		*ret_covers = t.low <= 0 && 0 <= t.high;
		if (t.p > LEVEL)
			return false;
	}
	sides_compare(s, &e);
	*ret_covers = e.low <= 1 && 1 <= e.high;
	v = sample_judge(&e, e.p, 1e-9, 1 - LEVEL);
	return v == SAMPLE_SLOWER || v == SAMPLE_FASTER;
}

/* False alarms are at most the level, and intervals of 95 % cover 94 %, for equal distributions. */
TEST(levels)
{
	static const size_t sizes[] = { 3, 5, 6, 8, 10, 20 };

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		for (int of = 0; of < 2 * SIM_NOISES; of++) {
			struct sides s = { .na = sizes[i], .nb = sizes[i], .paired = of % 2 };
			uint64_t tries = test_cases(sizes[i] < 10 ? 3000 : 1000), seed = 61;
			uint64_t alarms = 0, covered = 0;

			for (uint64_t k = 0; k < tries; k++) {
				bool covers;

				sides_draw(&s, (enum sim_noise)(of / 2), 1, &seed);
				alarms += alarm_of(&s, &covers);
				covered += covers;
			}
			rate_is(alarms, tries, 0, LEVEL);
			rate_is(covered, tries, 0.94, 1);
		}
}

/* Noise that differs between the sides, and runs that failed on one of them. */
TEST(unlike_sides)
{
	static const struct {
		size_t na, nb;
		double wider;
	} cases[] = LIST({ 3, 3, 3 }, { 3, 3, 6 }, { 5, 5, 3 }, { 8, 8, 6 }, { 3, 4, .25 },
			 { 3, 20, .66 }, { 20, 3, 1 }, { 4, 5, .25 }, { 4, 15, 1 }, { 5, 15, 1 },
			 { 9, 30, 2 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct sides s = { .na = cases[i].na, .nb = cases[i].nb };
		uint64_t tries = test_cases(4000), seed = 67, covered = 0;

		for (uint64_t k = 0; k < tries; k++) {
			struct sample_effect e;

			sides_draw(&s, SIM_NORMAL, cases[i].wider, &seed);
			sides_compare(&s, &e);
			covered += e.low <= 1 && 1 <= e.high;
		}
		rate_is(covered, tries, 0.94, 1);
	}
}

/* ---- a machine that drifts ---- */

struct drifting {
	const char *order; /* a letter a run; NULL: 10 of each, shuffled */
	bool paired;       /* with the run beside it, or the same one of the shuffled sides */
};

static void shuffled(char *order, uint64_t *seed)
{
	for (size_t i = 0; i < 20; i++)
		order[i] = i % 2 ? 'B' : 'A';
	for (size_t i = 20; i > 1; i--) {
		size_t k = rnd(seed) % i;
		char c = order[k];

		order[k] = order[i - 1];
		order[i - 1] = c;
	}
}

/* 3 % from the first run to the last one, CV 1 %. */
static void drift_runs(const struct drifting *d, uint64_t *seed, struct mean_test *ret)
{
	double v[2][20];
	size_t n[2] = { 0 };
	char order[20];

	shuffled(order, seed);
	for (size_t run = 0; run < 20; run++) {
		int side = (d->order ? d->order[run] : order[run]) == 'B';

		v[side][n[side]++] = 0.03 * (double)run / 19 + 0.01 * sim_normal(seed);
	}
	if (d->paired)
		paired_test(v[1], v[0], 10, 1 - LEVEL, ret);
	else
		welch(v[1], n[1], v[0], n[0], 1 - LEVEL, ret);
}

/* False alarms and bias by the order of 2 × 10 runs, A = B, by the t tests. */
TEST(drifts)
{
	static const struct {
		struct drifting d;
		double alarms, bias;
	} cases[] =
		LIST({ { "AAAAAAAAAABBBBBBBBBB", false }, .87, .0158 },
		     { { "ABABABABABABABABABAB", true }, .067, .0016 },
		     { { "ABBAABBAABBAABBAABBA", true }, .05, 0 },
		     { { "ABBAABBAABBAABBAABBA", false }, .008, 0 }, { { NULL, true }, .12, 0 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t tries = test_cases(4000), seed = 71, alarms = 0;
		double bias = 0;

		for (uint64_t k = 0; k < tries; k++) {
			struct mean_test t;

			drift_runs(&cases[i].d, &seed, &t);
			alarms += t.p <= LEVEL;
			bias += t.difference / (double)tries;
		}
		/* the wanted ones were simulated too */
		rate_is(alarms, tries, cases[i].alarms * .95, cases[i].alarms * 1.05);
		near(bias, cases[i].bias, 4 * .01 * sqrt(.2 / (double)tries) + 1e-4);
	}
}

/* ---- campaigns ---- */

/* Blocks of runs in the order AB BA AB …, on a machine that is slower by `drift` in the end. */
static enum sample_verdict campaign_of(const struct power_design *d, double drift, uint64_t *seed)
{
	struct sample v[2][RUNS_MAX];
	struct sample_effect e;

	for (uint32_t block = 0; block < d->n; block++)
		for (uint32_t pos = 0; pos < 2; pos++) {
			uint32_t side = (block + pos) % 2;
			double at = (double)(2 * block + pos) / (double)(2 * d->n - 1);
			double value =
				(side ? d->ratio : 1) * exp(drift * at + d->cv * sim_normal(seed));

			v[side][block] = (struct sample){ value, d->method == SAMPLE_PAIRED
									 ? block
									 : SAMPLE_BLOCK_NONE };
		}
	sample_compare(v[0], d->n, v[1], d->n, d->margin, d->confidence, &e);
	return sample_judge(&e, e.p, d->margin, d->confidence);
}

/*
 * 200 campaigns each of 10 repeats with 2 % of noise: a kernel that is 10 % slower is called so,
 * and an identical pair the same, as often as power_of says; the pairs on a machine that drifts by
 * 3 %. An equal pair is called different in at most the level.
 */
TEST(campaigns)
{
	for (int of = 0; of < 4; of++) {
		struct power_design d = { of % 2 ? SAMPLE_PAIRED : SAMPLE_WELCH,
					  10,
					  .02,
					  of / 2 ? 1 : 1.1,
					  .05,
					  .95,
					  1 };
		uint64_t tries = test_cases(200), seed = 7919, slower = 0, same = 0, other = 0;
		struct power p;

		power_of(&d, &p);
		assert_true(of / 2 ? p.same > .85 : p.slower > .99);
		for (uint64_t k = 0; k < tries; k++) {
			enum sample_verdict v =
				campaign_of(&d, d.method == SAMPLE_PAIRED ? .03 : 0, &seed);

			slower += v == SAMPLE_SLOWER;
			same += v == SAMPLE_SAME;
			other += v == SAMPLE_SLOWER || v == SAMPLE_FASTER;
		}
		rate_is(slower, tries, p.slower, p.slower);
		rate_is(same, tries, p.same, p.same);
		if (of / 2)
			rate_is(other, tries, 0, LEVEL);
	}
}

/* At no margin, the drift leaves the false alarms of an even number of pairs where they are. */
TEST(drift_of_campaigns)
{
	static const size_t sizes[] = { 4, 6, 8, 10, 14 };

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct power_design d = { SAMPLE_PAIRED, sizes[i], .01, 1, 1e-9, 1 - LEVEL, 1 };
		uint64_t tries = test_cases(sizes[i] == 10 ? 400 : 1500), seed = 79, alarms = 0;

		for (uint64_t k = 0; k < tries; k++) {
			enum sample_verdict v = campaign_of(&d, .03, &seed);

			alarms += v == SAMPLE_SLOWER || v == SAMPLE_FASTER;
		}
		rate_is(alarms, tries, 0, LEVEL);
	}
}

/* ---- runs that are like the one before ---- */

/* φ of 30 runs: coverage of a 95 % t interval, and whether the check of their order warns. */
TEST(neighbours)
{
	static const struct {
		double phi, coverage;
	} cases[] = LIST({ 0, .95 }, { .3, .85 }, { .6, .67 }, { .9, .31 });
	static const double zero[30];
	uint64_t warned[ARRAY_LEN(cases)] = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t tries = test_cases(2000), seed = 83, covered = 0;
		double phi = cases[i].phi;

		for (uint64_t k = 0; k < tries; k++) {
			struct sample_order order;
			struct mean_test t;
			double v[30];

			for (size_t n = 0; n < 30; n++)
				v[n] = n > 0 ? phi * v[n - 1] + sim_normal(&seed)
					     : sim_normal(&seed) / sqrt(1 - phi * phi);
			paired_test(v, zero, 30, .95, &t);
			covered += t.low <= 0 && 0 <= t.high;
			for (size_t n = 0; n < 30; n++)
				v[n] += 1000;
			sample_order_check(v, 30, &order);
			warned[i] += order.lag1_p < .01 || order.drift_p < .01;
		}
		rate_is(covered, tries, cases[i].coverage - .01, cases[i].coverage + .01);
		if (i > 0)
			assert_true(warned[i] > warned[i - 1]);
	}
	rate_is(warned[0], test_cases(2000), 0, .02);
}
