#include "energy_run_private.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/search.h"

/*
 * Number of changes of a slice, about. A share curve is as long as its slice has changes, and every
 * accumulator of a class reads it, so it must stay in the processor's cache: with 50 000 root calls
 * per thread and second the curves of a whole round take 40 MB.
 */
#define SLICE_CHANGES ((size_t)4096)
/* Slices are cut at times sampled from the changes, at least so many per slice. */
#define SLICE_DRAWN ((size_t)16)
/* More threads need more slices at once, so that one is not waited for after each. */
#define SLICES_PER_THREAD 4
#define SLICES_MAX 32

void slices_release(struct energy_run *run)
{
	for (size_t i = 0; i < run->slices.nr; i++) {
		struct slice *s = &run->slices.v[i];

		changes_release(&s->changes);
		sharing_release(&s->sharing);
		share_state_release(&s->end);
		for (size_t k = 0; k < s->curves.nr; k++)
			share_curve_release(&s->curves.v[k]);
		VEC_RELEASE(&s->curves);
	}
	VEC_RELEASE(&run->slices);
}

void batches_release(struct share_group *t)
{
	for (size_t i = 0; i < t->batches.nr; i++) {
		struct lane_batch *b = &t->batches.v[i];

		for (size_t k = 0; k < b->curves.nr; k++)
			share_curve_release(&b->curves.v[k]);
		VEC_RELEASE(&b->curves);
	}
	VEC_RELEASE(&t->batches);
}

static void run_all(struct workers *w, size_t n, void (*job)(void *, size_t, unsigned), void *ctx)
{
	if (w) {
		workers_run(w, n, job, ctx);
		return;
	}
	for (size_t i = 0; i < n; i++)
		job(ctx, i, 0);
}

/* ---- changes of a round ---- */

struct round {
	struct energy_run *run;
	struct share_group *t;
	const struct lane_feed *feeds;
	int64_t horizon_ns;
	/* where slices end, in order; the last one is the horizon */
	VEC(int64_t) cuts;
	/* slices that are made, and those before them, which lanes pass through meanwhile */
	struct slice_run {
		struct slice *v;
		size_t nr;
	} next, passed;
	size_t *read; /* by lane of the domain: events of slices before the passed ones */
};

static void parts_take(const struct round *r)
{
	for (size_t i = 0; i < r->t->d.lanes.nr; i++) {
		size_t lane = r->t->d.lanes.v[i].lane;
		const struct lane_feed *f = &r->feeds[lane];
		struct lane_part *p = &r->t->parts[i];

		p->v = f->v;
		p->taken = 0;
		p->nr = f->changes && r->run->modes[lane] != LANE_COVER ? f->nr : 0;
		p->changes = f->changes < p->nr ? f->changes : p->nr;
	}
}

/* Of lanes that cover others no rank but theirs knows any, and nothing depends on them. */
static bool any_changes(const struct energy_run *run, const struct share_group *t,
			const struct lane_feed *feeds)
{
	for (size_t i = 0; i < t->d.lanes.nr; i++) {
		size_t lane = t->d.lanes.v[i].lane;

		if (feeds[lane].changes && run->modes[lane] != LANE_COVER)
			return true;
	}
	return false;
}

/* Whether a group's changes go from rank to rank in this round; all ranks find the same. */
static bool is_exchanged(const struct energy_run *run, const struct share_group *t,
			 const struct lane_feed *feeds)
{
	return !comm_alone(run->comm) && t->spread && any_changes(run, t, feeds);
}

/* A lane is read by one rank, so nothing of it is here twice. */
static void group_exchange(struct energy_run *run, const struct share_group *t)
{
	CLEANUP(strbuf_release) struct strbuf mine = STRBUF_INIT;
	CLEANUP(comm_parts_release) struct comm_parts all = { STRBUF_INIT, NULL };

	for (size_t i = 0; i < t->d.lanes.nr; i++) {
		struct lane_part *p = &t->parts[i];

		VEC_CLEAR(&p->ranks);
		for (size_t k = 0; k < p->nr; k++)
			if (p->v[k].change)
				VEC_PUSH(&p->ranks, p->v[k]);
		SERIAL_PUT_VEC(&mine, &p->ranks);
		VEC_CLEAR(&p->ranks);
	}
	comm_gather(run->comm, mine.buf, mine.len, &all);
	for (int rank = 0; rank < run->comm->size; rank++) {
		struct serial_in in = { all.bytes.buf + all.at[rank],
					all.bytes.buf + all.at[rank + 1], false };

		for (size_t i = 0; i < t->d.lanes.nr; i++)
			SERIAL_TAKE_VEC(&in, &t->parts[i].ranks);
		if (in.bad)
			comm_stop(run->comm, 1, "what rank %d sent does not end as it should",
				  rank);
	}
	for (size_t i = 0; i < t->d.lanes.nr; i++) {
		struct lane_part *p = &t->parts[i];

		p->v = p->ranks.v;
		p->nr = p->changes = p->ranks.nr;
	}
}

