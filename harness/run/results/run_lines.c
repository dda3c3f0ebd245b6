#include "run_lines.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/door.h"
#include "profrig/base/xalloc.h"

#define PIECE ((size_t)1 << 20)

uint64_t line_at(struct line_counter *c, const char *at)
{
	const char *nl;

	while (c->from < at && (nl = memchr(c->from, '\n', (size_t)(at - c->from)))) {
		c->line++;
		c->from = nl + 1;
	}
	return c->line;
}

int run_lines(const char *path, run_lines_fn *fn, void *ctx)
{
	CLEANUP(xfclosep) FILE *f = door_fopen(path, "re");
	CLEANUP(xfreep) char *buf = NULL;
	struct line_counter count = { .line = 1 };
	size_t kept = 0, got;

	if (!f)
		return -errno;
	buf = xmalloc(PIECE + RUN_MAX_LINE + 1);
	/* An unfinished line at the end of a piece is kept for the next one. */
	while ((got = fread(buf + kept, 1, PIECE, f)) > 0) {
		size_t len = kept + got, upto = len;
		const char *nl = memrchr(buf, '\n', len);

		if (!feof(f)) {
			upto = nl ? (size_t)(nl + 1 - buf) : 0;
			if (len - upto > RUN_MAX_LINE)
				upto = len - RUN_MAX_LINE;
		}
		if (upto > 0 && !fn(ctx, buf, upto, count.line))
			return 0;
		count.from = buf;
		line_at(&count, buf + upto);
		kept = len - upto;
		memmove(buf, buf + upto, kept);
	}
	if (kept > 0)
		fn(ctx, buf, kept, count.line);
	return ferror(f) ? -EIO : 0;
}
