/*
 * gpu_clock: the mean clock of a run's GPUs while its workload runs: over time, and over GPUs.
 *
 *	struct gpu_clock *g = gpu_clock_new(gpus)	NULL: no GPU tells its clock here
 *	gpu_clock_poll(g, now_ns)	from time to time; reads once a second at most
 *	hz = gpu_clock_mean(g)		NaN: unknown
 *	gpu_clock_source(g)		the sampler whose source it is
 *	gpu_clock_free(g)		NULL is fine
 *
 * This is for runs without a sampler that reads clocks; a sampler's own readings are more, and cost
 * nothing on top (mean_clock.h). gpus: "all", "0,2": those that the workload was given. One thread.
 */
#ifndef GPU_CLOCK_H
#define GPU_CLOCK_H

#include <stdint.h>

#define GPU_CLOCK_POLL_NS INT64_C(1000000000)

struct gpu_clock;
struct gpu_clock *gpu_clock_new(const char *gpus);
void gpu_clock_free(struct gpu_clock *g);
void gpu_clock_poll(struct gpu_clock *g, int64_t now_ns);
double gpu_clock_mean(const struct gpu_clock *g);
const char *gpu_clock_source(const struct gpu_clock *g);

#endif
