/*
 * Graphs: what each launch of one ran, and each of their nodes. Work belongs to a graph when its
 * launch is a call that launches graphs, or the trace names its graph. Where the recording has the
 * capture of the graph, too (graph_captures.h), its kernels are the nodes, by their order.
 *
 *	graphs.c		the works of graphs, graph_launches
 *	graph_kernels.c		graph_kernels
 *	graph_capture_rows.c	graph_captures
 */
#ifndef PROFRIG_GRAPHS_H
#define PROFRIG_GRAPHS_H

#include "analyses_private.h"
#include "graph_captures.h"

/* clang-format off */
#define GRAPH_KERNELS(X) \
	X(STR, device) X(STR, graph) X(STR, node) X(STR, name) X(I64, calls) X(I64, total_ns) \
	X(F64, mean_ns) X(F64, min_ns) X(F64, max_ns) X(STR, exec) X(F64, sequence) \
	X(STR, captured) X(STR, grid) X(STR, block) X(F64, shared_bytes) X(F64, local_bytes) \
	X(F64, pid)
#define GRAPH_CAPTURES(X) \
	X(STR, thread) X(I64, start_ns) X(F64, dur_ns) X(I64, nodes) X(STR, graph) X(STR, exec) \
	X(F64, launches)
/* clang-format on */
TABLE_FORM(graph_kernels, GRAPH_KERNELS,
	   "one row per device and node of a graph; calls is 0 of nodes that did not run");

TABLE_FORM(graph_captures, GRAPH_CAPTURES,
	   "one row per capture of a stream: when, and how many kernels, copies and fills it has");

struct graph_work {
	int64_t launch_ns;
	uint64_t launch; /* SPAN_NONE */
	int64_t graph, node;
	uint32_t row;
	uint32_t instance; /* of graph_captures.instances; GRAPH_NONE */
	uint32_t sequence; /* node of its capture, from 0; GRAPH_NONE */
};

struct graphs {
	const struct works *w;
	struct graph_captures *gc;
	uint8_t *is_launch; /* by str_id: 0 not asked for yet, 1 no, 2 yes */
	VEC(struct graph_work) works;
	VEC(uint64_t) missing; /* launches without work */
	uint64_t left_out;     /* nodes without work that are not listed */
};

/* Nodes of captures that are looked at for their work being missing. */
#define GRAPH_IDLE_NODES ((size_t)1 << 20)

/* The number of a graph in the trace, else its handle; "" unknown. */
struct graph_id {
	char s[32];
};
const char *graph_text(const struct graphs *g, int64_t graph, uint32_t instance,
		       struct graph_id *buf);
/* "0x5000"; "" for FACT_ABSENT. */
const char *handle_text(int64_t handle, struct graph_id *buf);

struct table *graph_kernels_table(struct graphs *g);
struct table *graph_captures_table(const struct graphs *g); /* after executions were found */

#endif
