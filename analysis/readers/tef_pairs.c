/*
 * B and E of one thread come in time order by the format's rules, but files break them: buffers of
 * several cores are written one after the other, pairs are written whole. So a thread whose times
 * go back is paired twice without pushing, in the order of the file and in the order of time, and
 * the order that leaves fewer problems is taken.
 *
 * An end with a name closes the innermost open begin of that name; begins above it end there too
 * (mismatch). An end that fits no open begin is stray and closes nothing, except that a begin of
 * its name at the very same time makes a span of zero length with it.
 */
#include "tef.h"

#include "profrig/warnings.h"

#define MAX_ORPHANS 64

/* A begin that waits for its end, and where its span stands among those of its track. */
struct open_begin {
	uint32_t edge;
	size_t span;
};

struct pairing {
	struct tef *t;
	const struct tef_edge *edges;
	bool push;
	/* in the order of their begins: of two with equal times the first is around the second */
	VEC(struct span_def) spans;
	VEC(struct open_begin) open; /* innermost last */
	uint32_t *open_of; /* open begins by name: an end that fits none must not search them all */
	VEC(uint32_t) orphans; /* ends of the time in hand that fitted nothing */
	uint64_t strays, mismatches, left_open, negative;
};

void tef_edge_add(struct tef *t, const struct tef_event *ev)
{
	struct tef_edge e = { .end = ev->ph == 'E', .named = ev->name.p && ev->name.n > 0 };

	if (!tef_time(t, ev, &e.t_ns))
		return;
	if (t->edges.nr >= UINT32_MAX) {
		tef_bad_event(t, "more begin and end events than can be paired");
		return;
	}
	e.slot = tef_thread(t, &ev->pid, &ev->tid);
	e.name = tef_name_of(t, ev);
	e.category = tef_category_of(t, ev);
	e.args = tef_args(t, &ev->args);
	if (e.t_ns > t->tracks.v[e.slot].last_ns)
		t->tracks.v[e.slot].last_ns = e.t_ns;
	VEC_PUSH(&t->edges, e);
}

/* The span that begins here; its end is not known yet. */
static size_t span_begin(struct pairing *p, const struct tef_edge *b)
{
	if (p->push)
		VEC_PUSH(&p->spans, (struct span_def){ .kind = SPAN_HOST,
						       .start_ns = b->t_ns,
						       .name = b->name,
						       .category = b->category,
						       .args = b->args });
	return p->spans.nr - 1;
}

static void span_end(struct pairing *p, const struct tef_edge *b, size_t span, int64_t end_ns,
		     str_id args)
{
	p->negative += end_ns < b->t_ns;
	if (!p->push)
		return;
	p->spans.v[span].end_ns = end_ns;
	if (b->args == STR_NONE)
		p->spans.v[span].args = args;
}

static void orphans_flush(struct pairing *p, int64_t now_ns)
{
	if (p->orphans.nr == 0 || p->edges[p->orphans.v[0]].t_ns == now_ns)
		return;
	p->strays += p->orphans.nr;
	VEC_CLEAR(&p->orphans);
}

static void take_begin(struct pairing *p, uint32_t at)
{
	const struct tef_edge *b = &p->edges[at];
	size_t span = span_begin(p, b);

	for (size_t i = 0; i < p->orphans.nr; i++) {
		const struct tef_edge *e = &p->edges[p->orphans.v[i]];

		if (e->named && e->name == b->name) {
			p->orphans.v[i] = p->orphans.v[--p->orphans.nr];
			span_end(p, b, span, e->t_ns, e->args);
			return;
		}
	}
	VEC_PUSH(&p->open, (struct open_begin){ at, span });
	p->open_of[b->name]++;
}

static const struct tef_edge *innermost(const struct pairing *p)
{
	return &p->edges[p->open.v[p->open.nr - 1].edge];
}

static void close_innermost(struct pairing *p, int64_t end_ns, str_id args)
{
	const struct tef_edge *b = innermost(p);

	span_end(p, b, p->open.v[--p->open.nr].span, end_ns, args);
	p->open_of[b->name]--;
}

static void take_end(struct pairing *p, uint32_t at)
{
	const struct tef_edge *e = &p->edges[at];

	if (e->named ? p->open_of[e->name] == 0 : p->open.nr == 0) {
		if (p->orphans.nr < MAX_ORPHANS)
			VEC_PUSH(&p->orphans, at);
		else
			p->strays++;
		return;
	}
	while (e->named && innermost(p)->name != e->name) {
		close_innermost(p, e->t_ns, STR_NONE);
		p->mismatches++;
	}
	close_innermost(p, e->t_ns, e->args);
}

