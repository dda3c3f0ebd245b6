/*
 * bench_measure: one configuration with all back ends, block by block in turn (bench.h); then,
 * where there is a meter, the energy of a call: blocks of one back end alone, in another fresh
 * process. Counters stand still for 1 ms (RAPL) to 100 ms (GPUs), so the energy is counted from one
 * change of the counter to another, at least ENERGY_CHANGES of them later.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "bench_meter.h"
#include "bench_process.h"

#include "profrig/bench/bench_driver.h"

struct bench_side {
	const struct bench_end *end;
	struct bench_work work;
	struct bench_process process;
	enum bench_status status;     /* no longer BENCH_OK: it takes no further part */
	char reason[320], chosen[80]; /* chosen: the library's implementation; "" unknown */
	VEC(struct bench_block) blocks;
	uint64_t block_calls; /* of a block; 0: not known yet */
	uint64_t repeats;
	double call_s; /* of the last block; 0 unknown */
	/* beside blocks, where the process tells: µs of 1e6 cycles, of 1e9 flops (bench_speed.h) */
	VEC(struct bench_block) cycles, loops;
	struct bench_meter *meter;      /* of what computes; NULL: none */
	double energy_j, temperature_c; /* of a call; behind it: NaN unknown */
	unsigned rounds;
	double levels[BENCH_ROUNDS_MAX]; /* bench_stats.h */
	size_t processes;                /* that have a level */
	double clock_mhz, loop_gflops;   /* the medians of processes' levels; NaN unknown */
	int32_t solution;                /* of all its processes; BENCH_SOLUTION_NONE */
	struct bench_figures figures;
};

struct bench_measure {
	const char *key, *cpus;
	const struct bench_opts *o;
	struct bench_side *sides;
	size_t nr;
	int64_t begun_ms; /* since the epoch: which rows were measured together */
	double seconds;   /* that it may take, about */
	double others;    /* returned: machine_others while it measured */
	int64_t work_ns;  /* returned: of filling, checking, warming up and measuring */
};

void bench_measure(struct bench_measure *m);

#endif
