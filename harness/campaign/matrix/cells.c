#include "cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/intern.h"
#include "profrig/base/json_out.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/base/u64map.h"
#include "profrig/image/image.h"

/* ---- canonical text ---- */

/* Keys of the root, and of model, that decide nothing that a run computes. */
static const char *const left_out[] = { "labels",      "live",     "keep",        "results",
					"publish",     "overhead", "model.about", "model.tags",
					"model.owner", "disk",     "notes",       "slurm" };

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
	const char *dir; /* paths below it are written from there; NULL */
};

static void canon_text(const struct canon *cn, const char *s)
{
	const char *rest = cn->dir ? fs_below(cn->dir, s) : NULL;

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
		text_visible(to, n->s ? n->s : "null", n->s ? strlen(n->s) : 4, "");
		return;
	}
	strbuf_addch(to, n->kind == CFG_SEQ ? '[' : '{');
	for (size_t i = 0; i < n->nr; i++) {
		if (i)
			strbuf_addch(to, ',');
		if (n->kind == CFG_MAP)
			text_visible(to, n->child[i]->key, strlen(n->child[i]->key), "");
		if (n->kind == CFG_MAP)
			strbuf_addch(to, ':');
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

/* At the end of a character. */
static void label_cut(struct strbuf *sb)
{
	size_t n = CELL_LABEL_MAX - 16;
	char hex[65];

	if (sb->len <= CELL_LABEL_MAX)
		return;
	fs_sha256_text(sb->buf, sb->len, hex);
	while (n && ((unsigned char)sb->buf[n] & 0xc0) == 0x80)
		n--;
	sb->len = n;
	strbuf_addf(sb, "… (%.8s)", hex);
}

static char *label_of(const struct campaign_file *f, const struct cell *c, bool whole)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	if (f->models.nr > 1 || c->axes->sets.nr == 0)
		text_visible(&sb, c->model->label, strlen(c->model->label), "");
	for (size_t i = 0; i < c->axes->sets.nr; i++) {
		const struct matrix_set *s = &c->axes->sets.v[i];

		const char *name = short_name(c->axes, s->path);

		if (!whole && is_named_by_another(f, s->path))
			continue;
		strbuf_addstr(&sb, sb.len ? " " : "");
		text_visible(&sb, name, strlen(name), "");
		strbuf_addch(&sb, '=');
		cell_value_add(&sb, s->value);
	}
	label_cut(&sb);
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
	const struct canon cn = { to, NULL };

	if (but || !cfg_get(f->baseline, "model"))
		strbuf_addf(to, "%s\n", c->model->label);
	for (size_t i = 0; i < c->axes->sets.nr; i++) {
		const struct matrix_set *s = &c->axes->sets.v[i];

		if (but ? !strcmp(but, s->path) : is_of_baseline(f, s->path))
			continue;
		json_quote(to, s->path, strlen(s->path));
		canon_add(&cn, s->value, "[]");
		strbuf_addch(to, '\n');
	}
}

static bool axis_is_unused(const struct cells *c, const struct campaign_file *f, const char *path)
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

static int file_hash(struct cells *c, const char *path, char ret[65], struct err *err)
{
	struct cell_file f;
	const struct cell_file *known = VEC_FIND(&c->files, k, !strcmp(k->path, path));
	int r = 0;

	if (!known) {
		r = contents_file(path, f.sha, err);
		if (r < 0)
			return r;
		f.path = xstrdup(path);
		VEC_PUSH(&c->files, f);
		known = &c->files.v[c->files.nr - 1];
	}
	memcpy(ret, known->sha, sizeof(known->sha));
	return r;
}

static int files_hash(struct cells *c, const struct strvec *paths, char ret[65], struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT;
	char hex[65];

	ret[0] = 0;
	for (size_t i = 0; i < paths->nr; i++) {
		int r = file_hash(c, paths->v[i], hex, err);

		if (r < 0)
			return r;
		strbuf_addf(&all, "%s\n", hex);
	}
	if (all.len)
		fs_sha256_text(all.buf, all.len, ret);
	return 0;
}

static int parts_find(struct cells *c, const struct prepared *p, struct cell_parts *ret,
		      struct err *err)
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
	r = files_hash(c, &scripts, ret->scripts, err);
	return r < 0 ? r : files_hash(c, &tools, ret->tools, err);
}

/* Its contents count where the folder is the model's own, or was named. */
static uint32_t dir_of(struct cells *c, const struct cell *cell, const struct prepared *p)
{
	if (!p->conf.dir || cell->model->recorded.tree ||
	    (!cell->model->word && !cfg_path(p->conf.effective.root, "model.dir")))
		return CELL_NONE;
	for (uint32_t i = 0; i < c->dirs.nr; i++)
		if (!strcmp(c->dirs.v[i].path, p->conf.dir))
			return i;
	VEC_PUSH(&c->dirs, ((struct cell_dir){ xstrdup(p->conf.dir), CONTENTS_INIT }));
	return (uint32_t)c->dirs.nr - 1;
}

/* ---- making ---- */

