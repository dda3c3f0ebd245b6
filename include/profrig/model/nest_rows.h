/*
 * nest_rows: spans that overlap on one track, laid into as few rows as hold them. Formats whose
 * lines hold only spans that nest (OTF2, Trace Event Format, speedscope) get the rows of a track
 * as several lines; readers make several tracks of spans that no thread executes. Row 0 is the
 * track itself. There are no more rows than spans that are open at one time.
 *
 *	struct nest_rows rows = NEST_ROWS_INIT;
 *	for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++)
 *		row = nest_rows_put(&rows, c->track[i], c->start_ns[i], c->end_ns[i], nests);
 *	nest_rows_release(&rows);
 *
 * The spans of a track come in the order of the model's columns: by start; where they nest, of
 * equal starts the longer first. Each goes to the first row with room for it. A row with no open
 * span has room; for a span that may nest, so has a row whose innermost open span ends no earlier.
 * A span is closed at its end: a span that starts there is its sibling, also one without length.
 * Spans with equal starts and ends that nest share a row, in their order. A caller with one track
 * at a time uses track 0 and releases the rows before the next track.
 *
 * Cost: the logarithm of the number of rows per span. Memory: the spans that are open.
 */
#ifndef PROFRIG_NEST_ROWS_H
#define PROFRIG_NEST_ROWS_H

#include <stdbool.h>

#include "profrig/model/model.h"

struct nest_rows_track;

struct nest_rows {
	VEC(struct nest_rows_track *) tracks; /* by track; NULL: nothing was put on it yet */
};
#define NEST_ROWS_INIT \
	{ \
		.tracks = VEC_INIT \
	}

/*
 * nests: the span may lie inside an open span, as calls of a thread do. Work of a queue never
 * nests: overlapping work runs at the same time. Instants nest everywhere.
 */
uint32_t nest_rows_put(struct nest_rows *rows, track_id track, int64_t start_ns, int64_t end_ns,
		       bool nests);
/* The number of rows of a track so far; 0 without spans. */
uint32_t nest_rows_count(const struct nest_rows *rows, track_id track);
void nest_rows_release(struct nest_rows *rows); /* also a CLEANUP function */

/* Whether a span may lie inside an open one of its track. */
static inline bool nest_rows_nests(const struct model *m, uint64_t span)
{
	return m->tracks.v[m->spans.track[span]].kind == TRACK_THREAD ||
	       m->spans.kind[span] == SPAN_INSTANT;
}

#endif
