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
 *
 * Where the columns are known beforehand, one list states them. A row is a struct with a member for
 * each column, in order:
 *
 *	#define BUSY(X) X(STR, device) X(I64, spans) X(I64, union_ns) X(F64, busy)
 *	TABLE_FORM(busy, BUSY, "one row per device: how much of the time something ran on it");
 *
 *	struct table *t = table_make(&busy_form);
 *	table_add(t, &(struct busy_row){ "gpu0", 3, 42, 0.5 });
 *
 * The unit of such a column follows from the end of its name: _ns, _s, _per_s, _j, _js, _w, _degc,
 * _hz.
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

struct table_field {
	const char *name;
	enum table_type type;
};
struct table_form {
	const char *name, *about;
	const struct table_field *fields;
	size_t nr;
};
/* clang-format off */
#define TABLE_CELL_STR const char *
#define TABLE_CELL_I64 int64_t
#define TABLE_CELL_U64 uint64_t
#define TABLE_CELL_F64 double
#define TABLE_MEMBER(type, column) TABLE_CELL_##type column;
#define TABLE_FIELD(type, column) { #column, TABLE_##type },
#define TABLE_FORM(table, LIST, about) \
	struct table##_row { LIST(TABLE_MEMBER) }; \
	static const struct table_field table##_fields[] = { LIST(TABLE_FIELD) }; \
	static const struct table_form table##_form = { \
		#table, about, table##_fields, sizeof(table##_fields) / sizeof(*table##_fields) }; \
	_Static_assert(sizeof(struct table##_row) == 8 * (0 LIST(TABLE_COUNT)), "8 bytes a cell")
#define TABLE_COUNT(type, column) + 1
/* clang-format on */
struct table *table_make(const struct table_form *f);
/* row: a struct of TABLE_FORM. */
void table_add(struct table *t, const void *row);
/* "ns", "J", …; NULL for a name without one. */
const char *table_field_unit(const char *name);

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
