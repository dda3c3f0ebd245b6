/*
 * tick_gaps: times between readings, of which an even sample is kept for their median: when there
 * are 65536, every second one is dropped, and from then on only every second one is kept.
 */
#ifndef PROFRIG_TICK_GAPS_H
#define PROFRIG_TICK_GAPS_H

#include <stdint.h>

#include "profrig/base/vec.h"

struct tick_gaps {
	VEC(int64_t) kept;
	uint64_t count, stride;
};

void tick_gaps_init(struct tick_gaps *i);
void tick_gaps_add(struct tick_gaps *i, int64_t ns);
int64_t tick_gaps_median(struct tick_gaps *i); /* the upper one of two; 0 without any */
void tick_gaps_release(struct tick_gaps *i);

#endif
