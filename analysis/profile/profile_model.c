/*
 * The spans of a finished model, read into lanes: in the order of the columns a span ends what
 * ended before it, gets its node and is open. The innermost call at a moment is the open one that
 * started last; a call that outlives its parent moves to its piece's node where the parent's own
 * part ends (model.h, partial overlap).
 */
#include "profile_private.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

struct open_span {
	int64_t end_ns, piece_ns; /* piece_ns: INT64_MAX without a piece */
	uint32_t node, piece_node;
};

struct open_spans {
	VEC(struct open_span) v;
};

struct span_reader {
	uint64_t next, end; /* spans of the columns */
	size_t piece;       /* of model.pieces, not before `next` */
	/* calls: a stack, below whose top some may have ended; work: a heap by end */
	struct open_spans open;
	struct open_spans covers; /* a heap: rows, where calls overlap */
	struct u64map union_of;   /* by id of calls: index in profile_track.unions */
	uint32_t *node_of_span;   /* by span: a thread's node; NULL: no launch needs it */
	uint32_t *node_of_piece;  /* by index of model.pieces */
	struct kernel_shapes shapes;
};

/* ---- a heap, the earliest end on top ---- */

static void heap_push(struct open_spans *h, struct open_span o)
{
	size_t i = h->v.nr;

	VEC_PUSH(&h->v, o);
	for (; i > 0 && h->v.v[(i - 1) / 2].end_ns > o.end_ns; i = (i - 1) / 2)
		h->v.v[i] = h->v.v[(i - 1) / 2];
	h->v.v[i] = o;
}

static void heap_pop(struct open_spans *h)
{
	struct open_span last = h->v.v[--h->v.nr];
	size_t n = h->v.nr, i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < n && h->v.v[child + 1].end_ns < h->v.v[child].end_ns)
			child++;
		if (child >= n || h->v.v[child].end_ns >= last.end_ns)
			break;
		h->v.v[i] = h->v.v[child];
		i = child;
	}
	if (n > 0)
		h->v.v[i] = last;
}

/* ---- functions whose calls overlap: a moment counts once ---- */

static void cover_put(struct lane *l, int64_t t_ns, uint32_t row, int32_t change)
{
	VEC_PUSH(&l->cover, (struct lane_event){ t_ns, row, change });
}

static void covers_end(struct lane *l, int64_t to_ns)
{
	struct open_spans *h = &l->reader->covers;

	while (h->v.nr && h->v.v[0].end_ns <= to_ns) {
		cover_put(l, h->v.v[0].end_ns, h->v.v[0].node, -1);
		heap_pop(h);
	}
}

static void union_add(struct lane *l, uint32_t calls_id, int64_t start_ns, int64_t end_ns)
{
	uint32_t *at = u64map_at(&l->reader->union_of, calls_id);
	struct profile_union *u;

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)l->t.unions.nr;
		VEC_PUSH(&l->t.unions, ((struct profile_union){ calls_id, 0, INT64_MIN }));
	}
	u = &l->t.unions.v[*at];
	if (start_ns < u->until_ns)
		start_ns = u->until_ns;
	if (end_ns <= start_ns)
		return;
	u->until_ns = end_ns;
	u->ns = ns_sum(u->ns, end_ns - start_ns);
}

static void cover_take(struct lane *l, uint32_t node, int64_t start_ns, int64_t end_ns)
{
	uint32_t row = l->t.row_of.v[node];

	while (l->t.durations.nr <= node)
		VEC_PUSH(&l->t.durations, 0);
	l->t.durations.v[node] = ns_sum(l->t.durations.v[node], end_ns - start_ns);
	union_add(l, l->t.nodes.v[node].calls_id, start_ns, end_ns);
	if (!l->keeps_events)
		return;
	covers_end(l, start_ns);
	cover_put(l, start_ns, row, +1);
	heap_push(&l->reader->covers, (struct open_span){ .end_ns = end_ns, .node = row });
}

/* ---- calls ---- */

/* What happens from now_ns up to to_ns, before anything starts there. */
static inline void calls_advance(struct lane *l, int64_t to_ns)
{
	struct open_spans *open = &l->reader->open;

	while (open->v.nr) {
		const struct open_span *top = &open->v.v[open->v.nr - 1];
		int64_t until = top->end_ns < to_ns ? top->end_ns : to_ns;

		/* one that ended below a call that outlived it has no time left */
		if (until > l->now_ns) {
			if (__builtin_expect(top->piece_ns < until, 0)) {
				if (top->piece_ns > l->now_ns)
					innermost_until(l, top->node, top->piece_ns);
				innermost_until(l, top->piece_node, until);
			} else {
				innermost_until(l, top->node, until);
			}
		}
		if (top->end_ns > to_ns)
			return;
		open->v.nr--;
	}
	if (to_ns > l->now_ns)
		innermost_until(l, NODE_NONE, to_ns);
}

