/*
 * html_private: the parts of the html writer (write_html.c).
 *
 * With the page embedded, report.html is the shell with one JSON document in it (html_data.c).
 * Built with PAGE=0 it is plain tables without a script (html_plain.c). Either way every string
 * from a trace or a run is escaped where it is written.
 */
#ifndef PROFRIG_HTML_PRIVATE_H
#define PROFRIG_HTML_PRIVATE_H

#include <stdint.h>
#include <stdio.h>

#include "profrig/base/vec.h"
#include "profrig/report/writer.h"

struct json_t; /* jansson's; its header and json_out.h both define json_null */

/* Limits of a table in the page. */
struct html_limits {
	size_t rows;
	size_t bytes; /* of the cells of one table as JSON, about */
};

/*
 * The rows of a table that are shown: all, or the heaviest (by exclusive time, energy, total; call
 * paths by inclusive) within the limits, in the table's order. [unattributed] rows always stay:
 * sums would not add up without them.
 */
struct html_rows {
	size_t *row; /* NULL: all */
	size_t nr, of;
	char *words; /* note on left-out rows, NULL without any */
};
void html_rows_choose(const struct table *t, struct html_limits limit, struct html_rows *ret);
void html_rows_release(struct html_rows *r);
static inline size_t html_rows_at(const struct html_rows *r, size_t i)
{
	return r->row ? r->row[i] : i;
}

/* The last lines of one stream of a step; text is owned and may hold any byte but NUL. */
struct html_tail {
	char *file; /* "steps/03-workload.err" */
	char *text;
	int64_t bytes; /* of the whole file */
};
struct html_log {
	char *step;
	struct html_tail out, err;
};
struct html_logs {
	VEC(struct html_log) v;
};
/* Of the failed steps; none after a good run or without a run. */
void html_logs_read(const struct report *r, const struct json_t *run, struct html_logs *ret);
void html_logs_release(struct html_logs *l);

/* The largest integer that a JavaScript number holds exactly; larger ones become strings. */
#define HTML_EXACT_MAX ((int64_t)1 << 53)

/* "headline": the figures of headline.h for the page's facts.js. */
struct json_out;
void html_write_headline(struct json_out *j, const struct report *r);
/*
 * A column of rows as an array. A long one comes shorter: texts that repeat themselves as {words,
 * at}, which of them each row has; integers that grow slowly as {steps}, each row's difference
 * from the last known one before it (from 0 at first), null where it is unknown.
 */
void html_write_column(struct json_out *j, const struct table *t, size_t col,
		       const struct html_rows *rows);
/* false: nothing of the page reads it. */
bool html_column_used(const struct table *t, size_t col);
/* {analysis, run, tables, headline, logs, problems}, one line. Tables come column by column. */
void html_write_data(const struct report *r, struct html_limits limit, FILE *f);
/*
 * The same as a JSON string "gzip:<base64>" when it is long (a tenth of the size), else as it is:
 * short pages stay readable.
 */
#define HTML_PACK_MIN ((size_t)1 << 20)
void html_write_packed(const char *data, size_t n, FILE *f);
/* A complete document by html_out.h. */
void html_write_plain(const struct report *r, size_t max_rows, FILE *f);

/* A JSON object, or NULL when the text is absent or is no object. free takes NULL. */
struct json_t *html_parse(const char *text);
void html_parse_free(struct json_t *doc);

/* "1.84 kJ", "12.3 ms", "77.3 %": three significant digits. buf holds at least 48. Returns buf. */
char *html_fmt_si(char *buf, double v, const char *unit);
char *html_fmt_time(char *buf, double ns);
char *html_fmt_share(char *buf, double share);

#endif
