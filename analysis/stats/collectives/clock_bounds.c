#include "clock_bounds.h"
#include "clock_solver.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/sink.h"

#define UNREACHED INT64_MAX

/* All messages of one rank to another: v[first..first + nr). */
struct bound {
	uint32_t from, to;
	size_t first, nr;
	int64_t most_ns; /* of offset(to) − offset(from) */
};

struct bounder {
	struct clock_message *v; /* by from, to, sent */
	size_t nr, ranks;
	VEC(struct bound) bounds;
	/* by rank */
	int64_t *pivot, *offset;
	double *drift, *width;
	bool *placed;     /* its offset is known */
	int64_t give_way; /* what the bounds are eased by */
};

static int cmp_message(const void *pa, const void *pb)
{
	const struct clock_message *a = pa, *b = pb;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	if (a->sent_ns != b->sent_ns)
		return a->sent_ns < b->sent_ns ? -1 : 1;
	return (a->received_ns > b->received_ns) - (a->received_ns < b->received_ns);
}

static void take_messages(struct bounder *bo, const struct clock_message *v, size_t nr)
{
	bo->v = xcalloc(nr + 1, sizeof(*bo->v));
	for (size_t i = 0; i < nr; i++)
		if (v[i].from != v[i].to)
			bo->v[bo->nr++] = (struct clock_message){ v[i].from, v[i].to,
								  time_clamp(v[i].sent_ns),
								  time_clamp(v[i].received_ns) };
	if (bo->nr)
		qsort(bo->v, bo->nr, sizeof(*bo->v), cmp_message);
	for (size_t i = 0; i < bo->nr; i++) {
		if (i == 0 || bo->v[i].from != bo->v[i - 1].from || bo->v[i].to != bo->v[i - 1].to)
			VEC_PUSH(&bo->bounds,
				 ((struct bound){ bo->v[i].from, bo->v[i].to, i, 0, 0 }));
		bo->bounds.v[bo->bounds.nr - 1].nr++;
	}
}

/* A rank's time without its drift. */
static int64_t steady(const struct bounder *bo, uint32_t rank, int64_t t_ns)
{
	if (bo->drift[rank] == 0)
		return t_ns;
	return time_shift(t_ns, -clock_round(bo->drift[rank] * (double)(t_ns - bo->pivot[rank])));
}

static int64_t slack(const struct bounder *bo, const struct clock_message *m)
{
	return time_shift(steady(bo, m->to, m->received_ns), -steady(bo, m->from, m->sent_ns));
}

static void find_bounds(struct bounder *bo)
{
	for (size_t i = 0; i < bo->bounds.nr; i++) {
		struct bound *b = &bo->bounds.v[i];

		b->most_ns = INT64_MAX;
		for (size_t k = b->first; k < b->first + b->nr; k++) {
			int64_t ns = slack(bo, &bo->v[k]);

			b->most_ns = ns < b->most_ns ? ns : b->most_ns;
		}
	}
}

/* ---- components ---- */

static uint32_t root_of(uint32_t *up, uint32_t r)
{
	while (up[r] != r)
		r = up[r] = up[up[r]];
	return r;
}

static bool join(uint32_t *up, uint32_t a, uint32_t b)
{
	a = root_of(up, a);
	b = root_of(up, b);
	up[a > b ? a : b] = a > b ? b : a;
	return a != b;
}

static uint32_t *roots_new(size_t ranks)
{
	uint32_t *up = xcalloc(ranks + 1, sizeof(*up));

	for (size_t r = 0; r < ranks; r++)
		up[r] = (uint32_t)r;
	return up;
}

