/*
 * looks: a test that is looked at several times while runs arrive, and stops at the first
 * difference.
 *
 * Each look has its own chance of a false alarm: 5 looks at 0.05 each raise it to 0.14, one after
 * each of 20 runs to 0.25. So each look gets a smaller level (of two-sided p-values) such that all
 * looks together have alpha:
 *
 *	even	the same level at each look (Pocock): stops early at large differences
 *	late	z(k) = C·√(n(last)/n(k)) (O'Brien and Fleming): hardly ever at the first looks, and
 *		the last one has nearly the level of a single test
 *
 * The sum of the first n runs is normal with variance n. What has not stopped by look k is a
 * density on |sum| < z(k)·√n(k); that of the next look is its convolution with a normal density, by
 * numerical integration with an error below 1e-6. With t tests the levels are applied to their
 * p-values: simulated from 3 runs a side on, they had 0.043 to 0.055 false alarms at alpha 0.05.
 *
 *	double n[] = { 5, 10, 15, 20 }, level = looks_level_even(n, 4, 0.05);
 *	at each look: sample_compare(…, 1 − level, &e); sample_judge(&e, e.p, margin, 1 − level)
 *
 * Sources: Armitage, McPherson and Rowe, Repeated significance tests on accumulating data (1969);
 * Pocock, Group sequential methods in the design and analysis of clinical trials (1977); O'Brien
 * and Fleming, A multiple testing procedure for clinical trials (1979).
 */
#ifndef PROFRIG_LOOKS_H
#define PROFRIG_LOOKS_H

#include <stddef.h>

/*
 * n: runs (or pairs) at each look, above 0 and ascending. The probability that at least one look
 * has p <= its level where there is no difference; NaN: no looks, or n or a level is out of range.
 */
double looks_error(const double *n, const double *level, size_t looks);
/* NaN as above; 0 < alpha < 1. */
double looks_level_even(const double *n, size_t looks, double alpha);
void looks_level_late(const double *n, size_t looks, double alpha, double *ret_level);

#endif
