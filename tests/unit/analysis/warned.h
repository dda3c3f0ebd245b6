/* warned: how often a model warned of something, and in which words. */
#ifndef PROFRIG_WARNED_H
#define PROFRIG_WARNED_H

#include "test.h"

#include "profrig/model/model.h"

static inline uint64_t warned(const struct model *m, const char *code)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->warnings.nr; i++)
		if (strcmp(m->warnings.v[i].code, code) == 0)
			n += m->warnings.v[i].count;
	return n;
}

/* The words of the first warning with this code; fails the test where there is none. */
static inline const char *warning_text(const struct model *m, const char *code)
{
	for (size_t i = 0; i < m->warnings.nr; i++)
		if (strcmp(m->warnings.v[i].code, code) == 0)
			return m->warnings.v[i].text;
	fail_msg("no %s", code);
	return "";
}

#endif
