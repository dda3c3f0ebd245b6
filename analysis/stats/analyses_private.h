/* The analyses of analyses.c, each in the file of its name. */
#ifndef PROFRIG_ANALYSES_PRIVATE_H
#define PROFRIG_ANALYSES_PRIVATE_H

#include "profrig/stats/analysis.h"

extern const struct analysis analysis_functions, analysis_callpaths, analysis_kernels,
	analysis_busy, analysis_counters, analysis_power_filter, analysis_idle_power,
	analysis_energy, analysis_sharing, analysis_node_energy, analysis_timeline,
	analysis_moments_tables;

#endif
