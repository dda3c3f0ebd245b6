/*
 * Cuts a finished model to windows of time, in place. Spans are cut at the edges, and one that
 * crosses several windows has a part in each; then they are sorted and nested again. Samples stay:
 * curves (energy.h) are cut exactly, and idle power needs the time around. Of two spans that
 * overlap partly and both begin before a window, the longer one is the outer one in it.
 */
#include "model_private.h"

#include <assert.h>
#include <stdlib.h>

struct cutting {
	struct model *m;
	struct span_columns to;
	uint64_t *part_of;   /* by old row: its first part, SPAN_NONE when there is none */
	uint32_t *place_of;  /* by old row: where it was launched, PLACE_NONE */
	const uint8_t *drop; /* by old row: it goes, wherever it lies; NULL */
	bool facts;
	VEC(uint64_t) from; /* old rows by part, where there are facts */
	struct model_windowed n;
};

static void part_push(struct cutting *cu, size_t i, int64_t start_ns, int64_t end_ns)
{
	const struct span_columns *from = &cu->m->spans;
	struct span_columns *to = &cu->to;

	if (to->nr == to->cap)
		spans_reserve(to, vec_grow_cap(to->cap, 1024));
	if (cu->part_of[i] == SPAN_NONE)
		cu->part_of[i] = to->nr;
	if (cu->place_of[i] != PLACE_NONE)
		VEC_PUSH(&cu->m->placed, ((struct placed_work){ to->nr, cu->place_of[i] }));
	if (cu->facts)
		VEC_PUSH(&cu->from, i);
	to->track[to->nr] = from->track[i];
	to->start_ns[to->nr] = start_ns;
	to->end_ns[to->nr] = end_ns;
	to->name[to->nr] = from->name[i];
	to->category[to->nr] = from->category[i];
	if (from->correlation)
		to->correlation[to->nr] = from->correlation[i];
	if (from->args)
		to->args[to->nr] = from->args[i];
	to->kind[to->nr] = from->kind[i];
	if (from->input)
		to->input[to->nr] = from->input[i];
	to->nr++;
}

static void span_cut(struct cutting *cu, size_t i)
{
	int64_t start = cu->m->spans.start_ns[i], end = cu->m->spans.end_ns[i];
	size_t parts = cu->to.nr;
	bool whole = false;

	cu->part_of[i] = SPAN_NONE;
	for (size_t k = 0; k < cu->m->windows.nr && !(cu->drop && cu->drop[i]); k++) {
		const struct window *w = &cu->m->windows.v[k];
		int64_t a = start > w->from_ns ? start : w->from_ns;
		int64_t b = end < w->to_ns ? end : w->to_ns;

		/* a span that only touches an edge is outside, unless it has no length */
		if (a > b || (a == b && start < end))
			continue;
		whole |= a == start && b == end;
		part_push(cu, i, a, b);
		if (start == end)
			break;
	}
	cu->n.spans_out += cu->to.nr == parts;
	cu->m->tracks.v[cu->m->spans.track[i]].calls |= cu->to.nr == parts;
	cu->n.spans_cut += cu->to.nr > parts && !whole;
}

static void links_cut(struct cutting *cu)
{
	struct link_columns *l = &cu->m->links;
	size_t nr = 0;

	for (size_t i = 0; i < l->nr; i++) {
		uint64_t from = cu->part_of[l->from[i]], to = cu->part_of[l->to[i]];

		if (from == SPAN_NONE || to == SPAN_NONE) {
			cu->n.links_out++;
			continue;
		}
		l->from[nr] = from;
		l->to[nr] = to;
		l->kind[nr++] = l->kind[i];
	}
	l->nr = nr;
}

static void columns_replace(struct cutting *cu)
{
	struct span_columns *c = &cu->m->spans;

	spans_release(c);
	*c = cu->to;
	for (size_t i = 0; i < cu->m->tracks.nr; i++)
		cu->m->priv->track_states.v[i].spans = 0;
	for (size_t i = 0; i < c->nr; i++)
		cu->m->priv->track_states.v[c->track[i]].spans++;
	cu->m->priv->scattered = false; /* parts have the positions of their spans */
	VEC_CLEAR(&cu->m->pieces);
}

void model_window(struct model *m, const struct window *w, size_t nr, struct model_windowed *ret)
{
	model_window_without(m, w, nr, NULL, ret);
}

void model_window_without(struct model *m, const struct window *w, size_t nr, const uint8_t *drop,
			  struct model_windowed *ret)
{
	struct cutting cu = { .m = m, .drop = drop };
	bool nested = m->spans.up != NULL, timed = m->spans.exclusive_ns != NULL;

	assert(m->finished && nr > 0);
	model_nest(m);
	VEC_CLEAR(&m->windows);
	for (size_t i = 0; i < nr; i++)
		VEC_PUSH(&m->windows, w[i]);
	if (m->spans.correlation)
		cu.to.correlation = xcalloc(1, sizeof(*cu.to.correlation));
	if (m->spans.args)
		cu.to.args = xcalloc(1, sizeof(*cu.to.args));
	if (m->spans.input)
		cu.to.input = xcalloc(1, sizeof(*cu.to.input));
	cu.facts = facts_any(m);
	cu.place_of = launch_places(m);
	cu.part_of = xreallocarray(NULL, m->spans.nr + 1, sizeof(*cu.part_of));
	for (size_t i = 0; i < m->spans.nr; i++)
		span_cut(&cu, i);
	if (cu.to.cap == 0) /* nothing is inside, and columns are never NULL */
		spans_reserve(&cu.to, 1);
	links_cut(&cu);
	columns_replace(&cu);
	if (cu.facts)
		facts_cut(m, cu.from.v, cu.from.nr);
	spans_sort(m);
	facts_sort(m);
	/* the whole trace was already warned of its overlaps */
	pieces_find(m, false);
	if (timed)
		model_nest_times(m);
	else if (nested)
		model_nest(m);
	free(cu.part_of);
	free(cu.place_of);
	VEC_RELEASE(&cu.from);
	if (ret)
		*ret = cu.n;
}
