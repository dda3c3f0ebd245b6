/*
 * sched_command: a scheduler's program (squeue, sbatch, …) that runs beside the caller.
 *
 *	struct sched_command c = SCHED_COMMAND_INIT;
 *	r = sched_command_begin(&c, argv, env, timeout_s, &err);
 *	while (sched_command_step(&c) == 0) …
 *	c.out.buf, c.errs.buf, c.exit, c.timed_out
 *	sched_command_end(&c);		kills what still runs; ready for the next
 *
 * It has a process group of its own, which is killed as a whole when its time is over, no stdin,
 * and its output is bounded: out.overflow says that there was more.
 */
#ifndef SCHED_COMMAND_H
#define SCHED_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profrig/base/err.h"
#include "profrig/base/proc.h"
#include "profrig/base/strbuf.h"

#define SCHED_OUT_MAX ((size_t)16 << 20)
#define SCHED_ERR_MAX ((size_t)64 << 10)

struct sched_command {
	pid_t pid; /* 0: none runs */
	int fd[2]; /* its stdout and stderr; -1 closed */
	int64_t deadline_ns;
	struct strbuf out, errs;
	struct proc_exit exit;
	bool timed_out;
};
#define SCHED_COMMAND_INIT \
	{ \
		.fd = { -1, -1 }, .out = STRBUF_INIT, .errs = STRBUF_INIT \
	}

int sched_command_begin(struct sched_command *c, char *const *argv, char *const *env,
			double timeout_s, struct err *err);
/* 1: it has ended, or was killed; 0: it runs. */
int sched_command_step(struct sched_command *c);
/* The last line of stderr, else of stdout, without control characters, at most 200 bytes. Owned. */
char *sched_command_said(const struct sched_command *c);
void sched_command_end(struct sched_command *c);

#endif
