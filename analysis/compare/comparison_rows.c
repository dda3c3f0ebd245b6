#include "comparison_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/sample_pool.h"
#include "profrig/base/sort.h"

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

/* ---- what becomes a row ---- */

/* The table that a figure is of: one column of one. */
struct column {
	str_id id;
	const char *name;
	size_t nr; /* of figures of either side */
	double sum[2];
	size_t rows;
	struct sort_pair *order; /* of them: by what, and which of pairing.figures */
};

struct samples {
	struct sample *v;
	size_t cap;
};

/* One versus while its rows are made. */
struct pairing {
	struct comparison *c;
	const struct loaded_set *a, *b;
	const struct figure_book *book;
	uint32_t versus;
	bool blocked;
	VEC(struct column) columns;    /* by name */
	VEC(uint32_t) figures;         /* that become rows, in the order of the book */
	uint32_t *places;              /* of their rows, beside them */
	struct sample_effect *effects; /* beside figures; of SAMPLE_FEW all 0, see effects_room */
	struct compare_row *rows;      /* the first of this versus */
	struct samples (*samples)[2];  /* of each worker */
};

static struct column *column_of(struct pairing *p, const struct book_figure *f)
{
	return VEC_FIND(&p->columns, e, e->id == f->name_id);
}

static double values_sum(const struct side_values *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->nr; i++)
		sum += s->v[i].value;
	return sum;
}

