/* The store of peaks (bench_peak.h). */
#include "bench_machine.h"
#include "peak_loops.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/csv.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_peak.h"

#define FILE_NAME "peaks.csv"
#define BYTES_MAX ((size_t)1 << 20)
#define ROWS_MAX 1000 /* the oldest go */
#define NAME_MAX_LEN 128
#define RATE_MAX 1e12

enum column {
	C_PROCESSOR,
	C_HOST,
	C_DTYPE,
	C_THREADS,
	C_UNIT,
	C_GFLOPS,
	C_GFLOPS_MEDIAN,
	C_GBPS,
	C_GBPS_MEDIAN,
	C_RIDGE,
	C_STORES,
	C_ARRAY_BYTES,
	C_UNITS,
	C_MEASURED,
	C_STATUS,
	C_REASON,
	C_COUNT
};

/* ---- where ---- */

static int ours(const char *dir, struct err *err)
{
	struct stat st;

	if (door_lstat(dir, &st) < 0)
		return err_sys(err, errno, "%s", dir);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) != 0)
		return err_set(err, EPERM, "%s is not a folder of this user alone", dir);
	return 0;
}

/*
 * The folder, or the one above it that is there: in one of another user, such as a home folder that
 * sudo left in place, new folders would be in that user's way, or in that user's hands.
 */
static int not_anothers(const char *dir, struct err *err)
{
	CLEANUP(xfreep) char *at = xstrdup(dir);
	struct stat st;

	while (door_stat(at, &st) < 0 && strcmp(at, "/") != 0) {
		char *up = fs_dir(at);

		free(at);
		at = up;
	}
	if (door_stat(at, &st) == 0 && st.st_uid != geteuid() && st.st_uid != 0)
		return err_set(err, EPERM, "%s belongs to another user", at);
	return 0;
}

char *bench_peaks_file(struct err *err)
{
	CLEANUP(xfreep) char *path = fs_cache_path(FILE_NAME), *dir = NULL, *above = NULL;

	if (!path) {
		err_set(err, ENOENT, "neither XDG_CACHE_HOME nor HOME names a folder");
		return NULL;
	}
	dir = fs_dir(path);
	above = fs_dir(dir);
	if (not_anothers(dir, err) < 0 || fs_mkdirs(dir, 0700, err) < 0 ||
	    not_anothers(above, err) < 0 || ours(dir, err) < 0)
		return NULL;
	return STEAL(path);
}

/* ---- this machine ---- */

static char *cell_text(char *s)
{
	text_no_controls(s, ' ');
	if (strlen(s) > NAME_MAX_LEN)
		s[NAME_MAX_LEN] = 0;
	if (csv_is_formula(s)) {
		char *quoted = xasprintf("'%s", s);

		free(s);
		s = quoted;
	}
	return s;
}

char *bench_peaks_processor(void)
{
	return cell_text(machine_processor());
}

char *bench_peaks_host(void)
{
	char name[256] = "";

	if (gethostname(name, sizeof(name) - 1) < 0)
		*name = 0;
	return cell_text(xstrdup(name));
}

struct machine {
	char *processor, *host;
	struct strbuf units;
};

static void machine_begin(struct machine *m)
{
	m->processor = bench_peaks_processor();
	m->host = bench_peaks_host();
	strbuf_init(&m->units);
	peak_units_names(&m->units);
}

static void machine_end(struct machine *m)
{
	free(m->processor);
	free(m->host);
	strbuf_release(&m->units);
}

/* ---- rows ---- */

static void row_write(const struct bench_peaks *p, int type, const struct machine *m,
		      struct csv_writer *w)
{
	const struct bench_peak *k = &p->of[type];

	csv_str(w, m->processor);
	csv_str(w, m->host);
	csv_str(w, bench_type_name((enum bench_type)type));
	csv_u64(w, p->threads);
	csv_str(w, k->unit);
	csv_f64(w, k->gflops);
	csv_f64(w, k->gflops_median);
	csv_f64(w, p->gbps);
	csv_f64(w, p->gbps_median);
	csv_f64(w, bench_peak_ridge(p, (enum bench_type)type));
	csv_str(w, p->stores);
	csv_u64(w, p->array_bytes);
	csv_str(w, m->units.buf);
	csv_str(w, p->measured);
	csv_str(w, bench_status_name(k->status));
	csv_sheet_str(w, k->reason);
	csv_end(w);
}

