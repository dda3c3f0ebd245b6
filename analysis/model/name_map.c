#include "profrig/model/name_map.h"

#include "profrig/base/xalloc.h"

void name_map_set(struct model *m, name_normal_fn *normal)
{
	name_map_free(m->names);
	m->names = xcalloc(1, sizeof(*m->names));
	m->names->normal = normal;
}

void name_map_clear(struct model *m)
{
	if (!m->names)
		return;
	VEC_RELEASE(&m->names->of);
	VEC_RELEASE(&m->names->used);
	m->names->known = 0;
	m->names->any = false;
}

void name_map_free(struct name_map *map)
{
	if (!map)
		return;
	VEC_RELEASE(&map->of);
	VEC_RELEASE(&map->used);
	free(map);
}

static void map_grow(struct name_map *map, size_t nr)
{
	VEC_RESERVE(&map->of, nr);
	VEC_RESERVE(&map->used, nr);
	while (map->of.nr < nr) {
		str_id own = (str_id)map->of.nr;

		VEC_PUSH(&map->of, own);
		VEC_PUSH(&map->used, 0);
	}
}

/* The normal forms that are new strings are their own. */
void name_map_update(struct model *m)
{
	struct name_map *map = m->names;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	size_t nr;

	if (!map)
		return;
	nr = intern_count(m->strings);
	for (; map->known < nr; map->known++) {
		str_id id = (str_id)map->known;

		strbuf_clear(&text);
		if (!map->normal(model_str(m, id), intern_len(m->strings, id), &text))
			continue;
		map->any = true;
		map_grow(map, id + 1);
		map->of.v[id] = intern_put(m->strings, text.buf, text.len);
	}
	map->known = intern_count(m->strings);
	if (map->any)
		map_grow(map, map->known);
}

uint64_t *name_map_variants(const struct model *m, size_t *ret_nr)
{
	const struct name_map *map = m->names;
	uint64_t *v;

	*ret_nr = 0;
	if (!map || !map->any)
		return NULL;
	v = xcalloc(map->of.nr + 1, sizeof(*v));
	for (size_t i = 0; i < map->of.nr; i++)
		v[map->of.v[i]] += map->used.v[i] != 0;
	*ret_nr = map->of.nr;
	return v;
}
