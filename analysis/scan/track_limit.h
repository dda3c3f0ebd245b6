/*
 * track_limit: bounds the threads, queues and devices of one input. A hostile file names a new one
 * in each row; beyond the limit these share one track of their kind, with a warning.
 */
#ifndef ANALYSIS_TRACK_LIMIT_H
#define ANALYSIS_TRACK_LIMIT_H

#include "profrig/base/u64map.h"
#include "profrig/model/sink.h"

/* No recording has more of them together. */
#define MAX_TRACKS 65536

struct track_limit {
	uint64_t asked; /* tracks made, and wanted beyond MAX_TRACKS */
};

/* Makes a new track; beyond the limit: the shared one of its kind. */
track_id track_limit_make(struct track_limit *l, struct sink *s, const struct track_def *d);
/*
 * Whether a key that is not in the map gets a shared track: the caller then need not add it, and
 * track_limit_make gives the one of its kind.
 */
static inline bool track_limit_shares(const struct track_limit *l, const struct u64map *map,
				      uint64_t key)
{
	return l->asked >= MAX_TRACKS && u64map_get(map, key) == U64MAP_NONE;
}
/* Warns when more were wanted. */
void track_limit_warn(const struct track_limit *l, struct sink *s);

#endif
