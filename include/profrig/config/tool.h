/*
 * tool: one profiling tool as data: tools.d/<name>.yaml (docs/tools.md).
 *
 * tool_set_load reads every tool file of the search path (first of a name wins) and validates all
 * of them; a broken file is a problem only when the tool is used (tool_find), `list tools` shows it
 * as broken. tool_set_open only lists the files, which is enough for a run without tools; tool_find
 * then reads the matching ones, tool_set_all the rest.
 */
#ifndef PROFRIG_TOOL_H
#define PROFRIG_TOOL_H

#include "profrig/base/cfg.h"
#include "profrig/base/vec.h"

enum tool_class { TOOL_WRAP, TOOL_PRELOAD, TOOL_ENV, TOOL_SAMPLER, TOOL_SCRIPT };

struct tool_script {
	char *path; /* absolute, found; or as written when missing */
	struct strvec args;
	bool missing;
	bool bash; /* it is run by bash, not by sh */
};

struct tool_env {
	char *name, *value;
	char *where; /* file:line */
};

/* A variable that the workload does not inherit; one that anything sets stays set. */
struct tool_unset {
	char *name;
	char *where; /* file:line */
};

struct tool_output {
	char *glob;   /* relative to {out}; "./…": relative to the workload's directory */
	char *reader; /* NULL: detect; with match: for analyses */
	bool required;
	uint64_t min_records;
	/* of a log: its records are the lines that hold one of these texts */
	struct strvec match;
	/* it is looked for only when this option has this value; NULL: always */
	char *when_option, *when_value;
	char *group; /* one output of each group must be there, whichever; NULL: this one */
	bool if_any; /* kept and read where there is one; its absence is no fault */
};

struct tool_option {
	char *name, *type; /* string int float bool file */
	char *def;         /* text */
	char *choices;     /* "a|b|c" or NULL */
	double min, max;   /* no range unless min < max */
	char *about;
	char *env;   /* variable of an entry's env that sets it too; NULL */
	char *where; /* file:line of the default */
};

/* How often the workload runs. */
struct tool_passes {
	char *option, *lines; /* once for each line of the option's file that begins so; or NULL */
	uint64_t least;       /* so often at least; 0: not stated */
	char *about;          /* why, for people; may be NULL */
};

/*
 * How a tool that has started is switched between recording and pausing.
 *	FLAG	it looks at $PROFRIG_RECORD itself, as profrig's own tracers do
 *	FIFO	lines are written into a named pipe, answers come from another (perf --control)
 *	SCRIPT	/bin/sh script start|stop, where the workload runs
 *	COMMAND	a program each, likewise
 */
enum tool_control_kind {
	TOOL_CONTROL_NONE,
	TOOL_CONTROL_FLAG,
	TOOL_CONTROL_FIFO,
	TOOL_CONTROL_SCRIPT,
	TOOL_CONTROL_COMMAND
};

struct tool_control {
	enum tool_control_kind kind;
	/*
	 * For runs with switching: words that replace {control} in `wrap`, variables, libraries;
	 * and those that start it paused.
	 */
	struct strvec wrap, paused, preload;
	VEC(struct tool_env) env, paused_env;
	char *fifo, *ack; /* FIFO: in {out}; ack may be NULL */
	struct strvec start, stop;
	struct tool_script script;
};

struct tool {
	char *name, *about, *vendor;
	char *file; /* absolute */
	enum tool_class class;
	struct strvec wrap, needs, preload, provides, conflicts;
	char *conflicts_because; /* for messages; NULL: the word suffices */
	/* permissions in a container: capabilities without "CAP_", --security-opt words */
	struct strvec caps, security;
	bool privileges_wanted; /* without them it works and records less */
	char *because;          /* why it needs them, for people; may be NULL */
	struct tool_passes passes;
	struct strvec instead; /* tools to try where this one's needs are not met */
	/* by the names of programs it needs: the commands that install them (on Debian) */
	VEC(struct tool_env) install;
	VEC(struct tool_env) env;
	VEC(struct tool_unset) unset;
	VEC(struct tool_script) pre, post;
	VEC(struct tool_output) outputs;
	VEC(struct tool_option) options;
	/* NULL: none; may hold {opt.NAME}; "auto": the first GPU source that works */
	char *sampler_kind;
	char *sampler_device;        /* "all"; may hold {opt.NAME} */
	char *sampler_period_option; /* NULL: period_s */
	double sampler_period_s;
	char *sampler_where; /* file:line */
	struct tool_control control;
	double budget; /* share of the workload's time it may cost; NaN: not stated */
	/* of tools.json: words that several of its tools have are added once */
	bool shared_wrap;
	struct strvec notes;      /* worth telling when it is used */
	struct problems problems; /* of its file; empty = usable */
};

struct tool_set {
	VEC(struct tool *) tools; /* by name once all are read */
	struct strvec dirs;       /* searched, in order */
	struct strvec files;      /* not read yet, in that order */
};

/*
 * extra_dirs: --tools-dir, in order. Then $PROFRIG_TOOLS_PATH, ./tools.d, tools.d beside or above
 * the binary, ../share/profrig/tools.d from it. -ENOENT: one of extra_dirs is no directory (exit
 * 2); of the others those that are there count.
 */
int tool_set_load(struct tool_set *ts, const struct strvec *extra_dirs, struct err *err);
int tool_set_open(struct tool_set *ts, const struct strvec *extra_dirs, struct err *err);
/* Reads the unread files; they are a cache, so the set may be const. */
void tool_set_all(const struct tool_set *ts);
void tool_set_release(struct tool_set *ts);
const struct tool *tool_find(const struct tool_set *ts, const char *name); /* also a broken one */
const char *tool_class_name(enum tool_class c);
const struct tool_option *tool_option_find(const struct tool *t, const char *name);
/*
 * The file that a value of an option of type file means: found as the tool's scripts are. Absolute
 * and owned; NULL when there is none.
 */
char *tool_option_path(const struct tool_set *ts, const struct tool *t, const char *value);
/* NULL when the option accepts the value, else the expected form; owned. */
char *tool_option_refuse(const struct tool_option *o, const struct cfg_node *value);

#endif
