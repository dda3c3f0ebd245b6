#include "store_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/proc.h"
#include "profrig/base/xalloc.h"

#define BUSY_PAUSE_NS (10 * NS_PER_S)
#define BUSY_AGAIN_MS 500

/* What another program, or a disk, does to the file, and not what is in it. */
static bool is_outside(int r)
{
	return r == -EBUSY || r == -ENOSPC || r == -EACCES || r == -EROFS || r == -EIO ||
	       r == -EFBIG || r == -EINTR;
}

/* The file is not what it should be; the journal has no fault. */
static bool is_damage(int r)
{
	return r == -EUCLEAN || r == -ESTALE;
}

/* ---- the journal ---- */

/* The crc of the first line, by which one journal is known from another; 0: it has none. */
static int first_crc(const struct store *s, uint32_t *ret, struct err *err)
{
	CLEANUP(xclosep) int fd = door_open(s->journal, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	char head[4096];
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));
	const char *end;

	if (n < 0)
		return err_sys(err, errno, "%s", s->journal);
	end = memchr(head, '\n', (size_t)n);
	*ret = end ? journal_crc(head, (size_t)(end - head)) : 0;
	return 0;
}

/* ---- transactions ---- */

static int begin(struct store *s, struct err *err)
{
	int r;

	if (s->open)
		return 0;
	r = store_exec(s, "BEGIN IMMEDIATE", err);
	s->open = r == 0;
	return r;
}

static void undo(struct store *s)
{
	if (s->open)
		store_exec(s, "ROLLBACK", NULL);
	s->open = false;
	s->now = s->kept;
}

static int applied_write(struct store *s, struct err *err)
{
	CLEANUP(xfreep) char *metrics = NULL;
	json_t *list = json_array();
	int r;

	for (size_t i = 0; i < s->metrics.nr; i++)
		json_array_append_new(list, json_string(s->metrics.v[i]));
	metrics = json_dumps(list, STORE_JSON_TEXT);
	json_decref(list);
	if (!s->first)
		first_crc(s, &s->first, NULL);
	r = store_run(s, STORE_APPLIED, err, "iiiiiiiti", (int64_t)s->now.seq,
		      (int64_t)s->now.place.events, s->now.place.bytes, s->now.block,
		      (int64_t)s->now.unread, (int64_t)s->now.disputed, (int64_t)s->now.unknown,
		      metrics, (int64_t)s->first);
	return r;
}

static int commit(struct store *s, struct err *err)
{
	int r;

	if (!s->open)
		return 0;
	r = applied_write(s, err);
	if (r == 0)
		r = store_exec(s, "COMMIT", err);
	if (r < 0) {
		undo(s);
		return r;
	}
	s->open = false;
	s->kept = s->now;
	return 0;
}

static int names_read(struct store *s, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(
		s->db, "SELECT metrics, (SELECT name FROM campaign) FROM applied", -1, &st, NULL);
	json_t *list;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(st, 1);
		const char *text = (const char *)sqlite3_column_text(st, 0);

		free(s->name);
		s->name = xstrdup_null(name);
		list = text ? json_loads(text, 0, NULL) : NULL;
		store_metrics_set(s, list);
		json_decref(list);
	}
	sqlite3_finalize(st);
	return rc == SQLITE_ROW ? 0
	       : rc == SQLITE_DONE
		       ? err_set(err, EUCLEAN, "%s: its row 'applied' is missing", s->path)
		       : store_fail(s, rc, NULL, err);
}

/* How far it is; -ESTALE: it is of another journal, or ahead of this one. */
static int applied_read(struct store *s, struct err *err)
{
	int64_t v[8], size = fs_size(s->journal);
	uint32_t crc;
	int r = store_numbers(s,
			      "SELECT seq, events, bytes, block, unread, disputed, unknown, first "
			      "FROM applied",
			      v, 8, err);

	r = r == -ENOENT ? -EUCLEAN : r;
	if (r == 0)
		r = names_read(s, err);
	if (r == 0)
		r = first_crc(s, &crc, err);
	if (r < 0)
		return r;
	s->first = (uint32_t)v[7];
	if (v[2] > size || (s->first && s->first != crc))
		return err_set(err, ESTALE, "%s: it is of another journal", s->path);
	s->now = (struct store_applied){ .seq = (uint64_t)v[0],
					 .place = { (uint64_t)v[1], v[2] },
					 .block = v[3],
					 .unread = (uint64_t)v[4],
					 .disputed = (uint64_t)v[5],
					 .unknown = (uint64_t)v[6] };
	s->kept = s->now;
	return 0;
}

