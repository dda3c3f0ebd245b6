/*
 * commit: which attempt of a run counts: results/<run> is a file that names it, in one line. It
 * appears by link(2), which makes it exactly once, from however many processes and nodes, so that a
 * run that was executed twice counts once.
 *
 * Names: a run is "<cell>-<repeat>", an attempt "<run>.<number>"; its directory is runs/<attempt>.
 */
#ifndef COMMIT_H
#define COMMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/err.h"

#define ATTEMPT_NAME_MAX 48

/* "<12 hex>-<repeat>.<number>". */
struct attempt_name {
	char run[ATTEMPT_NAME_MAX], cell[13], all[ATTEMPT_NAME_MAX];
	uint32_t repeat, number;
};
void attempt_name_make(const char *cell, uint32_t repeat, uint32_t number,
		       struct attempt_name *ret);
/* False: it is no such name. Of a run: number 0. */
bool attempt_name_parse(const char *text, struct attempt_name *ret);

enum commit { COMMITTED, SUPERSEDED };
/*
 * Commits the attempt in the campaign's folder. SUPERSEDED: another one is; COMMITTED also when
 * this one was before. A file in its place that is none of ours is moved aside: said, "" nothing.
 */
int commit_attempt(const char *dir, const struct attempt_name *a, char said[200], struct err *err);
/* Moves what is in place of a commit aside: said has its new name. Nothing there is fine. */
int commit_put_aside(const char *dir, const char *run, char said[200], struct err *err);
/* The attempt that is committed: 1; 0: none is; -EBADMSG: the file is none of ours. */
int commit_look(const char *dir, const char *run, struct attempt_name *ret, struct err *err);

#endif
