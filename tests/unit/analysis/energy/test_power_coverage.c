/*
 * The stated 95 % interval of a class's energy by power against the truth, on simulated programs
 * and sensors (power_sim.h). In each family the interval must hold the truth of at least 93.5 % of
 * the classes, be on average at most twice as wide as the narrowest constant that would hold it in
 * 95 %, and the estimate be worse than the division by time by more than its interval in at most
 * 0.5 %. All are parts of a class's energy.
 */
#include "power_laws.h"

#define RUNS 60
#define SEED 81000

struct outcomes {
	VEC(double) errors;
	double width;
	size_t held, worse;
};

static void class_judge(struct outcomes *o, const struct power_class *k, double truth_j,
			double by_time)
{
	double error, width;

	if (truth_j <= 0)
		return;
	error = fabs(k->energy_j / truth_j - 1);
	width = k->half_width_j / truth_j;
	VEC_PUSH(&o->errors, error);
	o->width += width;
	o->held += error <= width;
	o->worse += error > fabs(by_time / truth_j - 1) + width;
}

static void run_judge(const struct power_plan *p, struct outcomes *o)
{
	CLEANUP(fitted_release) struct fitted x = fitted(p);
	CLEANUP(xfreep) double *by_time = by_time_j(&x.s.data);

	for (uint32_t f = 0; f < x.s.classes; f++)
		class_judge(o, &x.fit.classes[f], x.s.truth_j[f], by_time[f]);
}

/* What a family must keep, in percent but for the width. */
struct bounds {
	double held, width, worse;
};

/* Whether a family is as it must be; says its numbers. */
static bool family_holds(const struct power_plan *p, const struct bounds *least)
{
	struct outcomes o = { 0 };
	double narrowest, held, width, worse, n;
	bool good;

	seed = SEED;
	for (int k = 0; k < RUNS; k++)
		run_judge(p, &o);
	n = (double)o.errors.nr;
	qsort(o.errors.v, o.errors.nr, sizeof(double), double_order);
	narrowest = o.errors.v[o.errors.nr * 95 / 100];
	held = 100 * (double)o.held / n;
	worse = 100 * (double)o.worse / n;
	width = o.width / n / narrowest;
	good = held >= least->held && width <= least->width && worse <= least->worse;
	print_message("# %-28s %5.1f %% held, error %6.2f %% / %6.2f %%, width %.2f, "
		      "worse %.2f %%%s\n",
		      p->name, held, 100 * o.errors.v[o.errors.nr / 2], 100 * narrowest, width,
		      worse, good ? "" : ": FAILS");
	VEC_RELEASE(&o.errors);
	return good;
}

static void families_keep(const struct power_plan *p, size_t nr, const struct bounds *least)
{
	size_t good = 0;

	for (size_t i = 0; i < nr; i++)
		good += family_holds(&p[i], least);
	assert_int_equal(good, nr);
}

static void families_hold(const struct power_plan *p, size_t nr)
{
	static const struct bounds least = { .held = 93.5, .width = 2, .worse = 0.5 };

	families_keep(p, nr, &least);
}

TEST(lengths_of_calls)
{
	static const struct power_plan plans[] = {
		{ .name = "3, long calls",
		  .functions = 3,
		  .from_s = .002,
		  .to_s = .12,
		  .period_s = .017 },
		{ .name = "20, half an interval" },
		{ .name = "20, a tenth of an interval", .from_s = .001 },
		{ .name = "50, a tenth", .functions = 50, .from_s = .002, .period_s = .02 },
		{ .name = "20, a 20th", .period_s = .1 },
		{ .name = "10, of all lengths", .functions = 10, .from_s = .001, .to_s = .05 },
		{ .name = "30, of very different lengths",
		  .functions = 30,
		  .from_s = .0002,
		  .to_s = .08,
		  .rounds = 30 },
	};

	families_hold(plans, ARRAY_LEN(plans));
}

