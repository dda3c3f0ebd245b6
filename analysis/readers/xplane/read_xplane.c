/*
 * XSpace: what the profiler of JAX and TensorFlow writes (`*.xplane.pb`), Protocol Buffers
 * (tsl/profiler/protobuf/xplane.proto). One file for each process.
 *
 *	XSpace		1 planes, 2 errors, 3 warnings, 4 hostnames
 *	XPlane		1 id, 2 name, 3 lines, 4 event_metadata, 5 stat_metadata (maps), 6 stats
 *	XLine		1 id, 2 name, 3 timestamp_ns, 4 events, 9 duration_ps, 10, 11 display_name
 *	XEvent		1 metadata_id, 2 offset_ps or 5 num_occurrences, 3 duration_ps, 4 stats
 *	XStat		1 metadata_id, one value: 2 double, 3 uint64, 4 int64, 5 text, 6 bytes,
 *			7 ref (a text: the name of that row of stat_metadata)
 *	XEventMetadata	1 id, 2 name, 3 metadata, 4 display_name, 5 stats (of all its events)
 *	XStatMetadata	1 id, 2 name, 3 description
 *
 * Planes:
 *	/device:GPU:N	"Stream #7(Compute)": work, with correlation_id, kernel_details,
 *			memcpy_details; "XLA Modules", "XLA Ops", "Steps", "Framework Ops",
 *			"Source code" … show that work again; "_counters_": samples
 *	/device:TPU:N	the same lines without streams: "XLA Ops" is the work
 *	/host:CPU	a line for each thread; "/host:CUPTI" and others have more of them
 *	/host:metadata	the programs themselves (HLO), no events
 *	Task Environment	stats: profile_start_time, real time in ns
 *
 * Times are ns since the profile began, or real time in files that were not post-processed. An
 * event's stats and those of its row in event_metadata belong together: hlo_module, hlo_op,
 * program_id, run_id. The tables stand before or behind the lines that use them, so a first walk
 * finds planes and lines, and each plane is read tables first.
 *
 * A file that is cut, or whose lengths are damaged, is read as far as its bytes reach.
 *
 * Facts: the schema, and the collectors for CUPTI in the sources of XLA.
 */
#include "readers_private.h"
#include "xplane.h"

#include <errno.h>
#include <inttypes.h>

#include "profrig/base/text.h"
#include "profrig/model/warnings.h"

/* Times of a normalised file are below it: the year 2001. */
#define REAL_NS INT64_C(1000000000000000000)
/* That memory is set aside for before they come. */
#define EXPECT_MAX ((uint64_t)1 << 26)

static void clock_set(struct xplane *x)
{
	struct input *in = input_begin(x->sink, x->path, "xplane");
	struct device_facts none;

	for (size_t i = 0; i < x->planes.nr; i++) {
		struct xplane_plane *p = &x->planes.v[i];

		if (!xplane_is(p->name, "Task Environment"))
			continue;
		xplane_plane_load(x, p);
		xplane_device_facts(x, p->body, &none);
	}
	input_format(in, "XSpace (JAX, TensorFlow)",
		     x->first_ns > REAL_NS ? TRACE_CLOCK_REALTIME : TRACE_CLOCK_OWN);
	if (in->clock == TRACE_CLOCK_OWN) {
		in->from_start = true;
		in->has_realtime_anchor = x->start_ns > REAL_NS;
		in->anchor_realtime_ns = in->has_realtime_anchor ? x->start_ns : 0;
	}
	x->sink->ops->clock(x->sink);
	x->kernel = sink_puts(x->sink, "kernel");
	x->copy = sink_puts(x->sink, "gpu_memcpy");
	x->fill = sink_puts(x->sink, "gpu_memset");
}

static void planes_read(struct xplane *x)
{
	size_t line = 0;
	uint64_t events = 0;

	for (size_t i = 0; i < x->lines.nr; i++)
		events += x->lines.v[i].events;
	x->sink->ops->expect(x->sink, events < EXPECT_MAX ? events : EXPECT_MAX);
	for (size_t i = 0; i < x->planes.nr; i++) {
		const struct xplane_plane *p = &x->planes.v[i];
		size_t first = line;

		while (line < x->lines.nr && x->lines.v[line].plane == i)
			line++;
		/* the programs are large, and have no lines */
		if (first == line && p->kind == XPLANE_HOST)
			continue;
		xplane_plane_load(x, p);
		xplane_plane_track(x, p);
		for (size_t k = first; k < line; k++)
			xplane_line_read(x, &x->lines.v[k]);
	}
}

