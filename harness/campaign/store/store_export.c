#include "store_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "profrig/base/csv.h"
#include "profrig/base/json_out.h"
#include "profrig/base/xalloc.h"

/* ---- rows in their order ---- */

/* clang-format off */
enum cell_column { CELL_ID, CELL_CAMPAIGN, CELL_LABEL, CELL_MODEL, CELL_AXES, CELL_IS_BASELINE,
		   CELL_BASELINE, CELL_CURRENT };
enum run_column { RUN_ID, RUN_REPEAT, RUN_BLOCK, RUN_POS, RUN_STATE, RUN_CURRENT };
enum attempt_column { ATTEMPT_ID, ATTEMPT_N, ATTEMPT_COMMITTED, ATTEMPT_STATE, ATTEMPT_CLASS,
		      ATTEMPT_REASON, ATTEMPT_EXIT, ATTEMPT_SIGNAL, ATTEMPT_NODE, ATTEMPT_JOB,
		      ATTEMPT_ENV, ATTEMPT_STARTED, ATTEMPT_ENDED, ATTEMPT_DIR, ATTEMPT_COLUMNS };
enum metric_column { METRIC_NAME, METRIC_KEY, METRIC_UNIT, METRIC_BETTER, METRIC_VALUE };
/* clang-format on */

enum level { LEVEL_CELL, LEVEL_RUN, LEVEL_ATTEMPT, LEVEL_METRIC, LEVELS };

static const char *const level_sql[LEVELS] = {
	"SELECT id, campaign, label, model, axes_json, is_baseline, baseline, current FROM cell "
	"WHERE current OR ?2 ORDER BY current DESC, ord, id",
	"SELECT id, repeat, block, pos, state, current FROM run WHERE id > ?1 || '-' AND "
	"id < ?1 || '.' AND cell = ?1 AND (current OR ?2) ORDER BY repeat, id",
	"SELECT id, n, committed, state, class, reason, exit, signal, node, job, env_sha, "
	"started_ns, ended_ns, dir FROM attempt WHERE id > ?1 || '.' AND id < ?1 || '/' "
	"ORDER BY n",
	"SELECT name, key, unit, better, value FROM metric WHERE attempt = ?1 ORDER BY name, key",
};

struct walk {
	struct store *s;
	bool old;
	sqlite3_stmt *st[LEVELS]; /* at the current row of each level above */
	struct store_exported *ret;
	FILE *f;
	struct csv_writer csv;
	struct json_out json;
	bool lines;         /* NDJSON */
	enum level section; /* of JSON: which rows are written */
	struct strvec axes; /* columns */
	json_t *cell_axes;  /* of the current cell */
	char *axes_text;
	int (*row)(struct walk *w, enum level upto, struct err *err);
};

static const char *text_at(const struct walk *w, enum level l, int column)
{
	return (const char *)sqlite3_column_text(w->st[l], column);
}

static bool is_null(const struct walk *w, enum level l, int column)
{
	return sqlite3_column_type(w->st[l], column) == SQLITE_NULL;
}

static int64_t number_at(const struct walk *w, enum level l, int column)
{
	return sqlite3_column_int64(w->st[l], column);
}

static void cell_axes_set(struct walk *w)
{
	const char *text = text_at(w, LEVEL_CELL, CELL_AXES);

	json_decref(w->cell_axes);
	w->cell_axes = text ? json_loads(text, 0, NULL) : NULL;
}

/*
 * Calls w->row for every row of a level, and for those below it. A level without rows below it is
 * a row itself.
 */
static int level_walk(struct walk *w, enum level l, const char *of, bool *some, struct err *err)
{
	sqlite3_stmt *st = w->st[l];
	int rc = SQLITE_OK, r = 0;

	sqlite3_reset(st);
	if (of)
		rc = sqlite3_bind_text(st, 1, of, -1, SQLITE_TRANSIENT);
	if (rc == SQLITE_OK && l <= LEVEL_RUN)
		rc = sqlite3_bind_int(st, 2, w->old);
	*some = false;
	while (rc == SQLITE_OK && r == 0 && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		bool below = false, into = l < LEVEL_METRIC;

		rc = SQLITE_OK;
		*some = true;
		if (l == LEVEL_CELL)
			cell_axes_set(w);
		/* what was measured in an attempt that is not committed does not count */
		if (l == LEVEL_ATTEMPT && !number_at(w, l, ATTEMPT_COMMITTED))
			into = false;
		if (into)
			r = level_walk(w, l + 1, text_at(w, l, 0), &below, err);
		if (r == 0 && !below)
			r = w->row(w, l, err);
	}
	if (r == 0 && rc != SQLITE_DONE)
		r = store_fail(w->s, rc, NULL, err);
	return r;
}

