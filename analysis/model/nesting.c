#include "model_private.h"

#include <string.h>

#include "profrig/base/search.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

/*
 * One pass per thread over its spans in (start, longer first) order. The stack holds every span
 * that started and is not yet popped: below its top there may be ended ones (partial overlap),
 * which get no time when they surface. So the top is always the open span that started last, and
 * the time between two starts belongs to it.
 */
struct frame {
	uint64_t span, piece;
	int64_t end_ns;
};

struct nester {
	struct model *m;
	bool parents, times; /* these columns are filled, beside the pieces */
	VEC(struct frame) stack;
	uint64_t nr_calls, most_open; /* as struct track has them */
	int64_t now_ns;
	VEC(struct span_piece) pieces; /* of one track: parents are indexes in here */
	VEC(uint64_t) around;          /* the parents of their spans */
	VEC(struct far_parent) far;    /* of one track */
};

static void frame_credit(struct nester *n, const struct frame *f, int64_t until_ns)
{
	struct span_piece *piece;

	if (until_ns <= n->now_ns)
		return;
	n->m->spans.exclusive_ns[f->span] += until_ns - n->now_ns;
	if (f->piece != PIECE_NONE) {
		piece = &n->pieces.v[f->piece];
		if (until_ns > piece->start_ns)
			piece->exclusive_ns +=
				until_ns -
				(n->now_ns > piece->start_ns ? n->now_ns : piece->start_ns);
	}
	n->now_ns = until_ns;
}

static inline void nester_advance(struct nester *n, int64_t to_ns)
{
	if (!n->times) {
		while (n->stack.nr && n->stack.v[n->stack.nr - 1].end_ns <= to_ns)
			n->stack.nr--;
		return;
	}
	while (n->stack.nr) {
		const struct frame *top = &n->stack.v[n->stack.nr - 1];

		if (top->end_ns > to_ns) {
			frame_credit(n, top, to_ns);
			break;
		}
		frame_credit(n, top, top->end_ns);
		n->stack.nr--;
	}
	n->now_ns = to_ns;
}

/* The rule of model.h: cut at the end of the parent's own part; the rest is a root, or a child of
 * the parent's piece when it ends with that. */
static uint64_t span_cut(struct nester *n, const struct frame *parent, uint64_t span)
{
	int64_t start = n->m->spans.start_ns[span], end = n->m->spans.end_ns[span];
	int64_t limit = parent->end_ns;
	uint64_t below = PIECE_NONE;

	if (parent->piece != PIECE_NONE && start < n->pieces.v[parent->piece].start_ns) {
		limit = n->pieces.v[parent->piece].start_ns;
		below = parent->piece;
	}
	if (end <= limit)
		return PIECE_NONE;
	if (end > parent->end_ns)
		below = PIECE_NONE;
	VEC_PUSH(&n->pieces,
		 (struct span_piece){ .span = span, .parent = below, .start_ns = limit });
	VEC_PUSH(&n->around, parent->span);
	return n->pieces.nr - 1;
}

static void parent_set(struct nester *n, uint64_t span, uint64_t parent)
{
	uint64_t rows = span - parent;

	if (rows < n->m->priv->up_most) {
		n->m->spans.up[span] = (uint32_t)rows;
		return;
	}
	n->m->spans.up[span] = UP_FAR;
	VEC_PUSH(&n->far, ((struct far_parent){ span, parent }));
}

static void nest_track(struct nester *n, const struct track *t)
{
	struct span_columns *c = &n->m->spans;

	n->now_ns = TIME_MIN;
	for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++) {
		uint64_t piece = PIECE_NONE;

		nester_advance(n, c->start_ns[i]);
		if (n->stack.nr) {
			/* by value: cut may not move it, but the push below does */
			struct frame parent = n->stack.v[n->stack.nr - 1];

			if (n->parents)
				parent_set(n, i, parent.span);
			if (c->kind[i] != SPAN_INSTANT)
				piece = span_cut(n, &parent, i);
		}
		if (c->kind[i] == SPAN_INSTANT)
			continue;
		VEC_PUSH(&n->stack, (struct frame){ i, piece, c->end_ns[i] });
		n->nr_calls++;
		if (n->stack.nr > n->most_open)
			n->most_open = n->stack.nr;
	}
	nester_advance(n, INT64_MAX);
}

