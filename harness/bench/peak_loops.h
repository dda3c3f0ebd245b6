/*
 * peak_loops: loops that do nothing but multiply-adds, for each vector unit, and STREAM's triad.
 */
#ifndef PEAK_LOOPS_H
#define PEAK_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/strbuf.h"
#include "profrig/bench/bench_peak.h"

/* n rounds; what it returns is to be kept, or the compiler would leave the loop out. */
typedef double peak_loop_fn(uint64_t n);

struct peak_unit {
	const char *name;
	bool (*there)(void); /* the processor and the system have it */
	struct {
		peak_loop_fn *loop;
		unsigned flops; /* of a round */
	} of[BENCH_PEAK_TYPES];
};

/* From the narrowest to the widest; ended by a name NULL. */
extern const struct peak_unit peak_units[];
#define PEAK_UNITS_TRIED 2
/* The widest ones that are there, the widest last; returns how many. */
size_t peak_units_choose(const struct peak_unit *ret[PEAK_UNITS_TRIED]);
/* Their names with blanks between them, by which peaks are stored. */
void peak_units_names(struct strbuf *to);

/* n is a multiple of PEAK_TRIAD_STEP, arrays are aligned to as many doubles. */
#define PEAK_TRIAD_STEP ((size_t)8)
#define PEAK_TRIAD_BYTES 24 /* counted for an element */
typedef void peak_triad_fn(double *a, const double *b, const double *c, double s, size_t n);

struct peak_triad {
	const char *stores; /* "plain" "streaming" */
	peak_triad_fn *run;
};
extern const struct peak_triad peak_triads[]; /* ended by a name NULL */

#endif
