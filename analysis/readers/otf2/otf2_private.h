/*
 * The OTF2 reader's parts, in the order they run: definitions (otf2_defs.h), tracks
 * (otf2_tracks.c), the events of each location (otf2_local.c, otf2_walk.c, otf2_events.c,
 * otf2_metrics.c), what ties them together (otf2_messages.c, otf2_callsites.c). otf2_native.c does
 * most of this for archives that profrig wrote. read_otf2.c opens the archive and calls them.
 *
 * The sink pulls locations in any order and from any thread (sink.h, sources). Meanwhile struct
 * otf2_reading and the definitions are read-only; results of a location are in its struct
 * otf2_location. otf2_location_gather adds these up afterwards, in the order of the locations.
 */
#ifndef OTF2_PRIVATE_H
#define OTF2_PRIVATE_H

#include "otf2_defs.h"
#include "otf2_native.h"
#include "otf2_walk.h"

#include "profrig/base/strbuf.h"
#include "profrig/base/u64map.h"
#include "profrig/readers/reader.h"

#define NO_INDEX SIZE_MAX

/* A send or a receive; matched after all locations are read. */
struct otf2_message {
	uint64_t comm;
	uint32_t peer, tag;
	size_t location; /* index in defs.locations */
	int64_t t_ns;
	uint64_t order_ticks; /* of its post: messages of one kind do not overtake */
	uint64_t request;     /* of a receive posted earlier; UINT64_MAX */
	span_id span;         /* the call around it; SPAN_NONE */
	bool matched;
};

/* A launch (host call) or the work it launched (device); both have the number of the call site. */
struct otf2_callsite {
	uint64_t id;
	int64_t t_ns;
	span_id span;
	size_t location;  /* index in defs.locations */
	track_id process; /* set after all locations are read */
};

/* A posted receive that is not complete yet. */
struct otf2_request {
	size_t location;
	uint64_t request, ticks;
};

struct otf2_waiting {
	enum { WAITS_SEND, WAITS_RECEIVE, WAITS_LAUNCH, WAITS_WORK } what;
	size_t at; /* index in the vector of its kind */
};

/* An open call with arguments or messages; most calls have neither and no frame. */
struct otf2_frame {
	size_t depth;   /* number of open calls, with this one */
	size_t waiting; /* length of otf2_location.waiting at its begin */
	char *args;     /* owned; JSON object without its closing brace, NULL when there are none */
};

/* Counted kinds of records, with their names in `info`. */
/* clang-format off */
#define OTF2_COUNTS(X) \
	X(ENTER, "enter") \
	X(LEAVE, "leave") \
	X(METRIC, "metric") \
	X(PARAMETER, "parameter") \
	X(PROGRAM_BEGIN, "program_begin") \
	X(PROGRAM_END, "program_end") \
	X(MPI_SEND, "mpi_send") \
	X(MPI_ISEND, "mpi_isend") \
	X(MPI_RECV, "mpi_recv") \
	X(MPI_IRECV, "mpi_irecv") \
	X(MPI_REQUEST, "mpi_request") \
	X(MPI_COLLECTIVE, "mpi_collective") \
	X(CONTEXT_ENTER, "calling_context_enter") \
	X(CONTEXT_LEAVE, "calling_context_leave") \
	X(CONTEXT_SAMPLE, "calling_context_sample") \
	X(THREAD, "thread") \
	X(RMA, "rma") \
	X(IO, "io") \
	X(BUFFER_FLUSH, "buffer_flush") \
	X(MEASUREMENT, "measurement_on_off") \
	X(COMM, "communicator") \
	X(UNKNOWN, "unknown")
/* clang-format on */

enum otf2_count {
#define X(id, name) OTF2_COUNT_##id,
	OTF2_COUNTS(X)
#undef X
		OTF2_COUNT_NR
};

/* Sums over the records of one location, or of all. */
struct otf2_found {
	int64_t counts[OTF2_COUNT_NR];
	uint64_t sent_bytes, received_bytes;
	uint64_t first_ticks, last_ticks; /* first > last: no event yet */
	/* only for a sink that keeps links */
	VEC(struct otf2_message) sends, receives;
	VEC(struct otf2_callsite) launches, work;
	VEC(struct otf2_request) requests;
};

