/*
 * db_scan: what the readers of databases that hold whole traces (Nsight Systems, rocpd, RPD,
 * rocprof v1) do alike: walk tables that may be absent, lack columns or end in damage, put
 * arguments together, and give ranges that overlap freely lanes of their own.
 *
 * One scan belongs to one input. A table that is absent is no matter; one without a column it needs
 * is W_BAD_EVENT and skipped; damaged pages end its rows with W_TRUNCATED and make the input
 * partial (db_scan_result).
 */
#ifndef ANALYSIS_DB_SCAN_H
#define ANALYSIS_DB_SCAN_H

#include "sqlite_db.h"
#include "tally.h"
#include "track_limit.h"

#include "profrig/base/strbuf.h"
#include "profrig/base/u64map.h"

/* More than any copy, or all of them together, can have. */
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
	struct u64map names; /* of its tables; filled when first asked */
	const char *table;   /* that is being read */
	str_id category;     /* of its spans */
	bool keep_args;
	/*
	 * RPD and rocprof v1: a table is there when it is a view too, one without a column that it
	 * needs is damaged, and rows that are wrong are counted over all tables.
	 */
	bool old_tools;
	bool uptime;           /* times are of a clock that runs since boot: 0 is none of them */
	struct tally bad_rows; /* of that table, or of all */
	uint64_t damaged;      /* tables whose rows could not be read to their end */
	struct err damage;     /* of the first of them */
	struct track_limit tracks;
	struct strbuf args; /* JSON of one span's arguments */
	VEC(struct db_range) ranges;
};

void db_scan_release(struct db_scan *sc);

/*
 * A table and what its reader does with a row. columns: as in sqlite_rows_table. take gets what
 * db_scan_table was given; true: the row counts for the fact.
 */
typedef bool db_take_fn(void *reader, struct sqlite_rows *q);
struct db_table {
	const char *name, *columns;
	db_take_fn *take;
	const char *fact;     /* so many rows counted; NULL: not told */
	const char *category; /* db_scan.category while it is read; NULL none */
	bool required;        /* that it is absent is damage */
	const char *shown;    /* its name in what is said of a row; NULL: name */
};

/* Whether the file has a table of this name, and no view. */
bool db_scan_has(struct db_scan *sc, const char *table);
/* Whether it has one that neither db_scan_has nor db_scan_table was asked for. */
bool db_scan_unasked(struct db_scan *sc, const char *table);
/* Reads a table, or several in turn. False: it is absent or cannot be read, and has no fact. */
bool db_scan_table(struct db_scan *sc, const struct db_table *t, void *reader);
void db_scan_tables(struct db_scan *sc, const struct db_table *t, size_t n, void *reader);
/* The rest of what sc->table has is missing. */
void db_scan_damage(struct db_scan *sc, const struct err *why);
/* Adds a table of strings, as sqlite_strings_load does. An absent one is no matter. */
void db_scan_strings(struct db_scan *sc, struct sqlite_strings *st, const char *table,
		     const char *columns);
/* The row in hand is left out, or is read without what is missing. */
void db_scan_bad(struct db_scan *sc, const struct sqlite_rows *q, const char *what);
/* Rows of a table without reading them: its largest row number; 0 when it has none. */
int64_t db_scan_rows(struct db_scan *sc, const char *table);
/*
 * Start and end of the row in hand. False: no start, so it is left out. Without an end it has no
 * length.
 */
bool db_scan_times(struct db_scan *sc, struct sqlite_rows *q, int start, int end,
		   struct span_def *d);
/*
 * For work on a device: tracers write 0, 0 where the device gave no times. Such a row is left out.
 */
bool db_scan_work_times(struct db_scan *sc, struct sqlite_rows *q, int start, int end,
			struct span_def *d);
/* After the last table: warns of rows and tracks that were too odd or too many. */
void db_scan_warn(struct db_scan *sc);
/*
 * The same, and: warns of what could not be read and ends the input. What read() returns:
 * 0, READ_PARTIAL, or < 0 when nothing could be read and err says why.
 */
int db_scan_result(struct db_scan *sc, struct err *err);

/* The sink's track, for one that was not asked for before. */
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
/* For a value of any other kind: adds a key; the value is to be added to what is returned. */
struct strbuf *db_args_key(struct db_scan *sc, const char *key);
str_id db_args_end(struct db_scan *sc);       /* STR_NONE when there are none */
const char *db_args_text(struct db_scan *sc); /* the object, valid until the next begins */

/* ---- ranges that belong to a process and overlap freely ---- */

void db_range_add(struct db_scan *sc, track_id process, const struct span_def *d);
/*
 * Pushes all as annotations. Those of one process and category share lanes, each a track of its
 * own, so that none overlaps another of its lane.
 */
void db_ranges_push(struct db_scan *sc);

#endif
