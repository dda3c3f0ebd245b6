#include "profrig/bench/bench_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/csv.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"

/* clang-format off */
#define TEXTS(X) \
	X(library) X(config) X(backend) X(device) X(status) X(reason) X(key) X(version) X(cache) \
	X(process_us) X(level_us)
#define COUNTS(X) X(calls) X(repeats) X(threads) X(processes) X(measured_ms) X(solution)
#define NUMBERS(X) \
	X(mean_us) X(median_us) X(stddev_us) X(min_us) X(gflops) X(gbps) X(energy_j) X(ci_low_us) \
	X(ci_high_us) X(clock_mhz) X(loop_gflops) X(peak_share) X(others)
/* clang-format on */

#define NAME(c) COLUMN_##c,
enum column { TEXTS(NAME) COUNTS(NAME) NUMBERS(NAME) COLUMNS };
#define WORD(c) #c,
static const char *const column_names[COLUMNS] = { TEXTS(WORD) COUNTS(WORD) NUMBERS(WORD) };
static const enum column required[] = { COLUMN_backend, COLUMN_key, COLUMN_status, COLUMN_mean_us };
#define ABSENT SIZE_MAX

struct reading {
	struct bench_tables *t;
	struct bench_table_file *file;
	struct csv_reader *csv;
	size_t at[COLUMNS], columns;
	char *const *fields;
	size_t n;
	struct bench_table_row row; /* the last one, not kept yet: its line may lack an end */
	bool has_row;
};

/* ---- cells ---- */

static const char *cell(const struct reading *rd, enum column c)
{
	return rd->at[c] == ABSENT ? "" : rd->fields[rd->at[c]];
}

static const char *kept_text(const struct reading *rd, enum column c)
{
	return intern_str(rd->t->texts, intern_puts(rd->t->texts, cell(rd, c)));
}

static int bad(const struct reading *rd, const char *what, const char *text)
{
	struct bench_table_file *f = rd->file;

	if (!f->bad++)
		snprintf(f->first_bad, sizeof(f->first_bad), "line %" PRIu64 ": %s%s%.40s%s",
			 csv_line(rd->csv), what, text ? " '" : "", text ? text : "",
			 text ? "'" : "");
	return -EINVAL;
}

static int number(const struct reading *rd, enum column c, double *ret)
{
	const char *s = cell(rd, c);

	*ret = NAN;
	if (!*s)
		return 0;
	if (num_f64(s, strlen(s), ret) == 0 && isfinite(*ret) && *ret >= 0)
		return 0;
	return bad(rd, column_names[c], s);
}

static int count(const struct reading *rd, enum column c, uint64_t without, uint64_t *ret)
{
	const char *s = cell(rd, c);

	*ret = without;
	if (!*s || num_u64(s, strlen(s), ret) == 0)
		return 0;
	return bad(rd, column_names[c], s);
}

static bool status_parse(const char *name, enum bench_status *ret)
{
	for (int i = 0; i < BENCH_STATUSES; i++)
		if (!strcmp(bench_status_name((enum bench_status)i), name)) {
			*ret = (enum bench_status)i;
			return true;
		}
	return false;
}

/* ---- a row ---- */

static int row_numbers(const struct reading *rd, struct bench_table_row *r)
{
	const struct {
		enum column column;
		double *to;
	} all[] = { { COLUMN_mean_us, &r->mean },
		    { COLUMN_median_us, &r->median },
		    { COLUMN_stddev_us, &r->stddev },
		    { COLUMN_min_us, &r->min },
		    { COLUMN_ci_low_us, &r->low },
		    { COLUMN_ci_high_us, &r->high },
		    { COLUMN_gflops, &r->gflops },
		    { COLUMN_gbps, &r->gbps },
		    { COLUMN_energy_j, &r->energy_j },
		    { COLUMN_clock_mhz, &r->clock_mhz },
		    { COLUMN_loop_gflops, &r->loop_gflops },
		    { COLUMN_peak_share, &r->peak_share },
		    { COLUMN_others, &r->others } };
	int res = 0;

	for (size_t i = 0; res == 0 && i < ARRAY_LEN(all); i++)
		res = number(rd, all[i].column, all[i].to);
	if (res < 0 || r->status != BENCH_OK)
		return res;
	if (!(r->mean > 0))
		return bad(rd, "no time in a row that is ok", NULL);
	if (r->low > r->mean || r->high < r->mean)
		return bad(rd, "the interval does not hold the mean", NULL);
	return 0;
}

