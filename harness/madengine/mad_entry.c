/* Turns an entry of models.json into the form of a profrig.yaml. */
#include "mad_int.h"
#include "mad_slurm.h"
#include "schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/text.h"

struct mapping {
	const struct mad_models *m;
	const struct mad_entry *e;
	const struct cfg_node *node; /* the entry; after update_model() when it is scripted */
	struct cfg *ret;
	struct cfg_node *model; /* in ret */
	struct problems *p;
	struct strvec *notes;
	struct problems unknown; /* keys */
};

/* An absolute path: relative paths start at the scope's folder, or at the package's. */
static char *entry_path(const struct mapping *a, const char *path)
{
	CLEANUP(xfreep)
	char *base = a->e->scope ? xasprintf("%s/scripts/%s", a->m->dir, a->e->scope)
				 : xstrdup(a->m->dir);
	CLEANUP(xfreep) char *joined = fs_join(base, path);

	return fs_abs(joined);
}

static void put_command(struct mapping *a, const char *shell, const char *file,
			const struct cfg_node *from)
{
	struct cfg_node *list = mad_put(a->ret, a->model, "command", CFG_SEQ, NULL, from);

	mad_add(a->ret, list, CFG_STR, shell, from);
	mad_add(a->ret, list, CFG_STR, file, from);
}

/* bash runs .sh and .slurm, python3 runs .py; of a folder run.sh is taken. */
static void map_scripts(struct mapping *a)
{
	const struct cfg_node *n = cfg_get(a->node, "scripts");
	CLEANUP(xfreep) char *path = NULL;
	CLEANUP(xfreep) char *file = NULL;
	CLEANUP(xfreep) char *folder = NULL;
	CLEANUP(xfreep) char *shared = fs_join(a->m->dir, "scripts");
	bool python;

	if (!n || !n->s)
		return;
	path = entry_path(a, n->s);
	python = text_suffix(path, ".py") != NULL;
	if (python || text_suffix(path, ".sh") || text_suffix(path, ".slurm"))
		file = xstrdup(path);
	else
		file = fs_join(path, "run.sh");
	if (!fs_is_file(file)) {
		cfg_problem(a->p, n, "scripts: no file '%.300s'", file);
		return;
	}
	put_command(a, python ? "python3" : "bash", fs_base(file), n);
	folder = fs_dir(file);
	mad_put(a->ret, a->model, "copy", CFG_STR, folder, n);
	if (fs_is_dir(shared))
		mad_put(a->ret, a->model, "scripts", CFG_STR, shared, n);
}

static void map_args(struct mapping *a, const struct strvec *more)
{
	const struct cfg_node *n = cfg_get(a->node, "args");
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	mad_shell_words(n, "args", &words, a->p, a->notes);
	if (more)
		strvec_pushv(&words, more->v);
	if (words.nr)
		mad_put_words(a->ret, a->model, "args", &words, n ? n : a->node);
}

static void map_image(struct mapping *a)
{
	const struct cfg_node *file = cfg_get(a->node, "dockerfile");
	const struct cfg_node *context = cfg_get(a->node, "dockercontext");
	CLEANUP(xfreep) char *path = NULL;
	CLEANUP(xfreep) char *dir = NULL;

	if (!file || !file->s)
		return;
	path = entry_path(a, file->s);
	mad_put(a->ret, a->model, "dockerfile", CFG_STR, path, file);
	dir = context && context->s ? fs_join(a->m->dir, context->s)
				    : fs_join(a->m->dir, strstr(path, "primus") ? "." : "docker");
	if (fs_is_dir(dir))
		mad_put(a->ret, mad_map(a->ret, a->ret->root, "build", file), "context", CFG_STR,
			dir, context ? context : file);
	else if (context)
		cfg_problem(a->p, context, "dockercontext: no folder '%.300s'", dir);
}

/* Variables that madengine passes on from its own environment; on the host all are inherited. */
static bool handed_on(const char *name)
{
	static const char names[] = "MASTER_ADDR|MASTER_PORT|WORLD_SIZE|RANK|NODE_RANK|NNODES|"
				    "NPROC_PER_NODE|MAD_COLLECT_METRICS|GLOO_SOCKET_IFNAME|"
				    "TORCH_ELASTIC_RDZV_TIMEOUT";

	return text_in_list(names, '|', name) || !strncmp(name, "NCCL_", 5) ||
	       !strncmp(name, "PRIMUS_", 7);
}

static void map_callers(struct mapping *a, struct cfg_node *env)
{
	const struct cfg_node from = { .file = "the caller's environment", .layer = LAYER_MODEL };

	for (char **e = environ; *e; e++) {
		size_t n = strcspn(*e, "=");
		CLEANUP(xfreep) char *name = xstrndup(*e, n);

		if (handed_on(name) && schema_env_name(name) && (*e)[n])
			mad_put(a->ret, env, name, CFG_STR, *e + n + 1, &from);
	}
}

