/*
 * sort: the two orders that durations and time stamps are asked for, which come by the ten million.
 */
#ifndef PROFRIG_SORT_H
#define PROFRIG_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Ascending, in linear time and with room for n more while it works. */
void sort_i64(int64_t *v, size_t n);
/*
 * The middle one, of an even number the lower of the two; 0 for none. Linear time on average, no
 * room; reorders v.
 */
int64_t median_i64(int64_t *v, size_t n);

#endif
