#include "clock_solver.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/l1_line.h"
#include "profrig/base/search.h"
#include "profrig/base/sort.h"
#include "profrig/base/xalloc.h"
#include "profrig/stats/clock_align.h"

static int64_t reach_clamp(int64_t t)
{
	return t > CLOCK_REACH ? CLOCK_REACH : t < -CLOCK_REACH ? -CLOCK_REACH : t;
}

static int64_t floor_half(int64_t twice)
{
	return twice >> 1;
}

/* The middle one, of an even number the middle between the two, rounded down. Reorders v. */
static int64_t middle(int64_t *v, size_t n)
{
	int64_t low = median_i64(v, n), high = INT64_MAX;

	if (n % 2)
		return low;
	for (size_t i = (n - 1) / 2 + 1; i < n; i++)
		if (v[i] < high)
			high = v[i];
	return low + floor_half(high - low);
}

void clock_solver_init(struct clock_solver *s, const uint32_t *rank, const size_t *first,
		       size_t instances, size_t ranks, int64_t *x)
{
	size_t nr = first[instances];
	size_t *next;

	*s = (struct clock_solver){ .nr = nr, .instances = instances, .ranks = ranks };
	s->rank = rank;
	s->first = first;
	s->x = x;
	s->c = xcalloc(nr + 1, sizeof(*s->c));
	s->sorted = xcalloc(nr + 1, sizeof(*s->sorted));
	s->offset = xcalloc(ranks + 1, sizeof(*s->offset));
	s->pivot = xcalloc(ranks + 1, sizeof(*s->pivot));
	s->drift = xcalloc(ranks + 1, sizeof(*s->drift));
	s->cluster = xcalloc(ranks + 1, sizeof(*s->cluster));
	s->of_rank = xcalloc(nr + 1, sizeof(*s->of_rank));
	s->rank_first = xcalloc(ranks + 3, sizeof(*s->rank_first));
	next = s->rank_first + 1; /* of each rank, until its events are placed: the next place */
	for (size_t i = 0; i < nr; i++)
		next[rank[i] + 1]++;
	for (size_t r = 1; r < ranks; r++)
		next[r] += next[r - 1];
	for (size_t i = 0; i < nr; i++)
		s->of_rank[next[rank[i]]++] = i;
	s->instance = xcalloc(nr + 1, sizeof(*s->instance));
	for (size_t i = 0; i < instances; i++)
		for (size_t e = first[i]; e < first[i + 1]; e++)
			s->instance[e] = (uint32_t)i;
}

void clock_solver_release(struct clock_solver *s)
{
	free(s->x);
	free(s->c);
	free(s->sorted);
	free(s->offset);
	free(s->pivot);
	free(s->drift);
	free(s->cluster);
	free(s->of_rank);
	free(s->instance);
	free(s->rank_first);
}

static int64_t corrected(const struct clock_solver *s, uint32_t r, int64_t x)
{
	int64_t c = x - s->offset[r];

	if (s->lines)
		c -= clock_round(s->drift[r] * (double)(x - s->pivot[r]));
	return reach_clamp(c);
}

static void correct_rank(struct clock_solver *s, uint32_t r)
{
	for (size_t k = s->rank_first[r]; k < s->rank_first[r + 1]; k++)
		s->c[s->of_rank[k]] = corrected(s, r, s->x[s->of_rank[k]]);
}

/* Follows the map of a rank by c − at − slope · (c − pivot). */
static void move_rank(struct clock_solver *s, uint32_t r, int64_t at, double slope)
{
	int64_t by = at;

	if (s->lines) {
		by -= clock_round(slope * (double)s->offset[r]);
		s->drift[r] += slope - slope * s->drift[r];
	}
	s->offset[r] = reach_clamp(s->offset[r] + reach_clamp(by));
	correct_rank(s, r);
}

/* ---- joining clusters ---- */

/* Instances with the same ranks. */
struct rank_set {
	const struct clock_solver *s;
	const size_t *order; /* instances by their ranks */
	size_t from, to;
};

