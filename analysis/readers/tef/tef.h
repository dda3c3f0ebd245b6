/*
 * tef: the parts of the Trace Event Format reader (read_tef.c has the map of the format).
 *
 *	tef_doc.c	the document around the events: form, dialect, clock, rank
 *	tef_walk.c	event after event, recovery after damage
 *	tef_ahead.c	events parsed by other threads
 *	tef_event.c	one event's members, and the push of each phase
 *	tef_shape.c	a faster parser for events with the layout of earlier ones
 *	tef_memo.c	caches of look-ups that repeat
 *	tef_tracks.c	pid and tid of the file → tracks of the sink
 *	tef_device.c	the dialects with devices: Kineto and rocprof v1
 *	tef_facts.c	Kineto's arguments → facts of spans
 *	tef_named.c	the dialects with devices in names: TensorFlow (JAX) and Ascend
 *	tef_xla.c	what TensorFlow's and JAX's profiler tells of compiled programs
 *	tef_flex*.c	the dialect of FLEX (AIU accelerators)
 *	tef_pairs.c	B with E
 *	tef_async.c	b with e, spread over tracks so that none overlap
 *	tef_flows.c	s, t, f → links between the spans around them
 *	tef_native.c	the dialect of profrig's converter
 *	tef_samples.c	samples of stacks beside the events
 *	tef_rocprofv3*	no trace events, but JSON of the same family
 */
#ifndef ANALYSIS_TEF_H
#define ANALYSIS_TEF_H

#include "native.h"
#include "tally.h"

#include <stdint.h>

#include "profrig/base/json_scan.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/u64map.h"
#include "profrig/readers/reader.h"
#include "profrig/scan/input.h"
#include "profrig/scan/launch_shape.h"

/* In the order of tef_dialects. */
enum tef_dialect {
	TEF_PLAIN,
	TEF_KINETO,
	TEF_ROCPROF,
	TEF_ROCPROFV3,
	TEF_PROFRIG,
	TEF_UFTRACE,
	TEF_TENSORFLOW,
	TEF_ASCEND,
	TEF_FLEX,
	TEF_SPYRE, /* only a word: Kineto with tef_doc.spyre */
	TEF_DIALECTS
};
extern const char *const tef_dialects[]; /* names of the dialects */

/* Properties of a document, known before its events are pushed. */
struct tef_doc {
	bool array_form;
	size_t events_at;  /* offset behind the '[' of the events */
	size_t events_end; /* guess: behind their ']'; 0 none */
	enum tef_dialect dialect;
	char tracer[16]; /* of TEF_PROFRIG: "blas", "roctx" */
	char host[256];  /* "" unknown */
	int32_t rank;    /* RANK_NONE */
	bool has_base;
	int64_t base_ns; /* added to every time: Kineto's baseTimeNanoseconds */
	enum trace_clock clock;
	bool fractions;               /* times have digits behind the point */
	bool spyre;                   /* of TEF_KINETO: the devices are AIUs */
	bool native;                  /* written by profrig convert (native.h) */
	const char *samples, *frames; /* start of chrome's lists; NULL */
	const char *devices, *world;  /* start of Kineto's descriptions; NULL */
	uint64_t system_events;       /* of the kernel, beside the events; not read */
	size_t spans;                 /* estimate, from the first events */
};

/* Evidence for the dialect of a document, from the events so far. */
struct tef_signals {
	int kineto, rocprof;
	bool profrig, uftrace, tensorflow, ascend;
	unsigned flex;          /* tef_flex_signal, of all events */
	int phases;             /* events named by a phase */
	bool aiu;               /* the description of devices names one */
	enum trace_clock clock; /* stated explicitly */
	int64_t first_ns;
	bool timed;
};

/*
 * A pid, tid or id as in the file: absent, a number, a number in an unusual form ("05", 5.0), or a
 * word. Events pass between threads, so they are small.
 */
enum tef_id_type { TEF_ID_NONE, TEF_ID_NUMBER, TEF_ID_ODD, TEF_ID_WORD };
struct tef_id {
	union {
		int64_t number; /* of TEF_ID_NUMBER, never negative */
		const char *p;  /* the text of odd ones and words */
	};
	size_t n : 60;
	size_t type : 4;
};

