/*
 * results_priv: the parts of the results of a run: values in the output of its workload, rows of
 * its results file, lines that look like errors. Others see run_results.h.
 *
 *	run_metrics.c	the values in one output file, and which of them is reported
 *	run_results.c	all of it for one run → metrics and warnings of run.json
 *	run_rows.c	results.csv
 *	run_scan.c	lines that look like errors
 */
#ifndef RESULTS_PRIV_H
#define RESULTS_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/regex.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"
#include "profrig/config/results.h"

/* More are counted and not kept, but for the last one. */
#define VALUES_MAX ((size_t)1000000)

struct value {
	double value; /* NAN: the text is no number */
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
	double value;   /* NAN: none, see why */
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
	struct strvec problems; /* "file:line: text" */
	uint64_t more;          /* rows over ROWS_MAX or ROWS_MAX_BYTES */
	size_t bytes;           /* of JSON that those kept become, at most */
};
#define ROWS_MAX ((size_t)10000)
/* All of them stand in run.json, each with the names of its columns. */
#define ROWS_MAX_BYTES ((size_t)8 << 20)
void result_rows_release(struct result_rows *rr);
/* Adds the rows of one file. 0, or -EINVAL with problems when it is no results file. */
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

#endif
