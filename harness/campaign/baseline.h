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
 * order is turned round (ABBA), so that what drifts does not look like overhead. Statistics:
 * paired.h.
 */
#ifndef BASELINE_H
#define BASELINE_H

#include "prepare.h"

#include "profrig/base/paired.h"

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
	char *unit;                      /* of the workload's performance; "" none */
	double budget;                   /* NAN: none is stated */
	const struct prepared *prepared; /* until it is prepared again */
	bool noted;
};

/* The cost of one set of tools, over all pairs. */
struct cost {
	const struct paired_run *of; /* the first of its kind */
	struct paired_ratio time, speed;
	double baseline_s, tools_s, baseline_speed, tools_speed; /* geometric means of the pairs */
};
bool cost_over_budget(const struct cost *c);
/* "within", "over", "unclear" (the interval reaches below the budget), "" without a budget. */
const char *cost_verdict(const struct cost *c);

struct pairing {
	VEC(struct paired_run) v;
	VEC(struct cost) costs; /* once it is concluded */
};

void pairing_add(struct pairing *s, const struct prepared *p, size_t block,
		 const struct run_result *r);
struct baseline pairing_base(const struct pairing *s, size_t block);
/* problems: what could not be written, one line each. */
void pairing_pair(struct pairing *s, size_t i, struct strvec *problems);
bool pairing_conclude(struct pairing *s, struct strvec *problems);
void pairing_release(struct pairing *s);

#endif
