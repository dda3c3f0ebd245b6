/*
 * otf2_own: archives that profrig wrote itself (otf2_out.h says what stands in
 * them). They give back the model they were written of: tracks and series are those that the
 * properties tell, whatever the archive's own definitions make of them; several locations may have
 * the spans of one track; each span has its kind, correlation, arguments and links.
 *
 * Where links are kept, spans are pushed whole (struct otf2_own_spans). Where they are not, the
 * sink gets enters and leaves as from any archive, and every location but the first of a track has
 * a track of its own.
 *
 * What is damaged is told and made up for as in an archive of another program.
 */
#ifndef OTF2_OWN_H
#define OTF2_OWN_H

#include "own.h"

#include <otf2/otf2.h>

#define OTF2_OWN_PROPERTY "PROFRIG::FILE"

struct def_location;
struct otf2_location;
struct otf2_reading;

/* One end of a link: two that have its number make it. */
struct otf2_own_end {
	uint64_t number;
	span_id span;
	size_t next; /* of the same span: index + 1; 0: none */
	enum link_kind kind;
	bool to;
};

struct otf2_own {
	bool there;
	struct own own;
	uint64_t correlation, args;   /* references of attributes; UINT64_MAX */
	uint8_t *roles;               /* by index in defs.parameters: kind << 1 | to, or NO_ROLE */
	VEC(struct track_def) tracks; /* by number */
	VEC(struct series_def) series;
	VEC(struct otf2_own_end) ends; /* of all locations */
};

/*
 * A span that is open, or that waits for one around it with the same start: spans that are equal
 * keep their order, which their nesting is made of, only when they are pushed in it.
 */
struct otf2_own_span {
	struct span_def d;
	size_t ends; /* index + 1 of the first end of a link */
};

struct otf2_own_spans {
	VEC(struct otf2_own_span) held;
	VEC(size_t) open; /* index in held */
	VEC(struct otf2_own_end) ends;
};

/* text: the archive's property, NULL: it has none. */
void otf2_own_open(struct otf2_reading *r, const char *text);
/* Spans with everything, as links are kept. */
bool otf2_own_exact(const struct otf2_reading *r);
/* In place of what the archive's definitions say. */
void otf2_own_make_tracks(struct otf2_reading *r);
void otf2_own_make_regions(struct otf2_reading *r);
/* When more is known of it: who a queue is of. */
void otf2_own_track_again(struct otf2_reading *r, const struct def_location *l);
int otf2_own_callbacks(OTF2_EvtReaderCallbacks *c); /* in place of those; != 0 on failure */
void otf2_own_end(struct otf2_location *l);         /* closes what is open */
void otf2_own_match(struct otf2_reading *r);        /* makes the links */
void otf2_own_release(struct otf2_own *o);
void otf2_own_spans_release(struct otf2_own_spans *s);

#endif
