#include "graphs.h"
#include "track_names.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/natural.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/facts.h"

/* What was made of a capture. */
struct capture_use {
	uint32_t instance; /* the first; GRAPH_NONE */
	bool counted;      /* its launches are known */
	uint64_t launches;
};

static struct capture_use *uses_of(const struct graph_captures *gc)
{
	struct capture_use *v = xcalloc(gc->captures.nr + 1, sizeof(*v));

	for (size_t i = 0; i < gc->captures.nr; i++)
		v[i] = (struct capture_use){ .instance = GRAPH_NONE,
					     .counted = !gc->captures.v[i].by_name };
	for (size_t i = 0; i < gc->instances.nr; i++) {
		const struct graph_instance *in = &gc->instances.v[i];
		struct capture_use *use;

		if (in->capture == GRAPH_NONE)
			continue;
		use = &v[in->capture];
		if (use->instance == GRAPH_NONE)
			use->instance = (uint32_t)i;
		use->launches += in->launches;
		use->counted |= graph_instance_of_size(gc, in->process, INT64_MAX,
						       gc->captures.v[in->capture].nr) == i;
	}
	return v;
}

struct capture_order {
	const struct graphs *g;
	const struct strvec *threads;
};

/* By start, thread. */
static int cmp_capture(const void *pa, const void *pb, void *ctx)
{
	const struct capture_order *o = ctx;
	size_t ia = *(const size_t *)pa, ib = *(const size_t *)pb;
	const struct graph_capture *a = &o->g->gc->captures.v[ia], *b = &o->g->gc->captures.v[ib];
	const track_id *track = o->g->w->m->spans.track;
	int by;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	by = natural_cmp(o->threads->v[track[a->span]], o->threads->v[track[b->span]]);
	return by ? by : (ia > ib) - (ia < ib);
}

static void capture_add(const struct capture_order *o, const struct graph_capture *c,
			const struct capture_use *use, struct table *t)
{
	const struct model *m = o->g->w->m;
	int64_t handle = use->instance == GRAPH_NONE ? FACT_ABSENT
						     : o->g->gc->instances.v[use->instance].exec;
	struct graph_id graph, exec;

	table_add(t,
		  &(struct graph_captures_row){
			  o->threads->v[m->spans.track[c->span]], c->start_ns - m->first_ns,
			  c->end_ns == INT64_MAX ? NAN : (double)(c->end_ns - c->start_ns),
			  (int64_t)c->nr, handle_text(c->graph, &graph), handle_text(handle, &exec),
			  use->counted ? (double)use->launches : NAN });
}

struct table *graph_captures_table(const struct graphs *g)
{
	const struct graph_captures *gc = g->gc;
	CLEANUP(strvec_release) struct strvec threads = STRVEC_INIT;
	CLEANUP(xfreep) struct capture_use *uses = uses_of(gc);
	CLEANUP(xfreep) size_t *order = xcalloc(gc->captures.nr + 1, sizeof(*order));
	struct capture_order o = { g, &threads };
	struct table *t = table_make(&graph_captures_form);

	track_names(g->w->m, &threads);
	for (size_t i = 0; i < gc->captures.nr; i++)
		order[i] = i;
	qsort_r(order, gc->captures.nr, sizeof(*order), cmp_capture, &o);
	for (size_t i = 0; i < gc->captures.nr; i++)
		capture_add(&o, &gc->captures.v[order[i]], &uses[order[i]], t);
	return t;
}
