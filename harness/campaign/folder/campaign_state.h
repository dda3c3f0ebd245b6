/*
 * campaign_state: what the journal of a campaign says of its runs.
 *
 *	campaign_state_init(&s);
 *	journal_open(path, campaign_state_seen, &s, …)	each event in turn
 *	campaign_state_run(&s, "3fa9c1d2e4b5-2")	one run, made when it is new
 *	campaign_state_release(&s)
 *
 * Runs are known by their names, whichever plan they are of: a run of a cell that is in an older
 * plan alone is in the list, and in no count.
 */
#ifndef CAMPAIGN_STATE_H
#define CAMPAIGN_STATE_H

#include "commit.h"
#include "journal.h"

#include "profrig/base/intern.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"

enum attempt_class {
	ATTEMPT_OK,
	ATTEMPT_INFRASTRUCTURE, /* the machine: node, engine, pull, disk, scheduler */
	ATTEMPT_WORKLOAD,       /* exit, signal, timeout, memory, output or metric missing */
	ATTEMPT_INVALID,        /* it ran, but the processor was throttled: does not count */
	ATTEMPT_INTERRUPTED     /* profrig or its user ended it; it counts as no failure */
};
const char *attempt_class_name(enum attempt_class c);
bool attempt_class_parse(const char *name, enum attempt_class *ret);

enum run_stage { RUN_LEFT, RUN_OPEN, RUN_COMMITTED, RUN_GIVEN_UP };

struct run_state {
	const char *name; /* of intern */
	enum run_stage stage;
	uint32_t attempts;                        /* the highest number that was announced */
	uint32_t open;                            /* of them, the one that has no end; 0 none */
	uint32_t committed;                       /* the attempt */
	uint32_t failed[ATTEMPT_INTERRUPTED + 1]; /* attempts by class, since the last `retry` */
	uint32_t superseded;
	int64_t begun_ns, ended_ns; /* of the last attempt, CLOCK_REALTIME; 0 not */
	int64_t not_before_ns;      /* CLOCK_MONOTONIC; kept by the engine alone */
	char reason[200];           /* of the last failure */
};

/* A source file of the campaign, and its copy in the folder. */
struct state_file {
	char *path, *copy;
};

/* A submission to a scheduler: a nonce, and the attempts of each of its jobs. */
struct state_submission {
	char *nonce;
	json_t *jobs; /* a list of lists of names of attempts; owned */
	bool known;   /* that it was queued */
	bool cancelled;
	int64_t t_ns;
};

/* An attempt that ended well, although another one is committed. */
struct state_superseded {
	const char *run; /* of intern */
	uint32_t attempt;
};

struct campaign_state {
	struct intern *names;
	VEC(struct run_state) runs; /* by id of names, less 1 */
	VEC(struct state_file) files;
	VEC(struct state_submission) submissions;
	VEC(struct state_superseded) superseded;
	char *dir, *cwd, *plan; /* of `open` and the last `plan`; NULL */
	bool keep_old;
	/* What the machine was like before the first run of this boot (`idle`); NULL: not known. */
	char *idle_boot;
	double idle_c, idle_w, idle_gpu_w; /* NaN: not read */
	uint64_t cooldown_limit;           /* attempts that began at the limit of a cool-down */
	uint64_t throttled; /* attempts that count, although the processor was throttled */
	bool concluded;     /* steps and verdict came behind the last commit and plan */
	uint64_t events;
};

void campaign_state_init(struct campaign_state *s);
void campaign_state_release(struct campaign_state *s);
journal_seen campaign_state_seen;
/* Valid until the next new run. */
struct run_state *campaign_state_run(struct campaign_state *s, const char *run);
/* NULL: it was never announced. */
const struct run_state *campaign_state_find(const struct campaign_state *s, const char *run);

bool campaign_state_is_superseded(const struct campaign_state *s, const char *run,
				  uint32_t attempt);
/* Whether a scheduler was given this attempt. */
bool campaign_state_submitted(const struct campaign_state *s, const char *run, uint32_t attempt);

#endif
