/*
 * replay: a finished model pushed into a sink again, as one input: all of it, or what lies in a
 * window of time. This is how a part of a trace is cut out, and how a model of many inputs becomes
 * one that a single file can hold.
 *
 * Tracks and series come along with their hosts, ranks and device ids as model_finish left them.
 * Times are those of the model's time base. Correlations of inputs that counted by themselves are
 * told apart: they are numbered anew where two inputs use the same.
 *
 * The window is [from_ns, to_ns]. A span that reaches out of it is cut at its edges, an instant or
 * a sample outside is left out, but the sample before the window and the one behind it stay: a
 * counter's value at the edge lies between them. A link stays when both of its spans do.
 */
#ifndef PROFRIG_REPLAY_H
#define PROFRIG_REPLAY_H

#include "profrig/model/sink.h"

#define WINDOW_ALL \
	{ \
		INT64_MIN, INT64_MAX \
	}

struct replayed {
	uint64_t spans, samples, links;             /* that were pushed */
	uint64_t spans_cut;                         /* of them, at an edge of the window */
	uint64_t spans_out, samples_out, links_out; /* left out */
};

/*
 * Pushes one input with the path, reader and format of the first one of m; m must be finished. ret
 * may be NULL.
 */
void model_replay(const struct model *m, const struct window *w, struct sink *into,
		  struct replayed *ret);
/* A finished model of its own with one input, owned by the caller. */
struct model *model_cut(const struct model *m, const struct window *w, struct replayed *ret);
/* The clock that the times of a finished model are of. */
enum trace_clock model_clock(const struct model *m);

#endif
