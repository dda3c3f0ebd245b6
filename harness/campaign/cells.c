#include "cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/intern.h"
#include "profrig/base/json_out.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/u64map.h"
#include "profrig/image/image.h"

/* ---- canonical text ---- */

/* Keys of the root, and of model, that decide nothing that a run computes. */
static const char *const left_out[] = { "labels",      "live",     "keep",        "results",
					"publish",     "overhead", "model.about", "model.tags",
					"model.owner", "disk",     "notes" };

static bool is_left_out(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(left_out); i++)
		if (!strcmp(left_out[i], path))
			return true;
	return false;
}

static int by_key(const void *a, const void *b)
{
	const struct cfg_node *const *x = a, *const *y = b;

	return strcmp((*x)->key, (*y)->key);
}

struct canon {
	struct strbuf *to;
	const char *dir; /* paths below it are written from there */
};

static void canon_text(const struct canon *cn, const char *s)
{
	const char *rest = fs_below(cn->dir, s);

	s = rest && *rest ? rest : s;
	json_quote(cn->to, s, strlen(s));
}

static void canon_add(const struct canon *cn, const struct cfg_node *n, const char *path);

static void canon_map(const struct canon *cn, const struct cfg_node *n, const char *path)
{
	CLEANUP(xfreep) const struct cfg_node **kids = xcalloc(n->nr + 1, sizeof(*kids));
	bool first = true;

	if (n->nr)
		memcpy(kids, n->child, n->nr * sizeof(*kids));
	qsort(kids, n->nr, sizeof(*kids), by_key);
	strbuf_addch(cn->to, '{');
	for (size_t i = 0; i < n->nr; i++) {
		CLEANUP(xfreep)
		char *below =
			*path ? xasprintf("%s.%s", path, kids[i]->key) : xstrdup(kids[i]->key);

		if (is_left_out(below))
			continue;
		if (!first)
			strbuf_addch(cn->to, ',');
		first = false;
		json_quote(cn->to, kids[i]->key, strlen(kids[i]->key));
		strbuf_addch(cn->to, ':');
		canon_add(cn, kids[i], below);
	}
	strbuf_addch(cn->to, '}');
}

static void canon_add(const struct canon *cn, const struct cfg_node *n, const char *path)
{
	if (n->kind == CFG_MAP) {
		canon_map(cn, n, path);
	} else if (n->kind == CFG_SEQ) {
		strbuf_addch(cn->to, '[');
		for (size_t i = 0; i < n->nr; i++) {
			if (i)
				strbuf_addch(cn->to, ',');
			canon_add(cn, n->child[i], "[]");
		}
		strbuf_addch(cn->to, ']');
	} else if (n->kind == CFG_NULL || !n->s) {
		strbuf_addstr(cn->to, "null");
	} else {
		canon_text(cn, n->s);
	}
}

/* ---- labels ---- */

void cell_value_add(struct strbuf *to, const struct cfg_node *n)
{
	if (n->kind != CFG_SEQ && n->kind != CFG_MAP) {
		strbuf_addstr(to, n->s ? n->s : "null");
		return;
	}
	strbuf_addch(to, n->kind == CFG_SEQ ? '[' : '{');
	for (size_t i = 0; i < n->nr; i++) {
		if (i)
			strbuf_addch(to, ',');
		if (n->kind == CFG_MAP)
			strbuf_addf(to, "%s:", n->child[i]->key);
		cell_value_add(to, n->child[i]);
	}
	strbuf_addch(to, n->kind == CFG_SEQ ? ']' : '}');
}

