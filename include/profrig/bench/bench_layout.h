/*
 * bench_layout: where the operands of a call lie in one piece of memory, as often as the cache mode
 * wants them, whatever memory that is.
 */
#ifndef PROFRIG_BENCH_LAYOUT_H
#define PROFRIG_BENCH_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "profrig/bench/bench.h"
#include "profrig/bench/bench_op.h"

struct bench_layout {
	size_t bytes; /* of all */
	size_t at[OPERANDS], step[OPERANDS], sets[OPERANDS];
	size_t unused_c; /* where C lies as it was filled, of an operation that works in place; 0 */
};

/*
 * align: a power of two, of each operand. rotate: bytes of the operands that change (at least two
 * sets of them); -ENOMEM: that takes more than limit bytes.
 */
int bench_layout_make(const struct bench_op *op, enum bench_cache cache, uint64_t align,
		      uint64_t rotate, uint64_t limit, struct bench_layout *ret, struct err *err);
static inline size_t bench_layout_at(const struct bench_layout *l, int operand, uint64_t set)
{
	return l->at[operand] + set % l->sets[operand] * l->step[operand];
}

#endif
