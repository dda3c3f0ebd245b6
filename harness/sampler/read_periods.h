/*
 * read_periods: times between readings, of which an even sample is kept for their median: when
 * there are 65536, every second one is dropped, and from then on only every second one is kept.
 */
#ifndef PROFRIG_READ_PERIODS_H
#define PROFRIG_READ_PERIODS_H

#include <stdint.h>

#include "profrig/base/vec.h"

struct read_periods {
	VEC(int64_t) kept;
	uint64_t count, stride;
};

void read_periods_init(struct read_periods *i);
void read_periods_add(struct read_periods *i, int64_t ns);
int64_t read_periods_median(struct read_periods *i); /* the upper one of two; 0 without any */
void read_periods_release(struct read_periods *i);

#endif
