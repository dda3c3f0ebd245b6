#include "profrig/base/samples_test.h"
#include "values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/mix.h"
#include "profrig/base/student.h"
#include "profrig/base/xalloc.h"

#define AS_LARGE (1 - 1e-12) /* sums in another order differ in their last bits */
#define CONTINUITY 0.5       /* U goes in steps of 1, the normal distribution has none */

/* ---- means ---- */

/* Variance of the mean. */
static double mean_variance(const double *v, size_t n, double mean)
{
	double squares = 0;

	for (size_t i = 0; i < n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	return squares / (double)(n - 1) / (double)n;
}

static void mean_judge(struct mean_test *t, double confidence)
{
	double half;

	if (!(t->error > 0)) { /* no value differs from its mean */
		t->t = t->difference < 0 ? -INFINITY : t->difference > 0 ? INFINITY : 0;
		t->p = isinf(t->t) ? 0 : 1;
		t->low = t->high = t->difference;
		return;
	}
	t->t = t->difference / t->error;
	t->p = student_p(t->t, t->df);
	half = student_t_real(confidence, t->df) * t->error;
	t->low = t->difference - half;
	t->high = t->difference + half;
}

static struct mean_test unknown(double difference)
{
	return (struct mean_test){ difference, NAN, NAN, NAN, NAN, NAN, NAN };
}

static double welch_df(double va, size_t na, double vb, size_t nb)
{
	double by_df = va * va / (double)(na - 1) + vb * vb / (double)(nb - 1);

	return by_df > 0 ? (va + vb) * (va + vb) / by_df : INFINITY;
}

/* df: at most so many. */
static void independent(const double *a, size_t na, const double *b, size_t nb, double df,
			double confidence, struct mean_test *ret)
{
	double ma = values_mean(a, na), mb = values_mean(b, nb), va, vb;

	*ret = unknown(ma - mb);
	if (na < 2 || nb < 2)
		return;
	va = mean_variance(a, na, ma);
	vb = mean_variance(b, nb, mb);
	ret->error = sqrt(va + vb);
	ret->df = fmin(welch_df(va, na, vb, nb), df);
	mean_judge(ret, confidence);
}

void welch(const double *a, size_t na, const double *b, size_t nb, double confidence,
	   struct mean_test *ret)
{
	independent(a, na, b, nb, INFINITY, confidence, ret);
}

void hsu(const double *a, size_t na, const double *b, size_t nb, double confidence,
	 struct mean_test *ret)
{
	independent(a, na, b, nb, (double)(na < nb ? na : nb) - 1, confidence, ret);
}

void paired_test(const double *a, const double *b, size_t n, double confidence,
		 struct mean_test *ret)
{
	double *d = xcalloc(n + 1, sizeof(*d));

	for (size_t i = 0; i < n; i++)
		d[i] = a[i] - b[i];
	*ret = unknown(values_mean(d, n));
	if (n >= 2) {
		ret->error = sqrt(mean_variance(d, n, ret->difference));
		ret->df = (double)(n - 1);
		mean_judge(ret, confidence);
	}
	free(d);
}

/* P(T >= t). */
static double one_sided(double t, double df)
{
	double p = student_p(t, df) / 2;

	return t > 0 ? p : 1 - p;
}

double tost_p(const struct mean_test *m, double margin)
{
	if (!(m->error > 0))
		return isnan(m->error) ? NAN : fabs(m->difference) < margin ? 0 : 1;
	return fmax(one_sided((margin - m->difference) / m->error, m->df),
		    one_sided((margin + m->difference) / m->error, m->df));
}

/* ---- ways to split n values ---- */

/* C(n, k), at most `most` + 1. */
static uint64_t splits_of(size_t n, size_t k, uint64_t most)
{
	uint64_t c = 1;

	k = k < n - k ? k : n - k;
	for (size_t i = 1; i <= k; i++) {
		c = c * (n - k + i) / i;
		if (c > most)
			return most + 1;
	}
	return c;
}

static double splits_real(size_t n, size_t k)
{
	int sign;

	return exp(lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
		   lgamma_r((double)(n - k) + 1, &sign));
}

/* What is counted of the sums of k of the values: those as far from the middle, and not below. */
struct split_count {
	double middle, distance, observed;
	uint64_t as_far, not_below, of;
};

static void sum_count(struct split_count *c, double sum)
{
	double slack = (1 - AS_LARGE) * (fabs(c->observed) + fabs(c->middle));

	c->as_far += fabs(sum - c->middle) >= c->distance - slack;
	c->not_below += sum >= c->observed - slack;
	c->of++;
}

/* Sums of all choices of k of the values, in the order of their indices. */
static void sums_all(const double *v, size_t n, size_t k, struct split_count *c)
{
	size_t *at = xcalloc(k + 1, sizeof(*at));
	double *sum = xcalloc(k + 1, sizeof(*sum)); /* of the first i chosen ones */
	size_t i = 0;

	for (size_t j = 0; j < k; j++) {
		at[j] = j;
		sum[j + 1] = sum[j] + v[j];
	}
	for (;;) {
		sum_count(c, sum[k]);
		for (i = k; i > 0 && at[i - 1] == n - k + i - 1; i--)
			;
		if (i == 0)
			break;
		at[i - 1]++;
		for (size_t j = i - 1; j < k; j++) {
			at[j] = j < i ? at[j] : at[j - 1] + 1;
			sum[j + 1] = sum[j] + v[at[j]];
		}
	}
	free(at);
	free(sum);
}

static uint64_t below(uint64_t *seed, uint64_t n)
{
	return (uint64_t)((unsigned __int128)splitmix64(seed) * n >> 64);
}

static void sums_random(double *v, size_t n, size_t k, uint64_t seed, struct split_count *c)
{
	for (int draw = 0; draw < TEST_DRAWS; draw++) {
		double sum = 0;

		for (size_t i = 0; i < k; i++) {
			size_t other = i + below(&seed, n - i);
			double x = v[other];

			v[other] = v[i];
			v[i] = x;
			sum += x;
		}
		sum_count(c, sum);
	}
}

static void split_ends(const struct split_count *c, bool exact, struct split_test *ret)
{
	ret->exact = exact;
	ret->as_large = c->as_far;
	ret->of = c->of;
	ret->p = exact ? (double)c->as_far / (double)c->of
		       : (double)(c->as_far + 1) / (double)(c->of + 1);
}

static double floor_of(double least, bool exact)
{
	return exact ? least : fmax(least, 1.0 / (TEST_DRAWS + 1));
}

static bool splits_exact(size_t n, size_t k)
{
	return splits_of(n, k, TEST_SPLITS_MAX) <= TEST_SPLITS_MAX;
}

double permutation_floor(size_t na, size_t nb)
{
	if (na == 0 || nb == 0)
		return NAN;
	return floor_of((na == nb ? 2 : 1) / splits_real(na + nb, na), splits_exact(na + nb, na));
}

void permutation_p(const double *a, size_t na, const double *b, size_t nb, uint64_t seed,
		   struct split_test *ret)
{
	size_t n = na + nb;
	double *v, all;
	struct split_count c = { 0 };
	bool exact = splits_exact(n, na);

	*ret = (struct split_test){ .p = NAN, .floor = NAN };
	if (na == 0 || nb == 0)
		return;
	v = xcalloc(n, sizeof(*v));
	memcpy(v, a, na * sizeof(*v));
	memcpy(v + na, b, nb * sizeof(*v));
	all = values_mean(v, n);
	for (size_t i = 0; i < n; i++) /* so that the middle is 0 */
		v[i] -= all;
	c.observed = values_mean(v, na) * (double)na;
	c.distance = fabs(c.observed);
	if (exact)
		sums_all(v, n, na, &c);
	else
		sums_random(v, n, na, seed, &c);
	split_ends(&c, exact, ret);
	ret->floor = permutation_floor(na, nb);
	free(v);
}

/* ---- signs ---- */

static bool flips_exact(size_t n)
{
	return n < 63 && (uint64_t)1 << n <= TEST_SPLITS_MAX;
}

double sign_flip_floor(size_t n)
{
	return n > 0 ? floor_of(exp2(1 - (double)n), flips_exact(n)) : NAN;
}

/* -d where bit is 1; a branch on random signs would be guessed wrongly half of the time. */
static double flipped(double d, uint64_t bit)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	bits ^= bit << 63;
	memcpy(&d, &bits, sizeof(d));
	return d;
}

