/*
 * log_line: shared by log.c and progress.c: stderr, and whether it shows an unfinished progress
 * line.
 *
 * log_line_write writes the text by one write(2). When `redrawn` is false, it first wipes a shown
 * progress line.
 */
#ifndef PROFRIG_LOG_LINE_H
#define PROFRIG_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "profrig/base/strbuf.h"

#define LOG_WIPE "\r\033[K"

void log_line_write(const char *text, size_t n, bool redrawn);
/* Text of unknown origin without what a terminal would obey: it becomes escapes, but for the bytes
 * of keep. */
void log_line_clean(struct strbuf *sb, size_t from, const char *keep);

#endif
