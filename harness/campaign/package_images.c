#include "package_images.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "profrig/base/fs.h"

/* Decided by the entry alone, so that most models need no configuration. */
static bool may_want(const struct catalog *cat, const char *path)
{
	CLEANUP(strvec_release) struct strvec args = STRVEC_INIT;
	CLEANUP(xfreep) char *file = NULL;
	CLEANUP(xfreep) char *name = NULL;
	const struct mad_entry *e;

	if (!cat || !catalog_path_split(path, &file, &name, &args))
		return false;
	e = mad_models_find(&cat->mad, name);
	return e && (e->scripted || cfg_text(e->node, "dockerfile")) &&
	       !cfg_text(cfg_get(e->node, "env_vars"), "DOCKER_IMAGE_NAME");
}

static bool no_container(const char *engine)
{
	const struct engine *e = engine ? engine_find(engine) : NULL;

	return e && !e->container;
}

/* Errors are reported when the run itself is prepared. */
static bool options_want(const struct run_options *o, const char *path)
{
	CLEANUP(xfreep) char *cwd = fs_abs(".");
	const struct tool_set none = { .tools = VEC_INIT, .dirs = STRVEC_INIT };
	struct problems p = PROBLEMS_INIT;
	const char *engine = run_given_engine(o);
	struct runconf_request rq = o->conf;
	struct runconf rc;
	bool yes;

	/* The tools are not loaded here, and do not matter. */
	cfg_init(&rq.given);
	if (engine)
		runconf_give(&rq.given, "engine", CFG_STR, engine);
	rq.model = path;
	rq.cwd = cwd;
	rq.lenient = rq.builds = true;
	yes = runconf_load(&rc, &rq, &none, &p, NULL) != -ENOENT && !rc.image && rc.dockerfile &&
	      rc.engine && !no_container(rc.engine);
	runconf_release(&rc);
	cfg_release(&rq.given);
	problems_release(&p);
	return yes;
}

static bool container_answers(const struct run_options *o)
{
	CLEANUP(xfreep) char *notice = NULL;
	const char *engine = run_given_engine(o);
	const struct engine *e = run_pick_engine(engine ? engine : "auto", "image", &notice, NULL);

	return e && e->container;
}

void package_images_join(struct run_options *o, const struct strvec *wanted, struct strvec *built,
			 struct strvec *models)
{
	for (size_t i = 0; i < models->nr; i++) {
		if (strvec_has(wanted, models->v[i]))
			continue;
		strvec_push(built, models->v[i]);
		strvec_push(&o->images, "");
		VEC_PUSH(&o->builds_s, NAN);
		strvec_push(&o->dockerfiles, "");
		strvec_push(&o->bases, "");
	}
	strvec_clear(models);
	strvec_pushv(models, built->v);
}

void package_images_wanted(const struct run_options *o, const struct strvec *models,
			   struct strvec *wanted, struct said *said)
{
	const char *engine = run_given_engine(o);

	if (run_given_image(o) || o->manifest || no_container(engine))
		return;
	for (size_t i = 0; i < models->nr; i++)
		if (may_want(o->conf.catalog, models->v[i]) && options_want(o, models->v[i]))
			strvec_push(wanted, models->v[i]);
	if (!wanted->nr || container_answers(o))
		return;
	said_add(
		said, SAID_WARNING,
		"%s: no container engine answers, so the model runs on the host, without the image "
		"of its dockerfile",
		wanted->v[0]);
	strvec_clear(wanted);
}
