/*
 * profile: what is left of a trace when its events are not kept: per thread a tree of call paths,
 * per queue its work by name, per function the statistics of its calls. Memory grows with the
 * number of distinct call paths (some 100 bytes each), of locations (a buffer each, and what their
 * reader holds) and of counter samples (16 bytes each), not with that of calls.
 *
 * Life cycle:
 *	1. m = model_new(); p = profile_new(m, &opts)
 *	2. readers push into model_sink(m); sources they offer (sink.h) go into the profile, by
 *	   several threads; all the rest goes into the model as ever: tracks, series, samples,
 *	   warnings
 *	3. model_finish(m); profile_finish(p)
 *	4. analyses read both; m has tracks and series, but none of the spans
 *	5. profile_free(p); model_free(m)
 *
 * Calls, inclusive and exclusive times are those that nesting gives the same events in a model,
 * exactly: also that a call without length at the end of another is its neighbour and not its
 * child. Only where times of a track go backwards (W_TIME_ORDER) do they differ: here a track's
 * clock stands still until it is reached again; single calls keep their own durations.
 *
 * Results do not depend on the number of threads: sums are of whole numbers, and what threads find
 * is put together in the order of tracks. Ids of profile.calls may differ from run to run.
 *
 * Ranks (comm.h): all of them read the definitions, and all sample locations get to all of them;
 * of the others each reads a part, the queues of a device together. They go on in rounds, in step:
 * between two of them they tell each other how far they have come, when a process became active,
 * and what was launched. In the end results travel to rank 0 along a binomial tree, log2(size)
 * steps. Only there the profile is that of the trace; the other ranks' are not to be looked at.
 * Nothing depends on the number of ranks either.
 */
#ifndef PROFRIG_PROFILE_H
#define PROFRIG_PROFILE_H

#include "profrig/base/comm.h"
#include "profrig/base/moments.h"
#include "profrig/base/sketch.h"
#include "profrig/model/lane.h"
#include "profrig/model/sink.h"

struct profile_opts {
	unsigned threads;         /* 0: as many as there are processors */
	size_t buffer_bytes;      /* of all lanes together; 0: 4 MiB */
	struct lane_reader lanes; /* round NULL: not wanted */
	struct comm *comm;        /* ranks that share the work; NULL: alone. Outlives the profile */
};

struct profile_node {
	uint32_t parent; /* NODE_NONE: outermost; always smaller than the own index */
	uint32_t depth;  /* 0: outermost */
	str_id name, category;
	enum span_kind kind; /* SPAN_HOST on a thread, else what runs on the queue */
	uint32_t calls_id;   /* in profile.calls */
	uint64_t calls;
	int64_t exclusive_ns; /* of work: the sum of durations */
	int64_t device_ns;    /* of the work that these calls launched themselves */
	int64_t inclusive_ns; /* after profile_finish: with everything below */
	/* after profile_finish: the same function is above it, its time is in that one's */
	bool recursive;
};

/* A track that was read; only those of threads and queues have nodes. */
struct profile_track {
	track_id track;
	bool queue;
	VEC(struct profile_node) nodes; /* of a queue: none below another */
	VEC(uint32_t) row_of;           /* by node: its function, numbered by first use */
	uint32_t rows;
	uint64_t spans;     /* all that was entered, annotations of a queue too */
	int64_t covered_ns; /* time in which any call was open */
};

/* All calls of one name: of a function on the threads, of a kernel, a copy or fill on a device. */
struct profile_calls {
	uint32_t device; /* in profile.devices; UINT32_MAX: on threads */
	bool kernel;     /* device: neither a copy nor a fill */
	str_id name, category;
	struct moments ns; /* of their durations; after profile_finish */
	struct sketch sketch;
};

struct profile_device {
	str_id device; /* of the model's tracks */
	uint64_t pieces, max_concurrency;
	int64_t sum_ns, union_ns, first_ns, last_ns;
	uint64_t linked; /* pieces that a call is known to have launched */
	int64_t linked_ns;
};

struct profile {
	struct model *m;
	VEC(struct profile_track *) tracks; /* in the order of their sources */
	VEC(struct profile_calls) calls;
	VEC(struct profile_device) devices;
	struct profile_priv *priv;
};

struct profile *profile_new(struct model *m, const struct profile_opts *o);
/*
 * With ranks: for the one that found no archive to read, after all inputs. why: for people. All are
 * stopped unless none found one.
 */
void profile_give_up(struct profile *p, const char *why);
void profile_free(struct profile *p); /* NULL is fine */
void profile_finish(struct profile *p);

/*
 * The sink that --sink auto takes for a trace of so many records on a machine with so much memory:
 * the profile when a model would need more than a quarter of it. Unknown memory (0) is plenty.
 */
bool profile_is_better(uint64_t records, uint64_t memory_bytes);

#endif
