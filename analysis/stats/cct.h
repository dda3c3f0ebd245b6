/*
 * cct: the calling-context tree of a profile's threads: one node per (track, call path).
 * `callpaths` and `energy_callpaths` sum by its nodes.
 *
 *	CLEANUP(cct_release) struct cct c = CCT_INIT;
 *	cct_build(p, false, &c);
 *	for each node k of profile track i:
 *		metric[c.node_of_path[i][k]] += …
 *	for (size_t n = c.nr; n-- > 0;)		subtree sums in place: parents come before children
 *		if (c.nodes[n].parent != CCT_NONE)
 *			metric[c.nodes[n].parent] += metric[n];
 *	order = cct_preorder(&c, m, weight);	rows for a table
 *
 * A node's inclusive is always its exclusive plus the inclusive of its children: the sum of
 * durations where calls nest well; where some outlive their parents no moment counts twice.
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
	struct cct_node *nodes; /* those of a track are adjacent, but for those of places */
	size_t nr, cap;
	uint32_t *node_of_place; /* by index of model.places; NULL without them */
	uint32_t **node_of_path; /* by index in profile.tracks and by node there */
	size_t nr_tracks;
	struct intern *names;
	uint64_t cut_spans;
};
#define CCT_INIT \
	{ \
		.nodes = NULL \
	}

/* places: with nodes for model.places too, of which a window may hold no call. */
void cct_build(const struct profile *p, bool places, struct cct *ret);
/* The same with other ceilings. */
void cct_build_limited(const struct profile *p, uint32_t max_depth, uint64_t max_path_bytes,
		       bool places, struct cct *ret);
void cct_release(struct cct *c);

/* Replaces out by the path of a node: names from the root joined by ';'. */
void cct_path(const struct cct *c, uint32_t node, struct strbuf *out);

/*
 * All nodes, each after its parent and before its next sibling. Tracks as track_order() gives
 * them; siblings by weight descending, then by name. weight: one number per node. Owned, c->nr
 * long.
 */
uint32_t *cct_preorder(const struct cct *c, const struct model *m, const double *weight);
/* Those of one track alone, which are [first, first + nr); weight: of the first one on. Owned. */
uint32_t *cct_preorder_of_track(const struct cct *c, uint32_t first, uint32_t nr,
				const double *weight);

#endif
