/*
 * The parts of the rocprof CSV reader:
 *	read_rocprof_csv.c	the rows
 *	rocprof_header.c	the kind of a file, by its columns
 *	rocprof_group.c		files of one run
 *	rocprof_agents.c	devices
 *	rocprof_tracks.c	tracks and series
 *	rocprof_work.c, rocprof_host.c, rocprof_unlinked.c	rows → spans and samples
 *	rocprof_ahead.c		rows parsed by several threads
 *	rocprof_texts.c		texts by number
 *	rocprof_args.c		a row as JSON
 */
#ifndef ROCPROF_CSV_H
#define ROCPROF_CSV_H

#include "mem_budget.h"
#include "tally.h"
#include "track_limit.h"

#include "profrig/base/csv_scan.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/u64map.h"
#include "profrig/readers/reader.h"
#include "profrig/scan/input.h"
#include "profrig/scan/launch_shape.h"

enum rocprof_kind {
	ROCPROF_NONE,
	ROCPROF_KERNELS,
	ROCPROF_CALLS,
	ROCPROF_COPIES,
	ROCPROF_ALLOCATIONS,
	ROCPROF_SCRATCH,
	ROCPROF_COUNTERS, /* a row for each counter of a dispatch */
	ROCPROF_WIDE,     /* a row for each dispatch, counters in columns: rocprof v1 */
	ROCPROF_PC,
	ROCPROF_STATS,
	ROCPROF_AGENTS,
};

/* Columns that are read; names are compared without case and without '_', '-' and blanks. */
enum rocprof_column {
	COL_KIND,
	COL_GUID,
	COL_AGENT,
	COL_QUEUE,
	COL_STREAM,
	COL_PROCESS,
	COL_THREAD,
	COL_DISPATCH,
	COL_KERNEL,
	COL_CORRELATION,
	COL_START,
	COL_END,
	COL_DOMAIN,
	COL_FUNCTION,
	COL_DIRECTION,
	COL_SOURCE,
	COL_DESTINATION,
	COL_OPERATION,
	COL_ALLOCATED,
	COL_ADDRESS,
	COL_ALLOC_FLAGS,
	COL_COUNTER,
	COL_VALUE,
	COL_SAMPLED,
	COL_INSTRUCTION,
	COL_NAME,
	COL_CALLS,
	COL_TOTAL,
	COL_NODE,
	COL_LOGICAL_NODE,
	COL_AGENT_TYPE,
	COL_LOCATION,
	COL_INDEX,
	COL_NR,
	COL_FACT, /* of a launch: sizes, registers; never a counter */
	COL_OTHER,
};

#define ROCPROF_MAX_COLUMNS 4096
#define ROCPROF_TEXTS 3
/* The texts, by kind. */
enum { TEXT_DOMAIN, TEXT_FUNCTION, TEXT_THREAD };
enum { TEXT_WORK, TEXT_KIND };

struct rocprof_header {
	enum rocprof_kind kind;
	bool v1, timed;
	size_t nr;
	int at[COL_NR];                 /* -1: there is none */
	int text;                       /* the column with free text; -1 */
	int shape[LAUNCH_SHAPE_FIELDS]; /* columns of a kernel's launch; -1 */
	/* columns first to last hold texts that repeat; first is -1 where not */
	struct rocprof_columns {
		int first, last;
	} texts[ROCPROF_TEXTS];
	VEC(struct rocprof_name {
		enum rocprof_column column;
		char *name;
	}) names;
};

void rocprof_header_read(struct rocprof_header *h, const struct csv_record *r);
void rocprof_header_release(struct rocprof_header *h);
/* A required column that is missing; NULL. */
const char *rocprof_header_lacks(const struct rocprof_header *h);
/* Whether a column of that name is a counter, and no known column of a dispatch. */
bool rocprof_names_counter(struct csv_text name);
const char *rocprof_kind_name(const struct rocprof_header *h);

/* A device of the agent list, such as "Agent 4". */
struct rocprof_agent {
	int64_t node, logical; /* logical: -1 unknown */
	bool gpu;
	uint32_t index; /* among those of its type */
	char pci[32];
};

/* The files of one process of one run: DIR/PREFIX_*.csv. */
struct rocprof_group {
	char *dir, *prefix; /* prefix: NULL when the name has none */
	uint64_t key;       /* 0: none */
	int64_t pid;        /* PID_NONE */
	VEC(struct rocprof_agent) agents;
};

/* DIR/PREFIX of a path that has a prefix, else NULL; owned. */
char *rocprof_group_name(const struct probe *p);
void rocprof_group_find(struct rocprof_group *g, const char *path, const struct rocprof_header *h);
void rocprof_group_release(struct rocprof_group *g);
/* Whether the group has a file of this kind, such as "kernel_trace". */
bool rocprof_group_has(const struct rocprof_group *g, const char *kind);

