/*
 * slurm_run: `run` and `plan` of configurations with the map `slurm` (run_slurm.h). Prints; returns
 * exit codes.
 */
#ifndef SLURM_RUN_H
#define SLURM_RUN_H

#include "campaign.h"
#include "cli.h"

/* -1 to go on: the options of the command can be honoured by jobs. */
int slurm_bad_call(const struct command *c, const struct run_options *o);
/* Submits the runs, waits for them, and prints their run directories. All are prepared. */
int slurm_run(const struct command *c, const struct run_options *o, const struct campaign *cp);
/* Prints the words of sbatch and the job script; starts nothing. */
int slurm_plan(const struct run_options *o, const struct campaign *cp, const char *format);
/* Names what an earlier profrig submitted from this folder of runs and did not live to see end. */
void slurm_say_left(const char *runs_dir);

#endif
