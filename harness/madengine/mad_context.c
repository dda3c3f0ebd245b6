/* Turns --additional-context into the form of a profrig.yaml. */
#include "conf_read.h"
#include "mad_int.h"
#include "mad_slurm.h"
#include "schema.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/shell_words.h"
#include "profrig/base/text.h"
#include "profrig/config/runconf.h"

#define MAX_CONTEXT ((size_t)4 << 20)

struct context {
	const struct cfg_node *root;
	const char *dir; /* of the package */
	bool lenient;
	struct cfg *ret;
	struct problems *p;
	struct strvec *notes;
};

/* --- reading --- */

/*
 * JSON, or a literal of Python. When it is neither, the error is that of the likelier form: text
 * with a single quote, in a file not named .json, is taken for Python.
 */
static int parse_context(struct cfg *c, const char *text, size_t n, const char *name,
			 struct err *err)
{
	struct err json = ERR_INIT, python = ERR_INIT;
	int r;

	cfg_init(c);
	r = cfg_parse_value(c, text, n, name, CFG_JSON, LAYER_FILE, &json);
	if (r == 0)
		return 0;
	cfg_release(c);
	cfg_init(c);
	r = cfg_parse_value(c, text, n, name, CFG_PYTHON, LAYER_FILE, &python);
	if (r == 0)
		return 0;
	if (err)
		*err = text_suffix(name, ".json") || !memchr(text, '\'', n) ? json : python;
	return r;
}

static void read_text(struct cfg *ret, const char *text, size_t n, const char *name,
		      struct problems *p)
{
	struct err err = ERR_INIT;
	struct cfg c;

	if (parse_context(&c, text, n, name, &err) < 0)
		cfg_problem(p, NULL, "%s", err.msg);
	else if (c.root->kind != CFG_MAP)
		cfg_problem(p, c.root, "want a map of keys, {'docker_env_vars': {…}, …}");
	else
		mad_drop_comments(c.root), cfg_merge(ret, &c);
	cfg_release(&c);
}

/* A plain name stands for {'name': name}, a plain path likewise. */
static const struct schema_key shorthands[] = {
	{ .path = "tools", .shorthand = "name" },
	{ .path = "pre_scripts", .shorthand = "path" },
	{ .path = "post_scripts", .shorthand = "path" },
	{ .path = NULL },
};

/* None removes an earlier value. */
static void drop_nulls(struct cfg_node *n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->nr; i++) {
		if (n->kind == CFG_MAP && n->child[i]->kind == CFG_NULL)
			continue;
		drop_nulls(n->child[i]);
		n->child[kept++] = n->child[i];
	}
	n->nr = kept;
}

int mad_context_load(struct cfg *ret, const struct mad_context_base *base, const char *file,
		     const char *text, struct problems *p, struct err *err)
{
	size_t before = p->lines.nr, n;
	CLEANUP(xfreep) char *data = NULL;

	mad_tree_init(ret, LAYER_FILE);
	if (base && base->text)
		read_text(ret, base->text, strlen(base->text), base->name, p);
	if (file && (fs_is_dir(file) || !fs_exists(file)))
		return err_set(err, ENOENT,
			       fs_is_dir(file) ? "'%s' is a folder, want a file"
					       : "no such file: '%s'",
			       file);
	if (file) {
		int r = conf_read(file, MAX_CONTEXT, &data, &n, err);

		if (r < 0)
			return r == -EFBIG ? r : -ENOENT;
		read_text(ret, data, n, file, p);
	}
	if (text)
		read_text(ret, text, strlen(text), "--additional-context", p);
	drop_nulls(ret->root);
	schema_expand(ret, shorthands);
	return p->lines.nr > before ? err_set(err, EINVAL, "%s", p->lines.v[before]) : 0;
}

/* --- one key each --- */

static struct cfg_node *context_top(struct context *a, const char *key, const struct cfg_node *from)
{
	return mad_map(a->ret, a->ret->root, key, from);
}

