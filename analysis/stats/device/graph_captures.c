#include "graph_captures.h"

#include <stdlib.h>

#include "profrig/base/search.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/facts.h"

/* A call at the moment at which it counts: its start, of nodes and ends of captures its end. */
struct graph_event {
	track_id process;
	int64_t t_ns;
	const struct capture_facts *f;
};

/* What is known while events of one process pass by. */
struct graph_sweep {
	const struct model *m;
	struct graph_captures *gc;
	VEC(struct graph_event) events;
	struct u64map open;    /* handle of a stream → capture, GRAPH_NONE when it was ended */
	struct u64map graphs;  /* of a graph → capture */
	struct u64map execs;   /* of an executable graph → instance */
	uint32_t last_capture; /* ended without a handle and not taken yet; GRAPH_NONE */
	VEC(struct open_node {
		uint32_t capture;
		uint64_t span;
		str_id name;
	}) nodes;
};

static int order_of(enum capture_kind kind)
{
	static const int order[] = { 9, 0, 2, 3, 4, 1 };

	return order[kind];
}

static int cmp_event(const void *pa, const void *pb)
{
	const struct graph_event *a = pa, *b = pb;
	int by;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns ? -1 : 1;
	by = order_of(a->f->kind) - order_of(b->f->kind);
	if (by)
		return by;
	return (a->f->span > b->f->span) - (a->f->span < b->f->span);
}

static void events_gather(struct graph_sweep *s)
{
	const struct model *m = s->m;

	for (size_t i = 0; i < m->facts.captures.nr; i++) {
		const struct capture_facts *f = &m->facts.captures.v[i];
		track_id track = m->spans.track[f->span], process = model_process_of(m, track);
		bool at_end = f->kind == CAPTURE_NODE || f->kind == CAPTURE_END;

		if (f->kind == CAPTURE_UNKNOWN)
			continue;
		VEC_PUSH(&s->events, ((struct graph_event){ process == TRACK_NONE ? track : process,
							    at_end ? m->spans.end_ns[f->span]
								   : m->spans.start_ns[f->span],
							    f }));
	}
	if (s->events.nr)
		qsort(s->events.v, s->events.nr, sizeof(*s->events.v), cmp_event);
}

static void maps_clear(struct graph_sweep *s)
{
	u64map_release(&s->open);
	u64map_release(&s->graphs);
	u64map_release(&s->execs);
	s->open = s->graphs = s->execs = (struct u64map)U64MAP_INIT;
	s->last_capture = GRAPH_NONE;
}

static void capture_begin(struct graph_sweep *s, const struct graph_event *e)
{
	struct graph_capture c = { .process = e->process,
				   .start_ns = e->t_ns,
				   .end_ns = INT64_MAX,
				   .stream = e->f->stream,
				   .graph = FACT_ABSENT };

	*u64map_at(&s->open, (uint64_t)c.stream) = (uint32_t)s->gc->captures.nr;
	VEC_PUSH(&s->gc->captures, c);
}

/* GRAPH_NONE is U64MAP_NONE, which no map holds: an ended capture has the number behind it. */
#define ENDED (GRAPH_NONE - 1)

static uint32_t open_capture(const struct graph_sweep *s, int64_t stream)
{
	uint32_t at = u64map_get(&s->open, (uint64_t)stream);

	return at == ENDED ? GRAPH_NONE : at;
}

static void capture_end(struct graph_sweep *s, const struct graph_event *e)
{
	uint32_t at = open_capture(s, e->f->stream);

	if (at == GRAPH_NONE)
		return;
	*u64map_at(&s->open, (uint64_t)e->f->stream) = ENDED;
	s->gc->captures.v[at].end_ns = e->t_ns;
	s->gc->captures.v[at].graph = e->f->graph;
	if (e->f->graph != FACT_ABSENT)
		*u64map_at(&s->graphs, (uint64_t)e->f->graph) = at;
	else
		s->last_capture = at;
}

static uint32_t instance_add(struct graph_sweep *s, const struct graph_event *e, uint32_t capture)
{
	struct graph_instance new = {
		.process = e->process, .exec = e->f->exec, .graph = e->f->graph, .capture = capture
	};
	uint32_t at = (uint32_t)s->gc->instances.nr;

	VEC_PUSH(&s->gc->instances, new);
	if (new.exec != FACT_ABSENT)
		*u64map_at(&s->execs, (uint64_t) new.exec) = at;
	return at;
}

static void instantiate(struct graph_sweep *s, const struct graph_event *e)
{
	uint32_t capture = e->f->graph == FACT_ABSENT
				   ? GRAPH_NONE
				   : u64map_get(&s->graphs, (uint64_t)e->f->graph);

	if (capture == GRAPH_NONE) {
		capture = s->last_capture;
		s->last_capture = GRAPH_NONE;
	}
	instance_add(s, e, capture);
}

static void execute(struct graph_sweep *s, const struct graph_event *e)
{
	uint32_t at;

	if (e->f->exec == FACT_ABSENT)
		return;
	at = u64map_get(&s->execs, (uint64_t)e->f->exec);
	if (at == U64MAP_NONE)
		at = instance_add(s, e, GRAPH_NONE);
	s->gc->instances.v[at].launches++;
	VEC_PUSH(&s->gc->executions, ((struct graph_execution){ e->f->span, at }));
}