/* A time in µs as in the file, absent when p is NULL; or already converted to ns (known). */
struct tef_us {
	union {
		int64_t ns;
		const char *p;
	};
	size_t n : 63;
	size_t known : 1;
};

/* Classes of Kineto's categories. */
enum tef_class {
	TEF_CLASS_UNKNOWN, /* not looked up yet */
	TEF_CLASS_OTHER,
	TEF_CLASS_KERNEL,
	TEF_CLASS_COPY,
	TEF_CLASS_FILL,
	TEF_CLASS_NOTE,
	TEF_CLASS_RUNTIME,
	TEF_CLASS_WINDOW,
	TEF_CLASS_LAUNCH, /* flows that repeat correlations */
	/* their tracks are those of their pid and tid */
	TEF_CLASS_OP,
	TEF_CLASS_PYTHON,
	TEF_CLASS_MEMORY
};

/* Kineto's args. */
struct tef_args {
	struct tef_id device, stream;
	uint64_t correlation; /* or else the external id; 0 also when it is no number */
	int32_t rank;
	bool has_correlation;
};

/* Numbers of texts that one parser has met before. */
#define TEF_TEXT_NONE UINT16_MAX
struct tef_known {
	uint16_t name, cat;
	uint8_t parser;
};

/* Where the JSON value of an argument that is a fact stands: behind the '{' of the args. */
struct tef_said {
	uint32_t at;
	uint32_t n : 25;
	uint32_t arg : 7; /* enum tef_arg */
};
#define TEF_SAID_BYTES ((size_t)1 << 25)
#define TEF_SAID_MAX 20

struct tef_event {
	const char *at;  /* its '{' */
	char ph;         /* 0: none; 1: more than one character */
	bool empty;      /* {} */
	bool enclosing;  /* "bp": "e" */
	bool scoped;     /* there is a scope */
	bool attr;       /* args are its member "attr" */
	uint8_t class;   /* enum tef_class of cat */
	bool args_known; /* kineto is parsed from args */
	struct tef_known known;
	struct json_text name, cat;
	struct tef_us ts, dur;
	struct tef_id pid, tid;
	struct tef_args kineto;
	struct json_text args;
	struct tef_id id;
	uint64_t scope;     /* hash: equal for equal scopes */
	const char *native; /* the value of the member "profrig", NULL */
	uint32_t nr_said;   /* where args_known */
	struct tef_said said[TEF_SAID_MAX];
};

/* Members that are read. */
enum tef_member {
	TEF_OTHER,
	TEF_PH,
	TEF_TS,
	TEF_DUR,
	TEF_TDUR,
	TEF_ID,
	TEF_ID2,
	TEF_BP,
	TEF_PID,
	TEF_TID,
	TEF_CAT,
	TEF_NAME,
	TEF_ARGS,
	TEF_ATTR, /* FLEX's word for args */
	TEF_SCOPE,
	TEF_NATIVE
};

typedef uint32_t tef_slot;
#define TEF_SLOT_NONE UINT32_MAX

struct tef_track {
	struct track_def def; /* without its strings */
	track_id id;
	int64_t last_ns;       /* latest time pushed */
	uint64_t name_key;     /* key of its name; 0 none */
	struct json_text word; /* an id that is a word: the name of a track without another */
	char device[32];
};

/* What a profiler derives of a device's work, beside its streams (tef_xla.c). */
enum tef_line { TEF_LINE_NONE, TEF_LINE_MODULES, TEF_LINE_OPS, TEF_LINE_NOTES };

/* The queue of a (pid, tid), by its name. */
struct tef_named {
	tef_slot queue; /* TEF_SLOT_NONE: spans are on the thread */
	bool copies;    /* all spans are copies */
	bool again;     /* its spans repeat those of other queues */
	enum tef_line line;
};

