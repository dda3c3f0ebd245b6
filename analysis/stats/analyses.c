#include "analyses_private.h"

#include <string.h>

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
	&analysis_timeline,
	NULL,
};

const struct analysis *analysis_find(const char *name)
{
	for (size_t i = 0; analyses[i]; i++)
		if (strcmp(analyses[i]->name, name) == 0)
			return analyses[i];
	return NULL;
}
