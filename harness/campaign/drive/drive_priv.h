/*
 * drive_priv: what the two ways of making runs share: on this machine (drive_local.c) and by a
 * scheduler (drive_scheduler.c).
 */
#ifndef DRIVE_PRIV_H
#define DRIVE_PRIV_H

#include "campaign_drive.h"

#define TICK_NS NS_PER_S
#define IDLE_NS (5 * NS_PER_S)

/* Runs that belong together: a block, or in sequential order a single run. */
struct group {
	size_t begin, end; /* of order.runs */
	bool begun, taken;
	bool done; /* no run of it is left, or open */
};

/* An attempt that was announced. */
struct driven {
	struct attempt_name name;
	uint32_t cell;    /* of the plan */
	int64_t begun_ns; /* CLOCK_MONOTONIC */
};

struct driving {
	struct campaign_job *j;
	const struct drive_opts *o;
	struct order order;
	VEC(struct group) groups;
	uint32_t *places_of; /* of order.runs, in state.runs */
	size_t groups_begun;
	size_t places;              /* where runs are made side by side */
	struct drive_outcome count; /* kept up to date */
	uint64_t begun, running;
	double sum_s;
	uint64_t nr_s;
	int64_t begin_ns;
	bool drains, stops, swept; /* swept: a dead run was found */
	bool enough;               /* by stop_when: no block begins */
	uint32_t looked;           /* at so many whole blocks */
	int signal;
	struct err *err;
};

int drive_local(struct driving *d);
int drive_scheduler(struct driving *d);

/* a NULL: of the campaign. */
void drive_tell(const struct driving *d, enum drive_event what, const struct driven *a,
		const char *text, double wait_s, double run_s);
/* Takes a signal that came: true; `drains` and `stops` say what follows. */
bool drive_signals_take(struct driving *d);
/* How long to wait, at most until then. */
int64_t drive_sleep_ns(const struct driving *d, int64_t until);

struct run_state *drive_run(struct driving *d, const struct order_run *o);
/*
 * A run of the group that may begin now: those that were not tried stand in front of those that
 * failed, which so are at the end of their block. NULL: none. *ret_wait: when the first of the
 * others may, if that is earlier.
 */
const struct order_run *drive_group_next(struct driving *d, struct group *g, int64_t now,
					 int64_t *ret_wait);
bool drive_budget_over(struct driving *d);

/* Announces the next attempt of a run; limit: its cool-down ended there. */
int drive_intend(struct driving *d, const struct order_run *o, bool limit, struct driven *ret);
/*
 * Commits an attempt that ended well; when that fails it is a failure of the machine. One that was
 * throttled is invalid, while extra runs are left.
 */
void drive_commit(struct driving *d, const struct attempt_name *a, struct attempt_outcome *o);
/*
 * When it looks as if its profrig is dead: ends what it left, completes its record, and judges it
 * again, so that nothing changes it once its end is in the journal.
 */
void drive_sweep(struct driving *d, const struct attempt_name *a, struct attempt_outcome *o);
/* What an engine did not let go of then. */
void drive_sweep_rest(struct driving *d);
/* Attempts that ended well after the journal had their end: superseded. */
int drive_late(struct driving *d);
/* An attempt has ended: writes that down, and whether the run is made again. */
int drive_over(struct driving *d, const struct driven *a, struct attempt_outcome *o);

#endif