/* ---- events ---- */

struct taking {
	struct store *s;
	bool took;
};

static int on_event(void *ctx, const struct journal_event *e, struct err *err)
{
	struct taking *t = ctx;
	struct store *s = t->s;
	int r;

	s->now.place = (struct journal_place){ e->seq, e->end };
	if (e->seq <= s->now.seq)
		return 0;
	t->took = true;
	r = begin(s, err);
	if (r == 0)
		r = store_take(s, e, err);
	s->now.seq = e->seq;
	return r;
}

/* What the journal has more. */
static int events_take(struct store *s, struct err *err)
{
	struct journal_place place = s->now.place;
	struct taking t = { .s = s };
	int r = journal_follow(s->journal, &place, on_event, &t, err);

	if (r < 0)
		undo(s);
	return r;
}

/* ---- made anew ---- */

/* Into an empty database that is open. */
static int all_make(struct store *s, struct err *err)
{
	int r = first_crc(s, &s->first, err);

	s->now = s->kept = (struct store_applied){ 0 };
	strvec_clear(&s->metrics);
	free(STEAL(s->name));
	if (r == 0)
		r = begin(s, err);
	if (r == 0)
		r = store_db_make(s, err);
	if (r == 0)
		r = events_take(s, err);
	if (r == 0)
		r = commit(s, err);
	if (r < 0)
		undo(s);
	return r;
}

static int file_sync(const char *path, struct err *err)
{
	CLEANUP(xclosep) int fd = door_open(path, O_RDONLY | O_NOFOLLOW, 0);

	return fd < 0 || fsync(fd) < 0 ? err_sys(err, errno, "%s", path) : 0;
}

/* The old file first: its log, when it stayed, would be taken for one of the new file. */
static int file_replace(const char *temp, const char *path, struct err *err)
{
	CLEANUP(xfreep) char *old = xasprintf("%s.old", temp);
	int r = 0;

	if (fs_is_dir(path))
		return err_set(err, EISDIR, "%s: a folder is in its place; remove it", path);
	if (door_rename(path, old) == 0 || errno == ENOENT)
		store_db_remove(path);
	if (door_rename(temp, path) < 0)
		r = err_sys(err, errno, "%s", path);
	store_db_remove(old);
	return r;
}

/* Makes the file under a temporary name first. Nothing is open afterwards. */
static int file_make(struct store *s, struct err *err)
{
	CLEANUP(xfreep) char *temp = fs_temp_name(s->dir), *path = fs_join(s->dir, STORE_FILE);
	int r = store_db_open(s, temp, STORE_CREATE, err);

	if (r == 0)
		r = all_make(s, err);
	store_db_close(s);
	if (r == 0)
		r = file_sync(temp, err);
	if (r == 0)
		r = file_replace(temp, path, err);
	if (r < 0)
		store_db_remove(temp);
	return r;
}

static int memory_make(struct store *s, struct err *err)
{
	int r = store_db_open(s, NULL, STORE_WRITE, err);

	return r < 0 ? r : all_make(s, err);
}

/* A copy of the open file, which then is behind no more. */
static int memory_copy(struct store *s, struct err *err)
{
	sqlite3 *file = STEAL(s->db), *memory;
	sqlite3_backup *b;
	int r, rc;

	for (size_t i = 0; i < STORE_STATEMENTS_NR; i++)
		sqlite3_finalize(STEAL(s->stmt[i]));
	r = store_db_open(s, NULL, STORE_WRITE, err);
	memory = s->db;
	if (r == 0) {
		b = sqlite3_backup_init(memory, "main", file, "main");
		rc = b ? sqlite3_backup_step(b, -1) : SQLITE_ERROR;
		sqlite3_backup_finish(b);
		if (rc != SQLITE_DONE)
			r = store_fail(s, rc, NULL, err);
	}
	sqlite3_close(file);
	if (r == 0)
		r = applied_read(s, err);
	if (r == 0)
		r = events_take(s, err);
	return r < 0 ? r : commit(s, err);
}

