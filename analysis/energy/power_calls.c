#include "power_calls.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/search.h"

/*
 * Error of a call by power. An interval that it has to itself is no mistake. Where it has the part
 * x of an interval's energy E, what is wrong with its power, relative to that of the others, moves
 * x(1 − x)·E: the powers' own half-widths, and, as a single call draws more or less than its name
 * does, what the fit leaves unexplained. One call's deviation has one sign, so intervals add up. At
 * its ends the sensor's lag moves energy into its neighbours, or theirs into it.
 * Where the call begins or ends in an interval in which others of its nodes ran, too, the time
 * between them is only known in sum.
 */

#define RESIDUALS 2.4 /* half-width, in units of what is unexplained: 1.2 · 1.96, as of rows */
#define Z95 1.96
#define ALONE (1 - 1e-6) /* of an interval: the rest is rounding */

/* A call that was chosen, on its lane in the domain. */
struct chosen {
	size_t call; /* of those given */
	size_t place;
	uint32_t class_id, leaf_id;
	size_t rank; /* by length */
	int64_t ns;  /* inside the samples */
};

struct work {
	const struct sample *s;
	const struct sample_data *d;
	const struct grid_counter *c;
	const struct energy_classes *classes;
	const struct power_fit *fit; /* NULL: powers are not used */
	const double *item_j;
	double *relative; /* by class: half-width / energy */
	double *error_j;  /* by interval: Σ energy · relative half-width */
	/* of the present lane: preorder of its nodes, and behind their subtrees */
	size_t lane;
	uint32_t *begin, *end;
};

/* ---- which calls ---- */

static int64_t inside_ns(const struct work *w, const struct energy_call *call)
{
	const int64_t *t_ns = w->s->grid->t_ns;
	int64_t from = t_ns[0], to = t_ns[w->s->grid->n - 1];

	from = call->start_ns > from ? call->start_ns : from;
	to = call->end_ns < to ? call->end_ns : to;
	return to - from;
}

/* The longest first; what follows does not depend on the order of tracks. */
static int chosen_cmp(const void *pa, const void *pb, void *ctx)
{
	const struct chosen *a = pa, *b = pb;
	const struct energy_call *calls = ctx;
	int64_t a_ns = calls[a->call].start_ns, b_ns = calls[b->call].start_ns;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a_ns != b_ns)
		return a_ns < b_ns ? -1 : 1;
	if (a->class_id != b->class_id)
		return a->class_id < b->class_id ? -1 : 1;
	return (a->leaf_id > b->leaf_id) - (a->leaf_id < b->leaf_id);
}

/* Keeps at most so many of a class, and in all; returns how many. */
static size_t chosen_limit(struct chosen *v, size_t nr, uint32_t classes)
{
	CLEANUP(xfreep) uint32_t *of_class = xcalloc((size_t)classes + 1, sizeof(*of_class));
	size_t kept = 0;

	for (size_t i = 0; i < nr && kept < CALLS_MOST; i++) {
		if (of_class[v[i].class_id]++ >= CALLS_OF_CLASS)
			continue;
		v[kept] = v[i];
		v[kept].rank = kept;
		kept++;
	}
	return kept;
}

