/*
 * run_results: the results of a run, out of what its workload left: values in its output, rows of
 * its results file, lines that look like errors. Private to run/.
 *
 *	run_metrics.c	the values in one output file, and which of them is reported
 *	run_results.c	all of it for one run → metrics and warnings of run.json
 *	run_rows.c	results.csv
 *	run_scan.c	lines that look like errors
 *	run_oom.c	what the kernel killed for lack of memory
 */
#ifndef RUN_RESULTS_H
#define RUN_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/regex.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"
#include "profrig/config/results.h"

/* More are counted and not kept, but for the last one. */
#define VALUES_MAX ((size_t)1000000)

struct value {
	double value; /* NAN: what stands there is no number */
	uint64_t line;
	uint32_t name, unit; /* indexes */
};

struct values {
	VEC(struct value) v;
	struct strvec names, units;     /* at most VALUES_MAX_NAMES each */
	uint64_t more;                  /* not kept */
	uint64_t grouped, grouped_line; /* read "1,234" as 1234, and where first */
	uint64_t odd, odd_line;         /* began like a value and could not be read as one */
	uint64_t given_up;              /* lines on which the pattern took too long */
	char odd_text[120];
};
#define VALUES_MAX_NAMES 64
void values_init(struct values *vs);
void values_release(struct values *vs);

/*
 * The values in a file: by the configured pattern, or those of performance lines, or, when there
 * are none, of train_samples_per_second. 0 or -errno.
 */
int values_read(const char *path, const struct results_conf *rc, struct values *ret,
		struct err *err);

struct picked {
	double value;   /* NAN: none; why says so */
	uint64_t line;  /* 0: of no single one (mean, median) */
	size_t matches; /* of this name */
	size_t skipped; /* before the steady part */
	uint32_t unit;
	bool mixed; /* values with another unit were left out */
	char why[200];
};
struct picked values_pick(const struct values *vs, uint32_t name, const struct results_conf *rc);

/* --- rows of results files --- */

struct result_row {
	char *model, *metric; /* blanks stripped */
	double value;         /* NAN: none */
	char *file;           /* its base name */
	uint64_t line;
	size_t merged;                                        /* rows of so many files, 0: one */
	VEC(struct result_cell { char *name, *text; }) cells; /* all other columns */
};
struct result_rows {
	VEC(struct result_row) v;
	struct strvec problems; /* "file:line: words" */
	uint64_t more;          /* rows over ROWS_MAX or ROWS_MAX_BYTES */
	size_t bytes;           /* of JSON that those kept become, at most */
};
#define ROWS_MAX ((size_t)10000)
/* All of them stand in run.json, each with the names of its columns. */
#define ROWS_MAX_BYTES ((size_t)8 << 20)
void result_rows_release(struct result_rows *rr);
/* Adds the rows of one file. 0, or -EINVAL when it is no results file: then problems say why. */
int result_rows_read(const char *path, struct result_rows *rr);
/* Rows of one model and metric become one, by results_merge. */
void result_rows_merge(struct result_rows *rr);

/* --- lines that look like errors --- */

#define SCAN_KEPT 20

struct scan_line {
	char *pattern, *text; /* text: at most 200 bytes, without control bytes */
	uint64_t line;
};
struct scan {
	VEC(struct scan_line) lines; /* the first SCAN_KEPT */
	uint64_t found, benign;
};
void scan_release(struct scan *sc);
/* 0 or -errno; adds to *ret. */
int scan_file(const char *path, const struct results_conf *rc, struct scan *ret, struct err *err);

/* --- the kernel's kills --- */

struct oom_watch {
	char file[512]; /* "" none */
	uint64_t group, machine;
};
/* From now on. root: "" but in tests. */
void oom_begin(struct oom_watch *w, const char *root, int64_t host_pid);
/* Kills since then: in the process's memory cgroup, and on the whole machine. */
void oom_end(const struct oom_watch *w, const char *root, uint64_t *ret_group,
	     uint64_t *ret_machine);

#endif
