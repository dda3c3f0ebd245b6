#include "idmap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

struct idmap_slot {
	struct idmap_key key;
	uint32_t id;
	bool used;
};

static uint64_t mix(uint64_t h)
{
	h ^= h >> 32;
	h *= UINT64_C(0xd6e8feb86659fd93);
	h ^= h >> 29;
	h *= UINT64_C(0xa5cb9243f2c5a7b5);
	return h ^ h >> 32;
}

static uint64_t key_hash(const struct idmap_key *key)
{
	uint64_t h = 0;

	for (int i = 0; i < 4; i++)
		h = mix(h + key->w[i] + UINT64_C(0x9e3779b97f4a7c15));
	return h;
}

static struct idmap_slot *slot_of(struct idmap_slot *slots, size_t cap, const struct idmap_key *key)
{
	size_t at = key_hash(key) & (cap - 1);

	while (slots[at].used && memcmp(&slots[at].key, key, sizeof(*key)) != 0)
		at = (at + 1) & (cap - 1);
	return &slots[at];
}

static void grow(struct idmap *map)
{
	size_t cap = map->cap ? map->cap * 2 : 64;
	struct idmap_slot *slots = xcalloc(cap, sizeof(*slots));

	for (size_t i = 0; i < map->cap; i++) {
		if (map->slots[i].used)
			*slot_of(slots, cap, &map->slots[i].key) = map->slots[i];
	}
	free(map->slots);
	map->slots = slots;
	map->cap = cap;
}

uint32_t *idmap_at(struct idmap *map, const struct idmap_key *key)
{
	struct idmap_slot *slot;

	if (map->nr * 2 >= map->cap)
		grow(map);
	slot = slot_of(map->slots, map->cap, key);
	if (!slot->used) {
		*slot = (struct idmap_slot){ .key = *key, .id = UINT32_MAX, .used = true };
		map->nr++;
	}
	return &slot->id;
}

void idmap_release(struct idmap *map)
{
	free(map->slots);
	*map = (struct idmap){ NULL, 0, 0 };
}
