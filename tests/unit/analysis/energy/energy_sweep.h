/*
 * energy_sweep: the oracle of attribution. One sweep over all boundaries of all tracks and samples,
 * with a list of everything that is open (O(n · open spans)). It is written to be checked by
 * reading, not to be fast, and shares no code with runs except the curve.
 */
#ifndef ENERGY_SWEEP_H
#define ENERGY_SWEEP_H

#include "attribution_private.h"
#include "energy_result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/sort.h"
#include "profrig/topology/topology.h"

struct attribution {
	const struct model *m;
	series_id s;
	const char *device;
	const struct curve *c;
	const struct energy_opts *o;
	struct energy_result *r;
	struct sum attributed_j, idle_j, dead_j, given_j;
	int64_t idle_ns;
};

struct open_span {
	size_t span;
	track_id track, sharer;
	double weight; /* of its sharer */
	double share;  /* of the current interval */
};

struct sweep {
	struct attribution *a;
	VEC(int64_t) times;
	VEC(size_t) spans; /* that take part, by start */
	VEC(struct open_span) open;
	struct sum *exclusive_j, *inclusive_j;
};

static int by_start(const void *pa, const void *pb, void *ctx)
{
	const int64_t *start_ns = ctx;
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;

	if (start_ns[a] != start_ns[b])
		return start_ns[a] < start_ns[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

static bool takes_part(const struct attribution *a, track_id t)
{
	return energy_track_takes_part(a->m, a->o, a->s, a->device, a->r->view, t);
}

static void result_alloc(struct attribution *a)
{
	size_t n = a->m->spans.nr;
	struct energy_result *r = a->r;

	r->inclusive_j = xreallocarray(NULL, n, sizeof(*r->inclusive_j));
	r->exclusive_j = xreallocarray(NULL, n, sizeof(*r->exclusive_j));
	r->exclusive_ns = xcalloc(n, sizeof(*r->exclusive_ns));
	r->marks = xcalloc(n, sizeof(*r->marks));
	if (a->m->pieces.nr > 0) {
		r->pieces = xcalloc(a->m->pieces.nr, sizeof(*r->pieces));
		r->new_j = xcalloc(n, sizeof(*r->new_j));
	}
	for (size_t i = 0; i < n; i++)
		r->inclusive_j[i] = r->exclusive_j[i] = NAN;
}

static void collect(struct sweep *w)
{
	const struct span_columns *sp = &w->a->m->spans;
	bool host = w->a->r->view == VIEW_HOST;

	for (size_t i = 0; i < sp->nr; i++) {
		if (host ? sp->kind[i] == SPAN_INSTANT || !takes_part(w->a, sp->track[i])
			 : !span_is_work(w->a->m, i) || !takes_part(w->a, sp->track[i]))
			continue;
		VEC_PUSH(&w->spans, i);
		VEC_PUSH(&w->times, sp->start_ns[i]);
		VEC_PUSH(&w->times, sp->end_ns[i]);
	}
	for (size_t i = 0; i < w->a->c->n; i++)
		VEC_PUSH(&w->times, w->a->c->t_ns[i]);
	sort_i64(w->times.v, w->times.nr);
	if (w->spans.nr > 0)
		qsort_r(w->spans.v, w->spans.nr, sizeof(*w->spans.v), by_start, sp->start_ns);
}

static bool first_of_sharer(const struct sweep *w, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (w->open.v[k].sharer == w->open.v[i].sharer)
			return false;
	}
	return true;
}

static bool first_of_track(const struct sweep *w, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (w->open.v[k].track == w->open.v[i].track)
			return false;
	}
	return true;
}

/* Started last on its track: the list is in the order of the columns. */
static bool innermost(const struct sweep *w, size_t i)
{
	for (size_t k = i + 1; k < w->open.nr; k++) {
		if (w->open.v[k].track == w->open.v[i].track)
			return false;
	}
	return true;
}