static void nest_job(void *ctx, size_t i, unsigned worker)
{
	struct nester *n = (struct nester *)ctx + i;
	struct span_columns *c = &n->m->spans;
	const struct track *t = &n->m->tracks.v[i];

	(void)worker;
	if (n->parents && t->spans)
		memset(c->up + t->first_span, 0, t->spans * sizeof(*c->up));
	for (uint64_t k = t->first_span; n->times && k < t->first_span + t->spans; k++)
		c->exclusive_ns[k] = t->kind == TRACK_THREAD ? 0 : c->end_ns[k] - c->start_ns[k];
	if (t->kind == TRACK_THREAD)
		nest_track(n, t);
	VEC_RELEASE(&n->stack);
}

static void overlap_warn(struct model *m, uint64_t span, uint64_t parent)
{
	const struct span_columns *c = &m->spans;

	if (c->end_ns[span] > c->end_ns[parent])
		model_warn(m, span_input(c, span), W_SPAN_OVERLAP, 1,
			   "'%s' starts inside '%s' and ends after it on track '%s'",
			   model_str(m, c->name[span]), model_str(m, c->name[parent]),
			   model_str(m, m->tracks.v[c->track[span]].name));
}

/* A track's pieces behind those of the tracks before it. */
static void pieces_take(struct model *m, struct nester *n, bool warns)
{
	size_t before = m->pieces.nr;

	for (size_t i = 0; i < n->pieces.nr; i++) {
		struct span_piece piece = n->pieces.v[i];

		if (piece.parent != PIECE_NONE)
			piece.parent += before;
		VEC_PUSH(&m->pieces, piece);
		if (warns)
			overlap_warn(m, piece.span, n->around.v[i]);
	}
	VEC_RELEASE(&n->pieces);
	VEC_RELEASE(&n->around);
}

static void far_take(struct model *m, struct nester *n)
{
	for (size_t i = 0; i < n->far.nr; i++)
		VEC_PUSH(&m->spans.far, n->far.v[i]);
	VEC_RELEASE(&n->far);
}

static void tracks_nest(struct model *m, bool parents, bool times, bool warns)
{
	CLEANUP(xfreep) struct nester *n = xcalloc(m->tracks.nr + 1, sizeof(*n));

	for (size_t t = 0; t < m->tracks.nr; t++)
		n[t] = (struct nester){ .m = m, .parents = parents, .times = times };
	model_run(m, m->tracks.nr, nest_job, n);
	VEC_CLEAR(&m->pieces);
	for (size_t t = 0; t < m->tracks.nr; t++) {
		m->tracks.v[t].nr_calls = n[t].nr_calls;
		m->tracks.v[t].most_open = n[t].most_open;
		pieces_take(m, &n[t], warns);
		far_take(m, &n[t]);
	}
}

void pieces_find(struct model *m, bool warns)
{
	tracks_nest(m, false, false, warns);
}

/* Fills the columns that are wanted and not there. */
static void columns_nest(struct model *m, bool times)
{
	struct span_columns *c = &m->spans;
	bool parents = !c->up;

	times = times && !c->exclusive_ns;
	if (c->nr == 0 || (!parents && !times))
		return;
	if (parents)
		c->up = spare_take(m, c->nr * sizeof(*c->up));
	if (times)
		c->exclusive_ns = spare_take(m, c->nr * sizeof(*c->exclusive_ns));
	spares_release(m);
	tracks_nest(m, parents, times, false);
}

void model_nest(struct model *m)
{
	columns_nest(m, false);
}

void model_nest_times(struct model *m)
{
	columns_nest(m, true);
}

/* ---- what they tell ---- */

uint64_t span_parent_far(const struct span_columns *c, size_t i)
{
	size_t at = LOWER_BOUND(k, 0, c->far.nr, c->far.v[k].span < i);

	return c->far.v[at].parent;
}

uint32_t *model_depths(const struct model *m)
{
	uint32_t *v = xreallocarray(NULL, m->spans.nr + 1, sizeof(*v));

	for (size_t i = 0; i < m->spans.nr; i++) {
		uint64_t parent = span_parent(&m->spans, i);

		v[i] = parent == SPAN_NONE ? 0 : v[parent] + 1;
	}
	return v;
}
