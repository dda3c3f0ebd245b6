#include "campaign_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/intern.h"
#include "profrig/base/num.h"
#include "profrig/base/u64map.h"

#define FILES_KEPT ((size_t)2000) /* of a folder, so that changes can be named */
#define CHANGES_SHOWN 4

/* ---- writing ---- */

static json_t *value_json(const struct cfg_node *n)
{
	json_t *v;

	switch (n->kind) {
	case CFG_NULL:
		return json_null();
	case CFG_BOOL:
		return json_boolean(n->b);
	case CFG_INT:
		return json_integer(n->i);
	case CFG_FLOAT:
		return json_real(n->f);
	case CFG_STR:
		return json_string(n->s);
	case CFG_SEQ:
		v = json_array();
		for (size_t i = 0; i < n->nr; i++)
			json_array_append_new(v, value_json(n->child[i]));
		return v;
	default:
		v = json_object();
		for (size_t i = 0; i < n->nr; i++)
			json_object_set_new(v, n->child[i]->key, value_json(n->child[i]));
		return v;
	}
}

static json_t *axes_json(const struct cell *c)
{
	json_t *axes = json_object();

	for (size_t i = 0; i < c->axes->sets.nr; i++)
		json_object_set_new(axes, c->axes->sets.v[i].path,
				    value_json(c->axes->sets.v[i].value));
	return axes;
}

static json_t *parts_json(const struct cell_parts *p)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s}", "config", p->config, "files", p->files,
			 "scripts", p->scripts, "tools", p->tools, "image", p->image);
}

static json_t *cell_json(const struct cells *all, const struct cell *c)
{
	json_t *base =
		c->baseline == CELL_NONE ? json_null() : json_string(all->v.v[c->baseline].id);
	json_t *config = json_loads(c->config, 0, NULL);

	return json_pack("{s:s, s:s, s:s, s:o, s:b, s:o, s:o, s:o, s:s?}", "id", c->id, "label",
			 c->label, "model", c->model->label, "axes", axes_json(c), "is_baseline",
			 c->is_baseline, "baseline", base, "config",
			 config ? config : json_object(), "parts", parts_json(&c->parts), "dir",
			 c->dir == CELL_NONE ? NULL : all->dirs.v[c->dir].path);
}

static json_t *dirs_json(const struct cells *c)
{
	json_t *dirs = json_object();

	for (size_t i = 0; i < c->dirs.nr; i++) {
		const struct strvec *files = &c->dirs.v[i].c.files;
		json_t *lines = json_array();

		for (size_t k = 0; files->nr <= FILES_KEPT && k < files->nr; k++)
			json_array_append_new(lines, json_string(files->v[k]));
		json_object_set_new(dirs, c->dirs.v[i].path, lines);
	}
	return dirs;
}

static json_t *gates_json(const struct campaign_file *f)
{
	json_t *gates = json_array();

	for (size_t i = 0; i < f->gates.nr; i++)
		json_array_append_new(gates, json_pack("{s:s, s:f}", "metric", f->gates.v[i].metric,
						       "threshold", f->gates.v[i].threshold));
	return gates;
}

static char *plan_text(const struct campaign_file *f, const struct cells *c)
{
	json_t *doc = json_pack("{s:s, s:s, s:i, s:s, s:I}", "schema", CAMPAIGN_SCHEMA, "name",
				f->name, "repeat", (int)f->repeat, "order",
				run_order_name(f->order), "seed", (json_int_t)f->seed);
	json_t *cells = json_array(), *metrics = json_array();
	bool whole;
	char *text;

	for (size_t i = 0; i < c->v.nr; i++)
		json_array_append_new(cells, cell_json(c, &c->v.v[i]));
	for (size_t i = 0; i < f->metrics.nr; i++)
		json_array_append_new(metrics, json_string(f->metrics.v[i]));
	if (f->most)
		json_object_set_new(doc, "repeat_most", json_integer(f->most));
	/* jansson takes no text that is no UTF-8, and leaves it out */
	whole = json_array_size(cells) == c->v.nr && json_array_size(metrics) == f->metrics.nr;
	json_object_set_new(doc, "cells", cells);
	json_object_set_new(doc, "gate", gates_json(f));
	json_object_set_new(doc, "metrics", metrics);
	json_object_set_new(doc, "dirs", dirs_json(c));
	whole &= json_array_size(json_object_get(doc, "gate")) == f->gates.nr &&
		 json_object_size(json_object_get(doc, "dirs")) == c->dirs.nr;
	text = whole ? json_dumps(doc, JSON_INDENT(1) | JSON_ENSURE_ASCII) : NULL;
	json_decref(doc);
	return text;
}

