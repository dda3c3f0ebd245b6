/*
 * campaign_file: a campaign as its author writes it (YAML or JSON).
 *
 *	name: blas-on-mlp
 *	extends: common.yaml			a file, or a list; later ones win, this one over all
 *	vars: {size: "512"}			{var.size} in any text of a run's configuration
 *	models: [examples/mlp, {name: …, command: […]}]
 *	models: [{name: …, recorded: {…}}]	a configuration as plan.json has it (runconf.h): for
 *						commands that write a file themselves
 *	axes, zip, exclude, include		matrix.h
 *	repeat: 5   order: interleaved   seed: 1
 *	baseline: {env.OMP_NUM_THREADS: "1"}	each cell is compared with the one that differs in
 *						these keys alone
 *	gate: [{metric: performance, threshold: 5%}]
 *	metrics: [performance, functions.exclusive_ns]
 *	cooldown: 10s   budget: 2h   budget_runs: 100
 *	cooldown: {seconds: 10, temperature: 3, power: 5%, limit: 5m}
 *						at least 10 s, then until the machine is as it was
 *						before the first run (steady.h)
 *	stop_when: {metric: performance, within: 2%, first: 10}	sample_stop.h; repeat is the most
 *	steps: [[compare, "{dir}", -o, "{dir}/diff.html"]]	words of profrig, once runs are done
 *	retry: {infrastructure: 3, on: [exit, signal, timeout, oom, output], workload: 1,
 *		invalid: 2}
 *	slots: [{gpus: "0"}, {gpus: "1"}]	blocks run side by side, each with these keys
 *	scheduler: slurm   slurm: {…}
 *	analyze: true				each run, when it has ended
 *
 * Every other key is one of a run's configuration, and stands for all runs. Relative paths begin at
 * the folder of the file that has them. A map with `when: {KEY: [VALUES]}`, in `tools`, `env`,
 * scripts or any other place of a run's configuration, counts only in cells whose axis KEY has one
 * of the values; {value: X, when: …} stands for X.
 *
 * Life cycle: campaign_file_read, then the fields are fixed; campaign_file_release. Problems go to
 * `problems` with file and line.
 */
#ifndef CAMPAIGN_FILE_H
#define CAMPAIGN_FILE_H

#include "matrix.h"
#include "order.h"
#include "steady.h"

#include "profrig/base/cfg.h"
#include "profrig/base/err.h"
#include "profrig/base/strvec.h"
#include "profrig/config/runconf.h"

#define CAMPAIGN_REPEAT_MAX 10000
#define CAMPAIGN_SLOTS_MAX 256
#define CAMPAIGN_TEXT_MAX ((size_t)1 << 20) /* of a text whose variables have their values */

struct campaign_model_entry {
	char *word;                  /* a name or path for runconf_request; NULL: */
	const struct cfg_node *node; /* what stands under `model:` */
	char *label;
	/* with `recorded`; the tree NULL: it has none. Borrows the other two */
	struct runconf_replay recorded;
	struct cfg *recorded_tree; /* its root is a node of the file's tree */
	struct strvec left_out;
};

struct campaign_gate {
	char *metric;
	double threshold; /* 0.05 */
};

/* What failed and may be tried again. */
struct campaign_retry {
	unsigned infrastructure; /* 3: nodes, engines, pulls, disks */
	unsigned workload;       /* 0; of the kinds in `on` alone */
	unsigned invalid;        /* 2: the processor was throttled; after it the run counts */
	struct strvec on;        /* exit signal timeout oom output */
};

/* A file that was read: the campaign's own first, then those that it extends. */
struct campaign_source {
	char *path; /* absolute */
	char *text;
	size_t n;
};
struct campaign_sources {
	VEC(struct campaign_source) v;
};
void campaign_sources_release(struct campaign_sources *s);

/* Blocks end once the mean of each cell is known so well (Stein's two stages). */
struct campaign_stop {
	char *metric;   /* NULL: repeat is what is made */
	double within;  /* 0.02: ± 2 % */
	uint32_t first; /* blocks of the first stage */
};

/* A command of profrig behind the runs; its words may hold {dir} and {runs}. */
struct campaign_step {
	struct strvec words;
};

struct campaign_file {
	char *path, *dir, *name; /* path: absolute; dir: where it lies */
	struct campaign_sources sources;
	struct cfg tree; /* of all of them */
	struct cfg run;  /* of the tree: keys of a run's configuration */
	struct matrix matrix;
	VEC(struct campaign_model_entry) models;
	uint32_t repeat;
	uint32_t most; /* that it was before stop_when made it fewer; 0 */
	enum run_order order;
	uint64_t seed;
	const struct cfg_node *baseline; /* NULL: there is none */
	VEC(struct campaign_gate) gates;
	struct strvec metrics;
	double cooldown_s, budget_s; /* 0: none */
	bool steady;                 /* the cool-down is a map: by steady_rule, too */
	struct steady_rule steady_rule;
	uint64_t budget_runs; /* 0: any number */
	struct campaign_retry retry;
	struct campaign_stop stop;
	VEC(struct campaign_step) steps;
	const struct cfg_node *slots; /* a list of maps; NULL: one */
	char *scheduler;              /* "local" */
	bool analyze;
};

/*
 * given NULL: files are read where they are. Else they are taken from there, and so is every file
 * that one of them extends: a campaign goes on with the texts that it began with. -EINVAL: see
 * problems; others: err.
 */
int campaign_file_read(const char *path, const struct campaign_sources *given,
		       struct campaign_file *ret, struct problems *problems, struct err *err);
void campaign_file_release(struct campaign_file *f);

/* How many run directories an attempt has: one for each node of a job. */
size_t campaign_nodes(const struct campaign_file *f);

/*
 * The keys of a slot (from 0) above all others: in given, which is empty or has the command line's.
 * Nothing without slots.
 */
void campaign_slot_config(const struct campaign_file *f, size_t slot, struct cfg *given);

/* The table of keys that a campaign's file has beside those of a run. Ends with path NULL. */
extern const struct schema_key campaign_schema[];

/*
 * The configuration of the runs of one cell: what is laid over the model's. m: of the file's
 * models. Problems: unknown variables, paths that lead nowhere.
 */
void campaign_cell_config(const struct campaign_file *f, const struct campaign_model_entry *m,
			  const struct matrix_cell *cell, struct cfg *ret, struct problems *p);

#endif
