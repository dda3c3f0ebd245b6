#include "profrig/base/sample_pool.h"
#include "values.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "profrig/base/samples_test.h"
#include "profrig/base/student.h"
#include "profrig/base/xalloc.h"

#define VARIANCE_LEAST 1e-5 /* of the median */
#define ASYMPTOTIC 12.0     /* from here on the series below are exact */

/* ---- ψ and ψ′ (Abramowitz and Stegun 6.3.5, 6.3.18, 6.4.6, 6.4.12) ---- */

double digamma(double x)
{
	double sum = 0, z;

	for (; x < ASYMPTOTIC; x++)
		sum -= 1 / x;
	z = 1 / (x * x);
	return sum + log(x) - 0.5 / x -
	       z * (1.0 / 12 -
		    z * (1.0 / 120 -
			 z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * 691.0 / 32760)))));
}

double trigamma(double x)
{
	double sum = 0, z;

	for (; x < ASYMPTOTIC; x++)
		sum += 1 / (x * x);
	z = 1 / (x * x);
	return sum + 1 / x + z / 2 +
	       z / x *
		       (1.0 / 6 -
			z * (1.0 / 30 -
			     z * (1.0 / 42 - z * (1.0 / 30 - z * (5.0 / 66 - z * 691.0 / 2730)))));
}

/* ψ′ falls from infinity to 0. */
double trigamma_inverse(double y)
{
	double low = 1e-8, high = 1e8;

	if (!(y > 0))
		return NAN;
	if (y >= trigamma(low))
		return 1 / sqrt(y);
	if (y <= trigamma(high))
		return 1 / y;
	for (int i = 0; i < 200 && high / low > 1 + 1e-14; i++) {
		double middle = sqrt(low * high);

		if (trigamma(middle) > y)
			low = middle;
		else
			high = middle;
	}
	return sqrt(low * high);
}

/* ---- the prior ---- */

static bool variance_counts(double variance, double df)
{
	return isfinite(variance) && variance >= 0 && df > 0;
}

static double variance_median(const double *variance, const double *df, size_t n, size_t *ret_nr)
{
	double *v = xcalloc(n + 1, sizeof(*v)), median = 0;
	size_t nr = 0;

	for (size_t i = 0; i < n; i++)
		if (variance_counts(variance[i], df[i]))
			v[nr++] = variance[i];
	if (nr)
		median = values_median(v, nr);
	free(v);
	*ret_nr = nr;
	return median;
}

int variance_prior(const double *variance, const double *df, size_t n, struct variance_prior *ret)
{
	double mean = 0, square = 0, within = 0, plain = 0, weight = 0, spread, nr = 0;
	size_t counting;
	double least = VARIANCE_LEAST * variance_median(variance, df, n, &counting);

	if (counting < SAMPLE_POOL_LEAST || !(least > 0))
		return -ENODATA;
	for (size_t i = 0; i < n; i++) {
		double half = df[i] / 2, s2, e, off;

		if (!variance_counts(variance[i], df[i]))
			continue;
		s2 = fmax(variance[i], least);
		e = log(s2) - digamma(half) + log(half);
		nr++;
		off = e - mean;
		mean += off / nr;
		square += off * (e - mean);
		within += trigamma(half);
		plain += df[i] * s2;
		weight += df[i];
	}
	spread = square / (nr - 1) - within / nr;
	if (spread > 0) {
		ret->df = 2 * trigamma_inverse(spread);
		ret->variance = exp(mean + digamma(ret->df / 2) - log(ret->df / 2));
	} else {
		ret->df = INFINITY;
		ret->variance = plain / weight;
	}
	return 0;
}

/* ---- rows ---- */

static void effect_shrink(struct sample_effect *e, const struct variance_prior *prior,
			  double margin, double confidence)
{
	struct mean_test t = { .difference = log(e->ratio) };
	double variance = prior->variance, half;

	if (isfinite(prior->df))
		variance = (prior->df * prior->variance + e->variance_df * e->variance) /
			   (prior->df + e->variance_df);
	t.df = prior->df + e->variance_df;
	t.error = sqrt(variance * e->variance_of_mean);
	half = student_t_real(confidence, t.df) * t.error;
	e->p = student_p(t.difference / t.error, t.df);
	e->low = exp(t.difference - half);
	e->high = exp(t.difference + half);
	e->p_same = tost_p(&t, log1p(margin));
	e->method = e->method == SAMPLE_PAIRED ? SAMPLE_PAIRED_POOLED : SAMPLE_WELCH_POOLED;
}

static bool effect_pools(const struct sample_effect *e)
{
	return e && (e->method == SAMPLE_WELCH || e->method == SAMPLE_PAIRED);
}

size_t sample_pool(struct sample_effect *const *e, size_t n, double margin, double confidence)
{
	double *variance = xcalloc(n + 1, sizeof(*variance)), *df = xcalloc(n + 1, sizeof(*df));
	struct variance_prior prior;
	size_t nr = 0, changed = 0;

	for (size_t i = 0; i < n; i++)
		if (effect_pools(e[i])) {
			variance[nr] = e[i]->variance;
			df[nr++] = e[i]->variance_df;
		}
	if (variance_prior(variance, df, nr, &prior) == 0)
		for (size_t i = 0; i < n; i++)
			if (effect_pools(e[i])) {
				effect_shrink(e[i], &prior, margin, confidence);
				changed++;
			}
	free(variance);
	free(df);
	return changed;
}
