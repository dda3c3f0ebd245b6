/*
 * lane: the events of a track as a sequence of changes in time order. A profile produces lanes
 * while it reads an archive or a finished model; attribution needs nothing else of a trace.
 *
 * Lanes are handed over in rounds. A round has a horizon, and holds the events of every lane before
 * it; later events are never earlier than the horizon. Results do not depend on how a trace is cut
 * into rounds, nor on the number of threads.
 *
 * A node is a dense number from 0, defined by the owner of its lane: a call path, a kernel's name,
 * a single span.
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
	/* it has the functions of the lane before it, whose calls overlap: nodes are rows */
	bool cover;
	/* at most so many events of this part change whether a node is open; 0: none does */
	size_t changes;
	int rank; /* that reads this lane; v is empty on the other ranks */
	/* how many there are so far; they grow from round to round */
	uint32_t nodes, rows;
	const uint32_t *row_of; /* by node: the row of a table that it adds to; NULL: its own */
};

/*
 * A consumer of lanes. begin gets all lanes before the first round, when the tracks are known, and
 * the series of locations that hold samples only. Every round has all lanes in the same order, also
 * those without an event. The horizon of the last round is INT64_MAX. round may use w.
 *
 * With several ranks each rank reads some of the lanes; all have the same rounds. After the last
 * round results are merged pairwise: one rank saves its results, another loads them, until rank 0
 * has all.
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
