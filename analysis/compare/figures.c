#include "condition_clocks.h"
#include "figures_private.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define METRICS_MAX 10000
#define SCHEMA "profrig.run/1"

const char *figure_better_name(enum figure_better b)
{
	static const char *const names[] = { "lower", "higher", "none" };

	return names[b];
}

enum figure_better figure_better_of(const char *name, const char *unit)
{
	if (condition_clock_is(name))
		return FIGURE_NONE;
	return strcmp(name, "performance") == 0 || text_suffix(unit, "/s") ? FIGURE_HIGHER
									   : FIGURE_LOWER;
}

void figures_release(struct figures *f)
{
	if (f->owned)
		intern_free(f->texts);
	VEC_RELEASE(&f->v);
	strvec_release(&f->problems);
	*f = (struct figures)FIGURES_INIT;
}

void figures_add(struct figures *f, const char *name, const char *key, size_t key_len,
		 const char *unit, enum figure_better better, double value)
{
	struct figure fig = { .name_id = intern_puts(f->texts, name),
			      .key_id = intern_put(f->texts, key, key_len),
			      .unit_id = intern_puts(f->texts, unit),
			      .better = better,
			      .value = value };

	fig.name = intern_str(f->texts, fig.name_id);
	fig.key = intern_str(f->texts, fig.key_id);
	fig.unit = intern_str(f->texts, fig.unit_id);
	VEC_PUSH(&f->v, fig);
}

bool figures_selected(const struct strvec *selection, const char *name, bool usual)
{
	size_t group = strcspn(name, ".");

	if (!selection || !selection->nr)
		return usual;
	for (size_t i = 0; i < selection->nr; i++) {
		const char *s = selection->v[i];

		if (strcmp(s, name) == 0 || strcmp(s, "all") == 0 ||
		    (usual && strcmp(s, "usual") == 0) ||
		    (name[group] && strlen(s) == group && strncmp(s, name, group) == 0))
			return true;
	}
	return false;
}

/* ---- run.json ---- */

void run_document_drop(json_t **doc)
{
	json_decref(*doc);
	*doc = NULL;
}

int run_document_read(const char *dir, json_t **ret, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "run.json");
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(run_document_drop) json_t *doc = NULL;
	const char *schema;
	json_error_t e;
	size_t n = 0;
	int r = fs_read(path, RUN_DOCUMENT_MAX, &text, &n, err);

	if (r < 0)
		return r;
	doc = json_loadb(text, n, 0, &e);
	if (!doc)
		return err_set(err, EINVAL, "%s:%d: %s", path, e.line, e.text);
	schema = json_string_value(json_object_get(doc, "schema"));
	if (!schema || strcmp(schema, SCHEMA) != 0)
		return err_set(err, EINVAL, "%s: schema '%.40s' is not the one that is read, '%s'",
			       path, schema ? schema : "", SCHEMA);
	*ret = STEAL(doc);
	return 0;
}

static bool metric_selected(const struct strvec *selection, const char *name)
{
	if (selection && strvec_has(selection, "metrics"))
		return true;
	/* `wall` is `duration`; clocks are conditions */
	return figures_selected(selection, name,
				strcmp(name, "wall") != 0 && !condition_clock_is(name));
}

/* How many figures of that name there are. */
static size_t figures_of(const struct figures *f, size_t from, const char *name)
{
	str_id id = intern_find(f->texts, name, strlen(name));
	size_t nr = 0;

	for (size_t i = from; id != STR_NONE && i < f->v.nr; i++)
		nr += f->v.v[i].name_id == id;
	return nr;
}

static void metric_add(struct figures *f, size_t from, const json_t *m,
		       const struct strvec *selection)
{
	const json_t *value = json_object_get(m, "value");
	const char *name = json_string_value(json_object_get(m, "name"));
	const char *unit = json_string_value(json_object_get(m, "unit"));
	CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT;
	size_t before;

	if (!name || !*name || !metric_selected(selection, name))
		return;
	if (!json_is_number(value) || !isfinite(json_number_value(value))) {
		f->bad += !json_is_null(value);
		return;
	}
	unit = unit ? unit : "";
	before = figures_of(f, from, name);
	if (before)
		strbuf_addf(&key, "%s#%zu", name, before + 1);
	figures_add(f, name, key.buf, key.len, unit, figure_better_of(name, unit),
		    json_number_value(value));
}

static void document_add(struct figures *f, const char *dir, const json_t *doc,
			 const struct strvec *selection)
{
	const json_t *metrics = json_object_get(doc, "metrics"), *m;
	const json_t *took = json_object_get(json_object_get(doc, "durations_s"), "workload");
	size_t from = f->v.nr, i;

	json_array_foreach(metrics, i, m)
	{
		if (i < METRICS_MAX)
			metric_add(f, from, m, selection);
	}
	if (json_array_size(metrics) > METRICS_MAX)
		strvec_pushf(&f->problems, "%s/run.json: of %zu metrics the first %d are read", dir,
			     json_array_size(metrics), METRICS_MAX);
	if (json_is_number(took) && json_number_value(took) > 0 &&
	    !figures_of(f, from, "duration") && figures_selected(selection, "duration", true))
		figures_add(f, "duration", "", 0, "s", FIGURE_LOWER, json_number_value(took));
}

static int held_read(const char *dir, const struct strvec *selection, struct figures *ret,
		     struct err *err)
{
	CLEANUP(xfreep)
	char *run = fs_join(dir, "run.json"), *facts = fs_join(dir, "analysis.json");
	CLEANUP(xfreep)
	char *own = fs_join(dir, "tables"), *below = fs_join(dir, "analysis/tables");
	CLEANUP(run_document_drop) json_t *doc = NULL;
	struct stat st;
	int r;

	if (door_lstat(run, &st) < 0 && errno == ENOENT) {
		if (door_lstat(facts, &st) < 0)
			return err_set(err, ENOENT,
				       "%s: neither a run directory (run.json) nor an analysis "
				       "directory (analysis.json)",
				       dir);
		figure_tables_read(own, selection, ret);
		return 0;
	}
	r = run_document_read(dir, &doc, err);
	if (r < 0)
		return r;
	document_add(ret, dir, doc, selection);
	figure_tables_read(below, selection, ret);
	return 0;
}

int figures_read(const char *dir, const struct strvec *selection, struct figures *ret,
		 struct err *err)
{
	int r = door_hold(dir, err);

	if (r < 0)
		return r;
	if (!ret->texts) {
		ret->texts = intern_new();
		ret->owned = true;
	}
	r = held_read(dir, selection, ret, err);
	door_let_go(dir);
	return r;
}
