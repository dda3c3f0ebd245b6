/*
 * mad_slurm: the section `slurm` of madengine's contexts and models as a campaign's settings.
 *
 *	slurm		{"partition": "gpu", "nodes": 2, "gpus_per_node": 8, "time": "02:00:00", …}
 *	distributed	{"launcher": "torchrun", "nnodes": 2, "nproc_per_node": 8, "port": 29500}
 *
 * What madengine fills in is filled in here, each with a note: partition amd-rccl, nodes 1,
 * gpus_per_node 8, time 24:00:00, exclusive. Its keys for its own folders and its check of nodes
 * have no effect (a note says so); `mem`, `mail_user` and `mail_type`, which it does not read, do
 * what they say.
 */
#ifndef PROFRIG_MAD_SLURM_H
#define PROFRIG_MAD_SLURM_H

#include "slurm_settings.h"

#include "profrig/base/cfg.h"
#include "profrig/base/strvec.h"

/*
 * slurm: the section, a map; distributed: the one beside it, or NULL. Unknown keys are problems, or
 * notes when lenient. ret is to be released anyway. -EINVAL: there are new problems.
 */
int mad_slurm_settings(const struct cfg_node *slurm, const struct cfg_node *distributed,
		       bool lenient, struct slurm_settings *ret, struct problems *p,
		       struct strvec *notes);

#endif
