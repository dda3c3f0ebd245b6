#include "package_images.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "profrig/base/fs.h"

/* From the entry alone; most models are told apart so, without reading any configuration. */
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

/* Mistakes are told when the run itself is prepared. */
static bool wants(const struct run_options *o, const char *path)
{
	CLEANUP(xfreep) char *cwd = fs_abs(".");
	const struct tool_set none = { .tools = VEC_INIT, .dirs = STRVEC_INIT };
	struct problems p = PROBLEMS_INIT;
	struct runconf_request rq = {
		.model = path,
		.catalog = o->catalog,
		.context = o->context,
		.context_file = o->context_file,
		.lenient = true,
		.config_files = o->config,
		.sets = o->sets,
		.labels = o->labels,
		.engine = o->engine,
		.timeout_s = -1,
		.idle_s = -1,
		.builds = true,
		.cwd = cwd,
	};
	struct runconf rc;
	bool yes = runconf_load(&rc, &rq, &none, &p, NULL) != -ENOENT && !rc.image &&
		   rc.dockerfile && rc.engine && strcmp(rc.engine, "host") != 0;

	runconf_release(&rc);
	problems_release(&p);
	return yes;
}

static bool container_answers(const struct run_options *o)
{
	CLEANUP(xfreep) char *notice = NULL;
	const struct engine *e =
		run_pick_engine(o->engine ? o->engine : "auto", "image", &notice, NULL);

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
	if (o->image || o->manifest || (o->engine && !strcmp(o->engine, "host")))
		return;
	for (size_t i = 0; i < models->nr; i++)
		if (may_want(o->catalog, models->v[i]) && wants(o, models->v[i]))
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
