/*
 * timebase: bringing inputs with different clocks onto one.
 *
 * A run directory holds anchors (run.json clocks[]): CLOCK_MONOTONIC, CLOCK_REALTIME and
 * CLOCK_BOOTTIME read together. With anchors the common timebase is the run's CLOCK_MONOTONIC and
 * an input is shifted by
 *	MONOTONIC	0
 *	BOOTTIME	mean over anchors of (monotonic − boottime)
 *	REALTIME	monotonic − realtime of the anchor nearest in time
 *	OWN		through the realtime at which the trace's clock read a known value; not
 *			aligned without one
 * Without anchors: inputs of one clock kind share it unshifted; an OWN clock with a realtime anchor
 * goes to REALTIME when other inputs use it, or when there are several such OWN clocks. The common
 * clock is that of the first input that can be related; the others stay as they are. Each input
 * that stays gets a W_NOT_ALIGNED when several inputs are analysed together.
 *
 * sink_clock sets a first shift, so times are stored near the truth at once. input_end (the input's
 * time range is known, for the nearest anchor) and model_finish (all inputs are known) may correct
 * it; model_finish moves the stored times.
 */
#ifndef PROFRIG_TIMEBASE_H
#define PROFRIG_TIMEBASE_H

#include "profrig/base/clock.h"
#include "profrig/model/model.h"

struct timebase {
	VEC(struct clock_anchor) anchors; /* empty: no run directory */
	/* of the workload of that run, CLOCK_MONOTONIC; 0, 0: it never ran */
	int64_t workload_start_ns, workload_end_ns;
	struct clock_origin origin; /* of the input that is read, from a file of its tool */
};

/* The sink uses it for every input that begins after this call; NULL detaches. Borrowed. */
void model_set_timebase(struct model *m, const struct timebase *tb);
/*
 * Whether times of two inputs can be compared: both are known on one clock, without an assumption.
 * Also of an input whose times are no events. After model_finish; times of both are then its own
 * plus shift_ns.
 */
bool timebase_meets(const struct model *m, input_id a, input_id b);
/* Shift of an input's clock; false when it cannot be related. Pure. */
bool timebase_shift(const struct timebase *tb, const struct input *in, int64_t *ret_shift_ns);

#endif