static int xplane_finish(struct xplane *x)
{
	struct sink *s = x->sink;
	bool cut = x->damaged.nr > 0;

	sink_fact(s, "planes", (int64_t)x->planes.nr);
	sink_fact(s, "lines", (int64_t)(x->lines.nr + x->more_lines));
	sink_fact(s, "kernels", (int64_t)x->kernels);
	sink_fact(s, "copies", (int64_t)x->copies);
	sink_fact(s, "derived", (int64_t)x->derived);
	tally_warn(&x->damaged, s, W_TRUNCATED, "the file is cut or damaged");
	tally_warn(&x->bad_events, s, W_BAD_EVENT, "fields of the wrong type, or impossible times");
	tally_warn(&x->bad_stats, s, W_BAD_EVENT, "stats that are damaged");
	tally_warn(&x->no_meta, s, W_UNKNOWN_REFERENCE, "events without a row of their name");
	tally_warn(&x->aggregated, s, W_IGNORED_RECORD,
		   "events that only count occurrences, and have no time");
	tally_warn(&x->said, s, W_LOST_EVENTS, NULL);
	if (x->left_out + x->more_lines > 0)
		sink_warn(s, W_MEMORY_LIMIT, x->left_out + x->more_lines,
			  "events and rows of tables, or lines beyond 65536, were left out");
	track_limit_warn(&x->tracks, s);
	return input_finish(s, &x->map, cut, "no events");
}

static void xplane_release(struct xplane *x)
{
	xplane_plane_clear(x);
	VEC_RELEASE(&x->plane.events);
	VEC_RELEASE(&x->plane.stats);
	VEC_RELEASE(&x->planes);
	VEC_RELEASE(&x->lines);
	VEC_RELEASE(&x->details);
	VEC_RELEASE(&x->known);
	launch_shapes_release(&x->shapes);
	strbuf_release(&x->args);
	input_unmap(&x->map);
}

static int read_xplane(const char *path, struct sink *s, const struct read_opts *o, struct err *err)
{
	CLEANUP(xplane_release)
	struct xplane x = {
		.path = path, .sink = s, .opts = o, .process = TRACK_NONE, .args = STRBUF_INIT
	};
	int r = input_map_by(o->workers, path, 0, &x.map, err);

	if (r < 0)
		return r;
	mem_budget_init(&x.memory, &x.map);
	xplane_survey(&x);
	if (x.planes.nr == 0 && x.damaged.nr > 0)
		return err_set(err, EINVAL, "%s: offset %" PRIu64 ": no XSpace, or a damaged one",
			       path, x.damaged.at);
	if (x.planes.nr == 0)
		return err_set(err, ENODATA, "%s: offset 0: it has no planes", path);
	clock_set(&x);
	planes_read(&x);
	return xplane_finish(&x);
}

/* The name of the plane that a file begins with; false: it does not begin with one. */
static bool first_plane(const struct probe *p, struct pb_field *ret_name)
{
	const unsigned char *at = p->head, *end = p->head + p->head_len;
	struct pb_cursor c;
	struct pb_field f;
	uint64_t key, n;

	while (pb_varint(&at, end, &key) &&
	       (key == (2 << 3 | PB_LEN) || key == (3 << 3 | PB_LEN) || key == (4 << 3 | PB_LEN))) {
		if (!pb_varint(&at, end, &n) || n > (size_t)(end - at))
			return false;
		at += n;
	}
	if (at == end || key != (1 << 3 | PB_LEN) || !pb_varint(&at, end, &n))
		return false;
	c = pb_cursor_of(at, n < (size_t)(end - at) ? n : (size_t)(end - at));
	while (pb_next(&c, &f)) {
		*ret_name = f;
		if (f.number == 2)
			return pb_is_bytes(&f);
		if (f.number != 1 || f.wire != PB_VARINT)
			return false;
	}
	return false;
}

static int probe_xplane(const struct probe *p)
{
	static const char *const names[] = { "/host:", "/device:", "Task Environment", "#Chip" };
	bool named = text_suffix(p->name, ".xplane.pb") != NULL;
	struct pb_field name;

	if (p->is_dir || !p->head || p->head_len == 0)
		return 0;
	if (!first_plane(p, &name))
		return named ? 40 : 0;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (xplane_begins((struct xplane_slice){ name.data, name.len }, names[i]))
			return 95;
	return named ? 90 : 0;
}

const struct reader reader_xplane = {
	.name = "xplane",
	.about = "profiles of JAX and TensorFlow (XSpace): device work, host threads, XLA programs",
	.suffixes = ".xplane.pb[.gz|.zst]",
	.probe = probe_xplane,
	.read = read_xplane,
};
