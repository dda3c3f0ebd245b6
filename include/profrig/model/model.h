/*
 * model: the trace in memory: tracks, spans, samples, links, strings, all in columns
 * (docs/architecture.md).
 *
 * Life cycle:
 *	1. model_new()
 *	2. readers push into model_sink(m) (sink.h), any number of inputs, in any order
 *	3. model_finish() sorts, nests and links; after it the model is read-only
 *	4. analyses read the columns directly
 *	5. model_free()
 *
 * Time: int64 ns on one timebase. Each input has its own clock; the sink adds input.shift_ns
 * (timebase.h) when it stores a time. Values: double, as recorded (raw); counters.h has units and
 * scales.
 *
 * Nesting is by containment per track (docs/contract.md, Definitions): longer first at equal
 * starts; a span that starts where another ends, also a zero-length one, is its sibling. Only
 * THREAD tracks nest; elsewhere parent is SPAN_NONE and exclusive = duration. Instants get the
 * innermost open span as parent and disturb nothing.
 *
 * Partial overlap. A span S that starts inside P and ends after P is P's child, and W_SPAN_OVERLAP
 * counts it. At every moment the innermost open span is the one that started last, and exclusive_ns
 * is the time a span is innermost: so on every track the exclusive times add up to the time covered
 * by any span, exactly, whatever overlaps. S keeps its whole duration (calls, inclusive, statistics
 * of calls). For tables of paths S has two parts:
 *	main	[start, piece.start]	path "P;S"	exclusive_ns − piece.exclusive_ns
 *	piece	[piece.start, end]	path "S"	piece.exclusive_ns
 * where piece.start is the end of P's own part. Such a piece is a row of model.pieces (a side
 * table, empty for a well-nested trace; look it up with model_piece). It is a root, except for a
 * span that lies wholly inside S: when S is cut, that one is cut at the same moment and its piece
 * hangs below S's piece. A call counts once, in its main part. A span that starts at or after its
 * parent's piece.start lies below the piece (path "S;D"), although its parent is S in both cases:
 * model_below_piece() tells. Energy follows the same rule: the innermost open span is the one that
 * started last.
 */
#ifndef PROFRIG_MODEL_H
#define PROFRIG_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/base/intern.h"
#include "profrig/base/vec.h"
#include "profrig/model/facts.h"

typedef uint32_t track_id;
typedef uint32_t series_id;
typedef uint32_t input_id;
typedef uint64_t span_id; /* before model_finish: order of pushing; after: order of the columns */

#define TRACK_NONE UINT32_MAX
#define SERIES_NONE UINT32_MAX
#define SPAN_NONE UINT64_MAX
#define RANK_NONE (-1)
#define PID_NONE (-1)

enum track_kind { TRACK_PROCESS, TRACK_THREAD, TRACK_DEVICE, TRACK_QUEUE, TRACK_COUNTER };

struct track {
	enum track_kind kind;
	track_id parent;  /* thread → process, queue → device; TRACK_NONE at the top */
	str_id host;      /* "" when the trace does not say */
	str_id node;      /* after model_finish: its machine, see model_node_of */
	int64_t pid, tid; /* PID_NONE when unknown; a queue's tid is its stream number */
	int32_t rank;     /* RANK_NONE */
	str_id device;    /* "gpu0", "node3:gpu2" for devices and queues, else "" */
	track_id owner;   /* a queue: the process that opened it; TRACK_NONE when unknown */
	str_id pci;       /* a queue: address of its device, as model_pci() writes it; "" */
	str_id name;      /* shown to people */
	input_id input;   /* the first input that named it */
	/*
	 * after model_finish: its spans are [first_span, first_span + spans) of the columns, by
	 * start
	 */
	uint64_t first_span, spans;
	/* of a thread, after model_finish: spans that are no instants, and the most open at once */
	uint64_t nr_calls, most_open;
	/* it has spans that are no columns: outside of the windows, or in a profile (profile.h) */
	bool calls;
	/*
	 * after model_finish: it holds only spans that no thread executes (async ranges), beside
	 * threads of its process that have calls
	 */
	bool beside;
};

static inline bool model_has_calls(const struct track *t)
{
	return t->spans > 0 || t->calls;
}

/*
 * What a span is. Work on a device is KERNEL, COPY or FILL on a QUEUE track; everything else is
 * not.
 */
enum span_kind { SPAN_HOST, SPAN_KERNEL, SPAN_COPY, SPAN_FILL, SPAN_ANNOTATION, SPAN_INSTANT };

