/*
 * csv_scan: finds the fields of a CSV text without copying them. For files of hundreds of MB of
 * which few columns are used; csv.h is for everything else.
 *
 *	struct csv_scan s;
 *	struct csv_record r;
 *	csv_scan_init(&s, data, n);
 *	while (csv_scan_next(&s, &r) > 0)
 *		… csv_field(&r, i) for i < r.nr …
 *	csv_scan_release(&s);
 *
 * A separator is a comma or a line end outside of quotes, and quotes are counted, nothing else: a
 * doubled quote inside a quoted field needs no rule. Text is scanned 64 bytes at a time. Memory
 * does not depend on the text: records are limited (CSV_MAX_FIELDS, CSV_MAX_RECORD).
 *
 * Writers that do not double the quotes inside a quoted field make records with a wrong number of
 * fields. The caller detects that, calls csv_scan_line() for the line of the record alone, and the
 * next record begins behind it.
 *
 * Blank lines are skipped, CRLF is a line end, a byte order mark at the beginning is no text. data
 * belongs to the caller.
 */
#ifndef PROFRIG_CSV_SCAN_H
#define PROFRIG_CSV_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "profrig/base/strbuf.h"

struct csv_scan {
	const char *data;
	size_t n;
	size_t indexed;     /* how far separators are known */
	uint64_t in_quotes; /* at `indexed`: all bits or none */
	size_t next;        /* where the next record begins */
	size_t origin;      /* what separators count from */
	uint32_t *at;       /* separators from origin, ascending */
	uint32_t *lines;    /* those of at that end a record */
	size_t first, nr, line, lines_nr, cap;
	size_t ahead; /* separators to look for */
	size_t until; /* records that begin behind it are not wanted */
};

/* Ends can be read up to so many beyond the last one. */
#define CSV_SLACK 8

/* Valid until the next call with its scan. */
struct csv_record {
	const char *start;
	const char *origin;
	const uint32_t *ends; /* of each field, from origin */
	size_t nr;
	bool ended;  /* it had a line end */
	bool broken; /* a quote is open at the end of the text, or it is over the limits */
};

struct csv_text {
	const char *p;
	size_t n;
};

void csv_scan_init(struct csv_scan *s, const char *data, size_t n);
void csv_scan_release(struct csv_scan *s);
/*
 * Continues with the record that begins at `from`. `until`: the caller wants no record that begins
 * there or later; such records are still returned, but not scanned ahead.
 */
void csv_scan_range(struct csv_scan *s, size_t from, size_t until);
/* 1 a record, 0 the end. */
int csv_scan_next(struct csv_scan *s, struct csv_record *ret);
/*
 * The line that the last record began on, without its line end; *ret_ended: it had one. The scan
 * goes on behind it.
 */
struct csv_text csv_scan_line(struct csv_scan *s, const struct csv_record *r, bool *ret_ended);
/* 1-based number of the line that p points into; counted from the beginning each time. */
uint64_t csv_scan_line_number(const struct csv_scan *s, const char *p);

/* A field without the quotes around it; doubled quotes inside stay doubled (csv_unquote). */
static inline struct csv_text csv_bare(const char *p, const char *end)
{
	if (end - p >= 2 && *p == '"' && end[-1] == '"')
		return (struct csv_text){ p + 1, (size_t)(end - p) - 2 };
	return (struct csv_text){ p, (size_t)(end - p) };
}

/* i < r->nr */
static inline struct csv_text csv_field(const struct csv_record *r, size_t i)
{
	const char *p = i > 0 ? r->origin + r->ends[i - 1] + 1 : r->start;
	const char *end = r->origin + r->ends[i];

	if (i + 1 == r->nr && end > p && end[-1] == '\r')
		end--;
	return csv_bare(p, end);
}

static inline bool csv_text_is(struct csv_text t, const char *s)
{
	return t.n == strlen(s) && memcmp(t.p, s, t.n) == 0;
}

/* As memcmp, for texts that are mostly equal and mostly short. */
static inline bool csv_text_same(struct csv_text a, struct csv_text b)
{
	uint64_t x, y;

	if (a.n != b.n || a.n == 0)
		return a.n == b.n;
	if (a.n < sizeof(x)) {
		size_t i = 0;

		while (i < a.n && a.p[i] == b.p[i])
			i++;
		return i == a.n;
	}
	if (a.n > 64)
		return memcmp(a.p, b.p, a.n) == 0;
	for (size_t i = 0; i + sizeof(x) < a.n; i += sizeof(x)) {
		memcpy(&x, a.p + i, sizeof(x));
		memcpy(&y, b.p + i, sizeof(y));
		if (x != y)
			return false;
	}
	memcpy(&x, a.p + a.n - sizeof(x), sizeof(x));
	memcpy(&y, b.p + b.n - sizeof(y), sizeof(y));
	return x == y;
}

/* Doubled quotes become single ones, in buf where there are any; valid while buf is. */
struct csv_text csv_unquote(struct csv_text t, struct strbuf *buf);

#endif
