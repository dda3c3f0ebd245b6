/*
 * intervals: times between readings, of which an even sample is kept for their median: when there
 * are 65536, every second one is dropped, and from then on only every second one is kept.
 */
#ifndef PROFRIG_INTERVALS_H
#define PROFRIG_INTERVALS_H

#include <stdint.h>

#include "profrig/base/vec.h"

struct intervals {
	VEC(int64_t) kept;
	uint64_t count, stride;
};

void intervals_init(struct intervals *i);
void intervals_add(struct intervals *i, int64_t ns);
int64_t intervals_median(struct intervals *i); /* the upper one of two; 0 without any */
void intervals_release(struct intervals *i);

#endif
