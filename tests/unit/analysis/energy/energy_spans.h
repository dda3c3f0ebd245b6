/*
 * Energies of single spans: every span is a node of its own, so that runs can be compared with the
 * oracle span by span. The fields are those of the oracle's result; new_j is not filled.
 */
#ifndef ENERGY_SPANS_H
#define ENERGY_SPANS_H

#include "energy_result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/sort.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"
#include "profrig/energy/energy.h"

struct span_lanes {
	VEC(struct lane_def) defs;
	uint32_t *node_of_span, *node_of_piece;
};

/* ---- events: of a whole track at once ---- */

struct span_events {
	VEC(struct lane_event) v;
};

/* Ends before begins of one moment. */
static inline int cmp_span_events(const void *pa, const void *pb)
{
	const struct lane_event *a = pa, *b = pb;

	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns ? -1 : 1;
	return (a->change > b->change) - (a->change < b->change);
}

static inline void span_events_work(const struct span_lanes *l, const struct model *m,
				    const struct track *t, bool work, struct span_events *ret)
{
	for (size_t i = t->first_span; i < t->first_span + t->spans; i++) {
		int64_t start_ns = m->spans.start_ns[i], end_ns = m->spans.end_ns[i];

		if (start_ns == end_ns || (work && !span_is_work(m, i)))
			continue;
		VEC_PUSH(&ret->v, ((struct lane_event){ start_ns, l->node_of_span[i], 1 }));
		VEC_PUSH(&ret->v, ((struct lane_event){ end_ns, l->node_of_span[i], -1 }));
	}
	if (ret->v.nr)
		qsort(ret->v.v, ret->v.nr, sizeof(*ret->v.v), cmp_span_events);
}

static inline uint32_t span_node_at(const struct span_lanes *l, const struct model *m, size_t i,
				    int64_t t_ns)
{
	const struct span_piece *piece = model_piece(m, i);

	return piece && piece->start_ns <= t_ns ? l->node_of_piece[piece - m->pieces.v]
						: l->node_of_span[i];
}

/* The innermost call is the open one that started last. */
static inline void span_events_calls(const struct span_lanes *l, const struct model *m,
				     const struct track *t, struct span_events *ret)
{
	size_t next = t->first_span, end = next + t->spans;
	VEC(int64_t) times = VEC_INIT;
	VEC(size_t) open = VEC_INIT;
	uint32_t last = NODE_NONE;

	for (size_t i = next; i < end; i++) {
		const struct span_piece *piece = model_piece(m, i);

		VEC_PUSH(&times, m->spans.start_ns[i]);
		VEC_PUSH(&times, m->spans.end_ns[i]);
		if (piece)
			VEC_PUSH(&times, piece->start_ns);
	}
	sort_i64(times.v, times.nr);
	for (size_t k = 0; k < times.nr; k++) {
		int64_t t_ns = times.v[k];
		uint32_t node;

		for (; next < end && m->spans.start_ns[next] <= t_ns; next++)
			if (m->spans.kind[next] != SPAN_INSTANT)
				VEC_PUSH(&open, next);
		while (open.nr && m->spans.end_ns[open.v[open.nr - 1]] <= t_ns)
			open.nr--;
		node = open.nr ? span_node_at(l, m, open.v[open.nr - 1], t_ns) : NODE_NONE;
		if (node == last)
			continue;
		VEC_PUSH(&ret->v, ((struct lane_event){
					  t_ns, node, (last == NODE_NONE) - (node == NODE_NONE) }));
		last = node;
	}
	VEC_RELEASE(&times);
	VEC_RELEASE(&open);
}

static inline void span_lanes_run(const struct span_lanes *l, const struct model *m,
				  struct energy_run *run)
{
	struct span_events *events = xcalloc(l->defs.nr + 1, sizeof(*events));
	CLEANUP(xfreep) struct lane_feed *feeds = xcalloc(l->defs.nr + 1, sizeof(*feeds));

	for (size_t i = 0; i < l->defs.nr; i++) {
		const struct track *t = &m->tracks.v[l->defs.v[i].track];
		uint32_t nodes = (uint32_t)(t->spans + m->pieces.nr);

		if (l->defs.v[i].mode == LANE_CALLS)
			span_events_calls(l, m, t, &events[i]);
		else
			span_events_work(l, m, t, l->defs.v[i].mode == LANE_WORK, &events[i]);
		feeds[i] = (struct lane_feed){
			.v = events[i].v.v,
			.nr = events[i].v.nr,
			.changes = events[i].v.nr,
			.nodes = nodes,
			.rows = nodes,
		};
	}
	energy_run_round(run, feeds, INT64_MAX, NULL);
	for (size_t i = 0; i < l->defs.nr; i++)
		VEC_RELEASE(&events[i].v);
	free(events);
}

/* ---- lanes ---- */

static inline void span_lanes_add(struct span_lanes *l, track_id t, enum lane_mode mode)
{
	VEC_PUSH(&l->defs, ((struct lane_def){ t, mode, 0 }));
}

