/*
 * The anchor of an OTF2 archive and the names of its files, looked at before libotf2 opens them.
 * The records of its other files: otf2_walk.h.
 */
#ifndef OTF2_FILES_H
#define OTF2_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/err.h"

#define OTF2_SUFFIX ".otf2"

bool otf2_has_suffix(const char *name);
bool otf2_is_anchor(const unsigned char *head, size_t n);
/* path itself, or the one anchor in a directory. Owned. -ENOENT none, -EINVAL several. */
int otf2_find_anchor(const char *path, char **ret_anchor, struct err *err);
/* 0: a regular file with the first bytes of an anchor, no larger than the limit of one. */
int otf2_check_anchor(const char *anchor, struct err *err);
bool otf2_claims(const char *dir, const char *rel);

#endif
