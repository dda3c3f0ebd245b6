/*
 * library_calls: which calls of libraries (BLAS, convolutions, collectives …) a program made: one
 * row for each configuration, however often it was called.
 *
 * Life cycle:
 *	1. library_calls_new()
 *	2. row = library_calls_row(lc, &call) for each configuration, library_calls_count(lc, row,
 *	   …) for each call; library_calls_settle at the end of each log
 *	3. library_calls_merge(all, lc), for several logs
 *	4. lc->rows, in the order of first calls
 *	5. library_calls_free()
 *
 * A configuration is the library and the canonical key of a call: its operation, dimensions, types,
 * layouts, scalars and epilogue as blank-separated NAME=VALUE, always in the same order and form:
 *
 *	gemm ta=N tb=T m=64 n=512 k=512 a=f32 b=f32 c=f32 d=f32 compute=f32 lda=64 ldb=512 …
 *
 * The key of a gemm is the same for all libraries, with column-major matrices. What is not in the
 * key: time, buffers, stream, communicator, rank, chosen kernel, options of a benchmark.
 *
 * Logs tell some calls twice (a trace line and a benchmark line, a profile at the end). Each such
 * form is a level; the rows of a log whose `common` facts are equal tell the same calls, and
 * library_calls_settle keeps the level that tells most of them, the more detailed one of two. What
 * the others tell is counted as doubled.
 *
 * A call that a library hands on to another one (MIOpen → rocBLAS) stays a row of its own, but
 * `nested` counts it: sums of flops over libraries leave it out.
 *
 * Order: after library_calls_keep_order each call is an event, too, in the order of its log, so
 * that it can be found in a trace. A row whose log tells how many calls it had, and not when (a
 * profile, a text that stands for several calls, a torn record that is joined later), has calls
 * without events; so has all that comes after LIBRARY_EVENTS_MAX.
 *
 * Memory: about 300 bytes and two texts for each row, 24 bytes for each event; at most
 * LIBRARY_ROWS_MAX rows. Calls of later configurations are rows "[other]", one for each library and
 * operation, and over_calls counts them; `distinct` still counts their keys. Not for several
 * threads at once.
 */
#ifndef PROFRIG_LIBRARY_CALLS_H
#define PROFRIG_LIBRARY_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/vec.h"

#define LIBRARY_ROWS_MAX ((size_t)1 << 18)
#define LIBRARY_EVENTS_MAX ((size_t)1 << 22)
#define LIBRARY_STREAMS_MAX ((size_t)1 << 16)
#define LIBRARY_TEXT_MAX ((size_t)8192) /* of a config or key; longer calls are no rows */
#define LIBRARY_ROW_NONE UINT32_MAX
#define LIBRARY_UNKNOWN UINT64_MAX /* flops or bytes */
#define LIBRARY_NO_TIME INT64_MIN
#define LIBRARY_NO_ID (-1) /* pid, rank */

typedef unsigned __int128 library_sum;

/* How a log tells of a call: the larger, the more details. */
enum library_level { LEVEL_PROFILE = 1, LEVEL_TRACE, LEVEL_BENCH, LEVEL_MAX = LEVEL_BENCH };

/* What differs from one call of a configuration to the next. */
struct library_when {
	uint64_t calls;  /* it stands for so many, > 0 */
	int64_t t_ns;    /* begin, clock of the log; LIBRARY_NO_TIME */
	int64_t dur_ns;  /* of all of them; < 0 unknown */
	int64_t pid;     /* LIBRARY_NO_ID */
	int64_t tid;     /* LIBRARY_NO_ID */
	int32_t rank;    /* LIBRARY_NO_ID */
	uint32_t caller; /* row of the call that handed these on; LIBRARY_ROW_NONE */
	bool late;       /* it was made before the call that was counted last: no event */
};
#define LIBRARY_WHEN_INIT \
	{ \
		.calls = 1, .t_ns = LIBRARY_NO_TIME, .dur_ns = -1, .pid = LIBRARY_NO_ID, \
		.tid = LIBRARY_NO_ID, .rank = LIBRARY_NO_ID, .caller = LIBRARY_ROW_NONE \
	}

