/*
 * operands: what the words of a command line name, as sets of runs.
 *
 *	RUN			one run directory, or one analysis directory; that of an ensemble
 *				is the set of its runs
 *	FOLDER			all run directories in it; links (`latest`) are ignored
 *	CAMPAIGN		each cell of its plan is a set: its committed runs
 *	CAMPAIGN:CELL		one of them; CELL is its id, the beginning of one id alone, or its
 *				label
 *	library_perf.csv	a file of `lib perf`
 *	else			a file or folder of traces, which is to be analysed first
 *
 * Of a campaign its plan.json (profrig.campaign/1) and results/ are read: a file there is named
 * after the run and holds the name of its attempt, a directory in runs/. Attempts that are not
 * committed and cells of an older plan do not count.
 *
 *	struct compare_operand o = OPERAND_INIT;
 *	operand_read("campaigns/blas:1f3", &o, &err);
 *	… o.sets.v[i].runs.v[k].dir …
 *	operand_release(&o);
 *
 * Runs of a set are in the order in which they began. One that did not end well stands in `failed`
 * and not in `runs`; one that cannot be read in `problems`, as what is odd in a campaign.
 */
#ifndef PROFRIG_OPERANDS_H
#define PROFRIG_OPERANDS_H

#include "profrig/base/vec.h"
#include "profrig/compare/conditions.h"

#define OPERAND_RUNS_MAX 100000

enum compare_operand_kind {
	OPERAND_RUN,
	OPERAND_ANALYSIS,
	OPERAND_FOLDER,
	OPERAND_CAMPAIGN,
	OPERAND_CELL,
	OPERAND_LIBRARY,
	OPERAND_TRACE
};

struct compared_run {
	char *dir;
	struct conditions c;
};

struct run_set {
	char *label; /* as named, or the cell's label */
	VEC(struct compared_run) runs;
	struct strvec failed; /* "id: status" */
	size_t missing;       /* runs of the plan that are not committed */
	/* of a cell, else "" and empty */
	char *cell, *baseline;
	struct strvec axes, values; /* what it varies, and its values, as JSON */
};
void run_set_release(struct run_set *s);

struct compare_operand {
	enum compare_operand_kind kind;
	char *path; /* of the run, folder, campaign or file */
	VEC(struct run_set) sets;
	/* of a campaign's plan: metrics of its gate, and thresholds beside them */
	struct strvec gates;
	VEC(double) thresholds; /* NaN: none is given */
	struct strvec problems;
};
#define OPERAND_INIT \
	{ \
		.gates = STRVEC_INIT, .problems = STRVEC_INIT \
	}
void operand_release(struct compare_operand *o);

/*
 * Of OPERAND_LIBRARY and OPERAND_TRACE only kind and path are set. -ENOENT and the like: word names
 * nothing; -EINVAL: a folder without runs, a cell that there is not.
 */
int operand_read(const char *word, struct compare_operand *ret, struct err *err);
/* A run or an analysis directory becomes a set of one run under a label of its own. */
int operand_run_add(struct compare_operand *o, const char *dir, const char *label, struct err *err);
/* The conditions that differ because the axes of two cells do; 0 of sets that are none. */
uint32_t run_sets_exempt(const struct run_set *a, const struct run_set *b);
/* Runs of both have blocks of one campaign, so that those of one block are pairs. */
bool run_sets_blocked(const struct run_set *a, const struct run_set *b);

#endif
