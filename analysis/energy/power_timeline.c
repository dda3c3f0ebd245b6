#include "power_timeline.h"

#include <string.h>

/* ---- which classes are shown ---- */

struct rank {
	uint32_t class_id;
	double energy_j;
};

static int rank_cmp(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->energy_j != y->energy_j)
		return x->energy_j > y->energy_j ? -1 : 1;
	return (x->class_id > y->class_id) - (x->class_id < y->class_id);
}

/* place: by class, its column; the base class's is the last one, that of the rest before it */
static void columns_choose(struct power_timeline *t, const struct sample *s, const double *energy_j,
			   uint32_t *place)
{
	CLEANUP(xfreep) struct rank *ranks = xcalloc((size_t)s->classes + 1, sizeof(*ranks));
	size_t nr = 0;

	for (uint32_t c = 0; c < s->classes; c++) {
		if (energy_j[c] > 0)
			ranks[nr++] = (struct rank){ c, energy_j[c] };
	}
	qsort(ranks, nr, sizeof(*ranks), rank_cmp);
	t->shown = nr < POWER_TIMELINE_SHOWN ? nr : POWER_TIMELINE_SHOWN;
	for (uint32_t c = 0; c < s->classes; c++)
		place[c] = (uint32_t)t->shown;
	for (size_t i = 0; i < t->shown; i++) {
		t->classes[i] = ranks[i].class_id;
		place[ranks[i].class_id] = (uint32_t)i;
	}
	place[s->classes] = (uint32_t)t->shown + 1;
	t->columns = t->shown + 2;
}

/* ---- bins ---- */

static void bins_make(struct power_timeline *t, const struct sample *s)
{
	const struct grid *g = s->grid;
	int64_t length_ns = g->t_ns[g->n - 1] - g->t_ns[0];

	t->from_ns = g->t_ns[0];
	t->bins = g->n - 1 < POWER_TIMELINE_BINS ? g->n - 1 : POWER_TIMELINE_BINS;
	t->bin_ns = length_ns / (int64_t)t->bins + 1;
	t->w = xcalloc(t->bins * t->columns + 1, sizeof(*t->w));
	t->covered_ns = xcalloc(t->bins + 1, sizeof(*t->covered_ns));
}

/* The energies of an interval's columns, J. */
static void interval_energies(const struct power_timeline *t, const struct sample *s,
			      const struct sample_data *d, const struct power_fit *f,
			      const uint32_t *place, size_t k, double *to)
{
	double mu_j = 0, base_w = 0, base_j, by;

	memset(to, 0, t->columns * sizeof(*to));
	for (size_t i = d->first[k]; i < d->first[k + 1]; i++) {
		const struct power_part *p = &d->parts.v[i];

		mu_j += f->weight_w[i] * (double)p->t_s;
		base_w = p->class_id == s->classes ? f->weight_w[i] : base_w;
	}
	by = mu_j > 0 ? d->energy_j[k] / mu_j : 0;
	for (size_t i = d->first[k]; i < d->first[k + 1]; i++) {
		const struct power_part *p = &d->parts.v[i];

		to[place[p->class_id]] += by * f->weight_w[i] * (double)p->t_s;
		if (p->class_id == s->classes)
			continue;
		base_j = by * base_w * (double)p->share_s;
		to[place[p->class_id]] += base_j;
		to[t->columns - 1] -= base_j;
	}
}

/* Evenly over the bins that it touches. */
static void interval_spread(struct power_timeline *t, const struct grid *g, size_t interval,
			    const double *energy_j)
{
	int64_t from_ns = g->t_ns[interval], to_ns = g->t_ns[interval + 1];

	for (size_t b = (size_t)((from_ns - t->from_ns) / t->bin_ns); b < t->bins; b++) {
		int64_t begin_ns = t->from_ns + (int64_t)b * t->bin_ns;
		int64_t end_ns = begin_ns + t->bin_ns;
		double in_ns;

		begin_ns = begin_ns > from_ns ? begin_ns : from_ns;
		end_ns = end_ns < to_ns ? end_ns : to_ns;
		if (begin_ns >= end_ns)
			break;
		in_ns = (double)(end_ns - begin_ns);
		t->covered_ns[b] += in_ns;
		for (size_t c = 0; c < t->columns; c++)
			t->w[b * t->columns + c] += energy_j[c] * in_ns / (double)(to_ns - from_ns);
	}
}

/* Sums of energy become mean power. */
static void bins_finish(struct power_timeline *t)
{
	for (size_t b = 0; b < t->bins; b++) {
		for (size_t c = 0; t->covered_ns[b] > 0 && c < t->columns; c++)
			t->w[b * t->columns + c] =
				fmax(t->w[b * t->columns + c], 0) / (t->covered_ns[b] * 1e-9);
	}
}

void power_timeline_make(struct power_timeline *ret, const struct sample *s,
			 const struct sample_data *d, const struct power_fit *f,
			 const double *energy_j)
{
	CLEANUP(xfreep) uint32_t *place = xcalloc((size_t)s->classes + 1, sizeof(*place));
	double columns_j[POWER_TIMELINE_SHOWN + 2];

	*ret = (struct power_timeline){ 0 };
	if (f->used != POWER_USED)
		return;
	columns_choose(ret, s, energy_j, place);
	bins_make(ret, s);
	for (size_t k = 0; k < s->n; k++) {
		if (d->halo[k])
			continue;
		interval_energies(ret, s, d, f, place, k, columns_j);
		interval_spread(ret, s->grid, (size_t)s->number[k], columns_j);
	}
	bins_finish(ret);
}

void power_timeline_release(struct power_timeline *t)
{
	free(t->w);
	free(t->covered_ns);
	*t = (struct power_timeline){ 0 };
}