/* ---- opened ---- */

/* A writer that did not close it, before a reboot, without fsync. */
static int writer_check(struct store *s, struct err *err)
{
	CLEANUP(xfreep) char *boot = proc_boot_id();
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(s->db, "SELECT writer FROM applied", -1, &st, NULL);
	bool lost = false;

	if (rc == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW) {
		const char *was = (const char *)sqlite3_column_text(st, 0);

		lost = was && strcmp(was, boot) != 0;
	}
	sqlite3_finalize(st);
	return lost ? err_set(err, EUCLEAN, "%s: the machine went down while it was written",
			      s->path)
		    : 0;
}

/* The mark of a writer that is alive, only where nothing is synced. */
static int writer_mark(struct store *s, bool on, struct err *err)
{
	CLEANUP(xfreep) char *boot = proc_boot_id();
	char *sql = on ? sqlite3_mprintf("UPDATE applied SET writer = %Q", boot)
		       : sqlite3_mprintf("UPDATE applied SET writer = NULL");
	int r = on ? 0 : store_exec(s, "PRAGMA synchronous=FULL", err);

	if (r == 0)
		r = store_exec(s, sql, err);
	sqlite3_free(sql);
	s->closing_mark = on && r == 0;
	return r;
}

/* The version is this one, or becomes it; a newer one stays as it is. */
static int version_settle(struct store *s, struct err *err)
{
	int version, r = store_db_version(s, &version, err);

	if (r < 0 || version == store_version_here(s))
		return r;
	if (version > store_version_here(s)) {
		s->newer = true;
		store_say(s,
			  "%s: of version %d, which a newer profrig wrote (this one knows %d): it "
			  "is only read",
			  s->path, version, store_version_here(s));
		return 0;
	}
	if (s->o.read)
		return err_set(err, ENOTSUP, "%s: of version %d, this profrig has %d", s->path,
			       version, store_version_here(s));
	return store_db_migrate(s, version, err);
}

static int write_open_once(struct store *s, const char *path, struct err *err)
{
	int r = store_db_open(s, path, STORE_WRITE, err);

	if (r == 0)
		r = version_settle(s, err);
	if (r == 0 && s->newer)
		return store_db_open(s, path, STORE_READ_ONLY, err);
	if (r == 0)
		r = applied_read(s, err);
	if (r == 0 && s->o.shared)
		r = writer_check(s, err);
	if (r == 0)
		r = events_take(s, err);
	if (r == 0)
		r = commit(s, err);
	if (r == 0 && s->o.shared)
		r = writer_mark(s, true, err);
	return r;
}

/* What is there, but no store, is kept. */
static void file_put_aside(struct store *s, const char *path, const char *why)
{
	CLEANUP(xfreep) char *aside = xasprintf("%s.damaged", path);

	store_db_close(s);
	if (door_rename(path, aside) < 0)
		store_say(s, "%s; it is made again from the journal and the runs", why);
	else
		store_say(s, "%s; it is made again from the journal and the runs (the old one: %s)",
			  why, aside);
}

static int write_open(struct store *s, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(s->dir, STORE_FILE);
	bool began = fs_size(s->journal) > 0;
	struct err why = ERR_INIT;
	int r = write_open_once(s, path, &why);

	if (r == -ENOENT && !fs_exists(path)) {
		uint64_t events;

		r = file_make(s, err);
		events = s->kept.seq;
		if (r == 0 && began && events > 2)
			store_say(s,
				  "%s: missing; made again from the journal (%" PRIu64 " events)",
				  path, events);
	} else if (is_damage(r)) {
		file_put_aside(s, path, why.msg);
		r = file_make(s, err);
	} else {
		if (r < 0 && err)
			*err = why;
		return r;
	}
	return r < 0 ? r : write_open_once(s, path, err);
}

/* From a file that is there to what a reader may use. */
static int read_settle(struct store *s, struct err *err)
{
	int r = version_settle(s, err);

	if (r == 0 && s->newer)
		applied_read(s, NULL);
	if (r < 0 || s->newer)
		return r;
	r = applied_read(s, err);
	if (r == 0 && s->now.place.bytes < fs_size(s->journal))
		r = memory_copy(s, err);
	return r;
}

