/*
 * redact: keeps secrets out of what profrig writes.
 *
 * Code that comes by a secret's value learns it once (redact_learn); code that writes text made
 * elsewhere (messages of engines, arguments of users, whole files) has it gone over before it
 * leaves. Each line of a secret counts, as a log cuts a key file into lines. So does each form in
 * which words are written, and each form inside another: JSON, shell words, URLs, HTML, CSV. What
 * is found becomes "***", and so does the beginning of a secret (REDACT_SURE bytes and more) at the
 * end of a text, where a limit of length has cut it. Independently of what was learned the password
 * of a URL (scheme://user:password@host) is taken out, and over http also a user without a
 * password, which is how tokens are written.
 *
 * Values shorter than REDACT_MIN are not learned: they are no secrets, and would be found
 * everywhere. In whole files only those of REDACT_SURE bytes and more count, so that "success"
 * for a password does not make a file unreadable.
 *
 * Thread-safe. What was learned lasts as long as the process.
 */
#ifndef PROFRIG_REDACT_H
#define PROFRIG_REDACT_H

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
/*
 * The same of a JSON document, in place: only its strings are gone over, one by one, so that it
 * stays one whatever a secret looks like; keys, numbers and the strings of "id" and "run_id", by
 * which things are found again, are left alone. Returns the new length.
 */
size_t redact_json(char *text, size_t n);
/* What print writes goes to f without secrets (REDACT_SURE). */
void redact_through(FILE *f, void (*print)(const void *ctx, FILE *to), const void *ctx);
void redact_json_through(FILE *f, void (*print)(const void *ctx, FILE *to), const void *ctx);

#endif