/* The node that a call lies below which starts now. */
static inline uint32_t node_around(const struct lane *l, int64_t start_ns)
{
	const struct open_spans *open = &l->reader->open;
	const struct open_span *top;

	if (open->v.nr == 0)
		return NODE_NONE;
	top = &open->v.v[open->v.nr - 1];
	return start_ns >= top->piece_ns ? top->piece_node : top->node;
}

static void piece_take(struct lane *l, uint64_t span, struct open_span *o)
{
	const struct model *m = l->p->m;
	struct span_reader *r = l->reader;
	const struct span_piece *piece;

	while (r->piece < m->pieces.nr && m->pieces.v[r->piece].span < span)
		r->piece++;
	if (r->piece == m->pieces.nr || m->pieces.v[r->piece].span != span)
		return;
	piece = &m->pieces.v[r->piece];
	o->piece_ns = piece->start_ns;
	o->piece_node = tree_child(
		l, piece->parent == PIECE_NONE ? NODE_NONE : r->node_of_piece[piece->parent],
		m->spans.name[span], m->spans.category[span], SPAN_HOST);
	r->node_of_piece[r->piece] = o->piece_node;
}

static inline void call_take(struct lane *l, uint64_t i)
{
	const struct span_columns *c = &l->p->m->spans;
	struct span_reader *r = l->reader;
	struct open_span o = { .end_ns = c->end_ns[i],
			       .piece_ns = INT64_MAX,
			       .piece_node = NODE_NONE };
	int64_t start_ns = c->start_ns[i];
	struct profile_node *n;
	uint32_t around;

	calls_advance(l, start_ns);
	around = node_around(l, start_ns);
	if (__builtin_expect(c->kind[i] == SPAN_INSTANT, 0)) {
		if (r->node_of_span)
			r->node_of_span[i] = around;
		return;
	}
	o.node = tree_child(l, around, c->name[i], c->category[i], SPAN_HOST);
	if (__builtin_expect(r->node_of_span != NULL, 0))
		r->node_of_span[i] = o.node;
	n = &l->t.nodes.v[o.node];
	n->calls++;
	calls_add(l, n->calls_id, o.end_ns - start_ns);
	if (__builtin_expect(l->covers, 0)) {
		piece_take(l, i, &o);
		cover_take(l, o.node, start_ns, o.end_ns);
	}
	longest_take(l, start_ns, o.end_ns - start_ns, o.node, o.piece_node);
	VEC_PUSH(&r->open.v, o);
}

/* ---- work ---- */

static void work_end(struct lane *l, int64_t to_ns)
{
	struct open_spans *h = &l->reader->open;

	while (h->v.nr && h->v.v[0].end_ns <= to_ns) {
		l->now_ns = h->v.v[0].end_ns;
		event_put(l, h->v.v[0].node, -1);
		heap_pop(h);
	}
}

static void work_take(struct lane *l, uint64_t i)
{
	const struct span_columns *c = &l->p->m->spans;
	struct frame f = { .start_ns = c->start_ns[i],
			   .name = c->name[i],
			   .category = c->category[i],
			   .kind = (enum span_kind)c->kind[i] };

	if (!span_is_work(l->p->m, i))
		return;
	work_end(l, f.start_ns);
	f.node = tree_child(l, NODE_NONE, f.name, f.category, f.kind);
	if (f.kind == SPAN_KERNEL && l->p->priv->o.lanes.round)
		f.node = kernel_node(l, &l->reader->shapes, f.node, span_args(c, i));
	work_count(l, &f, c->end_ns[i] - f.start_ns);
	l->now_ns = f.start_ns;
	if (c->end_ns[i] == f.start_ns)
		return;
	event_put(l, f.node, +1);
	heap_push(&l->reader->open, (struct open_span){ .end_ns = c->end_ns[i], .node = f.node });
}

/* ---- a lane ---- */

static void lane_read_some(struct lane *l, uint64_t end)
{
	struct span_reader *r = l->reader;

	if (l->t.queue)
		while (r->next < end)
			work_take(l, r->next++);
	else
		while (r->next < end)
			call_take(l, r->next++);
}

