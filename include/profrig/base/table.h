/*
 * table: named, typed columns with rows; what analyses return, what writers print, what `list`
 * shows.
 *
 * Cells of a column are all of one type. Strings are copied into the table. A row is filled left to
 * right:
 *
 *	struct table *t = table_new("functions");
 *	table_col(t, "name", TABLE_STR, NULL); table_col(t, "inclusive_ns", TABLE_I64, "ns");
 *	table_str(t, "main"); table_i64(t, 42); table_row(t);		asserts that all columns got
 *									a cell
 *
 * TABLE_F64 holds NaN for "unknown" (an empty CSV field, JSON null). Memory: 8 bytes a cell + the
 * distinct strings.
 */
#ifndef PROFRIG_TABLE_H
#define PROFRIG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum table_type { TABLE_STR, TABLE_I64, TABLE_U64, TABLE_F64 };

struct table;

struct table_column {
	const char *name;
	const char *unit; /* for people; may be NULL */
	enum table_type type;
};

struct table *table_new(const char *name);
void table_free(struct table *t);
void table_freep(struct table **t);
void table_about(struct table *t, const char *text); /* one line: what a row is */
void table_col(struct table *t, const char *name, enum table_type type, const char *unit);
void table_str(struct table *t, const char *s);
void table_i64(struct table *t, int64_t v);
void table_u64(struct table *t, uint64_t v);
void table_f64(struct table *t, double v);
void table_row(struct table *t);
/* Of texts alone: a table by its columns, and a whole row; a cell NULL is empty. */
#define table_of_texts(name, ...) table_text_cols((name), TABLE_TEXTS(__VA_ARGS__))
#define table_texts(t, ...) table_text_row((t), TABLE_TEXTS(__VA_ARGS__))
#define TABLE_TEXTS(...) \
	(const char *const[]){ __VA_ARGS__ }, \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)
struct table *table_text_cols(const char *name, const char *const *columns, size_t n);
void table_text_row(struct table *t, const char *const *cells, size_t n);

const char *table_name(const struct table *t);
const char *table_about_text(const struct table *t);
size_t table_rows(const struct table *t);
size_t table_cols(const struct table *t);
const struct table_column *table_column(const struct table *t, size_t col);
int table_find_col(const struct table *t, const char *name); /* -1 when absent */
const char *table_get_str(const struct table *t, size_t row, size_t col);
int64_t table_get_i64(const struct table *t, size_t row, size_t col);
uint64_t table_get_u64(const struct table *t, size_t row, size_t col);
/* any numeric column, converted */
double table_get_f64(const struct table *t, size_t row, size_t col);

/*
 * Reorders rows. keys: column indexes, a negative value ~col means descending; stable; NaN comes
 * last both ways.
 */
void table_sort(struct table *t, const int *keys, size_t n);

void table_write_csv(const struct table *t, FILE *f); /* header row first */
/*
 * For a terminal: aligned, at most max_rows (0 = all) and width columns (0 = no limit; long strings
 * go on in the next line).
 */
void table_write_text(const struct table *t, FILE *f, size_t max_rows, size_t width);

#endif
