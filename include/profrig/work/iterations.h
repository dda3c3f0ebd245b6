/*
 * iterations: the repeated unit of a workload: a training step, a decoded token, a loop.
 *
 * Markers. A host range is a marker when its name matches the pattern: the user's, or by default
 * ProfilerStep#N, steps of a server (serving_step.h) and names such as "iteration 7",
 * "train_step_12", "batch=3". Names that differ in numbers alone are one family, and so are the
 * steps of a server, and all matches of a pattern with a group "phase". Of a thread with several
 * families ProfilerStep# counts, else steps of a server, else the one with the most ranges, of
 * equal ones the earliest; else, of the modules of a compiled program that the thread launches more
 * than once (program_facts), the one with the longest time of all executions. A marker that begins
 * inside an earlier one of its family is no iteration (nested).
 *
 * Without markers, and without a pattern of the user's, a device's works in launch order (where
 * none has a launch, executions whose cycle stamps tell when they were queued) are searched for a
 * period (period_find.h) by their names (of a copy: what stands before a bracket, its direction).
 * Where one is accepted, each full period is an iteration, and what is left at the end is none.
 *
 * An iteration owns the works that were launched while its marker was open, by any thread of its
 * process; where several threads of a process have markers, a thread with markers launches for its
 * own, the others for the first of them. A work belongs to at most one iteration. The host runs
 * ahead of the device, so the device span (first start to last end of the works) is the time of an
 * iteration, and the host's range is that of an iteration without works.
 *
 *	struct iterations *it = iterations_new(m, works, NULL, &err);
 *	it->v.v[i]		by track (or device), then time
 *	it->of_work[row]	row of works → index in v, U64MAP_NONE
 *	iterations_free(it);
 * O(n log n).
 */
#ifndef PROFRIG_ITERATIONS_H
#define PROFRIG_ITERATIONS_H

#include "profrig/base/u64map.h"
#include "profrig/work/period_find.h"
#include "profrig/work/works.h"

struct iteration {
	track_id track;           /* of the marker; TRACK_NONE for periods */
	uint32_t device;          /* of periods: index in works.devices; U64MAP_NONE for markers */
	uint64_t marker;          /* span, SPAN_NONE for periods */
	uint32_t index;           /* in its track, from 0 */
	int64_t start_ns, end_ns; /* the marker's; of a period the device's */
	uint64_t works;
	int64_t sum_ns, union_ns;               /* union over all devices together */
	int64_t device_start_ns, device_end_ns; /* both 0 without works */
	bool steady;                            /* behind the warm-up (steady.h, xla_warmup.h) */
	bool change; /* the level of times changes here (change_points.h, windowed) */
};

struct iterations {
	VEC(struct iteration) v;
	VEC(struct iteration_group {
		size_t first, nr; /* of one track, or of one device's periods */
		size_t steady;    /* leading iterations that are warm-up */
	}) groups;
	VEC(struct device_period {
		uint32_t device;
		uint64_t works; /* linked ones */
		struct period period;
	}) periods;                          /* of each device with linked works */
	uint32_t *of_work;                   /* as many as works has rows */
	struct u64map of_thread, of_process; /* groups; iterations_at asks them */
	uint64_t nested;                     /* markers inside markers */
	uint64_t all_warmup; /* groups whose iterations are all warm-up, and so are all steady */
	uint64_t given_up;   /* names that the pattern gave up on */
};

/* pattern NULL: the default. w may have no rows. -EINVAL: the pattern, as err says. */
int iterations_new(const struct model *m, const struct works *w, const char *pattern,
		   struct iterations **ret, struct err *err);
void iterations_free(struct iterations *it); /* NULL is fine */
/*
 * The marked iteration that a span on a thread begins in, by the rule for launches; U64MAP_NONE.
 * O(log n).
 */
uint32_t iterations_at(const struct iterations *it, const struct model *m, uint64_t span);

/* The time that counts: of the works, else of the marker. */
static inline int64_t iteration_ns(const struct iteration *i)
{
	return i->works ? i->device_end_ns - i->device_start_ns : i->end_ns - i->start_ns;
}

#endif
