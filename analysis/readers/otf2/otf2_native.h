/*
 * otf2_native: archives that `profrig convert` wrote (otf2_out.h describes them). Reading one gives
 * the model that was written: tracks and series come from the properties and not from the archive's
 * definitions, several locations may hold the spans of one track, and each span has its kind,
 * correlation, arguments and links.
 *
 * A sink that keeps links gets whole spans (struct otf2_native_spans). A streaming sink gets enters
 * and leaves as from any archive; every location of a track but the first then has its own track.
 *
 * Damage is counted and repaired as in archives of other programs.
 */
#ifndef OTF2_NATIVE_H
#define OTF2_NATIVE_H

#include "native.h"

#include <otf2/otf2.h>

#define OTF2_NATIVE_PROPERTY "PROFRIG::FILE"

struct def_location;
struct otf2_fields;
struct otf2_location;
struct otf2_reading;

/* One end of a link: two ends with the same number make a link. */
struct otf2_native_end {
	uint64_t number;
	span_id span;
	size_t next; /* of the same span: index + 1; 0: none */
	enum link_kind kind;
	bool to;
};

struct otf2_native {
	bool there;
	struct native base;
	uint64_t correlation, args;   /* references of attributes; UINT64_MAX */
	uint8_t *roles;               /* by index in defs.parameters: kind << 1 | to, or NO_ROLE */
	VEC(struct track_def) tracks; /* by number */
	VEC(struct series_def) series;
	VEC(struct otf2_native_end) ends; /* of all locations */
};

/*
 * A held span is open, or was closed inside a held span with the same start. Spans with equal times
 * nest in the order in which they are pushed, so the outer one has to be pushed first.
 */
struct otf2_native_span {
	struct span_def d;
	size_t ends; /* index + 1 of the first end of a link */
};

struct otf2_native_spans {
	VEC(struct otf2_native_span) held;
	VEC(size_t) open; /* index in held */
	VEC(struct otf2_native_end) ends;
};

/* text: the archive's OTF2_NATIVE_PROPERTY, NULL when it has none. */
void otf2_native_open(struct otf2_reading *r, const char *text);
/* Whether the sink gets whole spans. */
bool otf2_native_exact(const struct otf2_reading *r);
/* Make tracks and regions from the properties instead of the archive's definitions. */
void otf2_native_make_tracks(struct otf2_reading *r);
void otf2_native_make_regions(struct otf2_reading *r);
/* Defines the track of l again, once the owner of a queue is known. */
void otf2_native_track_again(struct otf2_reading *r, const struct def_location *l);
void otf2_native_enter(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f,
		       struct otf2_fields *attributes);
void otf2_native_leave(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f);
void otf2_native_parameter(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f);
void otf2_native_end(struct otf2_location *l);  /* closes open spans */
void otf2_native_match(struct otf2_reading *r); /* joins the ends to links */
void otf2_native_release(struct otf2_native *o);
void otf2_native_spans_release(struct otf2_native_spans *s);

#endif