static struct run_options options_of(const struct run_options *o, const struct cells *c,
				     const struct cell *cell)
{
	struct run_options one = *o;

	one.tools = &c->tools;
	one.conf.over = &cell->over;
	if (cell->model->recorded.tree)
		one.conf.replay = &cell->model->recorded;
	return one;
}

static void over_drop(struct cell *cell)
{
	if (cell->over.root)
		cfg_release(&cell->over);
	cell->over.root = NULL;
}

static int config_take(struct cells *c, struct cell *cell, struct prepared *p, struct err *err)
{
	const struct campaign_file *f = c->file;
	CLEANUP(strbuf_release) struct strbuf config = STRBUF_INIT;
	const struct canon cn = { &config, f->dir };
	struct cfg_node *root = p->conf.effective.root;

	cfg_put(&p->conf.effective, root, "engine", CFG_STR, p->engine->name, f->path, LAYER_FILE);
	canon_add(&cn, root, "");
	c->config_bytes += config.len;
	if (c->config_bytes > CELLS_CONFIG_MAX)
		return err_set(err, E2BIG,
			       "the configurations of the cells are larger than %zu "
			       "bytes together",
			       CELLS_CONFIG_MAX);
	cell->config = strbuf_steal(&config);
	fs_sha256_text(cell->config, strlen(cell->config), cell->parts.config);
	return 0;
}

static int cell_make(const struct run_options *o, struct cells *c, struct cell *cell,
		     struct problems *problems, struct said *said, struct err *err)
{
	struct run_options one;
	struct prepared p;
	int r;

	campaign_cell_config(c->file, cell->model, cell->axes, &cell->over, problems);
	one = options_of(o, c, cell);
	r = prepare(&one, cell->model->word, NULL, &p, problems, said, err);
	if (r == 0)
		r = config_take(c, cell, &p, err);
	if (r == 0) {
		cell->engine = p.engine;
		if (p.engine->container && p.conf.image)
			cell->image = xstrdup(p.conf.image);
		cell->dir = dir_of(c, cell, &p);
		r = parts_find(c, &p, &cell->parts, err);
	}
	prepared_release(&p);
	over_drop(cell);
	return r;
}

/* Whether the keys of each slot can be laid over a cell. */
static int slots_check(const struct run_options *o, const struct cells *c, struct cell *cell,
		       struct problems *problems, struct err *err)
{
	size_t nr = c->file->slots ? c->file->slots->nr : 0;
	struct said said = SAID_INIT;
	int r = 0;

	campaign_cell_config(c->file, cell->model, cell->axes, &cell->over, problems);
	for (size_t i = 0; i < nr && r == 0; i++) {
		struct run_options one = options_of(o, c, cell);
		struct prepared p;

		cfg_init(&one.conf.given);
		if (o->conf.given.root) {
			cfg_parse_text(&one.conf.given, "", 0, "", false, LAYER_CLI, NULL);
			cfg_merge(&one.conf.given, &o->conf.given);
		}
		campaign_slot_config(c->file, i, &one.conf.given);
		r = prepare(&one, cell->model->word, NULL, &p, problems, &said, err);
		prepared_release(&p);
		cfg_release(&one.conf.given);
	}
	said_release(&said);
	over_drop(cell);
	return r;
}

/* Each line once, from however many cells. */
static void said_join(struct said *to, const struct said *from, struct intern *known)
{
	for (size_t i = 0; i < from->v.nr; i++) {
		size_t before = intern_count(known);

		intern_puts(known, from->v.v[i].text);
		if (intern_count(known) > before)
			said_add(to, from->v.v[i].level, "%s", from->v.v[i].text);
	}
}

static int cells_resolve(const struct run_options *o, struct cells *c, struct problems *problems,
			 struct said *said, struct err *err)
{
	struct intern *known = intern_new();
	int r = 0;

	for (size_t i = 0; i < c->v.nr && (r == 0 || r == -EBADMSG); i++) {
		struct said more = SAID_INIT;
		int one = cell_make(o, c, &c->v.v[i], problems, &more, err);

		r = one < 0 && one != -EBADMSG ? one : r < 0 ? r : one;
		said_join(said, &more, known);
		said_release(&more);
	}
	/* of the file, whatever it is that a cell lacks */
	if ((r == -EINVAL || r == -ENOENT || r == -EBADMSG) && !problems->lines.nr)
		cfg_problem(problems, NULL, "%s: %s", c->file->path, err->msg);
	if (problems->lines.nr)
		r = -EBADMSG;
	if (r == 0 && c->v.nr)
		r = slots_check(o, c, &c->v.v[0], problems, err);
	intern_free(known);
	return r;
}

int cells_list(const struct run_options *o, struct campaign_file *f, uint64_t limit,
	       struct cells *ret, struct problems *problems, struct said *said, struct err *err)
{
	uint64_t all;
	int r;

