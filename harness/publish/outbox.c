#include "outbox.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/fields.h"
#include "profrig/base/fs.h"

#define VERSION 1
#define BUSY_MS 5000
#define MAX_TEXT 4096
#define MAX_ROWS 100000

struct outbox {
	sqlite3 *db;
	char *path;
};

static const char create_sql[] =
	"CREATE TABLE outbox (run TEXT NOT NULL, target TEXT NOT NULL, state TEXT NOT NULL,"
	" tries INTEGER NOT NULL, next_ns INTEGER NOT NULL, error TEXT NOT NULL,"
	" dir TEXT NOT NULL, series TEXT, ended_ns INTEGER NOT NULL, sent_ns INTEGER,"
	" PRIMARY KEY (run, target)) WITHOUT ROWID";

FIELD_TABLE(row_fields, TEXT_FIELDS(struct publish_row, run, target, state, error, dir));
FIELD_TABLE(list_fields, FIELD_VEC(struct publish_list, rows, row_fields));

void publish_list_release(struct publish_list *l)
{
	fields_release(l, list_fields);
}

void outbox_close(struct outbox *ob)
{
	if (!ob)
		return;
	sqlite3_close(ob->db);
	free(ob->path);
	free(ob);
}

void outbox_closep(struct outbox **ob)
{
	outbox_close(*ob);
	*ob = NULL;
}

static int outbox_fail(const struct outbox *ob, int rc, struct err *err)
{
	int code = EIO;

	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		xalloc_failed();
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		code = EBUSY;
		break;
	case SQLITE_FULL:
		code = ENOSPC;
		break;
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_CANTOPEN:
		code = EACCES;
		break;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		code = EBADMSG;
		break;
	default:
		break;
	}
	return err_set(err, code, "'%s': %s", ob->path,
		       ob->db ? sqlite3_errmsg(ob->db) : sqlite3_errstr(rc));
}

/* --- opening --- */

