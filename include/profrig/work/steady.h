/*
 * steady: where a series of iteration times has left its warm-up behind.
 *
 * The first iteration of those that are left is warm-up while its distance from the median of the
 * ones after it is more than 3·1.4826·MAD of these (MAD: median absolute deviation; 1.4826 makes it
 * the standard deviation of a normal distribution). Of the ones after it the next STEADY_AHEAD
 * count. At least two must follow, at most half of the iterations and STEADY_WARMUP_MAX are
 * warm-up.
 */
#ifndef PROFRIG_STEADY_ITERATIONS_H
#define PROFRIG_STEADY_ITERATIONS_H

#include <stddef.h>
#include <stdint.h>

#define STEADY_AHEAD ((size_t)4096)
#define STEADY_WARMUP_MAX ((size_t)1000)

/* The number of warm-up iterations, 0 to n/2. */
size_t steady_from(const int64_t *dur_ns, size_t n);

#endif
