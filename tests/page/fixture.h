/*
 * fixture: small reports made in code for the tests of the page. Every table follows from one list
 * of calls and one list of kernels, so sums that the page shows can be checked against each other.
 */
#ifndef PROFRIG_TESTS_PAGE_FIXTURE_H
#define PROFRIG_TESTS_PAGE_FIXTURE_H

#include "profrig/report/writer.h"

/* One call path in preorder; times are per track. */
struct fx_call {
	int depth;
	const char *name, *category;
	uint64_t calls;
	int64_t own_ns, device_ns;
};

struct fx_kernel {
	const char *device, *name, *class;
	uint64_t calls;
	int64_t total_ns;
};

struct fx_counter {
	const char *series, *device, *unit, *flags;
	bool cumulative, energy;
	double low, high;
};

#define FX_ORIGIN_NS INT64_C(81234000000000)
#define FX_SPAN_NS INT64_C(12400000000)

void fx_calls(struct report *r, const char *const *tracks, const struct fx_call *calls, size_t n);
void fx_kernels(struct report *r, const struct fx_kernel *k, size_t n);
/* counters, timeline and, for those with .energy, the energy tables over what fx_calls and
 * fx_kernels were given. */
void fx_counters(struct report *r, const struct fx_counter *c, size_t n);
/* The functions table; after the others. */
void fx_functions(struct report *r);
/* The tables of library calls, as the analysis makes them of a log of several libraries. */
void fx_library(struct report *r, const char *log);
/* Many rows of paths, for the limits. */
void fx_big(struct report *r, size_t paths, size_t functions);

struct table *fx_find(const struct report *r, const char *name);
void fx_add(struct report *r, struct table *t);

#endif