/* Fills the share of every open span's track (host) or of the span itself (device); returns how
 * many sharers there are. */
static size_t divide(struct sweep *w, double e)
{
	bool host = w->a->r->view == VIEW_HOST;
	double weights = 0;
	size_t sharers = 0;

	for (size_t i = 0; i < w->open.nr; i++) {
		if (host && !first_of_sharer(w, i))
			continue;
		sharers++;
		weights += w->open.v[i].weight;
	}
	for (size_t i = 0; i < w->open.nr; i++) {
		struct open_span *o = &w->open.v[i];
		size_t tracks = 0;

		for (size_t k = 0; host && k < w->open.nr; k++)
			tracks += w->open.v[k].sharer == o->sharer && first_of_track(w, k);
		o->share = e / (double)(tracks ? tracks : 1);
		if (!w->a->o->independent)
			o->share *= o->weight / weights;
	}
	return sharers;
}

/* What no earlier call of its name on its track has open, and the part of a span that outlives its
 * parent. */
static void give_overlap(struct sweep *w, size_t i, int64_t t_ns, int64_t dt_ns)
{
	const struct model *m = w->a->m;
	const struct open_span *o = &w->open.v[i];
	const struct span_piece *row = model_piece(m, o->span);
	struct energy_piece *p = row ? &w->a->r->pieces[row - m->pieces.v] : NULL;
	bool fresh = true;

	for (size_t k = 0; k < i; k++)
		fresh &= w->open.v[k].track != o->track ||
			 m->spans.name[w->open.v[k].span] != m->spans.name[o->span];
	if (fresh && w->a->r->new_j)
		w->a->r->new_j[o->span] += o->share;
	if (p && t_ns >= row->start_ns && innermost(w, i)) {
		p->exclusive_j += o->share;
		p->exclusive_ns += dt_ns;
	}
}

static void give(struct sweep *w, double e, int64_t t_ns, int64_t dt_ns, uint8_t marks)
{
	struct attribution *a = w->a;
	size_t sharers = divide(w, e);

	for (size_t i = 0; i < w->open.nr; i++)
		a->r->marks[w->open.v[i].span] |= marks;
	if (marks & CURVE_DEAD) {
		sum_add(&a->dead_j, e);
		return;
	}
	if (sharers == 0) {
		sum_add(&a->idle_j, e);
		a->idle_ns += dt_ns;
		return;
	}
	sum_add(&a->given_j, a->o->independent ? e * (double)sharers : e);
	for (size_t i = 0; i < w->open.nr; i++) {
		const struct open_span *o = &w->open.v[i];

		sum_add(&w->inclusive_j[o->span], o->share);
		if (a->r->view == VIEW_DEVICE || innermost(w, i)) {
			sum_add(&w->exclusive_j[o->span], o->share);
			sum_add(&a->attributed_j, o->share);
			a->r->exclusive_ns[o->span] += dt_ns;
		}
		if (a->r->view == VIEW_HOST)
			give_overlap(w, i, t_ns, dt_ns);
	}
}

static double weight_of(const struct sweep *w, track_id t)
{
	const struct attribution *a = w->a;

	return a->r->view == VIEW_HOST ? topology_weight(a->o->topology, a->m, t, a->s) : 1;
}

static void open_and_close(struct sweep *w, size_t *next, int64_t now)
{
	const struct span_columns *sp = &w->a->m->spans;
	size_t k = 0;

	for (; *next < w->spans.nr && sp->start_ns[w->spans.v[*next]] <= now; ++*next) {
		size_t i = w->spans.v[*next];
		track_id t = sp->track[i];

		VEC_PUSH(&w->open, (struct open_span){ i, t, energy_sharer_of(w->a->m, t),
						       weight_of(w, t), 0 });
	}
	for (size_t i = 0; i < w->open.nr; i++) {
		if (sp->end_ns[w->open.v[i].span] > now)
			w->open.v[k++] = w->open.v[i];
	}
	w->open.nr = k;
}

