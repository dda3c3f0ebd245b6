/*
 * proc_watch: runs a long external command (a build, a pull, a user's script) to its end and keeps
 * its output line by line.
 *
 * Standard output and error are one stream, as on a terminal. Every line (ended by '\n' or '\r',
 * cut at 16 KiB, not inside a secret) first loses the words of `mask`, then goes to log_fd, to
 * `line`, and into the tail. A line of a secret that has several is masked wherever it stands;
 * pieces shorter than four bytes are left alone, as they occur in any text.
 *
 * The command is the leader of its own process group, ended as a whole: with TERM at the timeout
 * and INT at an interrupt, with KILL five seconds later. Background processes that outlive
 * it are not waited for.
 */
#ifndef PROFRIG_PROC_WATCH_H
#define PROFRIG_PROC_WATCH_H

#include <signal.h>

#include "profrig/base/proc.h"
#include "profrig/base/strvec.h"

#define PROC_WATCH_TAIL 25 /* lines */

struct proc_watch {
	char *const *argv;
	char *const *env;                       /* NULL: inherit */
	const char *cwd;                        /* NULL: inherit */
	const char *input;                      /* its stdin; NULL: /dev/null. No copy remains. */
	char *const *mask;                      /* NULL-terminated, or NULL */
	double timeout_s;                       /* 0: none */
	int log_fd;                             /* -1: none */
	const volatile sig_atomic_t *interrupt; /* NULL: none */
	void (*line)(void *ctx, const char *line); /* NULL: no listener */
	void (*tick)(void *ctx);                   /* a few times a second; NULL */
	void *ctx;
};
#define PROC_WATCH_INIT \
	{ \
		.log_fd = -1 \
	}

/*
 * 0 when it ran to its end, well or not (ret); -ETIMEDOUT and -EINTR when it was ended by us;
 * -ENOENT and the like when it could not be started; -ENOSPC when log_fd takes no more (it is then
 * ended, too). tail: at most PROC_WATCH_TAIL last lines, also of one that was ended.
 */
int proc_watch(const struct proc_watch *w, struct strvec *tail, struct proc_exit *ret,
	       struct err *err);

#endif
