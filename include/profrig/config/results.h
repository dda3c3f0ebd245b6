/*
 * results: the rules under `results:`: which numbers of a run are its results, and which of its
 * lines are errors.
 *
 * A workload reports its results in its own output ("performance: 123 samples/s"), in a CSV file,
 * or both. They go into run.json's metrics.
 *
 *	pattern	a regular expression with the groups value, unit (else the unit is "") and
 *		name (else "performance"), looked for in every line; NULL: the performance line,
 *		below
 *	pick	which of several values of one name is reported: the last, the first, …
 *	steady	number, or share, of the first values that are left out before that
 *	csv	a file with at least the columns model,performance,metric: a row is a metric
 *	require	a run without a result has failed
 *
 * The performance line is "performance: VALUE UNIT" with the word at the start of the line or
 * behind something that is no letter, digit or '_'; VALUE may be followed by a comma, by "/s" or by
 * both; all of it is on one line. 1,234 is read as 1234. Without any such line
 * "train_samples_per_second = VALUE" counts, with ' " : = or blanks between.
 *
 * error_patterns are searched in the workload's output. A pattern is plain text found anywhere in a
 * line, or a regular expression: written /so/, or with a '\', ".*" or ".+", or beginning with '^'.
 * A line that matches one of benign_patterns is no error.
 */
#ifndef PROFRIG_RESULTS_H
#define PROFRIG_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "profrig/base/err.h"
#include "profrig/base/strvec.h"

enum results_pick { PICK_LAST, PICK_FIRST, PICK_MEDIAN, PICK_MEAN, PICK_MAX, PICK_MIN };
enum results_scan { SCAN_OFF, SCAN_WARN, SCAN_FAIL };

struct results_conf {
	char *pattern;
	enum results_pick pick;
	double steady; /* a count, or with steady_share a part from 0 to 1 */
	bool steady_share;
	char *csv;
	bool require;
	enum results_scan scan;
	/* not given: the defaults; benign ones are added to the defaults */
	struct strvec error_patterns, benign_patterns;
	bool has_error_patterns;
	char *perf_csv; /* absolute; NULL none */
};

void results_conf_init(struct results_conf *rc);
void results_conf_release(struct results_conf *rc);

/* "last", "first", …; -EINVAL. */
int results_pick_parse(const char *word, enum results_pick *ret);
const char *results_pick_name(enum results_pick p);
/* "3", "10%" → how many of n are skipped. */
int results_steady_parse(const char *text, double *ret, bool *ret_share);
size_t results_steady_skip(const struct results_conf *rc, size_t n);

/* The regular expression that a pattern of the scan is; NULL: it is plain text. Owned. */
char *results_pattern_regex(const char *pattern);
/* What counts as an error or as none when nothing is configured; NULL ends them. */
extern const char *const results_default_errors[];
extern const char *const results_default_benign[];

/*
 * How values of one metric from several ranks or nodes are combined, by the words of its name and
 * unit: rates and counts are added, times, losses and accuracies averaged, of memory the maximum
 * counts; values of any other name are added.
 */
enum results_merge { MERGE_SUM, MERGE_MEAN, MERGE_MAX };
enum results_merge results_merge_of(const char *name, const char *unit);
double results_merge(enum results_merge how, const double *v, size_t n); /* NAN for none */

#endif
