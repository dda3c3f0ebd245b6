/*
 * compare_roofs: what the machine allows, as the tables of a comparison tell it.
 *
 * A call of F flops and B bytes that runs at G GFLOP/s and has a share s of what is allowed
 * (peak_share) tells that G/s = min(peak, F/B · bandwidth). Of the calls of one device, type and
 * number of threads, one whose G/s is below that of another is limited by memory and tells the
 * bandwidth; one whose (G/s)/(F/B) is below that of another is limited by the processor and tells
 * the peak (below: by a tenth, as peaks of several files differ a little). All types share the
 * bandwidth. What no call tells is unknown, so a roof may have one of its two parts, and none is
 * guessed. Source: Williams, Waterman, Patterson, Roofline, 2009.
 *
 *	struct roofs roofs = ROOFS_INIT;
 *	roofs_find(&tables, &roofs);	in the order of their first rows
 *	roofs_release(&roofs);
 *
 * Where no roof is known there is one that is the best speed and the best bandwidth of all rows.
 * Texts are borrowed from the tables.
 */
#ifndef CLI_COMPARE_ROOFS_H
#define CLI_COMPARE_ROOFS_H

#include "profrig/base/vec.h"
#include "profrig/bench/bench_op.h"
#include "profrig/bench/bench_tables.h"
#include "profrig/report/html_out.h"

struct roof {
	const char *device;
	enum bench_type type; /* of real numbers; BENCH_TYPE_COUNT: unknown */
	unsigned threads;
	double gflops, gbps;                    /* 0 unknown */
	double least_intensity, most_intensity; /* FLOP/byte, of its calls */
	bool seen;                              /* of what was measured: the machine may do more */
	bool named;                             /* there are roofs of other devices */
};
struct roofs {
	struct roof *v;
	size_t nr, cap;
};
#define ROOFS_INIT \
	{ \
		NULL, 0, 0 \
	}

void roofs_find(const struct bench_tables *t, struct roofs *ret);
void roofs_release(struct roofs *r);
/* "f32, 1 thread: 100 GFLOP/s, 10 GB/s, ridge at 10 FLOP/byte" */
void roof_put(const struct html_out *h, const struct roof *r);

#endif
