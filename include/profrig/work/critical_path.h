/*
 * critical_path: the chain of host calls, launches and device work that decided how long an
 * iteration took, found by walking back from its end and asking at each step for what the step
 * waited.
 *
 * The window of an iteration reaches from its marker's start to the later of its marker's end and
 * the last end of its works. The parts of a path are disjoint, in order of time, and cover the
 * window exactly.
 *
 *	on a device, at work w:
 *		w itself (compute, communication, copy); then p, the work on the same queue that
 *		ended last before w began, or the work of another queue for whose event w
 *		waited, where that one ended later: if w was launched by the end of p, w waited
 *		for p (kernel_gap, then p); else w waited for its launch: launch, back to the
 *		start of the API call, then the thread that made it. Of a work without a launch
 *		p is taken; without p the time before it is unknown.
 *	on a thread, at time t:
 *		the latest call that ended by t and blocked (api_names.h: a synchronisation, or a
 *		copy call that returned after its own copy) with a work that ended inside of it:
 *		host back to the end of the call, sync_return back to the end of the work, then
 *		the work. Of a synchronisation the work is the one that ended last of those
 *		launched before the call (a work without a launch counts as launched before);
 *		where the trace states the stream, of that stream alone, and where it states the
 *		event, of those launched before its record.
 *		Where the thread has no open call, the walk goes on at the marker's thread; where
 *		that one has none, the time is untraced.
 *
 * Waits for events are followed where the trace records them (facts.h, sync_facts; Kineto's
 * cuda_sync, Nsight's SYNCHRONIZATION). A wait of a queue is for the last work that was launched on
 * the event's queue before the event was recorded, and where the trace does not tell which call
 * recorded it, before the wait. It holds back the next work that is launched on the waiting queue;
 * those behind it wait for that one. A wait for a work that ends after the one that waits began
 * contradicts itself and is not followed.
 *
 * The path bounds, it does not predict: what is saved on it saves at most as much.
 */
#ifndef PROFRIG_CRITICAL_PATH_H
#define PROFRIG_CRITICAL_PATH_H

#include "profrig/work/iterations.h"

enum path_class {
	PATH_COMPUTE,
	PATH_COMMUNICATION,
	PATH_COPY,
	PATH_KERNEL_GAP,
	PATH_LAUNCH,
	PATH_HOST,
	PATH_SYNC_RETURN,
	PATH_UNTRACED,
	PATH_UNKNOWN,
	PATH_CLASSES
};
/* "compute", "communication" … */
const char *path_class_name(enum path_class c);

struct path_part {
	int64_t start_ns, end_ns;
	uint64_t span; /* the work, the call that blocked, the launch; SPAN_NONE */
	enum path_class class;
};

struct path_finder;
struct path_finder *path_finder_new(const struct works *w);
void path_finder_free(struct path_finder *f); /* NULL is fine */

/* Parts in order of time, replaced. O((works + calls on the path) · log n). */
struct path {
	VEC(struct path_part) v;
	int64_t start_ns, end_ns;
};
void path_find(struct path_finder *f, const struct iterations *it, size_t iteration,
	       struct path *ret);
void path_release(struct path *p);

#endif
