#include "campaign_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/proc.h"
#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"

#define LOCK_MAX ((size_t)4096)
#define TRIES 4
#define DYING_WAITS 5
#define DYING_WAIT_MS 100

struct holder {
	char host[65], boot[64];
	int pid;
	uint64_t ticks;
};

/* 0: unknown, the process is gone. */
static uint64_t ticks_of(int pid)
{
	CLEANUP(xfreep) char *path = xasprintf("/proc/%d/stat", pid);
	CLEANUP(xfreep) char *text = NULL;

	return fs_read(path, LOCK_MAX, &text, NULL, NULL) < 0 ? 0 : proc_start_ticks(text);
}

static void self(struct holder *h)
{
	CLEANUP(xfreep) char *boot = proc_boot_id();

	*h = (struct holder){ .pid = (int)getpid(), .ticks = ticks_of((int)getpid()) };
	gethostname(h->host, sizeof(h->host) - 1);
	snprintf(h->boot, sizeof(h->boot), "%s", *boot ? boot : "-");
}

static bool holder_read(const char *text, struct holder *h)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	int64_t pid = 0;

	*h = (struct holder){ .pid = 0 };
	strvec_split(&words, text, " \n");
	if (words.nr != 4 || num_i64(words.v[2], strlen(words.v[2]), &pid) < 0 || pid <= 0 ||
	    pid > INT32_MAX || num_u64(words.v[3], strlen(words.v[3]), &h->ticks) < 0)
		return false;
	snprintf(h->host, sizeof(h->host), "%s", words.v[0]);
	snprintf(h->boot, sizeof(h->boot), "%s", words.v[1]);
	h->pid = (int)pid;
	return true;
}

enum holds { HOLDS_NOT, HOLDS, HOLDS_ELSEWHERE };

static enum holds holder_judge(const struct holder *h)
{
	struct holder me;

	self(&me);
	if (strcmp(h->host, me.host) != 0)
		return HOLDS_ELSEWHERE;
	if (strcmp(h->boot, me.boot) != 0 || ticks_of(h->pid) != h->ticks)
		return HOLDS_NOT;
	return HOLDS;
}

/* What is no regular file holds nothing. Owned text in *ret; NULL: there is no file. */
static int file_read(const char *path, char **ret, struct err *err)
{
	CLEANUP(xclosep)
	int fd = door_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	char text[LOCK_MAX];
	struct stat st;
	ssize_t n;

	*ret = NULL;
	if (fd < 0 && errno == ELOOP) {
		*ret = xstrdup("");
		return 0;
	}
	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(err, errno, "%s", path);
	n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, text, sizeof(text) - 1) : 0;
	if (n < 0)
		return err_sys(err, errno, "%s", path);
	text[n] = 0;
	*ret = xstrdup(text);
	return 0;
}

/*
 * Takes the lock of a dead holder away. Without flock two processes may see it dead at once: the
 * one whose `lock.break` is there does it, after another look.
 */
static int stale_remove(const char *path, const char *text, const char *temp, bool flocked,
			struct err *err)
{
	CLEANUP(xfreep) char *breaking = xasprintf("%s.break", path);
	CLEANUP(xfreep) char *now = NULL;
	int r = 0;

	/* with the flock no other process is here: it died here */
	if (flocked)
		door_unlink(breaking);
	if (door_link(temp, breaking) < 0)
		return errno == EEXIST
			       ? err_set(err, EBUSY,
					 "another process takes the campaign; if none does, remove "
					 "%s",
					 breaking)
			       : err_sys(err, errno, "%s", breaking);
	if (file_read(path, &now, NULL) == 0 && now && !strcmp(now, text) && door_unlink(path) < 0)
		r = err_sys(err, errno, "%s", path);
	door_unlink(breaking);
	return r;
}

static int lock_judge(const char *path, const char *text, const char *temp, bool flocked,
		      bool force, struct err *err)
{
	struct holder h;
	enum holds holds = holder_read(text, &h) ? holder_judge(&h) : HOLDS_NOT;

	if (holds == HOLDS)
		return err_set(err, EBUSY, "process %d works on this campaign", h.pid);
	if (holds == HOLDS_ELSEWHERE && !force)
		return err_set(err, EBUSY,
			       "process %d on host '%s' works on this campaign, by %s; when it is "
			       "gone, --take-over goes on without it",
			       h.pid, h.host, path);
	return stale_remove(path, text, temp, flocked, err);
}