void lane_read_spans(struct lane *l)
{
	struct span_reader *r = l->reader;

	do {
		uint64_t left = r->end - r->next;

		lane_read_some(l, r->next + (left < LANE_EVENTS_MIN ? left : LANE_EVENTS_MIN));
	} while (r->next < r->end &&
		 (!l->in_step || l->events.nr + l->cover.nr < l->p->priv->lane_events));
	if (r->next < r->end)
		return;
	if (l->t.queue) {
		work_end(l, INT64_MAX);
	} else {
		calls_advance(l, INT64_MAX);
		covers_end(l, INT64_MAX);
	}
	l->done = true;
}

static bool has_pieces(const struct model *m, const struct track *t)
{
	size_t i = m->pieces.nr ? model_first_piece(m, t->first_span) : 0;

	return i < m->pieces.nr && m->pieces.v[i].span < t->first_span + t->spans;
}

/* Whether any of its spans is a call, or work. */
static bool counts(const struct model *m, const struct track *t)
{
	for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++)
		if (t->kind == TRACK_QUEUE ? span_is_work(m, i) : m->spans.kind[i] != SPAN_INSTANT)
			return true;
	return false;
}

/* The lane of a track, by the rank that has its spans. */
struct lane_plan {
	bool is, covers;
	int rank;
};

static struct lane_plan lane_plan_of(const struct profile *p, track_id t)
{
	const struct track *tr = &p->m->tracks.v[t];
	struct lane_plan lp = { .rank = comm_rank(p->priv->o.comm) };

	lp.is = (tr->kind == TRACK_THREAD || tr->kind == TRACK_QUEUE) && counts(p->m, tr);
	lp.covers = lp.is && tr->kind == TRACK_THREAD && has_pieces(p->m, tr);
	return lp;
}

static void lane_begin(struct profile *p, track_id t, const struct lane_plan *lp,
		       const struct span_reader *like)
{
	const struct track *tr = &p->m->tracks.v[t];
	struct lane *l;

	if (!lp->is)
		return;
	l = lane_add(p, t);
	l->samples_only = false;
	l->covers = lp->covers;
	l->rank = lp->rank;
	l->here = is_own(p, l);
	if (!l->here)
		return;
	l->reader = xcalloc(1, sizeof(*l->reader));
	*l->reader = *like;
	l->reader->next = tr->first_span;
	l->reader->end = tr->first_span + tr->spans;
	if (l->covers)
		l->reader->piece = model_first_piece(p->m, tr->first_span);
	l->t.spans = tr->spans;
}

/* All ranks have the same tracks, and of each track one rank has the spans. */
static void lanes_plan(const struct profile *p, struct lane_plan *v)
{
	struct comm *c = p->priv->o.comm;
	CLEANUP(comm_parts_release) struct comm_parts all = { STRBUF_INIT, NULL };
	size_t n = p->m->tracks.nr;

	for (track_id t = 0; t < n; t++)
		v[t] = lane_plan_of(p, t);
	if (comm_alone(c))
		return;
	comm_gather(c, v, n * sizeof(*v), &all);
	if (all.bytes.len != n * sizeof(*v) * (size_t)c->size)
		comm_stop(c, 1, "ranks do not have the same tracks");
	memset(v, 0, n * sizeof(*v));
	for (int r = 0; r < c->size; r++)
		for (track_id t = 0; t < n; t++) {
			struct lane_plan lp;

			memcpy(&lp, all.bytes.buf + ((size_t)r * n + t) * sizeof(lp), sizeof(lp));
			if (lp.is && v[t].is)
				comm_stop(c, 1, "two ranks have spans of one track");
			if (lp.is)
				v[t] = lp;
		}
}

void lane_read_release(struct lane *l)
{
	if (!l->reader)
		return;
	VEC_RELEASE(&l->reader->open.v);
	VEC_RELEASE(&l->reader->covers.v);
	u64map_release(&l->reader->union_of);
	kernel_shapes_release(&l->reader->shapes);
	free(STEAL(l->reader));
}

/* ---- launches ---- */

struct launching {
	struct profile *p;
	uint32_t *node_of_span;
	uint32_t *lane_of_track; /* LANE_NONE */
	uint64_t *link_of;       /* by span: 1 + the index of the link that launched it; 0: none */
};

static uint32_t depth_of(const struct launching *la, uint64_t span)
{
	const struct lane *l = la->p->priv->lanes.v[la->lane_of_track[la->p->m->spans.track[span]]];

	return l->t.nodes.v[la->node_of_span[span]].depth;
}

/* Whether a launches rather than b: of several the deepest does, so that an extra link from an
 * outer span changes nothing. */