	ret->file = f;
	if (__builtin_mul_overflow(matrix_count(&f->matrix), (uint64_t)f->models.nr, &all) ||
	    all > limit)
		cfg_problem(problems, cfg_get(f->tree.root, "axes"),
			    "%llu cells are more than %llu: leave out values, or allow it with "
			    "--max-cells",
			    (unsigned long long)all, (unsigned long long)limit);
	else
		matrix_expand(&f->matrix, limit / f->models.nr, problems);
	if (!problems->lines.nr && f->matrix.cells.nr * f->models.nr > CELLS_RUNS_MAX / f->repeat)
		cfg_problem(problems, cfg_get(f->tree.root, "repeat"),
			    "%zu cells × %u repeats are more than %zu runs",
			    f->matrix.cells.nr * f->models.nr, f->repeat, CELLS_RUNS_MAX);
	if (problems->lines.nr)
		return -EBADMSG;
	for (size_t m = 0; m < f->models.nr; m++)
		for (size_t k = 0; k < f->matrix.cells.nr; k++) {
			struct cell cell = { .model = &f->models.v[m],
					     .axes = &f->matrix.cells.v[k],
					     .dir = CELL_NONE,
					     .baseline = CELL_NONE };
			VEC_PUSH(&ret->v, cell);
		}
	labels_make(ret, f);
	r = tools_load(&o->tools_dirs, &ret->tools, said, err);
	ret->has_tools = r == 0;
	return r;
}

int cells_make(const struct run_options *o, struct campaign_file *f, uint64_t limit,
	       struct cells *ret, struct problems *problems, struct said *said, struct err *err)
{
	int r = cells_list(o, f, limit, ret, problems, said, err);

	if (r == 0)
		r = cells_resolve(o, ret, problems, said, err);
	if (r < 0)
		return r;
	if (problems->lines.nr == 0) {
		unused_find(ret, f, problems);
		baselines_find(ret, f, problems);
	}
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

static int ids_check(const struct cells *c, struct problems *problems)
{
	struct intern *ids = intern_new();
	struct u64map first = U64MAP_INIT;

	for (uint32_t i = 0; i < c->v.nr && !problems->lines.nr; i++) {
		uint32_t *at = u64map_at(&first, intern_put(ids, c->v.v[i].id, CELL_ID_LEN));

		if (*at != U64MAP_NONE)
			cfg_problem(problems, cfg_get(c->file->tree.root, "axes"),
				    "cells '%s' and '%s' are the same", c->v.v[*at].label,
				    c->v.v[i].label);
		*at = i;
	}
	u64map_release(&first);
	intern_free(ids);
	return problems->lines.nr ? -EBADMSG : 0;
}

int cells_identify(struct cells *c, const char *but, const volatile sig_atomic_t *interrupt,
		   struct problems *problems, struct err *err)
{
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
	return ids_check(c, problems);
}

/* ---- use ---- */

static void ready_drop(struct cell *cell)
{
	if (cell->ready)
		prepared_release(cell->ready);
	free(cell->ready);
	cell->ready = NULL;
	over_drop(cell);
}

/* There is room for one more. */
static void ready_make_room(struct cells *c)
{
	if (c->ready.nr < CELLS_READY_MAX)
		return;
	ready_drop(&c->v.v[c->ready.v[0]]);
	c->ready.nr--;
	memmove(c->ready.v, c->ready.v + 1, c->ready.nr * sizeof(*c->ready.v));
}

struct prepared *cell_ready(const struct run_options *o, struct cells *c, struct cell *cell,
			    struct err *err)
{
	struct problems problems = PROBLEMS_INIT;
	struct said said = SAID_INIT;
	struct run_options one;
	int r = 0;

	if (!cell->ready) {
		ready_make_room(c);
		campaign_cell_config(c->file, cell->model, cell->axes, &cell->over, &problems);
		cell_nodes_config(c->file, cell->model, &cell->over);
		one = options_of(o, c, cell);
		cell->ready = xcalloc(1, sizeof(*cell->ready));
		r = prepare(&one, cell->model->word, NULL, cell->ready, &problems, &said, err);
		if (r == 0)
			VEC_PUSH(&c->ready, (size_t)(cell - c->v.v));
	}
	if (r < 0 && problems.lines.nr)
		err_set(err, EBADMSG, "%s", problems.lines.v[0]);
	if (r < 0)
		ready_drop(cell);
	said_release(&said);
	problems_release(&problems);
	return cell->ready;
}

void cells_release(struct cells *c)
{
	for (size_t i = 0; i < c->v.nr; i++) {
		struct cell *cell = &c->v.v[i];

		ready_drop(cell);
		free(cell->label);
		free(cell->config);
		free(cell->image);
	}
	for (size_t i = 0; i < c->dirs.nr; i++) {
		free(c->dirs.v[i].path);
		contents_release(&c->dirs.v[i].c);
	}
	for (size_t i = 0; i < c->files.nr; i++)
		free(c->files.v[i].path);
	VEC_RELEASE(&c->v);
	VEC_RELEASE(&c->dirs);
	VEC_RELEASE(&c->files);
	VEC_RELEASE(&c->ready);
	if (c->has_tools)
		tool_set_release(&c->tools);
}
