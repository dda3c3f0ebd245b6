/*
 * procfs: CPU utilisation and memory of the workload's process tree.
 *
 *	/proc/<pid>/task/<tid>/children	children of each thread (CONFIG_PROC_CHILDREN, which
 *					distributions set; else the tree is the root alone)
 *	/proc/<pid>/stat		state, cutime and cstime (ticks), rss (pages), start time
 *	/proc/<pid>/smaps_rollup	Pss
 *	the process CPU clock		ns, where ticks of 10 ms would be too coarse
 *
 * When a child is waited for, its time moves to its parent's cutime. So the sum over the tree never
 * decreases if parents are read first and no process ends during the read (its time would be in
 * neither). A sum with such a process is taken again; if that fails too, it is left out, and the
 * next good one covers the longer interval. Only a process that leaves the tree (a daemon, a child
 * that is not waited for) takes its time away.
 *
 * Walking the tree reads a file per thread. Pss walks page tables and keeps the process from
 * mapping memory meanwhile. So both are done as often as they take no more than WALK_SHARE and
 * PSS_SHARE of the time.
 */
#include "samplers_private.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/num.h"
#include "profrig/base/vec.h"

#define PSS_EVERY_NS NS_PER_S
#define PSS_SHARE 100 /* 1 %, as the walk */
#define WALK_SHARE 100
#define MAX_TREE 65536
#define MAX_PID 4194304 /* the kernel's PID_MAX_LIMIT */
#define STALE_NS NS_PER_S

enum series { CPU, RSS, PROCESSES, PSS };

struct sampler_state {
	struct sampler_device dev;
	bool has_pss;
	double tick_ns, page_bytes;
	pid_t root;
	double root_started; /* ticks since boot: detects a reused pid; < 0: not read yet */
	VEC(pid_t) tree;     /* parents before children */
	unsigned char *seen; /* a bit per pid, while walking */
	int64_t walk_due_ns, pss_due_ns;
	int64_t last_ns; /* time of the last good sum; 0: none */
	double last_cpu_ns;
};

/* --- opening --- */

static int procfs_probe(const struct sampler_opts *o, struct err *err)
{
	char buf[64];

	(void)o;
	if (sampler_read_text("/proc/self/stat", buf, sizeof(buf)) <= 0)
		return err_set(err, ENOENT, "/proc is not mounted");
	return 0;
}

static int procfs_open(const struct sampler_opts *o, struct sampler_state **ret, struct err *err)
{
	int r = procfs_probe(o, err);
	struct sampler_state *st;
	struct sampler_device *d;

	if (r < 0)
		return r;
	st = xcalloc(1, sizeof(*st));
	st->seen = xcalloc(1, MAX_PID / 8);
	st->tick_ns = 1e9 / (double)sysconf(_SC_CLK_TCK);
	st->page_bytes = (double)sysconf(_SC_PAGESIZE);
	st->has_pss = access("/proc/self/smaps_rollup", R_OK) == 0;
	d = &st->dev;
	snprintf(d->id, sizeof(d->id), "proc");
	snprintf(d->facts, sizeof(d->facts),
		 "the workload's process tree; 100 %% = one CPU; %ld CPUs online",
		 sysconf(_SC_NPROCESSORS_ONLN));
	sampler_device_add(d, "cpu", "%");
	sampler_device_add(d, "rss", "bytes");
	sampler_device_add(d, "processes", "");
	if (st->has_pss)
		sampler_device_add(d, "pss", "bytes");
	*ret = st;
	return 0;
}

static size_t procfs_devices(struct sampler_state *st, const struct sampler_device **ret)
{
	*ret = &st->dev;
	return 1;
}

/* --- the tree --- */

/* A process that gets another parent during the walk is found twice. */
static void add_pid(struct sampler_state *st, unsigned pid)
{
	unsigned char bit = (unsigned char)(1u << (pid % 8));

	if (pid == 0 || pid >= MAX_PID || st->tree.nr >= MAX_TREE || (st->seen[pid / 8] & bit))
		return;
	st->seen[pid / 8] |= bit;
	VEC_PUSH(&st->tree, (pid_t)pid);
}

