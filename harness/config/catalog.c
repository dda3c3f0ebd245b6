/*
 * The models: profrig.yaml here, in the folders here, and in those of examples/; and the entries of
 * models.json.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/config/runconf.h"

static char *folder_name(const char *cwd, const char *path)
{
	CLEANUP(xfreep) char *joined = fs_join(cwd, path);
	CLEANUP(xfreep) char *full = fs_abs(joined);
	CLEANUP(xfreep) char *dir = fs_dir(full);

	return xstrdup(fs_base(dir));
}

FIELD_TABLE(entry_fields, TEXT_FIELDS(struct catalog_entry, name, about, image),
	    WORDS_FIELDS(struct catalog_entry, tags));

static void read_model(const char *cwd, const char *path, struct catalog_entry *e)
{
	CLEANUP(xfreep) char *full = fs_join(cwd, path);
	const struct cfg_node *model;
	struct err err = ERR_INIT;
	struct cfg c;
	int r;

	*e = (struct catalog_entry){ .path = xstrdup(path), .tags = STRVEC_INIT };
	cfg_init(&c);
	r = cfg_parse_file(&c, full, LAYER_MODEL, &err);
	model = r == 0 ? cfg_get(c.root, "model") : NULL;
	fields_read(e, entry_fields, model);
	if (!e->name)
		e->name = folder_name(cwd, path);
	if (r < 0) {
		e->about = xasprintf("BROKEN: %s", err.msg);
	} else if (!model) {
		e->about = xstrdup("BROKEN: no 'model' in it");
	}
	cfg_release(&c);
}

static void release_entry(struct catalog_entry *e)
{
	free(e->path);
	fields_release(e, entry_fields);
}

static void add_model_file(struct catalog *c, const char *cwd, const char *path)
{
	struct catalog_entry e;

	read_model(cwd, path, &e);
	for (size_t i = 0; i < c->models.nr; i++) {
		if (!strcmp(c->models.v[i].name, e.name)) {
			release_entry(&e);
			return;
		}
	}
	VEC_PUSH(&c->models, e);
}

/* profrig.yaml of every folder below `below` (NULL: cwd itself). An unreadable folder counts as one
 * without a model. */
static void add_folders(struct catalog *c, const char *cwd, const char *below)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) char *dir = below ? fs_join(cwd, below) : xstrdup(cwd);

	if (fs_list(dir, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep)
		char *path = below ? xasprintf("%s/%s/profrig.yaml", below, names.v[i])
				   : xasprintf("%s/profrig.yaml", names.v[i]);
		CLEANUP(xfreep) char *full = fs_join(cwd, path);

		if (fs_is_file(full))
			add_model_file(c, cwd, path);
	}
}

static void add_entries(struct catalog *c, size_t from)
{
	for (size_t i = from; i < c->mad.entries.nr; i++) {
		const struct mad_entry *e = &c->mad.entries.v[i];
		struct catalog_entry to = { .mad = e, .tags = STRVEC_INIT };

		to.name = xstrdup(e->name);
		to.path = xasprintf("%s#%s", e->file, e->name);
		to.image =
			xstrdup_null(cfg_text(cfg_get(e->node, "env_vars"), "DOCKER_IMAGE_NAME"));
		if (e->problems.lines.nr || e->unknown.lines.nr)
			to.about = xasprintf("BROKEN: %s", e->problems.lines.nr
								   ? e->problems.lines.v[0]
								   : e->unknown.lines.v[0]);
		strvec_pushv(&to.tags, e->tags.v);
		VEC_PUSH(&c->models, to);
	}
}

/* dir: the beginning of the catalogue's paths; NULL: cwd itself. */
static int load_catalog(struct catalog *c, const char *cwd, const char *dir, bool scripts,
			struct err *err)
{
	CLEANUP(xfreep) char *full = fs_join(cwd, dir ? dir : ".");
	CLEANUP(xfreep) char *here = fs_join(full, "profrig.yaml");
	CLEANUP(xfreep) char *shown = dir ? fs_join(dir, "profrig.yaml") : xstrdup("profrig.yaml");
	CLEANUP(xfreep) char *examples = dir ? fs_join(dir, "examples") : xstrdup("examples");

