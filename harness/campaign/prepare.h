/*
 * prepare: from options to a plan: tools, configuration, engine, run id.
 *
 *	r = prepare(&o, "examples/mlp", NULL, &p, &problems, &said, &err);
 *	prepare_again(&p, &err)		before each further run
 *	prepared_release(&p)		also after a prepare that failed
 *
 * Errors of this room, each with an exit code of the command line: -EINVAL a wrong call, -ENOENT a
 * word that names nothing, -EBADMSG a wrong configuration (see err or, when its message is empty,
 * problems), -ENODEV this machine lacks something that was requested.
 */
#ifndef PREPARE_H
#define PREPARE_H

#include "run_options.h"
#include "said.h"

#include "profrig/base/err.h"
#include "profrig/plan/plan.h"
#include "profrig/run/run.h"

/* One configured run, for run and plan. Heap-allocated parts live as long as it. */
struct prepared {
	struct tool_set tools;
	struct runconf conf;
	struct plan plan;
	struct devices devices; /* of this machine */
	const struct engine *engine;
	char *runs_dir, *run_id, *run_dir, *lib_dir;
	double build_s; /* how long its image took to build, NAN: not known */
	bool bare;
	bool alone; /* one of several tools */
	/* what differs from the run that this one repeats; of NULL: it repeats none */
	struct plan_replay replay;
	char *image_named;  /* id of the image of the recorded name today; NULL unknown */
	struct strvec pins; /* a configured path, then its target (prepare_pins.c) */
};

/*
 * model NULL with command. Problems of the configuration are added to problems. p keeps addresses
 * of its own parts: it must not move.
 */
int prepare(const struct run_options *o, const char *model, char *const *cmd, struct prepared *p,
	    struct problems *problems, struct said *said, struct err *err);
/* What the options of run and plan ask of a configuration. cwd and o outlive it. */
struct runconf_request run_request(const struct run_options *o, const char *model, char *const *cmd,
				   const char *cwd);
/*
 * A new run id, and the plan again, since the id is in all its paths. -ELOOP: a configured path now
 * leads elsewhere.
 */
int prepare_again(struct prepared *p, struct err *err);
/* The same with this id and run directory. */
int prepare_at(struct prepared *p, const char *run_id, const char *run_dir, struct err *err);
/* Sets a label, in place of an earlier one; counts from the next prepare_at on. */
void prepare_label(struct prepared *p, const char *name, const char *value);
void prepared_release(struct prepared *p);
/* The tools of --tools-dir, of the search path and of the package that is here. */
int tools_load(const struct strvec *dirs, struct tool_set *ret, struct said *said, struct err *err);

/* --- prepare_pins.c --- */

/* Before it: the folders of the plan that are the same by way of links (plan_request.real). */
void pins_real(const struct prepared *p, struct strvec *real);
/* After the plan is made. */
void pins_take(struct prepared *p);
/* Whether all lead there still: 0 or -ELOOP. */
int pins_hold(const struct prepared *p, struct err *err);
/* The same for one path, without messages; also true for a missing path and for other paths. */
bool pin_holds(const struct prepared *p, const char *path);

#endif
