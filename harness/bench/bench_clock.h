/*
 * bench_clock: the timer of drivers that compute on this machine's processors, in the child.
 *
 * The clock stands still while this thread is ready to run and others have its processor, where
 * the child has one processor and the kernel counts (/proc/thread-self/schedstat; the kernel's
 * sched-stats.rst): such time is none of the library. With several threads it is plain monotonic
 * time.
 */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <stdint.h>

int64_t bench_clock_ns(void);

#endif
