/*
 * bench_link: lines over a socket, with time limits (bench_child.h). Lines are at most
 * BENCH_LINE_MAX bytes, whatever a library in the child does to the descriptor.
 */
#ifndef BENCH_LINK_H
#define BENCH_LINK_H

#include <stddef.h>

#include "profrig/base/err.h"

#define BENCH_LINE_MAX 8192
#define BENCH_FIELDS 6

struct bench_link {
	int fd;
	size_t n, used; /* bytes in buf; of the line that was read last */
	char buf[BENCH_LINE_MAX];
};

/* The fields of a line, in buf until the next call. */
struct bench_line {
	size_t nr;
	char *field[BENCH_FIELDS];
};

/* 1: a line; 0: the end; -ETIMEDOUT; -EPROTO: a line that is too long. timeout_ms < 0: none. */
int bench_link_read(struct bench_link *l, int timeout_ms, struct bench_line *ret, struct err *err);
/* A line, without its end. Control bytes other than tabs become '?'. -errno: the end. */
int bench_link_write(struct bench_link *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
