#include "comparison_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/contrast.h"
#include "profrig/base/sample_pool.h"

#define ORDER_P 0.01

/* ---- the values of a side ---- */

struct side_values {
	const struct loaded_value *v;
	size_t nr;
};

static struct side_values side_values(const struct loaded_set *l, uint32_t figure)
{
	return (struct side_values){ l->v.v + l->from[figure],
				     l->from[figure + 1] - l->from[figure] };
}

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

static void stats_spread(double *v, size_t n, struct compare_stats *ret)
{
	double sum = 0;
	bool *mark = xcalloc(n, sizeof(*mark));

	for (size_t i = 0; i < n; i++)
		sum += (v[i] - ret->mean) * (v[i] - ret->mean);
	ret->stddev = sqrt(sum / (double)(n - 1));
	ret->outliers = (uint32_t)sample_outliers(v, n, mark);
	free(mark);
	qsort(v, n, sizeof(*v), by_value);
	ret->median = v[(n - 1) / 2] / 2 + v[n / 2] / 2;
}

static void stats_of(const struct side_values *s, struct compare_stats *ret)
{
	double *v, sum = 0;

	*ret = (struct compare_stats){ (uint32_t)s->nr, 0, NAN, NAN, NAN };
	for (size_t i = 0; i < s->nr; i++)
		sum += s->v[i].value;
	if (!s->nr)
		return;
	ret->mean = ret->median = sum / (double)s->nr;
	if (s->nr == 1)
		return;
	v = xcalloc(s->nr, sizeof(*v));
	for (size_t i = 0; i < s->nr; i++)
		v[i] = s->v[i].value;
	stats_spread(v, s->nr, ret);
	free(v);
}

/* Drift and likeness of neighbours, of a metric. */
static unsigned order_of(const struct side_values *s)
{
	double *v = xcalloc(s->nr + 1, sizeof(*v));
	struct sample_order o;

	for (size_t i = 0; i < s->nr; i++)
		v[i] = s->v[i].value;
	sample_order_check(v, s->nr, &o);
	free(v);
	return (o.drift_p < ORDER_P ? COMPARE_DRIFT : 0) | (o.lag1_p < ORDER_P ? COMPARE_LAG : 0);
}

/* ---- a row ---- */

struct pairing {
	struct comparison *c;
	const struct loaded_set *a, *b;
	const struct figure_book *book;
	uint32_t versus;
	bool blocked;
	size_t rows_from; /* in c->rows */
	struct {
		struct sample *v;
		size_t cap;
	} samples[2];
	VEC(struct sample_effect) effects; /* beside the rows */
	VEC(uint32_t) figures;
};

static const struct sample *samples_of(struct pairing *p, int side, const struct side_values *s,
				       bool inverse)
{
	const struct run_set *set = (side ? p->b : p->a)->set;

	if (p->samples[side].cap < s->nr) {
		p->samples[side].cap = s->nr + 8;
		p->samples[side].v = xreallocarray(p->samples[side].v, p->samples[side].cap,
						   sizeof(struct sample));
	}
	for (size_t i = 0; i < s->nr; i++) {
		double v = s->v[i].value;

		p->samples[side].v[i] =
			(struct sample){ inverse && v > 0 ? 1 / v : v,
					 p->blocked ? set->runs.v[s->v[i].run].c.block
						    : SAMPLE_BLOCK_NONE };
	}
	return p->samples[side].v;
}

static bool row_tested(const struct compare_row *r)
{
	return r->verdict != COMPARE_NEW && r->verdict != COMPARE_GONE;
}

static double threshold_of(const struct compare_opts *o, const char *name)
{
	for (size_t i = 0; o->thresholds && i < o->metrics.nr; i++)
		if (strcmp(o->metrics.v[i], name) == 0 && isfinite(o->thresholds[i]))
			return o->thresholds[i];
	return o->threshold;
}

