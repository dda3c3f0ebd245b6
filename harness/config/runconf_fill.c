/* The second half of runconf_load: typed fields from the merged tree, and checks that need all of
 * it: names, paths, gaps. */
#include "mad_int.h"
#include "runconf_int.h"
#include "schema.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/redact.h"
#include "profrig/base/text.h"

#define MAX_GPU 1023
#define PULL_TIMEOUT_S 3600.0

const struct cfg_node *conf_scalar(const struct cfg_node *map, const char *key)
{
	return cfg_text(map, key) ? cfg_get(map, key) : NULL;
}

const struct cfg_node *conf_map(const struct cfg_node *map, const char *key)
{
	const struct cfg_node *n = cfg_get(map, key);

	return n && n->kind == CFG_MAP ? n : NULL;
}

double conf_seconds(const struct cfg_node *map, const char *key)
{
	const struct cfg_node *n = conf_scalar(map, key);
	double v = 0;

	return n && schema_seconds(n, &v) == 0 ? v : 0;
}

char *conf_origin(const struct cfg_node *n)
{
	return n->layer == LAYER_CLI ? xstrdup("command line") : cfg_where(n);
}

/* The folder that relative paths of a value start from. */
static char *folder_of(const char *cwd, const struct cfg_node *n)
{
	if (n->layer != LAYER_MODEL && n->layer != LAYER_FILE)
		return xstrdup(cwd);
	CLEANUP(xfreep) char *path = fs_join(cwd, n->file);

	return fs_dir(path);
}

char *conf_path_of(const char *cwd, const struct cfg_node *n)
{
	CLEANUP(xfreep) char *dir = folder_of(cwd, n);
	CLEANUP(xfreep) char *path = fs_join(dir, n->s);

	return fs_abs(path);
}

char *conf_resolve(const struct loader *l, const struct cfg_node *n)
{
	return conf_path_of(l->rq->cwd, n);
}

static char *name_of_file(const struct loader *l, const char *file)
{
	CLEANUP(xfreep) char *joined = fs_join(l->rq->cwd, file);
	CLEANUP(xfreep) char *path = fs_abs(joined);
	CLEANUP(xfreep) char *dir = fs_dir(path);
	const char *base = fs_base(path), *dot = strrchr(base, '.');

	if (!strcmp(base, "profrig.yaml") && *fs_base(dir))
		return xstrdup(fs_base(dir));
	return dot && dot > base ? xstrndup(base, (size_t)(dot - base)) : xstrdup(base);
}

static void check_model_name(struct loader *l, const struct cfg_node *n)
{
	if (!schema_model_name(n->s))
		cfg_problem(l->p, n, "model.name: want at most 100 bytes of plain text");
}

static void fill_name(struct loader *l, const struct cfg_node *model,
		      const struct cfg_node *command)
{
	const struct cfg_node *name = conf_scalar(model, "name");
	struct runconf *rc = l->rc;

	if (name) {
		check_model_name(l, name);
		rc->model_name = xstrdup(name->s);
	} else if (l->model_file) {
		rc->model_name = name_of_file(l, l->model_file);
	} else if (command && command->layer != LAYER_CLI) {
		rc->model_name = name_of_file(l, command->file);
	} else {
		rc->model_name = xstrdup(rc->command.nr ? fs_base(rc->command.v[0]) : "model");
	}
}

static void fill_dir(struct loader *l, const struct cfg_node *model, const struct cfg_node *command)
{
	const struct cfg_node *dir = conf_scalar(model, "dir");
	struct runconf *rc = l->rc;

	if (dir) {
		rc->dir = conf_resolve(l, dir);
		if (!fs_is_dir(rc->dir))
			cfg_problem(l->p, dir, "model.dir: no folder '%.200s'", rc->dir);
	} else if (l->model_file) {
		CLEANUP(xfreep) char *path = fs_join(l->rq->cwd, l->model_file);
		CLEANUP(xfreep) char *folder = fs_dir(path);

		rc->dir = fs_abs(folder);
	} else {
		CLEANUP(xfreep)
		char *folder = command ? folder_of(l->rq->cwd, command) : xstrdup(l->rq->cwd);

		rc->dir = fs_abs(folder);
	}
}

