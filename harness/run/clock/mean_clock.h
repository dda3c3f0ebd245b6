/*
 * mean_clock: the metrics clock_mhz and gpu_clock_mhz of a run: the mean clocks of processors and
 * GPUs while its workload ran, with the source. They tell whether runs were made under the same
 * conditions; no clock that was set, and none before or after the workload, tells that.
 *
 *	mean_clock_open(rn)	before the engine starts
 *	mean_clock_begin(rn)	the workload is about to start; samplers are running
 *	mean_clock_poll(rn)	while it runs, from the loop that waits for it
 *	mean_clock_end(rn)	it is over, and samplers are running still
 *	mean_clock_release(rn)
 *
 * Processors: cpu_clock.h. GPUs: the readings of the run's first sampler that has clocks of GPUs
 * (series clock.<device>, Hz) between begin and end: of each device their mean, and the mean of
 * these. Without one, and where the run was given GPUs (`gpus`) or a sampler reads GPUs:
 * gpu_clock.h. What is not known is no metric.
 */
#ifndef MEAN_CLOCK_H
#define MEAN_CLOCK_H

#include "profrig/sampler/sampler.h"

struct run;
struct cpu_clock;
struct gpu_clock;

/* Readings of a sampler's clock before the workload. */
struct mean_clock_series {
	size_t device, series;
	double sum;
	uint64_t samples;
};

struct mean_clock {
	struct cpu_clock *cpu;     /* NULL: nothing tells */
	struct gpu_clock *gpu;     /* while the workload runs, without a sampler */
	struct sampling *sampling; /* the sampler's; NULL */
	const char *sampler;       /* its name */
	VEC(struct mean_clock_series) series;
	/* what was found; NaN: unknown. Literals. */
	double cpu_hz, gpu_hz;
	const char *cpu_source, *gpu_source;
};

void mean_clock_open(struct run *rn);
void mean_clock_begin(struct run *rn);
void mean_clock_poll(struct run *rn);
void mean_clock_end(struct run *rn);
void mean_clock_release(struct run *rn);

#endif
