/*
 * bench_tables: files library_perf.csv, read back (bench_rows.h writes them).
 *
 *	struct bench_tables t = BENCH_TABLES_INIT;
 *	bench_tables_add(&t, "A.csv", text, n, err); bench_tables_add(&t, "B.csv", …);
 *	… t.sides, t.rows …
 *	bench_tables_release(&t);
 *
 * Columns are found by their names, in any order; those that are not known are ignored and those
 * that an earlier profrig did not write are unknown. A file and a back end in it are a side, in the
 * order in which they first appear, in damaged rows too; the same file given twice is two. Of
 * several rows of a side with one key, cache mode and number of threads the last one counts, as
 * `lib perf --again` adds rows.
 *
 * A row that is damaged (another number of cells, a number that is none or cannot be, an unknown
 * status, a cell above BENCH_CELL_MAX, a last line without an end) is left out, counted, and the
 * first one of each file is remembered with its line. What stands behind a line that ends the CSV
 * (a NUL byte, a quote without an end) is damaged as one row; in front of the first row it is an
 * error.
 *
 * Texts are borrowed from the tables.
 */
#ifndef PROFRIG_BENCH_TABLES_H
#define PROFRIG_BENCH_TABLES_H

#include "profrig/base/intern.h"
#include "profrig/base/u64map.h"
#include "profrig/bench/bench.h"

#define BENCH_CELL_MAX ((size_t)1 << 16)
#define BENCH_TABLE_ROWS_MAX ((size_t)1 << 20) /* of all files */
#define BENCH_TABLE_SIDES_MAX 256

struct bench_table_row {
	uint32_t side;
	str_id id; /* of the key; without one: of library and configuration */
	const char *key, *library, *config, *reason, *version, *device;
	const char *process_us, *level_us; /* "" unknown */
	uint64_t line, calls, repeats;
	uint64_t processes;   /* 0 unknown */
	uint64_t measured_ms; /* 0 unknown; equal ones of a file and key were measured in turn */
	enum bench_status status;
	enum bench_cache cache;
	unsigned threads;
	int32_t solution; /* BENCH_SOLUTION_NONE */
	/* NaN unknown; the mean of a row that is ok is above 0 */
	double mean, median, stddev, min, low, high; /* µs of a call */
	double gflops, gbps, energy_j, clock_mhz, loop_gflops, peak_share, others;
};

struct bench_table_side {
	size_t file;
	const char *back_end, *device, *version; /* of its first row that has them; "" unknown */
};

struct bench_table_file {
	char *path;
	size_t rows, bad; /* bad: not among them */
	char first_bad[200];
};

struct bench_tables {
	VEC(struct bench_table_file) files;
	VEC(struct bench_table_side) sides;
	VEC(struct bench_table_row) rows;
	struct intern *texts;
	struct u64map at; /* (key, cache mode, threads) and side → row */
};
/* clang-format off */
#define BENCH_TABLES_INIT \
	{ .files = VEC_INIT, .sides = VEC_INIT, .rows = VEC_INIT, .texts = NULL, .at = U64MAP_INIT }
/* clang-format on */

/*
 * The text of a file; path is for messages. -EINVAL: it is no library_perf.csv, or no CSV; -E2BIG:
 * more rows or sides than the limits. Rows that were read before stay.
 */
int bench_tables_add(struct bench_tables *t, const char *path, const char *text, size_t n,
		     struct err *err);
void bench_tables_release(struct bench_tables *t);

/* The row of this key that counts; NULL: there is none. */
const struct bench_table_row *bench_tables_find(const struct bench_tables *t, str_id id,
						enum bench_cache cache, unsigned threads,
						uint32_t side);
/* Whether a row was not followed by another one in its place. */
bool bench_tables_counts(const struct bench_tables *t, const struct bench_table_row *r);

#endif
