/*
 * Perfetto's protobuf traces: .pftrace, .perfetto-trace, Chrome's trace-startup-format=proto,
 * Android's, and those of rocprofv3 and rocprof-sys. A trace is a row of packets (TracePacket) in
 * no order of time; every packet holds
 *
 *	8 58		its time, and the clock (pf_clock.c)
 *	10 13 42	its sequence, whether that sequence's state begins anew, or was lost
 *	12 59		interned texts and defaults of the sequence (pf_sequence.c)
 *	60		a track: process, thread, counter, or any other (pf_tracks.c)
 *	11		a track event: begin, end, instant, counter (pf_event.c)
 *	6		a clock snapshot	50 133	compressed packets
 *	1 2 9		scheduler switches, processes and their memory (pf_system.c)
 *	52 53		counters and render stages of GPUs (pf_gpu.c)
 *	35		what the recorder lost
 * or one of some hundred other contents, which are counted.
 *
 * https://github.com/google/perfetto/tree/main/protos/perfetto/trace has the schema.
 */
#include "perfetto.h"
#include "readers_private.h"

#include <errno.h>
#include <inttypes.h>

#include "profrig/base/text.h"

#define PROBE_PACKETS 32

/* ---- what kind of file it is ---- */

/* Whether a field has the wire type that the schema has; 1: it is typical of a packet. */
static int field_fits(const struct pb_field *f)
{
	static const uint8_t typical[] = {
		[PF_SNAPSHOT] = 1, [PF_TIME] = 1,    [PF_SEQUENCE] = 1, [PF_TRACK_EVENT] = 1,
		[PF_INTERNED] = 1, [33] = 1,         [36] = 1,          [PF_COMPRESSED] = 1,
		[PF_TRACK] = 1,    [PF_DEFAULTS] = 1
	};
	bool number = f->number == 3 || f->number == PF_TIME || f->number == PF_SEQUENCE ||
		      f->number == PF_FLAGS || f->number == PF_CLEARED_OLD ||
		      f->number == PF_DROPPED || f->number == PF_CLOCK_ID || f->number == PF_PID;

	if (f->number >= 2000 || (f->number <= 13 && number == pb_is_bytes(f)) ||
	    (number && pb_is_bytes(f)) || f->wire == PB_I32 || f->wire == PB_I64)
		return -1;
	return f->number < ARRAY_LEN(typical) && typical[f->number];
}

/* -1: no packet; else whether it has a typical field. */
static int packet_fits(struct pf_bytes b)
{
	struct pb_cursor c = pf_cursor(b);
	struct pb_field f;
	int typical = 0;

	while (pb_next(&c, &f)) {
		int fits = field_fits(&f);

		if (fits < 0)
			return -1;
		typical |= fits;
	}
	return c.problem ? -1 : typical;
}

static int probe_perfetto(const struct probe *p)
{
	struct pb_cursor c = pb_cursor_of(p->head, p->is_dir ? 0 : p->head_len);
	bool named = text_suffix(p->name, ".pftrace") || text_suffix(p->name, ".perfetto-trace");
	int packets = 0, typical = 0, fits;
	struct pb_field f;

	if (p->is_dir)
		return 0;
	while (packets < PROBE_PACKETS && pb_next(&c, &f)) {
		fits = f.number == 1 && pb_is_bytes(&f) ? packet_fits(pf_bytes_of(&f)) : -1;
		if (fits < 0)
			return named && packets > 0 ? 40 : named ? 10 : 0;
		packets++;
		typical += fits;
	}
	if (typical > 0)
		return 90;
	return named ? 40 : 0;
}

/* ---- packets ---- */

static void survey_take(struct pf *p, struct pf_packet *k)
{
	uint64_t clock;
	int64_t ns;

	switch (k->kind) {
	case PF_TRACK_EVENT:
		pf_event_survey(p, k);
		return;
	case PF_SNAPSHOT:
		pf_snapshot_take(p, k);
		return;
	case PF_TRACK:
		pf_describe(p, k->body);
		return;
	case PF_PROCESS_OLD:
	case PF_THREAD_OLD:
		pf_describe_old(p, k);
		return;
	case PF_PROCESS_TREE:
		pf_process_tree(p, k->body);
		break;
	case PF_GPU_COUNTERS:
		pf_gpu_counters_describe(p, k->body);
		break;
	case PF_NATIVE:
		pf_native_take(p, k->body);
		return;
	case PF_FTRACE:
		p->used[PF_BOOTTIME]++;
		return;
	default:
		break;
	}
	pf_time_own(p, k, &ns, &clock);
}

