/*
 * graph_captures: which launches of kernels, copies and fills became the nodes of which graph, and
 * which launches of graphs ran it: by the handles of streams, graphs and executable graphs that
 * the calls state (capture_facts in model/facts.h), else by the names of the calls.
 *
 * A capture of a stream lasts from the call that begins it to the next one of the process that ends
 * it. Its nodes are the launches on that stream by any thread of the process whose call returned
 * meanwhile, in the order in which they were called. The call that ends it tells the graph, one
 * that instantiates the graph the executable graph, and a launch of this one is an execution.
 * Handles belong to a process, and are used again: the latest call before counts.
 *
 * A launch whose executable graph was instantiated before the recording began has an instance
 * without a capture.
 *
 * Calls that state no handles (Nsight Systems, Kineto, rocpd) are known by their names: a capture
 * lasts from the call that begins one to the next on its thread that ends one. Its nodes are the
 * calls in between, of the thread, that queue work and launched none. What the thread instantiates
 * next is the capture's. Which launch ran it nothing states: it is the instance of the process that
 * has as many nodes as the launch has works, where exactly one has (graph_instance_of_size).
 *
 *	struct graph_captures *gc = graph_captures_new(w);
 *	uint32_t at = graph_instance_of(gc, launch)	of a call that launches a graph
 *	gc->instances.v[at].capture → gc->captures.v → gc->nodes.v
 *	graph_captures_free(gc);
 *
 * Then graph_replay says which work of one execution is which node: the k-th of a name is the k-th
 * node of that name; of what is left (a trace may print a name in two ways) the k-th work the k-th
 * node, when both are equally many.
 *
 * O(n log n) of the calls that have such facts or names, O(n) of all others.
 */
#ifndef GRAPH_CAPTURES_H
#define GRAPH_CAPTURES_H

#include "profrig/base/u64map.h"
#include "profrig/work/works.h"

#define GRAPH_NONE UINT32_MAX

struct graph_node {
	uint64_t span; /* the call */
	str_id name;   /* of its kernel; STR_NONE: the trace has none */
};

struct graph_capture {
	track_id process;
	uint64_t span;            /* the call that begins it */
	bool by_name;             /* no call of it states handles */
	int64_t start_ns, end_ns; /* of the calls; end_ns INT64_MAX: it was not ended */
	int64_t stream, graph;    /* FACT_ABSENT */
	size_t first, nr;         /* nodes */
	struct u64map by_kernel;  /* for graph_replay */
	bool named;
};

struct graph_instance {
	track_id process;
	int64_t exec, graph; /* FACT_ABSENT */
	uint32_t capture;    /* GRAPH_NONE */
	int64_t made_ns;
	uint64_t launches; /* of those by name: as far as they are found */
};

struct graph_captures {
	VEC(struct graph_node) nodes;
	VEC(struct graph_capture) captures;   /* by process, begin */
	VEC(struct graph_instance) instances; /* likewise */
	VEC(struct graph_execution {
		uint64_t span;
		uint32_t instance;
	}) executions;         /* by span */
	struct u64map of_size; /* process, nodes → the only instance by name, else a mark */
};

struct graph_captures *graph_captures_new(const struct works *w); /* its model is nested */
void graph_captures_free(struct graph_captures *gc);
void graph_captures_freep(struct graph_captures **gc);
/* GRAPH_NONE: the trace does not tell. */
uint32_t graph_instance_of(const struct graph_captures *gc, uint64_t launch);
/* The one without handles, made before t_ns, of so many nodes; GRAPH_NONE: none, or several. */
uint32_t graph_instance_of_size(const struct graph_captures *gc, track_id process, int64_t t_ns,
				size_t nodes);
/* That of the thread, else the track itself. */
track_id graph_process_of(const struct model *m, track_id track);

/*
 * names: of the works of one execution, in the order of their starts. ret, by work: the node,
 * counted from 0 in the capture, or GRAPH_NONE. O(nr).
 */
void graph_replay(struct graph_captures *gc, uint32_t capture, const str_id *names, size_t nr,
		  uint32_t *ret);

#endif
