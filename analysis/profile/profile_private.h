/*
 * The parts of the profile: profile.c hands the sources round, profile_lane.c is the sink of one
 * track, profile_tree.c its call paths, profile_device.c what runs at the same time,
 * profile_launch.c who launched it; profile_ranks.c is what ranks say to each other, and
 * profile_serial.c a lane on its way between two of them.
 */
#ifndef PROFILE_PRIVATE_H
#define PROFILE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "profrig/base/serial.h"
#include "profrig/base/u64map.h"
#include "profrig/profile/profile.h"

#define LANE_EVENTS_MIN ((size_t)512)

/* A call that is open. */
struct frame {
	int64_t start_ns;
	uint32_t node; /* once it is settled; NODE_NONE for an annotation */
	str_id name, category;
	enum span_kind kind;
	uint64_t mark; /* work: of the launch, counted from 1 over the lane; 0: none */
};

/* A launch, or the work that was launched; see profile_launch.c. */
struct launch_mark {
	uint64_t id;
	uint32_t process;
	int64_t t_ns;
	size_t frame; /* of a launch; MARK_SETTLED: node is known */
	uint32_t by;  /* of work: index of the lane that launched it, LANE_NONE; with node */
	uint32_t node;
	str_id name, category; /* of a launch that took no time; STR_NONE */
	int64_t ns;            /* of work: its duration */
};
#define MARK_SETTLED SIZE_MAX
#define LANE_NONE UINT32_MAX
#define MARK_OPEN (-1)
#define MARK_NO_WORK (-2)

/* Calls that took no time, until it is known below what they lie. */
struct instant_calls {
	str_id name, category;
	int64_t ns; /* 0, unless the track's clock went backwards */
	uint64_t calls;
};

/* One code's warnings; of an error each is kept by itself, since all their texts count. */
struct lane_warning {
	const char *code;
	uint64_t count;
	char *text;
};

struct lane_series {
	char *name, *unit, *device, *host, *pci;
	struct series_def def; /* its texts are those above */
	series_id id;          /* in the model; SERIES_NONE before it was put there */
	VEC(int64_t) t_ns;
	VEC(double) value;
	uint64_t failed;
};

/*
 * What only one thread has at a time. Durations are counted in batches: each falls into a bucket of
 * its function that is in no near cache, and in a batch the processor waits for many of them at
 * once. Without, half of lane_op_leave was that wait.
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

/* A track on its way. */
struct lane {
	struct sink sink;
	struct profile *p;
	int64_t shift_ns;      /* of the input */
	struct worker *worker; /* that pulls it now */
	struct profile_track t;
	size_t index;                 /* in profile_priv.lanes */
	int rank;                     /* who reads it */
	bool here;                    /* this rank has what was read of it */
	VEC(struct source *) sources; /* nearly always one */
	size_t source;                /* the present one */
	bool samples_only, done;
	bool calls;      /* a thread that will have some */
	bool nests;      /* a thread; what nests nowhere and is no queue's work counts nowhere */
	uint32_t device; /* of a queue, in profile.devices */
	/* calls */
	VEC(struct frame) open;
	size_t settled; /* frames from here on began at now_ns: their nodes are not known yet */
	VEC(struct instant_calls) instants; /* at now_ns */
	size_t instants_limit;
	int64_t now_ns;        /* never goes back */
	int64_t frame_ns;      /* the last time as it came */
	struct u64map row_ids; /* by name: row */
	uint32_t *slots;       /* of the tree: nodes by (parent, name, category, kind) */
	size_t nr_slots;       /* a power of two */
	size_t left_open;      /* at the end */
	str_id left_open_name;
	/* launches or launched work, in order of time */
	VEC(struct launch_mark) marks;
	uint64_t marks_before; /* dropped ones */
	size_t marks_pending;  /* nodes of launches from here on are not known yet */
	size_t marks_matched;  /* those before are */
	int64_t mark_ns;       /* of the last one */
	/* events that were not seen yet */
	bool keeps_events;
	bool in_step; /* not read further ahead than its buffer allows */
	VEC(struct lane_event) events;
	/* of them, those that change whether something is open; of a lane elsewhere 1 for any */
	size_t changes;
	size_t seen;        /* how many of them the present round hands out */
	size_t merged;      /* how many of these its device has taken */
	uint32_t last_node; /* of the last event */
	int64_t since_ns;   /* when the first call opened */
	/* of a queue's work */
	uint64_t pieces;
	int64_t work_ns, work_first_ns, work_last_ns;
	/* for the input */
	int64_t first_ns, last_ns;
	uint64_t samples;
	int64_t sample_ns; /* the latest */
	VEC(struct lane_warning) warnings;
	struct intern *series_keys; /* id − 1: place in series; NULL before the first */
	VEC(struct lane_series) series;
};

