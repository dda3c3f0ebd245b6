/*
 * baseline: what tools cost: runs of one model with and without them, in pairs, and what follows.
 *
 *	pairing_add(&s, prepared, block, result)	after each run, in the order they were made
 *	pairing_base(&s, block)			of the same block, when it was before; else NAN
 *	pairing_pair(&s, i)			once the block is complete: "baseline" and
 *						"overhead" of one run, into its run.json
 *	pairing_conclude(&s, analysed)		after the last: baseline.json in every profiled run,
 *						metrics and warnings in its run.json, the table
 *						`overhead` in its analysis, closing lines; `latest`
 *						is the last run with all tools. Returns EXIT_GATE
 *						when a budget is exceeded, else EXIT_DONE
 *	pairing_release(&s)
 *
 * A block is one run of each kind: without tools, with all, with each alone. In odd blocks the
 * order is turned round (ABBA), so that what drifts does not look like overhead. Statistics:
 * paired.h.
 */
#ifndef BASELINE_H
#define BASELINE_H

#include "cli.h"

struct outcome {
	char *run_dir, *run_id;
	char *tools; /* "" for none; "a,b" */
	bool bare, alone;
	size_t block;
	double workload_s; /* NAN: it did not end well */
	double performance;
	char *unit;                      /* of what the workload said of its speed; "" nothing */
	double budget;                   /* NAN: none is stated */
	const struct prepared *prepared; /* until it is prepared again */
	bool noted;
};

struct pairing {
	VEC(struct outcome) v;
};

void pairing_add(struct pairing *s, const struct prepared *p, size_t block,
		 const struct run_result *r);
struct baseline pairing_base(const struct pairing *s, size_t block);
void pairing_pair(struct pairing *s, size_t i);
int pairing_conclude(struct pairing *s, bool analysed);
void pairing_release(struct pairing *s);

#endif
