/*
 * host_causes: what a thread does at each moment, as reasons why a device waits for it.
 *
 *	struct host_causes *h = host_causes_new(w);	w outlives it
 *	host_causes_add(h, thread, from_ns, to_ns, sums);
 *	host_causes_free(h);
 *
 * The innermost open call decides (of partly overlapping ones the one that started last). In or
 * below a call of a data loader it is data_loading; calls of the runtime are sync, alloc,
 * module_load or api (names/api_names.h); any other open range is host_busy; a moment without one
 * is host_untraced. A copy call that returned after its own copy had ended is sync, too: it has
 * waited for it, whatever its name says.
 *
 * A thread is swept once, when it is first asked for, with a stack: O(n). What a stretch of time
 * holds takes O(log n), however many calls it covers, so that many devices may ask for the same
 * thread.
 */
#ifndef PROFRIG_HOST_CAUSES_H
#define PROFRIG_HOST_CAUSES_H

#include "profrig/work/works.h"

/* In the order in which tables show equal ones. */
enum idle_cause {
	IDLE_DATA_LOADING,
	IDLE_SYNC,
	IDLE_ALLOC,
	IDLE_MODULE_LOAD,
	IDLE_API,
	IDLE_HOST_BUSY,
	IDLE_HOST_UNTRACED,
	HOST_CAUSES,
	/* of the way from the call to the device */
	IDLE_GRAPH_LAUNCH = HOST_CAUSES,
	IDLE_LAUNCH_LATENCY,
	IDLE_QUEUED_SHORT,
	IDLE_QUEUED_LONG,
	IDLE_NO_LAUNCH,
	IDLE_CAUSES
};

struct idle_sums {
	int64_t ns[IDLE_CAUSES];
	uint64_t parts[IDLE_CAUSES]; /* stretches of one cause */
};

struct host_causes;
struct host_causes *host_causes_new(const struct works *w);
void host_causes_free(struct host_causes *h); /* NULL is fine */
/* Adds what the thread does in [from, to). */
void host_causes_add(struct host_causes *h, track_id thread, int64_t from_ns, int64_t to_ns,
		     struct idle_sums *sums);
/* The class of the call of a span, from its name and category. */
enum api_class host_causes_api(struct host_causes *h, uint64_t span);

#endif
