/*
 * tef_flex: the dialect of FLEX, the runtime of IBM's AIU accelerators (tef_flex.c has the map).
 *
 *	tef_flex.c		its events, their stamps and phases; what the file says of its rank
 *	tef_flex_work.c		clocks, lanes, the push of spans
 *	tef_flex_messages.c	what a rank sends to another
 *	tef_flex_series.c	counters that follow from the events: power, work in preparation
 */
#ifndef ANALYSIS_TEF_FLEX_H
#define ANALYSIS_TEF_FLEX_H

#include "tef.h"

#include "profrig/base/cycle_clock.h"

struct flex_stamps {
	uint64_t cycles[STAMPS_NR]; /* turns inside the event counted in */
	int64_t power;              /* of the energy counter; FACT_ABSENT */
	int64_t bytes;              /* FACT_ABSENT */
	int64_t order;              /* where the event begins in the file */
	uint32_t device;            /* in flex.devices */
	bool whole;                 /* there are all of them, in order; else cycles is not set */
};

/* A span, kept until all are read. */
struct flex_item {
	int64_t start_ns, end_ns;
	str_id name, category, args;
	uint32_t place;  /* in tef.edge_places */
	uint32_t stamps; /* index + 1 in flex.stamps; 0: an event of the host */
	span_id span;    /* it was pushed, by Kineto's rules; SPAN_NONE */
	uint8_t phase;   /* enum stamp_phase */
	bool rdma;
};

/* One side of a transfer between two ranks. */
struct flex_message {
	uint64_t sync; /* hash of the text that both sides have */
	int64_t peer;  /* FACT_ABSENT */
	int64_t bytes; /* FACT_ABSENT */
	str_id group;  /* STR_NONE */
	uint32_t item; /* UINT32_MAX: it was left out */
	bool send;     /* else receive */
	bool protocol; /* it prepares others, and is received by none */
};

struct flex_device {
	struct tef_id pid;
	int32_t rank;
	char name[32];
	size_t nr; /* items with whole stamps */
	struct cycle_clock clock;
	double mhz; /* by which times are computed; the clock's, or else the nominal one */
};

struct flex {
	VEC(struct flex_item) items;
	VEC(struct flex_stamps) stamps;
	VEC(struct flex_message) messages;
	VEC(struct flex_device) devices;
	struct u64map device_at; /* by pid */
	uint64_t zero, zero_cycles, negative;
	struct tally incomplete, disorder;
};

/* tef_flex.c */
/* Whether the name is of a phase, which it returns; *ret_rdma: data goes to another device. */
enum stamp_phase flex_phase_of(const struct json_text *name, bool *ret_rdma);

/* tef_flex_messages.c */
/* Index + 1 of the side that an event of RDMA is; 0: it names no transfer. */
uint32_t flex_message_take(struct tef *t, const struct tef_event *ev);
/* When all items are pushed: facts, and links from sends to receives. */
void flex_messages_push(struct tef *t, struct flex *x);

/* tef_flex_work.c */
/* The host's time at which the counter of an item's device was at `cycles`. */
int64_t flex_time_of(const struct flex *x, const struct flex_item *i, uint64_t cycles);

/* tef_flex_series.c: of all items, after their clocks are known */
void flex_series_push(struct tef *t, struct flex *x);

#endif
