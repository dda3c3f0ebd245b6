/*
 * run_results: the results of a run, out of what its workload left, as metrics and warnings of
 * run.json. The parts: results_priv.h.
 */
#ifndef RUN_RESULTS_H
#define RUN_RESULTS_H

#include <stdint.h>

struct run;

struct run_metric {
	char name[256], unit[128], source[128];
	double value; /* NAN: there is none */
	char *detail; /* an object of JSON: where it comes from; NULL */
};
#define RESULTS_CSV_SOURCE "results.csv"

/* A results file that was there before the workload. */
struct run_seen {
	char *path;
	uint64_t inode;
	int64_t size, mtime_ns;
};

/* Results into metrics and warnings: see run_results.h. */
void run_results(struct run *rn);
/* Before the workload: which results files are there already, and so are none of this run. */
void run_results_before(struct run *rn);

#endif
