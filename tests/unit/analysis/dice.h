/* dice: numbers for random traces, equal in every run and on every machine. */
#ifndef DICE_H
#define DICE_H

#include <stdint.h>

struct dice {
	uint64_t x; /* the seed */
};

static inline uint32_t below(struct dice *d, uint32_t n)
{
	d->x = d->x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(d->x >> 33) % n;
}

#endif