struct join {
	struct clock_solver *s;
	const struct rank_set *set;
	uint64_t *size;                /* events of each cluster */
	uint32_t *next, *head, *tail;  /* ranks of each cluster, as lists */
	struct place *places;          /* of the set's ranks */
	int64_t *times, *apart, *base; /* by rank of an instance, by instance of the set */
	struct l1_point *points;
};

/* A rank of a set: which place it has in each instance. */
struct place {
	uint32_t cluster, at;
};

static size_t ranks_in(const struct clock_solver *s, size_t instance)
{
	return s->first[instance + 1] - s->first[instance];
}

static int cmp_ranks(const void *pa, const void *pb, void *ctx)
{
	const struct clock_solver *s = ctx;
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
	size_t na = ranks_in(s, a), nb = ranks_in(s, b);

	if (na != nb)
		return na > nb ? -1 : 1;
	for (size_t i = 0; i < na; i++) {
		uint32_t ra = s->rank[s->first[a] + i], rb = s->rank[s->first[b] + i];
		if (ra != rb)
			return ra < rb ? -1 : 1;
	}
	return 0;
}

static int cmp_set(const void *pa, const void *pb)
{
	const struct rank_set *a = pa, *b = pb;
	size_t na = a->to - a->from, nb = b->to - b->from;

	if (na != nb)
		return na > nb ? -1 : 1;
	return cmp_ranks(&a->order[a->from], &b->order[b->from], (void *)a->s);
}

static int cmp_place(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	if (a->cluster != b->cluster)
		return a->cluster < b->cluster ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

/* The median of the corrected times that some places have in an instance. */
static int64_t places_time(struct join *j, const struct place *p, size_t n, size_t instance)
{
	for (size_t i = 0; i < n; i++)
		j->times[i] = j->s->c[j->s->first[instance] + p[i].at];
	return middle(j->times, n);
}

/* Moves a cluster, which has these places, to where its times agree with those of the base. */
static void join_cluster(struct join *j, uint32_t into, const struct place *p, size_t n)
{
	struct clock_solver *s = j->s;
	size_t nr = j->set->to - j->set->from;
	struct l1_line l = { 0, 0 };
	uint32_t from = p->cluster;
	int64_t at;

	for (size_t i = 0; i < nr; i++) {
		size_t instance = j->set->order[j->set->from + i];
		int64_t t = places_time(j, p, n, instance);

		j->apart[i] = t - j->base[i];
		j->points[i] = (struct l1_point){ (double)(t - s->pivot[j->head[from]]),
						  (double)j->apart[i] };
	}
	if (s->lines)
		l = l1_line_fit(j->points, nr);
	at = s->lines ? clock_round(l.at_zero) : middle(j->apart, nr);
	for (uint32_t r = j->head[from]; r != UINT32_MAX; r = j->next[r]) {
		move_rank(s, r, at, l.slope);
		s->cluster[r] = into;
	}
	j->next[j->tail[into]] = j->head[from];
	j->tail[into] = j->tail[from];
	j->size[into] += j->size[from];
}

/* All clusters of a set join that which has most events. */
static void join_set(struct join *j)
{
	const struct clock_solver *s = j->s;
	size_t instance = j->set->order[j->set->from], n = ranks_in(s, instance), base = 0;

	for (size_t i = 0; i < n; i++)
		j->places[i] =
			(struct place){ s->cluster[s->rank[s->first[instance] + i]], (uint32_t)i };
	qsort(j->places, n, sizeof(*j->places), cmp_place);
	if (j->places[0].cluster == j->places[n - 1].cluster)
		return;
	for (size_t i = 0; i < n; i++)
		if (j->size[j->places[i].cluster] > j->size[j->places[base].cluster])
			base = i;
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && j->places[end].cluster == j->places[i].cluster; end++)
			;
		if (i == base)
			for (size_t k = 0; k < j->set->to - j->set->from; k++)
				j->base[k] = places_time(j, &j->places[i], end - i,
							 j->set->order[j->set->from + k]);
	}
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && j->places[end].cluster == j->places[i].cluster; end++)
			;
		if (i != base)
			join_cluster(j, j->places[base].cluster, &j->places[i], end - i);
	}
}

