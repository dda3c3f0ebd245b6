/*
 * The parts of the reader of Nsight Compute's CSV:
 *	read_ncu_csv.c	the file: header, rows, kernels
 *	ncu_header.c	which form a file has, by its columns
 *	ncu_number.c	numbers with separators, and units
 *	ncu_push.c	kernels → spans, metrics → samples
 */
#ifndef NCU_CSV_H
#define NCU_CSV_H

#include "mem_budget.h"
#include "tally.h"
#include "track_limit.h"

#include "profrig/base/csv_scan.h"
#include "profrig/base/intern.h"
#include "profrig/base/u64map.h"
#include "profrig/readers/reader.h"
#include "profrig/scan/input.h"
#include "profrig/scan/launch_shape.h"

/* ---- ncu_number.c ---- */

/*
 * How a file writes numbers. Nsight Compute formats them by the locale of its user: "1,234.5",
 * "1.234,5", "1 234,5". Each number that can be read one way only is a vote.
 */
struct ncu_votes {
	uint64_t point, comma; /* for the decimal separator */
};

void ncu_vote(struct ncu_votes *v, struct csv_text t);
/* '.' unless more votes are for ','. */
char ncu_decimal(const struct ncu_votes *v);

enum ncu_value { NCU_NUMBER, NCU_ABSENT, NCU_TEXT, NCU_BAD };

/* decimal: of ncu_decimal. *ret is set for NCU_NUMBER, and finite. */
enum ncu_value ncu_number(struct csv_text t, char decimal, double *ret);

/*
 * A unit as a base unit and a factor: "Kbyte" → "byte" 1000, "usecond" → "ns" 1000, "Ghz" → "hz"
 * 1e9, "Gbyte/second" → "byte/s" 1e9, "cycle/nsecond" → "cycle/s" 1e9. Prefixes are decimal. Other
 * units stay as they are. base holds 64.
 */
void ncu_unit(struct csv_text t, char *base, double *ret_factor);

/* ---- ncu_header.c ---- */

enum ncu_form {
	NCU_NONE,
	NCU_WIDE,    /* --page raw: a row for each kernel, a row of units below the header */
	NCU_LONG,    /* --page details: a row for each metric of a kernel */
	NCU_SUMMARY, /* --print-summary: no single kernels */
};

enum ncu_column {
	NCU_ID,
	NCU_PID,
	NCU_PROCESS,
	NCU_HOST,
	NCU_KERNEL,
	NCU_STREAM,
	NCU_BLOCK,
	NCU_GRID,
	NCU_DEVICE,
	NCU_CC,
	NCU_SECTION,
	NCU_METRIC,
	NCU_UNIT,
	NCU_VALUE,
	NCU_COLUMNS
};

#define NCU_MAX_COLUMNS 8192

struct ncu_header {
	enum ncu_form form;
	int at[NCU_COLUMNS]; /* -1: there is none */
	size_t nr;
	bool *metric; /* by column: it is a metric; wide */
};

/* NCU_NONE: it is no header of Nsight Compute. */
void ncu_header_read(struct ncu_header *h, const struct csv_record *r);
void ncu_header_release(struct ncu_header *h);

/* ---- the reader ---- */

/* A metric; of the long form one of its section, unless the name is the metric's own. */
struct ncu_metric {
	str_id name, section; /* of ncu.names; section: STR_NONE in the wide form */
	const char *base;     /* unit, of ncu.names */
	double factor;        /* wide: of the column's unit */
	bool several;         /* sections have the name */
	bool property;        /* of the device */
	bool of_kernel;       /* it may tell how long the kernel is, or how it was launched */
	uint32_t last;        /* long: kernel that had a value of it last */
};

struct ncu_kernel {
	int64_t dur_ns, end_ns; /* dur_ns: FACT_ABSENT */
	int64_t registers, shared_bytes;
	uint32_t queue; /* in ncu.queues, once it is pushed */
	bool pushed;
};

struct ncu_queue {
	track_id track;
	int64_t device;
};

enum ncu_pass { NCU_SURVEY, NCU_LENGTHS, NCU_PUSH };

struct ncu {
	const char *path;
	const struct read_opts *opts;
	struct sink *sink;
	struct input_map map;
	struct csv_scan scan;
	struct ncu_header head;
	size_t rows_from; /* offset behind the header */
	bool quoted;      /* the header is in quotes, and so are all rows */
	enum ncu_pass pass;
	struct intern *names; /* of metrics and sections, units */
	str_id newest;        /* of names, + 1 */
	struct ncu_votes votes;
	char decimal;
	VEC(struct ncu_kernel) kernels;
	VEC(struct ncu_metric) metrics;
	VEC(struct ncu_queue) queues;
	VEC(uint32_t) column; /* by column: its metric */
	struct u64map kernel_at, metric_at, section_of, queue_at, series_at, devices;
	struct launch_shapes shapes;
	struct strbuf text;
	str_id newest_text; /* of the sink */
	struct track_limit tracks;
	struct mem_budget memory;
	uint64_t rows, values, texts, absent, repeated, other_lines, untimed;
	struct tally bad_rows, bad_numbers, many, crowd;
	const char *cut; /* the row in which the text ends */
};

/* A cell of a row; empty where the file has no such column. */
struct csv_text ncu_cell(const struct ncu *nc, const struct csv_record *r, enum ncu_column c);
/* Its number; -1: none. */
int64_t ncu_cell_number(const struct ncu *nc, const struct csv_record *r, enum ncu_column c);
#define NCU_NO_KERNEL UINT32_MAX

/* ---- ncu_push.c ---- */

/* Gives each kernel its place in time, one behind the other. */
void ncu_place(struct ncu *nc);
/* Pushes the kernel of a row, once. */
void ncu_push_kernel(struct ncu *nc, struct ncu_kernel *k, const struct csv_record *r);
/* A value in base units of a kernel that is pushed. */
void ncu_push_value(struct ncu *nc, const struct ncu_kernel *k, uint32_t metric, double value,
		    const struct csv_record *r);
/* A property of the row's device. */
void ncu_push_property(struct ncu *nc, const struct csv_record *r, const struct ncu_metric *m,
		       struct csv_text t);

#endif
