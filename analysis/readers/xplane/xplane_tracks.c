/*
 * A file is of one process, whose number it does not state. Lines of the host are its threads,
 * wherever they are; those of devices are streams, or what was made from the streams' events.
 */
#include "xplane.h"

#include <inttypes.h>

#include "profrig/base/mix.h"

enum { KEY_PROCESS = 1, KEY_THREAD, KEY_QUEUE, KEY_DEVICE };

static uint64_t key_of(uint64_t kind, uint64_t a, uint64_t b)
{
	return mix64(mix64(mix64(kind) ^ a) ^ b);
}

static track_id track_make(struct xplane *x, struct track_def *d)
{
	CLEANUP(xfreep)
	char *host = x->host.n
			     ? xstrndup((const char *)x->host.p, x->host.n < 256 ? x->host.n : 256)
			     : NULL;

	d->host = host;
	return track_limit_make(&x->tracks, x->sink, d);
}

static track_id process_track(struct xplane *x)
{
	struct track_def d = TRACK_DEF_INIT;

	if (x->process == TRACK_NONE) {
		d.kind = TRACK_PROCESS;
		d.key = key_of(KEY_PROCESS, 0, 0);
		x->process = track_make(x, &d);
	}
	return x->process;
}

/* "gpu3", "tpu0": the word in front of the number, in small letters. */
static void device_name(struct xplane *x, const struct xplane_plane *p)
{
	size_t at = strlen("/device:"), n = 0;
	char word[12];

	while (at < p->name.n && p->name.p[at] != ':' && n + 1 < sizeof(word)) {
		unsigned char ch = p->name.p[at++];

		word[n++] = (char)(ch >= 'A' && ch <= 'Z'   ? ch + 32
				   : ch >= 'a' && ch <= 'z' ? ch
							    : 'x');
	}
	word[n] = '\0';
	if (p->number >= 0 && n > 0)
		snprintf(x->plane.device, sizeof(x->plane.device), "%s%" PRId64, word, p->number);
	else
		snprintf(x->plane.device, sizeof(x->plane.device), "%.20s",
			 x->opts->device ? x->opts->device : "gpu0");
}

void xplane_plane_track(struct xplane *x, const struct xplane_plane *p)
{
	struct track_def d = TRACK_DEF_INIT;
	CLEANUP(xfreep) char *name = NULL;
	struct device_facts facts;

	x->plane.track = TRACK_NONE;
	if (p->kind == XPLANE_HOST)
		return;
	device_name(x, p);
	xplane_device_facts(x, p->body, &facts);
	if (x->opts->facts && p->number >= 0 && !memchr(p->name.p, ' ', p->name.n)) {
		facts.number = p->number;
		x->sink->ops->device(x->sink, &facts);
	}
	d.kind = TRACK_DEVICE;
	d.device = x->plane.device;
	d.key = key_of(KEY_DEVICE, (uint64_t)p->kind, (uint64_t)p->number);
	x->plane.track = track_make(x, &d);
}

enum xplane_line_kind xplane_line_kind(const struct xplane_plane *p, const struct xplane_line *l)
{
	if (p->kind == XPLANE_HOST)
		return XPLANE_THREAD;
	if (xplane_is(l->name, "_counters_"))
		return XPLANE_COUNTERS;
	if (p->kind == XPLANE_GPU)
		return l->name.n == 0 || xplane_begins(l->name, "Stream #") ? XPLANE_STREAM
									    : XPLANE_DERIVED;
	if (xplane_is(l->name, "XLA Ops") || xplane_is(l->name, "Sparse Core Ops"))
		return XPLANE_OPS;
	return xplane_is(l->name, "Async XLA Ops") ? XPLANE_STREAM : XPLANE_DERIVED;
}

/* Planes of the host whose lines are numbered by thread. */
static bool lines_are_threads(const struct xplane_plane *p)
{
	static const char *const names[] = { "/host:CPU", "/host:CUPTI", "/host:ROCTRACER",
					     "/host:python-tracer", "/host:NVTX-CUPTI" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (xplane_is(p->name, names[i]))
			return true;
	return false;
}

static track_id thread_track(struct xplane *x, const struct xplane_line *l, const char *name)
{
	struct track_def d = TRACK_DEF_INIT;
	bool thread = lines_are_threads(x->plane.def);

	d.kind = TRACK_THREAD;
	d.parent = process_track(x);
	d.tid = thread && l->id > 0 && l->id <= INT32_MAX ? (int64_t)l->id : PID_NONE;
	d.name = name;
	d.key = key_of(KEY_THREAD, l->id, thread ? 0 : l->plane + UINT64_C(1));
	return track_make(x, &d);
}

/* Of a part of a device ("/device:TPU:0 SparseCore 1") its name comes first. */
static char *queue_name(const struct xplane *x, const char *line)
{
	struct xplane_slice plane = x->plane.def->name;
	const unsigned char *blank = plane.n ? memchr(plane.p, ' ', plane.n) : NULL;
	size_t n = blank ? (size_t)(plane.p + plane.n - blank - 1) : 0;

	return n > 0 ? xasprintf("%.*s %s", (int)(n < 100 ? n : 100), (const char *)blank + 1, line)
		     : xstrdup(line);
}

track_id xplane_line_track(struct xplane *x, const struct xplane_line *l,
			   enum xplane_line_kind kind)
{
	CLEANUP(xfreep)
	char *line = xstrndup((const char *)l->name.p, l->name.n < 256 ? l->name.n : 256);
	CLEANUP(xfreep) char *name = NULL;
	struct track_def d = TRACK_DEF_INIT;
	bool stream = kind == XPLANE_STREAM && x->plane.def->kind == XPLANE_GPU;

	if (kind == XPLANE_THREAD)
		return thread_track(x, l, *line ? line : NULL);
	if (kind == XPLANE_COUNTERS)
		return x->plane.track;
	name = queue_name(x, line);
	d.kind = TRACK_QUEUE;
	d.parent = x->plane.track;
	d.device = x->plane.device;
	d.owner = process_track(x);
	if (stream && l->id <= UINT32_MAX)
		d.tid = (int64_t)l->id;
	else
		d.name = name;
	d.key = key_of(KEY_QUEUE, l->id, l->plane);
	return track_make(x, &d);
}
