/*
 * counts: a sink that counts records and keeps none, so a trace may be larger than memory.
 *
 * Life cycle:
 *	1. counter_new()
 *	2. readers push into counter_sink(c) (sink.h), any number of inputs
 *	3. counter_get(), any number of times
 *	4. counter_free()
 *
 * Counts, time ranges and errors are those that a model has of the same input before model_finish:
 * an enter and its leave are one span, a call left open is one, a stray leave is none, times out of
 * range are moved to the edge and make the input partial (W_TIME_RANGE). Links are not counted;
 * readers need not collect data for them (no_links, counts_only). Of the sink's own warnings only
 * W_TIME_RANGE, W_LONG_TEXT and W_UNKNOWN_REFERENCE are made: the others do not concern whether an
 * input was read as a whole.
 *
 * One count may differ: where MPI messages of equal communicator, ends and tag lie partly outside
 * of any call and partly have no partner, the instants they become are an upper bound.
 *
 * Memory: definitions of tracks and series, distinct texts, and 8 bytes for each open call.
 * Threads: one at a time.
 */
#ifndef PROFRIG_COUNTS_H
#define PROFRIG_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct counter;
struct sink;

struct counts {
	uint64_t spans;    /* instants included */
	uint64_t instants; /* of the spans */
	uint64_t work;     /* of the spans: kernels, copies, fills */
	uint64_t samples, series, tracks;
	uint64_t library; /* calls that logs of libraries tell */
	/* own clock of the inputs; INT64_MAX, INT64_MIN when there is nothing */
	int64_t first_ns, last_ns;
	bool partial;
	const char *error; /* text of the first warning of severity error; NULL; borrowed */
};

struct counter *counter_new(void);
void counter_free(struct counter *c); /* NULL is fine */
void counter_freep(struct counter **c);
/* Owned by the counter. */
struct sink *counter_sink(struct counter *c);
/* Sums over all inputs so far. ret->error holds until the next push or counter_free. */
void counter_get(const struct counter *c, struct counts *ret);

#endif
