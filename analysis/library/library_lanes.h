/*
 * library_lanes: 16 bytes of a text at once, for scanners that look at each byte of a log.
 * Comparisons of vectors give 0xff in the lanes where they hold.
 */
#ifndef ANALYSIS_LIBRARY_LANES_H
#define ANALYSIS_LIBRARY_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LANES ((size_t)16)

typedef unsigned char lanes __attribute__((vector_size(16)));

/* p: at least 16 bytes. */
static inline lanes lanes_load(const char *p)
{
	lanes v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The first lane of a comparison that holds; LANES: none does. */
static inline size_t lanes_first(lanes v)
{
	uint64_t halves[2];

	memcpy(halves, &v, sizeof(halves));
	for (size_t i = 0; i < 2; i++)
		if (halves[i])
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
			return 8 * i + (size_t)__builtin_ctzll(halves[i]) / 8;
#else
			return 8 * i + (size_t)__builtin_clzll(halves[i]) / 8;
#endif
	return LANES;
}

#endif
