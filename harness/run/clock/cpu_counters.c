#include "cpu_counters.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

#define MSR_TSC 0x10
#define MSR_MPERF 0xe7
#define MSR_APERF 0xe8
#define NUMBER_MAX_BYTES ((size_t)64)
#define FDS_SHARE 4 /* events take a quarter of the descriptors that there may be, at most */
#define CPUS_MAX 8192

/* ---- the kernel ---- */

static int kernel_msr(const char *root, unsigned cpu, uint32_t number, uint64_t *ret)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/dev/cpu/%u/msr", root, cpu);
	CLEANUP(xclosep) int fd = door_open(path, O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	return pread(fd, ret, sizeof(*ret), number) == (ssize_t)sizeof(*ret) ? 0 : -EIO;
}

static int kernel_perf(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static const struct cpu_clock_ops kernel = { kernel_msr, kernel_perf };

double cpu_number_read(const char *path)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;
	double v;

	if (fs_read(path, NUMBER_MAX_BYTES, &text, &n, NULL) < 0)
		return NAN;
	n = strcspn(text, "\n");
	return num_f64(text, n, &v) == 0 && isfinite(v) ? v : NAN;
}

void cpu_list_read(const char *root, struct cpu_list *ret)
{
	CLEANUP(xfreep) char *dir = xasprintf("%s/sys/devices/system/cpu", root);
	CLEANUP(strvec_release) struct strvec entries = STRVEC_INIT;

	fs_list(dir, &entries, NULL);
	for (size_t i = 0; i < entries.nr && ret->nr < CPUS_MAX; i++) {
		const char *digits = entries.v[i] + 3;
		uint64_t cpu;

		if (!strncmp(entries.v[i], "cpu", 3) &&
		    num_u64(digits, strlen(digits), &cpu) == 0 && cpu < CPUS_MAX)
			VEC_PUSH(ret, (unsigned)cpu);
	}
}

/* ---- counts ---- */

enum kind { KIND_MSR, KIND_PERF, KIND_TASK };

struct counts {
	uint64_t aperf, mperf;
	bool known;
};

/* One processor; fds are those of events. */
struct counted {
	unsigned cpu;
	int fd_aperf, fd_mperf;
	struct counts begin;
};

/* The time stamp counter of one processor, at a time. */
struct stamp {
	uint64_t tsc;
	int64_t ns;
};

struct cpu_counters {
	enum kind kind;
	const struct cpu_clock_ops *ops;
	char *root;
	VEC(struct counted) v;
	int fd_tsc, fd_cycles;
	struct stamp begin;
	uint64_t cycles, running_ns;
};

/* Of an event with the times in which it was on; false: it cannot be read. */
static bool event_read(int fd, uint64_t ret[3])
{
	/* a stand-in is a file */
	(void)lseek(fd, 0, SEEK_SET);
	return fd >= 0 && read(fd, ret, 3 * sizeof(*ret)) == 3 * (ssize_t)sizeof(*ret);
}

static struct counts counts_take(const struct cpu_counters *n, const struct counted *c)
{
	struct counts r = { .known = false };
	uint64_t a[3], m[3];

	if (n->kind == KIND_PERF) {
		r.known = event_read(c->fd_aperf, a) && event_read(c->fd_mperf, m);
		if (r.known) {
			r.aperf = a[0];
			r.mperf = m[0];
		}
		return r;
	}
	r.known = n->ops->msr(n->root, c->cpu, MSR_MPERF, &r.mperf) == 0 &&
		  n->ops->msr(n->root, c->cpu, MSR_APERF, &r.aperf) == 0;
	return r;
}

static struct stamp stamp_take(const struct cpu_counters *n)
{
	struct stamp s = { 0, clock_monotonic_ns() };
	uint64_t e[3];

