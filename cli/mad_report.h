/*
 * madengine's `report to-html --csv-file-path FILE` and `report to-email --directory DIR`, as
 * options of report. Private to cli.
 */
#ifndef PROFRIG_MAD_REPORT_H
#define PROFRIG_MAD_REPORT_H

#include "cli.h"

struct mad_report {
	const char *table, *directory; /* NULL not given */
};

/* clang-format off */
#define MAD_REPORT_OPTS(m) \
	{ "csv-file-path", 0, OPT_STR, &(m)->table, "FILE", NULL }, \
	{ "csv-file", 0, OPT_STR, &(m)->table, "FILE", NULL }, \
	{ "directory", 0, OPT_STR, &(m)->directory, "DIR", NULL }, \
	{ "dir", 0, OPT_STR, &(m)->directory, "DIR", NULL }
/* clang-format on */

/*
 * Where the first input is to-html or to-email, puts into inputs, formats and output what report
 * takes. Returns -1 to go on, else an exit code after a usage error.
 */
int mad_report_words(const struct command *c, const struct mad_report *m, struct strvec *inputs,
		     struct strvec *formats, const char **output);

#endif
