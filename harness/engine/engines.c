#include "engine_priv.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

const struct engine *const engines[] = { &engine_docker, &engine_podman, &engine_apptainer,
					 &engine_host, NULL };

const struct engine *engine_find(const char *name)
{
	for (size_t i = 0; engines[i]; i++)
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	return NULL;
}

const char *engine_remedy(const struct engine *e, const char *said)
{
	if (e->denied && said && strcasestr(said, "permission denied"))
		return e->denied;
	return e->fix ? e->fix : "start it";
}

void engine_spec_init(struct engine_spec *s)
{
	memset(s, 0, sizeof(*s));
	s->caps = s->security = s->options = s->gpu_nodes = s->gpu_groups =
		(struct strvec)STRVEC_INIT;
}

void engine_spec_release(struct engine_spec *s)
{
	for (size_t i = 0; i < s->mounts.nr; i++) {
		free(s->mounts.v[i].host);
		free(s->mounts.v[i].container);
	}
	for (size_t i = 0; i < s->run_mounts.nr; i++) {
		free(s->run_mounts.v[i].host);
		free(s->run_mounts.v[i].container);
	}
	VEC_RELEASE(&s->run_mounts);
	for (size_t i = 0; i < s->late_mounts.nr; i++) {
		free(s->late_mounts.v[i].host);
		free(s->late_mounts.v[i].container);
	}
	VEC_RELEASE(&s->late_mounts);
	VEC_RELEASE(&s->mounts);
	VEC_RELEASE(&s->gpu_list);
	strvec_release(&s->caps);
	strvec_release(&s->security);
	strvec_release(&s->gpu_nodes);
	strvec_release(&s->gpu_groups);
	free(s->cpus);
	strvec_release(&s->options);
	free(s->run_id);
	free(s->name);
	free(s->image);
	free(s->lib_dir);
	free(s->run_dir);
	free(s->workdir);
	free(s->user);
	free(s->network);
	free(s->ipc);
	free(s->shm_size);
	free(s->pull);
	free(s->gpus);
	engine_spec_init(s);
}
