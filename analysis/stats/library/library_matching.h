/*
 * library_matching: what the parts of library_match.h share: the calls of the logs that have a
 * class (library_names.h), and those of the trace.
 *
 *	library_order.c		calls in their order
 *	library_around.c	calls in time
 */
#ifndef ANALYSIS_STATS_LIBRARY_MATCHING_H
#define ANALYSIS_STATS_LIBRARY_MATCHING_H

#include "library_match.h"
#include "library_names.h"

#include "profrig/base/u64map.h"
#include "profrig/base/vec.h"
#include "profrig/model/library_calls.h"

#define CLASS_NONE UINT32_MAX

/* A call of the log. */
struct logged {
	uint32_t class, event;
	int64_t pid, tid;
};

/* A call of the trace, or a kernel: then pid, tid and times are those of its launch, if known. */
struct traced {
	uint32_t class;
	track_id track;
	bool kernel, linked;
	int64_t pid, tid, start_ns, end_ns;
	const char *host;
	uint64_t span;
};

struct call_class {
	char text[LIBRARY_CLASS_MAX];
	uint64_t calls, events; /* of the logs */
	bool no_order;          /* the trace has some, and not all of the log have an order */
};

struct matching {
	const struct model *m;
	const struct library_calls *lc;
	struct library_match *lm;
	VEC(struct call_class) classes;
	struct u64map class_at; /* hash of the text → class */
	uint32_t *of_row;       /* class */
	VEC(struct logged) logged;
	VEC(struct traced) traced;
};

/* Of a function that compares: the next facts where these are equal. */
#define ORDER(a, b) \
	if ((a) != (b)) \
	return (a) < (b) ? -1 : 1

/* Matches in order what has a class; sets span, and calls and why of rows. */
void library_order_match(struct matching *mt);
/*
 * Sets around: of primitives that have times of their own, which are thereby matched, and of calls
 * of the processor that nothing is around on their own thread.
 */
void library_around_match(const struct matching *mt);

#endif
