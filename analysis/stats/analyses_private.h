/* The registry of analyses, each in the file of its name, and what several of them use. */
#ifndef PROFRIG_ANALYSES_PRIVATE_H
#define PROFRIG_ANALYSES_PRIVATE_H

#include "profrig/stats/analysis.h"
#include "profrig/work/works.h"

/* In the order of their tables. */
/* clang-format off */
#define ANALYSES(X) \
	X(functions) X(callpaths) X(kernels) X(busy) X(counters) X(power_filter) \
	X(idle_power) X(energy) X(sharing) X(node_energy) X(timeline) X(library_tables) \
	X(marks_tables) X(collectives)
#define ANALYSIS_DECLARE(name) extern const struct analysis analysis_##name;
ANALYSES(ANALYSIS_DECLARE)
/* clang-format on */

struct analysis_shared {
	struct works *works; /* NULL: not made yet */
};
/* The device work of the model, which is nested after it. Borrowed. */
const struct works *analysis_works(struct model *m, const struct analysis_opts *o);

/*
 * Of the calls of a profile, by group: group_of has a group below nr for each of profile.calls, or
 * U64MAP_NONE. Of a model's profile all are exact, else as call_stats_approx. ret has nr elements.
 */
void call_stats_by(const struct profile *p, const uint32_t *group_of, size_t nr,
		   struct call_stats *ret);

#endif
