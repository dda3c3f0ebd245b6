/*
 * sketch: a histogram of values, so that quantiles of any number of them need a few kilobytes.
 *
 * Values below 64 have a bucket each; above, every octave [2^k, 2^(k+1)) is cut into 64 buckets of
 * one width. A bucket stands for its middle, which is at most 1/128 = 0.8 % away from every value
 * in it (SKETCH_ERROR). Only octaves between the smallest and the largest value met take memory:
 * 512 bytes each, and 64 bytes a value that is alone. Merging sketches in any order gives the
 * sketch of all values.
 */
#ifndef PROFRIG_SKETCH_H
#define PROFRIG_SKETCH_H

#include <stddef.h>
#include <stdint.h>

#define SKETCH_ERROR (1.0 / 128)
#define SKETCH_STEPS 64

struct sketch {
	uint64_t *counts;
	uint32_t first, nr; /* buckets */
};
#define SKETCH_INIT \
	{ \
		NULL, 0, 0 \
	}

/* Bucket of a value: 64 per octave. */
static inline uint32_t sketch_bucket(uint64_t v)
{
	uint32_t shift;

	if (v < SKETCH_STEPS)
		return (uint32_t)v;
	/* by one instruction: the highest bit's number, minus 6 */
	shift = ((uint32_t)__builtin_clzll(v) ^ 63) - 6;
	return shift * SKETCH_STEPS + (uint32_t)(v >> shift);
}

void sketch_reach(struct sketch *s, uint32_t bucket); /* makes room for it */

static inline void sketch_add(struct sketch *s, uint64_t v)
{
	uint32_t b = sketch_bucket(v);

	if (__builtin_expect(b - s->first >= s->nr, 0))
		sketch_reach(s, b);
	s->counts[b - s->first]++;
}

void sketch_merge(struct sketch *s, const struct sketch *more);
/*
 * The k-th (from 0, below n) of the n values in ascending order, with a relative error of at most
 * SKETCH_ERROR; 0 for an empty sketch.
 */
double sketch_at(const struct sketch *s, uint64_t k);
void sketch_release(struct sketch *s);

#endif
