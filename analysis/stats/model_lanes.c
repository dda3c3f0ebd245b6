#include "model_lanes.h"

#include <string.h>

#include "profrig/base/search.h"
#include "profrig/base/xalloc.h"

#define ROUND_EVENTS (1 << 20)

struct open_span {
	int64_t end_ns, piece_ns; /* piece_ns: INT64_MAX when it has no piece */
	uint32_t node, piece_node;
};

struct reader {
	const struct model *m;
	const struct model_lane *lane;
	uint64_t next, end; /* spans of the columns */
	size_t piece;       /* of model.pieces, not before `next` */
	/* LANE_CALLS: a stack; else a heap, the earliest end on top */
	VEC(struct open_span) open;
	bool in_piece; /* the innermost call is in its piece */
	VEC(struct lane_event) events;
};

static void reader_init(struct reader *r, const struct model *m, const struct model_lane *lane)
{
	const struct track *t = &m->tracks.v[lane->def.track];

	*r = (struct reader){ .m = m, .lane = lane, .next = t->first_span };
	r->end = t->first_span + t->spans;
	r->piece = m->pieces.nr ? model_first_piece(m, t->first_span) : 0;
}

static void event_put(struct reader *r, int64_t t_ns, uint32_t node, int32_t change)
{
	VEC_PUSH(&r->events, (struct lane_event){ t_ns, node, change });
}

/* Moves to the next span that counts on this lane. */
static bool span_settle(struct reader *r)
{
	for (; r->next < r->end; r->next++) {
		if (r->lane->def.mode == LANE_WORK
			    ? span_is_work(r->m, r->next)
			    : r->m->spans.kind[r->next] != SPAN_INSTANT &&
				      r->lane->node_of_span[r->next] != NODE_NONE)
			return true;
	}
	return false;
}

static struct open_span span_take(struct reader *r)
{
	const struct model *m = r->m;
	uint64_t i = r->next++;
	struct open_span o = { .end_ns = m->spans.end_ns[i],
			       .piece_ns = INT64_MAX,
			       .node = r->lane->node_of_span[i] };

	while (r->piece < m->pieces.nr && m->pieces.v[r->piece].span < i)
		r->piece++;
	if (r->lane->node_of_piece && r->piece < m->pieces.nr && m->pieces.v[r->piece].span == i) {
		o.piece_ns = m->pieces.v[r->piece].start_ns;
		o.piece_node = r->lane->node_of_piece[r->piece];
	}
	return o;
}

/* ---- calls: a stack ---- */

static void innermost_put(struct reader *r, int64_t t_ns)
{
	const struct open_span *top;

	r->open.nr--;
	/* what ended below a call that outlived it is over, too */
	while (r->open.nr > 0 && r->open.v[r->open.nr - 1].end_ns <= t_ns)
		r->open.nr--;
	if (r->open.nr == 0) {
		event_put(r, t_ns, NODE_NONE, -1);
		return;
	}
	top = &r->open.v[r->open.nr - 1];
	r->in_piece = top->piece_ns <= t_ns;
	event_put(r, t_ns, r->in_piece ? top->piece_node : top->node, 0);
}

static bool step_calls(struct reader *r)
{
	bool more = span_settle(r);
	int64_t start_ns = more ? r->m->spans.start_ns[r->next] : INT64_MAX;
	const struct open_span *top = r->open.nr ? &r->open.v[r->open.nr - 1] : NULL;

	if (!more && !top)
		return false;
	if (top && !r->in_piece && top->piece_ns < top->end_ns && top->piece_ns <= start_ns) {
		r->in_piece = true;
		event_put(r, top->piece_ns, top->piece_node, 0);
	} else if (top && top->end_ns <= start_ns) {
		innermost_put(r, top->end_ns);
	} else {
		struct open_span o = span_take(r);

		event_put(r, start_ns, o.node, r->open.nr == 0);
		VEC_PUSH(&r->open, o);
		r->in_piece = false;
	}
	return true;
}

/* ---- work, cover: a heap ---- */

