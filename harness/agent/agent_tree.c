#include "agent_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profrig/base/num.h"

#define MAX_RESCANS 8
/* Longest list of children that is read; with a longer one all processes are scanned. */
#define MAX_CHILDREN_TEXT 512

/* Fields of /proc/<pid>/stat behind the name, which may hold blanks and parentheses itself. */
enum { STAT_STATE, STAT_PPID, STAT_PGRP, STAT_START = 19, STAT_FIELDS };

static bool parse_stat(const char *s, struct tree_proc *p)
{
	uint64_t field[STAT_FIELDS] = { 0 };

	s = strrchr(s, ')');
	if (!s)
		return false;
	s += 1;
	for (int i = 0; i < STAT_FIELDS; i++) {
		size_t n;

		s += strspn(s, " ");
		n = strcspn(s, " \n");
		if (n == 0)
			return false;
		/* The fields that are used are never negative (priorities, or a session of -1, may
		 * be). */
		if (i == STAT_STATE)
			p->dead = *s == 'Z' || *s == 'X';
		else
			num_u64(s, n, &field[i]);
		s += n;
	}
	p->ppid = (pid_t)field[STAT_PPID];
	p->pgrp = (pid_t)field[STAT_PGRP];
	p->start = field[STAT_START];
	return true;
}

static bool read_proc(int dir, const char *name, struct tree_proc *p)
{
	char path[32], buf[1024];
	uint64_t pid;
	ssize_t n;
	int fd;

	if (num_u64(name, strlen(name), &pid) < 0 || pid > INT32_MAX)
		return false;
	snprintf(path, sizeof(path), "%s/stat", name);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	*p = (struct tree_proc){ .pid = (pid_t)pid, .owner = OWNER_NONE };
	return parse_stat(buf, p);
}

static int by_pid(const void *pa, const void *pb)
{
	const struct tree_proc *a = pa, *b = pb;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

static struct tree_proc *tree_find(const struct tree *t, pid_t pid)
{
	struct tree_proc key = { .pid = pid };

	if (t->procs.nr == 0)
		return NULL;
	return bsearch(&key, t->procs.v, t->procs.nr, sizeof(key), by_pid);
}

/* False when a process ended between the list of names and the read of its file. */
static bool tree_read(struct tree *t)
{
	bool whole = true;
	struct dirent *e;
	DIR *d = opendir("/proc");

	while (d && (e = readdir(d))) {
		struct tree_proc p;

		if (e->d_name[0] < '0' || e->d_name[0] > '9')
			continue;
		if (read_proc(dirfd(d), e->d_name, &p))
			VEC_PUSH(&t->procs, p);
		else
			whole = false;
	}
	if (d)
		closedir(d);
	if (t->procs.nr > 0)
		qsort(t->procs.v, t->procs.nr, sizeof(t->procs.v[0]), by_pid);
	return whole;
}

/* Decides by the process alone, without its parent. */
static bool own_evidence(const struct agent *a, const struct tree *old, struct tree_proc *p)
{
	const struct tree_proc *was = tree_find(old, p->pid);

	if (was && was->ours && was->start == p->start) {
		p->owner = was->owner;
		return true;
	}
	/* Until the first process is reaped, its pid (and so the group's number) is not given to
	 * another process. */
	for (size_t i = 0; i < a->steps.nr; i++) {
		const struct step *s = &a->steps.v[i];

		if (s->running && (p->pid == s->pid || p->pgrp == s->pid)) {
			p->owner = (int)i;
			return true;
		}
	}
	return false;
}

/*
 * Walks up from p to the first ancestor that decides, then hands the decision down. Processes came
 * and went while the list was read, so it may hold a loop: the walk is bounded by its length.
 */
static void proc_decide(const struct agent *a, const struct tree *old, struct tree *t,
			struct tree_proc *p)
{
	const pid_t self = getpid();
	struct tree_proc *at = p, *top = NULL;
	bool ours = false;

	for (size_t n = 0; at && n <= t->procs.nr; n++) {
		top = at;
		if (at->known) {
			ours = at->ours;
			break;
		}
		if (own_evidence(a, old, at)) {
			ours = at->ours = at->known = true;
			break;
		}
		if (at->ppid == self) {
			at->owner = (int)a->steps.nr - 1;
			ours = at->ours = at->known = true;
			break;
		}
		at = tree_find(t, at->ppid);
	}
	for (at = p; at && at != top && !at->known; at = tree_find(t, at->ppid)) {
		at->known = true;
		at->ours = ours;
		at->owner = ours ? top->owner : OWNER_NONE;
	}
	top->known = true;
}

/* A process of the run that died since the last scan may have forked in between. */
static bool newly_dead(const struct tree *old, const struct tree_proc *p)
{
	const struct tree_proc *was;

	if (!p->ours || !p->dead)
		return false;
	was = tree_find(old, p->pid);
	return !was || !was->dead || was->start != p->start;
}

/* Returns whether the scan is consistent. */
static bool scan_once(struct agent *a)
{
	struct tree fresh = { .procs = VEC_INIT };
	bool whole = tree_read(&fresh);
	struct tree_proc *self = tree_find(&fresh, getpid());

	if (self)
		self->known = true;
	for (size_t i = 0; i < fresh.procs.nr; i++) {
		if (!fresh.procs.v[i].known)
			proc_decide(a, &a->tree, &fresh, &fresh.procs.v[i]);
		if (newly_dead(&a->tree, &fresh.procs.v[i]))
			whole = false;
	}
	tree_release(&a->tree);
	a->tree = fresh;
	return whole;
}

/*
 * A descendant of a subreaper or PID 1 is its child, or has a live ancestor that is one: when all
 * children are dead no process is left. Only this process reaps them, so the list does not change
 * while it is read. True is a proof, false is none.
 */
static bool none_lives(void)
{
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	char buf[MAX_CHILDREN_TEXT];
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf));

	if (fd >= 0)
		close(fd);
	if (n < 0 || n == (ssize_t)sizeof(buf))
		return false;
	for (ssize_t at = 0; at < n;) {
		const char *end = memchr(buf + at, ' ', (size_t)(n - at));
		siginfo_t si = { .si_pid = 0 };
		uint64_t pid;

		if (!end || num_u64(buf + at, (size_t)(end - buf - at), &pid) < 0)
			return false;
		/* The state in /proc is not enough: the first of several threads may be a zombie
		 * while others live. */
		if (waitid(P_PID, (id_t)pid, &si, WEXITED | WNOHANG | WNOWAIT) < 0 || !si.si_pid)
			return false;
		at = end + 1 - buf;
	}
	return true;
}