/* Problems met; with push the spans are kept. */
static uint64_t pair_track(struct pairing *p, const uint32_t *order, size_t n)
{
	VEC_CLEAR(&p->orphans);
	VEC_CLEAR(&p->spans);
	p->strays = p->mismatches = p->left_open = p->negative = 0;
	for (size_t i = 0; i < n; i++) {
		const struct tef_edge *e = &p->edges[order[i]];

		orphans_flush(p, e->t_ns);
		if (e->end)
			take_end(p, order[i]);
		else
			take_begin(p, order[i]);
	}
	p->strays += p->orphans.nr;
	p->left_open = p->open.nr;
	while (p->open.nr > 0) {
		const struct tef_edge *b = innermost(p);
		int64_t last_ns = p->t->tracks.v[b->slot].last_ns;

		close_innermost(p, last_ns > b->t_ns ? last_ns : b->t_ns, STR_NONE);
	}
	return p->strays + p->mismatches + p->left_open + p->negative;
}

static int by_time(const void *va, const void *vb, void *ctx)
{
	const struct tef_edge *edges = ctx;
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;

	if (edges[a].t_ns != edges[b].t_ns)
		return edges[a].t_ns < edges[b].t_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

static bool in_time_order(const struct tef_edge *edges, const uint32_t *order, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (edges[order[i]].t_ns < edges[order[i - 1]].t_ns)
			return false;
	return true;
}

static void push_track(struct pairing *p, uint32_t *order, size_t n)
{
	if (!in_time_order(p->edges, order, n)) {
		CLEANUP(xfreep) uint32_t *sorted = xmemdup(order, n * sizeof(*order));
		uint64_t as_written;

		qsort_r(sorted, n, sizeof(*sorted), by_time, (void *)(uintptr_t)p->edges);
		p->push = false;
		as_written = pair_track(p, order, n);
		if (pair_track(p, sorted, n) < as_written)
			memcpy(order, sorted, n * sizeof(*order));
	}
	p->push = true;
	pair_track(p, order, n);
	for (size_t i = 0; i < p->spans.nr; i++)
		tef_span(p->t, p->edges[order[0]].slot, &p->spans.v[i]);
}

static void tell(struct tef *t, const char *code, uint64_t count, const char *text)
{
	if (count > 0)
		t->sink->ops->warn(t->sink, code, count, text);
}

/* Indexes of the edges, track after track, each in the order of the file. starts has one entry more
 * than there are tracks. */
static uint32_t *edges_by_track(const struct tef *t, size_t *starts)
{
	uint32_t *order = xreallocarray(NULL, t->edges.nr, sizeof(*order));

	for (size_t i = 0; i < t->edges.nr; i++)
		starts[t->edges.v[i].slot + 1]++;
	for (size_t i = 0; i < t->tracks.nr; i++)
		starts[i + 1] += starts[i];
	for (size_t i = t->edges.nr; i-- > 0;) {
		/* filled from the back: the end of a track's part runs down to its start */
		order[--starts[t->edges.v[i].slot + 1]] = (uint32_t)i;
	}
	return order;
}

void tef_edges_push(struct tef *t)
{
	size_t tracks = t->tracks.nr;
	CLEANUP(xfreep) size_t *starts = NULL;
	CLEANUP(xfreep) uint32_t *order = NULL, *open_of = NULL;
	struct pairing p = { .t = t, .edges = t->edges.v };
	uint64_t strays = 0, mismatches = 0, left_open = 0;
	str_id names = 0;

	if (t->edges.nr == 0)
		return;
	starts = xcalloc(tracks + 1, sizeof(*starts));
	order = edges_by_track(t, starts);
	for (size_t i = 0; i < t->edges.nr; i++)
		names = t->edges.v[i].name > names ? t->edges.v[i].name : names;
	p.open_of = open_of = xcalloc((size_t)names + 1, sizeof(*open_of));
	for (size_t i = 0; i < tracks; i++) {
		/* the back-fill moved each track's end down to its start: starts[i + 1] is where
		 * track i begins */
		size_t from = starts[i + 1], to = i + 1 < tracks ? starts[i + 2] : t->edges.nr;

		if (to == from)
			continue;
		push_track(&p, order + from, to - from);
		strays += p.strays;
		mismatches += p.mismatches;
		left_open += p.left_open;
	}
	VEC_RELEASE(&p.spans);
	VEC_RELEASE(&p.open);
	VEC_RELEASE(&p.orphans);
	tell(t, W_STRAY_LEAVE, strays, "end events that close nothing were ignored");
	tell(t, W_LEAVE_MISMATCH, mismatches, "end events closed begins around others still open");
	tell(t, W_OPEN_SPAN, left_open,
	     "begin events without an end last to the end of their thread");
}
