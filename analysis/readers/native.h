/*
 * native: profrig's own dialect. A converter adds JSON objects to the file that it writes, so that
 * reading the file gives an equal model whatever the format around it: one object for the file,
 * then one for each track, then one for each series. Trace Event Format holds them in metadata
 * events, OTF2 in properties of its archive and its locations. native_text.h writes the objects,
 * this header reads them.
 *
 *	file	{"tracer":"convert", "clock":"CLOCK_REALTIME", "base_ns":N, "anchor_own_ns":N,
 *		"anchor_realtime_ns":N, "driver_numbers":true, "group":N, "resolution_hz":N}
 *	track	{"n":0, "kind":"queue", "parent":3, "owner":1, "host":"node3", "pid":1, "tid":2,
 *		"rank":0, "device":"gpu0", "pci":"0:c1:0", "name":"stream 7"}
 *	series	{"n":0, "name":"power", "unit":"W", "kind":"gauge", "track":2, "device":"gpu0",
 *		"host":"node3", "pci":"0:c1:0", "change_points":true, "ends":true,
 *		"exclusive_sync":true, "estimated":true, "failed":3}
 *
 * Members with no information are left out. n counts from 0 without holes. Parents and owners stand
 * before the tracks that name them; an object that breaks these rules is rejected (false). base_ns
 * is added to every time of the file. Inputs with the same group number their correlations together
 * (model.h).
 */
#ifndef ANALYSIS_NATIVE_H
#define ANALYSIS_NATIVE_H

#include "profrig/base/pool.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/vec.h"
#include "profrig/model/sink.h"

/* The object of the file; all zero when there is none. */
struct native_file {
	enum trace_clock clock;
	bool has_anchor, driver_numbers;
	int64_t base_ns, anchor_own_ns, anchor_realtime_ns;
	uint64_t group;
	double resolution_hz; /* 0 unknown */
};

struct native {
	struct native_file file;
	VEC(track_id) tracks;       /* by n */
	VEC(enum track_kind) kinds; /* by n */
	VEC(series_id) series;      /* by n */
	struct strbuf text;
};
#define NATIVE_INIT \
	{ \
		.text = STRBUF_INIT \
	}

/* Each parses one JSON object of len bytes, which needs no terminating NUL. */
bool native_file_take(struct native *o, const char *json, size_t len);
/* Sets clock, anchor and group of the current input. Call it before sink_clock. */
void native_file_apply(const struct native *o, struct sink *s);
/* Make the track or the series in s; false: the object is inconsistent, nothing was made. */
bool native_track_take(struct native *o, struct sink *s, const char *json, size_t len);
bool native_series_take(struct native *o, struct sink *s, const char *json, size_t len);
/* Parse the next track or series without making it; its texts live in pool. */
bool native_track_def(struct native *o, const char *json, size_t len, struct pool *pool,
		      struct track_def *ret);
bool native_series_def(struct native *o, const char *json, size_t len, struct pool *pool,
		       struct series_def *ret);
void native_release(struct native *o);

/* Words of the file to kinds: "host" → SPAN_HOST. false: the word is unknown. */
bool native_span_kind(const char *word, size_t len, enum span_kind *ret);
bool native_link_kind(const char *word, size_t len, enum link_kind *ret);

#endif