static const char *last_word(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

/* The last word of a path, or all of it where two have the same. */
static const char *short_name(const struct matrix_cell *c, const char *path)
{
	const char *last = last_word(path);
	size_t same = 0;

	for (size_t i = 0; i < c->sets.nr; i++)
		same += !strcmp(last_word(c->sets.v[i].path), last);
	return same > 1 ? path : last;
}

static const struct matrix_axis *axis_of(const struct campaign_file *f, const char *path)
{
	for (size_t i = 0; i < f->matrix.axes.nr; i++)
		if (!strcmp(f->matrix.axes.v[i].path, path))
			return &f->matrix.axes.v[i];
	return NULL;
}

/* Of values that go together the first one names them all. */
static bool is_named_by_another(const struct campaign_file *f, const char *path)
{
	const struct matrix_axis *own = axis_of(f, path);

	for (const struct matrix_axis *a = f->matrix.axes.v; own && a < own; a++)
		if (a->dimension == own->dimension)
			return true;
	return false;
}

static char *label_of(const struct campaign_file *f, const struct cell *c, bool whole)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	if (f->models.nr > 1 || c->axes->sets.nr == 0)
		strbuf_addstr(&sb, c->model->label);
	for (size_t i = 0; i < c->axes->sets.nr; i++) {
		const struct matrix_set *s = &c->axes->sets.v[i];

		if (!whole && is_named_by_another(f, s->path))
			continue;
		strbuf_addf(&sb, "%s%s=", sb.len ? " " : "", short_name(c->axes, s->path));
		cell_value_add(&sb, s->value);
	}
	return strbuf_steal(&sb);
}

static bool labels_differ(const struct cells *c)
{
	struct intern *labels = intern_new();
	size_t before = intern_count(labels);
	bool differ;

	for (size_t i = 0; i < c->v.nr; i++)
		intern_puts(labels, c->v.v[i].label);
	differ = intern_count(labels) - before == c->v.nr;
	intern_free(labels);
	return differ;
}

static void labels_make(struct cells *c, const struct campaign_file *f)
{
	for (int whole = 0; whole < 2; whole++) {
		for (size_t i = 0; i < c->v.nr; i++) {
			free(c->v.v[i].label);
			c->v.v[i].label = label_of(f, &c->v.v[i], whole);
		}
		if (labels_differ(c))
			return;
	}
}

/* ---- which cells differ in what ---- */

/* The baseline names the path, or another one that goes together with it. */
static bool is_of_baseline(const struct campaign_file *f, const char *path)
{
	const struct matrix_axis *own = axis_of(f, path);

	CFG_EACH(n, f->baseline, CFG_MAP) {
		const struct matrix_axis *named = axis_of(f, n->key);

		if (!strcmp(n->key, path) || (own && named && own->dimension == named->dimension))
			return true;
	}
	return false;
}

/* Model and values, without the axis `but`; but NULL: without what the baseline names. */
static void place_add(struct strbuf *to, const struct campaign_file *f, const struct cell *c,
		      const char *but)
{
	if (but || !cfg_get(f->baseline, "model"))
		strbuf_addf(to, "%s\n", c->model->label);
	for (size_t i = 0; i < c->axes->sets.nr; i++) {
		const struct matrix_set *s = &c->axes->sets.v[i];

		if (but ? !strcmp(but, s->path) : is_of_baseline(f, s->path))
			continue;
		strbuf_addf(to, "%s=", s->path);
		cell_value_add(to, s->value);
		strbuf_addch(to, '\n');
	}
}

static bool axis_is_unused(const struct cells *c, const struct campaign_file *f,
			   const char *path)
{
	struct intern *places = intern_new();
	struct u64map first = U64MAP_INIT;
	bool several = false, used = false;

	for (uint32_t i = 0; i < c->v.nr && !used; i++) {
		CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT;
		uint32_t *at;

		place_add(&place, f, &c->v.v[i], path);
		at = u64map_at(&first, intern_put(places, place.buf, place.len));
		if (*at == U64MAP_NONE) {
			*at = i;
			continue;
		}
		several = true;
		used = strcmp(c->v.v[i].config, c->v.v[*at].config) != 0;
	}
	u64map_release(&first);
	intern_free(places);
	return several && !used;
}

