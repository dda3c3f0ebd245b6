/*
 * scheduler: who runs the attempts of a campaign: a cluster's scheduler, or this machine.
 *
 *	struct sched *s;
 *	r = sched->open(&opts, &s, &err)
 *	sched->submit(s, nonce, jobs, nr, &err)		the engine has journaled the nonce before
 *	for (;;) { ms = sched->step(s); sched->views(s, &v, &n); … sleep at most ms }
 *	sched->cancel(s, nonce, task); sched->blame(s, "n3"); sched->close(s)
 *
 * A job is a list of attempts that run one after the other in one allocation. A submission is
 * what one nonce names: jobs that are handed over together (a Slurm array). A job is known by nonce
 * and task (its place in the submission, from 0), never by the scheduler's number alone.
 *
 * No call waits: step() starts a command, reads what it has said so far, or ends it when its time
 * is over, and states how many milliseconds later the next call has something to do. (open() may
 * wait, as long as one command may take.) close() ends a command in flight and leaves jobs alone.
 *
 * The truth about an attempt is its record (run.json), then the scheduler. So a job that has left
 * the scheduler is SCHED_ENDED once all its attempts have their record (opts.settled), or
 * `lost_after_s` later with the scheduler's word, or SCHED_LOST when there is no word either. The
 * engine then looks at each attempt: where there is a record it decides; where there is none, the
 * job's class does. An attempt of a job that is SCHED_LOST may still run on a node that is cut off:
 * its directory is its own, a new attempt gets another one, and one of them is committed.
 *
 * What runs on the node is `PROGRAM campaign work DIR --attempts A,B,C`. It makes the directory
 * runs/<attempt> itself (mkdir, EEXIST: passes over that attempt), so a job that runs twice, or a
 * submission that was queued twice, runs an attempt once. It exits 0 also when a workload failed,
 * and on SIGTERM or SIGUSR1 begins no further attempt.
 *
 * With nodes > 1 it is started on each node, with `--node K --nodes N` behind these words, and the
 * run directory of node K is runs/<attempt>/node-<K>. With launcher mpirun it is started once, on
 * the first node, and the run directory is runs/<attempt>.
 *
 * Threads: one.
 */
#ifndef SCHEDULER_H
#define SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/err.h"

struct sched;
struct slurm_settings;

/* Letters, digits and "._-", at most this many. */
#define SCHED_NONCE_MAX 48

enum sched_state {
	SCHED_SUBMITTING, /* not known to be queued: being handed over, or looked up */
	SCHED_PENDING,
	SCHED_RUNNING,
	SCHED_ENDED,
	SCHED_LOST,
	SCHED_REFUSED, /* was never queued; see `later` */
};

enum sched_class {
	SCHED_NONE, /* no word */
	SCHED_OK,
	SCHED_INFRASTRUCTURE,
	SCHED_WORKLOAD,
	SCHED_CANCELLED, /* by us */
};

struct sched_job {
	char *const *attempts; /* NULL-terminated, at least one */
	double time_s;         /* limit of the job; 0: as the settings say */
};

/* What is known of a job. Texts are borrowed until the next call; "" unknown. */
struct sched_view {
	const char *nonce;
	size_t task;
	enum sched_state state;
	enum sched_class class;
	const char *job;    /* the scheduler's name of it: "28_3" */
	const char *word;   /* the scheduler's own word: NODE_FAIL */
	const char *reason; /* why it waits, was refused or is lost */
	const char *node;   /* "n1", "n[1-2]" */
	const char *stuck;  /* waits, for this, which does not come by itself; NULL: it does */
	bool later;         /* SCHED_REFUSED: a later try may succeed, the request itself is fine */
	int64_t submitted_ns, running_ns, left_ns; /* CLOCK_REALTIME when it was seen; 0: not yet */
};