/* A begin or an end, kept until all are read. */
struct tef_edge {
	int64_t t_ns;
	uint32_t place; /* of tef.edge_places */
	str_id name, category, args;
	uint32_t said; /* index + 1 in tef.edge_args, of FLEX in tef.flex_edges; 0: none */
	uint8_t class; /* enum tef_class, TEF_CLASS_UNKNOWN: it has no category */
	bool end, named;
};

/* A (pid, tid) on which begins and ends are paired. */
struct tef_edge_place {
	struct tef_id pid, tid;
	int64_t last_ns; /* the latest time of them */
};

struct tef_async {
	int64_t t_ns;
	uint64_t group, pid_key; /* group: of pid, category and id */
	struct tef_id pid;
	struct json_text cat;
	str_id name, category, args;
	uint32_t order;
	char ph; /* b n e */
	bool named;
};

struct tef_flow {
	int64_t t_ns;
	uint64_t key;   /* of category, name and id */
	uint64_t place; /* tef_place_key of pid and tid */
	char ph;        /* s t f */
	bool enclosing;
};

/* A pushed span, to find the one that encloses a flow's end. */
struct tef_slice {
	int64_t start_ns, end_ns;
	uint64_t correlation;
	uint32_t span; /* counted from tef.first_span */
	tef_slot slot;
};

/* The first of the two ends of a link. */
struct tef_native_end {
	span_id span;
	bool to; /* the link ends here */
};

/* A device span whose queue another event of the same pid and tid names. */
struct tef_late {
	struct tef_id pid, tid;
	int32_t rank;
	struct span_def span;
};

/* A begin or an end of FLEX. */
struct flex_edge {
	struct json_text args;
	size_t at;        /* offset of the event */
	uint32_t stamps;  /* index + 1 in flex.stamps; 0: none, or not looked for */
	uint32_t message; /* index + 1 in flex.messages; 0: none */
	enum stamp_phase phase;
	bool rdma;
};

/* Of tef_facts.c. */
struct tef_facts {
	struct strbuf text;
	VEC(int64_t) numbers;
	struct u64map copy_at; /* by name → copies */
	VEC(struct copy_facts) copies;
};

struct tef_counts {
	uint64_t events, metadata, counters, flows, flows_unmatched, flows_correlated, ignored;
	char ignored_ph;
	struct tally bad_events, bad_numbers;
};

struct tef {
	const char *path;
	const struct read_opts *opts;
	struct sink *sink;
	struct input_map map;
	struct tef_doc doc;
	struct tef_doc head; /* as tef_doc_scan left it */
	struct tef_signals signals;
	const char *heard; /* events before it were searched for signals */
	bool again;        /* the signals contradict doc */
	struct tef_counts n;
	struct tef_shapes *shapes;
	struct tef_memo *memo;
	bool timed;         /* an event had a time */
	__int128 origin_ns; /* of times: 0, or the first time where that is out of range */
	size_t at;          /* offset of the current event, for messages */
	size_t walk;        /* offset of the next input_walk */
	struct strbuf text; /* for decoding */
	bool facts;         /* they are wanted */
	struct tef_facts fact;
	struct launch_shapes launches;

	VEC(struct tef_track) tracks;
	struct u64map slots;  /* tracks by their identity */
	struct u64map places; /* tracks by the file's pid and tid */
	uint32_t places_changed;
	VEC(char *) names;
	struct u64map name_at; /* from pid or place */
	struct u64map series;  /* → series_id */

	VEC(struct tef_edge) edges;
	VEC(struct tef_edge_place) edge_places;
	struct u64map edge_place_at;
	VEC(struct tef_args) edge_args;
	VEC(struct flex_edge) flex_edges;
	struct flex *flex; /* of TEF_FLEX and of AIUs in Kineto, else NULL */
	VEC(struct tef_async) asyncs;
	VEC(struct tef_flow) flows;
	VEC(struct tef_slice) slices;
	span_id first_span; /* the first that is in slices */
	VEC(struct tef_late) late;
	VEC(struct tef_named) named; /* by (pid, tid) */
	struct u64map named_at;

