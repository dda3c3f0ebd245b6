/*
 * model_lanes: the tracks of a finished model as lanes (lane.h).
 *
 *	struct model_lane lanes[] = { { .def = { track, LANE_CALLS }, .node_of_span = …,
 *					.nodes = n } };
 *	energy_run_new(m, jobs, defs, …, &run);
 *	model_lanes_run(m, lanes, nr, 0, run);
 *	energy_run_value(run, job, lane, node)
 *
 * The caller gives each span a node: a call path, a function, the span itself. Spans that are no
 * calls (LANE_CALLS, LANE_COVER: instants) or no work (LANE_WORK) are skipped, as are spans with
 * NODE_NONE on a LANE_COVER. The innermost call is the one that started last; a span that outlives
 * its parent changes to its piece's node where the parent's own part ends (model.h, partial
 * overlap).
 */
#ifndef PROFRIG_MODEL_LANES_H
#define PROFRIG_MODEL_LANES_H

#include "profrig/energy/energy.h"

struct model_lane {
	struct lane_def def;
	const uint32_t *node_of_span;  /* by index of the columns */
	const uint32_t *node_of_piece; /* by index of model.pieces; NULL when there are none */
	uint32_t nodes, rows;
	const uint32_t *row_of; /* by node; NULL: rows are nodes */
};

/*
 * Reads all lanes in rounds of about round_events events (0: a default that needs little memory).
 */
void model_lanes_run(const struct model *m, const struct model_lane *lanes, size_t nr,
		     size_t round_events, struct energy_run *run);

#endif
