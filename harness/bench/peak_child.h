/*
 * peak_child: what a child of lib perf does that has PEAK_CHILD for its driver: the loops of
 * bench_peak.h. Lines as in bench_child.h:
 *
 *	parent			child
 *				hello 0 THREADS peak UNITS
 *	fma TYPE UNIT		ok BEST MEDIAN			GFLOP/s
 *	triad BYTES		ok BEST MEDIAN STORES BYTES	GB/s, over arrays of BYTES in all
 *
 * It has a thread on each of its processors.
 */
#ifndef PEAK_CHILD_H
#define PEAK_CHILD_H

#include "bench_link.h"

#define PEAK_CHILD "peak"

/* Until the other side closes. */
void peak_child_serve(struct bench_link *link);

#endif
