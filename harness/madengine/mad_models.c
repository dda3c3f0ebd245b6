/*
 * The entries of a package:
 *
 *	models.json				[{"name": "a", …}, …]
 *	scripts/<dir>/models.json		the same, names become <dir>/a
 *	scripts/<dir>/get_models_json.py	list_models(), likewise
 */
#include "mad_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fields.h"
#include "profrig/base/fs.h"

#define SCRIPT "get_models_json.py"

char *mad_package_dir(const char *cwd)
{
	const char *dir = getenv("MODEL_DIR");

	return fs_abs(dir && *dir ? dir : cwd);
}

static void models_fault(struct mad_models *m, const char *scope, const char *text)
{
	VEC_PUSH(&m->faults, ((struct mad_fault){ xstrdup_null(scope), xstrdup(text) }));
}

/* --- one file's entries --- */

const struct mad_entry *mad_models_find(const struct mad_models *m, const char *name)
{
	return VEC_FIND(&m->entries, x, !strcmp(x->name, name));
}

static void add_entry(struct mad_models *m, const char *scope, const char *file,
		      struct cfg_node *node, bool scripted)
{
	struct mad_entry e = { .tags = STRVEC_INIT, .notes = STRVEC_INIT, .node = node };
	struct mad_entry *before;
	const char *name;

	mad_drop_empty(node);
	name = cfg_text(node, "name");
	e.problems = e.unknown = (struct problems)PROBLEMS_INIT;
	e.scope = xstrdup_null(scope);
	e.file = xstrdup(file);
	e.where = cfg_where(node);
	e.scripted = scripted;
	e.name = scope ? xasprintf("%s/%s", scope, name ? name : "?") : xstrdup(name ? name : "?");
	/* In a path ':' begins the arguments; the check of the entry reports such a name. */
	for (char *colon = e.name; (colon = strchr(colon, ':'));)
		*colon = '_';
	mad_words(cfg_get(node, "tags"), &e.tags);
	/* A scripted entry is checked after update_model(). */
	if (!scripted)
		mad_check_entry(node, &e.problems, &e.unknown, &e.notes);
	else if (!name)
		cfg_problem(&e.problems, node, "a model without a name");
	before = name ? (struct mad_entry *)mad_models_find(m, e.name) : NULL;
	if (before) {
		cfg_problem(&e.problems, node, "there is a model '%s' already (%s)", e.name,
			    before->where);
		cfg_problem(&before->problems, before->node, "there is another model '%s' (%s)",
			    e.name, e.where);
	}
	VEC_PUSH(&m->entries, e);
}

/* Takes ownership of c. */
static void add_entries(struct mad_models *m, const char *scope, const char *file, struct cfg *c,
			bool scripted)
{
	VEC_PUSH(&m->files, c);
	if (c->root->kind != CFG_SEQ) {
		CLEANUP(xfreep)
		char *text = xasprintf("%s:%d: want a list of models, [{\"name\": …}, …]", file,
				       c->root->line);

		models_fault(m, scope, text);
		return;
	}
	for (size_t i = 0; i < c->root->nr; i++) {
		struct cfg_node *n = c->root->child[i];

		if (n->kind == CFG_MAP) {
			add_entry(m, scope, file, n, scripted);
		} else {
			CLEANUP(xfreep) char *where = cfg_where(n);
			CLEANUP(xfreep) char *text = xasprintf("%s: want a map of keys", where);

			models_fault(m, scope, text);
		}
	}
}

/* The name of a package's file in messages: relative to the working directory when below it. */
static char *shown_name(const struct mad_models *m, const char *cwd, const char *rel)
{
	CLEANUP(xfreep) char *path = fs_join(m->dir, rel);
	const char *below = fs_below(cwd, path);

	return xstrdup(below ? below : path);
}

static void read_json(struct mad_models *m, const char *scope, const char *path, const char *shown)
{
	struct cfg *c = xmalloc(sizeof(*c));
	CLEANUP(xfreep) char *text = NULL;
	struct err err = ERR_INIT;
	size_t n;
	int r;

	cfg_init(c);
	r = fs_read(path, (size_t)4 << 20, &text, &n, &err);
	if (r == 0)
		r = cfg_parse_value(c, text, n, shown, CFG_JSON, LAYER_MODEL, &err);
	if (r == 0) {
		mad_drop_comments(c->root);
		add_entries(m, scope, shown, c, false);
		return;
	}
	models_fault(m, scope, err.msg);
	cfg_release(c);
	free(c);
}

