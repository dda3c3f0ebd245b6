/*
 * worker: the process that makes the runs of one slot, as the campaign sees it (attempt.h has its
 * other side). It is a process group of its own, so that Ctrl-C on the terminal does not reach it,
 * and the kernel ends it with the campaign.
 */
#ifndef WORKER_H
#define WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "profrig/base/err.h"

struct worker {
	pid_t pid; /* 0: there is none */
	int in, out;
	char text[1024]; /* heard, no whole line yet */
	size_t n;
};
#define WORKER_INIT \
	{ \
		.pid = 0, .in = -1, .out = -1 \
	}

bool worker_lives(const struct worker *w);
/* slot: its number; it makes runs with the keys of that slot. */
int worker_start(struct worker *w, const char *program, const char *dir, size_t slot,
		 struct err *err);
/* The name of an attempt. A failure shows as the worker's end. */
void worker_give(struct worker *w, const char *attempt);
/* 1: an answer; 0: not yet; -1: the worker has ended, and is no more: how, for people. */
int worker_hear(struct worker *w, char *line, size_t size, char died[80]);
void worker_signal(struct worker *w, int sig);
/* Its input ends; it ends by itself. */
void worker_end(struct worker *w);

#endif
