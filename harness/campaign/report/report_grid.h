/*
 * report_grid: where the cells of a campaign stand in a matrix of rows and columns.
 *
 *	struct report_grid g;
 *	report_grid_make(&report, &g);
 *	for each facet: g.facets.v[i].at[row * g.columns.nr + column], then g.next[cell] …
 *	report_grid_release(&g);
 *
 * Columns are the values of the axis that has most of them, up to GRID_COLUMNS_MAX; a row is a
 * combination of the values of all other axes. A facet is a model. Axes whose values go together in
 * all cells (a zip) are one axis, named by the first; those with one value are no axis. Values are
 * in the order of the plan. A cell without an axis (of `include`) has the value "–" there.
 */
#ifndef REPORT_GRID_H
#define REPORT_GRID_H

#include "campaign_report.h"

#define GRID_COLUMNS_MAX 12
#define GRID_NO_VALUE "–"

struct grid_axis {
	char *name;           /* path; of a zip the first one */
	struct strvec values; /* in their order */
	uint32_t *of_cell;    /* place of a value */
};

struct grid_row {
	uint32_t first; /* a cell that has its values */
};

struct grid_facet {
	const char *model;
	VEC(struct grid_row) rows;
	uint32_t *at; /* rows × columns: the first cell that stands there; REPORT_NONE */
};

struct report_grid {
	VEC(struct grid_axis) axes;
	size_t column;      /* of axes; axes.nr: there is one column without a name */
	size_t columns;     /* at least 1 */
	struct strvec same; /* "path=value" of axes with one value */
	VEC(struct grid_facet) facets;
	uint32_t *next; /* of a cell: another one at its place; REPORT_NONE */
};

void report_grid_make(const struct campaign_report *r, struct report_grid *ret);
void report_grid_release(struct report_grid *g);
/* The text of an axis' value: a string as it is, else JSON. Owned. */
char *grid_value_text(const json_t *v);

#endif