struct otf2_reading {
	struct sink *s;
	const struct read_opts *o;
	struct otf2_defs defs;
	bool many_hosts;
	uint64_t base_ticks;            /* otf2_far_ticks */
	struct otf2_native native;      /* of an archive that profrig wrote */
	struct otf2_found found;        /* of all gathered locations */
	struct otf2_channels *channels; /* messages of a sink that only counts; else NULL */
};

/*
 * Conversion of times that mostly grow: it keeps the second of the last one, and the remaining
 * division by a constant is a multiplication.
 */
struct otf2_clock {
	uint64_t resolution, inverse; /* inverse: 2^64 / resolution; 0: too fast a clock for that */
	uint64_t base_ticks;          /* origin of times; 0 unless they are far */
	int64_t base_ns;              /* time at the origin; <= 0 */
	uint64_t second_ticks;        /* start of the current second */
	uint64_t second_length;       /* in ticks: the resolution; 0 without an inverse */
	int64_t second_ns;
	uint64_t ticks; /* the last one: metrics come in bunches of one time */
	int64_t ns;
};

/* A location while it is read. */
struct otf2_location {
	const struct otf2_reading *r;
	struct sink *s; /* of the present pull */
	size_t index;   /* in defs.locations */
	track_id track;
	const struct otf2_local *local; /* of its definitions */
	size_t clock_piece;             /* of local->clock that the last time lay in */
	bool queue;
	bool exact;                   /* otf2_native_exact */
	bool kinds;                   /* its regions say what kind of span they are */
	bool instant;                 /* one of ours is open, which no profile keeps */
	struct u64map callsites_seen; /* by otf2_callsite_event */
	struct otf2_found found;
	struct otf2_native_spans native;
	size_t depth; /* open calls */
	VEC(struct otf2_frame) frames;
	VEC(struct otf2_waiting)
	waiting; /* events inside the frames; get their span when they close */
	struct pool pool;
	VEC(series_id) series;  /* runs of ids: one run per metric */
	size_t *series_run;     /* by index in defs.metrics; NULL before the first metric */
	struct u64map owner_of; /* by series id: index in owners */
	VEC(uint64_t) owners;   /* metric and member */
	struct otf2_clock clock;
};

/*
 * libotf2 prints its errors; caught, they become parts of warnings. otf2_error: the first one that
 * this thread caught since otf2_errors_forget, else the meaning of the code.
 */
void otf2_errors_catch(void); /* and forgets */
void otf2_errors_forget(void);
const char *otf2_error(OTF2_ErrorCode code);

/* A reference of an event as the archive's definitions number it. */
static inline uint64_t otf2_global(const struct otf2_location *l, OTF2_MappingType type,
				   uint64_t ref)
{
	const OTF2_IdMap *map = l->local->maps[type];

	if (__builtin_expect(map != NULL, 0))
		OTF2_IdMap_GetGlobalId(map, ref, &ref);
	return ref;
}
/* The next field, which is such a reference. */
static inline uint64_t otf2_ref(const struct otf2_location *l, OTF2_MappingType type,
				struct otf2_fields *f)
{
	return otf2_global(l, type, otf2_number(f, 4));
}
/* A time of the location by the archive's clock: see struct otf2_clock_piece. */
uint64_t otf2_correct(struct otf2_location *l, uint64_t ticks);
static inline uint64_t otf2_corrected(struct otf2_location *l, uint64_t ticks)
{
	return __builtin_expect(l->local->clock.nr != 0, 0) ? otf2_correct(l, ticks) : ticks;
}

/* Nearest ns of a tick count, exact; INT64_MAX when it does not fit. */
int64_t otf2_ns(uint64_t ticks, uint64_t resolution);
/* As otf2_time, for a single time. */
int64_t otf2_ns_of(const struct otf2_reading *r, uint64_t ticks);
/*
 * The origin of times where the clock is far beyond the range of ns: the archive's stated begin, or
 * the first event of its first location with events. Else 0.
 */
uint64_t otf2_far_ticks(const struct otf2_defs *d, const char *dir, uint64_t event_chunk);
void otf2_clock_init(struct otf2_clock *c, uint64_t resolution, uint64_t base_ticks,
		     int64_t base_ns);
int64_t otf2_clock_second(struct otf2_clock *c, uint64_t ticks); /* in another second */

