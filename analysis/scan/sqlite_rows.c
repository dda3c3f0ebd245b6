#include "sqlite_db.h"
#include "sqlite_private.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

static int rows_prepare(struct sqlite_db *db, const char *what, const char *sql,
			struct sqlite_rows *ret, struct err *err)
{
	int rc;

	*ret = (struct sqlite_rows){ .db = db };
	if (!sql)
		return err_set(err, ENOMEM, "%s: %s: out of memory", db->path, what);
	db->steps = 0;
	rc = sqlite3_prepare_v2(db->handle, sql, -1, &ret->stmt, NULL);
	if (rc != SQLITE_OK)
		return sqlite_fail(db, rc, what, err);
	ret->what = xstrdup(what);
	return 0;
}

int sqlite_rows_query(struct sqlite_db *db, const char *what, struct sqlite_rows *ret,
		      struct err *err, const char *fmt, ...)
{
	va_list ap;
	char *sql;
	int r;

	va_start(ap, fmt);
	sql = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	r = rows_prepare(db, what, sql, ret, err);
	sqlite3_free(sql);
	return r;
}

int sqlite_rows_next(struct sqlite_rows *q, struct err *err)
{
	int rc = sqlite3_step(q->stmt);
	char place[200];

	if (__builtin_expect(rc == SQLITE_ROW, 1)) {
		q->rows++;
		return 1;
	}
	if (rc == SQLITE_DONE)
		return 0;
	snprintf(place, sizeof(place), "%.150s, after row %" PRIu64, q->what, q->rows);
	return sqlite_fail(q->db, rc, place, err);
}

void sqlite_rows_release(struct sqlite_rows *q)
{
	sqlite3_finalize(q->stmt);
	free(q->what);
	q->stmt = NULL;
	q->what = NULL;
}

void sqlite_rows_close(struct sqlite_rows *q, struct sink *s)
{
	if (s)
		tally_warn(&q->odd, s, W_BAD_NUMBER, NULL);
	q->odd = (struct tally){ 0 };
	sqlite_rows_release(q);
}

/* ---- tables ---- */

static int columns_of(struct sqlite_db *db, const char *table, struct sqlite_rows *ret,
		      struct err *err)
{
	return sqlite_rows_query(db, table, ret, err, "SELECT * FROM \"%w\" LIMIT 0", table);
}

static bool has_column(const struct sqlite_rows *q, const char *name, size_t n)
{
	for (int i = 0; i < sqlite3_column_count(q->stmt); i++) {
		const char *have = sqlite3_column_name(q->stmt, i);

		if (have && strlen(have) == n && sqlite3_strnicmp(have, name, (int)n) == 0)
			return true;
	}
	return false;
}

bool sqlite_db_has_column(struct sqlite_db *db, const char *table, const char *column)
{
	CLEANUP(sqlite_rows_release) struct sqlite_rows q = { .db = NULL };

	return columns_of(db, table, &q, NULL) == 0 && has_column(&q, column, strlen(column));
}

/* The first of the names "a|b" (n bytes) that the table has; NULL. */
static const char *column_alternative(const struct sqlite_rows *q, const char *names, size_t n,
				      size_t *ret_n)
{
	const char *end = names + n;

	for (; names < end; names += *ret_n + 1) {
		*ret_n = strcspn(names, "|? ");
		if (has_column(q, names, *ret_n))
			return names;
	}
	return NULL;
}

static void add_name(struct strbuf *sql, const char *name, size_t n)
{
	strbuf_addch(sql, '"');
	for (size_t i = 0; i < n; i++) {
		if (name[i] == '"')
			strbuf_addch(sql, '"');
		strbuf_addch(sql, name[i]);
	}
	strbuf_addch(sql, '"');
}

static int select_of(struct sqlite_db *db, const char *table, const char *columns,
		     struct strbuf *sql, struct err *err)
{
	CLEANUP(sqlite_rows_release) struct sqlite_rows have = { .db = NULL };
	const char *begin = "SELECT ";
	int r = columns_of(db, table, &have, err);

