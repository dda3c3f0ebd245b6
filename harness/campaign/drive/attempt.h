/*
 * attempt: one execution of a run of a campaign, and how it ended.
 *
 *	attempt_execute(w, name, &said, &err)	in a worker: runs it, commits it when it ended well
 *	attempt_judge(&where, name, &o)		anywhere: by its run directory
 *
 *	attempt_commit(&where, name, …)		once it has ended well: commit.h, and what is in its
 *						place must name an attempt that can count
 *
 * A worker counts how often the processor was throttled while an attempt ran (steady.h), and notes
 * it in logs/<attempt>.throttled (of several nodes logs/<attempt>.<K>.throttled). It leaves the
 * commit of such an attempt to the campaign, which knows how many extra runs there were
 * (campaign_drive.h). A worker that is killed between the end of the run and the note leaves an
 * attempt that counts as any other.
 *
 * A run directory is what the attempt itself, or the workload, could write: it is read with bounds,
 * and no link of it is followed.
 */
#ifndef ATTEMPT_H
#define ATTEMPT_H

#include "campaign_state.h"
#include "cells.h"

struct attempt_outcome {
	bool found;   /* there is a run.json */
	bool running; /* and its profrig lives */
	enum attempt_class class;
	char state[16];     /* of run.json; "lost" without one */
	char kind[12];      /* of a workload's failure: exit signal timeout oom output metric */
	char reason[200];   /* "" of one that is fine */
	int exit_code;      /* of the workload; -1 unknown */
	char signal[16];    /* "" none */
	char node[65];      /* the host where it ran; "" unknown */
	double workload_s;  /* NaN unknown */
	uint64_t throttled; /* how often the processor was meanwhile; changes no class here */
	char figure[80]; /* "12.5 samples/s": the gate's first metric, else performance; "" none */
};

/* Where attempts are, and what they must have. */
struct attempt_where {
	const char *dir;              /* the campaign's, absolute */
	const struct strvec *metrics; /* of gates: an attempt that lacks one has failed */
	size_t nodes; /* above 1: each has a run directory, runs/<attempt>/node-<K> */
};
/* Of several nodes the worst end counts; of the first one the figures. */
void attempt_judge(const struct attempt_where *w, const struct attempt_name *a,
		   struct attempt_outcome *ret);

/* The value of a metric of an attempt that ended well; NaN: it has none. */
double attempt_metric(const struct attempt_where *w, const struct attempt_name *a,
		      const char *metric);
/*
 * Whether a commit of this attempt is one: its run directory is there, and says that it ended well,
 * or does not say yet how it ended (another node may see an older state of it).
 */
bool attempt_holds(const struct attempt_where *w, const struct attempt_name *a);
/* As commit_attempt; first a commit that names what cannot count is moved aside: said. */
int attempt_commit(const struct attempt_where *w, const struct attempt_name *a, char said[200],
		   struct err *err);

/*
 * The last line of a log of profrig's, "" none: why an attempt, or a job, left no run.json. with:
 * the last one that has this text, in the last 16 KiB of the log; "": any.
 */
void attempt_last_words(const char *path, const char *with, char ret[200]);

/* What a worker needs of its campaign. */
struct attempt_work {
	struct attempt_where where;
	size_t node; /* this one, from 0, where there are several */
	const struct run_options *o;
	struct cells *cells;
	const struct strvec *ids; /* of cells in the plan, one for each */
	const char *campaign;     /* its name */
	/* Executes what is prepared, analyses it where that is wanted; returns an exit code. */
	int (*execute)(void *ctx, struct prepared *p);
	void *ctx;
};

enum attempt_end {
	ATTEMPT_ENDED,      /* not committed */
	ATTEMPT_COMMITTED,  /* by this attempt */
	ATTEMPT_SUPERSEDED, /* another one is committed; it may not even have begun */
};
/* said: what else is worth knowing, "" nothing. < 0: it could not begin. */
int attempt_execute(const struct attempt_work *w, const struct attempt_name *a,
		    enum attempt_end *ret, char said[200], struct err *err);

/*
 * The loop of a worker: reads names of attempts, a line each, from fd `in`, and answers each with
 * "NAME committed|superseded|ended|unable WORDS" on `out`, until its input ends. What profrig and
 * its libraries print meanwhile goes to logs/<attempt>.log.
 */
int attempt_worker(const struct attempt_work *w, int in, int out, struct err *err);

#endif
