/*
 * Reads the output of the csv and json writers. The directory may be edited or hostile: names of
 * tables are checked before they become paths, and the stated type of a column is used only when
 * all of its cells have it.
 */
#include "table_json.h"
#include "writers_private.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/csv.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define MAX_JSON ((size_t)256 << 20)
#define MAX_TABLES 1000

bool report_table_name_ok(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	return n > 0 && n <= 64 && !name[n];
}

bool report_json_ok(const char *text)
{
	json_t *doc = json_loads(text, 0, NULL);
	bool ok = json_is_object(doc);

	json_decref(doc);
	return ok;
}

static void json_freep(json_t **doc)
{
	json_decref(*doc);
}

/* --- columns --- */

struct column {
	char *name, *unit;
	bool known;           /* type says what it is */
	enum table_type type; /* then: of the cells so far */
	bool i64, u64, f64;   /* types that fit all cells so far */
};

struct columns {
	VEC(struct column) all;
};

static void columns_release(struct columns *cs)
{
	for (size_t i = 0; i < cs->all.nr; i++) {
		free(cs->all.v[i].name);
		free(cs->all.v[i].unit);
	}
	VEC_RELEASE(&cs->all);
}

/* Names of columns that hold words also when all the words look like numbers. */
static bool is_word_column(const char *name)
{
	static const char *const words[] = {
		"scope",  "name",   "category", "track",      "path",        "device", "class",
		"series", "kind",   "unit",     "total_unit", "flags",       "view",   "counter",
		"table",  "key",    "column",   "collective", "dtype",       "group",  "marker",
		"host",   "status", "reason",   "host_cause", "outlier_runs"
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(words[i], name) == 0)
			return true;
	return false;
}

static void column_declare(struct column *col, const json_t *said)
{
	const char *type = json_text_at(said, "type");

	if (json_is_string(json_object_get(said, "unit")))
		col->unit = xstrdup(json_text_at(said, "unit"));
	for (int t = TABLE_STR; t <= TABLE_F64; t++) {
		if (strcmp(type, table_json_type[t]) == 0) {
			col->known = true;
			col->type = (enum table_type)t;
		}
	}
}

/* The header row, with the entry of each column in analysis.json (by index and name). */
static void columns_begin(struct columns *cs, char *const *fields, size_t n, const json_t *said)
{
	for (size_t i = 0; i < n; i++) {
		const json_t *about = json_array_get(said, i);
		struct column col = {
			.name = xstrdup(fields[i]), .i64 = true, .u64 = true, .f64 = true
		};

		if (about && strcmp(json_text_at(about, "name"), col.name) == 0)
			column_declare(&col, about);
		VEC_PUSH(&cs->all, col);
	}
}

static void column_look(struct column *col, const char *cell)
{
	size_t n = strlen(cell);
	int64_t i64;
	uint64_t u64;
	double f64;

	col->i64 = col->i64 && num_i64(cell, n, &i64) == 0;
	col->u64 = col->u64 && num_u64(cell, n, &u64) == 0;
	col->f64 = col->f64 && (n == 0 || num_f64(cell, n, &f64) == 0);
}

static enum table_type column_type(const struct column *col, size_t rows)
{
	bool fits[] = { [TABLE_STR] = true,
			[TABLE_I64] = col->i64,
			[TABLE_U64] = col->u64,
			[TABLE_F64] = col->f64 };

	if (col->known && fits[col->type])
		return col->type;
	if (rows == 0 || is_word_column(col->name))
		return TABLE_STR;
	if (col->i64)
		return TABLE_I64;
	if (col->u64)
		return TABLE_U64;
	return col->f64 ? TABLE_F64 : TABLE_STR;
}

/* --- a table, in two passes: what its columns are, then its cells --- */

static int next_row(struct csv_reader *csv, const struct columns *cs, char *const **ret,
		    struct err *err)
{
	size_t n;
	int e = csv_next(csv, ret, &n, err);

	if (e > 0 && n != cs->all.nr)
		return err_set(err, EINVAL, "line %llu has %zu fields, the header %zu",
			       (unsigned long long)csv_line(csv), n, cs->all.nr);
	return e;
}

static int open_table(const char *path, struct csv_reader **ret, char *const **fields, size_t *n,
		      struct err *err)
{
	int e = csv_open_file(path, ret, err);