/* A parent that many rows before its child, or more. */
#define UP_FAR UINT32_MAX

struct span_columns {
	size_t nr, cap;
	track_id *track;
	/* end >= start; an instant has end = start; in [-2^61, 2^62), so differences fit */
	int64_t *start_ns, *end_ns;
	str_id *name, *category; /* category: the trace's own word, "" when none */
	uint8_t *kind;           /* enum span_kind */
	/*
	 * Columns that many traces do not fill are NULL until a span has another value than the
	 * one given here. span_correlation(), span_args(), span_input() read them.
	 */
	uint64_t *correlation; /* 0 = none; joins an API call with device work inside one input, or
				* one group of them */
	str_id *args;          /* raw text of arguments, STR_NONE when none or not kept */
	input_id *input;       /* 0, the first one */
	/* after model_finish or model_nest, else NULL: span_parent() reads both */
	uint32_t *up; /* how many rows before it its parent is; 0 = root */
	VEC(struct far_parent { uint64_t span, parent; }) far; /* of those with UP_FAR, ascending */
	/*
	 * after model_finish or model_nest_times, else NULL: time in which it was the innermost
	 * one; never negative, never above end − start
	 */
	int64_t *exclusive_ns;
};

/* The part of a span that outlives its parent; see the top of this file. */
struct span_piece {
	uint64_t span;    /* ascending */
	uint64_t parent;  /* index in model.pieces of the piece it hangs below, PIECE_NONE = root */
	int64_t start_ns; /* it ends with its span */
	int64_t exclusive_ns; /* part of the span's exclusive_ns; as that column */
};
#define PIECE_NONE UINT64_MAX

enum series_kind { SERIES_UNKNOWN, SERIES_CUMULATIVE, SERIES_GAUGE };

struct series {
	str_id name;           /* the source's own counter name */
	str_id unit;           /* as recorded; a hint */
	enum series_kind kind; /* as recorded; a hint: counters.h decides */
	track_id track;        /* where it was recorded; TRACK_NONE */
	/*
	 * "" when the series belongs to no device, or its name has the id (counters.h). After
	 * model_finish an id that several hosts or ranks have gets a prefix: "node3:gpu0".
	 */
	str_id device;
	str_id host;
	str_id node; /* after model_finish: as a track's */
	str_id pci;  /* address of its device, as model_pci() writes it; "" unknown */
	input_id input;
	bool change_points; /* only changes are stored: a value holds until the next one */
	/*
	 * of change points: where a value is repeated it ends, and nothing is known until the next
	 * sample, which begins to hold, whatever its value
	 */
	bool ends;
	/* recorded together with enter/leave of its track (strictly synchronous) */
	bool exclusive_sync;
	bool estimated; /* a model's guess, not a sensor */
	/* columns, sorted by time after model_finish (stable) */
	VEC(int64_t) t_ns;
	VEC(double) value;
	uint64_t failed; /* reads that failed (NA) */
};

enum link_kind { LINK_LAUNCH, LINK_FLOW, LINK_STACK };

struct link_columns {
	size_t nr, cap;
	uint64_t *from, *to; /* span indexes */
	uint8_t *kind;
};

/*
 * Severity: notes inform, warnings are about data quality (exit 6 under --strict), errors mean
 * something could not be read (partial).
 */
enum severity { SEV_NOTE, SEV_WARNING, SEV_ERROR };

struct warning {
	const char *code; /* from warnings.h */
	enum severity severity;
	uint64_t count;
	char *text;     /* first occurrence, with file and position; of an error all of them */
	bool cut;       /* an error had more texts than fit */
	input_id input; /* UINT32_MAX: not of one input */
};

enum trace_clock {
	TRACE_CLOCK_OWN,
	TRACE_CLOCK_MONOTONIC,
	TRACE_CLOCK_REALTIME,
	TRACE_CLOCK_BOOTTIME
};