static void read_script(struct mad_models *m, const char *scope, const char *path,
			const char *shown)
{
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT;
	CLEANUP(strvec_release) struct strvec notes = STRVEC_INIT;
	struct cfg *c = xmalloc(sizeof(*c));
	size_t first = m->entries.nr;

	if (mad_script_list(path, shown, m->dir, NULL, c, &notes, &why) == 0) {
		add_entries(m, scope, shown, c, true);
		for (size_t i = first; i < m->entries.nr; i++)
			strvec_pushv(&m->entries.v[i].notes, notes.v);
		return;
	}
	models_fault(m, scope, why.buf);
	cfg_release(c);
	free(c);
}

static void read_scope(struct mad_models *m, const char *cwd, const char *scope, bool scripts)
{
	CLEANUP(xfreep) char *rel_json = xasprintf("scripts/%s/models.json", scope);
	CLEANUP(xfreep) char *rel_script = xasprintf("scripts/%s/" SCRIPT, scope);
	CLEANUP(xfreep) char *json = fs_join(m->dir, rel_json);
	CLEANUP(xfreep) char *script = fs_join(m->dir, rel_script);
	CLEANUP(xfreep) char *shown_json = shown_name(m, cwd, rel_json);
	CLEANUP(xfreep) char *shown_script = shown_name(m, cwd, rel_script);
	bool has_json = fs_is_file(json), has_script = fs_is_file(script);

	if (has_json && has_script) {
		CLEANUP(xfreep)
		char *text =
			xasprintf("%s: %s is there, too: want one of them", shown_json, SCRIPT);

		models_fault(m, scope, text);
	} else if (has_json) {
		read_json(m, scope, json, shown_json);
	} else if (has_script && scripts) {
		read_script(m, scope, script, shown_script);
	}
}

void mad_models_load(struct mad_models *m, const char *cwd, const char *dir, bool run_scripts)
{
	CLEANUP(strvec_release) struct strvec scopes = STRVEC_INIT;
	CLEANUP(xfreep) char *root = NULL;
	CLEANUP(xfreep) char *scripts = NULL;

	*m = (struct mad_models){ .dir = mad_package_dir(dir) };
	if (!fs_is_dir(m->dir)) {
		CLEANUP(xfreep) char *text = xasprintf("MODEL_DIR: no folder '%s'", m->dir);

		models_fault(m, NULL, text);
		return;
	}
	root = fs_join(m->dir, "models.json");
	scripts = fs_join(m->dir, "scripts");
	if (fs_is_file(root)) {
		CLEANUP(xfreep) char *shown = shown_name(m, cwd, "models.json");

		read_json(m, NULL, root, shown);
	}
	if (fs_is_dir(scripts))
		fs_list(scripts, &scopes, NULL);
	for (size_t i = 0; i < scopes.nr; i++)
		read_scope(m, cwd, scopes.v[i], run_scripts);
}

void mad_models_add_built(struct mad_models *m, const char *manifest)
{
	struct cfg *c = xmalloc(sizeof(*c));
	const struct cfg_node *built;
	CLEANUP(xfreep) char *text = NULL;
	size_t n;

	cfg_init(c);
	VEC_PUSH(&m->files, c);
	/* The caller has read the file before and reported its problems. */
	if (fs_read(manifest, (size_t)16 << 20, &text, &n, NULL) == 0)
		cfg_parse_value(c, text, n, manifest, CFG_JSON, LAYER_MODEL, NULL);
	built = c->root ? cfg_get(c->root, "built_models") : NULL;
	CFG_EACH(kid, built, CFG_MAP) {
		const char *name = cfg_text(kid, "name");

		if (name && !mad_models_find(m, name))
			add_entry(m, NULL, manifest, kid, false);
	}
}