static void unused_find(struct cells *c, const struct campaign_file *f, struct problems *p)
{
	for (size_t i = 0; i < f->matrix.axes.nr; i++) {
		const struct matrix_axis *a = &f->matrix.axes.v[i];

		if (strncmp(a->path, "env.", 4) != 0 && axis_is_unused(c, f, a->path))
			cfg_problem(p, a->where,
				    "axis '%.200s' changes nothing: its values leave every "
				    "configuration equal",
				    a->path);
	}
}

static bool has_baseline(const struct campaign_file *f, const struct cell *c)
{
	CFG_EACH(n, f->baseline, CFG_MAP) {
		bool same = !strcmp(n->key, "model") && n->s && !strcmp(n->s, c->model->label);

		for (size_t i = 0; i < c->axes->sets.nr; i++)
			same |= !strcmp(c->axes->sets.v[i].path, n->key) &&
				matrix_same(c->axes->sets.v[i].value, n);
		if (!same)
			return false;
	}
	return f->baseline != NULL;
}

static void baselines_find(struct cells *c, const struct campaign_file *f, struct problems *p)
{
	struct intern *places = intern_new();
	struct u64map at = U64MAP_INIT;
	size_t found = 0;

	for (uint32_t i = 0; i < c->v.nr; i++) {
		CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT;

		c->v.v[i].is_baseline = has_baseline(f, &c->v.v[i]);
		if (!c->v.v[i].is_baseline)
			continue;
		found++;
		place_add(&place, f, &c->v.v[i], NULL);
		*u64map_at(&at, intern_put(places, place.buf ? place.buf : "", place.len)) = i;
	}
	for (uint32_t i = 0; f->baseline && i < c->v.nr; i++) {
		CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT;
		uint32_t base;

		if (c->v.v[i].is_baseline)
			continue;
		place_add(&place, f, &c->v.v[i], NULL);
		base = u64map_get(&at, intern_put(places, place.buf ? place.buf : "", place.len));
		c->v.v[i].baseline = base == U64MAP_NONE ? CELL_NONE : base;
	}
	if (f->baseline && !found && c->v.nr)
		cfg_problem(p, f->baseline, "no cell has all values of 'baseline'");
	u64map_release(&at);
	intern_free(places);
}

/* ---- parts of an id ---- */

static int files_hash(const struct strvec *paths, char ret[65], struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT;
	char hex[65];

	ret[0] = 0;
	for (size_t i = 0; i < paths->nr; i++) {
		int r = contents_file(paths->v[i], hex, err);

		if (r < 0)
			return r;
		strbuf_addf(&all, "%s\n", hex);
	}
	if (all.len)
		fs_sha256_text(all.buf, all.len, ret);
	return 0;
}

static int parts_find(const struct prepared *p, struct cell_parts *ret, struct err *err)
{
	CLEANUP(strvec_release) struct strvec scripts = STRVEC_INIT, tools = STRVEC_INIT;
	int r;

	for (size_t i = 0; i < p->conf.pre.nr; i++)
		strvec_push(&scripts, p->conf.pre.v[i].path);
	for (size_t i = 0; i < p->conf.post.nr; i++)
		strvec_push(&scripts, p->conf.post.v[i].path);
	for (size_t i = 0; i < p->conf.tools.nr; i++) {
		const struct tool *t = p->conf.tools.v[i].tool;

		strvec_push(&tools, t->file);
		for (size_t k = 0; k < t->pre.nr; k++)
			strvec_push(&tools, t->pre.v[k].path);
		for (size_t k = 0; k < t->post.nr; k++)
			strvec_push(&tools, t->post.v[k].path);
	}
	r = files_hash(&scripts, ret->scripts, err);
	return r < 0 ? r : files_hash(&tools, ret->tools, err);
}

