/*
 * samples_test: whether two samples of one quantity differ, on the scale that they are given in
 * (take logarithms of durations first: then a difference is the logarithm of a ratio).
 *
 * By Student's t
 *
 *	welch		independent samples: t = (ā − b̄)/√(va + vb), v = s²/n, with
 *			(va + vb)²/(va²/(na − 1) + vb²/(nb − 1)) degrees of freedom
 *	hsu		the same t with the degrees of the smaller side alone, the fewest that
 *			Welch's can be. Between sides of different sizes, one of which has 3 or 4
 *			values, Welch's interval of 95 % covers as little as 92.7 %, and this one at
 *			least 95 %
 *	paired_test	pairs: t = d̄·√n/s of the differences, n − 1 degrees
 *	tost_p		whether the difference is within ± margin: the larger p of two one-sided
 *			tests; below α, the interval of confidence 1 − 2α lies inside
 *
 * By ranks and rearrangement alone, whatever the distribution
 *
 *	mann_whitney	U of the first sample with midranks: pairs (a, b) with a > b, ties half
 *	permutation_p	of the difference of means: how many ways to split the N values in two
 *			give a difference as large; independent samples
 *	sign_flip_p	of the mean of n differences: how many of the 2ⁿ choices of signs give a
 *			mean as large; pairs
 *
 * These count all splits or choices where there are at most TEST_SPLITS_MAX (exact), else as many
 * random ones, of which k are as large: p = (k + 1)/(draws + 1), which is never 0. Two-sided: as
 * far from the middle as the observed one, up to a rounding of 1e-12. The smallest p that a test
 * can give for these sizes is its floor: where it is above α the test says nothing, which has to be
 * told.
 *
 * All values are finite. Sources: Welch (1947); Hsu, Contributions to the theory of Student's t
 * test as applied to the problem of two samples (1938); Schuirmann (1987) for TOST; Mann and
 * Whitney (1947), with the correction for ties and continuity of Hollander and Wolfe, Nonparametric
 * statistical methods (1973); Fisher, The design of experiments (1935), for sign flips; Phipson and
 * Smyth, Permutation p-values should never be zero (2010).
 */
#ifndef PROFRIG_SAMPLES_TEST_H
#define PROFRIG_SAMPLES_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEST_SPLITS_MAX ((uint64_t)1000000)
#define TEST_DRAWS 100000

struct mean_test {
	double difference, error; /* of the means, and its standard error */
	double t, df, p;          /* two-sided; NaN below two values on a side */
	double low, high;         /* interval of the difference; NaN as well */
};
/* a less b. */
void welch(const double *a, size_t na, const double *b, size_t nb, double confidence,
	   struct mean_test *ret);
void hsu(const double *a, size_t na, const double *b, size_t nb, double confidence,
	 struct mean_test *ret);
void paired_test(const double *a, const double *b, size_t n, double confidence,
		 struct mean_test *ret);
/* Of a difference that one of them has found; margin > 0. NaN without degrees. */
double tost_p(const struct mean_test *m, double margin);

struct rank_test {
	double u;
	double p, greater; /* two-sided; that a is the greater one */
	bool exact;        /* else by the normal distribution */
	double floor;      /* two-sided, without ties; 2/C(na + nb, na) */
};
/* NaN without values on a side. */
void mann_whitney(const double *a, size_t na, const double *b, size_t nb, struct rank_test *ret);
/*
 * The same by the normal distribution at any size, with its correction for ties; `continuity`: U is
 * half a step closer to its middle, as mann_whitney takes it beyond TEST_SPLITS_MAX splits.
 */
void mann_whitney_normal(const double *a, size_t na, const double *b, size_t nb, bool continuity,
			 struct rank_test *ret);

struct split_test {
	double p;
	bool exact;
	uint64_t as_large, of; /* splits or choices that are counted */
	double floor;
};
/* seed: of random draws; the same one gives the same p. */
void permutation_p(const double *a, size_t na, const double *b, size_t nb, uint64_t seed,
		   struct split_test *ret);
void sign_flip_p(const double *d, size_t n, uint64_t seed, struct split_test *ret);
/* Their floors; NaN without values. */
double permutation_floor(size_t na, size_t nb);
double sign_flip_floor(size_t n);

#endif
