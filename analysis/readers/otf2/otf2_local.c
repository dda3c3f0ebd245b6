/* A location's own definitions: maps of references and comparisons of clocks. */
#include "otf2_private.h"

#include <math.h>

static OTF2_CallbackCode on_mapping(void *user, OTF2_MappingType type, const OTF2_IdMap *map)
{
	struct otf2_local *local = user;

	/* libotf2 keeps the first of a type and frees the others */
	if (type < OTF2_MAPPING_MAX && !local->maps[type])
		local->maps[type] = map;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_clock_offset(void *user, OTF2_TimeStamp ticks, int64_t offset,
					 double deviation)
{
	struct otf2_local *local = user;
	bool first = !local->compared;
	struct otf2_clock_piece piece = { .begin = local->compared_ticks,
					  .end = ticks,
					  .offset = local->compared_offset };

	(void)deviation;
	local->compared = first || ticks > piece.begin;
	local->compared_ticks = ticks;
	local->compared_offset = offset;
	if (first || !local->compared)
		return OTF2_CALLBACK_SUCCESS;
	piece.slope = (double)(int64_t)((uint64_t)offset - (uint64_t)piece.offset) /
		      (double)(piece.end - piece.begin);
	VEC_PUSH(&local->clock, piece);
	return OTF2_CALLBACK_SUCCESS;
}

OTF2_DefReaderCallbacks *otf2_local_callbacks(void)
{
	OTF2_DefReaderCallbacks *c = OTF2_DefReaderCallbacks_New();

	if (c &&
	    (OTF2_DefReaderCallbacks_SetMappingTableCallback(c, on_mapping) != OTF2_SUCCESS ||
	     OTF2_DefReaderCallbacks_SetClockOffsetCallback(c, on_clock_offset) != OTF2_SUCCESS)) {
		OTF2_DefReaderCallbacks_Delete(c);
		return NULL;
	}
	return c;
}

/* Times grow, so the piece is looked for from the last one on. */
uint64_t otf2_correct(struct otf2_location *l, uint64_t ticks)
{
	const struct otf2_local *local = l->local;
	const struct otf2_clock_piece *piece;
	double since, more;

	while (l->clock_piece + 1 < local->clock.nr && ticks > local->clock.v[l->clock_piece].end)
		l->clock_piece++;
	piece = &local->clock.v[l->clock_piece];
	since = ticks >= piece->begin ? (double)(ticks - piece->begin)
				      : -(double)(piece->begin - ticks);
	more = rint(piece->slope * since);
	return ticks + (uint64_t)piece->offset +
	       (fabs(more) < 0x1p63 ? (uint64_t)(int64_t)more : 0);
}
