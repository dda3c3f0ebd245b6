#include "power_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/* More of an interval than this does not belong to the one before. */
#define MOST_MOVED 0.95

/* ---- window ---- */

static int double_cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double median_of(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), double_cmp);
	return n ? v[n / 2] : 0;
}

static double window_median_s(const struct power_window *w)
{
	CLEANUP(xfreep) double *v = xcalloc(w->to - w->from + 1, sizeof(*v));

	for (size_t i = w->from; i < w->to; i++)
		v[i - w->from] = w->d->length_s[i];
	return median_of(v, w->to - w->from);
}

void power_window_make(struct power_window *w, const struct power_data *d, size_t from, size_t to,
		       uint32_t *class_of, uint32_t classes)
{
	*w = (struct power_window){ .d = d,
				    .from = from,
				    .to = to,
				    .class_of = class_of,
				    .classes = classes,
				    .always = POWER_NO_CLASS,
				    .known = POWER_NO_CLASS,
				    .is_always = xcalloc(classes + 1, 1) };
	if (d->always != POWER_NO_CLASS)
		w->always = class_of[d->always];
	if (d->known != POWER_NO_CLASS)
		w->known = class_of[d->known];
	if (w->always != POWER_NO_CLASS)
		w->is_always[w->always] = true;
	w->length_s = window_median_s(w);
	for (size_t i = from; i < to; i++)
		w->intervals += power_counts(d, i);
}

void power_window_release(struct power_window *w)
{
	free(w->class_of);
	free(w->is_always);
	*w = (struct power_window){ 0 };
}

/* ---- moving an interval ---- */

/* A row under construction: times by class, each class once. */
struct row {
	double *t_s, *share_s; /* by class */
	size_t *stamp;         /* by class: the row that they belong to */
	uint32_t *touched;
	size_t nr, number;
};

static void row_add(struct row *r, uint32_t class_id, double t_s, double share_s)
{
	if (r->stamp[class_id] != r->number) {
		r->stamp[class_id] = r->number;
		r->t_s[class_id] = r->share_s[class_id] = 0;
		r->touched[r->nr++] = class_id;
	}
	r->t_s[class_id] += t_s;
	r->share_s[class_id] += share_s;
}

/* Time of a part, and of the static power as much as belongs to it. */
static void row_add_part(struct row *r, uint32_t class_id, const struct power_part *p, double t_s)
{
	row_add(r, class_id, t_s, p->t_s > 0 ? t_s * (p->share_s / p->t_s) : 0);
}

static double part_border(const struct power_part *p, bool at_end)
{
	return at_end ? p->end : p->begin;
}

/*
 * What of part p lies within lag_s of the interval's end (or beginning): first what runs there,
 * then the others in proportion, as their order is not known. spread: which part of the others.
 */
static double part_moved(const struct power_part *p, bool at_end, double lag_s, double spread)
{
	double own = fmin(part_border(p, at_end) * lag_s, p->t_s);

	return own + spread * (p->t_s - own);
}

/* Whether a part of the data takes part in moves: what always runs is everywhere the same. */
static uint32_t part_class(const struct power_window *w, const struct power_part *p)
{
	return w->class_of[p->class_id];
}

static bool part_moves(const struct power_window *w, const struct power_part *p)
{
	uint32_t c = part_class(w, p);

	return c != POWER_NO_CLASS && !w->is_always[c];
}

static double moved_spread(const struct power_window *w, size_t i, bool at_end, double lag_s)
{
	double wanted = 0, own = 0, all = 0, left;

	for (size_t k = w->d->first[i]; k < w->d->first[i + 1]; k++) {
		const struct power_part *p = &w->d->parts[k];

		if (!part_moves(w, p))
			continue;
		wanted += part_border(p, at_end) * lag_s;
		own += part_moved(p, at_end, lag_s, 0);
		all += p->t_s;
	}
	left = all - own;
	return left > 0 ? fmin((wanted - own) / left, MOST_MOVED) : 0;
}

/* sign 1: adds what lies within lag_s of a border of interval i; −1: takes it away */
static void row_move(struct row *r, const struct power_window *w, size_t i, bool at_end,
		     double lag_s, double sign)
{
	double spread = moved_spread(w, i, at_end, lag_s);

	for (size_t k = w->d->first[i]; k < w->d->first[i + 1]; k++) {
		const struct power_part *p = &w->d->parts[k];

		if (part_moves(w, p))
			row_add_part(r, part_class(w, p), p,
				     sign * part_moved(p, at_end, lag_s, spread));
	}
}

/* The neighbour is not there: what ran at the border went on. */
static void row_extend(struct row *r, const struct power_window *w, size_t i, bool at_end,
		       double lag_s)
{
	for (size_t k = w->d->first[i]; k < w->d->first[i + 1]; k++) {
		const struct power_part *p = &w->d->parts[k];

		if (part_moves(w, p))
			row_add_part(r, part_class(w, p), p, part_border(p, at_end) * lag_s);
	}
}

static bool has_before(const struct power_window *w, size_t i)
{
	return i > w->from && w->d->number[i - 1] + 1 == w->d->number[i];
}

static bool has_behind(const struct power_window *w, size_t i)
{
	return i + 1 < w->to && w->d->number[i] + 1 == w->d->number[i + 1];
}

