/*
 * xplane: the parts of the reader of XSpace files (read_xplane.c has the map of the format).
 *
 *	xplane_space.c	what is in the file: planes, lines, hosts; damage
 *	xplane_meta.c	the tables of a plane: names of events and of stats, and what they say
 *	xplane_tracks.c	which track a line is
 *	xplane_events.c	events to spans and samples
 *	xplane_stats.c	stats: one value, what an event's stats say together, its arguments
 *
 * Nothing is copied out of the file: slices point into the map.
 */
#ifndef XPLANE_H
#define XPLANE_H

#include "input_sink.h"
#include "mem_budget.h"
#include "tally.h"
#include "track_limit.h"

#include "profrig/base/protobuf.h"
#include "profrig/base/u64map.h"
#include "profrig/readers/reader.h"
#include "profrig/scan/launch_shape.h"

#define XPLANE_LINES_MAX ((size_t)MAX_TRACKS)
/*
 * What a span takes until the model is finished; room for all of them is made at once. Below
 * MEM_SPAN: a call of a thread takes 18 bytes in the file, and none of a real one is left out.
 */
#define XPLANE_SPAN_BYTES ((size_t)36)

/* Bytes of the file. */
struct xplane_slice {
	const unsigned char *p;
	size_t n;
};

enum xplane_line_kind {
	XPLANE_THREAD,   /* of the host */
	XPLANE_STREAM,   /* device work */
	XPLANE_OPS,      /* operations of a device without streams: what holds others is no work */
	XPLANE_DERIVED,  /* made from the work of a device, which it shows again */
	XPLANE_COUNTERS, /* samples */
};

struct xplane_line {
	struct xplane_slice body, name;
	uint32_t plane;
	uint64_t id;
	int64_t start_ns;
	uint64_t events;
};

enum xplane_plane_kind { XPLANE_HOST, XPLANE_GPU, XPLANE_CORE, XPLANE_NONE };

struct xplane_plane {
	struct xplane_slice body, name;
	enum xplane_plane_kind kind;
	int64_t number; /* of the device; -1 */
};

/* What the names of stats mean. The order is that of the names in xplane_meta.c. */
enum xplane_stat {
	STAT_OTHER,
	STAT_CORRELATION,
	STAT_KERNEL,
	STAT_COPY,
	STAT_FILL,
	STAT_MEMORY, /* an allocation on a stream */
	STAT_GRAPH,
	STAT_GRAPH_NODE,
	STAT_GRAPH_EXEC,
	STAT_MODULE,
	STAT_OP,
	STAT_PROGRAM,
	STAT_RUN,
	STAT_CLOCK_KHZ,
	STAT_CORES,
	STAT_BANDWIDTH,
	STAT_MEMORY_SIZE,
	STAT_MAJOR,
	STAT_MINOR,
	STAT_PEAK_GBPS,
	STAT_DEVICE_NAME,
	STAT_DEVICE_TYPE,
	STAT_START_TIME,
};

/* A row of a plane's table of stats. */
struct xplane_stat_meta {
	struct xplane_slice name;
	enum xplane_stat what;
	str_id text;      /* its name as a text of the sink; STR_NONE: not yet */
	uint32_t details; /* in xplane.details; FACT_NONE: not yet */
};

/* A row of a plane's table of events. */
struct xplane_event_meta {
	struct xplane_slice body;
	str_id name;    /* STR_NONE: it was not yet used, and the rest is not yet known */
	uint32_t known; /* in xplane.known: what its own stats say; FACT_NONE: nothing */
	enum span_kind kind;
	enum copy_direction direction; /* of a copy, by its name */
	int64_t program;               /* of a module's name: "jit_f(17)"; FACT_ABSENT */
	str_id module;
};

/* A text about a launch or a copy, read once for each that differs. */
struct xplane_details {
	struct kernel_facts kernel;
	struct copy_facts copy;
	str_id shape; /* launch_shape.h; STR_NONE */
};

/* One value. */
struct xplane_value {
	enum { VALUE_NONE, VALUE_NUMBER, VALUE_REAL, VALUE_TEXT, VALUE_REF, VALUE_BYTES } type;
	bool is_signed;
	uint64_t u64;
	double real;
	struct xplane_slice text;      /* of VALUE_TEXT, and of VALUE_REF its name */
	struct xplane_stat_meta *meta; /* which stat it is; NULL: unknown */
	struct xplane_stat_meta *ref;  /* of VALUE_REF; NULL: unknown */
};

/* What the stats of one event say. */
struct xplane_said {
	uint64_t correlation;
	int64_t graph, node, exec, program, run;
	str_id module, op;
	uint32_t details;       /* in xplane.details; FACT_NONE */
	enum xplane_stat about; /* STAT_KERNEL, _COPY, _FILL, _MEMORY; STAT_OTHER */
};

