/*
 * sink: the interface through which readers deliver tracks, spans and samples.
 *
 * Order per input: sink_input, then clock facts into the input (sink_clock), then tracks/series
 * before what refers to them, spans in any order, enter/leave in time order per track, then
 * sink_input_end. Times are ns of the input's own clock; strings become ids through sink_string.
 * No call fails: problems of the data become warnings (sink_warn) and are counted.
 *
 * Texts (names, categories, arguments, hosts …) are kept whole up to SINK_TEXT_MAX bytes. A longer
 * one keeps its beginning, followed by an ellipsis and a hash of all of it, W_LONG_TEXT; arguments,
 * which are JSON, become {"left_out":"N bytes, #hash"}. Different texts of more than
 * SINK_TEXT_LONG bytes may have SINK_LONG_TEXTS_MAX bytes together: a small compressed file can
 * hold gigabytes of them, and tables repeat each name several times. Behind that they are cut to
 * SINK_TEXT_LONG.
 *
 * enter/leave: the sink keeps one stack per track. A leave without enter is W_STRAY_LEAVE; a leave
 * whose name differs from the open span's closes it all the same, W_LEAVE_MISMATCH (pass STR_NONE
 * when the format does not name it); spans still open at sink_input_end close at the track's last
 * time, W_OPEN_SPAN. A negative duration is kept as a zero-length span, W_NEGATIVE_DURATION. Times
 * outside [-2^61, 2^62) ns are clamped and the input is partial, W_TIME_RANGE; enter/leave times
 * that go backwards on a track are W_TIME_ORDER.
 *
 * facts: what else the trace says of a span (facts.h), by the id that span or leave returned. Lists
 * of numbers and operands become ids before. device and world belong to the current input.
 *
 * sources: a reader of a format with independent parts (the locations of an archive) offers them as
 * sources, and the sink pulls: each to its end in turn, or each a little at a time by several
 * threads. One thread at a time pulls a source. The source pushes into the sink passed to pull,
 * which has only enter, leave, leave_args, open_kind, sample, series, string, warn and callsite;
 * the ids that these return are valid inside the source. Tracks are made before. When sources
 * returns, all sources have ended and their warnings are in the order of the sources.
 */
#ifndef PROFRIG_SINK_H
#define PROFRIG_SINK_H

#include "profrig/model/model.h"

#define SINK_TEXT_MAX 65536
#define SINK_TEXT_LONG 1024
#define SINK_LONG_TEXTS_MAX ((uint64_t)32 << 20)

struct track_def {
	enum track_kind kind;
	track_id parent;
	const char *host;   /* NULL = unknown */
	int64_t pid, tid;   /* PID_NONE */
	int32_t rank;       /* RANK_NONE */
	const char *device; /* NULL; for DEVICE and QUEUE tracks */
	const char *name;   /* NULL: made from the ids */
	const char *pci;    /* of a queue's device (model_pci); NULL */
	track_id owner;     /* for QUEUE tracks: the process that opened it; TRACK_NONE */
	/* unique inside (input, kind) when pid or tid is unknown: a location or row id */
	uint64_t key;
};
#define TRACK_DEF_INIT \
	{ \
		.parent = TRACK_NONE, .pid = PID_NONE, .tid = PID_NONE, .rank = RANK_NONE, \
		.owner = TRACK_NONE \
	}

struct series_def {
	const char *name, *unit, *device, *host, *pci; /* all but name may be NULL */
	enum series_kind kind;
	track_id track;
	bool change_points, ends, exclusive_sync, estimated;
};

struct span_def {
	track_id track;
	int64_t start_ns, end_ns;
	str_id name, category;
	uint64_t correlation; /* 0 none */
	enum span_kind kind;
	str_id args; /* STR_NONE */
};

struct library_calls;
struct sink;
struct strbuf;
struct serial_in;

#define CALLSITE_NOBODY UINT32_MAX

