#include "analyses_private.h"

#include <string.h>

/* clang-format off */
const struct analysis *const analyses[] = {
	&analysis_functions,
	&analysis_callpaths,
	&analysis_kernels,
	&analysis_busy,
	&analysis_counters,
	&analysis_power_filter,
	&analysis_idle_power,
	&analysis_energy,
	&analysis_sharing,
	&analysis_node_energy,
	&analysis_timeline,
	&analysis_marks_tables,
	NULL,
};
/* clang-format on */

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
