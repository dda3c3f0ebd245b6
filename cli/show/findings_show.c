#include "findings_show.h"
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FOUND_LINES 4

/* Rows are in the order of their severity. */
void findings_say(const struct report *rep)
{
	const struct table *t = table_set_find(&rep->tables, "findings");
	int severity = t ? table_find_col(t, "severity") : -1;
	int text = t ? table_find_col(t, "text") : -1;
	size_t nr = t ? table_rows(t) : 0, shown = 0;

	if (severity < 0 || text < 0)
		return;
	for (; shown < nr && shown < FOUND_LINES; shown++) {
		const char *s = table_get_str(t, shown, (size_t)severity);

		if (strcmp(s, "low") == 0)
			break;
		fprintf(stderr, "%s%-7s ", shown ? "          " : "  found   ", s);
		cli_put(stderr, table_get_str(t, shown, (size_t)text), 0);
		fputc('\n', stderr);
	}
	if (nr > shown)
		fprintf(stderr, "%s%zu %s in findings.csv\n", shown ? "          " : "  found   ",
			nr - shown,
			shown     ? "more"
			: nr == 1 ? "small thing"
				  : "small things");
}
