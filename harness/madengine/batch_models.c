/*
 * From a batch file (mad.h) to the models of a build: finds the models of the words, and the target
 * of each image. All problems of the file are reported together with those of the models'
 * configurations.
 */
#include "image_prepare.h"
#include "pick_models.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"

struct batch {
	const struct build_request *rq;
	struct catalog *cat;
	struct build_items *items;
	struct problems *p;
};

/* "dockerhub" and "docker.io" are one server. */
static const char *server_name(const char *registry)
{
	return strcmp(registry, "dockerhub") != 0 ? registry : "docker.io";
}

static const struct build_item *same_model(const struct batch *b, const char *path)
{
	CLEANUP(xfreep) char *model = pick_model_key(path);

	for (size_t i = 0; i < b->items->v.nr; i++) {
		CLEANUP(xfreep) char *other = pick_model_key(b->items->v.v[i].word);

		if (!strcmp(model, other))
			return &b->items->v.v[i];
	}
	return NULL;
}

/* The image with its registry in front; owned, NULL after adding a problem. */
static char *full_image(const struct batch *b, const struct mad_batch_entry *e)
{
	const char *image = e->registry_image;
	const char *registry = e->registry ? server_name(e->registry) : NULL;
	size_t n = registry ? strlen(registry) : 0;

	if (!registry || (!strncmp(image, registry, n) && image[n] == '/'))
		return xstrdup(image);
	if (!image_registry_len(image))
		return image_registry_name(registry, NULL, image);
	cfg_problem(b->p, NULL,
		    "%s: registry_image '%s' is not in registry '%s': leave out one of them, or "
		    "the registry in front of the image",
		    e->where, image, e->registry);
	return NULL;
}

/* An image with a registry in its name goes there, whatever --registry is. */
static char *registry_of(const struct batch *b, const struct mad_batch_entry *e, const char *image)
{
	size_t n = image ? image_registry_len(image) : 0;

	if (e->registry)
		return xstrdup(e->registry);
	return n ? xstrndup(image, n) : xstrdup_null(b->rq->registry);
}

static void add_model(struct batch *b, const struct mad_batch_entry *e, const char *path)
{
	const struct build_item *before = same_model(b, path);
	CLEANUP(xfreep) char *image = e->registry_image ? full_image(b, e) : NULL;

	if (before) {
		cfg_problem(b->p, NULL, "%s: model '%s' is there already (%s)", e->where, e->model,
			    before->where);
		return;
	}
	if (e->registry_image ? !image : !e->build)
		return;
	VEC_PUSH(&b->items->v, ((struct build_item){
				       .word = xstrdup(path),
				       .registry = e->build ? registry_of(b, e, image) : NULL,
				       .registry_image = xstrdup_null(image),
				       .use_image = e->build ? NULL : xstrdup(image),
				       .where = xstrdup(e->where),
			       }));
}

static void shared_image(struct batch *b, const struct mad_batch_entry *e,
			 const struct strvec *paths)
{
	CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT;

	for (size_t i = 0; i < paths->nr; i++) {
		const char *hash = mad_path_hash(paths->v[i]);

		strbuf_addf(&names, "%s%s", i ? ", " : "", hash ? hash + 1 : paths->v[i]);
	}
	cfg_problem(b->p, NULL,
		    "%s: '%s' stands for %zu models, which cannot share registry_image '%s': name "
		    "each of them (%s)",
		    e->where, e->model, paths->nr, e->registry_image, names.buf);
}

static void add_entry(struct batch *b, const struct mad_batch_entry *e)
{
	CLEANUP(strvec_release) struct strvec paths = STRVEC_INIT;
	size_t faults = b->p->lines.nr;

	if (pick_is_path(e->model)) {
		strvec_push(&paths, e->model);
	} else {
		catalog_faults(b->cat, e->model, b->p);
		catalog_match(b->cat, e->model, &paths);
	}
	if (!paths.nr && b->p->lines.nr == faults) {
		CLEANUP(xfreep) char *why = pick_unknown(b->cat, e->model, true);

		cfg_problem(b->p, NULL, "%s: %s", e->where, why);
	}
	if (paths.nr > 1 && e->registry_image) {
		shared_image(b, e, &paths);
		return;
	}
	for (size_t i = 0; i < paths.nr; i++)
		add_model(b, e, paths.v[i]);
}

int batch_models(const struct run_options *o, const struct build_request *rq,
		 struct catalog **ret_catalog, struct build_items *ret, struct problems *p,
		 struct said *said, struct err *err)
{
	CLEANUP(strvec_release) struct strvec notes = STRVEC_INIT;
	CLEANUP(mad_batch_release) struct mad_batch file;
	CLEANUP(xfreep) char *cwd = fs_abs(".");
	struct batch b = { .rq = rq, .items = ret, .p = p };
	struct err why = ERR_INIT;

	if (mad_batch_load(&file, rq->batch, o->conf.lenient, p, &notes, &why) == -ENOENT)
		return err_set(err, EINVAL, "--batch-manifest: %s", why.msg);
	said_once(said, &notes);
	b.cat = *ret_catalog = xcalloc(1, sizeof(*b.cat));
	catalog_load(b.cat, cwd, NULL);
	for (size_t i = 0; i < file.entries.nr; i++)
		add_entry(&b, &file.entries.v[i]);
	return 0;
}

/* Whether the password comes from the variable, which does not name the registry it is for. */
static bool of_variable(const struct runconf *rc)
{
	const struct cfg_node *r =
		rc->effective.root ? cfg_get(rc->effective.root, "registry") : NULL;
	const char *name = cfg_text(r, "password_env");
	const char *value = getenv(name ? name : "PROFRIG_REGISTRY_PASSWORD");

	return value && rc->build.registry.password && !strcmp(value, rc->build.registry.password);
}

void batch_check_logins(const struct image_plan *ip, struct problems *p)
{
	const struct runconf *first = NULL;

	for (size_t i = 0; i < ip->jobs.nr; i++) {
		const struct runconf *rc = ip->jobs.v[i].conf;

		if (ip->jobs.v[i].status != IMAGE_PLANNED || !rc->build.registry.name ||
		    !of_variable(rc))
			continue;
		if (!first)
			first = rc;
		else if (strcmp(first->build.registry.name, rc->build.registry.name) != 0)
			cfg_problem(p, NULL,
				    "registries '%s' and '%s' would both be told the password of "
				    "PROFRIG_REGISTRY_PASSWORD: unset it, and give each a login in "
				    "credential.json",
				    first->build.registry.name, rc->build.registry.name);
	}
}
