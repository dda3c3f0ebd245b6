/*
 * run_slurm: the runs of one command by the jobs of a Slurm cluster. They are a small campaign with
 * a folder of its own in the folder of runs, so the journal, the nonce, the look-ups by name, the
 * classes of ends and `profrig campaign resume` are those of campaigns (campaign_job.h,
 * scheduler.h).
 *
 *	run_slurm_wanted(&cp)		a configuration has the map `slurm`
 *	r = run_slurm_make(&o, &cp, &rs, &problems)
 *					settings, name, and the campaign's file as text
 *	run_slurm_write(&rs, &err)	makes the folder, with that file in it
 *	run_slurm_plan(&rs, &job, …)	instead: what sbatch would get; writes nothing
 *	run_slurm_release(&rs)
 *
 * Each run is one attempt: what fails, or whose job is cancelled or lost, is not made again by
 * itself (retry: {infrastructure: 0}). The file has the configurations as plan.json has them
 * (runconf_recorded_json): merged, with absolute paths, without secrets, which the job takes from
 * its own environment. What is known of the machine alone (its devices, the engine that `auto`
 * means) is found out on the node.
 */
#ifndef RUN_SLURM_H
#define RUN_SLURM_H

#include "campaign.h"
#include "run_options.h"
#include "said.h"
#include "slurm_settings.h"

#include "profrig/base/cfg.h"
#include "profrig/base/err.h"
#include "profrig/base/strbuf.h"

/* Of folders: "slurm-<run id>". */
#define RUN_SLURM_PREFIX "slurm-"

struct run_slurm {
	struct slurm_settings settings;
	char *runs_dir, *name, *dir, *path; /* dir: <runs_dir>/<name>; path: of the file in it */
	char *text;
	size_t n;
};

bool run_slurm_wanted(const struct campaign *cp);
/*
 * All models are prepared. -EBADMSG: see problems: keys of `slurm` that are wrong, models that ask
 * for different jobs, a configuration that is too large.
 */
int run_slurm_make(const struct run_options *o, const struct campaign *cp, struct run_slurm *ret,
		   struct problems *problems);
int run_slurm_write(const struct run_slurm *rs, struct err *err);
/*
 * The words of sbatch and the job script, with NONCE where each submission has a name of its own.
 * job: the options of the campaign (run_slurm_options).
 */
int run_slurm_plan(const struct run_slurm *rs, struct run_options *job, struct strvec *argv,
		   struct strbuf *script, struct problems *problems, struct err *err);
/* Options of the campaign: what o has that its file has not. run_options_release. */
void run_slurm_options(const struct run_options *o, struct run_options *ret);
void run_slurm_release(struct run_slurm *rs);

#endif