static int read_open(struct store *s, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(s->dir, STORE_FILE);
	struct err why = ERR_INIT;
	int r = store_db_open(s, path, STORE_READ_ONLY, &why), made;

	if (r == 0)
		r = read_settle(s, &why);
	if (r == 0 || (!is_damage(r) && !is_outside(r) && r != -ENOENT && r != -ENOTSUP)) {
		if (r < 0 && err)
			*err = why;
		return r;
	}
	if (is_damage(r) || (r == -ENOENT && !fs_exists(path))) {
		bool missing = r == -ENOENT;

		if (missing)
			store_say(s, "%s: missing; made again from the journal and the runs", path);
		else
			file_put_aside(s, path, why.msg);
		made = file_make(s, NULL);
		if (made == 0 && store_db_open(s, path, STORE_READ_ONLY, NULL) == 0 &&
		    read_settle(s, NULL) == 0)
			return 0;
		return memory_make(s, err);
	}
	store_say(s, "%s; made in memory from the journal and the runs", why.msg);
	return memory_make(s, err);
}

static int journal_there(const struct store *s, struct err *err)
{
	struct stat st;

	if (door_lstat(s->journal, &st) < 0)
		return err_sys(err, errno, "%s", s->journal);
	return S_ISREG(st.st_mode) ? 0 : err_set(err, EINVAL, "%s: no regular file", s->journal);
}

static bool dir_shared(const char *dir)
{
	struct statfs fs;

	return statfs(dir, &fs) < 0 || !store_fs_local((unsigned long)fs.f_type);
}

static struct store *store_new(const char *dir, const struct store_opts *o)
{
	struct store *s = xcalloc(1, sizeof(*s));

	if (o)
		s->o = *o;
	/* SQLite takes a path without links alone */
	s->dir = xrealpath(dir);
	s->dir = s->dir ? s->dir : xstrdup(dir);
	s->journal = fs_join(s->dir, "journal.ndjson");
	s->path = xstrdup("");
	s->metrics = (struct strvec)STRVEC_INIT;
	s->o.shared |= dir_shared(s->dir);
	return s;
}

static void store_free(struct store *s)
{
	store_db_close(s);
	strvec_release(&s->metrics);
	free(s->name);
	free(s->dir);
	free(s->path);
	free(s->journal);
	free(s);
}

/* Another program has it locked: a campaign does not wait for that each time. */
static void is_busy(struct store *s)
{
	undo(s);
	s->retry_ns = clock_monotonic_ns() + BUSY_PAUSE_NS;
	s->o.busy_ms = BUSY_AGAIN_MS;
	if (s->db)
		sqlite3_busy_timeout(s->db, BUSY_AGAIN_MS);
}

int store_open(const char *dir, const struct store_opts *o, struct store **ret, struct err *err)
{
	struct store *s = store_new(dir, o);
	struct err why = ERR_INIT;
	int r = journal_there(s, &why);

	*ret = NULL;
	if (r == 0)
		r = s->o.read ? read_open(s, &why) : write_open(s, &why);
	if (!s->o.read && r == -EBUSY) {
		store_say(s, "%s; it gets what it lacks when it is free again", why.msg);
		is_busy(s);
		r = 0;
	}
	if (r < 0 && err)
		*err = why;
	if (r < 0) {
		store_free(s);
		return r;
	}
	s->fixed = s->o.read || s->newer;
	*ret = s;
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	if (!s->fixed) {
		s->retry_ns = 0;
		store_follow(s, NULL);
	}
	if (!s->fixed && s->db) {
		if (s->closing_mark)
			writer_mark(s, false, NULL);
		/* so that it can be read where nothing can be written, and on other machines */
		sqlite3_busy_timeout(s->db, 0);
		store_exec(s, "PRAGMA journal_mode=DELETE", NULL);
	}
	store_free(s);
}

bool store_is_read_only(const struct store *s)
{
	return s->fixed;
}

/* ---- kept up to date ---- */

/* Whether the open file is still the one of that name. */
static bool is_there(const struct store *s)
{
	struct stat st;

	return s->db && *s->path && door_lstat(s->path, &st) == 0 && st.st_dev == s->dev &&
	       st.st_ino == s->ino;
}

