/*
 * expect_table: a table, or chosen columns of it, compared with rows written as text.
 *
 *	expect_table(t, "view=host name calls share flags\n"
 *			"main 1 600/1000 idle|reset\n"
 *			"'two words' 2 - -\n");
 *
 * The first line names columns, the others are all the rows in order. column=value compares only
 * the rows that have that value; that column is no cell of the rows. Cells stand between blanks, or
 * in '' when they hold some. "-" is an empty text or an unknown number, "*" is anything, "a/b" is a
 * quotient, and a last line "..." lets further rows follow. An integer must be equal; a double may
 * differ by 1e-12, and below 1 by that part of it.
 *
 * A failure names the line of the test, the row and the column, and shows the rows that the table
 * has as such a text.
 */
#ifndef PROFRIG_EXPECT_TABLE_H
#define PROFRIG_EXPECT_TABLE_H

#include "test.h"

#include <math.h>

#include "profrig/base/table.h"

static inline double num_of(const struct table *t, size_t row, const char *col)
{
	int c = table_find_col(t, col);

	if (c < 0)
		fail_msg("no column '%s'", col);
	return table_get_f64(t, row, (size_t)c);
}

static inline const char *str_of(const struct table *t, size_t row, const char *col)
{
	int c = table_find_col(t, col);

	if (c < 0)
		fail_msg("no column '%s'", col);
	return table_get_str(t, row, (size_t)c);
}

/* The names of all columns, joined by commas, as the contract pins them. */
static inline void expect_columns(const struct table *t, const char *want)
{
	char have[1024] = "";
	size_t n = 0;

	assert_non_null(t);
	for (size_t c = 0; c < table_cols(t); c++)
		n += (size_t)snprintf(have + n, sizeof(have) - n, "%s%s", c ? "," : "",
				      table_column(t, c)->name);
	assert_string_equal(have, want);
}

#define expect_table(t, text) expect_table_at((t), (text), __FILE__, __LINE__)

enum { EXPECT_MAX_COLS = 32, EXPECT_MAX_CELL = 256 };

/* What is compared: columns, and the rows that a column=value leaves. */
struct expected {
	const struct table *t;
	const char *file;
	int line;
	size_t col[EXPECT_MAX_COLS], cols;
	size_t only_col[EXPECT_MAX_COLS], only;
	char only_value[EXPECT_MAX_COLS][EXPECT_MAX_CELL];
};

/* The next cell of the line at *at: false at the end of the line, which is left behind. */
static inline bool expect_cell(const char **at, char cell[EXPECT_MAX_CELL])
{
	const char *from = *at + strspn(*at, " \t");
	bool quoted = *from == '\'';
	size_t n = quoted ? strcspn(++from, "'\n") : strcspn(from, " \t\n");

	*at = from + n + quoted;
	if (n == 0 && !quoted) {
		*at += *from == '\n';
		return false;
	}
	assert_true(n < EXPECT_MAX_CELL);
	memcpy(cell, from, n);
	cell[n] = '\0';
	return true;
}

static inline void expect_columns_named(struct expected *x, const char **at)
{
	char cell[EXPECT_MAX_CELL];

	while (expect_cell(at, cell)) {
		char *value = strchr(cell, '=');
		int col;

		if (value)
			*value++ = '\0';
		col = table_find_col(x->t, cell);
		if (col < 0)
			fail_msg("%s:%d: table '%s' has no column '%s'", x->file, x->line,
				 table_name(x->t), cell);
		assert_true(x->cols < EXPECT_MAX_COLS && x->only < EXPECT_MAX_COLS);
		if (!value) {
			x->col[x->cols++] = (size_t)col;
			continue;
		}
		x->only_col[x->only] = (size_t)col;
		snprintf(x->only_value[x->only++], EXPECT_MAX_CELL, "%s", value);
	}
}

