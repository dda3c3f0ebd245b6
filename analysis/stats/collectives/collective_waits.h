/*
 * collective_waits: who waited in which collective, as a grid of ranks and instances.
 *
 * Columns are the complete instances by start. Where there are more than COLLECTIVE_WAITS_COLUMNS,
 * or more than COLLECTIVE_WAITS_CELLS cells, a column is several neighbouring instances: their
 * waits are summed, and the longest single one is kept. A rank has a row where it took part in one
 * of a column's instances. The sums of a rank are wait_ns and caused_wait_ns of collective_ranks,
 * exactly.
 */
#ifndef PROFRIG_COLLECTIVE_WAITS_H
#define PROFRIG_COLLECTIVE_WAITS_H

#include "collective_match.h"

#include "profrig/base/strvec.h"
#include "profrig/base/table.h"

#define COLLECTIVE_WAITS_COLUMNS 1000
#define COLLECTIVE_WAITS_CELLS 65536

/* clang-format off */
#define COLLECTIVE_WAITS(X) \
	X(STR, rank) X(I64, first) X(I64, instances) X(I64, start_ns) X(I64, count) \
	X(I64, wait_ns) X(I64, longest_ns) X(I64, caused_wait_ns)
/* clang-format on */
TABLE_FORM(collective_waits, COLLECTIVE_WAITS,
	   "one row per rank and complete collective, or several neighbouring ones: its waits");

/*
 * Of measured instances; order: all of them by start; labels: of ranks; NULL without a complete
 * one.
 */
struct table *collective_waits_table(const struct collective_match *cm, const size_t *order,
				     const struct strvec *labels);

#endif
