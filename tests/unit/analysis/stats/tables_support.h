/* Running one analysis over a small trace, and reading its tables by column name. */
#ifndef TABLES_SUPPORT_H
#define TABLES_SUPPORT_H

#include "energy_fixture.h"
#include "expect_model.h"
#include "expect_table.h"

#include "profrig/stats/analysis.h"

static inline struct table_set run(struct model *m, const char *name, const struct analysis_opts *o)
{
	static const struct analysis_opts plain;
	const struct analysis *a = analysis_find(name);
	struct table_set ts = TABLE_SET_INIT;
	struct err err = ERR_INIT;

	assert_non_null(a);
	if (analysis_run(a, m, NULL, o ? o : &plain, &ts, &err) < 0)
		fail_msg("%s", err.msg);
	return ts;
}

#endif