static void fill_model(struct loader *l, const struct cfg_node *root)
{
	const struct cfg_node *model = conf_map(root, "model"),
			      *command = cfg_get(model, "command");
	const struct cfg_node *dockerfile = conf_scalar(model, "dockerfile");
	struct runconf *rc = l->rc;

	/* Missing scripts of a package's entry were reported before. */
	if (!l->rq->builds && !(l->package && l->p->lines.nr) &&
	    (!command || command->kind == CFG_SEQ || command->kind == CFG_NULL) &&
	    !rc->command.nr) {
		if (model && model->layer >= LAYER_MODEL && model->layer != LAYER_CLI)
			cfg_problem(l->p, command ? command : model,
				    "model.command is missing: nothing to run");
		else if (l->model_file)
			cfg_problem(l->p, NULL, "%s: model.command is missing: nothing to run",
				    l->model_file);
		else
			cfg_problem(l->p, NULL,
				    "nothing to run: name a model, give a command "
				    "after --, or model.command in --config");
	}
	if (rc->command.nr && !*rc->command.v[0])
		cfg_problem(l->p, command, "model.command: the program's name is empty");
	fill_name(l, model, command);
	fill_dir(l, model, command);
	runconf_fill_words(l, model);
	rc->dockerfile = dockerfile ? conf_resolve(l, dockerfile) : NULL;
	rc->timeout_s = conf_seconds(model, "timeout");
}

static bool env_name_ok(struct loader *l, const struct cfg_node *n, const char *where)
{
	if (!schema_env_name(n->key))
		cfg_problem(l->p, n, "%s: '%.*s' is no name of a variable", where,
			    schema_shown_len(n->key), n->key);
	else if (schema_env_reserved(n->key))
		cfg_problem(l->p, n, "%s: %s is set by profrig", where, n->key);
	else
		return true;
	return false;
}

static struct runconf_env env_of(const struct cfg_node *n)
{
	return (struct runconf_env){ .name = xstrdup(n->key),
				     .value = xstrdup(n->s),
				     .origin = conf_origin(n),
				     .secret = runconf_is_secret_name(n->key) };
}

static void fill_env(struct loader *l, const struct cfg_node *root)
{
	CFG_EACH(n, conf_map(root, "env"), CFG_MAP) {
		if (env_name_ok(l, n, "env") && n->s)
			VEC_PUSH(&l->rc->env, env_of(n));
	}
}

/* So short a secret is not hidden everywhere, which its owner should know. User names are mostly
 * short and are left out. */
static void note_short(struct loader *l, const struct cfg_node *n, const char *value)
{
	CLEANUP(xfreep) char *where = cfg_where(n);

	if (!*value || strlen(value) >= REDACT_SURE || text_suffix(n->key, "_USERNAME"))
		return;
	strvec_pushf(&l->rc->notes,
		     "%s: secrets.%s: its value is shorter than %zu characters, too short to be "
		     "masked in whole files such as run.json where a command repeats it: take a "
		     "longer one",
		     where, n->key, REDACT_SURE);
}

static void fill_secrets(struct loader *l, const struct cfg_node *root)
{
	CFG_EACH(n, conf_map(root, "secrets"), CFG_MAP) {
		CLEANUP(xfreep) char *value = NULL;
		const char *from = NULL;

		if (!env_name_ok(l, n, "secrets"))
			continue;
		if (cfg_get(conf_map(root, "env"), n->key)) {
			cfg_problem(l->p, n, "secrets.%s: is also under env", n->key);
			continue;
		}
		value = conf_secret_value(l, n, &from);
		if (value)
			note_short(l, n, value);
		if (value)
			VEC_PUSH(&l->rc->env, ((struct runconf_env){ .name = xstrdup(n->key),
								     .value = STEAL(value),
								     .origin = conf_origin(n),
								     .from = xstrdup_null(from),
								     .secret = true }));
	}
}

