#include "profrig/base/contrast.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "profrig/base/student.h"
#include "profrig/base/xalloc.h"

void contrast_sum_add(struct contrast_sum *sum, double variance, double df)
{
	sum->variance += variance;
	sum->by_df += variance * variance / df;
}

double contrast_sum_df(const struct contrast_sum *sum)
{
	return sum->by_df > 0 ? sum->variance * sum->variance / sum->by_df : INFINITY;
}

static bool mean_counts(const struct contrast_mean *m)
{
	return isfinite(m->mean) && m->mean > 0;
}

static bool error_counts(const struct contrast_mean *m)
{
	return isfinite(m->error) && m->error >= 0 && m->df > 0;
}

/* Both means are exact. */
static void without_error(struct contrast *c)
{
	c->low = c->high = c->ratio;
	c->p = c->ratio < 1 || c->ratio > 1 ? 0 : 1;
	c->df = INFINITY;
}

void contrast(const struct contrast_mean *a, const struct contrast_mean *b, double confidence,
	      struct contrast *ret)
{
	struct contrast_sum sum = { 0 };
	double error, half;

	*ret = (struct contrast){ NAN, NAN, NAN, NAN, NAN };
	if (!mean_counts(a) || !mean_counts(b))
		return;
	ret->ratio = b->mean / a->mean;
	if (!error_counts(a) || !error_counts(b))
		return;
	contrast_sum_add(&sum, a->error / a->mean * (a->error / a->mean), a->df);
	contrast_sum_add(&sum, b->error / b->mean * (b->error / b->mean), b->df);
	error = sqrt(sum.variance);
	if (!(error > 0)) {
		without_error(ret);
		return;
	}
	ret->df = contrast_sum_df(&sum);
	ret->p = student_p(log(ret->ratio) / error, ret->df);
	half = student_t_real(confidence, ret->df) * error;
	ret->low = ret->ratio * exp(-half);
	ret->high = ret->ratio * exp(half);
}

enum contrast_verdict contrast_judge(const struct contrast *c, double p_adj, double threshold,
				     double confidence)
{
	bool sure = p_adj <= 1 - confidence;

	if (sure && c->low > 1 && c->ratio - 1 > threshold)
		return CONTRAST_MORE;
	if (sure && c->high < 1 && 1 - c->ratio > threshold)
		return CONTRAST_LESS;
	if (c->low >= 1 - threshold && c->high <= 1 + threshold)
		return CONTRAST_SAME;
	return CONTRAST_UNCLEAR;
}

static int by_p(const void *a, const void *b)
{
	double x = **(const double *const *)a, y = **(const double *const *)b;

	return (x > y) - (x < y);
}

/* Those that are numbers, ascending; owned. */
static double **p_sorted(double *p, size_t n, size_t *ret_nr)
{
	double **order = xcalloc(n ? n : 1, sizeof(*order));
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i]))
			order[m++] = &p[i];
	if (m)
		qsort(order, m, sizeof(*order), by_p);
	*ret_nr = m;
	return order;
}

void holm(double *p, size_t n)
{
	size_t m;
	double **order = p_sorted(p, n, &m), most = 0;

	for (size_t k = 0; k < m; k++) {
		most = fmax(most, fmin((double)(m - k) * *order[k], 1));
		*order[k] = most;
	}
	free(order);
}

void benjamini_hochberg(double *p, size_t n)
{
	size_t m;
	double **order = p_sorted(p, n, &m), least = 1;

	for (size_t k = m; k-- > 0;) {
		least = fmin(least, (double)m * *order[k] / (double)(k + 1));
		*order[k] = least;
	}
	free(order);
}
