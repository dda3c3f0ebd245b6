#include "store_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

#define APPLICATION 0x70726667 /* "prfg" */
#define CACHE_KIB "65536"
#define STR_(x) #x
#define STR(x) STR_(x)

/* campaigns.md §2, and behind it columns of our own. `applied` is how far the journal is in. */
static const char schema[] = "PRAGMA application_id = " STR(
	APPLICATION) ";"
		     "CREATE TABLE campaign(id TEXT PRIMARY KEY, name TEXT, config_json TEXT, "
		     "config_sha TEXT,"
		     " created_ns INTEGER, seed INTEGER) WITHOUT ROWID;"
		     "CREATE TABLE cell(id TEXT PRIMARY KEY, campaign TEXT, axes_json TEXT, label "
		     "TEXT,"
		     " is_baseline INTEGER, model TEXT, baseline TEXT, ord INTEGER, current "
		     "INTEGER)"
		     " WITHOUT ROWID;"
		     "CREATE TABLE run(id TEXT PRIMARY KEY, cell TEXT, repeat INTEGER, block "
		     "INTEGER,"
		     " pos INTEGER, state TEXT, current INTEGER) WITHOUT ROWID;"
		     "CREATE TABLE attempt(id TEXT PRIMARY KEY, run TEXT, n INTEGER, state TEXT, "
		     "class TEXT,"
		     " reason TEXT, exit INTEGER, signal TEXT, node TEXT, job TEXT, env_sha TEXT,"
		     " started_ns INTEGER, ended_ns INTEGER, dir TEXT, committed INTEGER) WITHOUT "
		     "ROWID;"
		     "CREATE TABLE env(sha TEXT PRIMARY KEY, json TEXT) WITHOUT ROWID;"
		     "CREATE TABLE artifact(attempt TEXT, tool TEXT, path TEXT, bytes INTEGER, "
		     "sha256 TEXT,"
		     " verdict TEXT, PRIMARY KEY(attempt, tool, path)) WITHOUT ROWID;"
		     "CREATE TABLE metric(attempt TEXT, name TEXT, key TEXT, unit TEXT, better "
		     "TEXT, value REAL,"
		     " PRIMARY KEY(attempt, name, key)) WITHOUT ROWID;"
		     "CREATE TABLE verdict(id TEXT PRIMARY KEY, a TEXT, b TEXT, metric TEXT, key "
		     "TEXT,"
		     " method TEXT, n_a INTEGER, n_b INTEGER, est REAL, lo REAL, hi REAL, p REAL, "
		     "p_adj REAL,"
		     " verdict TEXT, made_ns INTEGER, params_json TEXT) WITHOUT ROWID;"
		     "CREATE TABLE applied(seq INTEGER, events INTEGER, bytes INTEGER, block "
		     "INTEGER,"
		     " unread INTEGER, disputed INTEGER, unknown INTEGER, metrics TEXT, first "
		     "INTEGER,"
		     " writer TEXT);";

static const char *const statements[] = {
#define STATEMENT_SQL(name, sql) sql,
	STORE_STATEMENTS(STATEMENT_SQL)
#undef STATEMENT_SQL
};

/* ---- errors ---- */

static int code_errno(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return EBUSY;
	case SQLITE_CANTOPEN:
		return ENOENT;
	case SQLITE_FULL:
		return ENOSPC;
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return EACCES;
	case SQLITE_INTERRUPT:
		return ETIME;
	case SQLITE_NOMEM:
		return ENOMEM;
	case SQLITE_TOOBIG:
		return EFBIG;
	case SQLITE_IOERR:
		return EIO;
	default: /* damaged, or not as it was made */
		return EUCLEAN;
	}
}

int store_fail(struct store *s, int rc, const char *what, struct err *err)
{
	const char *where = *s->path ? s->path : "the store in memory";

	if (code_errno(rc) == EBUSY)
		return err_set(err, EBUSY, "%s: another program has it locked", where);
	return err_set(err, code_errno(rc), "%s: %s%s%s", where, what ? what : "", what ? ": " : "",
		       s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(rc));
}

