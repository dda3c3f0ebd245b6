/* sqlite_copy: a private copy of a database and its log. */
#ifndef ANALYSIS_SQLITE_COPY_H
#define ANALYSIS_SQLITE_COPY_H

#include <stdbool.h>

#include "profrig/base/err.h"

/* Whether a log beside the file, "-wal" or "-journal", holds anything. */
bool sqlite_copy_needed(const char *path);
/*
 * A new directory (mode 0700, in TMPDIR or /tmp) with the file as "db" and its logs beside it. The
 * caller owns the path and calls sqlite_copy_remove; on failure nothing is left. *ret_changing: a
 * program wrote the files during every attempt to copy them.
 */
int sqlite_copy_make(const char *path, char **ret_dir, bool *ret_changing, struct err *err);
void sqlite_copy_remove(const char *dir);

#endif
