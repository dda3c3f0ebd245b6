/*
 * reader_names: the trace formats, by the names of their readers, in the order in which they are
 * listed. A tool file and run.json name a reader, so both halves of profrig share this list:
 * analysis/readers makes its table from it, harness/config its choices.
 */
#ifndef PROFRIG_READER_NAMES_H
#define PROFRIG_READER_NAMES_H

/* clang-format off */
#define READERS(X) \
	X(otf2) X(tef) X(samples) X(metrics_csv) X(rpd) X(rocprof_db) X(nsys) X(rocpd) \
	X(rocprof_csv) X(ncu_csv) X(perf) X(folded) X(speedscope) X(xplane) X(perfetto) \
	X(library_log)
/* clang-format on */

#endif
