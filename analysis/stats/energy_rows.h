/*
 * energy_rows: energies of single spans summed up by who they belong to: (track, name) for the
 * table `energy`, call paths for `energy_callpaths`.
 *
 * The groups are found once per model; every attribution (series, view) is then poured into them:
 *
 *	energy_groups_make(m, &g)
 *	energy_pour(&g, m, &result)	fills g.rows and, in the host view, g.paths
 *	energy_groups_release(&g)
 */
#ifndef PROFRIG_ENERGY_ROWS_H
#define PROFRIG_ENERGY_ROWS_H

#include "cct.h"

#include "profrig/energy.h"
#include "profrig/sum.h"

#define GROUP_NONE UINT32_MAX

/* What does not depend on a counter. */
struct energy_group {
	track_id track;
	str_id name;
	uint64_t calls;
	double duration_ns;  /* Σ of the calls' durations */
	double exclusive_ns; /* Σ of their exclusive times */
};

/* What one attribution gives a group. */
struct energy_value {
	struct sum inclusive_j, exclusive_j;
	int64_t exclusive_ns;
	uint8_t marks;
	bool taken; /* its calls take part */
};

struct energy_groups {
	VEC(struct energy_group) groups;
	uint32_t *of_span; /* GROUP_NONE: neither a call nor device work */
	uint8_t *fresh;    /* by span: whether it adds to an inclusive sum that counts
			      recursion once */
	struct cct cct;
	struct energy_group *of_path; /* by cct node; track and name unused */
	struct energy_value *rows, *paths;
};

void energy_groups_make(const struct model *m, struct energy_groups *ret);
void energy_groups_release(struct energy_groups *g);
void energy_pour(struct energy_groups *g, const struct model *m, const struct energy_result *r);

#endif