struct profile_priv {
	struct profile_opts o;
	struct workers *workers;
	struct worker *by_worker;
	VEC(struct lane *) lanes; /* those of the present sources first */
	size_t first_lane;        /* of the present sources */
	size_t lane_events;       /* that one may hold */
	int64_t shift_ns;         /* of the present input */
	input_id input;
	bool agreed; /* all ranks read the same sources */
	VEC(struct lane_feed) feeds;
	VEC(struct lane *) active; /* of this round */
	struct u64map launch_ids;  /* by hash of process and callsite: place in launches */
	VEC(struct launches {
		uint64_t id;
		uint32_t process, next; /* next: of the same hash; U64MAP_NONE */
		VEC(struct launch_run {
			uint32_t lane, node;
			uint64_t nr;
		}) runs;
		size_t first;
	}) launches;
	/* time of work that a call launched, until all is read: the call's lane may be elsewhere */
	struct u64map credit_ids; /* (lane, node): place in credits */
	VEC(struct credit {
		uint32_t lane, node;
		int64_t ns;
	}) credits;
	uint64_t tied, untied;       /* work */
	atomic_uint_fast64_t pulled; /* records, about */
	/* what lanes share while they are read */
	pthread_mutex_t lock;
	struct u64map symbols;  /* (name, category) */
	struct u64map call_ids; /* (who, symbol) → profile.calls */
	VEC(struct device_lanes {
		VEC(struct lane *) lanes;
		uint64_t running;
		int64_t since_ns;
	}) devices; /* as profile.devices */
};

/* Whether this rank reads it. */
static inline bool is_own(const struct profile *p, const struct lane *l)
{
	return l->rank == comm_rank(p->priv->o.comm);
}

struct lane *lane_new(struct profile *p, track_id track);
void lane_free(struct lane *l);
/* Pulls until the lane is full or at its end. */
void lane_pull(struct lane *l, struct worker *w);
/* Series and samples so far go into the model. */
void lane_series_merge(struct lane *l);
/* Counts and warnings go into the model's current input. */
void lane_close(struct lane *l);
void lane_say_open(const struct lane *l); /* after all of them */

void tree_init(struct lane *l);
/* The node of a call that is not where its hash says; made when it is new. */
uint32_t tree_child_search(struct lane *l, uint32_t parent, str_id name, str_id category,
			   enum span_kind kind);
void tree_release(struct lane *l);
void tree_sum(struct profile_track *t); /* inclusive from exclusive times */
/* calls: how many profile.calls there are */
void tree_mark_recursion(struct profile_track *t, size_t calls);

/* Place in profile.calls, made when it is new; device: LANE_NONE on threads. */
uint32_t calls_of(struct profile *p, uint32_t device, bool kernel, str_id name, str_id category);
void worker_count(struct worker *w); /* its batch */

uint32_t device_of(struct profile *p, struct lane *l);
/* Sweeps over what the present round hands out of a device's queues. */
void device_round(void *profile, size_t device, unsigned worker);
void device_sum(struct profile *p);