static void fill_mounts(struct loader *l, const struct cfg_node *root)
{
	const struct cfg_node *list = cfg_get(root, "mounts");

	for (size_t i = 0; list && list->kind == CFG_SEQ && i < list->nr; i++) {
		const struct cfg_node *n = list->child[i], *host = conf_scalar(n, "host");
		const struct cfg_node *inside = conf_scalar(n, "container"),
				      *mode = conf_scalar(n, "mode");
		struct runconf_mount m;

		if (!host)
			continue;
		m.host = conf_resolve(l, host);
		m.container = xstrdup(inside ? inside->s : m.host);
		m.read_only = mode && !strcmp(mode->s, "ro");
		if (!fs_exists(m.host))
			cfg_problem(l->p, host, "mounts[%zu].host: no file or folder '%.200s'", i,
				    m.host);
		if (*m.container != '/')
			cfg_problem(l->p, inside, "mounts[%zu].container: want an absolute path",
				    i);
		VEC_PUSH(&l->rc->mounts, m);
	}
}

static bool gpu_known(const struct runconf *rc, int gpu)
{
	return VEC_FIND(&rc->gpu_list, x, *x == gpu);
}

static int add_gpus(struct runconf *rc, const char *word)
{
	uint64_t first, last;

	if (num_range(word, MAX_GPU, &first, &last) < 0)
		return -EINVAL;
	for (uint64_t i = first; i <= last; i++)
		if (!gpu_known(rc, (int)i))
			VEC_PUSH(&rc->gpu_list, (int)i);
	return 0;
}

static void fill_gpus(struct loader *l, const struct cfg_node *root)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	const struct cfg_node *n = conf_scalar(root, "gpus");
	int r = 0;

	if (!n || !strcmp(n->s, "none"))
		return;
	l->rc->gpus = xstrdup(n->s);
	if (!strcmp(n->s, "all"))
		return;
	strvec_split(&words, n->s, ",");
	for (size_t i = 0; i < words.nr && r == 0; i++)
		r = add_gpus(l->rc, words.v[i]);
	if (r < 0 || !words.nr)
		cfg_problem(l->p, n, "gpus: want all, none, or indexes such as 0,2-4, not '%.80s'",
			    n->s);
}

/* Adds the default of the tool's file to the entry when the user gives no value, for 'plan' to
 * show. */
static void show_default(struct loader *l, struct cfg_node *entry, const char *map, const char *key,
			 const char *text, const char *where)
{
	struct cfg_node *m = cfg_get(entry, map), *n;

	if (!m || m->kind == CFG_NULL)
		m = cfg_put(&l->tree, entry, map, CFG_MAP, NULL, where, LAYER_TOOL);
	n = cfg_get(m, key);
	if (m->kind == CFG_MAP && (!n || n->kind == CFG_NULL))
		cfg_put(&l->tree, m, key, CFG_STR, text, where, LAYER_TOOL);
}

/* "{opt.source}": the option names a sampler, so an unknown one is a usage error as for a tool. */
static bool names_sampler(const struct tool *t, const struct tool_option *o)
{
	CLEANUP(xfreep) char *kind = xasprintf("{opt.%s}", o->name);

	return t->sampler_kind && !strcmp(t->sampler_kind, kind);
}

static void tool_options(struct loader *l, struct runconf_tool *rt, struct cfg_node *entry)
{
	const struct tool *t = rt->tool;
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	for (size_t i = 0; i < t->options.nr; i++) {
		const struct tool_option *o = &t->options.v[i];
		const struct cfg_node *n = runconf_option_given(l, entry, o);
		CLEANUP(xfreep) char *refused = n ? tool_option_refuse(o, n) : NULL;

		strvec_push(&names, o->name);
		if (refused && names_sampler(t, o))
			loader_bad_name(l, n, "option '%s' of tool '%s': %s", o->name, t->name,
					refused);
		else if (refused)
			cfg_problem(l->p, n, "option '%s' of tool '%s': %s", o->name, t->name,
				    refused);
		VEC_PUSH(&rt->options,
			 ((struct runconf_option){ xstrdup(o->name), xstrdup(n ? n->s : o->def),
						   n ? conf_origin(n) : xstrdup(o->where), NULL }));
		show_default(l, entry, "options", o->name, o->def, o->where);
	}
	CFG_EACH(n, conf_map(entry, "options"), CFG_MAP) {
		CLEANUP(xfreep)
		char *hint = cfg_hint(n->key, (const char *const *)names.v, "");

		if (!tool_option_find(t, n->key))
			cfg_problem(l->p, n, "tool '%s' has no option '%.80s'%s", t->name, n->key,
				    hint);
	}
}

