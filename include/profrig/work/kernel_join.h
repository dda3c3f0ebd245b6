/*
 * kernel_join: counters of kernels that have an order and no times (Nsight Compute runs each kernel
 * again by itself), put to the same kernels of a trace.
 *
 *	if (kernel_join_has(m))			m: not finished, the trace's inputs have ended
 *		kernel_join(m, from, &done)	from: the counters' input alone, ended
 *
 * The k-th kernel of a name and device is the k-th of the trace, there in the order of starts:
 *	device	the one of the same id; where both have one device only, that
 *	name	the same text; else the same function and template arguments, as tools write them
 *		differently ("void k<(int)4>(T1)", "k<4>(float*)", mangled names); a name that is a
 *		bare function ("k", --kernel-name-base function) is any instance of it
 * A recording of counters may have fewer kernels (--launch-count). One that the trace lacks is not
 * joined: W_KERNEL_NOT_JOINED counts them and names the first.
 *
 * A value becomes a sample of a series of the trace's queue at the end of the trace's kernel, as
 * readers of a trace with counters leave it (kernel_counters); it moves with the clock of the
 * trace. `from` adds its input, with its facts and warnings, and no work.
 *
 * Time: n·log n in the kernels of both. Memory: 32 bytes for each kernel.
 */
#ifndef PROFRIG_KERNEL_JOIN_H
#define PROFRIG_KERNEL_JOIN_H

#include "profrig/model/model.h"

/* Whether the model has kernels. */
bool kernel_join_has(const struct model *m);

struct kernel_joined {
	uint64_t kernels, joined, values; /* of from; values: samples that were put */
};
void kernel_join(struct model *m, const struct model *from, struct kernel_joined *ret);

/* Appends the function of a name with its template arguments, in one form for all tools. */
struct strbuf;
void kernel_join_name(const char *name, struct strbuf *to);

#endif