/* Keys by which Dockerfiles are selected. */
static void map_choice(struct context *a, const struct cfg_node *n)
{
	static const struct {
		const char *key, *a, *b;
	} choices[] = { { "gpu_vendor", "AMD", "NVIDIA" }, { "guest_os", "UBUNTU", "CENTOS" } };
	char upper[32];

	snprintf(upper, sizeof(upper), "%s", n->s);
	for (char *s = upper; *s; s++)
		*s = (char)(*s >= 'a' && *s <= 'z' ? *s - 32 : *s);
	for (size_t i = 0; i < ARRAY_LEN(choices); i++)
		if (!strcmp(choices[i].key, n->key) && strcmp(upper, choices[i].a) != 0 &&
		    strcmp(upper, choices[i].b) != 0)
			cfg_problem(a->p, n, "context.%s: want one of %s, %s, not '%.80s'", n->key,
				    choices[i].a, choices[i].b, n->s);
	mad_put(a->ret, context_top(a, "context", n), n->key, CFG_STR, upper, n);
	if (!strcmp(n->key, "guest_os"))
		mad_put(a->ret, context_top(a, "env", n), "MAD_GUEST_OS", CFG_STR, upper, n);
}

static void map_word(struct context *a, const struct cfg_node *n)
{
	if (n->s)
		mad_put_text(a->ret, context_top(a, "context", n), n->key, n);
}

static void map_image(struct context *a, const struct cfg_node *n)
{
	mad_put_text(a->ret, context_top(a, "model", n), "image", n);
}

static void map_rocm(struct context *a, const struct cfg_node *n)
{
	if (!cfg_text(cfg_get(a->root, "docker_env_vars"), "ROCM_PATH"))
		mad_put_text(a->ret, context_top(a, "env", n), "ROCM_PATH", n);
}

static void no_metrics(struct context *a, const struct cfg_node *n)
{
	mad_put(a->ret, context_top(a, "env", n), "MAD_COLLECT_METRICS", CFG_STR, "false", n);
	mad_put(a->ret, context_top(a, "results", n), "require", CFG_BOOL, "false", n);
}

static void map_env(struct context *a, const struct cfg_node *n)
{
	const struct cfg_node *docker = cfg_get(a->root, "docker_env_vars");

	CFG_EACH(v, n, CFG_MAP) {
		if (n != docker && cfg_get(docker, v->key))
			continue;
		if (!strcmp(v->key, "MAD_COLLECT_METRICS") && v->s && mad_truth(v) == 0)
			no_metrics(a, v);
		else
			mad_put_text(a->ret, context_top(a, "env", n), v->key, v);
	}
}

static void map_build_args(struct context *a, const struct cfg_node *n)
{
	CFG_EACH(kid, n, CFG_MAP)
		mad_put_text(a->ret, mad_map(a->ret, context_top(a, "build", n), "args", n),
			     kid->key, kid);
}

/* In a context the container's path is the key. */
static void map_mounts(struct context *a, const struct cfg_node *n)
{
	struct cfg_node *list = mad_list(a->ret, a->ret->root, "mounts", n);

	CFG_EACH(m, n, CFG_MAP) {
		struct cfg_node *e = mad_add(a->ret, list, CFG_MAP, NULL, m);

		if (m->s) {
			CLEANUP(xfreep) char *host = fs_join(a->dir, m->s);

			mad_put(a->ret, e, "host", CFG_STR, host, m);
		}
		mad_put(a->ret, e, "container", CFG_STR, m->key, m);
	}
}

static void map_gpus(struct context *a, const struct cfg_node *n)
{
	mad_put_text(a->ret, a->ret->root, "gpus", n);
}

static void map_cpus(struct context *a, const struct cfg_node *n)
{
	mad_put_text(a->ret, a->ret->root, "cpus", n);
}

