/*
 * lane: what happened on a track, as a row of changes in time order. A source of calls (a model
 * that was read before, a profile that reads along) turns them into lanes; attribution and coverage
 * need nothing else of a trace.
 *
 * Lanes are handed over in rounds: in each, every lane's events before the round's horizon, which
 * no lane will fall behind again. How a trace is cut into rounds changes no result by a bit, nor
 * does the number of threads.
 *
 * A node is a number from 0 on, dense, that means something to its lane's owner alone: a call path,
 * a kernel's name, a single span.
 */
#ifndef PROFRIG_LANE_H
#define PROFRIG_LANE_H

#include <stddef.h>
#include <stdint.h>

#include "profrig/base/workers.h"
#include "profrig/model/model.h"

struct strbuf;
struct serial_in;

#define NODE_NONE UINT32_MAX

struct lane_event {
	int64_t t_ns; /* common timebase; never before the event in front of it */
	/*
	 * calls: the innermost open node from here on, NODE_NONE when nothing is open;
	 * work on a queue: the node of the piece that begins or ends
	 */
	uint32_t node;
	/*
	 * calls: 1 the first one opens, -1 the last one closes, else 0;
	 * work: 1 begins, -1 ends
	 */
	int32_t change;
};

/* One lane's part of a round; borrowed for the call. */
struct lane_feed {
	track_id track;
	const struct lane_event *v;
	size_t nr;
	/* no event changes whether something is open: there is no need to look for it */
	bool steady;
	int rank; /* who reads this lane; the events of the others' are not here */
	/* how many there are so far; they grow from round to round */
	uint32_t nodes, rows;
	const uint32_t *row_of; /* by node: the row of a table that it adds to; NULL: its own */
};

/*
 * Who reads lanes while they come. All lanes take part in every round, also without an event, in
 * one order; begin is told them ahead of the first round, when tracks and the series of all
 * locations that hold nothing but samples are known. The last round's horizon is INT64_MAX. w is
 * free to be used.
 *
 * With several ranks each reads some of the lanes; rounds are the same for all of them. After the
 * last one a rank's results are saved and loaded by another, which has them both then, and so on
 * until rank 0 has all.
 */
struct lane_reader {
	void *ctx;
	void (*begin)(void *ctx, const struct lane_feed *feeds, size_t n);
	void (*round)(void *ctx, const struct lane_feed *feeds, size_t n, int64_t horizon_ns,
		      struct workers *w);
	void (*save)(void *ctx, struct strbuf *to);
	void (*load)(void *ctx, struct serial_in *from);
};

/*
 * By node of a forest: 1 when no node above it is of its kind, so that a recursive call counts once
 * in an inclusive sum. nr nodes, parents (NODE_NONE: a root) before their children; kind < kinds.
 * Linear, however deep. The caller frees the result.
 */
uint8_t *nodes_outermost(const uint32_t *parent, const uint32_t *kind, uint32_t nr, size_t kinds);

#endif