static void row_add(struct pairing *p, uint32_t figure, bool many)
{
	const struct book_figure *f = &p->book->v.v[figure];
	struct side_values a = side_values(p->a, figure), b = side_values(p->b, figure);
	str_id unit = loaded_unit(a.nr ? p->a : p->b, figure);
	struct sample_effect e = { .method = SAMPLE_FEW, .ratio = NAN, .p = NAN };
	struct compare_row r = { .name = f->name,
				 .key = f->key,
				 .unit = intern_str(p->book->texts, unit),
				 .better = f->better,
				 .of_table = f->of_table,
				 .versus = p->versus,
				 .ratio = NAN,
				 .low = NAN,
				 .high = NAN,
				 .p = NAN,
				 .p_adj = NAN,
				 .p_ranks = NAN,
				 .threshold = threshold_of(&p->c->o, f->name),
				 .verdict = !b.nr   ? COMPARE_GONE
					    : !a.nr ? COMPARE_NEW
						    : COMPARE_UNCLEAR };
	bool inverse = f->better == FIGURE_HIGHER;

	stats_of(&a, &r.a);
	stats_of(&b, &r.b);
	r.delta = r.b.mean - r.a.mean;
	if (row_tested(&r))
		(many ? sample_compare_rows : sample_compare)(samples_of(p, 0, &a, inverse), a.nr,
							      samples_of(p, 1, &b, inverse), b.nr,
							      r.threshold, p->c->o.confidence, &e);
	if (!many) {
		r.odd_a = order_of(&a);
		r.odd_b = order_of(&b);
	}
	VEC_PUSH(&p->c->rows, r);
	VEC_PUSH(&p->effects, e);
	VEC_PUSH(&p->figures, figure);
}

/* ---- many rows ---- */

/* Names whose rows are many, by the ids of their texts. */
struct crowd {
	VEC(struct crowd_name {
		str_id name;
		size_t nr;
		double sum[2]; /* of all values of a side */
	}) v;
};

static struct crowd_name *crowd_at(struct crowd *c, str_id name)
{
	struct crowd_name *found = VEC_FIND(&c->v, e, e->name == name);

	if (found)
		return found;
	VEC_PUSH(&c->v, ((struct crowd_name){ name, 0, { 0, 0 } }));
	return &c->v.v[c->v.nr - 1];
}

static double values_sum(const struct side_values *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->nr; i++)
		sum += s->v[i].value;
	return sum;
}

/* By its share, never by its effect: that would choose the findings by chance. */
static bool row_small(const struct pairing *p, const struct crowd_name *c, uint32_t figure)
{
	struct side_values a = side_values(p->a, figure), b = side_values(p->b, figure);
	double least = p->c->o.min_share;

	return least > 0 && !(values_sum(&a) >= least * c->sum[0] && a.nr) &&
	       !(values_sum(&b) >= least * c->sum[1] && b.nr);
}

static void crowd_count(struct crowd *c, const struct pairing *p)
{
	struct crowd_name *last = NULL;

	for (uint32_t i = 0; i < p->book->v.nr; i++) {
		const struct book_figure *f = &p->book->v.v[i];
		struct side_values a = side_values(p->a, i), b = side_values(p->b, i);

		if (!f->of_table || (!a.nr && !b.nr))
			continue;
		if (!last || last->name != f->name_id)
			last = crowd_at(c, f->name_id);
		last->nr++;
		last->sum[0] += values_sum(&a);
		last->sum[1] += values_sum(&b);
	}
}

/* Rows of one metric with one threshold, after each other. */
static void rows_pool(struct pairing *p, const char *name, double threshold)
{
	size_t nr = p->effects.nr, with = 0;
	struct sample_effect **e = xcalloc(nr + 1, sizeof(*e));

	for (size_t i = 0; i < nr; i++) {
		const struct compare_row *r = &p->c->rows.v[p->rows_from + i];

		if (r->name == name && row_tested(r))
			e[with++] = &p->effects.v[i];
	}
	sample_pool(e, with, threshold, p->c->o.confidence);
	free(e);
}

static void effect_take(struct compare_row *r, const struct sample_effect *e)
{
	bool inverse = r->better == FIGURE_HIGHER;

	r->method = e->method;
	r->left_out = (uint32_t)e->left_out;
	r->p = r->p_adj = e->p;
	if (!row_tested(r))
		return;
	r->p_ranks = e->p_ranks;
	r->floor = e->floor;
	r->ratio = inverse ? 1 / e->ratio : e->ratio;
	r->low = inverse ? 1 / e->high : e->low;
	r->high = inverse ? 1 / e->low : e->high;
}

/* sample_judge wants the effect as it was; all that it needs is in the row but p of `same`. */
static void row_keep_same(struct compare_row *r, const struct sample_effect *e, double confidence)
{
	r->verdict = row_tested(r) && e->method != SAMPLE_FEW && e->p_same <= 1 - confidence
			     ? COMPARE_SAME
			     : r->verdict;
}

