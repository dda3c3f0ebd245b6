/*
 * digits: runs of decimal digits as words of eight, for scanners that read millions of them. num.h
 * is for everything else.
 */
#ifndef PROFRIG_DIGITS_H
#define PROFRIG_DIGITS_H

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DIGITS_MAX 16 /* of digits_before */

/* A word is eight bytes of text as a little-endian machine loads them. */
static inline bool digits_are(uint64_t v)
{
	return ((v & UINT64_C(0xf0f0f0f0f0f0f0f0)) |
		((v + UINT64_C(0x0606060606060606)) & UINT64_C(0xf0f0f0f0f0f0f0f0)) >> 4) ==
	       UINT64_C(0x3333333333333333);
}

static inline uint64_t digits_value(uint64_t v)
{
	v = (v & UINT64_C(0x0f0f0f0f0f0f0f0f)) * 2561 >> 8;
	v = (v & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
	return (v & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32;
}

/*
 * The n digits that stand before end. false: it is not so, or there are none or more than
 * DIGITS_MAX, or this is not x86; *ret is untouched then. DIGITS_MAX bytes before end must be
 * readable. Neighbours are added up in each step: digits to pairs, fours, eights.
 */
static inline bool digits_before(const char *end, size_t n, int64_t *ret)
{
#if defined(__SSE2__)
	static const uint8_t keep[2 * DIGITS_MAX] = {
		0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
		255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	};
	const __m128i zero = _mm_setzero_si128(), nine = _mm_set1_epi8(9);
	const __m128i tens = _mm_set1_epi32(1 << 16 | 10), hundreds = _mm_set1_epi32(1 << 16 | 100);
	const __m128i myriads = _mm_set1_epi32(1 << 16 | 10000);
	__m128i v, pairs, fours;
	uint64_t eights;

	if (n == 0 || n > DIGITS_MAX)
		return false;
	v = _mm_loadu_si128((const __m128i *)(const void *)(end - DIGITS_MAX));
	v = _mm_sub_epi8(v, _mm_set1_epi8('0'));
	v = _mm_and_si128(v, _mm_loadu_si128((const __m128i *)(const void *)(keep + n)));
	if (_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(v, nine), nine)) != 0xffff)
		return false;
	pairs = _mm_packs_epi32(_mm_madd_epi16(_mm_unpacklo_epi8(v, zero), tens),
				_mm_madd_epi16(_mm_unpackhi_epi8(v, zero), tens));
	fours = _mm_packs_epi32(_mm_madd_epi16(pairs, hundreds), zero);
	eights = (uint64_t)_mm_cvtsi128_si64(_mm_madd_epi16(fours, myriads));
	*ret = (int64_t)((eights & UINT32_MAX) * 100000000 + (eights >> 32));
	return true;
#else
	(void)end;
	(void)n;
	(void)ret;
	return false;
#endif
}

#endif