static int solution_read(const struct reading *rd, int32_t *ret)
{
	const char *s = cell(rd, COLUMN_solution);
	uint64_t n;

	*ret = BENCH_SOLUTION_NONE;
	if (!*s)
		return 0;
	if (num_u64(s, strlen(s), &n) < 0 || n > INT32_MAX)
		return bad(rd, "solution", s);
	*ret = (int32_t)n;
	return 0;
}

static int row_words(const struct reading *rd, struct bench_table_row *r)
{
	const char *cache = cell(rd, COLUMN_cache);
	uint64_t threads;
	int res;

	if (!*cell(rd, COLUMN_backend))
		return bad(rd, "no back end", NULL);
	if (!status_parse(cell(rd, COLUMN_status), &r->status))
		return bad(rd, "status", cell(rd, COLUMN_status));
	if (*cache && !bench_cache_parse(cache, &r->cache))
		return bad(rd, "cache", cache);
	res = count(rd, COLUMN_threads, 1, &threads);
	if (res == 0 && threads > 1 << 20)
		res = bad(rd, "threads", cell(rd, COLUMN_threads));
	if (res == 0)
		res = count(rd, COLUMN_calls, 0, &r->calls);
	if (res == 0)
		res = count(rd, COLUMN_repeats, 0, &r->repeats);
	if (res == 0)
		res = count(rd, COLUMN_processes, 0, &r->processes);
	if (res == 0)
		res = count(rd, COLUMN_measured_ms, 0, &r->measured_ms);
	if (res == 0)
		res = solution_read(rd, &r->solution);
	r->threads = (unsigned)threads;
	return res;
}

static str_id id_of(const struct reading *rd)
{
	CLEANUP(strbuf_release) struct strbuf id = STRBUF_INIT;

	/* a key has no line end */
	if (*cell(rd, COLUMN_key))
		return intern_puts(rd->t->texts, cell(rd, COLUMN_key));
	strbuf_addf(&id, "%s\n%s", cell(rd, COLUMN_library), cell(rd, COLUMN_config));
	return intern_put(rd->t->texts, id.buf, id.len);
}

/* Its number; a new one is made. UINT32_MAX: there are too many. */
static uint32_t side_of(const struct reading *rd)
{
	struct bench_tables *t = rd->t;
	const char *back_end = kept_text(rd, COLUMN_backend);
	size_t file = t->files.nr - 1, i = t->sides.nr;

	/* interned texts are equal where their pointers are */
	while (i > 0 && t->sides.v[i - 1].file == file)
		if (t->sides.v[--i].back_end == back_end)
			return (uint32_t)i;
	if (t->sides.nr >= BENCH_TABLE_SIDES_MAX)
		return UINT32_MAX;
	VEC_PUSH(&t->sides, ((struct bench_table_side){ file, back_end, "", "" }));
	return (uint32_t)(t->sides.nr - 1);
}

static str_id place_of(struct intern *texts, str_id id, enum bench_cache cache, unsigned threads,
		       bool make)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "\n%" PRIu32 " %d %u", id, (int)cache, threads);

	return make ? intern_put(texts, text, (size_t)n) : intern_find(texts, text, (size_t)n);
}

static void row_keep(struct reading *rd)
{
	struct bench_tables *t = rd->t;
	const struct bench_table_row *r = &rd->row;

	if (!rd->has_row)
		return;
	rd->has_row = false;
	*u64map_at(&t->at, u64map_pair(place_of(t->texts, r->id, r->cache, r->threads, true),
				       r->side)) = (uint32_t)t->rows.nr;
	VEC_PUSH(&t->rows, *r);
	rd->file->rows++;
}

static int cells_fit(const struct reading *rd)
{
	if (rd->n != rd->columns)
		return bad(rd, "another number of cells", NULL);
	for (size_t i = 0; i < rd->n; i++)
		if (strlen(rd->fields[i]) > BENCH_CELL_MAX)
			return bad(rd, "a cell that is too long", NULL);
	return 0;
}

