#include "agentlink.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/num.h"
#include "profrig/base/proc.h"
#include "profrig/base/xalloc.h"

/* The facts of a process that /proc shows to all users. */
struct seen {
	int64_t pid, ppid, inner; /* inner: in the innermost pid namespace */
	uint64_t start_ticks;
};

static size_t read_text(const char *path, char *buf, size_t size)
{
	FILE *f = door_fopen(path, "re");
	size_t n = f ? fread(buf, 1, size - 1, f) : 0;

	if (f)
		fclose(f);
	buf[n] = '\0';
	return n;
}

/* The last number of a line of /proc/PID/status. */
static int64_t last_number(const char *text, const char *name)
{
	const char *line = strstr(text, name), *at;
	int64_t v = 0;
	size_t n;

	if (!line)
		return 0;
	line += strlen(name);
	n = strcspn(line, "\n");
	for (at = line + n; at > line && at[-1] != '\t' && at[-1] != ' '; at--)
		;
	return num_i64(at, (size_t)(line + n - at), &v) < 0 ? 0 : v;
}

static bool look_at_process(const char *pid, struct seen *ret)
{
	char path[64], text[8192];

	snprintf(path, sizeof(path), "/proc/%.20s/status", pid);
	if (num_i64(pid, strlen(pid), &ret->pid) < 0 || read_text(path, text, sizeof(text)) == 0)
		return false;
	ret->ppid = last_number(text, "\nPPid:\t");
	ret->inner = last_number(text, "\nNSpid:\t");
	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	ret->start_ticks = read_text(path, text, sizeof(text)) ? proc_start_ticks(text) : 0;
	return true;
}

/* The only process for which `fits` is true, or 0. */
static pid_t the_one(bool (*fits)(const struct seen *s, const void *ctx), const void *ctx)
{
	DIR *d = door_opendir("/proc");
	struct dirent *e;
	pid_t found = 0;
	size_t nr = 0;

	while (d && (e = readdir(d))) {
		struct seen s;

		if (!isdigit((unsigned char)e->d_name[0]) || !look_at_process(e->d_name, &s) ||
		    !fits(&s, ctx))
			continue;
		found = (pid_t)s.pid;
		nr++;
	}
	if (d)
		closedir(d);
	return nr == 1 ? found : 0;
}

/* --- the agent --- */

struct claim {
	int64_t pid;
	uint64_t start_ticks, pid_ns;
};

/* Another user's namespaces cannot be read; the other checks must do then. */
static bool other_namespace(int64_t pid, uint64_t pid_ns)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%lld/ns/pid", (long long)pid);
	return pid_ns && stat(path, &st) == 0 && (uint64_t)st.st_ino != pid_ns;
}

static bool is_claimed(const struct seen *s, const void *ctx)
{
	const struct claim *c = ctx;

	return s->inner == c->pid && s->start_ticks == c->start_ticks &&
	       !other_namespace(s->pid, c->pid_ns);
}

static int proc_pidfd(pid_t pid)
{
	return pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

/* A pidfd stands for one process for good. It is the agent's when the process still fits after the
 * pidfd was opened. */
static bool still_is(pid_t pid, const struct claim *c)
{
	char name[24];
	struct seen s;

	snprintf(name, sizeof(name), "%d", (int)pid);
	return look_at_process(name, &s) && is_claimed(&s, c);
}

void link_prove(struct agent_link *l, const json_t *hello)
{
	struct claim c = {
		.pid = event_int(hello, "pid", 0),
		.start_ticks = (uint64_t)event_int(hello, "start_ticks", 0),
		.pid_ns = (uint64_t)event_int(hello, "pid_ns", 0),
	};
	bool ours = c.pid == l->pid && still_is(l->pid, &c);

	if (!c.start_ticks || c.pid <= 0)
		return;
	l->agent = ours ? l->pid : the_one(is_claimed, &c);
	l->agent_ticks = c.start_ticks;
	l->agent_fd = proc_pidfd(l->agent);
	if (l->agent_fd < 0 || !still_is(l->agent, &c)) {
		xclosep(&l->agent_fd);
		l->agent = 0;
	}
}

/* "Uid:" has the real, effective, saved and file system ids (proc(5)). */
int64_t link_agent_uid(const struct agent_link *l)
{
	char path[64], text[8192], *at;
	int64_t v = -1;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)l->agent);
	if (link_agent(l) <= 0 || read_text(path, text, sizeof(text)) == 0)
		return -1;
	at = strstr(text, "\nUid:\t");
	at = at ? strchr(at + 6, '\t') : NULL;
	return at && num_i64(at + 1, strcspn(at + 1, "\t\n"), &v) == 0 ? v : -1;
}

int proven_signal(int fd, int sig)
{
	return (int)syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
}

bool proven_ended(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, timeout_ms) > 0;
}

int proven_pidfd(pid_t pid, uint64_t start_ticks)
{
	CLEANUP(xclosep) int fd = proc_pidfd(pid);
	char name[24];
	struct seen s;
	int ret = fd;

	snprintf(name, sizeof(name), "%d", (int)pid);
	if (fd < 0 || !look_at_process(name, &s) || s.start_ticks != start_ticks)
		return -1;
	fd = -1;
	return ret;
}

pid_t link_agent(const struct agent_link *l)
{
	/* EPERM: the process lives and belongs to another user. */
	if (l->agent_fd < 0 || (proven_signal(l->agent_fd, 0) < 0 && errno != EPERM))
		return 0;
	return l->agent;
}

void link_wake(const struct agent_link *l)
{
	if (l->agent_fd >= 0)
		proven_signal(l->agent_fd, SIGCONT);
}

/* --- its children --- */

struct child {
	int64_t parent, inner;
};

static bool is_child(const struct seen *s, const void *ctx)
{
	const struct child *c = ctx;

	return s->ppid == c->parent && s->inner == c->inner;
}

int link_child(const struct agent_link *l, int64_t inner, pid_t *ret_pid)
{
	struct child c = { .parent = link_agent(l), .inner = inner };
	struct seen s;
	char name[24];
	int fd;

	*ret_pid = 0;
	if (c.parent <= 0)
		return -1;
	/* On the host, the usual case, no search is needed. */
	snprintf(name, sizeof(name), "%lld", (long long)inner);
	*ret_pid = look_at_process(name, &s) && is_child(&s, &c) ? (pid_t)inner
								 : the_one(is_child, &c);
	fd = proc_pidfd(*ret_pid);
	snprintf(name, sizeof(name), "%d", (int)*ret_pid);
	if (fd >= 0 && look_at_process(name, &s) && is_child(&s, &c))
		return fd;
	xclosep(&fd);
	*ret_pid = 0;
	return -1;
}
