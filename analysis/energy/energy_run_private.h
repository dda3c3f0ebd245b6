/*
 * energy_run: its state (energy_run.c: life cycle, ranks, results) and its rounds (energy_round.c).
 *
 * A share group has the lanes that share the same counters. In a round it takes every lane's
 * events; those that change the sharers are cut into slices of time. A slice depends on its changes
 * and on the state at its start alone, so threads make several at once, each waiting for the one
 * before it only where that state is needed. Then each lane passes through them in order, lanes in
 * parallel.
 */
#ifndef ENERGY_RUN_PRIVATE_H
#define ENERGY_RUN_PRIVATE_H

#include "attribution_private.h"

#include <stdatomic.h>

#include "profrig/energy/power_fit.h"

/* A job: its counter's facts, its grid and its totals. */
struct job {
	struct energy_job what;
	struct counter_info info;
	struct energy_totals totals;
	struct sum dead_j;
	size_t domain, grid, counter; /* DOMAIN_NONE: too short to integrate */
};
#define DOMAIN_NONE SIZE_MAX

/* Of a lane's events in the round those that change the sharers, among others. */
struct lane_part {
	const struct lane_event *v;
	size_t nr, changes;           /* changes: at most */
	size_t taken;                 /* those of earlier slices */
	VEC(struct lane_event) ranks; /* v, where they come from another rank too */
};

/* Lanes of one class that one job takes through the slices; from == to: idle or active time. */
struct lane_batch {
	size_t from, to; /* lanes of the domain */
	uint32_t share_class;
	bool first, alone;              /* of its class */
	VEC(struct share_curve) curves; /* by grid, of the present slice; alone only */
};

/* A domain and its accumulators, [lane of the domain][grid]. */
struct share_group {
	struct domain d;
	struct accumulator *accumulators;
	uint32_t idle_class, given_class;
	struct accumulator *idle, *given; /* by grid; node 0 */
	/* ranks: which lanes (of the domain), and whether the idle and the active time are here */
	bool *here, idle_here;
	bool spread; /* its lanes are not all of one rank */
	bool started;
	int64_t at_ns;           /* start of the next slice */
	struct share_state at;   /* sharers at that time */
	struct lane_part *parts; /* by lane of the domain */
	VEC(struct lane_batch) batches;
};

/* A stretch of time at work; what it holds is of use until the next ones, its memory for all. */
struct slice {
	int64_t from_ns, horizon_ns;
	bool first; /* of all of the group's */
	const struct slice
		*before; /* made at the same time; NULL: the group's state is its begin */
	struct share_state end;
	atomic_bool ended; /* `end` is there */
	struct share_changes changes;
	struct sharing sharing;
	VEC(struct share_curve) curves; /* [class][grid], of classes with several batches */
};

/* Of a job: energy by power (energy_power.c). */
struct power_split {
	bool made;
	struct power_fit fit;
	size_t *first_node; /* by lane of the domain: where its nodes begin, and the end */
	double *node_j;     /* by node */
	double idle_j;      /* while nothing ran, without dead intervals */
	fixed128 *class_j;  /* by class: in all of the time, before scale */
	fixed128 *rest_j;   /* of it what was not sampled */
	double *doubt_j;    /* by node: half-width of what a power of its own may add; NULL */
	double scale;       /* that keeps the sum */
	size_t lanes;
	struct power_timeline timeline;
	VEC(struct energy_call_value) calls;
};

struct energy_run {
	const struct model *m;
	struct energy_opts o;
	VEC(struct job) jobs;
	VEC(struct lane_def) lanes;
	enum lane_mode *modes;
	VEC(struct share_group) groups;
	VEC(struct slice) slices; /* one batch */
	struct comm *comm;
	struct log_budget budget;
	VEC(struct power_split) splits; /* by job, of energy_run_split; none before it */
};

/* Whether energy is split by power. */
static inline bool energy_run_by_power(const struct energy_run *run)
{
	return run->o.estimate != ESTIMATE_TIME && !run->o.independent;
}
void totals_of(const struct energy_run *run, const struct job *j, struct energy_totals *t);
/* Index of a lane in a domain; SIZE_MAX: it does not take part. */
size_t domain_place(const struct domain *d, size_t lane);
/* All 0 where there is no such node. */
struct node_energy accumulator_value(const struct accumulator *w, size_t counter, uint32_t node);
void splits_release(struct energy_run *run);
void slices_release(struct energy_run *run);
void batches_release(struct share_group *t);

#endif
