#include "profrig/base/table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/csv.h"
#include "profrig/base/intern.h"
#include "profrig/base/text.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

union cell {
	int64_t i64;
	uint64_t u64;
	double f64;
	uint64_t str; /* str_id */
};

struct column {
	struct table_column about;
	VEC(union cell) cells;
};

struct table {
	char *name;
	char *about;
	VEC(struct column) cols;
	size_t rows;
	size_t at; /* column of the next cell */
	struct intern *strings;
};

struct table *table_new(const char *name)
{
	struct table *t = xcalloc(1, sizeof(*t));

	t->name = xstrdup(name);
	t->strings = intern_new();
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t c = 0; c < t->cols.nr; c++)
		VEC_RELEASE(&t->cols.v[c].cells);
	VEC_RELEASE(&t->cols);
	intern_free(t->strings);
	free(t->name);
	free(t->about);
	free(t);
}

void table_freep(struct table **t)
{
	table_free(*t);
	*t = NULL;
}

void table_about(struct table *t, const char *text)
{
	free(t->about);
	t->about = xstrdup(text);
}

static const char *text_keep(struct table *t, const char *s)
{
	return s ? intern_str(t->strings, intern_puts(t->strings, s)) : NULL;
}

void table_col(struct table *t, const char *name, enum table_type type, const char *unit)
{
	struct column col = { .about = { text_keep(t, name), text_keep(t, unit), type } };

	assert(t->rows == 0 && t->at == 0);
	VEC_PUSH(&t->cols, col);
}

static void cell_add(struct table *t, enum table_type type, union cell cell)
{
	struct column *col = &t->cols.v[t->at];

	assert(t->at < t->cols.nr && col->about.type == type);
	VEC_PUSH(&col->cells, cell);
	t->at++;
}

void table_str(struct table *t, const char *s)
{
	cell_add(t, TABLE_STR, (union cell){ .str = intern_puts(t->strings, s) });
}

void table_i64(struct table *t, int64_t v)
{
	cell_add(t, TABLE_I64, (union cell){ .i64 = v });
}

void table_u64(struct table *t, uint64_t v)
{
	cell_add(t, TABLE_U64, (union cell){ .u64 = v });
}

void table_f64(struct table *t, double v)
{
	cell_add(t, TABLE_F64, (union cell){ .f64 = v });
}

void table_row(struct table *t)
{
	assert(t->at == t->cols.nr);
	t->at = 0;
	t->rows++;
}

const char *table_field_unit(const char *name)
{
	static const char *const units[][2] = {
		{ "_per_s", "1/s" }, { "_ns", "ns" }, { "_s", "s" },       { "_js", "J·s" },
		{ "_j", "J" },       { "_w", "W" },   { "_degc", "degC" }, { "_hz", "Hz" },
	};

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (text_suffix(name, units[i][0]))
			return units[i][1];
	return NULL;
}

struct table *table_make(const struct table_form *f)
{
	struct table *t = table_new(f->name);

	table_about(t, f->about);
	for (size_t i = 0; i < f->nr; i++)
		table_col(t, f->fields[i].name, f->fields[i].type,
			  table_field_unit(f->fields[i].name));
	return t;
}

void table_add(struct table *t, const void *row)
{
	for (size_t c = 0; c < t->cols.nr; c++) {
		enum table_type type = t->cols.v[c].about.type;
		union cell cell;
		const char *s;

		memcpy(&cell, (const char *)row + c * sizeof(cell), sizeof(cell));
		memcpy(&s, &cell, sizeof(s));
		if (type == TABLE_STR)
			cell.str = intern_puts(t->strings, s);
		cell_add(t, type, cell);
	}
	table_row(t);
}

struct table *table_text_cols(const char *name, const char *const *columns, size_t n)
{
	struct table *t = table_new(name);

	for (size_t i = 0; i < n; i++)
		table_col(t, columns[i], TABLE_STR, NULL);
	return t;
}

void table_text_row(struct table *t, const char *const *cells, size_t n)
{
	for (size_t i = 0; i < n; i++)
		table_str(t, cells[i] ? cells[i] : "");
	table_row(t);
}

const char *table_name(const struct table *t)
{
	return t->name;
}

const char *table_about_text(const struct table *t)
{
	return t->about ? t->about : "";
}

size_t table_rows(const struct table *t)
{
	return t->rows;
}

size_t table_cols(const struct table *t)
{
	return t->cols.nr;
}

const struct table_column *table_column(const struct table *t, size_t col)
{
	assert(col < t->cols.nr);
	return &t->cols.v[col].about;
}

int table_find_col(const struct table *t, const char *name)
{
	for (size_t c = 0; c < t->cols.nr; c++)
		if (!strcmp(t->cols.v[c].about.name, name))
			return (int)c;
	return -1;
}