/* Ends of dispatches, by id. */
struct rocprof_ends {
	struct u64map at;
	VEC(int64_t) end_ns;
};
void rocprof_group_ends(const struct rocprof_group *g, struct rocprof_ends *ret);

/* A device by its name in rows. */
struct rocprof_device {
	struct csv_text said; /* the cell, owned */
	char name[32], pci[32];
	bool gpu;
	track_id track;
};

/* A span that neither a thread nor a queue executes (rocprof_unlinked.c). */
struct rocprof_unlinked {
	int64_t start_ns, end_ns;
	int64_t pid;
	const char *what; /* the name of its track */
	str_id name, category, args;
};

#define ROCPROF_NO_TEXT UINT32_MAX

/* A text, and for the pushing thread its string and track: id + 1, 0 not looked up yet. */
struct rocprof_text {
	uint64_t head[2]; /* its first bytes */
	struct csv_text text;
	uint32_t string, track;
};

/* rocprof_texts.c: texts by number, for one thread at a time. */
struct rocprof_texts;
struct rocprof_texts *rocprof_texts_new(void);
/*
 * The number of a text, whose memory must stay, or ROCPROF_NO_TEXT: no room for more. *last: the
 * number of the text before it in the same column, at first 0.
 */
uint32_t rocprof_texts_find(struct rocprof_texts *d, struct csv_text t, uint32_t *last);
struct rocprof_text *rocprof_texts_at(struct rocprof_texts *d, uint32_t i);

/* A row of the file; valid until the next one is asked for. */
struct rocprof_row {
	union {
		struct {
			int64_t start_ns, end_ns, correlation;
		};
		struct csv_text line; /* where it is not whole */
	};
	uint32_t texts[ROCPROF_TEXTS]; /* of the header's texts */
	uint32_t start;                /* offset in its part's text */
	uint32_t ends;                 /* index of its fields in its part's ends */
	bool whole;                    /* it has as many fields as the header */
	bool ended;                    /* its line has an end */
	bool timed, correlated;        /* these numbers are known */
};

/* Rows parsed together. */
struct rocprof_part {
	const char *text;
	struct rocprof_row *rows;
	uint32_t *ends; /* from text */
	size_t nr, ends_nr;
	const char *end; /* start of the next row */
	struct rocprof_texts *texts;
};

/* rocprof_ahead.c: rows from an offset on, parsed by several threads. */
struct rocprof_ahead;
struct rocprof_parser; /* state of one thread */
struct rocprof_ahead *rocprof_ahead_new(const struct input_map *map, size_t from,
					const struct rocprof_header *head);
/* After the last rocprof_ahead_help has returned. */
void rocprof_ahead_free(struct rocprof_ahead *a);
struct rocprof_parser *rocprof_parser_new(const struct rocprof_ahead *a);
void rocprof_parser_free(struct rocprof_parser *p);
/* For the pushing thread; shared with the rows that it parses. */
struct rocprof_texts *rocprof_parser_texts(const struct rocprof_parser *p);
/* Parses until the end of the file or rocprof_ahead_quit. */
void rocprof_ahead_help(struct rocprof_ahead *a, struct rocprof_parser *p);
void rocprof_ahead_quit(struct rocprof_ahead *a);
/* The next rows of the file, at least one; NULL: there are no more. */
const struct rocprof_part *rocprof_ahead_next(struct rocprof_ahead *a, struct rocprof_parser *p);

#define ROCPROF_SEEN 64

struct rocprof_csv {
	const char *path;
	const struct read_opts *opts;
	struct sink *sink;
	struct input_map map;
	struct csv_scan scan; /* of the header line */
	struct rocprof_header head;
	struct rocprof_group group;
	const struct rocprof_part *part;
	const struct rocprof_row *row; /* the current row, of part */
	bool glued;                    /* its fields are in cells */
	struct csv_text *cells;
	struct strbuf text, args;
	struct launch_shapes shapes;
	VEC(struct rocprof_device) devices;
	size_t device; /* the last one */
	struct u64map queues, threads, processes, series, dispatches, addresses;
	struct rocprof_queue {
		size_t device; /* index + 1; 0: none */
		int64_t pid, tid;
		track_id track;
	} queues_seen[ROCPROF_SEEN];
	struct rocprof_texts *texts;
	uint32_t last_name, last_category; /* of texts */
	struct csv_text guid;
	const struct rocprof_text *domain; /* the last row's; NULL */
	str_id domain_id;
	uint64_t guid_salt; /* 0: rows have no guid */
	bool marker, range;
	VEC(struct rocprof_unlinked) unlinked;
	VEC(struct rocprof_total {
		str_id name;
		char *text;
		double sum;
	}) totals;          /* per counter */
	VEC(int64_t) sizes; /* of allocations that are not freed */
	size_t total;       /* the last one */
	track_id pc_track;
	struct track_limit tracks;
	struct mem_budget memory;
	struct {
		uint64_t rows, samples, ids;
	} paid;        /* taken off it so far */
	bool full;     /* it is used up */
	str_id newest; /* string */
	bool dispatches_elsewhere;
	struct rocprof_ends dispatch_ends; /* for a file without times */
	uint64_t rows, repaired, unfreed;
	int64_t allocations, frees, allocated_bytes;
	int64_t calls, total_ns; /* of summaries */
	struct tally bad_rows, bad_numbers, no_time, many, crowd;
	const char *cut; /* the row in which the text ends */
};

