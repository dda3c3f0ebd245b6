/* The table of clocks: how far each rank is ahead, and whether its collectives were moved by it. */
#ifndef PROFRIG_COLLECTIVE_ALIGNMENT_H
#define PROFRIG_COLLECTIVE_ALIGNMENT_H

#include "collective_clocks.h"

#include "profrig/base/strvec.h"
#include "profrig/base/table.h"
#include "profrig/stats/analysis.h"

/* clang-format off */
#define ALIGNMENT(X) \
	X(STR, group) X(STR, track) X(F64, offset_ns) X(F64, drift_ppm) X(F64, residual_std_ns) \
	X(F64, residual_max_ns) X(I64, events) X(STR, used) X(STR, why) X(F64, residual_sum_ns) \
	X(F64, group_raw_sum_ns) X(F64, group_sum_ns) X(STR, by) X(F64, bound_ns) X(F64, reversed) \
	X(F64, reversed_left)
/* clang-format on */
TABLE_FORM(
	alignment, ALIGNMENT,
	"one row per rank that shares collectives: how far its clock is ahead of the common one");

/* Adds the table, or why there is none. labels: of ranks, as in collective_parts.ranks. */
void collective_alignment(const struct collective_match *cm, const struct collective_clocks *cc,
			  const struct strvec *labels, struct table_set *out);

#endif
