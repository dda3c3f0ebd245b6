/*
 * The parts of the profile:
 *	profile.c		threads and rounds
 *	profile_lane.c		the sink of one track
 *	profile_model.c		tracks of a finished model instead
 *	profile_shape.c		kernels by their launch
 *	profile_tree.c		its call paths
 *	profile_longest.c	its longest calls
 *	profile_device.c	concurrency of a device's queues
 *	profile_launch.c	launches and the work they launched
 *	profile_ranks.c		messages between ranks
 *	profile_serial.c	a lane as bytes
 */
#ifndef PROFILE_PRIVATE_H
#define PROFILE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "profrig/base/serial.h"
#include "profrig/base/u64map.h"
#include "profrig/profile/profile.h"

#define LANE_EVENTS_MIN ((size_t)512)

/* An open call. */
struct frame {
	int64_t start_ns;
	uint32_t node; /* once settled; NODE_NONE for an annotation */
	str_id name, category;
	enum span_kind kind;
	uint64_t mark; /* work: of the launch, counted from 1 over the lane; 0: none */
};

/* A launch or launched work; see profile_launch.c. */
struct launch_mark {
	uint64_t id;
	uint32_t process;
	int64_t t_ns;
	size_t frame; /* of a launch; MARK_SETTLED: node is known */
	uint32_t by;  /* of work: index of the launching lane, LANE_NONE; node is there */
	uint32_t node;
	str_id name, category; /* of a launch that took no time; STR_NONE */
	int64_t ns;            /* of work: its duration */
};
#define MARK_SETTLED SIZE_MAX
#define LANE_NONE UINT32_MAX
#define MARK_OPEN (-1)
#define MARK_NO_WORK (-2)

/* Calls that took no time, until their parent is known. */
struct instant_calls {
	str_id name, category;
	int64_t ns; /* 0, unless the track's clock went backwards */
	uint64_t calls;
};

/* The warnings of one code; errors are kept one by one, since all their texts are wanted. */
struct lane_warning {
	const char *code;
	uint64_t count;
	char *text;
};

struct lane_series {
	char *name, *unit, *device, *host, *pci;
	struct series_def def; /* with the texts above */
	series_id id;          /* in the model; SERIES_NONE before it is there */
	VEC(int64_t) t_ns;
	VEC(double) value;
	uint64_t failed;
};

/*
 * State of one thread. Durations are counted in batches: each increments a bucket that is rarely in
 * a near cache, and a batch overlaps these misses. Without batches they took half the time of
 * lane_op_leave.
 */
#define WORKER_BATCH 64

struct worker {
	struct worker_duration {
		int64_t ns;
		uint32_t calls_id;
	} batch[WORKER_BATCH];
	uint32_t nr_batch;
	VEC(struct worker_calls {
		struct moments ns;
		struct sketch sketch;
	}) calls; /* by id */
};

/* A track while it is read. */
struct lane {
	struct sink sink;
	struct profile *p;
	int64_t shift_ns;      /* of the input */
	struct worker *worker; /* that pulls it now */
	struct profile_track t;
	size_t index;                 /* in profile_priv.lanes */
	int rank;                     /* that reads it */
	bool here;                    /* this rank has its results */
	VEC(struct source *) sources; /* nearly always one */
	size_t source;                /* the present one */
	struct span_reader *reader;   /* of a finished model's spans, instead of sources; NULL */
	bool samples_only, done;
	bool calls; /* a thread that will have some */
	bool nests; /* a thread; other spans count only as work of a queue */
	/* calls */
	VEC(struct frame) open;
	size_t settled; /* frames from here on began at now_ns and have no node yet */
	VEC(struct instant_calls) instants; /* at now_ns */
	size_t instants_limit;
	int64_t now_ns;        /* never goes back */
	int64_t frame_ns;      /* the last time as recorded */
	struct u64map row_ids; /* by name: row */
	uint32_t *slots;       /* of the tree: nodes by (parent, name, category, kind) */
	size_t nr_slots;       /* a power of two */
	size_t left_open;      /* at the end */
	str_id left_open_name;
	/* launches or launched work, in order of time */
	VEC(struct launch_mark) marks;
	uint64_t marks_before; /* number of dropped ones */
	size_t marks_pending;  /* launches from here on have no node yet */
	size_t marks_matched;  /* those before are matched */
	int64_t mark_ns;       /* of the last one */
	/* events that no round has had yet */
	bool keeps_events;
	bool in_step; /* read no further ahead than its buffer allows */
	VEC(struct lane_event) events;
	bool covers;                  /* calls overlap partly: a second lane has their functions */
	VEC(struct lane_event) cover; /* its events: rows that begin and end */
	size_t cover_seen;
	/*
	 * number of events that open the first call or close the last; another rank's lane: 1 for
	 * any
	 */
	size_t changes;
	size_t seen;        /* number of events in the present round */
	size_t merged;      /* number of these that its device has taken */
	uint32_t last_node; /* of the last event */
	int64_t longest_ns; /* a shorter call is not among the longest */
	/* of a queue's work */
	uint64_t pieces;
	int64_t work_ns, work_first_ns, work_last_ns;
	/* for the input */
	int64_t first_ns, last_ns;
	uint64_t samples;
	int64_t sample_ns; /* the latest */
	VEC(struct lane_warning) warnings;
	struct intern *series_keys; /* id − 1: index in series; NULL before the first */
	VEC(struct lane_series) series;
};

