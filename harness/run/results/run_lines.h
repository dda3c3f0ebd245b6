/*
 * run_lines: a file of any size, in pieces that end where a line does; what the results of a run
 * are looked for in. A line that is longer than a piece comes in several, cut where no pattern
 * looks.
 */
#ifndef RUN_LINES_H
#define RUN_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUN_MAX_LINE ((size_t)4096) /* the rest of a longer line is ignored */

/* line: the number of the line that text begins with, from 1. False ends the walk. */
typedef bool run_lines_fn(void *ctx, const char *text, size_t n, uint64_t line);

/* 0, or -errno when the file cannot be opened or read. */
int run_lines(const char *path, run_lines_fn *fn, void *ctx);

/* Counts lines while its caller walks through a piece: `at` must not go back. */
struct line_counter {
	const char *from;
	uint64_t line;
};
uint64_t line_at(struct line_counter *c, const char *at);

#endif