void tree_scan(struct agent *a)
{
	/* Mostly a step leaves no process behind, and a machine may have thousands of processes. */
	if (none_lives()) {
		tree_release(&a->tree);
		return;
	}
	/* The list of names is read before the files: a listed process may have forked an unlisted
	 * child and be dead when its file is read. */
	for (int i = 0; i < MAX_RESCANS && !scan_once(a); i++)
		;
}

void tree_release(struct tree *t)
{
	VEC_RELEASE(&t->procs);
}

static bool proc_wanted(const struct tree_proc *p, int owner)
{
	return p->ours && !p->dead && (owner == OWNER_ALL || p->owner == owner);
}

size_t tree_count(const struct agent *a, int owner)
{
	size_t n = 0;

	for (size_t i = 0; i < a->tree.procs.nr; i++)
		n += proc_wanted(&a->tree.procs.v[i], owner);
	return n;
}

size_t tree_signal(const struct agent *a, int owner, int sig, pid_t skip_pgrp)
{
	size_t n = 0;

	for (size_t i = 0; i < a->tree.procs.nr; i++) {
		const struct tree_proc *p = &a->tree.procs.v[i];

		if (!proc_wanted(p, owner) || (skip_pgrp && p->pgrp == skip_pgrp))
			continue;
		if (kill(p->pid, sig) < 0)
			continue;
		/* A stopped process acts on a signal that can be caught only when it runs again. */
		if (sig == SIGTERM || sig == SIGINT || sig == SIGHUP)
			kill(p->pid, SIGCONT);
		n++;
	}
	return n;
}

/* "SigCgt:" is a mask in hex, signal 1 the lowest bit (proc(5)). */
static bool proc_catches(pid_t pid, int sig)
{
	char path[64], text[4096], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, "\nSigCgt:\t");
	return at && (strtoull(at + 9, NULL, 16) >> (sig - 1) & 1);
}

size_t tree_signal_catching(const struct agent *a, int owner, int sig)
{
	size_t n = 0;

	for (size_t i = 0; i < a->tree.procs.nr; i++) {
		const struct tree_proc *p = &a->tree.procs.v[i];

		n += proc_wanted(p, owner) && proc_catches(p->pid, sig) && kill(p->pid, sig) == 0;
	}
	return n;
}
