#include "energy_run_private.h"

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
		for (size_t k = 0; k < s->curves.nr; k++)
			share_curve_release(&s->curves.v[k]);
		VEC_RELEASE(&s->curves);
	}
	VEC_RELEASE(&run->slices);
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
	size_t *read;       /* by lane of the domain: events of earlier slices */
	size_t slices;      /* of the batch */
	size_t group_lanes; /* lanes that one job takes through the batch */
};

static void job_changes(void *ctx, size_t i, unsigned worker)
{
	const struct round *r = ctx;
	const struct domain_lane *l = &r->t->d.lanes.v[i];
	const struct lane_feed *f = &r->feeds[l->lane];
	struct lane_changes *c = &r->t->changes[i];

	(void)worker;
	VEC_CLEAR(&c->v);
	c->taken = 0;
	if (r->run->modes[l->lane] == LANE_COVER || f->steady)
		return;
	for (size_t k = 0; k < f->nr; k++) {
		if (f->v[k].change)
			VEC_PUSH(&c->v, ((struct share_change){ f->v[k].t_ns, l->sharer,
								f->v[k].change }));
	}
}

static bool any_unsteady(const struct share_group *t, const struct lane_feed *feeds)
{
	for (size_t i = 0; i < t->d.lanes.nr; i++) {
		if (!feeds[t->d.lanes.v[i].lane].steady)
			return true;
	}
	return false;
}

/* Whether a group's changes go from rank to rank in this round; all ranks find the same. */
static bool is_exchanged(const struct energy_run *run, const struct share_group *t,
			 const struct lane_feed *feeds)
{
	return !comm_alone(run->comm) && t->spread && any_unsteady(t, feeds);
}

/* A lane is read by one rank, so nothing of it is here twice. */
static void group_exchange(struct energy_run *run, const struct share_group *t)
{
	CLEANUP(strbuf_release) struct strbuf mine = STRBUF_INIT;
	CLEANUP(comm_parts_release) struct comm_parts all = { STRBUF_INIT, NULL };

	for (size_t i = 0; i < t->d.lanes.nr; i++) {
		SERIAL_PUT_VEC(&mine, &t->changes[i].v);
		VEC_CLEAR(&t->changes[i].v);
	}
	comm_gather(run->comm, mine.buf, mine.len, &all);
	for (int rank = 0; rank < run->comm->size; rank++) {
		struct serial_in in = { all.bytes.buf + all.at[rank],
					all.bytes.buf + all.at[rank + 1], false };

		for (size_t i = 0; i < t->d.lanes.nr; i++)
			SERIAL_TAKE_VEC(&in, &t->changes[i].v);
		if (in.bad)
			comm_stop(run->comm, 1, "what rank %d sent does not end as it should",
				  rank);
	}
}