void bench_peaks_write(const struct bench_peaks *p, FILE *f)
{
	struct csv_writer w = { f, 0 };
	struct machine m;

	machine_begin(&m);
	for (int t = 0; t < BENCH_PEAK_TYPES; t++)
		row_write(p, t, &m, &w);
	machine_end(&m);
}

static bool number_read(const char *s, double *ret)
{
	return num_f64(s, strlen(s), ret) == 0 && *ret > 0 && *ret < RATE_MAX;
}

static bool text_read(const char *s, char *to, size_t size)
{
	if (strlen(s) >= size)
		return false;
	memcpy(to, s, strlen(s) + 1);
	text_no_controls(to, 0);
	return strlen(to) == strlen(s);
}

static bool type_read(const char *s, int *ret)
{
	for (int t = 0; t < BENCH_PEAK_TYPES; t++)
		if (!strcmp(s, bench_type_name((enum bench_type)t))) {
			*ret = t;
			return true;
		}
	return false;
}

/* False: a row that none of ours would be. */
static bool row_read(char *const *f, struct bench_peaks *ret, int *ret_type)
{
	uint64_t threads;
	struct bench_peak *k;

	if (strcmp(f[C_STATUS], bench_status_name(BENCH_OK)) != 0 ||
	    !type_read(f[C_DTYPE], ret_type) ||
	    num_u64(f[C_THREADS], strlen(f[C_THREADS]), &threads) < 0 || !threads ||
	    threads > 1 << 20)
		return false;
	k = &ret->of[*ret_type];
	ret->threads = (unsigned)threads;
	k->status = BENCH_OK;
	return number_read(f[C_GFLOPS], &k->gflops) &&
	       number_read(f[C_GFLOPS_MEDIAN], &k->gflops_median) &&
	       number_read(f[C_GBPS], &ret->gbps) &&
	       number_read(f[C_GBPS_MEDIAN], &ret->gbps_median) &&
	       text_read(f[C_REASON], k->reason, sizeof(k->reason)) &&
	       text_read(f[C_UNIT], k->unit, sizeof(k->unit)) &&
	       text_read(f[C_STORES], ret->stores, sizeof(ret->stores)) &&
	       text_read(f[C_MEASURED], ret->measured, sizeof(ret->measured)) &&
	       num_u64(f[C_ARRAY_BYTES], strlen(f[C_ARRAY_BYTES]), &ret->array_bytes) == 0;
}

static bool is_of(char *const *f, const struct machine *m)
{
	return !strcmp(f[C_PROCESSOR], m->processor) && !strcmp(f[C_HOST], m->host) &&
	       !strcmp(f[C_UNITS], m->units.buf);
}

/* ---- the file ---- */

typedef void row_fn(void *ctx, char *const *f);

static int header_check(struct csv_reader *csv, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT;
	char *const *f;
	size_t n;
	int r = csv_next(csv, &f, &n, err);

	for (size_t i = 0; r > 0 && i < n; i++)
		strbuf_addf(&names, "%s%s", i ? "," : "", f[i]);
	if (r < 0)
		return r;
	return strcmp(names.buf, BENCH_PEAK_COLUMNS) != 0
		       ? err_set(err, EINVAL, "it has other columns")
		       : 0;
}

/* Each row that could be one of ours. A file that is not there has none. */
static int rows_each(const char *file, row_fn *fn, void *ctx, struct err *err)
{
	CLEANUP(xfreep) char *text = NULL;
	struct csv_reader *csv;
	size_t len, n, bad = 0;
	char *const *f;
	int r = fs_read(file, BYTES_MAX, &text, &len, err);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	csv = csv_open_mem(text, len);
	r = header_check(csv, err);
	while (r >= 0 && (r = csv_next(csv, &f, &n, err)) > 0) {
		struct bench_peaks one = { 0 };
		int type;

		if (n == C_COUNT && row_read(f, &one, &type))
			fn(ctx, f);
		else
			bad++;
	}
	csv_free(csv);
	if (r < 0)
		return err_wrap(err, r, "%s is damaged", file);
	return bad ? err_set(err, EINVAL, "%s is damaged: %zu of its rows are not used", file, bad)
		   : 0;
}

