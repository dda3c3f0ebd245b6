/*
 * B and E of one thread are in time order by the format's rules, but files break them: buffers of
 * several cores are written one after the other, pairs are written whole. So a thread whose times
 * go back is paired twice without pushing, in the order of the file and in the order of time, and
 * the order with fewer problems wins.
 *
 * An end with a name closes the innermost open begin of that name; begins above it end there too
 * (mismatch). An end that fits no open begin is stray and closes nothing, except that a begin of
 * its name at the very same time makes a span of zero length with it.
 *
 * The track of a span needs both of its events: of device work either may have category, queue or
 * correlation. So they are paired by pid and tid, and tracks are made afterwards.
 */
#include "tef.h"

#include "profrig/model/warnings.h"

#define MAX_ORPHANS 64

/* An open begin, and the index of its span among those of its track. */
struct open_begin {
	uint32_t edge;
	size_t span;
};

#define NO_END UINT32_MAX

struct paired {
	int64_t end_ns;
	uint32_t begin, end; /* edges; NO_END: it was closed by another one's end, or never */
};

struct pairing {
	struct tef *t;
	const struct tef_edge *edges;
	bool push;
	/* in the order of their begins: of two with equal times the first is around the second */
	VEC(struct paired) spans;
	VEC(struct open_begin) open; /* innermost last */
	uint32_t *open_of; /* open begins by name: an end that fits none must not search them all */
	VEC(uint32_t) orphans; /* unmatched ends of the current time */
	uint64_t strays, mismatches, left_open, negative;
};

static bool same_number(const struct tef_id *a, const struct tef_id *b)
{
	return a->type == TEF_ID_NUMBER && b->type == TEF_ID_NUMBER && a->number == b->number;
}

uint32_t tef_edge_place(struct tef *t, const struct tef_event *ev)
{
	const struct tef_id *tid = ev->tid.type == TEF_ID_NONE ? &ev->pid : &ev->tid;
	const struct tef_edge_place *last;
	uint32_t *at;

	if (t->edges.nr > 0) {
		last = &t->edge_places.v[t->edges.v[t->edges.nr - 1].place];
		if (same_number(&last->pid, &ev->pid) && same_number(&last->tid, tid))
			return t->edges.v[t->edges.nr - 1].place;
	}
	at = u64map_at(&t->edge_place_at, tef_place_key(&ev->pid, tid));
	if (*at == U64MAP_NONE) {
		*at = (uint32_t)t->edge_places.nr;
		VEC_PUSH(&t->edge_places, (struct tef_edge_place){ .pid = ev->pid,
								   .tid = *tid,
								   .last_ns = INT64_MIN });
	}
	return *at;
}

/* For dialects with devices only. */
static void edge_device(struct tef *t, const struct tef_event *ev, struct tef_edge *e)
{
	struct tef_args a;

	if (ev->cat.p)
		e->class = (uint8_t)tef_kineto_class_of(ev);
	if (!ev->args.p || (ev->cat.p && !tef_class_has_args(e->class)))
		return;
	a = tef_kineto_args(&t->doc, &ev->args);
	VEC_PUSH(&t->edge_args, a);
	e->said = (uint32_t)t->edge_args.nr;
}

void tef_edge_add(struct tef *t, const struct tef_event *ev)
{
	struct tef_edge e = { .end = ev->ph == 'E', .named = ev->name.p && ev->name.n > 0 };

	if (!tef_time(t, ev, &e.t_ns))
		return;
	if (t->edges.nr >= UINT32_MAX) {
		tef_bad_event(t, "more begin and end events than can be paired");
		return;
	}
	e.class = ev->cat.p ? TEF_CLASS_OTHER : TEF_CLASS_UNKNOWN;
	e.place = tef_edge_place(t, ev);
	e.name = tef_name_of(t, ev);
	e.category = tef_category_of(t, ev);
	e.args = tef_args(t, &ev->args);
	if (t->doc.dialect == TEF_KINETO)
		edge_device(t, ev, &e);
	else if (t->doc.dialect == TEF_FLEX)
		e.said = tef_flex_edge(t, ev);
	if (e.t_ns > t->edge_places.v[e.place].last_ns)
		t->edge_places.v[e.place].last_ns = e.t_ns;
	VEC_PUSH(&t->edges, e);
}

/* The span that begins here; its end is not known yet. */
static size_t span_begin(struct pairing *p, uint32_t begin)
{
	if (p->push)
		VEC_PUSH(&p->spans, (struct paired){ .begin = begin, .end = NO_END });
	return p->spans.nr - 1;
}

static void span_end(struct pairing *p, uint32_t begin, size_t span, int64_t end_ns, uint32_t end)
{
	p->negative += end_ns < p->edges[begin].t_ns;
	if (!p->push)
		return;
	p->spans.v[span].end_ns = end_ns;
	p->spans.v[span].end = end;
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
	size_t span = span_begin(p, at);

	for (size_t i = 0; i < p->orphans.nr; i++) {
		uint32_t end = p->orphans.v[i];
		const struct tef_edge *e = &p->edges[end];

		if (e->named && e->name == b->name) {
			p->orphans.v[i] = p->orphans.v[--p->orphans.nr];
			span_end(p, at, span, e->t_ns, end);
			return;
		}
	}
	VEC_PUSH(&p->open, (struct open_begin){ at, span });
	p->open_of[b->name]++;
}

static const struct tef_edge *innermost_open(const struct pairing *p)
{
	return &p->edges[p->open.v[p->open.nr - 1].edge];
}

