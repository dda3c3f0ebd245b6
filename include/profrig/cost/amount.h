/*
 * amount: flops, elements and bytes, as sums and products in 128 bits that saturate, so that no
 * size of a trace or a log makes them wrap. What saturates has no number: amount_u64 says so.
 */
#ifndef PROFRIG_AMOUNT_H
#define PROFRIG_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

typedef unsigned __int128 amount;

#define AMOUNT_MAX (~(amount)0)
#define AMOUNT_UNKNOWN UINT64_MAX /* of a uint64_t that holds one */

/* Negative factors count as 0. */
static inline amount amount_mul(amount a, int64_t b)
{
	amount r;

	if (b <= 0)
		return 0;
	return __builtin_mul_overflow(a, (amount)b, &r) ? AMOUNT_MAX : r;
}

static inline amount amount_times(amount a, amount b)
{
	amount r;

	return __builtin_mul_overflow(a, b, &r) ? AMOUNT_MAX : r;
}

static inline amount amount_add(amount a, amount b)
{
	return a + b < a ? AMOUNT_MAX : a + b;
}

/* false: it is past what 64 bits hold, and *ret is AMOUNT_UNKNOWN. */
static inline bool amount_u64(amount a, uint64_t *ret)
{
	*ret = a < AMOUNT_UNKNOWN ? (uint64_t)a : AMOUNT_UNKNOWN;
	return a < AMOUNT_UNKNOWN;
}

#endif
