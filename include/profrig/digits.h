/*
 * digits: runs of decimal digits as words of eight, for scanners that read millions of them. num.h
 * is for everything else.
 */
#ifndef PROFRIG_DIGITS_H
#define PROFRIG_DIGITS_H

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

/* The last n bytes of a word, zeros before them. */
static inline uint64_t digits_tail(uint64_t v, size_t n)
{
	uint64_t keep = n ? ~UINT64_C(0) << (64 - 8 * n) : 0;

	return (v & keep) | (UINT64_C(0x3030303030303030) & ~keep);
}

/*
 * The n digits that stand before end. false: it is not so, or there are none or more than
 * DIGITS_MAX, or the machine is not little-endian; *ret is anything then. DIGITS_MAX bytes before
 * end must be readable.
 */
static inline bool digits_before(const char *end, size_t n, int64_t *ret)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t low, high;

	if (n == 0 || n > DIGITS_MAX)
		return false;
	memcpy(&low, end - 8, sizeof(low));
	low = digits_tail(low, n < 8 ? n : 8);
	if (!digits_are(low))
		return false;
	*ret = (int64_t)digits_value(low);
	if (n <= 8)
		return true;
	memcpy(&high, end - 16, sizeof(high));
	high = digits_tail(high, n - 8);
	if (!digits_are(high))
		return false;
	*ret += (int64_t)(digits_value(high) * 100000000);
	return true;
#else
	(void)end;
	(void)n;
	(void)ret;
	return false;
#endif
}

#endif