static void map_env(struct mapping *a)
{
	struct cfg_node *env = mad_map(a->ret, a->ret->root, "env", a->node);
	const char *build = getenv("JENKINS_BUILD_NUMBER");

	map_callers(a, env);
	mad_put(a->ret, env, "MAD_MODEL_NAME", CFG_STR, a->e->name, a->node);
	mad_put(a->ret, env, "MAD_GUEST_OS", CFG_STR, "UBUNTU", a->node);
	mad_put(a->ret, env, "JENKINS_BUILD_NUMBER", CFG_STR, build ? build : "0", a->node);
	if (cfg_text(a->node, "multiple_results"))
		mad_put(a->ret, env, "MAD_OUTPUT_CSV", CFG_STR,
			cfg_text(a->node, "multiple_results"),
			cfg_get(a->node, "multiple_results"));
	CFG_EACH(v, cfg_get(a->node, "env_vars"), CFG_MAP) {
		if (!strcmp(v->key, "DOCKER_IMAGE_NAME"))
			mad_put_text(a->ret, a->model, "image", v);
		else
			mad_put_text(a->ret, env, v->key, v);
	}
}

static void map_results(struct mapping *a)
{
	struct cfg_node *results = mad_map(a->ret, a->ret->root, "results", a->node);
	const struct cfg_node *scan = cfg_get(a->node, "log_error_pattern_scan");
	const char *collect = getenv("MAD_COLLECT_METRICS");
	static const struct {
		const char *theirs, *ours;
	} lists[] = { { "log_error_patterns", "error_patterns" },
		      { "log_error_benign_patterns", "benign_patterns" } };

	mad_put_text(a->ret, results, "csv", cfg_get(a->node, "multiple_results"));
	/* A model that reports no result has failed, unless its entry turns measuring off. */
	mad_put(a->ret, results, "require", CFG_BOOL,
		collect && !strcmp(collect, "false") ? "false" : "true", a->node);
	mad_put(a->ret, results, "log_scan", CFG_STR, scan && mad_truth(scan) == 0 ? "off" : "fail",
		scan ? scan : a->node);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
		const struct cfg_node *n = cfg_get(a->node, lists[i].theirs);

		mad_words(n, &words);
		if (words.nr)
			mad_put_words(a->ret, results, lists[i].ours, &words, n);
	}
}

static void map_lists(struct mapping *a)
{
	CLEANUP(strvec_release)
	struct strvec tags = STRVEC_INIT, archs = STRVEC_INIT, options = STRVEC_INIT;
	const struct cfg_node *tag = cfg_get(a->node, "tags");
	const struct cfg_node *arch = cfg_get(a->node, "skip_gpu_arch");
	const struct cfg_node *more = cfg_get(a->node, "additional_docker_run_options");

	mad_words(tag, &tags);
	if (tags.nr)
		mad_put_words(a->ret, a->model, "tags", &tags, tag);
	mad_words(arch, &archs);
	if (archs.nr)
		mad_put_words(a->ret, a->model, "skip_gpu_arch", &archs, arch);
	mad_shell_words(more, "additional_docker_run_options", &options, a->p, a->notes);
	if (options.nr)
		mad_put_words(a->ret, mad_map(a->ret, a->ret->root, "container", more), "options",
			      &options, more);
}

static void map_plain(struct mapping *a)
{
	const struct cfg_node *timeout = cfg_get(a->node, "timeout");
	double s;
	const struct cfg_node *cred = cfg_get(a->node, "cred");

	mad_put(a->ret, a->model, "name", CFG_STR, a->e->name, a->node);
	mad_put_text(a->ret, a->model, "url", cfg_get(a->node, "url"));
	mad_put_text(a->ret, a->model, "owner", cfg_get(a->node, "owner"));
	mad_put_text(a->ret, a->model, "precision", cfg_get(a->node, "training_precision"));
	mad_put_text(a->ret, a->model, "n_gpus", cfg_get(a->node, "n_gpus"));
	/* -1 means no timeout of the entry's own. */
	if (timeout && schema_seconds(timeout, &s) == 0 && s >= 0)
		mad_put(a->ret, a->model, "timeout", timeout->kind, timeout->s, timeout);
	if (cred && cred->s) {
		CLEANUP(xfreep) char *prefix = mad_cred_config(a->m->dir, cred, a->ret, a->p);

		if (cfg_text(a->node, "url"))
			mad_put(a->ret, a->model, "cred", CFG_STR, prefix, cred);
	}
}

/* The command that starts a launcher in the container; of several machines: run_slurm.h. */
static void map_runner(struct mapping *a)
{
	const struct cfg_node *launcher = cfg_get(cfg_get(a->node, "distributed"), "launcher");
	const struct cfg_node *n = cfg_get(a->node, "n_gpus");
	struct cfg_node *env = mad_map(a->ret, a->ret->root, "env", a->node);
	CLEANUP(xfreep) char *runner = mad_runner(launcher ? launcher->s : NULL, n ? n->s : NULL);

	mad_put_text(a->ret, a->model, "launcher", launcher);
	mad_put(a->ret, env, "MAD_MULTI_NODE_RUNNER", CFG_STR, runner,
		launcher ? launcher : a->node);
}

