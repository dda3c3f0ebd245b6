/* campaign_cells: the cells of a campaign's plan as sets of runs (operands.h). */
#ifndef COMPARE_CAMPAIGN_CELLS_H
#define COMPARE_CAMPAIGN_CELLS_H

#include "profrig/compare/operands.h"

/* Whether dir has a plan.json of a campaign. */
bool campaign_is(const char *dir);
/* cell: NULL: all of them. */
int campaign_cells_read(const char *dir, const char *cell, struct compare_operand *ret,
			struct err *err);
/* Reads a run into a set: its figures count, or it stands among the failed or the problems. */
void run_set_add(struct compare_operand *o, struct run_set *s, const char *dir);
void run_set_sort(struct run_set *s);

#endif
