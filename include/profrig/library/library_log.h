/*
 * library_log: reads logs of libraries into rows of library_calls.h: which text begins a record of
 * which library, which records are calls, and what each of them computes.
 *
 *	struct library_log *log = library_log_new(path, calls);
 *	library_log_text(log, map.data, map.len);	lines, any number of pieces of whole lines
 *	library_log_end(log, &counts);			settles the rows
 *	library_log_free(log);
 * or, for a file, library_log_read.
 *
 * Which libraries: `library_parsers`, below. A log may hold any mix of them and any other text: a
 * record begins at its marker, wherever in a line that is, and ends at the line's end, at a CR, or
 * at the next marker.
 *
 * Every line is counted as one of:
 *	record   a call that was executed
 *	doubled  a call that another record tells, too (echo and command, trace and benchmark)
 *	info     a line of a library that is no call (versions, creation, searches)
 *	torn     a record whose end or beginning is missing
 *	bad      a record that no library executes: negative or too large sizes, a leading dimension
 *		 less than the rows
 *	foreign  other text
 * A line with two records counts as two, an empty line as foreign. A torn record is joined with its
 * end on a later line only if the whole text is that of another call of the same log.
 *
 * Text that could be another program's is never executed, and never becomes a call by guess: what
 * does not parse as a whole is torn, with the first one as an example.
 *
 * Speed: a text that was seen before, or one that differs from it in addresses and times alone,
 * costs a hash and a look-up; only new ones are parsed.
 */
#ifndef PROFRIG_LIBRARY_LOG_H
#define PROFRIG_LIBRARY_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/model/library_calls.h"

struct library_log;

struct library_counts {
	uint64_t lines;
	uint64_t records, doubled, info, torn, bad, foreign;
	uint64_t odd_times;  /* records with a time that is out of range, and so unknown */
	bool cut;            /* the last line is a torn record without a line end */
	uint64_t joined;     /* records whose text was in two lines; among records */
	uint64_t prefixed;   /* records behind other text on their line; among records */
	char torn_text[160]; /* the first: "line 7: rocblas-bench -f ge…"; "" none */
	char bad_text[160];  /* "line 9: lda=2 is less than 4 rows: …" */
};

/*
 * calls: borrowed until library_log_end, and empty: it has the rows of one log. path: for the
 * process of a file that is named by it; NULL.
 */
struct library_log *library_log_new(const char *path, struct library_calls *calls);
void library_log_text(struct library_log *log, const char *text, size_t n);
void library_log_end(struct library_log *log, struct library_counts *ret);
void library_log_free(struct library_log *log);
void library_log_freep(struct library_log **log);

/* Adds the counts of another log. The first texts stay. */
void library_counts_add(struct library_counts *to, const struct library_counts *from);

/* How much of a text is of libraries, for recognising files: records and info lines; lines. */
struct library_probe {
	uint64_t records, info, lines;
};
struct library_probe library_log_probe(const char *text, size_t n);

/*
 * Reads a file, plain or compressed, into the rows of `calls`, which may have some of other logs.
 * 0: all of it; 1: its compressed data is cut short, and *err says so; -errno.
 */
int library_log_read(const char *path, struct library_calls *calls, struct library_counts *ret,
		     struct err *err);

#endif