/* Deleted, replaced, damaged: opened again, or made again. */
static int again(struct store *s, struct err *err)
{
	int r;

	undo(s);
	r = write_open(s, err);
	s->fixed = s->newer;
	return r;
}

int store_follow(struct store *s, struct err *err)
{
	struct err why = ERR_INIT;
	int r;

	if (s->fixed)
		return 0;
	if (clock_monotonic_ns() < s->retry_ns)
		return err_set(err, EBUSY, "%s/%s: another program has it locked", s->dir,
			       STORE_FILE);
	if (!s->open && !is_there(s)) {
		r = again(s, &why);
	} else {
		r = events_take(s, &why);
		if (r == 0)
			r = commit(s, &why);
		if (is_damage(r))
			r = again(s, &why);
	}
	if (r == -EBUSY)
		is_busy(s);
	if (r < 0 && err)
		*err = why;
	return r;
}

int store_apply(struct store *s, const struct journal_event *e, struct err *err)
{
	struct journal_place was = s->now.place;
	struct taking t = { .s = s };
	int r;

	if (s->fixed || e->seq <= s->now.seq)
		return 0;
	if (e->seq > s->now.seq + 1 || (!s->open && !is_there(s)))
		return store_follow(s, err);
	r = on_event(&t, e, err);
	if (r == -EBUSY)
		is_busy(s);
	/* without its end, and where events in front of it were taken so, the place is not known */
	if (e->end == 0 || was.events + 1 != e->seq)
		s->now.place = was;
	if (r < 0)
		undo(s);
	return is_damage(r) ? again(s, err) : r;
}

int store_commit(struct store *s, struct err *err)
{
	return s->fixed ? 0 : commit(s, err);
}

int store_rebuild(const char *dir, const struct store_opts *o, struct store_summary *ret,
		  struct err *err)
{
	struct store *s = store_new(dir, o);
	int r = journal_there(s, err);

	if (r == 0)
		r = file_make(s, err);
	if (r == 0 && ret) {
		CLEANUP(xfreep) char *path = fs_join(s->dir, STORE_FILE);

		r = store_db_open(s, path, STORE_READ_ONLY, err);
		if (r == 0)
			r = applied_read(s, err);
		if (r == 0)
			r = store_summary(s, ret, err);
	}
	store_free(s);
	return r;
}

/* ---- summed up ---- */

static int states_count(struct store *s, struct store_summary *ret, struct err *err)
{
	int64_t v[4] = { 0 };
	int r = store_numbers(s,
			      "SELECT count(*), total(state = 'committed'), "
			      "total(state = 'running'), total(state = 'failed') "
			      "FROM run WHERE current",
			      v, 4, err);

	ret->runs = (uint64_t)v[0];
	ret->committed = (uint64_t)v[1];
	ret->running = (uint64_t)v[2];
	ret->failed = (uint64_t)v[3];
	ret->left = ret->runs - ret->committed - ret->running - ret->failed;
	return r;
}

static int attempts_sum(struct store *s, struct store_summary *ret, struct err *err)
{
	int64_t v[3] = { 0 };
	int r = store_numbers(s,
			      "SELECT total(state = 'superseded'), total(committed), "
			      "total(iif(committed, ended_ns - started_ns, 0)) FROM attempt",
			      v, 3, err);

	ret->superseded = (uint64_t)v[0];
	ret->mean_s = v[1] ? (double)v[2] / 1e9 / (double)v[1] : NAN;
	return r;
}

int store_summary(struct store *s, struct store_summary *ret, struct err *err)
{
	int64_t v[2] = { 0, 0 };
	int r;

	*ret = (struct store_summary){ .mean_s = NAN };
	if (!s->db)
		return err_set(err, EBUSY, "%s/%s: another program has it locked", s->dir,
			       STORE_FILE);
	r = states_count(s, ret, err);

	if (r == 0)
		r = attempts_sum(s, ret, err);
	if (r == 0)
		r = store_numbers(s, "SELECT total(current), count(*) - total(current) FROM cell",
				  v, 2, err);
	ret->cells = (uint64_t)v[0];
	ret->old_cells = (uint64_t)v[1];
	ret->block = s->now.block;
	ret->events = s->now.seq;
	ret->unread = s->now.unread;
	ret->disputed = s->now.disputed;
	ret->unknown = s->now.unknown;
	return r;
}
