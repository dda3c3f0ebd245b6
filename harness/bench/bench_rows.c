#include "bench_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/csv.h"
#include "profrig/base/door.h"
#include "profrig/base/intern.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define HEADER BENCH_COLUMNS "\n"
#define HEADER_LEN (sizeof(HEADER) - 1)
#define TAIL_BLOCK 4096

enum column {
	COLUMN_LIBRARY,
	COLUMN_CONFIG,
	COLUMN_BACKEND,
	COLUMN_STATUS = 13,
	COLUMN_KEY = 15,
	COLUMN_THREADS = 18,
	COLUMN_CACHE = 19,
	COLUMNS_MIN = 27
};

/* ---- rows that are there ---- */

static void cell_add(struct strbuf *to, const char *s)
{
	if (csv_is_formula(s))
		strbuf_addch(to, '\'');
	strbuf_addstr(to, s);
	strbuf_addch(to, '\n');
}

/* One that is none counts as ok: the row stays as it is. */
static int status_of(const char *name)
{
	for (int s = 0; s < BENCH_STATUSES; s++)
		if (!strcmp(bench_status_name((enum bench_status)s), name))
			return s;
	return BENCH_OK;
}

static void row_learn(struct bench_rows *rows, char *const *f)
{
	CLEANUP(strbuf_release) struct strbuf id = STRBUF_INIT;
	str_id known;

	strbuf_addf(&id, "%s\n", f[COLUMN_KEY]);
	if (!*f[COLUMN_KEY])
		strbuf_addf(&id, "%s\n%s\n", f[COLUMN_LIBRARY], f[COLUMN_CONFIG]);
	strbuf_addf(&id, "%s\n%s\n%s", f[COLUMN_BACKEND], f[COLUMN_CACHE], f[COLUMN_THREADS]);
	known = intern_put(rows->known, id.buf, id.len);
	while (rows->status.nr <= known)
		VEC_PUSH(&rows->status, BENCH_OK);
	rows->status.v[known] = status_of(f[COLUMN_STATUS]);
}

int bench_rows_status(const struct bench_rows *rows, const struct bench_config *c,
		      const char *back_end)
{
	CLEANUP(strbuf_release) struct strbuf id = STRBUF_INIT;
	str_id known;

	cell_add(&id, c->key);
	if (!*c->key) {
		cell_add(&id, c->library);
		cell_add(&id, c->config);
	}
	cell_add(&id, back_end);
	strbuf_addf(&id, "%s\n%u", bench_cache_name(rows->cache), rows->threads);
	known = intern_find(rows->known, id.buf, id.len);
	return known == STR_NONE ? BENCH_ROW_NONE : rows->status.v[known];
}

static int rows_learn(struct bench_rows *rows, struct err *err)
{
	struct csv_reader *csv;
	char *const *fields;
	size_t n;
	int r = csv_open_file(rows->path, &csv, err);

	if (r < 0)
		return r;
	r = csv_next(csv, &fields, &n, err);
	while (r > 0 && (r = csv_next(csv, &fields, &n, err)) > 0) {
		if (n != rows->columns) {
			r = err_set(err, EINVAL, "%s: line %llu has %zu columns", rows->path,
				    (unsigned long long)csv_line(csv), n);
			break;
		}
		row_learn(rows, fields);
	}
	csv_free(csv);
	return r == -EINVAL ? r : r < 0 ? -EINVAL : 0;
}

/* ---- opening ---- */

static int failed(const struct bench_rows *rows, struct err *err)
{
	return err_sys(err, errno, "%s", rows->path);
}

/* Where the last line ends that has an end. */
static int64_t last_end(int fd, int64_t size)
{
	char block[TAIL_BLOCK];

	while (size > 0) {
		size_t n = size < TAIL_BLOCK ? (size_t)size : TAIL_BLOCK;
		ssize_t got = pread(fd, block, n, (off_t)(size - (int64_t)n));
		const char *end = got == (ssize_t)n ? memrchr(block, '\n', n) : NULL;

		if (got != (ssize_t)n)
			return -1;
		size -= (int64_t)n;
		if (end)
			return size + (end + 1 - block);
	}
	return 0;
}

/* How many of the columns of HEADER a file begins with; 0: its first line is another one. */
static size_t columns_of(const char *head, size_t n)
{
	const char *end = memchr(head, '\n', n);
	size_t len = end ? (size_t)(end - head) : n, columns = 1;

	if (memcmp(head, HEADER, len) != 0 || !strchr(",\n", HEADER[len]))
		return 0;
	for (size_t i = 0; i < len; i++)
		columns += HEADER[i] == ',';
	return end && columns < COLUMNS_MIN ? 0 : columns;
}

static int header_write(struct bench_rows *rows, struct err *err)
{
	rows->columns = columns_of(HEADER, HEADER_LEN);
	if (ftruncate(rows->fd, 0) < 0 ||
	    write(rows->fd, HEADER, HEADER_LEN) != (ssize_t)HEADER_LEN || fsync(rows->fd) < 0)
		return failed(rows, err);
	return 0;
}

