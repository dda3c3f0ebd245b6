/*
 * compare_lines: rows of library_perf.csv as tests of bench_tables and bench_compare want them, and
 * what is read from and found in files of them.
 */
#ifndef COMPARE_LINES_H
#define COMPARE_LINES_H

#include "../../test.h"
#include "bench_rows.h"

#include <math.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/base/student.h"
#include "profrig/bench/bench_compare.h"

#define GEMM "gemm ta=N tb=N m=8 n=8 k=8 a=f32"

static inline void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * fabs(want) + 1e-300))
		fail_msg("%.12g, not %.12g", got, want);
}

/* A row of library_perf.csv as a test wants it; what is 0 gets a usual value. */
struct line {
	const char *backend, *key, *status, *reason, *cache, *process_us, *level_us, *device;
	uint64_t calls, processes;
	double mean, half, min, median, energy_j, clock_mhz, loop_gflops, others;
	unsigned threads, measured_ms;
};

static inline void line_add(struct strbuf *to, const struct line *l)
{
	double half = l->half > 0 ? l->half : l->mean * 0.01, least = l->min > 0 ? l->min : l->mean;
	bool ok = !l->status;

	strbuf_addf(to, "lib,\"config, of %s\",%s,%s,%llu,100,", l->key, l->backend,
		    l->device ? l->device : "a cpu",
		    (unsigned long long)(l->calls ? l->calls : 10));
	if (ok)
		strbuf_addf(to, "%.17g,%.17g,%.17g,%.17g,1,1,", l->mean,
			    l->median > 0 ? l->median : l->mean, half, least);
	else
		strbuf_addstr(to, ",,,,,,");
	if (l->energy_j > 0)
		strbuf_addf(to, "%.17g", l->energy_j);
	strbuf_addf(to, ",%s,%s,%s,v1,/x.so,%u,%s,uniform,host,", ok ? "ok" : l->status,
		    l->reason ? l->reason : "", l->key, l->threads ? l->threads : 1,
		    l->cache ? l->cache : "warm");
	if (ok)
		strbuf_addf(to, "%.17g,%.17g,", fmax(l->mean - half, 0), l->mean + half);
	else
		strbuf_addstr(to, ",,");
	if (l->clock_mhz > 0)
		strbuf_addf(to, "%.17g", l->clock_mhz);
	strbuf_addf(
		to, ",,,%llu,%u,%.17g,%s,", (unsigned long long)(l->processes ? l->processes : 3),
		l->measured_ms ? l->measured_ms : 1, l->others, l->process_us ? l->process_us : "");
	if (l->loop_gflops > 0)
		strbuf_addf(to, "%.17g", l->loop_gflops);
	strbuf_addf(to, ",,%s\n", l->level_us ? l->level_us : "");
}

static inline void table_put(const char *dir, const char *name, const struct line *lines, size_t nr)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	strbuf_addstr(&text, BENCH_COLUMNS "\n");
	for (size_t i = 0; i < nr; i++)
		line_add(&text, &lines[i]);
	test_put(dir, name, text.buf);
}

struct compared {
	struct bench_tables t;
	struct bench_comparison c;
};

static inline void read_in(struct compared *cmp, const char *dir, const char *name)
{
	CLEANUP(xfreep) char *text = test_get(dir, name);
	struct err err = ERR_INIT;

	if (bench_tables_add(&cmp->t, name, text, strlen(text), &err) < 0)
		fail_msg("%s", err.msg);
}

static inline void compared_release(struct compared *cmp)
{
	bench_comparison_release(&cmp->c);
	bench_tables_release(&cmp->t);
}

#define COMPARED_INIT \
	{ \
		.t = BENCH_TABLES_INIT \
	}

/* Two files of these lines. */
static inline void compare_lines(struct compared *cmp, const char *dir, const struct line *a,
				 size_t na, const struct line *b, size_t nb,
				 const struct bench_compare_opts *o)
{
	static const struct bench_compare_opts usual = BENCH_COMPARE_OPTS_INIT;

	table_put(dir, "a.csv", a, na);
	table_put(dir, "b.csv", b, nb);
	read_in(cmp, dir, "a.csv");
	read_in(cmp, dir, "b.csv");
	bench_compare(&cmp->t, o ? o : &usual, &cmp->c);
}

#endif
