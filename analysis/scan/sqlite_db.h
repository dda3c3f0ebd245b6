/*
 * sqlite_db: SQLite files of other tools, read as hostile input; shared by the readers of SQLite
 * formats.
 *
 * Life cycle:
 *	1. sqlite_db_open(path, &db, err)
 *	2. sqlite_db_kind, sqlite_db_has_column: tables and columns of this version of the format
 *	3. sqlite_rows_table or sqlite_rows_query, then while (sqlite_rows_next() > 0) columns,
 *	   then sqlite_rows_close, which warns of odd values
 *	4. sqlite_db_close
 *
 * Nothing is written to or beside the file. It is opened read-only and immutable, without a lock,
 * so a file that its writer has locked is read too. With a write-ahead log or a rollback journal
 * beside it that is not empty ("-wal", "-journal"), the file alone is not the committed state: both
 * are copied to a private directory (TMPDIR, else /tmp; mode 0700) and SQLite recovers the copy.
 * The names of the copy are removed once it is open, so nothing remains, however the program ends.
 * A gzip or zstd file is inflated into memory and read there, as is one without a name (a
 * descriptor in /proc).
 *
 * A hostile file (endless views, computed columns, damaged pages) does no harm: no extensions, no
 * triggers, no writing functions, an authorizer that allows reading only, no recursive queries,
 * values no longer than the file, and a bound on the steps of each query that grows with the file's
 * size.
 *
 * Any column of SQLite can hold a value of any type. The column functions convert plausible types
 * (a whole number as REAL or as TEXT), return false for NULL and an empty text, which mean
 * "unknown", and false for everything else, which is counted and warned of as W_BAD_NUMBER with
 * table, column and row.
 *
 * A file that is shorter than its header states can be opened; a query that needs a missing page
 * fails when it reaches it.
 *
 * Errors: -errno, "path: SQLite's message". -EBADMSG damaged or no database, -ELOOP the bound on
 * steps, -EFBIG a value larger than possible, -EACCES anything but reading, -ENOENT a missing table
 * or column. For one thread at a time.
 */
#ifndef ANALYSIS_SQLITE_DB_H
#define ANALYSIS_SQLITE_DB_H

#include "tally.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/base/intern.h"
#include "profrig/base/strvec.h"
#include "profrig/base/u64map.h"
#include "profrig/base/vec.h"
#include "profrig/readers/reader.h"
#include "profrig/scan/input.h"

struct sqlite_db {
	sqlite3 *handle;
	char *path;           /* as the user named it */
	struct input_map map; /* of a compressed file, or one without a name */
	unsigned char *image; /* a copy of it */
	uint64_t bytes;       /* of the file */
	bool copied;          /* a private copy is read */
	bool changing;        /* the file changed while it was copied: a program writes it */
	char damage[200];     /* of the file as a whole, "" none */
	uint64_t page_bytes;
	uint64_t steps, max_steps; /* of the open queries */
};

/* The size that a database's first bytes state; 0 when they state none, or for another format. */
uint64_t sqlite_stated_bytes(const unsigned char *head, size_t n);
int sqlite_db_open(const char *path, struct sqlite_db **ret, struct err *err);
void sqlite_db_close(struct sqlite_db *db); /* NULL is fine */

/*
 * Adds facts and warnings of the file to the current input; a cut file makes it partial, and its
 * tables are read as far as they are there.
 */
void sqlite_db_warn(const struct sqlite_db *db, struct sink *s);
/*
 * The return value of a reader, before input_end: 0; READ_PARTIAL when the input is partial or
 * `lost` is an error (code not 0); that error when nothing was read as well.
 */
int sqlite_db_result(const struct sqlite_db *db, struct sink *s, const struct err *lost,
		     struct err *err);

enum sqlite_kind { SQLITE_KIND_NONE, SQLITE_KIND_TABLE, SQLITE_KIND_VIEW };

/* Names are compared as SQL does, without regard to the case of ASCII letters. */
enum sqlite_kind sqlite_db_kind(struct sqlite_db *db, const char *name);
static inline bool sqlite_db_has(struct sqlite_db *db, const char *name)
{
	return sqlite_db_kind(db, name) != SQLITE_KIND_NONE;
}
bool sqlite_db_has_column(struct sqlite_db *db, const char *table, const char *column);
/* Tables and views whose name begins with prefix, sorted by bytes. */
int sqlite_db_list(struct sqlite_db *db, const char *prefix, struct strvec *out, struct err *err);

/* ---- rows ---- */

struct sqlite_rows {
	struct sqlite_db *db;
	sqlite3_stmt *stmt;
	char *what;       /* "table 'rocpd_op'" */
	uint64_t rows;    /* so far, with the current one */
	struct tally odd; /* values of an implausible type */
};

