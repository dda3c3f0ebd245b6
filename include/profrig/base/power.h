/*
 * power: how likely the verdicts of sample_verdict.h are before any run is made, so that a campaign
 * can say how many repeats it needs.
 *
 * The model: logarithms of runs are normal with standard deviation `cv` (of runs within a block,
 * for pairs; then the ratio of a pair has cv·√2), the same on both sides, and independent. With
 * τ = cv·√(2/n), the mean logarithm D of the ratio is normal around log(ratio) with deviation τ,
 * and its estimated error is τ·x, where k·x² is chi-squared with k degrees of freedom, independent
 * of D:
 *
 *	pairs	k = n − 1, and t has n − 1 degrees
 *	Welch	k = 2(n − 1), and t has (n − 1)/(r² + (1 − r)²) degrees, where r = sa²/(sa² + sb²)
 *		is of the Beta distribution with both parameters (n − 1)/2, independent of x
 *
 * For given x and r every verdict is an interval of D, so its probability is a difference of Φ;
 * the rest is an integral over x (noncentral t and, for `same`, Owen's Q) and over r, by
 * Gauss-Legendre, with an error below 1e-6.
 *
 * From SAMPLES_REARRANGED pairs on, a difference also needs the sign flips to say so. What that
 * takes away (up to 0.06 at 10 pairs and 99 %, 0.015 at 95 %, less with more pairs) is simulated
 * with a fixed seed, with an error of 0.007, while there are few enough flips to count (up to 17
 * pairs at 95 %, 19 at 99 %); beyond it is below 0.015 and left out. The splits of Welch's samples
 * take away less than 0.005 at 95 %, 0.01 at 99 % and 0.03 at 99.9 %; they are left out.
 *
 * Sources: Owen, A special case of a bivariate non-central t-distribution (1965); Phillips, Power
 * of the two one-sided tests procedure in bioequivalence (1990).
 */
#ifndef PROFRIG_POWER_H
#define PROFRIG_POWER_H

#include <stddef.h>

#include "profrig/base/sample_verdict.h"

struct power_design {
	enum sample_method method; /* SAMPLE_PAIRED or SAMPLE_WELCH */
	size_t n;                  /* pairs, or runs on each side */
	double cv;                 /* 0.02: 2 %; 0 or above */
	double ratio;              /* of B over A, the true one; above 0 */
	double margin, confidence; /* as in sample_judge; above 0, from 0.5 to 1 */
	size_t tests;              /* that share the level by Holm; the worst case: 1/tests of it */
};

/* They sum up to 1, without `beyond`. All NaN for values outside their ranges. */
struct power {
	double slower, faster, same, unclear;
	double beyond; /* that the whole interval is above 1 + margin */
};
void power_of(const struct power_design *d, struct power *ret);

/*
 * The least n, 3 … most, for which this verdict has at least the probability `wanted`; 0: none has.
 * d->n is ignored. A difference within the margin gets less likely with more runs, so that n + 1
 * need not do when n does.
 */
size_t power_least(const struct power_design *d, enum sample_verdict of, double wanted,
		   size_t most);

#endif
