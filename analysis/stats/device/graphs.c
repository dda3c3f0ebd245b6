#include "graphs.h"
#include "ns.h"
#include "track_names.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/natural.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/facts.h"
#include "profrig/model/warnings.h"
#include "profrig/names/api_names.h"

/* clang-format off */
#define GRAPH_LAUNCHES(X) \
	X(STR, device) X(STR, thread) X(STR, name) X(STR, graph) X(I64, start_ns) X(I64, dur_ns) \
	X(I64, works) X(I64, sum_ns) X(I64, union_ns) X(F64, span_ns) X(F64, latency_ns) \
	X(STR, exec) X(F64, nodes)
/* clang-format on */
TABLE_FORM(graph_launches, GRAPH_LAUNCHES,
	   "one row per launch of a graph and device; works is 0 where its work is missing");

static bool launches_graph(struct graphs *g, uint64_t span)
{
	str_id name = g->w->m->spans.name[span];
	uint8_t *is = &g->is_launch[name];

	if (*is == 0)
		*is = api_class(model_str(g->w->m, name)) == API_GRAPH_LAUNCH ? 2 : 1;
	return *is == 2;
}

static void graph_of(const struct model *m, uint64_t span, int64_t *ret_graph, int64_t *ret_node)
{
	const struct kernel_facts *k = facts_kernel(m, span);
	const struct copy_facts *c = k ? NULL : facts_copy(m, span);

	*ret_graph = k ? k->graph : c ? c->graph : FACT_ABSENT;
	*ret_node = k ? k->graph_node : c ? c->graph_node : FACT_ABSENT;
}

