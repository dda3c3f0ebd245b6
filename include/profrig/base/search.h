/*
 * search: the binary search in a sorted range, for any array and any order.
 *
 *	size_t i = LOWER_BOUND(at, 0, events.nr, events.v[at].t_ns < t_ns);
 *
 * LOWER_BOUND gives the first index of [from, to) for which `below`, an expression in the index
 * `at`, is false, and `to` where it is true for all. `below` must be true up to some index and
 * false from there on. With `<` the result is the first element that is not less than the key; with
 * `<=` it is the first one that is greater. An empty range (also with from > to) gives `from`.
 *
 * It evaluates from and to once, and `below` about log2(to - from) times. Do not nest one in the
 * `below` of another.
 *
 * NEAR_BOUND(at, near, nr, below) is LOWER_BOUND of [0, nr), for a result that is likely near
 * `near` (any number): it evaluates `below` about 2 log2 of the distance times.
 */
#ifndef PROFRIG_SEARCH_H
#define PROFRIG_SEARCH_H

#include <stddef.h>

#define LOWER_BOUND(at, from, to, below) \
	__extension__({ \
		size_t search_from_ = (from), search_to_ = (to); \
		while (search_from_ < search_to_) { \
			size_t at = search_from_ + (search_to_ - search_from_) / 2; \
			if (below) \
				search_from_ = at + 1; \
			else \
				search_to_ = at; \
		} \
		search_from_; \
	})

#define NEAR_BOUND(at, near, nr, below) \
	__extension__({ \
		size_t near_nr_ = (nr), near_at_ = (near), near_step_ = 1, near_from_, near_to_; \
		near_at_ = near_at_ < near_nr_ ? near_at_ : near_nr_; \
		near_from_ = near_to_ = near_at_; \
		while (near_to_ < near_nr_) { \
			size_t at = near_to_; \
			if (!(below)) \
				break; \
			near_from_ = at + 1; \
			near_to_ = near_nr_ - at > near_step_ ? at + near_step_ : near_nr_; \
			near_step_ *= 2; \
		} \
		if (near_from_ == near_at_) { \
			while (near_from_ > 0) { \
				size_t at = near_from_ - 1; \
				if (below) \
					break; \
				near_to_ = at; \
				near_from_ -= near_from_ > near_step_ ? near_step_ : near_from_; \
				near_step_ *= 2; \
			} \
		} \
		LOWER_BOUND(at, near_from_, near_to_, below); \
	})

#endif
