#ifndef ANALYSIS_READERS_PRIVATE_H
#define ANALYSIS_READERS_PRIVATE_H

#include "profrig/reader.h"

extern const struct reader reader_otf2, reader_tef, reader_samples, reader_metrics_csv, reader_rpd,
	reader_rocprof_db, reader_nsys, reader_rocpd, reader_rocprof_csv, reader_perf,
	reader_folded, reader_speedscope;

#endif