/* Through the folder's descriptor: no link is followed, and a file of another user is refused. */
static int held_rows(const char *file, row_fn *fn, void *ctx, struct err *err)
{
	CLEANUP(xfreep) char *dir = fs_dir(file);
	int r = door_hold(dir, err);

	if (r < 0)
		return r;
	door_expect(dir, geteuid(), 1);
	r = rows_each(file, fn, ctx, err);
	door_let_go(dir);
	return r;
}

struct finding {
	const struct machine *m;
	struct bench_peaks *ret;
	unsigned found; /* bits of types */
};

/* The last one counts; both of one measurement have the same time. */
static void find_row(void *ctx, char *const *f)
{
	struct finding *fd = ctx;
	struct bench_peaks one = *fd->ret;
	unsigned threads = one.threads;
	int type;

	if (!is_of(f, fd->m) || !row_read(f, &one, &type) || one.threads != threads)
		return;
	if (fd->found && strcmp(one.measured, fd->ret->measured) != 0)
		fd->found = 0;
	*fd->ret = one;
	fd->found |= 1U << type;
}

bool bench_peaks_find(const char *file, unsigned threads, struct bench_peaks *ret,
		      struct strvec *said)
{
	struct machine m;
	struct finding fd = { .m = &m, .ret = ret };
	struct err err = ERR_INIT;

	*ret = (struct bench_peaks){ .threads = threads };
	machine_begin(&m);
	if (held_rows(file, find_row, &fd, &err) < 0)
		strvec_pushf(said, "%s", err.msg);
	machine_end(&m);
	return fd.found == (1U << BENCH_PEAK_TYPES) - 1;
}

struct keeping {
	const struct machine *m;
	unsigned threads;
	VEC(char *) lines;
};

static void keep_row(void *ctx, char *const *f)
{
	struct keeping *k = ctx;
	struct bench_peaks one = { 0 };
	char *text;
	size_t n;
	FILE *out;
	struct csv_writer w;
	int type;

	if (!row_read(f, &one, &type) || (is_of(f, k->m) && one.threads == k->threads))
		return;
	out = xmemstream(&text, &n);
	w = (struct csv_writer){ out, 0 };
	for (int i = 0; i < C_COUNT; i++)
		csv_str(&w, f[i]);
	csv_end(&w);
	fclose(out);
	VEC_PUSH(&k->lines, text);
}

static int store_write(const char *file, const struct bench_peaks *p, const struct keeping *k,
		       struct err *err)
{
	CLEANUP(xfreep) char *text = NULL, *dir = fs_dir(file);
	size_t n, from = k->lines.nr > ROWS_MAX ? k->lines.nr - ROWS_MAX : 0;
	FILE *out = xmemstream(&text, &n);
	int r;

	fputs(BENCH_PEAK_COLUMNS "\n", out);
	for (size_t i = from; i < k->lines.nr; i++)
		fputs(k->lines.v[i], out);
	bench_peaks_write(p, out);
	fclose(out);
	r = door_hold(dir, err);
	if (r < 0)
		return r;
	r = fs_write_atomic(file, text, n, err);
	door_let_go(dir);
	return r;
}

void bench_peaks_keep(const char *file, const struct bench_peaks *p, struct strvec *said)
{
	struct machine m;
	struct keeping k = { .m = &m, .threads = p->threads };
	struct err err = ERR_INIT;

	if (!bench_peaks_ok(p))
		return;
	machine_begin(&m);
	/* what is wrong with it was said by bench_peaks_find, and goes now */
	held_rows(file, keep_row, &k, NULL);
	if (store_write(file, p, &k, &err) < 0)
		strvec_pushf(said, "peaks are not stored: %s", err.msg);
	for (size_t i = 0; i < k.lines.nr; i++)
		free(k.lines.v[i]);
	VEC_RELEASE(&k.lines);
	machine_end(&m);
}
