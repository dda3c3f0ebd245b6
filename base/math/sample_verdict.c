#include "profrig/base/sample_verdict.h"
#include "values.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/samples_test.h"
#include "profrig/base/student.h"
#include "profrig/base/xalloc.h"

#define LEAST 3
#define FLOOR_STEPS 5 /* p goes in steps of its floor: coarser ones would decide by themselves */
#define WELCH_UNEQUAL 5
#define ORDER_LEAST 8
#define OUTLIERS_LEAST 5
#define MAD_TO_SIGMA 1.4826
#define OUTLIER_SIGMAS 3.5
#define SEED UINT64_C(0x70726f66726967) /* of rearrangements: the same runs give the same p */

const char *sample_method_name(enum sample_method m)
{
	static const char *const names[] = { "few", "welch-log", "paired-log", "welch-log-pooled",
					     "paired-log-pooled" };

	return names[m];
}

const char *sample_verdict_name(enum sample_verdict v)
{
	static const char *const names[] = { "faster", "slower", "same", "unclear" };

	return names[v];
}

/* ---- what is compared ---- */

/* Logarithms of both sides, and of the ratios of pairs, B over A; one piece of memory, from a. */
struct logs {
	double *a, *b, *d;
	size_t na, nb, pairs;
};

static bool counts(const struct sample *s)
{
	return isfinite(s->value) && s->value > 0;
}

/* Of the other side, the only run of this block; NULL: there is none, or several. */
static const struct sample *partner_of(const struct sample *of, const struct sample *v, size_t n)
{
	const struct sample *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (v[i].block != of->block || !counts(&v[i]))
			continue;
		if (found)
			return NULL;
		found = &v[i];
	}
	return found;
}

static size_t logs_of(const struct sample *v, size_t n, double *to)
{
	size_t nr = 0;

	for (size_t i = 0; i < n; i++)
		if (counts(&v[i]))
			to[nr++] = log(v[i].value);
	return nr;
}

/* Of the ratio itself, where it can be held: 500/1000 is a half, to the last bit. */
static double log_ratio(double b, double a)
{
	double ratio = b / a;

	return isnormal(ratio) ? log(ratio) : log(b) - log(a);
}

static struct logs logs_make(const struct sample *a, size_t na, const struct sample *b, size_t nb)
{
	double *room = xcalloc(2 * na + nb + 1, sizeof(*room));
	struct logs l = { .a = room, .b = room + na, .d = room + na + nb };

	l.na = logs_of(a, na, l.a);
	l.nb = logs_of(b, nb, l.b);
	for (size_t i = 0; i < na; i++) {
		const struct sample *other;

		if (a[i].block == SAMPLE_BLOCK_NONE || !counts(&a[i]) ||
		    partner_of(&a[i], a, na) != &a[i])
			continue;
		other = partner_of(&a[i], b, nb);
		if (!other)
			continue;
		l.d[l.pairs++] = log_ratio(other->value, a[i].value);
	}
	return l;
}

static void logs_release(struct logs *l)
{
	free(l->a);
}

/* ---- comparing ---- */

static void independent_test(const struct logs *l, double confidence, struct mean_test *ret)
{
	size_t fewer = l->na < l->nb ? l->na : l->nb;

	if (l->na != l->nb && fewer < WELCH_UNEQUAL)
		hsu(l->b, l->nb, l->a, l->na, confidence, ret);
	else
		welch(l->b, l->nb, l->a, l->na, confidence, ret);
}

static void rearrange(const struct logs *l, struct sample_effect *e)
{
	struct split_test s;

	if (e->method == SAMPLE_PAIRED && l->pairs >= SAMPLES_REARRANGED) {
		sign_flip_p(l->d, l->pairs, SEED, &s);
	} else if (e->method == SAMPLE_WELCH && l->na >= SAMPLES_REARRANGED &&
		   l->nb >= SAMPLES_REARRANGED) {
		permutation_p(l->a, l->na, l->b, l->nb, SEED, &s);
	} else {
		return;
	}
	e->floor = s.floor;
	e->p_rearranged = s.p;
}

/* Σ(v − mean)² */
static double squares_of(const double *v, size_t n)
{
	double mean = n ? values_mean(v, n) : 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return sum;
}

static void variance_put(const struct logs *l, struct sample_effect *e)
{
	double pairs = (double)l->pairs, na = (double)l->na, nb = (double)l->nb;

	if (e->method == SAMPLE_PAIRED) {
		e->variance_df = pairs - 1;
		e->variance = squares_of(l->d, l->pairs) / e->variance_df;
		e->variance_of_mean = 1 / pairs;
	} else {
		e->variance_df = na + nb - 2;
		e->variance = (squares_of(l->a, l->na) + squares_of(l->b, l->nb)) / e->variance_df;
		e->variance_of_mean = 1 / na + 1 / nb;
	}
}

static void pairs_test(const struct logs *l, double confidence, struct mean_test *ret)
{
	CLEANUP(xfreep) double *none = xcalloc(l->pairs, sizeof(*none));

	paired_test(l->d, none, l->pairs, confidence, ret);
}

static void effect_by_t(const struct logs *l, double margin, double confidence,
			struct sample_effect *ret)
{
	struct mean_test t;