	if (e < 0)
		return e;
	e = csv_next(*ret, fields, n, err);
	return e == 0 ? err_set(err, EINVAL, "%s: no header row", path) : e < 0 ? e : 0;
}

static void csv_freep(struct csv_reader **r)
{
	csv_free(*r);
}

static int look_at_table(const char *path, const json_t *said, struct columns *cs, size_t *ret_rows,
			 struct err *err)
{
	CLEANUP(csv_freep) struct csv_reader *csv = NULL;
	char *const *fields;
	size_t n;
	int e = open_table(path, &csv, &fields, &n, err);

	if (e < 0)
		return e;
	columns_begin(cs, fields, n, said);
	while ((e = next_row(csv, cs, &fields, err)) > 0) {
		for (size_t c = 0; c < cs->all.nr; c++)
			column_look(&cs->all.v[c], fields[c]);
		(*ret_rows)++;
	}
	return e;
}

static void put_cell(struct table *t, enum table_type type, const char *cell)
{
	size_t n = strlen(cell);
	int64_t i64 = 0;
	uint64_t u64 = 0;
	double f64 = NAN;

	switch (type) {
	case TABLE_STR:
		table_str(t, cell);
		return;
	case TABLE_I64:
		num_i64(cell, n, &i64);
		table_i64(t, i64);
		return;
	case TABLE_U64:
		num_u64(cell, n, &u64);
		table_u64(t, u64);
		return;
	case TABLE_F64:
		if (n)
			num_f64(cell, n, &f64);
		table_f64(t, f64);
		return;
	}
}

static int fill_table(const char *path, const struct columns *cs, size_t rows, struct table *t,
		      struct err *err)
{
	CLEANUP(csv_freep) struct csv_reader *csv = NULL;
	char *const *fields;
	size_t n;
	int e = open_table(path, &csv, &fields, &n, err);

	if (e < 0)
		return e;
	for (size_t c = 0; c < cs->all.nr; c++)
		table_col(t, cs->all.v[c].name, column_type(&cs->all.v[c], rows),
			  cs->all.v[c].unit);
	/* A file that grows meanwhile is not followed. */
	for (size_t r = 0; r < rows && (e = next_row(csv, cs, &fields, err)) > 0; r++) {
		for (size_t c = 0; c < cs->all.nr; c++)
			put_cell(t, table_column(t, c)->type, fields[c]);
		table_row(t);
	}
	return e < 0 ? e : 0;
}

static int load_table(const char *dir, const json_t *said, struct table_set *ts, struct err *err)
{
	const char *name = json_text_at(said, "name");
	CLEANUP(xfreep) char *path = NULL;
	CLEANUP(columns_release) struct columns cs = { VEC_INIT };
	CLEANUP(table_freep) struct table *t = NULL;
	size_t rows = 0;
	int e;

	if (!report_table_name_ok(name))
		return err_set(err, EINVAL, "'%s' is no name for a table", name);
	path = xasprintf("%s/tables/%s.csv", dir, name);
	e = look_at_table(path, json_object_get(said, "columns"), &cs, &rows, err);
	if (e < 0)
		return e;
	t = table_new(name);
	table_about(t, json_text_at(said, "about"));
	e = fill_table(path, &cs, rows, t, err);
	if (e < 0)
		return e;
	table_set_add(ts, STEAL(t));
	return 0;
}

/* --- the directory --- */

static int load_json(const char *path, char **ret_text, json_t **ret, struct err *err)
{
	CLEANUP(xfreep) char *text = NULL;
	json_error_t why;
	size_t len;
	int e = fs_read(path, MAX_JSON, &text, &len, err);

	if (e < 0)
		return e;
	*ret = json_loadb(text, len, 0, &why);
	if (!*ret)
		return err_set(err, EINVAL, "%s:%d:%d: %s", path, why.line, why.column, why.text);
	if (strlen(text) != len || !json_is_object(*ret)) {
		json_decref(*ret);
		*ret = NULL;
		return err_set(err, EINVAL, "%s: not a JSON object", path);
	}
	if (ret_text)
		*ret_text = STEAL(text);
	return 0;
}

static void load_checks(const json_t *doc, struct table_set *ts)
{
	size_t i;
	json_t *check;

	json_array_foreach(json_object_get(doc, "checks"), i, check) table_set_check(
		ts, json_text_at(check, "name"), json_is_true(json_object_get(check, "ok")), "%s",
		json_text_at(check, "detail"));
}

