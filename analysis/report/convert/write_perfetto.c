/*
 * Perfetto's protobuf format, for its viewer and its trace processor, in less than half the bytes
 * of Trace Event Format. A row of packets:
 *
 *	clock snapshot	the trace's clock, and real time where it is known
 *	native		what only profrig reads of the file (native.h; pf_native.c reads it)
 *	track		one of each track and each series, followed by a native packet
 *	then each track, row after row (spans that overlap get rows of their own), and each series:
 *		state	of a sequence of its own: a clock that counts on from event to event, the
 *			track that its events have
 *		events	begin, end, instant, or a value; names are interned where they first occur
 *
 * Times are those of the model where it has a real clock, else they count from the first instant
 * on. A link is a flow with an id of its own. An event's field 9788 has the rest: kind, unless it
 * is work on a queue or a host span elsewhere, correlation, ends of links, and arguments that no
 * annotations give back as they are.
 */
#include "converters_private.h"
#include "perfetto_out.h"
#include "tef_out.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/progress.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/nest_rows.h"
#include "profrig/model/replay.h"

#define PROGRESS_EVENTS 65536

enum { CLOCK_REAL = 1, CLOCK_MONO = 3, CLOCK_BOOT = 6, CLOCK_OF_SEQUENCE = 64 };
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
/* Fields of an event, and of its native message. */
enum {
	TE_CATEGORY = 3,
	TE_TYPE = 9,
	TE_NAME = 10,
	TE_TRACK = 11,
	TE_VALUE = 44,
	TE_FLOW = 47,
	TE_NATIVE = 9788
};
enum { NE_KIND = 1, NE_CORRELATION, NE_ARGS, NE_LINK };

struct writer {
	const struct model *m;
	struct pfo_places places;
	struct pfo_texts names, categories;
	struct pfo_args args;
	struct nest_rows rows;
	struct span_links links;
	struct text_out out;
	struct strbuf event, interned, native;
	VEC(int64_t) open; /* ends of the open spans of a row */
	uint32_t *row;     /* by span of a track */
	uint64_t *of_row;  /* those spans, row after row */
	uint32_t seq;
	int64_t base_ns, last_ns; /* last_ns: of the sequence */
	uint64_t events;
};

/* ---- packets ---- */

static uint64_t file_time(const struct writer *w, int64_t t_ns)
{
	return (uint64_t)t_ns - (uint64_t)w->base_ns;
}

static void clock_put(struct strbuf *to, uint32_t id, uint64_t t, bool incremental)
{
	size_t at = pb_open(to, 1);

	pb_put_u64(to, 1, id);
	pb_put_u64(to, 2, t);
	if (incremental)
		pb_put_u64(to, 3, 1);
	pb_close_tight(to, at);
}

static uint32_t clock_id(const struct model *m)
{
	switch (model_clock(m)) {
	case TRACE_CLOCK_REALTIME:
		return CLOCK_REAL;
	case TRACE_CLOCK_MONOTONIC:
		return CLOCK_MONO;
	case TRACE_CLOCK_OWN:
	case TRACE_CLOCK_BOOTTIME:
		break;
	}
	return CLOCK_BOOT;
}

/* What the trace's clock showed at the start, or at a moment whose real time is known. */
static void snapshot_put(struct writer *w, struct strbuf *to)
{
	const struct input *in = w->m->inputs.nr ? &w->m->inputs.v[0] : NULL;
	uint32_t id = clock_id(w->m);
	bool anchored = in && in->has_realtime_anchor && id != CLOCK_REAL &&
			in->anchor_own_ns >= w->base_ns && in->anchor_realtime_ns >= 0;
	size_t packet = pb_open(to, 1), at = pb_open(to, PFO_SNAPSHOT);

	clock_put(to, id, file_time(w, anchored ? in->anchor_own_ns : w->m->first_ns), false);
	if (anchored)
		clock_put(to, CLOCK_REAL, (uint64_t)in->anchor_realtime_ns, false);
	pb_put_u64(to, 2, id);
	pb_close_tight(to, at);
	pb_close_tight(to, packet);
}

