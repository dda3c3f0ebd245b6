#include "matrix.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/* ---- values ---- */

static bool maps_same(const struct cfg_node *a, const struct cfg_node *b)
{
	for (size_t i = 0; i < a->nr; i++) {
		const struct cfg_node *other = cfg_get(b, a->child[i]->key);

		if (!other || !matrix_same(a->child[i], other))
			return false;
	}
	return true;
}

bool matrix_same(const struct cfg_node *a, const struct cfg_node *b)
{
	bool list = a->kind == CFG_SEQ, map = a->kind == CFG_MAP, null = a->kind == CFG_NULL;

	if (list != (b->kind == CFG_SEQ) || map != (b->kind == CFG_MAP) ||
	    null != (b->kind == CFG_NULL) || a->nr != b->nr)
		return false;
	if (map)
		return maps_same(a, b);
	for (size_t i = 0; list && i < a->nr; i++)
		if (!matrix_same(a->child[i], b->child[i]))
			return false;
	return list || null || !strcmp(a->s, b->s);
}

/* Equal, or one of a list. */
static bool value_matches(const struct cfg_node *want, const struct cfg_node *value)
{
	if (matrix_same(want, value))
		return true;
	CFG_EACH(one, want, CFG_SEQ)
		if (matrix_same(one, value))
			return true;
	return false;
}

/* ---- reading ---- */

static struct matrix_axis *axis_find(struct matrix *m, const char *path)
{
	for (size_t i = 0; i < m->axes.nr; i++)
		if (!strcmp(m->axes.v[i].path, path))
			return &m->axes.v[i];
	return NULL;
}

static bool values_check(const struct cfg_node *axis, struct problems *p)
{
	if (axis->kind != CFG_SEQ || axis->nr == 0) {
		cfg_problem(p, axis, "axis '%s' wants a list of values", axis->key);
		return false;
	}
	for (size_t i = 0; i < axis->nr; i++)
		for (size_t k = 0; k < i; k++)
			if (matrix_same(axis->child[i], axis->child[k])) {
				cfg_problem(p, axis->child[i], "axis '%s' has this value twice",
					    axis->key);
				return false;
			}
	return true;
}

/* One path of dimension d, which gets its size by the first. */
static void axis_add(struct matrix *m, const struct cfg_node *axis, size_t d, bool zipped,
		     struct problems *p)
{
	if (m->axes.nr >= MATRIX_AXES_MAX) {
		cfg_problem(p, axis, "more than %zu axes", MATRIX_AXES_MAX);
		return;
	}
	if (axis->kind == CFG_SEQ && axis->nr > MATRIX_VALUES_MAX) {
		cfg_problem(p, axis, "axis '%s' has more than %zu values", axis->key,
			    MATRIX_VALUES_MAX);
		return;
	}
	if (axis_find(m, axis->key)) {
		cfg_problem(p, axis, "'%s' has an axis already", axis->key);
		return;
	}
	/* of what goes together, one may stay as it is while another one changes */
	if (zipped ? axis->kind != CFG_SEQ || axis->nr == 0 : !values_check(axis, p)) {
		if (zipped)
			cfg_problem(p, axis, "axis '%s' wants a list of values", axis->key);
		return;
	}
	if (d == m->sizes.nr)
		VEC_PUSH(&m->sizes, axis->nr);
	if (m->sizes.v[d] != axis->nr) {
		cfg_problem(p, axis, "'%s' has %zu values, and what it goes together with %zu",
			    axis->key, axis->nr, m->sizes.v[d]);
		return;
	}
	VEC_PUSH(&m->axes,
		 ((struct matrix_axis){ axis->key, axis,
					(const struct cfg_node *const *)axis->child, d }));
}

/* The list of `zip` that names a path, NULL: none. */
static const struct cfg_node *zip_of(const struct cfg_node *zips, const char *path)
{
	CFG_EACH(zip, zips, CFG_SEQ)
		CFG_EACH(name, zip, CFG_SEQ)
			if (name->kind == CFG_STR && !strcmp(name->s, path))
				return zip;
	return NULL;
}

/* All axes that a list of `zip` names, where the first of them stands. */
static void zip_add(struct matrix *m, const struct cfg_node *axes, const struct cfg_node *zip,
		    struct problems *p)
{
	size_t d = m->sizes.nr;