static void load_skipped(const json_t *doc, struct table_set *ts)
{
	size_t i;
	json_t *skip;

	json_array_foreach(json_object_get(doc, "skipped"), i, skip)
		table_set_skip(ts, json_text_at(skip, "name"), "%s", json_text_at(skip, "reason"));
}

/* id: of the run that it has to be, NULL for any. */
static bool take_run(struct report *r, const char *dir, const char *id)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "run.json");
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(json_freep) json_t *doc = NULL;

	if (load_json(path, &text, &doc, NULL) < 0 ||
	    (id && strcmp(json_text_at(doc, "id"), id) != 0))
		return false;
	r->run_json = STEAL(text);
	r->run_dir = xstrdup(dir);
	return true;
}

/*
 * An analysis inside a run directory belongs to that run. One elsewhere names its run, which may
 * have moved, or be a path of another machine: then its id is not found there.
 */
static void load_run(struct report *r, const json_t *analysis)
{
	const json_t *run = json_object_get(analysis, "run");
	CLEANUP(xfreep) char *whole = fs_abs(r->dir);
	CLEANUP(xfreep) char *above = fs_dir(whole);

	if (strcmp(fs_base(whole), "analysis") == 0 && take_run(r, above, NULL))
		return;
	if (*json_text_at(run, "dir") && *json_text_at(run, "id"))
		take_run(r, json_text_at(run, "dir"), json_text_at(run, "id"));
}

static int report_read(struct report *r, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(r->dir, "analysis.json");
	CLEANUP(json_freep) json_t *doc = NULL;
	int e = load_json(path, &r->analysis_json, &doc, err);
	json_t *tables, *said;
	size_t i;

	if (e < 0)
		return e;
	if (strcmp(json_text_at(doc, "schema"), "profrig.analysis/1") != 0)
		return err_set(err, EINVAL, "%s: schema is '%s', not profrig.analysis/1", path,
			       json_text_at(doc, "schema"));
	tables = json_object_get(doc, "tables");
	if (json_array_size(tables) > MAX_TABLES)
		return err_set(err, EINVAL, "%s: more than %d tables", path, MAX_TABLES);
	json_array_foreach(tables, i, said)
	{
		e = load_table(r->dir, said, &r->tables, err);
		/* -ENOENT means "not an analysis" to the caller, and this is one. */
		if (e < 0)
			return err_wrap(err, e == -ENOENT ? -EINVAL : e, "%s", r->dir);
	}
	load_checks(doc, &r->tables);
	load_skipped(doc, &r->tables);
	load_run(r, doc);
	return 0;
}

int report_load(const char *dir, struct report *ret, struct err *err)
{
	struct report r = REPORT_INIT;
	CLEANUP(xfreep) char *own = fs_join(dir, "analysis.json");
	CLEANUP(xfreep) char *inner = fs_join(dir, "analysis/analysis.json");
	int e;

	if (fs_is_file(own))
		r.dir = xstrdup(dir);
	else if (fs_is_file(inner))
		r.dir = fs_join(dir, "analysis");
	else
		return err_set(err, ENOENT, "'%s' holds no analysis", dir);
	e = report_read(&r, err);
	if (e < 0) {
		report_release(&r);
		return e;
	}
	*ret = r;
	return 0;
}

void report_release(struct report *r)
{
	table_set_release(&r->tables);
	free(r->dir);
	free(r->analysis_json);
	free(r->run_json);
	free(r->run_dir);
	*r = (struct report)REPORT_INIT;
}

static void drop_stale_tables(const struct report *r, const char *analysis_json)
{
	CLEANUP(json_freep) json_t *doc = NULL;
	json_t *said;
	size_t i;

	if (load_json(analysis_json, NULL, &doc, NULL) < 0)
		return;
	json_array_foreach(json_object_get(doc, "tables"), i, said)
	{
		const char *name = json_text_at(said, "name");
		CLEANUP(xfreep) char *file = NULL;

		if (!report_table_name_ok(name) || table_set_find(&r->tables, name))
			continue;
		file = xasprintf("%s/tables/%s.csv", r->dir, name);
		door_unlink(file);
	}
}

int report_write_analysis(const struct report *r, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(r->dir, "analysis.json");
	int e = fs_mkdirs(r->dir, 0755, err);

	if (e < 0)
		return e;
	drop_stale_tables(r, path);
	return fs_write_atomic(path, r->analysis_json, strlen(r->analysis_json), err);
}