static void file_put(struct writer *w, struct strbuf *to)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	size_t packet, at;

	snapshot_put(w, to);
	native_file_text(w->m, w->base_ns, &text);
	packet = pb_open(to, 1);
	at = pb_open(to, PFO_NATIVE);
	pb_put_bytes(to, 1, text.buf, text.len);
	pb_close_tight(to, at);
	pb_close_tight(to, packet);
	pfo_places_put(&w->places, to);
}

/* The next sequence, whose events are of this track and begin at t_ns. */
static void sequence_begin(struct writer *w, uint64_t uuid, int64_t t_ns)
{
	struct strbuf *to = &w->out.text;
	size_t packet = pb_open(to, 1), at;

	w->seq++;
	w->names.next = w->categories.next = w->args.texts.next = 0;
	w->last_ns = t_ns;
	pb_put_u64(to, PFO_SEQUENCE, w->seq);
	pb_put_u64(to, PFO_FLAGS, FLAG_CLEARED);
	at = pb_open(to, PFO_SNAPSHOT);
	clock_put(to, CLOCK_OF_SEQUENCE, file_time(w, t_ns), true);
	clock_put(to, clock_id(w->m), file_time(w, t_ns), false);
	pb_close_tight(to, at);
	at = pb_open(to, PFO_DEFAULTS);
	pb_put_u64(to, PFO_CLOCK_ID, CLOCK_OF_SEQUENCE);
	{
		size_t event = pb_open(to, PFO_EVENT);

		pb_put_u64(to, TE_TRACK, uuid);
		pb_close_tight(to, event);
	}
	pb_close_tight(to, at);
	pb_close_tight(to, packet);
}

/* The packet of w->event with what it interns. */
static void event_put(struct writer *w, int64_t t_ns)
{
	struct strbuf *to = &w->out.text;
	size_t packet = pb_open(to, 1);

	pb_put_u64(to, PFO_TIME, (uint64_t)t_ns - (uint64_t)w->last_ns);
	pb_put_u64(to, PFO_SEQUENCE, w->seq);
	pb_put_u64(to, PFO_FLAGS, FLAG_NEEDS_STATE);
	if (w->interned.len)
		pb_put_bytes(to, PFO_INTERNED, w->interned.buf, w->interned.len);
	pb_put_bytes(to, PFO_EVENT, w->event.buf, w->event.len);
	pb_close_tight(to, packet);
	w->last_ns = t_ns;
	strbuf_clear(&w->event);
	strbuf_clear(&w->interned);
	text_out_step(&w->out);
	if (++w->events % PROGRESS_EVENTS == 0)
		progress_update(w->events);
}

/* ---- spans ---- */

/* field: of the event; table: of the interned data */
static void text_put(struct writer *w, struct pfo_texts *texts, str_id id, uint32_t field,
		     uint32_t table)
{
	uint32_t iid;
	bool fresh;
	size_t at;

	if (intern_len(w->m->strings, id) == 0)
		return;
	iid = pfo_text(texts, id, w->seq, &fresh);
	pb_put_u64(&w->event, field, iid);
	if (!fresh)
		return;
	at = pb_open(&w->interned, table);
	pb_put_u64(&w->interned, 1, iid);
	pb_put_bytes(&w->interned, 2, model_str(w->m, id), intern_len(w->m->strings, id));
	pb_close_tight(&w->interned, at);
}

static void links_put(struct writer *w, uint64_t i)
{
	for (uint64_t k = w->links.first[i]; k < w->links.first[i + 1]; k++) {
		uint64_t link = w->links.link[k] / 2;

		pb_put_i64(&w->event, TE_FLOW, link + 1);
		pb_put_u64(&w->native, NE_LINK,
			   (link + 1) << 3 | (uint64_t)w->m->links.kind[link] << 1 |
				   w->links.link[k] % 2);
	}
}