/* Numbers ranks that messages join, in the order of their lowest ranks, and counts. */
static void number_components(struct bounder *bo, struct clock_alignment *ca)
{
	CLEANUP(xfreep) uint32_t *up = roots_new(bo->ranks);

	for (size_t i = 0; i < bo->bounds.nr; i++) {
		const struct bound *b = &bo->bounds.v[i];

		join(up, b->from, b->to);
		ca->ranks.v[b->from].events += b->nr;
		ca->ranks.v[b->to].events += b->nr;
	}
	for (uint32_t r = 0; r < bo->ranks; r++) {
		uint32_t root = root_of(up, r);

		if (ca->ranks.v[r].events == 0)
			continue;
		if (root == r) {
			ca->ranks.v[r].component = (uint32_t)ca->components.nr;
			VEC_PUSH(&ca->components, ((struct clock_component){ .ranks = 0 }));
		}
		ca->ranks.v[r].component = ca->ranks.v[root].component;
		ca->components.v[ca->ranks.v[r].component].ranks++;
	}
	for (size_t i = 0; i < bo->bounds.nr; i++) {
		const struct bound *b = &bo->bounds.v[i];
		struct clock_component *c = &ca->components.v[ca->ranks.v[b->from].component];

		c->instances++;
		c->events += b->nr;
	}
}

/* ---- offsets ---- */

/* One sweep over the bounds, forward or backward: whether a distance became shorter. */
static bool relax(const struct bounder *bo, int64_t *at, bool back)
{
	bool moved = false;

	for (size_t i = 0; i < bo->bounds.nr; i++) {
		const struct bound *b = &bo->bounds.v[i];
		uint32_t from = back ? b->to : b->from, to = back ? b->from : b->to;
		int64_t ns;

		if (at[from] == UNREACHED)
			continue;
		ns = time_shift(at[from], time_shift(b->most_ns, bo->give_way));
		if (at[to] == UNREACHED || ns < at[to]) {
			at[to] = ns;
			moved = true;
		}
	}
	return moved;
}

/* Shortest distances of what is set in `at`; false: a cycle is negative. */
static bool settle(const struct bounder *bo, int64_t *at, bool back)
{
	for (size_t round = 0; round <= bo->ranks; round++)
		if (!relax(bo, at, back))
			return true;
	return false;
}

static bool holds(struct bounder *bo, int64_t give_way)
{
	CLEANUP(xfreep) int64_t *at = xcalloc(bo->ranks + 1, sizeof(*at));

	bo->give_way = give_way;
	return settle(bo, at, false);
}

/* The least by which all bounds have to give way. */
static int64_t least_give_way(struct bounder *bo)
{
	int64_t low = 0, high = 0;

	if (holds(bo, 0))
		return 0;
	for (size_t i = 0; i < bo->bounds.nr; i++)
		high = -bo->bounds.v[i].most_ns > high ? -bo->bounds.v[i].most_ns : high;
	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;

		*(holds(bo, middle) ? &high : &low) = middle;
	}
	return high;
}

/* The mean of two answers, rounded down as that of every other rank, is an answer. */
static void place(struct bounder *bo, uint32_t r, int64_t there, int64_t back)
{
	int64_t sum = there - back;

	bo->offset[r] = sum / 2 - (sum % 2 < 0);
	bo->width[r] = ((double)there + (double)back) / 2;
	bo->placed[r] = true;
}

/* Offsets of the ranks that rank k can reach and that reach it. */
static void centre(struct bounder *bo, uint32_t k, uint32_t *cluster)
{
	CLEANUP(xfreep) int64_t *there = xcalloc(bo->ranks + 1, sizeof(*there));
	CLEANUP(xfreep) int64_t *back = xcalloc(bo->ranks + 1, sizeof(*back));

	for (size_t r = 0; r < bo->ranks; r++)
		there[r] = back[r] = UNREACHED;
	there[k] = back[k] = 0;
	settle(bo, there, false);
	settle(bo, back, true);
	for (uint32_t r = 0; r < bo->ranks; r++) {
		if (there[r] == UNREACHED || back[r] == UNREACHED)
			continue;
		place(bo, r, there[r], back[r]);
		cluster[r] = k;
		if (r != k)
			bo->width[k] = 0;
	}
}

