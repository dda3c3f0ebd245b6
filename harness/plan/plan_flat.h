/*
 * plan_flat: the effective configuration as rows of key, value and origin, and the small texts all
 * printers share.
 */
#ifndef PROFRIG_PLAN_FLAT_H
#define PROFRIG_PLAN_FLAT_H

#include "profrig/plan/plan.h"

struct flat_row {
	char *key, *value, *origin; /* "container.caps", "[SYS_PTRACE]", "profrig.yaml:9" */
};
struct flat {
	VEC(struct flat_row) rows;
};
void plan_flatten(const struct runconf *rc, struct flat *ret);
void flat_release(struct flat *f);

/* plan_source.c: how the folder of the run's own is made. Nothing when there is none. */
struct json_out;
void plan_source_json(const struct plan *pl, struct json_out *j);
void plan_source_text(const struct plan *pl, FILE *f);
void plan_source_sh(const struct plan *pl, FILE *f);

const char *plan_env_value(const struct plan_env *e); /* "***" for a secret */

#endif
