#include "profrig/base/u64map.h"

#include <stdlib.h>

#include "profrig/base/xalloc.h"

static size_t hash(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	x ^= x >> 33;
	return (size_t)x;
}

static size_t find(const struct u64map *map, uint64_t key)
{
	size_t mask = map->cap - 1;
	size_t i = hash(key) & mask;
	while (map->values[i] != U64MAP_NONE && map->keys[i] != key)
		i = (i + 1) & mask;
	return i;
}

static void grow(struct u64map *map)
{
	struct u64map old = *map;
	map->cap = old.cap ? old.cap * 2 : 256;
	map->keys = xreallocarray(NULL, map->cap, sizeof(*map->keys));
	map->values = xreallocarray(NULL, map->cap, sizeof(*map->values));
	for (size_t i = 0; i < map->cap; i++)
		map->values[i] = U64MAP_NONE;
	for (size_t i = 0; i < old.cap; i++) {
		if (old.values[i] == U64MAP_NONE)
			continue;
		size_t at = find(map, old.keys[i]);
		map->keys[at] = old.keys[i];
		map->values[at] = old.values[i];
	}
	u64map_release(&old);
}

uint32_t *u64map_at(struct u64map *map, uint64_t key)
{
	if ((map->nr + 1) * 4 > map->cap * 3)
		grow(map);
	size_t i = find(map, key);
	if (map->values[i] == U64MAP_NONE) {
		map->keys[i] = key;
		map->nr++;
	}
	return &map->values[i];
}

uint32_t u64map_get(const struct u64map *map, uint64_t key)
{
	return map->cap ? map->values[find(map, key)] : U64MAP_NONE;
}

void u64map_release(struct u64map *map)
{
	free(map->keys);
	free(map->values);
	*map = (struct u64map)U64MAP_INIT;
}