	*c = (struct catalog){ .models = VEC_INIT };
	if (!fs_is_dir(full))
		return err_set(err, ENOENT, "models: no folder '%s'", full);
	if (fs_is_file(here))
		add_model_file(c, cwd, shown);
	add_folders(c, cwd, dir);
	add_folders(c, cwd, examples);
	mad_models_load(&c->mad, cwd, full, scripts);
	add_entries(c, 0);
	return 0;
}

int catalog_load(struct catalog *c, const char *cwd, struct err *err)
{
	return load_catalog(c, cwd, NULL, true, err);
}

int catalog_load_files(struct catalog *c, const char *cwd, struct err *err)
{
	return load_catalog(c, cwd, NULL, false, err);
}

int catalog_load_of(struct catalog *c, const char *cwd, const char *dir, struct err *err)
{
	return load_catalog(c, cwd, dir, true, err);
}

void catalog_add_built(struct catalog *c, const char *manifest)
{
	size_t from = c->mad.entries.nr;

	mad_models_add_built(&c->mad, manifest);
	for (size_t i = 0; i < c->models.nr; i++)
		if (c->models.v[i].mad)
			c->models.v[i].mad = mad_models_find(&c->mad, c->models.v[i].name);
	add_entries(c, from);
}

void catalog_release(struct catalog *c)
{
	for (size_t i = 0; i < c->models.nr; i++)
		release_entry(&c->models.v[i]);
	VEC_RELEASE(&c->models);
	mad_models_release(&c->mad);
}

static void add_path(const struct catalog_entry *e, const char *args, struct strvec *paths)
{
	CLEANUP(xfreep)
	char *path = xasprintf("%s%s%s", e->path, *args && !e->mad ? "#" : "", args);

	if (!strvec_has(paths, path))
		strvec_push(paths, path);
}

static const struct catalog_entry *catalog_native(const struct catalog *c, const char *name)
{
	return VEC_FIND(&c->models, x, !x->mad && !strcmp(x->name, name));
}

size_t catalog_match(const struct catalog *c, const char *word, struct strvec *paths)
{
	const char *args = mad_word_args(word);
	CLEANUP(xfreep) char *tag = xstrndup(word, (size_t)(args - word));
	const struct catalog_entry *named = catalog_native(c, tag);
	bool all = !strcmp(tag, "all");
	size_t n = 0;

	if (named) {
		add_path(named, args, paths);
		return 1;
	}
	for (size_t i = 0; i < c->models.nr; i++) {
		const struct catalog_entry *e = &c->models.v[i];

		/* A path that an earlier listing gave is accepted as it is. */
		if (strcmp(e->path, tag) != 0 && (e->mad ? !mad_entry_matches(e->mad, word)
							 : !all && !strvec_has(&e->tags, tag)))
			continue;
		add_path(e, args, paths);
		n++;
	}
	return n;
}

void catalog_faults(const struct catalog *c, const char *word, struct problems *p)
{
	CLEANUP(xfreep) char *tag = xstrndup(word, (size_t)(mad_word_args(word) - word));

	if (!catalog_native(c, tag))
		mad_models_faults(&c->mad, word, p);
}

char *catalog_path_with(const char *path, const char *args)
{
	const char *hash = mad_path_hash(path);
	size_t file = hash ? (size_t)(hash - path) : strlen(path);
	size_t n = path[file] ? file + strcspn(path + file, ":") : file;
	bool entry = n > file + 1;

	return xasprintf("%.*s%s%s", (int)(entry ? n : file), path, !entry && *args ? "#" : "",
			 args);
}

bool catalog_path_split(const char *path, char **ret_file, char **ret_name, struct strvec *args)
{
	const char *hash = mad_path_hash(path), *colon;

	if (!hash)
		return false;
	colon = hash + strcspn(hash, ":");
	*ret_file = xstrndup(path, (size_t)(hash - path));
	*ret_name = xstrndup(hash + 1, (size_t)(colon - hash - 1));
	mad_tag_args(colon, args);
	return true;
}