static void row_fill(struct row *r, const struct power_window *w, size_t i, double lag_s)
{
	double by_s = fmin(fabs(lag_s), MOST_MOVED * w->d->length_s[i]);
	bool late = lag_s > 0;

	for (size_t k = w->d->first[i]; k < w->d->first[i + 1]; k++) {
		const struct power_part *p = &w->d->parts[k];

		if (part_class(w, p) != POWER_NO_CLASS && p->t_s > 0)
			row_add_part(r, part_class(w, p), p, p->t_s);
	}
	if (by_s <= 0)
		return;
	row_move(r, w, i, late, by_s, -1);
	if (late && has_before(w, i))
		row_move(r, w, i - 1, late, by_s, 1);
	else if (!late && has_behind(w, i))
		row_move(r, w, i + 1, late, by_s, 1);
	else
		row_extend(r, w, i, !late, by_s);
}

/* ---- columns ---- */

static size_t columns_most(const struct power_window *w, bool moved)
{
	size_t parts = w->d->first[w->to] - w->d->first[w->from];

	return moved ? 2 * parts : parts;
}

/* What of an interval no class is charged for. */
static double row_left_s(const struct row *r, const struct power_window *w, double length_s)
{
	for (size_t k = 0; k < r->nr; k++) {
		if (!w->is_always[r->touched[k]])
			length_s -= r->share_s[r->touched[k]];
	}
	return fmax(length_s, 0);
}

static void row_put(const struct row *r, const struct power_window *w, double length_s,
		    struct columns *c)
{
	size_t at = c->first[c->n];
	double left_s = row_left_s(r, w, length_s);

	for (size_t k = 0; k < r->nr; k++) {
		uint32_t f = r->touched[k];

		if (r->t_s[f] <= 0)
			continue;
		c->class_id[at] = f;
		c->share_s[at] = w->is_always[f] ? left_s : fmax(r->share_s[f], 0);
		c->t_s[at++] = r->t_s[f];
	}
	c->first[++c->n] = at;
}

void columns_make(const struct power_window *w, double lag_s, size_t rows, struct columns *ret)
{
	CLEANUP(xfreep) double *t_s = xcalloc(2 * (size_t)w->classes + 1, sizeof(*t_s));
	CLEANUP(xfreep) size_t *stamp = xcalloc(w->classes + 1, sizeof(*stamp));
	CLEANUP(xfreep) uint32_t *touched = xcalloc(w->classes + 1, sizeof(*touched));
	struct row r = {
		.t_s = t_s, .share_s = t_s + w->classes, .stamp = stamp, .touched = touched
	};
	size_t most = columns_most(w, lag_s != 0);

	rows = rows < w->intervals ? rows : w->intervals;
	*ret = (struct columns){ .classes = w->classes,
				 .first = xcalloc(rows + 1, sizeof(*ret->first)),
				 .interval = xcalloc(rows + 1, sizeof(*ret->interval)),
				 .class_id = xcalloc(most + 1, sizeof(*ret->class_id)),
				 .t_s = xcalloc(most + 1, sizeof(*ret->t_s)),
				 .share_s = xcalloc(most + 1, sizeof(*ret->share_s)) };
	for (size_t i = w->from; i < w->to && ret->n < rows; i++) {
		if (!power_counts(w->d, i))
			continue;
		r.number++;
		r.nr = 0;
		row_fill(&r, w, i, lag_s);
		ret->interval[ret->n] = i;
		row_put(&r, w, w->d->length_s[i], ret);
	}
}

void columns_release(struct columns *c)
{
	free(c->first);
	free(c->interval);
	free(c->class_id);
	free(c->t_s);
	free(c->share_s);
	*c = (struct columns){ 0 };
}

void columns_mul(const struct columns *c, const double *p, double *to)
{
	for (size_t i = 0; i < c->n; i++) {
		double sum = 0;

		for (size_t k = c->first[i]; k < c->first[i + 1]; k++)
			sum += c->t_s[k] * p[c->class_id[k]];
		to[i] = sum;
	}
}

void columns_sum(const struct columns *c, const double *w, double *to)
{
	memset(to, 0, c->classes * sizeof(*to));
	for (size_t i = 0; i < c->n; i++) {
		for (size_t k = c->first[i]; k < c->first[i + 1]; k++)
			to[c->class_id[k]] += c->t_s[k] * w[i];
	}
}

void columns_sum_squares(const struct columns *c, const double *w, double *to)
{
	memset(to, 0, c->classes * sizeof(*to));
	for (size_t i = 0; i < c->n; i++) {
		for (size_t k = c->first[i]; k < c->first[i + 1]; k++)
			to[c->class_id[k]] += c->t_s[k] * c->t_s[k] * w[i];
	}
}

void columns_border(const struct power_window *w, const struct columns *c, const double *p,
		    double *to)
{
	for (size_t r = 0; r < c->n; r++) {
		size_t i = c->interval[r];
		double sum = 0;

		for (size_t k = w->d->first[i]; k < w->d->first[i + 1]; k++) {
			const struct power_part *part = &w->d->parts[k];

			if (part_moves(w, part))
				sum += ((double)part->begin - part->end) * p[part_class(w, part)];
		}
		to[r] = sum;
	}
}
