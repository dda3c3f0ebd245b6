/*
 * timebase: bringing inputs with different clocks onto one.
 *
 * A run directory holds anchors (run.json clocks[]): CLOCK_MONOTONIC, CLOCK_REALTIME and
 * CLOCK_BOOTTIME read together. With anchors the common timebase is the run's CLOCK_MONOTONIC and
 * an input is shifted by
 *	MONOTONIC	0
 *	BOOTTIME	mean over anchors of (monotonic − boottime)
 *	REALTIME	monotonic − realtime of the anchor nearest in time
 *	OWN		when the trace says at which realtime its clock read a value: through that;
 *			else not aligned
 * Without anchors: inputs of one clock kind share it unshifted; an OWN clock with a realtime anchor
 * goes to REALTIME when other inputs use it, or when there are several such OWN clocks. The common
 * clock is that of the first input that can be related; what cannot stays as it is. One
 * W_NOT_ALIGNED for each such input when several inputs are analysed together.
 *
 * sink_clock fixes a first shift, so times are stored near the truth at once; input_end (when the
 * input's time range is known, for the nearest anchor) and model_finish (when all inputs are known)
 * may correct it, and model_finish moves what was stored.
 */
#ifndef PROFRIG_TIMEBASE_H
#define PROFRIG_TIMEBASE_H

#include "profrig/base/clock.h"
#include "profrig/model/model.h"

struct timebase {
	VEC(struct clock_anchor) anchors; /* empty: no run directory */
	/* of the workload of that run, CLOCK_MONOTONIC; 0, 0: it never ran */
	int64_t workload_start_ns, workload_end_ns;
	struct clock_origin origin; /* of the input that is read: what its tool left beside it */
};

/* The sink uses it for every input that begins after this call; NULL detaches. Borrowed. */
void model_set_timebase(struct model *m, const struct timebase *tb);
/* shift for an input's clock; false when it cannot be related. Pure. */
bool timebase_shift(const struct timebase *tb, const struct input *in, int64_t *ret_shift_ns);

#endif
