#include "profrig/base/paired.h"
#include "values.h"

#include <math.h>
#include <stdbool.h>

#include "profrig/base/student.h"
#include "profrig/base/xalloc.h"

static bool pair_counts(double a, double b)
{
	return isfinite(a) && isfinite(b) && a > 0 && b > 0;
}

/* v: n > 0 of them, ascending; the outer g at each end become the ones next to them. */
static void trimmed(double *v, size_t n, size_t g, double confidence, struct paired_ratio *ret)
{
	size_t h = n - 2 * g;
	double mean = values_mean(v + g, h), around, squares = 0, half;

	ret->ratio = exp(mean);
	if (h < 2)
		return;
	for (size_t i = 0; i < g; i++) {
		v[i] = v[g];
		v[n - 1 - i] = v[n - 1 - g];
	}
	around = values_mean(v, n);
	for (size_t i = 0; i < n; i++)
		squares += (v[i] - around) * (v[i] - around);
	ret->error = sqrt(squares / (double)h / (double)(h - 1));
	ret->df = (double)(h - 1);
	half = student_t(confidence, h - 1) * ret->error;
	ret->low = exp(mean - half);
	ret->high = exp(mean + half);
}

void paired_ratio_trimmed(const double *a, const double *b, size_t n, double share,
			  double confidence, struct paired_ratio *ret)
{
	double *v = xcalloc(n ? n : 1, sizeof(*v));

	*ret = (struct paired_ratio){
		.ratio = NAN, .low = NAN, .high = NAN, .error = NAN, .df = NAN
	};
	for (size_t i = 0; i < n; i++)
		if (pair_counts(a[i], b[i]))
			v[ret->n++] = log(a[i] / b[i]);
	if (ret->n) {
		values_sort(v, ret->n);
		trimmed(v, ret->n, (size_t)(share * (double)ret->n), confidence, ret);
	}
	free(v);
}

void paired_ratio(const double *a, const double *b, size_t n, double confidence,
		  struct paired_ratio *ret)
{
	paired_ratio_trimmed(a, b, n, 0, confidence, ret);
}
