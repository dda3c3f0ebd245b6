#include "store_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/proc.h"
#include "profrig/base/xalloc.h"

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
int store_writer_mark(struct store *s, bool on, struct err *err)
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
		r = store_applied_read(s, err);
	if (r == 0 && s->o.shared)
		r = writer_check(s, err);
	if (r == 0)
		r = store_events_take(s, err);
	if (r == 0)
		r = store_keep(s, err);
	if (r == 0 && s->o.shared)
		r = store_writer_mark(s, true, err);
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

int store_write_open(struct store *s, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(s->dir, STORE_FILE);
	bool began = fs_size(s->journal) > 0;
	struct err why = ERR_INIT;
	int r = write_open_once(s, path, &why);

	if (r == -ENOENT && !fs_exists(path)) {
		uint64_t events;

		r = store_file_make(s, err);
		events = s->kept.seq;
		if (r == 0 && began && events > 2)
			store_say(s,
				  "%s: missing; made again from the journal (%" PRIu64 " events)",
				  path, events);
	} else if (store_is_damage(r)) {
		file_put_aside(s, path, why.msg);
		r = store_file_make(s, err);
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
		store_applied_read(s, NULL);
	if (r < 0 || s->newer)
		return r;
	r = store_applied_read(s, err);
	if (r == 0 && s->now.place.bytes < fs_size(s->journal))
		r = store_memory_copy(s, err);
	return r;
}

/* As it is, for an answer that is quick or none. */
static int current_open(struct store *s, const char *path, struct err *err)
{
	int version = 0, r = store_db_open(s, path, STORE_READ_ONLY, NULL);

	if (r == 0)
		r = store_db_version(s, &version, NULL);
	if (r == 0 && version == store_version_here(s))
		r = store_applied_read(s, NULL);
	return r == 0 && s->now.place.bytes == fs_size(s->journal)
		       ? 0
		       : err_set(err, ESTALE, "%s: missing, or not up to date", path);
}

int store_read_open(struct store *s, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(s->dir, STORE_FILE);
	struct err why = ERR_INIT;
	int r, made;

	if (s->o.current)
		return current_open(s, path, err);
	r = store_db_open(s, path, STORE_READ_ONLY, &why);
	if (r == 0)
		r = read_settle(s, &why);
	if (r == 0 ||
	    (!store_is_damage(r) && !store_is_outside(r) && r != -ENOENT && r != -ENOTSUP)) {
		if (r < 0 && err)
			*err = why;
		return r;
	}
	if (store_is_damage(r) || (r == -ENOENT && !fs_exists(path))) {
		bool missing = r == -ENOENT;

		if (missing)
			store_say(s, "%s: missing; made again from the journal and the runs", path);
		else
			file_put_aside(s, path, why.msg);
		made = store_file_make(s, NULL);
		if (made == 0 && store_db_open(s, path, STORE_READ_ONLY, NULL) == 0 &&
		    read_settle(s, NULL) == 0)
			return 0;
		return store_memory_make(s, err);
	}
	store_say(s, "%s; made in memory from the journal and the runs", why.msg);
	return store_memory_make(s, err);
}