/* Clusters move down as far as the others' messages to them ask for. */
static void settle_clusters(struct bounder *bo, const uint32_t *cluster)
{
	CLEANUP(xfreep) int64_t *by = xcalloc(bo->ranks + 1, sizeof(*by));
	bool moved = true;

	for (size_t round = 0; moved && round <= bo->ranks; round++) {
		moved = false;
		for (size_t i = 0; i < bo->bounds.nr; i++) {
			const struct bound *b = &bo->bounds.v[i];
			uint32_t from = cluster[b->from], to = cluster[b->to];
			int64_t most = time_shift(time_shift(by[from], bo->offset[b->from]),
						  time_shift(time_shift(b->most_ns, bo->give_way),
							     -bo->offset[b->to]));

			if (from == to || most >= by[to])
				continue;
			by[to] = most;
			moved = true;
		}
	}
	for (size_t r = 0; r < bo->ranks; r++)
		bo->offset[r] = time_shift(bo->offset[r], by[cluster[r]]);
}

/* Ranks that are alone in their cluster, of a component of several: bounded on one side at most. */
static void widen_lonely(struct bounder *bo, const uint32_t *cluster)
{
	CLEANUP(xfreep) uint32_t *size = xcalloc(bo->ranks + 1, sizeof(*size));

	for (size_t r = 0; r < bo->ranks; r++)
		size[cluster[r]]++;
	for (size_t r = 0; r < bo->ranks; r++)
		if (size[cluster[r]] == 1)
			bo->width[r] = INFINITY;
}

static void find_offsets(struct bounder *bo)
{
	CLEANUP(xfreep) uint32_t *cluster = roots_new(bo->ranks);

	find_bounds(bo);
	bo->give_way = least_give_way(bo);
	for (size_t r = 0; r < bo->ranks; r++)
		bo->placed[r] = false;
	for (uint32_t r = 0; r < bo->ranks; r++)
		if (!bo->placed[r])
			centre(bo, r, cluster);
	settle_clusters(bo, cluster);
	widen_lonely(bo, cluster);
}

/* ---- drifts ---- */

/* How far apart a line with the slope keeps the bounds of both directions. */
static double gap_of(const struct bounder *bo, const struct bound *up, const struct bound *down,
		     double slope)
{
	const struct clock_message *first = &bo->v[up->first];
	double high = INFINITY, low = -INFINITY;

	for (size_t k = up->first; k < up->first + up->nr; k++) {
		const struct clock_message *m = &bo->v[k];
		double y = (double)(m->received_ns - first->received_ns) -
			   (double)(m->sent_ns - first->sent_ns);

		high = fmin(high, y - slope * (double)(m->sent_ns - first->sent_ns));
	}
	for (size_t k = down->first; k < down->first + down->nr; k++) {
		const struct clock_message *m = &bo->v[k];
		double y = (double)(m->sent_ns - first->received_ns) -
			   (double)(m->received_ns - first->sent_ns);

		low = fmax(low, y - slope * (double)(m->received_ns - first->sent_ns));
	}
	return high - low;
}

/* The gap is concave in the slope. */
static double best_slope(const struct bounder *bo, const struct bound *up, const struct bound *down)
{
	double low = -CLOCK_BOUNDS_DRIFT_MAX, high = CLOCK_BOUNDS_DRIFT_MAX;

	for (int i = 0; i < 80; i++) {
		double a = low + (high - low) / 3, b = high - (high - low) / 3;

		if (gap_of(bo, up, down, a) < gap_of(bo, up, down, b))
			low = a;
		else
			high = b;
	}
	return low + (high - low) / 2;
}

struct bound_pair {
	const struct bound *up, *down;
};

static int cmp_pair(const void *pa, const void *pb)
{
	const struct bound_pair *a = pa, *b = pb;
	size_t na = a->up->nr + a->down->nr, nb = b->up->nr + b->down->nr;

	if (na != nb)
		return na > nb ? -1 : 1;
	return (a->up > b->up) - (a->up < b->up);
}