static int file_take(const char *dir, const char *path, bool flocked, bool force, struct err *err)
{
	CLEANUP(xfreep) char *temp = xasprintf("%s/.lock-%d", dir, (int)getpid());
	CLEANUP(xfreep) char *mine = NULL;
	struct holder h;
	int r;

	self(&h);
	mine = xasprintf("%s %s %d %" PRIu64 "\n", *h.host ? h.host : "-", h.boot, h.pid, h.ticks);
	r = fs_write_atomic(temp, mine, strlen(mine), err);
	for (int i = 0; r == 0 && i < TRIES; i++) {
		CLEANUP(xfreep) char *text = NULL;

		if (door_link(temp, path) == 0) {
			door_unlink(temp);
			return 0;
		}
		if (errno != EEXIST) {
			r = err_sys(err, errno, "%s", path);
			break;
		}
		r = file_read(path, &text, err);
		if (r == 0 && text)
			r = lock_judge(path, text, temp, flocked, force, err);
	}
	door_unlink(temp);
	return r < 0 ? r : err_set(err, EBUSY, "%s: its name is taken again and again", path);
}

/* A process that was killed has it until the kernel is done with it. False: errno. */
static bool folder_flock(int fd)
{
	for (int i = 0; i < DYING_WAITS; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return true;
		if (errno != EWOULDBLOCK)
			return false;
		poll(NULL, 0, DYING_WAIT_MS);
	}
	errno = EWOULDBLOCK;
	return false;
}

static int busy_say(const char *path, struct err *err)
{
	CLEANUP(xfreep) char *text = NULL;
	struct holder h;

	if (file_read(path, &text, NULL) == 0 && text && holder_read(text, &h))
		return err_set(err, EBUSY, "process %d on host '%s' works on this campaign", h.pid,
			       h.host);
	return err_set(err, EBUSY, "another process works on this campaign");
}

int campaign_lock_take(const char *dir, bool force, struct campaign_lock *ret, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "lock");
	int fd = door_open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), r = 0;
	bool flocked;

	*ret = (struct campaign_lock)CAMPAIGN_LOCK_INIT;
	if (fd < 0)
		return err_sys(err, errno, "%s", dir);
	flocked = folder_flock(fd);
	if (!flocked && errno == EWOULDBLOCK)
		r = busy_say(path, err);
	if (r == 0)
		r = file_take(dir, path, flocked, force, err);
	if (r < 0) {
		close(fd);
		return r;
	}
	*ret = (struct campaign_lock){ fd, STEAL(path) };
	return 0;
}

/* After --take-over on another host it may be another process's. */
static bool file_is_mine(const char *path)
{
	CLEANUP(xfreep) char *text = NULL;
	struct holder h, me;

	self(&me);
	return file_read(path, &text, NULL) == 0 && text && holder_read(text, &h) &&
	       h.pid == me.pid && h.ticks == me.ticks && !strcmp(h.host, me.host);
}

void campaign_lock_drop(struct campaign_lock *l)
{
	if (l->path && file_is_mine(l->path))
		door_unlink(l->path);
	if (l->fd >= 0)
		close(l->fd);
	free(l->path);
	*l = (struct campaign_lock)CAMPAIGN_LOCK_INIT;
}

int campaign_lock_holder(const char *dir, pid_t *ret, char host[65])
{
	CLEANUP(xfreep) char *path = fs_join(dir, "lock");
	CLEANUP(xfreep) char *text = NULL;
	struct holder h;

	if (file_read(path, &text, NULL) < 0 || !text || !holder_read(text, &h))
		return 0;
	snprintf(host, 65, "%s", h.host);
	*ret = h.pid;
	switch (holder_judge(&h)) {
	case HOLDS:
		return 1;
	case HOLDS_ELSEWHERE:
		return 2;
	default:
		return 0;
	}
}