static size_t find_sets(struct clock_solver *s, size_t *order, struct rank_set *sets)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->instances; i++)
		order[i] = i;
	qsort_r(order, s->instances, sizeof(*order), cmp_ranks, s);
	for (size_t i = 0; i < s->instances; i++) {
		if (i == 0 || cmp_ranks(&order[i - 1], &order[i], s) != 0)
			sets[nr++] = (struct rank_set){ s, order, i, i };
		sets[nr - 1].to = i + 1;
	}
	qsort(sets, nr, sizeof(*sets), cmp_set);
	return nr;
}

static void join_init(struct join *j, struct clock_solver *s)
{
	size_t ranks = s->ranks + 1, instances = s->instances + 1;

	*j = (struct join){ .s = s };
	j->size = xcalloc(ranks, sizeof(*j->size));
	j->next = xcalloc(ranks, sizeof(*j->next));
	j->head = xcalloc(ranks, sizeof(*j->head));
	j->tail = xcalloc(ranks, sizeof(*j->tail));
	j->places = xcalloc(ranks, sizeof(*j->places));
	j->times = xcalloc(ranks, sizeof(*j->times));
	j->apart = xcalloc(instances, sizeof(*j->apart));
	j->base = xcalloc(instances, sizeof(*j->base));
	j->points = xcalloc(instances, sizeof(*j->points));
	for (uint32_t r = 0; r < s->ranks; r++) {
		s->offset[r] = 0;
		s->drift[r] = 0;
		s->cluster[r] = j->head[r] = j->tail[r] = r;
		j->next[r] = UINT32_MAX;
		j->size[r] = s->rank_first[r + 1] - s->rank_first[r];
		correct_rank(s, r);
	}
}

static void join_release(struct join *j)
{
	free(j->size);
	free(j->next);
	free(j->head);
	free(j->tail);
	free(j->places);
	free(j->times);
	free(j->apart);
	free(j->base);
	free(j->points);
}

void clock_solver_join(struct clock_solver *s)
{
	CLEANUP(xfreep) size_t *order = xcalloc(s->instances + 1, sizeof(*order));
	CLEANUP(xfreep) struct rank_set *sets = xcalloc(s->instances + 1, sizeof(*sets));
	size_t nr = find_sets(s, order, sets);
	struct join j;

	join_init(&j, s);
	for (size_t i = 0; i < nr; i++) {
		j.set = &sets[i];
		join_set(&j);
	}
	join_release(&j);
}

/* ---- descent ---- */

struct sweep {
	struct clock_solver *s;
	int64_t *apart;          /* 2 for each event of the rank */
	struct l1_point *points; /* likewise */
	bool moved;
};

static int64_t *instance_of(const struct clock_solver *s, size_t event, size_t *ret_n,
			    size_t *ret_at)
{
	size_t i = s->instance[event];
	int64_t *v = s->sorted + s->first[i], c = s->c[event];

	*ret_n = ranks_in(s, i);
	*ret_at = LOWER_BOUND(k, 0, *ret_n, v[k] < c);
	return v;
}

/* The medians of an instance without one of its events. */
static void medians_without(const int64_t *v, size_t n, size_t at, int64_t *ret_low,
			    int64_t *ret_high)
{
	size_t low = (n - 2) / 2, high = (n - 1) / 2;

	*ret_low = v[low + (low >= at)];
	*ret_high = v[high + (high >= at)];
}

/* Replaces element at of a sorted array by c. */
static void sorted_replace(int64_t *v, size_t n, size_t at, int64_t c)
{
	size_t to = LOWER_BOUND(k, 0, n, v[k] < c);

	if (to > at) {
		to--;
		memmove(&v[at], &v[at + 1], (to - at) * sizeof(*v));
	} else {
		memmove(&v[to + 1], &v[to], (at - to) * sizeof(*v));
	}
	v[to] = c;
}

