/*
 * bench_half: numbers of 16 bits, as GPUs compute with them. Rounding is to nearest, ties to even;
 * what is too large becomes infinite.
 *
 *	f16	1 sign, 5 exponent, 10 fraction		IEEE 754-2019, binary16
 *	bf16	1 sign, 8 exponent, 7 fraction		the upper half of a binary32
 */
#ifndef BENCH_HALF_H
#define BENCH_HALF_H

#include <stdint.h>

#define BENCH_F16_EPSILON 0x1p-10L /* from 1 to the next number */
#define BENCH_F16_STEP 0x1p-24L    /* the smallest number above 0 */
#define BENCH_BF16_EPSILON 0x1p-7L

uint16_t bench_f16_of(double v);
uint16_t bench_bf16_of(double v);
double bench_f16_value(uint16_t bits);
double bench_bf16_value(uint16_t bits);

#endif
