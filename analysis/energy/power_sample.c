#include "power_sample.h"

#include <string.h>

#define SMALL 1e-5 /* of an interval: less is what rounding leaves */
/* A counter that counts in steps of more than this part of a typical interval is a coarse one. */
#define COARSE_STEP 0.1

/* How well an idle power holds during the work: silicon gets warm. */
#define IDLE_ERROR_W 1.0
#define IDLE_ERROR 0.05

/* ---- entries by interval ---- */

static size_t grid_intervals(const struct grid *g)
{
	return g->n - 1 < LOG_INTERVAL ? g->n - 1 : (size_t)LOG_INTERVAL;
}

/* at: by interval of the grid, its place in the sample; UINT32_MAX: none */
static void sample_choose(struct sample *s, unsigned level, uint32_t *at)
{
	for (size_t i = 0; i < grid_intervals(s->grid); i++) {
		at[i] = UINT32_MAX;
		if (interval_log_level_near(i) < level)
			continue;
		at[i] = (uint32_t)s->n;
		s->near[s->n] = interval_log_level(i) < level;
		s->number[s->n++] = i;
	}
}

static struct sample_item item_of(const struct sample *s, uint32_t lane, uint32_t class_id,
				  uint32_t leaf_id, const struct log_entry *e)
{
	bool device = s->view == VIEW_DEVICE;
	float share = device || e->own_ns <= 0 ? 1 : e->share_ns / e->own_ns;

	return (struct sample_item){ .lane = lane,
				     .node = e->node,
				     .class_id = class_id,
				     .leaf_id = leaf_id,
				     .time_ns = device ? e->own_ns : e->share_ns,
				     .share_ns = e->share_ns,
				     .own_ns = e->own_ns,
				     .at_end = e->at_end ? share : 0 };
}

/* The log of a lane: counts its entries (items NULL), or puts them where they belong. */
static void sample_lane(struct sample *s, const struct interval_log *l, const uint32_t *at,
			uint32_t lane, const uint32_t *class_of, const uint32_t *leaf_of)
{
	for (size_t i = 0; i < l->v.nr; i++) {
		const struct log_entry *e = &l->v.v[i];
		uint32_t k = at[e->interval];

		if (k == UINT32_MAX)
			continue;
		if (s->items)
			s->items[s->first[k]++] = item_of(s, lane, class_of[e->node],
							  leaf_of ? leaf_of[e->node] : 0, e);
		else
			s->first[k]++;
	}
}

static void sample_lanes(struct sample *s, const struct share_group *t, size_t g,
			 const uint32_t *at, const struct energy_classes *classes)
{
	for (size_t i = 0; i < t->d.lanes.nr; i++) {
		const struct accumulator *w = &t->accumulators[i * t->d.grids.nr + g];
		size_t lane = t->d.lanes.v[i].lane;

		if (classes->of[lane])
			sample_lane(s, &w->log, at, (uint32_t)i, classes->of[lane],
				    classes->leaf_of ? classes->leaf_of[lane] : NULL);
	}
}

void sample_make(struct sample *s, const struct share_group *t, size_t g, unsigned level,
		 const struct energy_classes *classes)
{
	const struct grid *grid = &t->d.grids.v[g];
	size_t most = grid_intervals(grid), items = 0;
	unsigned first = interval_log_first_level(grid->n);
	CLEANUP(xfreep) uint32_t *at = xcalloc(most + 1, sizeof(*at));

	*s = (struct sample){ .grid = grid,
			      .view = t->d.view,
			      .classes = classes->nr,
			      .leaves = classes->leaves,
			      .number = xcalloc(most + 1, sizeof(*s->number)),
			      .near = xcalloc(most + 1, sizeof(*s->near)) };
	sample_choose(s, level > first ? level : first, at);
	s->first = xcalloc(s->n + 2, sizeof(*s->first));
	sample_lanes(s, t, g, at, classes);
	for (size_t k = 0; k <= s->n; k++) {
		size_t here = s->first[k];

		s->first[k] = items;
		items += here;
	}
	s->items = xcalloc(items + 1, sizeof(*s->items));
	sample_lanes(s, t, g, at, classes);
	memmove(s->first + 1, s->first, s->n * sizeof(*s->first));
	s->first[0] = 0;
}