static void map_tool(struct context *a, struct cfg_node *list, const struct cfg_node *t)
{
	const struct cfg_node *cmd = cfg_get(t, "cmd"), *env = cfg_get(t, "env_vars");
	struct cfg_node *e = mad_add(a->ret, list, CFG_MAP, NULL, t);
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	mad_put_text(a->ret, e, "name", cfg_get(t, "name"));
	if (cmd && cmd->s) {
		mad_shell_words(cmd, "cmd", &words, a->p, a->notes);
		mad_put_words(a->ret, e, "wrap", &words, cmd);
	}
	CFG_EACH(kid, env, CFG_MAP)
		mad_put_text(a->ret, mad_map(a->ret, e, "env", env), kid->key, kid);
}

static void map_tools(struct context *a, const struct cfg_node *n)
{
	struct cfg_node *list = mad_put(a->ret, a->ret->root, "tools", CFG_SEQ, NULL, n);

	CFG_EACH(kid, n, CFG_SEQ)
		map_tool(a, list, kid);
}

static void map_scripts(struct context *a, const struct cfg_node *n)
{
	struct cfg_node *list = mad_put(a->ret, a->ret->root, n->key, CFG_SEQ, NULL, n);

	CFG_EACH(s, n, CFG_SEQ) {
		const struct cfg_node *path = cfg_get(s, "path");
		const struct cfg_node *args = cfg_get(s, "args");
		CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
		struct cfg_node *e;

		if (!path || !path->s)
			continue;
		CLEANUP(xfreep) char *full = fs_join(a->dir, path->s);

		e = mad_add(a->ret, list, CFG_MAP, NULL, s);
		mad_put(a->ret, e, "path", CFG_STR, full, path);
		mad_put(a->ret, e, "shell", CFG_STR, "bash", path);
		mad_shell_words(args, "args", &words, a->p, a->notes);
		if (words.nr)
			mad_put_words(a->ret, e, "args", &words, args);
	}
}

static void map_words(struct context *a, const struct cfg_node *n)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	mad_shell_words(n, n->key, &words, a->p, a->notes);
	mad_put_words(a->ret, context_top(a, "model", n),
		      !strcmp(n->key, "model_args") ? "args" : "wrap", &words, n);
}

static void map_scan(struct context *a, const struct cfg_node *n)
{
	int on = n->s ? mad_truth(n) : -EINVAL;

	if (on < 0)
		cfg_problem(a->p, n, "%s: want true or false, not '%.40s'", n->key,
			    n->s ? n->s : "a list");
	else
		mad_put(a->ret, context_top(a, "results", n), "log_scan", CFG_STR,
			on ? "fail" : "off", n);
}

static void map_patterns(struct context *a, const struct cfg_node *n)
{
	bool errors = !strcmp(n->key, "log_error_patterns");
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	mad_words(n, &words);
	if (errors && !n->nr)
		cfg_problem(a->p, n,
			    "%s: is empty (log_error_pattern_scan: false looks for nothing)",
			    n->key);
	mad_put_words(a->ret, context_top(a, "results", n),
		      errors ? "error_patterns" : "benign_patterns", &words, n);
}

static void map_live(struct context *a, const struct cfg_node *n)
{
	int on = n->s ? mad_truth(n) : -EINVAL;

	if (on < 0)
		cfg_problem(a->p, n, "%s: want true or false", n->key);
	else
		mad_put(a->ret, a->ret->root, "live", CFG_BOOL, on ? "true" : "false", n);
}

static void map_no_metrics(struct context *a, const struct cfg_node *n)
{
	int off = n->s ? mad_truth(n) : -EINVAL;

	if (off < 0)
		cfg_problem(a->p, n, "%s: want true or false", n->key);
	else if (off)
		no_metrics(a, n);
}

static void map_n_gpus(struct context *a, const struct cfg_node *n)
{
	/* Of several keys the first in the order of the table below counts. */
	if (!cfg_get(cfg_get(a->ret->root, "model"), "n_gpus"))
		mad_put_text(a->ret, context_top(a, "model", n), "n_gpus", n);
}

