#include "profrig/base/median_ratio.h"
#include "values.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "profrig/base/bootstrap.h"
#include "profrig/base/mix.h"
#include "profrig/base/xalloc.h"

#define SEED UINT64_C(0x6d656469616e)

struct side {
	double *v; /* sorted */
	uint32_t *drawn;
	size_t n;
};

static double median_of(const double *v, size_t n)
{
	double *copy = xcalloc(n, sizeof(*copy)), median;

	for (size_t i = 0; i < n; i++)
		copy[i] = v[i];
	median = values_median(copy, n);
	free(copy);
	return median;
}

/* Usable values, at most MEDIAN_RATIO_MOST of them; ret_all: how many there are. */
static struct side side_of(const double *v, size_t n, size_t *ret_all, double *ret_median)
{
	struct side s = { .v = xcalloc(n + 1, sizeof(*s.v)) };
	size_t all = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(v[i]) && v[i] > 0)
			s.v[all++] = v[i];
	*ret_all = all;
	*ret_median = all ? median_of(s.v, all) : NAN;
	s.n = all < MEDIAN_RATIO_MOST ? all : MEDIAN_RATIO_MOST;
	for (size_t i = 0; i < s.n; i++)
		s.v[i] = s.v[(size_t)((unsigned __int128)i * all / s.n)];
	values_sort(s.v, s.n);
	s.drawn = xcalloc(s.n + 1, sizeof(*s.drawn));
	return s;
}

static void side_free(struct side *s)
{
	free(s->v);
	free(s->drawn);
}

/* The value of rank k among those that were drawn. */
static size_t ranked(const struct side *s, size_t k)
{
	size_t i = 0;

	for (size_t seen = s->drawn[0]; seen <= k; seen += s->drawn[i])
		i++;
	return i;
}

/* The median of a sample of the same size, drawn with replacement. */
static double draw(struct side *s, uint64_t *seed)
{
	for (size_t i = 0; i < s->n; i++)
		s->drawn[i] = 0;
	for (size_t i = 0; i < s->n; i++)
		s->drawn[(size_t)((unsigned __int128)splitmix64(seed) * s->n >> 64)]++;
	return (s->v[ranked(s, (s->n - 1) / 2)] + s->v[ranked(s, s->n / 2)]) / 2;
}

static enum sample_verdict judge(const struct median_ratio *m, double margin)
{
	if (m->same_low > 1 / (1 + margin) && m->same_high < 1 + margin)
		return SAMPLE_SAME;
	if (m->low > 1 && m->ratio > 1 + margin)
		return SAMPLE_SLOWER;
	if (m->high < 1 && m->ratio < 1 / (1 + margin))
		return SAMPLE_FASTER;
	return SAMPLE_UNCLEAR;
}

void median_ratio(const double *a, size_t na, const double *b, size_t nb, double margin,
		  double confidence, struct median_ratio *ret)
{
	struct median_ratio m = { .low = NAN,
				  .high = NAN,
				  .same_low = NAN,
				  .same_high = NAN,
				  .verdict = SAMPLE_UNCLEAR };
	struct side sa = side_of(a, na, &m.n_a, &m.a), sb = side_of(b, nb, &m.n_b, &m.b);
	double *ratios = xcalloc(BOOTSTRAP_DRAWS, sizeof(*ratios)), tail = (1 - confidence) / 2;
	uint64_t seed = SEED;

	m.left_out = na - m.n_a + nb - m.n_b;
	m.ratio = m.b / m.a;
	if (m.n_a >= MEDIAN_RATIO_LEAST && m.n_b >= MEDIAN_RATIO_LEAST) {
		for (size_t i = 0; i < BOOTSTRAP_DRAWS; i++)
			ratios[i] = draw(&sb, &seed) / draw(&sa, &seed);
		values_sort(ratios, BOOTSTRAP_DRAWS);
		m.low = quantile_sorted(ratios, BOOTSTRAP_DRAWS, tail);
		m.high = quantile_sorted(ratios, BOOTSTRAP_DRAWS, 1 - tail);
		tail = fmin(2 * tail, 0.5);
		m.same_low = quantile_sorted(ratios, BOOTSTRAP_DRAWS, tail);
		m.same_high = quantile_sorted(ratios, BOOTSTRAP_DRAWS, 1 - tail);
		m.verdict = judge(&m, margin);
	}
	free(ratios);
	side_free(&sa);
	side_free(&sb);
	*ret = m;
}
