/*
 * regex: regular expressions (PCRE2) on bytes, compiled once, matched often.
 *
 * regex_new → regex_find* → regex_free. Patterns come from users and texts from programs, so a
 * match that backtracks without end is given up: regex_find returns -EOVERFLOW and the caller
 * counts it. '.' and classes work on bytes: text need not be UTF-8. A regex belongs to one thread.
 */
#ifndef PROFRIG_REGEX_H
#define PROFRIG_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "profrig/base/err.h"

#define REGEX_LINES 1u /* '^' and '$' also stand at the ends of lines inside the text */

struct regex;

/* -EINVAL: err names the fault and its byte in the pattern. */
int regex_new(const char *pattern, unsigned flags, struct regex **ret, struct err *err);
void regex_free(struct regex *re);
void regex_freep(struct regex **re);

/*
 * The first match at or behind `from`: 1 and its position; 0 none; -EOVERFLOW given up. An empty
 * match counts.
 */
int regex_find(struct regex *re, const char *text, size_t n, size_t from, size_t *ret_start,
	       size_t *ret_end);
/* Does the pattern have a group of this name? */
bool regex_has_group(const struct regex *re, const char *name);
/* The position of a group in the last match; false when the group did not take part. */
bool regex_group(const struct regex *re, const char *name, size_t *ret_start, size_t *ret_end);

#endif
