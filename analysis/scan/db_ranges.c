/*
 * Ranges that start on one thread and stop on another, or in any order: no thread executes them, so
 * they are annotations beside the threads of their process.
 */
#include "db_scan.h"

#include <string.h>

#include "profrig/model/nest_rows.h"

void db_range_add(struct db_scan *sc, track_id process, const struct span_def *d)
{
	VEC_PUSH(&sc->ranges, (struct db_range){ .process = process,
						 .name = d->name,
						 .category = d->category,
						 .args = d->args,
						 .start_ns = d->start_ns,
						 .end_ns = d->end_ns,
						 .order = (uint32_t)sc->ranges.nr });
}

static int by_place(const void *va, const void *vb)
{
	const struct db_range *a = va, *b = vb;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->category != b->category)
		return a->category < b->category ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static track_id row_track(struct db_scan *sc, const struct db_range *r, uint32_t number)
{
	struct track_def d = TRACK_DEF_INIT;
	char name[48];

	if (number == 0)
		snprintf(name, sizeof(name), "ranges");
	else
		snprintf(name, sizeof(name), "ranges #%u", number + 1);
	d.kind = TRACK_THREAD;
	d.parent = r->process;
	d.name = name;
	d.key = db_hash(r->process, r->category, (uint64_t)number << 8 | 'L');
	return db_scan_track(sc, &d);
}

static void range_push(struct db_scan *sc, const struct db_range *r, track_id track)
{
	struct span_def d = { .track = track,
			      .start_ns = r->start_ns,
			      .end_ns = r->end_ns,
			      .name = r->name,
			      .category = r->category,
			      .args = r->args,
			      .kind = SPAN_ANNOTATION };

	sc->sink->ops->span(sc->sink, &d);
}

void db_ranges_push(struct db_scan *sc)
{
	CLEANUP(nest_rows_release) struct nest_rows rows = NEST_ROWS_INIT;
	VEC(track_id) tracks = VEC_INIT;

	if (sc->ranges.nr > 1)
		qsort(sc->ranges.v, sc->ranges.nr, sizeof(*sc->ranges.v), by_place);
	for (size_t i = 0; i < sc->ranges.nr; i++) {
		const struct db_range *r = &sc->ranges.v[i], *last = i > 0 ? r - 1 : r;
		uint32_t row;

		if (last->process != r->process || last->category != r->category) {
			nest_rows_release(&rows);
			VEC_CLEAR(&tracks);
		}
		row = nest_rows_put(&rows, 0, r->start_ns, r->end_ns, false);
		if (row == tracks.nr)
			VEC_PUSH(&tracks, row_track(sc, r, row));
		range_push(sc, r, tracks.v[row]);
	}
	VEC_RELEASE(&tracks);
	VEC_CLEAR(&sc->ranges);
}
