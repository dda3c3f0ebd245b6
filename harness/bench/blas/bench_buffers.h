/*
 * bench_buffers: the operands of a call, as often as the cache mode wants them, in one mapping.
 */
#ifndef BENCH_BUFFERS_H
#define BENCH_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#include "profrig/bench/bench.h"
#include "profrig/bench/bench_op.h"

struct bench_buffers {
	char *map;
	size_t bytes;
	char *base[OPERANDS];
	size_t step[OPERANDS], sets[OPERANDS];
	char *unused_c; /* C as it was filled, of an operation that works in place; NULL */
	uint64_t at;    /* set of the next call */
};

/*
 * Filled. rotate: bytes of the operands that change (at least two sets of them); -ENOMEM: that
 * takes more than limit bytes, or there is no memory.
 */
int bench_buffers_make(const struct bench_op *op, enum bench_cache cache, uint64_t rotate,
		       uint64_t limit, struct bench_buffers *ret, struct err *err);
void bench_buffers_release(struct bench_buffers *b);
static inline char *bench_buffer(const struct bench_buffers *b, int operand, uint64_t set)
{
	return b->base[operand] + set % b->sets[operand] * b->step[operand];
}
/* All Cs as they were filled, where an operation works in place. */
void bench_buffers_refresh(struct bench_buffers *b);

#endif
