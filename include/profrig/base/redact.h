/*
 * redact: keeps secrets out of what profrig writes.
 *
 * Code that obtains a secret registers it once (redact_learn). Code that writes foreign text
 * (messages of engines, arguments of users, whole files) passes it through redact first. Every line
 * of a secret is searched for, because a log splits a key file into lines, and so is every encoded
 * form, also one inside another: JSON, shell words, URLs, HTML, CSV. A match becomes "***"; so does
 * the beginning of a secret (REDACT_SURE bytes or more) at the end of a text that was cut. The
 * password of a URL (scheme://user:password@host) is always removed, and over http also a user
 * without a password, as tokens are written that way.
 *
 * Values shorter than REDACT_MIN are not registered: they would match everywhere. In whole files
 * only secrets of REDACT_SURE bytes or more count, so that the password "success" does not make a
 * file unreadable.
 *
 * Thread-safe. Registered values stay until the process ends.
 */
#ifndef PROFRIG_REDACT_H
#define PROFRIG_REDACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define REDACT_MIN ((size_t)4)
#define REDACT_SURE ((size_t)8)

void redact_learn(const char *value);
/*
 * In place, for values of at least min bytes; returns the new length, never larger. text[n] need
 * not be NUL; when the text became shorter, a NUL is put behind it.
 */
size_t redact(char *text, size_t n, size_t min);
/* The same of a string. Returns s. */
char *redact_str(char *s);
/* Whether a registered value of REDACT_SURE bytes or more is in text; URLs are not looked at. */
bool redact_found(const char *text, size_t n);
/* The length of the longest registered value. */
size_t redact_longest(void);
/*
 * As redact, for a JSON document, in place: only its strings are searched, one by one, so that it
 * stays valid JSON. Keys, numbers and the strings of "id" and "run_id" are left alone. Returns the
 * new length.
 */
size_t redact_json(char *text, size_t n);
/* Writes the output of print to f without secrets (REDACT_SURE). */
void redact_through(FILE *f, void (*print)(const void *ctx, FILE *to), const void *ctx);
void redact_json_through(FILE *f, void (*print)(const void *ctx, FILE *to), const void *ctx);

#endif
