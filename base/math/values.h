/*
 * values: what the tests of this room need of plain samples. n is above 0 but for values_sort.
 */
#ifndef BASE_VALUES_H
#define BASE_VALUES_H

#include <stddef.h>
#include <stdlib.h>

static inline double values_mean(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum / (double)n;
}

static inline int values_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline void values_sort(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), values_order);
}

/* Of an even number the mean of the middle two. Sorts v. */
static inline double values_median(double *v, size_t n)
{
	values_sort(v, n);
	return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

#endif
