#include "perf_input.h"
#include "lib_inputs.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profrig/base/csv.h"
#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/num.h"
#include "profrig/base/text.h"
#include "profrig/library/library_log.h"
#include "profrig/model/library_calls.h"
#include "profrig/scan/input.h"

#define HEAD_MAX 4096 /* bytes in which the columns of a table stand */

/* ---- library_trace.csv ---- */

enum { LIBRARY, CONFIG, CALLS, FLOPS, KEY, COLUMNS };
static const char *const column_names[COLUMNS] = { "library", "config", "calls", "flops", "key" };
#define NO_COLUMN SIZE_MAX

struct trace_table {
	const char *path;
	uint64_t cut;       /* the record that has no end, from 1; 0: none */
	size_t at[COLUMNS]; /* NO_COLUMN: there is none */
	size_t columns;
};

static int columns_find(struct trace_table *t, char *const *fields, size_t n, struct err *err)
{
	t->columns = n;
	for (int c = 0; c < COLUMNS; c++) {
		t->at[c] = NO_COLUMN;
		for (size_t i = 0; i < n; i++)
			if (!strcmp(fields[i], column_names[c]))
				t->at[c] = i;
	}
	for (int c = LIBRARY; c <= CALLS; c++)
		if (t->at[c] == NO_COLUMN)
			return err_set(err, EINVAL, "it has no column '%s'", column_names[c]);
	return 0;
}

static const char *cell(const struct trace_table *t, char *const *fields, size_t n, int column)
{
	size_t at = t->at[column];

	return at < n ? fields[at] : "";
}

/*
 * The key of a table that has none, as madengine's: by the text of the call, when that is one call.
 * Owned; NULL: it is none that the parsers of logs know.
 */
static char *key_of_text(const char *config, double *ret_flops)
{
	struct library_calls *lc = library_calls_new();
	struct library_log *log = library_log_new(NULL, lc);
	CLEANUP(xfreep) char *line = xasprintf("%s\n", config);
	struct library_counts counts;
	char *key = NULL;

	library_log_text(log, line, strlen(line));
	library_log_end(log, &counts);
	if (lc->rows.nr == 1 && lc->rows.v[0].calls == 1) {
		key = xstrdup(lc->rows.v[0].key);
		if (lc->rows.v[0].flops != LIBRARY_UNKNOWN)
			*ret_flops = (double)lc->rows.v[0].flops;
	}
	library_log_free(log);
	library_calls_free(lc);
	return key;
}

/* cut: it is the last line, which has no end: a number there may have lost digits. */
static bool row_add(const struct trace_table *t, char *const *f, size_t n, uint64_t line, bool cut,
		    struct bench_set *set)
{
	CLEANUP(xfreep) char *problem = NULL, *key = NULL;
	const char *calls = cell(t, f, n, CALLS), *flops = cell(t, f, n, FLOPS);
	struct bench_config c = { .library = (char *)(uintptr_t)cell(t, f, n, LIBRARY),
				  .config = (char *)(uintptr_t)cell(t, f, n, CONFIG),
				  .key = (char *)(uintptr_t)cell(t, f, n, KEY),
				  .flops = NAN };

	if (cut)
		problem = xasprintf("line %" PRIu64 " of %.80s has no end: it may be cut", line,
				    fs_base(t->path));
	else if (n != t->columns)
		problem = xasprintf("line %" PRIu64 " of %.80s has %zu of %zu columns", line,
				    fs_base(t->path), n, t->columns);
	else if (num_u64(calls, strlen(calls), &c.calls) < 0 || !c.calls)
		problem = xasprintf("line %" PRIu64 " of %.80s: '%.40s' is no number of calls",
				    line, fs_base(t->path), calls);
	if (*flops &&
	    (num_f64(flops, strlen(flops), &c.flops) < 0 || !(c.flops >= 0) || isinf(c.flops)))
		c.flops = NAN;
	if (strlen(c.key) > LIBRARY_TEXT_MAX || strlen(c.config) > LIBRARY_TEXT_MAX) {
		free(problem);
		problem = xasprintf("line %" PRIu64 " of %.80s has a cell of more than %zu bytes",
				    line, fs_base(t->path), LIBRARY_TEXT_MAX);
		c.key = c.config = (char *)(uintptr_t) "";
	}
	if (!*c.key && *c.config && !problem) {
		double one = NAN;

		key = key_of_text(c.config, &one);
		c.key = key ? key : c.key;
		c.flops = isnan(one) ? c.flops : one * (double)c.calls;
	}
	c.problem = problem;
	return bench_config_add(set, &c);
}

