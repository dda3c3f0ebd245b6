/*
 * bench_layout: where the operands of a call lie in one piece of memory, as often as the cache mode
 * wants them, whatever memory that is.
 */
#ifndef BENCH_LAYOUT_H
#define BENCH_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/bench/bench.h"
#include "profrig/bench/bench_op.h"

#define BENCH_BUFFERS_MAX 10

struct bench_buffer_kind {
	uint64_t bytes;  /* 0: there is no such operand */
	uint64_t beside; /* that the library keeps for each of its sets, elsewhere */
	bool weights;    /* it changes with weights-cold */
	bool in_place;   /* a call destroys what it was filled with */
};

struct bench_layout {
	size_t bytes, nr; /* of all; operands */
	size_t at[BENCH_BUFFERS_MAX], step[BENCH_BUFFERS_MAX], sets[BENCH_BUFFERS_MAX];
	size_t unused
		[BENCH_BUFFERS_MAX]; /* where it lies as it was filled, of what is in place; 0 */
};

/*
 * align: a power of two, of each operand. rotate: bytes of the operands that change, with what is
 * beside them (at least two sets); -ENOMEM: all of them take more than limit bytes.
 */
int bench_layout_make(const struct bench_buffer_kind *kinds, size_t nr, enum bench_cache cache,
		      uint64_t align, uint64_t rotate, uint64_t limit, struct bench_layout *ret,
		      struct err *err);
/* Those of a BLAS. */
void bench_layout_kinds(const struct bench_op *op, struct bench_buffer_kind ret[OPERANDS]);

static inline size_t bench_layout_at(const struct bench_layout *l, size_t operand, uint64_t set)
{
	return l->at[operand] + set % l->sets[operand] * l->step[operand];
}

#endif
