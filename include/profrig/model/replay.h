/*
 * replay: pushes a finished model into a sink as one input: all of it, or a window of time. It cuts
 * a part out of a trace, and makes of a model of many inputs one that a single file can hold.
 *
 * Tracks and series have the hosts, ranks and device ids that model_finish gave them. Times are on
 * the model's time base. Correlations are renumbered where two inputs use the same independently.
 *
 * Of facts (facts.h) those of devices and of the job are pushed.
 *
 * The window is [from_ns, to_ns]. A span that crosses an edge is cut there; an instant or a sample
 * outside is left out, except the last sample before the window and the first one after it, between
 * which a counter is interpolated at the edges. A link stays when both of its spans do.
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
	uint64_t spans_out, samples_out, links_out; /* left out, also by a pick */
};

/*
 * Pushes one input with the path, reader and format of the first one of m; m must be finished. ret
 * may be NULL.
 */
void model_replay(const struct model *m, const struct window *w, struct sink *into,
		  struct replayed *ret);
/*
 * A part of a model by what its parts are; each function may be NULL: all are taken. A track is
 * taken with its parents and owners; spans and series of tracks that are not taken are left out.
 */
struct replay_pick {
	bool (*track)(void *ctx, track_id t);
	bool (*span)(void *ctx, uint64_t span);
	bool (*series)(void *ctx, series_id s);
	void *ctx;
};
struct model *model_pick(const struct model *m, const struct window *w,
			 const struct replay_pick *pick, struct replayed *ret);
/* A finished model of its own with one input, owned by the caller. */
struct model *model_cut(const struct model *m, const struct window *w, struct replayed *ret);
/* The clock of the times of a finished model. */
enum trace_clock model_clock(const struct model *m);

#endif
