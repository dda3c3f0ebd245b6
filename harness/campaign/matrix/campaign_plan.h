/*
 * campaign_plan: the plan of a campaign as a file: its cells with their ids, and how they are run.
 * docs/campaigns.md has the members.
 *
 * plans/<12 hex of its SHA-256>.json never changes; plan.json is the current one.
 */
#ifndef CAMPAIGN_PLAN_H
#define CAMPAIGN_PLAN_H

#include "cells.h"

#include <jansson.h>

#define CAMPAIGN_SCHEMA "profrig.campaign/1"
#define CAMPAIGN_PLAN_MAX ((size_t)256 << 20)

struct campaign_plan_cell {
	const char *id, *label, *model; /* borrowed from doc */
	uint32_t baseline;              /* place of the cell; CELL_NONE */
	bool is_baseline;
	struct cell_parts parts;
	const json_t *all;
};

struct campaign_plan {
	char name[20]; /* of the file, "plans/<12 hex>"; without ".json" */
	const char *campaign;
	uint32_t repeat;
	uint32_t most; /* `repeat` of the file, where stop_when made it fewer; 0 */
	enum run_order order;
	uint64_t seed;
	VEC(struct campaign_plan_cell) cells;
	json_t *doc; /* owned */
};
#define CAMPAIGN_PLAN_INIT \
	{ \
		"", NULL, 0, 0, ORDER_INTERLEAVED, 0, VEC_INIT, NULL \
	}

/* Identified cells → plans/… and plan.json in dir. */
int campaign_plan_write(const char *dir, const struct campaign_file *f, const struct cells *c,
			struct campaign_plan *ret, struct err *err);
/* rel: "plan.json" or "plans/….json". -EBADMSG: it is damaged. */
int campaign_plan_read(const char *dir, const char *rel, struct campaign_plan *ret,
		       struct err *err);
void campaign_plan_release(struct campaign_plan *p);

/*
 * What has changed since the plan was made, a line for each cell that would have another id, cells
 * that are new or gone too. An image that was not there then has not changed. keep: cells get the
 * ids that they had. Returns the number of cells that would change.
 */
size_t campaign_plan_changes(const struct campaign_plan *before, struct cells *now, bool keep,
			     struct strvec *lines);

#endif