/* Of a packet whose content has the packet's time. */
static bool packet_time(struct pf *p, const struct pf_packet *k, int64_t *ret_ns)
{
	uint64_t clock;

	if (!pf_time_own(p, k, ret_ns, &clock)) {
		pf_bad(p, "a packet without a time");
		return false;
	}
	if (!pf_time_convert(p, clock, *ret_ns, ret_ns)) {
		p->n.no_clock++;
		return false;
	}
	return true;
}

static void packet_push(struct pf *p, struct pf_packet *k)
{
	uint64_t clock;
	int64_t t_ns;

	switch (k->kind) {
	case PF_TRACK_EVENT:
		pf_event_push(p, k);
		return;
	case PF_SNAPSHOT:
		pf_snapshot_take(p, k);
		return;
	case PF_THREAD_OLD:
		pf_describe_old(p, k);
		return;
	case PF_FTRACE:
		pf_ftrace(p, k);
		return;
	case PF_TRACE_STATS:
		pf_trace_stats(p, k->body);
		break;
	case PF_NATIVE:
		pf_native_take(p, k->body);
		return;
	case PF_PROCESS_STATS:
		if (packet_time(p, k, &t_ns))
			pf_process_stats(p, k->body, t_ns);
		return;
	case PF_GPU_STAGE:
		if (packet_time(p, k, &t_ns))
			pf_gpu_stage(p, k, t_ns);
		return;
	case PF_GPU_COUNTERS:
		if (k->timed && packet_time(p, k, &t_ns))
			pf_gpu_counters(p, k, t_ns);
		return;
	case 0:
	case PF_TRACK:
	case PF_PROCESS_TREE:
	case PF_PROCESS_OLD:
		break;
	default:
		p->n.unknown[k->kind < PF_FIELDS ? k->kind : 0]++;
	}
	/* deltas count from packet to packet, whatever their content */
	pf_time_own(p, k, &t_ns, &clock);
}

void pf_packet_take(struct pf *p, struct pf_packet *k)
{
	if (!pf_seq_take(p, k))
		return;
	pf_seq_learn(p, k);
	if (p->survey)
		survey_take(p, k);
	else
		packet_push(p, k);
}

/* ---- the file ---- */

/* Contents that say nothing of what ran: settings, marks, the recorder's own. */
static bool is_of_recorder(uint32_t kind)
{
	return kind == 33 || kind == 36 || kind == 45 || kind == 46 || kind == 69 || kind == 72 ||
	       kind == 89 || kind == 124;
}

static void unknown_warn(struct pf *p)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	uint64_t nr = 0;

	strbuf_addstr(&text, "packets whose content is not read, by field:");
	for (uint32_t i = 0; i < PF_FIELDS; i++) {
		if (!p->n.unknown[i] || is_of_recorder(i))
			continue;
		strbuf_addf(&text, "%s %" PRIu32 " (%" PRIu32 ")", nr ? "," : "", i,
			    p->n.unknown[i]);
		nr += p->n.unknown[i];
	}
	sink_warn(p->sink, W_IGNORED_RECORD, nr, text.buf);
	sink_warn(p->sink, W_IGNORED_RECORD, p->n.ftrace_unknown,
		  "events of the kernel (ftrace) other than scheduler switches");
}

