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

/* v without what holds in the lanes in front of `skip`. */
static inline lanes lanes_behind(lanes v, size_t skip)
{
	static const lanes number = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

	return v & (lanes)(number >= (unsigned char)skip);
}

/*
 * Where `word`, of n bytes, at least 2, begins in a text of `size` bytes; NULL: nowhere. Faster
 * than memmem in the short texts that lines are.
 */
static inline const char *lanes_find(const char *text, size_t size, const char *word, size_t n)
{
	size_t at = 0, lane;

	while (at + LANES < size) {
		lanes first = lanes_load(text + at), second = lanes_load(text + at + 1);

		lane = lanes_first((lanes)((first == (unsigned char)word[0]) &
					   (second == (unsigned char)word[1])));
		at += lane;
		if (lane == LANES)
			continue;
		if (size - at >= n && !memcmp(text + at, word, n))
			return text + at;
		at++;
	}
	for (; at + n <= size; at++)
		if (text[at] == word[0] && !memcmp(text + at, word, n))
			return text + at;
	return NULL;
}

#endif