	CFG_EACH(name, zip, CFG_SEQ) {
		const struct cfg_node *axis = name->kind == CFG_STR ? cfg_get(axes, name->s) : NULL;

		if (!axis)
			cfg_problem(p, name, "zip names '%s', which is no axis",
				    name->kind == CFG_STR ? name->s : "a list");
		else
			axis_add(m, axis, d, true, p);
	}
}

static void axes_read(struct matrix *m, const struct cfg_node *axes, const struct cfg_node *zips,
		      struct problems *p)
{
	CFG_EACH(axis, axes, CFG_MAP) {
		const struct cfg_node *zip = zip_of(zips, axis->key);
		size_t d = m->sizes.nr;

		if (axis->kind == CFG_MAP && zip) {
			cfg_problem(p, axis, "'%s' is a zip itself", axis->key);
		} else if (axis->kind == CFG_MAP) {
			if (axis->nr == 0)
				cfg_problem(p, axis, "axis '%s' is empty", axis->key);
			CFG_EACH(part, axis, CFG_MAP)
				axis_add(m, part, d, true, p);
		} else if (!zip) {
			axis_add(m, axis, d, false, p);
		} else if (!axis_find(m, axis->key)) {
			zip_add(m, axes, zip, p);
		}
	}
}

static const struct cfg_node *entries_read(const struct cfg_node *root, const char *key,
					   struct problems *p)
{
	const struct cfg_node *list = cfg_get(root, key);

	if (!list || list->kind == CFG_NULL)
		return NULL;
	if (list->kind != CFG_SEQ) {
		cfg_problem(p, list, "'%s' wants a list of maps", key);
		return NULL;
	}
	if (list->nr > MATRIX_ENTRIES_MAX) {
		cfg_problem(p, list, "'%s' has more than %zu entries", key, MATRIX_ENTRIES_MAX);
		return NULL;
	}
	CFG_EACH(entry, list, CFG_SEQ)
		if (entry->kind != CFG_MAP || entry->nr == 0)
			cfg_problem(p, entry, "an entry of '%s' is a map of paths and values", key);
	return list;
}

void matrix_read(struct matrix *m, const struct cfg_node *root, struct problems *p)
{
	const struct cfg_node *axes = cfg_get(root, "axes"), *zips = cfg_get(root, "zip");

	if (axes && axes->kind != CFG_MAP && axes->kind != CFG_NULL)
		cfg_problem(p, axes, "'axes' wants a map of paths and lists");
	if (zips && zips->kind != CFG_SEQ && zips->kind != CFG_NULL)
		cfg_problem(p, zips, "'zip' wants a list of lists of axes");
	CFG_EACH(zip, zips, CFG_SEQ)
		if (zip->kind != CFG_SEQ || zip->nr < 2)
			cfg_problem(p, zip, "an entry of 'zip' is a list of two axes or more");
		else if (axes)
			CFG_EACH(name, zip, CFG_SEQ)
				if (name->kind == CFG_STR && zip_of(zips, name->s) != zip)
					cfg_problem(p, name, "'%s' is in two zips", name->s);
	axes_read(m, axes, zips, p);
	m->exclude = entries_read(root, "exclude", p);
	m->include = entries_read(root, "include", p);
	CFG_EACH(entry, m->exclude, CFG_SEQ)
		CFG_EACH(want, entry, CFG_MAP)
			if (!axis_find(m, want->key))
				cfg_problem(p, want, "exclude names '%s', which is no axis",
					    want->key);
}

uint64_t matrix_count(const struct matrix *m)
{
	uint64_t n = 1;

	for (size_t i = 0; i < m->sizes.nr; i++)
		if (__builtin_mul_overflow(n, (uint64_t)m->sizes.v[i], &n))
			return UINT64_MAX;
	return n;
}

/* ---- expanding ---- */

/* Of cell `nr` of the product, the value of dimension d: the last one is the fastest. */
static size_t place_of(const struct matrix *m, uint64_t nr, size_t d)
{
	for (size_t i = m->sizes.nr; i-- > d + 1;)
		nr /= m->sizes.v[i];
	return (size_t)(nr % m->sizes.v[d]);
}