/* What went wrong between profrig and the scheduler; counts since open. */
struct sched_counts {
	uint64_t commands, failed, timeouts;
	uint64_t odd_rows; /* answers that could not be read */
	uint64_t strays;   /* second queueings of one nonce, cancelled */
	uint64_t lookups;  /* of submissions whose fate was not known */
};

struct sched_opts {
	const char *dir;     /* of the campaign, absolute, on a file system that all nodes see */
	const char *name;    /* of the campaign */
	const char *program; /* profrig on the nodes, absolute */
	/* Whether the attempt's record says that it has ended. NULL: sched_settled. */
	bool (*settled)(void *ctx, const char *attempt);
	void *ctx;
	const struct slurm_settings *slurm; /* of slurm; borrowed until close */
	/* For tests, 0: 5, 60, 60 s. */
	double poll_min_s, poll_max_s, lost_after_s;
};

struct scheduler {
	const char *name, *about;
	/* -ENOENT, -EAGAIN: it is not there, does not answer. opts' texts are copied. */
	int (*open)(const struct sched_opts *opts, struct sched **ret, struct err *err);
	/* How many jobs a submission may have. */
	size_t (*submission_max)(const struct sched *s);
	/*
	 * Hands over; jobs is copied. Also again, of a nonce whose jobs are SCHED_REFUSED (later).
	 * -EINVAL: the nonce or an attempt is no name, or the nonce is in use; -E2BIG: too many.
	 */
	int (*submit)(struct sched *s, const char *nonce, const struct sched_job *jobs, size_t nr,
		      struct err *err);
	/*
	 * A submission of an earlier process. known: the journal says that it was queued, else only
	 * that it was going to be. It is looked up by its name.
	 */
	int (*adopt)(struct sched *s, const char *nonce, const struct sched_job *jobs, size_t nr,
		     bool known, int64_t submitted_ns, struct err *err);
	/* A job that an earlier process cancelled, or all of the nonce (SCHED_ALL): so marked. */
	void (*cancelled)(struct sched *s, const char *nonce, size_t task);
	int (*step)(struct sched *s);
	/* All jobs, in the order of submission. Borrowed until the next call of anything. */
	size_t (*views)(struct sched *s, const struct sched_view **ret);
	/* Asks for the end of a job or of a whole submission. SCHED_ENDED comes later. */
	void (*cancel)(struct sched *s, const char *nonce, size_t task);
	/*
	 * An attempt failed on that node for no fault of the workload. After two of them later
	 * submissions leave the node out. Jobs that end because of their node count by
	 * themselves. The name is the scheduler's; a list of nodes is passed over.
	 */
	void (*blame)(struct sched *s, const char *node);
	/* One line when the scheduler does not answer as it should, else "". Borrowed. */
	const char *(*trouble)(const struct sched *s);
	/* The path of what a job printed, owned; there may be no such file. */
	char *(*log)(const struct sched *s, const char *nonce, size_t task);
	struct sched_counts (*counts)(const struct sched *s);
	void (*close)(struct sched *s); /* NULL is fine */
};

#define SCHED_ALL SIZE_MAX
#define SCHED_BLAMES 2

#define SCHEDULERS(X) X(slurm)
#define SCHEDULER_DECLARE(n) extern const struct scheduler scheduler_##n;
SCHEDULERS(SCHEDULER_DECLARE)

extern const struct scheduler *const schedulers[]; /* ends with NULL */
const struct scheduler *scheduler_find(const char *name);

const char *sched_state_word(enum sched_state state); /* "pending" */
/* "ok", "infrastructure", "workload", "cancelled", "" */
const char *sched_class_word(enum sched_class class);
/* Letters, digits and "._-", 1 to max of them, not beginning with '.' or '-'. */
bool sched_name_ok(const char *name, size_t max);
/*
 * Whether <dir>/runs/<attempt>/run.json, or with nodes > 1 each .../node-<K>/run.json, is there and
 * says that the run has ended. No link is followed, and at most 16 MiB are read.
 */
bool sched_settled(const char *dir, const char *attempt, size_t nodes);

#endif