static void map_distributed(struct context *a, const struct cfg_node *n)
{
	const struct cfg_node *launcher = cfg_get(n, "launcher"), *nodes = cfg_get(n, "nnodes");
	const struct cfg_node *per_node = cfg_get(n, "nproc_per_node");
	int64_t v;

	if (n->kind != CFG_MAP) {
		cfg_problem(a->p, n, "distributed: want a map");
		return;
	}
	if (!mad_on_slurm(a->root) && nodes && nodes->s &&
	    (num_i64(nodes->s, strlen(nodes->s), &v) < 0 || v != 1))
		cfg_problem(a->p, nodes,
			    "distributed.nnodes: '%.40s' machines, but without the section `slurm` "
			    "'profrig run' is of one",
			    nodes->s);
	if (launcher && launcher->s) {
		CLEANUP(xfreep)
		char *runner = mad_runner(launcher->s, per_node ? per_node->s : NULL);

		mad_put_text(a->ret, context_top(a, "model", n), "launcher", launcher);
		mad_put(a->ret, context_top(a, "env", n), "MAD_MULTI_NODE_RUNNER", CFG_STR, runner,
			launcher);
	}
}

/* Together with `distributed`; madengine's defaults come once the model's section is below it. */
static void map_slurm(struct context *a, const struct cfg_node *n)
{
	const struct cfg_node *d = cfg_get(a->root, "distributed");

	mad_slurm_config(n, d && d->kind == CFG_MAP ? d : NULL, a->lenient, a->ret, a->p, a->notes);
}

/* Keys for Kubernetes, and of madengine's own deployment. */
static void map_elsewhere(struct context *a, const struct cfg_node *n)
{
	if (a->lenient)
		mad_note(a->notes, n, "%s: has no effect in 'profrig run'", n->key);
	else
		cfg_problem(a->p, n,
			    "%s: not in 'profrig run', which runs on this machine or by Slurm; "
			    "leave it out, or use --lenient",
			    n->key);
}

/* Keys that profrig takes elsewhere. */
static void map_answered(struct context *a, const struct cfg_node *n)
{
	bool data = strcmp(n->key, "mirrorlocal") == 0;

	if (a->lenient)
		mad_note(a->notes, n, "%s: has no effect", n->key);
	else
		cfg_problem(a->p, n, "%s: not a key of a context; write %s", n->key,
			    data ? "--set data[0].mirrorlocal=PATH"
				 : "--timeout S, or 'timeout' in models.json");
}

static void map_nothing(struct context *a, const struct cfg_node *n)
{
	(void)a;
	(void)n;
}

/* --- the table --- */

typedef void map_fn(struct context *a, const struct cfg_node *n);

