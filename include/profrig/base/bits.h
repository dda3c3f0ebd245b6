/*
 * bits: what scanners do with 64 bytes at a time, a bit per byte.
 */
#ifndef PROFRIG_BITS_H
#define PROFRIG_BITS_H

#include <stdint.h>

/*
 * Bit i: the number of set bits up to and with i is odd. Of quotes: the bytes of strings, their
 * opening quotes among them.
 */
static inline __attribute__((always_inline)) uint64_t bits_odd_up_to(uint64_t v)
{
	v ^= v << 1;
	v ^= v << 2;
	v ^= v << 4;
	v ^= v << 8;
	v ^= v << 16;
	return v ^ v << 32;
}

#endif
