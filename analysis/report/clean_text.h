/*
 * clean_text: names of a trace for text files: every byte that is not UTF-8 becomes U+FFFD, as in
 * profrig's JSON.
 */
#ifndef PROFRIG_CLEAN_TEXT_H
#define PROFRIG_CLEAN_TEXT_H

#include <stdbool.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/table.h"

void text_add_clean(struct strbuf *out, const char *s);
/* A copy of t with clean strings, owned; NULL when all of its strings are clean already. */
struct table *table_clean(const struct table *t);

#endif