	struct native native;
	span_id native_last;       /* the last pushed span */
	struct u64map native_ends; /* ids of links → native_end */
	VEC(struct tef_native_end) native_end;
};

/* tef_doc.c: tef_doc_scan, then one of the other two. */
int tef_doc_scan(struct tef *t, struct err *err);
/* Reads the members behind the events; false: their end cannot be guessed. */
bool tef_doc_guess(struct tef *t);
void tef_doc_rest(struct tef *t);
/* Whether an event behind the first ones, or an earlier one, contradicts the dialect of doc, which
 * does not change. */
bool tef_doc_hear(struct tef *t, const struct tef_event *ev);
bool tef_doc_equal(const struct tef_doc *a, const struct tef_doc *b);

/* tef_walk.c */
#define TEF_AGAIN 2
/*
 * Pushes all events: 0, READ_PARTIAL, < 0 when there was nothing to read, or TEF_AGAIN: an event
 * contradicts the dialect, or the guess of the events' end was wrong. The pushed events are then
 * invalid, and t->doc is corrected.
 */
int tef_walk(struct tef *t, struct err *err);
/*
 * Searches all events for signals before the first push, so that the dialect cannot change later.
 */
void tef_walk_hear(struct tef *t);
/* Whether an event can begin at p: behind a comma, a bracket, another event, or at the end of a
 * line or a hole. */
bool tef_may_begin(const char *begin, const char *p);

/* tef_ahead.c: the events from an offset on, parsed by several threads. */
struct tef_ahead *tef_ahead_new(const struct input_map *map, size_t from);
void tef_ahead_free(struct tef_ahead *a); /* NULL is fine. After the last tef_ahead_help. */
/* Parses until the end of the events or tef_ahead_quit. */
void tef_ahead_help(struct tef_ahead *a, struct tef_shapes *shapes);
void tef_ahead_quit(struct tef_ahead *a);
/*
 * The events that were parsed ahead from `at` on, where an event begins. The first is the one at
 * `at`, and *ret_end is behind the last. *ret_nr is 0 when no event was found at `at`: the caller
 * must parse the text up to *ret_end itself. Waits for the region of `at`, and parses regions with
 * `shapes` meanwhile. The events are valid until the next call, which must be for a later position.
 */
const struct tef_event *tef_ahead_get(struct tef_ahead *a, const char *at,
				      struct tef_shapes *shapes, size_t *ret_nr,
				      const char **ret_end);

/* tef_event.c */
/* Members of the object at c. 0, JSON_CUT or JSON_BAD. */
int tef_event_parse(struct json_cur *c, struct tef_event *ret);
enum tef_member tef_member_of(const struct json_text *key);
void tef_scope_set(struct tef_event *ev, const struct json_text *text);
/* Half of what the model can hold, so that a start plus a duration stays inside. */
#define TEF_TIME_MAX (INT64_C(1) << 61)
void tef_event_push(struct tef *t, const struct tef_event *ev);
/* The event's time in the document's clock. Counts bad ones. */
bool tef_time(struct tef *t, const struct tef_event *ev, int64_t *ret_ns);
str_id tef_string(struct tef *t, const struct json_text *text);
str_id tef_name_of(struct tef *t, const struct tef_event *ev);
str_id tef_category_of(struct tef *t, const struct tef_event *ev);
str_id tef_args(struct tef *t, const struct json_text *args);
/* The same of a kernel; where only shapes are kept, its launch. */
str_id tef_kernel_args(struct tef *t, const struct json_text *args);
void tef_bad_event(struct tef *t, const char *what);
void tef_bad_number(struct tef *t, const char *what, const struct json_text *text);
/* Key of the series of a counter event in tef.series; key: the member of its args. */
uint64_t tef_series_key(const struct tef_event *ev, const struct json_text *name,
			const struct json_text *key);
/* Pushes a span on a slot, and keeps it for flows. */
span_id tef_span(struct tef *t, tef_slot slot, struct span_def *d);
/* Start and start + duration; counts missing ones and those out of range. */
bool tef_extent(struct tef *t, const struct tef_event *ev, int64_t *start_ns, int64_t *end_ns);