TEST(patterns)
{
	static const struct power_plan plans[] = {
		{ .name = "10 in turn, half", .functions = 10, .pattern = true },
		{ .name = "20 in turn, a fifth", .from_s = .001, .to_s = .003, .pattern = true },
		{ .name = "20 in turn, a 20th", .period_s = .1, .pattern = true },
		{ .name = "pairs, a fifth",
		  .functions = 10,
		  .from_s = .002,
		  .to_s = .006,
		  .period_s = .02,
		  .pairs = true },
	};

	families_hold(plans, ARRAY_LEN(plans));
}

TEST(concurrency)
{
	static const struct power_plan plans[] = {
		{ .name = "device, 2 streams",
		  .functions = 8,
		  .streams = 2,
		  .gap_s = .005,
		  .static_w = 80 },
		{ .name = "device, 4 streams",
		  .functions = 12,
		  .streams = 4,
		  .gap_s = .005,
		  .static_w = 80,
		  .from_s = .002,
		  .to_s = .02 },
		{ .name = "host, 3 processes",
		  .functions = 8,
		  .streams = 3,
		  .shares = true,
		  .from_s = .002,
		  .to_s = .02 },
		{ .name = "host, 2 in turn",
		  .functions = 6,
		  .streams = 2,
		  .shares = true,
		  .from_s = .002,
		  .to_s = .02,
		  .pattern = true },
	};

	families_hold(plans, ARRAY_LEN(plans));
}

TEST(sensors)
{
	static const struct power_plan plans[] = {
		{ .name = "filter, tau 15 % too long",
		  .functions = 10,
		  .tau = 2,
		  .tau_factor = 1.15,
		  .from_s = .003,
		  .to_s = .04 },
		{ .name = "filter, 10 % too short",
		  .functions = 10,
		  .tau = 3,
		  .tau_factor = .9,
		  .from_s = .003,
		  .to_s = .04,
		  .pattern = true },
		{ .name = "filter, read late",
		  .functions = 10,
		  .tau = 2,
		  .tau_factor = 1.1,
		  .late = .03,
		  .from_s = .003,
		  .to_s = .04 },
		{ .name = "published every 3.3rd",
		  .functions = 8,
		  .publish = 3.3,
		  .from_s = .005,
		  .to_s = .06 },
		{ .name = "published every 1.5th",
		  .functions = 8,
		  .publish = 1.5,
		  .from_s = .005,
		  .to_s = .06,
		  .pattern = true },
		{ .name = "steps of half an interval", .functions = 10, .step = .5 },
		{ .name = "steps of two", .functions = 10, .step = 2, .from_s = .005, .to_s = .02 },
		{ .name = "steps of four",
		  .functions = 10,
		  .step = 4,
		  .from_s = .005,
		  .to_s = .02,
		  .rounds = 300 },
		{ .name = "read 5 % late", .functions = 10, .late = .05 },
		{ .name = "read late at times", .functions = 10, .seldom_late = .3 },
		{ .name = "late by a fifth",
		  .functions = 10,
		  .latency = .2,
		  .from_s = .005,
		  .to_s = .02 },
		{ .name = "late by a fifth, in turn",
		  .functions = 10,
		  .latency = .2,
		  .from_s = .005,
		  .to_s = .02,
		  .pattern = true },
		{ .name = "late, in steps",
		  .functions = 10,
		  .latency = .15,
		  .step = .3,
		  .from_s = .005,
		  .to_s = .02 },
		{ .name = "late, with long gaps",
		  .functions = 4,
		  .latency = .09,
		  .from_s = .0015,
		  .to_s = .004,
		  .gap_s = .05,
		  .streams = 4,
		  .shares = true,
		  .rounds = 200 },
		{ .name = "late, short calls",
		  .functions = 10,
		  .latency = .15,
		  .from_s = .0003,
		  .to_s = .002,
		  .gap_s = .01,
		  .rounds = 400 },
	};

	families_hold(plans, ARRAY_LEN(plans));
}

