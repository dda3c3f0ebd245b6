/*
 * idmap: from a key of four words to a small number; open addressing, nothing is ever removed.
 */
#ifndef IDMAP_H
#define IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct idmap_key {
	uint64_t w[4];
};

struct idmap_slot;
struct idmap {
	struct idmap_slot *slots;
	size_t nr, cap; /* cap: a power of two */
};

void idmap_release(struct idmap *map);
/* Where the value of key lies; UINT32_MAX is in it when the key is new. Valid until the next call.
 */
uint32_t *idmap_at(struct idmap *map, const struct idmap_key *key);

#endif
