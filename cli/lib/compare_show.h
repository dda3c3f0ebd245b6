/*
 * compare_show: a comparison of library_perf.csv files (bench_compare.h) for a terminal, as JSON,
 * as a CSV table and as a page.
 */
#ifndef CLI_COMPARE_SHOW_H
#define CLI_COMPARE_SHOW_H

#include <stdio.h>

#include "profrig/bench/bench_compare.h"

/* "A", "B", …, "Z", "27", … buf holds 16. */
const char *compare_side_name(uint32_t side, char buf[16]);
/* "+201 µs", "-1.00 J"; buf holds 40. */
char *compare_signed(double v, const char *unit, char *buf);
/*
 * "predicted with B: these calls take …", with its intervals and its energy; owned. NULL: no pair
 * can be compared, or no call was counted.
 */
char *compare_predicted(const struct bench_versus *v, const char *name);
/*
 * "not comparable" where some side is not, else the worst verdict of all: slower, unclear, same,
 * faster.
 */
const char *compare_verdict(const struct bench_comparison *c);

void compare_text(const struct bench_tables *t, const struct bench_comparison *c, FILE *f);
void compare_json(const struct bench_tables *t, const struct bench_comparison *c, FILE *f);
/* One row for each pair, then those that are left over, with an empty ratio. */
void compare_csv(const struct bench_tables *t, const struct bench_comparison *c, FILE *f);
/*
 * One page without scripts: what was predicted, roofline, A against B, effects, the calls. Its
 * calls are ranked by the size of their effects, savings and costs together, or by calls.
 */
void compare_html(const struct bench_tables *t, const struct bench_comparison *c, FILE *f);

#endif
