/*
 * perfetto: the parts of the reader of Perfetto's protobuf traces (read_perfetto.c has the map of
 * the format).
 *
 *	pf_packets.c	the file's packets, those in compressed packets too; what each one is
 *	pf_sequence.c	the state of packet sequences: interned data, defaults, lost packets
 *	pf_clock.c	clock snapshots; a packet's time → ns of the trace's clock
 *	pf_tracks.c	track descriptors and process trees → tracks and series of the sink
 *	pf_event.c	track events: slices, instants, counters
 *	pf_legacy.c	what older Chrome says with letters ("phases") inside track events
 *	pf_slices.c	begins with ends; slices that are out of order; flows
 *	pf_args.c	debug annotations → JSON, and what a device's work says of itself
 *	pf_device.c	calls and work of AMD's tools → queues, kernels, copies
 *	pf_gpu.c	GPU render stages, GPU counters
 *	pf_system.c	scheduler switches, process trees, process statistics
 *	pf_native.c	what profrig's converter adds
 *
 * The file is read twice. The first walk (pf.survey) takes what counts for the whole trace wherever
 * it stands: clock snapshots, descriptors of tracks, names of processes, and whether the slices of
 * a track are in order. The second one pushes; it keeps nothing of a slice that is closed.
 */
#ifndef ANALYSIS_PERFETTO_H
#define ANALYSIS_PERFETTO_H

#include "mem_budget.h"
#include "native.h"
#include "tally.h"
#include "track_limit.h"

#include <stdint.h>

#include "profrig/base/protobuf.h"
#include "profrig/base/u64map.h"
#include "profrig/model/warnings.h"
#include "profrig/readers/reader.h"
#include "profrig/scan/input.h"
#include "profrig/scan/launch_shape.h"

/* Fields of a packet (TracePacket). */
enum {
	PF_FTRACE = 1,
	PF_PROCESS_TREE = 2,
	PF_SNAPSHOT = 6,
	PF_TIME = 8,
	PF_PROCESS_STATS = 9,
	PF_SEQUENCE = 10,
	PF_TRACK_EVENT = 11,
	PF_INTERNED = 12,
	PF_FLAGS = 13,
	PF_TRACE_STATS = 35,
	PF_CLEARED_OLD = 41,
	PF_DROPPED = 42,
	PF_PROCESS_OLD = 43,
	PF_THREAD_OLD = 44,
	PF_COMPRESSED = 50,
	PF_GPU_COUNTERS = 52,
	PF_GPU_STAGE = 53,
	PF_CLOCK_ID = 58,
	PF_DEFAULTS = 59,
	PF_TRACK = 60,
	PF_PID = 79,
	PF_COMPRESSED_ZSTD = 133,
	PF_NATIVE = 1788, /* profrig's own; in the range that is free for extensions */
	PF_FIELDS = 1800
};

/* Bits of PF_FLAGS. */
enum { PF_CLEARED = 1, PF_NEEDS_STATE = 2 };

/* Builtin clocks; 64 … 127 belong to a sequence. */
enum { PF_REALTIME = 1, PF_MONOTONIC = 3, PF_BOOTTIME = 6, PF_BUILTIN = 64, PF_LOCAL_END = 128 };

/* Kinds of track events. */
enum { PF_BEGIN = 1, PF_END, PF_INSTANT, PF_COUNTER, PF_STATE, PF_STATE_END };

/* ---- sequences ---- */

#define PF_IID_NONE UINT32_MAX
/*
 * Texts by their number in a sequence: ids of the sink's strings, or of parts of JSON (pf.parts),
 * quoted.
 */
struct pf_iids {
	VEC(uint32_t) dense; /* by number, as far as most below it are there */
	size_t nr;
	struct u64map sparse;
};