char *mad_runner(const char *launcher, const char *n_gpus)
{
	static const char none[] = "vllm|sglang|sglang-disagg|sglang_disagg|primus";
	const char *n = n_gpus && strcmp(n_gpus, "-1") != 0 ? n_gpus : "gpu";

	if (launcher && text_in_list(none, '|', launcher))
		return xstrdup("");
	if (launcher && !strcmp(launcher, "deepspeed"))
		return !strcmp(n, "gpu") ? xstrdup("deepspeed")
					 : xasprintf("deepspeed --num_gpus=%s", n);
	return xasprintf("torchrun --standalone --nproc_per_node=%s", n);
}

/* Its sections count below those of a context that sends the run to Slurm. */
static void map_cluster(struct mapping *a, const struct cfg *context, bool lenient)
{
	const struct cfg_node *slurm = cfg_get(a->node, "slurm");
	const struct cfg_node *d = cfg_get(a->node, "distributed");
	const struct cfg_node *nodes = cfg_get(a->node, "nnodes");
	struct cfg_node *map;

	if (!mad_on_slurm(context ? context->root : NULL)) {
		mad_check_nodes(a->node, a->p);
		if (slurm)
			mad_note(a->notes, slurm,
				 "slurm: has no effect, as no context has that section");
	} else if (slurm || d || nodes) {
		mad_slurm_config(slurm, d, lenient, a->ret, a->p, a->notes);
		map = mad_map(a->ret, a->ret->root, "slurm", a->node);
		if (nodes && nodes->s && !cfg_get(map, "nodes"))
			mad_put(a->ret, map, "nodes", CFG_INT, nodes->s, nodes);
	}
}

/* The entry after the script's update_model(). NULL after reporting a problem. */
static const struct cfg_node *entry_updated(struct mapping *a, struct cfg *c)
{
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT;
	CLEANUP(xfreep)
	char *path = xasprintf("%s/scripts/%s/get_models_json.py", a->m->dir, a->e->scope);
	const char *name = a->e->name + strlen(a->e->scope) + 1;
	struct cfg_node *node;

	if (mad_script_list(path, a->e->file, a->m->dir, name, c, a->notes, &why) < 0) {
		cfg_problem(a->p, NULL, "%s", why.buf);
		return NULL;
	}
	node = c->root->kind == CFG_SEQ && c->root->nr ? c->root->child[0] : NULL;
	if (!node || node->kind != CFG_MAP) {
		cfg_problem(a->p, NULL, "%s: update_model() of '%s' leaves no model", a->e->file,
			    name);
		return NULL;
	}
	mad_drop_empty(node);
	mad_check_entry(node, a->p, &a->unknown, a->notes);
	return node;
}

static void map_data(struct mapping *a, const struct cfg *context, bool lenient, struct problems *p,
		     struct strvec *notes)
{
	struct problems unknown = PROBLEMS_INIT;

	mad_data_config(a->m->dir, cfg_get(a->node, "data"), context, a->ret, p, &unknown);
	mad_unknown(&unknown, lenient, p, notes);
	problems_release(&unknown);
}

int mad_model_config(const struct mad_models *m, const struct mad_entry *e,
		     const struct strvec *args, const struct cfg *context, bool lenient,
		     struct cfg *ret, struct problems *p, struct strvec *notes)
{
	struct mapping a = { .m = m,
			     .e = e,
			     .node = e->node,
			     .ret = ret,
			     .p = p,
			     .notes = notes,
			     .unknown = PROBLEMS_INIT };
	size_t before = p->lines.nr;
	struct cfg c;

	cfg_init(&c);
	mad_tree_init(ret, LAYER_MODEL);
	for (size_t i = 0; i < e->problems.lines.nr; i++)
		cfg_problem(p, NULL, "%s", e->problems.lines.v[i]);
	strvec_pushv(&a.unknown.lines, e->unknown.lines.v);
	strvec_pushv(notes, e->notes.v);
	if (e->scripted)
		a.node = entry_updated(&a, &c);
	mad_unknown(&a.unknown, lenient, p, notes);
	if (a.node) {
		a.model = mad_map(ret, ret->root, "model", a.node);
		map_plain(&a);
		map_scripts(&a);
		map_args(&a, args);
		map_image(&a);
		map_env(&a);
		map_runner(&a);
		map_results(&a);
		map_lists(&a);
		map_cluster(&a, context, lenient);
		if (cfg_get(a.node, "data"))
			map_data(&a, context, lenient, p, notes);
	}
	mad_env_secrets(ret);
	problems_release(&a.unknown);
	cfg_release(&c);
	return p->lines.nr > before ? -EINVAL : 0;
}
