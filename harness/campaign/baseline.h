/*
 * baseline: what tools cost: runs of one model with and without them, in pairs, and what follows.
 *
 *	pairing_add(&s, prepared, block, result)	after each run, in the order they were made
 *	pairing_base(&s, block)			of the same block, when it was before; else NAN
 *	pairing_pair(&s, i, &problems)	once the block is complete: "baseline" and
 *						"overhead" of one run, into its run.json
 *	pairing_conclude(&s, &problems)		after the last: s.costs, baseline.json in every
 *						profiled run, metrics and warnings in its run.json;
 *						`latest` is the last run with all tools. Returns
 *						whether a budget is exceeded
 *	pairing_release(&s)
 *
 * A block is one run of each kind: without tools, with all, with each alone. In odd blocks the
 * order is turned round (ABBA), so that what drifts does not look like overhead. Statistics are
 * those of `compare` (sample_verdict.h), over blocks in which both runs ended well: below three of
 * them there is a ratio, but no interval and no test.
 */
#ifndef BASELINE_H
#define BASELINE_H

#include "prepare.h"

#include "profrig/base/sample_verdict.h"

/* A run without tools, for the next one to be compared with. */
struct baseline {
	char run_id[256];
	double workload_s; /* NAN: there is none, or it did not end well */
};

struct paired_run {
	char *run_dir, *run_id;
	char *tools; /* "" for none; "a,b" */
	bool bare, alone;
	size_t block;
	double workload_s; /* NAN: it did not end well */
	double performance;
	double clock_mhz, gpu_clock_mhz; /* mean ones of run.json; NaN: unknown */
	char *unit;                      /* of the workload's performance; "" none */
	double budget;                   /* NAN: none is stated */
	const struct prepared *prepared; /* until it is prepared again */
	bool noted;
};

/* A figure with tools against the same without, over all pairs. */
struct cost_change {
	struct sample_effect effect; /* ratio, low, high: with tools over without */
	double baseline, tools;      /* geometric means; NaN without pairs */
};
size_t cost_pairs(const struct cost_change *c);

/* The cost of one set of tools. */
struct cost {
	const struct paired_run *of; /* the first of its kind */
	struct cost_change time, speed;
};
/* The measured overhead is above the budget. */
bool cost_over_budget(const struct cost *c);
/*
 * "within": it is not; "over": it is, and the runs with tools are `slower` by compare's rule with
 * the budget as margin; "unclear": it is, and the pairs are too few or too noisy for that; "":
 * without a budget, or pairs.
 */
const char *cost_verdict(const struct cost *c);
/* compare's verdict on the time, with a margin of 5 %: slower, faster, same, unclear; "": no pairs.
 */
const char *cost_change(const struct cost *c);

struct pairing {
	VEC(struct paired_run) v;
	/* Once it is concluded: */
	VEC(struct cost) costs;
	size_t clocks_differ; /* blocks whose runs have clocks more than 5 % apart */
	char clocks[120];     /* of the worst of them: how much */
};

void pairing_add(struct pairing *s, const struct prepared *p, size_t block,
		 const struct run_result *r);
struct baseline pairing_base(const struct pairing *s, size_t block);
/* problems: what could not be written, one line each. */
void pairing_pair(struct pairing *s, size_t i, struct strvec *problems);
bool pairing_conclude(struct pairing *s, struct strvec *problems);
void pairing_release(struct pairing *s);

#endif
