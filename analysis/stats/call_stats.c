#include "analyses_private.h"
#include "ns.h"

#include <math.h>
#include <string.h>

#include "profrig/base/moments.h"
#include "profrig/base/sort.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

double sorted_quantile(const int64_t *sorted, size_t n, double p)
{
	double h = (double)(n - 1) * p;
	size_t lo = (size_t)h;
	if (lo + 1 >= n)
		return (double)sorted[n - 1];
	double a = (double)sorted[lo], b = (double)sorted[lo + 1];
	return a + (h - (double)lo) * (b - a);
}

static int cmp_f64(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

double median_f64(double *v, size_t n)
{
	size_t low = n ? (n - 1) / 2 : 0, high = n / 2;

	if (n == 0)
		return NAN;
	qsort(v, n, sizeof(*v), cmp_f64);
	return (v[low] + v[high]) / 2;
}

double sorted_median(const int64_t *sorted, size_t n)
{
	size_t half = n / 2;
	__int128 sum = (__int128)sorted[half] + sorted[n % 2 ? half : half - 1];

	return (double)sum / 2;
}

static struct call_stats call_stats_exact(const struct moments *mo)
{
	return (struct call_stats){
		.calls = mo->n,
		.sum_ns = moments_sum(mo),
		.min_ns = mo->min,
		.max_ns = mo->max,
		.mean_ns = moments_mean(mo),
		.stddev_ns = moments_stddev(mo),
	};
}

struct call_stats call_stats_of(const int64_t *dur_ns, size_t n)
{
	struct moments mo = MOMENTS_INIT;
	struct call_stats s;

	for (size_t i = 0; i < n; i++)
		moments_add(&mo, dur_ns[i]);
	s = call_stats_exact(&mo);
	if (!n)
		return s;
	CLEANUP(xfreep) int64_t *sorted = xreallocarray(NULL, n, sizeof(*sorted));
	memcpy(sorted, dur_ns, n * sizeof(*sorted));
	sort_i64(sorted, n);
	s.median_ns = sorted_median(sorted, n);
	s.p95_ns = sorted_quantile(sorted, n, 0.95);
	return s;
}

/* The ends are known exactly. */
static double order_statistic(const struct moments *mo, const struct sketch *sk, uint64_t k)
{
	double v;

	if (k == 0)
		return (double)mo->min;
	if (k + 1 >= mo->n)
		return (double)mo->max;
	v = sketch_at(sk, k);
	return v < (double)mo->min ? (double)mo->min : v > (double)mo->max ? (double)mo->max : v;
}

static double quantile_approx(const struct moments *mo, const struct sketch *sk, double p)
{
	double h = (double)(mo->n - 1) * p, a, b;
	uint64_t lo = (uint64_t)h;

	a = order_statistic(mo, sk, lo);
	b = order_statistic(mo, sk, lo + 1);
	return a + (h - (double)lo) * (b - a);
}

struct call_stats call_stats_approx(const struct moments *mo, const struct sketch *sk)
{
	struct call_stats s = call_stats_exact(mo);

	if (mo->n) {
		s.median_ns = quantile_approx(mo, sk, 0.5);
		s.p95_ns = quantile_approx(mo, sk, 0.95);
	}
	return s;
}

/*
 * Exact order statistics: a sketch tells the bucket of each, and how many calls are below it; only
 * the durations of those buckets are looked at, in a second pass over the spans.
 */
#define RANKS 4

struct wanted {
	uint64_t rank[RANKS]; /* from 0: two around the median, two around the 95th percentile */
	uint32_t bucket[RANKS];
	uint64_t below[RANKS];          /* calls in lower buckets */
	size_t first[RANKS], nr[RANKS]; /* durations of the bucket; the same for equal buckets */
	size_t filled[RANKS];
	uint32_t buckets;     /* different ones */
	uint32_t slot[RANKS]; /* by bucket: a rank of it */
};

/* Calls of one or several of profile.calls. */
struct calls_group {
	const struct moments *ns;
	const struct sketch *sketch;
	uint32_t wanted; /* U64MAP_NONE: the smallest and the largest are all there is */
};

/* Their sums, where they are several. */
struct merged {
	struct moments ns;
	struct sketch sketch;
};

struct exact {
	const struct profile *p;
	const uint32_t *group_of;
	const struct calls_group *groups;
	VEC(struct wanted) wanted;
	int64_t *ns;
	uint32_t *next_calls; /* by index in profile.calls: another of its name, U64MAP_NONE */
	/* indexes in profile.calls: of threads, then of each device, and where those begin */
	uint32_t *by_device, *first_of_device;
};

/* Of threads, or of one device at a time: with many of them a name is on each. */
struct call_names {
	uint32_t *first; /* by name: index in profile.calls, U64MAP_NONE */
	uint32_t list;   /* of first_of_device */
};

static void wanted_find(struct wanted *w, const struct moments *mo, const struct sketch *sk,
			size_t *total)
{
	uint64_t n = mo->n, sum = 0;
	size_t at = 0;

	w->rank[0] = (n - 1) / 2;
	w->rank[1] = n / 2;
	w->rank[2] = (uint64_t)((double)(n - 1) * 0.95);
	w->rank[3] = w->rank[2] + 1 < n ? w->rank[2] + 1 : n - 1;
	for (size_t i = 0; i < RANKS; i++) {
		while (sum + sk->counts[at] <= w->rank[i])
			sum += sk->counts[at++];
		w->bucket[i] = sk->first + (uint32_t)at;
		w->below[i] = sum;
		w->nr[i] = sk->counts[at];
		if (i && w->bucket[i] == w->bucket[i - 1]) {
			w->first[i] = w->first[i - 1];
			continue;
		}
		w->first[i] = *total;
		*total += w->nr[i];
		w->slot[w->buckets++] = (uint32_t)i;
	}
}

/* Calls of a device, or of threads, by name; others have no list in it. */
static void names_find(struct exact *x, struct call_names *n, uint32_t device)
{
	const struct profile *p = x->p;
	uint32_t list = device == UINT32_MAX ? 0 : device + 1;

	for (uint32_t i = x->first_of_device[n->list]; i < x->first_of_device[n->list + 1]; i++)
		n->first[p->calls.v[x->by_device[i]].name] = U64MAP_NONE;
	n->list = list;
	for (uint32_t i = x->first_of_device[list]; i < x->first_of_device[list + 1]; i++) {
		uint32_t id = x->by_device[i];

		x->next_calls[id] = n->first[p->calls.v[id].name];
		n->first[p->calls.v[id].name] = id;
	}
}

static void call_names_make(const struct exact *x, struct call_names *ret)
{
	size_t names = intern_count(x->p->m->strings);

	ret->first = xreallocarray(NULL, names + 1, sizeof(*ret->first));
	for (size_t i = 0; i < names; i++)
		ret->first[i] = U64MAP_NONE;
}

/* Those of threads come first, then those of each device. */
static void devices_find(struct exact *x)
{
	const struct profile *p = x->p;
	size_t lists = p->devices.nr + 1;
	CLEANUP(xfreep) uint32_t *at = NULL;

	x->first_of_device = xcalloc(lists + 2, sizeof(*x->first_of_device));
	x->by_device = xreallocarray(NULL, p->calls.nr + 1, sizeof(*x->by_device));
	x->next_calls = xreallocarray(NULL, p->calls.nr + 1, sizeof(*x->next_calls));
	for (size_t i = 0; i < p->calls.nr; i++)
		x->first_of_device[p->calls.v[i].device == UINT32_MAX ? 1
								      : p->calls.v[i].device + 2]++;
	for (size_t l = 0; l < lists; l++)
		x->first_of_device[l + 1] += x->first_of_device[l];
	at = xreallocarray(NULL, lists + 1, sizeof(*at));
	memcpy(at, x->first_of_device, lists * sizeof(*at));
	for (uint32_t i = 0; i < p->calls.nr; i++) {
		uint32_t device = p->calls.v[i].device;

		x->by_device[at[device == UINT32_MAX ? 0 : device + 1]++] = i;
	}
}

static inline uint32_t calls_id_of(const struct exact *x, const struct call_names *n, bool queue,
				   uint64_t span)
{
	const struct span_columns *c = &x->p->m->spans;
	bool kernel = queue && c->kind[span] == SPAN_KERNEL;
	uint32_t id;

	for (id = n->first[c->name[span]]; id != U64MAP_NONE; id = x->next_calls[id]) {
		const struct profile_calls *k = &x->p->calls.v[id];

		if (k->category == c->category[span] && k->kernel == kernel)
			return id;
	}
	return U64MAP_NONE;
}

static inline void duration_take(struct exact *x, struct wanted *w, int64_t ns)
{
	uint32_t bucket = sketch_bucket((uint64_t)ns);

	for (uint32_t k = 0; k < w->buckets; k++) {
		uint32_t slot = w->slot[k];

		if (w->bucket[slot] == bucket) {
			x->ns[w->first[slot] + w->filled[slot]++] = ns;
			return;
		}
	}
}

static void track_gather(struct exact *x, const struct profile_track *pt,
			 const struct call_names *names)
{
	const struct model *m = x->p->m;
	const struct track *t = &m->tracks.v[pt->track];

	for (uint64_t k = t->first_span; k < t->first_span + t->spans; k++) {
		uint32_t id, group;

		if (pt->queue ? !span_is_work(m, k) : m->spans.kind[k] == SPAN_INSTANT)
			continue;
		id = calls_id_of(x, names, pt->queue, k);
		group = id == U64MAP_NONE ? U64MAP_NONE : x->group_of[id];
		if (group != U64MAP_NONE && x->groups[group].wanted != U64MAP_NONE)
			duration_take(x, &x->wanted.v[x->groups[group].wanted], span_ns(m, k));
	}
}

static void durations_gather(struct exact *x)
{
	struct call_names threads = { .list = 0 }, device = { .list = 0 };

	devices_find(x);
	call_names_make(x, &threads);
	call_names_make(x, &device);
	names_find(x, &threads, UINT32_MAX);
	for (size_t i = 0; i < x->p->tracks.nr; i++) {
		const struct profile_track *pt = x->p->tracks.v[i];

		if (pt->queue && device.list != pt->device + 1)
			names_find(x, &device, pt->device);
		track_gather(x, pt, pt->queue ? &device : &threads);
	}
	free(threads.first);
	free(device.first);
}

static double wanted_at(const struct exact *x, const struct wanted *w, size_t rank)
{
	return (double)x->ns[w->first[rank] + (w->rank[rank] - w->below[rank])];
}

static void group_settle(struct exact *x, const struct wanted *w, uint64_t n, struct call_stats *s)
{
	double h = (double)(n - 1) * 0.95;

	for (uint32_t k = 0; k < w->buckets; k++)
		sort_i64(x->ns + w->first[w->slot[k]], w->nr[w->slot[k]]);
	s->median_ns = (double)(((__int128)x->ns[w->first[0] + (w->rank[0] - w->below[0])] +
				 x->ns[w->first[1] + (w->rank[1] - w->below[1])])) /
		       2;
	s->p95_ns = wanted_at(x, w, 2);
	s->p95_ns += (h - (double)w->rank[2]) * (wanted_at(x, w, 3) - s->p95_ns);
}

static void make_exact(const struct profile *p, const uint32_t *group_of,
		       struct calls_group *groups, size_t nr, struct call_stats *ret)
{
	struct exact x = { .p = p, .group_of = group_of, .groups = groups };
	size_t total = 0;

	for (size_t g = 0; g < nr; g++) {
		groups[g].wanted = U64MAP_NONE;
		if (ret[g].calls <= 2) {
			ret[g].median_ns = (double)((__int128)ret[g].min_ns + ret[g].max_ns) / 2;
			continue;
		}
		groups[g].wanted = (uint32_t)x.wanted.nr;
		VEC_PUSH(&x.wanted, ((struct wanted){ .buckets = 0 }));
		wanted_find(&x.wanted.v[x.wanted.nr - 1], groups[g].ns, groups[g].sketch, &total);
	}
	if (x.wanted.nr) {
		x.ns = xreallocarray(NULL, total + 1, sizeof(*x.ns));
		durations_gather(&x);
	}
	for (size_t g = 0; g < nr; g++)
		if (groups[g].wanted != U64MAP_NONE)
			group_settle(&x, &x.wanted.v[groups[g].wanted], ret[g].calls, &ret[g]);
	VEC_RELEASE(&x.wanted);
	free(x.ns);
	free(x.next_calls);
	free(x.by_device);
	free(x.first_of_device);
}

/* merged: by group, where several come together. */
static void calls_gather(const struct profile *p, const uint32_t *group_of,
			 struct calls_group *groups, struct merged **merged)
{
	for (size_t i = 0; i < p->calls.nr; i++) {
		const struct profile_calls *c = &p->calls.v[i];
		struct calls_group *g;
		struct merged *m;

		if (group_of[i] == U64MAP_NONE)
			continue;
		g = &groups[group_of[i]];
		if (!g->ns) {
			g->ns = &c->ns;
			g->sketch = &c->sketch;
			continue;
		}
		m = merged[group_of[i]];
		if (!m) {
			m = merged[group_of[i]] = xcalloc(1, sizeof(*m));
			moments_merge(&m->ns, g->ns);
			sketch_merge(&m->sketch, g->sketch);
			g->ns = &m->ns;
			g->sketch = &m->sketch;
		}
		moments_merge(&m->ns, &c->ns);
		sketch_merge(&m->sketch, &c->sketch);
	}
}

void call_stats_by(const struct profile *p, const uint32_t *group_of, size_t nr,
		   struct call_stats *ret)
{
	CLEANUP(xfreep) struct calls_group *groups = xcalloc(nr + 1, sizeof(*groups));
	CLEANUP(xfreep) struct merged **merged = xcalloc(nr + 1, sizeof(*merged));

	calls_gather(p, group_of, groups, merged);
	for (size_t g = 0; g < nr; g++)
		ret[g] = call_stats_approx(groups[g].ns, groups[g].sketch);
	if (p->of_model)
		make_exact(p, group_of, groups, nr, ret);
	for (size_t g = 0; g < nr; g++) {
		if (merged[g])
			sketch_release(&merged[g]->sketch);
		free(merged[g]);
	}
}
