#include "campaign_cells.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/intern.h"
#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define PLAN_MAX ((size_t)256 << 20)
#define SCHEMA "profrig.campaign/1"
#define RESULT_MAX 4096
#define CELLS_MAX 10000

static void json_dropp(json_t **doc)
{
	json_decref(*doc);
}

static const char *text_at(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static int plan_read(const char *dir, json_t **ret, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "plan.json");
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(json_dropp) json_t *doc = NULL;
	json_error_t e;
	size_t n = 0;
	int r = fs_read(path, PLAN_MAX, &text, &n, err);

	if (r < 0)
		return r;
	doc = json_loadb(text, n, 0, &e);
	if (!doc)
		return err_set(err, EINVAL, "%s:%d: %s", path, e.line, e.text);
	if (strcmp(text_at(doc, "schema"), SCHEMA) != 0)
		return err_set(err, EINVAL, "%s: schema '%.40s' is not that of a campaign, '%s'",
			       path, text_at(doc, "schema"), SCHEMA);
	if (!json_is_array(json_object_get(doc, "cells")) ||
	    json_array_size(json_object_get(doc, "cells")) > CELLS_MAX)
		return err_set(err, EINVAL, "%s: no list of at most %d cells", path, CELLS_MAX);
	*ret = STEAL(doc);
	return 0;
}

bool campaign_is(const char *dir)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "plan.json");
	CLEANUP(xfreep) char *run = fs_join(dir, "run.json");
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;

	return fs_is_file(path) && !fs_exists(run) &&
	       fs_read(path, PLAN_MAX, &text, &n, NULL) == 0 &&
	       memmem(text, n, "\"profrig.campaign/", 18) != NULL;
}

/* ---- which cell ---- */

/* -1: there is none, -2: several. Label and whole id come before beginnings of ids. */
static int cell_find(const json_t *cells, const char *word)
{
	int found = -1;

	for (size_t i = 0; i < json_array_size(cells); i++) {
		const json_t *c = json_array_get(cells, i);

		if (!strcmp(text_at(c, "id"), word) || !strcmp(text_at(c, "label"), word))
			return (int)i;
	}
	for (size_t i = 0; *word && i < json_array_size(cells); i++) {
		if (strncmp(text_at(json_array_get(cells, i), "id"), word, strlen(word)) != 0)
			continue;
		if (found >= 0)
			return -2;
		found = (int)i;
	}
	return found;
}

static void cell_begin(struct compare_operand *o, const json_t *cell)
{
	struct run_set s = { .axes = STRVEC_INIT, .values = STRVEC_INIT, .failed = STRVEC_INIT };
	const char *label = text_at(cell, "label"), *key;
	json_t *axes = json_object_get(cell, "axes"), *v;

	s.cell = xstrdup(text_at(cell, "id"));
	s.baseline = xstrdup(text_at(cell, "baseline"));
	s.label = xstrdup(*label ? label : s.cell);
	strvec_push(&s.axes, "model");
	strvec_push(&s.values, text_at(cell, "model"));
	json_object_foreach(axes, key, v)
	{
		char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_SORT_KEYS | JSON_COMPACT);

		strvec_push(&s.axes, key);
		strvec_push(&s.values, text ? text : "");
		free(text);
	}
	VEC_PUSH(&o->sets, s);
}

/* ---- results ---- */

/* Sets by the ids of their cells, as there may be thousands of both. */
struct cell_book {
	struct intern *ids; /* id of a text − 1: the set; two cells of one id are the first */
	VEC(size_t) sets;
};

static void cell_book_make(struct cell_book *b, const struct compare_operand *o)
{
	b->ids = intern_new();
	for (size_t i = 0; i < o->sets.nr; i++)
		if (intern_puts(b->ids, o->sets.v[i].cell) == b->sets.nr + 1)
			VEC_PUSH(&b->sets, i);
}

static void cell_book_release(struct cell_book *b)
{
	intern_free(b->ids);
	VEC_RELEASE(&b->sets);
}

