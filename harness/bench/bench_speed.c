#include "bench_speed.h"
#include "bench_clock.h"
#include "peak_loops.h"

#include <stdint.h>

#include "profrig/base/clock.h"

#define LOOP_NS 30000
#define SHORT_NS 20000 /* what the clock's own reads may take */
#define TRIES 16

/*
 * The step lies in a register, as recent processors add constants before they execute anything,
 * several in a cycle. The barrier keeps the compiler from adding all at once.
 */
static void additions(uint64_t n)
{
	uint64_t sum = 0, step = 1;

	__asm__ volatile("" : "+r"(step));
	for (uint64_t i = 0; i < n; i += 8) {
#define ADD_ONE() \
	sum += step; \
	__asm__ volatile("" : "+r"(sum))
		ADD_ONE();
		ADD_ONE();
		ADD_ONE();
		ADD_ONE();
		ADD_ONE();
		ADD_ONE();
		ADD_ONE();
		ADD_ONE();
#undef ADD_ONE
	}
}

static const struct peak_unit *unit;

static void multiply_adds(uint64_t n)
{
	volatile double kept = unit->of[BENCH_F32].loop(n);

	(void)kept;
}

/*
 * Rounds per ns; *n, rounds of a reading, grows until one takes long enough. A reading that was
 * mostly a wait for the processor does not count: the clock's correction is as large as the rest.
 */
static double rate_of(void (*loop)(uint64_t n), uint64_t *n)
{
	int64_t ns = 0;

	for (int tries = 0; tries < TRIES; tries++) {
		int64_t began = clock_monotonic_ns(), begin = bench_clock_ns();

		loop(*n);
		ns = bench_clock_ns() - begin;
		if (clock_monotonic_ns() - began > 2 * ns + SHORT_NS)
			continue;
		if (ns >= LOOP_NS)
			break;
		*n *= 2;
	}
	return ns > 0 ? (double)*n / (double)ns : 0;
}

struct bench_speed bench_speed_now(void)
{
	static uint64_t added = 4096, rounds = 64;

	if (!unit) {
		const struct peak_unit *units[PEAK_UNITS_TRIED];

		peak_units_choose(units);
		unit = units[0];
	}
	return (struct bench_speed){
		.clock_mhz = rate_of(additions, &added) * 1e3,
		.loop_gflops = rate_of(multiply_adds, &rounds) * unit->of[BENCH_F32].flops,
	};
}
