/*
 * order: in which order a campaign makes its runs: cells × repeats.
 *
 * A block is one run of each cell; there are as many as repeats, and the analysis compares within
 * blocks, so that what drifts (temperature, clocks, other users) is nearly the same for all that is
 * compared.
 *
 *	interleaved	block after block, every second one backwards (ABBA): a steady drift cancels
 *			out over two blocks, exactly so for an even number of repeats
 *	random		block after block, each in an order of its own (randomised complete blocks)
 *	sequential	all runs of a cell, then those of the next one: for cells that are costly to
 *			set up. A drift looks like a difference then.
 *
 * The same seed gives the same order, so that a campaign that goes on keeps it.
 */
#ifndef ORDER_H
#define ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/vec.h"

enum run_order { ORDER_INTERLEAVED, ORDER_RANDOM, ORDER_SEQUENTIAL };
const char *run_order_name(enum run_order o);
bool run_order_parse(const char *name, enum run_order *ret);

struct order_run {
	uint32_t cell, block; /* block: the repeat, from 0 */
};

struct order {
	VEC(struct order_run) runs;
};

/* cells · repeats is at most UINT32_MAX. */
void order_make(uint32_t cells, uint32_t repeats, enum run_order o, uint64_t seed,
		struct order *ret);
void order_release(struct order *o);

#endif