/* Lives as long as the call of sources; embedded in the reader's own struct. */
struct source {
	track_id track;    /* whose enters and leaves it has */
	bool samples_only; /* it has none of them */
	bool callsites;    /* it may call callsite */
	uint64_t records;  /* by the definitions: a hint */
	/* Whether pull will push a call. Costs as much as reading up to the first one. NULL: no. */
	bool (*has_calls)(const struct source *src);
	/* Reads up to max records and pushes them: > 0 when more may follow, 0 at the end. */
	int (*pull)(struct source *src, struct sink *into, uint64_t max);
	/*
	 * Instead of pull, where another MPI rank has read the source to its end: save writes the
	 * reader's own state of the source, load reads it.
	 */
	void (*save)(const struct source *src, struct strbuf *to);
	void (*load)(struct source *src, struct serial_in *from);
};

struct sink_ops {
	input_id (*input)(struct sink *s, const char *path, const char *reader);
	/*
	 * Fields of the current input may be set between input and input_end: clock, format, facts;
	 * also first_ns and last_ns, widened, when the trace has events that are neither spans nor
	 * samples.
	 */
	struct input *(*current)(struct sink *s);
	/* clock fields of the current input are final: computes shift_ns */
	void (*clock)(struct sink *s);
	void (*input_end)(struct sink *s);
	/*
	 * Restarts the current input, which must be the first, and drops all that was pushed. For
	 * a reader that finds an assumption wrong at the end.
	 */
	void (*input_again)(struct sink *s);
	/* An estimate of the number of spans; the sink allocates once. */
	void (*expect)(struct sink *s, uint64_t spans);
	str_id (*string)(struct sink *s, const char *str, size_t n);
	/*
	 * Inside one analysis equal (kind, host, pid, tid) is one track when pid and tid are known,
	 * in any file (a process: pid; a queue: also device), unless two ranks and no host are
	 * stated; else equal (input, kind, key). Later calls fill in unknown fields (name, rank,
	 * parent).
	 */
	track_id (*track)(struct sink *s, const struct track_def *d);
	/* equal (input, track, device, name) is one series */
	series_id (*series)(struct sink *s, const struct series_def *d);
	void (*enter)(struct sink *s, track_id t, int64_t t_ns, str_id name, str_id category);
	/* SPAN_NONE when stray */
	span_id (*leave)(struct sink *s, track_id t, int64_t t_ns, str_id name);
	/* arguments of the innermost open span */
	void (*leave_args)(struct sink *s, track_id t, str_id args);
	/* its kind; the default is SPAN_HOST */
	void (*open_kind)(struct sink *s, track_id t, enum span_kind kind);
	span_id (*span)(struct sink *s, const struct span_def *d);
	/* NaN = failed read */
	void (*sample)(struct sink *s, series_id id, int64_t t_ns, double value);
	void (*link)(struct sink *s, span_id from, span_id to, enum link_kind kind);
	/* the row's span is set here */
	void (*facts)(struct sink *s, span_id span, const struct span_facts *f);
	/* FACT_NONE: there is nothing in them. Texts are copied. */
	uint32_t (*operands)(struct sink *s, const struct operand_texts *t);
	uint32_t (*numbers)(struct sink *s, const int64_t *v, size_t n);
	/* the input is set here; of two of one number the first stays */
	void (*device)(struct sink *s, const struct device_facts *d);
	void (*world)(struct sink *s, const struct world_facts *w);
	void (*warn)(struct sink *s, const char *code, uint64_t count, const char *text);
	/* The settled rows of a library's log, which the sink owns from here on. */
	void (*library)(struct sink *s, struct library_calls *take);
	void (*sources)(struct sink *s, struct source *const *v, size_t n);
	/*
	 * From sources only, and only where no links are kept: the innermost open call (or open
	 * work) has this call site, a number that is unique in the process and equal for launches
	 * and the work they launch. The n-th work of a call site belongs to its n-th launch; work
	 * without an earlier launch is W_UNLINKED_WORK. process: CALLSITE_NOBODY when the work's
	 * process is unknown.
	 */
	void (*callsite)(struct sink *s, track_id t, int64_t t_ns, uint32_t process, uint64_t id);
};