/* "12 34 567 ": the kernel gives a page at a time, so a number may be cut between two reads. */
static void add_children(struct sampler_state *st, const char *path)
{
	CLEANUP(xclosep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buf[4096];
	unsigned pid = 0;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (isdigit((unsigned char)buf[i])) {
				pid = pid < MAX_PID ? pid * 10 + (unsigned)(buf[i] - '0') : pid;
				continue;
			}
			add_pid(st, pid);
			pid = 0;
		}
	add_pid(st, pid);
}

static void walk_tree(struct sampler_state *st)
{
	int64_t begun = clock_monotonic_ns(), now;
	char path[96];

	VEC_CLEAR(&st->tree);
	add_pid(st, (unsigned)st->root);
	for (size_t i = 0; i < st->tree.nr; i++) {
		DIR *d;
		struct dirent *e;

		snprintf(path, sizeof(path), "/proc/%d/task", (int)st->tree.v[i]);
		d = door_opendir(path);
		while (d && (e = readdir(d))) {
			if (!isdigit((unsigned char)e->d_name[0]))
				continue;
			snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children",
				 (int)st->tree.v[i], e->d_name);
			add_children(st, path);
		}
		if (d)
			closedir(d);
	}
	for (size_t i = 0; i < st->tree.nr; i++)
		st->seen[st->tree.v[i] / 8] = 0;
	now = clock_monotonic_ns();
	st->walk_due_ns = now + WALK_SHARE * (now - begun);
}

/* --- one process --- */

/* The fields of /proc/<pid>/stat that are used. */
struct stat_line {
	char state;
	double utime, stime, cutime, cstime; /* ticks */
	double started;                      /* ticks since boot */
	double rss;                          /* pages */
};

/*
 * proc(5) counts fields from 1. The second, the command's name in parentheses, may hold blanks and
 * parentheses.
 */
static bool parse_stat(const char *line, struct stat_line *ret)
{
	const struct {
		int field;
		double *to;
	} want[] = { { 14, &ret->utime },  { 15, &ret->stime },   { 16, &ret->cutime },
		     { 17, &ret->cstime }, { 22, &ret->started }, { 24, &ret->rss } };
	const char *p = strrchr(line, ')');
	size_t k = 0;

	if (!p || p[1] != ' ' || !p[2])
		return false;
	ret->state = p[2];
	p += 2;
	for (int field = 3; k < ARRAY_LEN(want); field++) {
		size_t n = strcspn(p, " \n");

		if (field == want[k].field && num_f64(p, n, want[k++].to) < 0)
			return false;
		p += n;
		if (*p != ' ')
			break;
		p++;
	}
	return k == ARRAY_LEN(want);
}

static bool read_stat(pid_t pid, struct stat_line *ret)
{
	char path[64], buf[1024];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return sampler_read_text(path, buf, sizeof(buf)) > 0 && parse_stat(buf, ret);
}

/*
 * CPU time of a process without its children, in ns. clock_getcpuclockid gives the kernel's
 * encoding of a process's CPU clock.
 */
static double own_cpu_ns(const struct sampler_state *st, pid_t pid, const struct stat_line *s)
{
	clockid_t clock;
	struct timespec ts;

	if (clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &ts) == 0)
		return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
	return (s->utime + s->stime) * st->tick_ns;
}

/* Sum over readable processes; NaN with a reason when a live one cannot be read. */
static double read_pss(const struct sampler_state *st, const char **reason)
{
	double sum = 0;

	for (size_t i = 0; i < st->tree.nr; i++) {
		char path[64], buf[2048];
		double kib;
		int r;
		const char *p;

		snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)st->tree.v[i]);
		r = sampler_read_text(path, buf, sizeof(buf));
		if (r == -ENOENT || r == -ESRCH || r == 0)
			continue; /* gone, or a zombie */
		p = r > 0 ? strstr(buf, "\nPss:") : NULL;
		if (p) {
			p += 5;
			p += strspn(p, " \t");
		}
		if (!p || num_f64(p, strcspn(p, " \n"), &kib) < 0) {
			*reason = r == -EACCES || r == -EPERM ? "smaps_rollup: permission denied"
							      : "smaps_rollup not readable";
			return NAN;
		}
		sum += kib * 1024;
	}
	return sum;
}

