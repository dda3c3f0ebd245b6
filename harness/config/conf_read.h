/*
 * conf_read: files that a command line names. One run of profrig may read them several times, once
 * for each model, so the contents of a pipe ("--config <(…)") are kept.
 */
#ifndef CONF_READ_H
#define CONF_READ_H

#include <stddef.h>

#include "profrig/base/err.h"

/* As fs_read. */
int conf_read(const char *path, size_t max, char **ret, size_t *ret_n, struct err *err);

#endif
