/*
 * bench_set: which configurations are measured, and in which order: the heaviest first, by flops of
 * all calls, then those of unknown flops by calls.
 */
#ifndef BENCH_SET_H
#define BENCH_SET_H

#include "profrig/bench/bench.h"

struct bench_choice {
	VEC(const struct bench_config *) v;
};

/* top 0: all. Shares are of the flops of all, or of the calls where flops are unknown. */
void bench_set_choose(const struct bench_set *set, uint64_t top, double min_share,
		      struct bench_choice *ret);

#endif
