/*
 * cct: the calling-context tree of a finished model: one node per (track, call path), and the node
 * of every span. `callpaths` and `energy_callpaths` sum by its nodes.
 *
 *	CLEANUP(cct_release) struct cct c = CCT_INIT;
 *	cct_build(m, &c);
 *	for each span i with c.node_of_span[i] != CCT_NONE:
 *		metric[c.node_of_span[i]] += …
 *	for (size_t n = c.nr; n-- > 0;)		subtree sums in place: parents come before children
 *		if (c.nodes[n].parent != CCT_NONE)
 *			metric[c.nodes[n].parent] += metric[n];
 *	order = cct_preorder(&c, m, weight);	rows for a table
 *
 * Calls are the spans of THREAD tracks without instants, which have no node.
 *
 * A span that outlives its parent has two parts (model.h, partial overlap): node_of_span is the
 * node of its main part (where the call counts), node_of_piece, by index of model.pieces, that of
 * the rest. The caller splits time and energy of such a span between the two. A node's inclusive is
 * always its exclusive plus the inclusive of its children: the sum of durations where calls nest
 * well; where some outlive their parents no moment counts twice.
 *
 * Names of frames are canonical: a ';' is written ':', so that paths can be split again; calls
 * whose names become equal share a node.
 *
 * Memory for paths grows with the square of the depth, so there is a ceiling (CCT_MAX_DEPTH levels,
 * CCT_MAX_PATH_BYTES over all paths). Calls below it share one `collapsed` node "[deeper]" under
 * their ancestor at the ceiling and are counted in cut_spans. A collapsed node's inclusive is its
 * exclusive.
 */
#ifndef PROFRIG_CCT_H
#define PROFRIG_CCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/strbuf.h"
#include "profrig/profile/profile.h"

#define CCT_NONE UINT32_MAX
#define CCT_MAX_DEPTH 4096
#define CCT_MAX_PATH_BYTES ((uint64_t)512 << 20)

struct cct_node {
	uint32_t parent; /* CCT_NONE for a root; parents come before children */
	track_id track;
	str_id name;    /* in cct.names */
	uint32_t depth; /* 0 = root */
	bool collapsed;
};

struct cct {
	struct cct_node *nodes;
	size_t nr, cap;
	uint32_t *node_of_span;  /* by span index; CCT_NONE: not a call on a host track */
	uint32_t *node_of_piece; /* by index of model.pieces; NULL when there are none */
	uint32_t *node_of_place; /* by index of model.places; NULL without them */
	uint32_t **node_of_path; /* of a profile: by index in profile.tracks and by node there */
	size_t nr_tracks;
	struct intern *names;
	uint64_t cut_spans;
};
#define CCT_INIT \
	{ \
		.nodes = NULL \
	}

void cct_build(const struct model *m, struct cct *ret);
/* With nodes for model.places too: a window may hold no call of theirs. */
void cct_build_places(const struct model *m, struct cct *ret);
/* The same tree of a profile; its nodes are found by node_of_path. */
void cct_build_profile(const struct profile *p, struct cct *ret);
/* The same with other ceilings. */
void cct_build_limited(const struct model *m, uint32_t max_depth, uint64_t max_path_bytes,
		       bool places, struct cct *ret);
void cct_release(struct cct *c);

/* Whether spans of this track are calls. */
bool cct_host_track(const struct model *m, track_id t);

/*
 * The node of a launching span: its own, of an instant that of the innermost open call; or CCT_NONE
 */
uint32_t cct_node_of(const struct cct *c, const struct model *m, uint64_t span);

/* Replaces out by the path of a node: names from the root joined by ';'. */
void cct_path(const struct cct *c, uint32_t node, struct strbuf *out);

/*
 * All nodes, each after its parent and before its next sibling. Tracks as track_order() gives
 * them; siblings by weight descending, then by name. weight: one number per node. Owned, c->nr
 * long.
 */
uint32_t *cct_preorder(const struct cct *c, const struct model *m, const double *weight);

#endif
