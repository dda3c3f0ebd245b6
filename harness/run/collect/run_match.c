/* Outputs that are logs. They have no reader, so their records are the lines with one of the tool's
 * words. */
#include "run_collect.h"
#include "run_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"

#define MAX_LINE_BYTES ((size_t)1 << 20)

static bool line_holds(const char *line, size_t n, const struct strvec *match)
{
	for (size_t i = 0; i < match->nr; i++)
		if (memmem(line, n, match->v[i], strlen(match->v[i])))
			return true;
	return false;
}

/*
 * Longer lines are read in parts, so that no file can use up the memory. A record without the end
 * of its line shows that the writer died, or its pipe broke: *ret_cut.
 */
static int count_lines(FILE *f, const struct strvec *match, uint64_t *ret, bool *ret_cut)
{
	CLEANUP(xfreep) char *buf = xmalloc(MAX_LINE_BYTES);
	bool found = false;

	while (fgets(buf, (int)MAX_LINE_BYTES, f)) {
		size_t n = strlen(buf);

		found |= line_holds(buf, n, match);
		if (n && buf[n - 1] != '\n')
			continue;
		*ret += found;
		found = false;
	}
	*ret_cut = found;
	return ferror(f) ? -EIO : 0;
}

void run_check_lines(const char *path, const struct plan_output *po, struct run_verdict *ret)
{
	CLEANUP(xfclosep) FILE *f = door_fopen(path, "re");
	CLEANUP(xfreep) char *words = strvec_shell(&po->match);
	bool cut = false;

	*ret = (struct run_verdict){ .unread = false };
	snprintf(ret->verdict, sizeof(ret->verdict), "valid");
	if (!f || count_lines(f, &po->match, &ret->records, &cut) < 0) {
		snprintf(ret->verdict, sizeof(ret->verdict), "damaged");
		snprintf(ret->reason, sizeof(ret->reason), "%s", err_words(f ? EIO : errno));
	} else if (cut) {
		snprintf(ret->verdict, sizeof(ret->verdict), "damaged");
		snprintf(ret->reason, sizeof(ret->reason),
			 "its last line is cut short, after %llu whole ones that hold %.150s",
			 (unsigned long long)ret->records, words);
	} else if (ret->records < po->min_records) {
		snprintf(ret->verdict, sizeof(ret->verdict), "empty");
		snprintf(ret->reason, sizeof(ret->reason),
			 "%llu of its lines hold %.150s, wanted at least %llu",
			 (unsigned long long)ret->records, words,
			 (unsigned long long)po->min_records);
	}
}
