/*
 * bootstrap: intervals of any statistic of a sample (a mean, a median, a ratio), by drawing samples
 * of the same size from it with replacement.
 *
 *	percentile	quantiles α and 1 − α of the statistics of the resamples
 *	BCa		quantiles Φ(z0 + (z0 + z)/(1 − a(z0 + z))) instead of Φ(z), corrected for
 *			bias and acceleration: z0 = Φ⁻¹(share of resamples below the sample's own
 *			statistic, equal ones half), a = Σu³/(6(Σu²)^1.5) with u = mean of the
 *			statistics without one value each − that without value i
 *
 * Both cover too little for few values: intervals of 95 % of a mean of normal values, simulated,
 * hold it in 86 % of cases at 5 values, 91 % at 10, 92.5 % at 20, 93.5 % at 30, 94.4 % at 50. So a
 * mean has its t interval (samples_test.h), a median that of median_interval, and the bootstrap is
 * for statistics that have no interval of their own, from 50 values on.
 *
 * Quantiles are those of type 7 (linear interpolation). Up to BOOTSTRAP_ALL_MAX of the nⁿ resamples
 * all are taken, so that the result is exact; beyond that BOOTSTRAP_DRAWS random ones, the same for
 * the same seed.
 *
 * Sources: Efron and Tibshirani, An introduction to the bootstrap (1993), chapters 13 and 14;
 * Thompson, On confidence ranges for the median (1936).
 */
#ifndef PROFRIG_BOOTSTRAP_H
#define PROFRIG_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOOTSTRAP_ALL_MAX 50000
#define BOOTSTRAP_DRAWS 10000

typedef double bootstrap_statistic(const double *v, size_t n);

struct bootstrap {
	double value;             /* of the sample itself */
	double low, high;         /* percentile; NaN below two values */
	double bca_low, bca_high; /* NaN as well, and where all values are equal */
	double z0, a;
	bool exact; /* all resamples */
};

void bootstrap(bootstrap_statistic *of, const double *v, size_t n, double confidence, uint64_t seed,
	       struct bootstrap *ret);

/*
 * Of the median of any continuous distribution, exact: from the k-th smallest to the k-th largest
 * value, k the largest for which at most a share 1 − confidence is missed. NaN where even the range
 * of all values is not enough: below 6 values at 95 %, below 8 at 99 %.
 */
struct median_interval {
	double value; /* NaN for no values */
	double low, high;
};
void median_interval(const double *v, size_t n, double confidence, struct median_interval *ret);

/* Φ and its inverse, the standard normal distribution; Φ⁻¹(0) is −INFINITY. */
double normal_below(double z);
double normal_quantile(double p);
/* Type 7 of n sorted values; share from 0 to 1. */
double quantile_sorted(const double *v, size_t n, double share);

#endif