static const struct bound *bound_find(const struct bounder *bo, uint32_t from, uint32_t to)
{
	size_t low = 0, high = bo->bounds.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct bound *b = &bo->bounds.v[middle];

		if (b->from < from || (b->from == from && b->to < to))
			low = middle + 1;
		else
			high = middle;
	}
	return low < bo->bounds.nr && bo->bounds.v[low].from == from && bo->bounds.v[low].to == to
		       ? &bo->bounds.v[low]
		       : NULL;
}

/* Drifts of ranks along a tree: each edge takes all that hang on its lower side along. */
static void find_drifts(struct bounder *bo)
{
	CLEANUP(xfreep) struct bound_pair *v = xcalloc(bo->bounds.nr + 1, sizeof(*v));
	CLEANUP(xfreep) uint32_t *up = roots_new(bo->ranks);
	size_t nr = 0;

	for (size_t i = 0; i < bo->bounds.nr; i++) {
		const struct bound *b = &bo->bounds.v[i];
		const struct bound *down = b->from < b->to ? bound_find(bo, b->to, b->from) : NULL;

		if (down && b->nr > 1 && down->nr > 1)
			v[nr++] = (struct bound_pair){ b, down };
	}
	qsort(v, nr, sizeof(*v), cmp_pair);
	for (size_t i = 0; i < nr; i++) {
		uint32_t a = v[i].up->from, b = v[i].up->to, root = root_of(up, b);
		double by;

		if (root_of(up, a) == root)
			continue;
		by = bo->drift[a] + best_slope(bo, v[i].up, v[i].down) - bo->drift[b];
		for (uint32_t r = 0; r < bo->ranks; r++)
			if (root_of(up, r) == root)
				bo->drift[r] += by;
		join(up, a, b);
	}
}

static void find_pivots(struct bounder *bo)
{
	CLEANUP(xfreep) int64_t *low = xcalloc(bo->ranks + 1, sizeof(*low));
	CLEANUP(xfreep) int64_t *high = xcalloc(bo->ranks + 1, sizeof(*high));

	for (size_t r = 0; r < bo->ranks; r++) {
		low[r] = INT64_MAX;
		high[r] = INT64_MIN;
	}
	for (size_t i = 0; i < bo->nr; i++) {
		const struct clock_message *m = &bo->v[i];

		low[m->from] = m->sent_ns < low[m->from] ? m->sent_ns : low[m->from];
		high[m->from] = m->sent_ns > high[m->from] ? m->sent_ns : high[m->from];
		low[m->to] = m->received_ns < low[m->to] ? m->received_ns : low[m->to];
		high[m->to] = m->received_ns > high[m->to] ? m->received_ns : high[m->to];
	}
	for (size_t r = 0; r < bo->ranks; r++)
		bo->pivot[r] = low[r] <= high[r] ? low[r] / 2 + high[r] / 2 : 0;
}

/* Drifts of a component add up to 0, as offsets do. */
static void centre_drifts(struct bounder *bo, const struct clock_alignment *ca)
{
	CLEANUP(xfreep) double *sum = xcalloc(ca->components.nr + 1, sizeof(*sum));

	for (size_t r = 0; r < bo->ranks; r++)
		if (ca->ranks.v[r].component != CLOCK_ALONE)
			sum[ca->ranks.v[r].component] += bo->drift[r];
	for (size_t r = 0; r < bo->ranks; r++) {
		uint32_t c = ca->ranks.v[r].component;

		if (c != CLOCK_ALONE)
			bo->drift[r] -= sum[c] / (double)ca->components.v[c].ranks;
	}
}

/* Offsets, and drifts where offsets alone leave more than the clocks' resolution. */
static void solve(struct bounder *bo, const struct clock_alignment *ca)
{
	int64_t left;

	find_offsets(bo);
	left = bo->give_way;
	if (left <= 1)
		return;
	find_pivots(bo);
	find_drifts(bo);
	centre_drifts(bo, ca);
	find_offsets(bo);
	if (bo->give_way <= left / 2)
		return;
	for (size_t r = 0; r < bo->ranks; r++)
		bo->drift[r] = 0;
	find_offsets(bo);
}

/* ---- the answer ---- */