int store_exec(struct store *s, const char *sql, struct err *err)
{
	int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : store_fail(s, rc, NULL, err);
}

void store_say(struct store *s, const char *fmt, ...)
{
	va_list ap;

	if (!s->o.said)
		return;
	va_start(ap, fmt);
	strvec_push_take(s->o.said, xvasprintf(fmt, ap));
	va_end(ap);
}

/* ---- statements ---- */

static int value_bind(sqlite3_stmt *st, int at, char kind, va_list *ap)
{
	const int64_t *maybe;
	const char *text;
	double f;

	switch (kind) {
	case 't':
		text = va_arg(*ap, const char *);
		return sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
	case 'i':
		return sqlite3_bind_int64(st, at, va_arg(*ap, int64_t));
	case 'o':
		maybe = va_arg(*ap, const int64_t *);
		return maybe ? sqlite3_bind_int64(st, at, *maybe) : sqlite3_bind_null(st, at);
	default:
		f = va_arg(*ap, double);
		return isnan(f) ? sqlite3_bind_null(st, at) : sqlite3_bind_double(st, at, f);
	}
}

int store_run(struct store *s, enum store_statement which, struct err *err, const char *args, ...)
{
	sqlite3_stmt **st = &s->stmt[which];
	int rc = SQLITE_OK, at = 0;
	va_list ap;

	if (!*st)
		rc = sqlite3_prepare_v3(s->db, statements[which], -1, SQLITE_PREPARE_PERSISTENT, st,
					NULL);
	va_start(ap, args);
	for (; rc == SQLITE_OK && args[at]; at++)
		rc = value_bind(*st, at + 1, args[at], &ap);
	va_end(ap);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(*st);
	if (*st) {
		sqlite3_reset(*st);
		sqlite3_clear_bindings(*st);
	}
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : store_fail(s, rc, NULL, err);
}

int store_numbers(struct store *s, const char *sql, int64_t *ret, size_t n, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &st, NULL), r = 0;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_DONE)
		r = err_set(err, ENOENT, "%s: nothing is in it", s->path);
	else if (rc != SQLITE_ROW)
		r = store_fail(s, rc, NULL, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		ret[i] = sqlite3_column_int64(st, (int)i);
	sqlite3_finalize(st);
	return r;
}

/* ---- the file ---- */

bool store_fs_local(unsigned long type)
{
	/* ext2 to ext4, xfs, btrfs, tmpfs, ramfs, overlay, zfs, f2fs, bcachefs, jfs, reiserfs,
	 * nilfs */
	static const unsigned long known[] = { 0xef53,     0x58465342, 0x9123683e, 0x01021994,
					       0x858458f6, 0x794c7630, 0x2fc12fc1, 0xf2f52010,
					       0xca451a4e, 0x3153464a, 0x52654973, 0x3434 };

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (known[i] == type)
			return true;
	return false;
}

void store_db_remove(const char *path)
{
	static const char *const ends[] = { "-wal", "-shm", "-journal", "" };

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		CLEANUP(xfreep) char *name = xasprintf("%s%s", path, ends[i]);

		door_unlink(name);
	}
}

static int settings_set(struct store *s, enum store_how how, struct err *err)
{
	static const char *const sql[] = {
		[STORE_CREATE] = "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF;"
				 "PRAGMA locking_mode=EXCLUSIVE;",
		[STORE_WRITE] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
		[STORE_READ_ONLY] = "PRAGMA query_only=ON;",
	};
	int r = 0;

	sqlite3_busy_timeout(s->db, s->o.busy_ms ? s->o.busy_ms : 5000);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 1); /* VACUUM INTO needs one */
	r = store_exec(s, "PRAGMA cache_size=-" CACHE_KIB "; PRAGMA cell_size_check=ON;", err);
	if (r == 0 && how == STORE_WRITE && s->o.shared)
		r = store_exec(s, "PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=OFF;", err);
	else if (r == 0)
		r = store_exec(s, sql[how], err);
	return r;
}