static int walk_begin(struct walk *w, struct err *err)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < LEVELS; i++)
		rc = sqlite3_prepare_v2(w->s->db, level_sql[i], -1, &w->st[i], NULL);
	return rc == SQLITE_OK ? 0 : store_fail(w->s, rc, NULL, err);
}

static void walk_end(struct walk *w)
{
	for (size_t i = 0; i < LEVELS; i++)
		sqlite3_finalize(w->st[i]);
	strvec_release(&w->axes);
	json_decref(w->cell_axes);
}

/* ---- one row for each metric ---- */

/* Columns by level, behind those of the cell. */
static const struct column {
	enum level level;
	int at;
	const char *name;
} columns[] = {
	{ LEVEL_RUN, RUN_REPEAT, "repeat" },
	{ LEVEL_RUN, RUN_BLOCK, "block" },
	{ LEVEL_RUN, RUN_POS, "pos" },
	{ LEVEL_RUN, RUN_STATE, "run_state" },
	{ LEVEL_ATTEMPT, ATTEMPT_N, "attempt" },
	{ LEVEL_ATTEMPT, ATTEMPT_COMMITTED, "committed" },
	{ LEVEL_ATTEMPT, ATTEMPT_STATE, "state" },
	{ LEVEL_ATTEMPT, ATTEMPT_CLASS, "class" },
	{ LEVEL_ATTEMPT, ATTEMPT_REASON, "reason" },
	{ LEVEL_ATTEMPT, ATTEMPT_EXIT, "exit" },
	{ LEVEL_ATTEMPT, ATTEMPT_SIGNAL, "signal" },
	{ LEVEL_ATTEMPT, ATTEMPT_NODE, "node" },
	{ LEVEL_ATTEMPT, ATTEMPT_JOB, "job" },
	{ LEVEL_ATTEMPT, ATTEMPT_ENV, "env_sha" },
	{ LEVEL_ATTEMPT, ATTEMPT_STARTED, "started_ns" },
	{ LEVEL_ATTEMPT, ATTEMPT_ENDED, "ended_ns" },
	{ LEVEL_ATTEMPT, ATTEMPT_DIR, "dir" },
	{ LEVEL_METRIC, METRIC_NAME, "metric" },
	{ LEVEL_METRIC, METRIC_KEY, "key" },
	{ LEVEL_METRIC, METRIC_UNIT, "unit" },
	{ LEVEL_METRIC, METRIC_BETTER, "better" },
	{ LEVEL_METRIC, METRIC_VALUE, "value" },
};
static const struct column cell_columns[] = {
	{ LEVEL_CELL, CELL_CAMPAIGN, "campaign" },
	{ LEVEL_CELL, CELL_ID, "cell" },
	{ LEVEL_CELL, CELL_LABEL, "label" },
	{ LEVEL_CELL, CELL_MODEL, "model" },
};

/* Whether a row that ends at a level is one for tables: what never began is none. */
static bool is_row(struct walk *w, enum level upto)
{
	if (upto >= LEVEL_ATTEMPT)
		return true;
	return upto == LEVEL_RUN && !strcmp(text_at(w, LEVEL_RUN, RUN_STATE), "failed");
}

static void row_count(struct walk *w, enum level upto)
{
	w->ret->rows++;
	w->ret->metrics += upto == LEVEL_METRIC;
	w->ret->uncommitted +=
		upto == LEVEL_RUN ||
		(upto == LEVEL_ATTEMPT && !number_at(w, LEVEL_ATTEMPT, ATTEMPT_COMMITTED));
}

static void csv_column(struct walk *w, const struct column *c, enum level upto)
{
	sqlite3_stmt *st = w->st[c->level];

	if (c->level > upto)
		csv_str(&w->csv, "");
	else if (sqlite3_column_type(st, c->at) == SQLITE_INTEGER)
		csv_i64(&w->csv, sqlite3_column_int64(st, c->at));
	else if (sqlite3_column_type(st, c->at) == SQLITE_FLOAT)
		csv_f64(&w->csv, sqlite3_column_double(st, c->at));
	else
		csv_sheet_str(&w->csv,
			      is_null(w, c->level, c->at) ? "" : text_at(w, c->level, c->at));
}

