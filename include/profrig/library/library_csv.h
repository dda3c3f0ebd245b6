/*
 * library_csv: library_trace.csv, the table of calls that `profrig lib trace` writes and `profrig
 * lib perf` reads. Its first six columns are those of madengine's tracer, byte for byte (lines end
 * in CR LF there, too):
 *
 *	jobid,created_date,model,library,config,calls
 *	rank,pid,first_ns,last_ns,total_ns,flops,bytes,operation,key
 *
 * One row for each library and configuration, in the order of first calls. flops, bytes and
 * total_ns are sums over the row's calls; rank and pid are empty when there are several, and what
 * the log does not tell is empty.
 */
#ifndef PROFRIG_LIBRARY_CSV_H
#define PROFRIG_LIBRARY_CSV_H

#include <stdio.h>

#include "profrig/model/library_calls.h"

struct library_csv_facts {
	const char *jobid; /* of the CI system that runs it; "0" */
	const char *model; /* "" unknown */
	char created[32];  /* "2026-01-01 09:40:30", local time */
};

/* Now, and the job of the environment (JENKINS_BUILD_NUMBER). model: borrowed. */
void library_csv_facts(const char *model, struct library_csv_facts *ret);
/* ferror(f) reports failed writes. */
void library_csv_write(const struct library_calls *lc, const struct library_csv_facts *facts,
		       FILE *f);

#endif
