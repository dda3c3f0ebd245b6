#include "model_private.h"

#include "profrig/warnings.h"

/*
 * From API call to device work by equal correlation inside one input, or inputs of one group. When
 * several host spans carry one correlation (a call and what it calls), the deepest is the launch;
 * among equals the first.
 */
struct launch_map {
	uint64_t *slots; /* span + 1, 0: free */
	size_t cap;	 /* power of two */
};

/* Inputs without a group have numbers that no group has in practice: groups are hashes. */
static uint64_t counts_with(const struct model *m, input_id input)
{
	uint64_t group = m->inputs.v[input].group;

	return group ? group : input;
}

/* Neighbours stay neighbours: most ids are counted, and are asked for in their order. */
static size_t launch_hash(uint64_t correlation, uint64_t group)
{
	uint64_t h = (correlation >> 4) + group * UINT64_C(0x9e3779b97f4a7c15);

	h = (h ^ h >> 31) * UINT64_C(0xd6e8feb86659fd93);
	return (h ^ h >> 32) << 4 | (correlation & 15);
}

static uint64_t *launch_slot(const struct model *m, const struct launch_map *map,
			     uint64_t correlation, input_id input)
{
	const struct span_columns *c = &m->spans;
	uint64_t group = counts_with(m, input);
	size_t at = launch_hash(correlation, group) & (map->cap - 1);
	uint64_t span;

	while ((span = map->slots[at]) != 0 &&
	       (c->correlation[span - 1] != correlation ||
		(c->input[span - 1] != input && counts_with(m, c->input[span - 1]) != group)))
		at = (at + 1) & (map->cap - 1);
	return &map->slots[at];
}

static bool is_launch(const struct model *m, size_t i)
{
	return m->spans.correlation[i] != 0 && m->spans.kind[i] == SPAN_HOST &&
	       m->tracks.v[m->spans.track[i]].kind == TRACK_THREAD;
}

static void launches_collect(const struct model *m, struct launch_map *map)
{
	const struct span_columns *c = &m->spans;
	size_t nr = 0;

	for (size_t i = 0; i < c->nr; i++)
		nr += is_launch(m, i);
	for (map->cap = 16; map->cap < nr * 2; map->cap *= 2)
		;
	map->slots = xcalloc(map->cap, sizeof(*map->slots));
	for (size_t i = 0; i < c->nr; i++) {
		uint64_t *l;

		if (!is_launch(m, i))
			continue;
		l = launch_slot(m, map, c->correlation[i], c->input[i]);
		if (*l == 0 || c->depth[i] > c->depth[*l - 1])
			*l = i + 1;
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

void links_push(struct model *m, uint64_t from, uint64_t to, enum link_kind kind)
{
	struct link_columns *l = &m->links;

	if (l->nr == l->cap) {
		l->cap = vec_grow_cap(l->cap, 64);
		l->from = xreallocarray(l->from, l->cap, sizeof(*l->from));
		l->to = xreallocarray(l->to, l->cap, sizeof(*l->to));
		l->kind = xreallocarray(l->kind, l->cap, sizeof(*l->kind));
	}
	l->from[l->nr] = from;
	l->to[l->nr] = to;
	l->kind[l->nr++] = (uint8_t)kind;
}

/* Counted here and told once: there may be millions. */
static void tell_unlinked(struct model *m, const uint64_t *count, const uint64_t *first)
{
	for (size_t i = 0; i < m->inputs.nr; i++)
		if (count[i])
			model_warn(m, (input_id)i, W_UNLINKED_WORK, count[i],
				   "no call has the correlation of '%s'",
				   model_str(m, m->spans.name[first[i]]));
}

void launch_links(struct model *m)
{
	const struct span_columns *c = &m->spans;
	struct launch_map map = { NULL, 0 };
	CLEANUP(xfreep) uint8_t *linked = already_linked(m);
	CLEANUP(xfreep) uint64_t *unlinked = xcalloc(m->inputs.nr + 1, sizeof(*unlinked));
	CLEANUP(xfreep) uint64_t *first = xcalloc(m->inputs.nr + 1, sizeof(*first));

	for (size_t i = 0; i < c->nr; i++) {
		uint64_t l;

		if (c->correlation[i] == 0 || !span_is_work(m, i) || (linked && linked[i]))
			continue;
		if (!map.slots)
			launches_collect(m, &map);
		l = *launch_slot(m, &map, c->correlation[i], c->input[i]);
		if (l == 0) {
			if (unlinked[c->input[i]]++ == 0)
				first[c->input[i]] = i;
			continue;
		}
		links_push(m, l - 1, i, LINK_LAUNCH);
		m->inputs.v[c->input[i]].links++;
	}
	tell_unlinked(m, unlinked, first);
	free(map.slots);
}
