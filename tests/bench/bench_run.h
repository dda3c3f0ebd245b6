/*
 * What the benches of whole programs share: programs run in turn, each as a process of its own,
 * their medians, and bars that ratios must meet. Peak memory is that of the child (wait4). From the
 * environment: BENCH_RUNS=5 of each program, BENCH_STRICT=1: a missed bar is a failure.
 */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/num.h"
#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"

#define MAX_RUNS 99

struct bench {
	const char *name, *build; /* name: in front of every line */
	uint64_t events, runs;
	bool strict, missed;
};

struct cost {
	double s, rss_mib;
	double cpu_s; /* of all its processes */
};

static inline double timeval_s(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static inline uint64_t number(const char *name, uint64_t otherwise, uint64_t max)
{
	const char *text = getenv(name);
	uint64_t v = otherwise;

	if (text && (num_u64(text, strlen(text), &v) < 0 || v == 0 || v > max)) {
		fprintf(stderr, "bench: %s=%s\n", name, text);
		exit(2);
	}
	return v;
}

/* Exit status; output is thrown away, errors too when a failure is an answer. */
static inline int program_run(const struct strvec *argv, bool quiet, struct cost *ret)
{
	int64_t begun = clock_monotonic_ns();
	struct rusage use;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		dup2(null, STDOUT_FILENO);
		if (quiet)
			dup2(null, STDERR_FILENO);
		execvp(argv->v[0], argv->v);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &use) != pid)
		return -1;
	ret->s = (double)(clock_monotonic_ns() - begun) * 1e-9;
	ret->rss_mib = (double)use.ru_maxrss / 1024;
	ret->cpu_s = timeval_s(use.ru_utime) + timeval_s(use.ru_stime);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline struct cost must_run(const struct strvec *argv)
{
	struct cost c;

	if (program_run(argv, false, &c) != 0) {
		fprintf(stderr, "bench: failed: %s\n", strvec_shell(argv));
		exit(1);
	}
	return c;
}

/* ---- what is measured on ---- */

static inline bool is_newer(const char *path, const char *than)
{
	struct stat a, b;

	return stat(path, &a) == 0 && stat(than, &b) == 0 &&
	       (a.st_mtim.tv_sec > b.st_mtim.tv_sec ||
		(a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec > b.st_mtim.tv_nsec));
}

/* A PyTorch trace by make_tef with these words, made anew when that is; path, owned. */
static inline char *made_trace(const struct bench *b, const char *name, const char *words)
{
	char *path = xasprintf("%s/bench/%s-%" PRIu64 ".json", b->build, name, b->events);
	CLEANUP(xfreep) char *dir = xasprintf("%s/bench", b->build);
	CLEANUP(xfreep) char *maker = xasprintf("%s/tests/bench/make_tef", b->build);
	CLEANUP(xfreep)
	char *line = xasprintf("%s %s %" PRIu64 " >%s", maker, words, b->events, path);
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;

	fs_mkdirs(dir, 0755, NULL);
	strvec_pushl(&argv, "/bin/sh", "-c", line, NULL);
	if (!is_newer(path, maker))
		must_run(&argv);
	return path;
}

/* ---- programs ---- */

static inline int by_seconds(const void *pa, const void *pb)
{
	const struct cost *a = pa, *b = pb;

	return a->s < b->s ? -1 : a->s > b->s;
}

struct program {
	const char *name;
	struct strvec argv;
	struct cost runs[MAX_RUNS];
	struct cost median;
};

static inline void measure(const struct bench *b, struct program *p, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		must_run(&p[i].argv); /* what the disk has to say about it comes first */
	for (uint64_t k = 0; k < b->runs; k++) {
		for (size_t i = 0; i < nr; i++)
			p[i].runs[k] = must_run(&p[i].argv);
	}
	for (size_t i = 0; i < nr; i++) {
		qsort(p[i].runs, b->runs, sizeof(*p[i].runs), by_seconds);
		p[i].median = p[i].runs[b->runs / 2];
		printf("%s: %-20s %8.3f s  %6.2f M events/s  %5.0f MiB\n", b->name, p[i].name,
		       p[i].median.s, (double)b->events * 1e-6 / p[i].median.s,
		       p[i].median.rss_mib);
	}
}

static inline void bar(struct bench *b, const char *what, double value, double limit,
		       const char *unit)
{
	bool met = value <= limit;

	printf("%s: %s %.2f%s (limit %.2f%s): %s\n", b->name, what, value, unit, limit, unit,
	       met ? "met" : "missed");
	b->missed |= !met;
}

/* The same of what must be large. */
static inline void bar_least(struct bench *b, const char *what, double value, double limit)
{
	bool met = value >= limit;

	printf("%s: %s %.2f (at least %.2f): %s\n", b->name, what, value, limit,
	       met ? "met" : "missed");
	b->missed |= !met;
}

#endif