static void args_put(struct writer *w, uint64_t i)
{
	str_id args = span_args(&w->m->spans, i);
	const char *text;
	size_t n;

	if (args == STR_NONE)
		return;
	text = model_str(w->m, args);
	n = intern_len(w->m->strings, args);
	if (!pfo_args_put(&w->args, text, n, w->seq, &w->event, &w->interned))
		pb_put_bytes(&w->native, NE_ARGS, text, n);
}

static void begin_put(struct writer *w, uint64_t i)
{
	const struct span_columns *c = &w->m->spans;
	enum span_kind kind = (enum span_kind)c->kind[i];
	enum span_kind usual =
		w->m->tracks.v[c->track[i]].kind == TRACK_QUEUE ? SPAN_KERNEL : SPAN_HOST;

	strbuf_clear(&w->native);
	text_put(w, &w->categories, c->category[i], TE_CATEGORY, 1);
	pb_put_u64(&w->event, TE_TYPE, kind == SPAN_INSTANT ? TYPE_INSTANT : TYPE_BEGIN);
	text_put(w, &w->names, c->name[i], TE_NAME, 2);
	if (kind != usual && kind != SPAN_INSTANT)
		pb_put_u64(&w->native, NE_KIND, (uint64_t)kind + 1);
	if (span_correlation(c, i))
		pb_put_u64(&w->native, NE_CORRELATION, span_correlation(c, i));
	if (w->links.first)
		links_put(w, i);
	args_put(w, i);
	if (w->native.len)
		pb_put_bytes(&w->event, TE_NATIVE, w->native.buf, w->native.len);
	event_put(w, c->start_ns[i]);
}

/* Ends of the open spans up to a time. */
static void ends_put(struct writer *w, int64_t t_ns)
{
	while (w->open.nr > 0 && w->open.v[w->open.nr - 1] <= t_ns) {
		pb_put_u64(&w->event, TE_TYPE, TYPE_END);
		event_put(w, w->open.v[--w->open.nr]);
	}
}

static void row_put(struct writer *w, uint64_t uuid, const uint64_t *spans, size_t nr)
{
	const struct span_columns *c = &w->m->spans;

	sequence_begin(w, uuid, c->start_ns[spans[0]]);
	for (size_t k = 0; k < nr; k++) {
		uint64_t i = spans[k];

		ends_put(w, c->start_ns[i]);
		begin_put(w, i);
		if (c->kind[i] != SPAN_INSTANT)
			VEC_PUSH(&w->open, c->end_ns[i]);
	}
	ends_put(w, INT64_MAX);
}

/* The rows of a track's spans, and how many there are. */
static uint32_t rows_find(struct writer *w, const struct track *t)
{
	const struct span_columns *c = &w->m->spans;
	uint32_t rows = 1, last = 0;

	for (uint64_t k = 0; k < t->spans; k++) {
		uint64_t i = t->first_span + k;

		/* an instant stays behind what stands in front of it at its time */
		if (c->kind[i] != SPAN_INSTANT)
			last = nest_rows_put(&w->rows, 0, c->start_ns[i], c->end_ns[i],
					     nest_rows_nests(w->m, i));
		else if (k == 0 || c->start_ns[i - 1] != c->start_ns[i])
			last = 0;
		w->row[k] = last;
		rows = last >= rows ? last + 1 : rows;
	}
	nest_rows_release(&w->rows);
	w->rows = (struct nest_rows)NEST_ROWS_INIT;
	return rows;
}

static void track_put(struct writer *w, track_id id)
{
	const struct track *t = &w->m->tracks.v[id];
	uint32_t rows = rows_find(w, t);
	CLEANUP(xfreep) uint64_t *starts = xcalloc(rows + 1, sizeof(*starts));

	for (uint64_t k = 0; k < t->spans; k++)
		starts[w->row[k] + 1]++;
	for (uint32_t r = 0; r < rows; r++)
		starts[r + 1] += starts[r];
	for (uint64_t k = 0; k < t->spans; k++)
		w->of_row[starts[w->row[k]]++] = t->first_span + k;
	/* each start has moved to the end of its row */
	for (uint32_t r = 0; r < rows; r++) {
		uint64_t from = r ? starts[r - 1] : 0;
		uint64_t uuid = r ? pfo_row_put(&w->places, id, r, &w->out.text)
				  : pfo_track_uuid(&w->places, id);

		if (starts[r] > from)
			row_put(w, uuid, w->of_row + from, starts[r] - from);
	}
}

