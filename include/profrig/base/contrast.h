/*
 * contrast: the ratio of two means, known by their standard errors alone, and what may be said of
 * it.
 *
 * On the scale of logarithms the standard error of a mean m with standard error s is s/m, so that
 * log(b/a) has √((sa/a)² + (sb/b)²) and, by Welch and Satterthwaite,
 *
 *	df = (va + vb)² / (va²/dfa + vb²/dfb)		va = (sa/a)², vb = (sb/b)²
 *
 * degrees of freedom. The interval of the ratio is (b/a)·exp(±t(df)·s), the p-value that of t =
 * log(b/a)/s for a true ratio of 1. It is right for errors up to about a fifth of the mean; the two
 * means are taken to be independent, which is careful where noise was common to both.
 *
 * Several tests at a time: holm turns p-values into those of the family (Holm, A simple
 * sequentially rejective multiple test procedure, 1979): below α, the chance of even one false
 * finding is at most α. benjamini_hochberg bounds the share of false ones among the findings
 * (Controlling the false discovery rate, 1995): for exploring, not for gates.
 *
 * Sources: Welch, The generalization of Student's problem (1947); Schuirmann, A comparison of the
 * two one-sided tests procedure (1987), for "same": the whole interval lies within the margin.
 */
#ifndef PROFRIG_CONTRAST_H
#define PROFRIG_CONTRAST_H

#include <stddef.h>

struct contrast_mean {
	double mean;  /* above 0 */
	double error; /* standard error; 0: exact; NaN unknown */
	double df;    /* degrees of freedom of the error; above 0, may be INFINITY */
};

struct contrast {
	double ratio;     /* b over a; NaN where a mean is not above 0 and finite */
	double low, high; /* of the interval; NaN: an error is unknown */
	double p, df;     /* NaN as well */
};

void contrast(const struct contrast_mean *a, const struct contrast_mean *b, double confidence,
	      struct contrast *ret);

/* The degrees of freedom of a sum of independent parts with these variances. */
struct contrast_sum {
	double variance, by_df; /* Σ v, Σ v²/df */
};
void contrast_sum_add(struct contrast_sum *sum, double variance, double df);
/* INFINITY without variance. */
double contrast_sum_df(const struct contrast_sum *sum);

enum contrast_verdict { CONTRAST_LESS, CONTRAST_MORE, CONTRAST_SAME, CONTRAST_UNCLEAR };

/*
 * LESS, MORE: b differs from a: p_adj is at most 1 − confidence, the interval leaves out 1, and the
 * ratio is off 1 by more than the threshold (0.05: 5 %). SAME: the interval lies within 1 ±
 * threshold. UNCLEAR: neither.
 */
enum contrast_verdict contrast_judge(const struct contrast *c, double p_adj, double threshold,
				     double confidence);

/*
 * Replaces p-values by adjusted ones: the k-th smallest of n by the largest of (n − j + 1)·p(j), j
 * <= k, at most 1. NaN stays and is none of the n.
 */
void holm(double *p, size_t n);
/* The same with the k-th smallest by the smallest of n·p(j)/j, j >= k, at most 1. */
void benjamini_hochberg(double *p, size_t n);

#endif