/* tef_shape.c */
#define TEF_PARSERS 256
/* parser: below TEF_PARSERS, another one for each thread. */
struct tef_shapes *tef_shapes_new(const struct tef_doc *doc, const char *begin, unsigned parser,
				  bool facts);
void tef_shapes_free(struct tef_shapes *s); /* NULL is fine */
/* As tef_event_parse, and much faster for an event with the layout of an earlier one. */
int tef_shapes_parse(struct tef_shapes *s, struct json_cur *c, struct tef_event *ret);

/* tef_memo.c */
struct tef_texts *tef_texts_new(void);
void tef_texts_free(struct tef_texts *x); /* NULL is fine */
/* The number of a text, TEF_TEXT_NONE when there are too many. */
uint16_t tef_texts_number(struct tef_texts *x, const struct json_text *t);
struct tef_memo *tef_memo_new(void);
void tef_memo_free(struct tef_memo *m); /* NULL is fine */
/* The slot for the id of a parser's text; STR_NONE at first. */
str_id *tef_memo_text(struct tef_memo *m, unsigned parser, uint16_t text);
/* TEF_SLOT_NONE: not known. */
tef_slot tef_memo_thread(struct tef_memo *m, const struct tef_id *pid, const struct tef_id *tid);
void tef_memo_thread_add(struct tef_memo *m, const struct tef_id *pid, const struct tef_id *tid,
			 tef_slot slot);
/* The queue of a pid, tid, device and stream; valid for one value of tef.places_changed. */
tef_slot tef_memo_queue(struct tef_memo *m, const struct tef_event *ev, const struct tef_args *a,
			uint32_t places);
void tef_memo_queue_add(struct tef_memo *m, const struct tef_event *ev, const struct tef_args *a,
			uint32_t places, tef_slot slot);

/* tef_tracks.c */
struct tef_id tef_id_of(const struct json_text *text);
bool tef_id_number(const struct tef_id *id, int64_t *ret); /* false for words */
uint64_t tef_id_key(const struct tef_id *id);              /* equal ids have equal keys */
uint64_t tef_hash(uint64_t a, uint64_t b, uint64_t c);
uint64_t tef_hash_text(const struct json_text *t);
uint64_t tef_place_key(const struct tef_id *pid, const struct tef_id *tid);
void tef_place_set(struct tef *t, uint64_t place, tef_slot slot);
tef_slot tef_process(struct tef *t, const struct tef_id *pid);
tef_slot tef_thread(struct tef *t, const struct tef_id *pid, const struct tef_id *tid);
/* An existing thread, TEF_SLOT_NONE. */
tef_slot tef_thread_known(const struct tef *t, const struct tef_id *pid, const struct tef_id *tid);
/* The thread of the events of (pid, tid), which may have other real ids. */
tef_slot tef_thread_at(struct tef *t, uint64_t place, const struct tef_id *pid,
		       const struct tef_id *tid);
tef_slot tef_row(struct tef *t, const struct tef_id *pid, str_id category, const char *name,
		 uint32_t row);
/* A track beside all threads for a tracer's own spans. */
tef_slot tef_window(struct tef *t, const struct tef_id *pid, const struct tef_id *tid);
/* Puts later events of (pid, tid) on an existing track. */
void tef_place_track(struct tef *t, const struct tef_id *pid, const struct tef_id *tid,
		     track_id track, enum track_kind kind);
/* Of the threads of a process: the file's, in FLEX the pid where the file tells none. */
int32_t tef_rank_of(const struct tef *t, const struct tef_id *pid);
/*
 * Row `row` of the spans of (pid, tid): row 0 is the thread, or the queue of this device, itself;
 * the others are tracks beside it, with a name of their own. device NULL: a thread.
 */
tef_slot tef_lane(struct tef *t, const struct tef_id *pid, const struct tef_id *tid,
		  const char *device, uint32_t row);
/* place 0: none. */
tef_slot tef_queue(struct tef *t, uint64_t place, const char *device, const struct tef_id *stream,
		   int32_t rank);
