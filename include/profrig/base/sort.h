/*
 * sort: fast sorts of durations and time stamps, for arrays of tens of millions.
 */
#ifndef PROFRIG_SORT_H
#define PROFRIG_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ascending, in linear time and with room for n more while it works. */
void sort_i64(int64_t *v, size_t n);
/*
 * The middle one, of an even number the lower of the two; 0 for none. Linear time on average, no
 * room; reorders v.
 */
int64_t median_i64(int64_t *v, size_t n);

/* A number, and what it belongs to. */
struct sort_pair {
	uint64_t key, row;
};
/* By key, ascending; stable. As sort_i64 in linear time and with room for n more. */
void sort_pairs(struct sort_pair *v, size_t n);

/* A stretch of time, and whose it is. */
struct sort_span {
	int64_t start_ns, end_ns;
	uint64_t row;
};
static inline bool sort_span_before(const struct sort_span *a, const struct sort_span *b)
{
	return a->start_ns < b->start_ns || (a->start_ns == b->start_ns && a->end_ns > b->end_ns);
}
/*
 * By start, the longer first; stable. Time goes with the number of stretches that are in order
 * already: recordings are mostly, or consist of a few that are. With room for n more.
 */
void sort_spans(struct sort_span *v, size_t n);

#endif
