/* The registry of analyses, each in the file of its name, and what several of them use. */
#ifndef PROFRIG_ANALYSES_PRIVATE_H
#define PROFRIG_ANALYSES_PRIVATE_H

#include <pthread.h>

#include "profrig/stats/analysis.h"
#include "profrig/work/iterations.h"
#include "profrig/work/works.h"

/* In the order of their tables. */
/* clang-format off */
#define ANALYSES(X) \
	X(functions) X(callpaths) X(kernels) X(busy) X(overlap) X(idle) X(launch_latency) \
	X(queue) X(kernel_lengths) X(graphs) X(counters) X(frequency) X(power_filter) \
	X(idle_power) X(energy) X(energy_ranks) X(kernel_classes) X(kernel_paths) X(gemm) \
	X(sequences) X(kernel_counters) X(operators) X(python) X(markers) X(sharing) \
	X(node_energy) X(timeline) X(lanes) X(library_tables) X(marks_tables) X(collectives) \
	X(iterations_tables) X(iteration_overlap) X(inference) X(critical_path) X(memory) \
	X(ranks) X(program_modules) X(compile) X(device_clocks) X(kernel_phases) X(categories) \
	X(findings)
#define ANALYSIS_DECLARE(name) extern const struct analysis analysis_##name;
ANALYSES(ANALYSIS_DECLARE)
/* clang-format on */

struct work_energy;
struct operator_calls;
struct analysis_shared {
	struct works *works;           /* NULL: not made yet */
	struct iterations *iterations; /* likewise; under its lock */
	struct work_energy *energy;    /* likewise; under its lock */
	struct operator_calls *calls;  /* likewise; under its lock */
	pthread_mutex_t iterations_lock, energy_lock, calls_lock;
};
/* The device work of the model, which is nested after it. Borrowed. */
const struct works *analysis_works(struct model *m, const struct analysis_opts *o);
/* Its iterations, by o->marker. Borrowed. -EINVAL: the pattern. */
int analysis_iterations(struct model *m, const struct analysis_opts *o,
			const struct iterations **ret, struct err *err);
/* What the input of its first work says of a device; NULL: nothing. */
const struct device_facts *analysis_device_facts(const struct works *w,
						 const struct work_device *d);
/* The rank of an iteration's track or device; NaN unknown. */
double iteration_rank(const struct model *m, const struct works *w, const struct iteration *i);
/* Its marker's name; of a period its index, in buf. */
#define ITERATION_NAME_MAX 24
const char *iteration_name(const struct model *m, const struct iteration *i,
			   char buf[ITERATION_NAME_MAX]);
#define SAY_NO_CYCLES "no work has stamps of its device's cycle counter"
#define SAY_NO_LAUNCHES "no device work is linked with the call that launched it"

/*
 * Of the calls of a profile, by group: group_of has a group below nr for each of profile.calls, or
 * U64MAP_NONE. Of a model's profile all are exact, else as call_stats_approx. ret has nr elements.
 */
void call_stats_by(const struct profile *p, const uint32_t *group_of, size_t nr,
		   struct call_stats *ret);

/*
 * Of n > 0 values in ascending order, also negative ones: type 7, linear between the order
 * statistics around (n − 1)·p, and the mean of the middle two.
 */
double sorted_quantile(const int64_t *sorted, size_t n, double p);
double sorted_median(const int64_t *sorted, size_t n);
/* The mean of the middle two; sorts v; NaN for none. */
double median_f64(double *v, size_t n);

#endif
