/*
 * bench_buffers: the operands of a call (bench_layout.h) in one mapping. A driver says how large
 * each is and how it is filled.
 */
#ifndef BENCH_BUFFERS_H
#define BENCH_BUFFERS_H

#include "bench_layout.h"

/* What is to be made. fill writes one set; err: why it cannot. */
struct bench_buffer_kinds {
	size_t nr; /* at most BENCH_BUFFERS_MAX */
	struct bench_buffer_kind v[BENCH_BUFFERS_MAX];
	int (*fill)(void *ctx, size_t operand, void *to, struct err *err);
	void *ctx;
};

struct bench_buffers {
	char *map;
	struct bench_layout layout;
	uint64_t at; /* set of the next call */
};

/*
 * Filled. -ENOMEM: they take more than limit bytes, or there is no memory; else what fill returned.
 */
int bench_buffers_make(const struct bench_buffer_kinds *kinds, enum bench_cache cache,
		       uint64_t rotate, uint64_t limit, struct bench_buffers *ret, struct err *err);
void bench_buffers_release(struct bench_buffers *b);
static inline char *bench_buffer(const struct bench_buffers *b, size_t operand, uint64_t set)
{
	return b->map + bench_layout_at(&b->layout, operand, set);
}
/* All sets of what is in place as they were filled. */
void bench_buffers_refresh(struct bench_buffers *b);

#endif
