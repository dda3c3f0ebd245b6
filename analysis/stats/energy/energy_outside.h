/* energy_outside: calls and work of a model that energy counters did not sample as a whole. */
#ifndef PROFRIG_ENERGY_OUTSIDE_H
#define PROFRIG_ENERGY_OUTSIDE_H

#include "energy_rows.h"

/* A job of a run that has enough samples, and the time that they cover. */
struct sampled_job {
	size_t number; /* in the run */
	const char *counter;
	struct window w;
};
struct sampled_jobs {
	VEC(struct sampled_job) v;
};

/*
 * How many calls and pieces of work begin before or end after the time that all counters of their
 * lane sampled. lanes: those of g. *ret_counter: the first counter with such calls; unchanged where
 * there are none.
 */
uint64_t energy_calls_outside(const struct model *m, const struct energy_groups *g,
			      const struct lane_def *lanes, const struct energy_run *run,
			      const struct sampled_jobs *jobs, const char **ret_counter);

#endif
