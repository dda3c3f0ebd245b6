/*
 * campaign_drive: makes the runs that a campaign lacks, until none is left, or it is stopped.
 *
 * First what an earlier process left open is settled: an attempt that was announced and has no end
 * is judged by its run directory: committed when it ended well, waited for when it lives, else
 * written down as interrupted or failed. A commit that the journal lacks is written down, where it
 * names an attempt that can count, else moved aside. One that the journal has and results/ lacks is
 * made again from the run directory; where that is gone, too, the run is left again (`retry`).
 *
 * Then runs are made in the order of the plan (order.h). Workers do that: a process for each slot,
 * which gets the names of attempts and answers how each ended (attempt.h); one that dies is a
 * failure of the machine, and another one takes its place. A slot takes a block at a time, so that
 * what is compared within a block ran in one place. Of each attempt `intend` is in the journal
 * before it begins, `ended` and `committed` after it.
 *
 * A failed attempt is made again by the rules of the file (retry): failures of the machine after
 * 10, 20, 40 s, …, at the end of its block; those of the workload only where the file says so, and
 * never by what was measured.
 *
 * An attempt during which the processor was throttled is `invalid` and made again, as often as
 * retry.invalid says for each run; then one counts all the same, and says so. Nothing else makes an
 * attempt invalid.
 *
 * With a cool-down that waits (campaign_file.h) the journal has `idle`: what the machine was like
 * before the first run since it was booted. An `intend` whose pause ended at its limit has
 * "cooldown": "limit".
 *
 * Signals: the caller sets *interrupt to the number. The first one drains: no run begins, those
 * that run end. The second stops: they get SIGINT. SIGTERM stops at once, as does any signal with
 * `at_once`.
 */
#ifndef CAMPAIGN_DRIVE_H
#define CAMPAIGN_DRIVE_H

#include "campaign_job.h"

enum drive_event {
	DRIVE_SETTLED,   /* how many were; text */
	DRIVE_BEGINS,    /* an attempt */
	DRIVE_COMMITTED, /* it ended well and counts; text: its figure */
	DRIVE_SUPERSEDED,
	DRIVE_ENDED,  /* not well; text is why */
	DRIVE_WAITS,  /* it is made again after `wait_s` */
	DRIVE_FAILED, /* the run has failed for good */
	DRIVE_NOTE,   /* text */
	DRIVE_DRAINS, /* a signal, or the budget, ended the making of runs; text is why */
	DRIVE_COOLS,  /* a cool-down of wait_s begins; text: what it waits for then */
	DRIVE_TICK    /* nothing happened for a second; for those who show time */
};

struct drive_moment {
	enum drive_event what;
	const char *run, *label; /* NULL: of the campaign */
	uint32_t attempt, repeat;
	const char *text; /* "" none */
	double wait_s, run_s;
	/* so far */
	uint64_t runs, committed, failed, running, block, blocks;
	double eta_s; /* NaN unknown */
};

struct drive_opts {
	const char *program; /* that has the hidden command of a worker */
	volatile sig_atomic_t *interrupt;
	void (*moment)(void *ctx, const struct drive_moment *m);
	void *ctx;
	bool ticks;   /* DRIVE_TICK is wanted */
	bool at_once; /* a signal stops */
};

struct drive_outcome {
	uint64_t runs, committed, failed, left, attempts, superseded;
	bool drained; /* by a signal or the budget */
	int signal;   /* that stopped it, 0 */
};

int campaign_drive(struct campaign_job *j, const struct drive_opts *o, struct drive_outcome *ret,
		   struct err *err);
/* Counts of the plan's runs by the state. */
void campaign_count(const struct campaign_job *j, struct drive_outcome *ret, uint64_t *ret_running);

#endif
