/*
 * tally: a problem that a reader meets many times, for one warning: how often it occurred, and the
 * first occurrence.
 *
 *	struct tally bad_rows;				all 0 at first
 *	tally_line(&bad_rows, line);			at each occurrence
 *	tally_warn(&bad_rows, sink, W_BAD_EVENT, "rows without a time");
 *		→ "rows without a time, first on line 7", count 3
 *
 * One tally takes one kind of note: tally_line and tally_byte keep a position in the input,
 * tally_text keeps a text (cut to its buffer). Nothing is allocated. For one thread.
 */
#ifndef ANALYSIS_TALLY_H
#define ANALYSIS_TALLY_H

#include "profrig/model/sink.h"

struct tally {
	uint64_t nr;
	uint64_t at; /* of the first: line, 1-based, or byte offset */
	bool bytes;  /* at is a byte offset */
	char text[200];
};

void tally_line(struct tally *t, uint64_t line);
void tally_byte(struct tally *t, uint64_t offset);
void tally_text(struct tally *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Warns with the count unless it is 0. what: the text, followed by the position; NULL for a tally
 * that has a text.
 */
void tally_warn(const struct tally *t, struct sink *s, const char *code, const char *what);

#endif
