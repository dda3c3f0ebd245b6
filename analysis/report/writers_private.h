/* The registry of writers, each in the file write_<name>.c, and their helpers. */
#ifndef PROFRIG_WRITERS_PRIVATE_H
#define PROFRIG_WRITERS_PRIVATE_H

#include "profrig/report/writer.h"

/* In the order in which they write. */
/* clang-format off */
#define WRITERS(X) \
	X(csv) X(json) X(folded) X(pgle) X(html)
#define WRITER_DECLARE(name) extern const struct writer writer_##name;
WRITERS(WRITER_DECLARE)
/* clang-format on */

/*
 * Writes dir/analysis.json. Before, removes the tables that an earlier one lists and r lacks;
 * nothing else in dir/tables changes.
 */
int report_write_analysis(const struct report *r, struct err *err);

/* A name that may become a file: letters, digits, '_' and '-', at most 64. */
bool report_table_name_ok(const char *name);

/* A file name in folded/ that the folded writer gives. */
bool report_folded_name_is(const char *name);

/* Whether a text is one JSON object. */
bool report_json_ok(const char *text);

#endif
