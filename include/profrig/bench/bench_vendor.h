/*
 * bench_vendor: calls measured by the benchmark programs of vendors.
 *
 *	bench_vendor_find("rocblas-bench", &end)	whether it is installed, and where
 *	bench_vendor_measure(&end, key, cache, opts, seconds, &row)
 *	bench_vendor_end_release(&end)
 *
 * A program gets a command line made from the canonical key: options of a list, with numbers whose
 * ranges were checked. No text of a log or of a key reaches it, and no shell is started. A key that
 * the program has no options for is BENCH_UNSUPPORTED, never measured as something else.
 *
 * One short run finds how many calls take about half a second. Then BENCH_ROUNDS_MIN fresh
 * processes measure, whatever the budget, and more of them until the standard error of their mean
 * is at most the precision or the time is used up. What each prints as the mean time of a call is
 * one block of bench_stats. Programs are ended with their process group when they give no answer,
 * and with this process. Their output is bounded (BENCH_VENDOR_OUTPUT_MAX).
 *
 * Output is read by the names of its columns, whatever their order. Columns that tell the problem
 * are compared with the key: some programs replace strides that are too small for them, with a
 * message or without one, and measure another problem.
 *
 * Cache modes: a program is asked only for one that it has. With any other the row is
 * BENCH_UNSUPPORTED and says which there are.
 *
 *			warm	cold			weights-cold
 *	rocblas-bench	yes	--flush_memory_size	no
 *	hipblaslt-bench	yes	--rotating		no
 *	miopen-driver	yes	no			no
 *	rccl-, nccl-tests yes	no			no
 *	benchdnn	yes	--cold-cache=all	--cold-cache=wei
 *	cutlass-profiler yes	--workspace-count=0	no
 *
 * Variables that make these libraries log, tune or choose other devices are taken out of the
 * environment of the programs.
 */
#ifndef PROFRIG_BENCH_VENDOR_H
#define PROFRIG_BENCH_VENDOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/bench/bench.h"

/* clang-format off */
#define BENCH_PROGRAMS(X) \
	X(rocblas_bench, "rocblas-bench") X(hipblaslt_bench, "hipblaslt-bench") \
	X(miopen_driver, "miopen-driver") X(rccl_tests, "rccl-tests") \
	X(nccl_tests, "nccl-tests") X(benchdnn, "benchdnn") X(cutlass_profiler, "cutlass-profiler")
/* clang-format on */

#define BENCH_VENDOR_OUTPUT_MAX ((size_t)4 << 20)
#define BENCH_VENDOR_ROTATE_BYTES (UINT64_C(512) << 20) /* twice the largest last-level cache */

struct bench_program;
struct bench_vendor_end {
	const struct bench_program *program;
	char *path;    /* of the program as it was found; NULL: it is not installed */
	char *real;    /* the same, links resolved */
	char *launch;  /* of mpirun; NULL: none, or the program needs none */
	char *device;  /* the first GPU of its vendor; NULL: none, or it runs on processors */
	unsigned gpus; /* of its vendor, that it may see */
};

/* Names of programs, ended by NULL. */
extern const char *const bench_vendor_names[];

/*
 * By a name of BENCH_PROGRAMS, or by the absolute path of such a program, which is known by its
 * last part. False: it is neither.
 */
bool bench_vendor_find(const char *name, struct bench_vendor_end *ret);
void bench_vendor_end_release(struct bench_vendor_end *e);
const char *bench_vendor_name(const struct bench_vendor_end *e);
/* Where it was looked for, as the reason of a row. Owned. */
char *bench_vendor_missing(const struct bench_vendor_end *e);

struct bench_vendor_row {
	enum bench_status status;
	char reason[320];  /* "" none; of a row that is ok: a note */
	char version[160]; /* as the program tells it, with the kernel that it chose */
	const char *timer; /* "device" or "host" */
	const char *init;  /* what the operands are filled with */
	uint64_t repeats;  /* timed calls, of all processes */
	struct bench_figures figures;
	double gflops, gbps; /* the key's own work by the mean; NaN unknown */
	int32_t solution;    /* as in struct bench_row */
};

/* seconds: what this configuration may take. The row's status is returned, too. */
enum bench_status bench_vendor_measure(const struct bench_vendor_end *e, const char *key,
				       enum bench_cache cache, const struct bench_opts *o,
				       double seconds, struct bench_vendor_row *ret);

#endif
