/*
 * The call paths that launched device work, kept before a model is cut. A window may hold a kernel
 * and not its launch, or only the second half of it; its costs still belong to the path that it has
 * in the whole trace.
 */
#include "model_private.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

struct placing {
	struct model *m;
	struct u64map roots, below; /* (track, name) and (parent, name) → place */
	VEC(uint32_t) depth;
	uint32_t *of_span, *of_piece;
	uint32_t *of_work; /* by span */
};

static uint32_t place_at(struct placing *p, uint32_t parent, track_id track, str_id name)
{
	bool root = parent == PLACE_NONE;
	uint32_t *slot = root ? u64map_at(&p->roots, u64map_pair(track, name))
			      : u64map_at(&p->below, u64map_pair(parent, name));

	if (*slot != U64MAP_NONE)
		return *slot;
	*slot = (uint32_t)p->m->places.nr;
	VEC_PUSH(&p->depth, root ? 0 : p->depth.v[parent] + 1);
	VEC_PUSH(&p->m->places, ((struct launch_place){ parent, track, name }));
	return *slot;
}

static uint32_t enclosing_span(const struct placing *p, uint64_t span)
{
	const struct model *m = p->m;
	const struct span_piece *piece = model_below_piece(m, span);
	uint64_t parent;

	if (piece)
		return p->of_piece[piece - m->pieces.v];
	parent = span_parent(&m->spans, span);
	return parent == SPAN_NONE ? PLACE_NONE : p->of_span[parent];
}

/* An instant has the place of the call that is open. */
static void place_calls(struct placing *p)
{
	const struct model *m = p->m;
	size_t k = 0;

	for (uint64_t i = 0; i < m->spans.nr; i++) {
		track_id t = m->spans.track[i];
		str_id name = m->spans.name[i];

		p->of_span[i] = PLACE_NONE;
		if (m->tracks.v[t].kind != TRACK_THREAD)
			continue;
		p->of_span[i] = enclosing_span(p, i);
		if (m->spans.kind[i] != SPAN_INSTANT)
			p->of_span[i] = place_at(p, p->of_span[i], t, name);
		if (k < m->pieces.nr && m->pieces.v[k].span == i) {
			uint64_t up = m->pieces.v[k].parent;

			p->of_piece[k++] = place_at(
				p, up == PIECE_NONE ? PLACE_NONE : p->of_piece[up], t, name);
		}
	}
}

/* Of several launches the deepest has the work, as in `callpaths`. */
static void place_work(struct placing *p)
{
	const struct link_columns *l = &p->m->links;

	memset(p->of_work, 0xff, p->m->spans.nr * sizeof(*p->of_work));
	for (size_t i = 0; i < l->nr; i++) {
		uint32_t *of = &p->of_work[l->to[i]], at = p->of_span[l->from[i]];

		if (l->kind[i] != LINK_LAUNCH || at == PLACE_NONE || !span_is_work(p->m, l->to[i]))
			continue;
		if (*of == PLACE_NONE || p->depth.v[at] > p->depth.v[*of] ||
		    (p->depth.v[at] == p->depth.v[*of] && at < *of))
			*of = at;
	}
}

/* Only paths to a launch stay. */
static void places_prune(struct placing *p)
{
	struct model *m = p->m;
	CLEANUP(xfreep) uint32_t *to = xcalloc(m->places.nr + 1, sizeof(*to));
	uint32_t nr = 0;

	for (size_t i = 0; i < m->spans.nr; i++)
		if (p->of_work[i] != PLACE_NONE)
			to[p->of_work[i]] = 1;
	for (size_t i = m->places.nr; i-- > 0;)
		if (to[i] && m->places.v[i].parent != PLACE_NONE)
			to[m->places.v[i].parent] = 1;
	for (size_t i = 0; i < m->places.nr; i++) {
		struct launch_place l = m->places.v[i];

		if (!to[i])
			continue;
		if (l.parent != PLACE_NONE)
			l.parent = to[l.parent];
		to[i] = nr;
		m->places.v[nr++] = l;
	}
	m->places.nr = nr;
	for (size_t i = 0; i < m->spans.nr; i++)
		if (p->of_work[i] != PLACE_NONE)
			p->of_work[i] = to[p->of_work[i]];
}

uint32_t *launch_places(struct model *m)
{
	struct placing p = { .m = m };

	VEC_CLEAR(&m->places);
	VEC_CLEAR(&m->placed);
	p.of_span = xreallocarray(NULL, m->spans.nr + 1, sizeof(*p.of_span));
	p.of_work = xreallocarray(NULL, m->spans.nr + 1, sizeof(*p.of_work));
	p.of_piece = xreallocarray(NULL, m->pieces.nr + 1, sizeof(*p.of_piece));
	place_calls(&p);
	place_work(&p);
	places_prune(&p);
	u64map_release(&p.roots);
	u64map_release(&p.below);
	VEC_RELEASE(&p.depth);
	free(p.of_span);
	free(p.of_piece);
	return p.of_work;
}