/* Its contents count where the folder is the model's own, or was named. */
static uint32_t dir_of(struct cells *c, const struct cell *cell, const struct prepared *p)
{
	if (!p->conf.dir || (!cell->model->word && !cfg_path(p->conf.effective.root, "model.dir")))
		return CELL_NONE;
	for (uint32_t i = 0; i < c->dirs.nr; i++)
		if (!strcmp(c->dirs.v[i].path, p->conf.dir))
			return i;
	VEC_PUSH(&c->dirs, ((struct cell_dir){ xstrdup(p->conf.dir), CONTENTS_INIT }));
	return (uint32_t)c->dirs.nr - 1;
}

/* ---- making ---- */

static struct run_options options_of(const struct run_options *o, const struct cell *cell)
{
	struct run_options one = *o;

	one.conf.over = &cell->over;
	return one;
}

static int cell_make(const struct run_options *o, const struct campaign_file *f, struct cells *c,
		     struct cell *cell, struct problems *problems, struct said *said,
		     struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf config = STRBUF_INIT;
	struct canon cn = { &config, f->dir };
	struct run_options one;
	struct prepared p;
	int r;

	campaign_cell_config(f, cell->model, cell->axes, &cell->over, problems);
	one = options_of(o, cell);
	r = prepare(&one, cell->model->word, NULL, &p, problems, said, err);
	if (r == 0) {
		struct cfg_node *root = p.conf.effective.root;

		cfg_put(&p.conf.effective, root, "engine", CFG_STR, p.engine->name, f->path,
			LAYER_FILE);
		canon_add(&cn, root, "");
		cell->config = strbuf_steal(&config);
		fs_sha256_text(cell->config, strlen(cell->config), cell->parts.config);
		cell->engine = p.engine;
		if (p.engine->container && p.conf.image)
			cell->image = xstrdup(p.conf.image);
		cell->dir = dir_of(c, cell, &p);
		r = parts_find(&p, &cell->parts, err);
	}
	prepared_release(&p);
	return r;
}

/* What several cells say is said once. */
static void said_join(struct said *to, const struct said *from)
{
	for (size_t i = 0; i < from->v.nr; i++) {
		const struct said_line *l = &from->v.v[i];

		if (!VEC_FIND(&to->v, k, !strcmp(k->text, l->text)))
			said_add(to, l->level, "%s", l->text);
	}
}

int cells_make(const struct run_options *o, struct campaign_file *f, uint64_t limit,
	       struct cells *ret, struct problems *problems, struct said *said, struct err *err)
{
	uint64_t all;
	int r = 0;

	if (__builtin_mul_overflow(matrix_count(&f->matrix), (uint64_t)f->models.nr, &all) ||
	    all > limit)
		cfg_problem(problems, cfg_get(f->tree.root, "axes"),
			    "%llu cells are more than %llu: leave out values, or allow it with "
			    "--max-cells",
			    (unsigned long long)all, (unsigned long long)limit);
	else
		matrix_expand(&f->matrix, limit, problems);
	if (problems->lines.nr)
		return -EBADMSG;
	for (size_t m = 0; m < f->models.nr; m++)
		for (size_t k = 0; k < f->matrix.cells.nr; k++) {
			struct cell cell = { .model = &f->models.v[m],
					     .axes = &f->matrix.cells.v[k],
					     .dir = CELL_NONE,
					     .baseline = CELL_NONE };
			struct said words = SAID_INIT;
			int one = cell_make(o, f, ret, &cell, problems, &words, err);

			said_join(said, &words);
			said_release(&words);
			r = r < 0 ? r : one;
			VEC_PUSH(&ret->v, cell);
			if (one < 0 && one != -EBADMSG)
				return one;
		}
	labels_make(ret, f);
	if (r < 0 || problems->lines.nr)
		return -EBADMSG;
	unused_find(ret, f, problems);
	baselines_find(ret, f, problems);
	return problems->lines.nr ? -EBADMSG : 0;
}

/* ---- ids ---- */

