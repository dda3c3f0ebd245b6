/*
 * median_ratio: by how much the median of one sample differs from that of another, with an interval
 * by bootstrap: both samples are drawn from with replacement, BOOTSTRAP_DRAWS times, the same draws
 * for the same numbers. For iterations of a workload, among which there are a few slow ones.
 *
 *	interval	quantiles of the ratios at both tails of the confidence c
 *	slower		the interval is above 1, the ratio above 1 + δ; faster: likewise below 1
 *			and 1/(1 + δ)
 *	same		a claim of its own (two one-sided tests at 1 − c): the interval of
 *			confidence 2c − 1 lies within (1/(1 + δ), 1 + δ)
 *	unclear		neither, or fewer than MEDIAN_RATIO_LEAST values on a side
 *
 * Simulated with log-normal values, the interval of 95 % holds the ratio in 90 % of cases at 3
 * values a side, in 93 % at 4, in 96 to 97 % from 5 on; sides that are 5 % apart are called the
 * same within 5 % in 3 to 6 % of cases. At 3 the interval is the whole range: `slower` then means
 * that all values of one side are above all of the other.
 *
 * Of more than MEDIAN_RATIO_MOST values as many, evenly spread, are drawn from, and the interval is
 * wider than it need be. Values that follow each other are taken to be independent; where
 * neighbours are alike (sample_order_check) it is too narrow.
 *
 * Source: Efron and Tibshirani, An introduction to the bootstrap (1993), chapters 8 and 13.
 */
#ifndef PROFRIG_MEDIAN_RATIO_H
#define PROFRIG_MEDIAN_RATIO_H

#include "profrig/base/sample_verdict.h"

#define MEDIAN_RATIO_LEAST 3
#define MEDIAN_RATIO_MOST 1000

struct median_ratio {
	size_t n_a, n_b, left_out;  /* left_out: not finite, or not above 0 */
	double a, b;                /* medians; NaN for no values */
	double ratio;               /* b/a */
	double low, high;           /* at the confidence; NaN below MEDIAN_RATIO_LEAST */
	double same_low, same_high; /* at 2c − 1, 0 where that is below 0 */
	enum sample_verdict verdict;
};

/* Values in the order of time; 0 < confidence < 1, margin δ ≥ 0. */
void median_ratio(const double *a, size_t na, const double *b, size_t nb, double margin,
		  double confidence, struct median_ratio *ret);

#endif