int store_db_open(struct store *s, const char *path, enum store_how how, struct err *err)
{
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW, rc;
	struct stat st = { 0 };

	store_db_close(s);
	free(s->path);
	s->path = xstrdup(path ? path : "");
	flags |= how == STORE_READ_ONLY ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	flags |= how == STORE_CREATE ? SQLITE_OPEN_CREATE : 0;
	/* SQLite would wait for a FIFO */
	if (path && how != STORE_CREATE && door_lstat(path, &st) < 0)
		return err_sys(err, errno, "%s", path);
	if (path && how != STORE_CREATE && !S_ISREG(st.st_mode))
		return err_set(err, EUCLEAN, "%s: no regular file", path);
	rc = sqlite3_open_v2(path ? path : ":memory:", &s->db, flags, NULL);
	if (rc != SQLITE_OK) {
		int code = s->db ? sqlite3_system_errno(s->db) : 0, r;

		r = code ? err_sys(err, code, "%s", path) : store_fail(s, rc, NULL, err);
		store_db_close(s);
		return r;
	}
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	return settings_set(s, how, err);
}

void store_db_close(struct store *s)
{
	for (size_t i = 0; i < STORE_STATEMENTS_NR; i++)
		sqlite3_finalize(STEAL(s->stmt[i]));
	sqlite3_close(STEAL(s->db));
	s->open = false;
}

/* ---- versions ---- */

static const struct store_migrations *migrations_of(const struct store *s)
{
	static const struct store_migrations none = { NULL, STORE_VERSION - 1 };

	return s->o.migrations ? s->o.migrations : &none;
}

int store_version_here(const struct store *s)
{
	return 1 + (int)migrations_of(s)->nr;
}

int store_db_version(struct store *s, int *ret, struct err *err)
{
	int64_t v[2];
	int r = store_numbers(s,
			      "SELECT user_version, (SELECT application_id FROM "
			      "pragma_application_id) FROM pragma_user_version",
			      v, 2, err);

	if (r < 0)
		return r;
	*ret = (int)v[0];
	return v[1] == APPLICATION && v[0] > 0
		       ? 0
		       : err_set(err, EUCLEAN, "%s: no store of a campaign", s->path);
}

/* From a version to this one, inside a transaction. */
static int versions_step(struct store *s, int from, struct err *err)
{
	const struct store_migrations *m = migrations_of(s);
	char sql[64];
	int r = 0;

	for (size_t i = (size_t)from - 1; r == 0 && i < m->nr; i++)
		r = store_exec(s, m->v[i], err);
	snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", store_version_here(s));
	return r < 0 ? r : store_exec(s, sql, err);
}

int store_db_make(struct store *s, struct err *err)
{
	int r = store_exec(s, schema, err);
	char sql[128];

	snprintf(sql, sizeof(sql),
		 "INSERT INTO applied VALUES(0, 0, 0, 0, 0, 0, 0, '[]', %" PRIu32 ", NULL)",
		 s->first);
	if (r == 0)
		r = store_exec(s, sql, err);
	return r < 0 ? r : versions_step(s, 1, err);
}

/* A copy of the file as it is, which the migration leaves alone. */
static int backup_make(struct store *s, int from, struct err *err)
{
	CLEANUP(xfreep) char *to = xasprintf("%s.v%d", s->path, from);
	CLEANUP(xfreep) char *temp = fs_temp_name(s->dir);
	char *sql = sqlite3_mprintf("VACUUM INTO %Q", temp);
	int r = store_exec(s, sql, err);

	sqlite3_free(sql);
	if (r == 0 && door_rename(temp, to) < 0)
		r = err_sys(err, errno, "%s", to);
	if (r < 0)
		store_db_remove(temp);
	else
		store_say(s, "%s: of version %d: migrated to %d; the old one is %s", s->path, from,
			  store_version_here(s), to);
	return r;
}

int store_db_migrate(struct store *s, int from, struct err *err)
{
	int r = backup_make(s, from, err);

	if (r == 0)
		r = store_exec(s, "BEGIN IMMEDIATE", err);
	if (r < 0)
		return r;
	r = versions_step(s, from, err);
	if (r == 0)
		r = store_exec(s, "COMMIT", err);
	if (r < 0)
		store_exec(s, "ROLLBACK", NULL);
	return r;
}
