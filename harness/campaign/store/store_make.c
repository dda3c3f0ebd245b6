#include "store_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/temps.h"
#include "profrig/base/xalloc.h"

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

void store_undo(struct store *s)
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

int store_keep(struct store *s, struct err *err)
{
	int r;

	if (!s->open)
		return 0;
	r = applied_write(s, err);
	if (r == 0)
		r = store_exec(s, "COMMIT", err);
	if (r < 0) {
		store_undo(s);
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
int store_applied_read(struct store *s, struct err *err)
{
	int64_t v[8];
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
	/* looked at after the row: it grows */
	if (v[2] > fs_size(s->journal) || (s->first && s->first != crc))
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

int store_on_event(void *ctx, const struct journal_event *e, struct err *err)
{
	struct store *s = ctx;
	int r;

	s->now.place = (struct journal_place){ e->seq, e->end };
	if (e->seq <= s->now.seq)
		return 0;
	r = begin(s, err);
	if (r == 0)
		r = store_take(s, e, err);
	s->now.seq = e->seq;
	return r;
}

/* What the journal has more. */
int store_events_take(struct store *s, struct err *err)
{
	struct journal_place place = s->now.place;
	int r = journal_follow(s->journal, &place, store_on_event, s, err);

	if (r < 0)
		store_undo(s);
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
		r = store_events_take(s, err);
	if (r == 0)
		r = store_keep(s, err);
	if (r < 0)
		store_undo(s);
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
	CLEANUP(xfreep) char *dir = fs_dir(path), *old = fs_temp_name(dir);
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
int store_file_make(struct store *s, struct err *err)
{
	CLEANUP(xfreep) char *temp = fs_temp_name(s->dir), *path = fs_join(s->dir, STORE_FILE);
	int r;

	fs_temp_sweep(s->dir, NULL);
	temps_hold(temp);
	r = store_db_open(s, temp, STORE_CREATE, err);
	if (r == 0)
		r = all_make(s, err);
	store_db_close(s);
	if (r == 0)
		r = file_sync(temp, err);
	if (r == 0)
		r = file_replace(temp, path, err);
	if (r < 0)
		store_db_remove(temp);
	temps_let_go(temp);
	return r;
}

int store_memory_make(struct store *s, struct err *err)
{
	int r = store_db_open(s, NULL, STORE_WRITE, err);

	return r < 0 ? r : all_make(s, err);
}

/* A copy of the open file, which then is behind no more. */
int store_memory_copy(struct store *s, struct err *err)
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
		r = store_applied_read(s, err);
	if (r == 0)
		r = store_events_take(s, err);
	return r < 0 ? r : store_keep(s, err);
}
