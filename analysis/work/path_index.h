/*
 * path_index: what a walk along the critical path looks up: calls that block, the work that ended
 * last, the work that another one awaited, the stretches in which a thread has an open call.
 */
#ifndef PROFRIG_PATH_INDEX_H
#define PROFRIG_PATH_INDEX_H

#include "profrig/base/u64map.h"
#include "profrig/work/works.h"

#define ROW_NONE UINT32_MAX

struct path_index {
	const struct works *w;
	const struct model *m;
	/* rows by (queue, end, start, row), and the place of each row there */
	uint32_t *by_queue, *place;
	/* rows by (process, end, row); first row of each process */
	uint32_t *by_process;
	struct path_range {
		uint32_t first, nr;
	} * of_process; /* by track id of the process; of works without one: at tracks.nr */
	/* calls that block, by (thread, end) */
	VEC(struct path_block {
		uint64_t call;
		uint32_t own; /* row of a copy call's own copy; ROW_NONE: a synchronisation */
		/* which works it waits for: of this queue alone (TRACK_NONE: of any), launched
		 * before */
		track_id queue;
		int64_t before_ns;
	}) blocks;
	/* by row: the work of another queue for whose event it waited; NULL: none has any */
	uint32_t *awaited;
	/* stretches with an open call, by (thread, start) */
	VEC(struct interval) open;
	struct path_range *blocks_of, *open_of; /* by track id */
};

void path_index_make(struct path_index *x, const struct works *w);
void path_index_release(struct path_index *x);

/* ---- path_waits.c ---- */

/* Reads what the trace states of waits (facts.h, sync_facts): awaited, queue and before_ns. */
void path_waits_take(struct path_index *x);

/* ---- questions ---- */

/* What a row waited for before it could start, its launch aside: the one of its queue that ended
 * last before it begins, or the one whose event it awaited, where that ended later; ROW_NONE. */
uint32_t path_before(const struct path_index *x, uint32_t row);
/* The work on the same queue that ended last before a row begins; ROW_NONE. */
uint32_t path_queue_before(const struct path_index *x, uint32_t row);
/* Of a process: the row that ends at a time and is the last such one; ROW_NONE. */
uint32_t path_ended_at(const struct path_index *x, track_id process, int64_t end_ns);
/* The work that a blocking call waited for; ROW_NONE: none ended inside of it. */
uint32_t path_waited_for(const struct path_index *x, const struct path_block *b);
/* Blocking calls of a thread that ended by t_ns: their number in blocks_of[thread]. */
size_t path_blocks_by(const struct path_index *x, track_id thread, int64_t t_ns);
/* The stretch of a thread that is open just before t_ns, else the last one before; NULL. */
const struct interval *path_open_before(const struct path_index *x, track_id thread, int64_t t_ns);

#endif
