/*
 * slurm_answer: what Slurm's programs print, read as data that may be anything.
 *
 * Each reader takes the text of one answer and gives rows to a callback; lines that are none are
 * counted, never guessed at. Names, numbers and texts are checked and bounded. The texts of a row
 * are valid during the call.
 */
#ifndef SLURM_ANSWER_H
#define SLURM_ANSWER_H

#include "scheduler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- states ---- */

enum slurm_phase {
	SLURM_UNKNOWN, /* no state of Slurm's */
	SLURM_WAITS,
	SLURM_RUNS,
	SLURM_LEFT,
	SLURM_HELD, /* requeued or held after a failure: is to be cancelled by us */
};

struct slurm_state {
	const char *word;
	enum slurm_phase phase;
	enum sched_class class; /* of those that have left or are held */
};

/* "CANCELLED by 0", "NODE_FAIL", "COMPLETED+"; never NULL. */
const struct slurm_state *slurm_state_find(const char *text);
/*
 * A job that waits for this reason waits for a change of the cluster, of a limit, or of itself:
 * what it waits for, in words. NULL: its turn comes by itself.
 */
const char *slurm_reason_stuck(const char *reason);
/* A job whose launch failed and that Slurm holds ("launch failed requeued held"). */
bool slurm_reason_failed(const char *reason);

/* ---- squeue, sacct ---- */

#define SLURM_NO_TASK SIZE_MAX

struct slurm_row {
	uint64_t id; /* of the array, %F */
	size_t task; /* %K; SLURM_NO_TASK: of no array */
	const char *name;
	const struct slurm_state *state;
	const char *word;   /* the state as it came, without "by UID", at most 40 bytes */
	const char *reason; /* squeue: %r, without control characters; sacct: "" */
	const char *node;   /* checked; "" none */
};

typedef void slurm_row_seen(void *ctx, const struct slurm_row *row);

/* How squeue is asked: -o SLURM_SQUEUE_FORMAT, with -h -r -t all. */
#define SLURM_SQUEUE_FORMAT "%F|%K|%A|%T|%r|%N|%j"
#define SLURM_SACCT_FORMAT "JobID,JobName,State,ExitCode,DerivedExitCode,Start,End,NodeList"

struct slurm_read {
	size_t rows, odd; /* odd: lines that are no rows */
	bool doubt;       /* an odd line names a job of ours: a missing row proves nothing */
	char sample[120]; /* the first odd line, without control characters */
};

struct slurm_read slurm_squeue_read(const char *text, size_t n, slurm_row_seen *seen, void *ctx);
/* Rows of pending parts of an array (12_[3-7]) are passed over. */
struct slurm_read slurm_sacct_read(const char *text, size_t n, slurm_row_seen *seen, void *ctx);

/* ---- sbatch ---- */

enum slurm_submitted {
	SLURM_ACCEPTED,
	SLURM_DOUBTFUL, /* may be queued: look it up */
	SLURM_BUSY,     /* refused for now: limits of users, a full table */
	SLURM_REFUSED,  /* refused for what it asks */
};

/* code: exit status, -1 killed. ret_id: of SLURM_ACCEPTED. errs may be "". */
enum slurm_submitted slurm_sbatch_read(int code, const char *out, const char *errs,
				       uint64_t *ret_id);

/* ---- scontrol show config ---- */

struct slurm_site {
	size_t max_array; /* MaxArraySize: indexes are below it; 0 or 1: no arrays; 1001 unknown */
	bool accounting;  /* sacct has something to say */
	bool known;       /* there was an answer */
	char version[32], cluster[64];
};
struct slurm_site slurm_config_read(const char *text, size_t n);

#endif