/* --- the sum --- */

struct usage {
	int64_t t_ns;
	double cpu_ns, rss_bytes;
	size_t alive;
	bool whole; /* every process of the tree could be read */
	bool root_replaced;
};

static struct usage measure_tree(struct sampler_state *st)
{
	struct usage u = { .whole = true, .t_ns = clock_monotonic_ns() };

	for (size_t i = 0; i < st->tree.nr; i++) {
		pid_t pid = st->tree.v[i];
		struct stat_line s;

		if (!read_stat(pid, &s)) {
			u.whole = false;
			continue;
		}
		if (i == 0 && st->root_started < 0)
			st->root_started = s.started;
		if (i == 0 && s.started != st->root_started) {
			u.root_replaced = true;
			return u;
		}
		u.cpu_ns += own_cpu_ns(st, pid, &s) + (s.cutime + s.cstime) * st->tick_ns;
		u.rss_bytes += s.rss * st->page_bytes;
		u.alive += s.state != 'Z' && s.state != 'X';
	}
	u.t_ns += (clock_monotonic_ns() - u.t_ns) / 2;
	return u;
}

/* % of one CPU since the last good sum. */
static double usage_utilisation(struct sampler_state *st, const struct usage *u,
				const char **reason)
{
	/* cutime and cstime are cut to whole ticks when a child's exact time is added to them */
	double rounding = 2 * st->tick_ns * (double)u->alive;
	double delta = u->cpu_ns - st->last_cpu_ns;
	int64_t dt = u->t_ns - st->last_ns;
	bool first = st->last_ns == 0;

	if (!first && (dt <= 0 || (!u->whole && dt < STALE_NS)))
		return SAMPLER_ABSENT;
	st->last_ns = u->t_ns;
	if (first) {
		st->last_cpu_ns = u->cpu_ns;
		return SAMPLER_ABSENT;
	}
	if (delta < 0 && delta >= -rounding)
		return 0;
	st->last_cpu_ns = u->cpu_ns;
	if (delta < 0) {
		*reason = "a process left the tree";
		return NAN;
	}
	return 100 * delta / (double)dt;
}

static int procfs_read(struct sampler_state *st, size_t d, double *v, const char **reason)
{
	struct usage u;

	(void)d;
	if (!st->root)
		return 1; /* the workload has not started */
	if (clock_monotonic_ns() >= st->walk_due_ns)
		walk_tree(st);
	u = measure_tree(st);
	if (!u.whole) {
		walk_tree(st);
		u = measure_tree(st);
	}
	if (u.alive == 0 || u.root_replaced)
		return 1; /* it has ended */
	v[CPU] = usage_utilisation(st, &u, reason);
	v[RSS] = u.rss_bytes;
	v[PROCESSES] = (double)u.alive;
	if (!st->has_pss)
		return 0;
	v[PSS] = SAMPLER_ABSENT;
	if (u.t_ns >= st->pss_due_ns) {
		int64_t begun = clock_monotonic_ns(), cost;

		v[PSS] = read_pss(st, reason);
		cost = PSS_SHARE * (clock_monotonic_ns() - begun);
		st->pss_due_ns = u.t_ns + (cost > PSS_EVERY_NS ? cost : PSS_EVERY_NS);
	}
	return 0;
}

static void procfs_target(struct sampler_state *st, pid_t pid)
{
	st->root = pid > 0 ? pid : 0;
	st->root_started = -1;
	st->walk_due_ns = st->pss_due_ns = st->last_ns = 0;
	st->last_cpu_ns = 0;
}

static void procfs_close(struct sampler_state *st)
{
	VEC_RELEASE(&st->tree);
	free(st->seen);
	free(st);
}

const struct sampler sampler_procfs = {
	.name = "procfs",
	.about = "CPU utilisation, RSS and PSS of the workload's process tree",
	.vendor = "any",
	.no_energy = true,
	.probe = procfs_probe,
	.open = procfs_open,
	.devices = procfs_devices,
	.read = procfs_read,
	.target = procfs_target,
	.close = procfs_close,
};
