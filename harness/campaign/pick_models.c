/* Finds the models that the words of a command line select. */
#include "pick_models.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/text.h"

void catalog_free(struct catalog *cat)
{
	if (cat)
		catalog_release(cat);
	free(cat);
}

/* A file, or a folder that holds a model; another folder may have the name of a tag by chance. */
bool pick_is_path(const char *word)
{
	CLEANUP(xfreep) char *file = fs_join(word, "profrig.yaml");

	return fs_is_dir(word) ? fs_is_file(file) || strchr(word, '/') != NULL || !strcmp(word, ".")
			       : fs_exists(word);
}

char *pick_model_key(const char *path)
{
	CLEANUP(xfreep) char *bare = catalog_path_with(path, "");
	CLEANUP(xfreep) char *inside = fs_is_dir(bare) ? fs_join(bare, "profrig.yaml") : NULL;

	return mad_path_hash(bare) ? STEAL(bare) : fs_abs(inside ? inside : bare);
}

/* The file of a package, or a package's folder that is no model itself. */
static bool is_models_json(const char *word)
{
	CLEANUP(xfreep) char *inside = fs_join(word, "models.json");
	CLEANUP(xfreep) char *own = fs_join(word, "profrig.yaml");

	if (fs_is_dir(word))
		return (strchr(word, '/') || !strcmp(word, ".")) && fs_is_file(inside) &&
		       !fs_is_file(own);
	return !strcmp(fs_base(word), "models.json") && fs_is_file(word);
}

struct picking {
	const char *command; /* for messages: "run" */
	struct catalog *cat;
	struct strvec *models;
	struct problems *p;
};

static int load_catalog(struct picking *a, struct err *err)
{
	CLEANUP(xfreep) char *cwd = fs_abs(".");
	struct err why = ERR_INIT;

	if (a->cat)
		return 0;
	a->cat = xcalloc(1, sizeof(*a->cat));
	if (catalog_load(a->cat, cwd, &why) == 0)
		return 0;
	free(STEAL(a->cat));
	return err_set(err, EINVAL, "%s", why.msg);
}

/* "model2" → "dummy2/model2": users often leave out the scope. */
static const char *scoped_name(const struct catalog *cat, const char *tag)
{
	for (size_t i = 0; i < cat->models.nr; i++) {
		const char *slash = strrchr(cat->models.v[i].name, '/');

		if (slash && !strcmp(slash + 1, tag))
			return cat->models.v[i].name;
	}
	return NULL;
}

static bool looks_like_file(const char *word)
{
	return strchr(word, '/') || text_suffix(word, ".yaml") || text_suffix(word, ".yml") ||
	       text_suffix(word, ".json");
}

char *pick_unknown(const struct catalog *cat, const char *word, bool path)
{
	CLEANUP(strvec_release) struct strvec known = STRVEC_INIT;
	CLEANUP(xfreep) char *tag = xstrndup(word, (size_t)(mad_word_args(word) - word));
	const char *near = scoped_name(cat, tag);

	for (size_t i = 0; i < cat->models.nr; i++) {
		strvec_push(&known, cat->models.v[i].name);
		strvec_pushv(&known, cat->models.v[i].tags.v);
	}
	near = near ? near : cfg_did_you_mean(tag, (const char *const *)known.v);
	if (path && !near && looks_like_file(word))
		return xasprintf("there is no file or folder '%s', and no model of that name",
				 word);
	if (!cat->models.nr && cat->mad.files.nr)
		return xstrdup("there is no model here: models.json lists none");
	if (!cat->models.nr)
		return xstrdup("there is no model here: neither a profrig.yaml nor a models.json");
	if (near)
		return xasprintf("no model has the name or tag '%s'; did you mean '%s'?", tag,
				 near);
	return xasprintf("no model has the name or tag '%s'; 'profrig discover' lists them", tag);
}

/* madengine's documentation writes "dummy2:dummy_2" for "dummy2/dummy_2". */
static bool match_scope(const struct catalog *cat, const char *word, struct strvec *models)
{
	CLEANUP(xfreep) char *scoped = xstrdup(word);
	char *colon = strchr(scoped, ':');

	if (!colon || strchr(scoped, '/'))
		return false;
	*colon = '/';
	return catalog_match(cat, scoped, models) > 0;
}

/* path: the word may also be a file or a folder. */
static int pick_word(struct picking *a, const char *word, bool path, struct err *err)
{
	CLEANUP(xfreep) char *why = NULL;
	int r;

	if (path && is_models_json(word))
		return err_set(err, ENOENT,
			       "'%s' holds models: choose by name or tag, profrig %s -t NAME%s",
			       word, a->command,
			       strchr(word, '/') ? ", where it lies or with MODEL_DIR" : "");
	if (path && pick_is_path(word)) {
		strvec_push(a->models, word);
		return 0;
	}
	r = load_catalog(a, err);
	if (r < 0)
		return r;
	catalog_faults(a->cat, word, a->p);
	if (catalog_match(a->cat, word, a->models) > 0 || a->p->lines.nr ||
	    match_scope(a->cat, word, a->models))
		return 0;
	why = pick_unknown(a->cat, word, path);
	return err_set(err, ENOENT, "%s", why);
}

int models_pick(const char *command, const struct run_options *o, const struct strvec *words,
		struct catalog **ret_catalog, struct strvec *models, struct problems *problems,
		struct err *err)
{
	struct picking a = { .command = command, .models = models, .p = problems };
	CLEANUP(strvec_release) struct strvec tags = STRVEC_INIT;
	int r = 0;

	for (size_t i = 0; r == 0 && i < words->nr; i++)
		r = pick_word(&a, words->v[i], true, err);
	for (size_t i = 0; i < o->tags.nr; i++)
		strvec_split(&tags, o->tags.v[i], ",");
	for (size_t i = 0; r == 0 && i < tags.nr; i++)
		r = pick_word(&a, tags.v[i], false, err);
	*ret_catalog = a.cat;
	if (r == 0 && problems->lines.nr)
		return -EBADMSG;
	if (r == 0 && o->tags.nr && !models->nr)
		return err_set(err, EINVAL, "--tags names nothing");
	return r;
}
