/*
 * csv: RFC 4180 in and out, streaming.
 *
 * Reader: csv_open_mem on text the caller keeps alive, or csv_open_file. csv_next gives one record
 * as fields (unquoted, NUL-terminated, valid until the next call). LF and CRLF end records, also
 * the last one without; a quote inside an unquoted field is data, and so is a lone CR; a byte order
 * mark is skipped. A field or record over the limit, an unterminated quote, text behind a closing
 * quote and a NUL byte are errors with their line; after an error the reader gives no more records.
 * Blank lines are skipped, and lines that start with '#' when asked (they go to a callback).
 * Writer: fields quoted when they must be; csv_f64 by num_fmt_f64; NaN is an empty field. A record
 * of one empty field is written as "", as it would read as a blank line otherwise. The FILE belongs
 * to one thread; ferror reports failed writes.
 */
#ifndef PROFRIG_CSV_H
#define PROFRIG_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profrig/base/err.h"

#define CSV_MAX_FIELD ((size_t)1 << 24)
#define CSV_MAX_RECORD ((size_t)1 << 26)
#define CSV_MAX_FIELDS 65536

struct csv_reader;

typedef void csv_comment_fn(void *ctx, const char *line); /* without '#' and blank after it */

/* Opens a file (must not be compressed). */
int csv_open_file(const char *path, struct csv_reader **ret, struct err *err);
struct csv_reader *csv_open_mem(const char *data, size_t n);
void csv_free(struct csv_reader *r);
/* '#' lines are comments; fn may be NULL */
void csv_comments(struct csv_reader *r, csv_comment_fn *fn, void *ctx);
/* 1 a record, 0 the end, -errno. Blank lines are skipped. */
int csv_next(struct csv_reader *r, char *const **ret_fields, size_t *ret_n, struct err *err);
uint64_t csv_line(const struct csv_reader *r); /* 1-based line where the last record began */

struct csv_writer {
	FILE *f;
	int begun; /* 0: no field on this line yet; else the writer's own */
};

void csv_str(struct csv_writer *w, const char *s);
/*
 * What a spreadsheet takes for a formula (it begins with = + - @, a tab or a carriage return) and
 * is no number. In files that people open with one such a cell gets a ' in front.
 */
bool csv_is_formula(const char *s);
void csv_sheet_str(struct csv_writer *w, const char *s);
void csv_i64(struct csv_writer *w, int64_t v);
void csv_u64(struct csv_writer *w, uint64_t v);
void csv_f64(struct csv_writer *w, double v);
void csv_end(struct csv_writer *w); /* CRLF is not used: LF */

#endif
