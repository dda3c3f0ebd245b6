/*
 * Energies of single spans: every span is a node of its own, so that runs can be compared with the
 * oracle span by span. The fields are those of the oracle's result; new_j is not filled.
 */
#ifndef ENERGY_SPANS_H
#define ENERGY_SPANS_H

#include "energy_result.h"
#include "model_lanes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

struct span_lanes {
	VEC(struct model_lane) lanes;
	VEC(struct lane_def) defs;
	uint32_t *node_of_span, *node_of_piece;
};

static inline void span_lanes_add(struct span_lanes *l, const struct model *m, track_id t,
				  enum lane_mode mode)
{
	const struct track *tr = &m->tracks.v[t];
	struct model_lane lane = { .def = { t, mode },
				   .node_of_span = l->node_of_span,
				   .node_of_piece = mode == LANE_CALLS ? l->node_of_piece : NULL };

	lane.nodes = lane.rows = (uint32_t)(tr->spans + m->pieces.nr);
	VEC_PUSH(&l->lanes, lane);
	VEC_PUSH(&l->defs, lane.def);
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
			span_lanes_add(l, m, t, LANE_WORK);
		if (view == VIEW_HOST && kind == TRACK_THREAD) {
			span_lanes_add(l, m, t, LANE_CALLS);
			span_lanes_add(l, m, t, LANE_COVER);
		}
	}
}

static inline void span_lanes_release(struct span_lanes *l)
{
	VEC_RELEASE(&l->lanes);
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
		model_lanes_run(m, l.lanes.v, l.lanes.nr, 0, run);
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
		for (size_t i = 0; any && i < l.lanes.nr; i++) {
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
