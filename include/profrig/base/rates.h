/*
 * rates: how often something happens, from how often it did; exact, by the binomial distribution.
 *
 *	rate_interval	Clopper and Pearson's: covers the true share at least as often as it says
 *	rate_tries	how many tries are needed to be sure of a share (the early stop of MLPerf's
 *			inference rules: of 459 queries none may be late for 99 % at 99 %)
 *	rate_of_all	the largest share of misses at which all of some tries succeed (20 of 20
 *			with 95 %: 0.26 % a try)
 *
 * Sources: Clopper and Pearson, The use of confidence or fiducial limits (1934); MLPerf inference
 * rules, appendix on early stopping.
 */
#ifndef PROFRIG_RATES_H
#define PROFRIG_RATES_H

#include <stdint.h>

/* P(X <= k) of n tries with probability p each. */
double binomial_below(uint64_t k, uint64_t n, double p);

struct rate {
	double share;     /* NaN for no tries */
	double low, high; /* 0 and 1 then */
};
void rate_interval(uint64_t hits, uint64_t tries, double confidence, struct rate *ret);

/*
 * The least number of tries after which, with at most `misses` misses, the share of successes is at
 * least `share` with this confidence: P(X <= misses) <= 1 − confidence at 1 − share. 0: more than
 * `most`, or a value is out of (0, 1).
 */
uint64_t rate_tries(double share, double confidence, uint64_t misses, uint64_t most);

/* 1 − wanted^(1/tries); NaN for no tries, or a wanted probability outside (0, 1). */
double rate_of_all(uint64_t tries, double wanted);

#endif