/* The track has the name of (pid, tid) when names are applied. */
void tef_name_as(struct tef *t, tef_slot slot, uint64_t place);
/* Takes names and labels of processes and threads from metadata. */
void tef_names_take(struct tef *t, const struct tef_event *ev);
/* NULL: unknown */
const char *tef_process_name(const struct tef *t, const struct tef_id *pid);
const char *tef_process_label(const struct tef *t, const struct tef_id *pid);
const char *tef_thread_name(const struct tef *t, uint64_t place);
/* A scalar of an event's args as text, valid until the next use of t->text; NULL: there is none. */
const char *tef_said(struct tef *t, const struct tef_event *ev, const char *key);
void tef_names_apply(struct tef *t);
void tef_tracks_release(struct tef *t);

/* tef_device.c: true when the event belongs to the dialect (as device work or otherwise) and was
 * pushed. */
bool tef_kineto_span(struct tef *t, const struct tef_event *ev);
/* The same for a span without kind, correlation and track; of ev only pid and tid are used. */
bool tef_kineto_put(struct tef *t, const struct tef_event *ev, enum tef_class class,
		    const struct tef_args *a, struct span_def *d);
bool tef_rocprof_span(struct tef *t, const struct tef_event *ev);
void tef_late_push(struct tef *t);
/* The model's name of a device: "gpu3". */
void tef_device_name(const struct tef *t, const struct tef_id *id, char *buf, size_t n);
enum tef_class tef_kineto_class(const struct json_text *cat);
/* The class of an event: mostly that of its category. */
enum tef_class tef_kineto_class_of(const struct tef_event *ev);
/* Whether the dialect defines the track of spans of this class; others are calls. */
static inline bool tef_class_is_kineto(enum tef_class class)
{
	return class >= TEF_CLASS_KERNEL && class <= TEF_CLASS_WINDOW;
}
/* Whether args of this class are read. */
static inline bool tef_class_has_args(unsigned int class)
{
	return class >= TEF_CLASS_KERNEL && class <= TEF_CLASS_RUNTIME;
}
/* Whether they are facts alone. */
static inline bool tef_class_has_facts(unsigned int class)
{
	return class >= TEF_CLASS_OP && class <= TEF_CLASS_MEMORY;
}
/* Whether parsers walk the args of events of this class. */
static inline bool tef_args_wanted(const struct tef_doc *doc, bool facts, unsigned int class)
{
	return doc->dialect == TEF_KINETO &&
	       (tef_class_has_args(class) || (facts && tef_class_has_facts(class)));
}
enum tef_arg {
	TEF_ARG_OTHER,
	TEF_ARG_DEVICE,
	TEF_ARG_STREAM,
	TEF_ARG_CORRELATION,
	TEF_ARG_EXTERNAL,
	TEF_ARG_RANK,
	TEF_ARG_FACTS, /* the first of tef_facts.c; only where facts are wanted */
	TEF_ARG_END = 127
};
/* facts: also those of tef_facts.c. */
enum tef_arg tef_arg_of(const struct json_text *key, bool facts);
void tef_arg_take(struct tef_args *a, enum tef_arg arg, const struct json_text *value);
struct tef_args tef_kineto_args(const struct tef_doc *doc, const struct json_text *args);
/* Of a span: every rank of a merged file counts its correlations from the start. 0: none. */
uint64_t tef_kineto_correlation(const struct tef *t, const struct tef_args *a);
/* Strength of an event as evidence for the dialect. */
int tef_kineto_signal(const struct tef_event *ev);
int tef_rocprof_signal(const struct tef_event *ev);

/* tef_facts.c */
/* Keeps where a value stands behind the '{' of the args; false: there is no room for it. */
static inline bool tef_said_add(struct tef_event *ev, unsigned int arg, size_t at, size_t n)
{
	if (ev->nr_said == TEF_SAID_MAX || at > UINT32_MAX || n >= TEF_SAID_BYTES)
		return false;
	ev->said[ev->nr_said++] = (struct tef_said){ (uint32_t)at, (uint32_t)n, arg };
	return true;
}
/* The argument of this key, in any case; TEF_ARG_OTHER: it is no fact. */
enum tef_arg tef_fact_arg(const struct json_text *key);
bool tef_facts_wanted(const struct tef *t);
/* What the args of an event state of the span that was made of it. name: the span's. */
void tef_facts_put(struct tef *t, const struct tef_event *ev, enum tef_class class, str_id name,
		   span_id span);
