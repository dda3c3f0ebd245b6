/*
 * Trace Event Format: JSON, either an array of events or an object whose member "traceEvents" is
 * that array. An array may lack its end: writers append to it until they die. Members of an event
 * are in any order:
 *
 *	ph	phase: X complete (ts, dur), B begin and E end, i instant, C counter (args: value
 *		per series), b n e async (pid, cat, id), s t f flow (cat, name, id), M metadata
 *		(process_name, thread_name); R and P are read as instants, others are counted
 *	ts dur	µs, numbers or strings, often with three decimals: ns. Absolute values need 19
 *		digits, so they go from decimal to ns directly
 *	pid tid	numbers or words
 *	name cat id args
 *
 * It has no version and no clock. The writer is recognised by several signs (tef_doc.c) and
 * determines clock, device tracks and correlations: Kineto (PyTorch), rocprof v1, TensorFlow,
 * Ascend, FLEX, uftrace, profrig's own tracers, anything else; read_opts.dialect overrides it.
 * rocprofv3's JSON has no trace events, but belongs to the same tools (tef_rocprofv3.c).
 */
#include "readers_private.h"
#include "tef.h"
#include "text_slice.h"

#include <errno.h>

#include "profrig/base/text.h"
#include "profrig/library/library_log.h"
#include "profrig/model/warnings.h"

const char *const tef_dialects[] = { "chrome",  "kineto",  "rocprof_v1", "rocprofv3",
				     "profrig", "uftrace", "tensorflow", "ascend",
				     "flex",    "spyre",   NULL };
_Static_assert(ARRAY_LEN(tef_dialects) == TEF_DIALECTS + 1, "a word for each");