static void event_take(struct graph_sweep *s, const struct graph_event *e)
{
	uint32_t at;

	switch (e->f->kind) {
	case CAPTURE_BEGIN:
		capture_begin(s, e);
		return;
	case CAPTURE_NODE:
		at = open_capture(s, e->f->stream);
		if (at != GRAPH_NONE)
			VEC_PUSH(&s->nodes, ((struct open_node){ at, e->f->span, e->f->name }));
		return;
	case CAPTURE_END:
		capture_end(s, e);
		return;
	case CAPTURE_INSTANTIATE:
		instantiate(s, e);
		return;
	case CAPTURE_LAUNCH:
		execute(s, e);
		return;
	case CAPTURE_UNKNOWN:
		return;
	}
}

static int cmp_node(const void *pa, const void *pb, void *ctx)
{
	const struct model *m = ctx;
	const struct open_node *a = pa, *b = pb;
	int64_t ta = m->spans.start_ns[a->span], tb = m->spans.start_ns[b->span];

	if (a->capture != b->capture)
		return a->capture < b->capture ? -1 : 1;
	if (ta != tb)
		return ta < tb ? -1 : 1;
	return (a->span > b->span) - (a->span < b->span);
}

static void nodes_settle(struct graph_sweep *s)
{
	struct graph_captures *gc = s->gc;

	if (s->nodes.nr)
		qsort_r(s->nodes.v, s->nodes.nr, sizeof(*s->nodes.v), cmp_node, (void *)s->m);
	for (size_t i = 0; i < s->nodes.nr; i++) {
		struct graph_capture *c = &gc->captures.v[s->nodes.v[i].capture];

		if (c->nr++ == 0)
			c->first = gc->nodes.nr;
		VEC_PUSH(&gc->nodes,
			 ((struct graph_node){ s->nodes.v[i].span, s->nodes.v[i].name }));
	}
}

static int cmp_execution(const void *pa, const void *pb)
{
	const struct graph_execution *a = pa, *b = pb;

	return (a->span > b->span) - (a->span < b->span);
}

struct graph_captures *graph_captures_new(const struct model *m)
{
	struct graph_captures *gc = xcalloc(1, sizeof(*gc));
	struct graph_sweep s = { .m = m, .gc = gc };

	maps_clear(&s);
	events_gather(&s);
	for (size_t i = 0; i < s.events.nr; i++) {
		if (i > 0 && s.events.v[i].process != s.events.v[i - 1].process)
			maps_clear(&s);
		event_take(&s, &s.events.v[i]);
	}
	nodes_settle(&s);
	if (gc->executions.nr)
		qsort(gc->executions.v, gc->executions.nr, sizeof(*gc->executions.v),
		      cmp_execution);
	maps_clear(&s);
	VEC_RELEASE(&s.events);
	VEC_RELEASE(&s.nodes);
	return gc;
}

void graph_captures_free(struct graph_captures *gc)
{
	if (!gc)
		return;
	for (size_t i = 0; i < gc->captures.nr; i++)
		u64map_release(&gc->captures.v[i].by_name);
	VEC_RELEASE(&gc->nodes);
	VEC_RELEASE(&gc->captures);
	VEC_RELEASE(&gc->instances);
	VEC_RELEASE(&gc->executions);
	free(gc);
}

void graph_captures_freep(struct graph_captures **gc)
{
	graph_captures_free(*gc);
}

uint32_t graph_instance_of(const struct graph_captures *gc, uint64_t launch)
{
	size_t at = LOWER_BOUND(i, 0, gc->executions.nr, gc->executions.v[i].span < launch);

	return at < gc->executions.nr && gc->executions.v[at].span == launch
		       ? gc->executions.v[at].instance
		       : GRAPH_NONE;
}

/* ---- which work is which node ---- */

/* How often the name came before. */
static uint32_t occurrence(struct u64map *seen, str_id name)
{
	uint32_t *count = u64map_at(seen, name);

	return *count = *count == U64MAP_NONE ? 0 : *count + 1;
}

/* Nodes by name and number among those of the name; made once, so an execution costs its works. */
static const struct u64map *nodes_by_name(struct graph_captures *gc, struct graph_capture *c)
{
	CLEANUP(u64map_release) struct u64map seen = U64MAP_INIT;

	for (size_t i = 0; i < c->nr && !c->named; i++) {
		str_id name = gc->nodes.v[c->first + i].name;
		uint32_t k = occurrence(&seen, name);

		*u64map_at(&c->by_name, u64map_pair(name, k)) = (uint32_t)i;
	}
	c->named = true;
	return &c->by_name;
}

/* As many works as nodes: those without a node of their name take the nodes that are left. */
static void rest_meet(size_t nr, uint32_t *ret)
{
	CLEANUP(xfreep) uint8_t *taken = xcalloc(nr + 1, 1);
	uint32_t node = 0;

	for (size_t i = 0; i < nr; i++)
		if (ret[i] != GRAPH_NONE)
			taken[ret[i]] = 1;
	for (size_t i = 0; i < nr; i++) {
		if (ret[i] != GRAPH_NONE)
			continue;
		while (taken[node])
			node++;
		ret[i] = node++;
	}
}

void graph_replay(struct graph_captures *gc, uint32_t capture, const str_id *names, size_t nr,
		  uint32_t *ret)
{
	struct graph_capture *c = &gc->captures.v[capture];
	const struct u64map *at = nodes_by_name(gc, c);
	CLEANUP(u64map_release) struct u64map seen = U64MAP_INIT;

	for (size_t i = 0; i < nr; i++)
		ret[i] = u64map_get(at, u64map_pair(names[i], occurrence(&seen, names[i])));
	if (nr == c->nr)
		rest_meet(nr, ret);
}
