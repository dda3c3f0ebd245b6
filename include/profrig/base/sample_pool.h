/*
 * sample_pool: many rows of few runs each (a time for each of thousands of kernels, five runs): the
 * variance of a row is drawn towards that of all rows, so that t has power where ranks and splits
 * cannot reach any threshold.
 *
 * Model: a row's true variance comes from a scaled inverse χ² distribution with d0 degrees of
 * freedom around s0², which are found from all rows' s² by the moments of log s²:
 *
 *	e = log s² − ψ(d/2) + log(d/2)
 *	ψ′(d0/2) = var(e) − mean(ψ′(d/2)),	log s0² = mean(e) + ψ(d0/2) − log(d0/2)
 *
 * and then s′² = (d0·s0² + d·s²)/(d0 + d) with d0 + d degrees of freedom takes the place of s² in
 * Student's t. Where rows do not differ in variance (the right side is not above 0) d0 is infinite
 * and s0² the mean of all.
 *
 * A row whose values are equal says nothing of its spread: s² counts as at least 1e-5 of the median
 * of all, as the logarithm of 0 would ruin the moments.
 *
 * Source: Smyth, Linear models and empirical Bayes methods for assessing differential expression in
 * microarray experiments (2004), section 6.
 */
#ifndef PROFRIG_SAMPLE_POOL_H
#define PROFRIG_SAMPLE_POOL_H

#include <stddef.h>

#include "profrig/base/sample_verdict.h"

#define SAMPLE_POOL_LEAST 10 /* rows, below which there is no distribution to find */

struct variance_prior {
	double df, variance; /* d0, s0²; df is INFINITY where rows share one variance */
};

/*
 * Of n variances with df[i] degrees of freedom each; those that are not finite or below 0 do not
 * count. 0, or -ENODATA: fewer than SAMPLE_POOL_LEAST count, or all are 0.
 */
int variance_prior(const double *variance, const double *df, size_t n, struct variance_prior *ret);

/*
 * Replaces p, interval and p_same of effects that were compared by t (sample_compare_rows); their
 * method becomes SAMPLE_WELCH_POOLED or SAMPLE_PAIRED_POOLED. NULL elements are passed over.
 * Returns how many were replaced; 0 also when there is no prior.
 */
size_t sample_pool(struct sample_effect *const *e, size_t n, double margin, double confidence);

/* ψ and ψ′ for x > 0, relative error below 1e-12, and the x > 0 whose ψ′ is y > 0. */
double digamma(double x);
double trigamma(double x);
double trigamma_inverse(double y);

#endif