static void units_check(struct pairing *p, struct comparable *ret)
{
	for (size_t i = 0; i < p->figures.nr; i++) {
		uint32_t f = p->figures.v[i];
		str_id a = loaded_unit(p->a, f), b = loaded_unit(p->b, f);
		const struct compare_versus *v = &p->c->versus.v[p->versus];

		if (a == STR_NONE || b == STR_NONE || a == b)
			continue;
		comparable_add(ret, true, "unit of %.60s: '%.40s' in %s, '%.40s' in %s",
			       p->book->v.v[f].name, intern_str(p->book->texts, a), v->name_a,
			       intern_str(p->book->texts, b), v->name_b);
	}
	for (int side = 0; side < 2; side++) {
		const struct loaded_set *l = side ? p->b : p->a;
		const struct compare_versus *v = &p->c->versus.v[p->versus];

		if (l->odd.nr)
			comparable_add(ret, true, "unit of %.60s: runs of %s differ",
				       p->book->v.v[l->odd.v[0]].name,
				       side ? v->name_b : v->name_a);
	}
}

void versus_rows(struct comparison *c, uint32_t versus, const struct loaded_set *a,
		 const struct loaded_set *b, const struct figure_book *book)
{
	struct pairing p = { .c = c,
			     .a = a,
			     .b = b,
			     .book = book,
			     .versus = versus,
			     .blocked = run_sets_blocked(a->set, b->set),
			     .rows_from = c->rows.nr };
	struct crowd crowd = { VEC_INIT };

	crowd_count(&crowd, &p);
	for (uint32_t i = 0; i < book->v.nr; i++) {
		const struct crowd_name *name;

		if (!side_values(a, i).nr && !side_values(b, i).nr)
			continue;
		name = book->v.v[i].of_table ? crowd_at(&crowd, book->v.v[i].name_id) : NULL;
		if (name && row_small(&p, name, i))
			c->small++;
		else
			row_add(&p, i, name && name->nr > COMPARE_MANY);
	}
	for (size_t i = 0; i < crowd.v.nr; i++)
		if (crowd.v.v[i].nr > COMPARE_MANY) {
			const char *name = intern_str(book->texts, crowd.v.v[i].name);

			rows_pool(&p, name, threshold_of(&c->o, name));
		}
	for (size_t i = 0; i < p.effects.nr; i++) {
		struct compare_row *r = &c->rows.v[p.rows_from + i];

		effect_take(r, &p.effects.v[i]);
		row_keep_same(r, &p.effects.v[i], c->o.confidence);
	}
	units_check(&p, &c->versus.v[versus].comparable);
	free(p.samples[0].v);
	free(p.samples[1].v);
	VEC_RELEASE(&p.effects);
	VEC_RELEASE(&p.figures);
	VEC_RELEASE(&crowd.v);
}

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

static double effect_size(const struct compare_row *r)
{
	double d = isfinite(r->delta) ? r->delta : isfinite(r->b.mean) ? r->b.mean : r->a.mean;

	if (r->of_table)
		return fabs(d);
	return isfinite(r->ratio) ? fabs(log(r->ratio)) : 0;
}

/* Metrics of runs first, then table by table, each by the size of its effect. */
static int by_rank(const void *pa, const void *pb)
{
	const struct compare_row *a = pa, *b = pb;
	int r;

	if (a->versus != b->versus)
		return a->versus < b->versus ? -1 : 1;
	if (a->of_table != b->of_table)
		return a->of_table ? 1 : -1;
	if (a->of_table && a->name != b->name && (r = strcmp(a->name, b->name)) != 0)
		return r;
	if (a->effect > b->effect || a->effect < b->effect)
		return a->effect > b->effect ? -1 : 1;
	r = strcmp(a->name, b->name);
	return r ? r : strcmp(a->key, b->key);
}

void comparison_judge(struct comparison *c)
{
	p_adjust(c);
	for (size_t i = 0; i < c->rows.nr; i++) {
		struct compare_row *r = &c->rows.v[i];
		struct compare_versus *v = &c->versus.v[r->versus];

		r->refused = v->comparable.hard > 0;
		row_judge(r, c->o.confidence);
		r->effect = effect_size(r);
		v->rows++;
		v->of[r->verdict]++;
	}
	for (size_t i = 0; i < c->versus.nr; i++)
		versus_count(&c->versus.v[i]);
	if (c->rows.nr)
		qsort(c->rows.v, c->rows.nr, sizeof(*c->rows.v), by_rank);
}
