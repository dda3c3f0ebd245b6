#include "store_priv.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

#define PAUSE_NS (10 * NS_PER_S)
#define BUSY_AGAIN_MS 500

/* ---- opened ---- */

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

/* It is locked, or the disk is full: a campaign does not wait for that each time. */
static void pause_begin(struct store *s, const struct err *why)
{
	store_undo(s);
	s->pause = *why;
	s->retry_ns = clock_monotonic_ns() + PAUSE_NS;
	s->o.busy_ms = BUSY_AGAIN_MS;
	if (s->db)
		sqlite3_busy_timeout(s->db, BUSY_AGAIN_MS);
}

static int paused(const struct store *s, struct err *err)
{
	if (err)
		*err = s->pause;
	return -s->pause.code;
}

int store_open(const char *dir, const struct store_opts *o, struct store **ret, struct err *err)
{
	struct store *s = store_new(dir, o);
	struct err why = ERR_INIT;
	int r = journal_there(s, &why);

	*ret = NULL;
	if (r == 0)
		r = s->o.read ? store_read_open(s, &why) : store_write_open(s, &why);
	if (!s->o.read && store_is_outside(r)) {
		store_say(s, "%s; the store gets what it lacks when that is over", why.msg);
		pause_begin(s, &why);
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
			store_writer_mark(s, false, NULL);
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

	store_undo(s);
	r = store_write_open(s, err);
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
		return paused(s, err);
	if (!s->open && !is_there(s)) {
		r = again(s, &why);
	} else {
		r = store_events_take(s, &why);
		if (r == 0)
			r = store_keep(s, &why);
		if (store_is_damage(r))
			r = again(s, &why);
	}
	if (store_is_outside(r))
		pause_begin(s, &why);
	if (r < 0 && err)
		*err = why;
	return r;
}

int store_apply(struct store *s, const struct journal_event *e, struct err *err)
{
	struct journal_place was = s->now.place;
	struct err why = ERR_INIT;
	int r;

	if (s->fixed || e->seq <= s->now.seq)
		return 0;
	if (e->seq > s->now.seq + 1 || (!s->open && !is_there(s)) ||
	    clock_monotonic_ns() < s->retry_ns)
		return store_follow(s, err);
	r = store_on_event(s, e, &why);
	/* without its end, and where events in front of it were taken so, the place is not known */
	if (e->end == 0 || was.events + 1 != e->seq)
		s->now.place = was;
	if (r < 0)
		store_undo(s);
	if (store_is_damage(r))
		r = again(s, &why);
	if (store_is_outside(r))
		pause_begin(s, &why);
	if (r < 0 && err)
		*err = why;
	return r;
}

int store_commit(struct store *s, struct err *err)
{
	return s->fixed ? 0 : store_keep(s, err);
}

int store_rebuild(const char *dir, const struct store_opts *o, struct store_summary *ret,
		  struct err *err)
{
	struct store *s = store_new(dir, o);
	int r = journal_there(s, err);

	if (r == 0)
		r = store_file_make(s, err);
	if (r == 0 && ret) {
		CLEANUP(xfreep) char *path = fs_join(s->dir, STORE_FILE);

		r = store_db_open(s, path, STORE_READ_ONLY, err);
		if (r == 0)
			r = store_applied_read(s, err);
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
		return paused(s, err);
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