/* What readers set of it goes to other ranks, too (LOG_INPUT_FIELDS in sink_log_private.h). */
struct input {
	char *path;
	const char *reader; /* registry name */
	char *format;       /* "OTF2 3.1", "Trace Event Format (profrig blas)" */
	enum trace_clock clock;
	double resolution_hz;     /* ticks per second of the recording clock; 1e9 when ns */
	bool has_realtime_anchor; /* own clock's anchor_own_ns happened at anchor_realtime_ns */
	int64_t anchor_own_ns, anchor_realtime_ns;
	/* the reader's guess: an own clock that counts from the start of the recording */
	bool from_start;
	/* that start is assumed to be the workload's, at most start_slack_ns too early */
	bool start_taken;
	int64_t start_slack_ns;
	int64_t shift_ns; /* added to the input's own times */
	bool aligned;     /* shift_ns brings it onto the common timebase */
	/*
	 * its queues have the driver's device numbers: ROCR_VISIBLE_DEVICES changes them,
	 * HIP_VISIBLE_DEVICES and the like do not. Else they are the runtime's.
	 */
	bool driver_numbers;
	/* inputs that number their correlations together have one group; 0: none */
	uint64_t group;
	bool partial; /* something could not be read */
	/* spans: instants included; links: after model_finish all of them */
	uint64_t spans, instants, samples, links, tracks, series;
	uint64_t library;          /* calls that a log of a library tells */
	int64_t first_ns, last_ns; /* own clock; INT64_MAX / INT64_MIN when empty */
	/* "definitions", "regions", "mpi_sends" … for `info` */
	VEC(struct input_fact {
		char *key;
		int64_t value;
	}) facts;
};

/*
 * A node of the call paths that launched device work, kept when a model is cut to windows. Parents
 * come before children.
 */
struct launch_place {
	uint32_t parent; /* index in model.places, PLACE_NONE for an outermost call */
	track_id track;
	str_id name;
};
#define PLACE_NONE UINT32_MAX

/* A part of the time, on the model's time base; both ends are in it. */
struct window {
	int64_t from_ns, to_ns;
};

struct counter_rules;
struct kernel_classes;
struct name_map;

struct model {
	struct intern *strings;
	uint64_t long_texts; /* bytes of the long ones (sink.h) */
	VEC(struct track) tracks;
	struct span_columns spans;
	VEC(struct span_piece) pieces; /* after model_finish */
	VEC(struct series) series;
	struct link_columns links;
	struct facts facts;
	/* from a thread to a queue: launches by calls that other ranks have */
	VEC(struct launched_tracks { track_id from, to; }) launched;
	VEC(struct warning) warnings;
	VEC(struct input) inputs;
	bool finished;
	/* windows it was cut to (model_window): in order, disjoint; none: it is whole */
	VEC(struct window) windows;
	/* after model_window: known launches of the work that is left */
	VEC(struct launch_place) places;
	VEC(struct placed_work {
		uint64_t work; /* span index */
		uint32_t place;
	}) placed;
	/* earliest and latest instant of all inputs after model_finish; 0, 0 when empty */
	int64_t first_ns, last_ns;
	/* after model_finish: devices or counters are of more than one host, and name it */
	bool several_hosts;
	/*
	 * after model_finish: ranks whose hosts are not known have devices of one id, and so each
	 * of them has devices and counters of its own, named behind it
	 */
	bool ranks_apart;
	/* calls of libraries that logs tell (library_calls.h), not cut to windows; NULL: no log */
	struct library_calls *library;
	/* facts of its counters beside the table (counters.h); NULL; borrowed */
	const struct counter_rules *counter_rules;
	/* a user's rules for classes of kernels (names/classes.h); NULL; borrowed */
	const struct kernel_classes *classes;
	/* names of calls as analyses see them (name_map.h); NULL: as they are */
	struct name_map *names;
	struct model_priv *priv; /* the sink's look-up tables */
};

struct model *model_new(void);
void model_free(struct model *m); /* NULL is fine */
void model_freep(struct model **m);
void model_finish(struct model *m);
/*
 * Without parents and exclusive times, which take 12 bytes for each span and which few need:
 * model_nest finds the parents when they are wanted, model_nest_times both. model_finish does all
 * of it.
 */
void model_finish_flat(struct model *m);
void model_nest(struct model *m);
void model_nest_times(struct model *m);
/* By span: how many are around it, one in the other. Of a nested model. Owned. O(n). */
uint32_t *model_depths(const struct model *m);
/* Threads that may help model_finish; borrowed, NULL: none. Results do not depend on them. */
struct workers;
void model_set_workers(struct model *m, struct workers *w);
/*
 * The part of model_finish that needs no spans, for consumers of lanes (lane.h): sets hosts and
 * names of tracks and ids of devices, sorts series. May be repeated as more is read.
 */
void model_settle(struct model *m);

/*
 * Adds count occurrences of code to an input. The first text is kept; of an error, whose texts name
 * what is missing, every text, joined by "; ", up to WARNING_MAX_TEXT.
 */
