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
/* Notes what is wrong with a name: of the command line (exit 2) or of a file (exit 3). */
void loader_bad_name(struct loader *l, const struct cfg_node *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Every field of l->rc from l->tree; also of a tree that did not pass the schema. */
void runconf_fill(struct loader *l);
/* results:, disk:, and what of model: is for perf.csv. */
void runconf_fill_results(struct loader *l, const struct cfg_node *root);

#endif
