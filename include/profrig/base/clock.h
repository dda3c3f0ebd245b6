/*
 * clock: nanoseconds of three clocks, their relation, and sleeping until an absolute time.
 *
 * Everything profrig records is CLOCK_MONOTONIC; other programs stamp CLOCK_REALTIME (Kineto, NVTX)
 * or CLOCK_BOOTTIME (some GPU runtimes). An anchor reads the three together; the smallest spread of
 * several tries is kept, so the relation is known to well under 1 µs.
 */
#ifndef PROFRIG_CLOCK_H
#define PROFRIG_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

struct clock_anchor {
	int64_t monotonic_ns;
	int64_t realtime_ns;
	int64_t boottime_ns;
	int64_t spread_ns; /* monotonic read before and after the others, difference */
};

/*
 * Relates a trace whose clock has its own origin: at own_ns of that clock the others had these
 * values. A tracer of profrig writes it beside its trace (docs/tools.md, "Clocks").
 */
struct clock_origin {
	bool known;
	int64_t own_ns, monotonic_ns, realtime_ns;
};

int64_t clock_monotonic_ns(void);
int64_t clock_realtime_ns(void);
int64_t clock_thread_cpu_ns(void);
struct clock_anchor clock_anchor_now(void);
/* Sleeps until CLOCK_MONOTONIC reaches t_ns (returns at once when past). */
void clock_sleep_until_ns(int64_t t_ns);
/* "2026-03-04T05:06:07.123456Z"; buf holds at least 32. Returns buf. */
char *clock_utc(int64_t realtime_ns, char *buf);
/* The time that a text of clock_utc has, any number of digits of the second; 0: it is none. */
int64_t clock_utc_parse(const char *s);
/* "20260304T050607Z" for run ids; buf holds at least 20. Returns buf. */
char *clock_utc_compact(int64_t realtime_ns, char *buf);

#endif