static int cmp_times(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/*
 * Samples every lane's changes at one distance, small enough that lanes with fewer changes can be
 * neglected. All changes of one time are in one slice.
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
		for (size_t k = step - 1; k < t->changes[i].v.nr; k += step)
			VEC_PUSH(&r->cuts, t->changes[i].v.v[k].t_ns);
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

/* Its changes, lane by lane. Also updates the state at its end, when the next slice needs it. */
static void slice_take(struct share_group *t, struct slice *s, int64_t horizon_ns, bool count)
{
	s->from_ns = t->at_ns;
	s->horizon_ns = t->at_ns = horizon_ns;
	s->first = !t->started;
	t->started = true;
	share_state_copy(&s->sharing.at, &t->at);
	VEC_CLEAR(&s->changes.v);
	for (size_t i = 0; i < t->d.lanes.nr; i++) {
		struct lane_changes *c = &t->changes[i];
		size_t from = c->taken, n;

		if (from == c->v.nr)
			continue;
		c->taken = LOWER_BOUND(k, from, c->v.nr, c->v.v[k].t_ns < horizon_ns);
		n = c->taken - from;
		if (n == 0)
			continue;
		if (count)
			share_state_change(&t->d, &t->at, c->v.v + from, n);
		VEC_RESERVE(&s->changes.v, s->changes.v.nr + n);
		memcpy(s->changes.v.v + s->changes.v.nr, c->v.v + from, n * sizeof(*c->v.v));
		s->changes.v.nr += n;
	}
}

static void job_slice(void *ctx, size_t i, unsigned worker)
{
	const struct round *r = ctx;
	const struct share_group *t = r->t;
	const struct domain *d = &t->d;
	struct slice *s = &r->run->slices.v[i];
	size_t grids = d->grids.nr;

	(void)worker;
	changes_sort(&s->changes);
	sharing_make(&s->sharing, d, s->changes.v.v, s->changes.v.nr);
	while (s->curves.nr < d->classes.nr * grids)
		VEC_PUSH(&s->curves, ((struct share_curve){ 0 }));
	for (size_t c = 0; c < d->classes.nr; c++) {
		for (size_t g = 0; t->curves_wanted[c] && g < grids; g++)
			share_curve_make(&s->curves.v[c * grids + g], &d->grids.v[g], d, c,
					 &s->sharing, s->from_ns, s->horizon_ns);
	}
}

/* ---- idle and active time ---- */

struct events {
	VEC(struct lane_event) v;
};

/* Idle time, or active time, as a lane of its own; the first slice begins idle. */
static void activity_lane(const struct slice *s, bool active, struct events *ret)
{
	const struct steps *st = &s->sharing.active;
	bool was = (st->v[0] > 0) == active;

	VEC_CLEAR(&ret->v);
	if (s->first && !active)
		VEC_PUSH(&ret->v, ((struct lane_event){ INT64_MIN, 0, 0 }));
	for (size_t i = 0; i < st->nr; i++) {
		bool on = (st->v[i + 1] > 0) == active;

		if (on != was)
			VEC_PUSH(&ret->v,
				 ((struct lane_event){ st->t_ns[i], on ? 0 : NODE_NONE, 0 }));
		was = on;
	}
}

static void activity_read(const struct round *r, struct accumulator *accumulators,
			  uint32_t share_class, bool active)
{
	size_t grids = r->t->d.grids.nr;
	struct events e = { VEC_INIT };

	for (size_t i = 0; i < r->slices; i++) {
		struct slice *s = &r->run->slices.v[i];
		struct lane_feed f = { .nodes = 1, .rows = 1 };

		activity_lane(s, active, &e);
		f.v = e.v.v;
		f.nr = e.v.nr;
		accumulators_slice(accumulators, &s->curves.v[share_class * grids], grids, &f,
				   s->horizon_ns);
	}
	VEC_RELEASE(&e.v);
}

/* ---- a batch of slices ---- */

static void lane_read(const struct round *r, const struct slice *s, size_t i)
{
	struct share_group *t = r->t;
	const struct domain_lane *l = &t->d.lanes.v[i];
	size_t grids = t->d.grids.nr;
	struct lane_feed f = r->feeds[l->lane];

	if (!t->here[i])
		return;
	f.v += r->read[i];
	f.nr = LOWER_BOUND(k, 0, f.nr - r->read[i], f.v[k].t_ns < s->horizon_ns);
	r->read[i] += f.nr;
	accumulators_slice(&t->accumulators[i * grids], &s->curves.v[l->share_class * grids], grids,
			   &f, s->horizon_ns);
}

/* The first two take idle and active time, each other one a group of lanes. */
static void job_lanes(void *ctx, size_t i, unsigned worker)
{
	const struct round *r = ctx;
	const struct share_group *t = r->t;
	size_t lanes = t->d.lanes.nr, from, to;

	(void)worker;
	if (i == 0 && t->idle_here)
		activity_read(r, t->idle, t->idle_class, false);
	if (i == 1 && t->idle_here && t->d.independent)
		activity_read(r, t->given, t->given_class, true);
	if (i < 2)
		return;
	from = (i - 2) * r->group_lanes;
	to = from + r->group_lanes < lanes ? from + r->group_lanes : lanes;
	/* lanes of one class are adjacent, so each share curve is still cached for the next */
	for (size_t k = 0; k < r->slices; k++) {
		for (size_t lane = from; lane < to; lane++)
			lane_read(r, &r->run->slices.v[k], lane);
	}
}

static void group_round(struct round *r, struct workers *w)
{
	struct energy_run *run = r->run;
	struct share_group *t = r->t;
	unsigned threads = w ? workers_count(w) : 1;
	size_t lanes = t->d.lanes.nr, most = threads == 1 ? 1 : threads * SLICES_PER_THREAD;
	CLEANUP(xfreep) size_t *read = xcalloc(lanes + 1, sizeof(*read));

	most = most < SLICES_MAX ? most : SLICES_MAX;
	r->read = read;
	r->group_lanes = lanes / (threads * 2) + 1;
	while (run->slices.nr < most)
		VEC_PUSH(&run->slices, ((struct slice){ 0 }));
	cuts_make(r);
	for (size_t at = 0; at < r->cuts.nr; at += r->slices) {
		r->slices = r->cuts.nr - at < most ? r->cuts.nr - at : most;
		for (size_t i = 0; i < r->slices; i++)
			slice_take(t, &run->slices.v[i], r->cuts.v[at + i], r->slices > 1);
		run_all(w, r->slices, job_slice, r);
		if (r->slices == 1)
			share_state_copy(&t->at, &run->slices.v[0].sharing.at);
		run_all(w, 2 + (lanes + r->group_lanes - 1) / r->group_lanes, job_lanes, r);
	}
}

void energy_run_round(struct energy_run *run, const struct lane_feed *feeds, int64_t horizon_ns,
		      struct workers *w)
{
	struct round r = { .run = run, .feeds = feeds, .horizon_ns = horizon_ns };

	for (size_t i = 0; i < run->groups.nr; i++) {
		r.t = &run->groups.v[i];
		run_all(w, r.t->d.lanes.nr, job_changes, &r);
		if (is_exchanged(run, r.t, feeds))
			group_exchange(run, r.t);
		group_round(&r, w);
	}
	VEC_RELEASE(&r.cuts);
}
