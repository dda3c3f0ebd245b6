/*
 * collective_clocks: puts parts of ranks with clocks of their own on a common one (clock_align.h).
 *
 *	struct collective_clocks cc;
 *	collective_clocks_find(cm, &cc);
 *	collective_clocks_apply(&cc, cm);	parts of cm, where cc.why is CLOCKS_ALIGNED
 *	collective_clocks_release(&cc);
 *
 * Events: the ends of collectives that none can leave before all have come (collective_is_barrier).
 * Ranks may be missing; instances whose parts differ, and those matched by ordinals that do not
 * begin together, are left out.
 *
 * Where no two ranks share such an end, what ranks send each other bounds their clocks
 * (clock_bounds.h): flows of the trace (LINK_FLOW) between spans of two ranks that have parts, and
 * of ranks in several inputs the sends and receives that match.
 *
 * When a component's offsets are applied. Ranks of one input, or of inputs of one known host with a
 * clock of the system, share a clock: their times stay. Else offsets have to explain what the
 * clocks as they are do not: Σ |residual| for each degree of freedom has to fall to less than half.
 * Noise alone leaves it where it is, however few the events are; with a wrong clock it collapses.
 * Offsets from messages are applied where one was received before it was sent, which proves that
 * clocks differ, also inside a file, and where these take half of that away.
 */
#ifndef PROFRIG_COLLECTIVE_CLOCKS_H
#define PROFRIG_COLLECTIVE_CLOCKS_H

#include "clock_bounds.h"
#include "collective_match.h"

enum clocks_why {
	CLOCKS_ALIGNED,
	CLOCKS_SHARED,     /* the ranks have one clock */
	CLOCKS_FEW,        /* less than 3 instances */
	CLOCKS_AGREE,      /* offsets explain no more than chance, or no message is early */
	CLOCKS_CONTRADICT, /* no offsets and drifts take half of what messages are early away */
};

struct collective_clocks {
	struct clock_alignment ca; /* ranks as in collective_parts.ranks */
	VEC(enum clocks_why) why;  /* by component */
	bool by_messages;
};

void collective_clocks_find(const struct collective_match *cm, struct collective_clocks *ret);
void collective_clocks_apply(const struct collective_clocks *cc, struct collective_match *cm);
void collective_clocks_release(struct collective_clocks *cc);
/* "aligned", "one clock", "few instances", "clocks agree", "messages contradict" */
const char *clocks_why_text(enum clocks_why why);

#endif
