/* The members of a configuration: those read as they are, and those that own memory. */
#include "runconf_int.h"

FIELD_TABLE(env_fields, TEXT_FIELDS(struct runconf_env, name, origin, from),
	    /* Secrets must not stay in freed memory. */
	    SECRET_FIELDS(struct runconf_env, value));
FIELD_TABLE(pair_fields, TEXT_FIELDS(struct name_value, name, value));
FIELD_TABLE(option_fields, TEXT_FIELDS(struct runconf_option, name, value, origin, path));
FIELD_TABLE(script_fields, TEXT_FIELDS(struct runconf_script, path, where),
	    WORDS_FIELDS(struct runconf_script, args));
FIELD_TABLE(tool_fields, TEXT_FIELDS(struct runconf_tool, where, sampler_device, passes_why),
	    WORDS_FIELDS(struct runconf_tool, wrap),
	    FIELD_VEC(struct runconf_tool, options, option_fields),
	    FIELD_VEC(struct runconf_tool, env, env_fields));
FIELD_TABLE(mount_fields, TEXT_FIELDS(struct runconf_mount, host, container));
FIELD_TABLE(word_fields, TEXT_FIELDS(struct conf_word, name, value, origin));
FIELD_TABLE(secret_fields, TEXT_FIELDS(struct build_secret, id, origin),
	    SECRET_FIELDS(struct build_secret, value));
FIELD_TABLE(source_fields,
	    TEXT_FIELDS(struct data_source, path, sha256, endpoint, region, mirror, where),
	    SECRET_FIELDS(struct data_source, user, password, token),
	    WORDS_FIELDS(struct data_source, args));
FIELD_TABLE(set_fields, TEXT_FIELDS(struct data_set, name, variable, home),
	    FIELD_VEC(struct data_set, sources, source_fields));

const struct field runconf_fields[] = {
	FIELD_AS(struct runconf, command, WORDS, "model.command"),
	FIELD_AS(struct runconf, image, TEXT, "model.image"),
	FIELD_AS(struct runconf, tags, WORDS, "model.tags"),
	FIELD_AS(struct runconf, precision, TEXT, "model.precision"),
	FIELD_AS(struct runconf, owner, TEXT, "model.owner"),
	FIELD_AS(struct runconf, launcher, TEXT, "model.launcher"),
	FIELD_AS(struct runconf, n_gpus, TEXT, "model.n_gpus"),
	FIELD_AS(struct runconf, skip_gpu_arch, WORDS, "model.skip_gpu_arch"),
	FIELD_AS(struct runconf, source.keep, BOOL, "model.keep_dir"),
	WORDS_FIELDS(struct runconf, wrap_at),
	BOOL_FIELDS(struct runconf, keep, live, force_tools),
	TEXT_FIELDS(struct runconf, container.network, container.ipc, container.shm_size,
		    container.user, container.workdir, container.pull),
	WORDS_FIELDS(struct runconf, container.caps, container.options),
	BOOL_FIELDS(struct runconf, container.privileged_profiling),
	TEXT_FIELDS(struct runconf, build.target, build.network),
	WORDS_FIELDS(struct runconf, build.options),
	FIELD_AS(struct runconf, build.archs, WORDS, "build.target_archs"),
	FIELD_AS(struct runconf, build.registry.repository, TEXT, "registry.repository"),
	FIELD_AS(struct runconf, build.registry.insecure, BOOL, "registry.insecure"),
	TEXT_FIELDS(struct runconf, results.csv),
	WORDS_FIELDS(struct runconf, results.error_patterns, results.benign_patterns),
	FIELDS_END,
};
FIELD_TABLE(own_fields,
	    TEXT_FIELDS(struct runconf, model_name, dir, cwd, dockerfile, base_image, engine,
			engine_where),
	    TEXT_FIELDS(struct runconf, gpus, cpus, caller_preload, record.mark),
	    TEXT_FIELDS(struct runconf, source.url, source.user, source.ssh_key, source.copy,
			source.scripts),
	    SECRET_FIELDS(struct runconf, source.password, build.registry.user,
			  build.registry.password),
	    TEXT_FIELDS(struct runconf, build.folder, build.dockerfile_where, build.registry.name),
	    TEXT_FIELDS(struct runconf, results.pattern, results.perf_csv, data.cache),
	    WORDS_FIELDS(struct runconf, notes), FIELD_VEC(struct runconf, env, env_fields),
	    FIELD_VEC(struct runconf, mounts, mount_fields),
	    FIELD_VEC(struct runconf, gpu_list, NULL),
	    FIELD_VEC(struct runconf, tools, tool_fields),
	    FIELD_VEC(struct runconf, pre, script_fields),
	    FIELD_VEC(struct runconf, post, script_fields),
	    FIELD_VEC(struct runconf, labels, pair_fields),
	    FIELD_VEC(struct runconf, caller_gpus, pair_fields),
	    FIELD_VEC(struct runconf, build.args, word_fields),
	    FIELD_VEC(struct runconf, build.context, word_fields),
	    FIELD_VEC(struct runconf, build.secrets, secret_fields),
	    FIELD_VEC(struct runconf, data.sets, set_fields));

void runconf_init(struct runconf *rc)
{
	*rc = (struct runconf){ .results = { .scan = SCAN_WARN } };
	fields_init(rc, runconf_fields);
	fields_init(rc, own_fields);
	cfg_init(&rc->effective);
}

void runconf_release(struct runconf *rc)
{
	fields_release(rc, runconf_fields);
	fields_release(rc, own_fields);
	publish_conf_release(&rc->publish);
	cfg_release(&rc->effective);
	runconf_init(rc);
}
