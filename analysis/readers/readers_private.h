#ifndef ANALYSIS_READERS_PRIVATE_H
#define ANALYSIS_READERS_PRIVATE_H

#include "profrig/readers/reader.h"

/* In the order in which they are listed. */
/* clang-format off */
#define READERS(X) \
	X(otf2) X(tef) X(samples) X(metrics_csv) X(rpd) X(rocprof_db) X(nsys) X(rocpd) \
	X(rocprof_csv) X(perf) X(folded) X(speedscope)
#define READER_DECLARE(name) extern const struct reader reader_##name;
READERS(READER_DECLARE)
/* clang-format on */

/*
 * How tools that write several formats name their files: NAME.csv, NAME.json, NAME.db, and
 * rocprofv3 puts "_results" behind NAME. DIR/NAME, owned.
 */
char *recording_named(const struct probe *p);

#endif