static const struct cfg_node *value_at(const struct matrix *m, uint64_t nr,
				       const struct matrix_axis *axis)
{
	return axis->value[place_of(m, nr, axis->dimension)];
}

static bool entry_excludes(struct matrix *m, const struct cfg_node *entry, uint64_t nr)
{
	CFG_EACH(want, entry, CFG_MAP) {
		const struct matrix_axis *axis = axis_find(m, want->key);

		if (!axis || !value_matches(want, value_at(m, nr, axis)))
			return false;
	}
	return true;
}

/* Marks what each entry has taken away. */
static bool cell_is_excluded(struct matrix *m, uint64_t nr, bool *used)
{
	bool excluded = false;

	for (size_t i = 0; m->exclude && i < m->exclude->nr; i++)
		if (entry_excludes(m, m->exclude->child[i], nr))
			used[i] = excluded = true;
	return excluded;
}

static void cell_set(struct matrix_cell *c, const char *path, const struct cfg_node *value)
{
	for (size_t i = 0; i < c->sets.nr; i++)
		if (!strcmp(c->sets.v[i].path, path)) {
			c->sets.v[i].value = value;
			return;
		}
	VEC_PUSH(&c->sets, ((struct matrix_set){ path, value }));
}

static bool entry_contradicts(struct matrix *m, const struct cfg_node *entry, uint64_t nr)
{
	CFG_EACH(want, entry, CFG_MAP) {
		const struct matrix_axis *axis = axis_find(m, want->key);

		if (axis && !matrix_same(want, value_at(m, nr, axis)))
			return true;
	}
	return false;
}

static void cell_add(struct matrix *m, uint64_t nr, bool *joined)
{
	struct matrix_cell c = { VEC_INIT };

	for (size_t i = 0; i < m->axes.nr; i++)
		cell_set(&c, m->axes.v[i].path, value_at(m, nr, &m->axes.v[i]));
	for (size_t i = 0; m->include && i < m->include->nr; i++) {
		if (entry_contradicts(m, m->include->child[i], nr))
			continue;
		joined[i] = true;
		CFG_EACH(set, m->include->child[i], CFG_MAP)
			cell_set(&c, set->key, set);
	}
	VEC_PUSH(&m->cells, c);
}

static void includes_add(struct matrix *m, const bool *joined)
{
	for (size_t i = 0; m->include && i < m->include->nr; i++) {
		struct matrix_cell c = { VEC_INIT };

		if (joined[i])
			continue;
		CFG_EACH(set, m->include->child[i], CFG_MAP)
			cell_set(&c, set->key, set);
		VEC_PUSH(&m->cells, c);
	}
}

void matrix_expand(struct matrix *m, uint64_t limit, struct problems *p)
{
	uint64_t n = matrix_count(m);
	CLEANUP(xfreep) bool *used = xcalloc((m->exclude ? m->exclude->nr : 0) + 1, 1);
	CLEANUP(xfreep) bool *joined = xcalloc((m->include ? m->include->nr : 0) + 1, 1);

	if (n > limit) {
		cfg_problem(p, m->axes.v[0].where, "%" PRIu64 " cells are more than %" PRIu64, n,
			    limit);
		return;
	}
	for (uint64_t nr = 0; nr < n; nr++)
		if (!cell_is_excluded(m, nr, used))
			cell_add(m, nr, joined);
	includes_add(m, joined);
	if (m->cells.nr > limit)
		cfg_problem(p, m->include,
			    "%zu cells, with those of 'include', are more than %" PRIu64,
			    m->cells.nr, limit);
	for (size_t i = 0; m->exclude && i < m->exclude->nr; i++)
		if (!used[i])
			cfg_problem(p, m->exclude->child[i],
				    "this entry of 'exclude' takes away "
				    "nothing");
	if (m->cells.nr == 0)
		cfg_problem(p, m->exclude, "'exclude' takes away all cells");
}

void matrix_release(struct matrix *m)
{
	for (size_t i = 0; i < m->cells.nr; i++)
		VEC_RELEASE(&m->cells.v[i].sets);
	VEC_RELEASE(&m->cells);
	VEC_RELEASE(&m->axes);
	VEC_RELEASE(&m->sizes);
}