/* plans/ may hold a file of this name that is another one, or damaged. */
static int plan_put(const char *path, const char *text, struct err *err)
{
	CLEANUP(xfreep) char *there = NULL;
	size_t n = strlen(text), had = 0;

	if (fs_is_file(path) && fs_read(path, CAMPAIGN_PLAN_MAX, &there, &had, NULL) == 0 &&
	    had == n && !memcmp(there, text, n))
		return 0;
	return fs_write_atomic(path, text, n, err);
}

int campaign_plan_write(const char *dir, const struct campaign_file *f, const struct cells *c,
			struct campaign_plan *ret, struct err *err)
{
	CLEANUP(xfreep) char *plans = fs_join(dir, "plans");
	CLEANUP(xfreep) char *text = plan_text(f, c);
	CLEANUP(xfreep) char *rel = NULL;
	CLEANUP(xfreep) char *path = NULL;
	CLEANUP(xfreep) char *current = fs_join(dir, "plan.json");
	char hex[65];
	int r = fs_mkdirs(plans, 0755, err);

	if (r < 0)
		return r;
	if (text && strlen(text) > CAMPAIGN_PLAN_MAX)
		return err_set(err, E2BIG, "the plan is larger than %zu bytes", CAMPAIGN_PLAN_MAX);
	if (!text)
		return err_set(err, EILSEQ,
			       "a label, a value or a model's folder of the campaign is no UTF-8");
	fs_sha256_text(text, strlen(text), hex);
	rel = xasprintf("plans/%.12s.json", hex);
	path = fs_join(dir, rel);
	r = plan_put(path, text, err);
	if (r == 0)
		r = plan_put(current, text, err);
	return r < 0 ? r : campaign_plan_read(dir, rel, ret, err);
}

/* ---- reading ---- */

static const char *text_at(const json_t *doc, const char *key)
{
	const char *s = json_string_value(json_object_get(doc, key));

	return s ? s : "";
}

static void parts_read(const json_t *doc, struct cell_parts *ret)
{
	snprintf(ret->config, sizeof(ret->config), "%s", text_at(doc, "config"));
	snprintf(ret->files, sizeof(ret->files), "%s", text_at(doc, "files"));
	snprintf(ret->scripts, sizeof(ret->scripts), "%s", text_at(doc, "scripts"));
	snprintf(ret->tools, sizeof(ret->tools), "%s", text_at(doc, "tools"));
	snprintf(ret->image, sizeof(ret->image), "%s", text_at(doc, "image"));
}

static bool is_cell_id(const char *s)
{
	return strlen(s) == CELL_ID_LEN && strspn(s, "0123456789abcdef") == CELL_ID_LEN;
}

static int cells_read(struct campaign_plan *p, const char *path, struct err *err)
{
	struct intern *ids = intern_new();
	struct u64map at = U64MAP_INIT;
	const json_t *one;
	size_t i;
	int r = 0;

	json_array_foreach(json_object_get(p->doc, "cells"), i, one)
	{
		struct campaign_plan_cell c = { .id = text_at(one, "id"),
						.label = text_at(one, "label"),
						.model = text_at(one, "model"),
						.baseline = CELL_NONE,
						.all = one };

		uint32_t *place = u64map_at(&at, intern_puts(ids, c.id));

		if (!is_cell_id(c.id) || *place != U64MAP_NONE)
			r = err_set(err, EBADMSG, "%s: cell %zu has no id of its own", path, i);
		c.is_baseline = json_is_true(json_object_get(one, "is_baseline"));
		parts_read(json_object_get(one, "parts"), &c.parts);
		*place = (uint32_t)i;
		VEC_PUSH(&p->cells, c);
	}
	for (i = 0; i < p->cells.nr; i++) {
		const char *base = text_at(p->cells.v[i].all, "baseline");

		if (*base)
			p->cells.v[i].baseline = u64map_get(&at, intern_puts(ids, base));
	}
	u64map_release(&at);
	intern_free(ids);
	if (r == 0 && p->cells.nr == 0)
		r = err_set(err, EBADMSG, "%s: no cells", path);
	return r;
}

