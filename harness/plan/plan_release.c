#include <stdlib.h>

#include "profrig/plan/plan.h"

static void release_step(struct plan_step *s)
{
	free(s->name);
	free(s->tool);
	free(s->cwd);
	free(s->out);
	free(s->err);
	strvec_release(&s->argv);
	for (size_t i = 0; i < s->env.nr; i++) {
		struct plan_env *e = &s->env.v[i];

		free(e->name);
		if (e->secret)
			explicit_bzero(e->value, strlen(e->value));
		free(e->value);
		free(e->origin);
		free(e->from);
		free(e->data);
	}
	VEC_RELEASE(&s->env);
}

static void release_sampler(struct plan_sampler *s)
{
	free(s->tool);
	free(s->kind);
	free(s->device);
	free(s->out);
	for (size_t i = 0; i < s->options.nr; i++) {
		free(s->options.v[i].name);
		free(s->options.v[i].value);
	}
	VEC_RELEASE(&s->options);
}

static void release_lists(struct plan *pl)
{
	for (size_t i = 0; i < pl->copies.nr; i++) {
		free(pl->copies.v[i].from);
		free(pl->copies.v[i].to);
	}
	VEC_RELEASE(&pl->copies);
	for (size_t i = 0; i < pl->made.nr; i++) {
		free(pl->made.v[i].to);
		free(pl->made.v[i].text);
	}
	VEC_RELEASE(&pl->made);
	for (size_t i = 0; i < pl->outputs.nr; i++) {
		free(pl->outputs.v[i].tool);
		free(pl->outputs.v[i].dir);
		free(pl->outputs.v[i].glob);
		free(pl->outputs.v[i].reader);
		free(pl->outputs.v[i].group);
		strvec_release(&pl->outputs.v[i].match);
	}
	VEC_RELEASE(&pl->outputs);
	for (size_t i = 0; i < pl->needs.nr; i++) {
		free(pl->needs.v[i].tool);
		free(pl->needs.v[i].what);
	}
	VEC_RELEASE(&pl->needs);
	for (size_t i = 0; i < pl->privileges.nr; i++) {
		free(pl->privileges.v[i].tool);
		free(pl->privileges.v[i].what);
		free(pl->privileges.v[i].why);
	}
	VEC_RELEASE(&pl->privileges);
	for (size_t i = 0; i < pl->data.nr; i++) {
		free(pl->data.v[i].name);
		free(pl->data.v[i].link);
	}
	VEC_RELEASE(&pl->data);
	for (size_t i = 0; i < pl->inside.nr; i++)
		free(pl->inside.v[i].rel);
	VEC_RELEASE(&pl->inside);
}

static void release_controls(struct plan *pl)
{
	for (size_t i = 0; i < pl->controls.nr; i++) {
		struct plan_control *c = &pl->controls.v[i];

		free(c->tool);
		free(c->fifo);
		free(c->ack);
		strvec_release(&c->on);
		strvec_release(&c->off);
		if (c->start)
			release_step(c->start);
		if (c->stop)
			release_step(c->stop);
		free(c->start);
		free(c->stop);
	}
	VEC_RELEASE(&pl->controls);
}

void plan_release(struct plan *pl)
{
	free(pl->run_id);
	free(pl->run_dir);
	free(pl->source_dir);
	engine_spec_release(&pl->spec);
	strvec_release(&pl->engine_argv);
	strvec_release(&pl->mkdirs);
	for (size_t i = 0; i < pl->steps.nr; i++)
		release_step(&pl->steps.v[i]);
	VEC_RELEASE(&pl->steps);
	for (size_t i = 0; i < pl->samplers.nr; i++)
		release_sampler(&pl->samplers.v[i]);
	VEC_RELEASE(&pl->samplers);
	release_lists(pl);
	release_controls(pl);
	*pl = (struct plan){ .engine_argv = STRVEC_INIT, .mkdirs = STRVEC_INIT };
}
