#include "html_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

#define NUMBER_BYTES 12

struct weighted {
	double weight;
	size_t row;
};

/*
 * Columns that give a row its weight; two count alike (exclusive time on the host, linked time on
 * the device), but one does not where the table has a better one. A call path has the weight of its
 * subtree, so that no path is shown without its ancestors: main() has hardly any exclusive time.
 */
static const struct {
	const char *name, *of_path, *words, *better;
} weight_columns[] = {
	{ "exclusive_ns", "inclusive_ns", "own time", NULL },
	{ "device_exclusive_ns", "device_inclusive_ns", "device time", NULL },
	{ "best_j", "best_inclusive_j", "own energy", NULL },
	{ "exclusive_j", "inclusive_j", "own energy", "best_j" },
	{ "total_ns", "total_ns", "time", NULL },
};

static int by_weight(const void *pa, const void *pb)
{
	const struct weighted *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static int by_row(const void *pa, const void *pb)
{
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;

	return a < b ? -1 : a > b;
}

static size_t row_bytes(const struct table *t, size_t row)
{
	size_t n = 0;

	for (size_t c = 0; c < table_cols(t); c++)
		n += table_column(t, c)->type == TABLE_STR ? strlen(table_get_str(t, row, c)) + 3
							   : NUMBER_BYTES;
	return n;
}

static bool is_unattributed(const struct table *t, size_t row)
{
	static const char *const columns[] = { "name", "path" };

	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		int c = table_find_col(t, columns[i]);

		if (c >= 0 && table_column(t, (size_t)c)->type == TABLE_STR &&
		    strcmp(table_get_str(t, row, (size_t)c), "[unattributed]") == 0)
			return true;
	}
	return false;
}

static double cell_weight(const struct table *t, size_t row, size_t col)
{
	double v = table_get_f64(t, row, col);

	return isfinite(v) && v > 0 ? v : 0;
}

static double column_sum(const struct table *t, size_t col)
{
	double sum = 0;

	for (size_t i = 0; i < table_rows(t); i++)
		sum += cell_weight(t, i, col);
	return sum;
}

/* Adds each row's part of one column's sum; false when the column is missing or empty. */
static bool add_column(const struct table *t, const char *name, struct weighted *w)
{
	int c = table_find_col(t, name);
	double sum;

	if (c < 0 || table_column(t, (size_t)c)->type == TABLE_STR)
		return false;
	sum = column_sum(t, (size_t)c);
	for (size_t i = 0; sum > 0 && i < table_rows(t); i++)
		w[i].weight += cell_weight(t, i, (size_t)c) / sum;
	return sum > 0;
}

/* by: index of the column that the words speak of, -1 when the rows have no weight. */
static void say_what_is_missing(const struct table *t, int by, struct html_rows *r)
{
	char share[48];
	double kept = 0, all;
	size_t c;

	if (by < 0) {
		r->words = xasprintf("This page holds the first %zu of %zu rows; tables/%s.csv "
				     "holds all of them.",
				     r->nr, r->of, table_name(t));
		return;
	}
	c = (size_t)table_find_col(t, weight_columns[by].name);
	for (size_t i = 0; i < r->nr; i++)
		kept += cell_weight(t, r->row[i], c);
	all = column_sum(t, c);
	html_fmt_share(share, all > 0 ? kept / all : NAN);
	r->words = xasprintf("This page holds the %zu heaviest of %zu rows (%s of all %s); "
			     "tables/%s.csv holds all of them.",
			     r->nr, r->of, share, weight_columns[by].words, table_name(t));
}

void html_rows_choose(const struct table *t, struct html_limits limit, struct html_rows *ret)
{
	CLEANUP(xfreep) struct weighted *w = NULL;
	int by = -1;
	bool paths = table_find_col(t, "path") >= 0;
	size_t n = table_rows(t), bytes = 0;

	*ret = (struct html_rows){ .nr = n, .of = n };
	for (size_t i = 0; i < n && bytes <= limit.bytes; i++)
		bytes += row_bytes(t, i);
	if (n <= limit.rows && bytes <= limit.bytes)
		return;
	w = xcalloc(n, sizeof(*w));
	for (size_t i = 0; i < n; i++)
		w[i].row = i;
	for (int i = 0; i < (int)ARRAY_LEN(weight_columns); i++) {
		const char *own = weight_columns[i].name, *all = weight_columns[i].of_path;
		const char *better = weight_columns[i].better;

		if (better && table_find_col(t, better) >= 0)
			continue;
		if (add_column(t, paths && table_find_col(t, all) >= 0 ? all : own, w) && by < 0)
			by = i;
	}
	for (size_t i = 0; i < n; i++)
		if (is_unattributed(t, i))
			w[i].weight = INFINITY;
	qsort(w, n, sizeof(*w), by_weight);
	ret->row = xcalloc(n < limit.rows ? n : limit.rows, sizeof(*ret->row));
	ret->nr = 0;
	bytes = 0;
	while (ret->nr < n && ret->nr < limit.rows &&
	       (bytes += row_bytes(t, w[ret->nr].row)) <= limit.bytes) {
		ret->row[ret->nr] = w[ret->nr].row;
		ret->nr++;
	}
	qsort(ret->row, ret->nr, sizeof(*ret->row), by_row);
	say_what_is_missing(t, by, ret);
}

void html_rows_release(struct html_rows *r)
{
	free(r->row);
	free(r->words);
	*r = (struct html_rows){ .row = NULL };
}