/* Nodes: a span's place on its track, then pieces. */
static inline void span_lanes_make(struct span_lanes *l, const struct model *m,
				   enum energy_view view)
{
	*l = (struct span_lanes){ 0 };
	l->node_of_span = xcalloc(m->spans.nr + 1, sizeof(*l->node_of_span));
	l->node_of_piece = xcalloc(m->pieces.nr + 1, sizeof(*l->node_of_piece));
	for (size_t i = 0; i < m->spans.nr; i++)
		l->node_of_span[i] = (uint32_t)(i - m->tracks.v[m->spans.track[i]].first_span);
	for (size_t k = 0; k < m->pieces.nr; k++)
		l->node_of_piece[k] =
			(uint32_t)(m->tracks.v[m->spans.track[m->pieces.v[k].span]].spans + k);
	for (track_id t = 0; t < m->tracks.nr; t++) {
		enum track_kind kind = m->tracks.v[t].kind;

		if (m->tracks.v[t].spans == 0)
			continue;
		if (view == VIEW_DEVICE && kind == TRACK_QUEUE)
			span_lanes_add(l, t, LANE_WORK);
		if (view == VIEW_HOST && kind == TRACK_THREAD) {
			span_lanes_add(l, t, LANE_CALLS);
			span_lanes_add(l, t, LANE_COVER);
		}
	}
}

static inline void span_lanes_release(struct span_lanes *l)
{
	VEC_RELEASE(&l->defs);
	free(l->node_of_span);
	free(l->node_of_piece);
}

static inline void span_results_alloc(struct energy_result *r, const struct model *m)
{
	r->inclusive_j = xreallocarray(NULL, m->spans.nr, sizeof(*r->inclusive_j));
	r->exclusive_j = xreallocarray(NULL, m->spans.nr, sizeof(*r->exclusive_j));
	r->exclusive_ns = xcalloc(m->spans.nr, sizeof(*r->exclusive_ns));
	r->marks = xcalloc(m->spans.nr, sizeof(*r->marks));
	if (m->pieces.nr > 0)
		r->pieces = xcalloc(m->pieces.nr, sizeof(*r->pieces));
	for (size_t i = 0; i < m->spans.nr; i++)
		r->inclusive_j[i] = r->exclusive_j[i] = NAN;
}

static inline bool span_counts(const struct model *m, size_t i, enum energy_view view)
{
	return view == VIEW_DEVICE ? span_is_work(m, i) : m->spans.kind[i] != SPAN_INSTANT;
}

static inline void span_results_collect(struct energy_result *r, const struct model *m,
					const struct span_lanes *l, const struct energy_run *run,
					size_t lane)
{
	const struct track *t = &m->tracks.v[l->defs.v[lane].track];
	bool cover = l->defs.v[lane].mode == LANE_COVER;

	for (size_t i = t->first_span; i < t->first_span + t->spans; i++) {
		struct node_energy e = energy_run_value(run, 0, lane, l->node_of_span[i]);

		if (!span_counts(m, i, r->view))
			continue;
		if (!cover) {
			r->exclusive_j[i] = e.exclusive_j;
			r->exclusive_ns[i] = e.exclusive_ns;
		}
		if (cover || r->view == VIEW_DEVICE) {
			r->inclusive_j[i] = e.exclusive_j;
			r->marks[i] = e.marks;
		}
	}
	for (size_t k = 0; !cover && r->view == VIEW_HOST && k < m->pieces.nr; k++) {
		size_t i = m->pieces.v[k].span;

		if (m->spans.track[i] != l->defs.v[lane].track)
			continue;
		struct node_energy e = energy_run_value(run, 0, lane, l->node_of_piece[k]);
		r->pieces[k] = (struct energy_piece){ e.exclusive_j, e.exclusive_ns };
		r->exclusive_j[i] += e.exclusive_j;
		r->exclusive_ns[i] += e.exclusive_ns;
	}
}

/* As energy_attribute_sweep, by a run. */
static inline int energy_attribute(const struct model *m, series_id s, enum energy_view view,
				   const struct energy_opts *o, struct energy_result *ret,
				   struct err *err)
{
	struct energy_job job = { s, view };
	struct energy_totals t;
	struct span_lanes l;
	struct energy_run *run;
	bool any = false;
	int r;

	span_lanes_make(&l, m, view);
	r = energy_run_new(m, &job, 1, l.defs.v, l.defs.nr, o, &run, err);
	if (r == 0) {
		span_lanes_run(&l, m, run);
		energy_run_job(run, 0, &t);
		*ret = (struct energy_result){ .series = s,
					       .view = view,
					       .total_j = t.total_j,
					       .attributed_j = t.attributed_j,
					       .unattributed_j = t.unattributed_j,
					       .error_rel = t.error_rel,
					       .dead_j = t.dead_j,
					       .unattributed_ns = t.unattributed_ns,
					       .median_period_ns = t.median_period_ns,
					       .flags = t.flags };
		snprintf(ret->device, sizeof(ret->device), "%s", t.device);
		for (size_t i = 0; i < m->spans.nr; i++)
			any |= span_counts(m, i, view) &&
			       energy_track_takes_part(m, o, s, t.device, view, m->spans.track[i]);
		any &= t.taken;
		if (any)
			span_results_alloc(ret, m);
		for (size_t i = 0; any && i < l.defs.nr; i++) {
			if (energy_run_takes_part(run, 0, i))
				span_results_collect(ret, m, &l, run, i);
		}
		energy_run_free(run);
		r = any ? 0 : 1;
	}
	span_lanes_release(&l);
	return r;
}

#endif
