/*
 * contents: what the files of a model hold, as one hash: so that a campaign sees that its code has
 * changed since a cell was measured.
 *
 *	contents_find(dir, but, &c, &err)	c.sha; c.files has each file's own, by path
 *	contents_changed(&before, &now, …)	the paths that differ
 *	contents_release(&c)
 *
 * Files are those below dir that git tracks; without a repository those that are there, but not
 * what profrig itself writes: folders that hold a run.json or a journal.ndjson, and `but`. Hidden
 * folders (.git) do not count there. A link counts by where it leads, what is no file not at all.
 *
 * The hash is SHA-256 over the lines "<sha256 of the file>  <path>\n" in byte order of the paths;
 * whether a file may be executed is in it, too ("*" instead of the second blank).
 */
#ifndef CONTENTS_H
#define CONTENTS_H

#include <signal.h>

#include "profrig/base/err.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"

#define CONTENTS_FILES_MAX ((size_t)100000)

struct contents {
	char sha[65];
	struct strvec files; /* the lines, without their ends, in order */
};
#define CONTENTS_INIT \
	{ \
		"", STRVEC_INIT \
	}

/*
 * but: absolute; NULL. interrupt may be NULL. -E2BIG: more than CONTENTS_FILES_MAX files; other
 * errors: one cannot be read.
 */
int contents_find(const char *dir, const char *but, const volatile sig_atomic_t *interrupt,
		  struct contents *ret, struct err *err);
/* Of one file: its SHA-256; -ENOENT. */
int contents_file(const char *path, char ret[65], struct err *err);
/* "run.sh", "new.c (new)", "old.c (gone)": at most max of them, then "3 more". Owned. */
char *contents_changed(const struct strvec *before, const struct strvec *now, size_t max);
void contents_release(struct contents *c);

#endif
