/*
 * mad_slurm: the section `slurm` of madengine's contexts and models as the map `slurm:` of a run's
 * configuration (slurm_settings.h has its keys).
 *
 *	slurm		{"partition": "gpu", "nodes": 2, "gpus_per_node": 8, "time": "02:00:00", …}
 *	distributed	{"launcher": "torchrun", "nnodes": 2, "nproc_per_node": 8, "port": 29500}
 *
 *	mad_slurm_config(slurm, distributed, lenient, &tree, …)	of each layer: what it has
 *	mad_slurm_defaults(&tree, slurm, …)			once, of the layers together
 *
 * What madengine fills in is filled in here, each with a note: partition amd-rccl, nodes 1,
 * gpus_per_node 8, time 24:00:00, exclusive. `gpus_per_node` 0 asks for none. Its keys for its own
 * folders and its check of nodes have no effect (a note says so); `mem`, `mail_user` and
 * `mail_type`, which it does not read, do what they say.
 */
#ifndef PROFRIG_MAD_SLURM_H
#define PROFRIG_MAD_SLURM_H

#include "profrig/base/cfg.h"
#include "profrig/base/strvec.h"

/*
 * slurm: the section, a map, or NULL; distributed: the one beside it, or NULL. The keys that they
 * have go into the map `slurm` of to. Unknown keys are problems, or notes when lenient.
 */
void mad_slurm_config(const struct cfg_node *slurm, const struct cfg_node *distributed,
		      bool lenient, struct cfg *to, struct problems *p, struct strvec *notes);
/* What the map `slurm` of to lacks; at: the section that asks for Slurm. */
void mad_slurm_defaults(struct cfg *to, const struct cfg_node *at, struct strvec *notes);

#endif
