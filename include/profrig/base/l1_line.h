/*
 * l1_line: the straight line with the least sum of absolute deviations (LAD), which a few wild
 * points do not move.
 *
 *	struct l1_line l = l1_line_fit(points, n);	y ≈ l.at_zero + l.slope · x
 *
 * A best line goes through two of the points. The descent of Wesolowsky (A new descent algorithm
 * for the least absolute value regression problem, 1981) turns the line around one of its points
 * to the weighted median of the slopes to all others, and goes on from the point that it meets,
 * until the sum falls no more: n·log n for each turn, mostly fewer than ten turns.
 */
#ifndef PROFRIG_L1_LINE_H
#define PROFRIG_L1_LINE_H

#include <stddef.h>

struct l1_point {
	double x, y;
};
struct l1_line {
	double at_zero, slope;
};

/*
 * Sorts p, so that the answer does not depend on its order. Without two different x the slope is 0
 * and at_zero the median of y; 0, 0 for n = 0.
 */
struct l1_line l1_line_fit(struct l1_point *p, size_t n);
/* Σ |y − at_zero − slope·x| */
double l1_line_sum(const struct l1_point *p, size_t n, struct l1_line l);

#endif