static void tool_sampler(struct loader *l, struct runconf_tool *rt, struct cfg_node *entry)
{
	const struct tool *t = rt->tool;
	const struct cfg_node *given = conf_map(entry, "sampler");
	const struct cfg_node *device = conf_scalar(given, "device");
	const struct cfg_node *period = conf_scalar(given, "period_s");
	char number[32];

	if (given && !t->sampler_kind) {
		cfg_problem(l->p, given, "tool '%s' has no sampler", t->name);
		return;
	}
	if (!t->sampler_kind)
		return;
	rt->sampler_device = xstrdup(device ? device->s : t->sampler_device);
	rt->sampler_period_s = runconf_period_s(rt);
	num_fmt_f64(number, rt->sampler_period_s);
	if (period && period->f > 0)
		rt->sampler_period_s = period->f;
	show_default(l, entry, "sampler", "device", t->sampler_device, t->sampler_where);
	show_default(l, entry, "sampler", "period_s", number, t->sampler_where);
}

static void tool_entry_env(struct loader *l, struct runconf_tool *rt, const struct cfg_node *entry)
{
	CFG_EACH(n, conf_map(entry, "env"), CFG_MAP) {
		if (!env_name_ok(l, n, "env") || !n->s)
			continue;
		if (!strcmp(n->key, "LD_PRELOAD"))
			cfg_problem(l->p, n, "LD_PRELOAD belongs under env, not under a tool");
		else
			VEC_PUSH(&rt->env, env_of(n));
	}
}

static void unknown_tool(struct loader *l, const struct cfg_node *name)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	tool_set_all(l->ts);
	for (size_t i = 0; i < l->ts->tools.nr; i++)
		strvec_push(&names, l->ts->tools.v[i]->name);
	loader_unknown(l, name, "tool", name->s, &names);
}

/* profrig has its own replacements for madengine's wrapper scripts. */
static void tool_wrap(struct loader *l, struct runconf_tool *rt, struct cfg_node *entry)
{
	const struct tool *t = rt->tool;
	struct mad_wrap to = {
		.out = "{out}",
		.format = tool_option_find(t, "format") ? "{opt.format}" : "csv",
		.counters = tool_option_find(t, "counters") ? "{opt.counters}" : NULL,
		.own_words = !t->shared_wrap,
	};
	CLEANUP(xfreep) char *counters = NULL;

	rt->has_wrap = cfg_get(entry, "wrap") && cfg_get(entry, "wrap")->kind == CFG_SEQ;
	cfg_words(entry, "wrap", &rt->wrap);
	if (t->shared_wrap)
		to.out = "rocprof_output"; /* of tools.json: looked for there */
	if (rt->has_wrap && mad_wrap(&rt->wrap, &to, &counters) == MAD_WRAP_OWN)
		rt->has_wrap = false;
	if (counters)
		show_default(l, entry, "options", "counters", counters, rt->where);
}

static void add_tool(struct loader *l, struct cfg_node *entry, const struct cfg_node *name)
{
	struct runconf_tool rt = { .wrap = STRVEC_INIT };

	rt.tool = tool_find(l->ts, name->s);
	if (!rt.tool) {
		unknown_tool(l, name);
		return;
	}
	for (size_t i = 0; i < rt.tool->problems.lines.nr; i++)
		cfg_problem(l->p, NULL, "%s", rt.tool->problems.lines.v[i]);
	/* Most other problems of the entry would follow from these. */
	if (rt.tool->problems.lines.nr)
		return;
	if (runconf_known_tool(l, entry, name))
		return;
	rt.where = conf_origin(name);
	tool_wrap(l, &rt, entry);
	tool_options(l, &rt, entry);
	runconf_fill_files(l, &rt, entry);
	tool_sampler(l, &rt, entry);
	tool_entry_env(l, &rt, entry);
	VEC_PUSH(&l->rc->tools, rt);
}