void lane_op_callsite(struct sink *s, track_id t, int64_t t_ns, uint32_t process, uint64_t id);
void marks_instant(struct lane *l, const struct frame *f);
void marks_settle(struct lane *l, uint32_t below);
void marks_work(struct lane *l, const struct frame *f, int64_t ns);
/* anybody: some rank has launches or work to match in this round. */
void launches_match(struct profile *p, int64_t horizon_ns, bool anybody);
void credit_add(struct profile_priv *priv, uint32_t lane, uint32_t node, int64_t ns);
void credits_pay(struct profile *p); /* when all lanes are here */
void launches_release(struct profile_priv *priv);

/* ---- ranks (profile_ranks.c); all do nothing for a process that is alone ---- */

/* Stops all when not all have the same sources. text: of a rank that has none; NULL. */
void ranks_agree(struct profile *p, struct source *const *v, size_t n, const char *text);
/* Who reads which of the present lanes. */
void ranks_assign(struct profile *p);
/* All learn which tracks will have calls: some rank found out of each. */
void ranks_calls(struct profile *p);
/* All get the series of the locations that hold nothing but samples. */
void ranks_samples(struct profile *p);
/* The horizon of all ranks, whether anybody has something to match, and which lanes change. */
int64_t ranks_horizon(struct profile *p, int64_t own_ns, bool *ret_marks);
/* Results travel to rank 0. */
void ranks_reduce(struct profile *p);

/* ---- a lane as bytes (profile_serial.c) ---- */

void lane_save(const struct lane *l, struct strbuf *to);
/* calls: by the sender's calls ids, the own ones. */
void lane_load(struct lane *l, struct serial_in *from, const uint32_t *calls, size_t nr_calls);
void lane_series_save(const struct lane *l, struct strbuf *to);
void lane_series_load(struct lane *l, struct serial_in *from);
void calls_save(const struct profile *p, struct strbuf *to);
/* Adds them to the own ones; which those are, by the sender's ids. The caller frees it. */
uint32_t *calls_load(struct profile *p, struct serial_in *from, size_t *ret_nr);

/* ---- what every call comes by, so it is no call itself ---- */

/* Two of one name below one parent differ in category or kind: too rare to count here. */
static inline size_t tree_hash(uint32_t parent, str_id name)
{
	return (size_t)((((uint64_t)parent << 32 | name) * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

static inline bool tree_is_it(const struct profile_node *n, uint32_t parent, str_id name,
			      str_id category, enum span_kind kind)
{
	return n->name == name && n->parent == parent && n->category == category && n->kind == kind;
}

/* The node will be wanted when time moves on; it lies in no near cache. Any parent is allowed. */
static inline void tree_fetch(const struct lane *l, uint32_t parent, str_id name)
{
	uint32_t node = l->slots[tree_hash(parent, name) & (l->nr_slots - 1)];

	if (node != NODE_NONE)
		__builtin_prefetch(&l->t.nodes.v[node], 1);
}

/* The node of a call of this name below another; made when it is new. */
static inline uint32_t tree_child(struct lane *l, uint32_t parent, str_id name, str_id category,
				  enum span_kind kind)
{
	uint32_t node = l->slots[tree_hash(parent, name) & (l->nr_slots - 1)];

	if (__builtin_expect(node != NODE_NONE &&
				     tree_is_it(&l->t.nodes.v[node], parent, name, category, kind),
			     1))
		return node;
	return tree_child_search(l, parent, name, category, kind);
}

static inline void calls_add(struct lane *l, uint32_t calls_id, int64_t ns)
{
	struct worker *w = l->worker;

	w->batch[w->nr_batch++] = (struct worker_duration){ ns, calls_id };
	if (__builtin_expect(w->nr_batch == WORKER_BATCH, 0))
		worker_count(w);
}

static inline int64_t ns_sum(int64_t a, int64_t b)
{
	int64_t r;

	return __builtin_add_overflow(a, b, &r) ? INT64_MAX : r;
}

#endif