static int file_ready(struct bench_rows *rows, struct err *err)
{
	char head[HEADER_LEN];
	struct stat st;
	int64_t end;
	size_t n;

	if (fstat(rows->fd, &st) < 0)
		return failed(rows, err);
	if (!S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "%s is no file", rows->path);
	n = st.st_size < (off_t)HEADER_LEN ? (size_t)st.st_size : HEADER_LEN;
	if (pread(rows->fd, head, n, 0) != (ssize_t)n)
		return failed(rows, err);
	/* one that was killed has left a part of the first line */
	if (n < HEADER_LEN && !memchr(head, '\n', n) && memcmp(head, HEADER, n) == 0)
		return header_write(rows, err);
	rows->columns = columns_of(head, n);
	if (!rows->columns)
		return err_set(err, EINVAL,
			       "%s has other columns than library_perf.csv: it is left as it is",
			       rows->path);
	end = last_end(rows->fd, st.st_size);
	if (end < 0 || (end < st.st_size && ftruncate(rows->fd, (off_t)end) < 0))
		return failed(rows, err);
	return rows_learn(rows, err);
}

int bench_rows_open(const char *path, const char *device, enum bench_cache cache, unsigned threads,
		    struct bench_rows *ret, struct err *err)
{
	int r;

	*ret = (struct bench_rows){ .fd = door_open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC,
						    0644),
				    .cache = cache,
				    .threads = threads };
	if (ret->fd < 0)
		return err_sys(err, errno, "%s", path);
	ret->path = xstrdup(path);
	ret->device = xstrdup(device);
	ret->known = intern_new();
	if (flock(ret->fd, LOCK_EX | LOCK_NB) < 0)
		r = err_set(err, errno == EWOULDBLOCK ? EBUSY : errno,
			    "%s: another profrig writes it", path);
	else
		r = file_ready(ret, err);
	if (r < 0)
		bench_rows_close(ret);
	return r;
}

void bench_rows_close(struct bench_rows *rows)
{
	if (rows->fd >= 0)
		fsync(rows->fd);
	xclosep(&rows->fd);
	free(STEAL(rows->path));
	free(STEAL(rows->device));
	intern_free(STEAL(rows->known));
	VEC_RELEASE(&rows->status);
}

/* ---- a new row ---- */

static void text_cell(struct csv_writer *w, const char *s)
{
	char *copy = xstrdup(s ? s : "");

	text_no_controls(copy, ' ');
	csv_sheet_str(w, copy);
	free(copy);
}

/* Empty for 0. */
static void known_u64(struct csv_writer *w, uint64_t v)
{
	if (v)
		csv_u64(w, v);
	else
		csv_str(w, "");
}

static void solution_write(struct csv_writer *w, int32_t solution)
{
	if (solution == BENCH_SOLUTION_NONE)
		csv_str(w, "");
	else
		csv_i64(w, solution);
}

/* Behind COLUMNS_MIN: as far as the file has them. */
static void later_cells(const struct bench_rows *rows, const struct bench_row *r,
			struct csv_writer *w)
{
	size_t left = rows->columns - COLUMNS_MIN;

	if (left > 0)
		known_u64(w, r->figures.processes);
	if (left > 1)
		known_u64(w, (uint64_t)r->measured_ms);
	if (left > 2)
		csv_f64(w, r->others);
	if (left > 3)
		csv_str(w, r->process_us ? r->process_us : "");
	if (left > 4)
		csv_f64(w, r->loop_gflops);
	if (left > 5)
		solution_write(w, r->solution);
	if (left > 6)
		csv_str(w, r->level_us ? r->level_us : "");
}

static void row_write(const struct bench_rows *rows, const struct bench_row *r, FILE *f)
{
	const struct bench_identity *id = r->identity;
	const struct bench_figures *g = &r->figures;
	struct csv_writer w = { f, 0 };

	text_cell(&w, r->config->library);
	text_cell(&w, r->config->config);
	text_cell(&w, r->back_end);
	text_cell(&w, r->device ? r->device : rows->device);
	csv_u64(&w, r->config->calls);
	csv_u64(&w, r->repeats);
	csv_f64(&w, g->mean);
	csv_f64(&w, g->median);
	csv_f64(&w, g->stddev);
	csv_f64(&w, g->min);
	csv_f64(&w, r->gflops);
	csv_f64(&w, r->gbps);
	csv_f64(&w, r->energy_j);
	csv_str(&w, bench_status_name(r->status));
	text_cell(&w, r->reason);
	text_cell(&w, r->config->key);
	text_cell(&w, id ? id->version : "");
	text_cell(&w, id ? id->path : "");
	csv_u64(&w, rows->threads);
	csv_str(&w, bench_cache_name(rows->cache));
	csv_str(&w, r->init ? r->init : "uniform");
	csv_str(&w, r->timer ? r->timer : "host");
	csv_f64(&w, g->low);
	csv_f64(&w, g->high);
	csv_f64(&w, r->clock_mhz);
	csv_f64(&w, r->temperature_c);
	csv_f64(&w, r->peak_share);
	later_cells(rows, r, &w);
	csv_end(&w);
}

int bench_rows_add(struct bench_rows *rows, const struct bench_row *row, struct err *err)
{
	CLEANUP(xfreep) char *text = NULL;
	struct stat st;
	size_t n;
	FILE *f = xmemstream(&text, &n);
	ssize_t written;
	int code;

	row_write(rows, row, f);
	fclose(f);
	if (fstat(rows->fd, &st) < 0)
		return failed(rows, err);
	written = write(rows->fd, text, n);
	code = written < 0 ? errno : ENOSPC;
	if (written != (ssize_t)n) {
		/* what was written of it is cut off now, or by the next run */
		if (ftruncate(rows->fd, st.st_size) < 0)
			code = errno;
		return err_sys(err, code, "%s", rows->path);
	}
	/* a row that took no time may be lost when the machine stops: there may be many of them */
	if (row->status == BENCH_UNSUPPORTED || row->status == BENCH_SKIPPED)
		return 0;
	return fsync(rows->fd) < 0 ? failed(rows, err) : 0;
}
