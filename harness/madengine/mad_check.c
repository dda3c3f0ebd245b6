/* Every key of an entry of models.json, and its checks. */
#include "mad_int.h"
#include "schema.h"

#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/config/runconf.h"

#define YEAR_S 31536000.0

static const struct schema_key entry_table[] = {
	{ .path = "name", .type = "string", .required = true },
	{ .path = "dockerfile", .type = "string" },
	{ .path = "dockercontext", .type = "string" },
	{ .path = "scripts", .type = "string", .required = true },
	{ .path = "url", .type = "string" },
	{ .path = "cred", .type = "string" },
	{ .path = "owner", .type = "string" },
	{ .path = "data", .type = "words" },
	{ .path = "n_gpus", .type = "scalar" },
	{ .path = "nnodes", .type = "scalar" },
	{ .path = "timeout", .type = "seconds", .min = -1, .max = YEAR_S },
	{ .path = "training_precision", .type = "string" },
	{ .path = "tags", .type = "words" },
	{ .path = "args", .type = "scalar" },
	{ .path = "multiple_results", .type = "string" },
	{ .path = "skip_gpu_arch", .type = "words" },
	{ .path = "additional_docker_run_options", .type = "string" },
	{ .path = "env_vars", .type = "map of strings" },
	{ .path = "log_error_pattern_scan", .type = "scalar" },
	{ .path = "log_error_patterns", .type = "list of strings" },
	{ .path = "log_error_benign_patterns", .type = "list of strings" },
	{ .path = "distributed", .type = "any" },
	{ .path = "slurm", .type = "any" },
	{ .path = "deprecated", .type = "any" },
	{ .path = NULL },
};

void mad_drop_empty(struct cfg_node *map)
{
	size_t kept = 0;

	for (size_t i = 0; i < map->nr; i++) {
		const struct cfg_node *n = map->child[i];
		bool empty = n->kind == CFG_NULL || (n->kind == CFG_STR && !*n->s);

		if (!empty)
			map->child[kept++] = map->child[i];
	}
	map->nr = kept;
}

/* A whole number, in quotes or not. */
static bool whole_number(const struct cfg_node *n, int64_t *ret)
{
	return n->s && n->kind != CFG_BOOL && num_i64(n->s, strlen(n->s), ret) == 0;
}

static void check_counts(const struct cfg_node *e, struct problems *p)
{
	const struct cfg_node *gpus = cfg_get(e, "n_gpus"), *nodes = cfg_get(e, "nnodes");
	int64_t v;

	if (gpus && gpus->s && (!whole_number(gpus, &v) || v < -1 || v > 1024))
		cfg_problem(p, gpus, "n_gpus: want a number of GPUs, or -1 for all, not '%.40s'",
			    gpus->s);
	if (nodes && nodes->s && (!whole_number(nodes, &v) || v < 1))
		cfg_problem(p, nodes, "nnodes: want a number of machines, not '%.40s'", nodes->s);
}

static void check_distributed(const struct cfg_node *e, struct problems *p)
{
	const struct cfg_node *d = cfg_get(e, "distributed"), *nodes = cfg_get(d, "nnodes");
	int64_t v;

	if (d && d->kind != CFG_MAP)
		cfg_problem(p, d, "distributed: want a map");
	if (nodes && (!whole_number(nodes, &v) || v < 1))
		cfg_problem(p, nodes, "distributed.nnodes: want a number of machines, not '%.40s'",
			    nodes->s ? nodes->s : "?");
}

static void nodes_are_one(const struct cfg_node *nodes, const char *shown, struct problems *p)
{
	int64_t v;

	if (nodes && whole_number(nodes, &v) && v > 1)
		cfg_problem(p, nodes,
			    "%s: %.40s machines, but without the section `slurm` in a context "
			    "'profrig run' is of one",
			    shown, nodes->s);
}

void mad_check_nodes(const struct cfg_node *e, struct problems *p)
{
	nodes_are_one(cfg_get(e, "nnodes"), "nnodes", p);
	nodes_are_one(cfg_get(cfg_get(e, "distributed"), "nnodes"), "distributed.nnodes", p);
}

static void check_scan(const struct cfg_node *e, struct problems *p)
{
	const struct cfg_node *scan = cfg_get(e, "log_error_pattern_scan");
	const struct cfg_node *patterns = cfg_get(e, "log_error_patterns");

	if (scan && scan->s && mad_truth(scan) < 0)
		cfg_problem(p, scan, "log_error_pattern_scan: want true or false, not '%.40s'",
			    scan->s);
	if (patterns && patterns->kind == CFG_SEQ && !patterns->nr)
		cfg_problem(p, patterns,
			    "log_error_patterns: is empty (log_error_pattern_scan: false looks "
			    "for nothing)");
}

static void check_name(const struct cfg_node *e, struct problems *p)
{
	const struct cfg_node *name = cfg_get(e, "name");

	if (name && name->s && strchr(name->s, ':'))
		cfg_problem(p, name, "name: '%.80s' holds a ':', which a tag cannot name", name->s);
	if (name && name->s && !schema_model_name(name->s))
		cfg_problem(p, name, "name: want at most 100 bytes of plain text");
}

void mad_unknown(const struct problems *unknown, bool lenient, struct problems *p,
		 struct strvec *notes)
{
	for (size_t i = 0; i < unknown->lines.nr; i++) {
		if (!lenient)
			cfg_problem(p, NULL, "%s", unknown->lines.v[i]);
		else if (!strvec_has(notes, unknown->lines.v[i]))
			strvec_push(notes, unknown->lines.v[i]);
	}
}

void mad_check_entry(const struct cfg_node *e, struct problems *p, struct problems *unknown,
		     struct strvec *notes)
{
	const struct cfg_node *old = cfg_get(e, "deprecated");

	schema_check_keys(e, entry_table, p, unknown);
	check_name(e, p);
	check_counts(e, p);
	check_distributed(e, p);
	check_scan(e, p);
	if (!old || mad_truth(old) == 0)
		return;
	if (old->kind == CFG_STR && mad_truth(old) < 0)
		mad_note(notes, old, "this model is deprecated: %.200s", old->s);
	else
		mad_note(notes, old, "this model is deprecated");
}
