#include "profrig/base/paired.h"

#include <math.h>
#include <stdbool.h>

#include "profrig/base/student.h"

static bool pair_counts(double a, double b)
{
	return isfinite(a) && isfinite(b) && a > 0 && b > 0;
}

void paired_ratio(const double *a, const double *b, size_t n, double confidence,
		  struct paired_ratio *ret)
{
	double sum = 0, squares = 0, mean, half;

	*ret = (struct paired_ratio){ .ratio = NAN, .low = NAN, .high = NAN };
	for (size_t i = 0; i < n; i++)
		if (pair_counts(a[i], b[i])) {
			sum += log(a[i] / b[i]);
			ret->n++;
		}
	if (ret->n == 0)
		return;
	mean = sum / (double)ret->n;
	ret->ratio = exp(mean);
	if (ret->n < 2)
		return;
	for (size_t i = 0; i < n; i++)
		if (pair_counts(a[i], b[i])) {
			double d = log(a[i] / b[i]) - mean;

			squares += d * d;
		}
	half = student_t(confidence, ret->n - 1) *
	       sqrt(squares / (double)(ret->n - 1) / (double)ret->n);
	ret->low = exp(mean - half);
	ret->high = exp(mean + half);
}
