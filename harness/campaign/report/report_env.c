/* In what the environments of runs differ: paths of their documents, beside each other. */
#include "campaign_report.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/base/xalloc.h"

#define PATHS_MAX 100000
#define DEPTH_MAX 16
#define VALUE_MAX 200

struct flat {
	struct intern *paths; /* id − 1 is the row */
	VEC(struct strvec) rows;
	size_t envs;
};

static void leaf_put(struct flat *f, const char *path, size_t env, const json_t *v)
{
	str_id id = intern_puts(f->paths, path);
	CLEANUP(xfreep) char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
	struct strvec *row;

	if (id == 0 || id > PATHS_MAX)
		return;
	if (id > f->rows.nr) {
		struct strvec new = STRVEC_INIT;

		VEC_PUSH(&f->rows, new);
	}
	row = &f->rows.v[id - 1];
	while (row->nr < env)
		strvec_push(row, "");
	if (row->nr == env)
		strvec_pushf(row, "%.*s", VALUE_MAX, text ? text : "");
}

static void flatten(struct flat *f, const char *path, size_t env, const json_t *v, int depth)
{
	const char *key;
	json_t *one;
	size_t i;

	if (depth < DEPTH_MAX && json_is_object(v) && json_object_size(v)) {
		json_object_foreach((json_t *)(uintptr_t)v, key, one)
		{
			CLEANUP(xfreep)
			char *below = xasprintf("%s%s%s", path, *path ? "." : "", key);

			flatten(f, below, env, one, depth + 1);
		}
	} else if (depth < DEPTH_MAX && json_is_array(v) && json_array_size(v)) {
		json_array_foreach(v, i, one)
		{
			CLEANUP(xfreep) char *below = xasprintf("%s[%zu]", path, i);

			flatten(f, below, env, one, depth + 1);
		}
	} else {
		leaf_put(f, path, env, v);
	}
}

static bool row_differs(const struct strvec *row)
{
	for (size_t i = 1; i < row->nr; i++)
		if (strcmp(row->v[i], row->v[0]) != 0)
			return true;
	return false;
}

static int difference_cmp(const void *a, const void *b)
{
	return strcmp(((const struct report_difference *)a)->path,
		      ((const struct report_difference *)b)->path);
}

void report_differences_find(struct campaign_report *r)
{
	size_t envs = r->envs.nr < REPORT_ENVS_MAX ? r->envs.nr : REPORT_ENVS_MAX;
	struct flat f = { .paths = intern_new(), .envs = envs };

	for (size_t i = 0; i < envs; i++)
		if (r->envs.v[i].doc)
			flatten(&f, "", i, r->envs.v[i].doc, 0);
	for (size_t i = 0; i < f.rows.nr; i++) {
		while (f.rows.v[i].nr < envs)
			strvec_push(&f.rows.v[i], "");
		if (row_differs(&f.rows.v[i]))
			VEC_PUSH(&r->differences,
				 ((struct report_difference){
					 xstrdup(intern_str(f.paths, (str_id)i + 1)),
					 f.rows.v[i] }));
		else
			strvec_release(&f.rows.v[i]);
	}
	VEC_RELEASE(&f.rows);
	intern_free(f.paths);
	if (r->differences.nr)
		qsort(r->differences.v, r->differences.nr, sizeof(*r->differences.v),
		      difference_cmp);
}