static void image_find(struct cells *c, struct cell *cell)
{
	CLEANUP(xfreep) char *id = NULL;
	CLEANUP(xfreep) char *digest = NULL;

	if (!cell->image)
		return;
	for (struct cell *other = c->v.v; other < cell; other++)
		if (other->image && other->engine == cell->engine &&
		    !strcmp(other->image, cell->image)) {
			memcpy(cell->parts.image, other->parts.image, sizeof(cell->parts.image));
			return;
		}
	if (cell->engine->words[ENGINE_FACTS])
		image_facts(cell->engine, cell->image, cell->image, &id, &digest);
	snprintf(cell->parts.image, sizeof(cell->parts.image), "%s", id ? id : "");
}

static void id_make(struct cells *c, struct cell *cell)
{
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT;
	struct cell_parts *p = &cell->parts;
	char hex[65];

	if (cell->dir != CELL_NONE)
		memcpy(p->files, c->dirs.v[cell->dir].c.sha, sizeof(p->files));
	strbuf_addf(&all, "%s\n%s\n%s\n%s\n%s\n", p->config, p->files, p->scripts, p->tools,
		    p->image);
	fs_sha256_text(all.buf, all.len, hex);
	memcpy(cell->id, hex, CELL_ID_LEN);
	cell->id[CELL_ID_LEN] = 0;
}

static int ids_check(const struct cells *c, struct err *err)
{
	struct intern *ids = intern_new();
	struct u64map first = U64MAP_INIT;
	int r = 0;

	for (uint32_t i = 0; i < c->v.nr && r == 0; i++) {
		uint32_t *at = u64map_at(&first, intern_put(ids, c->v.v[i].id, CELL_ID_LEN));

		if (*at != U64MAP_NONE)
			r = err_set(err, EBADMSG, "cells '%.150s' and '%.150s' are the same",
				    c->v.v[*at].label, c->v.v[i].label);
		*at = i;
	}
	u64map_release(&first);
	intern_free(ids);
	return r;
}

int cells_identify(struct cells *c, const struct campaign_file *f, const char *but,
		   const volatile sig_atomic_t *interrupt, struct err *err)
{
	(void)f;
	for (size_t i = 0; i < c->dirs.nr; i++) {
		struct cell_dir *d = &c->dirs.v[i];
		int r = contents_find(d->path, but, interrupt, &d->c, err);

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < c->v.nr; i++) {
		image_find(c, &c->v.v[i]);
		id_make(c, &c->v.v[i]);
	}
	return ids_check(c, err);
}

/* ---- use ---- */

struct prepared *cell_ready(const struct run_options *o, struct cell *c, struct err *err)
{
	struct run_options one = options_of(o, c);
	struct problems problems = PROBLEMS_INIT;
	struct said said = SAID_INIT;
	int r = 0;

	if (!c->ready) {
		c->ready = xcalloc(1, sizeof(*c->ready));
		r = prepare(&one, c->model->word, NULL, c->ready, &problems, &said, err);
	}
	if (r < 0 && problems.lines.nr)
		err_set(err, EBADMSG, "%s", problems.lines.v[0]);
	if (r < 0) {
		prepared_release(c->ready);
		free(c->ready);
		c->ready = NULL;
	}
	said_release(&said);
	problems_release(&problems);
	return c->ready;
}

void cells_release(struct cells *c)
{
	for (size_t i = 0; i < c->v.nr; i++) {
		struct cell *cell = &c->v.v[i];

		if (cell->ready)
			prepared_release(cell->ready);
		free(cell->ready);
		free(cell->label);
		free(cell->config);
		free(cell->image);
		if (cell->over.root)
			cfg_release(&cell->over);
	}
	for (size_t i = 0; i < c->dirs.nr; i++) {
		free(c->dirs.v[i].path);
		contents_release(&c->dirs.v[i].c);
	}
	VEC_RELEASE(&c->v);
	VEC_RELEASE(&c->dirs);
	strvec_release(&c->unused);
}
