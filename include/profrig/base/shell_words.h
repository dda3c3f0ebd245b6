/*
 * shell_words: splits a string into words as a POSIX shell would, without a shell: quotes and
 * backslashes are removed, nothing is expanded and nothing is run. `$`, backticks, `;`, `|`, `*`
 * and the like are ordinary characters.
 *
 * POSIX.1-2017, Shell Command Language, 2.2 Quoting and 2.6.5 Field Splitting.
 */
#ifndef PROFRIG_SHELL_WORDS_H
#define PROFRIG_SHELL_WORDS_H

#include <stdbool.h>

#include "profrig/base/err.h"
#include "profrig/base/strvec.h"

/* Adds the words of text. -EINVAL: a quote without its end, or a backslash at the end; then none is
 * added. */
int shell_words(const char *text, struct strvec *to, struct err *err);
/*
 * The first character outside of quotes that a shell would act on (expand, redirect, join
 * commands); 0 when there is none. Text with such a character was written for a shell.
 */
char shell_words_special(const char *text);

#endif
