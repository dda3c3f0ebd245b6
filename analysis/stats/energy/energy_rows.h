/*
 * energy_rows: sums of attributed energy: by (track, name) for the table `energy`, by call path for
 * `energy_callpaths`.
 *
 * The groups are found once per profile, whose lanes a run has read for any number of jobs; every
 * job is collected into the groups:
 *
 *	energy_groups_make(p, lanes, nr, &g)	lanes: those of the run
 *	energy_collect(&g, run, job)		fills g.rows and, in the host view, g.paths
 *	energy_groups_release(&g)
 */
#ifndef PROFRIG_ENERGY_ROWS_H
#define PROFRIG_ENERGY_ROWS_H

#include "cct.h"

#include "profrig/base/sum.h"
#include "profrig/energy/energy.h"

/* The part of a row that does not depend on a counter. */
struct energy_group {
	track_id track;
	str_id name;
	uint32_t class_id; /* of its name, for energy by power */
	uint64_t calls;
	double duration_ns;  /* Σ of the calls' durations */
	double exclusive_ns; /* Σ of their exclusive times */
};

/* Results of one job for a group. */
struct energy_value {
	struct sum inclusive_j, exclusive_j, share_ns;
	struct sum power_inclusive_j, power_j; /* by power; the first of paths only */
	struct sum power_doubt_j;              /* rows only */
	int64_t exclusive_ns;
	uint8_t own_marks;    /* of the time in which it was innermost */
	uint8_t marks;        /* of all of its time */
	double uncertainty_j; /* rows only; NaN: not known */
	double power_uncertainty_j;
	bool taken; /* its calls take part */
};

/* A lane's node: a call path of one function, or device work of one name and launch. */
struct lane_node {
	uint32_t path; /* cct node; CCT_NONE for device work */
	uint32_t group;
	uint32_t parent; /* the caller's node on the same lane, NODE_NONE */
	bool outermost;  /* no caller on its path is the same function */
};

/* A lane's nodes and rows among all. */
struct lane_place {
	size_t first_node;              /* of energy_groups.nodes */
	size_t first_row;               /* of energy_groups.groups */
	uint32_t first_path;            /* of the cct */
	uint32_t nodes, rows, paths;    /* how many; paths: none of device work */
	const struct profile_track *of; /* borrowed */
	enum lane_mode mode;
	/* the lane that has the inclusive sums, where calls overlap; SIZE_MAX: the tree has them */
	size_t cover;
};

struct energy_groups {
	VEC(struct energy_group) groups;
	struct cct cct;
	struct energy_group *of_path; /* by cct node; track and name unused */
	/* after energy_collect: of the lanes that take part; of all others nothing but zeros */
	struct energy_value *rows, *paths;
	VEC(size_t) taken; /* these lanes, ascending; without those that cover others */
	/* by lane */
	VEC(struct lane_place) places;
	VEC(struct lane_node) nodes;
	/* classes of energy by power: one per name, by lane and node */
	uint32_t classes;
	uint32_t *class_of_node;
	const uint32_t **class_of;
	/* finer ones: one per call path, or launch of a kernel, and track */
	uint32_t leaves;
	uint32_t *leaf_of_node, *class_of_leaf;
	const uint32_t **leaf_of;
	/* the longest calls of all lanes, and the callers of nodes, by lane and node */
	VEC(struct energy_call) calls;
	uint32_t *parent_of_node, *nodes_of;
	const uint32_t **parent_of;
};

void energy_groups_make(const struct profile *p, const struct lane_def *lanes, size_t nr,
			struct energy_groups *ret);
void energy_groups_release(struct energy_groups *g);
void energy_collect(struct energy_groups *g, const struct energy_run *run, size_t job);

/* energy_leaves.c: the finer classes, of groups that have their classes. */
void energy_leaves_make(struct energy_groups *g, const struct profile *p);

#endif