static const struct {
	const char *key, *type;
	map_fn *map;
} keys[] = {
	{ "gpu_vendor", "string", map_choice },
	{ "guest_os", "string", map_choice },
	{ "host_os", "scalar", map_word },
	{ "ctx_test", "scalar", map_word },
	{ "numa_balancing", "scalar", map_word },
	{ "MAD_ROCM_PATH", "string", map_rocm },
	{ "MAD_CONTAINER_IMAGE", "string", map_image },
	{ "env_vars", "map of strings", map_env },
	{ "docker_env_vars", "map of strings", map_env },
	{ "docker_mounts", "map of strings", map_mounts },
	{ "docker_build_arg", "map of strings", map_build_args },
	{ "docker_gpus", "scalar", map_gpus },
	{ "docker_cpus", "scalar", map_cpus },
	{ "tools", "list of maps", map_tools },
	{ "pre_scripts", "list of maps", map_scripts },
	{ "post_scripts", "list of maps", map_scripts },
	{ "encapsulate_script", "scalar", map_words },
	{ "model_args", "scalar", map_words },
	{ "log_error_pattern_scan", "scalar", map_scan },
	{ "log_error_patterns", "list of strings", map_patterns },
	{ "log_error_benign_patterns", "list of strings", map_patterns },
	/* Read when a model names its data. */
	{ "data", "any", map_nothing },
	{ "live_output", "scalar", map_live },
	{ "skip_perf_collection", "scalar", map_no_metrics },
	{ "gpus_per_node", "scalar", map_n_gpus },
	{ "gpu_count", "scalar", map_n_gpus },
	{ "n_gpus", "scalar", map_n_gpus },
	{ "num_gpus", "scalar", map_n_gpus },
	{ "ngpus", "scalar", map_n_gpus },
	{ "distributed", "any", map_distributed },
	/* run.json always describes the machine, its devices and its versions. */
	{ "rocenv_mode", "string", map_nothing },
	{ "gen_sys_env_details", "scalar", map_nothing },
	{ "generate_sys_env_details", "scalar", map_nothing },
	/* Detected when needed. */
	{ "gpu_renderDs", "any", map_nothing },
	{ "timeout", "any", map_answered },
	{ "timeout_multiplier", "any", map_answered },
	{ "mirrorlocal", "any", map_answered },
	{ "k8s", "any", map_elsewhere },
	{ "kubernetes", "any", map_elsewhere },
	{ "slurm", "any", map_slurm },
	{ "deploy", "any", map_elsewhere },
	{ "deployment_config", "any", map_elsewhere },
	{ "shared_data", "any", map_elsewhere },
	{ "vllm", "any", map_elsewhere },
	{ "monitor", "any", map_elsewhere },
	{ "cleanup_on_failure", "any", map_elsewhere },
	{ "debug", "any", map_elsewhere },
};

static const struct schema_key below[] = {
	{ .path = "tools[].name", .type = "string", .required = true },
	{ .path = "tools[].cmd", .type = "scalar" },
	{ .path = "tools[].env_vars", .type = "map of strings" },
	{ .path = "pre_scripts[].path", .type = "string", .required = true },
	{ .path = "pre_scripts[].args", .type = "scalar" },
	{ .path = "post_scripts[].path", .type = "string", .required = true },
	{ .path = "post_scripts[].args", .type = "scalar" },
};

static void check_context(const struct context *a)
{
	struct schema_key table[ARRAY_LEN(keys) + ARRAY_LEN(below) + 1] = { { .path = NULL } };
	struct problems unknown = PROBLEMS_INIT;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		table[n++] = (struct schema_key){ .path = keys[i].key, .type = keys[i].type };
	for (size_t i = 0; i < ARRAY_LEN(below); i++)
		table[n++] = below[i];
	for (size_t i = 0; i < n; i++)
		if (!strcmp(table[i].path, "rocenv_mode"))
			table[i].choices = "lite|full";
	schema_check_keys(a->root, table, a->p, &unknown);
	mad_unknown(&unknown, a->lenient, a->p, a->notes);
	problems_release(&unknown);
	if (cfg_get(a->root, "slurm") &&
	    (cfg_get(a->root, "k8s") || cfg_get(a->root, "kubernetes")))
		cfg_problem(a->p, cfg_get(a->root, "slurm"),
			    "slurm: and Kubernetes, too: want at most one of them");
}

bool mad_on_slurm(const struct cfg_node *context)
{
	const struct cfg_node *n = cfg_get(context, "slurm");

	return n && n->kind != CFG_NULL;
}

int mad_context_config(const struct cfg *context, const char *dir, bool lenient, struct cfg *ret,
		       struct problems *p, struct strvec *notes)
{
	struct context a = { context->root, dir, lenient, ret, p, notes };
	size_t before = p->lines.nr;

	mad_tree_init(ret, LAYER_FILE);
	check_context(&a);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const struct cfg_node *n = cfg_get(context->root, keys[i].key);

		/* null, and an empty text for anything but arguments, count as absent */
		if (n && n->kind != CFG_NULL &&
		    (n->kind != CFG_STR || *n->s || keys[i].map == map_words))
			keys[i].map(&a, n);
	}
	mad_env_secrets(ret);
	return p->lines.nr > before ? -EINVAL : 0;
}
