#include "results_priv.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/csv.h"
#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/num.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define MAX_PROBLEMS 20

static char *text_stripped(const char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	n = strlen(s);
	while (n > 0 && isspace((unsigned char)s[n - 1]))
		n--;
	return xstrndup(s, n);
}

FIELD_TABLE(cell_fields, TEXT_FIELDS(struct result_cell, name, text));
FIELD_TABLE(row_fields, TEXT_FIELDS(struct result_row, model, metric, file),
	    FIELD_VEC(struct result_row, cells, cell_fields));
FIELD_TABLE(rows_fields, FIELD_VEC(struct result_rows, v, row_fields),
	    WORDS_FIELDS(struct result_rows, problems));

void result_rows_release(struct result_rows *rr)
{
	fields_release(rr, rows_fields);
}

static void row_problem(struct result_rows *rr, const char *file, uint64_t line, const char *fmt,
			...) __attribute__((format(printf, 4, 5)));
static void row_problem(struct result_rows *rr, const char *file, uint64_t line, const char *fmt,
			...)
{
	CLEANUP(xfreep) char *words = NULL;
	va_list ap;

	if (rr->problems.nr >= MAX_PROBLEMS)
		return;
	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	text_no_controls(words, '?');
	strvec_pushf(&rr->problems, "%s:%llu: %s", file, (unsigned long long)line, words);
}

enum { COL_MODEL, COL_PERFORMANCE, COL_METRIC, COLS };
static const char *const wanted[COLS] = { "model", "performance", "metric" };

static size_t json_bytes(char *const *s, size_t n)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += json_quoted_max(s[i]);
	return bytes;
}

/* Finds the three columns. False after a report when one is missing or there twice. */
static bool read_header(struct result_rows *rr, const char *file, const struct strvec *head,
			size_t at[COLS])
{
	bool good = true;

	for (size_t k = 0; k < COLS; k++) {
		size_t times = 0;

		for (size_t i = 0; i < head->nr; i++)
			if (!strcmp(head->v[i], wanted[k])) {
				at[k] = i;
				times++;
			}
		if (times != 1)
			row_problem(rr, file, 1,
				    "%s column '%s'; a results file has at least the columns "
				    "model,performance,metric",
				    times ? "more than one" : "no", wanted[k]);
		good &= times == 1;
	}
	return good;
}

static bool has_room(const struct result_rows *rr, size_t bytes)
{
	return rr->v.nr < ROWS_MAX && bytes <= ROWS_MAX_BYTES - rr->bytes;
}

/* head_bytes: json_bytes of the header. */
static void read_row(struct result_rows *rr, const char *file, uint64_t line, char *const *f,
		     size_t n, const struct strvec *head, size_t head_bytes, const size_t at[COLS])
{
	size_t bytes;
	struct result_row row = { .value = NAN, .line = line };
	CLEANUP(xfreep) char *number = NULL;

	if (n != head->nr) {
		row_problem(rr, file, line, "%zu fields where the header has %zu", n, head->nr);
		return;
	}
	bytes = head_bytes + json_bytes(f, n);
	if (!has_room(rr, bytes)) {
		rr->more++;
		return;
	}
	rr->bytes += bytes;
	number = text_stripped(f[at[COL_PERFORMANCE]]);
	if (num_f64(number, strlen(number), &row.value) < 0 || !isfinite(row.value)) {
		row.value = NAN;
		row_problem(rr, file, line, "performance is '%.40s', which is no number", number);
	}
	row.file = xstrdup(file);
	row.model = text_stripped(f[at[COL_MODEL]]);
	row.metric = text_stripped(f[at[COL_METRIC]]);
	for (size_t i = 0; i < n; i++)
		if (i != at[COL_MODEL] && i != at[COL_PERFORMANCE] && i != at[COL_METRIC])
			VEC_PUSH(&row.cells, ((struct result_cell){ xstrdup(head->v[i]),
								    text_stripped(f[i]) }));
	VEC_PUSH(&rr->v, row);
}

int result_rows_read(const char *path, struct result_rows *rr)
{
	CLEANUP(strvec_release) struct strvec head = STRVEC_INIT;
	const char *file = fs_base(path);
	struct csv_reader *csv = NULL;
	struct err err = ERR_INIT;
	size_t at[COLS] = { 0 }, n, before = rr->v.nr, head_bytes;
	uint64_t more = rr->more;
	char *const *f;
	int r = csv_open_file(path, &csv, &err);

	if (r == 0)
		r = csv_next(csv, &f, &n, &err);
	for (size_t i = 0; r > 0 && i < n; i++)
		strvec_push_take(&head, text_stripped(f[i]));
	if (r == 0)
		row_problem(rr, file, 1, "the file is empty");
	if (r > 0)
		r = read_header(rr, file, &head, at) ? 0 : -EINVAL;
	else if (r == 0)
		r = -EINVAL;
	head_bytes = json_bytes(head.v, head.nr);
	while (r >= 0 && (r = csv_next(csv, &f, &n, &err)) > 0)
		read_row(rr, file, csv_line(csv), f, n, &head, head_bytes, at);
	if (r < 0 && err.code)
		row_problem(rr, file, csv ? csv_line(csv) : 1, "%s", err.msg);
	if (r == 0 && rr->v.nr == before && rr->more == more) {
		row_problem(rr, file, 1, "no row behind the header");
		r = -EINVAL;
	}
	csv_free(csv);
	return r < 0 ? -EINVAL : 0;
}

static double rows_merged(const struct result_rows *rr, size_t first, size_t *ret_n)
{
	const struct result_row *r = &rr->v.v[first];
	VEC(double) of = VEC_INIT;
	double v;

	for (size_t i = first; i < rr->v.nr; i++)
		if (rr->v.v[i].model && !strcmp(rr->v.v[i].model, r->model) &&
		    !strcmp(rr->v.v[i].metric, r->metric) && !isnan(rr->v.v[i].value))
			VEC_PUSH(&of, rr->v.v[i].value);
	v = results_merge(results_merge_of(r->metric, r->metric), of.v, of.nr);
	*ret_n = of.nr;
	VEC_RELEASE(&of);
	return v;
}

void result_rows_merge(struct result_rows *rr)
{
	size_t nr = 0;

	for (size_t i = 0; i < rr->v.nr; i++) {
		struct result_row *r = &rr->v.v[i];
		bool known = false;

		for (size_t k = 0; k < nr && !known; k++)
			known = !strcmp(rr->v.v[k].model, r->model) &&
				!strcmp(rr->v.v[k].metric, r->metric);
		if (known) {
			fields_release(r, row_fields);
			r->model = NULL;
			continue;
		}
		r->value = rows_merged(rr, i, &r->merged);
		if (nr != i) {
			rr->v.v[nr] = *r;
			r->model = NULL;
		}
		nr++;
	}
	rr->v.nr = nr;
}
