/*
 * report_test: what the tests of report share: reports made of tables, written and read back.
 */
#ifndef PROFRIG_REPORT_TEST_H
#define PROFRIG_REPORT_TEST_H

#include "stats_test.h"
#include "writers_private.h"

static inline bool has_file(const char *dir, const char *name)
{
	CLEANUP(xfreep) char *path = fs_join(dir, name);

	return fs_is_file(path);
}

/* A report over these tables (taken), with the analysis.json that fits them. */
static inline struct report make_report(const char *dir, struct table **tables, size_t n)
{
	struct maker k = make_begin();
	CLEANUP(model_freep) struct model *m = make_end(&k);
	struct report r = REPORT_INIT;
	struct report_timings t = { 0 };

	r.dir = xstrdup(dir);
	for (size_t i = 0; i < n; i++)
		table_set_add(&r.tables, tables[i]);
	r.analysis_json = report_analysis_json(m, &r, &t);
	return r;
}

static inline void write_ok(const struct report *r, const struct writer *w)
{
	struct err err = ERR_INIT;

	if (w->write(r, &err) < 0)
		fail_msg("%s: %s", w->name, err.msg);
}

static inline struct report load_ok(const char *dir)
{
	struct report r = REPORT_INIT;
	struct err err = ERR_INIT;

	if (report_load(dir, &r, &err) < 0)
		fail_msg("%s", err.msg);
	return r;
}

static inline void assert_file(const char *dir, const char *name, const char *want)
{
	CLEANUP(xfreep) char *have = test_get(dir, name);

	assert_string_equal(have, want);
}

#endif
