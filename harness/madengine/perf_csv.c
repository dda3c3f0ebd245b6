#include "perf_csv.h"
#include "run_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/csv.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/log.h"

#define LOCK_NAP_NS (20 * NS_PER_MS)
#define LOCK_PATIENCE_NS NS_PER_S
#define MAX_HEADER ((size_t)1 << 20)

static const char *const super_columns[] = { "configs", "multi_results", NULL };

/* --- the columns of a table --- */

static void add_columns(struct strvec *to, const char *const *names)
{
	for (; *names; names++)
		if (!strvec_has(to, *names))
			strvec_push(to, *names);
}

/* The columns of a table that begins with these rows. */
static void columns_of(const json_t *rows, bool super, struct strvec *to)
{
	const json_t *row, *v;
	const char *key;
	size_t i;

	add_columns(to, perf_columns);
	if (super)
		add_columns(to, super_columns);
	json_array_foreach(rows, i, row)
	{
		json_object_foreach(json_object_get(row, "multi_results"), key, v)
		{
			if (!strvec_has(to, key))
				strvec_push(to, key);
		}
	}
}

/* 1 and the columns of the table; 0: it is empty. */
static int header_of(int fd, const char *path, struct strvec *to, struct err *err)
{
	CLEANUP(xfreep) char *text = xmalloc(MAX_HEADER);
	ssize_t n = pread(fd, text, MAX_HEADER, 0);
	struct csv_reader *csv;
	char *const *f;
	size_t nr;
	int r;

	if (n < 0)
		return err_sys(err, errno, "'%s'", path);
	csv = csv_open_mem(text, (size_t)n);
	r = csv_next(csv, &f, &nr, err);
	for (size_t i = 0; r > 0 && i < nr; i++)
		strvec_push(to, f[i]);
	csv_free(csv);
	if (r > 0 && !strvec_has(to, "model"))
		return err_set(err, EINVAL,
			       "'%s' is no table of runs: its first line has no column 'model'; "
			       "name another file",
			       path);
	return r < 0 ? err_wrap(err, r, "'%s'", path) : r;
}

/* --- rows as text --- */

static void write_cell(struct csv_writer *w, const json_t *row, const char *column)
{
	const json_t *v = json_object_get(row, column);
	char *text;

	if (!v)
		v = json_object_get(json_object_get(row, "multi_results"), column);
	if (json_is_string(v)) {
		csv_sheet_str(w, json_string_value(v));
		return;
	}
	text = v && !json_is_null(v) ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	csv_str(w, text ? text : "");
	free(text);
}

/* Owned. */
static char *as_csv(const json_t *rows, const struct strvec *columns, bool header, bool newline,
		    size_t *ret_n)
{
	char *text = NULL;
	FILE *f = xmemstream(&text, ret_n);
	struct csv_writer w = { .f = f };
	const json_t *row;
	size_t i;

	if (newline)
		putc('\n', f);
	for (size_t k = 0; header && k < columns->nr; k++)
		csv_sheet_str(&w, columns->v[k]);
	if (header)
		csv_end(&w);
	json_array_foreach(rows, i, row)
	{
		for (size_t k = 0; k < columns->nr; k++)
			write_cell(&w, row, columns->v[k]);
		csv_end(&w);
	}
	fclose(f);
	return text;
}

/* --- appending --- */

