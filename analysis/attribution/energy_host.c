#include "attribution_private.h"

#include <string.h>

/* A process that takes part (or a thread without one): its threads are threads[first .. first +
 * nr). */
struct sharer {
	track_id id;
	size_t first, nr;
};

/* A call on the stack of the thread that is being read. */
struct open_call {
	struct span_energy e;
	int64_t end_ns;
	size_t piece;        /* of model.pieces, NO_PIECE for nearly all */
	int64_t new_from_ns; /* where earlier calls of the same name no longer cover it */
	struct sum piece_j;
};
#define NO_PIECE SIZE_MAX

/* Until when the calls of a name cover the thread that is being read. */
struct covered {
	track_id track;
	int64_t until_ns;
};

struct host_view {
	struct attribution *a;
	struct covered *covered; /* by name; NULL when the model has no pieces */
	VEC(struct thread_of { track_id sharer, track; }) threads; /* by sharer, then track */
	VEC(struct sharer) sharers;
	VEC(struct open_call) stack;
};

static int thread_cmp(const void *pa, const void *pb)
{
	const struct thread_of *a = pa, *b = pb;

	if (a->sharer != b->sharer)
		return a->sharer < b->sharer ? -1 : 1;
	return a->track < b->track ? -1 : a->track > b->track;
}

static void find_sharers(struct host_view *h)
{
	const struct model *m = h->a->m;

	for (track_id t = 0; t < m->tracks.nr; t++) {
		if (energy_thread_takes_part(h->a, t))
			VEC_PUSH(&h->threads, (struct thread_of){ energy_sharer_of(m, t), t });
	}
	if (h->threads.nr == 0)
		return;
	qsort(h->threads.v, h->threads.nr, sizeof(*h->threads.v), thread_cmp);
	for (size_t i = 0; i < h->threads.nr; i++) {
		if (i == 0 || h->threads.v[i].sharer != h->threads.v[i - 1].sharer)
			VEC_PUSH(&h->sharers, (struct sharer){ h->threads.v[i].sharer, i, 0 });
		h->sharers.v[h->sharers.nr - 1].nr++;
	}
}

/* The time in which a thread has any call open; its spans come by start. Returns whether it has
 * calls at all. */
static bool thread_coverage(const struct model *m, track_id t, struct intervals *out)
{
	const struct span_columns *sp = &m->spans;
	size_t first = m->tracks.v[t].first_span, end = first + m->tracks.v[t].spans;
	int64_t from = 0, to = INT64_MIN;
	bool any = false;

	for (size_t i = first; i < end; i++) {
		if (sp->kind[i] == SPAN_INSTANT)
			continue;
		any = true;
		if (sp->start_ns[i] > to) {
			if (to != INT64_MIN)
				intervals_add(out, from, to);
			from = sp->start_ns[i];
			to = sp->end_ns[i];
		} else if (sp->end_ns[i] > to) {
			to = sp->end_ns[i];
		}
	}
	if (to != INT64_MIN)
		intervals_add(out, from, to);
	return any;
}

/* How many sharers have a call open, as a function of time. */
static bool active_sharers(struct host_view *h, struct steps *ret)
{
	struct intervals all = { VEC_INIT, VEC_INIT }, one = { VEC_INIT, VEC_INIT };
	bool any = false;

	for (size_t i = 0; i < h->sharers.nr; i++) {
		const struct sharer *s = &h->sharers.v[i];

		VEC_CLEAR(&one.start);
		VEC_CLEAR(&one.end);
		for (size_t k = 0; k < s->nr; k++)
			any |= thread_coverage(h->a->m, h->threads.v[s->first + k].track, &one);
		if (s->nr > 1)
			intervals_union(&one);
		intervals_append(&all, &one);
	}
	steps_make(&all, ret);
	intervals_release(&all);
	intervals_release(&one);
	return any;
}

struct thread_reader {
	struct attribution *a;
	const struct share *sh;
	struct host_view *h;
	struct share_pos now;
};

/* The innermost call gets the time from now to `to`; what lies in its piece is counted there as
 * well. */
static void advance_piece(struct thread_reader *r, struct open_call *top, struct share_pos to)
{
	struct energy_piece *piece = &r->a->r->pieces[top->piece];
	int64_t start_ns = r->a->m->pieces.v[top->piece].start_ns;
	struct share_pos from = share_seek(r->sh, r->now, start_ns);

	if (start_ns >= to.t_ns)
		return;
	sum_add(&top->piece_j, share_between(r->sh, from, to));
	piece->exclusive_j = sum_value(&top->piece_j);
	piece->exclusive_ns += share_live_between(r->sh, from, to);
}

static void advance(struct thread_reader *r, int64_t t_ns)
{
	struct open_call *top = &r->h->stack.v[r->h->stack.nr - 1];
	struct share_pos to = share_seek(r->sh, r->now, t_ns);

	sum_add(&top->e.exclusive_j, share_between(r->sh, r->now, to));
	top->e.exclusive_ns += share_live_between(r->sh, r->now, to);
	if (top->piece != NO_PIECE)
		advance_piece(r, top, to);
	r->now = to;
}

