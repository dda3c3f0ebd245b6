/*
 * cpu_counters: what counts a clock by itself: registers of the processors, or events of perf.
 * Private to cpu_clock.c; there is the manual.
 *
 *	struct cpu_counters *n = cpu_counters_new(root, descendants, ops)	NULL: there are none
 *	cpu_counters_begin(n)
 *	hz = cpu_counters_end(n)	NaN: unknown
 *	cpu_counters_free(n)		NULL is fine
 */
#ifndef CPU_COUNTERS_H
#define CPU_COUNTERS_H

#include "cpu_clock.h"

struct cpu_counters;
struct cpu_counters *cpu_counters_new(const char *root, bool descendants,
				      const struct cpu_clock_ops *ops);
void cpu_counters_free(struct cpu_counters *n);
const char *cpu_counters_source(const struct cpu_counters *n);
void cpu_counters_begin(struct cpu_counters *n);
double cpu_counters_end(struct cpu_counters *n);

/* Numbers of the processors below root, in no order. */
struct cpu_list {
	unsigned *v;
	size_t nr, cap;
};
void cpu_list_read(const char *root, struct cpu_list *ret);
/* A file with one number; NaN. */
double cpu_number_read(const char *path);

#endif