static bool ends_torn(int fd, off_t size)
{
	char last;

	return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

/* Writes all or nothing: a part that fitted on a full disk is cut off again. */
static int write_whole(int fd, const char *path, const char *text, size_t n, off_t at,
		       struct err *err)
{
	size_t done = 0;

	while (done < n) {
		ssize_t w = pwrite(fd, text + done, n - done, at + (off_t)done);
		int why = errno;

		if (w < 0 && why == EINTR)
			continue;
		if (w <= 0) {
			if (ftruncate(fd, at) < 0)
				why = errno;
			return err_sys(err, w < 0 ? why : EIO, "'%s' could not be written", path);
		}
		done += (size_t)w;
	}
	return fsync(fd) < 0 ? err_sys(err, errno, "'%s'", path) : 0;
}

static int append_csv(int fd, const char *path, const json_t *rows, bool super, struct err *err)
{
	CLEANUP(strvec_release) struct strvec columns = STRVEC_INIT;
	CLEANUP(xfreep) char *text = NULL;
	struct stat st;
	size_t n = 0;
	int r = header_of(fd, path, &columns, err);

	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return err_sys(err, errno, "'%s'", path);
	if (r == 0)
		columns_of(rows, super, &columns);
	text = as_csv(rows, &columns, r == 0, ends_torn(fd, st.st_size), &n);
	return write_whole(fd, path, text, n, st.st_size, err);
}

static int open_table(const char *path, int flags, struct err *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags, 0666);
	struct stat st;

	if (fd < 0)
		return err_sys(err, errno, "'%s'", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(err, EINVAL, "'%s' is no regular file", path);
	}
	/* A file with a second name is refused: another user may have given it this one. */
	if (st.st_nlink > 1) {
		close(fd);
		return err_sys(err, DOOR_HARD_LINK, "'%s'", path);
	}
	return fd;
}

/* Mostly the lock is held for the time of one row. A process that was stopped, or that holds it on
 * purpose, must not keep the run from ending. */
static int lock_table(int fd, const char *path, const volatile sig_atomic_t *interrupt,
		      struct err *err)
{
	int64_t told = clock_monotonic_ns() + LOCK_PATIENCE_NS;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(err, errno, "'%s' cannot be locked", path);
		if (interrupt && *interrupt)
			return err_set(err, EINTR,
				       "another process holds the lock of '%s' ('fuser %s' shows "
				       "which); interrupted",
				       path, path);
		if (clock_monotonic_ns() > told) {
			log_notice("waiting for the lock of '%s', which another process holds",
				   path);
			told = INT64_MAX;
		}
		clock_sleep_until_ns(clock_monotonic_ns() + LOCK_NAP_NS);
	}
	return 0;
}

/* --- JSON companions --- */

/* A list of objects: the new ones are written over the bracket at its end. */
static int append_json(const char *path, const json_t *rows, struct err *err)
{
	static const char close_list[] = "\n]\n";
	CLEANUP(xclosep) int fd = open_table(path, O_NOFOLLOW, err);
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	char tail[sizeof(close_list)] = "";
	const json_t *row;
	struct stat st;
	size_t i;
	off_t at;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return err_sys(err, errno, "'%s'", path);
	at = st.st_size - (off_t)strlen(close_list);
	if (st.st_size > 0 &&
	    (at < 0 || pread(fd, tail, strlen(close_list), at) != (ssize_t)strlen(close_list) ||
	     strcmp(tail, close_list) != 0))
		return err_set(err, EINVAL, "'%s' does not end as profrig left it; move it away",
			       path);
	at = st.st_size > 0 ? at : 0;
	json_array_foreach(rows, i, row)
	{
		char *text = json_dumps(row, JSON_COMPACT);

		strbuf_addf(&sb, "%s%s", st.st_size > 0 || i > 0 ? ",\n" : "[\n", text ? text : "");
		free(text);
	}
	strbuf_addstr(&sb, close_list);
	return write_whole(fd, path, sb.buf, sb.len, at, err);
}

static int replace_json(const char *path, const json_t *rows, struct err *err)
{
	char *text = json_dumps(rows, JSON_INDENT(1));
	int r = text ? fs_write_atomic(path, text, strlen(text), err)
		     : err_set(err, EINVAL, "'%s' cannot be written", path);

	free(text);
	return r;
}

static int replace_csv(const char *path, const json_t *rows, bool super, struct err *err)
{
	CLEANUP(strvec_release) struct strvec columns = STRVEC_INIT;
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;

	columns_of(rows, super, &columns);
	text = as_csv(rows, &columns, true, false, &n);
	return fs_write_atomic(path, text, n, err);
}

/* Without the columns of super tables; other columns of a results file become columns of the row.
 * New reference. */
