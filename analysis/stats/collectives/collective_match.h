/*
 * collective_match: which parts of ranks are one collective, and what it took.
 *
 *	struct collective_match *cm = collective_match_new(cp);
 *	collective_measure(cm, clocks);
 *	cm->v
 *	collective_match_free(cm);
 *
 * Identity: parts of one group (name and ranks) with one sequence number; a number that a rank has
 * several times counts its occurrences. Where the trace has no numbers, the k-th part of each rank
 * in the group, in the order of launches. Sends and receives match within the pair of ranks that
 * they name.
 *	Parts of a compiled program's operation have their module's execution as number.
 *	Parts of which no group is known are taken for collectives of all ranks of the job, if they
 * are as many on each rank and have the same names in the same order; else nothing is known of
 * them and each is an instance of its own.
 *
 * Complete: all ranks of the group have a part, and their names, types and sizes agree (sizes of
 * all-to-alls with uneven splits may differ: their mean counts). Size of the group: as the trace
 * states it, else the number of its ranks; of an unknown group that of the job, else the ranks of
 * the trace. What is incomplete is not measured.
 *
 * Measures, on the common clock where there is one: transfer = max end − max start; skew = max
 * start − min start; wait of a rank = min(max start, own end) − own start, so 0 <= wait <=
 * duration. Last rank: it started last, of several the first in the order of ranks; it caused the
 * waits of the others.
 */
#ifndef PROFRIG_COLLECTIVE_MATCH_H
#define PROFRIG_COLLECTIVE_MATCH_H

#include "collective_parts.h"

/* Why an instance is not complete. */
enum collective_why {
	COLLECTIVE_COMPLETE,
	COLLECTIVE_MISSING, /* ranks */
	COLLECTIVE_DIFFERS, /* names, types or sizes */
	COLLECTIVE_UNKNOWN, /* its group */
	COLLECTIVE_TWICE,   /* more parts than the group has ranks */
};

struct collective_instance {
	size_t first, nr;          /* parts, by rank */
	enum collective_kind kind; /* of the first part; a matched send and receive are a permute */
	const char *name, *dtype;
	str_id group, op;
	uint32_t members;
	int64_t sequence; /* of the trace, else the ordinal */
	bool numbered;    /* it is the trace's */
	bool even;        /* all ranks present have as many parts in the group, or it is numbered */
	int64_t size;     /* ranks of the group */
	bool stated;      /* the trace tells it; else it is the number of ranks with parts in it */
	int64_t count, bytes; /* FACT_ABSENT */
	enum collective_why why;
	/* collective_measure; times on the common clock, of complete ones but for start_ns */
	int64_t start_ns, transfer_ns, skew_ns, wait_ns, least_ns; /* least: shortest duration */
	uint32_t first_rank, last_rank;
};

struct collective_match {
	struct collective_parts *cp;
	VEC(struct collective_part) parts; /* instance by instance */
	VEC(struct collective_instance) v; /* by group, then sequence */
	VEC(int64_t) wait_ns;              /* of parts; only those of complete instances are set */
};

struct clock_alignment;

/* cp is borrowed. */
struct collective_match *collective_match_new(struct collective_parts *cp);
void collective_match_free(struct collective_match *cm); /* NULL is fine */
/* Of parts, in place; those of incomplete instances, too: ranks' times become common ones. */
void collective_measure(struct collective_match *cm);

/* Of the ranks present; least and most: exposed time of one. */
struct exposure {
	int64_t exposed_ns, hidden_ns, least_ns, most_ns;
};
struct exposure collective_exposure(const struct collective_match *cm,
				    const struct collective_instance *ci);

#endif
