/*
 * shared_reading: ranks (comm.h) that read files for rank 0's model. Rank 0 walks over the inputs
 * as a single process does; where it would read a file that another rank has read, it plays what
 * that rank has sent (sink_log.h). So the model, and with it every table, is that of one process.
 *
 * Rank 0:
 *	1. share_add of each file that will be read, in that order; share_begin
 *	2. share_take in the place of reader_read: false when rank 0 has to read by itself, as it
 *	   has to when the other rank could not, or saw a file of another size
 *	3. share_end
 * The others: session_ranks_serve, until rank 0 dismisses them.
 *
 * Files are dealt by their size, the largest first, each to the rank with the least so far; rank 0,
 * which plays all, counts as having a quarter of all already, and reads the first file. A rank
 * sends its files in their order and holds one at a time.
 */
#ifndef SHARED_READING_H
#define SHARED_READING_H

#include "session_private.h"

#include "profrig/model/sink_log.h"

struct share_task {
	char *path, *run_dir, *host; /* run_dir, host: of a run's file; else NULL */
	bool everywhere;             /* model_set_default_host */
	const struct reader *reader;
	uint64_t bytes;
	int rank;
	bool received, told; /* told: body is its log */
	int read;            /* what its reader returned */
	struct strbuf body;
	/* where ranks share the model */
	int owner;        /* the rank that has its calls, and body */
	char *why;        /* it could not be read */
	const char *defs; /* the log without calls, in shared_reading.all */
	size_t defs_n;
	struct sink_log_tracks calls; /* tracks with calls */
	bool taken;
	input_id first, end; /* its inputs in the model */
};

struct shared_reading {
	struct comm *comm; /* NULL: nothing is shared */
	VEC(struct share_task) tasks;
	size_t next;   /* where the next one is likely */
	size_t played; /* files that other ranks have read */
	bool lanes;    /* ranks share the model: shared_lanes.c */
	struct comm_parts all;
};

/* run: the run directory that the file is of; NULL. */
void share_add(struct shared_reading *sh, const char *path, const struct reader *reader,
	       const struct rundir *run);
/* Hands the tasks out; does nothing for fewer than two. Whether it did. */
bool share_begin(struct shared_reading *sh, struct comm *comm);
/* Plays a file into the model. *ret_r: what its reader returned; err: when that is < 0. */
bool share_take(struct shared_reading *sh, const char *path, const struct reader *reader,
		struct model *m, int *ret_r, struct err *err);
/* Receives what was not wanted, and forgets all. */
void share_end(struct shared_reading *sh);

/* For shared_lanes.c: sets the rank of each task; even: rank 0 has as much to do as the others. */
void share_deal(struct shared_reading *sh, int size, bool even);
/* Reads a task's file into a log, owned. */
struct sink_log *share_read(struct session *s, const struct share_task *t, struct workers *w,
			    int *ret_r, struct err *err);

/* ---- shared_lanes.c: ranks share the model; each makes all these calls ---- */

/*
 * In the place of share_begin. share_take then plays the calls of this rank's files. False, with
 * the reason in s->alone: rank 0 must have all calls.
 */
bool share_lanes(struct shared_reading *sh, struct session *s);
/* After model_finish: what the calls of other ranks tell of tracks and inputs. */
void share_lanes_finished(struct shared_reading *sh, struct model *m);

/* ---- orders of rank 0 ---- */

/* All ranks stream (profile.h). only: this input instead of those of the command line; NULL. */
void session_ranks_stream(struct comm *comm, const char *only);
/* All ranks share a model. */
void session_ranks_lanes(struct comm *comm, const char *only);
/* The others are done. Nothing when they never got an order. */
void session_ranks_dismiss(struct comm *comm);
/* Ranks but the first: carries out orders. along: reads along; lanes: shares a model. */
void session_ranks_serve(struct session *s, const struct strvec *inputs,
			 void (*along)(struct session *s, const struct strvec *inputs, bool lanes));

#endif
