#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/ensemble.h"
#include "profrig/xalloc.h"

/*
 * A(t|ν) = P(|T| <= t), with tan θ = t/√ν:
 *	ν odd	2/π (θ + sin θ (cos θ + 2/3 cos³θ + … + 2·4·…·(ν−3) / 3·5·…·(ν−2) cos^(ν−2) θ))
 *	ν even	sin θ (1 + 1/2 cos²θ + 1·3/2·4 cos⁴θ + … + 1·3·…·(ν−3) / 2·4·…·(ν−2) cos^(ν−2) θ)
 */
static double probability(double theta, unsigned df)
{
	double c = cos(theta), odd = df % 2, term = odd ? c : 1, sum = df > 1 ? term : 0;

	for (unsigned k = odd ? 3 : 2; k < df; k += 2) {
		term *= c * c * (k - 1) / k;
		sum += term;
	}
	return odd ? (theta + sin(theta) * sum) * M_2_PI : sin(theta) * sum;
}

double student_t(double confidence, unsigned df)
{
	double lo = 0, hi = M_PI_2;

	if (df == 0 || !(confidence > 0 && confidence < 1))
		return NAN;
	for (int i = 0; i < 64; i++) {
		double mid = lo + (hi - lo) / 2;

		if (probability(mid, df) < confidence)
			lo = mid;
		else
			hi = mid;
	}
	return sqrt(df) * tan(lo + (hi - lo) / 2);
}

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
static double median(double *v, size_t n)
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
	mid = median(d, n);
	for (size_t i = 0; i < n; i++)
		d[i] = fabs(v[i] - mid);
	mad = median(d, n);
	limit = n - FIRST_CRITICAL < ARRAY_LEN(critical) ? critical[n - FIRST_CRITICAL]
							 : LAST_CRITICAL;
	for (size_t i = 0; i < n; i++) {
		double off = fabs(v[i] - mid);

		ret[i] = 0.6745 * off > limit * mad && off > 1e-9 * fabs(mid);
		nr += ret[i];
	}
	return nr;
}