/* ---- counters ---- */

static void series_put(struct writer *w, series_id id)
{
	const struct series *se = &w->m->series.v[id];

	if (se->t_ns.nr == 0)
		return;
	sequence_begin(w, pfo_series_uuid(&w->places, id), se->t_ns.v[0]);
	for (size_t k = 0; k < se->t_ns.nr; k++) {
		pb_put_u64(&w->event, TE_TYPE, TYPE_COUNTER);
		pb_put_double(&w->event, TE_VALUE, se->value.v[k]);
		event_put(w, se->t_ns.v[k]);
	}
}

/* ---- the file ---- */

static void writer_init(struct writer *w, const struct model *m)
{
	uint64_t most = 0;

	*w = (struct writer){ .m = m,
			      .rows = NEST_ROWS_INIT,
			      .out = TEXT_OUT_INIT,
			      .event = STRBUF_INIT,
			      .interned = STRBUF_INIT,
			      .native = STRBUF_INIT };
	w->base_ns = model_clock(m) != TRACE_CLOCK_OWN && m->first_ns >= 0 ? 0 : m->first_ns;
	pfo_places_init(m, &w->places);
	pfo_args_init(&w->args);
	span_links_init(m, &w->links);
	for (size_t i = 0; i < m->tracks.nr; i++)
		most = m->tracks.v[i].spans > most ? m->tracks.v[i].spans : most;
	w->row = xcalloc(most + 1, sizeof(*w->row));
	w->of_row = xcalloc(most + 1, sizeof(*w->of_row));
}

static void writer_release(struct writer *w)
{
	text_out_drop(&w->out);
	pfo_places_release(&w->places);
	pfo_args_release(&w->args);
	pfo_texts_release(&w->names);
	pfo_texts_release(&w->categories);
	span_links_release(&w->links);
	nest_rows_release(&w->rows);
	strbuf_release(&w->event);
	strbuf_release(&w->interned);
	strbuf_release(&w->native);
	VEC_RELEASE(&w->open);
	free(w->row);
	free(w->of_row);
}

static uint64_t events_of(const struct model *m)
{
	uint64_t n = 2 * m->spans.nr;

	for (size_t i = 0; i < m->series.nr; i++)
		n += m->series.v[i].t_ns.nr;
	return n;
}

static int write_perfetto(const struct convert_job *job, struct convert_result *ret,
			  struct err *err)
{
	CLEANUP(writer_release) struct writer w;
	int r;

	writer_init(&w, job->model);
	r = text_out_open(job->path, &w.out, err);
	if (r < 0)
		return r;
	progress_items(events_of(w.m));
	file_put(&w, &w.out.text);
	for (size_t i = 0; i < w.places.order.nr; i++)
		if (w.m->tracks.v[w.places.order.at[i]].spans > 0)
			track_put(&w, w.places.order.at[i]);
	for (size_t i = 0; i < w.m->series.nr; i++)
		series_put(&w, (series_id)i);
	r = text_out_commit(&w.out, err);
	if (r < 0)
		return r;
	ret->first = xstrdup(job->path);
	ret->files = 1;
	ret->bytes = w.out.bytes;
	return 0;
}

static const char *const suffixes[] = { ".perfetto-trace", ".pftrace.zst", ".pftrace.gz",
					".pftrace", NULL };

const struct converter converter_perfetto = {
	.name = "perfetto",
	.about = "Perfetto's protobuf format, smaller than JSON; holds everything",
	.suffixes = suffixes,
	.write = write_perfetto,
};
