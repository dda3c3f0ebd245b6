/*
 * tef: the parts of the Trace Event Format reader (read_tef.c has the map of the format).
 *
 *	tef_doc.c	the document around the events: form, dialect, clock, rank, damage
 *	tef_event.c	one event's members, and what each phase pushes
 *	tef_tracks.c	pid and tid of the file → tracks of the sink
 *	tef_device.c	the dialects that know devices: Kineto and rocprof v1
 *	tef_pairs.c	B with E
 *	tef_async.c	b with e, laid into lanes
 *	tef_flows.c	s, t, f → links between the spans around them
 *	tef_samples.c	samples of stacks beside the events
 *	tef_rocprofv3*	no trace events, but JSON of the same family
 */
#ifndef ANALYSIS_TEF_H
#define ANALYSIS_TEF_H

#include "json_scan.h"

#include <stdint.h>

#include "profrig/input.h"
#include "profrig/reader.h"
#include "profrig/strbuf.h"
#include "profrig/u64map.h"

/* In the order of tef_dialects. */
enum tef_dialect {
	TEF_PLAIN,
	TEF_KINETO,
	TEF_ROCPROF,
	TEF_ROCPROFV3,
	TEF_PROFRIG,
	TEF_UFTRACE,
	TEF_DIALECTS
};
extern const char *const tef_dialects[]; /* their words */

/* What is known of a document before its events are pushed. */
struct tef_doc {
	bool array_form;
	size_t events_at; /* offset behind the '[' of the events */
	enum tef_dialect dialect;
	char tracer[16]; /* of TEF_PROFRIG: "blas", "roctx" */
	char host[256];  /* "" unknown */
	int32_t rank;    /* RANK_NONE */
	bool has_base;
	int64_t base_ns; /* added to every time: Kineto's baseTimeNanoseconds */
	enum trace_clock clock;
	bool fractions;               /* times have digits behind the point */
	const char *samples, *frames; /* where chrome's lists of them begin; NULL */
};

/* A pid, tid or id as the file has it: a number, a word, or absent. */
struct tef_id {
	enum { TEF_ID_NONE, TEF_ID_NUMBER, TEF_ID_WORD } type;
	int64_t number;
	uint64_t key; /* equal ids have equal keys */
	struct json_text text;
};

struct tef_event {
	char ph;        /* 0: none; 1: more than one character */
	bool empty;     /* {} */
	bool enclosing; /* "bp": "e" */
	struct json_text name, cat, ts, dur, args;
	struct json_text scope;
	struct tef_id pid, tid, id;
};

typedef uint32_t tef_slot;
#define TEF_SLOT_NONE UINT32_MAX

struct tef_track {
	struct track_def def; /* without its strings */
	track_id id;
	int64_t last_ns;       /* latest time pushed */
	uint64_t name_key;     /* where its name is found; 0 has none */
	struct json_text word; /* an id that is a word names the track when nothing else does */
	char device[32];
};

/* A begin or an end, kept until all are known. */
struct tef_edge {
	int64_t t_ns;
	tef_slot slot;
	str_id name, category, args;
	bool end, named;
};

struct tef_async {
	int64_t t_ns;
	uint64_t group; /* of pid, category and id */
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

/* A span that was pushed, for finding what encloses a flow's end. */
struct tef_slice {
	int64_t start_ns, end_ns;
	span_id span;
	uint64_t correlation;
	tef_slot slot;
	uint32_t parent; /* index of the slice around it */
};

/* A span on the device whose queue is named by another event of the same pid and tid. */
struct tef_late {
	struct tef_id pid, tid;
	int32_t rank;
	struct span_def span;
};

struct tef_counts {
	uint64_t events, metadata, counters, flows, flows_unmatched, flows_correlated, ignored;
	uint64_t bad_events, bad_numbers;
	char ignored_ph;
	char bad_event[160], bad_number[160]; /* the first */
};

struct tef {
	const char *path;
	const struct read_opts *opts;
	struct sink *sink;
	struct input_map map;
	struct tef_doc doc;
	struct tef_counts n;
	size_t at;          /* offset of the event in hand, for words about it */
	struct strbuf text; /* for decoding */

