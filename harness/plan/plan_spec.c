/* The plan as the engine's specification. */
#include "plan_int.h"

#include <string.h>

#include "profrig/base/strbuf.h"

static bool path_is_mounted(const struct runconf *c, const char *container)
{
	return VEC_FIND(&c->mounts, x, !strcmp(x->container, container));
}

static void add_mounts(struct maker *m, struct engine_spec *s)
{
	const struct runconf *c = m->conf;

	/* A workdir means that the image holds the model, which a mount would hide. */
	if (!c->container.workdir && !m->pl->source_dir && !path_is_mounted(c, c->dir))
		VEC_PUSH(&s->mounts,
			 ((struct engine_mount){ xstrdup(c->dir), xstrdup(c->dir), false }));
	for (size_t i = 0; i < c->mounts.nr; i++)
		VEC_PUSH(&s->mounts, ((struct engine_mount){ xstrdup(c->mounts.v[i].host),
							     xstrdup(c->mounts.v[i].container),
							     c->mounts.v[i].read_only }));
	plan_source_mount(m, s);
}

/* The vendor of a tool; without one the vendor of this machine's GPUs. */
static const char *gpu_vendor(const struct maker *m)
{
	const struct runconf *c = m->conf;
	const struct devices *d = m->rq->devices;

	for (size_t i = 0; i < c->tools.nr; i++) {
		const char *vendor = c->tools.v[i].tool->vendor;

		if (gpu_vendor_of(vendor) != GPU_NONE)
			return vendor;
	}
	return d && devices_vendor(d) ? gpu_vendor_name(devices_vendor(d)) : NULL;
}

static void add_gpu_nodes(struct maker *m, struct engine_spec *s)
{
	const struct devices *d = m->rq->devices;
	enum gpu_vendor v = gpu_vendor_of(s->gpu_vendor);

	if (!d || !devices_count(d, v))
		return;
	if (v == GPU_AMD || !d->cdi)
		devices_nodes(d, v, s->gpu_list.v, s->gpu_list.nr, &s->gpu_nodes);
	if (v == GPU_AMD)
		devices_groups(d, &s->gpu_groups);
}

static void add_gpus(struct maker *m, struct engine_spec *s)
{
	CLEANUP(strbuf_release) struct strbuf list = STRBUF_INIT;
	const struct runconf *c = m->conf;

	if (!c->gpus)
		return;
	for (size_t i = 0; i < c->gpu_list.nr; i++) {
		strbuf_addf(&list, "%s%d", i ? "," : "", c->gpu_list.v[i]);
		VEC_PUSH(&s->gpu_list, c->gpu_list.v[i]);
	}
	s->gpus = c->gpu_list.nr ? strbuf_steal(&list) : xstrdup(c->gpus);
	s->gpu_vendor = gpu_vendor(m);
	add_gpu_nodes(m, s);
}

void plan_engine_spec(struct maker *m)
{
	const struct runconf *c = m->conf;
	struct engine_spec *s = &m->pl->spec;

	s->run_id = xstrdup(m->rq->run_id);
	s->name = xasprintf("profrig-%s", m->rq->run_id);
	s->lib_dir = xstrdup(m->rq->lib_dir);
	s->run_dir = xstrdup(m->rq->run_dir);
	s->workdir = xstrdup(m->cwd);
	s->cpus = xstrdup_null(c->cpus);
	if (!m->container)
		return;
	/* A package may have several models, so this message names the model. */
	if (!c->image && c->mad_model)
		plan_problem(m, c->engine_where,
			     "engine '%s' needs an image for model '%s': dockerfile, "
			     "env_vars.DOCKER_IMAGE_NAME or --image",
			     m->rq->engine->name, c->model_name);
	else if (!c->image)
		plan_problem(m, c->engine_where,
			     "engine '%s' needs an image: model.image or --image",
			     m->rq->engine->name);
	s->image = xstrdup_null(c->image);
	add_mounts(m, s);
	add_gpus(m, s);
	s->max_files = m->rq->limits.files;
	s->max_processes = m->rq->limits.processes;
	s->keep = c->keep;
	s->user = xstrdup_null(c->container.user);
	s->network = xstrdup_null(c->container.network);
	s->ipc = xstrdup_null(c->container.ipc);
	s->shm_size = xstrdup_null(c->container.shm_size);
	s->pull = xstrdup_null(c->container.pull);
	strvec_pushv(&s->caps, c->container.caps.v);
	plan_privileges(m);
	strvec_pushv(&s->options, c->container.options.v);
}
