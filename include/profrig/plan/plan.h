/*
 * plan: configuration → the steps of a run, as data. Pure: no process is started, no file is read
 * or written, no clock is read; facts of the machine are in the request.
 *
 * Steps are in order of execution: pre scripts (outermost tool first, then the user's), the
 * workload inside its wrappers, post scripts (the user's, then innermost tool first). Each step's
 * environment is complete with the origin of every variable. Paths are those inside the step; the
 * run directory has the same path everywhere.
 *
 * Stacking [T1 … Tn]: argv = Tn.wrap … T1.wrap workload. Equal env values of two tools are fine,
 * different ones are a problem unless the user's env settles the variable. A variable is a step's
 * own only: secrets reach the workload alone, a tool's env the workload alone; scripts see
 * PROFRIG_TOOL, PROFRIG_OUT and PROFRIG_OPT_<NAME>. Preloads of all tools are joined with ':' into
 * LD_PRELOAD (T1 first, a user's own LD_PRELOAD after them). A variable in a tool's `unset` is not
 * inherited by the workload unless anything sets it. conflicts: words of one tool's
 * `conflicts` that name another tool or appear in its `provides`.
 *
 * wrap_at: the words of all tools are in front of each of these programs instead, in a script of
 * that name in <run>/wrap, which is first in the workload's PATH; PLAN_WRAP_LIBRARY, which is
 * preloaded, redirects those that are started by a path. Children of that program have the original
 * PATH and preloads, so nothing is wrapped twice.
 *
 * A container gets no privileges for tools without container.privileged_profiling; `privileges`
 * lists each privilege and the option that gives it.
 */
#ifndef PROFRIG_PLAN_H
#define PROFRIG_PLAN_H

#include <stdio.h>

#include "profrig/config/runconf.h"
#include "profrig/devices/devices.h"
#include "profrig/engine/engine.h"

#define PLAN_WRAP_LIBRARY "libprofrig_wrap.so"
/* below the run directory: the scripts of wrap_at add a line each time they start their program */
#define PLAN_WRAP_LOG "steps/wrap_at.log"

/* Below the run directory, while a container lives: see struct plan_inside. */
#define PLAN_INSIDE ".inside"
#define PLAN_HIDDEN ".hidden"

enum step_kind { STEP_PRE, STEP_WORKLOAD, STEP_POST };

struct plan_env {
	char *name, *value, *origin;
	char *from; /* of a secret: the caller's variable that holds it, NULL when a file does */
	char *data; /* it is set when this data set is there; NULL: always */
	bool secret;
};

/* A variable of the agent's environment that the step does not inherit. */
struct plan_unset {
	char *name, *origin;
};

struct plan_step {
	enum step_kind kind;
	/* "pre-rocprof-setup", "workload", "post-A-collect": unique, safe in file names */
	char *name;
	char *tool; /* NULL: the user's, or the workload */
	struct strvec argv;
	VEC(struct plan_env) env;     /* by name */
	VEC(struct plan_unset) unset; /* by name, none of env; of the workload only */
	/*
	 * laid over the agent's own environment: the caller's on host, the image's in a container
	 */
	bool inherit_env;
	char *cwd;
	double timeout_s; /* 0 none; scripts 600 */
	char *out, *err;  /* steps/NN-<name>.out below the run directory, absolute */
};

/*
 * Copied into the run directory so that a step can see them: scripts as <run>/scripts/NN-<base>,
 * files that options name as <run>/files/<tool>/<base>.
 */
struct plan_copy {
	char *from, *to;
};

/* A script with the words in front of a program, <run>/wrap/<program>. */
struct plan_made {
	char *to, *text;
};

struct plan_sampler {
	char *tool, *kind, *device;
	double period_s;
	VEC(struct name_value) options;
	char *out; /* samples/<tool>.csv, absolute */
};

struct plan_output {
	/* dir = artifacts/<tool> absolute, or the workload's directory for a glob "./…" */
	char *tool, *dir, *glob, *reader;
	bool required;
	uint64_t min_records;
	struct strvec match;
	char *group;
	bool if_any; /* it is no gap when there is none */
};

/* What a tool wants a container to allow. */
struct plan_privilege {
	char *tool, *what, *why; /* "SYS_ADMIN", "seccomp=unconfined"; why may be NULL */
	bool security;           /* an option, not a capability */
	bool wanted;             /* the tool works without it, and records less */
	const char *by;          /* the option that gives it: "container.caps", …; NULL: none */
};

