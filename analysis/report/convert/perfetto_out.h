/*
 * perfetto_out: the parts of the converter to Perfetto's protobuf format (write_perfetto.c
 * describes the output).
 *
 *	write_perfetto.c	clocks, sequences, events
 *	perfetto_out_places.c	tracks and series of the model → track descriptors
 *	perfetto_out_args.c	arguments, which are JSON → debug annotations
 */
#ifndef REPORT_PERFETTO_OUT_H
#define REPORT_PERFETTO_OUT_H

#include "native_text.h"
#include "text_out.h"

#include "profrig/base/protobuf.h"
#include "profrig/base/u64map.h"
#include "profrig/base/vec.h"

/* Fields of packets (TracePacket) and events (TrackEvent). */
enum {
	PFO_SNAPSHOT = 6,
	PFO_TIME = 8,
	PFO_SEQUENCE = 10,
	PFO_EVENT = 11,
	PFO_INTERNED = 12,
	PFO_FLAGS = 13,
	PFO_CLOCK_ID = 58,
	PFO_DEFAULTS = 59,
	PFO_TRACK = 60,
	PFO_NATIVE = 1788
};

/* The texts that a sequence has named so far: a number each, 1, 2, …, by the text's id. */
struct pfo_texts {
	uint32_t *seq, *iid; /* by text; seq: of the sequence that iid is of */
	size_t cap;
	uint32_t next;
};
/* The number of a text in a sequence; *ret_new: it must be defined. */
uint32_t pfo_text(struct pfo_texts *t, uint32_t text, uint32_t seq, bool *ret_new);
void pfo_texts_release(struct pfo_texts *t);

struct pfo_places {
	const struct model *m;
	struct native_order order;
	struct u64map pids,
		tids; /* those that a descriptor has; of one number the first one counts */
	uint64_t next_uuid;
};
void pfo_places_init(const struct model *m, struct pfo_places *ret);
void pfo_places_release(struct pfo_places *p);
/* All tracks and series, each with what only profrig reads. */
void pfo_places_put(struct pfo_places *p, struct strbuf *to);
/* Another line of a track, for spans that overlap; returns its uuid. */
uint64_t pfo_row_put(struct pfo_places *p, track_id t, uint32_t row, struct strbuf *to);
static inline uint64_t pfo_track_uuid(const struct pfo_places *p, track_id t)
{
	return 1 + (uint64_t)p->order.number_of[t];
}
static inline uint64_t pfo_series_uuid(const struct pfo_places *p, series_id i)
{
	return 1 + (uint64_t)p->order.nr + i;
}

/* Scratch of the arguments. */
struct pfo_args {
	struct intern *names;   /* of annotations */
	struct pfo_texts texts; /* of names, by sequence */
	struct strbuf text, said, word;
};
void pfo_args_init(struct pfo_args *a);
void pfo_args_release(struct pfo_args *a);
/*
 * Appends annotations to an event, and the definitions of their names to the interned data of its
 * packet. false: reading them back does not give this text to the byte.
 */
bool pfo_args_put(struct pfo_args *a, const char *text, size_t n, uint32_t seq,
		  struct strbuf *event, struct strbuf *interned);

#endif
