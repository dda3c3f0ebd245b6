/*
 * runconf: the configuration of one run, typed and complete: the input of `plan`.
 *
 * runconf_load merges built-in < tools.d < model < file < command line, checks the whole against
 * the schema table and reports all problems at once. Names of tools and engines are resolved here;
 * run/ checks later whether they work.
 */
#ifndef PROFRIG_RUNCONF_H
#define PROFRIG_RUNCONF_H

#include "profrig/base/cfg.h"
#include "profrig/base/vec.h"
#include "profrig/config/buildconf.h"
#include "profrig/config/publishconf.h"
#include "profrig/config/results.h"
#include "profrig/config/tool.h"
#include "profrig/madengine/mad.h"

struct runconf_env {
	char *name, *value, *origin; /* origin: "profrig.yaml:7", "command line" */
	char *from;                  /* the caller's variable that it is taken from; NULL */
	bool secret;
};

struct runconf_mount {
	char *host, *container; /* absolute */
	bool read_only;
};

struct runconf_tool {
	const struct tool *tool; /* borrowed from the tool_set */
	char *where;             /* file:line of the entry, "command line" */
	/* defaults filled in, with the tool's file as their origin */
	VEC(struct runconf_option {
		char *name, *value, *origin;
		char *path; /* of type file: where it is, absolute; else NULL */
	}) options;
	uint64_t passes;  /* so often the workload runs because of it, at least; 1: once */
	char *passes_why; /* for people; NULL: once */
	bool has_wrap;    /* the entry replaces the tool's wrap */
	struct strvec wrap;
	VEC(struct runconf_env) env; /* of the entry: over the tool's own, per key */
	char *sampler_device;        /* NULL: the tool has no sampler */
	double sampler_period_s;
};

struct runconf_script {
	char *path; /* absolute */
	struct strvec args;
	char *where;  /* file:line of the entry */
	bool bash;    /* it is run by bash, not by sh */
	bool missing; /* there is no such file */
};

/* When tools record (docs/live.md). */
struct runconf_record {
	bool given; /* anything of it was configured: tools are started so that they can switch */
	bool begin; /* from the workload's start, or `after` it; else on request, or at the mark */
	char *mark; /* start: "mark NAME"; NULL */
	double after_s, for_s; /* for: 0 no end */
	bool samplers;         /* samplers pause too */
};

struct runconf {
	char *model_name; /* "mlp"; base name of argv[0] for a bare command */
	struct strvec command;
	char *dir;        /* absolute: where the workload runs on host */
	char *cwd;        /* absolute: where relative paths of the command line start */
	char *image;      /* NULL: none stated */
	char *dockerfile; /* NULL; absolute folder or file with which `build` would make it */
	/* the image that `image` was built from, as a manifest or a build of this command names
	 * it, or NULL; prepare (harness/campaign) sets it with dockerfile, not runconf_load */
	char *base_image;
	double timeout_s; /* 0 = none */
	/*
	 * The folder of the run's own in which the workload runs (plan.h, plan_source); both url
	 * and copy NULL: there is none.
	 */
	struct {
		char *url;
		char *user, *password, *ssh_key; /* of url, from secrets; NULL */
		char *copy, *scripts;            /* absolute; NULL */
		bool keep;
	} source;
	struct strvec tags;
	/* for perf.csv, as written; NULL: not stated */
	char *precision, *owner, *launcher, *n_gpus;
	struct strvec skip_gpu_arch;
	struct results_conf results;
	int64_t disk_min_bytes, disk_warn_bytes; /* free space: refused below, warned below */
	char *engine;                            /* "auto", "host", … */
	char *engine_where;
	VEC(struct runconf_env) env; /* env: and secrets: */
	VEC(struct runconf_mount) mounts;
	char *gpus;                     /* NULL, "all" or "0,2-4" as written */
	VEC(int) gpu_list;              /* expanded; empty for all / none */
	char *cpus;                     /* NULL or "0-7,16": sorted, each once */
	struct strvec wrap_at;          /* programs that tools are put in front of */
	VEC(struct runconf_tool) tools; /* first innermost */
	VEC(struct runconf_script) pre, post;
	VEC(struct name_value { char *name, *value; }) labels;
	struct {
		/* NULL = engine's default (network: none is not implied) */
		char *network, *ipc, *shm_size, *user, *workdir, *pull;
		struct strvec caps, options;
		bool privileged_profiling;
		double pull_timeout_s; /* 0: none */
	} container;
	bool keep, live;
	/* of a models.json: its environment describes the machine (devices_mad_env) */
	bool mad_model;
	bool force_tools;   /* also those of a vendor whose GPUs are not found */
	bool skip_workload; /* only the scripts run */
	double grace_s;     /* between INT, TERM and KILL; default 10 */
	double idle_s;      /* sampled before and after the workload, alone; 0: not */
	struct runconf_record record;
	double overhead_budget; /* share of the time that all tools together may cost; NaN */
	/* LD_PRELOAD of the caller: on host the tools' libraries go in front of it; NULL */
	char *caller_preload;
	/* the caller's ROCR_VISIBLE_DEVICES and the like, which a workload on host inherits */
	VEC(struct name_value) caller_gpus;
	struct strvec notes; /* worth telling once, before the run */
	struct build_conf build;
	struct data_conf data;
	struct publish_conf publish;
	/* the merged tree, secrets' values removed, for `plan` and run.json */
	struct cfg effective;
};

/* The configuration of an earlier run, as runconf_recorded_json wrote it. All borrowed. */
struct runconf_replay {
	const struct cfg *tree; /* of LAYER_MODEL */
	/* keys that it lacks: a secret's is read from the environment, others are asked for */
	const struct strvec *left_out;
	bool mad_model;
};