enum pf_table {
	PF_CATEGORIES,
	PF_NAMES,
	PF_STAGES, /* names of queues and stages of GPUs */
	PF_PARTS,  /* those from here on are parts of JSON */
	PF_ARG_NAMES = PF_PARTS,
	PF_STAGE_PARTS, /* names of queues, without quotes */
	PF_STRINGS,
	PF_PLACES, /* source locations, as members */
	PF_TABLES
};

struct pf_local_clock {
	uint32_t id;
	bool incremental;
	uint64_t unit_ns;
	int64_t last_ns; /* of an incremental one */
};

struct pf_seq {
	uint32_t id;
	bool known; /* its incremental state is whole */
	bool begun; /* a packet was read */
	bool has_track, has_thread;
	uint32_t clock;  /* by default; 0: none */
	uint32_t epoch;  /* times that its state was cleared */
	uint64_t track;  /* uuid, by default */
	uint64_t thread; /* uuid of the thread that an old descriptor names */
	int64_t reference_us;
	VEC(uint64_t) counters, doubles; /* uuids, by default, of the extra values of events */
	VEC(struct pf_local_clock) clocks;
	struct pf_iids *tables; /* PF_TABLES; NULL: nothing is interned */
};

/* ---- packets ---- */

struct pf_bytes {
	const unsigned char *p; /* NULL: absent */
	size_t n;
};

struct pf_packet {
	uint64_t time;
	bool timed;
	uint32_t clock;            /* 0: by default */
	uint32_t seq, flags, kind; /* kind: the field of its content; 0 none */
	bool dropped;
	int64_t pid; /* that the service saw; PID_NONE */
	struct pf_bytes body, interned, defaults;
	struct pf_seq *state;
};

/* ---- clocks ---- */

struct pf_clock {
	uint64_t key; /* pf_clock_key */
	struct pf_tick {
		int64_t own_ns, trace_ns;
	} * v;
	size_t nr, cap;
};

struct pf_snapshot_clock {
	uint64_t key;
	int64_t ns;
	uint32_t snapshot;
};

/* ---- tracks ---- */

enum pf_kind { PF_CUSTOM, PF_PROCESS, PF_THREAD, PF_COUNTS };

/* An open slice, and what is kept of it until it ends. */
struct pf_open {
	int64_t start_ns;
	str_id name, category;
	char *args;             /* JSON, owned; NULL */
	uint32_t flow, flows;   /* of pf.flows */
	uint32_t said;          /* of pf.said, + 1; 0 none */
	uint32_t order;         /* counts the begins of its track */
	uint32_t held;          /* of track.held when it began */
	uint8_t kind;           /* enum span_kind */
	uint8_t direction;      /* enum copy_direction, by the name of a copy */
	bool kind_stated, late; /* late: behind a later event of its track: the model must sort */
	uint64_t correlation;
	track_id on; /* TRACK_NONE: the track's own */
};

/* A slice that ended, but began with the one around it, whose end tells which is the longer. */
struct pf_held {
	struct pf_open open;
	int64_t end_ns;
};

struct pf_track {
	uint64_t uuid, parent;
	enum pf_kind kind;
	bool has_parent, described;
	bool native; /* described by profrig's own packet */
	bool sorted; /* its slices are out of order: they are kept and sorted */
	bool incremental;
	uint8_t unit, builtin;
	int64_t pid, tid;             /* PID_NONE */
	const char *name, *unit_name; /* in pf.texts; NULL */
	int64_t multiplier;
	/* counters */
	double sum;
	uint32_t sum_epoch;
	series_id series;
	/* slices */
	track_id track;
	enum track_kind track_kind;
	int64_t last_ns, last_own_ns;
	uint32_t last_seq, begins, left_out; /* left_out: begins that found no memory */
	uint64_t last_clock;
	VEC(int64_t) starts;      /* of open ones, in the first walk */
	VEC(struct pf_open) open; /* in the second one */
	VEC(struct pf_held) held;
};

/* What the annotations of a device's work say; absent numbers are FACT_ABSENT. */
struct pf_said {
	int64_t correlation, bytes, queue, tid, shared, local, agent, from, to, begin_ns;
	bool agent_cpu, from_cpu, to_cpu;
	struct launch_shape shape;
};

