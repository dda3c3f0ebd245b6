/* The plan for programs: schema profrig.plan/1. */
#include "plan_flat.h"

#include "profrig/base/json_out.h"
#include "profrig/base/redact.h"

static void json_config(struct json_out *j, const struct plan *pl)
{
	struct flat flat;

	plan_flatten(pl->conf, &flat);
	json_arr(j, "configuration");
	for (size_t i = 0; i < flat.rows.nr; i++) {
		json_obj(j, NULL);
		json_str(j, "key", flat.rows.v[i].key);
		json_str(j, "value", flat.rows.v[i].value);
		json_str(j, "origin", flat.rows.v[i].origin);
		json_end(j);
	}
	json_end(j);
	flat_release(&flat);
}

static void json_model(struct json_out *j, const struct runconf *c)
{
	json_obj(j, "model");
	json_str(j, "name", c->model_name);
	json_words(j, "command", &c->command);
	json_str(j, "dir", c->dir);
	json_str(j, "image", c->image);
	json_f64(j, "timeout_s", c->timeout_s);
	json_words(j, "tags", &c->tags);
	json_end(j);
	json_obj(j, "labels");
	for (size_t i = 0; i < c->labels.nr; i++)
		json_str(j, c->labels.v[i].name, c->labels.v[i].value);
	json_end(j);
}

static void json_engine(struct json_out *j, const struct plan *pl)
{
	json_obj(j, "engine");
	json_str(j, "name", pl->engine->name);
	json_bool(j, "container", pl->engine->container);
	json_str(j, "origin", pl->conf->engine_where);
	json_words(j, "argv", &pl->engine_argv);
	json_end(j);
}

static void json_tools(struct json_out *j, const struct runconf *c)
{
	json_arr(j, "tools");
	for (size_t i = 0; i < c->tools.nr; i++) {
		const struct runconf_tool *t = &c->tools.v[i];

		json_obj(j, NULL);
		json_str(j, "name", t->tool->name);
		json_str(j, "class", tool_class_name(t->tool->class));
		json_str(j, "vendor", t->tool->vendor);
		json_str(j, "file", t->tool->file);
		json_str(j, "origin", t->where);
		json_u64(j, "passes", t->passes);
		json_obj(j, "options");
		for (size_t k = 0; k < t->options.nr; k++)
			json_str(j, t->options.v[k].name, t->options.v[k].value);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void json_step(struct json_out *j, const struct plan_step *s)
{
	json_obj(j, NULL);
	json_str(j, "name", s->name);
	json_str(j, "kind", plan_step_kind(s->kind));
	json_str(j, "tool", s->tool);
	json_words(j, "argv", &s->argv);
	json_str(j, "cwd", s->cwd);
	json_f64(j, "timeout_s", s->timeout_s);
	json_str(j, "out", s->out);
	json_str(j, "err", s->err);
	json_bool(j, "inherit_env", s->inherit_env);
	json_arr(j, "env");
	for (size_t i = 0; i < s->env.nr; i++) {
		const struct plan_env *e = &s->env.v[i];

		json_obj(j, NULL);
		json_str(j, "name", e->name);
		json_str(j, "value", plan_env_value(e));
		json_str(j, "origin", e->origin);
		json_bool(j, "secret", e->secret);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void json_samplers(struct json_out *j, const struct plan *pl)
{
	json_arr(j, "samplers");
	for (size_t i = 0; i < pl->samplers.nr; i++) {
		const struct plan_sampler *s = &pl->samplers.v[i];

		json_obj(j, NULL);
		json_str(j, "tool", s->tool);
		json_str(j, "kind", s->kind);
		json_str(j, "device", s->device);
		json_f64(j, "period_s", s->period_s);
		json_obj(j, "options");
		for (size_t k = 0; k < s->options.nr; k++)
			json_str(j, s->options.v[k].name, s->options.v[k].value);
		json_end(j);
		json_str(j, "out", s->out);
		json_end(j);
	}
	json_end(j);
}

static void json_outputs(struct json_out *j, const struct plan *pl)
{
	json_arr(j, "outputs");
	for (size_t i = 0; i < pl->outputs.nr; i++) {
		const struct plan_output *o = &pl->outputs.v[i];

		json_obj(j, NULL);
		json_str(j, "tool", o->tool);
		json_str(j, "dir", o->dir);
		json_str(j, "glob", o->glob);
		json_str(j, "reader", o->reader);
		json_bool(j, "required", o->required);
		json_u64(j, "min_records", o->min_records);
		json_end(j);
	}
	json_end(j);
	json_arr(j, "privileges");
	for (size_t i = 0; i < pl->privileges.nr; i++) {
		const struct plan_privilege *p = &pl->privileges.v[i];

		json_obj(j, NULL);
		json_str(j, "tool", p->tool);
		json_str(j, "what", p->what);
		json_str(j, "kind", p->security ? "security" : "capability");
		json_bool(j, "required", !p->wanted);
		json_str(j, "given_by", p->by);
		json_str(j, "because", p->why);
		json_end(j);
	}
	json_end(j);
	json_arr(j, "needs");
	for (size_t i = 0; i < pl->needs.nr; i++) {
		json_obj(j, NULL);
		json_str(j, "tool", pl->needs.v[i].tool);
		json_str(j, "what", pl->needs.v[i].what);
		json_end(j);
	}
	json_end(j);
}

static void print_json(const void *ctx, FILE *f)
{
	const struct plan *pl = ctx;
	struct json_out j;

	json_out_init(&j, f, 2);
	json_obj(&j, NULL);
	json_str(&j, "schema", "profrig.plan/1");
	json_str(&j, "run_id", pl->run_id);
	json_str(&j, "run_dir", pl->run_dir);
	json_model(&j, pl->conf);
	json_engine(&j, pl);
	json_config(&j, pl);
	json_tools(&j, pl->conf);
	plan_source_json(pl, &j);
	json_words(&j, "mkdirs", &pl->mkdirs);
	json_arr(&j, "copies");
	for (size_t i = 0; i < pl->copies.nr; i++) {
		json_obj(&j, NULL);
		json_str(&j, "from", pl->copies.v[i].from);
		json_str(&j, "to", pl->copies.v[i].to);
		json_end(&j);
	}
	json_end(&j);
	json_arr(&j, "made");
	for (size_t i = 0; i < pl->made.nr; i++) {
		json_obj(&j, NULL);
		json_str(&j, "to", pl->made.v[i].to);
		json_str(&j, "text", pl->made.v[i].text);
		json_end(&j);
	}
	json_end(&j);
	json_arr(&j, "steps");
	for (size_t i = 0; i < pl->steps.nr; i++)
		json_step(&j, &pl->steps.v[i]);
	json_end(&j);
	json_f64(&j, "idle_s", pl->conf->idle_s);
	json_samplers(&j, pl);
	json_outputs(&j, pl);
	json_end(&j);
	fputc('\n', f);
}

/* A user may have spelled a secret out in a command. */
void plan_print_json(const struct plan *pl, FILE *f)
{
	redact_json_through(f, print_json, pl);
}
