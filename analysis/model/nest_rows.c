#include "profrig/model/nest_rows.h"

#include "profrig/base/xalloc.h"

/* No span ends there: times that a reader hands over may be anything and are cut below it. */
#define FREE INT64_MAX

struct row {
	VEC(int64_t) ends; /* of the open spans, the innermost last */
};

/*
 * A row's value is the end of its innermost open span, FREE when none is open. A tree over the
 * rows has the least value, which ends next, and the greatest, which shows where there is room.
 * Rows behind the last used one are free.
 */
struct nest_rows_track {
	struct row *rows;
	uint32_t nr, cap; /* cap: a power of two */
	struct reach {
		int64_t least, most;
	} * tree; /* node i has the children 2i and 2i + 1; row k is node cap + k */
};

static int64_t value_of(const struct row *row)
{
	return row->ends.nr ? row->ends.v[row->ends.nr - 1] : FREE;
}

static void node_join(struct reach *tree, uint32_t i)
{
	const struct reach *a = &tree[2 * i], *b = &tree[2 * i + 1];

	tree[i].least = a->least < b->least ? a->least : b->least;
	tree[i].most = a->most > b->most ? a->most : b->most;
}

static void row_changed(struct nest_rows_track *t, uint32_t row)
{
	uint32_t i = t->cap + row;

	t->tree[i].least = t->tree[i].most = value_of(&t->rows[row]);
	while (i /= 2)
		node_join(t->tree, i);
}

static void track_grow(struct nest_rows_track *t)
{
	uint32_t cap = t->cap ? t->cap * 2 : 1;

	t->rows = xreallocarray(t->rows, cap, sizeof(*t->rows));
	t->tree = xreallocarray(t->tree, 2 * (size_t)cap, sizeof(*t->tree));
	for (uint32_t k = t->cap; k < cap; k++)
		t->rows[k] = (struct row){ .ends = VEC_INIT };
	t->cap = cap;
	for (uint32_t k = 0; k < cap; k++)
		t->tree[cap + k] = (struct reach){ value_of(&t->rows[k]), value_of(&t->rows[k]) };
	for (uint32_t i = cap - 1; i > 0; i--)
		node_join(t->tree, i);
}

static void ended_pop(struct nest_rows_track *t, int64_t now_ns)
{
	while (t->tree[1].least <= now_ns) {
		uint32_t i = 1, row;

		while (i < t->cap)
			i = t->tree[2 * i].least <= now_ns ? 2 * i : 2 * i + 1;
		row = i - t->cap;
		while (value_of(&t->rows[row]) <= now_ns)
			t->rows[row].ends.nr--;
		row_changed(t, row);
	}
}

static uint32_t first_with_room(struct nest_rows_track *t, int64_t value)
{
	uint32_t i = 1;

	if (t->tree[1].most < value)
		track_grow(t);
	while (i < t->cap)
		i = t->tree[2 * i].most >= value ? 2 * i : 2 * i + 1;
	return i - t->cap;
}

static struct nest_rows_track *track_of(struct nest_rows *rows, track_id track)
{
	while (rows->tracks.nr <= track)
		VEC_PUSH(&rows->tracks, NULL);
	if (!rows->tracks.v[track]) {
		rows->tracks.v[track] = xcalloc(1, sizeof(struct nest_rows_track));
		track_grow(rows->tracks.v[track]);
	}
	return rows->tracks.v[track];
}

uint32_t nest_rows_put(struct nest_rows *rows, track_id track, int64_t start_ns, int64_t end_ns,
		       bool nests)
{
	struct nest_rows_track *t = track_of(rows, track);
	int64_t end = end_ns < FREE ? end_ns : FREE - 1;
	uint32_t row;

	ended_pop(t, start_ns < FREE ? start_ns : FREE - 1);
	row = first_with_room(t, nests ? end : FREE);
	VEC_PUSH(&t->rows[row].ends, end);
	row_changed(t, row);
	if (row >= t->nr)
		t->nr = row + 1;
	return row;
}

uint32_t nest_rows_count(const struct nest_rows *rows, track_id track)
{
	return track < rows->tracks.nr && rows->tracks.v[track] ? rows->tracks.v[track]->nr : 0;
}

void nest_rows_release(struct nest_rows *rows)
{
	for (size_t i = 0; i < rows->tracks.nr; i++) {
		struct nest_rows_track *t = rows->tracks.v[i];

		for (uint32_t k = 0; t && k < t->cap; k++)
			VEC_RELEASE(&t->rows[k].ends);
		if (t) {
			free(t->rows);
			free(t->tree);
		}
		free(t);
	}
	VEC_RELEASE(&rows->tracks);
}
