#ifndef ANALYSIS_READERS_PRIVATE_H
#define ANALYSIS_READERS_PRIVATE_H

#include <string.h>

#include "profrig/base/reader_names.h"
#include "profrig/readers/reader.h"

#define READER_DECLARE(name) extern const struct reader reader_##name;
READERS(READER_DECLARE)

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
