/*
 * slurm_settings: the map `slurm:` of a campaign: what its jobs ask the cluster for.
 *
 *	slurm:
 *	  partition: gpu
 *	  account: proj7
 *	  gpus_per_node: a100:2
 *	  time: 2h
 *	  modules: [rocm/6.2]
 *	  pack: 6
 *
 * slurm_settings_init → slurm_settings_read (or fields by hand) → slurm_settings_release. Each key
 * has its row in slurm_schema (types, ranges, defaults). Texts are checked here, as they become
 * words of sbatch's command line or lines of the job script.
 */
#ifndef SLURM_SETTINGS_H
#define SLURM_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "profrig/base/cfg.h"
#include "profrig/base/strvec.h"
#include "profrig/config/runconf.h"

enum slurm_launcher {
	SLURM_PLAIN,    /* one profrig for each node, which runs the workload there */
	SLURM_TORCHRUN, /* the same; the workload is torchrun, or calls it */
	SLURM_MPIRUN,   /* one profrig on the first node; the workload is mpirun, or calls it */
};

struct slurm_settings {
	/* NULL: not asked for */
	char *partition, *account, *qos, *reservation, *constraint, *gpus, *gpus_per_node, *mem,
		*program;
	struct strvec nodelist, exclude, modules, setup, options, export;
	double time_s;            /* 0: as the partition has it */
	double command_timeout_s; /* of one sbatch, squeue, … */
	int nodes, cpus;          /* cpus 0: not asked for */
	bool exclusive;
	int pack;           /* runs in one job, at most */
	int max_jobs;       /* queued or running at once, at most */
	int max_running;    /* of one array; 0: as Slurm decides */
	int nproc_per_node; /* 0: as many as gpus_per_node, else 1 */
	int master_port;    /* 0: made of the job's number */
	enum slurm_launcher launcher;
};

extern const struct schema_key slurm_schema[]; /* ends with path NULL; paths begin below slurm: */

/* The defaults. */
void slurm_settings_init(struct slurm_settings *s);
/* map: NULL, the defaults. Problems are added with their places; s is to be released anyway. */
void slurm_settings_read(const struct cfg_node *map, struct slurm_settings *s, struct problems *p);
void slurm_settings_release(struct slurm_settings *s); /* also a CLEANUP function */

/* How many processes a node gets (NPROC_PER_NODE). */
int slurm_processes(const struct slurm_settings *s);
/* Nodes that have a profrig, and a run directory, each. */
size_t slurm_run_nodes(const struct slurm_settings *s);
/* "90", "1-12", "90:30", "2:00:00", "1-12:30:00", as Slurm writes times; -EINVAL. */
int slurm_time_parse(const char *text, double *ret_s);
/* Why an element of `options` is not taken; NULL: it is. */
const char *slurm_option_problem(const char *option);

#endif
