/* Running one analysis over a small trace, and reading its tables by column name. */
#ifndef TABLES_SUPPORT_H
#define TABLES_SUPPORT_H

#include "energy_fixture.h"

#include "profrig/stats/analysis.h"

static inline struct table_set run(struct model *m, const char *name, const struct analysis_opts *o)
{
	static const struct analysis_opts plain;
	const struct analysis *a = analysis_find(name);
	struct table_set ts = TABLE_SET_INIT;
	struct err err = ERR_INIT;

	assert_non_null(a);
	if (a->run(m, o ? o : &plain, &ts, &err) < 0)
		fail_msg("%s", err.msg);
	return ts;
}

static inline void expect_columns(const struct table *t, const char *want)
{
	char got[512] = "";

	assert_non_null(t);
	for (size_t i = 0; i < table_cols(t); i++) {
		size_t n = strlen(got);
		snprintf(got + n, sizeof(got) - n, "%s%s", i ? "," : "", table_column(t, i)->name);
	}
	assert_string_equal(got, want);
}

static inline double number(const struct table *t, size_t row, const char *col)
{
	int c = table_find_col(t, col);

	assert_true(c >= 0);
	return table_get_f64(t, row, (size_t)c);
}

static inline const char *text(const struct table *t, size_t row, const char *col)
{
	int c = table_find_col(t, col);

	assert_true(c >= 0);
	return table_get_str(t, row, (size_t)c);
}

static inline bool warned(const struct model *m, const char *code)
{
	for (size_t i = 0; i < m->warnings.nr; i++) {
		if (strcmp(m->warnings.v[i].code, code) == 0)
			return true;
	}
	return false;
}

#endif
