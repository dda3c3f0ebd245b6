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
 * equal starts the longer first. Each goes to the first lane that has room for it. Room is, where
 * the span may nest, an open span that ends no earlier than it does, or none open at all; where it
 * may not, none open. A span is not open any more where it ends: what starts there is its sibling,
 * also what has no length. Spans with equal starts and ends that nest share a lane, in their order.
 * A caller that has one track at a time calls it 0 and releases the lanes before the next.
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
 * nests: it may lie inside an open span, as calls of a thread do. Work of a queue does not: what
 * looks nested there runs at the same time. Instants may everywhere, as they take no room.
 */
uint32_t lanes_put(struct lanes *l, track_id track, int64_t start_ns, int64_t end_ns, bool nests);
/* How many lanes a track has by now; 0 without spans. */
uint32_t lanes_count(const struct lanes *l, track_id track);
void lanes_release(struct lanes *l); /* also a CLEANUP function */

/* Whether a span may lie inside an open one of its track. */
static inline bool lanes_nests(const struct model *m, uint64_t span)
{
	return m->tracks.v[m->spans.track[span]].kind == TRACK_THREAD ||
	       m->spans.kind[span] == SPAN_INSTANT;
}

#endif