/* By launch, then row: rows of one device stand together, by start. Unlinked ones come last. */
static int cmp_work(const void *pa, const void *pb)
{
	const struct graph_work *a = pa, *b = pb;

	if (a->launch_ns != b->launch_ns)
		return a->launch_ns < b->launch_ns ? -1 : 1;
	if (a->launch != b->launch)
		return a->launch < b->launch ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static void works_gather(struct graphs *g)
{
	const struct works *w = g->w;

	for (size_t i = 0; i < w->v.nr; i++) {
		uint64_t launch = w->v.v[i].launch;
		struct graph_work gw = { .launch_ns = INT64_MAX,
					 .launch = launch,
					 .row = (uint32_t)i,
					 .instance = GRAPH_NONE,
					 .sequence = GRAPH_NONE };

		graph_of(w->m, w->v.v[i].span, &gw.graph, &gw.node);
		if (gw.graph == FACT_ABSENT && (launch == SPAN_NONE || !launches_graph(g, launch)))
			continue;
		if (launch != SPAN_NONE)
			gw.launch_ns = w->m->spans.start_ns[launch];
		VEC_PUSH(&g->works, gw);
	}
	if (g->works.nr)
		qsort(g->works.v, g->works.nr, sizeof(*g->works.v), cmp_work);
}

/* ---- what was captured ---- */

/* The call that states the handles may be the one around that which the work is linked with. */
static uint32_t instance_of(struct graphs *g, uint64_t launch)
{
	uint32_t at = GRAPH_NONE;

	for (uint64_t i = launch; at == GRAPH_NONE && i != SPAN_NONE && launches_graph(g, i);
	     i = span_parent(&g->w->m->spans, i))
		at = graph_instance_of(g->gc, i);
	return at;
}

/* Where no call states handles: by how many works the launch has. */
static uint32_t instance_of_size(struct graphs *g, uint64_t launch, size_t works)
{
	const struct model *m = g->w->m;
	uint32_t at;

	if (launch == SPAN_NONE)
		return GRAPH_NONE;
	at = graph_instance_of_size(g->gc, graph_process_of(m, m->spans.track[launch]),
				    m->spans.start_ns[launch], works);
	if (at != GRAPH_NONE)
		g->gc->instances.v[at].launches++;
	return at;
}

static int cmp_start(const void *pa, const void *pb, void *ctx)
{
	const struct graphs *g = ctx;
	const struct graph_work *a = pa, *b = pb;
	const struct work *wa = &g->w->v.v[a->row], *wb = &g->w->v.v[b->row];

	if (wa->start_ns != wb->start_ns)
		return wa->start_ns < wb->start_ns ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* The works of one execution of a captured graph: v is theirs, in any order. */
static void execution_replay(struct graphs *g, struct graph_work *v, size_t nr, uint32_t capture)
{
	str_id *names = xmalloc(nr * sizeof(*names));
	uint32_t *node = xmalloc(nr * sizeof(*node));

	qsort_r(v, nr, sizeof(*v), cmp_start, g);
	for (size_t i = 0; i < nr; i++)
		names[i] = g->w->m->spans.name[g->w->v.v[v[i].row].span];
	graph_replay(g->gc, capture, names, nr, node);
	for (size_t i = 0; i < nr; i++)
		v[i].sequence = node[i];
	qsort(v, nr, sizeof(*v), cmp_work);
	free(names);
	free(node);
}

static void executions_find(struct graphs *g)
{
	for (size_t i = 0, to; i < g->works.nr; i = to) {
		struct graph_work *v = &g->works.v[i];
		uint32_t at = v->launch == SPAN_NONE ? GRAPH_NONE : instance_of(g, v->launch);

		for (to = i; to < g->works.nr && g->works.v[to].launch == v->launch;)
			to++;
		if (at == GRAPH_NONE)
			at = instance_of_size(g, v->launch, to - i);
		for (size_t k = i; k < to; k++)
			g->works.v[k].instance = at;
		if (at != GRAPH_NONE && g->gc->instances.v[at].capture != GRAPH_NONE)
			execution_replay(g, v, to - i, g->gc->instances.v[at].capture);
	}
}

const char *graph_text(const struct graphs *g, int64_t graph, uint32_t instance,
		       struct graph_id *buf)
{
	if (graph != FACT_ABSENT)
		snprintf(buf->s, sizeof(buf->s), "%" PRId64, graph);
	else
		handle_text(instance == GRAPH_NONE ? FACT_ABSENT
						   : g->gc->instances.v[instance].graph,
			    buf);
	return buf->s;
}

/* A bit for each span that launched work. */
static uint8_t *launches_with_work(const struct works *w)
{
	uint8_t *bits = xcalloc(w->m->spans.nr / 8 + 1, 1);

	for (size_t i = 0; i < w->v.nr; i++)
		if (w->v.v[i].launch != SPAN_NONE)
			bits[w->v.v[i].launch / 8] |= (uint8_t)(1u << w->v.v[i].launch % 8);
	return bits;
}

/*
 * A call inside another one that launches a graph, cuGraphLaunch of cudaGraphLaunch, is the same
 * launch: work of one is that of the other. Parents come before children.
 */
static void missing_find(struct graphs *g)
{
	const struct span_columns *c = &g->w->m->spans;
	CLEANUP(xfreep) uint8_t *bits = launches_with_work(g->w);

	for (uint64_t i = c->nr; i-- > 0;) {
		uint64_t up = span_parent(c, i);

		if (up != SPAN_NONE && bits[i / 8] >> i % 8 & 1 && launches_graph(g, i) &&
		    launches_graph(g, up))
			bits[up / 8] |= (uint8_t)(1u << up % 8);
	}
	for (uint64_t i = 0; i < c->nr; i++) {
		uint64_t up = span_parent(c, i);
		bool inner = up != SPAN_NONE && launches_graph(g, up);

		if (c->kind[i] == SPAN_HOST && launches_graph(g, i) && !inner &&
		    !(bits[i / 8] >> i % 8 & 1))
			VEC_PUSH(&g->missing, i);
	}
}

/* ---- graph_launches ---- */

struct launch_row {
	uint64_t launch; /* SPAN_NONE: of all work of a device that has no launch */
	int64_t start_ns, graph;
	uint32_t instance; /* GRAPH_NONE */
	const char *device;
	int64_t works, sum_ns, union_ns, first_ns, last_ns;
};

struct launch_rows {
	VEC(struct launch_row) v;
};

static int cmp_launch(const void *pa, const void *pb)
{
	const struct launch_row *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->launch != b->launch)
		return a->launch < b->launch ? -1 : 1;
	return natural_cmp(a->device, b->device);
}

/* Of the works from i on that have one launch and device. Returns where they end. */
static size_t launch_sum(const struct graphs *g, size_t i, struct launch_row *r)
{
	const struct graph_work *first = &g->works.v[i];
	const struct work *v = g->w->v.v;
	uint32_t device = v[first->row].device;

	*r = (struct launch_row){ first->launch,
				  first->launch_ns,
				  first->graph,
				  first->instance,
				  model_str(g->w->m, g->w->devices.v[device].name),
				  0,
				  0,
				  0,
				  v[first->row].start_ns,
				  v[first->row].start_ns };
	for (; i < g->works.nr && g->works.v[i].launch == first->launch &&
	       v[g->works.v[i].row].device == device;
	     i++) {
		const struct work *k = &v[g->works.v[i].row];
		int64_t from = k->start_ns > r->last_ns ? k->start_ns : r->last_ns;

		r->works++;
		r->sum_ns = ns_add(r->sum_ns, k->end_ns - k->start_ns);
		if (k->end_ns > from)
			r->union_ns += k->end_ns - from;
		if (k->end_ns > r->last_ns)
			r->last_ns = k->end_ns;
		if (g->works.v[i].graph != first->graph)
			r->graph = FACT_ABSENT;
	}
	return i;
}

/* Nodes of the capture that is launched; NaN unknown. */
static double nodes_of(const struct graphs *g, uint32_t instance)
{
	uint32_t capture =
		instance == GRAPH_NONE ? GRAPH_NONE : g->gc->instances.v[instance].capture;

	return capture == GRAPH_NONE ? NAN : (double)g->gc->captures.v[capture].nr;
}

static void launch_add(const struct graphs *g, const struct strvec *threads,
		       const struct launch_row *r, struct table *t)
{
	const struct model *m = g->w->m;
	bool known = r->launch != SPAN_NONE;
	int64_t handle =
		r->instance == GRAPH_NONE ? FACT_ABSENT : g->gc->instances.v[r->instance].exec;
	struct graph_id graph, exec;

	table_add(t, &(struct graph_launches_row){
			     r->device, known ? threads->v[m->spans.track[r->launch]] : "",
			     known ? model_str(m, m->spans.name[r->launch]) : "[unlinked]",
			     graph_text(g, r->graph, r->instance, &graph),
			     (known ? r->start_ns : r->first_ns) - m->first_ns,
			     known ? span_ns(m, r->launch) : 0, r->works, r->sum_ns, r->union_ns,
			     r->works ? (double)(r->last_ns - r->first_ns) : NAN,
			     r->works && known ? (double)(r->first_ns - r->start_ns) : NAN,
			     handle_text(handle, &exec), nodes_of(g, r->instance) });
}

static struct table *launches_table(struct graphs *g)
{
	const struct model *m = g->w->m;
	CLEANUP(strvec_release) struct strvec threads = STRVEC_INIT;
	struct table *t = table_make(&graph_launches_form);
	struct launch_rows rows = { VEC_INIT };

	track_names(m, &threads);
	for (size_t i = 0; i < g->works.nr;) {
		struct launch_row r;

		i = launch_sum(g, i, &r);
		VEC_PUSH(&rows.v, r);
	}
	for (size_t i = 0; i < g->missing.nr; i++)
		VEC_PUSH(&rows.v,
			 ((struct launch_row){ .launch = g->missing.v[i],
					       .start_ns = m->spans.start_ns[g->missing.v[i]],
					       .graph = FACT_ABSENT,
					       .instance = instance_of(g, g->missing.v[i]),
					       .device = "" }));
	qsort(rows.v.v, rows.v.nr, sizeof(*rows.v.v), cmp_launch);
	for (size_t i = 0; i < rows.v.nr; i++)
		launch_add(g, &threads, &rows.v.v[i], t);
	VEC_RELEASE(&rows.v);
	return t;
}

/* ---- all ---- */

static void graphs_warn(struct model *m, const struct graphs *g)
{
	if (g->missing.nr)
		model_warn(m, span_input(&m->spans, g->missing.v[0]), W_GRAPH_WORK_MISSING,
			   g->missing.nr,
			   "%s at %" PRId64 " ns has no work: the device may have been busy where "
			   "it looks idle",
			   model_str(m, m->spans.name[g->missing.v[0]]),
			   m->spans.start_ns[g->missing.v[0]] - m->first_ns);
}

static void graphs_release(struct graphs *g)
{
	free(g->is_launch);
	graph_captures_free(g->gc);
	VEC_RELEASE(&g->works);
	VEC_RELEASE(&g->missing);
}

static int graphs_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
		      struct err *err)
{
	const struct works *w = analysis_works(m, o);
	CLEANUP(graphs_release)
	struct graphs g = { .w = w,
			    .gc = graph_captures_new(w),
			    .is_launch = xcalloc(intern_count(m->strings) + 1, 1) };
	CLEANUP(table_freep) struct table *kernels = NULL;

	(void)err;
	works_gather(&g);
	if (m->windows.nr == 0) /* else it may lie outside */
		missing_find(&g);
	if (g.works.nr + g.missing.nr + g.gc->captures.nr == 0)
		return table_set_skip(out, "graphs", "no graph was launched or captured");
	executions_find(&g);
	if (g.works.nr + g.missing.nr)
		table_set_add(out, launches_table(&g));
	kernels = graph_kernels_table(&g);
	if (table_rows(kernels))
		table_set_add(out, STEAL(kernels));
	if (g.gc->captures.nr)
		table_set_add(out, graph_captures_table(&g));
	graphs_warn(m, &g);
	if (g.left_out)
		model_warn(m, UINT32_MAX, W_MEMORY_LIMIT, g.left_out,
			   "nodes of graphs that did not run are not listed, which would be more "
			   "than %zu",
			   GRAPH_IDLE_NODES);
	return 0;
}

const struct analysis analysis_graphs = {
	.name = "graphs",
	.about = "launches of graphs, their work, the nodes of each graph, and captures",
	.tables = { &graph_launches_form, &graph_kernels_form, &graph_captures_form },
	.run = graphs_run,
	.needs_work = true,
};
