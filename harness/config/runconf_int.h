/*
 * runconf_int: between the two halves of loading a run's configuration: runconf.c makes one tree of
 * all sources, runconf_fill.c makes typed fields of the tree.
 */
#ifndef PROFRIG_RUNCONF_INT_H
#define PROFRIG_RUNCONF_INT_H

#include "profrig/base/fields.h"
#include "profrig/config/runconf.h"

struct loader {
	struct runconf *rc;
	const struct runconf_request *rq;
	const struct tool_set *ts;
	struct problems *p;
	struct cfg tree;
	char *model_file;        /* as shown; NULL without MODEL */
	bool broken;             /* a file could not be read as a tree */
	bool package;            /* the model is an entry of models.json */
	bool only_publish;       /* publishconf_load: there is no run, and no secret was read */
	struct catalog *catalog; /* ours, when the request has none */
	struct cfg context;      /* of --additional-context; root NULL before it is read */
	struct err usage;        /* code ≠ 0: the command line itself is wrong */
};

/* runconf_record.c */
void runconf_fill_record(struct loader *l);

void runconf_init(struct runconf *rc);
/* runconf_release.c: members that fields_read reads, before all others. */
extern const struct field runconf_fields[];

/* runconf_more.c */
void runconf_fill_cpus(struct loader *l, const struct cfg_node *root);
/* The value of an option in an entry, by its name or by its variable; NULL: none. */
const struct cfg_node *runconf_option_given(struct loader *l, const struct cfg_node *entry,
					    const struct tool_option *o);
/* The period that a tool's file states, itself or by an option. */
double runconf_period_s(const struct runconf_tool *rt);
/* The file that an option names, and how often the workload runs because of it. */
void runconf_fill_files(struct loader *l, struct runconf_tool *rt, const struct cfg_node *entry);
/*
 * A tool that is in the list already: alike it counts once, else it is a problem. True when it was
 * one.
 */
bool runconf_known_tool(struct loader *l, const struct cfg_node *entry,
			const struct cfg_node *name);
/* Adds the problem of a name: of the command line (exit 2) or of a file (exit 3). */
void loader_bad_name(struct loader *l, const struct cfg_node *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* "unknown WHAT 'NAME'; did you mean …?", or where `profrig list WHATs` shows the names. */
void loader_unknown(struct loader *l, const struct cfg_node *at, const char *what, const char *name,
		    const struct strvec *names);
/* runconf_fill.c, for the others. The scalar (not null) or the map at a key, else NULL. */
const struct cfg_node *conf_scalar(const struct cfg_node *map, const char *key);
const struct cfg_node *conf_map(const struct cfg_node *map, const char *key);
double conf_seconds(const struct cfg_node *map, const char *key);
/* Where a value of the machine is from: it is looked at again for each run. */
#define CONF_OF_MACHINE "this machine"
/* Where a value is from, for people; owned. */
char *conf_origin(const struct cfg_node *n);
/* A path of the configuration, absolute: relative ones start from their file's folder. Owned. */
char *conf_resolve(const struct loader *l, const struct cfg_node *n);
/* The same without a loader. */
char *conf_path_of(const char *cwd, const struct cfg_node *n);

/*
 * runconf_package.c: models.json and contexts. The catalog, read at the first call; NULL after
 * saying why.
 */
const struct catalog *loader_catalog(struct loader *l);
/* The folder of the package: the catalog's, or the one here; owned. */
char *loader_package_dir(const struct loader *l);
/* The entry of that whole name into the tree. */
void loader_entry(struct loader *l, const char *file, const char *name, const struct strvec *args);
/* What a word like "mlp:epochs=3" adds to model.args. */
void loader_tag_args(struct loader *l, const struct strvec *args);
/* The contexts of the command line into the tree. */
void loader_context(struct loader *l);
void loader_package_release(struct loader *l);

/* runconf_recorded.c: the configuration of the request's earlier run into the tree, and, once all
 * layers are there, what it lacks. */
void loader_recorded(struct loader *l);
void loader_left_out(struct loader *l);

/*
 * runconf_source.c. The value of secrets.NAME, read now; NULL after adding a problem. *ret_from:
 * the environment variable it came from (borrowed from n), NULL for a file. Owned.
 */
char *conf_secret_value(struct loader *l, const struct cfg_node *n, const char **ret_from);
/* model.wrap and model.args around l->rc->command. */
void runconf_fill_words(struct loader *l, const struct cfg_node *model);
/* model.n_gpus: the number of `gpus`, or the GPUs when that is not given; before gpus is read. */
void runconf_count_gpus(struct loader *l, const struct cfg_node *model);
/* What models of a package find of the machine in their environment, before env is looked at. */
void runconf_machine_env(struct loader *l);
/* model.url, copy, scripts, keep_dir; after the secrets. */
void runconf_fill_source(struct loader *l, const struct cfg_node *model);
/* Every field of l->rc from l->tree; also of a tree that did not pass the schema. */
void runconf_fill(struct loader *l);
/* runconf_build.c, runconf_data.c: after env and secrets, whose values they use. */
void runconf_fill_build(struct loader *l, const struct cfg_node *root);
void runconf_fill_data(struct loader *l, const struct cfg_node *root);

/*
 * runconf_build.c: the value of a variable that the configuration names: what `secrets` has under
 * that name, else the caller's. NULL: neither. Owned.
 */
char *conf_secret(const struct loader *l, const char *name);
/* runconf_publish.c: publish:, after the secrets. */
void runconf_fill_publish(struct loader *l, const struct cfg_node *root);
/* results:, disk:, and what of model: is for perf.csv. */
void runconf_fill_results(struct loader *l, const struct cfg_node *root);

#endif