static int by_name(const void *pa, const void *pb)
{
	const struct column *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

static void columns_find(struct pairing *p)
{
	struct column *last = NULL;

	for (uint32_t i = 0; i < p->book->v.nr; i++) {
		const struct book_figure *f = &p->book->v.v[i];
		struct side_values a = side_values(p->a, i), b = side_values(p->b, i);

		if (!f->of_table || (!a.nr && !b.nr))
			continue;
		if (!last || last->id != f->name_id)
			last = column_of(p, f);
		if (!last) {
			VEC_PUSH(&p->columns,
				 ((struct column){ .id = f->name_id, .name = f->name }));
			last = &p->columns.v[p->columns.nr - 1];
		}
		last->nr++;
		last->sum[0] += values_sum(&a);
		last->sum[1] += values_sum(&b);
	}
	if (p->columns.nr)
		qsort(p->columns.v, p->columns.nr, sizeof(*p->columns.v), by_name);
}

/* By its share, never by its effect: that would choose the findings by chance. */
static bool row_small(const struct pairing *p, const struct column *c, uint32_t figure)
{
	struct side_values a = side_values(p->a, figure), b = side_values(p->b, figure);
	double least = p->c->o.min_share;

	return least > 0 && !(values_sum(&a) >= least * c->sum[0] && a.nr) &&
	       !(values_sum(&b) >= least * c->sum[1] && b.nr);
}

static void figures_choose(struct pairing *p)
{
	VEC_RESERVE(&p->figures, p->book->v.nr);
	for (uint32_t i = 0; i < p->book->v.nr; i++) {
		const struct book_figure *f = &p->book->v.v[i];
		struct column *c = f->of_table ? column_of(p, f) : NULL;

		if (!side_values(p->a, i).nr && !side_values(p->b, i).nr)
			continue;
		if (c && row_small(p, c, i)) {
			p->c->small++;
			continue;
		}
		if (c)
			c->rows++;
		VEC_PUSH(&p->figures, i);
	}
}

/* ---- the order of rows ---- */

static double mean_of(const struct side_values *s)
{
	return s->nr ? values_sum(s) / (double)s->nr : NAN;
}

static double table_effect(double mean_a, double mean_b)
{
	double d = mean_b - mean_a;

	return fabs(isfinite(d) ? d : isfinite(mean_b) ? mean_b : mean_a);
}

/*
 * The largest effect first: the bits of numbers that are not negative are in their order. One that
 * is no number, as its sums are past all numbers, is in front of all.
 */
static uint64_t effect_key(const struct pairing *p, uint32_t figure)
{
	struct side_values a = side_values(p->a, figure), b = side_values(p->b, figure);
	double effect = table_effect(mean_of(&a), mean_of(&b));
	uint64_t bits;

	memcpy(&bits, &effect, sizeof(bits));
	return ~bits;
}

struct tie {
	const char *key;
	struct sort_pair pair;
};

static int by_key(const void *pa, const void *pb)
{
	const struct tie *a = pa, *b = pb;

	return strcmp(a->key, b->key);
}

/* Rows of equal effects by their keys. */
static void ties_sort(const struct pairing *p, struct sort_pair *v, size_t n)
{
	CLEANUP(xfreep) struct tie *ties = xreallocarray(NULL, n, sizeof(*ties));

	for (size_t i = 0; i < n; i++)
		ties[i] = (struct tie){ p->book->v.v[p->figures.v[v[i].row]].key, v[i] };
	qsort(ties, n, sizeof(*ties), by_key);
	for (size_t i = 0; i < n; i++)
		v[i] = ties[i].pair;
}

static void column_sort(const struct pairing *p, const struct column *c)
{
	struct sort_pair *v = c->order;

	sort_pairs(v, c->rows);
	for (size_t i = 0, to; i < c->rows; i = to) {
		for (to = i + 1; to < c->rows && v[to].key == v[i].key;)
			to++;
		if (to - i > 1)
			ties_sort(p, v + i, to - i);
	}
}

/* Returns how many metrics there are: theirs are the first places, in the order of the book. */
static size_t columns_fill(struct pairing *p, struct sort_pair *order)
{
	size_t metrics = 0;

	for (size_t i = 0; i < p->columns.nr; i++) {
		p->columns.v[i].order = order;
		order += p->columns.v[i].rows;
		p->columns.v[i].rows = 0;
	}
	for (size_t i = 0; i < p->figures.nr; i++) {
		uint32_t figure = p->figures.v[i];
		const struct book_figure *f = &p->book->v.v[figure];
		struct column *c = f->of_table ? column_of(p, f) : NULL;

		if (c)
			c->order[c->rows++] = (struct sort_pair){ effect_key(p, figure), i };
		else
			p->places[i] = (uint32_t)metrics++;
	}
	return metrics;
}

/*
 * Rows of tables get their final places before they are made: to sort 16 bytes for each of a
 * million rows, and to write each row once, takes a fraction of sorting rows. Metrics are in front;
 * their effects are not known yet.
 */
static void places_find(struct pairing *p)
{
	CLEANUP(xfreep)
	struct sort_pair *order = xreallocarray(NULL, p->figures.nr + 1, sizeof(*order));
	size_t place;

	p->places = xreallocarray(NULL, p->figures.nr + 1, sizeof(*p->places));
	place = columns_fill(p, order);
	for (size_t i = 0; i < p->columns.nr; i++) {
		const struct column *c = &p->columns.v[i];

		column_sort(p, c);
		for (size_t k = 0; k < c->rows; k++)
			p->places[c->order[k].row] = (uint32_t)place++;
	}
}

/* ---- a row ---- */

static const struct sample *samples_of(const struct pairing *p, struct samples *to,
				       const struct run_set *set, const struct side_values *s,
				       bool inverse)
{
	if (to->cap < s->nr) {
		to->cap = s->nr + 8;
		to->v = xreallocarray(to->v, to->cap, sizeof(*to->v));
	}
	for (size_t i = 0; i < s->nr; i++) {
		double v = s->v[i].value;

		to->v[i] = (struct sample){ inverse && v > 0 ? 1 / v : v,
					    p->blocked ? set->runs.v[s->v[i].run].c.block
						       : SAMPLE_BLOCK_NONE };
	}
	return to->v;
}

static double threshold_of(const struct compare_opts *o, const char *name)
{
	for (size_t i = 0; o->thresholds && i < o->metrics.nr; i++)
		if (strcmp(o->metrics.v[i], name) == 0 && isfinite(o->thresholds[i]))
			return o->thresholds[i];
	return o->threshold;
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

static void row_compare(const struct pairing *p, struct compare_row *r, const struct side_values *a,
			const struct side_values *b, bool many, struct samples *samples,
			struct sample_effect *ret)
{
	bool inverse = r->better == FIGURE_HIGHER;

	(many ? sample_compare_rows
	      : sample_compare)(samples_of(p, &samples[0], p->a->set, a, inverse), a->nr,
				samples_of(p, &samples[1], p->b->set, b, inverse), b->nr,
				r->threshold, p->c->o.confidence, ret);
}

static void row_make(struct pairing *p, size_t i, struct samples *samples)
{
	uint32_t figure = p->figures.v[i];
	const struct book_figure *f = &p->book->v.v[figure];
	const struct column *c = f->of_table ? column_of(p, f) : NULL;
	bool many = c && c->nr > COMPARE_MANY;
	struct side_values a = side_values(p->a, figure), b = side_values(p->b, figure);
	str_id unit = loaded_unit(a.nr ? p->a : p->b, figure);
	struct sample_effect e = { .method = SAMPLE_FEW, .ratio = NAN, .p = NAN };
	struct compare_row *r = &p->rows[p->places[i]];

	*r = (struct compare_row){ .name = f->name,
				   .key = f->key,
				   .unit = intern_str(p->book->texts, unit),
				   .better = f->better,
				   .of_table = f->of_table,
				   .versus = p->versus,
				   .ratio = NAN,
				   .low = NAN,
				   .high = NAN,
				   .p_ranks = NAN,
				   .threshold = threshold_of(&p->c->o, f->name),
				   .verdict = !b.nr   ? COMPARE_GONE
					      : !a.nr ? COMPARE_NEW
						      : COMPARE_UNCLEAR };
	stats_of(&a, &r->a);
	stats_of(&b, &r->b);
	r->delta = r->b.mean - r->a.mean;
	r->effect = f->of_table ? table_effect(r->a.mean, r->b.mean) : 0;
	if (row_tested(r))
		row_compare(p, r, &a, &b, many, samples, &e);
	effect_take(r, &e);
	if (!many) {
		r->odd_a = order_of(&a);
		r->odd_b = order_of(&b);
	}
	if (e.method != SAMPLE_FEW)
		p->effects[i] = e;
}

/* ---- many rows ---- */

#define ROWS_OF_JOB ((size_t)4096)

static void rows_job(void *ctx, size_t job, unsigned worker)
{
	struct pairing *p = ctx;
	size_t from = job * ROWS_OF_JOB, to = from + ROWS_OF_JOB;

	for (size_t i = from; i < to && i < p->figures.nr; i++)
		row_make(p, i, p->samples[worker]);
}

/*
 * Effects are needed until the variances of all rows are known. Where rows have few runs none is
 * written, so that its memory, 140 bytes for each row, is never touched.
 */
static void effects_room(struct pairing *p)
{
	_Static_assert(SAMPLE_FEW == 0, "an effect that is not written is of few runs");

	p->effects = xcalloc(p->figures.nr + 1, sizeof(*p->effects));
}

static void rows_make(struct pairing *p, struct workers *w)
{
	struct comparison *c = p->c;
	unsigned nr = workers_count(w);

	VEC_RESERVE(&c->rows, c->rows.nr + p->figures.nr + 1);
	p->rows = c->rows.v + c->rows.nr;
	c->rows.nr += p->figures.nr;
	p->samples = xcalloc(nr, sizeof(*p->samples));
	effects_room(p);
	workers_run(w, (p->figures.nr + ROWS_OF_JOB - 1) / ROWS_OF_JOB, rows_job, p);
	for (unsigned i = 0; i < nr; i++) {
		free(p->samples[i][0].v);
		free(p->samples[i][1].v);
	}
	free(p->samples);
}

/* Rows of one metric with one threshold, in the order of the book. */
static void column_pool(struct pairing *p, const struct column *c)
{
	size_t with = 0;
	struct sample_effect **e = xcalloc(p->figures.nr + 1, sizeof(*e));

	for (size_t i = 0; i < p->figures.nr; i++)
		if (p->effects[i].method != SAMPLE_FEW &&
		    p->book->v.v[p->figures.v[i]].name_id == c->id)
			e[with++] = &p->effects[i];
	sample_pool(e, with, threshold_of(&p->c->o, c->name), p->c->o.confidence);
	free(e);
}

/* sample_judge wants the effect as it was; all that it needs is in the row but p of `same`. */
static void row_keep_same(struct compare_row *r, const struct sample_effect *e, double confidence)
{
	if (row_tested(r) && e->p_same <= 1 - confidence)
		r->verdict = COMPARE_SAME;
}

/* False: all rows have few runs. */
static bool any_by_t(const struct pairing *p)
{
	for (size_t i = 0; i < p->figures.nr; i++)
		if (p->rows[i].method != SAMPLE_FEW)
			return true;
	return false;
}

static void rows_finish(struct pairing *p)
{
	if (!any_by_t(p))
		return;
	for (size_t i = 0; i < p->columns.nr; i++)
		if (p->columns.v[i].nr > COMPARE_MANY)
			column_pool(p, &p->columns.v[i]);
	for (size_t i = 0; i < p->figures.nr; i++) {
		const struct sample_effect *e = &p->effects[i];

		if (e->method == SAMPLE_FEW)
			continue;
		effect_take(&p->rows[p->places[i]], e);
		row_keep_same(&p->rows[p->places[i]], e, p->c->o.confidence);
	}
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
		 const struct loaded_set *b, const struct figure_book *book, struct workers *w)
{
	struct pairing p = { .c = c,
			     .a = a,
			     .b = b,
			     .book = book,
			     .versus = versus,
			     .blocked = run_sets_blocked(a->set, b->set) };

	columns_find(&p);
	figures_choose(&p);
	places_find(&p);
	rows_make(&p, w);
	rows_finish(&p);
	units_check(&p, &c->versus.v[versus].comparable);
	free(p.places);
	free(p.effects);
	VEC_RELEASE(&p.columns);
	VEC_RELEASE(&p.figures);
}
