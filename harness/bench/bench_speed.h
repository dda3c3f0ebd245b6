/*
 * bench_speed: how fast this thread's processor is just now, in the child, beside each block.
 *
 * What a library's time depends on is not in any file of the system where the clock is not shown
 * (virtual machines), or where another thread computes on the same core. Two loops in registers
 * tell it, each for about 30 µs:
 *
 *	clock_mhz	additions of a register that wait for each other: one in a cycle on all
 *			processors that profrig runs on, whatever else the core does
 *	loop_gflops	f32 multiply-adds that do not wait (peak_loops.h), with the second widest
 *			vector unit, as the widest one lowers the clock of some processors: what
 *			is left of the core's units
 *
 * Time by bench_clock.h. One reading may be disturbed: the median of many counts.
 */
#ifndef BENCH_SPEED_H
#define BENCH_SPEED_H

struct bench_speed {
	double clock_mhz, loop_gflops;
};

struct bench_speed bench_speed_now(void);

#endif