/*
 * All rows of a table or view. columns: names separated by blanks, numbered in this order. "a|b" is
 * the first of the two that the table has; a name that ends in '?' may be missing and reads as NULL
 * in every row ("id arch_vgpr|vgpr? name"). -ENOENT: no such table, or it lacks a column, which err
 * names.
 */
int sqlite_rows_table(struct sqlite_db *db, const char *table, const char *columns,
		      struct sqlite_rows *ret, struct err *err);
/* Any SELECT, in SQLite's printf: %w inside "…" quotes a name, %Q is a text. */
int sqlite_rows_query(struct sqlite_db *db, const char *what, struct sqlite_rows *ret,
		      struct err *err, const char *fmt, ...);
/* 1: a row is current; 0: the end; < 0: the rest cannot be read. */
int sqlite_rows_next(struct sqlite_rows *q, struct err *err);
/* Warns of odd values (s may be NULL) and releases; an all-zero struct is fine. */
void sqlite_rows_close(struct sqlite_rows *q, struct sink *s);
void sqlite_rows_release(struct sqlite_rows *q); /* no warnings; a CLEANUP function */

/* A value of another type than INTEGER. */
bool sqlite_rows_i64_other(struct sqlite_rows *q, int col, int64_t *ret);

/* *ret is 0 when false. */
static inline bool sqlite_rows_i64(struct sqlite_rows *q, int col, int64_t *ret)
{
	/* half the calls of sqlite3_column_type and _int64; safe with one thread per handle */
	sqlite3_value *v = sqlite3_column_value(q->stmt, col);

	if (__builtin_expect(sqlite3_value_type(v) != SQLITE_INTEGER, 0))
		return sqlite_rows_i64_other(q, col, ret);
	*ret = sqlite3_value_int64(v);
	return true;
}

static inline int64_t sqlite_rows_i64_or(struct sqlite_rows *q, int col, int64_t unknown)
{
	int64_t v;

	return sqlite_rows_i64(q, col, &v) ? v : unknown;
}

/* NaN when false. */
bool sqlite_rows_f64(struct sqlite_rows *q, int col, double *ret);
/*
 * The bytes of a text (or blob), numbers as text; NULL for NULL. Valid until the next row; followed
 * by a NUL that *ret_n does not count; NULs inside are possible.
 */
const char *sqlite_rows_text(struct sqlite_rows *q, int col, size_t *ret_n);
static inline bool sqlite_rows_null(struct sqlite_rows *q, int col)
{
	return sqlite3_column_type(q->stmt, col) == SQLITE_NULL;
}

/* ---- tables that others refer to ---- */

/*
 * Map of row ids (64 bits) to numbers below 2^32 - 1; an array for ids dense from 0, as most are.
 */
struct sqlite_ids {
	VEC(uint32_t) low;
	struct u64map high;
	size_t nr;
};
#define SQLITE_ID_NONE U64MAP_NONE

/* false: the id has a number already, which is kept. */
bool sqlite_ids_add(struct sqlite_ids *ids, int64_t id, uint32_t number);
static inline uint32_t sqlite_ids_get(const struct sqlite_ids *ids, int64_t id)
{
	if ((uint64_t)id < ids->low.nr && ids->low.v[id] != SQLITE_ID_NONE)
		return ids->low.v[id];
	return u64map_get(&ids->high, (uint64_t)id);
}
void sqlite_ids_release(struct sqlite_ids *ids);

/*
 * A table of (id, text) in memory, each text once: a file that several processes wrote holds it
 * once for each. A text becomes a string of the sink at its first use.
 */
struct sqlite_strings {
	struct sink *sink;
	struct intern *texts;
	struct sqlite_ids ids;
	VEC(str_id) in_sink; /* by id of texts; STR_NONE not yet */
	uint64_t duplicate_ids;
};

void sqlite_strings_init(struct sqlite_strings *st, struct sink *s);
void sqlite_strings_release(struct sqlite_strings *st);
/*
 * Adds all rows of a table; columns names its id and its text. The first of equal ids counts
 * (duplicate_ids). After an error the rows read so far stay.
 */
int sqlite_strings_load(struct sqlite_strings *st, struct sqlite_db *db, const char *table,
			const char *columns, struct err *err);
/* The text of an id; NULL: unknown id. */
const char *sqlite_strings_text(const struct sqlite_strings *st, int64_t id);
/* The same as an id of the sink; STR_NONE: unknown id. */
str_id sqlite_strings_id(struct sqlite_strings *st, int64_t id);

/* ---- probing ---- */

/*
 * Whether the probed file is an SQLite database with all of these tables or views
 * (NULL-terminated). A name that ends in '*' is a prefix. The names of the last file are cached, as
 * every reader of the registry probes.
 */
bool sqlite_probe_has(const struct probe *p, const char *const *names);

#endif