static int csv_row(struct walk *w, enum level upto, struct err *err)
{
	(void)err;
	if (!is_row(w, upto))
		return 0;
	row_count(w, upto);
	for (size_t i = 0; i < ARRAY_LEN(cell_columns); i++)
		csv_column(w, &cell_columns[i], upto);
	for (size_t i = 0; i < w->axes.nr; i++) {
		const json_t *v = json_object_get(w->cell_axes, w->axes.v[i]);
		CLEANUP(xfreep)
		char *text = v && !json_is_string(v)
				     ? json_dumps(v, STORE_JSON_TEXT | JSON_ENCODE_ANY)
				     : NULL;

		csv_sheet_str(&w->csv, text ? text : v ? json_string_value(v) : "");
	}
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		csv_column(w, &columns[i], upto);
	csv_end(&w->csv);
	return 0;
}

/* Axes of all cells that are exported, each at its first place. */
static int axes_row(struct walk *w, enum level upto, struct err *err)
{
	const char *key;
	json_t *v;

	(void)upto, (void)err;
	json_object_foreach(w->cell_axes, key, v) if (!strvec_has(&w->axes, key))
		strvec_push(&w->axes, key);
	return 0;
}

static int axes_find(struct walk *w, struct err *err)
{
	sqlite3_stmt *st = w->st[LEVEL_CELL];
	int rc = sqlite3_bind_int(st, 2, w->old), r = 0;

	while (rc == SQLITE_OK && r == 0 && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		rc = SQLITE_OK;
		cell_axes_set(w);
		r = axes_row(w, LEVEL_CELL, err);
	}
	return rc == SQLITE_DONE ? 0 : store_fail(w->s, rc, NULL, err);
}

static bool is_column(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		if (!strcmp(columns[i].name, name))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(cell_columns); i++)
		if (!strcmp(cell_columns[i].name, name))
			return true;
	return false;
}

static int csv_export(struct walk *w, struct err *err)
{
	bool some;
	int r = axes_find(w, err);

	if (r < 0)
		return r;
	w->csv = (struct csv_writer){ .f = w->f };
	for (size_t i = 0; i < ARRAY_LEN(cell_columns); i++)
		csv_str(&w->csv, cell_columns[i].name);
	for (size_t i = 0; i < w->axes.nr; i++) {
		const char *axis = w->axes.v[i];
		CLEANUP(xfreep)
		char *name = xasprintf("%s%s", is_column(axis) ? "axis." : "", axis);

		csv_sheet_str(&w->csv, name);
	}
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		csv_str(&w->csv, columns[i].name);
	csv_end(&w->csv);
	w->row = csv_row;
	return level_walk(w, LEVEL_CELL, NULL, &some, err);
}

static void json_column(struct walk *w, const char *key, sqlite3_stmt *st, int at)
{
	switch (sqlite3_column_type(st, at)) {
	case SQLITE_INTEGER:
		json_i64(&w->json, key, sqlite3_column_int64(st, at));
		break;
	case SQLITE_FLOAT:
		json_f64(&w->json, key, sqlite3_column_double(st, at));
		break;
	case SQLITE_NULL:
		json_nil(&w->json, key);
		break;
	default:
		json_str(&w->json, key, (const char *)sqlite3_column_text(st, at));
	}
}

static int line_row(struct walk *w, enum level upto, struct err *err)
{
	const char *axes = text_at(w, LEVEL_CELL, CELL_AXES);

	(void)err;
	if (!is_row(w, upto))
		return 0;
	row_count(w, upto);
	json_out_init(&w->json, w->f, 0);
	json_obj(&w->json, NULL);
	for (size_t i = 0; i < ARRAY_LEN(cell_columns); i++)
		json_column(w, cell_columns[i].name, w->st[LEVEL_CELL], cell_columns[i].at);
	json_raw(&w->json, "axes", w->cell_axes && axes ? axes : "{}");
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		if (columns[i].level <= upto)
			json_column(w, columns[i].name, w->st[columns[i].level], columns[i].at);
	json_end(&w->json);
	putc('\n', w->f);
	return 0;
}

static int lines_export(struct walk *w, struct err *err)
{
	bool some;

	w->row = line_row;
	return level_walk(w, LEVEL_CELL, NULL, &some, err);
}

/* ---- one document ---- */

/* A list of the rows of a question: names of columns are keys, those in _json hold JSON. */
static int list_put(struct walk *w, const char *key, const char *sql, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(w->s->db, sql, -1, &st, NULL);

	if (rc == SQLITE_OK && sqlite3_bind_parameter_count(st) > 0)
		rc = sqlite3_bind_int(st, 1, w->old);
	if (key)
		json_arr(&w->json, key);
	while (rc == SQLITE_OK && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		rc = SQLITE_OK;
		json_obj(&w->json, key ? NULL : "campaign");
		for (int i = 0; i < sqlite3_column_count(st); i++) {
			const char *name = sqlite3_column_name(st, i);
			size_t n = strlen(name);
			bool raw = n > 5 && !strcmp(name + n - 5, "_json");
			CLEANUP(xfreep) char *plain = xstrndup(name, raw ? n - 5 : n);

			if (raw && sqlite3_column_type(st, i) == SQLITE_TEXT)
				json_raw(&w->json, plain, (const char *)sqlite3_column_text(st, i));
			else
				json_column(w, plain, st, i);
		}
		json_end(&w->json);
	}
	if (key)
		json_end(&w->json);
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? 0 : store_fail(w->s, rc, NULL, err);
}