/* 0: it is taken or counted as damaged. */
static int row_read(struct reading *rd, struct err *err)
{
	struct bench_table_row r = { .line = csv_line(rd->csv) };
	struct bench_table_side *s;

	if (cells_fit(rd) < 0)
		return 0;
	r.side = *cell(rd, COLUMN_backend) ? side_of(rd) : 0;
	if (row_words(rd, &r) < 0 || row_numbers(rd, &r) < 0)
		return 0;
	if (r.side == UINT32_MAX || rd->t->rows.nr >= BENCH_TABLE_ROWS_MAX)
		return err_set(err, E2BIG, "%s: line %" PRIu64 ": more than %zu rows or %d sides",
			       rd->file->path, r.line, BENCH_TABLE_ROWS_MAX, BENCH_TABLE_SIDES_MAX);
	s = &rd->t->sides.v[r.side];
	r.id = id_of(rd);
	r.key = kept_text(rd, COLUMN_key);
	r.library = kept_text(rd, COLUMN_library);
	r.config = kept_text(rd, COLUMN_config);
	r.reason = kept_text(rd, COLUMN_reason);
	r.version = kept_text(rd, COLUMN_version);
	r.process_us = kept_text(rd, COLUMN_process_us);
	r.level_us = kept_text(rd, COLUMN_level_us);
	r.device = kept_text(rd, COLUMN_device);
	if (!*s->device)
		s->device = r.device;
	if (!*s->version)
		s->version = r.version;
	rd->row = r;
	rd->has_row = true;
	return 0;
}

/* ---- a file ---- */

static int columns_find(struct reading *rd, struct err *err)
{
	rd->columns = rd->n;
	for (int c = 0; c < COLUMNS; c++) {
		rd->at[c] = ABSENT;
		for (size_t i = rd->n; i > 0; i--)
			if (!strcmp(rd->fields[i - 1], column_names[c]))
				rd->at[c] = i - 1;
	}
	for (size_t i = 0; i < ARRAY_LEN(required); i++)
		if (rd->at[required[i]] == ABSENT)
			return err_set(err, EINVAL, "%s is no library_perf.csv: no column '%s'",
				       rd->file->path, column_names[required[i]]);
	return 0;
}

/* ends: the last line does; else its writer was killed in it, or it was cut. */
static int rows_read(struct reading *rd, bool ends, struct err *err)
{
	struct err why = ERR_INIT;
	int r = csv_next(rd->csv, &rd->fields, &rd->n, &why);

	if (r < 0)
		return err_set(err, -r, "%s: %s", rd->file->path, why.msg);
	if (r == 0)
		return err_set(err, EINVAL, "%s is no library_perf.csv: it is empty",
			       rd->file->path);
	r = columns_find(rd, err);
	while (r >= 0 && (r = csv_next(rd->csv, &rd->fields, &rd->n, &why)) > 0) {
		row_keep(rd);
		r = row_read(rd, err);
		if (r < 0)
			return r;
	}
	if (r == 0 && rd->has_row && !ends) {
		rd->has_row = false;
		bad(rd, "it has no end", NULL);
	}
	row_keep(rd);
	if (r == 0 || !why.code)
		return r;
	if (!rd->file->rows)
		return err_set(err, -r, "%s: %s", rd->file->path, why.msg);
	if (!rd->file->bad++)
		snprintf(rd->file->first_bad, sizeof(rd->file->first_bad),
			 "%.120s; what follows it is not read", why.msg);
	return 0;
}

int bench_tables_add(struct bench_tables *t, const char *path, const char *text, size_t n,
		     struct err *err)
{
	struct reading rd = { .t = t, .csv = csv_open_mem(text, n) };
	int r;

	if (!t->texts)
		t->texts = intern_new();
	VEC_PUSH(&t->files, ((struct bench_table_file){ .path = xstrdup(path) }));
	rd.file = &t->files.v[t->files.nr - 1];
	r = rows_read(&rd, n > 0 && text[n - 1] == '\n', err);
	csv_free(rd.csv);
	return r;
}

void bench_tables_release(struct bench_tables *t)
{
	for (size_t i = 0; i < t->files.nr; i++)
		free(t->files.v[i].path);
	VEC_RELEASE(&t->files);
	VEC_RELEASE(&t->sides);
	VEC_RELEASE(&t->rows);
	intern_free(STEAL(t->texts));
	u64map_release(&t->at);
}

const struct bench_table_row *bench_tables_find(const struct bench_tables *t, str_id id,
						enum bench_cache cache, unsigned threads,
						uint32_t side)
{
	str_id place = t->texts ? place_of(t->texts, id, cache, threads, false) : STR_NONE;
	uint32_t at =
		place == STR_NONE ? U64MAP_NONE : u64map_get(&t->at, u64map_pair(place, side));

	return at == U64MAP_NONE ? NULL : &t->rows.v[at];
}

bool bench_tables_counts(const struct bench_tables *t, const struct bench_table_row *r)
{
	return bench_tables_find(t, r->id, r->cache, r->threads, r->side) == r;
}
