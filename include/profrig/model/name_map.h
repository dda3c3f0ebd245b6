/*
 * name_map: what analyses call the calls of threads whose names hold numbers of single calls
 * ("aten::mm, op_id = 77"). The strings of the model stay; the names of its calls become the normal
 * form, when model_finish puts them in order or when a profile reads them.
 *
 * Life cycle:
 *	1. name_map_set(m, normal), before anything is read; without it names stay (convert)
 *	2. name_map_update(m): looks at the strings that came since. model_finish does, and a
 *	   profile before its threads read; one thread
 *	3. name_map_use(m, name) of each call: its normal name, and notes that the name occurs. Many
 *	   threads, as no string is new
 *	4. name_map_variants(m): how many different names became each one
 *
 * Memory: 5 bytes a string when any name changes, else nothing.
 */
#ifndef PROFRIG_NAME_MAP_H
#define PROFRIG_NAME_MAP_H

#include "profrig/base/strbuf.h"
#include "profrig/model/model.h"

/* Appends the normal form of a name; false, and out as it was: it is one. */
typedef bool name_normal_fn(const char *name, size_t n, struct strbuf *out);

struct name_map {
	name_normal_fn *normal;
	size_t known;   /* strings looked at */
	bool any;       /* a name changes */
	VEC(str_id) of; /* by string, while any */
	VEC(char) used; /* likewise: a call has this name */
};

void name_map_set(struct model *m, name_normal_fn *normal);
void name_map_update(struct model *m);
void name_map_clear(struct model *m); /* of other strings; the function stays */
void name_map_free(struct name_map *map);

static inline str_id name_map_of(const struct model *m, str_id name)
{
	const struct name_map *map = m->names;

	return map && map->any && name < map->of.nr ? map->of.v[name] : name;
}

static inline str_id name_map_use(struct model *m, str_id name)
{
	struct name_map *map = m->names;

	if (!map || !map->any || name >= map->of.nr)
		return name;
	if (!__atomic_load_n(&map->used.v[name], __ATOMIC_RELAXED))
		__atomic_store_n(&map->used.v[name], 1, __ATOMIC_RELAXED);
	return map->of.v[name];
}

/* By string: names of calls that became it, 0 for strings that no call has. Owned; NULL: no name
 * has changed. */
uint64_t *name_map_variants(const struct model *m, size_t *ret_nr);

#endif