static const union cell *cell_at(const struct table *t, size_t row, size_t col)
{
	assert(col < t->cols.nr && row < t->rows);
	return &t->cols.v[col].cells.v[row];
}

const char *table_get_str(const struct table *t, size_t row, size_t col)
{
	assert(table_column(t, col)->type == TABLE_STR);
	return intern_str(t->strings, (str_id)cell_at(t, row, col)->str);
}

int64_t table_get_i64(const struct table *t, size_t row, size_t col)
{
	assert(table_column(t, col)->type == TABLE_I64);
	return cell_at(t, row, col)->i64;
}

uint64_t table_get_u64(const struct table *t, size_t row, size_t col)
{
	assert(table_column(t, col)->type == TABLE_U64);
	return cell_at(t, row, col)->u64;
}

double table_get_f64(const struct table *t, size_t row, size_t col)
{
	const union cell *cell = cell_at(t, row, col);

	switch (table_column(t, col)->type) {
	case TABLE_I64:
		return (double)cell->i64;
	case TABLE_U64:
		return (double)cell->u64;
	case TABLE_F64:
		return cell->f64;
	case TABLE_STR:
		break;
	}
	assert(!"a numeric column");
	return NAN;
}

struct order {
	const struct table *t;
	const int *keys;
	size_t n;
};

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Unknown values come last in either direction. */
static int compare_f64(double a, double b, int sign)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return sign * COMPARE(a, b);
}

static int compare_cells(const struct table *t, const struct column *col, size_t a, size_t b,
			 int sign)
{
	const union cell *x = &col->cells.v[a];
	const union cell *y = &col->cells.v[b];
	int r = 0;

	switch (col->about.type) {
	case TABLE_STR:
		if (x->str != y->str)
			r = strcmp(intern_str(t->strings, (str_id)x->str),
				   intern_str(t->strings, (str_id)y->str));
		return sign < 0 ? -r : r;
	case TABLE_I64:
		return sign * COMPARE(x->i64, y->i64);
	case TABLE_U64:
		return sign * COMPARE(x->u64, y->u64);
	case TABLE_F64:
		return compare_f64(x->f64, y->f64, sign);
	}
	return 0;
}

static int compare_rows(const void *pa, const void *pb, void *ctx)
{
	const struct order *o = ctx;
	size_t a = *(const size_t *)pa;
	size_t b = *(const size_t *)pb;

	for (size_t k = 0; k < o->n; k++) {
		int key = o->keys[k];
		const struct column *col = &o->t->cols.v[key < 0 ? ~key : key];
		int r = compare_cells(o->t, col, a, b, key < 0 ? -1 : 1);

		if (r)
			return r;
	}
	/* qsort is not stable. */
	return COMPARE(a, b);
}

void table_sort(struct table *t, const int *keys, size_t n)
{
	struct order o = { t, keys, n };
	size_t *rows;
	union cell *cells;

	assert(t->at == 0);
	for (size_t k = 0; k < n; k++)
		assert((size_t)(keys[k] < 0 ? ~keys[k] : keys[k]) < t->cols.nr);
	if (t->rows < 2)
		return;
	rows = xreallocarray(NULL, t->rows, sizeof(*rows));
	cells = xreallocarray(NULL, t->rows, sizeof(*cells));
	for (size_t i = 0; i < t->rows; i++)
		rows[i] = i;
	qsort_r(rows, t->rows, sizeof(*rows), compare_rows, &o);
	for (size_t c = 0; c < t->cols.nr; c++) {
		union cell *v = t->cols.v[c].cells.v;

		for (size_t i = 0; i < t->rows; i++)
			cells[i] = v[rows[i]];
		memcpy(v, cells, t->rows * sizeof(*cells));
	}
	free(cells);
	free(rows);
}

static void write_cell(struct csv_writer *w, const struct table *t, const struct column *col,
		       size_t row)
{
	const union cell *cell = &col->cells.v[row];

	switch (col->about.type) {
	case TABLE_STR:
		csv_str(w, intern_str(t->strings, (str_id)cell->str));
		return;
	case TABLE_I64:
		csv_i64(w, cell->i64);
		return;
	case TABLE_U64:
		csv_u64(w, cell->u64);
		return;
	case TABLE_F64:
		csv_f64(w, cell->f64);
		return;
	}
}

void table_write_csv(const struct table *t, FILE *f)
{
	struct csv_writer w = { .f = f };

	for (size_t c = 0; c < t->cols.nr; c++)
		csv_str(&w, t->cols.v[c].about.name);
	csv_end(&w);
	for (size_t row = 0; row < t->rows; row++) {
		for (size_t c = 0; c < t->cols.nr; c++)
			write_cell(&w, t, &t->cols.v[c], row);
		csv_end(&w);
	}
}
