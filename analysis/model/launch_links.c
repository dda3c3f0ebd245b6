#include "model_private.h"

#include "profrig/base/hash_seed.h"
#include "profrig/model/warnings.h"

/*
 * From API call to device work by equal correlation inside one input, or inputs of one group. When
 * several host spans carry one correlation (a call and what it calls), the deepest is the launch;
 * among equals the first.
 */
struct launch_map {
	uint64_t *slots; /* span + 1, 0: free */
	size_t cap;      /* a power of two unless counted */
	bool counted;    /* the correlation is the place: they were counted, as they mostly are */
	uint64_t seed;   /* hash_seed.h */
};

/* Inputs without a group have numbers that no group has in practice: groups are hashes. */
static uint64_t counts_with(const struct model *m, input_id input)
{
	uint64_t group = m->inputs.v[input].group;

	return group ? group : input;
}

/* Keeps neighbours together: most ids are consecutive and looked up in order. */
static size_t launch_hash(const struct launch_map *map, uint64_t correlation, uint64_t group)
{
	uint64_t h = (correlation ^ map->seed) >> 4;

	h += group * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 31) * UINT64_C(0xd6e8feb86659fd93);
	return (h ^ h >> 32) << 4 | (correlation & 15);
}

static uint64_t *launch_slot(const struct model *m, const struct launch_map *map,
			     uint64_t correlation, input_id input)
{
	const struct span_columns *c = &m->spans;
	uint64_t group, span;
	size_t at;

	if (map->counted) /* no launch has 0 */
		return &map->slots[correlation < map->cap ? correlation : 0];
	group = counts_with(m, input);
	at = launch_hash(map, correlation, group) & (map->cap - 1);
	while ((span = map->slots[at]) != 0 && (c->correlation[span - 1] != correlation ||
						(span_input(c, span - 1) != input &&
						 counts_with(m, span_input(c, span - 1)) != group)))
		at = (at + 1) & (map->cap - 1);
	return &map->slots[at];
}

/* A range of the spans; threads take one range after the other. */
#define STRETCH ((size_t)1 << 14)
/* Ids count as consecutive up to so many numbers per launch. */
#define COUNTED_MAX 4

struct stretch {
	VEC(uint64_t) launches; /* spans that may be one */
	uint64_t last;          /* their largest correlation */
	VEC(struct match {
		uint64_t work, launch; /* spans; launch + 1, 0: there is none */
	}) matches;
};

struct linking {
	struct model *m;
	const uint8_t *linked;
	struct launch_map map;
	struct stretch *v;
	size_t nr;
	uint32_t *depths; /* model_depths, when two launches have one number */
};

static void collect_job(void *ctx, size_t i, unsigned worker)
{
	struct linking *l = ctx;
	const struct model *m = l->m;
	size_t from = i * STRETCH, to = from + STRETCH < m->spans.nr ? from + STRETCH : m->spans.nr;

	(void)worker;
	for (size_t k = from; k < to; k++) {
		if (m->spans.correlation[k] == 0)
			continue;
		if (m->spans.kind[k] == SPAN_HOST) {
			if (m->tracks.v[m->spans.track[k]].kind != TRACK_THREAD)
				continue;
			VEC_PUSH(&l->v[i].launches, k);
			if (m->spans.correlation[k] > l->v[i].last)
				l->v[i].last = m->spans.correlation[k];
		} else if (span_is_work(m, k) && !(l->linked && l->linked[k])) {
			VEC_PUSH(&l->v[i].matches, (struct match){ k, 0 });
		}
	}
}

static void match_job(void *ctx, size_t i, unsigned worker)
{
	struct linking *l = ctx;
	const struct span_columns *c = &l->m->spans;

	(void)worker;
	for (size_t k = 0; k < l->v[i].matches.nr; k++) {
		struct match *ma = &l->v[i].matches.v[k];

		ma->launch = *launch_slot(l->m, &l->map, c->correlation[ma->work],
					  span_input(c, ma->work));
	}
}

static bool is_deeper(struct linking *l, uint64_t a, uint64_t b)
{
	if (!l->depths)
		l->depths = model_depths(l->m);
	return l->depths[a] > l->depths[b];
}