static bool launches_rather(const struct launching *la, uint64_t a, uint64_t b)
{
	const track_id *track = la->p->m->spans.track;
	uint32_t depth_a = depth_of(la, a), depth_b = depth_of(la, b);

	if (depth_a != depth_b)
		return depth_a > depth_b;
	return track[a] != track[b] ? track[a] < track[b]
				    : la->node_of_span[a] < la->node_of_span[b];
}

static void links_choose(const struct launching *la)
{
	const struct model *m = la->p->m;

	for (size_t i = 0; i < m->links.nr; i++) {
		uint64_t from = m->links.from[i], to = m->links.to[i];

		if (m->links.kind[i] != LINK_LAUNCH ||
		    m->tracks.v[m->spans.track[from]].kind != TRACK_THREAD ||
		    la->lane_of_track[m->spans.track[from]] == LANE_NONE ||
		    la->node_of_span[from] == NODE_NONE)
			continue;
		if (!la->link_of[to] ||
		    launches_rather(la, from, m->links.from[la->link_of[to] - 1]))
			la->link_of[to] = i + 1;
	}
}

static void launch_credit(const struct launching *la, uint64_t work)
{
	const struct model *m = la->p->m;
	uint32_t lane = la->lane_of_track[m->spans.track[work]];
	int64_t ns = m->spans.end_ns[work] - m->spans.start_ns[work];
	struct profile_device *d = &la->p->devices.v[la->p->priv->lanes.v[lane]->t.device];

	d->linked++;
	d->linked_ns = ns_sum(d->linked_ns, ns);
	if (la->link_of && la->link_of[work]) {
		uint64_t from = m->links.from[la->link_of[work] - 1];
		struct lane *l = la->p->priv->lanes.v[la->lane_of_track[m->spans.track[from]]];
		struct profile_node *n = &l->t.nodes.v[la->node_of_span[from]];

		n->device_ns = ns_sum(n->device_ns, ns);
	}
}

/* A model that was cut knows from which call path its work was launched, and has no node of it. */
static void launches_credit(struct profile *p, uint32_t *node_of_span)
{
	const struct model *m = p->m;
	CLEANUP(xfreep)
	uint32_t *lane_of_track = xreallocarray(NULL, m->tracks.nr + 1, sizeof(*lane_of_track));
	CLEANUP(xfreep)
	uint64_t *link_of = node_of_span ? xcalloc(m->spans.nr + 1, sizeof(*link_of)) : NULL;
	struct launching la = { p, node_of_span, lane_of_track, link_of };

	for (size_t i = 0; i < m->tracks.nr; i++)
		lane_of_track[i] = LANE_NONE;
	for (size_t i = 0; i < p->priv->lanes.nr; i++)
		lane_of_track[p->priv->lanes.v[i]->t.track] = (uint32_t)i;
	for (size_t i = 0; i < m->placed.nr; i++)
		launch_credit(&la, m->placed.v[i].work);
	if (!node_of_span)
		return;
	links_choose(&la);
	for (uint64_t i = 0; i < m->spans.nr; i++)
		if (link_of[i] && span_is_work(m, i))
			launch_credit(&la, i);
}

static bool has_launches(const struct model *m)
{
	for (size_t i = 0; !m->windows.nr && i < m->links.nr; i++)
		if (m->links.kind[i] == LINK_LAUNCH)
			return true;
	return false;
}

/* ---- a whole model ---- */

struct profile *profile_of_model(struct model *m, const struct profile_opts *o)
{
	struct profile *p = profile_alloc(m, o);
	CLEANUP(xfreep) struct lane_plan *plan = xcalloc(m->tracks.nr + 1, sizeof(*plan));
	CLEANUP(xfreep) uint32_t *node_of_piece = xcalloc(m->pieces.nr + 1, sizeof(*node_of_piece));
	CLEANUP(xfreep) uint32_t *node_of_span = NULL;
	struct span_reader like = { .node_of_piece = node_of_piece };

	p->of_model = comm_alone(o->comm);
	lanes_plan(p, plan);
	if (has_launches(m))
		like.node_of_span = node_of_span =
			xreallocarray(NULL, m->spans.nr + 1, sizeof(*node_of_span));
	for (track_id t = 0; t < m->tracks.nr; t++)
		lane_begin(p, t, &plan[t], &like);
	profile_rounds(p);
	for (size_t i = 0; i < p->priv->lanes.nr; i++)
		lane_empty(p->priv->lanes.v[i]);
	launches_credit(p, node_of_span);
	if (!p->of_model) {
		ranks_reduce(p);
		model_drop_spans(m);
	}
	if (comm_rank(o->comm) == 0)
		profile_finish(p);
	return p;
}
