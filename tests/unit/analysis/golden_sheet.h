/*
 * golden_sheet: a table in CSV that another tool published with a recording, by the names of its
 * columns. Folder: of the recording, below PROFRIG_TRACES, with a slash.
 */
#ifndef PROFRIG_GOLDEN_SHEET_H
#define PROFRIG_GOLDEN_SHEET_H

#include "test.h"

#include "profrig/base/csv.h"
#include "profrig/base/num.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"

struct sheet {
	VEC(struct strvec) rows; /* the first one names the columns */
};

static inline void sheet_open(struct sheet *s, const char *folder, const char *name)
{
	CLEANUP(xfreep)
	char *path = test_trace(textf("%sgolden_perf_report_csvs/%s.csv", folder, name));
	struct csv_reader *csv;
	char *const *cells;
	size_t n;

	*s = (struct sheet){ .rows = VEC_INIT };
	assert_int_equal(csv_open_file(path, &csv, NULL), 0);
	while (csv_next(csv, &cells, &n, NULL) == 1) {
		struct strvec row = STRVEC_INIT;

		for (size_t i = 0; i < n; i++)
			strvec_push(&row, cells[i]);
		VEC_PUSH(&s->rows, row);
	}
	csv_free(csv);
	assert_true(s->rows.nr > 1);
}

static inline void sheet_release(struct sheet *s)
{
	for (size_t i = 0; i < s->rows.nr; i++)
		strvec_release(&s->rows.v[i]);
	VEC_RELEASE(&s->rows);
}

static inline const char *text_at(const struct sheet *s, size_t row, const char *column)
{
	const struct strvec *head = &s->rows.v[0];

	for (size_t i = 0; i < head->nr; i++)
		if (strcmp(head->v[i], column) == 0)
			return s->rows.v[row].v[i];
	fail_msg("no column '%s'", column);
	return "";
}

static inline double number_at(const struct sheet *s, size_t row, const char *column)
{
	const char *text = text_at(s, row, column);
	double v = 0;

	assert_int_equal(num_f64(text, strlen(text), &v), 0);
	return v;
}

#endif