#define WARNING_MAX_TEXT 65536
void model_warn(struct model *m, input_id input, const char *code, uint64_t count, const char *fmt,
		...) __attribute__((format(printf, 5, 6)));

/*
 * Where several threads warn of one model, each has a log: its calls of model_warn go there, and
 * model_warnings_take adds them to the model, in an order that does not depend on the threads.
 */
struct warning_log {
	VEC(struct warning) v;
};
#define WARNING_LOG_INIT \
	{ \
		VEC_INIT \
	}
void model_warn_into(struct warning_log *log); /* of this thread; borrowed; NULL: into the model */
void model_warnings_take(struct model *m, struct warning_log *log); /* releases the log */

/*
 * Of a model that ranks share: the warnings of an input are those of the rank that has its calls;
 * then they are in the order of inputs.
 */
void model_warnings_drop(struct model *m, input_id input);
void model_warning_put(struct model *m, input_id input, const char *code, uint64_t count,
		       const char *text, bool cut);
void model_warnings_sort(struct model *m);
/* Forgets spans and links, once they are in a profile. */
void model_drop_spans(struct model *m);

/*
 * Cuts a finished model to windows (nr > 0, in order, disjoint). Call topology_resolve before, on
 * the whole model, so that the windows of a trace add up. Spans are cut at the edges; spans outside
 * and links to them are removed; work that is left keeps the call path of its launch (placed).
 * first_ns and last_ns stay, so times still count from the start of the whole. Samples stay:
 * curve_make cuts curves to the windows.
 */
struct model_windowed {
	uint64_t spans_cut, spans_out, links_out;
};
void model_window(struct model *m, const struct window *w, size_t nr, struct model_windowed *ret);
/* drop: by span, those that go wherever they lie; NULL: none. */
void model_window_without(struct model *m, const struct window *w, size_t nr, const uint8_t *drop,
			  struct model_windowed *ret);

static inline const char *model_str(const struct model *m, str_id id)
{
	return intern_str(m->strings, id);
}

static inline uint64_t span_correlation(const struct span_columns *c, size_t i)
{
	return c->correlation ? c->correlation[i] : 0;
}

static inline str_id span_args(const struct span_columns *c, size_t i)
{
	return c->args ? c->args[i] : STR_NONE;
}

static inline input_id span_input(const struct span_columns *c, size_t i)
{
	return c->input ? c->input[i] : 0;
}

uint64_t span_parent_far(const struct span_columns *c, size_t i);
/* Column index, SPAN_NONE of a root; parents come before children. Of a nested model. */
static inline uint64_t span_parent(const struct span_columns *c, size_t i)
{
	uint32_t up = c->up[i];

	if (up == 0)
		return SPAN_NONE;
	return __builtin_expect(up == UP_FAR, 0) ? span_parent_far(c, i) : i - up;
}

static inline bool span_is_work(const struct model *m, size_t i)
{
	uint8_t k = m->spans.kind[i];
	return (k == SPAN_KERNEL || k == SPAN_COPY || k == SPAN_FILL) &&
	       m->tracks.v[m->spans.track[i]].kind == TRACK_QUEUE;
}

/* The first row of model.pieces whose span is not before this one. After model_finish. */
size_t model_first_piece(const struct model *m, uint64_t span);
/* The piece of a span that outlives its parent, NULL for nearly all. After model_finish. */
const struct span_piece *model_piece(const struct model *m, uint64_t span);
/*
 * The piece of its parent that a span lies below, NULL when it lies below the parent's main part or
 * is a root. After model_finish.
 */
const struct span_piece *model_below_piece(const struct model *m, uint64_t span);

/*
 * A PCI address in the form that is compared, "domain:bus:device" in hexadecimal without leading
 * zeros and without the function, which most sources lack. buf holds 32. false: a number is out of
 * range (model_pci), or the text has another form than "0000:c1:00.0" or "00000000:C1:00.0".
 */
bool model_pci(int64_t domain, int64_t bus, int64_t device, char *buf);
bool model_pci_text(const char *text, size_t n, char *buf);

/* The process a track belongs to (itself for a process); TRACK_NONE for devices without one. */
track_id model_process_of(const struct model *m, track_id t);
/* The host of a track, else of its process; "" when the trace does not say. */
const char *model_host_of(const struct model *m, track_id t);
/*
 * The machine of a track, else of its process: the host; where that is not known, and several ranks
 * have devices of one id, the rank ("rank3"); "" unknown, which may be any.
 */
const char *model_node_of(const struct model *m, track_id t);

#endif