/* "<cell>-<repeat>" of the plan: its set, else NULL. */
static struct run_set *result_set(struct compare_operand *o, const struct cell_book *b,
				  const char *name, int64_t repeat)
{
	const char *dash = strrchr(name, '-');
	uint64_t n;
	str_id id;

	if (!dash || num_u64(dash + 1, strlen(dash + 1), &n) < 0 || n < 1 ||
	    (repeat > 0 && n > (uint64_t)repeat))
		return NULL;
	id = intern_find(b->ids, name, (size_t)(dash - name));
	return id == STR_NONE || id == 0 ? NULL : &o->sets.v[b->sets.v[id - 1]];
}

/* The attempt that a result names: the run, a dot, digits. NULL: it is none. */
static char *result_attempt(const char *path, const char *run)
{
	char *text = NULL;
	size_t n = strlen(run);
	uint64_t attempt;

	if (fs_read(path, RESULT_MAX, &text, NULL, NULL) < 0)
		return NULL;
	text[strcspn(text, "\n")] = 0;
	if (strncmp(text, run, n) == 0 && text[n] == '.' &&
	    num_u64(text + n + 1, strlen(text + n + 1), &attempt) == 0)
		return text;
	free(text);
	return NULL;
}

static void result_take(struct compare_operand *o, const struct cell_book *b, const char *dir,
			const char *name, int64_t repeat)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/results/%s", dir, name);
	CLEANUP(xfreep) char *attempt = NULL, *run = NULL;
	struct run_set *s = result_set(o, b, name, repeat);

	if (!s)
		return;
	attempt = result_attempt(path, name);
	if (!attempt) {
		strvec_pushf(&o->problems, "%s: it names no attempt of its run", path);
		return;
	}
	run = xasprintf("%s/runs/%s", dir, attempt);
	run_set_add(o, s, run);
}

static void gates_take(struct compare_operand *o, const json_t *plan)
{
	const json_t *g;
	size_t i;

	json_array_foreach(json_object_get(plan, "gate"), i, g)
	{
		const json_t *t = json_object_get(g, "threshold");
		const char *words = json_string_value(t);
		double v = json_is_number(t) ? json_number_value(t) : NAN;

		if (!*text_at(g, "metric") || o->gates.nr >= CELLS_MAX)
			continue;
		if (words && num_percent(words, strlen(words), &v) < 0 &&
		    num_f64(words, strlen(words), &v) < 0)
			v = NAN;
		strvec_push(&o->gates, text_at(g, "metric"));
		VEC_PUSH(&o->thresholds, v);
	}
}

static int cells_begin(struct compare_operand *o, const json_t *cells, const char *word,
		       struct err *err)
{
	int at = word ? cell_find(cells, word) : 0;

	if (at < 0)
		return err_set(
			err, EINVAL, "%s: %s; 'profrig campaign status' lists its cells", o->path,
			at == -1 ? "no cell has this id or label" : "several cells' ids begin so");
	for (size_t i = 0; i < json_array_size(cells); i++)
		if (!word || (int)i == at)
			cell_begin(o, json_array_get(cells, i));
	return 0;
}

int campaign_cells_read(const char *dir, const char *cell, struct compare_operand *ret,
			struct err *err)
{
	CLEANUP(json_dropp) json_t *plan = NULL;
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) char *results = fs_join(dir, "results");
	struct cell_book book = { .ids = NULL };
	int64_t repeat;
	int r = plan_read(dir, &plan, err);

	if (r < 0)
		return r;
	r = cells_begin(ret, json_object_get(plan, "cells"), cell, err);
	if (r < 0)
		return r;
	gates_take(ret, plan);
	repeat = json_integer_value(json_object_get(plan, "repeat"));
	if (fs_is_dir(results) && (r = fs_list(results, &names, err)) < 0)
		return r;
	cell_book_make(&book, ret);
	for (size_t i = 0; i < names.nr && i < OPERAND_RUNS_MAX; i++)
		result_take(ret, &book, dir, names.v[i], repeat);
	cell_book_release(&book);
	for (size_t i = 0; i < ret->sets.nr; i++) {
		struct run_set *s = &ret->sets.v[i];
		size_t have = s->runs.nr + s->failed.nr;

		run_set_sort(s);
		s->missing = repeat > (int64_t)have ? (size_t)repeat - have : 0;
	}
	return 0;
}
