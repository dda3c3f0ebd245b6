/*
 * bench_process: a child with one library (bench_child.h), as the parent sees it. A question that
 * is not answered in time, or whose answer is the child's end, closes the process: `status` and
 * `reason` then say how.
 */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include "bench_link.h"

#include <sys/types.h>

#include "profrig/bench/bench.h"

struct bench_process {
	pid_t pid; /* 0: none */
	int said;  /* what it printed on stderr, a file in memory; −1 */
	bool stopped;
	struct bench_link link;
	struct bench_line line; /* the answer */
	enum bench_status status;
	char reason[320];
};
#define BENCH_PROCESS_INIT \
	{ \
		.said = -1, .link = {.fd = -1 } \
	}

/* Starts it and waits until it has loaded the library. BENCH_OK: the answer is in p->line. */
enum bench_status bench_process_start(struct bench_process *p, const struct bench_end *end,
				      const char *cpus, const struct bench_opts *o);
/* Asks; the answer "ok …" is in p->line. */
enum bench_status bench_process_ask(struct bench_process *p, double timeout_s, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Stops its threads until the next question. */
void bench_process_rest(struct bench_process *p);
void bench_process_end(struct bench_process *p); /* also one that never began */

#endif
