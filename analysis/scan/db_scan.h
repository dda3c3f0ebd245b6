/*
 * db_scan: shared by the readers of databases that hold whole traces (Nsight Systems, rocpd, RPD,
 * rocprof v1): walks tables that may be absent, lack columns or end in damage, builds arguments,
 * and puts ranges that overlap freely on tracks of their own.
 *
 * One scan belongs to one input. An absent table is no problem; one that lacks a required column is
 * skipped with W_BAD_EVENT; damaged pages end its rows with W_TRUNCATED and make the input partial
 * (db_scan_result).
 */
#ifndef ANALYSIS_DB_SCAN_H
#define ANALYSIS_DB_SCAN_H

#include "sqlite_db.h"
#include "tally.h"
#include "track_limit.h"

#include "profrig/base/strbuf.h"
#include "profrig/base/u64map.h"
#include "profrig/scan/launch_shape.h"

/* Above the size of any copy, and of all together. */
#define MAX_BYTES (INT64_C(1) << 60)

struct db_range {
	track_id process;
	str_id name, category, args;
	int64_t start_ns, end_ns;
	uint32_t order;
};

struct db_scan {
	struct sqlite_db *db;
	struct sink *sink;
	struct u64map names;                /* of its tables; filled at the first look-up */
	const char *table;                  /* the current one */
	str_id category;                    /* of its spans */
	bool keep_args, keep_shapes, facts; /* read_opts; db_scan_opts sets them */
	struct launch_shapes shapes;
	/*
	 * RPD and rocprof v1: a view counts as a table, a table that lacks a required column is
	 * damaged, and bad rows are counted over all tables.
	 */
	bool old_tools;
	bool uptime;           /* times are since boot, so 0 is no time */
	struct tally bad_rows; /* of the current table, or of all */
	uint64_t damaged;      /* tables that could not be read to their end */
	struct err damage;     /* of the first of them */
	struct track_limit tracks;
	struct strbuf args; /* JSON of one span's arguments */
	VEC(struct db_range) ranges;
};

void db_scan_release(struct db_scan *sc);
struct read_opts;
/* What is kept; no facts where only counts are wanted. sink is set. */
void db_scan_opts(struct db_scan *sc, const struct read_opts *o);

/*
 * A table and the function for its rows. columns: as in sqlite_rows_table. take gets the reader
 * passed to db_scan_table; true: the row counts for the fact.
 */
typedef bool db_take_fn(void *reader, struct sqlite_rows *q);
struct db_table {
	const char *name, *columns;
	db_take_fn *take;
	const char *fact;     /* fact of the input with the number of rows; NULL: none */
	const char *category; /* db_scan.category while it is read; NULL none */
	bool required;        /* its absence is damage */
	const char *shown;    /* its name in messages; NULL: name */
};

/* Whether the file has a table of this name, and no view. */
bool db_scan_has(struct db_scan *sc, const char *table);
/* Whether it has this table, and neither db_scan_has nor db_scan_table has looked for it yet. */
bool db_scan_unasked(struct db_scan *sc, const char *table);
/* Reads a table, or several in turn. False: it is absent or cannot be read, and has no fact. */
bool db_scan_table(struct db_scan *sc, const struct db_table *t, void *reader);
void db_scan_tables(struct db_scan *sc, const struct db_table *t, size_t n, void *reader);
/* The rest of sc->table cannot be read. */
void db_scan_damage(struct db_scan *sc, const struct err *why);
/* Adds a table of strings, as sqlite_strings_load does. An absent one is no problem. */
void db_scan_strings(struct db_scan *sc, struct sqlite_strings *st, const char *table,
		     const char *columns);
/* Counts the current row as bad. */
void db_scan_bad(struct db_scan *sc, const struct sqlite_rows *q, const char *what);
/* Estimate of a table's rows without reading them: its largest row number; 0 when it has none. */
int64_t db_scan_rows(struct db_scan *sc, const char *table);
/*
 * Start and end of the current row. False: no start, so the row is skipped. Without an end the span
 * has no length.
 */
bool db_scan_times(struct db_scan *sc, struct sqlite_rows *q, int start, int end,
		   struct span_def *d);
/*
 * For work on a device: tracers write 0, 0 where the device gave no times. Such a row is skipped.
 */
bool db_scan_work_times(struct db_scan *sc, struct sqlite_rows *q, int start, int end,
			struct span_def *d);
/* After the last table: warns of bad rows and of tracks beyond the limit. */
void db_scan_warn(struct db_scan *sc);
/*
 * db_scan_warn, warns of damage and ends the input. Returns what the reader's read returns: 0,
 * READ_PARTIAL, or < 0 when nothing could be read.
 */
int db_scan_result(struct db_scan *sc, struct err *err);

/* Makes a new track (track_limit.h). */
track_id db_scan_track(struct db_scan *sc, const struct track_def *d);
/* 64-bit name of a tuple; never 0. */
uint64_t db_hash(uint64_t a, uint64_t b, uint64_t c);

/* ---- arguments: a JSON object, only where they are kept ---- */

void db_args_begin(struct db_scan *sc);
void db_args_i64(struct db_scan *sc, const char *key, int64_t v);
void db_args_str(struct db_scan *sc, const char *key, const char *s, size_t n);
/* A column under its key; NULL is left out. */
void db_args_column(struct db_scan *sc, const char *key, struct sqlite_rows *q, int col);
/* Three columns as [x, y, z], left out when the first is NULL. */
void db_args_triple(struct db_scan *sc, const char *key, struct sqlite_rows *q, int col);
/* Adds a key; the caller adds the value to the returned buffer. */
struct strbuf *db_args_key(struct db_scan *sc, const char *key);
str_id db_args_end(struct db_scan *sc); /* STR_NONE when there are none */
/* The launch of three columns each, read where shapes are kept; STR_NONE elsewhere. */
str_id db_args_shape(struct db_scan *sc, struct sqlite_rows *q, int grid, int block);
const char *db_args_text(struct db_scan *sc); /* the object, valid until the next begins */

/* ---- facts (model/facts.h), only where sc->facts is set ---- */

/* A number of a column; FACT_ABSENT for NULL. */
int64_t db_fact(struct sqlite_rows *q, int col);
/* Three columns. */
void db_facts_triple(struct sqlite_rows *q, int col, int64_t to[3]);
/* Facts of the span that was pushed. */
void db_facts_put(struct db_scan *sc, span_id span, const struct span_facts *f);

/* ---- ranges that belong to a process and overlap freely ---- */

void db_range_add(struct db_scan *sc, track_id process, const struct span_def *d);
/*
 * Pushes all as annotations. Ranges of one process and category are spread over as many tracks as
 * are needed so that none overlap on a track.
 */
void db_ranges_push(struct db_scan *sc);

#endif
