/*
 * library_trace: what the trace of a session says of the calls that logs of libraries tell: their
 * time, their kernels, who made them.
 *
 *	struct library_trace lt;
 *	library_trace_of(m, &lt);		m: finished and nested, with m->library
 *	lt.row[i]				of m->library->rows.v[i]
 *	library_trace_release(&lt);
 *
 * Which call of the log is which of the trace: library_match.h. Then the time of a call is, of a
 * library of the processor, that of the call in the trace, or, where calls are matched in time
 * (oneDNN), the logged one. Of any other library it is that of the work that was launched while the
 * call was open on its thread, or, of a collective that is matched with its kernel, of that kernel.
 * Without work it is unknown: the duration of a call that only enqueues says nothing.
 *
 * Work counts once in each row, also below calls that are handed on (MIOpen → rocBLAS): both rows
 * have its time. In the shares it counts once: for the outermost call. So the shares of device work
 * add up to 1 at most; those of the processor do for one thread.
 *
 * Memory: 21 bytes for each span of the trace, 24 for each name of work in each row.
 *
 *	share = ns / durations of all work on devices, or, of a library of the processor, / the time
 *		that the inputs cover
 *	TFLOP/s = flops of one call · calls with time / ns / 1000
 */
#ifndef ANALYSIS_STATS_LIBRARY_TRACE_H
#define ANALYSIS_STATS_LIBRARY_TRACE_H

#include "library_match.h"

struct library_traced {
	const struct library_row_match *match;
	uint64_t timed;       /* matched calls with time */
	int64_t ns;           /* of these, when there is one */
	int64_t own_ns;       /* without what an outer call has */
	double share, tflops; /* NaN unknown */
	uint64_t kernels;     /* names of work */
	const char *kernel;   /* the one that took most time; "" none. Of the model's strings */
	const char *caller;   /* what most calls were made in; "" unknown */
};

struct library_trace {
	struct library_match match;
	struct library_traced *row;
};

void library_trace_of(const struct model *m, struct library_trace *ret);
void library_trace_release(struct library_trace *lt);

#endif