/* 1: a regular file of one name; 0: nothing there. */
static int look_at(const char *path, struct err *err)
{
	struct stat st;

	if (door_lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_sys(err, errno, "'%s'", path);
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return err_set(err, EBADMSG,
			       "'%s' is no file of its own (a link, or something else): remove it",
			       path);
	return 1;
}

static int run_sql(const struct outbox *ob, const char *sql, struct err *err)
{
	int rc = sqlite3_exec(ob->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : outbox_fail(ob, rc, err);
}

static int number_of(const struct outbox *ob, const char *sql, int64_t *ret, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(ob->db, sql, -1, &st, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		*ret = sqlite3_column_int64(st, 0);
		sqlite3_finalize(st);
		return 0;
	}
	rc = outbox_fail(ob, rc, err);
	sqlite3_finalize(st);
	return rc;
}

/* Exactly our table: a view or a trigger of this name could do other things. */
static int check_schema(const struct outbox *ob, struct err *err)
{
	CLEANUP(xfreep)
	char *ours = xasprintf("SELECT count(*) = 1 AND min(type) = 'table' AND min(sql) = '%s'"
			       " FROM sqlite_schema WHERE sql IS NOT NULL",
			       create_sql);
	int64_t version = 0, alike = 0;
	int r = number_of(ob, "PRAGMA user_version", &version, err);

	if (r == 0 && version > VERSION)
		return err_set(err, EBADMSG, "'%s' is of a newer profrig (version %lld)", ob->path,
			       (long long)version);
	/* The text has quotes of its own nowhere. */
	if (r == 0)
		r = number_of(ob, ours, &alike, err);
	if (r == 0 && !alike)
		return err_set(err, EBADMSG, "'%s' is no outbox of profrig: move it out of the way",
			       ob->path);
	return r;
}

static int make_schema(const struct outbox *ob, struct err *err)
{
	int64_t tables = 0;
	int r = run_sql(ob, "BEGIN IMMEDIATE", err);

	if (r < 0)
		return r;
	r = number_of(ob, "SELECT count(*) FROM sqlite_schema", &tables, err);
	if (r == 0 && tables == 0)
		r = run_sql(ob, create_sql, err);
	if (r == 0 && tables == 0)
		r = run_sql(ob, "PRAGMA user_version = 1", err);
	if (r < 0) {
		sqlite3_exec(ob->db, "ROLLBACK", NULL, NULL, NULL);
		return r;
	}
	return run_sql(ob, "COMMIT", err);
}

static int open_db(struct outbox *ob, bool make, struct err *err)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_PRIVATECACHE;
	int rc = sqlite3_open_v2(ob->path, &ob->db, flags | (make ? SQLITE_OPEN_CREATE : 0), NULL);
	int r = rc == SQLITE_OK ? 0 : outbox_fail(ob, rc, err);

	if (r < 0)
		return r;
	sqlite3_busy_timeout(ob->db, BUSY_MS);
	sqlite3_db_config(ob->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(ob->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(ob->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_limit(ob->db, SQLITE_LIMIT_LENGTH, 1 << 20);
	if (make)
		r = make_schema(ob, err);
	return r < 0 ? r : check_schema(ob, err);
}

int outbox_open(const char *folder, bool make, struct outbox **ret, struct err *err)
{
	/* SQLITE_OPEN_NOFOLLOW refuses a link anywhere in the path; the folder's are the user's. */
	CLEANUP(xfreep) char *real = xrealpath(folder);
	CLEANUP(xfreep) char *journal = NULL;
	struct outbox *ob;
	int there, r;

	*ret = NULL;
	if (!real)
		return err_sys(err, errno, "'%s'", folder);
	ob = xcalloc(1, sizeof(*ob));
	ob->path = fs_join(real, PUBLISH_OUTBOX);
	journal = xasprintf("%s-journal", ob->path);
	there = look_at(ob->path, err);
	r = there < 0 ? there : look_at(journal, err);
	if (r >= 0 && !there && !make) {
		outbox_close(ob);
		return 0;
	}
	if (r >= 0)
		r = open_db(ob, !there || (make && fs_size(ob->path) == 0), err);
	if (r < 0) {
		outbox_close(ob);
		return r;
	}
	*ret = ob;
	return 0;
}

/* --- statements --- */

/* Binds by the letters of kinds: s text (NULL fine), i int64_t. */
static int prepare(const struct outbox *ob, const char *sql, sqlite3_stmt **ret, struct err *err,
		   const char *kinds, ...)
{
	int rc = sqlite3_prepare_v2(ob->db, sql, -1, ret, NULL);
	va_list ap;

	va_start(ap, kinds);
	for (int i = 1; rc == SQLITE_OK && *kinds; kinds++, i++)
		rc = *kinds == 's' ? sqlite3_bind_text(*ret, i, va_arg(ap, const char *), -1,
						       SQLITE_TRANSIENT)
				   : sqlite3_bind_int64(*ret, i, va_arg(ap, int64_t));
	va_end(ap);
	if (rc == SQLITE_OK)
		return 0;
	rc = outbox_fail(ob, rc, err);
	sqlite3_finalize(*ret);
	*ret = NULL;
	return rc;
}

/* Steps a statement that changes rows, and ends it; how many it changed. */
static int change(const struct outbox *ob, sqlite3_stmt *st, struct err *err)
{
	int rc = sqlite3_step(st);
	int r = rc == SQLITE_DONE ? sqlite3_changes(ob->db) : outbox_fail(ob, rc, err);

	sqlite3_finalize(st);
	return r;
}

int outbox_put(struct outbox *ob, const struct outbox_new *row, bool again, struct err *err)
{
	/* A dir that changed (a moved folder) is brought up to date. */
	static const char new_sql[] =
		"INSERT INTO outbox (run, target, state, tries, next_ns, error, dir, series,"
		" ended_ns) VALUES (?1, ?2, 'waiting', 0, 0, '', ?3, ?4, ?5)"
		" ON CONFLICT (run, target) DO NOTHING";
	static const char again_sql[] =
		"INSERT INTO outbox (run, target, state, tries, next_ns, error, dir, series,"
		" ended_ns) VALUES (?1, ?2, 'waiting', 0, 0, '', ?3, ?4, ?5)"
		" ON CONFLICT (run, target) DO UPDATE SET state = 'waiting', next_ns = 0,"
		" dir = ?3, series = ?4, ended_ns = ?5";
	sqlite3_stmt *st;
	int r = prepare(ob, again ? again_sql : new_sql, &st, err, "ssssi", row->run, row->target,
			row->dir, row->series, row->ended_ns);

	return r < 0 ? r : change(ob, st, err);
}

static char *column_text(sqlite3_stmt *st, int at)
{
	const char *s = (const char *)sqlite3_column_text(st, at);

	return xstrndup(s ? s : "", MAX_TEXT);
}

static int read_rows(struct outbox *ob, sqlite3_stmt *st, struct publish_list *ret, struct err *err)
{
	int rc = SQLITE_DONE;

	while (ret->rows.nr < MAX_ROWS && (rc = sqlite3_step(st)) == SQLITE_ROW)
		VEC_PUSH(&ret->rows, ((struct publish_row){ .run = column_text(st, 0),
							    .target = column_text(st, 1),
							    .state = column_text(st, 2),
							    .tries = sqlite3_column_int64(st, 3),
							    .next_ns = sqlite3_column_int64(st, 4),
							    .error = column_text(st, 5),
							    .dir = column_text(st, 6) }));
	rc = rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : outbox_fail(ob, rc, err);
	sqlite3_finalize(st);
	return rc;
}

#define COLUMNS "SELECT run, target, state, tries, next_ns, error, dir FROM outbox "

int outbox_due(struct outbox *ob, int64_t now_ns, const char *first, struct publish_list *ret,
	       struct err *err)
{
	sqlite3_stmt *st;
	int r = prepare(ob,
			COLUMNS "WHERE state = 'waiting' AND next_ns <= ?1"
				" ORDER BY dir <> ?2, ended_ns, run, target",
			&st, err, "is", now_ns, first ? first : "");

	return r < 0 ? r : read_rows(ob, st, ret, err);
}

int outbox_rows(struct outbox *ob, struct publish_list *ret, struct err *err)
{
	sqlite3_stmt *st;
	int r = prepare(ob, COLUMNS "ORDER BY ended_ns, run, target", &st, err, "");

	return r < 0 ? r : read_rows(ob, st, ret, err);
}

int outbox_claim(struct outbox *ob, const struct publish_row *row, int64_t lease_ns,
		 struct err *err)
{
	sqlite3_stmt *st;
	int r = prepare(ob,
			"UPDATE outbox SET tries = tries + 1, next_ns = ?4 WHERE run = ?1"
			" AND target = ?2 AND state = 'waiting' AND tries = ?3",
			&st, err, "ssii", row->run, row->target, row->tries,
			clock_realtime_ns() + lease_ns);

	return r < 0 ? r : change(ob, st, err);
}

int outbox_note(struct outbox *ob, const struct publish_row *row, const char *state,
		int64_t next_ns, const char *error, struct err *err)
{
	sqlite3_stmt *st;
	int r = prepare(ob,
			"UPDATE outbox SET state = ?3, next_ns = ?4, error = ?5,"
			" sent_ns = CASE WHEN ?3 = 'sent' THEN ?6 ELSE sent_ns END"
			" WHERE run = ?1 AND target = ?2",
			&st, err, "sssisi", row->run, row->target, state, next_ns, error,
			clock_realtime_ns());

	r = r < 0 ? r : change(ob, st, err);
	return r < 0 ? r : 0;
}

int outbox_superseded(struct outbox *ob, const struct publish_row *row, bool *ret, struct err *err)
{
	sqlite3_stmt *st;
	int rc, r = prepare(ob,
			    "SELECT 1 FROM outbox AS me JOIN outbox AS it ON it.target = me.target"
			    " AND it.series = me.series AND it.ended_ns > me.ended_ns"
			    " AND it.state = 'sent' WHERE me.run = ?1 AND me.target = ?2 LIMIT 1",
			    &st, err, "ss", row->run, row->target);

	if (r < 0)
		return r;
	rc = sqlite3_step(st);
	*ret = rc == SQLITE_ROW;
	r = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : outbox_fail(ob, rc, err);
	sqlite3_finalize(st);
	return r;
}

int outbox_waiting(struct outbox *ob, uint64_t *ret, struct err *err)
{
	int64_t n = 0;
	int r = number_of(ob, "SELECT count(*) FROM outbox WHERE state = 'waiting'", &n, err);

	*ret = (uint64_t)n;
	return r;
}

int outbox_trim(struct outbox *ob, int64_t before_ns, struct err *err)
{
	sqlite3_stmt *st;
	int r = prepare(ob,
			"DELETE FROM outbox WHERE state IN ('sent', 'superseded', 'gone')"
			" AND coalesce(sent_ns, ended_ns) < ?1",
			&st, err, "i", before_ns);

	r = r < 0 ? r : change(ob, st, err);
	return r < 0 ? r : 0;
}
