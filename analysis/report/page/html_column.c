#include "html_private.h"
#include "table_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/intern.h"
#include "profrig/base/json_out.h"
#include "profrig/base/xalloc.h"

/* From so many rows on a column is written in fewer bytes where that is possible. */
#define LONG_ROWS 1000
#define WORDS_REPEAT 4

/*
 * Of call paths the page draws calls and one figure of their own, and sums it over the paths that
 * it has. `better`: it is read only where the table lacks that one.
 */
static const struct {
	const char *table, *column, *better;
} unused[] = {
	{ "callpaths", "inclusive_ns", NULL },
	{ "callpaths", "device_inclusive_ns", NULL },
	{ "energy_callpaths", "inclusive_j", NULL },
	{ "energy_callpaths", "exclusive_j", "best_j" },
	{ "energy_callpaths", "exclusive_ns", NULL },
	{ "energy_callpaths", "modelled_inclusive_j", NULL },
	{ "energy_callpaths", "modelled_j", NULL },
	{ "energy_callpaths", "best_inclusive_j", NULL },
};

bool html_column_used(const struct table *t, size_t col)
{
	for (size_t i = 0; i < ARRAY_LEN(unused); i++)
		if (strcmp(table_name(t), unused[i].table) == 0 &&
		    strcmp(table_column(t, col)->name, unused[i].column) == 0)
			return unused[i].better && table_find_col(t, unused[i].better) < 0;
	return true;
}

/* {"words": […], "at": […]}; false when too few repeat themselves. */
static bool write_words(struct json_out *j, const struct table *t, size_t col,
			const struct html_rows *rows)
{
	struct intern *words = intern_new();
	CLEANUP(xfreep) str_id *at = xcalloc(rows->nr, sizeof(*at));
	bool repeats;

	for (size_t i = 0; i < rows->nr; i++)
		at[i] = intern_puts(words, table_get_str(t, html_rows_at(rows, i), col));
	repeats = intern_count(words) <= rows->nr / WORDS_REPEAT;
	if (repeats) {
		json_obj(j, NULL);
		json_arr(j, "words");
		for (str_id w = 0; w < intern_count(words); w++)
			json_str(j, NULL, intern_str(words, w));
		json_end(j);
		json_arr(j, "at");
		for (size_t i = 0; i < rows->nr; i++)
			json_u64(j, NULL, at[i]);
		json_end(j);
		json_end(j);
	}
	intern_free(words);
	return repeats;
}

/* Characters of an integer. */
static unsigned length_of(int64_t v)
{
	unsigned n = v < 0 ? 2 : 1;

	for (uint64_t rest = v < 0 ? -(uint64_t)v : (uint64_t)v; rest >= 10; rest /= 10)
		n++;
	return n;
}

#define UNKNOWN INT64_MIN

/*
 * The column as integers, UNKNOWN where it is NaN; NULL where a value is no integer, or one that a
 * JavaScript number does not hold, nor the difference of two.
 */
static int64_t *integers_of(const struct table *t, size_t col, const struct html_rows *rows)
{
	int64_t *v = xcalloc(rows->nr, sizeof(*v));
	enum table_type type = table_column(t, col)->type;

	for (size_t i = 0; i < rows->nr; i++) {
		size_t row = html_rows_at(rows, i);
		double x = table_get_f64(t, row, col);

		if (isnan(x)) {
			v[i] = UNKNOWN;
			continue;
		}
		if (!(fabs(x) <= (double)HTML_EXACT_MAX / 2) || x > floor(x)) {
			free(v);
			return NULL;
		}
		v[i] = type == TABLE_I64 ? table_get_i64(t, row, col) : (int64_t)x;
	}
	return v;
}

/* {"steps": […]}; false where they are not clearly shorter than the values. */
static bool write_steps(struct json_out *j, const struct table *t, size_t col,
			const struct html_rows *rows)
{
	CLEANUP(xfreep) int64_t *v = integers_of(t, col, rows);
	size_t as_they_are = 0, as_steps = 0;
	int64_t before = 0;

	for (size_t i = 0; v && i < rows->nr; i++) {
		if (v[i] == UNKNOWN)
			continue;
		as_they_are += length_of(v[i]);
		as_steps += length_of(v[i] - before);
		before = v[i];
	}
	if (as_steps >= as_they_are - as_they_are / 8)
		return false;
	json_obj(j, NULL);
	json_arr(j, "steps");
	before = 0;
	for (size_t i = 0; i < rows->nr; i++) {
		if (v[i] == UNKNOWN) {
			json_nil(j, NULL);
			continue;
		}
		json_i64(j, NULL, v[i] - before);
		before = v[i];
	}
	json_end(j);
	json_end(j);
	return true;
}

void html_write_column(struct json_out *j, const struct table *t, size_t col,
		       const struct html_rows *rows)
{
	bool text = table_column(t, col)->type == TABLE_STR;

	if (rows->nr >= LONG_ROWS &&
	    (text ? write_words(j, t, col, rows) : write_steps(j, t, col, rows)))
		return;
	json_arr(j, NULL);
	for (size_t i = 0; i < rows->nr; i++)
		table_json_cell(j, NULL, t, html_rows_at(rows, i), col, HTML_EXACT_MAX);
	json_end(j);
}