struct profile_priv {
	struct profile_opts o;
	struct workers *workers;
	struct worker *by_worker;
	VEC(struct lane *) lanes; /* those of the present sources first */
	size_t first_lane;        /* of the present sources */
	size_t lane_events;       /* capacity of one lane */
	int64_t shift_ns;         /* of the present input */
	input_id input;
	bool agreed; /* all ranks read the same sources */
	VEC(struct lane_feed) feeds;
	struct u64map launch_ids; /* by hash of process and callsite: index in launches */
	VEC(struct launches {
		uint64_t id;
		uint32_t process, next; /* next: of the same hash; U64MAP_NONE */
		VEC(struct launch_run {
			uint32_t lane, node;
			uint64_t nr;
		}) runs;
		size_t first;
	}) launches;
	/* time of launched work, until all is read: the call's lane may be on another rank */
	struct u64map credit_ids; /* (lane, node): index in credits */
	VEC(struct credit {
		uint32_t lane, node;
		int64_t ns;
	}) credits;
	uint64_t tied, untied;       /* work */
	atomic_uint_fast64_t pulled; /* records, about */
	/* shared by the lanes that are read */
	pthread_mutex_t lock;
	struct u64map symbols;  /* (name, category) */
	struct u64map call_ids; /* (device or threads, symbol) → profile.calls */
	VEC(struct device_lanes {
		VEC(struct lane *) lanes;
		uint64_t running;
		int64_t since_ns;
	}) devices; /* as profile.devices */
};

/* Whether this rank reads the lane. */
static inline bool is_own(const struct profile *p, const struct lane *l)
{
	return l->rank == comm_rank(p->priv->o.comm);
}

/* A profile that takes no sources. */
struct profile *profile_alloc(struct model *m, const struct profile_opts *o);
/* Reads the present lanes to their ends, round by round. */
void profile_rounds(struct profile *p);

struct lane *lane_add(struct profile *p, track_id track);
void lane_free(struct lane *l);
/* Releases memory that is used only while the track is read. */
void lane_empty(struct lane *l);
/* Pulls until the lane is full or at its end. */
void lane_pull(struct lane *l, struct worker *w);
/* Series and samples so far go into the model. */
void lane_series_merge(struct lane *l);
/* Counts and warnings go into the model's current input. */
void lane_close(struct lane *l);
void lane_say_open(const struct lane *l); /* after all lanes are closed */
/* One more piece of work, of a node or (NODE_NONE) not yet. */
void work_count(struct lane *l, const struct frame *f, int64_t ns);

/* lane_pull of a track of a finished model. */
void lane_read_spans(struct lane *l);
void lane_read_release(struct lane *l);

#define SHAPES_MAX 32          /* nodes of one name; later shapes share one more */
#define SHAPE_OTHER UINT64_MAX /* of profile_track.shape_of: any of the later ones */
struct kernel_shapes {
	struct u64map number_of_args, number_of_hash;
	VEC(uint64_t) hashes;  /* by number; the first is 0 */
	struct u64map node_of; /* (node of the name, number of the shape) */
	VEC(uint8_t) nr_of;    /* by node of a name */
};
/* The node of a kernel that was launched so: the name's own, or one beside it. */
uint32_t kernel_node(struct lane *l, struct kernel_shapes *shapes, uint32_t node, str_id args);
void kernel_shapes_release(struct kernel_shapes *shapes);

void tree_init(struct lane *l);
/* A further node of the same name, category and kind, that tree_child does not find. */
uint32_t tree_twin(struct lane *l, uint32_t node);
/* tree_child of a call that is not in its hash's slot. */
uint32_t tree_child_search(struct lane *l, uint32_t parent, str_id name, str_id category,
			   enum span_kind kind);
void tree_release(struct lane *l);
void tree_sum(struct profile_track *t); /* inclusive from exclusive times */
/* calls: number of profile.calls */
void tree_mark_recursion(struct profile_track *t, size_t calls);

/* A call that may be among the longest: see longest_take. */
void longest_put(struct lane *l, const struct profile_call *c);
void longest_sort(struct profile_track *t);

/* Index in profile.calls, made when it is new; device: LANE_NONE on threads. */
uint32_t calls_of(struct profile *p, uint32_t device, bool kernel, str_id name, str_id category);
void worker_count(struct worker *w); /* its batch */

uint32_t device_of(struct profile *p, struct lane *l);
/* Sweeps over the events of a device's queues in the present round. */
void device_round(void *profile, size_t device, unsigned worker);
void device_sum(struct profile *p);

