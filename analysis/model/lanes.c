#include "profrig/model/lanes.h"

#include "profrig/base/xalloc.h"

/* No span ends there: times that a reader hands over may be anything and are cut below it. */
#define FREE INT64_MAX

struct lane {
	VEC(int64_t) ends; /* of the open spans, the innermost last */
};

/*
 * A lane's value is the end of its innermost open span, FREE when none is open. A tree over the
 * lanes has the least value, which ends next, and the greatest, which shows where there is room.
 * Lanes behind the last used one are free.
 */
struct lanes_track {
	struct lane *lanes;
	uint32_t nr, cap; /* cap: a power of two */
	struct reach {
		int64_t least, most;
	} * tree; /* node i has the children 2i and 2i + 1; lane k is node cap + k */
};

static int64_t value_of(const struct lane *lane)
{
	return lane->ends.nr ? lane->ends.v[lane->ends.nr - 1] : FREE;
}

static void node_join(struct reach *tree, uint32_t i)
{
	const struct reach *a = &tree[2 * i], *b = &tree[2 * i + 1];

	tree[i].least = a->least < b->least ? a->least : b->least;
	tree[i].most = a->most > b->most ? a->most : b->most;
}

static void lane_changed(struct lanes_track *t, uint32_t lane)
{
	uint32_t i = t->cap + lane;

	t->tree[i].least = t->tree[i].most = value_of(&t->lanes[lane]);
	while (i /= 2)
		node_join(t->tree, i);
}

static void track_grow(struct lanes_track *t)
{
	uint32_t cap = t->cap ? t->cap * 2 : 1;

	t->lanes = xreallocarray(t->lanes, cap, sizeof(*t->lanes));
	t->tree = xreallocarray(t->tree, 2 * (size_t)cap, sizeof(*t->tree));
	for (uint32_t k = t->cap; k < cap; k++)
		t->lanes[k] = (struct lane){ .ends = VEC_INIT };
	t->cap = cap;
	for (uint32_t k = 0; k < cap; k++)
		t->tree[cap + k] = (struct reach){ value_of(&t->lanes[k]), value_of(&t->lanes[k]) };
	for (uint32_t i = cap - 1; i > 0; i--)
		node_join(t->tree, i);
}

static void ended_pop(struct lanes_track *t, int64_t now_ns)
{
	while (t->tree[1].least <= now_ns) {
		uint32_t i = 1, lane;

		while (i < t->cap)
			i = t->tree[2 * i].least <= now_ns ? 2 * i : 2 * i + 1;
		lane = i - t->cap;
		while (value_of(&t->lanes[lane]) <= now_ns)
			t->lanes[lane].ends.nr--;
		lane_changed(t, lane);
	}
}

static uint32_t first_with_room(struct lanes_track *t, int64_t value)
{
	uint32_t i = 1;

	if (t->tree[1].most < value)
		track_grow(t);
	while (i < t->cap)
		i = t->tree[2 * i].most >= value ? 2 * i : 2 * i + 1;
	return i - t->cap;
}

static struct lanes_track *track_of(struct lanes *l, track_id track)
{
	while (l->tracks.nr <= track)
		VEC_PUSH(&l->tracks, NULL);
	if (!l->tracks.v[track]) {
		l->tracks.v[track] = xcalloc(1, sizeof(struct lanes_track));
		track_grow(l->tracks.v[track]);
	}
	return l->tracks.v[track];
}

uint32_t lanes_put(struct lanes *l, track_id track, int64_t start_ns, int64_t end_ns, bool nests)
{
	struct lanes_track *t = track_of(l, track);
	int64_t end = end_ns < FREE ? end_ns : FREE - 1;
	uint32_t lane;

	ended_pop(t, start_ns < FREE ? start_ns : FREE - 1);
	lane = first_with_room(t, nests ? end : FREE);
	VEC_PUSH(&t->lanes[lane].ends, end);
	lane_changed(t, lane);
	if (lane >= t->nr)
		t->nr = lane + 1;
	return lane;
}

uint32_t lanes_count(const struct lanes *l, track_id track)
{
	return track < l->tracks.nr && l->tracks.v[track] ? l->tracks.v[track]->nr : 0;
}

void lanes_release(struct lanes *l)
{
	for (size_t i = 0; i < l->tracks.nr; i++) {
		struct lanes_track *t = l->tracks.v[i];

		for (uint32_t k = 0; t && k < t->cap; k++)
			VEC_RELEASE(&t->lanes[k].ends);
		if (t) {
			free(t->lanes);
			free(t->tree);
		}
		free(t);
	}
	VEC_RELEASE(&l->tracks);
}
