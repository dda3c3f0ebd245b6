#include "graphs.h"
#include "ns.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/natural.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/facts.h"

/* Of the works of one node on one device, or of a node without any. */
struct node_row {
	const char *device;
	int64_t graph, node; /* of the trace; FACT_ABSENT */
	uint32_t capture, instance, sequence;
	str_id name;
	uint64_t span; /* that tells how it is launched; SPAN_NONE */
	int64_t calls, total_ns, min_ns, max_ns;
};

struct node_rows {
	struct graphs *g;
	VEC(struct node_row) v;
	struct u64map ran; /* instance, node: it has a row of its works */
	size_t looked;
};

const char *handle_text(int64_t handle, struct graph_id *buf)
{
	*buf->s = '\0';
	if (handle != FACT_ABSENT)
		snprintf(buf->s, sizeof(buf->s), "0x%" PRIx64, (uint64_t)handle);
	return buf->s;
}

static const struct graph_node *node_of(const struct graphs *g, const struct node_row *r)
{
	if (r->capture == GRAPH_NONE || r->sequence == GRAPH_NONE)
		return NULL;
	return &g->gc->nodes.v[g->gc->captures.v[r->capture].first + r->sequence];
}

static uint32_t capture_of(const struct graphs *g, uint32_t instance)
{
	return instance == GRAPH_NONE ? GRAPH_NONE : g->gc->instances.v[instance].capture;
}

static int cmp_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* Which node, of those of a device. */
struct node_key {
	int64_t graph, node;
	uint32_t capture, instance, sequence;
};

static int cmp_key(struct node_key a, struct node_key b)
{
	int by;

	if (a.graph != b.graph)
		return a.graph < b.graph ? -1 : 1;
	if (a.node != b.node)
		return a.node < b.node ? -1 : 1;
	by = cmp_u32(a.capture, b.capture);
	by = by ? by : cmp_u32(a.instance, b.instance);
	return by ? by : cmp_u32(a.sequence, b.sequence);
}

static int cmp_name(const struct model *m, str_id a, str_id b)
{
	return a == b ? 0 : strcmp(model_str(m, a), model_str(m, b));
}

static struct node_key key_of_work(const struct graphs *g, const struct graph_work *w)
{
	return (struct node_key){ w->graph, w->node, capture_of(g, w->instance), w->instance,
				  w->sequence };
}

static struct node_key key_of_row(const struct node_row *r)
{
	return (struct node_key){ r->graph, r->node, r->capture, r->instance, r->sequence };
}

/* By device, node, name. */
static int cmp_work(const void *pa, const void *pb, void *ctx)
{
	const struct graphs *g = ctx;
	const struct graph_work *a = pa, *b = pb;
	const struct work *wa = &g->w->v.v[a->row], *wb = &g->w->v.v[b->row];
	const str_id *name = g->w->m->spans.name;
	int by = cmp_u32(wa->device, wb->device);

	by = by ? by : cmp_key(key_of_work(g, a), key_of_work(g, b));
	return by ? by : cmp_name(g->w->m, name[wa->span], name[wb->span]);
}

/* Of the works from i on that are one node. Returns where they end. */
static size_t works_row(struct node_rows *rows, size_t i)
{
	struct graphs *g = rows->g;
	const struct graph_work *first = &g->works.v[i];
	const struct work *w = &g->w->v.v[first->row];
	struct node_row r = { .device = model_str(g->w->m, g->w->devices.v[w->device].name),
			      .graph = first->graph,
			      .node = first->node,
			      .capture = capture_of(g, first->instance),
			      .instance = first->instance,
			      .sequence = first->sequence,
			      .name = g->w->m->spans.name[w->span],
			      .span = w->span,
			      .min_ns = INT64_MAX };

	for (; i < g->works.nr && cmp_work(first, &g->works.v[i], g) == 0; i++) {
		int64_t ns = span_ns(g->w->m, g->w->v.v[g->works.v[i].row].span);

		r.calls++;
		r.total_ns = ns_add(r.total_ns, ns);
		r.min_ns = ns < r.min_ns ? ns : r.min_ns;
		r.max_ns = ns > r.max_ns ? ns : r.max_ns;
	}
	VEC_PUSH(&rows->v, r);
	return i;
}

/* Nodes of a capture that no work was found for: never launched, or their work is missing. */
static void idle_nodes(struct node_rows *rows, uint32_t capture, uint32_t instance)
{
	struct graphs *g = rows->g;
	const struct graph_capture *c = &g->gc->captures.v[capture];

	for (size_t i = 0; i < c->nr; i++) {
		uint64_t key = u64map_pair(instance, (uint32_t)i);

		if (rows->looked++ >= GRAPH_IDLE_NODES)
			g->left_out++;
		else if (u64map_get(&rows->ran, key) == U64MAP_NONE)
			VEC_PUSH(&rows->v,
				 ((struct node_row){ .device = "",
						     .graph = FACT_ABSENT,
						     .node = FACT_ABSENT,
						     .capture = capture,
						     .instance = instance,
						     .sequence = (uint32_t)i,
						     .name = g->gc->nodes.v[c->first + i].name,
						     .span = SPAN_NONE }));
	}
}

/*
 * Instances that ran, then what of captures no instance of them has shown. Of a capture without
 * handles it is not known whether it ran, so none of its nodes are idle.
 */
