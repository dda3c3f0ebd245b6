/*
 * cycle_clock: the frequency of a device's cycle counter, from events that were stamped by the
 * host's clock and by the counter.
 *
 *	cycle_unwrap(cycles, 5)			stamps of one event, which count modulo 2^32
 *	struct cycle_stamp v[n]			first and last cycle of each event, host times
 *	cycle_epochs(v, n)			counts the wraps between events
 *	struct cycle_clock c = cycle_clock_fit(v, n);
 *
 * Wraps. Inside an event a stamp that is more than half a turn before the one in front of it has
 * wrapped; one that is a little before it is wrong. From event to event the host's clock tells how
 * many turns there were: those that bring the counter nearest to where the frequency of the
 * durations (the median, weighted by their length) expects it. That holds across any gap in which
 * this frequency is off by less than half a turn. Without durations a counter that goes back has
 * wrapped once.
 *
 * Frequency: the straight line of cycles against host time with the least sum of absolute
 * deviations (l1_line.h), through the ends of the events. Of more than CYCLE_POINTS events as many
 * count, evenly spaced.
 */
#ifndef PROFRIG_CYCLE_CLOCK_H
#define PROFRIG_CYCLE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CYCLE_TURN (UINT64_C(1) << 32)
#define CYCLE_POINTS 16384
/* Durations and intervals of a sound clock differ by less, relative to their mean. */
#define CYCLE_SPREAD 0.1
/* By more, the wraps between events were counted wrongly. */
#define CYCLE_WRONG_EPOCH 0.2

struct cycle_stamp {
	int64_t start_ns, end_ns; /* of the host's clock */
	uint64_t first, last;     /* the counter there; after cycle_epochs without wraps */
	uint64_t order;           /* of the event in its file */
	uint64_t row;             /* the caller's */
	bool timed;               /* start_ns … end_ns was measured by the host, and is a duration
				   * of last − first */
};

enum {
	CYCLE_FEW = 1,    /* less than two different times */
	CYCLE_VARIES = 2, /* durations or intervals spread more than CYCLE_SPREAD */
	CYCLE_EPOCH = 4,  /* the line contradicts the durations: wraps are not known */
	CYCLE_BACK = 8,   /* the counter goes back in time */
};

struct cycle_range {
	size_t nr;
	double min, mean, max; /* MHz; NaN without any */
};

struct cycle_clock {
	size_t events;
	double mhz;                  /* of the line; NaN unknown */
	struct cycle_range duration; /* (last − first) / duration */
	/*
	 * from the start of an event to that of the one before it in the file; where the time does
	 * not go on there (zero_gaps) the event's duration stands in for it
	 */
	struct cycle_range interval;
	size_t zero_gaps;
	double residual_ns; /* mean absolute deviation from the line, as host time */
	double drift_ppm;   /* the line of the later half against the earlier; NaN: too few */
	uint64_t epochs;    /* turns of the counter from the first event to the last */
	size_t backwards;   /* events at which the counter goes back */
	unsigned flags;
};

/*
 * Adds the wraps inside an event; -1 when a stamp is before the one in front of it, else how many
 * wraps there were.
 */
int cycle_unwrap(uint64_t *cycles, size_t n);
/* Sorts v by end_ns; first and last then count on from the first event. */
void cycle_epochs(struct cycle_stamp *v, size_t n);
/* v as cycle_epochs left it. */
struct cycle_clock cycle_clock_fit(const struct cycle_stamp *v, size_t n);
/* Whether times may be computed by it. */
static inline bool cycle_clock_holds(const struct cycle_clock *c)
{
	return !(c->flags & (CYCLE_FEW | CYCLE_EPOCH | CYCLE_BACK)) && c->mhz > 0;
}

#endif
