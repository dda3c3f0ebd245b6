/* All analyses over a small trace, as `analyze` runs them; findings come last. */
#ifndef FINDINGS_FIXTURE_H
#define FINDINGS_FIXTURE_H

#include "tables_support.h"

#include "profrig/base/strbuf.h"

static inline struct table_set all_with(struct model *m, struct analysis_marks *marks)
{
	struct analysis_shared *shared = analysis_shared_new();
	struct analysis_opts o = { .shared = shared, .marks = marks };
	struct table_set ts = TABLE_SET_INIT;
	struct err err = ERR_INIT;

	for (size_t i = 0; analyses[i]; i++)
		if (analysis_run(analyses[i], m, NULL, &o, &ts, &err) < 0)
			fail_msg("%s: %s", analyses[i]->name, err.msg);
	analysis_shared_free(shared);
	return ts;
}

static inline struct table_set all_of(struct model *m)
{
	return all_with(m, NULL);
}

/* "id:device:value" of each finding, in order, a line each. Owned. */
static inline char *findings_text(const struct table_set *ts)
{
	const struct table *t = table_set_find(ts, "findings");
	struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, "");
	for (size_t i = 0; t && i < table_rows(t); i++)
		strbuf_addf(&sb, "%s:%s:%.4g\n", str_of(t, i, "id"), str_of(t, i, "device"),
			    num_of(t, i, "value"));
	return strbuf_steal(&sb);
}

#endif
