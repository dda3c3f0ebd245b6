#include "comparison_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/contrast.h"

/* ---- verdicts ---- */

static void p_adjust(struct comparison *c)
{
	double *p = xcalloc(c->rows.nr + 1, sizeof(*p));
	bool refused;

	for (size_t i = 0; i < c->rows.nr; i++) {
		refused = c->versus.v[c->rows.v[i].versus].comparable.hard > 0;
		p[i] = refused ? NAN : c->rows.v[i].p;
	}
	(c->o.declared ? holm : benjamini_hochberg)(p, c->rows.nr);
	for (size_t i = 0; i < c->rows.nr; i++)
		c->rows.v[i].p_adj = p[i];
	free(p);
}

/*
 * As sample_judge, with worse for slower. p of `same` is not adjusted: to claim it for one row more
 * makes no other row worse.
 */
static void row_judge(struct compare_row *r, double confidence)
{
	bool higher = r->better == FIGURE_HIGHER;
	double ratio = higher ? 1 / r->ratio : r->ratio;
	double low = higher ? 1 / r->high : r->low, high = higher ? 1 / r->low : r->high;

	if (!row_tested(r))
		return;
	if (r->refused) {
		r->verdict = COMPARE_UNCLEAR;
		return;
	}
	if (!(r->p_adj <= 1 - confidence))
		return;
	if (low > 1 && ratio > 1 + r->threshold)
		r->verdict = COMPARE_SLOWER;
	else if (high < 1 && ratio < 1 / (1 + r->threshold))
		r->verdict = COMPARE_FASTER;
	else
		return;
	if (r->better == FIGURE_NONE)
		r->verdict = COMPARE_UNCLEAR;
}

static void versus_count(struct compare_versus *v)
{
	static const enum compare_verdict worst[] = { COMPARE_SLOWER, COMPARE_UNCLEAR, COMPARE_SAME,
						      COMPARE_FASTER };

	v->verdict = COMPARE_UNCLEAR;
	if (v->comparable.hard)
		return;
	if (v->trace && v->trace->judged) {
		v->verdict = (enum compare_verdict)v->trace->verdict; /* the same names first */
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(worst); i++)
		if (v->of[worst[i]]) {
			v->verdict = worst[i];
			return;
		}
}

/* ---- ranks ---- */

static int by_effect(const void *pa, const void *pb)
{
	const struct compare_row *a = pa, *b = pb;
	int r;

	if (a->effect > b->effect || a->effect < b->effect)
		return a->effect > b->effect ? -1 : 1;
	r = strcmp(a->name, b->name);
	return r ? r : strcmp(a->key, b->key);
}

/* The metrics of each versus; tables behind them are in their order. */
static void metrics_rank(struct comparison *c)
{
	struct compare_row *v = c->rows.v;

	for (size_t i = 0, to; i < c->rows.nr; i = to) {
		size_t metrics = i;

		while (metrics < c->rows.nr && v[metrics].versus == v[i].versus &&
		       !v[metrics].of_table)
			metrics++;
		if (metrics > i)
			qsort(v + i, metrics - i, sizeof(*v), by_effect);
		for (to = metrics; to < c->rows.nr && v[to].versus == v[i].versus;)
			to++;
	}
}

void comparison_judge(struct comparison *c)
{
	p_adjust(c);
	for (size_t i = 0; i < c->rows.nr; i++) {
		struct compare_row *r = &c->rows.v[i];
		struct compare_versus *v = &c->versus.v[r->versus];

		r->refused = v->comparable.hard > 0;
		row_judge(r, c->o.confidence);
		if (!r->of_table)
			r->effect = isfinite(r->ratio) ? fabs(log(r->ratio)) : 0;
		v->rows++;
		v->of[r->verdict]++;
	}
	for (size_t i = 0; i < c->versus.nr; i++)
		versus_count(&c->versus.v[i]);
	metrics_rank(c);
}
