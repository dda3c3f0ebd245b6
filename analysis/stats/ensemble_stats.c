#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/stats/ensemble.h"

#define FIRST_CRITICAL 4
#define LAST_CRITICAL 4.0 /* of more values; it falls to 3.75 before it rises again */

/* Of 400 000 normal samples of 4, 5, … values one in twenty has a score above. */
static const double critical[] = { 6.95, 7.95, 5.55, 5.86, 4.91, 5.09, 4.56, 4.69, 4.36,
				   4.44, 4.23, 4.28, 4.13, 4.15, 4.05, 4.08, 3.99 };

static int cmp_f64(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

/* Sorts v. */
static double values_median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), cmp_f64);
	return n % 2 ? v[n / 2] : v[n / 2 - 1] + (v[n / 2] - v[n / 2 - 1]) / 2;
}

size_t ensemble_outliers(const double *v, size_t n, bool *ret)
{
	CLEANUP(xfreep) double *d = xcalloc(n + 1, sizeof(*d));
	double mid, mad, limit;
	size_t nr = 0;

	for (size_t i = 0; i < n; i++)
		ret[i] = false;
	if (n < FIRST_CRITICAL)
		return 0;
	memcpy(d, v, n * sizeof(*d));
	mid = values_median(d, n);
	for (size_t i = 0; i < n; i++)
		d[i] = fabs(v[i] - mid);
	mad = values_median(d, n);
	limit = n - FIRST_CRITICAL < ARRAY_LEN(critical) ? critical[n - FIRST_CRITICAL]
							 : LAST_CRITICAL;
	for (size_t i = 0; i < n; i++) {
		double off = fabs(v[i] - mid);

		ret[i] = 0.6745 * off > limit * mad && off > 1e-9 * fabs(mid);
		nr += ret[i];
	}
	return nr;
}