	if (l->pairs >= LEAST) {
		ret->method = SAMPLE_PAIRED;
		pairs_test(l, confidence, &t);
	} else {
		independent_test(l, confidence, &t);
		ret->method = l->na >= LEAST && l->nb >= LEAST ? SAMPLE_WELCH : SAMPLE_FEW;
	}
	if (l->na > 0 && l->nb > 0)
		ret->ratio = exp(t.difference);
	if (ret->method == SAMPLE_FEW)
		return;
	ret->low = exp(t.low);
	ret->high = exp(t.high);
	ret->p = t.p;
	ret->p_same = tost_p(&t, log1p(margin));
	variance_put(l, ret);
}

static void effect_compare(const struct sample *a, size_t na, const struct sample *b, size_t nb,
			   double margin, double confidence, bool by_t_alone,
			   struct sample_effect *ret)
{
	struct logs l = logs_make(a, na, b, nb);
	struct rank_test ranks;

	*ret = (struct sample_effect){ .method = SAMPLE_FEW,
				       .n_a = l.na,
				       .n_b = l.nb,
				       .pairs = l.pairs,
				       .left_out = na + nb - l.na - l.nb,
				       .ratio = NAN,
				       .low = NAN,
				       .high = NAN,
				       .p = NAN,
				       .p_rearranged = NAN,
				       .p_ranks = NAN,
				       .p_same = NAN,
				       .variance = NAN,
				       .variance_df = NAN,
				       .variance_of_mean = NAN };
	effect_by_t(&l, margin, confidence, ret);
	if (ret->method != SAMPLE_FEW && !by_t_alone) {
		mann_whitney(l.b, l.nb, l.a, l.na, &ranks);
		ret->p_ranks = ranks.p;
		rearrange(&l, ret);
	}
	logs_release(&l);
}

bool sample_floor_reaches(double floor, double confidence)
{
	return floor * FLOOR_STEPS <= 1 - confidence;
}

/* The rearrangements do not contradict. */
static bool rearranged_too(const struct sample_effect *e, double confidence)
{
	return isnan(e->p_rearranged) || !sample_floor_reaches(e->floor, confidence) ||
	       e->p_rearranged <= 1 - confidence;
}

void sample_compare(const struct sample *a, size_t na, const struct sample *b, size_t nb,
		    double margin, double confidence, struct sample_effect *ret)
{
	effect_compare(a, na, b, nb, margin, confidence, false, ret);
}

void sample_compare_rows(const struct sample *a, size_t na, const struct sample *b, size_t nb,
			 double margin, double confidence, struct sample_effect *ret)
{
	effect_compare(a, na, b, nb, margin, confidence, true, ret);
}

enum sample_verdict sample_judge(const struct sample_effect *e, double p_adj, double margin,
				 double confidence)
{
	double alpha = 1 - confidence;
	bool sure = p_adj <= alpha && rearranged_too(e, confidence);

	if (e->method == SAMPLE_FEW)
		return SAMPLE_UNCLEAR;
	if (sure && e->low > 1 && e->ratio > 1 + margin)
		return SAMPLE_SLOWER;
	if (sure && e->high < 1 && e->ratio < 1 / (1 + margin))
		return SAMPLE_FASTER;
	return e->p_same <= alpha ? SAMPLE_SAME : SAMPLE_UNCLEAR;
}

/* ---- runs in their order ---- */

/* The line through v; residuals are left in r. */
static void line_fit(const double *v, size_t n, double *r, struct sample_order *ret)
{
	double mean = values_mean(v, n), middle = (double)(n - 1) / 2, xx = 0, xy = 0, rest = 0,
	       slope;

	for (size_t i = 0; i < n; i++) {
		double x = (double)i - middle;

		xx += x * x;
		xy += x * (v[i] - mean);
	}
	slope = xy / xx;
	for (size_t i = 0; i < n; i++) {
		r[i] = v[i] - mean - slope * ((double)i - middle);
		rest += r[i] * r[i];
	}
	ret->drift = slope * (double)(n - 1) / fabs(mean);
	ret->drift_p =
		rest > 0 ? student_p(slope / sqrt(rest / (double)(n - 2) / xx), (double)(n - 2))
		: slope < 0 || slope > 0 ? 0
					 : 1;
}

void sample_order_check(const double *v, size_t n, struct sample_order *ret)
{
	double *r, own = 0, next = 0;

	*ret = (struct sample_order){ NAN, NAN, NAN, NAN, NAN };
	if (n < ORDER_LEAST)
		return;
	r = xcalloc(n, sizeof(*r));
	line_fit(v, n, r, ret);
	for (size_t i = 0; i < n; i++) {
		own += r[i] * r[i];
		next += i + 1 < n ? r[i] * r[i + 1] : 0;
	}
	free(r);
	ret->lag1 = own > 0 ? next / own : 0;
	ret->lag1_p = erfc(fabs(ret->lag1) * sqrt((double)n) * M_SQRT1_2);
	ret->n_effective = (double)n * fmin(1, (1 - ret->lag1) / (1 + ret->lag1));
}

size_t sample_outliers(const double *v, size_t n, bool *ret)
{
	double *d = xcalloc(n + 1, sizeof(*d)), median, mad;
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		d[i] = v[i];
		ret[i] = false;
	}
	if (n >= OUTLIERS_LEAST) {
		median = values_median(d, n);
		for (size_t i = 0; i < n; i++)
			d[i] = fabs(v[i] - median);
		mad = values_median(d, n);
		for (size_t i = 0; mad > 0 && i < n; i++) {
			ret[i] = fabs(v[i] - median) > OUTLIER_SIGMAS * MAD_TO_SIGMA * mad;
			found += ret[i];
		}
	}
	free(d);
	return found;
}