static json_t *plain_rows(const json_t *rows)
{
	json_t *plain = json_array(), *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		json_t *copy = json_copy(row), *more = json_object_get(row, "multi_results");

		for (size_t k = 0; super_columns[k]; k++)
			json_object_del(copy, super_columns[k]);
		if (more)
			json_object_update_missing(copy, more);
		json_array_append_new(plain, copy);
	}
	return plain;
}

/* Files beside the table that could not be written, and the reason of the first. */
struct lacking {
	struct strbuf files;
	size_t nr;
	int r;
	struct err why;
};

static void lack_note(struct lacking *l, const char *path, int r, const struct err *err)
{
	if (r >= 0)
		return;
	strbuf_addf(&l->files, "%s'%s'", l->nr++ ? ", " : "", path);
	if (l->r < 0)
		return;
	l->r = r;
	l->why = *err;
}

/* The rows of the last run only. */
static void latest_write(const char *stem, bool super, const json_t *rows, struct lacking *l)
{
	CLEANUP(xfreep) char *csv = xasprintf("%s_entry%s.csv", stem, super ? "_super" : "");
	CLEANUP(xfreep) char *json = xasprintf("%s_entry%s.json", stem, super ? "_super" : "");
	json_t *plain = super ? NULL : plain_rows(rows);
	struct err err = ERR_INIT;

	lack_note(l, csv, replace_csv(csv, rows, super, &err), &err);
	lack_note(l, json, replace_json(json, super ? rows : plain, &err), &err);
	json_decref(plain);
}

static int companions_write(const char *path, const json_t *rows, struct err *err)
{
	const char *dot = strrchr(fs_base(path), '.');
	CLEANUP(xfreep)
	char *stem =
		xstrndup(path, dot && dot > fs_base(path) ? (size_t)(dot - path) : strlen(path));
	CLEANUP(xfreep) char *super = xasprintf("%s_super.csv", stem);
	CLEANUP(xfreep) char *super_json = xasprintf("%s_super.json", stem);
	struct lacking l = { .files = STRBUF_INIT };
	struct err e = ERR_INIT;
	int fd, r;

	latest_write(stem, false, rows, &l);
	latest_write(stem, true, rows, &l);
	fd = open_table(super, O_NOFOLLOW, &e);
	lack_note(&l, super, fd < 0 ? fd : append_csv(fd, super, rows, true, &e), &e);
	xclosep(&fd);
	lack_note(&l, super_json, append_json(super_json, rows, &e), &e);
	r = l.r < 0 ? err_set(err, -l.r, "'%s' has them; %s %s them: %s", path, l.files.buf,
			      l.nr > 1 ? "lack" : "lacks", l.why.msg)
		    : 0;
	strbuf_release(&l.files);
	return r;
}

static int perf_append(const char *path, const json_t *rows, const volatile sig_atomic_t *interrupt,
		       struct err *err)
{
	CLEANUP(xfreep) char *dir = fs_dir(path);
	CLEANUP(xclosep) int fd = -1;
	int r = fs_mkdirs(dir, 0777, err);

	if (r == 0) {
		fd = open_table(path, 0, err);
		r = fd < 0 ? fd : 0;
	}
	/* The table's lock protects its companions too. */
	if (r == 0)
		r = lock_table(fd, path, interrupt, err);
	if (r == 0)
		r = append_csv(fd, path, rows, false, err);
	return r < 0 ? err_wrap(err, r, "not kept") : companions_write(path, rows, err);
}

int run_perf_csv(const struct plan *pl, const char *status, const char *reason,
		 const volatile sig_atomic_t *interrupt, struct err *err)
{
	json_t *doc = status ? NULL : run_json_load(pl->run_dir, err), *rows;
	int r;

	if (!status && !doc)
		return err && err->code ? -err->code : -EINVAL;
	rows = perf_rows(pl, doc, status, reason);
	r = perf_append(pl->conf->results.perf_csv, rows, interrupt, err);
	json_decref(rows);
	json_decref(doc);
	return r;
}
