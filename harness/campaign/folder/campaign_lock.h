/*
 * campaign_lock: one process works on a campaign at a time.
 *
 * The folder is locked with flock(2) where that works. Since it does not work, or not between
 * hosts, on some network filesystems, there is also a file `lock` with the holder's host, boot,
 * process id and start time, which appears by link(2) and is removed at the end. A lock file whose
 * process is gone (same host; another boot, no such process, or one that began at another time) is
 * taken over, by one process: a file `lock.break` sees to that where flock(2) does not. One of
 * another host is believed unless `force` is set: only its user can know. A link, a FIFO and a text
 * that names no process hold nothing.
 */
#ifndef CAMPAIGN_LOCK_H
#define CAMPAIGN_LOCK_H

#include <stdbool.h>
#include <sys/types.h>

#include "profrig/base/err.h"

struct campaign_lock {
	int fd;     /* of the folder */
	char *path; /* NULL: not held */
};
#define CAMPAIGN_LOCK_INIT \
	{ \
		-1, NULL \
	}

/* -EBUSY: another process has it, err says which. */
int campaign_lock_take(const char *dir, bool force, struct campaign_lock *ret, struct err *err);
void campaign_lock_drop(struct campaign_lock *l);
/*
 * The process that works on the campaign on this host: 1; 0: none does; 2: one of another host, by
 * its file. Takes nothing.
 */
int campaign_lock_holder(const char *dir, pid_t *ret, char host[65]);

#endif