static void close_call(struct thread_reader *r)
{
	struct open_call *c = &r->h->stack.v[--r->h->stack.nr];

	/* A call that ended below a later one that outlived it ends before now. */
	c->e.to = c->end_ns >= r->now.t_ns ? r->now : share_seek(r->sh, c->e.from, c->end_ns);
	energy_write(r->a, r->sh, &c->e);
	if (!r->h->covered)
		return;
	struct share_pos from = share_seek(r->sh, c->e.from, c->new_from_ns);

	r->a->r->new_j[c->e.span] =
		c->new_from_ns < c->end_ns ? share_between(r->sh, from, c->e.to) : 0;
}

/* Closes what ends at or before t_ns; what is still open then gets the time up to t_ns. */
static void drain(struct thread_reader *r, int64_t t_ns)
{
	struct host_view *h = r->h;

	while (h->stack.nr > 0) {
		const struct open_call *top = &h->stack.v[h->stack.nr - 1];

		if (top->end_ns > t_ns) {
			advance(r, t_ns);
			return;
		}
		advance(r, top->end_ns);
		close_call(r);
	}
}

/* Where span i is the first call of its name on its thread, its end at the latest; the spans of a
 * thread come by start. */
static int64_t new_from(struct host_view *h, track_id t, size_t i)
{
	const struct span_columns *sp = &h->a->m->spans;
	struct covered *c = &h->covered[sp->name[i]];
	int64_t from = sp->start_ns[i];

	if (c->track == t && c->until_ns > from)
		from = c->until_ns;
	if (c->track != t || sp->end_ns[i] > c->until_ns)
		*c = (struct covered){ t, sp->end_ns[i] };
	return from;
}

/*
 * One thread's calls in the order of the columns. The innermost call is the open one that started
 * last; in a well-nested trace that is the top of a stack, and where spans overlap it still is: a
 * call that ends below the top is dropped when it surfaces.
 */
static void read_thread(struct thread_reader *r, track_id t)
{
	const struct model *m = r->a->m;
	const struct span_columns *sp = &m->spans;
	size_t first = m->tracks.v[t].first_span, end = first + m->tracks.v[t].spans;
	size_t piece = m->pieces.nr ? model_first_piece(m, first) : 0;

	r->now = share_begin(r->sh);
	for (size_t i = first; i < end; i++) {
		struct open_call c = { .e.span = i, .end_ns = sp->end_ns[i], .piece = NO_PIECE };

		if (sp->kind[i] == SPAN_INSTANT)
			continue;
		drain(r, sp->start_ns[i]);
		c.e.from = r->now = share_seek(r->sh, r->now, sp->start_ns[i]);
		if (piece < m->pieces.nr && m->pieces.v[piece].span == i)
			c.piece = piece++;
		if (r->h->covered)
			c.new_from_ns = new_from(r->h, t, i);
		VEC_PUSH(&r->h->stack, c);
	}
	drain(r, INT64_MAX);
}

/* Threads of one process cut its share into equal parts, so it needs a curve of its own when it has
 * several. */
static void read_sharer(struct host_view *h, const struct sharer *s, const struct share *common)
{
	struct thread_reader r = { .a = h->a, .sh = common, .h = h };
	struct intervals calls = { VEC_INIT, VEC_INIT };
	struct steps parts = { 0 };
	struct share own = { 0 };

	if (s->nr > 1) {
		for (size_t k = 0; k < s->nr; k++)
			thread_coverage(h->a->m, h->threads.v[s->first + k].track, &calls);
		steps_make(&calls, &parts);
		share_split(common, &parts, &own);
		r.sh = &own;
	}
	for (size_t k = 0; k < s->nr; k++)
		read_thread(&r, h->threads.v[s->first + k].track);
	share_release(&own);
	steps_release(&parts);
	intervals_release(&calls);
}

static void covered_alloc(struct host_view *h)
{
	size_t names = intern_count(h->a->m->strings);

	if (h->a->m->pieces.nr == 0)
		return;
	h->covered = xreallocarray(NULL, names + 1, sizeof(*h->covered));
	for (size_t i = 0; i <= names; i++)
		h->covered[i].track = TRACK_NONE;
}

bool energy_host(struct attribution *a)
{
	struct host_view h = { .a = a };
	struct steps active = { 0 };
	struct share common = { 0 };
	bool any;

	find_sharers(&h);
	any = active_sharers(&h, &active);
	if (any) {
		energy_alloc(a);
		covered_alloc(&h);
		share_make(a->c, &active, a->o->independent, &common, &a->totals);
		for (size_t i = 0; i < h.sharers.nr; i++)
			read_sharer(&h, &h.sharers.v[i], &common);
	}
	share_release(&common);
	steps_release(&active);
	VEC_RELEASE(&h.threads);
	VEC_RELEASE(&h.sharers);
	VEC_RELEASE(&h.stack);
	free(h.covered);
	return any;
}
