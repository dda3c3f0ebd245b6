#ifndef ANALYSIS_READERS_PRIVATE_H
#define ANALYSIS_READERS_PRIVATE_H

#include <string.h>

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
 * DIR/NAME of a file by a tool that writes several formats: NAME.csv, NAME.json, NAME.db;
 * rocprofv3 appends "_results" to NAME. Owned.
 */
char *recording_named(const struct probe *p);

/* Whether the first bytes of the file hold a word. */
static inline bool probe_has(const struct probe *p, const char *word)
{
	return memmem(p->head, p->head_len, word, strlen(word)) != NULL;
}

#endif
