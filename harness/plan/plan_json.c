/* The plan as JSON: schema profrig.plan/1. */
#include "plan_flat.h"

#include "profrig/base/json_fields.h"
#include "profrig/base/redact.h"

JSON_TABLE(flat_fields, JSON_FIELDS(struct flat_row, key, value, origin));
JSON_TABLE(model_fields, JSON_FIELD_AS(false, struct runconf, model_name, "name"),
	   JSON_FIELDS(struct runconf, command, dir, image, timeout_s, tags));
JSON_TABLE(step_fields,
	   JSON_FIELDS(struct plan_step, tool, argv, cwd, timeout_s, out, err, inherit_env));
JSON_TABLE(unset_fields, JSON_FIELDS(struct plan_unset, name, origin));
JSON_TABLE(sampler_fields, JSON_FIELDS(struct plan_sampler, tool, kind, device, period_s));
JSON_TABLE(output_fields,
	   JSON_FIELDS(struct plan_output, tool, dir, glob, reader, required, min_records));
JSON_TABLE(need_fields, JSON_FIELDS(struct plan_need, tool, what));
JSON_TABLE(copy_fields, JSON_FIELDS(struct plan_copy, from, to));
JSON_TABLE(made_fields, JSON_FIELDS(struct plan_made, to, text));

static void json_config(struct json_out *j, const struct plan *pl)
{
	struct flat flat;

	plan_flatten(pl->conf, &flat);
	json_rows(j, "configuration", &flat.rows, flat_fields);
	flat_release(&flat);
}

static void json_model(struct json_out *j, const struct runconf *c)
{
	json_obj(j, "model");
	json_fields(j, c, model_fields);
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
	json_fields(j, s, step_fields);
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
	json_rows(j, "unset", &s->unset, unset_fields);
	json_end(j);
}

static void json_samplers(struct json_out *j, const struct plan *pl)
{
	json_arr(j, "samplers");
	for (size_t i = 0; i < pl->samplers.nr; i++) {
		const struct plan_sampler *s = &pl->samplers.v[i];

		json_obj(j, NULL);
		json_fields(j, s, sampler_fields);
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
	json_rows(j, "outputs", &pl->outputs, output_fields);
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
	json_rows(j, "needs", &pl->needs, need_fields);
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
	if (pl->replay)
		plan_replay_json(pl->replay, &j);
	json_model(&j, pl->conf);
	json_engine(&j, pl);
	json_config(&j, pl);
	runconf_recorded_json(pl->conf, pl->engine->name, &j);
	json_tools(&j, pl->conf);
	plan_source_json(pl, &j);
	json_words(&j, "mkdirs", &pl->mkdirs);
	json_rows(&j, "copies", &pl->copies, copy_fields);
	json_rows(&j, "made", &pl->made, made_fields);
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

/* Masked, as a user may have written a secret into a command. */
void plan_print_json(const struct plan *pl, FILE *f)
{
	redact_json_through(f, print_json, pl);
}
