/*
 * profile: aggregates of a trace, whose events are not kept for it: a tree of call paths per
 * thread, work by name per queue, statistics of the calls per function. Memory grows with the
 * number of distinct call paths (some 100 bytes each), of locations (a buffer each, and the
 * reader's state) and of counter samples (16 bytes each), not with the number of calls.
 *
 * Life cycle, of an archive (of a finished model: profile_of_model, profile_free):
 *	1. m = model_new(); p = profile_new(m, &opts)
 *	2. readers push into model_sink(m); the sources that they offer (sink.h) go into the
 *	   profile, by several threads; everything else goes into the model: tracks, series,
 *	   samples, warnings
 *	3. model_finish(m); profile_finish(p)
 *	4. analyses read both; m has tracks and series but no spans
 *	5. profile_free(p); model_free(m)
 *
 * Calls, inclusive and exclusive times equal those that nesting gives the same events in a model,
 * exactly; a call without length at the end of another is its sibling. They differ only where times
 * of a track go backwards (W_TIME_ORDER): the track's clock then stands still until its old value
 * is reached; single calls keep their own durations.
 *
 * Results do not depend on the number of threads or ranks: sums are of whole numbers, and results
 * of threads are merged in track order. Ids of profile.calls may differ from run to run.
 *
 * Ranks (comm.h): every rank reads the definitions and gets all sample locations; each of the other
 * locations is read by one rank, the queues of a device by the same. Ranks proceed in rounds;
 * between two rounds they exchange how far each has read, when a process became active, and
 * launches. At the end results travel to rank 0 along a binomial tree, log2(size) steps; the
 * profile is complete on rank 0 only.
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
	uint32_t parent; /* NODE_NONE: outermost; parents come before children */
	uint32_t depth;  /* 0: outermost */
	str_id name, category;
	enum span_kind kind; /* SPAN_HOST on a thread, else a kind of work */
	uint32_t calls_id;   /* in profile.calls */
	uint64_t calls;
	int64_t exclusive_ns; /* of work: the sum of durations */
	int64_t device_ns;    /* of the work that these calls launched themselves */
	int64_t inclusive_ns; /* after profile_finish */
	bool recursive;       /* after profile_finish: an ancestor is the same function */
};

/* A single call, or piece of work. */
struct profile_call {
	int64_t start_ns, end_ns; /* common timebase; end > start */
	uint32_t node;
	uint32_t piece_node; /* where the part lies that outlives its caller (model.h); NODE_NONE */
};

/* So many of a track's longest calls are kept; of equal ones those that started first. */
#define PROFILE_LONGEST ((size_t)64)

/* Only tracks of threads and queues have nodes. */
struct profile_track {
	track_id track;
	bool queue;
	uint32_t device; /* a queue's, in profile.devices; UINT32_MAX: a thread */
	/* of a queue: all are outermost; of a model whose lanes are read, kernels of one name that
	 * were launched differently have a node each, the later ones of many share one */
	VEC(struct profile_node) nodes;
	VEC(uint32_t) row_of;   /* by node: its function, numbered by first use */
	VEC(uint64_t) shape_of; /* by node: its launch (launch_shape_hash, 0: unknown); or empty */
	uint32_t rows;
	uint64_t spans;     /* all, annotations of a queue too; of a model also instants */
	int64_t covered_ns; /* time in which any call was open */
	VEC(struct profile_call) longest; /* after profile_finish: by start, outer ones first */
	/*
	 * calls that overlap partly (model.h), which the tree does not tell: the time in which any
	 * call of a function was open, and by node the sum of durations; empty where calls nest
	 */
	VEC(int64_t) durations;
	VEC(struct profile_union {
		uint32_t calls_id;
		int64_t ns, until_ns;
	}) unions;
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
	uint64_t linked; /* pieces with a known launch */
	int64_t linked_ns;
};

struct profile {
	struct model *m;
	bool of_model;                      /* m has all spans too (profile_of_model) */
	VEC(struct profile_track *) tracks; /* in the order of their sources */
	VEC(struct profile_calls) calls;
	VEC(struct profile_device) devices;
	struct profile_priv *priv;
};

struct profile *profile_new(struct model *m, const struct profile_opts *o);
/*
 * The same aggregates of a finished model, which stays; the result is finished. Launches are the
 * links of the model, for the deepest call of several; work that a window keeps (model.placed) is
 * linked, and in no node's device_ns. With ranks, each of which has some tracks' spans in a model
 * of the same tracks, the result is rank 0's, and is one of an archive: of_model is false, and m
 * has no spans any more.
 */
struct profile *profile_of_model(struct model *m, const struct profile_opts *o);
/*
 * A rank that found no archive calls this after all inputs. All ranks stop with an error that shows
 * `why`, unless no rank found one.
 */
void profile_give_up(struct profile *p, const char *why);
void profile_free(struct profile *p); /* NULL is fine */
void profile_finish(struct profile *p);

/*
 * The choice of --sink auto: true when a model of so many records would need more than a quarter of
 * the memory. Unknown memory (0) counts as enough.
 */
bool profile_is_better(uint64_t records, uint64_t memory_bytes);

#endif
