/*
 * run_replay: repeats a run from its run directory: `run --replay RUNDIR`.
 *
 *	r = replay_open(&rp, "runs/latest", false, &err);
 *	rq.replay = &rp.conf;			the recorded configuration: a layer below files and
 *						the command line (runconf.h)
 *	replay_image(&rp, &p, &said);		once the engine is known
 *	replay_compare(&rp, &p);		once the plan is made
 *	replay_close(&rp);
 *
 * The run directory is foreign text: files are opened through a door (no links, no FIFOs, one name
 * each), their sizes are bounded, and the configuration is checked as one of a user is. What it
 * says to execute is executed, so its folder, run.json and plan.json must belong to the caller or
 * to root and must not be writable by everyone; `foreign` accepts other owners.
 */
#ifndef RUN_REPLAY_H
#define RUN_REPLAY_H

#include <jansson.h>

#include "profrig/base/cfg.h"
#include "profrig/base/err.h"
#include "profrig/config/runconf.h"

struct prepared;
struct said;

struct replay {
	char *dir, *id; /* absolute; of the recorded run */
	struct cfg plan;
	struct cfg tree; /* root below plan's */
	struct strvec left_out;
	struct runconf_replay conf; /* borrows the two */
	json_t *run;                /* run.json */
	char *image_then;           /* its image as named; NULL */
	bool held;
};
#define REPLAY_INIT \
	{ \
		.dir = NULL \
	}

/*
 * -ENOENT: no run directory; -EACCES: it belongs to another user, or all may write there; -EBADMSG:
 * it cannot be repeated, err says why.
 */
int replay_open(struct replay *rp, const char *dir, bool foreign, struct err *err);
void replay_close(struct replay *rp);

/*
 * Where the engine's image of the recorded name is another one today and the recorded one is still
 * there, the run takes that, by its id. Images of the command line are left alone.
 */
void replay_image(const struct replay *rp, struct prepared *p, struct said *said);
/* Adds what a message about the recorded configuration cannot know: where a tool was, which machine
 * the run was on. */
void replay_explain(const struct replay *rp, const struct prepared *p, struct problems *problems);
/* Fills p->replay (plan.h). */
void replay_compare(const struct replay *rp, struct prepared *p);

#endif
