/*
 * diff_show: a comparison of runs (comparison.h) for a terminal, as JSON and as a page.
 */
#ifndef CLI_DIFF_SHOW_H
#define CLI_DIFF_SHOW_H

#include <stdio.h>

#include "profrig/compare/comparison.h"
#include "profrig/report/html_out.h"

/* What the command line named. */
struct diff_side {
	char *name; /* "A" */
	const char *word;
	size_t runs, failed; /* of all its sets */
	size_t cells;        /* of a campaign; 0 */
};

struct diff {
	struct comparison *c;
	VEC(struct diff_side) sides;
	struct strvec only; /* cells that stand alone: "only in A: label" */
};

/* A figure as people read it: "1.2 ms", "12.5 samples/s"; buf holds 96. */
char *diff_value(double v, const char *unit, char *buf);
/* Whether a unit gets prefixes: "ns", "J", "bytes". */
bool diff_unit_scales(const char *unit);
/* "+3.2 %", "x 2.35" from twice on; "–" where there is no ratio; buf holds 32. */
char *diff_change(const struct compare_row *r, char *buf);
/* "+1.0 to +5.4 %"; buf holds 64. */
char *diff_interval(const struct compare_row *r, char *buf);
/* The same of ratios. */
char *diff_ratio(double ratio, char *buf);
char *diff_ratios(double from, double to, char *buf);
/* The name of a row where its metric stands above: its key, or the metric. */
const char *diff_row_text(const struct compare_row *r);
/* "BH": how p was adjusted, in words. */
const char *diff_adjusted(const struct comparison *c);
/* "B against A: 5 figures: 1 slower, 4 unclear; together slower". Owned. */
char *diff_versus_text(const struct compare_versus *v);

void diff_text(const struct diff *d, FILE *f, bool color);
void diff_json(const struct diff *d, FILE *f);
void diff_page(const struct diff *d, FILE *f);
/* The flame graphs of two sets, one for each folded file that either has. at: of v in the page. */
void diff_flames(const struct html_out *h, const struct compare_versus *v, size_t at);

#endif
