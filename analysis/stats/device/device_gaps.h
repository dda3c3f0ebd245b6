/*
 * device_gaps: the gaps in which a device had nothing to do, and why. A gap lies between the end of
 * all work so far and the next start; work of no length ends one gap and begins the next. Gaps and
 * the time in which work ran add up to the device's wall time.
 *
 * The work w at the end of a gap [a, b) decides: of several that start at b the one launched first,
 * of those without a launch the first row. s is the start of its API call on a thread.
 *	[a, min(s, b))	what that thread did (host_causes.h)
 *	[max(a, s), b)	graph_launch when the call launches a graph, else launch_latency when
 *			s > a, else the work was queued already: queued_short below
 *			QUEUED_SHORT_NS, a normal hand-over, queued_long from there on (it waits
 *			for another queue or an event, or work is missing)
 *	all of it	no_launch when w has no known launch
 */
#ifndef PROFRIG_DEVICE_GAPS_H
#define PROFRIG_DEVICE_GAPS_H

#include "host_causes.h"

#define QUEUED_SHORT_NS 10000

struct device_gap {
	int64_t from_ns, to_ns;
	size_t before, after; /* rows: what ended last, and w */
	/* host causes lie before it, the others from there on */
	int64_t launched_ns;
	struct idle_sums sums; /* of this gap */
};

/* Calls take for each gap of a device, in order of time. */
void device_gaps(const struct works *w, uint32_t device, struct host_causes *h,
		 void (*take)(void *ctx, const struct device_gap *g), void *ctx);
const char *idle_cause_name(enum idle_cause c);
/* The largest cause; of equal ones the first. */
enum idle_cause idle_sums_largest(const struct idle_sums *s);
void idle_sums_add(struct idle_sums *to, const struct idle_sums *s);

#endif