static void launches_map(struct linking *l)
{
	const struct span_columns *c = &l->m->spans;
	uint64_t nr = 0, last = 0;

	for (size_t i = 0; i < l->nr; i++) {
		nr += l->v[i].launches.nr;
		last = l->v[i].last > last ? l->v[i].last : last;
	}
	l->map.counted = l->m->inputs.nr == 1 && last < COUNTED_MAX * (nr + 1);
	if (nr)
		model_nest(l->m);
	for (l->map.cap = 16; l->map.cap < nr * 2; l->map.cap *= 2)
		;
	if (l->map.counted)
		l->map.cap = (size_t)last + 1;
	l->map.seed = hash_seed();
	l->map.slots = xcalloc(l->map.cap, sizeof(*l->map.slots));
	for (size_t i = 0; i < l->nr; i++) {
		for (size_t k = 0; k < l->v[i].launches.nr; k++) {
			uint64_t span = l->v[i].launches.v[k];
			uint64_t *slot = launch_slot(l->m, &l->map, c->correlation[span],
						     span_input(c, span));

			if (*slot == 0 || is_deeper(l, span, *slot - 1))
				*slot = span + 1;
		}
	}
}

/* Work that the reader linked itself is left alone. One byte per span, NULL when no reader did. */
static uint8_t *already_linked(const struct model *m)
{
	uint8_t *linked = NULL;

	for (size_t i = 0; i < m->links.nr; i++) {
		if (m->links.kind[i] != LINK_LAUNCH)
			continue;
		if (!linked)
			linked = xcalloc(m->spans.nr, 1);
		linked[m->links.to[i]] = 1;
	}
	return linked;
}

static void links_reserve(struct link_columns *l, size_t cap)
{
	l->cap = cap;
	l->from = xreallocarray(l->from, l->cap, sizeof(*l->from));
	l->to = xreallocarray(l->to, l->cap, sizeof(*l->to));
	l->kind = xreallocarray(l->kind, l->cap, sizeof(*l->kind));
}

void links_push(struct model *m, uint64_t from, uint64_t to, enum link_kind kind)
{
	struct link_columns *l = &m->links;

	if (l->nr == l->cap)
		links_reserve(l, vec_grow_cap(l->cap, 64));
	l->from[l->nr] = from;
	l->to[l->nr] = to;
	l->kind[l->nr++] = (uint8_t)kind;
}

/* Counted here, one warning: there may be millions. */
static void unlinked_warn(struct model *m, const uint64_t *count, const uint64_t *first)
{
	for (size_t i = 0; i < m->inputs.nr; i++)
		if (count[i])
			model_warn(m, (input_id)i, W_UNLINKED_WORK, count[i],
				   "no launch found for '%s'",
				   model_str(m, m->spans.name[first[i]]));
}

static void matches_push(struct linking *l)
{
	struct model *m = l->m;
	CLEANUP(xfreep) uint64_t *unlinked = xcalloc(m->inputs.nr + 1, sizeof(*unlinked));
	CLEANUP(xfreep) uint64_t *first = xcalloc(m->inputs.nr + 1, sizeof(*first));

	for (size_t i = 0; i < l->nr; i++) {
		for (size_t k = 0; k < l->v[i].matches.nr; k++) {
			const struct match *ma = &l->v[i].matches.v[k];
			input_id input = span_input(&m->spans, ma->work);

			if (ma->launch) {
				links_push(m, ma->launch - 1, ma->work, LINK_LAUNCH);
				m->inputs.v[input].links++;
			} else if (unlinked[input]++ == 0) {
				first[input] = ma->work;
			}
		}
	}
	unlinked_warn(m, unlinked, first);
}

static bool has_work(const struct model *m)
{
	for (size_t i = 0; i < m->spans.nr; i++)
		if (span_is_work(m, i))
			return true;
	return false;
}

void launch_links(struct model *m)
{
	CLEANUP(xfreep) uint8_t *linked = NULL;
	struct linking l = { .m = m, .nr = (m->spans.nr + STRETCH - 1) / STRETCH };
	size_t works = 0;

	if (!m->spans.correlation || !has_work(m))
		return;
	l.linked = linked = already_linked(m);
	l.v = xcalloc(l.nr, sizeof(*l.v));
	model_run(m, l.nr, collect_job, &l);
	for (size_t i = 0; i < l.nr; i++)
		works += l.v[i].matches.nr;
	if (works > 0) {
		if (m->links.cap - m->links.nr < works)
			links_reserve(&m->links, m->links.nr + works);
		launches_map(&l);
		model_run(m, l.nr, match_job, &l);
		matches_push(&l);
	}
	for (size_t i = 0; i < l.nr; i++) {
		VEC_RELEASE(&l.v[i].launches);
		VEC_RELEASE(&l.v[i].matches);
	}
	free(l.v);
	free(l.map.slots);
	free(l.depths);
}