static void resort_rank(struct clock_solver *s, uint32_t r)
{
	for (size_t k = s->rank_first[r]; k < s->rank_first[r + 1]; k++) {
		size_t e = s->of_rank[k], n, at;
		int64_t *v = instance_of(s, e, &n, &at), c = corrected(s, r, s->x[e]);

		if (c != s->c[e])
			sorted_replace(v, n, at, c);
		s->c[e] = c;
	}
}

/* Fills apart and points for a rank; returns how many. */
static size_t rank_apart(struct sweep *w, uint32_t r)
{
	struct clock_solver *s = w->s;
	size_t nr = 0;

	for (size_t k = s->rank_first[r]; k < s->rank_first[r + 1]; k++) {
		size_t e = s->of_rank[k], n, at;
		const int64_t *v = instance_of(s, e, &n, &at);
		int64_t ends[2];

		medians_without(v, n, at, &ends[0], &ends[1]);
		for (int i = 0; i < 2; i++, nr++) {
			w->apart[nr] = s->x[e] - ends[i];
			if (s->lines)
				w->points[nr] = (struct l1_point){ (double)(s->x[e] - s->pivot[r]),
								   (double)w->apart[nr] };
		}
	}
	return nr;
}

static void sweep_offset(struct sweep *w, uint32_t r)
{
	struct clock_solver *s = w->s;
	int64_t to = reach_clamp(middle(w->apart, rank_apart(w, r)));

	/* the middle is rounded: one step of 1 ns may be followed by the next one for ever */
	if (to - s->offset[r] > 1 || to - s->offset[r] < -1) {
		s->offset[r] = to;
		resort_rank(s, r);
		w->moved = true;
	}
}

static void sweep_line(struct sweep *w, uint32_t r)
{
	struct clock_solver *s = w->s;
	size_t n = rank_apart(w, r);
	struct l1_line now = { (double)s->offset[r], s->drift[r] };
	struct l1_line to = l1_line_fit(w->points, n);
	double sum = l1_line_sum(w->points, n, now);

	/* less than 1 ns for each event is rounding */
	if (!(l1_line_sum(w->points, n, to) < sum - (double)n))
		return;
	s->offset[r] = reach_clamp(clock_round(to.at_zero));
	s->drift[r] = to.slope;
	resort_rank(s, r);
	w->moved = true;
}

/* The last sweeps move clocks by less than their residuals: many events are given fewer. */
static size_t sweeps_max(size_t events)
{
	size_t n = ((size_t)1 << 25) / (events + 1);

	return n > CLOCK_SWEEPS_MAX ? CLOCK_SWEEPS_MAX : n < 8 ? 8 : n;
}

void clock_solver_descend(struct clock_solver *s)
{
	size_t most = 0;
	struct sweep w = { .s = s, .moved = true };

	for (size_t i = 0; i < s->instances; i++) {
		size_t n = ranks_in(s, i);
		memcpy(s->sorted + s->first[i], s->c + s->first[i], n * sizeof(*s->c));
		sort_i64(s->sorted + s->first[i], n);
	}
	for (size_t r = 0; r < s->ranks; r++)
		if (s->rank_first[r + 1] - s->rank_first[r] > most)
			most = s->rank_first[r + 1] - s->rank_first[r];
	w.apart = xcalloc(2 * most + 1, sizeof(*w.apart));
	w.points = xcalloc(2 * most + 1, sizeof(*w.points));
	for (size_t sweep = 0; sweep < sweeps_max(s->nr) && w.moved; sweep++) {
		w.moved = false;
		for (uint32_t r = 0; r < s->ranks; r++) {
			if (s->rank_first[r + 1] == s->rank_first[r])
				continue;
			if (s->lines)
				sweep_line(&w, r);
			else
				sweep_offset(&w, r);
		}
	}
	free(w.apart);
	free(w.points);
}

int64_t clock_solver_end_twice(const struct clock_solver *s, size_t instance)
{
	const int64_t *v = s->sorted + s->first[instance];
	size_t n = ranks_in(s, instance);

	return v[(n - 1) / 2] + v[n / 2];
}