static bool is_blank(unsigned char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static size_t first_char(const struct probe *p)
{
	size_t i = p->head_len - slice_behind_mark(p->head, p->head_len).n;

	while (i < p->head_len && is_blank(p->head[i]))
		i++;
	return i;
}

static int probe_tef(const struct probe *p)
{
	size_t at;

	if (p->is_dir)
		return 0;
	at = first_char(p);
	if (at == p->head_len)
		return 0;
	if (p->head[at] == '{') {
		if (probe_has(p, "\"traceEvents\"") || probe_has(p, "\"rocprofiler-sdk-tool\""))
			return 95;
		/* Kineto may list devices and process groups for longer than this before its
		 * events. */
		return probe_has(p, "\"schemaVersion\"") && (probe_has(p, "\"deviceProperties\"") ||
							     probe_has(p, "\"distributedInfo\""))
			       ? 80
			       : 0;
	}
	/* so that a damaged .json gets an error with an offset, and is not an unknown file */
	if (p->head[at] != '[')
		return text_suffix(p->name, ".json") ? 10 : 0;
	if (probe_has(p, "\"ph\""))
		return 90;
	/* An empty, open array: a tracer that was killed at once. */
	for (at++; at < p->head_len; at++)
		if (!is_blank(p->head[at]) && p->head[at] != ']' && p->head[at] != 0)
			return 0;
	return 20;
}

static char *format_name(const struct tef_doc *d)
{
	switch (d->dialect) {
	case TEF_KINETO:
		return xstrdup(d->spyre ? "Trace Event Format (Kineto, torch-spyre)"
					: "Trace Event Format (Kineto)");
	case TEF_ROCPROF:
		return xstrdup("Trace Event Format (rocprof v1)");
	case TEF_UFTRACE:
		return xstrdup("Trace Event Format (uftrace)");
	case TEF_TENSORFLOW:
		return xstrdup("Trace Event Format (TensorFlow)");
	case TEF_ASCEND:
		return xstrdup("Trace Event Format (Ascend)");
	case TEF_FLEX:
		return xstrdup("Trace Event Format (FLEX)");
	case TEF_ROCPROFV3:
		return xstrdup("rocprofv3 JSON");
	case TEF_PROFRIG:
		return xasprintf("Trace Event Format (profrig%s%s)", *d->tracer ? " " : "",
				 d->tracer);
	case TEF_PLAIN:
	case TEF_SPYRE:
	case TEF_DIALECTS:
		break;
	}
	return xstrdup("Trace Event Format");
}

static void clock_set(struct tef *t)
{
	struct input *in = t->sink->ops->current(t->sink);

	free(in->format);
	in->format = format_name(&t->doc);
	in->clock = t->doc.clock;
	in->from_start = t->doc.clock == TRACE_CLOCK_OWN;
	in->driver_numbers = t->doc.dialect == TEF_ROCPROF || t->doc.dialect == TEF_ROCPROFV3;
	in->resolution_hz = t->doc.fractions || in->driver_numbers ? 1e9 : 1e6;
	if (t->doc.native)
		native_file_apply(&t->native, t->sink);
	t->sink->ops->clock(t->sink);
	tef_facts_doc(t);
}

/* Drops everything that was learned from the events. */
static void tef_forget(struct tef *t)
{
	tef_shapes_free(t->shapes);
	tef_memo_free(t->memo);
	t->shapes = NULL;
	t->memo = NULL;
	launch_shapes_release(&t->launches);
	tef_facts_release(t);
	tef_flex_release(t);
	t->n = (struct tef_counts){ .events = 0 };
	tef_tracks_release(t);
	t->again = false;
	VEC_RELEASE(&t->edges);
	VEC_RELEASE(&t->edge_places);
	VEC_RELEASE(&t->edge_args);
	u64map_release(&t->edge_place_at);
	VEC_RELEASE(&t->flex_edges);
	VEC_RELEASE(&t->asyncs);
	VEC_RELEASE(&t->flows);
	VEC_RELEASE(&t->slices);
	VEC_RELEASE(&t->late);
	VEC_RELEASE(&t->named);
	u64map_release(&t->named_at);
	VEC_RELEASE(&t->native_end);
	u64map_release(&t->native_ends);
	native_release(&t->native);
	t->native_last = SPAN_NONE;
}

static bool is_rocprofv3(const struct tef *t)
{
	const char *said = t->opts->dialect;

	return said ? strcmp(said, tef_dialects[TEF_ROCPROFV3]) == 0 : tef_is_rocprofv3(t);
}

static void tef_release(struct tef *t)
{
	tef_forget(t);
	input_unmap(&t->map);
	strbuf_release(&t->text);
}

/* A guess can be corrected only while the sink has this input alone. */
static int read_events(struct tef *t, bool alone, struct err *err)
{
	int r;

	if (!alone || !tef_doc_guess(t))
		tef_doc_rest(t);
	if (!alone)
		tef_walk_hear(t);
	clock_set(t);
	while ((r = tef_walk(t, err)) == TEF_AGAIN) {
		tef_forget(t);
		t->sink->ops->input_again(t->sink);
		clock_set(t);
	}
	return r;
}

/* The spans of profrig's BLAS tracer are library calls, too; it writes one on each line. */
static void blas_calls_push(struct tef *t)
{
	CLEANUP(library_calls_freep) struct library_calls *calls = library_calls_new();
	CLEANUP(library_log_freep) struct library_log *log = library_log_new(NULL, calls);
	struct library_counts n;

	library_calls_keep_order(calls);
	library_log_text(log, t->map.data, t->map.len);
	library_log_end(log, &n);
	t->sink->ops->library(t->sink, STEAL(calls));
	t->sink->ops->current(t->sink)->library = 0; /* they are counted as spans */
}

static int read_tef(const char *path, struct sink *s, const struct read_opts *o, struct err *err)
{
	CLEANUP(tef_release)
	struct tef t = { .path = path,
			 .opts = o,
			 .sink = s,
			 .text = STRBUF_INIT,
			 .fact.text = STRBUF_INIT,
			 .native = NATIVE_INIT,
			 .native_last = SPAN_NONE };
	struct input *in;
	int r = input_map_by(o->workers, path, 0, &t.map, err);

	if (r < 0)
		return r;
	/* A mapped file that was not cut to size by a killed writer ends in zeros. */
	while (t.map.len > 0 && t.map.data[t.map.len - 1] == 0)
		t.map.len--;
	if (is_rocprofv3(&t)) {
		t.doc = (struct tef_doc){ .dialect = TEF_ROCPROFV3,
					  .rank = RANK_NONE,
					  .clock = TRACE_CLOCK_BOOTTIME };
		s->ops->input(s, path, "tef");
		clock_set(&t);
		t.memo = tef_memo_new();
		r = tef_rocprofv3_read(&t, err);
	} else {
		r = tef_doc_scan(&t, err);
		if (r < 0)
			return r;
		r = read_events(&t, s->ops->input(s, path, "tef") == 0, err);
	}
	if (r >= 0 && !s->counts_only && strcmp(t.doc.tracer, "blas") == 0)
		blas_calls_push(&t);
	in = s->ops->current(s);
	in->partial |= r != 0;
	if (r >= 0 && in->spans + in->samples == 0)
		sink_warnf(s, W_EMPTY_INPUT, "%s holds neither spans nor samples", path);
	s->ops->input_end(s);
	return r;
}

/* Only rocprof writes a file of this format beside others of the same recording. */
static char *recording_tef(const struct probe *p)
{
	return probe_has(p, "\"BeginNs\"") || probe_has(p, "\"process_name\",\"sort_index\"") ||
			       probe_has(p, "\"rocprofiler-sdk-tool\"")
		       ? recording_named(p)
		       : NULL;
}

const struct reader reader_tef = {
	.name = "tef",
	.about = "Trace Event Format (Chrome, PyTorch/Kineto, rocprof v1, TensorFlow, Ascend, "
		 "FLEX, uftrace, profrig's tracers), rocprofv3 JSON",
	.suffixes = ".json[.gz|.zst]",
	.probe = probe_tef,
	.read = read_tef,
	.dialects = tef_dialects,
	.recording = recording_tef,
	.richness = 2,
};
