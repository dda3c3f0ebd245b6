/*
 * Spans that no thread executes overlap freely, and a thread track nests. They get tracks of their
 * own, as many as are needed for all to nest; a span that encloses the one before it, or begins
 * after its end, needs no further track.
 */
#include "rocprof_csv.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "profrig/model/nest_rows.h"

/* More at once go onto the first track, where the model counts their overlaps. */
#define MAX_ROWS 64

static int by_start(const void *va, const void *vb)
{
	const struct rocprof_unlinked *a = va, *b = vb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static track_id row_track(struct rocprof_csv *rc, const struct rocprof_unlinked *s, size_t row)
{
	struct track_def d = TRACK_DEF_INIT;
	char name[64];

	if (row > 0)
		snprintf(name, sizeof(name), "%s #%zu", s->what, row + 1);
	else
		snprintf(name, sizeof(name), "%s", s->what);
	d.kind = TRACK_THREAD;
	d.pid = s->pid;
	d.parent = rocprof_process(rc, s->pid);
	d.name = name;
	d.key = XXH3_64bits(name, strlen(name)) ^ (uint64_t)s->pid * 31;
	return rc->sink->ops->track(rc->sink, &d);
}

static void unlinked_push(struct rocprof_csv *rc, const struct rocprof_unlinked *s, track_id track)
{
	struct span_def d = { .track = track,
			      .start_ns = s->start_ns,
			      .end_ns = s->end_ns,
			      .name = s->name,
			      .category = s->category,
			      .kind = SPAN_ANNOTATION,
			      .args = s->args };

	rc->sink->ops->span(rc->sink, &d);
}

void rocprof_unlinked_push(struct rocprof_csv *rc)
{
	CLEANUP(nest_rows_release) struct nest_rows rows = NEST_ROWS_INIT;
	track_id tracks[MAX_ROWS];
	uint32_t nr = 0;

	if (rc->unlinked.nr == 0)
		return;
	qsort(rc->unlinked.v, rc->unlinked.nr, sizeof(*rc->unlinked.v), by_start);
	for (size_t i = 0; i < rc->unlinked.nr; i++) {
		const struct rocprof_unlinked *s = &rc->unlinked.v[i];
		uint32_t row;

		if (i > 0 && s->pid != rc->unlinked.v[i - 1].pid) {
			nest_rows_release(&rows);
			nr = 0;
		}
		row = nest_rows_put(&rows, 0, s->start_ns, s->end_ns, true);
		if (row >= MAX_ROWS)
			row = 0;
		else if (row == nr)
			tracks[nr++] = row_track(rc, s, row);
		unlinked_push(rc, s, tracks[row]);
	}
}
