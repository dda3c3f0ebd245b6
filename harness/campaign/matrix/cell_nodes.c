#include "cells.h"
#include "slurm_settings.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

#define JOB "the job"

static void member_put(struct cfg *over, const char *map, const char *name, enum cfg_kind kind,
		       const char *value)
{
	struct cfg_node *n = cfg_get(over->root, map);

	if (!n || n->kind != CFG_MAP)
		n = cfg_put(over, over->root, map, CFG_MAP, NULL, JOB, LAYER_FILE);
	cfg_put(over, n, name, kind, value, JOB, LAYER_FILE);
}

static void env_put(struct cfg *over, const char *name, const char *value)
{
	member_put(over, "env", name, CFG_STR, value);
}

/* Of launchers that start their processes themselves it is empty, and stays so. */
static void runner_put(const struct campaign_model_entry *m, struct cfg *over)
{
	const struct cfg *tree = m->recorded.tree;
	const char *was = tree ? cfg_text(cfg_get(tree->root, "env"), "MAD_MULTI_NODE_RUNNER") : "";
	CLEANUP(xfreep) char *words = NULL;

	if (!was || !*was)
		return;
	words = xasprintf("torchrun --nnodes=%s --node_rank=%s --nproc_per_node=%s "
			  "--master_addr=%s --master_port=%s",
			  getenv("NNODES"), getenv("NODE_RANK"), getenv("NPROC_PER_NODE"),
			  getenv("MASTER_ADDR"), getenv("MASTER_PORT"));
	env_put(over, "MAD_MULTI_NODE_RUNNER", words);
}

void cell_nodes_config(const struct campaign_file *f, const struct campaign_model_entry *m,
		       struct cfg *over)
{
	static const char *const names[] = { "MASTER_ADDR", "MASTER_PORT", "NNODES",
					     "NPROC_PER_NODE", "NODE_RANK" };
	CLEANUP(slurm_settings_release) struct slurm_settings s;
	struct problems ignored = PROBLEMS_INIT;
	bool all = f->scheduler && !strcmp(f->scheduler, "slurm");

	slurm_settings_init(&s);
	slurm_settings_read(all ? cfg_get(f->tree.root, "slurm") : NULL, &s, &ignored);
	problems_release(&ignored);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		all &= getenv(names[i]) != NULL;
	if (!all || (s.launcher == SLURM_PLAIN && s.nodes <= 1))
		return;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		env_put(over, names[i], getenv(names[i]));
	if (s.launcher == SLURM_TORCHRUN && s.nodes > 1)
		runner_put(m, over);
	if (slurm_run_nodes(&s) > 1 && strcmp(getenv("NODE_RANK"), "0") != 0) {
		member_put(over, "results", "require", CFG_BOOL, "false");
		member_put(over, "results", "perf_csv", CFG_NULL, NULL);
	}
}