	for (size_t n; r >= 0 && *columns; columns += n + strspn(columns + n, " ")) {
		n = strcspn(columns, " ");
		bool optional = n > 0 && columns[n - 1] == '?';
		size_t len = 0;
		const char *name = column_alternative(&have, columns, n - optional, &len);

		strbuf_addstr(sql, begin);
		begin = ", ";
		if (name)
			add_name(sql, name, len);
		else if (optional)
			strbuf_addstr(sql, "NULL");
		else
			return err_set(err, ENOENT, "%s: table '%s' has no column '%.*s'", db->path,
				       table, (int)n, columns);
	}
	strbuf_addstr(sql, " FROM ");
	add_name(sql, table, strlen(table));
	return r;
}

int sqlite_rows_table(struct sqlite_db *db, const char *table, const char *columns,
		      struct sqlite_rows *ret, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf sql = STRBUF_INIT;
	CLEANUP(xfreep) char *what = xasprintf("table '%s'", table);
	int r;

	*ret = (struct sqlite_rows){ .db = db };
	r = select_of(db, table, columns, &sql, err);
	/* The schema is walked for error messages only: merged files have very many tables. */
	if (r < 0 && !sqlite_db_has(db, table))
		return err_set(err, ENOENT, "%s: no table '%s'", db->path, table);
	return r < 0 ? r : rows_prepare(db, what, sql.buf, ret, err);
}

/* ---- values ---- */

static void odd_value(struct sqlite_rows *q, int col)
{
	static const char *const types[] = { "?", "integer", "real", "text", "blob", "NULL" };
	int type = sqlite3_column_type(q->stmt, col);
	const char *name, *value;

	if (q->odd.nr > 0) {
		q->odd.nr++;
		return;
	}
	name = sqlite3_column_name(q->stmt, col);
	value = type == SQLITE_BLOB ? NULL : (const char *)sqlite3_column_text(q->stmt, col);
	tally_text(&q->odd, "%s, row %" PRIu64 ": column '%.40s' holds %s '%.40s'", q->what,
		   q->rows, name ? name : "", types[type > 0 && type < 6 ? type : 0],
		   value ? value : "…");
	text_no_controls(q->odd.text, ' ');
}

/* A text of digits in a column of numbers, without blanks. */
static bool empty_text(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] != ' ')
			return false;
	return true;
}

bool sqlite_rows_i64_other(struct sqlite_rows *q, int col, int64_t *ret)
{
	int type = sqlite3_column_type(q->stmt, col);
	const char *s;
	size_t n;
	double d;

	*ret = 0;
	switch (type) {
	case SQLITE_NULL:
		return false;
	case SQLITE_FLOAT:
		d = sqlite3_column_double(q->stmt, col);
		if (d >= -0x1p63 && d < 0x1p63 && d == floor(d)) {
			*ret = (int64_t)d;
			return true;
		}
		break;
	case SQLITE_TEXT:
		s = sqlite_rows_text(q, col, &n);
		if (!s || empty_text(s, n))
			return false;
		if (num_i64(s, n, ret) == 0)
			return true;
		*ret = 0;
		break;
	default:
		break;
	}
	odd_value(q, col);
	return false;
}

bool sqlite_rows_f64(struct sqlite_rows *q, int col, double *ret)
{
	int type = sqlite3_column_type(q->stmt, col);
	const char *s;
	size_t n;

	*ret = NAN;
	switch (type) {
	case SQLITE_INTEGER:
	case SQLITE_FLOAT:
		*ret = sqlite3_column_double(q->stmt, col);
		return true;
	case SQLITE_NULL:
		return false;
	case SQLITE_TEXT:
		s = sqlite_rows_text(q, col, &n);
		if (!s || empty_text(s, n))
			return false;
		if (num_f64(s, n, ret) == 0)
			return true;
		*ret = NAN;
		break;
	default:
		break;
	}
	odd_value(q, col);
	return false;
}

const char *sqlite_rows_text(struct sqlite_rows *q, int col, size_t *ret_n)
{
	const char *s = (const char *)sqlite3_column_text(q->stmt, col);

	*ret_n = s ? (size_t)sqlite3_column_bytes(q->stmt, col) : 0;
	return s;
}
