#ifndef ANALYSIS_READERS_PRIVATE_H
#define ANALYSIS_READERS_PRIVATE_H

#include "profrig/readers/reader.h"

extern const struct reader reader_otf2, reader_tef, reader_samples, reader_metrics_csv, reader_rpd,
	reader_rocprof_db, reader_nsys, reader_rocpd, reader_rocprof_csv, reader_perf,
	reader_folded, reader_speedscope;

/*
 * How tools that write several formats name their files: NAME.csv, NAME.json, NAME.db, and
 * rocprofv3 puts "_results" behind NAME. DIR/NAME, owned.
 */
char *recording_named(const struct probe *p);

#endif