/* A data set: a link in the run directory to where its data is, once it is. */
struct plan_data {
	char *name, *link;
};

/*
 * How one tool is switched while it runs: nothing of it when it goes on all the time. A plan whose
 * recording is not configured has only those that are always ready.
 */
struct plan_control {
	char *tool;
	enum tool_control_kind kind;
	char *fifo, *ack;               /* absolute; ack may be NULL */
	struct strvec on, off;          /* FIFO: lines */
	struct plan_step *start, *stop; /* SCRIPT, COMMAND; beside the workload, not in steps */
};

/*
 * What a container sees of the run directory, at its place in PLAN_INSIDE, which is mounted in the
 * run directory's stead: nothing else of it is there (plan_inside.c). None on host.
 */
struct plan_inside {
	char *rel; /* below the run directory */
	bool file; /* an empty one is made beforehand; else a folder */
	bool writable;
};

struct plan_need {
	char *tool, *what; /* must exist where the workload runs */
};

/* A fact of the machine or of the model that is not what a recorded run had. */
struct plan_difference {
	char *what, *recorded, *today; /* "host.kernel", "6.1", "6.12"; NULL: not known */
};

/* Of a run that repeats a recorded one. */
struct plan_replay {
	char *of, *dir;  /* the recorded run: its id and its folder */
	size_t compared; /* so many facts */
	VEC(struct plan_difference) differences;
};

struct plan {
	char *run_id, *run_dir;
	const struct engine *engine;
	struct engine_spec spec;
	struct strvec engine_argv;
	struct strvec mkdirs; /* absolute folders to create in the run directory */
	/* the folder of the run's own in which the workload runs, made of conf->source before the
	 * first step (plan_source.c); NULL: it runs in the model's */
	char *source_dir;
	VEC(struct plan_step) steps;
	VEC(struct plan_copy) copies;
	VEC(struct plan_made) made;
	VEC(struct plan_sampler) samplers;
	VEC(struct plan_output) outputs;
	VEC(struct plan_need) needs;
	VEC(struct plan_inside) inside;
	VEC(struct plan_data) data; /* as conf->data.sets */
	VEC(struct plan_privilege) privileges;
	uint64_t passes; /* so often the workload runs, at least; its timeout is for all of them */
	const struct devices *devices;     /* of this machine, borrowed; NULL: not looked at */
	VEC(struct plan_control) controls; /* of every tool that traces, in order */
	bool starts_paused;                /* tools record nothing until they are switched on */
	const struct runconf *conf;        /* borrowed */
	const struct plan_replay *replay;  /* borrowed; NULL: it repeats no run */
};

struct plan_request {
	const struct runconf *conf;
	const struct engine *engine;
	const char *run_id, *run_dir; /* absolute */
	const char *lib_dir;          /* host folder with profrig-init and libprofrig_*.so */
	/* this machine's name, for tracers inside containers (PROFRIG_HOST); NULL: not known */
	const char *host;
	const struct devices *devices; /* NULL: not known */
	/*
	 * Folders behind links: pairs of a name (of a mounted folder, of the folder of runs) and
	 * its real path. NULL, or a name that is not among them: the name is the real path.
	 */
	const struct strvec *real;
	struct engine_limits limits;
	const struct plan_replay *replay; /* plan.replay; may be filled later */
};

/*
 * 0; -EINVAL with problems (conflicts, environment disputes, missing scripts, unknown
 * {placeholders}).
 */
int plan_make(const struct plan_request *rq, struct plan *ret, struct problems *p, struct err *err);
void plan_release(struct plan *pl);
/* The workload's step; NULL: there is none. */
const struct plan_step *plan_workload(const struct plan *pl);
/* The value of a variable of a step; NULL: it has none of that name. */
const char *plan_step_env(const struct plan_step *s, const char *name);
/* "pre", "workload", "post" */
const char *plan_step_kind(enum step_kind k);

/* Secrets are printed as "***" in all forms. */
void plan_print_text(const struct plan *pl, FILE *f);
void plan_print_json(const struct plan *pl, FILE *f);
/* a script a person could read and, on host, run by hand */
void plan_print_sh(const struct plan *pl, FILE *f);
/* plan_replay.c: a few lines with a table; the member "replay" of an object. */
struct json_out;
void plan_replay_text(const struct plan_replay *r, FILE *f);
void plan_replay_json(const struct plan_replay *r, struct json_out *j);

/* The samplers, steps … as run.json's tools[] wants them: name, argv of the wrap. */

#endif
