/* trace_show: a comparison of traces (trace_compare.h) as text, JSON, part of a page and tables. */
#ifndef CLI_TRACE_SHOW_H
#define CLI_TRACE_SHOW_H

#include <stdio.h>

#include "profrig/base/json_out.h"
#include "profrig/compare/comparison.h"
#include "profrig/report/html_out.h"

/* Each writes nothing for a versus without traces, but JSON a null. */
void trace_text(const struct compare_versus *v, FILE *f);
void trace_json(struct json_out *j, const char *key, const struct compare_versus *v);
void trace_page(const struct html_out *h, const struct compare_versus *v);
/* DIR/tables/{diff,comparability}.csv, without rows where there are no traces. An exit status. */
int trace_folder_write(const char *dir, const struct comparison *c);
/* Rows of tables that the differential shows better: with too few runs to be judged. */
bool trace_hides(const struct compare_versus *v, const char *metric);

#endif
