/*
 * block_spread: how far apart values of runs of one block are. Runs of a block are made one after
 * the other so that the machine is the same for all of them; where its clock differed all the same,
 * the block is flagged.
 *
 *	struct block_spread *v;
 *	size_t n = block_spreads(samples, nr, 0.05, &v);	ascending by block; owned
 *
 * Values that are not finite or not above 0, and those of no block, do not count.
 */
#ifndef PROFRIG_BLOCK_SPREAD_H
#define PROFRIG_BLOCK_SPREAD_H

#include <stddef.h>
#include <stdint.h>

#include "profrig/base/sample_verdict.h"

struct block_spread {
	uint32_t block;
	size_t nr;              /* values that count */
	double low, high;       /* the least and the greatest of them */
	size_t at_low, at_high; /* their places; of equal values the first */
};
/* The blocks whose greatest value is more than this share above the least one. */
size_t block_spreads(const struct sample *v, size_t n, double share, struct block_spread **ret);

#endif
