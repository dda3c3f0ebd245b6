/*
 * history: one figure of many runs in the order of time, and where its level changes.
 *
 *	struct history h = HISTORY_INIT;
 *	history_add(&h, &set, "functions.exclusive_ns", "main", &err);		any number of sets
 *	history_finish(&h, &err);
 *	… h.v.v[i].value, h.changes.v.v[k].at …
 *	history_release(&h);
 *
 * Changes are found by change_points_divisive at alpha 0.01: white noise has one in one series of a
 * hundred. A single value off the others is no change of level, and the first and last
 * HISTORY_EDGE values cannot tell a change from that. The same run twice counts once.
 */
#ifndef PROFRIG_HISTORY_H
#define PROFRIG_HISTORY_H

#include "profrig/base/change_points.h"
#include "profrig/compare/figures.h"
#include "profrig/compare/operands.h"

#define HISTORY_ALPHA 0.01
#define HISTORY_EDGE 3

struct history {
	VEC(struct history_point {
		const struct compared_run *run; /* borrowed from the set */
		const struct run_set *set;
		double value;
		char *unit;
	}) v;
	enum figure_better better;
	struct change_points changes; /* indexes of v */
	size_t without;               /* runs that lack the figure */
	size_t bad;
	struct strvec problems;
};
#define HISTORY_INIT \
	{ \
		.problems = STRVEC_INIT \
	}
void history_release(struct history *h);

/* key: "" of a metric. */
int history_add(struct history *h, const struct run_set *s, const char *name, const char *key,
		struct err *err);
/*
 * Sorts by the start of runs, and finds the changes. -EINVAL: values have several units; -ERANGE:
 * more than CHANGE_VALUES_MAX.
 */
int history_finish(struct history *h, struct err *err);

#endif
