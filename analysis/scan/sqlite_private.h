/* Shared by the files of sqlite_db. */
#ifndef ANALYSIS_SQLITE_PRIVATE_H
#define ANALYSIS_SQLITE_PRIVATE_H

#include "sqlite_db.h"

/* "path: what: SQLite's message"; what may be NULL. */
int sqlite_fail(const struct sqlite_db *db, int rc, const char *what, struct err *err);

#endif
