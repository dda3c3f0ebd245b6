/*
 * The processes that use a queue: the one that opened it according to the trace, those of the
 * queue's rank, those whose calls launched its work.
 */
#include "topology_private.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/search.h"
#include "profrig/base/u64map.h"

struct ranked {
	int32_t rank;
	track_id sharer;
};

static int by_rank(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->sharer > b->sharer) - (a->sharer < b->sharer);
}

static int by_sharer(const void *pa, const void *pb)
{
	const struct topology_owner *a = pa, *b = pb;

	if (a->sharer != b->sharer)
		return a->sharer < b->sharer ? -1 : 1;
	return (a->queue > b->queue) - (a->queue < b->queue);
}

static int by_queue(const void *pa, const void *pb)
{
	const struct topology_owner *a = pa, *b = pb;

	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	return (a->sharer > b->sharer) - (a->sharer < b->sharer);
}

static void sharer_add(struct topology_work *w, struct u64map *seen, track_id sharer,
		       track_id queue)
{
	uint32_t *at = u64map_at(seen, u64map_pair(sharer, queue));

	if (*at != U64MAP_NONE)
		return;
	*at = 0;
	VEC_PUSH(&w->owners, (struct topology_owner){ sharer, queue });
}

static void add_rank(struct topology_work *w, struct u64map *seen, const struct ranked *v,
		     size_t nr, track_id queue)
{
	const struct model *m = w->m;
	int32_t rank = m->tracks.v[queue].rank;

	for (size_t i = LOWER_BOUND(k, 0, nr, v[k].rank < rank); i < nr && v[i].rank == rank; i++)
		if (topology_same_node(model_node_of(m, v[i].sharer), "", model_node_of(m, queue),
				       ""))
			sharer_add(w, seen, v[i].sharer, queue);
}

static void add_ranks(struct topology_work *w, struct u64map *seen)
{
	const struct model *m = w->m;
	CLEANUP(xfreep) struct ranked *v = xreallocarray(NULL, m->tracks.nr + 1, sizeof(*v));
	size_t nr = 0;

	for (track_id t = 0; t < m->tracks.nr; t++)
		if (w->tp->track[t].active && w->tp->track[t].rank != RANK_NONE)
			v[nr++] = (struct ranked){ w->tp->track[t].rank, t };
	qsort(v, nr, sizeof(*v), by_rank);
	for (track_id t = 0; t < m->tracks.nr; t++)
		if (m->tracks.v[t].kind == TRACK_QUEUE && m->tracks.v[t].owner == TRACK_NONE &&
		    m->tracks.v[t].rank != RANK_NONE)
			add_rank(w, seen, v, nr, t);
}

static void add_launches(struct topology_work *w, struct u64map *seen)
{
	const struct model *m = w->m;

	for (size_t i = 0; i < m->links.nr; i++) {
		track_id from, to;

		if (m->links.kind[i] != LINK_LAUNCH)
			continue;
		from = m->spans.track[m->links.from[i]];
		to = m->spans.track[m->links.to[i]];
		if (m->tracks.v[from].kind == TRACK_THREAD && m->tracks.v[to].kind == TRACK_QUEUE)
			sharer_add(w, seen, topology_sharer(m, from), to);
	}
	for (size_t i = 0; i < m->launched.nr; i++) {
		track_id from = m->launched.v[i].from, to = m->launched.v[i].to;

		if (m->tracks.v[from].kind == TRACK_THREAD && m->tracks.v[to].kind == TRACK_QUEUE)
			sharer_add(w, seen, topology_sharer(m, from), to);
	}
}

void topology_find_owners(struct topology_work *w)
{
	CLEANUP(u64map_release) struct u64map seen = U64MAP_INIT;
	const struct model *m = w->m;

	for (track_id t = 0; t < m->tracks.nr; t++)
		if (m->tracks.v[t].kind == TRACK_QUEUE && m->tracks.v[t].owner < m->tracks.nr)
			sharer_add(w, &seen, topology_sharer(m, m->tracks.v[t].owner), t);
	add_ranks(w, &seen);
	add_launches(w, &seen);
	for (size_t i = 0; i < w->owners.nr; i++)
		VEC_PUSH(&w->by_queue, w->owners.v[i]);
	if (w->owners.nr == 0)
		return;
	qsort(w->owners.v, w->owners.nr, sizeof(*w->owners.v), by_sharer);
	qsort(w->by_queue.v, w->by_queue.nr, sizeof(*w->by_queue.v), by_queue);
}
