/*
 * bench_rows: library_perf.csv, as a file to which each row is added by one write, and an fsync
 * where it took time to measure.
 *
 * Opening takes a lock, so that one process writes at a time, cuts off a last line that has no end
 * (its writer was killed), and learns which rows there are. A file that does not begin with the
 * columns of this table is left alone (-EINVAL). One that an earlier profrig began with fewer
 * columns (those up to peak_share at least) is gone on with, in its own columns. Texts of logs are
 * cells that no spreadsheet takes for formulas (csv_sheet_str). Lines end in LF; no cell has a line
 * end, so a line is a row. bench_tables.h reads such files.
 */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include "profrig/bench/bench.h"

#define BENCH_COLUMNS \
	"library,config,backend,device,calls,repeats,mean_us,median_us,stddev_us,min_us,gflops," \
	"gbps,energy_j,status,reason,key,version,path,threads,cache,init,timer,ci_low_us," \
	"ci_high_us,clock_mhz,temperature_c,peak_share,processes,measured_ms,others,process_us," \
	"loop_gflops,solution,level_us"

struct intern;

struct bench_rows {
	int fd;
	char *path, *device;
	enum bench_cache cache; /* of the rows that are asked for and added */
	unsigned threads;
	size_t columns; /* of the file, the first ones of BENCH_COLUMNS */
	struct intern *known;
	VEC(int) status; /* of the last row of each known one */
};

int bench_rows_open(const char *path, const char *device, enum bench_cache cache, unsigned threads,
		    struct bench_rows *ret, struct err *err);
/*
 * The status of the last row by key (without one: library and config), back end, cache mode and
 * threads, as the file had it when it was opened; BENCH_ROW_NONE: it had none.
 */
#define BENCH_ROW_NONE (-1)
int bench_rows_status(const struct bench_rows *rows, const struct bench_config *c,
		      const char *back_end);
/* The row is in the file, or nothing of it. */
int bench_rows_add(struct bench_rows *rows, const struct bench_row *row, struct err *err);
void bench_rows_close(struct bench_rows *rows);

#endif