static inline bool rocprof_has(const struct rocprof_csv *rc, enum rocprof_column c)
{
	return rc->head.at[c] >= 0;
}

static inline const char *rocprof_row_start(const struct rocprof_csv *rc)
{
	return rc->part->text + rc->row->start;
}

static inline struct csv_text rocprof_field(const struct rocprof_csv *rc, size_t i)
{
	const struct rocprof_part *p = rc->part;

	if (rc->glued)
		return rc->cells[i];
	return csv_field(&(struct csv_record){ .start = p->text + rc->row->start,
					       .origin = p->text,
					       .ends = p->ends + rc->row->ends,
					       .nr = rc->head.nr },
			 i);
}

/* An empty text where the file has no such column. */
static inline struct csv_text rocprof_cell(const struct rocprof_csv *rc, enum rocprof_column c)
{
	int at = rc->head.at[c];

	if (at < 0)
		return (struct csv_text){ "", 0 };
	return rocprof_field(rc, (size_t)at);
}

void rocprof_fault(struct rocprof_csv *rc, struct tally *f);
/* false: an empty cell, or no number, which is counted. */
bool rocprof_number(struct rocprof_csv *rc, enum rocprof_column c, int64_t *ret);
/* Start and end. false: no usable ones, which is counted; so is a start of 0, which no time since
 * boot is and which tracers write for an unknown one. */
bool rocprof_times(struct rocprof_csv *rc, int64_t *start_ns, int64_t *end_ns);
str_id rocprof_string(struct rocprof_csv *rc, struct csv_text t);
/* The same for a text that mostly equals that of the row before. */
str_id rocprof_category(struct rocprof_csv *rc, struct csv_text t);
/* The i-th of the header's texts in this row; NULL where it has no number. */
struct rocprof_text *rocprof_text(struct rocprof_csv *rc, size_t i);
/* The string of the i-th text, which is column c. */
str_id rocprof_column_string(struct rocprof_csv *rc, size_t i, enum rocprof_column c);
uint64_t rocprof_correlation(struct rocprof_csv *rc);
/* The row without name and times as a JSON object; STR_NONE unless arguments are kept. */
str_id rocprof_args(struct rocprof_csv *rc);
/* The same of a kernel; where only shapes are kept, its launch. */
str_id rocprof_kernel_args(struct rocprof_csv *rc);

/* rocprof_agents.c */
void rocprof_agents_read(struct rocprof_group *g, const char *path);
size_t rocprof_device(struct rocprof_csv *rc, struct csv_text said, bool gpu);

/* rocprof_tracks.c */
int64_t rocprof_pid(struct rocprof_csv *rc);
track_id rocprof_process(struct rocprof_csv *rc, int64_t pid);
track_id rocprof_thread(struct rocprof_csv *rc);
track_id rocprof_queue(struct rocprof_csv *rc, size_t device);
/* A counter's value of a dispatch. */
void rocprof_sample(struct rocprof_csv *rc, size_t device, track_id queue, int64_t t_ns,
		    struct csv_text counter, double value);
/* Adds to a counter's sum: all that a file without times gives. */
void rocprof_total(struct rocprof_csv *rc, struct csv_text counter, double value);

/* One row each. */
void rocprof_kernel(struct rocprof_csv *rc);
void rocprof_counter(struct rocprof_csv *rc);
void rocprof_wide(struct rocprof_csv *rc);
void rocprof_copy(struct rocprof_csv *rc);
void rocprof_scratch(struct rocprof_csv *rc);
void rocprof_call(struct rocprof_csv *rc);
void rocprof_allocation(struct rocprof_csv *rc);
void rocprof_pc(struct rocprof_csv *rc);

void rocprof_unlinked_push(struct rocprof_csv *rc);

#endif
