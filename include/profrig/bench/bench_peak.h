/*
 * bench_peak: what this machine can do at most: floating point operations in a second, by type and
 * number of threads, and bytes in a second from and to memory; and which share of that a call
 * reaches.
 *
 * Life cycle:
 *	r = bench_peaks_find(file, threads, &peaks, &said)	1: they are stored
 *	r = bench_peaks_measure(&opts, &peaks, err)		otherwise; a second or two
 *	bench_peaks_keep(file, &peaks, &said)
 *	bench_peak_share(&peaks, &work, gflops)
 *
 * Flops: a loop of multiply-adds on as many independent accumulators as hide their latency, all in
 * registers, with the vector units that the processor has (x86: AVX2 with FMA and AVX-512, or SSE2;
 * AArch64: NEON). The two widest units are tried, and the better one counts. A multiply-add is 2
 * flops. Complex types have the peaks of their real types, as their work is counted in real flops.
 *
 * Bytes: STREAM triad, a[i] = b[i] + s·c[i] in doubles, 24 bytes for each element, over three
 * arrays that together take four times the last-level caches of the processors in use. It is
 * measured with plain stores, before which memory is read (32 bytes move for each element, 24 are
 * counted), and with streaming stores where the processor has them; the better one counts. Source:
 * J. D. McCalpin, Memory Bandwidth and Machine Balance in Current High Performance Computers, IEEE
 * TCCA Newsletter, December 1995.
 *
 * Threads are pinned, one on each processor, to those that bench_run measures with. Each figure is
 * the best of many short blocks, as a peak is a maximum, with the median beside it. Measuring goes
 * on until the best three agree (peak_crew.h). All of it runs in a child (bench_child.h): what
 * crashes or hangs there is a status.
 *
 * Roofline: a call of F flops and B bytes reaches at most min(peak, F/B · bandwidth); the ridge is
 * the F/B at which both are equal. Source: S. Williams, A. Waterman, D. Patterson, Roofline: An
 * Insightful Visual Performance Model for Multicore Architectures, CACM 52(4), 2009. Calls whose
 * operands stay in caches (warm) may be above 1 where memory is their limit.
 *
 * The store is a CSV file of BENCH_PEAK_COLUMNS in a folder of this user alone. Rows belong to a
 * host and a processor with certain vector units; of others they are kept. It is replaced as a
 * whole, so that a reader sees the old or the new one; of two that write at the same time one wins.
 *
 * Units in names; NaN is unknown. One thread.
 */
#ifndef PROFRIG_BENCH_PEAK_H
#define PROFRIG_BENCH_PEAK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profrig/base/err.h"
#include "profrig/base/strvec.h"
#include "profrig/bench/bench.h"
#include "profrig/bench/bench_driver.h"

#define BENCH_PEAK_TYPES 2 /* BENCH_F32, BENCH_F64 */
#define BENCH_PEAK_COLUMNS \
	"processor,host,dtype,threads,unit,gflops,gflops_median,gbps,gbps_median,ridge,stores," \
	"array_bytes,units,measured,status,reason"

struct bench_peak {
	enum bench_status status; /* BENCH_OK: gflops and gbps are known */
	char reason[320];         /* "" none; of one that is ok: a unit that failed */
	char unit[16];            /* whose gflops these are: "avx512" */
	double gflops, gflops_median;
};

/* Those of one number of threads. */
struct bench_peaks {
	unsigned threads;
	struct bench_peak of[BENCH_PEAK_TYPES]; /* by enum bench_type */
	double gbps, gbps_median;
	char stores[16];      /* "plain" or "streaming" */
	uint64_t array_bytes; /* of the three arrays */
	char measured[32];    /* UTC, as clock_utc has it */
};

struct bench_peak_opts {
	unsigned threads;
	const char *program; /* that has the hidden command of bench_child.h */
	double timeout_s;    /* of each figure */
};
#define BENCH_PEAK_OPTS_INIT \
	{ \
		.threads = 1, .program = "/proc/self/exe", .timeout_s = 20 \
	}

/* -ERANGE: this process may not use so many processors. All else is a status. */
int bench_peaks_measure(const struct bench_peak_opts *o, struct bench_peaks *ret, struct err *err);
bool bench_peaks_ok(const struct bench_peaks *p); /* all of them */

/*
 * The user's store, peaks.csv of fs_cache_path, owned. NULL: there is no such place (err says
 * why). The folder is made when it is not there. It belongs to the user, who alone can write there;
 * nothing is made in a folder of another user (a home folder that sudo left in place).
 */
char *bench_peaks_file(struct err *err);
/*
 * True: all of this machine with this number of threads are stored. What is wrong with the file
 * goes to said; what is left of it counts.
 */
bool bench_peaks_find(const char *file, unsigned threads, struct bench_peaks *ret,
		      struct strvec *said);
/* Those that are ok replace those of the same machine. Problems go to said. */
void bench_peaks_keep(const char *file, const struct bench_peaks *p, struct strvec *said);
/* Rows of BENCH_PEAK_COLUMNS, without those. */
void bench_peaks_write(const struct bench_peaks *p, FILE *f);

double bench_peak_gflops(const struct bench_peaks *p, enum bench_type type);
double bench_peak_ridge(const struct bench_peaks *p, enum bench_type type);
/* gflops by what the roofline allows, to four digits; p may be NULL (NaN). */
double bench_peak_share(const struct bench_peaks *p, const struct bench_work *w, double gflops);

unsigned bench_peaks_processors(void); /* that this process may use */
/* This machine as rows name it; owned. */
char *bench_peaks_processor(void);
char *bench_peaks_host(void);

#endif