/* A configuration, as row takes it. Texts are copied. */
struct library_call {
	const char *library;   /* "rocblas" */
	const char *operation; /* as the library names it, without its prefix: "sgemm" */
	const char *key, *config;
	size_t config_n;       /* bytes of config, which is the text of the first call as logged */
	uint64_t flops, bytes; /* of one call; LIBRARY_UNKNOWN */
	enum library_level level;
	uint64_t common; /* hash of the facts that all levels have; 0: the log has one level */
	bool inexact;    /* the text leaves out what a replay needs */
};

/* What each call changes comes first: with many rows, memory is what counting them costs. */
struct library_row {
	library_sum all_flops, all_bytes; /* of all calls */
	uint64_t calls;
	int64_t first_ns, last_ns; /* begins of calls; LIBRARY_NO_TIME */
	int64_t pid;               /* LIBRARY_NO_ID when unknown, or when several */
	bool several_pids, other;  /* other: of "[other]" */
	bool inexact, dropped;     /* dropped: another level tells its calls */
	enum library_level level;
	int64_t total_ns;   /* of timed calls */
	uint64_t timed;     /* calls with a duration */
	VEC(int32_t) ranks; /* sorted */
	uint64_t nested;    /* of the calls, those that another library handed on */
	library_sum nested_flops, nested_bytes;
	uint32_t caller; /* row that handed on the first nested call; LIBRARY_ROW_NONE */
	const char *library, *operation, *key, *config;
	uint64_t flops, bytes; /* of one call; LIBRARY_UNKNOWN; of "[other]" too */
	uint64_t common;
};

/* Where calls of one order come from. */
struct library_stream {
	int64_t pid, tid; /* LIBRARY_NO_ID */
	uint32_t input;   /* of the model: the log; 0 before a sink has taken the calls */
	int32_t rank;     /* LIBRARY_NO_ID */
};

/* One call. */
struct library_event {
	int64_t t_ns, dur_ns; /* as in library_when */
	uint32_t row, stream;
};

struct library_priv;
struct library_calls {
	VEC(struct library_row) rows; /* dropped ones among them until library_calls_settle */
	uint64_t distinct;            /* configurations, those in "[other]" too */
	uint64_t doubled;             /* calls that another level tells */
	uint64_t over_calls;          /* calls in "[other]" */
	bool ordered;                 /* library_calls_keep_order */
	/* those of one log together, in its order; rows are void before library_calls_settle */
	VEC(struct library_event) events;
	VEC(struct library_stream) streams;
	struct library_priv *priv;
};

struct library_calls *library_calls_new(void);
void library_calls_free(struct library_calls *lc); /* NULL is fine */
void library_calls_freep(struct library_calls **lc);

/* From here on events are kept, also of what is merged. */
void library_calls_keep_order(struct library_calls *lc);
/* All streams are of this input. */
void library_calls_set_input(struct library_calls *lc, uint32_t input);

/* The row of a configuration, which is new, and without calls, unless it is known. */
uint32_t library_calls_row(struct library_calls *lc, const struct library_call *c);
/* flops, bytes: of one call, LIBRARY_UNKNOWN; those of "[other]" differ from call to call. */
void library_calls_count(struct library_calls *lc, uint32_t row, uint64_t flops, uint64_t bytes,
			 const struct library_when *when);
/*
 * The end of a log: of rows that tell the same calls those of one level stay. Row numbers are void.
 */
void library_calls_settle(struct library_calls *lc);
/* Adds the settled rows of `from`, and its events behind those that are there. */
void library_calls_merge(struct library_calls *lc, const struct library_calls *from);

/* As bytes (serial.h), for another process; settled. load: NULL after setting bad. */
struct strbuf;
struct serial_in;
void library_calls_save(const struct library_calls *lc, struct strbuf *to);
struct library_calls *library_calls_load(struct serial_in *from);

/* Sums over the rows; flops and bytes without those of nested calls. */
struct library_totals {
	uint64_t calls, nested;
	library_sum flops, bytes;
};
struct library_totals library_calls_totals(const struct library_calls *lc);
/* Decimal digits; buf holds at least 48. Returns the length. */
size_t library_sum_fmt(char *buf, library_sum v);

#endif