/* The number of the record that has no end; 0: all have one. */
static uint64_t record_without_end(const struct input_map *m)
{
	struct csv_reader *csv;
	char *const *fields;
	uint64_t records = 0;
	size_t n;

	if (m->len == 0 || m->data[m->len - 1] == '\n')
		return 0;
	csv = csv_open_mem(m->data, m->len);
	while (csv_next(csv, &fields, &n, NULL) > 0)
		records++;
	csv_free(csv);
	return records;
}

static int table_rows_add(struct csv_reader *csv, struct trace_table *t, struct bench_set *set,
			  struct err *err)
{
	char *const *fields;
	uint64_t record = 1;
	size_t n;
	int r = csv_next(csv, &fields, &n, err);

	if (r == 0)
		return err_set(err, EINVAL, "it is empty");
	if (r > 0)
		r = columns_find(t, fields, n, err);
	while (r >= 0 && (r = csv_next(csv, &fields, &n, err)) > 0)
		if (!row_add(t, fields, n, csv_line(csv), ++record == t->cut, set))
			return err_set(err, E2BIG, "more than %zu configurations",
				       BENCH_CONFIGS_MAX);
	return r;
}

static int table_read(const char *path, const struct input_map *m, struct bench_set *set)
{
	struct trace_table t = { .path = path, .cut = record_without_end(m) };
	struct csv_reader *csv = csv_open_mem(m->data, m->len);
	struct err err = ERR_INIT;
	size_t before = set->v.nr;
	int r = table_rows_add(csv, &t, set, &err);

	csv_free(csv);
	if (r < 0) {
		log_error("%s: %s", path, err.msg);
		return set->v.nr > before ? EXIT_PARTIAL : EXIT_UNREADABLE;
	}
	if (m->truncated)
		log_warn("%s: %s", path, m->why);
	if (t.cut)
		log_warn("%s: its last line has no end: it may be cut, and is not measured", path);
	return t.cut || m->truncated ? EXIT_PARTIAL : EXIT_DONE;
}

/* By its first line, which names columns. */
static bool is_table(const char *path)
{
	char head[HEAD_MAX + 1];
	int64_t n = fs_is_file(path) ? input_head(path, head, HEAD_MAX, NULL) : 0;

	head[n > 0 ? n : 0] = 0;
	head[strcspn(head, "\r\n")] = 0;
	return strstr(head, "library,config") != NULL ||
	       (text_suffix(path, ".csv") && strchr(head, ','));
}

static int file_add(const char *path, struct bench_set *set)
{
	struct input_map m = { 0 };
	struct err err = ERR_INIT;
	int code = EXIT_UNREADABLE;

	if (input_map(path, 0, &m, &err) < 0)
		log_error("%s", err.msg);
	else
		code = table_read(path, &m, set);
	input_unmap(&m);
	return code;
}

/* ---- runs and logs ---- */

static bool rows_take(const struct library_calls *lc, struct bench_set *set)
{
	for (size_t i = 0; i < lc->rows.nr; i++) {
		const struct library_row *r = &lc->rows.v[i];
		struct bench_config c = { .library = (char *)(uintptr_t)r->library,
					  .config = (char *)(uintptr_t)r->config,
					  .key = (char *)(uintptr_t)r->key,
					  .calls = r->calls,
					  .flops = r->flops == LIBRARY_UNKNOWN
							   ? NAN
							   : (double)r->all_flops };

		/* calls of later configurations, of many keys */
		if (!strcmp(r->key, "[other]"))
			c.key = (char *)(uintptr_t) "";
		if (!bench_config_add(set, &c))
			return false;
	}
	return true;
}

static int logs_read(const struct strvec *logs, struct bench_set *set)
{
	struct lib_inputs in;
	int code = lib_inputs_read(logs, &in);

	if (!rows_take(in.calls, set))
		log_warn("more than %zu configurations: the rest is left out", BENCH_CONFIGS_MAX);
	lib_inputs_release(&in);
	return code;
}

int perf_inputs_read(const struct strvec *inputs, struct bench_set *set)
{
	CLEANUP(strvec_release) struct strvec logs = STRVEC_INIT;
	int code = EXIT_DONE;

	for (size_t i = 0; i < inputs->nr; i++)
		if (is_table(inputs->v[i]))
			code = exit_worse(code, file_add(inputs->v[i], set));
		else
			strvec_push(&logs, inputs->v[i]);
	if (logs.nr)
		code = exit_worse(code, logs_read(&logs, set));
	if (code == EXIT_UNREADABLE && set->v.nr)
		code = EXIT_PARTIAL;
	return code;
}