/* A cell as the text would have it. */
static inline void expect_show(const struct table *t, size_t row, size_t col,
			       char cell[EXPECT_MAX_CELL])
{
	switch (table_column(t, col)->type) {
	case TABLE_STR:
		snprintf(cell, EXPECT_MAX_CELL, "%s", table_get_str(t, row, col));
		break;
	case TABLE_I64:
		num_fmt_i64(cell, table_get_i64(t, row, col));
		break;
	case TABLE_U64:
		num_fmt_u64(cell, table_get_u64(t, row, col));
		break;
	case TABLE_F64:
		num_fmt_f64(cell, table_get_f64(t, row, col));
		if (isnan(table_get_f64(t, row, col)))
			*cell = '\0';
		break;
	}
	if (!*cell)
		snprintf(cell, EXPECT_MAX_CELL, "-");
}

static inline bool expect_same(const struct table *t, size_t row, size_t col, const char *want)
{
	const char *slash = strchr(want, '/');
	size_t n = slash ? (size_t)(slash - want) : strlen(want);
	char got[EXPECT_MAX_CELL];
	double a, b = 1, v;

	expect_show(t, row, col, got);
	if (strcmp(got, want) == 0 || strcmp(want, "*") == 0)
		return true;
	if (table_column(t, col)->type != TABLE_F64 || num_f64(want, n, &a) < 0 ||
	    (slash && num_f64(slash + 1, strlen(slash + 1), &b) < 0))
		return false;
	v = table_get_f64(t, row, col);
	return fabs(v - a / b) <= 1e-12 * fmin(1, fabs(a / b)) + 1e-15 * fabs(a / b);
}

/* The next row that is compared, at or after this one; the number of rows when there is none. */
static inline size_t expect_row(const struct expected *x, size_t row)
{
	for (; row < table_rows(x->t); row++) {
		bool fits = true;

		for (size_t i = 0; i < x->only; i++)
			fits &= expect_same(x->t, row, x->only_col[i], x->only_value[i]);
		if (fits)
			break;
	}
	return row;
}

#define expect_fail(x, ...) \
	do { \
		print_error("%s:%d: table '%s': ", (x)->file, (x)->line, table_name((x)->t)); \
		print_error(__VA_ARGS__); \
		expect_show_all(x); \
		_fail((x)->file, (x)->line); \
	} while (0)

static inline void expect_show_all(const struct expected *x)
{
	print_error("\nit has:\n");
	for (size_t i = 0; i < x->cols; i++)
		print_error("%s%s", i ? " " : "", table_column(x->t, x->col[i])->name);
	for (size_t r = expect_row(x, 0); r < table_rows(x->t); r = expect_row(x, r + 1))
		for (size_t i = 0; i < x->cols; i++) {
			char cell[EXPECT_MAX_CELL];

			expect_show(x->t, r, x->col[i], cell);
			print_error(strpbrk(cell, " \t") ? "%s'%s'" : "%s%s", i ? " " : "\n", cell);
		}
	print_error("\n");
}

static inline void expect_table_at(const struct table *t, const char *text, const char *file,
				   int line)
{
	struct expected x = { .t = t, .file = file, .line = line };
	size_t row, nr = 0;

	if (!t)
		fail_msg("%s:%d: no such table", file, line);
	expect_columns_named(&x, &text);
	row = expect_row(&x, 0);
	for (; *text; nr++, row = expect_row(&x, row + 1)) {
		char cell[EXPECT_MAX_CELL], got[EXPECT_MAX_CELL];

		if (strncmp(text, "...", 3) == 0)
			return;
		if (row >= table_rows(t))
			expect_fail(&x, "only %zu rows", nr);
		for (size_t i = 0; i < x.cols; i++) {
			if (!expect_cell(&text, cell))
				expect_fail(&x, "row %zu of the text has %zu cells", nr, i);
			if (expect_same(t, row, x.col[i], cell))
				continue;
			expect_show(t, row, x.col[i], got);
			expect_fail(&x, "row %zu: %s is '%s', not '%s'", nr,
				    table_column(t, x.col[i])->name, got, cell);
		}
		if (expect_cell(&text, cell))
			expect_fail(&x, "row %zu of the text has a cell too many: '%s'", nr, cell);
	}
	if (row < table_rows(t))
		expect_fail(&x, "more than %zu rows", nr);
}

#endif