int campaign_plan_read(const char *dir, const char *rel, struct campaign_plan *ret, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(dir, rel);
	CLEANUP(xfreep) char *text = NULL;
	json_error_t why;
	json_int_t repeat;
	char hex[65];
	size_t n = 0;
	int r;

	*ret = (struct campaign_plan)CAMPAIGN_PLAN_INIT;
	/* a read would wait for a FIFO */
	if (fs_exists(path) && !fs_is_file(path))
		return err_set(err, EBADMSG, "%s: no regular file", path);
	r = fs_read(path, CAMPAIGN_PLAN_MAX, &text, &n, err);
	if (r < 0)
		return r;
	fs_sha256_text(text, n, hex);
	if (!strncmp(rel, "plans/", 6) && strncmp(rel + 6, hex, 12) != 0)
		return err_set(err, EBADMSG, "%s: damaged: it has another digest than its name",
			       path);
	ret->doc = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);
	if (!ret->doc)
		return err_set(err, EBADMSG, "%s:%d: %s", path, why.line, why.text);
	snprintf(ret->name, sizeof(ret->name), "plans/%.12s", hex);
	ret->campaign = text_at(ret->doc, "name");
	repeat = json_integer_value(json_object_get(ret->doc, "repeat"));
	ret->seed = (uint64_t)json_integer_value(json_object_get(ret->doc, "seed"));
	if (strcmp(text_at(ret->doc, "schema"), CAMPAIGN_SCHEMA) != 0)
		r = err_set(err, EBADMSG, "%s: no plan of schema %s", path, CAMPAIGN_SCHEMA);
	else if (repeat < 1 || repeat > CAMPAIGN_REPEAT_MAX ||
		 !run_order_parse(text_at(ret->doc, "order"), &ret->order))
		r = err_set(err, EBADMSG, "%s: damaged", path);
	else
		r = cells_read(ret, path, err);
	ret->repeat = (uint32_t)repeat;
	ret->most = (uint32_t)json_integer_value(json_object_get(ret->doc, "repeat_most"));
	if (r < 0)
		campaign_plan_release(ret);
	return r;
}

void campaign_plan_release(struct campaign_plan *p)
{
	VEC_RELEASE(&p->cells);
	json_decref(p->doc);
	p->doc = NULL;
}

/* ---- changes ---- */

static char *files_changed(const struct campaign_plan *before, const struct cells *now,
			   const struct cell *c)
{
	CLEANUP(strvec_release) struct strvec old = STRVEC_INIT;
	const json_t *line;
	size_t i;

	if (c->dir == CELL_NONE)
		return NULL;
	json_array_foreach(
		json_object_get(json_object_get(before->doc, "dirs"), now->dirs.v[c->dir].path), i,
		line) strvec_push(&old, json_string_value(line));
	if (!old.nr || now->dirs.v[c->dir].c.files.nr > FILES_KEPT)
		return NULL;
	return contents_changed(&old, &now->dirs.v[c->dir].c.files, CHANGES_SHOWN);
}

/* "files (run.sh), tools"; "": nothing has. */
static void parts_changed(const struct campaign_plan *before, const struct cells *now,
			  const struct campaign_plan_cell *old, const struct cell *c,
			  struct strbuf *to)
{
	const struct cell_parts *a = &old->parts, *b = &c->parts;
	CLEANUP(xfreep) char *files = NULL;