static void captures_add(struct node_rows *rows)
{
	const struct graph_captures *gc = rows->g->gc;
	CLEANUP(xfreep) uint8_t *ran = xcalloc(gc->instances.nr + 1, 1);
	CLEANUP(xfreep) uint8_t *shown = xcalloc(gc->captures.nr + 1, 1);

	for (size_t i = 0; i < rows->v.nr; i++) {
		const struct node_row *r = &rows->v.v[i];

		if (!node_of(rows->g, r))
			continue;
		ran[r->instance] = 1;
		*u64map_at(&rows->ran, u64map_pair(r->instance, r->sequence)) = 1;
	}
	for (int again = 0; again < 2; again++)
		for (size_t i = 0; i < gc->instances.nr; i++) {
			uint32_t c = gc->instances.v[i].capture;

			if (c == GRAPH_NONE || (again ? shown[c] : !ran[i]) ||
			    gc->captures.v[c].by_name)
				continue;
			shown[c] = 1;
			idle_nodes(rows, c, (uint32_t)i);
		}
	for (size_t c = 0; c < gc->captures.nr; c++)
		if (!shown[c] && !gc->captures.v[c].by_name)
			idle_nodes(rows, (uint32_t)c, GRAPH_NONE);
	u64map_release(&rows->ran);
}

static int cmp_row(const void *pa, const void *pb, void *ctx)
{
	const struct node_row *a = pa, *b = pb;
	int by = natural_cmp(a->device, b->device);

	by = by ? by : cmp_key(key_of_row(a), key_of_row(b));
	return by ? by : cmp_name(ctx, a->name, b->name);
}

/* ---- the table ---- */

struct extent_text {
	char s[72];
};

static const char *extent_text(const int64_t v[3], struct extent_text *buf)
{
	*buf->s = '\0';
	if (v[0] != FACT_ABSENT)
		snprintf(buf->s, sizeof(buf->s), "[%" PRId64 ",%" PRId64 ",%" PRId64 "]", v[0],
			 v[1] == FACT_ABSENT ? 1 : v[1], v[2] == FACT_ABSENT ? 1 : v[2]);
	return buf->s;
}

static double fact_f64(int64_t v)
{
	return v == FACT_ABSENT ? NAN : (double)v;
}

static double pid_of(const struct graphs *g, const struct node_row *r)
{
	track_id t = r->instance != GRAPH_NONE  ? g->gc->instances.v[r->instance].process
		     : r->capture != GRAPH_NONE ? g->gc->captures.v[r->capture].process
						: TRACK_NONE;

	return t == TRACK_NONE || g->w->m->tracks.v[t].pid == PID_NONE
		       ? NAN
		       : (double)g->w->m->tracks.v[t].pid;
}

static void row_add(const struct graphs *g, const struct node_row *r, struct table *t)
{
	static const struct kernel_facts unknown = KERNEL_FACTS_NONE;
	const struct model *m = g->w->m;
	const struct graph_node *node = node_of(g, r);
	const struct kernel_facts *k = node ? facts_kernel(m, node->span) : NULL;
	struct graph_id graph, exec;
	struct extent_text grid, block;
	char number[32] = "";

	k = k ? k : r->span == SPAN_NONE ? NULL : facts_kernel(m, r->span);
	k = k ? k : &unknown;
	if (r->node != FACT_ABSENT)
		snprintf(number, sizeof(number), "%" PRId64, r->node);
	table_add(t, &(struct graph_kernels_row){
			     r->device,
			     r->instance == GRAPH_NONE && r->capture != GRAPH_NONE
				     ? handle_text(g->gc->captures.v[r->capture].graph, &graph)
				     : graph_text(g, r->graph, r->instance, &graph),
			     number, r->name == STR_NONE ? "" : model_str(m, r->name), r->calls,
			     r->total_ns, r->calls ? (double)r->total_ns / (double)r->calls : NAN,
			     r->calls ? (double)r->min_ns : NAN, r->calls ? (double)r->max_ns : NAN,
			     handle_text(r->instance == GRAPH_NONE
						 ? FACT_ABSENT
						 : g->gc->instances.v[r->instance].exec,
					 &exec),
			     node ? (double)r->sequence + 1 : NAN,
			     node && node->name != STR_NONE ? model_str(m, node->name) : "",
			     extent_text(k->grid, &grid), extent_text(k->block, &block),
			     fact_f64(k->shared_bytes), fact_f64(k->local_bytes), pid_of(g, r) });
}

struct table *graph_kernels_table(struct graphs *g)
{
	struct table *t = table_make(&graph_kernels_form);
	struct node_rows rows = { .g = g };

	if (g->works.nr)
		qsort_r(g->works.v, g->works.nr, sizeof(*g->works.v), cmp_work, g);
	for (size_t i = 0; i < g->works.nr;)
		i = works_row(&rows, i);
	captures_add(&rows);
	if (rows.v.nr)
		qsort_r(rows.v.v, rows.v.nr, sizeof(*rows.v.v), cmp_row, (void *)g->w->m);
	for (size_t i = 0; i < rows.v.nr; i++)
		row_add(g, &rows.v.v[i], t);
	VEC_RELEASE(&rows.v);
	return t;
}
