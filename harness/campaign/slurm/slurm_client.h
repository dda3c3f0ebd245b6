/*
 * slurm_client: the state of the Slurm client, of its two halves: what runs when
 * (slurm_commands.c), and the calls of scheduler.h (slurm_client.c).
 *
 * One command runs at a time: scancel before sbatch before squeue before sacct.
 */
#ifndef SLURM_CLIENT_H
#define SLURM_CLIENT_H

#include "sched_command.h"
#include "scheduler.h"
#include "slurm_answer.h"
#include "slurm_jobs.h"
#include "slurm_settings.h"

#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"

enum doing { NOTHING, SBATCH, SQUEUE, SACCT, SCANCEL };

struct sched {
	char *dir, *name, *program;
	const struct slurm_settings *settings;
	struct slurm_jobs jobs;
	struct strvec env, env_sbatch;
	char user[24];
	struct slurm_site site;

	struct sched_command command;
	enum doing doing;
	struct slurm_batch *sending; /* of the sbatch in flight */
	size_t chunk;                /* batches that this round of squeue has asked for */
	int64_t began_ns;            /* of the command in flight */
	int64_t poll_ns, sacct_ns;   /* when the next one is due */
	double poll_min_s, poll_max_s, interval_s;
	int64_t answered_ns; /* the last answer of squeue */
	bool silent;         /* the last squeue failed */
	bool accounting;
	char trouble[300];
	uint64_t commands, failed, timeouts;
	VEC(struct sched_view) views;
};

/* Starts a program; the trouble says why it cannot. NOTHING: the caller steps it by itself. */
int slurm_command_start(struct sched *s, enum doing doing, struct strvec *argv);
/* Whether it ended well; else the trouble says how not. */
bool slurm_command_well(struct sched *s, const char *program);
/* As `step` of scheduler.h. */
int slurm_step(struct sched *s);
/* The files of what was cancelled or given up (slurm_script.h). */
void slurm_stops_write(struct sched *s);

#endif
