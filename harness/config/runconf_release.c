#include "runconf_int.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/config/runconf.h"

static void release_env(struct runconf_env *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(v[i].name);
		/* Secrets do not outlive their use in freed memory. */
		if (v[i].secret)
			explicit_bzero(v[i].value, strlen(v[i].value));
		free(v[i].value);
		free(v[i].origin);
		free(v[i].from);
	}
	free(v);
}

static void release_pairs(struct name_value *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(v[i].name);
		free(v[i].value);
	}
	free(v);
}

static void release_options(struct runconf_option *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(v[i].name);
		free(v[i].value);
		free(v[i].origin);
		free(v[i].path);
	}
	free(v);
}

static void release_scripts(struct runconf_script *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(v[i].path);
		free(v[i].where);
		strvec_release(&v[i].args);
	}
	free(v);
}

static void release_source(struct runconf *rc)
{
	if (rc->source.password)
		explicit_bzero(rc->source.password, strlen(rc->source.password));
	free(rc->source.url);
	free(rc->source.user);
	free(rc->source.password);
	free(rc->source.ssh_key);
	free(rc->source.copy);
	free(rc->source.scripts);
}

static void release_tools(struct runconf *rc)
{
	for (size_t i = 0; i < rc->tools.nr; i++) {
		struct runconf_tool *t = &rc->tools.v[i];

		free(t->where);
		free(t->sampler_device);
		free(t->passes_why);
		strvec_release(&t->wrap);
		release_options(t->options.v, t->options.nr);
		release_env(t->env.v, t->env.nr);
	}
	free(rc->tools.v);
}

void runconf_init(struct runconf *rc)
{
	*rc = (struct runconf){ .command = STRVEC_INIT, .tags = STRVEC_INIT, .notes = STRVEC_INIT };
	rc->wrap_at = (struct strvec)STRVEC_INIT;
	rc->container.caps = rc->container.options = (struct strvec)STRVEC_INIT;
	rc->build.options = rc->build.archs = (struct strvec)STRVEC_INIT;
	rc->skip_gpu_arch = (struct strvec)STRVEC_INIT;
	results_conf_init(&rc->results);
	cfg_init(&rc->effective);
}

void runconf_release(struct runconf *rc)
{
	free(rc->model_name);
	free(rc->dir);
	free(rc->image);
	free(rc->dockerfile);
	free(rc->base_image);
	free(rc->precision);
	free(rc->owner);
	free(rc->launcher);
	free(rc->n_gpus);
	strvec_release(&rc->skip_gpu_arch);
	results_conf_release(&rc->results);
	release_source(rc);
	free(rc->engine);
	free(rc->engine_where);
	free(rc->gpus);
	free(rc->cpus);
	strvec_release(&rc->wrap_at);
	free(rc->caller_preload);
	release_pairs(rc->caller_gpus.v, rc->caller_gpus.nr);
	strvec_release(&rc->command);
	strvec_release(&rc->tags);
	strvec_release(&rc->notes);
	release_env(rc->env.v, rc->env.nr);
	for (size_t i = 0; i < rc->mounts.nr; i++) {
		free(rc->mounts.v[i].host);
		free(rc->mounts.v[i].container);
	}
	free(rc->mounts.v);
	free(rc->gpu_list.v);
	release_tools(rc);
	free(rc->record.mark);
	release_scripts(rc->pre.v, rc->pre.nr);
	release_scripts(rc->post.v, rc->post.nr);
	release_pairs(rc->labels.v, rc->labels.nr);
	free(rc->container.network);
	free(rc->container.ipc);
	free(rc->container.shm_size);
	free(rc->container.user);
	free(rc->container.workdir);
	free(rc->container.pull);
	strvec_release(&rc->container.caps);
	strvec_release(&rc->container.options);
	build_conf_release(&rc->build);
	data_conf_release(&rc->data);
	cfg_release(&rc->effective);
	runconf_init(rc);
}