	VEC(struct tef_track) tracks;
	struct u64map slots;  /* tracks by what they are */
	struct u64map places; /* tracks by the file's pid and tid */
	VEC(char *) names;
	struct u64map name_at; /* from pid or place */
	struct u64map series;  /* → series_id */

	VEC(struct tef_edge) edges;
	VEC(struct tef_async) asyncs;
	VEC(struct tef_flow) flows;
	VEC(struct tef_slice) slices;
	VEC(struct tef_late) late;
};

/* tef_doc.c */
int tef_doc_scan(struct tef *t, struct err *err);
/* Pushes all events: 0, READ_PARTIAL, or < 0 when there was nothing to read. */
int tef_doc_read(struct tef *t, struct err *err);

/* tef_event.c */
/* Members of the object at c. 0, JSON_CUT or JSON_BAD. */
int tef_event_parse(struct json_cur *c, struct tef_event *ret);
void tef_event_push(struct tef *t, const struct tef_event *ev);
/* µs → ns in the document's clock. Counts what is no time. */
bool tef_time(struct tef *t, const struct json_text *us, int64_t *ret_ns);
str_id tef_string(struct tef *t, const struct json_text *text);
str_id tef_args(struct tef *t, const struct json_text *args);
void tef_bad_event(struct tef *t, const char *what);
void tef_bad_number(struct tef *t, const char *what, const struct json_text *text);
/* Pushes a span on a slot, and remembers it for flows. */
span_id tef_span(struct tef *t, tef_slot slot, struct span_def *d);
/* start + duration, and what is missing or out of range counted. */
bool tef_extent(struct tef *t, const struct tef_event *ev, int64_t *start_ns, int64_t *end_ns);

/* tef_tracks.c */
struct tef_id tef_id_of(const struct json_text *text);
uint64_t tef_hash(uint64_t a, uint64_t b, uint64_t c);
uint64_t tef_hash_text(const struct json_text *t);
uint64_t tef_place_key(const struct tef_id *pid, const struct tef_id *tid);
tef_slot tef_process(struct tef *t, const struct tef_id *pid);
tef_slot tef_thread(struct tef *t, const struct tef_id *pid, const struct tef_id *tid);
/* The thread that events of the place (pid, tid) are on, whatever its real ids. */
tef_slot tef_thread_at(struct tef *t, uint64_t place, const struct tef_id *pid,
		       const struct tef_id *tid);
tef_slot tef_lane(struct tef *t, const struct tef_id *pid, str_id category, const char *name,
		  uint32_t lane);
/* What a tracer says of itself, beside all threads. */
tef_slot tef_window(struct tef *t, const struct tef_id *pid, const struct tef_id *tid);
/* place 0: none. */
tef_slot tef_queue(struct tef *t, uint64_t place, const char *device, const struct tef_id *stream,
		   int32_t rank);
void tef_name(struct tef *t, const struct tef_event *ev, bool process);
const char *tef_process_name(const struct tef *t, const struct tef_id *pid); /* NULL unknown */
void tef_names_apply(struct tef *t);
void tef_tracks_release(struct tef *t);

/* tef_device.c: true when the event was device work or belongs to the dialect otherwise, and was
 * pushed. */
bool tef_kineto_span(struct tef *t, const struct tef_event *ev);
bool tef_rocprof_span(struct tef *t, const struct tef_event *ev);
void tef_late_push(struct tef *t);
/* How strongly an event speaks for a dialect. */
int tef_kineto_signal(const struct tef_event *ev);
int tef_rocprof_signal(const struct tef_event *ev);

/* tef_samples.c */
void tef_samples_push(struct tef *t);

/* tef_rocprofv3.c */
bool tef_is_rocprofv3(const struct tef *t);
/* Pushes all records: 0, READ_PARTIAL, or < 0 when there was nothing to read. */
int tef_rocprofv3_read(struct tef *t, struct err *err);

/* tef_pairs.c */
void tef_edge_add(struct tef *t, const struct tef_event *ev);
void tef_edges_push(struct tef *t);

/* tef_async.c */
void tef_async_add(struct tef *t, const struct tef_event *ev, char ph);
void tef_asyncs_push(struct tef *t);

/* tef_flows.c */
void tef_flow_add(struct tef *t, const struct tef_event *ev);
void tef_flows_push(struct tef *t);

#endif
