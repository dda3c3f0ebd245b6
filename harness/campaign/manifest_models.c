#include "manifest_models.h"
#include "image_prepare.h"
#include "manifest_context.h"
#include "manifest_where.h"
#include "pick_models.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/image/image.h"

/* The models that a word selects. A word without a model stands for itself: a file, or a name that
 * only the manifest has. */
static void word_expand(const struct catalog *cat, const char *word, struct strvec *keys)
{
	CLEANUP(strvec_release) struct strvec paths = STRVEC_INIT;

	if (fs_exists(word) || catalog_match(cat, word, &paths) == 0)
		strvec_push(&paths, word);
	for (size_t i = 0; i < paths.nr; i++) {
		CLEANUP(xfreep) char *key = pick_model_key(paths.v[i]);

		strvec_push(keys, key);
	}
}

/* The model of the image as prepare takes it, with the arguments of the build. Owned. */
static char *own_path(const struct manifest_image *mi)
{
	if (mi->at)
		return xstrdup(mi->at);
	return xstrdup(mi->word && *mi->word ? mi->word : mi->model ? mi->model : mi->image);
}

/* Whether a word selects the image's model. stem: the word without its arguments. */
static bool word_means(const struct catalog *cat, const struct manifest_image *mi, const char *own,
		       const char *stem)
{
	CLEANUP(strvec_release) struct strvec models = STRVEC_INIT, expanded = STRVEC_INIT;
	CLEANUP(xfreep) char *bare = catalog_path_with(own, "");

	if (!strcmp(stem, "all") || (mi->model && !strcmp(stem, mi->model)) || !strcmp(stem, bare))
		return true;
	if (mi->word && !strcmp(stem, mi->word))
		return true;
	/* A tag, or another name of the same file. */
	word_expand(cat, bare, &models);
	word_expand(cat, stem, &expanded);
	return VEC_FIND(&expanded, x, strvec_has(&models, *x));
}

/* Owned. */
static char *with_args(const char *own, const char *args)
{
	CLEANUP(xfreep) char *inside = fs_join(own, "profrig.yaml");

	if (fs_is_file(own) || mad_path_hash(own))
		return catalog_path_with(own, args);
	return fs_is_file(inside) ? catalog_path_with(inside, args) : xasprintf("%s%s", own, args);
}

/* The runs of the image that the words ask for; without words the one it was built for. A used word
 * is removed from `unused`. */
static void runs_of(const struct catalog *cat, const struct manifest_image *mi,
		    const struct strvec *words, struct strvec *unused, struct strvec *runs)
{
	CLEANUP(xfreep) char *own = own_path(mi);

	if (!words->nr)
		strvec_push(runs, own);
	for (size_t i = 0; i < words->nr; i++) {
		const char *word = words->v[i];
		bool whole = fs_exists(word) || !strcmp(word, mi->image);
		const char *args = whole ? word + strlen(word) : mad_word_args(word);
		CLEANUP(xfreep) char *stem = xstrndup(word, (size_t)(args - word));
		CLEANUP(xfreep) char *run = NULL;

		if (strcmp(word, mi->image) != 0 && !word_means(cat, mi, own, stem))
			continue;
		run = *args ? with_args(own, args) : xstrdup(own);
		if (!strvec_has(runs, run))
			strvec_push(runs, run);
		for (size_t k = 0; k < unused->nr; k++)
			if (!strcmp(unused->v[k], word))
				strvec_remove(unused, k--);
	}
}

static const struct engine *engine_of(const struct run_options *o)
{
	CLEANUP(xfreep) char *notice = NULL;
	const char *engine = run_given_engine(o);
	const struct engine *e = run_pick_engine(engine ? engine : "auto", "image", &notice, NULL);

	return e && e->build ? e : NULL;
}

/* The image to run: the one on this machine, else the one in the registry. */
static const char *image_choose(const struct engine *e, const struct manifest_image *mi,
				struct said *said)
{
	CLEANUP(xfreep) char *id = NULL;
	CLEANUP(xfreep) char *digest = NULL;

	if (e)
		image_facts(e, mi->image, NULL, &id, &digest);
	if (id && mi->id && strcmp(id, mi->id) != 0)
		said_add(said, SAID_WARNING,
			 "image '%s' is not the one of the manifest: it was made anew since "
			 "(%.19s here, %.19s there)",
			 mi->image, id, mi->id);
	return id || !mi->registry_image ? mi->image : mi->registry_image;
}

/* Drops words for models whose images could not be built just now; the build has reported them. */
static void drop_unbuilt(const struct run_options *o, const struct catalog *cat,
			 struct strvec *unused)
{
	for (size_t i = 0; i < unused->nr && o->unbuilt.nr; i++) {
		const char *word = unused->v[i];
		CLEANUP(xfreep) char *stem = xstrndup(word, (size_t)(mad_word_args(word) - word));
		CLEANUP(strvec_release) struct strvec models = STRVEC_INIT;
		bool known = false;

		word_expand(cat, stem, &models);
		for (size_t k = 0; k < o->unbuilt.nr; k++) {
			CLEANUP(xfreep) char *key = pick_model_key(o->unbuilt.v[k].word);

			known |= strvec_has(&models, key);
		}
		if (known)
			strvec_remove(unused, i--);
	}
}

