/*
 * bench: how long does each call that a model makes take with this or that library?
 *
 * Configurations (a library's call, its canonical key, how often it was made) are replayed by back
 * ends, and each pair of them becomes a row of library_perf.csv, whatever happens to it.
 *
 * Life cycle:
 *	1. bench_set with its configs (bench_config_add); they are kept
 *	2. bench_back_ends_find(names, &ends, err)	(bench_back_end.h)
 *	3. bench_run(&set, &ends, &opts, &outcome, err)
 *	4. bench_set_release, bench_back_ends_release
 *
 * Each measurement is made in fresh child processes (bench_child.h), five or more for each back
 * end, and at least BENCH_ROUNDS_MIN where the time is short. In a round the children of all back
 * ends are alive; they get blocks of about 2.5 ms in turn, A B B A, and of 10 ms where a child has
 * several threads or uses another device. One untimed call is made in front of each block. With
 * several threads a child whose turn it is not is stopped, as its threads would spin beside the
 * others. A round has up to 24 blocks of each back end, fewer where they take long, as the level
 * of a process (bench_stats.h) wants some to choose from. Inputs are uniform in [-1, 1]. Warm-up
 * ends when two blocks in a row differ by less than 3 %, or after 0.5 s; of later processes after
 * 3 blocks. Measuring ends when half of each mean's 95 % interval is at most twice the precision,
 * as that of a mean with this standard error would be, and so is half of that of each back end's
 * ratio to the first one (by levels, process by process: bench_compare.h), or when the
 * configuration's share of the budget is used up, after BENCH_ROUNDS_MAX processes, or, where it
 * is a mean alone that is not known so well, after BENCH_ROUNDS_MEANS.
 *
 * Time in which a child with one thread was ready to run, and another process had its processor, is
 * no time of the library (/proc/thread-self/schedstat).
 *
 * Cache modes, part of a result:
 *	warm		the same operands in each call
 *	cold		all operands change from call to call, over twice the last-level cache
 *	weights-cold	operand A alone does (bench_op.h says why A); the rest stays: a layer reads
 *			its weights from memory and its input from a cache
 * The sets that change take at most a quarter of the free memory, and are at least two.
 *
 * Kill-safe: a row is one append of one whole line, synced; a torn last line is cut off by the
 * next run with the same file, which goes on with what has no row. One process at a time writes
 * (flock).
 *
 * Units in names. One thread; signals are the caller's business: children die with it.
 */
#ifndef PROFRIG_BENCH_H
#define PROFRIG_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/base/vec.h"
#include "profrig/bench/bench_back_end.h"
#include "profrig/bench/bench_stats.h"

#define BENCH_ROUNDS_MIN 3
#define BENCH_ROUNDS_MEANS 12 /* at most for the sake of means */
#define BENCH_ROUNDS_MAX 20   /* for that of ratios */
#define BENCH_CONFIGS_MAX ((size_t)1 << 18)
#define BENCH_FLOPS_UNKNOWN UINT64_MAX

/* ---- what is measured ---- */

struct bench_config {
	char *library, *config, *key; /* key "": there is none */
	char *problem;                /* why it cannot be measured, such as a damaged row; NULL */
	uint64_t calls;
	double flops; /* of all its calls; NaN unknown */
};

struct intern;
struct bench_set {
	VEC(struct bench_config) v;
	struct intern *keys;     /* of those without a problem; NULL: none yet */
	VEC(uint32_t) config_of; /* by number of the key */
};

/*
 * Texts are copied, control bytes in them become blanks. Flops of a key that a driver knows are
 * computed anew. A key that is in the set already adds to its calls. False: there are
 * BENCH_CONFIGS_MAX.
 */
bool bench_config_add(struct bench_set *set, const struct bench_config *c);
void bench_set_release(struct bench_set *set);

/* ---- how ---- */