	if (n->kind == KIND_MSR && n->ops->msr(n->root, n->v.v[0].cpu, MSR_TSC, &s.tsc) < 0)
		s.tsc = 0;
	if (n->kind == KIND_PERF)
		s.tsc = event_read(n->fd_tsc, e) ? e[0] : 0;
	/* the middle, so that neither side of the reading is left out */
	s.ns += (clock_monotonic_ns() - s.ns) / 2;
	return s;
}

/* ---- what works ---- */

static bool msr_works(struct cpu_counters *n, const struct cpu_list *cpus)
{
	uint64_t tsc;

	n->kind = KIND_MSR;
	for (size_t i = 0; i < cpus->nr; i++) {
		struct counted c = { .cpu = cpus->v[i], .fd_aperf = -1, .fd_mperf = -1 };

		c.begin = counts_take(n, &c);
		if (c.begin.known && c.begin.mperf > 0)
			VEC_PUSH(&n->v, c);
		else if (!n->v.nr && i > 0)
			break;
	}
	return n->v.nr && n->ops->msr(n->root, n->v.v[0].cpu, MSR_TSC, &tsc) == 0 && tsc > 0;
}

/* "event=0x01" of the PMU of model-specific registers. */
static bool event_of(const char *root, const char *name, uint32_t type, struct perf_event_attr *ret)
{
	static const char before[] = "event=0x";
	CLEANUP(xfreep)
	char *path = xasprintf("%s/sys/bus/event_source/devices/msr/events/%s", root, name);
	CLEANUP(xfreep) char *text = NULL;
	size_t len = 0;
	char *end;

	if (fs_read(path, NUMBER_MAX_BYTES, &text, &len, NULL) < 0 ||
	    strncmp(text, before, strlen(before)) != 0)
		return false;
	*ret = (struct perf_event_attr){
		.type = type,
		.size = sizeof(*ret),
		.config = strtoull(text + strlen(before), &end, 16),
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	return end > text + strlen(before) && (*end == '\n' || !*end);
}

/* Whether so many descriptors may be taken. */
static bool fds_are_few(size_t nr)
{
	struct rlimit rl;

	return getrlimit(RLIMIT_NOFILE, &rl) == 0 &&
	       (rl.rlim_cur == RLIM_INFINITY || nr <= rl.rlim_cur / FDS_SHARE);
}

static int event_open(const struct cpu_counters *n, const struct perf_event_attr *attr, pid_t pid,
		      int cpu)
{
	struct perf_event_attr own = *attr;

	return n->ops->perf(&own, pid, cpu);
}

static bool perf_works(struct cpu_counters *n, const struct cpu_list *cpus)
{
	CLEANUP(xfreep)
	char *path = xasprintf("%s/sys/bus/event_source/devices/msr/type", n->root);
	double type = cpu_number_read(path);
	struct perf_event_attr aperf, mperf, tsc;

	n->kind = KIND_PERF;
	if (!(type >= 0 && type <= UINT32_MAX) || !fds_are_few(2 * cpus->nr + 1) ||
	    !event_of(n->root, "aperf", (uint32_t)type, &aperf) ||
	    !event_of(n->root, "mperf", (uint32_t)type, &mperf) ||
	    !event_of(n->root, "tsc", (uint32_t)type, &tsc))
		return false;
	for (size_t i = 0; i < cpus->nr; i++) {
		int cpu = (int)cpus->v[i];
		struct counted c = { .cpu = cpus->v[i] };

		c.fd_aperf = event_open(n, &aperf, -1, cpu);
		c.fd_mperf = c.fd_aperf < 0 ? -1 : event_open(n, &mperf, -1, cpu);
		if (c.fd_mperf >= 0) {
			VEC_PUSH(&n->v, c);
			continue;
		}
		xclosep(&c.fd_aperf);
		/* not allowed at all, unless it is a processor that is off */
		if (!n->v.nr && i > 0)
			break;
	}
	if (n->v.nr)
		n->fd_tsc = event_open(n, &tsc, -1, (int)n->v.v[0].cpu);
	return n->v.nr && n->fd_tsc >= 0;
}

/* Cycles of all that this thread will have started; times count only while one of it runs. */
static bool task_works(struct cpu_counters *n)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.inherit = 1,
		.exclude_hv = 1,
	};

	n->kind = KIND_TASK;
	n->fd_cycles = event_open(n, &attr, 0, -1);
	return n->fd_cycles >= 0;
}