TEST(powers)
{
	static const struct power_plan plans[] = {
		{ .name = "drift 10 %", .drift = .1 },
		{ .name = "drift 10 %, in turn", .functions = 10, .drift = .1, .pattern = true },
		{ .name = "drift by class", .functions = 10, .class_drift = .1 },
		{ .name = "common noise 10 %", .functions = 10, .common = .1 },
		{ .name = "tenfold half-way", .functions = 10, .tenfold = TENFOLD_ALL },
		{ .name = "half of them tenfold", .functions = 10, .tenfold = TENFOLD_HALF },
		{ .name = "idle gaps", .functions = 10, .gap_s = .02 },
		{ .name = "idle gaps, in turn",
		  .functions = 10,
		  .gap_s = .02,
		  .pattern = true,
		  .from_s = .002,
		  .to_s = .03 },
		{ .name = "slow rise",
		  .functions = 10,
		  .rise_s = .003,
		  .from_s = .002,
		  .to_s = .03 },
		{ .name = "rise", .functions = 10, .rise_s = .0005, .from_s = .002, .to_s = .03 },
		{ .name = "rise, in turn",
		  .functions = 10,
		  .rise_s = .0005,
		  .from_s = .002,
		  .to_s = .03,
		  .pattern = true },
		{ .name = "calls differ by 30 %", .functions = 10, .varies = .3 },
		{ .name = "calls are alike", .functions = 10, .steady = true },
	};

	families_hold(plans, ARRAY_LEN(plans));
}

TEST(few_intervals)
{
	static const struct power_plan plans[] = {
		{ .name = "20, 20 rounds", .rounds = 20 },
		{ .name = "50, 10 rounds",
		  .functions = 50,
		  .rounds = 10,
		  .from_s = .002,
		  .to_s = .01 },
		{ .name = "30, 4 rounds",
		  .functions = 30,
		  .rounds = 4,
		  .from_s = .002,
		  .to_s = .03 },
		{ .name = "50, fewer intervals",
		  .functions = 50,
		  .rounds = 2,
		  .from_s = .002,
		  .period_s = .02 },
		{ .name = "40, once each", .functions = 40, .rounds = 1 },
		{ .name = "40, once each, 20 ms",
		  .functions = 40,
		  .rounds = 1,
		  .from_s = .002,
		  .to_s = .04,
		  .period_s = .02 },
	};

	families_hold(plans, ARRAY_LEN(plans));
}

/*
 * What is not as it must be, of five seeds with 100 runs. Where some runs abstain, whose intervals
 * are as wide as all that is possible, the mean width is up to 3.2 (two classes) and 5.4 (equal
 * powers), with fewer intervals than classes 3.3; long calls in turn have 2.2, of 0.3 %. Pairs far
 * shorter than the 100 intervals hold 94.8 % on average, 93.6 % in the worst seed; a rise as long
 * as the calls in turn holds 94.4 % and 93.3 %, and is worse than by time in 0.6 %.
 */
TEST(what_is_beyond)
{
	static const struct bounds wide = { .held = 93.5, .width = 10, .worse = 0.5 };
	static const struct bounds narrow = { .held = 90, .width = 2, .worse = 1 };
	static const struct power_plan alike[] = {
		{ .name = "2, a third", .functions = 2, .from_s = .003 },
		{ .name = "5 in turn, long",
		  .functions = 5,
		  .from_s = .01,
		  .to_s = .05,
		  .pattern = true },
		{ .name = "equal powers", .functions = 10, .from_w = 190, .to_w = 210 },
		{ .name = "equal powers, few intervals",
		  .functions = 40,
		  .from_w = 190,
		  .to_w = 210,
		  .rounds = 2,
		  .from_s = .002,
		  .period_s = .02 },
	};
	static const struct power_plan hard[] = {
		{ .name = "pairs, a hundredth",
		  .functions = 10,
		  .from_s = .001,
		  .period_s = .1,
		  .pairs = true,
		  .rounds = 1000 },
		{ .name = "slow rise, in turn",
		  .functions = 10,
		  .rise_s = .003,
		  .from_s = .002,
		  .to_s = .03,
		  .pattern = true },
	};

	families_keep(alike, ARRAY_LEN(alike), &wide);
	families_keep(hard, ARRAY_LEN(hard), &narrow);
}
