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

#if defined(__SSE2__)
/* The n digits that stand before end as numbers; zeros stand before them. */
static inline __m128i digits_load(const char *end, size_t n)
{
	static const uint8_t keep[2 * DIGITS_MAX] = { [DIGITS_MAX... 2 * DIGITS_MAX - 1] = 255 };
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)(end - DIGITS_MAX));

	v = _mm_sub_epi8(v, _mm_set1_epi8('0'));
	return _mm_and_si128(v, _mm_loadu_si128((const __m128i *)(const void *)(keep + n)));
}

/* Digits to pairs, as digits_value does it: one instruction more than SSSE3's maddubs. */
static inline __m128i digits_pairs(__m128i v)
{
	return _mm_srli_epi16(_mm_mullo_epi16(v, _mm_set1_epi16(10 << 8 | 1)), 8);
}

/* Pairs to fours, eights, the number. */
static inline int64_t digits_join(__m128i pairs)
{
	__m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(1 << 16 | 100));
	__m128i both =
		_mm_madd_epi16(_mm_packs_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10000));
	uint64_t eights = (uint64_t)_mm_cvtsi128_si64(both);

	return (int64_t)((eights & UINT32_MAX) * 100000000 + (eights >> 32));
}
#endif

/*
 * The value of the n digits before end. false: other characters, none or more than DIGITS_MAX, or
 * no x86; *ret is untouched then. DIGITS_MAX bytes before end must be readable. A caller that knows
 * that they are digits uses the three steps above.
 */
static inline bool digits_before(const char *end, size_t n, int64_t *ret)
{
#if defined(__SSE2__)
	const __m128i nine = _mm_set1_epi8(9);
	__m128i v;

	if (n == 0 || n > DIGITS_MAX)
		return false;
	v = digits_load(end, n);
	if (_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(v, nine), nine)) != 0xffff)
		return false;
	*ret = digits_join(digits_pairs(v));
	return true;
#else
	(void)end;
	(void)n;
	(void)ret;
	return false;
#endif
}

#endif