static void fds_close(struct cpu_counters *n)
{
	for (size_t i = 0; i < n->v.nr; i++) {
		xclosep(&n->v.v[i].fd_aperf);
		xclosep(&n->v.v[i].fd_mperf);
	}
	n->v.nr = 0;
	xclosep(&n->fd_tsc);
	xclosep(&n->fd_cycles);
}

struct cpu_counters *cpu_counters_new(const char *root, bool descendants,
				      const struct cpu_clock_ops *ops)
{
	struct cpu_counters *n = xcalloc(1, sizeof(*n));
	struct cpu_list cpus = { NULL, 0, 0 };
	bool works;

	n->ops = ops ? ops : &kernel;
	n->root = xstrdup(root);
	n->fd_tsc = n->fd_cycles = -1;
	cpu_list_read(root, &cpus);
	works = msr_works(n, &cpus);
	if (!works) {
		fds_close(n);
		works = perf_works(n, &cpus);
	}
	if (!works) {
		fds_close(n);
		works = descendants && task_works(n);
	}
	VEC_RELEASE(&cpus);
	if (works)
		return n;
	cpu_counters_free(n);
	return NULL;
}

void cpu_counters_free(struct cpu_counters *n)
{
	if (!n)
		return;
	fds_close(n);
	VEC_RELEASE(&n->v);
	free(n->root);
	free(n);
}

const char *cpu_counters_source(const struct cpu_counters *n)
{
	return n->kind == KIND_TASK ? "cycles" : "aperf/mperf";
}

/* ---- the mean ---- */

static void cycles_take(struct cpu_counters *n, uint64_t *ret_cycles, uint64_t *ret_running_ns)
{
	uint64_t e[3] = { 0, 0, 0 };

	if (!event_read(n->fd_cycles, e))
		e[0] = e[2] = 0;
	*ret_cycles = e[0];
	*ret_running_ns = e[2];
}

void cpu_counters_begin(struct cpu_counters *n)
{
	if (n->kind == KIND_TASK) {
		cycles_take(n, &n->cycles, &n->running_ns);
		return;
	}
	for (size_t i = 0; i < n->v.nr; i++)
		n->v.v[i].begin = counts_take(n, &n->v.v[i]);
	n->begin = stamp_take(n);
}

static double cycles_end(struct cpu_counters *n)
{
	uint64_t cycles, running_ns;

	cycles_take(n, &cycles, &running_ns);
	return cycles > n->cycles && running_ns > n->running_ns
		       ? (double)(cycles - n->cycles) * 1e9 / (double)(running_ns - n->running_ns)
		       : NAN;
}

/* One that was off meanwhile began its counts again, and says nothing. */
static double ratio_end(struct cpu_counters *n)
{
	double aperf = 0, mperf = 0;

	for (size_t i = 0; i < n->v.nr; i++) {
		struct counts b = n->v.v[i].begin, e = counts_take(n, &n->v.v[i]);

		if (!b.known || !e.known || e.aperf < b.aperf || e.mperf <= b.mperf)
			continue;
		aperf += (double)(e.aperf - b.aperf);
		mperf += (double)(e.mperf - b.mperf);
	}
	return aperf > 0 ? aperf / mperf : NAN;
}

double cpu_counters_end(struct cpu_counters *n)
{
	struct stamp end;
	double hz;

	if (n->kind == KIND_TASK)
		return cycles_end(n);
	end = stamp_take(n);
	if (end.tsc <= n->begin.tsc || end.ns <= n->begin.ns)
		return NAN;
	hz = (double)(end.tsc - n->begin.tsc) * 1e9 / (double)(end.ns - n->begin.ns);
	return hz * ratio_end(n);
}