void sign_flip_p(const double *d, size_t n, uint64_t seed, struct split_test *ret)
{
	bool exact = flips_exact(n);
	uint64_t of = exact ? (uint64_t)1 << n : TEST_DRAWS;
	struct split_count c = { 0 };

	*ret = (struct split_test){ .p = NAN, .floor = NAN };
	if (n == 0)
		return;
	c.observed = values_mean(d, n) * (double)n;
	c.distance = fabs(c.observed);
	for (uint64_t k = 0; k < of; k++) {
		uint64_t signs = k;
		double sum = 0;

		for (size_t i = 0; i < n; i++) {
			if (!exact && i % 64 == 0)
				signs = splitmix64(&seed);
			sum += flipped(d[i], signs >> i % 64 & 1);
		}
		sum_count(&c, sum);
	}
	split_ends(&c, exact, ret);
	ret->floor = sign_flip_floor(n);
}

/* ---- ranks ---- */

struct ranked {
	double value, rank;
	bool of_a;
};

static int by_value(const void *a, const void *b)
{
	double x = ((const struct ranked *)a)->value, y = ((const struct ranked *)b)->value;

	return (x > y) - (x < y);
}

/* Midranks; returns Σ(t³ − t) over ties of t values. */
static double ranks_fill(struct ranked *r, size_t n)
{
	double ties = 0;

	qsort(r, n, sizeof(*r), by_value);
	for (size_t i = 0, end; i < n; i = end) {
		double t;

		for (end = i + 1; end < n && !by_value(&r[i], &r[end]); end++)
			;
		t = (double)(end - i);
		ties += t * t * t - t;
		for (size_t k = i; k < end; k++)
			r[k].rank = (double)(i + end + 1) / 2;
	}
	return ties;
}