static int cmp_times(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/*
 * Cuts a round into slices of about `changes` changes. The time of every step-th change of each
 * lane is drawn; of the sorted times every `drawn`-th is a cut. step is small enough that the
 * changes behind a lane's last drawn one, all lanes together, are less than one slice. All changes
 * of one time are in one slice.
 */
static void cuts_make(struct round *r)
{
	const struct share_group *t = r->t;
	size_t changes = r->run->o.slice_changes ? r->run->o.slice_changes : SLICE_CHANGES;
	size_t lanes = t->d.lanes.nr, nr = 0, drawn = SLICE_DRAWN, step;

	drawn = drawn > lanes + 1 ? drawn : lanes + 1;
	drawn = drawn < changes ? drawn : changes;
	step = changes / drawn;
	VEC_CLEAR(&r->cuts);
	for (size_t i = 0; i < lanes; i++) {
		const struct lane_part *p = &t->parts[i];
		size_t each = p->changes ? step * p->nr / p->changes : 1;

		for (size_t k = each - 1; k < p->nr; k += each)
			VEC_PUSH(&r->cuts, p->v[k].t_ns);
	}
	if (r->cuts.nr)
		qsort(r->cuts.v, r->cuts.nr, sizeof(*r->cuts.v), cmp_times);
	for (size_t i = drawn; i < r->cuts.nr; i += drawn) {
		if (nr == 0 || r->cuts.v[nr - 1] != r->cuts.v[i])
			r->cuts.v[nr++] = r->cuts.v[i];
	}
	r->cuts.nr = nr;
	VEC_PUSH(&r->cuts, r->horizon_ns);
}

/* ---- a slice ---- */

/* The first event at or after t_ns; from the first candidate on, as it is mostly near. */
static size_t events_until(const struct lane_event *v, size_t from, size_t nr, int64_t t_ns)
{
	size_t step = 64;

	while (from + step < nr && v[from + step].t_ns < t_ns) {
		from += step;
		step *= 2;
	}
	return LOWER_BOUND(i, from, from + step < nr ? from + step : nr, v[i].t_ns < t_ns);
}

/* Of one lane. Which events are changes is unpredictable, so there is no branch. */
static void changes_take(struct slice *s, const struct domain *d, const struct lane_part *p,
			 uint32_t lane)
{
	size_t from = events_until(p->v, p->taken, p->nr, s->from_ns);
	size_t to = events_until(p->v, from, p->nr, s->horizon_ns);
	struct share_change *v;
	uint32_t sum = 0;
	size_t nr;

	if (from == to)
		return;
	if (p->v[from].t_ns < s->changes.first_ns)
		s->changes.first_ns = p->v[from].t_ns;
	if (p->v[to - 1].t_ns > s->changes.last_ns)
		s->changes.last_ns = p->v[to - 1].t_ns;
	VEC_RESERVE(&s->changes.v, s->changes.v.nr + to - from);
	v = s->changes.v.v;
	nr = s->changes.v.nr;
	for (size_t k = from; k < to; k++) {
		v[nr] = (struct share_change){ p->v[k].t_ns, lane, p->v[k].change };
		nr += p->v[k].change != 0;
		sum += (uint32_t)p->v[k].change;
	}
	s->changes.v.nr = nr;
	share_state_add(d, &s->sharing.at, d->lanes.v[lane].sharer, sum);
}

/* Its changes in time order, and what they come to. */
static void slice_take(struct slice *s, const struct share_group *t)
{
	VEC_CLEAR(&s->changes.v);
	s->changes.first_ns = INT64_MAX;
	s->changes.last_ns = INT64_MIN;
	share_state_zero(&t->d, &s->sharing.at);
	VEC_CLEAR(&s->sharing.first_change);
	VEC_CLEAR(&s->sharing.next_change);
	for (uint32_t k = 0; k < t->d.lanes.nr; k++) {
		VEC_PUSH(&s->sharing.first_change, s->changes.v.nr);
		VEC_PUSH(&s->sharing.next_change, s->changes.v.nr);
		changes_take(s, &t->d, &t->parts[k], k);
	}
	changes_sort(&s->changes);
}

static void curves_make(struct share_curve *curves, const struct domain *d, uint32_t share_class,
			const struct slice *s)
{
	for (size_t g = 0; g < d->grids.nr; g++)
		share_curve_make(&curves[g], &d->grids.v[g], d, share_class, &s->sharing,
				 s->from_ns, s->horizon_ns);
}

/* The slice before has been begun earlier, so its end comes, and mostly it has come. */
static void slice_begin(struct slice *s, const struct share_group *t)
{
	const struct share_state *before = &t->at;

	if (s->before) {
		while (!atomic_load_explicit(&s->before->ended, memory_order_acquire))
			sched_yield();
		before = &s->before->end;
	}
	share_state_begin(&t->d, before, &s->sharing.at, &s->end);
	atomic_store_explicit(&s->ended, true, memory_order_release);
}

/* Who shares in it, and the curves of classes whose lanes are not all of one job. */
static void slice_make(struct slice *s, const struct share_group *t)
{
	const struct domain *d = &t->d;
	size_t grids = d->grids.nr;

	slice_take(s, t);
	slice_begin(s, t);
	sharing_make(&s->sharing, d, s->changes.v.v, s->changes.v.nr);
	while (s->curves.nr < d->classes.nr * grids)
		VEC_PUSH(&s->curves, ((struct share_curve){ 0 }));
	for (size_t k = 0; k < t->batches.nr; k++) {
		const struct lane_batch *b = &t->batches.v[k];

		if (b->first && !b->alone)
			curves_make(&s->curves.v[b->share_class * grids], d, b->share_class, s);
	}
}

/*
 * The share curves of a job's class in a slice. Where it is the only job of the class it makes them
 * itself: they are still in its processor's cache then.
 */
static const struct share_curve *batch_curves(const struct round *r, struct lane_batch *b,
					      const struct slice *s)
{
	const struct domain *d = &r->t->d;

	if (!b->alone)
		return &s->curves.v[b->share_class * d->grids.nr];
	while (b->curves.nr < d->grids.nr)
		VEC_PUSH(&b->curves, ((struct share_curve){ 0 }));
	curves_make(b->curves.v, d, b->share_class, s);
	return b->curves.v;
}

/* ---- idle and active time ---- */

struct events {
	VEC(struct lane_event) v;
};

/* Idle time, or active time, as a lane of its own; the first slice begins idle. */
static void activity_lane(const struct slice *s, bool active, struct events *ret)
{
	const struct steps *st = &s->sharing.active;
	bool was = (st->v[0].value > 0) == active;

	VEC_CLEAR(&ret->v);
	if (s->first && !active)
		VEC_PUSH(&ret->v, ((struct lane_event){ INT64_MIN, 0, 0 }));
	for (size_t i = 0; i < st->nr; i++) {
		bool on = (st->v[i + 1].value > 0) == active;

		if (on != was)
			VEC_PUSH(&ret->v,
				 ((struct lane_event){ st->v[i].until_ns, on ? 0 : NODE_NONE, 0 }));
		was = on;
	}
}

/* ---- batches of lanes ---- */

static void activity_read(const struct round *r, struct lane_batch *b,
			  struct accumulator *accumulators, bool active)
{
	size_t grids = r->t->d.grids.nr;
	struct events e = { VEC_INIT };

	for (size_t i = 0; i < r->passed.nr; i++) {
		const struct slice *s = &r->passed.v[i];
		struct lane_feed f = { .nodes = 1, .rows = 1 };

		activity_lane(s, active, &e);
		f.v = e.v.v;
		f.nr = e.v.nr;
		accumulators_slice(accumulators, batch_curves(r, b, s), grids, &f, NULL,
				   s->horizon_ns);
	}
	VEC_RELEASE(&e.v);
}

static void lane_read(const struct round *r, const struct share_curve *curves,
		      const struct slice *s, size_t i)
{
	struct share_group *t = r->t;
	size_t grids = t->d.grids.nr;
	size_t lane = t->d.lanes.v[i].lane;
	struct lane_feed f = r->feeds[lane];
	const uint32_t *step_of = NULL;

	if (!t->here[i])
		return;
	f.nr = events_until(f.v, r->read[i], f.nr, s->horizon_ns) - r->read[i];
	f.v += r->read[i];
	r->read[i] += f.nr;
	if (r->run->modes[lane] == LANE_CALLS)
		step_of = s->sharing.step_of.v + s->sharing.first_change.v[i];
	accumulators_slice(&t->accumulators[i * grids], curves, grids, &f, step_of, s->horizon_ns);
}

static void batch_read(const struct round *r, struct lane_batch *b)
{
	const struct share_group *t = r->t;

	if (b->from == b->to) {
		bool active = b->share_class == t->given_class;

		activity_read(r, b, active ? t->given : t->idle, active);
		return;
	}
	for (size_t k = 0; k < r->passed.nr; k++) {
		const struct slice *s = &r->passed.v[k];
		const struct share_curve *curves = batch_curves(r, b, s);

		for (size_t lane = b->from; lane < b->to; lane++)
			lane_read(r, curves, s, lane);
	}
}

static void batch_add(struct share_group *t, size_t nr, uint32_t share_class, size_t from,
		      size_t to)
{
	struct lane_batch *b;

	if (nr == t->batches.nr)
		VEC_PUSH(&t->batches, ((struct lane_batch){ 0 }));
	b = &t->batches.v[nr];
	b->from = from;
	b->to = to;
	b->share_class = share_class;
	b->first = b->alone = true;
	for (size_t i = 0; i < nr; i++) {
		if (t->batches.v[i].share_class == share_class)
			t->batches.v[i].alone = b->alone = b->first = false;
	}
}

/*
 * Lanes of one class that stand side by side make a batch, which one job takes through all slices;
 * several where there would be too few for the threads.
 */
static void batches_make(struct share_group *t, unsigned threads)
{
	const struct domain *d = &t->d;
	size_t most = d->lanes.nr / (threads * 2) + 1, nr = 0;

	if (t->idle_here)
		batch_add(t, nr++, t->idle_class, 0, 0);
	if (t->idle_here && d->independent)
		batch_add(t, nr++, t->given_class, 0, 0);
	for (size_t from = 0, to; from < d->lanes.nr; from = to) {
		uint32_t share_class = d->lanes.v[from].share_class;
		bool here = false;

		for (to = from; to < d->lanes.nr && d->lanes.v[to].share_class == share_class &&
				(threads == 1 || to - from < most);
		     to++)
			here |= t->here[to];
		if (here)
			batch_add(t, nr++, share_class, from, to);
	}
}

/* ---- slices side by side ---- */

/* Slices first: the next ones wait for them, batches are of any length. */
static void job_slice_or_batch(void *ctx, size_t i, unsigned worker)
{
	const struct round *r = ctx;

	(void)worker;
	if (i < r->next.nr)
		slice_make(&r->next.v[i], r->t);
	else
		batch_read(r, &r->t->batches.v[i - r->next.nr]);
}

/* Those up to the given cuts. */
static void slices_begin(struct round *r, const int64_t *cuts_ns)
{
	struct share_group *t = r->t;

	for (size_t i = 0; i < t->d.lanes.nr; i++)
		t->parts[i].taken =
			events_until(t->parts[i].v, t->parts[i].taken, t->parts[i].nr, t->at_ns);
	for (size_t i = 0; i < r->next.nr; i++) {
		struct slice *s = &r->next.v[i];

		s->from_ns = t->at_ns;
		s->horizon_ns = t->at_ns = cuts_ns[i];
		s->first = !t->started;
		s->before = i ? s - 1 : NULL;
		atomic_store_explicit(&s->ended, false, memory_order_relaxed);
		t->started = true;
	}
}

static void slices_end(struct round *r)
{
	struct share_state *end = &r->next.v[r->next.nr - 1].end, at = r->t->at;

	r->t->at = *end;
	*end = at; /* its memory */
	r->passed = r->next;
	r->next.nr = 0;
}

/*
 * Several threads make the next slices while lanes pass through those before, so that they wait for
 * each other once for both. One thread takes slice by slice, while each is in its cache.
 */
static void group_round(struct round *r, struct workers *w)
{
	struct energy_run *run = r->run;
	struct share_group *t = r->t;
	unsigned threads = w ? workers_count(w) : 1;
	size_t most = threads == 1 ? 1 : threads * SLICES_PER_THREAD;
	CLEANUP(xfreep) size_t *read = xcalloc(t->d.lanes.nr + 1, sizeof(*read));

	most = most < SLICES_MAX ? most : SLICES_MAX;
	r->read = read;
	if (t->batches.nr == 0)
		batches_make(t, threads);
	while (run->slices.nr < 2 * most)
		VEC_PUSH(&run->slices, ((struct slice){ 0 }));
	cuts_make(r);
	for (size_t at = 0; at < r->cuts.nr; at += r->passed.nr) {
		r->next.v = run->slices.v + (r->passed.v == run->slices.v ? most : 0);
		r->next.nr = r->cuts.nr - at < most ? r->cuts.nr - at : most;
		slices_begin(r, &r->cuts.v[at]);
		run_all(w, r->next.nr + (threads > 1 && at ? t->batches.nr : 0), job_slice_or_batch,
			r);
		slices_end(r);
		if (threads == 1 || at + r->passed.nr == r->cuts.nr)
			run_all(w, t->batches.nr, job_slice_or_batch, r);
	}
}

void energy_run_round(struct energy_run *run, const struct lane_feed *feeds, int64_t horizon_ns,
		      struct workers *w)
{
	struct round r = { .run = run, .feeds = feeds, .horizon_ns = horizon_ns };

	for (size_t i = 0; i < run->groups.nr; i++) {
		r.t = &run->groups.v[i];
		r.passed = (struct slice_run){ 0 };
		parts_take(&r);
		if (is_exchanged(run, r.t, feeds))
			group_exchange(run, r.t);
		group_round(&r, w);
	}
	VEC_RELEASE(&r.cuts);
}
