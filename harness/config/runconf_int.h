/*
 * runconf_int: between the two halves of loading a run's configuration: runconf.c makes one tree of
 * all sources, runconf_fill.c makes typed fields of the tree.
 */
#ifndef PROFRIG_RUNCONF_INT_H
#define PROFRIG_RUNCONF_INT_H

#include "profrig/runconf.h"

struct loader {
	struct runconf *rc;
	const struct runconf_request *rq;
	const struct tool_set *ts;
	struct problems *p;
	struct cfg tree;
	char *model_file; /* as shown; NULL without MODEL */
	bool broken;      /* a file could not be read as a tree */
	struct err usage; /* code ≠ 0: the command line itself is wrong */
};

/* The map at a key of the root, made (or made anew when it is something else) for the command
 * line. */
struct cfg_node *loader_cli_map(struct loader *l, const char *key);
/* runconf_record.c */
void runconf_cli_record(struct loader *l);
void runconf_fill_record(struct loader *l);

void runconf_init(struct runconf *rc);
/* Where a value came from, for people; owned. */
char *runconf_origin(const struct cfg_node *n);
/* A path in the configuration, absolute; owned. */
char *runconf_resolve(const struct loader *l, const struct cfg_node *n);

/* runconf_more.c */
void runconf_fill_cpus(struct loader *l, const struct cfg_node *root);
/* What an entry says of an option, by its name or by its variable; NULL: nothing. */
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
/* Notes what is wrong with a name: of the command line (exit 2) or of a file (exit 3). */
void loader_bad_name(struct loader *l, const struct cfg_node *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Every field of l->rc from l->tree; also of a tree that did not pass the schema. */
void runconf_fill(struct loader *l);
/* results:, disk:, and what of model: is for perf.csv. */
void runconf_fill_results(struct loader *l, const struct cfg_node *root);

#endif
