/*
 * Graphs: what each launch of one ran, and each of their nodes. Work belongs to a graph when its
 * launch is a call that launches graphs, or the trace names its graph.
 */
#include "analyses_private.h"
#include "ns.h"
#include "track_names.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/natural.h"
#include "profrig/model/facts.h"
#include "profrig/model/warnings.h"
#include "profrig/names/api_names.h"

/* clang-format off */
#define GRAPH_LAUNCHES(X) \
	X(STR, device) X(STR, thread) X(STR, name) X(STR, graph) X(I64, start_ns) X(I64, dur_ns) \
	X(I64, works) X(I64, sum_ns) X(I64, union_ns) X(F64, span_ns) X(F64, latency_ns)
#define GRAPH_KERNELS(X) \
	X(STR, device) X(STR, graph) X(STR, node) X(STR, name) X(I64, calls) X(I64, total_ns) \
	X(F64, mean_ns) X(I64, min_ns) X(I64, max_ns)
/* clang-format on */
TABLE_FORM(graph_launches, GRAPH_LAUNCHES,
	   "one row per launch of a graph and device; works is 0 where its work is missing");
TABLE_FORM(graph_kernels, GRAPH_KERNELS, "one row per device and node of a graph");

struct graph_work {
	int64_t launch_ns;
	uint64_t launch; /* SPAN_NONE */
	int64_t graph, node;
	uint32_t row;
};

struct graphs {
	const struct works *w;
	uint8_t *is_launch; /* by str_id: 0 not asked for yet, 1 no, 2 yes */
	VEC(struct graph_work) works;
	VEC(uint64_t) missing; /* launches without work */
};

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
		struct graph_work gw = { INT64_MAX, launch, 0, 0, (uint32_t)i };

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
		uint64_t up = c->parent[i];

		if (up != SPAN_NONE && bits[i / 8] >> i % 8 & 1 && launches_graph(g, i) &&
		    launches_graph(g, up))
			bits[up / 8] |= (uint8_t)(1u << up % 8);
	}
	for (uint64_t i = 0; i < c->nr; i++) {
		bool inner = c->parent[i] != SPAN_NONE && launches_graph(g, c->parent[i]);

		if (c->kind[i] == SPAN_HOST && launches_graph(g, i) && !inner &&
		    !(bits[i / 8] >> i % 8 & 1))
			VEC_PUSH(&g->missing, i);
	}
}

/* ---- graph_launches ---- */

struct launch_row {
	uint64_t launch; /* SPAN_NONE: of all work of a device that has no launch */
	int64_t start_ns, graph;
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

static const char *id_text(int64_t id, char *buf, size_t n)
{
	if (id == FACT_ABSENT)
		return "";
	snprintf(buf, n, "%" PRId64, id);
	return buf;
}

static void launch_add(const struct model *m, const struct strvec *threads,
		       const struct launch_row *r, struct table *t)
{
	bool known = r->launch != SPAN_NONE;
	char graph[32];

	table_add(t, &(struct graph_launches_row){
			     r->device, known ? threads->v[m->spans.track[r->launch]] : "",
			     known ? model_str(m, m->spans.name[r->launch]) : "[unlinked]",
			     id_text(r->graph, graph, sizeof(graph)),
			     (known ? r->start_ns : r->first_ns) - m->first_ns,
			     known ? span_ns(m, r->launch) : 0, r->works, r->sum_ns, r->union_ns,
			     r->works ? (double)(r->last_ns - r->first_ns) : NAN,
			     r->works && known ? (double)(r->first_ns - r->start_ns) : NAN });
}

static struct table *launches_table(const struct graphs *g)
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
					       .device = "" }));
	qsort(rows.v.v, rows.v.nr, sizeof(*rows.v.v), cmp_launch);
	for (size_t i = 0; i < rows.v.nr; i++)
		launch_add(m, &threads, &rows.v.v[i], t);
	VEC_RELEASE(&rows.v);
	return t;
}

/* ---- graph_kernels ---- */

/* By device, graph, node, name. */
static int cmp_node(const void *pa, const void *pb, void *ctx)
{
	const struct graphs *g = ctx;
	const struct graph_work *a = pa, *b = pb;
	const struct work *wa = &g->w->v.v[a->row], *wb = &g->w->v.v[b->row];
	const str_id *name = g->w->m->spans.name;

	if (wa->device != wb->device)
		return wa->device < wb->device ? -1 : 1;
	if (a->graph != b->graph)
		return a->graph < b->graph ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (name[wa->span] == name[wb->span])
		return 0;
	return strcmp(model_str(g->w->m, name[wa->span]), model_str(g->w->m, name[wb->span]));
}

static struct table *nodes_table(struct graphs *g)
{
	const struct model *m = g->w->m;
	struct table *t = table_make(&graph_kernels_form);

	qsort_r(g->works.v, g->works.nr, sizeof(*g->works.v), cmp_node, g);
	for (size_t i = 0, to; i < g->works.nr; i = to) {
		const struct graph_work *first = &g->works.v[i];
		const struct work *w = &g->w->v.v[first->row];
		int64_t sum = 0, min = INT64_MAX, max = 0;
		char graph[32], node[32];

		for (to = i; to < g->works.nr && cmp_node(first, &g->works.v[to], g) == 0; to++) {
			int64_t ns = span_ns(m, g->w->v.v[g->works.v[to].row].span);

			sum = ns_add(sum, ns);
			min = ns < min ? ns : min;
			max = ns > max ? ns : max;
		}
		table_add(t, &(struct graph_kernels_row){
				     model_str(m, g->w->devices.v[w->device].name),
				     id_text(first->graph, graph, sizeof(graph)),
				     id_text(first->node, node, sizeof(node)),
				     model_str(m, m->spans.name[w->span]), (int64_t)(to - i), sum,
				     (double)sum / (double)(to - i), min, max });
	}
	return t;
}

/* ---- all ---- */

static void graphs_warn(struct model *m, const struct graphs *g)
{
	if (g->missing.nr)
		model_warn(m, m->spans.input[g->missing.v[0]], W_GRAPH_WORK_MISSING, g->missing.nr,
			   "%s at %" PRId64 " ns has no work: the device may have been busy where "
			   "it looks idle",
			   model_str(m, m->spans.name[g->missing.v[0]]),
			   m->spans.start_ns[g->missing.v[0]] - m->first_ns);
}

static void graphs_release(struct graphs *g)
{
	free(g->is_launch);
	VEC_RELEASE(&g->works);
	VEC_RELEASE(&g->missing);
}

static int graphs_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
		      struct err *err)
{
	const struct works *w = analysis_works(m, o);
	CLEANUP(graphs_release)
	struct graphs g = { .w = w, .is_launch = xcalloc(intern_count(m->strings) + 1, 1) };

	(void)err;
	works_gather(&g);
	if (m->windows.nr == 0) /* else it may lie outside */
		missing_find(&g);
	if (g.works.nr + g.missing.nr == 0)
		return table_set_skip(out, "graphs", "no graph was launched");
	table_set_add(out, launches_table(&g));
	if (g.works.nr)
		table_set_add(out, nodes_table(&g));
	graphs_warn(m, &g);
	return 0;
}

const struct analysis analysis_graphs = {
	.name = "graphs",
	.about = "launches of graphs, their work, and the nodes of each graph",
	.tables = { &graph_launches_form, &graph_kernels_form },
	.run = graphs_run,
	.needs_work = true,
};
