/*
 * clock_bounds: offsets of the clocks of ranks, and where it matters their drift, found from what
 * they send each other: no message is received before it was sent.
 *
 *	struct clock_alignment ca;
 *	clock_bounds(messages, nr, nr_ranks, &ca);
 *	t' = clock_common_ns(&ca.ranks.v[r], t);
 *	clock_alignment_release(&ca);
 *
 * Model: received − offset(to) >= sent − offset(from). Of an ordered pair of ranks the quickest
 * message counts: offset(to) − offset(from) <= u = min (received − sent). Messages in the other
 * direction bound the difference from below; so do messages by way of other ranks. Offsets that
 * hold all bounds exist where no cycle of bounds is negative (a system of difference constraints).
 *
 * Method
 *	1. Ranks that can reach each other are centred: the shortest distances D from the lowest
 *	   of them, k, and to it are bounds: −D(i, k) <= offset(i) − offset(k) <= D(k, i). Either
 *	   end, taken for all i, holds all bounds, and so does their mean, which is the answer.
 *	   Half the distance between the ends is clock_rank.bound_ns.
 *	2. Ranks with messages in one direction alone move against each other only as far as
 *	   they must; their bound_ns is INFINITY.
 *	3. Where offsets cannot hold all bounds, drifts are tried: for a pair with messages in
 *	   both directions the line with the widest gap to both sides, over a spanning tree of the
 *	   pairs with the most messages. They stay where they leave at most half of the violation.
 *	4. What is still violated is shared out: all bounds give way by the least number of ns
 *	   with which they hold.
 *
 * Of struct clock_alignment: components are ranks that messages join; events are messages (of a
 * rank sent and received, of a component all), instances pairs of ranks; sums add up by how much
 * messages are received before they were sent. The mean offset of a component is 0.
 *
 * The answer does not depend on the order of messages.
 */
#ifndef PROFRIG_CLOCK_BOUNDS_H
#define PROFRIG_CLOCK_BOUNDS_H

#include "profrig/stats/clock_align.h"

/* Relative drifts are looked for up to this, in ns/ns. */
#define CLOCK_BOUNDS_DRIFT_MAX 1e-3

struct clock_message {
	uint32_t from, to; /* those of a rank to itself are left out */
	int64_t sent_ns, received_ns;
};

void clock_bounds(const struct clock_message *v, size_t nr, uint32_t nr_ranks,
		  struct clock_alignment *ret);

#endif