/* Grid and block where they are facts; false: launch_shape_of must look at the args. */
bool tef_facts_shape(const struct tef_event *ev, struct launch_shape *ret);
/* Devices and the job, which the document describes beside its events. */
void tef_facts_doc(struct tef *t);
void tef_facts_release(struct tef *t);

/* tef_flex.c */
/* Signs of the dialect. */
#define TEF_FLEX_STAMPS 1u
#define TEF_FLEX_NAMES 2u
#define TEF_FLEX_ATTR 4u
#define TEF_FLEX_POWER 8u
/* names_only: args are searched only where the name is one of the dialect's. */
unsigned tef_flex_signal(const struct tef_event *ev, bool names_only);
/* Before the first event is pushed; does nothing in other dialects. */
void tef_flex_begin(struct tef *t);
void tef_flex_release(struct tef *t);
void tef_flex_add(struct tef *t, const struct tef_event *ev, const struct span_def *d);
/* Index + 1 in t->flex_edges. */
uint32_t tef_flex_edge(struct tef *t, const struct tef_event *ev);
/* begin, end: indexes + 1 of a pair; end 0: it has none. */
void tef_flex_pair(struct tef *t, const struct span_def *d, uint32_t begin, uint32_t end,
		   uint32_t place);
/* Keeps the stamps, if there are any, of a span of Kineto's on the device of this number. */
void tef_flex_note(struct tef *t, const struct tef_event *ev, const struct tef_id *device,
		   const struct span_def *d, span_id span);
/* tef_flex_work.c: pushes all that was added. */
void tef_flex_push(struct tef *t);

/* tef_named.c, after the names are read. True: the span, without kind and track so far, was pushed
 * on a queue. */
bool tef_named_put(struct tef *t, const struct tef_event *ev, struct span_def *d);
/* Whether metadata is evidence for the dialect. */
bool tef_tensorflow_signal(struct tef *t, const struct tef_event *ev);
bool tef_ascend_signal(struct tef *t, const struct tef_event *ev);

/* tef_xla.c */
/* What the line of this name has; TEF_LINE_NONE: it is no derived one. */
enum tef_line tef_line_of(const char *thread);
/* Whether args may state what is read of programs. */
bool tef_xla_tells(const struct tef_event *ev);
/* Pushes a span, without track, correlation and facts so far. */
span_id tef_xla_put(struct tef *t, const struct tef_event *ev, const struct tef_named *n,
		    tef_slot slot, struct span_def *d);

/* tef_native.c: for documents that profrig convert wrote */
void tef_native_metadata(struct tef *t, const struct tef_event *ev);
void tef_native_span(struct tef *t, const struct tef_event *ev);
void tef_native_flow(struct tef *t, const struct tef_event *ev);

/* tef_samples.c */
void tef_samples_push(struct tef *t);

/* tef_rocprofv3.c */
bool tef_is_rocprofv3(const struct tef *t);
/* Pushes all records: 0, READ_PARTIAL, or < 0 when there was nothing to read. */
int tef_rocprofv3_read(struct tef *t, struct err *err);

/* tef_pairs.c */
/* The index in t->edge_places of an event's pid and tid. */
uint32_t tef_edge_place(struct tef *t, const struct tef_event *ev);
void tef_edge_add(struct tef *t, const struct tef_event *ev);
void tef_edges_push(struct tef *t);

/* tef_async.c */
/* ph: the phase that the event is read as, b n e */
void tef_async_add(struct tef *t, const struct tef_event *ev, char ph);
void tef_asyncs_push(struct tef *t);

/* tef_flows.c */
void tef_flow_add(struct tef *t, const struct tef_event *ev);
void tef_flows_push(struct tef *t);

#endif
