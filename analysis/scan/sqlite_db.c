#include "sqlite_db.h"
#include "sqlite_copy.h"
#include "sqlite_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/progress.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

#define MAGIC "SQLite format 3"
#define STEPS_PER_CALL (1 << 14)
/* Reading a row takes two steps or fewer for each byte of it. */
#define STEPS_PER_BYTE 32
#define STEPS_FREE (UINT64_C(1) << 25)

/* errno for a result code of SQLite. */
static int sqlite_errno(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		return ENOMEM;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_FORMAT:
		return EBADMSG;
	case SQLITE_IOERR:
		return EIO;
	case SQLITE_CANTOPEN:
		return ENOENT;
	case SQLITE_INTERRUPT:
		return ELOOP;
	case SQLITE_TOOBIG:
		return EFBIG;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return EBUSY;
	case SQLITE_AUTH:
	case SQLITE_PERM:
	case SQLITE_READONLY:
		return EACCES;
	case SQLITE_FULL:
		return ENOSPC;
	default:
		return EINVAL;
	}
}

static uint32_t big_endian(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

uint64_t sqlite_stated_bytes(const unsigned char *head, size_t n)
{
	uint64_t page;

	if (n < 100 || memcmp(head, MAGIC, sizeof(MAGIC)) != 0 ||
	    big_endian(head + 24) != big_endian(head + 92))
		return 0;
	page = (uint64_t)head[16] << 8 | head[17];
	return big_endian(head + 28) * (page == 1 ? 65536 : page);
}

/*
 * Bytes that the header states, 0 when it does not. A page that is cut is read as one that ends in
 * zeros, which may look like an empty table.
 */
static uint64_t stated_bytes(const struct sqlite_db *db)
{
	unsigned char head[100];
	int64_t n = input_head(db->path, head, sizeof(head), NULL);

	return n < 0 ? 0 : sqlite_stated_bytes(head, (size_t)n);
}

/* What SQLite calls malformed is mostly a copy that was not finished. */
static int fail_damaged(const struct sqlite_db *db, int rc, const char *what, struct err *err)
{
	uint64_t stated = stated_bytes(db);
	char cut[96] = "";

	if (stated > db->bytes && db->bytes > 0)
		snprintf(cut, sizeof(cut), " (%" PRIu64 " of %" PRIu64 " bytes are there)",
			 db->bytes, stated);
	return err_set(err, sqlite_errno(rc), "%s: %s%sthe database is %s%s; copy it again",
		       db->path, what ? what : "", what ? ": " : "", *cut ? "cut" : "damaged", cut);
}

int sqlite_fail(const struct sqlite_db *db, int rc, const char *what, struct err *err)
{
	const char *why = (rc & 0xff) == SQLITE_INTERRUPT
				  ? "it takes more steps than reading the file could"
			  : (rc & 0xff) == SQLITE_NOMEM
				  ? "the database wants more memory than there is, or is damaged"
				  : sqlite3_errmsg(db->handle);

	if (sqlite_errno(rc) == EBADMSG)
		return fail_damaged(db, rc, what, err);
	return err_set(err, sqlite_errno(rc), "%s: %s%s%s", db->path, what ? what : "",
		       what ? ": " : "", why);
}

/* The file as a URI: all special bytes are escaped. */
static char *uri_of(const char *path)
{
	static const char hex[] = "0123456789ABCDEF";
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-._~/";
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	/* "file:///a" has an empty authority; "./" keeps ":memory:" a file */
	strbuf_addstr(&sb, *path == '/' ? "file://" : "file:./");
	for (const unsigned char *c = (const unsigned char *)path; *c; c++) {
		if (strchr(plain, *c)) {
			strbuf_addch(&sb, *c);
		} else {
			strbuf_addch(&sb, '%');
			strbuf_addch(&sb, hex[*c >> 4]);
			strbuf_addch(&sb, hex[*c & 15]);
		}
	}
	strbuf_addstr(&sb, "?immutable=1&mode=ro");
	return strbuf_steal(&sb);
}

static int db_authorize(void *ctx, int action, const char *a, const char *b, const char *schema,
			const char *trigger)
{
	(void)ctx, (void)schema, (void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		(void)a;
		return b && sqlite3_stricmp(b, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
	default:
		return SQLITE_DENY;
	}
}

static int count_steps(void *ctx)
{
	struct sqlite_db *db = ctx;
	int misses = 0, high = 0;

	db->steps += STEPS_PER_CALL;
	if ((db->steps / STEPS_PER_CALL) % 64 == 0 && !db->map.data &&
	    sqlite3_db_status(db->handle, SQLITE_DBSTATUS_CACHE_MISS, &misses, &high, 0) ==
		    SQLITE_OK)
		progress_update((uint64_t)misses * db->page_bytes);
	return db->steps > db->max_steps;
}

static void set_limits(struct sqlite_db *db)
{
	static const struct {
		int id, max;
	} limits[] = {
		{ SQLITE_LIMIT_ATTACHED, 0 },          { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },    { SQLITE_LIMIT_EXPR_DEPTH, 200 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 500 }, { SQLITE_LIMIT_VDBE_OP, 250000 },
	};
	uint64_t length = db->bytes > (1 << 20) ? db->bytes : 1 << 20;

	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		sqlite3_limit(db->handle, limits[i].id, limits[i].max);
	/* no stored value is longer than the file */
	sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH,
		      length > INT32_MAX ? INT32_MAX : (int)length);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	db->max_steps = STEPS_FREE + db->bytes * STEPS_PER_BYTE;
	sqlite3_progress_handler(db->handle, STEPS_PER_CALL, count_steps, db);
}

static int db_exec(struct sqlite_db *db, const char *sql, struct err *err)
{
	int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : sqlite_fail(db, rc, NULL, err);
}

static int page_bytes_row(void *ctx, int n, char **values, char **names)
{
	struct sqlite_db *db = ctx;
	int64_t v;

	(void)names;
	if (n > 0 && values[0] && num_i64(values[0], strlen(values[0]), &v) == 0 && v > 0)
		db->page_bytes = (uint64_t)v;
	return 0;
}

/*
 * SQLite rejects a file that is shorter than its header says, unless the connection may repair it,
 * which a read-only one never does.
 */
static int read_cut(struct sqlite_db *db, struct err *err)
{
	struct err why = ERR_INIT;
	int r = db_exec(db, "SELECT count(*) FROM sqlite_master", &why);

	if (r != -EBADMSG) {
		if (r < 0 && err)
			*err = why;
		return r;
	}
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
	r = db_exec(db, "SELECT count(*) FROM sqlite_master", err);
	if (r == 0)
		snprintf(db->damage, sizeof(db->damage), "%s, or cut: it has %" PRIu64 " bytes",
			 sqlite3_errstr(SQLITE_CORRUPT), db->bytes);
	return r;
}

/* Reads the schema, which also recovers a copy. From here on only reading is allowed. */
static int db_settle(struct sqlite_db *db, struct err *err)
{
	int r = db_exec(db, "PRAGMA cell_size_check=ON;", err);

	if (r == 0 && db->copied)
		r = db_exec(db, "PRAGMA locking_mode=EXCLUSIVE;", err);
	if (r == 0)
		r = read_cut(db, err);
	if (r == 0)
		r = db_exec(db, "PRAGMA query_only=ON;", err);
	if (r == 0)
		sqlite3_exec(db->handle, "PRAGMA page_size", page_bytes_row, db, NULL);
	sqlite3_set_authorizer(db->handle, db_authorize, NULL);
	return r;
}

static int open_handle(struct sqlite_db *db, const char *name, int flags, struct err *err)
{
	int rc = sqlite3_open_v2(name, &db->handle,
				 flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);

	if (rc == SQLITE_OK)
		return 0;
	if (db->handle && sqlite3_system_errno(db->handle) != 0)
		return err_sys(err, sqlite3_system_errno(db->handle), "%s: %s", db->path,
			       sqlite3_errmsg(db->handle));
	return err_set(err, sqlite_errno(rc), "%s: %s", db->path, sqlite3_errstr(rc));
}

/* SQLite opens by name: the file of that name must be the one in the held folder (door.h). */
static bool is_what_the_door_shows(const char *path)
{
	CLEANUP(xclosep) int fd = door_open(path, O_RDONLY, 0);
	struct stat shown, named;

	return fd >= 0 && fstat(fd, &shown) == 0 && stat(path, &named) == 0 &&
	       shown.st_ino == named.st_ino && shown.st_dev == named.st_dev;
}

static int open_plain(struct sqlite_db *db, struct err *err)
{
	CLEANUP(xfreep) char *uri = uri_of(db->path);
	int r = open_handle(db, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);

	if (r < 0)
		return r;
	if (!is_what_the_door_shows(db->path))
		return err_set(err, EBADMSG, "%s: its name leads elsewhere", db->path);
	set_limits(db);
	return db_settle(db, err);
}

static int open_copy(struct sqlite_db *db, struct err *err)
{
	CLEANUP(xfreep) char *dir = NULL;
	CLEANUP(xfreep) char *name = NULL;
	int r = sqlite_copy_make(db->path, &dir, &db->changing, err);

	if (r < 0)
		return r;
	db->copied = true;
	name = fs_join(dir, "db");
	db->bytes = (uint64_t)fs_size(name);
	r = open_handle(db, name, SQLITE_OPEN_READWRITE, err);
	if (r == 0) {
		set_limits(db);
		r = db_settle(db, err);
	}
	sqlite_copy_remove(dir);
	return r;
}

/* The file's bytes, from input.h, as a database in memory. */
static int open_bytes(struct sqlite_db *db, struct err *err)
{
	int r = input_map(db->path, 0, &db->map, err), rc;
	unsigned char *bytes;

	if (r < 0)
		return r;
	db->bytes = db->map.len;
	if (db->map.len < 100)
		return err_set(err, EBADMSG, "%s: an SQLite database needs more bytes than %zu",
			       db->path, db->map.len);
	/* Inflated memory is private; a mapped file is shared with other programs. */
	if (!db->map.compressed)
		db->image = xmemdup(db->map.data, db->map.len);
	bytes = db->image ? db->image : (unsigned char *)(uintptr_t)db->map.data;
	/* A database in memory has no log, so the mark of one is taken off. */
	bytes[18] = bytes[19] = 1;
	r = open_handle(db, ":memory:", SQLITE_OPEN_READWRITE, err);
	if (r < 0)
		return r;
	set_limits(db);
	rc = sqlite3_deserialize(db->handle, "main", bytes, (sqlite3_int64)db->map.len,
				 (sqlite3_int64)db->map.len, SQLITE_DESERIALIZE_READONLY);
	return rc == SQLITE_OK ? db_settle(db, err) : sqlite_fail(db, rc, NULL, err);
}

/* SQLite needs a short name that still leads to the file. */
static bool has_name_for_sqlite(const char *path)
{
	CLEANUP(xfreep) char *real = xrealpath(path);

	return real && strlen(real) < 400;
}

static int open_file(struct sqlite_db *db, struct err *err)
{
	db->bytes = (uint64_t)fs_size(db->path);
	if (sqlite_copy_needed(db->path))
		return open_copy(db, err);
	return has_name_for_sqlite(db->path) ? open_plain(db, err) : open_bytes(db, err);
}

static int db_open_any(struct sqlite_db *db, struct err *err)
{
	char head[sizeof(MAGIC)];
	FILE *f = door_fopen(db->path, "re");
	size_t n;

	if (!f)
		return err_sys(err, errno, "%s", db->path);
	n = fread(head, 1, sizeof(head), f);
	fclose(f);
	if (n == sizeof(head) && memcmp(head, MAGIC, sizeof(head)) == 0) {
		return open_file(db, err);
	}
	if (input_head(db->path, head, sizeof(head), NULL) == sizeof(head) &&
	    memcmp(head, MAGIC, sizeof(head)) == 0)
		return open_bytes(db, err);
	return err_set(err, EBADMSG, "%s: byte 0: not an SQLite database", db->path);
}

int sqlite_db_open(const char *path, struct sqlite_db **ret, struct err *err)
{
	struct sqlite_db *db = xcalloc(1, sizeof(*db));
	int r;

	db->path = xstrdup(path);
	db->page_bytes = 4096;
	r = db_open_any(db, err);
	if (r < 0) {
		sqlite_db_close(db);
		return r;
	}
	progress_total(db->map.data ? 0 : db->bytes);
	*ret = db;
	return 0;
}

void sqlite_db_close(struct sqlite_db *db)
{
	if (!db)
		return;
	sqlite3_close_v2(db->handle);
	input_unmap(&db->map);
	free(db->image);
	free(db->path);
	free(db);
}

void sqlite_db_warn(const struct sqlite_db *db, struct sink *s)
{
	bool told = db->copied || db->map.truncated || db->damage[0];
	uint64_t stated = told ? 0 : stated_bytes(db);

	if (stated > db->bytes) {
		sink_warnf(s, W_TRUNCATED,
			   "%s has %" PRIu64 " bytes of the %" PRIu64 " that its header states",
			   db->path, db->bytes, stated);
		s->ops->current(s)->partial = true;
	}
	sink_fact(s, "private_copy", db->copied);
	if (db->changing)
		sink_warnf(s, W_UNTERMINATED,
			   "%s was being written while it was read; what came later is missing",
			   db->path);
	if (db->map.truncated)
		sink_warnf(s, W_TRUNCATED, "compressed data: %s", db->map.why);
	if (db->damage[0])
		sink_warnf(s, W_TRUNCATED, "%s: %s", db->path, db->damage);
	s->ops->current(s)->partial |= db->map.truncated || db->damage[0];
}

int sqlite_db_result(const struct sqlite_db *db, struct sink *s, const struct err *lost,
		     struct err *err)
{
	struct input *in = s->ops->current(s);

	in->partial |= lost->code != 0;
	if (!in->partial)
		return 0;
	if (in->spans + in->samples > 0)
		return READ_PARTIAL;
	if (!lost->code)
		return err_set(err, EBADMSG, "%s: %s", db->path,
			       db->damage[0] ? db->damage : "nothing of it can be read");
	if (err)
		*err = *lost;
	return -lost->code;
}

enum sqlite_kind sqlite_db_kind(struct sqlite_db *db, const char *name)
{
	CLEANUP(sqlite_rows_release) struct sqlite_rows q = { .db = NULL };
	const char *type;
	size_t n;

	if (sqlite_rows_query(db, "the schema", &q, NULL,
			      "SELECT type FROM sqlite_master WHERE name = %Q COLLATE NOCASE "
			      "AND type IN ('table', 'view')",
			      name) < 0 ||
	    sqlite_rows_next(&q, NULL) <= 0)
		return SQLITE_KIND_NONE;
	type = sqlite_rows_text(&q, 0, &n);
	return type && *type == 't' ? SQLITE_KIND_TABLE : SQLITE_KIND_VIEW;
}

int sqlite_db_list(struct sqlite_db *db, const char *prefix, struct strvec *out, struct err *err)
{
	CLEANUP(sqlite_rows_release) struct sqlite_rows q = { .db = NULL };
	size_t len = strlen(prefix);
	int r = sqlite_rows_query(db, "the schema", &q, err,
				  "SELECT name FROM sqlite_master "
				  "WHERE type IN ('table', 'view')");

	while (r >= 0 && (r = sqlite_rows_next(&q, err)) > 0) {
		size_t n;
		const char *name = sqlite_rows_text(&q, 0, &n);

		if (name && sqlite3_strnicmp(name, prefix, (int)len) == 0)
			strvec_push(out, name);
	}
	strvec_sort(out);
	return r;
}

/* ---- probing ---- */

/* Names in the file that was probed last. One thread probes. */
static struct {
	char *path;
	int64_t size, mtime_ns, log_size;
	struct strvec names;
} probed = { .names = STRVEC_INIT };

static int64_t log_size(const char *path)
{
	CLEANUP(xfreep) char *wal = xasprintf("%s-wal", path);

	return fs_size(wal);
}

/* The file alone mostly has all tables, so probing makes no copy. */
static void list_names(const char *path)
{
	struct sqlite_db db = { .path = probed.path };

	db.bytes = (uint64_t)fs_size(path);
	if (!sqlite_copy_needed(path) || open_plain(&db, NULL) < 0 ||
	    sqlite_db_list(&db, "", &probed.names, NULL) < 0 || probed.names.nr == 0) {
		struct sqlite_db *whole;

		strvec_clear(&probed.names);
		if (sqlite_db_open(path, &whole, NULL) == 0) {
			sqlite_db_list(whole, "", &probed.names, NULL);
			sqlite_db_close(whole);
		}
	}
	sqlite3_close_v2(db.handle);
}

static bool has_name(const char *want)
{
	size_t n = strlen(want);
	bool prefix = n > 0 && want[n - 1] == '*';

	for (size_t i = 0; i < probed.names.nr; i++)
		if (prefix ? sqlite3_strnicmp(probed.names.v[i], want, (int)n - 1) == 0
			   : sqlite3_stricmp(probed.names.v[i], want) == 0)
			return true;
	return false;
}

bool sqlite_probe_has(const struct probe *p, const char *const *names)
{
	int64_t size, mtime_ns, log;

	if (p->is_dir || p->head_len < sizeof(MAGIC) || memcmp(p->head, MAGIC, sizeof(MAGIC)) != 0)
		return false;
	size = fs_size(p->path);
	mtime_ns = fs_mtime_ns(p->path);
	log = log_size(p->path);
	if (!probed.path || strcmp(probed.path, p->path) != 0 || probed.size != size ||
	    probed.mtime_ns != mtime_ns || probed.log_size != log) {
		free(probed.path);
		probed.path = xstrdup(p->path);
		probed.size = size;
		probed.mtime_ns = mtime_ns;
		probed.log_size = log;
		strvec_clear(&probed.names);
		list_names(p->path);
	}
	for (; *names; names++)
		if (!has_name(*names))
			return false;
	return true;
}
