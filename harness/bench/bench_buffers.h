/*
 * bench_buffers: the operands of a call, as often as the cache mode wants them, in one mapping. A
 * driver says how large each is and how it is filled.
 */
#ifndef BENCH_BUFFERS_H
#define BENCH_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/bench/bench.h"

#define BENCH_BUFFERS_MAX 10

struct bench_buffer_kind {
	uint64_t bytes;  /* 0: there is no such operand */
	uint64_t beside; /* that the library keeps for each of its sets, elsewhere */
	bool weights;    /* it changes with weights-cold */
	bool in_place;   /* a call destroys what it was filled with */
};

/* What is to be made. fill writes one set; err: why it cannot. */
struct bench_buffer_kinds {
	size_t nr; /* at most BENCH_BUFFERS_MAX */
	struct bench_buffer_kind v[BENCH_BUFFERS_MAX];
	int (*fill)(void *ctx, size_t operand, void *to, struct err *err);
	void *ctx;
};

struct bench_buffers {
	char *map;
	size_t bytes, nr;
	char *base[BENCH_BUFFERS_MAX];
	size_t step[BENCH_BUFFERS_MAX], sets[BENCH_BUFFERS_MAX];
	char *unused[BENCH_BUFFERS_MAX]; /* as it was filled, of what is in place; NULL */
	uint64_t at;                     /* set of the next call */
};

/*
 * Filled. rotate: bytes of the operands that change, with what is beside them (at least two sets);
 * -ENOMEM: that takes more than limit bytes, or there is no memory; else what fill returned.
 */
int bench_buffers_make(const struct bench_buffer_kinds *kinds, enum bench_cache cache,
		       uint64_t rotate, uint64_t limit, struct bench_buffers *ret, struct err *err);
void bench_buffers_release(struct bench_buffers *b);
static inline char *bench_buffer(const struct bench_buffers *b, size_t operand, uint64_t set)
{
	return b->base[operand] + set % b->sets[operand] * b->step[operand];
}
/* All sets of what is in place as they were filled. */
void bench_buffers_refresh(struct bench_buffers *b);

#endif
