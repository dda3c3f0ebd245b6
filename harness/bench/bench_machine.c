#include "bench_machine.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"
#include "profrig/sampler/sampler.h"

#define TEXT_MAX ((size_t)1 << 20)
#define INDEXES_MAX 10 /* caches of a processor */

/* A short file of /sys, without its line end; owned, NULL: there is none. */
static char *line_of(const char *path)
{
	char *text = NULL;

	if (fs_read(path, TEXT_MAX, &text, NULL, NULL) < 0)
		return NULL;
	text[strcspn(text, "\n")] = 0;
	return text;
}

uint64_t machine_cache_bytes(void)
{
	uint64_t most = 0;

	for (int i = 0; i < INDEXES_MAX; i++) {
		CLEANUP(xfreep)
		char *path = xasprintf("/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
		CLEANUP(xfreep) char *size = line_of(path);
		int64_t bytes;

		if (size && num_bytes(size, strlen(size), &bytes) == 0 && (uint64_t)bytes > most)
			most = (uint64_t)bytes;
	}
	return most ? most : BENCH_CACHE_DEFAULT;
}

/* The largest cache of a processor, with who shares it; owned, NULL: the kernel tells of none. */
static char *last_cache_of(const char *cpu, uint64_t *ret_bytes)
{
	char *sharers = NULL;

	*ret_bytes = 0;
	for (int i = 0; i < INDEXES_MAX; i++) {
		CLEANUP(xfreep)
		char *dir = xasprintf("/sys/devices/system/cpu/cpu%s/cache/index%d", cpu, i);
		CLEANUP(xfreep) char *size_path = fs_join(dir, "size");
		CLEANUP(xfreep) char *list_path = fs_join(dir, "shared_cpu_list");
		CLEANUP(xfreep) char *size = line_of(size_path), *list = line_of(list_path);
		int64_t bytes;

		if (!size || !list || num_bytes(size, strlen(size), &bytes) < 0 ||
		    (uint64_t)bytes <= *ret_bytes)
			continue;
		*ret_bytes = (uint64_t)bytes;
		free(sharers);
		sharers = STEAL(list);
	}
	return sharers;
}

uint64_t machine_caches_bytes(const char *cpus)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT, seen = STRVEC_INIT;
	uint64_t sum = 0;

	strvec_split(&words, cpus, ",");
	for (size_t i = 0; i < words.nr; i++) {
		uint64_t bytes;
		CLEANUP(xfreep) char *sharers = last_cache_of(words.v[i], &bytes);

		if (!sharers || strvec_has(&seen, sharers))
			continue;
		strvec_push(&seen, sharers);
		sum += bytes;
	}
	return sum ? sum : machine_cache_bytes();
}

/* What stands behind "NAME:" and blanks in a file of lines; owned, NULL: there is no such line. */
static char *field_of(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, name, n) && strchr(" \t:", at[n])) {
			at += n;
			at += strspn(at, " \t:");
			return xstrndup(at, strcspn(at, "\n"));
		}
	}
	return NULL;
}

static uint64_t number_in(const char *path)
{
	CLEANUP(xfreep) char *text = line_of(path);
	uint64_t v = UINT64_MAX;

	return text && num_u64(text, strlen(text), &v) == 0 ? v : UINT64_MAX;
}

uint64_t machine_memory_free(void)
{
	CLEANUP(xfreep) char *text = NULL, *kb = NULL;
	uint64_t free_bytes = 0, most = number_in("/sys/fs/cgroup/memory.max");
	uint64_t now = number_in("/sys/fs/cgroup/memory.current");

	if (fs_read("/proc/meminfo", TEXT_MAX, &text, NULL, NULL) == 0)
		kb = field_of(text, "MemAvailable");
	if (kb && num_u64(kb, strcspn(kb, " "), &free_bytes) == 0)
		free_bytes *= 1024;
	if (most != UINT64_MAX && now != UINT64_MAX &&
	    most - (now < most ? now : most) < free_bytes)
		free_bytes = most - (now < most ? now : most);
	return free_bytes;
}

char *machine_processor(void)
{
	CLEANUP(xfreep) char *text = NULL;
	char *name = NULL;

	if (fs_read("/proc/cpuinfo", TEXT_MAX * 16, &text, NULL, NULL) == 0)
		name = field_of(text, "model name");
	return name ? name : xstrdup("");
}

int machine_cpus(unsigned n, struct strbuf *to, struct err *err)
{
	cpu_set_t set;
	unsigned left;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return err_sys(err, errno, "sched_getaffinity");
	left = (unsigned)CPU_COUNT(&set);
	if (left < n)
		return err_set(err, ERANGE, "%u threads need as many processors, there are %u", n,
			       left);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && left-- <= n)
			strbuf_addf(to, "%s%d", to->len ? "," : "", cpu);
	return 0;
}

/* Drivers of processors: Intel's, AMD's, and one for AMD outside the kernel. */
static bool is_processor(const char *hwmon)
{
	static const char *const drivers[] = { "coretemp", "k10temp", "zenpower" };
	CLEANUP(xfreep) char *path = fs_join(hwmon, "name");
	CLEANUP(xfreep) char *name = line_of(path);

	for (size_t i = 0; name && i < ARRAY_LEN(drivers); i++)
		if (!strcmp(name, drivers[i]))
			return true;
	return false;
}

/* The first sensor is the whole package's with all of them; in m°C. */
double machine_temperature_c(void)
{
	CLEANUP(xfreep) char *dir = xasprintf("%s/sys/class/hwmon", sampler_root());
	CLEANUP(strvec_release) struct strvec entries = STRVEC_INIT;
	double hottest = NAN;

	fs_list(dir, &entries, NULL);
	for (size_t i = 0; i < entries.nr; i++) {
		CLEANUP(xfreep) char *hwmon = fs_join(dir, entries.v[i]);
		CLEANUP(xfreep) char *path = fs_join(hwmon, "temp1_input");
		CLEANUP(xfreep) char *text = is_processor(hwmon) ? line_of(path) : NULL;
		double v;

		if (text && num_f64(text, strlen(text), &v) == 0)
			hottest = fmax(hottest, v / 1e3);
	}
	return hottest;
}

/* Of the first line of /proc/stat, in its order. */
enum { USER, NICE, SYSTEM, IDLE, IO_WAIT, IRQ, SOFT_IRQ, STEAL, STAT_FIELDS };

static double seconds_of(int who)
{
	struct rusage r;

	if (getrusage(who, &r) < 0)
		return NAN;
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

void machine_moment(struct machine_moment *ret)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	CLEANUP(xfreep) char *line = line_of("/proc/stat");
	double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);

	*ret = (struct machine_moment){ 0, 0,
					seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN) };
	strvec_split(&words, line ? line : "", " ");
	for (size_t i = 0; i < STAT_FIELDS; i++) {
		uint64_t ticks;

		if (i + 1 >= words.nr ||
		    num_u64(words.v[i + 1], strlen(words.v[i + 1]), &ticks) < 0) {
			ret->busy = ret->all = NAN;
			return;
		}
		ret->all += (double)ticks * tick_s;
		if (i != IDLE && i != IO_WAIT)
			ret->busy += (double)ticks * tick_s;
	}
}

double machine_others(const struct machine_moment *from, const struct machine_moment *to)
{
	double all = to->all - from->all;
	double others = to->busy - from->busy - (to->own - from->own);

	if (!(all > 0) || isnan(others))
		return NAN;
	return fmin(fmax(others / all, 0), 1);
}