struct runconf_request {
	/* catalog name, file or directory; NULL with a bare command or model: in a config file */
	const char *model;
	const struct catalog *catalog; /* NULL: read when a name is to be found */
	char *const *command;          /* after "--"; NULL */
	/* instead of a model and a command; NULL */
	const struct runconf_replay *replay;
	/* Options that stand for a key (runconf_give). A copy of the request borrows the tree. */
	struct cfg given;
	const char *image;          /* of this model, over all layers; NULL */
	struct strvec config_files; /* --config, in order */
	/* laid over them; its nodes name their own file and line; NULL */
	const struct cfg *over;
	struct strvec sets;                 /* --set; over `given` */
	struct strvec labels;               /* k=v */
	const char *context_file, *context; /* --additional-context-file and itself; NULL */
	/* JSON below both, and the file it is of; NULL */
	const char *context_base, *context_base_name;
	bool lenient; /* unknown keys of contexts and models.json: notes */
	bool builds;  /* for `build`: nothing needs to run, so model.command may be missing */
	bool skip_workload;
	bool bare;             /* leave out all tools and idle, and label the run baseline=true */
	const char *only_tool; /* leave out all tools but this one, and label the run so; NULL */
	const char *cwd;       /* absolute */
};

/*
 * Puts the value of a command-line option at its path, "engine" or "model.timeout", over an earlier
 * one. CFG_SEQ: text is words with commas between. CFG_NULL: the option counts as not given.
 * cfg_path reads given values; the caller releases the tree with cfg_release.
 */
void runconf_give(struct cfg *given, const char *path, enum cfg_kind kind, const char *text);

/*
 * 0; -EINVAL: p holds configuration problems (exit 3), and rc the valid part, so that plan_make can
 * find more problems (engine NULL: there is no valid part); -ENOENT with err: an unknown name or
 * file, or an invalid --set or --label, on the command line (exit 2). The environment is read here
 * (secrets, LD_PRELOAD) and nowhere later.
 */
int runconf_load(struct runconf *rc, const struct runconf_request *rq, const struct tool_set *ts,
		 struct problems *p, struct err *err);
void runconf_release(struct runconf *rc);

/*
 * The member "recorded" of an object: what a later run needs to repeat this one (docs/contract.md).
 * engine: the one that was chosen.
 */
struct json_out;
void runconf_recorded_json(const struct runconf *rc, const char *engine, struct json_out *j);

/* Names that hold a secret by docs/contract.md ("Secrets"). */
bool runconf_is_secret_name(const char *name);

/*
 * Models that `run NAME` finds: ./profrig.yaml, ./<dir>/profrig.yaml and
 * ./examples/<dir>/profrig.yaml. A file that cannot be used is listed with the reason as its about;
 * the first of a name wins. Behind them, the entries of a package's models.json (mad.h).
 */
struct catalog_entry {
	/* path is relative to cwd, or "models.json#NAME"; about and image may be NULL */
	char *name, *path, *about, *image;
	struct strvec tags;
	const struct mad_entry *mad; /* of a models.json; NULL */
};
struct catalog {
	VEC(struct catalog_entry) models;
	struct mad_models mad;
};
int catalog_load(struct catalog *c, const char *cwd, struct err *err);
/* Without those of get_models_json.py: no script is run. */
int catalog_load_files(struct catalog *c, const char *cwd, struct err *err);
/* Of the models of another folder, NULL: of cwd. Paths begin with dir. */
int catalog_load_of(struct catalog *c, const char *cwd, const char *dir, struct err *err);
/* Adds the models of madengine's manifest that the catalog has not (mad_models_add_built). */
void catalog_add_built(struct catalog *c, const char *manifest);
void catalog_release(struct catalog *c);
/*
 * Adds the paths of the models that `word` names (mad.h has the forms of words): the profrig.yaml
 * of that name, else all with that tag, of both kinds; "all" is every model. A word's ":key=value"
 * is appended to the path: "models.json#NAME:key=value", "m/profrig.yaml#:key=value". A path is
 * added once. Returns how many were found.
 */
size_t catalog_match(const struct catalog *c, const char *word, struct strvec *paths);
/* Faults of files that may define word; none when word is the name of a profrig.yaml. */
void catalog_faults(const struct catalog *c, const char *word, struct problems *p);
/* Parts of a path with '#': file, name and arguments; false when it has none. All owned. */
bool catalog_path_split(const char *path, char **ret_file, char **ret_name, struct strvec *args);
/* The same model with these arguments (":key=value", "" for none) instead of its own; owned. */
char *catalog_path_with(const char *path, const char *args);

/* One row per configuration key, for `list options`: key, type, default, description. */
struct schema_key {
	const char *path; /* "container.shm_size", "tools[].name", "secrets.*.from_env" (any key) */
	/*
	 * string path int float seconds bool scalar, list of strings, map of strings, map, list of
	 * maps, map of maps; words: a list of strings, or one string with commas; any
	 */
	const char *type;
	const char *def;     /* text or NULL */
	const char *choices; /* "a|b|c" or NULL */
	const char *about;
	double min, max; /* of numbers; no range unless min < max */
	bool required;   /* inside its map */
	/*
	 * Of a list of maps: a plain entry X stands for {shorthand: X}. Of a map: a scalar in its
	 * place is checked as this member, and stays one.
	 */
	const char *shorthand;
};
extern const struct schema_key schema_table[]; /* ends with path NULL */
/* Checks any file's tree against such a table. Also checks below wrong keys, so that one pass shows
 * all problems. */
void schema_check(const struct cfg_node *root, const struct schema_key *table, struct problems *p);

#endif
