/*
 * peak_crew: threads that work side by side in blocks, each pinned to a processor of its own, and
 * how much a block got done: its size by the time from the first thread's begin to the last one's
 * end. Threads wait for each other by spinning, as a block is short.
 */
#ifndef PEAK_CREW_H
#define PEAK_CREW_H

#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/base/vec.h"

struct crew_work {
	/* The part of thread `me` of `of` in a block of this size. */
	void (*part)(const void *ctx, unsigned me, unsigned of, uint64_t size);
	const void *ctx;
	uint64_t size;
	double block_s; /* a block's time, by which size is chosen while it warms up; 0: it stays */
	double warm_s;
	/*
	 * Behind the warm-up: at least `seconds`, and on, when other programs disturb it, until the
	 * best three blocks agree within 2 %, or for seconds_most.
	 */
	double seconds, seconds_most;
	unsigned blocks_min, blocks_max; /* whatever time that takes */
};

struct crew_rates {
	double best, median; /* size in a second */
};

/*
 * By the first `threads` processors that this process may use. -ERANGE: there are less; -EAGAIN and
 * the like: a thread cannot be made.
 */
int crew_run(unsigned threads, const struct crew_work *w, struct crew_rates *ret, struct err *err);

#endif