static void fill_tools(struct loader *l, const struct cfg_node *root)
{
	CFG_EACH(kid, cfg_get(root, "tools"), CFG_SEQ) {
		const struct cfg_node *name = conf_scalar(kid, "name");

		if (name && *name->s)
			add_tool(l, kid, name);
	}
}

static void fill_scripts(struct loader *l, const struct cfg_node *root, bool pre)
{
	CFG_EACH(kid, cfg_get(root, pre ? "pre_scripts" : "post_scripts"), CFG_SEQ) {
		const struct cfg_node *path = conf_scalar(kid, "path");
		struct runconf_script s = { .args = STRVEC_INIT };

		if (!path)
			continue;
		s.path = conf_resolve(l, path);
		s.missing = !fs_is_file(s.path);
		s.where = conf_origin(path);
		s.bash = cfg_text(kid, "shell") && !strcmp(cfg_text(kid, "shell"), "bash");
		cfg_words(kid, "args", &s.args);
		if (pre)
			VEC_PUSH(&l->rc->pre, s);
		else
			VEC_PUSH(&l->rc->post, s);
	}
}

static void fill_container(struct loader *l, const struct cfg_node *root)
{
	const struct cfg_node *c = conf_map(root, "container");
	const struct cfg_node *workdir = conf_scalar(c, "workdir");
	struct runconf *rc = l->rc;

	rc->container.pull_timeout_s =
		conf_scalar(c, "pull_timeout") ? conf_seconds(c, "pull_timeout") : PULL_TIMEOUT_S;
	if (workdir && *workdir->s != '/')
		cfg_problem(l->p, workdir, "container.workdir: want an absolute path");
}

/* Slurm, for example, sets these variables. They are kept for the analysis: device 0 of a trace
 * need not be device 0 of a sampler. */
static void fill_caller_gpus(struct runconf *rc)
{
	static const char *const names[] = { "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
					     "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *value = getenv(names[i]);

		if (value)
			VEC_PUSH(&rc->caller_gpus,
				 ((struct name_value){ xstrdup(names[i]), xstrdup(value) }));
	}
}

static void conf_fill_rest(struct loader *l, const struct cfg_node *root)
{
	const struct cfg_node *engine = conf_scalar(root, "engine"),
			      *labels = conf_map(root, "labels");
	const char *preload = getenv("LD_PRELOAD");
	struct runconf *rc = l->rc;

	rc->cwd = xstrdup(l->rq->cwd);
	rc->engine = xstrdup(engine ? engine->s : "auto");
	rc->engine_where = engine ? conf_origin(engine) : xstrdup("built-in");
	rc->grace_s = conf_seconds(root, "grace");
	rc->idle_s = conf_seconds(root, "idle");
	rc->caller_preload = preload && *preload ? xstrdup(preload) : NULL;
	fill_caller_gpus(rc);
	CFG_EACH(kid, labels, CFG_MAP)
		if (kid->s)
			VEC_PUSH(&rc->labels,
				 ((struct name_value){ xstrdup(kid->key), xstrdup(kid->s) }));
}

void runconf_fill(struct loader *l)
{
	const struct cfg_node *root = l->tree.root;

	runconf_count_gpus(l, conf_map(root, "model"));
	runconf_machine_env(l);
	fields_read(l->rc, runconf_fields, root);
	fill_model(l, root);
	fill_env(l, root);
	fill_secrets(l, root);
	fill_mounts(l, root);
	fill_gpus(l, root);
	runconf_fill_cpus(l, root);
	fill_tools(l, root);
	fill_scripts(l, root, true);
	fill_scripts(l, root, false);
	fill_container(l, root);
	runconf_fill_source(l, conf_map(root, "model"));
	conf_fill_rest(l, root);
	runconf_fill_build(l, root);
	runconf_fill_data(l, root);
	runconf_fill_record(l);
	runconf_fill_results(l, root);
	runconf_fill_publish(l, root);
}