/* A begin, an end or an instant of a track that is sorted. */
struct pf_late {
	int64_t t_ns;
	uint32_t track, order;
	uint8_t type;
	struct pf_open open;
};

struct pf_flow {
	uint64_t id;
	int64_t t_ns;
	span_id span; /* SPAN_NONE: it was left out */
	uint64_t correlation;
	bool ends, on_queue;
	uint8_t kind; /* of profrig's own: enum link_kind */
};

enum pf_class { PF_PLAIN, PF_CALL, PF_MARK, PF_KERNEL, PF_COPY };

/* One track event, as far as every event needs it. */
struct pf_event {
	const struct pf_packet *packet;
	struct pf_bytes body, legacy, native;
	int64_t t_ns;
	uint8_t type;
	bool has_track, categories, args, flows, extra, has_value; /* categories: several */
	uint64_t track;
	str_id name, category; /* STR_NONE: absent */
	double value;
};

struct pf_names; /* of processes and threads, pf_tracks.c */

struct pf {
	const char *path;
	const struct read_opts *opts;
	struct sink *sink;
	struct input_map map;
	struct mem_budget budget;
	bool survey, partial;
	size_t at; /* offset of the current packet of the file */
	uint64_t packets;
	str_id empty;

	VEC(struct pf_seq *) seqs;
	struct u64map seq_at;
	struct pf_seq *last_seq;

	VEC(struct pf_snapshot_clock) snapshot_clocks;
	uint32_t snapshots;
	VEC(struct pf_clock) clocks;
	struct u64map clock_at;
	uint32_t trace_clock, primary;
	/* what the last conversion used: of times from its own_ns to below last_until_ns */
	uint64_t last_clock;
	struct pf_tick last_tick;
	int64_t last_until_ns;
	uint64_t used[PF_BUILTIN]; /* packets by builtin clock */

	struct pool texts;
	VEC(struct pf_track) tracks; /* the first one takes what finds no memory */
	struct u64map track_at;
	uint64_t last_uuid;
	uint32_t last_track;
	struct track_limit limit;
	struct u64map process_at, thread_at, queue_at, series_at, cpu_at; /* → tracks, series */
	struct u64map process_name, thread_name;                          /* → names */
	VEC(const char *) names;
	VEC(const char *) parts;     /* of JSON, in texts */
	struct u64map category_text; /* str_id → parts, without quotes */
	bool threads_called;         /* a thread has slices: other tracks are no calls */
	int64_t pid;                 /* of the first process; PID_NONE */
	str_id last_category;
	enum pf_class last_class;
	struct u64map class_of;     /* str_id of a category → class */
	struct u64map direction_of; /* str_id of a copy's name → enum copy_direction */

	VEC(struct pf_late) late;
	VEC(struct pf_flow) flows;
	VEC(struct pf_said) said;
	VEC(uint32_t) said_free;
	struct strbuf text, word;
	struct launch_shapes launches;

	VEC(struct gpu_counter {
		const char *name, *unit; /* in texts */
	}) gpu_counters;
	struct u64map stage_name; /* (2 queue, 3 stage; number) → str_id */
	struct u64map gpu_counter_at;
	VEC(struct pf_cpu {
		track_id track;
		int64_t since_ns, pid;
		str_id name; /* of what runs; STR_NONE: nothing, or not known */
	}) cpus;

	struct native native;
	bool is_native;

	struct {
		uint64_t lost, needs_state, no_clock, no_memory, strays, open, unknown_iid,
			flows_out, ftrace_unknown, buffer_lost[3];
		struct tally bad;
		uint32_t unknown[PF_FIELDS]; /* packets by field */
	} n;
};

/*
 * What a span takes. A slice that a writer packs as tightly as it can has some 22 bytes, which pay
 * for it (mem_budget.h), so that none is left out of a large trace. One that is out of order takes
 * MEM_SPAN.
 */
