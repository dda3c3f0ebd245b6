/*
 * slurm_jobs: submissions and their jobs, and what is believed of them. Starts nothing: the client
 * (slurm_commands.c) brings answers, and takes along what is to be cancelled.
 *
 *	sending → doubtful → queued	found by name
 *	   ↓         ↓→ refused (later)	looked up twice, lost_after apart, and not there
 *	 refused, queued
 *
 * A job of a queued submission is pending, running, gone (final word, or no row any more), and at
 * last ended or lost (scheduler.h). A job that comes back after it was gone is no longer gone.
 * A job that runs and then waits again was requeued, against our wish: it is cancelled.
 *
 * Times are CLOCK_MONOTONIC in ns unless their names say real.
 */
#ifndef SLURM_JOBS_H
#define SLURM_JOBS_H

#include "scheduler.h"
#include "slurm_answer.h"

#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"

struct slurm_job {
	struct strvec attempts;
	double time_s;
	size_t settled; /* attempts known to have their record, from the front */
	enum sched_state state;
	enum sched_class class;
	char word[41], reason[200], node[401], name[40];
	bool cancelled; /* by us */
	bool seen, ran;
	bool cancel_due;
	bool stop_due;  /* it is given up: it must not begin any more */
	uint64_t round; /* of the last row */
	int64_t gone_ns, looked_ns;
	int64_t running_real_ns, left_real_ns;
};

enum slurm_fate { SLURM_TO_SEND, SLURM_SENDING, SLURM_DOUBT, SLURM_QUEUED, SLURM_NOT_QUEUED };

struct slurm_batch {
	char *nonce, *name;
	enum slurm_fate fate;
	uint64_t id; /* 0: not known */
	bool array, later;
	bool asked;                     /* by the command in flight */
	uint64_t round;                 /* of the last whole answer about it */
	const struct slurm_state *rest; /* in the answer at hand: of tasks that never began */
	bool nameless;                  /* the answer at hand says which number it has */
	char why[240];
	int64_t absent_ns; /* when it was first looked up in vain; 0 */
	int64_t submitted_real_ns;
	VEC(struct slurm_job) jobs;
	VEC(uint64_t) strays; /* to be cancelled */
};

struct slurm_blame {
	char *node;
	unsigned int count;
};

struct slurm_jobs {
	VEC(struct slurm_batch *) batches;
	VEC(struct slurm_blame) blames;
	struct strvec excluded; /* nodes with SCHED_BLAMES */
	struct sched_counts counts;
	int64_t lost_after_ns;
	uint64_t round;
	bool changed; /* since the client cleared it */
	char odd_word[41];
	bool (*settled)(void *ctx, const char *attempt);
	void *ctx;
};

void slurm_jobs_release(struct slurm_jobs *j);
struct slurm_batch *slurm_batch_find(const struct slurm_jobs *j, const char *nonce);
struct slurm_batch *slurm_batch_add(struct slurm_jobs *j, const char *nonce,
				    const struct sched_job *jobs, size_t nr);
/* Some of its jobs have not ended. */
bool slurm_batch_lives(const struct slurm_batch *b);
/*
 * squeue is asked for it: it lives, or was given up as not queued and may still turn up, which is
 * then cancelled.
 */
bool slurm_batch_asks(const struct slurm_batch *b);
/* id 0: not known, a row with its name will tell. */
void slurm_batch_queued(struct slurm_batch *b, uint64_t id);
void slurm_batch_refuse(struct slurm_batch *b, bool later, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The answer of squeue to the names of the batches with `asked`: rows, then what is missing. whole:
 * a missing row means that there is no such job.
 */
struct slurm_read slurm_jobs_squeue(struct slurm_jobs *j, const char *text, size_t n, bool whole,
				    int64_t now_ns);
struct slurm_read slurm_jobs_sacct(struct slurm_jobs *j, const char *text, size_t n,
				   int64_t now_ns);
/* A job is gone and no word tells why. */
bool slurm_batch_wants_sacct(const struct slurm_batch *b);
/* Ends what can be ended. silent: squeue does not answer, so records count for running jobs too. */
void slurm_jobs_judge(struct slurm_jobs *j, bool silent, int64_t now_ns);
/* True: some job is gone and waits for its records. */
bool slurm_jobs_wait(const struct slurm_jobs *j);
void slurm_jobs_cancel(struct slurm_jobs *j, struct slurm_batch *b, size_t task);
void slurm_jobs_blame(struct slurm_jobs *j, const char *node);
/* No node is left out any more: without them there is none left, or the user names one of them. */
void slurm_jobs_pardon(struct slurm_jobs *j);

#endif