enum bench_cache { BENCH_WARM, BENCH_COLD, BENCH_WEIGHTS_COLD };
const char *bench_cache_name(enum bench_cache c);
bool bench_cache_parse(const char *name, enum bench_cache *ret);

struct bench_peaks; /* bench_peak.h */
enum bench_status {
	BENCH_OK,
	BENCH_FAILED,  /* the library does not load, or an answer was none */
	BENCH_CRASHED, /* it ended the child, by a signal or not */
	BENCH_TIMEOUT,
	BENCH_WRONG, /* its result is not that of the reference */
	BENCH_UNSUPPORTED,
	BENCH_SKIPPED, /* needs more memory than there is; nothing to compute; a damaged row */
	BENCH_STATUSES
};
const char *bench_status_name(enum bench_status s);

#define BENCH_SOLUTION_NONE (-1)
struct bench_row {
	const struct bench_config *config;
	const char *back_end;
	const struct bench_identity *identity; /* NULL: it was never loaded */
	enum bench_status status;
	const char *reason; /* "" none; of a row that is ok: a note */
	uint64_t repeats;   /* timed calls */
	struct bench_figures figures;
	double gflops, gbps, energy_j, temperature_c; /* NaN unknown */
	double clock_mhz, loop_gflops;                /* of the processor meanwhile; NaN unknown */
	double peak_share;                            /* bench_peak.h; NaN unknown */
	double others;                                /* machine_others; NaN unknown */
	int64_t measured_ms; /* when it began, since the epoch; 0: it was not measured */
	/* means and levels (bench_stats.h) of the processes, in order, with blanks between */
	const char *process_us, *level_us;
	/*
	 * The library's own number of what it computed with, for this build of it and this device
	 * alone; BENCH_SOLUTION_NONE: it has none, or not the same one in all processes.
	 */
	int32_t solution;
	/* NULL: the host's clock, uniform operands, the processor */
	const char *timer, *init, *device;
};

struct bench_listener {
	void (*config)(void *ctx, const struct bench_config *c, size_t at, size_t of);
	void (*row)(void *ctx, const struct bench_row *r);
	void *ctx;
};

struct bench_opts {
	const char *output; /* library_perf.csv */
	enum bench_cache cache;
	unsigned threads;    /* 1 */
	double precision;    /* 0.02 */
	double budget_s;     /* of all configurations; 0: BENCH_CONFIG_S for each */
	double timeout_s;    /* in which a child answers, beside what its work needs */
	uint64_t top;        /* the heaviest ones alone; 0: all */
	double min_share;    /* of all flops, or of all calls where flops are unknown */
	bool again;          /* also what has a row */
	const char *program; /* that has the hidden command of bench_child.h */
	/* Those of as many threads (bench_peak.h); NULL: shares are unknown. */
	const struct bench_peaks *peaks;
	struct bench_listener listener;
};
#define BENCH_CONFIG_S 10.0
#define BENCH_OPTS_INIT \
	{ \
		.output = "library_perf.csv", .cache = BENCH_WEIGHTS_COLD, .threads = 1, \
		.precision = 0.02, .timeout_s = 10, .program = "/proc/self/exe" \
	}

struct bench_outcome {
	size_t chosen;  /* configurations behind top and min_share */
	size_t resumed; /* of those: all rows were there */
	size_t left;    /* of those: the budget ended before them */
	size_t rows;    /* that were written */
	size_t of[BENCH_STATUSES];
	/* time that was neither warm-up nor filling, checking or measuring, and for how many pairs
	 */
	double overhead_s;
	size_t pairs;
};

/*
 * -ENODEV: no back end loads, and err says why; -EINVAL: the file is no library_perf.csv; -EBUSY:
 * another process writes it; other errors: it cannot be written, what was written stays.
 */
int bench_run(const struct bench_set *set, struct bench_back_ends *ends, const struct bench_opts *o,
	      struct bench_outcome *ret, struct err *err);

#endif
