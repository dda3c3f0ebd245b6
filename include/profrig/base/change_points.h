/*
 * change_points: where the level of a series changes, such as a benchmark's over commits.
 *
 * A change point is the index of the first value after the change. Three ways, of which the first
 * is the one to judge by:
 *
 *	divisive	E-divisive: the split (τ, κ) that maximises
 *
 *				Q = 2/(m + n)·Σ|x − y| − 2m/((m + n)(n − 1))·Σ|x − x′|
 *						       − 2n/((m + n)(m − 1))·Σ|y − y′|
 *
 *			of x = v[begin … τ) (n values) and y = v[τ … κ) (m values) in any segment.
 *			It is a change when at most a share `alpha` of series whose segments are
 *			shuffled have a Q as large: p = (k + 1)/(N + 1). The largest Q of all
 *			splits is compared with the largest of all splits, so that white noise has a
 *			change in a share alpha of series. Then the segments are searched again.
 *	windowed	Hunter's: E-divisive in windows of `window` values that overlap by half,
 *			each candidate tested by Student's t (equal variances) at 10·alpha; then the
 *			weakest points are taken away until all have p < alpha and change the mean
 *			by more than min_change. When a point goes, both its neighbours are tested
 *			again; Otava, the successor of Hunter, tests only the one after it again,
 *			so that the other keeps a p-value of a segment that is gone. Deterministic
 *			and fast for long series, but p does not know that the split was chosen on
 *			the same values: on white noise, with windows of 50, it finds a change in
 *			23 % of series of 50 values at 0.01 (Otava 29 %), in 2.6 % at 0.001 (3.5 %),
 *			in 9 % of series of 200 at 0.001 (10 %).
 *	partition	the least Σ of squares within segments by s², plus `penalty` for each
 *			change, with s = 1.4826·MAD(differences of neighbours)/√2; optimal. It
 *			splits on outliers.
 *
 * Time: divisive O(n²) for each shuffle, windowed O(n·window), partition O(n²); memory O(n²) for
 * divisive. All values are finite; n is at most CHANGE_VALUES_MAX.
 *
 * Sources: Matteson and James, A nonparametric approach for multiple change point analysis of
 * multivariate data (2014); Fleming et al., Hunter: using change point detection to hunt for
 * performance regressions (2023); Jackson et al., An algorithm for optimal partitioning of data on
 * an interval (2005).
 */
#ifndef PROFRIG_CHANGE_POINTS_H
#define PROFRIG_CHANGE_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/vec.h"

#define CHANGE_VALUES_MAX ((size_t)4096)
#define CHANGE_SHUFFLES 999

struct change_point {
	size_t at;            /* first value after it */
	double before, after; /* means of the segments beside it */
	double p;             /* as described above; NaN for partition */
};

struct change_points {
	VEC(struct change_point) v; /* ascending */
};
void change_points_release(struct change_points *c);

/* The same seed gives the same points. 0 or -ERANGE. */
int change_points_divisive(const double *v, size_t n, double alpha, uint64_t seed,
			   struct change_points *ret);
int change_points_windowed(const double *v, size_t n, size_t window, double alpha,
			   double min_change, struct change_points *ret);
int change_points_partition(const double *v, size_t n, double penalty, struct change_points *ret,
			    double *ret_cost);

/* The best split of v: Q, and what it compares. any_end: y may end before the series does. */
struct change_split {
	size_t at, end;
	double q;
};
struct change_split change_split_best(const double *v, size_t n, bool any_end);
/* s above. */
double change_noise(const double *v, size_t n);

#endif
