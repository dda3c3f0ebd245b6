/* The analyses of analyses.c, each in the file of its name, and what two of them need. */
#ifndef PROFRIG_ANALYSES_PRIVATE_H
#define PROFRIG_ANALYSES_PRIVATE_H

#include "profrig/stats/analysis.h"

extern const struct analysis analysis_functions, analysis_callpaths, analysis_kernels,
	analysis_busy, analysis_counters, analysis_power_filter, analysis_idle_power,
	analysis_energy, analysis_sharing, analysis_node_energy, analysis_timeline,
	analysis_marks_tables;

/*
 * call_stats_of the spans of a model by what they belong to: of_span has a number below nr for
 * each, or U64MAP_NONE. ret holds nr.
 */
void call_stats_by(const struct model *m, const uint32_t *of_span, size_t nr,
		   struct call_stats *ret);

#endif
