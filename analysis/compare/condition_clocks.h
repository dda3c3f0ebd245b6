/*
 * condition_clocks: mean clocks as a condition of a comparison (conditions.h). Private to this
 * room.
 */
#ifndef CONDITION_CLOCKS_H
#define CONDITION_CLOCKS_H

#include "profrig/compare/conditions.h"

/* Whether a metric of run.json is such a clock, and so no figure unless it is named. */
bool condition_clock_is(const char *metric);
/* A metric of run.json; others than clocks that profrig found are passed over. */
void condition_clock_take(struct conditions *c, const char *metric, const char *source, double mhz);
/* A soft reason for processors and one for GPUs, at most. */
void condition_clocks_compare(const struct condition_side *a, const struct condition_side *b,
			      struct comparable *ret);

#endif