static int manifest_unused(const struct manifest *m, const char *path, const struct strvec *unused,
			   struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf known = STRBUF_INIT;

	for (size_t i = 0; i < m->images.nr; i++)
		if (m->images.v[i].model)
			strbuf_addf(&known, "%s%s", known.len ? ", " : "", m->images.v[i].model);
	return err_set(err, EINVAL, "manifest '%s' has no image of model '%s'; it has: %s", path,
		       unused->v[0], known.len ? known.buf : "none");
}

static void add_model(struct run_options *o, const struct engine *e,
		      const struct manifest_image *mi, const struct strvec *runs,
		      struct strvec *models, struct said *said)
{
	const char *image = runs->nr ? image_choose(e, mi, said) : NULL;

	for (size_t i = 0; i < runs->nr; i++) {
		strvec_push(models, runs->v[i]);
		strvec_push(&o->images, image);
		strvec_push(&o->names, mi->model ? mi->model : "");
		VEC_PUSH(&o->builds_s, mi->build_s);
		strvec_push(&o->dockerfiles, mi->dockerfile ? mi->dockerfile : "");
		strvec_push(&o->bases, mi->base ? mi->base : "");
	}
}

int manifest_models(struct run_options *o, const struct strvec *operands,
		    struct catalog **ret_catalog, struct strvec *models, struct said *said,
		    struct err *err)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT, unused = STRVEC_INIT;
	const struct engine *e;
	struct manifest m;
	struct err why = ERR_INIT;
	const char *engine;
	int r = manifest_read(&m, o->manifest, &why);

	if (r < 0) {
		manifest_release(&m);
		return err_set(err, r == -ENOENT ? ENOENT : EBADMSG, "--manifest: %s", why.msg);
	}
	engine = cfg_text(m.tree.root, "engine");
	e = engine ? engine_find(engine) : NULL;
	if (!run_given_engine(o) && e && e->build)
		runconf_give(&o->conf.given, "engine", CFG_STR, e->name);
	manifest_context_take(o, &m);
	e = engine_of(o);
	strvec_pushv(&words, operands->v);
	for (size_t i = 0; i < o->tags.nr; i++)
		strvec_split(&words, o->tags.v[i], ",");
	strvec_pushv(&unused, words.v);
	*ret_catalog = manifest_where(&m, o->manifest);
	for (size_t i = 0; i < m.images.nr; i++) {
		CLEANUP(strvec_release) struct strvec runs = STRVEC_INIT;

		runs_of(*ret_catalog, &m.images.v[i], &words, &unused, &runs);
		add_model(o, e, &m.images.v[i], &runs, models, said);
	}
	drop_unbuilt(o, *ret_catalog, &unused);
	for (size_t i = 0; i < m.failed.nr; i++)
		said_add(said, SAID_WARNING, "image '%s' could not be built and does not run",
			 m.failed.v[i]);
	if (unused.nr)
		r = manifest_unused(&m, o->manifest, &unused, err);
	else if (!models->nr)
		r = err_set(err, EBADMSG, "manifest '%s' has no image that could run", o->manifest);
	manifest_release(&m);
	return r;
}

int manifest_same_model(const struct run_options *o, const struct runconf *rc, size_t i,
			struct err *err)
{
	const struct cfg_node *model = cfg_get(rc->effective.root, "model");
	const struct cfg_node *name = cfg_get(model, "name");
	const char *want = i < o->names.nr ? o->names.v[i] : "";

	/* A name given beside the model or on the command line was chosen on purpose. */
	if (!*want || !strcmp(want, rc->model_name) || (name && name->layer != LAYER_MODEL))
		return 0;
	return err_set(
		err, EBADMSG,
		"image '%s' of manifest '%s' was built for model '%s', but the model found for it "
		"is '%s': run it where '%s' is, or build anew",
		o->images.v[i], o->manifest, want, rc->model_name, want);
}

bool unbuilt_add(struct run_options *o, const struct build_set *set)
{
	size_t good = 0;

	for (size_t i = 0; i < set->plan.jobs.nr; i++) {
		const struct image_job *j = &set->plan.jobs.v[i];
		CLEANUP(strvec_release) struct strvec runs = STRVEC_INIT;

		good += j->status == IMAGE_BUILT || j->status == IMAGE_PREBUILT;
		if (j->status != IMAGE_FAILED)
			continue;
		build_words_of(set, j, &runs);
		for (size_t k = 0; k < runs.nr; k++)
			VEC_PUSH(&o->unbuilt,
				 ((struct unbuilt){
					 .word = xstrdup(runs.v[k]),
					 .image = xstrdup(j->image),
					 .dockerfile = xstrdup_null(j->dockerfile),
					 .base = xstrdup_null(j->base),
					 .why = xasprintf("image '%s' could not be built: %s",
							  j->image, j->error ? j->error : "?"),
				 }));
	}
	return good > 0;
}

void planned_add(struct run_options *o, const struct build_set *set, const struct image_job *j,
		 struct strvec *models)
{
	CLEANUP(strvec_release) struct strvec runs = STRVEC_INIT;

	build_words_of(set, j, &runs);
	for (size_t i = 0; i < runs.nr; i++) {
		strvec_push(models, runs.v[i]);
		strvec_push(&o->images, j->image);
		VEC_PUSH(&o->builds_s, NAN);
		strvec_push(&o->dockerfiles, j->dockerfile ? j->dockerfile : "");
		strvec_push(&o->bases, j->base ? j->base : "");
	}
}