static void lost_warn(struct pf *p)
{
	static const char *const words[] = {
		"chunks of the recorder's buffers were overwritten before they were read",
		"chunks were discarded when the recorder's buffers were full",
		"times a writer lost packets because its buffer was full",
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		sink_warn(p->sink, W_LOST_EVENTS, p->n.buffer_lost[i], words[i]);
	sink_warn(p->sink, W_LOST_EVENTS, p->n.lost, "gaps in sequences of packets");
	sink_warn(p->sink, W_LOST_EVENTS, p->n.needs_state,
		  "packets behind a gap that need what was lost in it");
}

static void warn_all(struct pf *p)
{
	struct sink *s = p->sink;

	lost_warn(p);
	tally_warn(&p->n.bad, s, W_BAD_EVENT, NULL);
	sink_warn(s, W_BAD_EVENT, p->n.no_clock,
		  "packets have times of a clock that no clock snapshot joins with the trace's");
	sink_warn(s, W_STRAY_LEAVE, p->n.strays, "ends of slices that never began were ignored");
	sink_warn(s, W_OPEN_SPAN, p->n.open,
		  "slices without an end last to the end of their track");
	sink_warn(s, W_UNKNOWN_REFERENCE, p->n.unknown_iid,
		  "numbers of interned texts that their sequence never defined");
	sink_warn(s, W_MEMORY_LIMIT, p->n.no_memory,
		  "slices, tracks, values and texts were left out, for which there is no memory");
	sink_warn(s, W_IGNORED_RECORD, p->n.flows_out, "points of flows belong to no slice");
	unknown_warn(p);
	track_limit_warn(&p->limit, s);
}

static void pf_release(struct pf *p)
{
	pf_seqs_release(p);
	pf_clocks_release(p);
	pf_tracks_release(p);
	VEC_RELEASE(&p->flows);
	VEC_RELEASE(&p->late);
	VEC_RELEASE(&p->said);
	VEC_RELEASE(&p->said_free);
	VEC_RELEASE(&p->cpus);
	VEC_RELEASE(&p->gpu_counters);
	VEC_RELEASE(&p->parts);
	u64map_release(&p->category_text);
	u64map_release(&p->class_of);
	u64map_release(&p->direction_of);
	u64map_release(&p->stage_name);
	u64map_release(&p->gpu_counter_at);
	u64map_release(&p->queue_at);
	u64map_release(&p->series_at);
	launch_shapes_release(&p->launches);
	native_release(&p->native);
	strbuf_release(&p->text);
	strbuf_release(&p->word);
	input_unmap(&p->map);
}

static void read_all(struct pf *p)
{
	struct input *in = p->sink->ops->current(p->sink);

	p->survey = true;
	pf_walk(p);
	pf_survey_end(p);
	pf_clocks_settle(p);
	pf_clock_set(p);
	free(in->format);
	in->format = xstrdup(p->is_native ? "Perfetto (profrig convert)" : "Perfetto");
	if (p->is_native)
		native_file_apply(&p->native, p->sink);
	p->sink->ops->clock(p->sink);

	p->survey = false;
	pf_seqs_reset(p);
	p->last_seq = NULL;
	memset(p->used, 0, sizeof(p->used));
	input_rewind(&p->map);
	p->empty = sink_puts(p->sink, "");
	pf_classes_make(p);
	if (!p->is_native)
		pf_tracks_make(p);
	pf_walk(p);
	pf_slices_end(p);
	pf_ftrace_end(p);
	pf_flows_push(p);
	warn_all(p);
}

/* Whether there is a field 1 of bytes at the start, though it may be cut off. */
static bool begins_well(const struct input_map *map)
{
	return map->len == 0 || map->data[0] == (1 << 3 | PB_LEN);
}

static int read_perfetto(const char *path, struct sink *s, const struct read_opts *o,
			 struct err *err)
{
	CLEANUP(pf_release)
	struct pf p = { .path = path,
			.opts = o,
			.sink = s,
			.pid = PID_NONE,
			.text = STRBUF_INIT,
			.word = STRBUF_INIT,
			.texts = POOL_INIT,
			.native = NATIVE_INIT };
	struct input *in;
	int r = input_map_by(o->workers, path, 0, &p.map, err);

	if (r < 0)
		return r;
	if (!begins_well(&p.map))
		return err_set(err, EINVAL, "%s: no packet at the start: not a Perfetto trace",
			       path);
	mem_budget_init(&p.budget, &p.map);
	s->ops->input(s, path, "perfetto");
	read_all(&p);
	in = s->ops->current(s);
	if (p.map.truncated) {
		p.partial = true;
		sink_warnf(s, W_TRUNCATED, "%s: %s", path, p.map.why);
	}
	in->partial |= p.partial;
	if (in->spans + in->samples == 0)
		sink_warnf(s, W_EMPTY_INPUT, "%s holds neither spans nor samples", path);
	s->ops->input_end(s);
	return p.partial ? READ_PARTIAL : 0;
}

/* Of those who write it beside other formats, rocprofv3 alone names its files alike. */
static char *recording_perfetto(const struct probe *p)
{
	return probe_has(p, "hip_api") || probe_has(p, "hsa_api") ||
			       probe_has(p, "kernel_dispatch") || probe_has(p, "memory_copy")
		       ? recording_named(p)
		       : NULL;
}

const struct reader reader_perfetto = {
	.name = "perfetto",
	.about = "Perfetto's protobuf traces (rocprofv3, rocprof-sys, Chrome, Android)",
	.suffixes = ".pftrace[.gz|.zst], .perfetto-trace[.gz|.zst]",
	.probe = probe_perfetto,
	.read = read_perfetto,
	.recording = recording_perfetto,
	.richness = 0,
};
