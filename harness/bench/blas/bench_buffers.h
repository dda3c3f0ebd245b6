/*
 * bench_buffers: the operands of a call (bench_layout.h) in one mapping.
 */
#ifndef BENCH_BUFFERS_H
#define BENCH_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#include "profrig/bench/bench_layout.h"

struct bench_buffers {
	char *map;
	struct bench_layout layout;
	uint64_t at; /* set of the next call */
};

/* Filled. -ENOMEM: that takes more than limit bytes, or there is no memory. */
int bench_buffers_make(const struct bench_op *op, enum bench_cache cache, uint64_t rotate,
		       uint64_t limit, struct bench_buffers *ret, struct err *err);
void bench_buffers_release(struct bench_buffers *b);
static inline char *bench_buffer(const struct bench_buffers *b, int operand, uint64_t set)
{
	return b->map + bench_layout_at(&b->layout, operand, set);
}
/* All Cs as they were filled, where an operation works in place. */
void bench_buffers_refresh(struct bench_buffers *b);

#endif
