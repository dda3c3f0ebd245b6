/*
 * bench_measure: one configuration with all back ends, block by block in turn (bench.h).
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

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
	double clock_sum;
	unsigned clocks, rounds;
	struct bench_figures figures;
};

struct bench_measure {
	const char *key, *cpus;
	const struct bench_opts *o;
	struct bench_side *sides;
	size_t nr;
	double seconds;  /* that it may take, about */
	int64_t work_ns; /* returned: of filling, checking, warming up and measuring */
};

void bench_measure(struct bench_measure *m);

#endif
