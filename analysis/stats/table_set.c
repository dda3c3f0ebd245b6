#include <stdarg.h>
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/stats/analysis.h"

void table_set_release(struct table_set *ts)
{
	for (size_t i = 0; i < ts->tables.nr; i++)
		table_free(ts->tables.v[i]);
	VEC_RELEASE(&ts->tables);
	for (size_t i = 0; i < ts->checks.nr; i++) {
		free(ts->checks.v[i].name);
		free(ts->checks.v[i].detail);
	}
	VEC_RELEASE(&ts->checks);
	for (size_t i = 0; i < ts->skipped.nr; i++) {
		free(ts->skipped.v[i].name);
		free(ts->skipped.v[i].reason);
	}
	VEC_RELEASE(&ts->skipped);
	VEC_RELEASE(&ts->others);
}

void table_set_add(struct table_set *ts, struct table *take)
{
	for (size_t i = 0; i < ts->tables.nr; i++) {
		if (strcmp(table_name(ts->tables.v[i]), table_name(take)) != 0)
			continue;
		if (ts->tables.v[i] != take)
			table_free(ts->tables.v[i]);
		ts->tables.v[i] = take;
		return;
	}
	VEC_PUSH(&ts->tables, take);
}

struct table *table_set_find(const struct table_set *ts, const char *name)
{
	for (size_t i = 0; i < ts->tables.nr; i++)
		if (strcmp(table_name(ts->tables.v[i]), name) == 0)
			return ts->tables.v[i];
	for (size_t i = 0; i < ts->others.nr; i++) {
		struct table *t = table_set_find(ts->others.v[i], name);

		if (t)
			return t;
	}
	return NULL;
}

void table_set_take(struct table_set *ts, struct table_set *from)
{
	for (size_t i = 0; i < from->tables.nr; i++)
		table_set_add(ts, from->tables.v[i]);
	for (size_t i = 0; i < from->checks.nr; i++)
		VEC_PUSH(&ts->checks, from->checks.v[i]);
	for (size_t i = 0; i < from->skipped.nr; i++)
		VEC_PUSH(&ts->skipped, from->skipped.v[i]);
	from->tables.nr = from->checks.nr = from->skipped.nr = 0;
	table_set_release(from);
}

void table_set_check(struct table_set *ts, const char *name, bool ok, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *detail = xvasprintf(fmt, ap);
	va_end(ap);
	VEC_PUSH(&ts->checks, ((struct check){ xstrdup(name), ok, detail }));
}

int table_set_skip(struct table_set *ts, const char *name, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *reason = xvasprintf(fmt, ap);
	va_end(ap);
	VEC_PUSH(&ts->skipped, ((struct skip){ xstrdup(name), reason }));
	return ANALYSIS_SKIPPED;
}
