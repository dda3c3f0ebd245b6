/*
 * sim_runs: simulated runs, and whether a rate that was counted is the one it should be. The same
 * seed gives the same runs.
 */
#ifndef PROFRIG_SIM_RUNS_H
#define PROFRIG_SIM_RUNS_H

#include "base_test.h"

#include <math.h>

#include "profrig/base/rates.h"

static inline void near(double got, double want, double off)
{
	if (!(fabs(got - want) <= off))
		fail_msg("%.12g, not %.12g", got, want);
}

/* Between 0 and 1, neither of them. */
static inline double sim_uniform(uint64_t *seed)
{
	return ((double)(rnd(seed) >> 12) + 0.5) * 0x1p-52;
}

/* Box and Muller. */
static inline double sim_normal(uint64_t *seed)
{
	double r = sqrt(-2 * log(sim_uniform(seed)));

	return r * cos(2 * M_PI * sim_uniform(seed));
}

/* What is added to the logarithm of a run; deviation about 1, mean 0. */
enum sim_noise {
	SIM_NORMAL,
	SIM_SKEWED,       /* exponential: a floor, and delays above it */
	SIM_CONTAMINATED, /* normal; one run of ten has a delay of 5 deviations in the mean */
	SIM_NOISES
};

static inline double sim_noise(enum sim_noise of, uint64_t *seed)
{
	double v;

	if (of == SIM_SKEWED)
		return -log(sim_uniform(seed)) - 1;
	v = sim_normal(seed);
	if (of == SIM_CONTAMINATED && sim_uniform(seed) < 0.1)
		v -= 5 * log(sim_uniform(seed));
	return of == SIM_CONTAMINATED ? v - 0.5 : v;
}

/*
 * Fails unless the hits are likely for a rate from low to high: as few, or as many, come in at
 * least 0.00135 of cases, which is three standard errors of a normal distribution.
 */
static inline void rate_is(uint64_t hits, uint64_t tries, double low, double high)
{
	double as_few = binomial_below(hits, tries, low);
	double as_many = hits > 0 ? 1 - binomial_below(hits - 1, tries, high) : 1;

	if (as_few < 0.00135 || as_many < 0.00135)
		fail_msg("%.4f of %.0f is not from %.4f to %.4f", (double)hits / (double)tries,
			 (double)tries, low, high);
}

#endif