#define PF_SPAN_BYTES 40

/* pf_packets.c */
/* Both walks: calls pf_packet_take for each packet. */
void pf_walk(struct pf *p);
/* A packet of the first or the second walk (read_perfetto.c). */
void pf_packet_take(struct pf *p, struct pf_packet *k);
void pf_bad(struct pf *p, const char *what);
/* Whether there is memory for it; takes it. */
static inline bool pf_memory(struct pf *p, size_t bytes)
{
	if (!mem_budget_has(&p->budget, bytes))
		return false;
	mem_budget_take(&p->budget, bytes);
	return true;
}

static inline struct pf_bytes pf_bytes_of(const struct pb_field *f)
{
	return (struct pf_bytes){ f->data, f->len };
}

static inline struct pb_cursor pf_cursor(struct pf_bytes b)
{
	return b.p ? pb_cursor_of(b.p, b.n) : pb_cursor_of("", 0);
}

static inline str_id pf_string(struct pf *p, struct pf_bytes b)
{
	return p->sink->ops->string(p->sink, b.p ? (const char *)b.p : "", b.n);
}

/* pf_sequence.c */
/* The state of a packet's sequence with what the packet says of it; false: the packet cannot be
 * understood without state that is lost. */
bool pf_seq_take(struct pf *p, struct pf_packet *k);
/* Interned data and defaults of a packet. */
void pf_seq_learn_all(struct pf *p, const struct pf_packet *k);
static inline void pf_seq_learn(struct pf *p, const struct pf_packet *k)
{
	if (k->defaults.p || k->interned.p)
		pf_seq_learn_all(p, k);
}
/* PF_IID_NONE: not there, which is counted. */
uint32_t pf_interned(struct pf *p, const struct pf_seq *s, enum pf_table table, uint64_t iid);
/* One of PF_PARTS and up; "null" when it is not there. */
const char *pf_part(struct pf *p, const struct pf_seq *s, enum pf_table table, uint64_t iid);
void pf_seqs_reset(struct pf *p); /* for the second walk */
void pf_seqs_release(struct pf *p);

/* pf_clock.c */
void pf_snapshot_take(struct pf *p, const struct pf_packet *k);
/*
 * The packet's time in its own clock, ns; deltas are added up. false: it has none. Calls for each
 * packet, in order.
 */
bool pf_time_own(struct pf *p, const struct pf_packet *k, int64_t *ret_ns, uint64_t *ret_clock);
/* In the trace's clock; false: no snapshot joins the two. */
bool pf_time_convert(struct pf *p, uint64_t clock, int64_t own_ns, int64_t *ret_ns);
/* Between the walks. */
void pf_clocks_settle(struct pf *p);
void pf_clock_set(struct pf *p); /* of the input */
void pf_clocks_release(struct pf *p);

/* pf_tracks.c */
void pf_describe(struct pf *p, struct pf_bytes body);
void pf_describe_old(struct pf *p, const struct pf_packet *k);
/* Index of a track, also of one that is never described. */
uint32_t pf_track_of(struct pf *p, uint64_t uuid);
/* uuid of the track of a thread or, tid PID_NONE, a process */
uint64_t pf_thread_uuid(int64_t pid, int64_t tid);
/* The sink's track, series of one. */
track_id pf_model_track(struct pf *p, uint32_t track);
series_id pf_model_series(struct pf *p, uint32_t track);
track_id pf_process(struct pf *p, int64_t pid);
track_id pf_thread(struct pf *p, int64_t pid, int64_t tid, const char *name);
int64_t pf_track_pid(const struct pf *p, uint32_t track); /* of it, or of what it lies in */
void pf_name_process(struct pf *p, int64_t pid, struct pf_bytes name);
void pf_name_thread(struct pf *p, int64_t tid, struct pf_bytes name);
const char *pf_text(struct pf *p, struct pf_bytes b); /* in pf.texts; NULL: no memory for it */
void pf_tracks_make(struct pf *p); /* those that are described as processes and threads */
void pf_tracks_release(struct pf *p);

