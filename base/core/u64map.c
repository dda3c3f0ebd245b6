#include "profrig/base/u64map.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/hash_seed.h"
#include "profrig/base/xalloc.h"

#define CAP_MIN ((size_t)256)

static inline size_t slot_find(const struct u64map *map, uint64_t key)
{
	size_t mask = map->cap - 1, i = u64map_place(map, key);

	while (map->slots[i].value != U64MAP_NONE && map->slots[i].key != key)
		i = (i + 1) & mask;
	return i;
}

static void map_grow(struct u64map *map)
{
	struct u64map old = *map;

	map->cap = old.cap ? old.cap * 2 : CAP_MIN;
	map->seed = hash_seed();
	map->shift = (unsigned)__builtin_clzll(map->cap) + 1;
	map->slots = xreallocarray(NULL, map->cap, sizeof(*map->slots));
	memset(map->slots, 0xff, map->cap * sizeof(*map->slots));
	for (size_t i = 0; i < old.cap; i++) {
		if (old.slots[i].value != U64MAP_NONE)
			map->slots[slot_find(map, old.slots[i].key)] = old.slots[i];
	}
	free(old.slots);
}

uint32_t *u64map_at(struct u64map *map, uint64_t key)
{
	size_t i;

	if ((map->nr + 1) * 4 > map->cap * 3)
		map_grow(map);
	i = slot_find(map, key);
	if (map->slots[i].value == U64MAP_NONE) {
		map->slots[i].key = key;
		map->nr++;
	}
	return &map->slots[i].value;
}

uint32_t u64map_get(const struct u64map *map, uint64_t key)
{
	return map->cap ? map->slots[slot_find(map, key)].value : U64MAP_NONE;
}

void u64map_release(struct u64map *map)
{
	free(map->slots);
	*map = (struct u64map)U64MAP_INIT;
}
