#include "profrig/bench/bench_peak.h"
#include "bench_machine.h"
#include "bench_process.h"
#include "peak_child.h"
#include "peak_loops.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_driver.h"

#define CACHES_OVER 4    /* how much larger the arrays are than the caches */
#define SHARE_DECIMALS 3 /* of d.ddd·10^n */
#define RATE_MAX 1e12

/* ---- measuring ---- */

struct measuring {
	const struct bench_peak_opts *o;
	struct bench_opts child;
	const char *cpus;
	struct bench_process process; /* its pid 0: none is alive */
};

/* Starts the child where none is alive. The answer is in m->process.line. */
static enum bench_status asked(struct measuring *m, const char *question)
{
	static const struct bench_driver loops = { .name = PEAK_CHILD };
	char none[] = "-";
	const struct bench_end end = { .path = none, .driver = &loops };
	enum bench_status s = BENCH_OK;

	if (!m->process.pid)
		s = bench_process_start(&m->process, &end, m->cpus, &m->child);
	if (s == BENCH_OK)
		s = bench_process_ask(&m->process, m->o->timeout_s, "%s", question);
	return s;
}

/* Best and median of an answer. */
static bool rates_read(const struct bench_line *line, double *ret_best, double *ret_median)
{
	double best, median;

	if (num_f64(line->field[1], strlen(line->field[1]), &best) < 0 ||
	    num_f64(line->field[2], strlen(line->field[2]), &median) < 0 ||
	    !(median > 0 && median <= best && best < RATE_MAX))
		return false;
	*ret_best = best;
	*ret_median = median;
	return true;
}

static enum bench_status rates_asked(struct measuring *m, const char *question, double *ret_best,
				     double *ret_median, char reason[320])
{
	enum bench_status s = asked(m, question);

	if (s != BENCH_OK) {
		snprintf(reason, 320, "%s", m->process.reason);
		return s;
	}
	if (rates_read(&m->process.line, ret_best, ret_median))
		return BENCH_OK;
	bench_process_end(&m->process);
	snprintf(reason, 320, "its answer is none");
	return BENCH_FAILED;
}

/* Of the units the better one; ok when one of them works. */
static void flops_measure(struct measuring *m, enum bench_type type, struct bench_peak *ret)
{
	const struct peak_unit *units[PEAK_UNITS_TRIED];
	size_t nr = peak_units_choose(units);
	enum bench_status last = BENCH_UNSUPPORTED;

	for (size_t i = 0; i < nr; i++) {
		CLEANUP(xfreep)
		char *question = xasprintf("fma\t%s\t%s", bench_type_name(type), units[i]->name);
		double best, median;
		char why[320];
		enum bench_status s = rates_asked(m, question, &best, &median, why);

		if (s != BENCH_OK) {
			snprintf(ret->reason, sizeof(ret->reason), "%s: %s", units[i]->name, why);
			last = s;
		} else if (!(best <= ret->gflops)) {
			ret->gflops = best;
			ret->gflops_median = median;
			snprintf(ret->unit, sizeof(ret->unit), "%s", units[i]->name);
		}
	}
	ret->status = isnan(ret->gflops) ? last : BENCH_OK;
}

static enum bench_status bandwidth_measure(struct measuring *m, struct bench_peaks *ret,
					   char reason[320])
{
	uint64_t bytes = CACHES_OVER * machine_caches_bytes(m->cpus);
	uint64_t memory = machine_memory_free();
	CLEANUP(xfreep) char *question = xasprintf("triad\t%" PRIu64, bytes);
	const struct bench_line *line = &m->process.line;
	enum bench_status s;

	if (memory / 2 < bytes) {
		snprintf(reason, 320,
			 "triad needs %.3g GB, four times the caches, and %.3g GB of memory are "
			 "free",
			 (double)bytes / 1e9, (double)memory / 1e9);
		return BENCH_SKIPPED;
	}
	s = rates_asked(m, question, &ret->gbps, &ret->gbps_median, reason);
	if (s != BENCH_OK)
		return s;
	snprintf(ret->stores, sizeof(ret->stores), "%s", line->field[3]);
	if (num_u64(line->field[4], strlen(line->field[4]), &ret->array_bytes) < 0)
		ret->array_bytes = 0;
	return s;
}

unsigned bench_peaks_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : (unsigned)CPU_COUNT(&set);
}

static void peaks_init(struct bench_peaks *p, unsigned threads)
{
	*p = (struct bench_peaks){ .threads = threads, .gbps = NAN, .gbps_median = NAN };
	for (int t = 0; t < BENCH_PEAK_TYPES; t++)
		p->of[t].gflops = p->of[t].gflops_median = NAN;
	clock_utc(clock_realtime_ns(), p->measured);
}

int bench_peaks_measure(const struct bench_peak_opts *o, struct bench_peaks *ret, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf cpus = STRBUF_INIT;
	struct measuring m = { .o = o, .child = BENCH_OPTS_INIT, .process = BENCH_PROCESS_INIT };
	char reason[320] = "";
	enum bench_status s;
	int r = machine_cpus(o->threads, &cpus, err);

	if (r < 0)
		return r;
	m.child.threads = o->threads;
	m.child.program = o->program;
	m.child.timeout_s = o->timeout_s;
	m.cpus = cpus.buf;
	peaks_init(ret, o->threads);
	for (int t = 0; t < BENCH_PEAK_TYPES; t++)
		flops_measure(&m, (enum bench_type)t, &ret->of[t]);
	s = bandwidth_measure(&m, ret, reason);
	for (int t = 0; s != BENCH_OK && t < BENCH_PEAK_TYPES; t++) {
		struct bench_peak *p = &ret->of[t];

		if (p->status != BENCH_OK)
			continue;
		p->status = s;
		snprintf(p->reason, sizeof(p->reason), "triad: %.300s", reason);
	}
	bench_process_end(&m.process);
	return 0;
}

bool bench_peaks_ok(const struct bench_peaks *p)
{
	for (int t = 0; t < BENCH_PEAK_TYPES; t++)
		if (p->of[t].status != BENCH_OK)
			return false;
	return true;
}

/* ---- roofline ---- */

static bool has_peak(enum bench_type type)
{
	return type == BENCH_F32 || type == BENCH_F64 || type == BENCH_F32C || type == BENCH_F64C;
}

static const struct bench_peak *peak_of(const struct bench_peaks *p, enum bench_type type)
{
	return &p->of[type == BENCH_F32 || type == BENCH_F32C ? BENCH_F32 : BENCH_F64];
}

double bench_peak_gflops(const struct bench_peaks *p, enum bench_type type)
{
	return peak_of(p, type)->gflops;
}

double bench_peak_ridge(const struct bench_peaks *p, enum bench_type type)
{
	return peak_of(p, type)->gflops / p->gbps;
}

static double digits_few(double v)
{
	char text[32];
	size_t n = num_fmt_exp(text, v, SHARE_DECIMALS);

	return num_f64(text, n, &v) == 0 ? v : NAN;
}

double bench_peak_share(const struct bench_peaks *p, const struct bench_work *w, double gflops)
{
	double most, by_memory;

	if (!p || !w->bytes || !has_peak(w->type) || isnan(gflops))
		return NAN;
	most = peak_of(p, w->type)->gflops;
	by_memory = (double)w->flops / (double)w->bytes * p->gbps;
	/* with one of them unknown the other may be too high a roof */
	if (!(most > 0) || !(by_memory > 0))
		return NAN;
	return digits_few(gflops / (by_memory < most ? by_memory : most));
}