void sample_release(struct sample *s)
{
	free(s->number);
	free(s->near);
	free(s->first);
	free(s->items);
	*s = (struct sample){ 0 };
}

/* ---- the parts of an interval ---- */

/* A class in the present interval: sums are exact, so that they do not depend on lanes' order. */
struct class_sum {
	size_t interval; /* that it belongs to, plus 1 */
	double time_ns, share_ns, begin, end;
};

struct sums {
	struct class_sum *of; /* by class */
	uint32_t *there;      /* classes of the interval */
	size_t nr;
	uint32_t base; /* number of the base class */
	bool leaves;
};

static struct class_sum *sum_of(struct sums *s, size_t k, const struct sample_item *item)
{
	uint32_t class_id = s->leaves ? item->leaf_id : item->class_id;
	struct class_sum *c = &s->of[class_id];

	if (c->interval != k + 1) {
		*c = (struct class_sum){ .interval = k + 1 };
		s->there[s->nr++] = class_id;
	}
	return c;
}

static bool follows(const struct sample *s, size_t k)
{
	return k && s->number[k - 1] + 1 == s->number[k];
}

static void sums_of_items(struct sums *sums, const struct sample *s, size_t k)
{
	for (size_t i = s->first[k]; i < s->first[k + 1]; i++) {
		const struct sample_item *item = &s->items[i];
		struct class_sum *c = sum_of(sums, k, item);

		c->time_ns += item->time_ns;
		c->share_ns += item->share_ns;
		c->end += item->at_end;
	}
}

/* What ran where the interval before ended. */
static void sums_of_border(struct sums *sums, const struct sample *s, size_t k)
{
	for (size_t i = s->first[k - 1]; i < s->first[k]; i++) {
		const struct sample_item *item = &s->items[i];

		if (item->at_end > 0)
			sum_of(sums, k, item)->begin += item->at_end;
	}
}

static void sum_of_base(struct sums *sums, const struct sample *s, double length_ns)
{
	struct class_sum all = { 0 }, *base = &sums->of[sums->base];

	for (size_t i = 0; i < sums->nr; i++) {
		const struct class_sum *c = &sums->of[sums->there[i]];

		all.time_ns += c->time_ns;
		all.begin += c->begin;
		all.end += c->end;
	}
	if (s->view == VIEW_DEVICE)
		all = (struct class_sum){ 0 };
	*base = (struct class_sum){ .time_ns = left_of(length_ns, all.time_ns, SMALL),
				    .begin = left_of(1, all.begin, SMALL),
				    .end = left_of(1, all.end, SMALL) };
	if (base->time_ns > 0 || base->begin > 0 || base->end > 0)
		sums->there[sums->nr++] = sums->base;
}

