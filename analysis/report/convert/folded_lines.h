/*
 * folded_lines: the lines of a folded file, from a table with the columns track, path (names joined
 * by ';') and value (an integer; rows of 0 or less have no line). The track becomes the first frame
 * where rows are of several.
 */
#ifndef REPORT_FOLDED_LINES_H
#define REPORT_FOLDED_LINES_H

#include "text_out.h"

#include "profrig/base/table.h"

void folded_lines(const struct table *t, struct text_out *to);

#endif