	if (strcmp(a->config, b->config) != 0)
		strbuf_addstr(to, "the configuration");
	if (strcmp(a->files, b->files) != 0) {
		files = files_changed(before, now, c);
		strbuf_addf(to, "%sfiles of the model%s%s%s", to->len ? ", " : "",
			    files ? " (" : "", files ? files : "", files ? ")" : "");
	}
	if (strcmp(a->scripts, b->scripts) != 0)
		strbuf_addf(to, "%sscripts", to->len ? ", " : "");
	if (strcmp(a->tools, b->tools) != 0)
		strbuf_addf(to, "%sfiles of tools", to->len ? ", " : "");
	if (*a->image && strcmp(a->image, b->image) != 0)
		strbuf_addf(to, "%sthe image", to->len ? ", " : "");
}

_Static_assert(CELL_NONE == U64MAP_NONE, "a place that a map lacks is no cell");

static str_id place_of(struct intern *places, const char *model, const char *label)
{
	CLEANUP(xfreep) char *place = xasprintf("%s\n%s", model, label);

	return intern_puts(places, place);
}

static void id_keep(struct cell *c, const char *id)
{
	snprintf(c->id, sizeof(c->id), "%s", id);
}

/* Cells that are in both, by id or by label: now[i] = place of before's cell, CELL_NONE. */
struct matching {
	uint32_t *old;
	bool *met; /* of before */
};

static void matching_make(struct matching *m, const struct campaign_plan *before,
			  const struct cells *now)
{
	struct intern *places = intern_new(), *ids = intern_new();
	struct u64map at = U64MAP_INIT, by_id = U64MAP_INIT;

	m->old = xcalloc(now->v.nr + 1, sizeof(*m->old));
	m->met = xcalloc(before->cells.nr + 1, sizeof(*m->met));
	for (uint32_t i = 0; i < before->cells.nr; i++) {
		const struct campaign_plan_cell *b = &before->cells.v[i];

		*u64map_at(&by_id, intern_puts(ids, b->id)) = i;
		*u64map_at(&at, place_of(places, b->model, b->label)) = i;
	}
	for (size_t i = 0; i < now->v.nr; i++) {
		m->old[i] = u64map_get(&by_id, intern_puts(ids, now->v.v[i].id));
		if (m->old[i] != CELL_NONE)
			m->met[m->old[i]] = true;
	}
	/* one that has another id is the one of the same label, unless that is another's already */
	for (size_t i = 0; i < now->v.nr; i++) {
		const struct cell *c = &now->v.v[i];
		uint32_t old = u64map_get(&at, place_of(places, c->model->label, c->label));

		if (m->old[i] != CELL_NONE || old == CELL_NONE || m->met[old])
			continue;
		m->old[i] = old;
		m->met[old] = true;
	}
	u64map_release(&at);
	u64map_release(&by_id);
	intern_free(places);
	intern_free(ids);
}

size_t campaign_plan_changes(const struct campaign_plan *before, struct cells *now, bool keep,
			     struct strvec *lines)
{
	struct matching m;
	size_t nr = 0;

	matching_make(&m, before, now);
	for (size_t i = 0; i < now->v.nr; i++) {
		CLEANUP(strbuf_release) struct strbuf what = STRBUF_INIT;
		struct cell *c = &now->v.v[i];
		const struct campaign_plan_cell *old =
			m.old[i] == CELL_NONE ? NULL : &before->cells.v[m.old[i]];

		if (!old) {
			strvec_pushf(lines, "%s: new", c->label);
			nr++;
			continue;
		}
		parts_changed(before, now, old, c, &what);
		if (what.len)
			strvec_pushf(lines, "%s: %s changed", c->label, what.buf);
		nr += what.len > 0;
		/* what did not change has its id, also when its image came later */
		if (keep || !what.len)
			id_keep(c, old->id);
	}
	for (size_t i = 0; i < before->cells.nr; i++)
		if (!m.met[i]) {
			strvec_pushf(lines, "%s: gone", before->cells.v[i].label);
			nr++;
		}
	free(m.old);
	free(m.met);
	return nr;
}
