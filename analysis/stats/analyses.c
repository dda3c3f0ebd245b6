#include "analyses_private.h"

#include <string.h>

#define ANALYSIS_AT(name) &analysis_##name,
const struct analysis *const analyses[] = { ANALYSES(ANALYSIS_AT) NULL };

const struct analysis *analysis_find(const char *name)
{
	for (size_t i = 0; analyses[i]; i++)
		if (strcmp(analyses[i]->name, name) == 0)
			return analyses[i];
	return NULL;
}

int analysis_run(const struct analysis *a, struct model *m, const struct profile *p,
		 const struct analysis_opts *o, struct table_set *out, struct err *err)
{
	if (!p || a->series_only)
		return a->run(m, o, out, err);
	return a->run_profile ? a->run_profile(p, o, out, err) : ANALYSIS_LEFT_OUT;
}