static void close_innermost(struct pairing *p, int64_t end_ns, uint32_t end)
{
	const struct open_begin *o = &p->open.v[--p->open.nr];

	span_end(p, o->edge, o->span, end_ns, end);
	p->open_of[p->edges[o->edge].name]--;
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
	while (e->named && innermost_open(p)->name != e->name) {
		close_innermost(p, e->t_ns, NO_END);
		p->mismatches++;
	}
	close_innermost(p, e->t_ns, at);
}

/* The latest known time of the track of a span without an end. */
static int64_t place_last(const struct tef *t, const struct tef_edge_place *place)
{
	tef_slot slots[] = { tef_thread_known(t, &place->pid, &place->tid),
			     u64map_get(&t->places, tef_place_key(&place->pid, &place->tid)) };
	int64_t last_ns = place->last_ns;

	for (size_t i = 0; i < ARRAY_LEN(slots); i++)
		if (slots[i] != TEF_SLOT_NONE && t->tracks.v[slots[i]].last_ns > last_ns)
			last_ns = t->tracks.v[slots[i]].last_ns;
	return last_ns;
}

/* Problems met; with push the spans are kept. */
static uint64_t pair_track(struct pairing *p, const uint32_t *order, size_t n)
{
	int64_t last_ns = place_last(p->t, &p->t->edge_places.v[p->edges[order[0]].place]);

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
		const struct tef_edge *b = innermost_open(p);

		close_innermost(p, last_ns > b->t_ns ? last_ns : b->t_ns, NO_END);
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

/* Fields that the begin's args lack come from the end's. */
static struct tef_args args_both(const struct tef *t, const struct tef_edge *b,
				 const struct tef_edge *e)
{
	struct tef_args none = { .rank = t->doc.rank };
	struct tef_args a = b->said ? t->edge_args.v[b->said - 1] : none;
	struct tef_args o = e && e->said ? t->edge_args.v[e->said - 1] : none;

	if (a.device.type == TEF_ID_NONE)
		a.device = o.device;
	if (a.stream.type == TEF_ID_NONE)
		a.stream = o.stream;
	if (a.rank == t->doc.rank)
		a.rank = o.rank;
	if (!a.has_correlation && (o.has_correlation || a.correlation == 0)) {
		a.has_correlation = o.has_correlation;
		a.correlation = o.correlation;
	}
	return a;
}

static void push_pair(struct tef *t, const struct paired *s)
{
	const struct tef_edge *b = &t->edges.v[s->begin];
	const struct tef_edge *e = s->end == NO_END ? NULL : &t->edges.v[s->end];
	const struct tef_edge_place place = t->edge_places.v[b->place];
	bool ends_class = b->class == TEF_CLASS_UNKNOWN && e;
	enum tef_class class = (enum tef_class)(ends_class ? e->class : b->class);
	struct span_def d = { .kind = SPAN_HOST,
			      .start_ns = b->t_ns,
			      .end_ns = s->end_ns,
			      .name = b->name,
			      .category = ends_class ? e->category : b->category,
			      .args = b->args == STR_NONE && e ? e->args : b->args };

	struct tef_event ev = { .pid = place.pid, .tid = place.tid };

	if (t->doc.dialect == TEF_FLEX) {
		tef_flex_pair(t, &d, b->said, e ? e->said : 0, b->place);
		return;
	}
	if (tef_class_is_kineto(class)) {
		struct tef_args a = args_both(t, b, e);

		tef_kineto_put(t, &ev, class, &a, &d);
		return;
	}
	if (tef_named_put(t, &ev, &d))
		return;
	tef_span(t, tef_thread(t, &place.pid, &place.tid), &d);
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
		push_pair(p->t, &p->spans.v[i]);
}

/* Indexes of the edges, place after place, each in the order of the file. starts has one entry more
 * than there are places. */
static uint32_t *edges_by_place(const struct tef *t, size_t *starts)
{
	uint32_t *order = xreallocarray(NULL, t->edges.nr, sizeof(*order));

	for (size_t i = 0; i < t->edges.nr; i++)
		starts[t->edges.v[i].place + 1]++;
	for (size_t i = 0; i < t->edge_places.nr; i++)
		starts[i + 1] += starts[i];
	for (size_t i = t->edges.nr; i-- > 0;) {
		/* filled from the back: the end of a place's part runs down to its start */
		order[--starts[t->edges.v[i].place + 1]] = (uint32_t)i;
	}
	return order;
}

void tef_edges_push(struct tef *t)
{
	size_t places = t->edge_places.nr;
	CLEANUP(xfreep) size_t *starts = NULL;
	CLEANUP(xfreep) uint32_t *order = NULL, *open_of = NULL;
	struct pairing p = { .t = t, .edges = t->edges.v };
	uint64_t strays = 0, mismatches = 0, left_open = 0;
	str_id names = 0;

	if (t->edges.nr == 0)
		return;
	starts = xcalloc(places + 1, sizeof(*starts));
	order = edges_by_place(t, starts);
	for (size_t i = 0; i < t->edges.nr; i++)
		names = t->edges.v[i].name > names ? t->edges.v[i].name : names;
	p.open_of = open_of = xcalloc((size_t)names + 1, sizeof(*open_of));
	for (size_t i = 0; i < places; i++) {
		/* the back-fill moved each place's end down to its start: starts[i + 1] is where
		 * place i begins */
		size_t from = starts[i + 1], to = i + 1 < places ? starts[i + 2] : t->edges.nr;

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
	sink_warn(t->sink, W_STRAY_LEAVE, strays, "end events that close nothing were ignored");
	sink_warn(t->sink, W_LEAVE_MISMATCH, mismatches,
		  "end events closed begins around others still open");
	sink_warn(t->sink, W_OPEN_SPAN, left_open,
		  "begin events without an end last to the end of their thread");
}
