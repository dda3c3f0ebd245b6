/*
 * plan_int: the parts of plan_make. Every function below adds to m->pl and to m->p and goes on: one
 * pass shows all problems.
 */
#ifndef PROFRIG_PLAN_INT_H
#define PROFRIG_PLAN_INT_H

#include "profrig/plan/plan.h"

#define SCRIPT_TIMEOUT_S 600.0
#define SCRIPT_SHELL "/bin/sh"
#define SCRIPT_BASH "bash"

/* Below the run directory; run/ makes them (profrig/control.h). */
#define PLAN_MARKS "marks"
#define PLAN_FLAG "record.flag"

struct maker {
	const struct plan_request *rq;
	const struct runconf *conf;
	struct plan *pl;
	struct problems *p;
	bool container;
	char *cwd; /* of every step */
};

void plan_problem(struct maker *m, const char *where, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* artifacts/<tool>, absolute; owned. */
char *plan_tool_dir(const struct maker *m, const char *tool);
/* text with the placeholders of tool replaced; owned. An unknown one is a problem and stays as it
 * is. */
char *plan_expand(struct maker *m, const struct runconf_tool *t, const char *text);
/* A tool's words in front of the workload, expanded. */
void plan_wrap(struct maker *m, const struct runconf_tool *t, struct strvec *argv);
/* A preload library as the workload will see it; owned. */
char *plan_library(const struct maker *m, const char *name);

/* Whether a tool that shares the words of tool `at` has added them already. */
bool plan_wrapped_already(struct maker *m, size_t at);

/* plan_tool.c */
/*
 * The value of an option; of one that names a file, the copy that steps see, which is kept in
 * *ret_path until the next call.
 */
const char *plan_option_value(const struct maker *m, const struct runconf_tool *t,
			      const struct runconf_option *o, char **ret_path);
/* {files}: where copies of the files that options name are; owned. */
char *plan_files_dir(const struct maker *m, const char *tool);
void plan_files(struct maker *m, const struct runconf_tool *t);
bool plan_output_asked(const struct runconf_tool *t, const struct tool_output *o);
/* Do the tools of this plan stand in front of programs of the workload, not of all of it? */
bool plan_wrap_at(const struct maker *m);
/* The resulting words in front of the workload. */
void plan_wrap_start(struct maker *m, struct strvec *argv);
void plan_wrap_files(struct maker *m);

/* plan_env.c */
void plan_env_workload(struct maker *m, struct plan_step *step);
/* tool NULL: a script of the user. */
void plan_env_script(struct maker *m, const struct runconf_tool *tool, struct plan_step *step);

/* A word of a wrap that expands to any number of words. */
#define CONTROL_WORD "{control}"

/* plan_control.c */
void plan_controls(struct maker *m);
/* Whether the tool is started so that it can be switched; and so that it begins paused. */
bool plan_is_switched(const struct maker *m, const struct runconf_tool *t);
bool plan_starts_paused(const struct maker *m, const struct runconf_tool *t);
/* The value of {control} in a wrap. */
void plan_control_words(struct maker *m, const struct runconf_tool *t, struct strvec *argv);
/* plan_source.c */
void plan_source(struct maker *m);
void plan_source_mount(const struct maker *m, struct engine_spec *s);

/* plan_inside.c: once steps, controls and mounts are known */
void plan_inside(struct maker *m);

/* plan_spec.c */
void plan_engine_spec(struct maker *m);

/* plan_privileges.c: what tools need of a container, given or not */
void plan_privileges(struct maker *m);

#endif
