/* Probabilities of verdicts, against campaigns.md, R, and the verdicts of simulated runs. */
#include "sim_runs.h"

#include "profrig/base/power.h"

#define RUNS_MAX 64

/* A gate at 99 % with 10 % slower runs; the wanted ones were simulated, hence 0.007. */
TEST(gate)
{
	static const struct {
		size_t n;
		double cv, slower;
	} cases[] = LIST({ 5, .01, 1 }, { 5, .02, .997 }, { 5, .03, .874 }, { 5, .05, .37 },
			 { 10, .01, 1 }, { 10, .02, 1 }, { 10, .03, .9997 }, { 10, .05, .888 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct power_design d = { SAMPLE_WELCH, cases[i].n, cases[i].cv, 1.1, .05, .99, 1 };
		struct power p;

		power_of(&d, &p);
		near(p.slower, cases[i].slower, .007);
		if (cases[i].n == 5 && cases[i].cv > .015 && cases[i].cv < .025)
			near(p.beyond, .57, .001);
		d.ratio = 1;
		power_of(&d, &p);
		assert_true(p.slower <= .00395);
		near(p.slower, p.faster, 1e-9);
	}
}

/*
 * With a margin near 0 it is the power of the t test: by R, power.t.test(n = 20, delta = 1, sd = 1)
 * is 0.8689528 with pooled variances. And with many runs that of the normal distribution.
 */
TEST(limits)
{
	struct power_design d = { SAMPLE_WELCH, 20, 1, M_E, 1e-9, .95, 1 };
	struct power p;

	power_of(&d, &p);
	near(p.slower, .8689528, 1e-3);
	d = (struct power_design){ SAMPLE_WELCH, 4000, .5, 1.04, 1e-9, .95, 1 };
	power_of(&d, &p);
	near(p.slower, erfc(-(log(1.04) / (.5 * sqrt(2 / 4000.0)) - 1.959964) * M_SQRT1_2) / 2,
	     1e-3);
	d.method = SAMPLE_PAIRED;
	power_of(&d, &p);
	near(p.slower, erfc(-(log(1.04) / (.5 * sqrt(2 / 4000.0)) - 1.959964) * M_SQRT1_2) / 2,
	     1e-3);
	/* `same` at the margin: a share of α */
	d = (struct power_design){ SAMPLE_PAIRED, 30, .02, 1.05, .05, .95, 1 };
	power_of(&d, &p);
	near(p.same, .05, 1e-6);
}

struct counts {
	uint64_t of[4];
};

static void runs_judge(const struct power_design *d, uint64_t *seed, struct counts *ret)
{
	struct sample a[RUNS_MAX], b[RUNS_MAX];
	struct sample_effect e;
	double p;

	for (size_t i = 0; i < d->n; i++) {
		uint32_t block = d->method == SAMPLE_PAIRED ? (uint32_t)i : SAMPLE_BLOCK_NONE;

		a[i] = (struct sample){ exp(d->cv * sim_normal(seed)), block };
		b[i] = (struct sample){ d->ratio * exp(d->cv * sim_normal(seed)), block };
	}
	sample_compare(a, d->n, b, d->n, d->margin, d->confidence, &e);
	assert_int_equal(e.method, d->method);
	p = fmin(1, e.p * (double)d->tests);
	ret->of[sample_judge(&e, p, d->margin, d->confidence)]++;
}

/* Each verdict comes as often as it says, from 10 runs on too, with all rearrangements. */
TEST(simulated)
{
	static const struct {
		struct power_design d;
		uint64_t tries;
	} cases[] = LIST({ { SAMPLE_WELCH, 3, .02, 1.1, .05, .95, 1 }, 3000 },
			 { { SAMPLE_WELCH, 5, .02, 1, .05, .95, 1 }, 3000 },
			 { { SAMPLE_WELCH, 5, .03, 1.1, .05, .99, 1 }, 3000 },
			 { { SAMPLE_WELCH, 8, .04, 1.08, .05, .95, 6 }, 1500 },
			 { { SAMPLE_WELCH, 4, .1, .8, .05, .95, 1 }, 3000 },
			 { { SAMPLE_PAIRED, 3, .02, 1.1, .05, .95, 1 }, 3000 },
			 { { SAMPLE_PAIRED, 5, .02, 1, .05, .95, 1 }, 3000 },
			 { { SAMPLE_PAIRED, 6, .03, 1.1, .05, .99, 4 }, 3000 },
			 { { SAMPLE_PAIRED, 9, .05, .9, .02, .95, 1 }, 1500 },
			 { { SAMPLE_PAIRED, 10, .05, 1.1, .05, .99, 1 }, 1000 },
			 { { SAMPLE_PAIRED, 10, .05, 1.06, .02, .95, 1 }, 1000 },
			 { { SAMPLE_PAIRED, 12, .05, .93, .02, .99, 3 }, 1000 },
			 { { SAMPLE_WELCH, 10, .05, 1.1, .05, .99, 1 }, 500 },
			 { { SAMPLE_WELCH, 10, .03, 1, .05, .95, 1 }, 500 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct power_design *d = &cases[i].d;
		uint64_t tries = test_cases(cases[i].tries), seed = 99;
		struct counts c = { { 0 } };
		struct power p;

		power_of(d, &p);
		for (uint64_t k = 0; k < tries; k++)
			runs_judge(d, &seed, &c);
		rate_is(c.of[SAMPLE_SLOWER], tries, p.slower, p.slower);
		rate_is(c.of[SAMPLE_FASTER], tries, p.faster, p.faster);
		rate_is(c.of[SAMPLE_SAME], tries, p.same, p.same);
		rate_is(c.of[SAMPLE_UNCLEAR], tries, p.unclear, p.unclear);
	}
}

TEST(laws)
{
	uint64_t seed = 4;

	for (uint64_t i = test_cases(200); i; i--) {
		struct power_design d = { rnd(&seed) % 2 ? SAMPLE_PAIRED : SAMPLE_WELCH,
					  3 + rnd(&seed) % 30,
					  exp(-6 + 5 * sim_uniform(&seed)),
					  exp(.3 * sim_normal(&seed)),
					  .01 + .1 * sim_uniform(&seed),
					  .9 + .0999 * sim_uniform(&seed),
					  1 + rnd(&seed) % 20 };
		struct power_design other = d;
		struct power p, q;

		power_of(&d, &p);
		near(p.slower + p.faster + p.same + p.unclear, 1, 1e-6);
		assert_true(p.slower > -1e-9 && p.faster > -1e-9 && p.same > -1e-9);
		/* the whole interval beyond the margin is the stronger claim */
		assert_true(d.tests > 1 || d.n >= SAMPLES_REARRANGED ||
			    p.beyond <= p.slower + 1e-6);
		other.ratio = 1 / d.ratio;
		power_of(&other, &q);
		near(p.slower, q.faster, 1e-9);
		near(p.same, q.same, 1e-6);
		/* a wider margin: more are the same, fewer differ */
		other = d;
		other.margin *= 1.5;
		power_of(&other, &q);
		assert_true(q.same >= p.same - 1e-6 && q.slower <= p.slower + 0.01);
	}
}

TEST(least_repeats)
{
	struct power_design d = { SAMPLE_WELCH, 0, .02, 1.1, .05, .99, 1 };
	struct power p;
	size_t n = power_least(&d, SAMPLE_SLOWER, .95, 100);

	d.n = n;
	power_of(&d, &p);
	assert_true(n == 5 && p.slower >= .95);
	d.n = n - 1;
	power_of(&d, &p);
	assert_true(p.slower < .95);
	/* more tests, more noise: more runs */
	d.tests = 10;
	assert_true(power_least(&d, SAMPLE_SLOWER, .95, 100) > n);
	d.cv = .04;
	assert_true(power_least(&d, SAMPLE_SLOWER, .95, 100) > 10);
	assert_int_equal(power_least(&d, SAMPLE_SLOWER, .95, 5), 0);
	/* at the margin, the ratio is above it half of the time: never 95 % */
	d.ratio = 1.05;
	assert_int_equal(power_least(&d, SAMPLE_SLOWER, .95, 60), 0);
	d = (struct power_design){ SAMPLE_PAIRED, 0, .02, 1, .05, .95, 1 };
	n = power_least(&d, SAMPLE_SAME, .9, 100);
	d.n = n;
	power_of(&d, &p);
	assert_true(n > 3 && p.same >= .9);
}

/* The tables of docs/statistics.md: repeats for 95 % of probability; the last one of `same`. */
TEST(documented)
{
	static const double ratios[] = { 1.07, 1.1, 1.2, 1.5, 1 };
	static const struct {
		double confidence, cv;
		size_t n[ARRAY_LEN(ratios)];
	} rows[] = LIST({ .95, .005, { 3, 3, 3, 3, 3 } }, { .95, .01, { 3, 3, 3, 3, 4 } },
			{ .95, .02, { 7, 4, 3, 3, 7 } }, { .95, .03, { 14, 5, 4, 3, 12 } },
			{ .95, .05, { 38, 10, 5, 3, 29 } }, { .95, .1, { 152, 32, 11, 4, 111 } },
			{ .99, .005, { 4, 3, 3, 3, 4 } }, { .99, .01, { 5, 4, 3, 3, 5 } },
			{ .99, .02, { 8, 5, 4, 3, 10 } }, { .99, .03, { 14, 8, 5, 4, 17 } },
			{ .99, .05, { 38, 14, 7, 4, 42 } }, { .99, .1, { 152, 43, 15, 6, 158 } });

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t k = 0; k < ARRAY_LEN(ratios); k++) {
			struct power_design d = { SAMPLE_PAIRED,      0, rows[i].cv, ratios[k], .05,
						  rows[i].confidence, 1 };
			size_t n = power_least(&d, ratios[k] > 1 ? SAMPLE_SLOWER : SAMPLE_SAME, .95,
					       200);

			if (n != rows[i].n[k])
				ROW_FAIL(i, "ratio %g: %zu", ratios[k], n);
		}
}

TEST(ranges)
{
	static const struct power_design good = { SAMPLE_WELCH, 5, .02, 1.1, .05, .95, 1 };
	struct power_design bad[8];
	struct power p;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		bad[i] = good;
	bad[0].cv = -1;
	bad[1].cv = NAN;
	bad[2].ratio = 0;
	bad[3].margin = 0;
	bad[4].confidence = 1;
	bad[5].confidence = .5;
	bad[6].tests = 0;
	bad[7].method = SAMPLE_FEW;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		power_of(&bad[i], &p);
		assert_true(isnan(p.slower) && isnan(p.same) && isnan(p.unclear));
		assert_int_equal(power_least(&bad[i], SAMPLE_SLOWER, .5, 20), 0);
	}
	bad[0] = good;
	bad[0].n = 2;
	power_of(&bad[0], &p);
	assert_true(p.unclear >= 1 && p.slower <= 0);
	bad[0].n = 5;
	bad[0].cv = 0;
	power_of(&bad[0], &p);
	assert_true(p.slower >= 1 && p.unclear <= 0);
	bad[0].ratio = 1.04;
	power_of(&bad[0], &p);
	assert_true(p.same >= 1);
}
