/*
 * run_options: what the command line asks of runs, and of builds for them. Strings of the command
 * line are borrowed.
 */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include <stdbool.h>

#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"
#include "profrig/config/runconf.h"

/* A model of `run` whose image could not be built. All owned. */
struct unbuilt {
	char *word, *image, *dockerfile, *base, *why;
};
/* Options of run and plan. */
struct run_options {
	struct strvec tags; /* as given, commas and all */
	/* Its catalog comes from pick_models; model, command and cwd are unset (run_request). */
	struct runconf_request conf;
	struct strvec tools_dirs;
	const struct tool_set *tools; /* read before, outlives what is prepared; NULL: each time */
	const char *tools_config, *runs_dir, *format;
	double cooldown_s; /* between two runs */
	long repeat;
	bool no_analyze, propagate, check, gate;
	bool no_latest;       /* the link to the newest run is left as it is */
	const char *baseline; /* NULL: none; "" or "all", or "tools": each tool alone too */
	bool all_archs;
	bool json;
	const char *manifest;
	bool build;           /* first the images */
	struct strvec images; /* of the manifest, one for each model; empty: the models' own */
	struct strvec names;  /* likewise its name of the model; "" unknown */
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
/* The engine or the image of the command line; NULL: none. */
const char *run_given_engine(const struct run_options *o);
const char *run_given_image(const struct run_options *o);
void run_options_init(struct run_options *o);
void run_options_release(struct run_options *o);

#endif
