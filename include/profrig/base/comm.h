/*
 * comm: processes that do one job together, on one or many machines. Each has a rank from 0 to
 * size − 1. All run the same program with the same arguments; rank 0 talks to the user and writes
 * the output.
 *
 * Calls are collective: every rank makes the same calls in the same order, and each call waits for
 * the other ranks. A rank that cannot continue must send that to the others or stop all of them
 * (comm_stop); otherwise they wait for ever.
 *
 * A single process has no comm: NULL.
 */
#ifndef PROFRIG_COMM_H
#define PROFRIG_COMM_H

#include <stdbool.h>
#include <stddef.h>

#include "profrig/base/strbuf.h"

struct comm;

struct comm_ops {
	/* lengths of all ranks' parts into lengths[size]; then the parts, one behind the other */
	void (*gather)(struct comm *c, const void *mine, size_t n, size_t *lengths,
		       struct strbuf *ret);
	void (*send)(struct comm *c, int to, const void *data, size_t n);
	void (*receive)(struct comm *c, int from, struct strbuf *ret);
	/* prints why and ends every rank with this exit code */
	void (*stop)(struct comm *c, int code, const char *why) __attribute__((noreturn));
};

struct comm {
	const struct comm_ops *ops;
	int rank, size;
	const char *host; /* where this rank runs */
	bool begun;       /* the job, see comm_begin */
};

static inline bool comm_alone(const struct comm *c)
{
	return !c || c->size < 2;
}

static inline int comm_rank(const struct comm *c)
{
	return c ? c->rank : 0;
}

/* The bytes of every rank, by rank. */
struct comm_parts {
	struct strbuf bytes;
	size_t *at; /* of rank r: bytes.buf + at[r] up to at[r + 1] */
};
void comm_gather(struct comm *c, const void *mine, size_t n, struct comm_parts *ret);
void comm_parts_release(struct comm_parts *p); /* also a CLEANUP function */

/*
 * Begins the joint job; rank 0 decides with its own ready. True on every rank when all are ready.
 * When rank 0 is ready and another rank is not, all ranks stop with that rank's exit code and
 * reason. A program that ends early calls it with ready = false. Once; later calls return false.
 */
bool comm_begin(struct comm *c, bool ready, int code, const char *why);
/* printf-style stop: "rank 3 on node7: …" */
void comm_stop(struct comm *c, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), noreturn));

#endif