struct sink {
	const struct sink_ops *ops;
	/* links are not kept: a reader need not collect data for them */
	bool no_links;
	/* only counts are wanted (counts.h): no data for links either; sources may push spans */
	bool counts_only;
};

/* Whether sources push nothing but enter and leave, and callsites instead of links. */
static inline bool sink_streams(const struct sink *s)
{
	return s->no_links && !s->counts_only;
}

/* The model as a sink; owned by the model. */
struct sink *model_sink(struct model *m);
/*
 * From this call on take gets the sources that readers offer to the model's sink, no links are
 * kept, and the events of sources do not become columns (profile.h).
 */
void model_set_sources(struct model *m, void (*take)(void *ctx, struct source *const *v, size_t n),
		       void *ctx);
/*
 * From this call on the host of tracks and series whose input names none (from a run directory);
 * NULL or "" = unknown. So a trace with a host and one without share their threads. everywhere:
 * also of those whose input names another, which is then the name of the workload's container.
 */
void model_set_default_host(struct model *m, const char *host, bool everywhere);

static inline str_id sink_puts(struct sink *s, const char *str)
{
	return s->ops->string(s, str, __builtin_strlen(str));
}

/* A warning that stands for count occurrences; none for 0. */
static inline void sink_warn(struct sink *s, const char *code, uint64_t count, const char *text)
{
	if (count > 0)
		s->ops->warn(s, code, count, text);
}

/*
 * printf-style form of ops->warn. It formats the text at every call, so keep it off hot paths.
 */
void sink_warnf(struct sink *s, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Adds to a fact ("regions", 235) of the current input, for `info`; facts start at 0 and keep the
 * order of their first use.
 */
void sink_fact(struct sink *s, const char *key, int64_t value);

/* ---- shared by implementations of sinks ---- */

/* A text as the model keeps it. *ret_hash: that of a text that is cut, 0 when it is whole. */
str_id sink_text_put(struct model *m, const char *text, size_t n, uint64_t *ret_hash);
#define SAY_LONG_TEXT "a text of %zu bytes was cut; it begins '%.40s'"

/*
 * Times are kept inside [TIME_MIN, TIME_MAX], so that neither a difference nor a sum of two
 * overflows; real times reach to the year 2116.
 */
#define TIME_MIN (-(INT64_C(1) << 61))
#define TIME_MAX ((INT64_C(1) << 62) - 1)

static inline int64_t time_clamp(int64_t t_ns)
{
	return t_ns > TIME_MAX ? TIME_MAX : t_ns < TIME_MIN ? TIME_MIN : t_ns;
}

static inline int64_t time_shift(int64_t t_ns, int64_t by_ns)
{
	return time_clamp(time_clamp(t_ns) + time_clamp(by_ns));
}

/* Texts of warnings. */
#define SAY_BAD_TIME "time %" PRId64 " ns is out of range"
#define SAY_TIME_ORDER "enter or leave on track '%s' is %" PRId64 " ns before the one before it"
#define SAY_STRAY_LEAVE "leave of '%s' on track '%s' without an enter"
#define SAY_LEAVE_MISMATCH "leave of '%s' closes '%s' on track '%s'"
#define SAY_NEGATIVE "'%s' ends %" PRId64 " ns before it starts"
#define SAY_OPEN "'%s' and %zu more calls are still open at the end"
#define SAY_READ_FAILED "a read of '%s' failed"
#define SAY_INFINITE "a value of '%s' is infinite"
#define SAY_UNLINKED_WORK "no launch found for device work with a callsite id"
#define SAY_UNKNOWN_SERIES "sample of an unknown series"

#endif