static void tell_ranks(const struct bounder *bo, struct clock_alignment *ca)
{
	CLEANUP(xfreep) __int128 *sum = xcalloc(ca->components.nr + 1, sizeof(*sum));

	for (size_t r = 0; r < bo->ranks; r++)
		if (ca->ranks.v[r].component != CLOCK_ALONE)
			sum[ca->ranks.v[r].component] += bo->offset[r];
	for (size_t r = 0; r < bo->ranks; r++) {
		struct clock_rank *cr = &ca->ranks.v[r];
		__int128 n, mean;

		if (cr->component == CLOCK_ALONE)
			continue;
		n = (__int128)ca->components.v[cr->component].ranks;
		mean = sum[cr->component] / n - (sum[cr->component] % n < 0);
		cr->offset_ns = time_shift(bo->offset[r], -(int64_t)mean);
		cr->pivot_ns = time_shift(bo->pivot[r], -cr->offset_ns);
		cr->drift = bo->drift[r];
		cr->bound_ns = bo->width[r];
		ca->components.v[cr->component].drifts |= cr->drift != 0;
	}
}

static double early_ns(int64_t sent_ns, int64_t received_ns)
{
	return received_ns < sent_ns ? (double)sent_ns - (double)received_ns : 0;
}

static void residual_add(struct clock_rank *cr, double raw, double left)
{
	cr->reversed += raw > 0;
	cr->reversed_left += left > 0;
	cr->residual_sum_ns += left;
	cr->residual_max_ns = fmax(cr->residual_max_ns, left);
	cr->residual_std_ns += left * left;
}

static void tell_residuals(const struct bounder *bo, struct clock_alignment *ca)
{
	for (size_t i = 0; i < bo->nr; i++) {
		const struct clock_message *m = &bo->v[i];
		struct clock_rank *from = &ca->ranks.v[m->from], *to = &ca->ranks.v[m->to];
		struct clock_component *c = &ca->components.v[from->component];
		double raw = early_ns(m->sent_ns, m->received_ns);
		double left = early_ns(clock_common_ns(from, m->sent_ns),
				       clock_common_ns(to, m->received_ns));

		c->raw_sum_ns += raw;
		*(c->drifts ? &c->drift_sum_ns : &c->offset_sum_ns) += left;
		residual_add(from, raw, left);
		residual_add(to, raw, left);
	}
	for (size_t r = 0; r < bo->ranks; r++) {
		struct clock_rank *cr = &ca->ranks.v[r];

		if (cr->events)
			cr->residual_std_ns = sqrt(cr->residual_std_ns / (double)cr->events);
	}
}

void clock_bounds(const struct clock_message *v, size_t nr, uint32_t nr_ranks,
		  struct clock_alignment *ret)
{
	struct bounder bo = { .ranks = nr_ranks };

	*ret = (struct clock_alignment){ .ranks = VEC_INIT };
	VEC_RESERVE(&ret->ranks, nr_ranks);
	for (uint32_t r = 0; r < nr_ranks; r++)
		VEC_PUSH(&ret->ranks, ((struct clock_rank){ .component = CLOCK_ALONE }));
	take_messages(&bo, v, nr);
	if (bo.nr) {
		bo.pivot = xcalloc(bo.ranks + 1, sizeof(*bo.pivot));
		bo.offset = xcalloc(bo.ranks + 1, sizeof(*bo.offset));
		bo.drift = xcalloc(bo.ranks + 1, sizeof(*bo.drift));
		bo.width = xcalloc(bo.ranks + 1, sizeof(*bo.width));
		bo.placed = xcalloc(bo.ranks + 1, sizeof(*bo.placed));
		number_components(&bo, ret);
		solve(&bo, ret);
		tell_ranks(&bo, ret);
		tell_residuals(&bo, ret);
	}
	free(bo.v);
	VEC_RELEASE(&bo.bounds);
	free(bo.pivot);
	free(bo.offset);
	free(bo.drift);
	free(bo.width);
	free(bo.placed);
}
