/*
 * paired: the ratio of two durations (or sizes), from pairs that were measured one after the other.
 *
 * The logarithms of the ratios of the pairs are averaged; the interval is mean ± t·s/√n of them
 * with Student's t for n − 1 degrees of freedom, transformed back by exp: an interval of the ratio
 * of geometric means. It is valid when noise is multiplicative (a disturbance slows runs of
 * any length by the same share) and pairs are independent. A slow drift (clocks, temperature) is
 * nearly the same within a pair; in the order AB, BA, AB, … a steady drift cancels out of the
 * mean. Sources: Fleming and Wallace, How not to lie with statistics (1986), for
 * ratios and geometric means; Georges, Buytaert and Eeckhout, Statistically rigorous Java
 * performance evaluation (2007), for intervals by Student's t over whole runs.
 *
 * Trimmed: where single pairs may be off by much, the g smallest and the g largest logarithms are
 * left out of the mean; h = n − 2g remain. For the error the ones left out count as the nearest one
 * that remains (Winsorized): √(SSW / (h·(h − 1))), SSW their sum of squares around their mean, with
 * h − 1 degrees of freedom. Source: Yuen, The two-sample trimmed t for unequal population variances
 * (1974).
 */
#ifndef PROFRIG_PAIRED_H
#define PROFRIG_PAIRED_H

#include <stddef.h>

struct paired_ratio {
	size_t n;         /* pairs that counted: both values finite and above 0 */
	double ratio;     /* a over b; NaN for n = 0 */
	double low, high; /* of the confidence interval; NaN for n < 2 */
	double error, df; /* of the logarithm: standard error, degrees of freedom; NaN for n < 2 */
};

void paired_ratio(const double *a, const double *b, size_t n, double confidence,
		  struct paired_ratio *ret);
/* share, below 0.5: g = share·n, rounded down. n counts all pairs. */
void paired_ratio_trimmed(const double *a, const double *b, size_t n, double share,
			  double confidence, struct paired_ratio *ret);

#endif