static int count_row(struct walk *w, enum level upto, struct err *err)
{
	(void)err;
	if (is_row(w, upto))
		row_count(w, upto);
	return 0;
}

#define IN_ORDER \
	"FROM cell AS c CROSS JOIN run AS r ON r.id > c.id || '-' AND r.id < c.id || '.' " \
	"AND r.cell = c.id "
#define OF_ATTEMPTS "CROSS JOIN attempt AS t ON t.id > r.id || '.' AND t.id < r.id || '/' "
#define WANTED "WHERE (c.current AND r.current OR ?1) "
#define BY_PLAN "ORDER BY c.current DESC, c.ord, c.id, r.repeat"

static const struct {
	const char *key, *sql;
} lists[] = {
	{ NULL, "SELECT id, name, config_json, config_sha, created_ns, seed FROM campaign "
		"ORDER BY id LIMIT 1" },
	{ "cells", "SELECT id, label, model, axes_json, is_baseline, baseline, current FROM cell "
		   "WHERE current OR ?1 ORDER BY current DESC, ord, id" },
	{ "runs",
	  "SELECT r.id, r.cell, r.repeat, r.block, r.pos, r.state, r.current " IN_ORDER WANTED
		  BY_PLAN },
	{ "attempts", "SELECT t.id, t.run, t.n, t.state, t.class, t.reason, t.exit, t.signal, "
		      "t.node, t.job, t.env_sha, t.started_ns, t.ended_ns, t.dir, "
		      "t.committed " IN_ORDER OF_ATTEMPTS WANTED BY_PLAN ", t.n" },
	{ "metrics",
	  "SELECT m.attempt, m.name, m.key, m.unit, m.better, m.value " IN_ORDER OF_ATTEMPTS
	  "CROSS JOIN metric AS m ON m.attempt = t.id " WANTED "AND t.committed " BY_PLAN
	  ", t.n, m.name, m.key" },
	{ "artifacts",
	  "SELECT a.attempt, a.tool, a.path, a.bytes, a.sha256, a.verdict " IN_ORDER OF_ATTEMPTS
	  "CROSS JOIN artifact AS a ON a.attempt = t.id " WANTED BY_PLAN ", t.n, a.tool, a.path" },
	{ "environments", "SELECT sha, json AS env_json FROM env WHERE sha IN "
			  "(SELECT env_sha FROM attempt) ORDER BY sha" },
	{ "verdicts", "SELECT id, a, b, metric, key, method, n_a, n_b, est, lo, hi, p, p_adj, "
		      "verdict, made_ns, params_json FROM verdict "
		      "ORDER BY made_ns, length(id), id" },
};

static int document_export(struct walk *w, struct err *err)
{
	bool some;
	int r = 0;

	json_out_init(&w->json, w->f, 1);
	json_obj(&w->json, NULL);
	json_str(&w->json, "schema", "profrig.campaign.export/1");
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(lists); i++)
		r = list_put(w, lists[i].key, lists[i].sql, err);
	if (r < 0)
		return r;
	json_end(&w->json);
	putc('\n', w->f);
	w->row = count_row;
	return level_walk(w, LEVEL_CELL, NULL, &some, err);
}

int store_export(struct store *s, enum store_format format, bool old, FILE *f,
		 struct store_exported *ret, struct err *err)
{
	struct walk w = { .s = s, .old = old, .f = f, .ret = ret, .axes = STRVEC_INIT };
	int64_t left_out = 0;
	int r = store_exec(s, "BEGIN", err);

	*ret = (struct store_exported){ 0 };
	if (r < 0)
		return r;
	r = walk_begin(&w, err);
	if (r == 0)
		r = format == STORE_CSV    ? csv_export(&w, err)
		    : format == STORE_JSON ? document_export(&w, err)
					   : lines_export(&w, err);
	if (r == 0 && !old)
		r = store_numbers(s,
				  "SELECT count(*) FROM run WHERE NOT current "
				  "AND state <> 'planned'",
				  &left_out, 1, err);
	ret->old_left_out = (uint64_t)left_out;
	walk_end(&w);
	store_exec(s, "COMMIT", NULL);
	if (r == 0 && ferror(f))
		r = err_sys(err, EIO, "the export");
	return r;
}