/* P(Z >= z) */
static double normal_above(double z)
{
	return erfc(z * M_SQRT1_2) / 2;
}

static void ranks_normal(double na, double nb, double ties, double step, struct rank_test *ret)
{
	double n = na + nb, away = ret->u - na * nb / 2;
	double error = sqrt(na * nb / 12 * (n + 1 - ties / (n * (n - 1))));

	if (!(error > 0)) { /* all values are equal */
		ret->p = ret->greater = 1;
		return;
	}
	ret->p = fmin(1, 2 * normal_above(fmax(fabs(away) - step, 0) / error));
	ret->greater = normal_above((away - step) / error);
}

static void ranks_exact(const struct ranked *r, size_t na, size_t nb, double sum,
			struct rank_test *ret)
{
	size_t n = na + nb;
	double *ranks = xcalloc(n, sizeof(*ranks));
	struct split_count c = { .observed = sum, .middle = (double)na * (double)(n + 1) / 2 };

	for (size_t i = 0; i < n; i++)
		ranks[i] = r[i].rank;
	c.distance = fabs(sum - c.middle);
	sums_all(ranks, n, na, &c);
	ret->p = (double)c.as_far / (double)c.of;
	ret->greater = (double)c.not_below / (double)c.of;
	free(ranks);
}

/* step: of the normal distribution's continuity. */
static void ranks_test(const double *a, size_t na, const double *b, size_t nb, bool exact,
		       double step, struct rank_test *ret)
{
	size_t n = na + nb;
	struct ranked *r;
	double sum = 0, ties;

	*ret = (struct rank_test){ NAN, NAN, NAN, false, NAN };
	if (na == 0 || nb == 0)
		return;
	r = xcalloc(n, sizeof(*r));
	for (size_t i = 0; i < n; i++)
		r[i] = (struct ranked){ .value = i < na ? a[i] : b[i - na], .of_a = i < na };
	ties = ranks_fill(r, n);
	for (size_t i = 0; i < n; i++)
		sum += r[i].of_a ? r[i].rank : 0;
	ret->u = sum - (double)na * (double)(na + 1) / 2;
	ret->floor = fmin(1, 2 / splits_real(n, na));
	ret->exact = exact;
	if (exact)
		ranks_exact(r, na, nb, sum, ret);
	else
		ranks_normal((double)na, (double)nb, ties, step, ret);
	free(r);
}

void mann_whitney(const double *a, size_t na, const double *b, size_t nb, struct rank_test *ret)
{
	ranks_test(a, na, b, nb, splits_exact(na + nb, na), CONTINUITY, ret);
}

void mann_whitney_normal(const double *a, size_t na, const double *b, size_t nb, bool continuity,
			 struct rank_test *ret)
{
	ranks_test(a, na, b, nb, false, continuity ? CONTINUITY : 0, ret);
}
