/*
 * lanes: spans that overlap on one track, laid into as few lanes as hold them. Formats whose lines
 * hold only spans that nest (OTF2, Trace Event Format, speedscope) get the lanes of a track as
 * several lines; readers make several tracks of spans that no thread executes. Lane 0 is the track
 * itself. There are no more lanes than spans that are open at one time.
 *
 *	struct lanes l = LANES_INIT;
 *	for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++)
 *		lane = lanes_put(&l, c->track[i], c->start_ns[i], c->end_ns[i], nests);
 *	lanes_release(&l);
 *
 * The spans of a track come in the order of the model's columns: by start; where they nest, of
 * equal starts the longer first. Each goes to the first lane with room for it. A lane with no open
 * span has room; for a span that may nest, so has a lane whose innermost open span ends no earlier.
 * A span is closed at its end: a span that starts there is its sibling, also one without length.
 * Spans with equal starts and ends that nest share a lane, in their order. A caller with one track
 * at a time uses track 0 and releases the lanes before the next track.
 *
 * Cost: the logarithm of the number of lanes per span. Memory: the spans that are open.
 */
#ifndef PROFRIG_LANES_H
#define PROFRIG_LANES_H

#include <stdbool.h>

#include "profrig/model/model.h"

struct lanes_track;

struct lanes {
	VEC(struct lanes_track *) tracks; /* by track; NULL: nothing was put on it yet */
};
#define LANES_INIT \
	{ \
		.tracks = VEC_INIT \
	}

/*
 * nests: the span may lie inside an open span, as calls of a thread do. Work of a queue never
 * nests: overlapping work runs at the same time. Instants nest everywhere.
 */
uint32_t lanes_put(struct lanes *l, track_id track, int64_t start_ns, int64_t end_ns, bool nests);
/* The number of lanes of a track so far; 0 without spans. */
uint32_t lanes_count(const struct lanes *l, track_id track);
void lanes_release(struct lanes *l); /* also a CLEANUP function */

/* Whether a span may lie inside an open one of its track. */
static inline bool lanes_nests(const struct model *m, uint64_t span)
{
	return m->tracks.v[m->spans.track[span]].kind == TRACK_THREAD ||
	       m->spans.kind[span] == SPAN_INSTANT;
}

#endif