/* pf_event.c */
void pf_event_survey(struct pf *p, const struct pf_packet *k);
void pf_event_push(struct pf *p, const struct pf_packet *k);
void pf_count(struct pf *p, uint32_t track, const struct pf_seq *s, int64_t t_ns, double value);
void pf_flow_add(struct pf *p, uint64_t id, int64_t t_ns, bool ends, enum link_kind kind);
enum pf_class pf_class_of(struct pf *p, str_id category);

/* pf_legacy.c */
/* True: the event is one of a phase, and was taken. */
bool pf_legacy_push(struct pf *p, struct pf_event *e, uint32_t track, struct pf_open *o);
/* Its own thread; false: it names none. */
bool pf_legacy_track(struct pf *p, const struct pf_event *e, uint64_t *ret_uuid);
uint32_t pf_legacy_phase(struct pf_bytes legacy);

/* pf_slices.c */
void pf_slice_survey(struct pf *p, uint32_t track, uint8_t type, int64_t own_ns, uint64_t clock,
		     uint32_t seq);
/* A begin, end, instant or state of a track. o: what the event says. */
void pf_slice_take(struct pf *p, uint32_t track, uint8_t type, int64_t t_ns, struct pf_open *o);
void pf_survey_end(struct pf *p);
/* A whole span on a track. */
void pf_span_push(struct pf *p, uint32_t track, struct pf_open *o, int64_t end_ns, bool instant);
void pf_slices_end(struct pf *p);
void pf_flows_push(struct pf *p);

/* pf_args.c */
/* The annotations and the place of an event, as one JSON object, owned; NULL: none. */
char *pf_args(struct pf *p, const struct pf_event *e);
/* The object of both, without more (freed); either may be NULL. */
char *pf_args_both(char *args, char *more);
void pf_said_take(struct pf *p, const struct pf_event *e, struct pf_said *ret);

/* pf_device.c */
void pf_classes_make(struct pf *p);
/* Of a name: what it says of a copy. */
void pf_name_learn(struct pf *p, str_id name, struct pf_bytes text);
/* Of an event of AMD's tools: kind, correlation, queue or thread of the slice. */
void pf_device_take(struct pf *p, const struct pf_event *e, uint32_t track, enum pf_class class,
		    struct pf_open *o);
void pf_device_facts(struct pf *p, const struct pf_open *o, span_id span);
/* A queue by its number or, PID_NONE, by a name; pid: of its owner, PID_NONE. */
track_id pf_queue(struct pf *p, const char *device, int64_t number, const char *name, int64_t pid);

/* pf_gpu.c */
void pf_gpu_stage(struct pf *p, const struct pf_packet *k, int64_t t_ns);
void pf_gpu_counters(struct pf *p, const struct pf_packet *k, int64_t t_ns);
void pf_gpu_counters_describe(struct pf *p, struct pf_bytes body);

/* pf_system.c */
void pf_ftrace(struct pf *p, const struct pf_packet *k);
void pf_ftrace_end(struct pf *p);
void pf_process_tree(struct pf *p, struct pf_bytes body);
void pf_process_stats(struct pf *p, struct pf_bytes body, int64_t t_ns);
void pf_trace_stats(struct pf *p, struct pf_bytes body);

/* pf_native.c */
void pf_native_take(struct pf *p, struct pf_bytes body);
void pf_native_event(struct pf *p, const struct pf_event *e, struct pf_open *o);

static inline uint64_t pf_mix(uint64_t a, uint64_t b)
{
	uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) + b;

	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 29;
}

static inline uint64_t pf_clock_key(uint32_t clock, uint32_t seq)
{
	return clock >= PF_BUILTIN && clock < PF_LOCAL_END ? (uint64_t)seq << 32 | clock : clock;
}

#endif
