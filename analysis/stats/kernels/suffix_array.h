/*
 * suffix_array: all suffixes of a text of numbers in order, and how much neighbours have in common:
 * what repeats in the text lies side by side.
 *
 * Induced sorting (Nong, Zhang, Chan, Two efficient algorithms for linear time suffix array
 * construction, 2011): O(n) time, 4 to 8 bytes a letter beside the result. Common prefixes as
 * Kasai and others, Linear-time longest-common-prefix computation, 2001.
 */
#ifndef PROFRIG_SUFFIX_ARRAY_H
#define PROFRIG_SUFFIX_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/*
 * text: n letters below `letters`; the last one is 0 and the only 0. n < 2^31. ret has n elements:
 * where the suffixes begin, in order.
 */
void suffix_array(const uint32_t *text, size_t n, size_t letters, uint32_t *ret);
/* ret[i]: letters that the suffixes i − 1 and i have in common; ret[0] is 0. */
void suffix_common(const uint32_t *text, const uint32_t *sa, size_t n, uint32_t *ret);

#endif
