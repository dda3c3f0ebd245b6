/*
 * run_options: what the command line asks of runs, and of builds for them. Strings of the command
 * line are borrowed.
 */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include <stdbool.h>

#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"

struct catalog;

/* A model of `run` whose image could not be built. All owned. */
struct unbuilt {
	char *word, *image, *dockerfile, *base, *why;
};
/* Options of run and plan. */
struct run_options {
	struct strvec tags; /* as given, commas and all */
	const char *context, *context_file, *tools_config;
	bool lenient, keep_model_dir;
	const struct catalog *catalog; /* of pick_models; NULL */
	struct strvec tools_dirs, config, sets, labels;
	const char *runs_dir, *engine, *image, *tools, *format, *perf_csv;
	double timeout_s, idle_s; /* < 0 not given */
	const char *record_start;
	double record_after_s, record_for_s; /* 0 not given */
	bool record_only;
	double cooldown_s; /* between two runs */
	long repeat;
	const char *wrap_at;
	bool privileged_profiling, force_tools;
	bool live, keep, no_analyze, propagate, check, gate;
	const char *baseline; /* NULL: none; "" or "all", or "tools": each tool alone too */
	const char *overhead_budget;
	bool bare;             /* this one is the baseline */
	const char *only_tool; /* this one has but one tool; NULL */
	bool skip_workload, all_archs;
	bool json;
	const char *manifest, *data_cache;
	bool build;           /* first the images */
	struct strvec images; /* of the manifest, one for each model; empty: the models' own */
	struct strvec names;  /* likewise what it calls the model; "" unknown */
	VEC(double) builds_s; /* how long each took to build, NAN: not known */
	double build_s;       /* of this one */
	/* what each was made of, and from; "" unknown */
	struct strvec dockerfiles, bases;
	/* whose images could not be built for this command: they do not run, which is a result */
	VEC(struct unbuilt) unbuilt;
	int build_code;                /* what building came to: not all of it may have worked */
	const char *dockerfile, *base; /* of this one; NULL */
	char *manifest_context;        /* owned; NULL */
	char *manifest_made;           /* by the build before the run; owned; NULL */
};
void run_options_init(struct run_options *o);
void run_options_release(struct run_options *o);

#endif
