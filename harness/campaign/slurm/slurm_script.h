/*
 * slurm_script: sbatch's words, the job script, and the environment of Slurm's programs.
 *
 * All that the settings ask for goes onto sbatch's command line, since variables of the caller
 * (SBATCH_…) outrank lines of a script. The script is the same text for every task of the array: it
 * chooses its attempts by SLURM_ARRAY_TASK_ID, so it is whole in Slurm's own spool once sbatch has
 * returned. No user text is a part of it but quoted, and the lines of `setup`.
 *
 * A job whose file submit/<nonce>.stop or submit/<nonce>.<task>.stop is there does nothing: it was
 * cancelled or given up. A controller that is killed forgets what it was told in its last seconds,
 * and starts such jobs all the same.
 *
 * A job that Slurm starts a second time (SLURM_RESTART_COUNT) does nothing: its attempts may still
 * run on a node that is cut off.
 *
 * One node, or mpirun: the script ends in exec, so that the signal before the time limit
 * (--signal=B:USR1@60, which the batch shell alone gets) reaches profrig. Several nodes: each
 * attempt is an srun of one profrig for each node, and the script hands signals on. A run then has:
 *
 *	MASTER_ADDR	the first node's host name
 *	MASTER_PORT	master_port, or 15000 + job number mod 15000
 *	NNODES, NPROC_PER_NODE, and NODE_RANK (0 with mpirun)
 *
 * the names that torchrun's --rdzv-endpoint, --nnodes, --nproc-per-node, --node-rank want. With
 * mpirun, Slurm's own variables tell it the nodes, and --ntasks-per-node the slots.
 */
#ifndef SLURM_SCRIPT_H
#define SLURM_SCRIPT_H

#include "scheduler.h"
#include "slurm_settings.h"

#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"

struct slurm_submission {
	const char *nonce;
	const struct sched_job *jobs;
	size_t nr;
	const char *dir, *name, *program, *script; /* script: the path of the job script */
	const struct strvec *exclude;              /* nodes beside those of the settings */
	bool array;                                /* false: Slurm takes none here; nr is 1 */
};

/* "pr-<nonce>" */
char *slurm_job_name(const char *nonce);
void slurm_sbatch_argv(const struct slurm_settings *s, const struct slurm_submission *sub,
		       struct strvec *argv);
void slurm_script_text(const struct slurm_settings *s, const struct slurm_submission *sub,
		       struct strbuf *out);
/* The file that keeps a job, or with SCHED_ALL a submission, from beginning. Owned. */
char *slurm_stop_path(const char *dir, const char *nonce, size_t task);
/* What a task of an array printed; SCHED_ALL: a job that is none. Owned. */
char *slurm_log_path(const char *dir, const char *nonce, size_t task);
/*
 * The environment `from` for sbatch (jobs: true, the jobs inherit it) or the others. LC_ALL=C;
 * times are seconds of 1970; without the variables that change what the programs do or print.
 * sbatch's has no variable with a secret's name, but those of settings.export.
 */
void slurm_environment(const struct slurm_settings *s, char *const *from, bool jobs,
		       struct strvec *env);

#endif