FIELD_TABLE(entry_fields, TEXT_FIELDS(struct mad_entry, name, scope, file, where),
	    WORDS_FIELDS(struct mad_entry, tags, notes, problems.lines, unknown.lines));
FIELD_TABLE(fault_fields, TEXT_FIELDS(struct mad_fault, scope, text));
FIELD_TABLE(models_fields, TEXT_FIELDS(struct mad_models, dir),
	    FIELD_VEC(struct mad_models, entries, entry_fields),
	    FIELD_VEC(struct mad_models, faults, fault_fields),
	    FIELD_VEC(struct mad_models, files, NULL));

void mad_models_release(struct mad_models *m)
{
	for (size_t i = 0; i < m->files.nr; i++) {
		cfg_release(m->files.v[i]);
		free(m->files.v[i]);
	}
	fields_release(m, models_fields);
}

/* --- the meaning of a word --- */

/* For "S/X", with exactly one '/' and text on both sides, the length of S; else 0. */
static size_t scope_len(const char *tag)
{
	const char *slash = strchr(tag, '/');

	if (!slash || slash == tag || !slash[1] || strchr(slash + 1, '/'))
		return 0;
	return (size_t)(slash - tag);
}

static bool in_scope(const struct mad_entry *e, const char *tag, size_t len)
{
	return e->scope && strlen(e->scope) == len && !memcmp(e->scope, tag, len);
}

/* The next '#' in at that may end a file's name. */
static const char *next_hash(const char *at)
{
	static const char *const ends[] = { ".json#", ".py#", ".yaml#", ".yml#", "#:" };
	const char *first = NULL;

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		const char *end = strstr(at, ends[i]);

		if (end && (!first || end < first))
			first = end;
	}
	return first ? strchr(first, '#') : NULL;
}

/* Whether a file or folder exists with this '#' in its name. */
static bool in_a_name(const char *path, const char *hash)
{
	CLEANUP(xfreep)
	char *whole = xstrndup(path, (size_t)(hash - path) + strcspn(hash, "/"));

	return fs_exists(whole);
}

const char *mad_path_hash(const char *path)
{
	const char *hash = next_hash(path);

	while (hash && in_a_name(path, hash))
		hash = next_hash(hash + 1);
	return hash;
}

const char *mad_word_args(const char *word)
{
	const char *hash = *word == '/' || *word == '.' ? mad_path_hash(word) : NULL;
	const char *from = hash ? hash : word;

	return from + strcspn(from, ":");
}

bool mad_entry_matches(const struct mad_entry *e, const char *word)
{
	CLEANUP(xfreep) char *tag = xstrndup(word, (size_t)(mad_word_args(word) - word));
	size_t scope = scope_len(tag);
	const char *inner = scope ? tag + scope + 1 : tag;

	if (!strcmp(e->name, tag))
		return true;
	if (scope && !in_scope(e, tag, scope))
		return false;
	return !strcmp(inner, "all") || strvec_has(&e->tags, inner);
}

/* ":batch-size=32:fp16" → --batch-size 32 --fp16 */
void mad_tag_args(const char *s, struct strvec *to)
{
	CLEANUP(strvec_release) struct strvec parts = STRVEC_INIT;

	strvec_split(&parts, s, ":");
	for (size_t i = 0; i < parts.nr; i++) {
		const char *eq = strchr(parts.v[i], '=');

		if (!eq) {
			strvec_pushf(to, "--%s", parts.v[i]);
			continue;
		}
		strvec_pushf(to, "--%.*s", (int)(eq - parts.v[i]), parts.v[i]);
		strvec_push(to, eq + 1);
	}
}

void mad_models_faults(const struct mad_models *m, const char *word, struct problems *p)
{
	CLEANUP(xfreep) char *tag = xstrndup(word, (size_t)(mad_word_args(word) - word));
	size_t scope = scope_len(tag);

	for (size_t i = 0; i < m->faults.nr; i++) {
		const struct mad_fault *f = &m->faults.v[i];

		if (!scope ||
		    (f->scope && strlen(f->scope) == scope && !memcmp(f->scope, tag, scope)))
			cfg_problem(p, NULL, "%s", f->text);
	}
}
