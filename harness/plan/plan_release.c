#include "profrig/base/fields.h"
#include "profrig/plan/plan.h"

FIELD_TABLE(env_fields, TEXT_FIELDS(struct plan_env, name, origin, from, data),
	    SECRET_FIELDS(struct plan_env, value));
FIELD_TABLE(unset_fields, TEXT_FIELDS(struct plan_unset, name, origin));
FIELD_TABLE(step_fields, TEXT_FIELDS(struct plan_step, name, tool, cwd, out, err),
	    WORDS_FIELDS(struct plan_step, argv), FIELD_VEC(struct plan_step, env, env_fields),
	    FIELD_VEC(struct plan_step, unset, unset_fields));
FIELD_TABLE(option_fields, TEXT_FIELDS(struct name_value, name, value));
FIELD_TABLE(sampler_fields, TEXT_FIELDS(struct plan_sampler, tool, kind, device, out),
	    FIELD_VEC(struct plan_sampler, options, option_fields));
FIELD_TABLE(copy_fields, TEXT_FIELDS(struct plan_copy, from, to));
FIELD_TABLE(made_fields, TEXT_FIELDS(struct plan_made, to, text));
FIELD_TABLE(output_fields, TEXT_FIELDS(struct plan_output, tool, dir, glob, reader, group),
	    WORDS_FIELDS(struct plan_output, match));
FIELD_TABLE(need_fields, TEXT_FIELDS(struct plan_need, tool, what));
FIELD_TABLE(privilege_fields, TEXT_FIELDS(struct plan_privilege, tool, what, why));
FIELD_TABLE(data_fields, TEXT_FIELDS(struct plan_data, name, link));
FIELD_TABLE(inside_fields, TEXT_FIELDS(struct plan_inside, rel));
FIELD_TABLE(control_fields, TEXT_FIELDS(struct plan_control, tool, fifo, ack),
	    WORDS_FIELDS(struct plan_control, on, off));
FIELD_TABLE(plan_fields, TEXT_FIELDS(struct plan, run_id, run_dir, source_dir),
	    WORDS_FIELDS(struct plan, engine_argv, mkdirs),
	    FIELD_VEC(struct plan, steps, step_fields), FIELD_VEC(struct plan, copies, copy_fields),
	    FIELD_VEC(struct plan, made, made_fields),
	    FIELD_VEC(struct plan, samplers, sampler_fields),
	    FIELD_VEC(struct plan, outputs, output_fields),
	    FIELD_VEC(struct plan, needs, need_fields),
	    FIELD_VEC(struct plan, inside, inside_fields),
	    FIELD_VEC(struct plan, data, data_fields),
	    FIELD_VEC(struct plan, privileges, privilege_fields),
	    FIELD_VEC(struct plan, controls, control_fields));

static void release_switch(struct plan_step *s)
{
	if (s)
		fields_release(s, step_fields);
	free(s);
}

void plan_release(struct plan *pl)
{
	for (size_t i = 0; i < pl->controls.nr; i++) {
		release_switch(pl->controls.v[i].start);
		release_switch(pl->controls.v[i].stop);
	}
	engine_spec_release(&pl->spec);
	fields_release(pl, plan_fields);
	*pl = (struct plan){ .engine_argv = STRVEC_INIT, .mkdirs = STRVEC_INIT };
}
