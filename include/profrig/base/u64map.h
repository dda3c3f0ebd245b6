/*
 * u64map: from a 64-bit key to a 32-bit number, mostly for numbering things by first use: pairs of
 * ids ((parent, name), (name, category), …), hashes.
 *
 *	uint32_t *v = u64map_at(&map, u64map_pair(parent, name));
 *	if (*v == U64MAP_NONE)
 *		*v = next++;
 *
 * The pointer is valid until the next u64map_at. A loop over many keys asks for the slot of a later
 * one (u64map_ahead, some 16 keys ahead), so that it does not wait for memory each time. Memory: 16
 * bytes a slot, at most three quarters of them in use. Nothing is ever removed.
 */
#ifndef PROFRIG_U64MAP_H
#define PROFRIG_U64MAP_H

#include <stddef.h>
#include <stdint.h>

#define U64MAP_NONE UINT32_MAX

struct u64map {
	struct u64map_slot {
		uint64_t key;
		uint32_t value; /* U64MAP_NONE: the slot is free */
	} * slots;
	size_t cap, nr; /* cap is a power of two or 0 */
	unsigned shift; /* of a hash: the remaining bits are the slot */
	uint64_t seed;  /* hash_seed.h */
};
#define U64MAP_INIT \
	{ \
		.slots = NULL \
	}

static inline uint64_t u64map_pair(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

/*
 * One multiplication: its high bits depend on all bits of the key, so the place is taken from them.
 */
static inline size_t u64map_place(const struct u64map *map, uint64_t key)
{
	return (size_t)(((key ^ map->seed) * UINT64_C(0x9e3779b97f4a7c15)) >> map->shift);
}

static inline void u64map_ahead(const struct u64map *map, uint64_t key)
{
	if (map->cap)
		__builtin_prefetch(&map->slots[u64map_place(map, key)]);
}

/* The slot of key's value, U64MAP_NONE when it is new; the caller sets it at once. */
uint32_t *u64map_at(struct u64map *map, uint64_t key);
/* The value of key, U64MAP_NONE when it is not there. */
uint32_t u64map_get(const struct u64map *map, uint64_t key);
void u64map_release(struct u64map *map); /* also a CLEANUP function */

#endif