/* As otf2_ns. */
static inline int64_t otf2_clock_ns(struct otf2_clock *c, uint64_t ticks)
{
	uint64_t rest = ticks - c->second_ticks, product, ns;

	if (__builtin_expect(rest >= c->second_length, 0))
		return otf2_clock_second(c, ticks);
	product = rest * UINT64_C(1000000000) + c->resolution / 2;
	ns = (uint64_t)((unsigned __int128)product * c->inverse >> 64);
	/* the inverse is rounded down, so at most two are missing */
	for (product -= ns * c->resolution; product >= c->resolution; product -= c->resolution)
		ns++;
	return c->second_ns + (int64_t)ns;
}

static inline int64_t otf2_time(struct otf2_location *l, uint64_t ticks)
{
	struct otf2_clock *c = &l->clock;

	if (ticks != c->ticks) {
		c->ns = otf2_clock_ns(c, ticks);
		c->ticks = ticks;
	}
	return c->ns;
}

/* The key of a made-up track, distinct from the numbers in a native archive. */
static inline uint64_t otf2_native_key(const struct otf2_reading *r, uint64_t key)
{
	return r->native.there ? key | (uint64_t)1 << 62 : key;
}

void otf2_make_tracks(struct otf2_reading *r);
/* After its number in a native archive is known. */
void otf2_set_process(const struct otf2_reading *r, struct def_location *l);
/* By the archive's own names and types. */
track_id otf2_track_of_location(struct otf2_reading *r, const struct def_location *l,
				const struct def_location_group *g);
/* "gpu2", "node3:gpu2" when the archive has several hosts; "" for -1. Borrowed from the pool. */
const char *otf2_device_id(const struct otf2_reading *r, struct pool *pool, const char *host,
			   int64_t device);

/* What a record of a location says goes into the sink. fields.bad: it cannot be read. */
void otf2_event(struct otf2_location *l, const struct otf2_walk *w, struct otf2_record *record);
void otf2_metric_event(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f);
void otf2_reading_release(struct otf2_reading *r);
void otf2_location_init(struct otf2_location *l, const struct otf2_reading *r, size_t index);
void otf2_location_end(struct otf2_location *l); /* closes what is open */
void otf2_location_gather(struct otf2_reading *r, struct otf2_location *l);
void otf2_location_release(struct otf2_location *l);

static inline void otf2_tick(struct otf2_location *l, enum otf2_count kind, uint64_t ticks)
{
	l->found.counts[kind]++;
	if (ticks < l->found.first_ticks)
		l->found.first_ticks = ticks;
	if (ticks > l->found.last_ticks)
		l->found.last_ticks = ticks;
}

void otf2_match_messages(struct otf2_reading *r);
/*
 * For a sink that only counts: the number of instants that the messages would become. Memory for
 * each channel (communicator, from, to, tag), not for each message.
 */
struct otf2_channels *otf2_channels_new(void);
void otf2_channels_free(struct otf2_channels *c); /* NULL is fine */
void otf2_message_count(const struct otf2_reading *r, const struct otf2_message *m, bool receive,
			bool in_call);

/*
 * Call sites: a parameter with a number of the code location, on launches and on the work that they
 * launched. Two processes of one program have equal numbers. So the process of a queue must be
 * known: from the archive, or because only one process launches at the queue's call sites. Work of
 * other queues stays unlinked.
 */
bool otf2_is_callsite(const struct otf2_defs *d, const struct def_name *parameter);
bool otf2_has_callsites(const struct otf2_defs *d);
/* The process in which the numbers of a location are unique, or CALLSITE_NOBODY. */
uint32_t otf2_callsite_process(const struct otf2_reading *r, size_t location);
/*
 * Called before events are read, for archives with call sites. When only one process has threads,
 * all queues without a process get that one. Returns whether queues without a process are left:
 * otf2_find_owners then needs the launches and the work of all locations (otf2_callsite_event).
 */
bool otf2_owners_wanted(struct otf2_reading *r);
void otf2_callsite_event(struct otf2_location *l, struct otf2_fields *f); /* each number once */
void otf2_find_owners(struct otf2_reading *r); /* of r->found, whose order it changes */
void otf2_match_callsites(struct otf2_reading *r);

#endif
