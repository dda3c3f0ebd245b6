/*
 * own: what profrig's converters add to a file so that reading it gives an equal model, whatever
 * the format around it: one JSON object for the file, one for each track and one for each series,
 * in this order. Trace Event Format has them as metadata events, OTF2 as properties of its archive
 * and its locations. analysis/report/convert/own_text.c writes them; here they are read.
 *
 *	file	{"tracer":"convert", "clock":"CLOCK_REALTIME", "base_ns":N, "anchor_own_ns":N,
 *		"anchor_realtime_ns":N, "driver_numbers":true, "group":N, "resolution_hz":N}
 *	track	{"n":0, "kind":"queue", "parent":3, "owner":1, "host":"node3", "pid":1, "tid":2,
 *		"rank":0, "device":"gpu0", "pci":"0:c1:0", "name":"stream 7"}
 *	series	{"n":0, "name":"power", "unit":"W", "kind":"gauge", "track":2, "device":"gpu0",
 *		"host":"node3", "pci":"0:c1:0", "change_points":true, "exclusive_sync":true,
 *		"estimated":true, "failed":3}
 *
 * Members that say nothing are left out. n counts from 0 without holes, and parents and owners
 * stand before those that name them; what breaks that is not taken (false). base_ns is added to
 * every time of the file. group: inputs with one group count their correlations together (model.h).
 */
#ifndef ANALYSIS_OWN_H
#define ANALYSIS_OWN_H

#include "profrig/base/pool.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/vec.h"
#include "profrig/model/sink.h"

/* What the file says of itself; all zero when it says nothing. */
struct own_file {
	enum trace_clock clock;
	bool has_anchor, driver_numbers;
	int64_t base_ns, anchor_own_ns, anchor_realtime_ns;
	uint64_t group;
	double resolution_hz; /* 0 unknown */
};

struct own {
	struct own_file file;
	VEC(track_id) tracks;       /* by n */
	VEC(enum track_kind) kinds; /* by n */
	VEC(series_id) series;      /* by n */
	struct strbuf text;
};
#define OWN_INIT \
	{ \
		.text = STRBUF_INIT \
	}

/* Each takes one JSON object of len bytes, which need not be followed by anything. */
bool own_file_take(struct own *o, const char *json, size_t len);
/* Into the current input: clock, anchor, group. Before sink_clock. */
void own_file_apply(const struct own *o, struct sink *s);
/* Makes the track, or the series; false: what it says does not hold together, nothing was made. */
bool own_track_take(struct own *o, struct sink *s, const char *json, size_t len);
bool own_series_take(struct own *o, struct sink *s, const char *json, size_t len);
/* What the next track or series says, without making it; texts are in pool. */
bool own_track_def(struct own *o, const char *json, size_t len, struct pool *pool,
		   struct track_def *ret);
bool own_series_def(struct own *o, const char *json, size_t len, struct pool *pool,
		    struct series_def *ret);
void own_release(struct own *o);

/* The words of the file: SPAN_HOST ↔ "host". false: unknown. */
bool own_span_kind(const char *word, size_t len, enum span_kind *ret);
bool own_link_kind(const char *word, size_t len, enum link_kind *ret);

#endif