/* By lane, so that each lane's nodes are put in order once. */
static int chosen_lane_cmp(const void *pa, const void *pb)
{
	const struct chosen *a = pa, *b = pb;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

struct choice {
	VEC(struct chosen) v;
};

/* Those of a lane of the domain, of all that there are in any domain. */
static void lane_calls(const struct work *w, const struct domain *domain, size_t place,
		       struct choice *ret)
{
	const struct energy_classes *e = w->classes;
	int64_t least_ns = CALL_PERIODS * w->c->curve.median_period_ns;
	size_t lane = domain->lanes.v[place].lane;
	size_t i = LOWER_BOUND(at, 0, e->nr_calls, e->calls[at].lane < lane);

	for (; i < e->nr_calls && e->calls[i].lane == lane && e->of[lane]; i++) {
		uint32_t node = e->calls[i].node;
		int64_t ns = inside_ns(w, &e->calls[i]);

		if (ns > 0 && ns >= least_ns)
			VEC_PUSH(&ret->v,
				 ((struct chosen){ .call = i,
						   .place = place,
						   .class_id = e->of[lane][node],
						   .leaf_id =
							   e->leaf_of ? e->leaf_of[lane][node] : 0,
						   .ns = ns }));
	}
}

static void calls_choose(const struct work *w, const struct domain *domain, struct choice *ret)
{
	for (size_t place = 0; place < domain->lanes.nr; place++)
		lane_calls(w, domain, place, ret);
	if (ret->v.nr == 0)
		return;
	qsort_r(ret->v.v, ret->v.nr, sizeof(*ret->v.v), chosen_cmp, (void *)w->classes->calls);
	ret->v.nr = chosen_limit(ret->v.v, ret->v.nr, w->classes->nr);
	qsort(ret->v.v, ret->v.nr, sizeof(*ret->v.v), chosen_lane_cmp);
}

/* ---- subtrees of a lane's nodes ---- */

static void lane_order(struct work *w, size_t lane)
{
	const uint32_t *parent = w->classes->parent_of[lane], nodes = w->classes->nodes_of[lane];
	CLEANUP(xfreep) uint32_t *next = xcalloc((size_t)nodes + 1, sizeof(*next));
	uint32_t at = 0;

	w->lane = lane;
	w->begin = xreallocarray(w->begin, (size_t)nodes + 1, sizeof(*w->begin));
	w->end = xreallocarray(w->end, (size_t)nodes + 1, sizeof(*w->end));
	/* first their sizes; parents come before children */
	for (uint32_t n = 0; n < nodes; n++)
		w->end[n] = 1;
	for (uint32_t n = nodes; n-- > 0;) {
		if (parent[n] != NODE_NONE)
			w->end[parent[n]] += w->end[n];
	}
	for (uint32_t n = 0; n < nodes; n++) {
		uint32_t *place = parent[n] == NODE_NONE ? &at : &next[parent[n]];

		w->begin[n] = *place;
		*place += w->end[n];
		next[n] = w->begin[n] + 1;
		w->end[n] += w->begin[n];
	}
}

static bool is_below(const struct work *w, uint32_t node, uint32_t top)
{
	return top != NODE_NONE && w->begin[node] >= w->begin[top] && w->begin[node] < w->end[top];
}

/* ---- a call in an interval ---- */

/* What a call's nodes have of an interval. */
struct part {
	double own_ns, share_ns;
	double power_j, error_j; /* error_j: energy · relative half-width */
	size_t nodes;
};

static struct part part_of(const struct work *w, const struct chosen *ch, size_t k)
{
	const struct energy_call *call = &w->classes->calls[ch->call];
	const struct sample_item *items = w->s->items;
	size_t end = w->s->first[k + 1], i;
	struct part ret = { 0 };

	i = LOWER_BOUND(at, w->s->first[k], end, items[at].lane < ch->place);
	for (; i < end && items[i].lane == ch->place; i++) {
		const struct sample_item *item = &items[i];

		if (!is_below(w, item->node, call->node) &&
		    !is_below(w, item->node, call->piece_node))
			continue;
		ret.own_ns += item->own_ns;
		ret.share_ns += item->share_ns;
		ret.power_j += w->item_j[i];
		ret.error_j += w->item_j[i] * (w->fit ? w->relative[item->class_id] : 0);
		ret.nodes++;
	}
	return ret;
}

static double clamp(double v, double most)
{
	return fmax(0, fmin(v, most));
}

static double power_error_j(const struct work *w, size_t k, const struct part *p)
{
	double all_j = w->d->energy_j[k], x = all_j > 0 ? clamp(p->power_j / all_j, 1) : 0;
	double mine = p->power_j > 0 ? p->error_j / p->power_j : 0;
	double others_j = all_j - p->power_j, others_error_j = w->error_j[k] - p->error_j;
	double others = others_j > 0 ? fmax(0, others_error_j) / others_j : 0;

	return x * (1 - x) *
	       (sqrt(mine * mine + others * others) * all_j +
		RESIDUALS * w->fit->residual_w * w->d->length_s[k]);
}

/* Between nothing and what there is, or what the device can draw. */
static double time_error_j(const struct work *w, size_t k, double time_j, double share,
			   int64_t open_ns)
{
	double most = w->d->energy_j[k];

	if (share >= ALONE)
		return 0;
	if (w->c->max_w > 0)
		most = fmin(most, w->c->max_w * (double)open_ns * 1e-9);
	return fmax(time_j, most - time_j);
}

/* ---- sums of a call ---- */

struct sums {
	double time_j, time_error_j, power_j, power_error_j;
	int64_t sampled_ns;
	/* blocks of sampled intervals, and the scatter of their power (Welford 1962) */
	uint64_t block;
	double block_j, block_ns;
	size_t blocks;
	double mean_w, squares;
};

static void block_end(struct sums *s)
{
	double w = s->block_j / (s->block_ns * 1e-9), off;

	if (s->block_ns <= 0)
		return;
	s->blocks++;
	off = w - s->mean_w;
	s->mean_w += off / (double)s->blocks;
	s->squares += off * (w - s->mean_w);
	s->block_j = s->block_ns = 0;
}

static void sums_add(struct sums *s, const struct work *w, size_t k, int64_t open_ns,
		     const struct part *p)
{
	/* its part of what its nodes have, where others of them were open */
	double f = p->own_ns > 0 ? clamp((double)open_ns / p->own_ns, 1) : 0;
	double share = p->share_ns / (w->d->length_s[k] * 1e9);
	double time_j = w->d->energy_j[k] * share * f;
	double unknown = p->nodes > 1 ? fmin(f, 1 - f) : f * (1 - f);
	uint64_t block = w->s->number[k] / LOG_BLOCK;

	if (block != s->block)
		block_end(s);
	s->block = block;
	s->block_j += w->fit ? f * p->power_j : time_j;
	s->block_ns += (double)open_ns;
	s->sampled_ns += open_ns;
	s->time_j += time_j;
	s->time_error_j += time_error_j(w, k, time_j, share * f, open_ns);
	if (!w->fit)
		return;
	s->power_j += f * p->power_j;
	s->power_error_j += f * power_error_j(w, k, p) + unknown * p->power_j;
	if ((double)open_ns < ALONE * w->d->length_s[k] * 1e9)
		s->power_error_j += f * p->power_j * fabs(w->fit->lag_s) / ((double)open_ns * 1e-9);
}

static int64_t live_until(const struct work *w, int64_t t_ns)
{
	const struct grid *g = w->s->grid;
	size_t i = LOWER_BOUND(at, 0, g->n, g->t_ns[at] <= t_ns);

	if (i == 0)
		return 0;
	if (i == g->n)
		return grid_live_ns(w->c, 0, (int64_t)g->n - 1);
	i--;
	return grid_live_ns(w->c, 0, (int64_t)i) +
	       (grid_dead(w->c, (int64_t)i) ? 0 : t_ns - g->t_ns[i]);
}

static uint8_t call_marks(const struct work *w, const struct energy_call *call)
{
	const struct grid *g = w->s->grid;
	size_t last = g->n - 1;
	size_t from = LOWER_BOUND(at, 0, g->n, g->t_ns[at] <= call->start_ns);
	size_t to = LOWER_BOUND(at, 0, g->n, g->t_ns[at] < call->end_ns);
	bool outside = call->start_ns < g->t_ns[0] || call->end_ns > g->t_ns[last];

	from = from ? from - 1 : 0;
	to = to < last ? to : last;
	return (uint8_t)((from < to ? grid_marks(w->c, (int64_t)from, (int64_t)to) : 0) |
			 (outside ? SPAN_OUTSIDE : 0));
}

/* What was not sampled is as what was; how well that is known the scatter of blocks says. */
static bool call_finish(const struct work *w, const struct energy_call *call, struct sums *s,
			struct energy_call_value *ret)
{
	int64_t live_ns = live_until(w, call->end_ns) - live_until(w, call->start_ns);
	int64_t left_ns = live_ns - s->sampled_ns;
	double blocks, left, by, error_j = 0;

	block_end(s);
	if (s->sampled_ns <= 0 || live_ns <= 0)
		return false;
	left_ns = left_ns > live_ns / 1000 ? left_ns : 0;
	if (left_ns && s->blocks < CALL_BLOCKS)
		return false;
	blocks = (double)s->blocks;
	left = blocks * (double)left_ns / (double)s->sampled_ns;
	by = 1 + (double)left_ns / (double)s->sampled_ns;
	if (left > 0)
		error_j = Z95 * sqrt(s->squares / (blocks - 1) * (1 / blocks + 1 / fmax(left, 1))) *
			  (double)left_ns * 1e-9;
	ret->time_j = s->time_j * by;
	ret->time_half_width_j = s->time_error_j * by + error_j;
	ret->power_j = w->fit ? s->power_j * by : NAN;
	ret->power_half_width_j = w->fit ? s->power_error_j * by + error_j : NAN;
	ret->live_ns = live_ns;
	ret->covered = (double)s->sampled_ns / (double)live_ns;
	ret->marks = call_marks(w, call);
	return true;
}

static bool call_value(const struct work *w, const struct chosen *ch, struct energy_call_value *ret)
{
	const struct energy_call *call = &w->classes->calls[ch->call];
	const struct sample *s = w->s;
	const int64_t *t_ns = s->grid->t_ns;
	struct sums sums = { 0 };
	size_t k;

	*ret = (struct energy_call_value){ .call = ch->call };
	k = LOWER_BOUND(at, 0, s->n, t_ns[s->number[at] + 1] <= call->start_ns);
	for (; k < s->n && t_ns[s->number[k]] < call->end_ns; k++) {
		int64_t from_ns = t_ns[s->number[k]], to_ns = t_ns[s->number[k] + 1];
		struct part p;

		if (w->d->halo[k])
			continue;
		from_ns = call->start_ns > from_ns ? call->start_ns : from_ns;
		to_ns = call->end_ns < to_ns ? call->end_ns : to_ns;
		p = part_of(w, ch, k);
		sums_add(&sums, w, k, to_ns - from_ns, &p);
	}
	return call_finish(w, call, &sums, ret);
}

/* ---- all of a job ---- */

/* Half-widths of all classes, and what they come to in each interval, in any order of lanes. */
static void errors_set(struct work *w)
{
	const struct sample *s = w->s;

	for (uint32_t c = 0; c <= s->classes; c++) {
		const struct power_class *k = &w->fit->classes[c];

		w->relative[c] = k->energy_j > 0 ? clamp(k->half_width_j / k->energy_j, 1) : 0;
	}
	for (size_t k = 0; k < s->n; k++) {
		fixed128 error = 0, all = 0;
		double left_j;

		for (size_t i = s->first[k]; i < s->first[k + 1]; i++) {
			error += fixed_from(w->item_j[i] * w->relative[s->items[i].class_id]);
			all += fixed_from(w->item_j[i]);
		}
		left_j = fmax(0, w->d->energy_j[k] - fixed_value(all));
		w->error_j[k] = fixed_value(error) + left_j * w->relative[s->classes];
	}
}

struct ranked {
	struct energy_call_value value;
	size_t rank; /* among those that were chosen */
};

static int ranked_cmp(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;
	double a_j = isnan(a->value.power_j) ? a->value.time_j : a->value.power_j;
	double b_j = isnan(b->value.power_j) ? b->value.time_j : b->value.power_j;

	if (a_j != b_j)
		return a_j > b_j ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

static void values_make(struct work *w, const struct domain *domain, struct power_split *p)
{
	struct choice ch = { VEC_INIT };
	struct ranked *values;
	size_t made = 0;

	calls_choose(w, domain, &ch);
	values = xcalloc(ch.v.nr + 1, sizeof(*values));
	for (size_t i = 0; i < ch.v.nr; i++) {
		size_t lane = w->classes->calls[ch.v.v[i].call].lane;

		if (lane != w->lane)
			lane_order(w, lane);
		values[made].rank = ch.v.v[i].rank;
		made += call_value(w, &ch.v.v[i], &values[made].value);
	}
	qsort(values, made, sizeof(*values), ranked_cmp);
	for (size_t i = 0; i < made; i++)
		VEC_PUSH(&p->calls, values[i].value);
	free(values);
	VEC_RELEASE(&ch.v);
}

void power_calls_make(struct power_split *p, const struct sample *s, const struct sample_data *d,
		      const struct grid_counter *c, const struct domain *domain,
		      const struct energy_classes *classes, const double *item_j)
{
	CLEANUP(xfreep) double *relative = xcalloc((size_t)s->classes + 1, sizeof(*relative));
	CLEANUP(xfreep) double *error_j = xcalloc(s->n + 1, sizeof(*error_j));
	struct work w = { .s = s,
			  .d = d,
			  .c = c,
			  .classes = classes,
			  .fit = p->fit.used == POWER_USED ? &p->fit : NULL,
			  .item_j = item_j,
			  .relative = relative,
			  .error_j = error_j,
			  .lane = SIZE_MAX };

	if (!classes->nr_calls)
		return;
	if (w.fit)
		errors_set(&w);
	values_make(&w, domain, p);
	free(w.begin);
	free(w.end);
}
