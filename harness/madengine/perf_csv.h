/*
 * perf_csv: the table over all runs (results.perf_csv, `run --perf-csv FILE`).
 *
 * Every run adds one row for each of its results, and one without a result when it has none: also
 * a run that failed, was skipped, or could not be set up. The first 29 columns are those that
 * madengine writes, in its order; profrig's follow on the right, then the other columns of the
 * results file of the run that began the table (later ones are in `extra`, as JSON).
 *
 * A row never changes: it is appended, whole, by one write under a lock, so concurrent runs keep
 * all rows. A table that another program began keeps its own columns.
 *
 * Beside FILE.csv there are FILE_entry.csv and FILE_entry.json, the rows of the last run, and
 * FILE_super.csv and FILE_super.json, all rows with `configs` (the contents of a --config FILE
 * among the workload's arguments) and `multi_results` (the other columns of a results file's row).
 * FILE_entry_super.csv and FILE_entry_super.json are those of the last run.
 *
 * A tool that runs in or around the workload changes its throughput. Such a row has "yes" in
 * `profiled`, and its metric is "samples/s (profiled)", so that model and metric alone cannot
 * mislead.
 */
#ifndef PERF_CSV_H
#define PERF_CSV_H

#include <jansson.h>

#include "profrig/plan/plan.h"
#include "profrig/run/run.h"

extern const char *const perf_columns[]; /* ends with NULL; the last is "extra" */

/*
 * The rows of one run, objects by column. doc: its run.json, NULL when none was made: then status
 * is "failed" or "skipped", with a reason. New reference.
 */
json_t *perf_rows(const struct plan *pl, const json_t *doc, const char *status, const char *reason);
/* Of the rows: what a --config FILE of the workload holds (CSV, JSON, YAML), with secrets masked;
 * its name when it cannot be read; null. New reference. */
json_t *perf_configs(const struct plan *pl);
#endif