void lane_op_callsite(struct sink *s, track_id t, int64_t t_ns, uint32_t process, uint64_t id);
void marks_instant(struct lane *l, const struct frame *f);
void marks_settle(struct lane *l, uint32_t below);
void marks_work(struct lane *l, const struct frame *f, int64_t ns);
/* anybody: a rank has launches or work to match in this round. */
void launches_match(struct profile *p, int64_t horizon_ns, bool anybody);
void credit_add(struct profile_priv *priv, uint32_t lane, uint32_t node, int64_t ns);
void credits_pay(struct profile *p); /* when all lanes are here */
void launches_release(struct profile_priv *priv);

/* ---- ranks (profile_ranks.c); no-ops in a single process ---- */

/* Stops all ranks when their sources differ. text: of a rank that has none; NULL. */
void ranks_agree(struct profile *p, struct source *const *v, size_t n, const char *text);
/* Assigns the present lanes to ranks. */
void ranks_assign(struct profile *p);
/* Shares which tracks will have calls: of each track one rank knows. */
void ranks_calls(struct profile *p);
/* Shares the series of locations that hold samples only. */
void ranks_samples(struct profile *p);
/* The horizon of all ranks, whether a rank has something to match, and the lanes that change. */
int64_t ranks_horizon(struct profile *p, int64_t own_ns, bool *ret_marks);
/* Results travel to rank 0. */
void ranks_reduce(struct profile *p);

/* ---- a lane as bytes (profile_serial.c) ---- */

void lane_save(const struct lane *l, struct strbuf *to);
/* calls: ids of this rank by the sender's ids. */
void lane_load(struct lane *l, struct serial_in *from, const uint32_t *calls, size_t nr_calls);
void lane_series_save(const struct lane *l, struct strbuf *to);
void lane_series_load(struct lane *l, struct serial_in *from);
void calls_save(const struct profile *p, struct strbuf *to);
/* Adds the sender's calls; returns ids of this rank by the sender's ids. The caller frees it. */
uint32_t *calls_load(struct profile *p, struct serial_in *from, size_t *ret_nr);

/* ---- the path of every call, inlined ---- */

/* Kinds are few, so these are not hashed. */
static inline size_t tree_hash(uint32_t parent, str_id name, str_id category)
{
	uint64_t key = ((uint64_t)parent << 32 | name) ^ (uint64_t)category << 21;

	return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

static inline bool tree_is_it(const struct profile_node *n, uint32_t parent, str_id name,
			      str_id category, enum span_kind kind)
{
	return n->name == name && n->parent == parent && n->category == category && n->kind == kind;
}

/* The node is used when time moves on and is in no near cache. Any parent is allowed. */
static inline void tree_fetch(const struct lane *l, uint32_t parent, str_id name, str_id category)
{
	uint32_t node = l->slots[tree_hash(parent, name, category) & (l->nr_slots - 1)];

	if (node != NODE_NONE)
		__builtin_prefetch(&l->t.nodes.v[node], 1);
}

/* The node of a call of this name below another; made when it is new. */
static inline uint32_t tree_child(struct lane *l, uint32_t parent, str_id name, str_id category,
				  enum span_kind kind)
{
	uint32_t node = l->slots[tree_hash(parent, name, category) & (l->nr_slots - 1)];

	if (__builtin_expect(node != NODE_NONE &&
				     tree_is_it(&l->t.nodes.v[node], parent, name, category, kind),
			     1))
		return node;
	return tree_child_search(l, parent, name, category, kind);
}

/* Nearly every call is shorter than those that are kept. */
static inline void longest_take(struct lane *l, int64_t start_ns, int64_t ns, uint32_t node,
				uint32_t piece_node)
{
	if (__builtin_expect(ns >= l->longest_ns, 0))
		longest_put(l, &(struct profile_call){ start_ns, start_ns + ns, node, piece_node });
}

static inline void calls_add(struct lane *l, uint32_t calls_id, int64_t ns)
{
	struct worker *w = l->worker;

	w->batch[w->nr_batch++] = (struct worker_duration){ ns, calls_id };
	if (__builtin_expect(w->nr_batch == WORKER_BATCH, 0))
		worker_count(w);
}

static inline void event_put(struct lane *l, uint32_t node, int32_t change)
{
	l->last_node = node;
	if (!l->keeps_events)
		return;
	l->changes += change != 0;
	VEC_PUSH(&l->events, (struct lane_event){ l->now_ns, node, change });
}

/* A thread's innermost open call from now_ns up to next_ns; NODE_NONE: nothing is open. */
static inline void innermost_until(struct lane *l, uint32_t node, int64_t next_ns)
{
	if (node != l->last_node) {
		int32_t change = (node != NODE_NONE) - (l->last_node != NODE_NONE);

		/* its end less its beginning; between them the sum means nothing, and may wrap */
		l->t.covered_ns = (int64_t)((uint64_t)l->t.covered_ns -
					    (uint64_t)change * (uint64_t)l->now_ns);
		event_put(l, node, change);
	}
	if (node != NODE_NONE)
		l->t.nodes.v[node].exclusive_ns += next_ns - l->now_ns;
	l->now_ns = next_ns;
}

static inline int64_t ns_sum(int64_t a, int64_t b)
{
	int64_t r;

	return __builtin_add_overflow(a, b, &r) ? INT64_MAX : r;
}

#endif