struct xplane {
	const char *path;
	struct sink *sink;
	const struct read_opts *opts;
	struct input_map map;
	struct mem_budget memory;
	struct track_limit tracks;
	struct launch_shapes shapes;
	bool cut, clipped; /* clipped: the field that xplane_next gave last */
	struct xplane_slice host;
	int64_t start_ns, first_ns; /* of the recording, 0 unknown; of all lines */
	VEC(struct xplane_plane) planes;
	VEC(struct xplane_line) lines;
	uint64_t more_lines;
	track_id process;
	str_id kernel, copy, fill; /* categories */
	size_t walk;               /* of the survey */
	/* of the plane that is read */
	struct {
		const struct xplane_plane *def;
		char device[32];
		track_id track;
		struct u64map event_at, stat_at;
		VEC(struct xplane_event_meta) events;
		VEC(struct xplane_stat_meta) stats;
		struct u64map series;
	} plane;
	VEC(struct xplane_details) details;
	VEC(struct xplane_said) known;
	struct strbuf args;
	uint64_t left_out; /* events beyond the budget */
	uint64_t kernels, copies, derived;
	struct tally damaged, bad_events, no_meta, bad_stats, aggregated, said;
};

/* The offset of a place in the file, for messages. */
static inline uint64_t xplane_at(const struct xplane *x, const unsigned char *p)
{
	return (uint64_t)((const char *)p - x->map.data);
}

static inline struct xplane_slice xplane_slice_of(const struct pb_field *f)
{
	return (struct xplane_slice){ f->data, f->len };
}

static inline struct pb_cursor xplane_cursor(struct xplane_slice s)
{
	return pb_cursor_of(s.p, s.n);
}

static inline bool xplane_is(struct xplane_slice s, const char *text)
{
	return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

static inline bool xplane_begins(struct xplane_slice s, const char *text)
{
	return s.n >= strlen(text) && memcmp(s.p, text, strlen(text)) == 0;
}

/* ---- xplane_space.c ---- */

/*
 * As pb_next. A field whose length leads behind the end of its message is there, too, with what is
 * left: a file that was cut holds most of its last plane. The damage is counted unless quiet.
 */
bool xplane_next(struct xplane *x, struct pb_cursor *c, struct pb_field *f, bool quiet);
/* Finds planes and lines. */
void xplane_survey(struct xplane *x);

/* ---- xplane_meta.c ---- */

void xplane_plane_load(struct xplane *x, const struct xplane_plane *p);
void xplane_plane_clear(struct xplane *x);
/* NULL: the plane has no such row. */
struct xplane_stat_meta *xplane_stat_meta(struct xplane *x, uint64_t id);
struct xplane_event_meta *xplane_event_meta(struct xplane *x, uint64_t id);
/* Its name and what its stats say, at its first use. derived: of a line that has short names. */
void xplane_event_learn(struct xplane *x, struct xplane_event_meta *m);
/* The name of an event, owned. */
char *xplane_meta_text(struct xplane *x, const struct xplane_event_meta *m);

/* ---- xplane_stats.c ---- */

/* false: it is damaged; counted: in bad_stats. */
bool xplane_value_of(struct xplane *x, const struct pb_field *f, struct xplane_value *ret);
bool xplane_value_counted(struct xplane *x, const struct pb_field *f, struct xplane_value *ret);
void xplane_said_clear(struct xplane_said *s);
/* What s does not say is taken from other. */
void xplane_said_fill(struct xplane_said *s, const struct xplane_said *other);
void xplane_said_take(struct xplane *x, struct xplane_said *s, const struct xplane_value *v);
/* Both in one: a stat of an event. */
void xplane_stat_take(struct xplane *x, struct xplane_said *s, const struct pb_field *f);
/* The text of a value as a text of the sink; STR_NONE: it has none. */
str_id xplane_value_text(struct xplane *x, const struct xplane_value *v);
/* All stats of an event and of its row as JSON; STR_NONE: it has none. */
str_id xplane_args(struct xplane *x, struct xplane_slice event, const struct xplane_event_meta *m);
/* What the stats of a plane say of its device. */
void xplane_device_facts(struct xplane *x, struct xplane_slice plane, struct device_facts *ret);

/* ---- xplane_tracks.c ---- */

void xplane_plane_track(struct xplane *x, const struct xplane_plane *p);
enum xplane_line_kind xplane_line_kind(const struct xplane_plane *p, const struct xplane_line *l);
track_id xplane_line_track(struct xplane *x, const struct xplane_line *l,
			   enum xplane_line_kind kind);

/* ---- xplane_events.c ---- */

void xplane_line_read(struct xplane *x, const struct xplane_line *def);

#endif
