/*
 * mix: SplitMix64 (Steele, Lea, Flood 2014): numbers become others, each bit of which depends on
 * every bit. No two numbers become the same.
 *
 *	mix64(x)		a hash of a number; mix64(mix64(a) ^ b) of two
 *	splitmix64(&state)	the next of a row that looks random, the same for the same state
 */
#ifndef PROFRIG_MIX_H
#define PROFRIG_MIX_H

#include <stdint.h>

#define SPLITMIX64_STEP UINT64_C(0x9e3779b97f4a7c15)

/* What splitmix64 gives in state x. */
static inline uint64_t mix64(uint64_t x)
{
	x += SPLITMIX64_STEP;
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static inline uint64_t splitmix64(uint64_t *state)
{
	uint64_t x = mix64(*state);

	*state += SPLITMIX64_STEP;
	return x;
}

#endif
