/*
 * headline_private: the parts of headline.c, and columns of tables that may be absent.
 */
#ifndef PROFRIG_HEADLINE_PRIVATE_H
#define PROFRIG_HEADLINE_PRIVATE_H

#include "profrig/report/headline.h"

#define UNATTRIBUTED "[unattributed]"

/* Of a table, or of none: then, and where the type differs, texts are "" and numbers NaN. */
struct col {
	const struct table *t;
	int at;
};
struct col col_text(const struct table *t, const char *name);
struct col col_number(const struct table *t, const char *name);
const char *col_str(struct col c, size_t row);
double col_f64(struct col c, size_t row);
/* Unknown ones count 0. */
double col_sum(struct col c);
/* Largest value, at least 0. */
double col_max(struct col c);
static inline size_t col_rows(struct col c)
{
	return c.t ? table_rows(c.t) : 0;
}

/* The table `energy_totals` and what follows from it. */
void headline_energy(const struct report *r, struct headline *h);
/* The split of the time; after the devices. */
void headline_split(const struct report *r, struct headline *h);

#endif