static void sweep_times(struct sweep *w)
{
	const struct curve *c = w->a->c;
	size_t next = 0, hint = 0, interval = 0;

	for (size_t i = 0; i + 1 < w->times.nr; i++) {
		int64_t t0 = w->times.v[i], t1 = w->times.v[i + 1];

		open_and_close(w, &next, t0);
		if (t0 == t1 || t0 < c->t_ns[0] || t1 > c->t_ns[c->n - 1])
			continue;
		while (c->t_ns[interval + 1] <= t0)
			interval++;
		double from = curve_at(c, t0, &hint), to = curve_at(c, t1, &hint);
		give(w, to - from, t0, t1 - t0, c->marks ? c->marks[interval] : 0);
	}
}

static bool sweep_all(struct attribution *a)
{
	struct sweep w = { .a = a };
	const struct span_columns *sp = &a->m->spans;

	collect(&w);
	if (w.spans.nr > 0) {
		result_alloc(a);
		w.exclusive_j = xcalloc(sp->nr, sizeof(*w.exclusive_j));
		w.inclusive_j = xcalloc(sp->nr, sizeof(*w.inclusive_j));
	}
	sweep_times(&w);
	if (w.spans.nr > 0) {
		for (size_t k = 0; k < w.spans.nr; k++) {
			size_t i = w.spans.v[k];

			a->r->exclusive_j[i] = sum_value(&w.exclusive_j[i]);
			a->r->inclusive_j[i] = sum_value(&w.inclusive_j[i]);
			if (sp->end_ns[i] > sp->start_ns[i] &&
			    (sp->start_ns[i] < a->c->t_ns[0] ||
			     sp->end_ns[i] > a->c->t_ns[a->c->n - 1]))
				a->r->marks[i] |= SPAN_OUTSIDE;
		}
	}
	free(w.exclusive_j);
	free(w.inclusive_j);
	VEC_RELEASE(&w.times);
	VEC_RELEASE(&w.open);
	bool any = w.spans.nr > 0;
	VEC_RELEASE(&w.spans);
	return any;
}

static void close_result(struct attribution *a)
{
	struct energy_result *r = a->r;
	double error;

	r->total_j = curve_total(a->c);
	r->attributed_j = sum_value(&a->attributed_j);
	r->dead_j = sum_value(&a->dead_j);
	r->unattributed_j = sum_value(&a->idle_j) + r->dead_j;
	r->unattributed_ns = a->idle_ns;
	if (a->o->independent)
		error = sum_value(&a->given_j) - r->attributed_j;
	else
		error = r->total_j - r->attributed_j - r->unattributed_j;
	r->error_rel = r->total_j == 0 ? 0 : fabs(error / r->total_j);
}

/*
 * Returns 0; 1 when no span takes part or the series is too short (all is unattributed, arrays
 * NULL); -EINVAL for a series of unknown kind.
 */
static int energy_attribute_sweep(const struct model *m, series_id s, enum energy_view view,
				  const struct energy_opts *o, struct energy_result *ret,
				  struct err *err)
{
	struct counter_info ci = counter_info(m, s);
	CLEANUP(curve_release) struct curve c = { 0 };
	struct attribution a = { .m = m, .s = s, .device = ci.device, .c = &c, .o = o, .r = ret };
	bool taken = false;
	int r = curve_make(m, s, &ci, o, &c, err);

	if (r < 0)
		return r;
	*ret = (struct energy_result){
		.series = s,
		.view = view,
		.flags = c.flags,
		.median_period_ns = c.median_period_ns,
	};
	snprintf(ret->device, sizeof(ret->device), "%s", ci.device);
	if (c.n >= 2)
		taken = sweep_all(&a);
	close_result(&a);
	return taken ? 0 : 1;
}

#endif