static void heap_push(struct reader *r, struct open_span o)
{
	size_t i = r->open.nr;

	VEC_PUSH(&r->open, o);
	for (; i > 0 && r->open.v[(i - 1) / 2].end_ns > o.end_ns; i = (i - 1) / 2)
		r->open.v[i] = r->open.v[(i - 1) / 2];
	r->open.v[i] = o;
}

static void heap_pop(struct reader *r)
{
	struct open_span last = r->open.v[--r->open.nr];
	size_t n = r->open.nr, i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < n && r->open.v[child + 1].end_ns < r->open.v[child].end_ns)
			child++;
		if (child >= n || r->open.v[child].end_ns >= last.end_ns)
			break;
		r->open.v[i] = r->open.v[child];
		i = child;
	}
	if (n > 0)
		r->open.v[i] = last;
}

static bool step_pieces(struct reader *r)
{
	bool more = span_settle(r);

	if (r->open.nr > 0 && (!more || r->open.v[0].end_ns <= r->m->spans.start_ns[r->next])) {
		event_put(r, r->open.v[0].end_ns, r->open.v[0].node, -1);
		heap_pop(r);
		return true;
	}
	if (!more)
		return false;
	event_put(r, r->m->spans.start_ns[r->next], r->lane->node_of_span[r->next], 1);
	heap_push(r, span_take(r));
	return true;
}

/* ---- rounds ---- */

/* Returns false when the lane is read to its end. */
static bool events_fill(struct reader *r, size_t max)
{
	while (r->events.nr < max) {
		if (!(r->lane->def.mode == LANE_CALLS ? step_calls(r) : step_pieces(r)))
			return false;
	}
	return true;
}

static size_t events_before(const struct reader *r, int64_t horizon_ns)
{
	return LOWER_BOUND(i, 0, r->events.nr, r->events.v[i].t_ns < horizon_ns);
}

static void events_drop(struct reader *r, size_t n)
{
	r->events.nr -= n;
	if (n > 0)
		memmove(r->events.v, r->events.v + n, r->events.nr * sizeof(*r->events.v));
}

/* The time up to which every lane is complete; INT64_MAX when all are read to their ends. */
static int64_t readers_fill(struct reader *readers, size_t nr, size_t max)
{
	int64_t horizon_ns = INT64_MAX;

	for (size_t i = 0; i < nr; i++) {
		struct reader *r = &readers[i];

		if (events_fill(r, max) && r->events.v[r->events.nr - 1].t_ns < horizon_ns)
			horizon_ns = r->events.v[r->events.nr - 1].t_ns;
	}
	return horizon_ns;
}

void model_lanes_run(const struct model *m, const struct model_lane *lanes, size_t nr,
		     size_t round_events, struct energy_run *run)
{
	CLEANUP(xfreep) struct reader *readers = xcalloc(nr + 1, sizeof(*readers));
	CLEANUP(xfreep) struct lane_feed *feeds = xcalloc(nr + 1, sizeof(*feeds));
	size_t max = (round_events ? round_events : ROUND_EVENTS) / (nr + 1) + 1;
	int64_t horizon_ns;

	for (size_t i = 0; i < nr; i++)
		reader_init(&readers[i], m, &lanes[i]);
	do {
		size_t fed = 0;

		horizon_ns = readers_fill(readers, nr, max);
		for (size_t i = 0; i < nr; i++) {
			feeds[i] = (struct lane_feed){
				.v = readers[i].events.v,
				.nr = events_before(&readers[i], horizon_ns),
				.nodes = lanes[i].nodes,
				.rows = lanes[i].rows,
				.row_of = lanes[i].row_of,
			};
			if (horizon_ns == INT64_MAX)
				feeds[i].nr = readers[i].events.nr;
			fed += feeds[i].nr;
		}
		energy_run_round(run, feeds, horizon_ns, NULL);
		for (size_t i = 0; i < nr; i++)
			events_drop(&readers[i], feeds[i].nr);
		/* more events at one time than a buffer holds */
		max = fed ? max : 2 * max;
	} while (horizon_ns != INT64_MAX);
	for (size_t i = 0; i < nr; i++) {
		VEC_RELEASE(&readers[i].open);
		VEC_RELEASE(&readers[i].events);
	}
}
