/*
 * track_limit: threads, queues and devices of one input, of which there are no more than can be
 * true. Rows of a file that name one in each must not get a track for each: what comes after the
 * limit shares one track of its kind, with a warning.
 */
#ifndef ANALYSIS_TRACK_LIMIT_H
#define ANALYSIS_TRACK_LIMIT_H

#include "profrig/base/u64map.h"
#include "profrig/model/sink.h"

/* No recording has more of them together. */
#define MAX_TRACKS 65536

struct track_limit {
	uint64_t asked; /* tracks made, and asked for beyond MAX_TRACKS */
};

/* The sink's track, for one that was not asked for before. */
track_id track_limit_make(struct track_limit *l, struct sink *s, const struct track_def *d);
/*
 * Whether what has no value under this key yet shares a track: then nothing need be remembered of
 * it, and track_limit_make gives the one of its kind.
 */
static inline bool track_limit_shares(const struct track_limit *l, const struct u64map *map,
				      uint64_t key)
{
	return l->asked >= MAX_TRACKS && u64map_get(map, key) == U64MAP_NONE;
}
/* Warns when there were more. */
void track_limit_warn(const struct track_limit *l, struct sink *s);

#endif