static int class_cmp(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void parts_put(struct sample_data *d, const struct sums *sums, enum energy_view view)
{
	for (size_t i = 0; i < sums->nr; i++) {
		const struct class_sum *c = &sums->of[sums->there[i]];
		double share_ns = view == VIEW_DEVICE ? c->share_ns : 0;

		VEC_PUSH(&d->parts, ((struct power_part){ .class_id = sums->there[i],
							  .t_s = (float)(c->time_ns * 1e-9),
							  .begin = (float)c->begin,
							  .end = (float)c->end,
							  .share_s = (float)(share_ns * 1e-9) }));
	}
}

static void parts_of_interval(struct sample_data *d, struct sums *sums, const struct sample *s,
			      size_t k)
{
	size_t first = d->parts.nr;

	sums->nr = 0;
	sums_of_items(sums, s, k);
	if (follows(s, k))
		sums_of_border(sums, s, k);
	sum_of_base(sums, s, d->length_s[k] * 1e9);
	qsort(sums->there, sums->nr, sizeof(*sums->there), class_cmp);
	parts_put(d, sums, s->view);
	/* as nothing is known of the interval before, its border is as the other one */
	for (size_t i = first; !follows(s, k) && i < d->parts.nr; i++)
		d->parts.v[i].begin = d->parts.v[i].end;
}

/* ---- a counter ---- */

static void energies_take(struct sample_data *d, const struct sample *s,
			  const struct grid_counter *c)
{
	for (size_t k = 0; k < s->n; k++) {
		int64_t i = (int64_t)s->number[k];
		double j = c->curve.de[i];

		d->length_s[k] = (double)(s->grid->t_ns[i + 1] - s->grid->t_ns[i]) * 1e-9;
		d->halo[k] = s->near[k] || grid_dead(c, i) || !(j >= 0);
		d->energy_j[k] = d->halo[k] ? 0 : j;
	}
}

static double typical_j(const struct sample_data *d, size_t n)
{
	double sum = 0, nr = 0;

	for (size_t k = 0; k < n; k++) {
		sum += d->energy_j[k];
		nr += !d->halo[k];
	}
	return nr > 0 ? sum / nr : 0;
}

void sample_data_make(struct sample_data *ret, const struct sample *s, const struct grid_counter *c,
		      double idle_w, bool leaves)
{
	uint32_t base = leaves ? s->leaves : s->classes;
	CLEANUP(xfreep) struct class_sum *of = xcalloc((size_t)base + 1, sizeof(*of));
	CLEANUP(xfreep) uint32_t *there = xcalloc((size_t)base + 1, sizeof(*there));
	struct sums sums = { .of = of, .there = there, .base = base, .leaves = leaves };

	*ret = (struct sample_data){ .energy_j = xcalloc(s->n + 1, sizeof(double)),
				     .length_s = xcalloc(s->n + 1, sizeof(double)),
				     .halo = xcalloc(s->n + 1, sizeof(bool)),
				     .first = xcalloc(s->n + 1, sizeof(size_t)) };
	energies_take(ret, s, c);
	for (size_t k = 0; k < s->n; k++) {
		parts_of_interval(ret, &sums, s, k);
		ret->first[k + 1] = ret->parts.nr;
	}
	ret->d = (struct power_data){
		.n = s->n,
		.number = s->number,
		.energy_j = ret->energy_j,
		.length_s = ret->length_s,
		.halo = ret->halo,
		.first = ret->first,
		.parts = ret->parts.v,
		.classes = base + 1,
		.always = s->view == VIEW_DEVICE ? base : POWER_NO_CLASS,
		.known = idle_w > 0 ? base : POWER_NO_CLASS,
		.known_w = idle_w,
		.known_error_w = fmax(IDLE_ERROR_W, IDLE_ERROR * idle_w),
		.tau_s = c->curve.tau_s,
		.border_error_s = c->curve.border_error_s,
		.stale = c->curve.border_error_s > 0 ||
			 c->step_j > COARSE_STEP * typical_j(ret, s->n),
	};
}

static size_t parts_counted(const struct sample_data *d, size_t n)
{
	size_t nr = 0;

	for (size_t k = 0; k < n; k++)
		nr += d->halo[k] ? 0 : d->first[k + 1] - d->first[k];
	return nr;
}

void sample_data_thin(struct sample_data *d, const struct sample *s, size_t parts)
{
	for (unsigned level = 1; level < LOG_LEVELS && parts_counted(d, s->n) > parts; level++) {
		for (size_t k = 0; k < s->n; k++) {
			if (interval_log_level(s->number[k]) >= level)
				continue;
			d->halo[k] = true;
			d->energy_j[k] = 0;
		}
	}
}

void sample_data_release(struct sample_data *d)
{
	free(d->energy_j);
	free(d->length_s);
	free(d->halo);
	free(d->first);
	VEC_RELEASE(&d->parts);
	*d = (struct sample_data){ 0 };
}
