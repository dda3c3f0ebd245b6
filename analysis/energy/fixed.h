/*
 * fixed: numbers that add up to the same bits in any order.
 *
 * Energy is summed up in units of 2^-60 J and share-time (time divided by the number of sharers) in
 * units of 2^-60 ns, both as 128-bit integers. Integer sums are associative, so results depend
 * neither on threads nor on ranks nor on how a trace is cut into rounds. Range: 10^20 J, 4000
 * years. A value is rounded once, when it becomes fixed, to the nearest unit.
 */
#ifndef PROFRIG_FIXED_H
#define PROFRIG_FIXED_H

#include <stdint.h>

typedef __int128 fixed128;

#define FIXED_ONE (UINT64_C(1) << 60)
#define FIXED_UNIT 0x1p-60

static inline fixed128 fixed_from(double v)
{
	double scaled = v * 0x1p60;

	scaled += scaled < 0 ? -0.5 : 0.5;
	/* the conversion to 64 bits is one instruction, that to 128 a call */
	if (scaled > -0x1p62 && scaled < 0x1p62)
		return (int64_t)scaled;
	return (fixed128)scaled;
}

/* The same of v × 2^60, where that is from 0 to 2^62: no branch, and no sign. */
static inline uint64_t fixed_from_units(double units)
{
	return (uint64_t)(int64_t)(units + 0.5);
}

static inline double fixed_value(fixed128 v)
{
	/* small numbers, which are the many, in one instruction */
	if (v == (int64_t)v)
		return (double)(int64_t)v * FIXED_UNIT;
	return (double)v * FIXED_UNIT;
}

/* 0 ≤ v < 2^124: a time. Rounded twice, so not for sums that must agree to the last bit. */
static inline double fixed_time_value(fixed128 v)
{
	return (double)(int64_t)(v >> 60) + (double)(int64_t)(v & (FIXED_ONE - 1)) * FIXED_UNIT;
}

/* dt_ns ≥ 0 of a share (of FIXED_ONE) */
static inline fixed128 fixed_time(int64_t dt_ns, uint64_t share)
{
	return (fixed128)((unsigned __int128)(uint64_t)dt_ns * share);
}

#endif
