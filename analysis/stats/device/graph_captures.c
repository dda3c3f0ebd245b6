#include "graph_captures.h"

#include <stdlib.h>

#include "profrig/base/search.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/facts.h"
#include "profrig/names/api_names.h"

/* A call at the moment at which it counts: its start, of nodes and ends of captures its end. */
struct graph_event {
	track_id process;
	track_id thread; /* by its name; TRACK_NONE: it states handles */
	int64_t t_ns;
	struct capture_facts f;
};

/* What is known while events of one process pass by. */
struct graph_sweep {
	const struct model *m;
	struct graph_captures *gc;
	VEC(struct graph_event) events;
	struct u64map open;    /* handle of a stream → capture, GRAPH_NONE when it was ended */
	struct u64map on;      /* likewise, of a thread */
	struct u64map left;    /* of a thread → capture that it ended and has not instantiated */
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
	by = order_of(a->f.kind) - order_of(b->f.kind);
	if (by)
		return by;
	return (a->f.span > b->f.span) - (a->f.span < b->f.span);
}

track_id graph_process_of(const struct model *m, track_id track)
{
	track_id process = model_process_of(m, track);

	return process == TRACK_NONE ? track : process;
}

static void event_add(struct graph_sweep *s, track_id thread, const struct capture_facts *f)
{
	const struct span_columns *c = &s->m->spans;
	bool at_end = f->kind == CAPTURE_NODE || f->kind == CAPTURE_END;

	VEC_PUSH(&s->events,
		 ((struct graph_event){ graph_process_of(s->m, c->track[f->span]), thread,
					at_end ? c->end_ns[f->span] : c->start_ns[f->span], *f }));
}

/* By str_id: what a call of the name does. Returns whether any begins a capture. */
static bool kinds_of_names(const struct model *m, uint8_t *kinds)
{
	bool begins = false;

	for (str_id i = 0; i < intern_count(m->strings); i++) {
		kinds[i] = (uint8_t)capture_kind_of(model_str(m, i));
		begins |= kinds[i] == CAPTURE_BEGIN;
		if (kinds[i] == CAPTURE_UNKNOWN && api_queues_work(model_str(m, i)))
			kinds[i] = CAPTURE_NODE;
	}
	return begins;
}

/* Calls without facts. Of a driver's call inside a runtime's the outer one counts. */
static void names_gather(struct graph_sweep *s, const struct works *w)
{
	const struct span_columns *c = &s->m->spans;
	CLEANUP(xfreep) uint8_t *kinds = xcalloc(intern_count(s->m->strings) + 1, 1);
	CLEANUP(xfreep) uint8_t *launched = NULL;

	if (!kinds_of_names(s->m, kinds))
		return;
	launched = works_launching(w);
	for (uint64_t i = 0; i < c->nr; i++) {
		struct capture_facts f = CAPTURE_FACTS_NONE;
		uint64_t up = span_parent(c, i);

		f.span = i;
		f.kind = (enum capture_kind)kinds[c->name[i]];
		if (c->kind[i] != SPAN_HOST || f.kind == CAPTURE_UNKNOWN ||
		    f.kind == CAPTURE_LAUNCH || (f.kind == CAPTURE_NODE && launched[i]) ||
		    (up != SPAN_NONE && kinds[c->name[up]] == kinds[c->name[i]]) ||
		    facts_capture(s->m, i))
			continue;
		event_add(s, c->track[i], &f);
	}
}

static void events_gather(struct graph_sweep *s, const struct works *w)
{
	const struct model *m = s->m;

	for (size_t i = 0; i < m->facts.captures.nr; i++)
		if (m->facts.captures.v[i].kind != CAPTURE_UNKNOWN)
			event_add(s, TRACK_NONE, &m->facts.captures.v[i]);
	names_gather(s, w);
	if (s->events.nr)
		qsort(s->events.v, s->events.nr, sizeof(*s->events.v), cmp_event);
}

static void maps_clear(struct graph_sweep *s)
{
	struct u64map *const maps[] = { &s->open, &s->on, &s->left, &s->graphs, &s->execs };

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		u64map_release(maps[i]);
		*maps[i] = (struct u64map)U64MAP_INIT;
	}
	s->last_capture = GRAPH_NONE;
}

/* Where the open capture of the event's stream, or thread, is kept. */
static uint32_t *open_at(struct graph_sweep *s, const struct graph_event *e)
{
	return e->thread == TRACK_NONE ? u64map_at(&s->open, (uint64_t)e->f.stream)
				       : u64map_at(&s->on, e->thread);
}

static void capture_begin(struct graph_sweep *s, const struct graph_event *e)
{
	struct graph_capture c = { .process = e->process,
				   .span = e->f.span,
				   .by_name = e->thread != TRACK_NONE,
				   .start_ns = e->t_ns,
				   .end_ns = INT64_MAX,
				   .stream = e->f.stream,
				   .graph = FACT_ABSENT };

	*open_at(s, e) = (uint32_t)s->gc->captures.nr;
	VEC_PUSH(&s->gc->captures, c);
}

/* GRAPH_NONE is U64MAP_NONE, which no map holds: an ended capture has the number behind it. */
#define ENDED (GRAPH_NONE - 1)

static uint32_t open_capture(const struct graph_sweep *s, const struct graph_event *e)
{
	uint32_t at = e->thread == TRACK_NONE ? u64map_get(&s->open, (uint64_t)e->f.stream)
					      : u64map_get(&s->on, e->thread);

	return at == ENDED ? GRAPH_NONE : at;
}

static void capture_end(struct graph_sweep *s, const struct graph_event *e)
{
	uint32_t at = open_capture(s, e);

	if (at == GRAPH_NONE)
		return;
	*open_at(s, e) = ENDED;
	s->gc->captures.v[at].end_ns = e->t_ns;
	s->gc->captures.v[at].graph = e->f.graph;
	if (e->thread != TRACK_NONE)
		*u64map_at(&s->left, e->thread) = at;
	else if (e->f.graph != FACT_ABSENT)
		*u64map_at(&s->graphs, (uint64_t)e->f.graph) = at;
	else
		s->last_capture = at;
}

static uint32_t instance_add(struct graph_sweep *s, const struct graph_event *e, uint32_t capture)
{
	struct graph_instance new = { .process = e->process,
				      .exec = e->f.exec,
				      .graph = e->f.graph,
				      .capture = capture,
				      .made_ns = e->t_ns };
	uint32_t at = (uint32_t)s->gc->instances.nr;

	VEC_PUSH(&s->gc->instances, new);
	if (new.exec != FACT_ABSENT)
		*u64map_at(&s->execs, (uint64_t) new.exec) = at;
	return at;
}

/* What the thread captured last; a graph that was made otherwise has no nodes that are known. */
static void instantiate_by_name(struct graph_sweep *s, const struct graph_event *e)
{
	uint32_t capture = u64map_get(&s->left, e->thread);

	if (capture == U64MAP_NONE || capture == ENDED)
		return;
	*u64map_at(&s->left, e->thread) = ENDED;
	instance_add(s, e, capture);
}

static void instantiate(struct graph_sweep *s, const struct graph_event *e)
{
	uint32_t capture = e->f.graph == FACT_ABSENT ? GRAPH_NONE
						     : u64map_get(&s->graphs, (uint64_t)e->f.graph);

	if (capture == GRAPH_NONE) {
		capture = s->last_capture;
		s->last_capture = GRAPH_NONE;
	}
	instance_add(s, e, capture);
}

static void execute(struct graph_sweep *s, const struct graph_event *e)
{
	uint32_t at;

	if (e->f.exec == FACT_ABSENT)
		return;
	at = u64map_get(&s->execs, (uint64_t)e->f.exec);
	if (at == U64MAP_NONE)
		at = instance_add(s, e, GRAPH_NONE);
	s->gc->instances.v[at].launches++;
	VEC_PUSH(&s->gc->executions, ((struct graph_execution){ e->f.span, at }));
}

static void event_take(struct graph_sweep *s, const struct graph_event *e)
{
	uint32_t at;

	switch (e->f.kind) {
	case CAPTURE_BEGIN:
		capture_begin(s, e);
		return;
	case CAPTURE_NODE:
		at = open_capture(s, e);
		if (at != GRAPH_NONE)
			VEC_PUSH(&s->nodes, ((struct open_node){ at, e->f.span, e->f.name }));
		return;
	case CAPTURE_END:
		capture_end(s, e);
		return;
	case CAPTURE_INSTANTIATE:
		if (e->thread == TRACK_NONE)
			instantiate(s, e);
		else
			instantiate_by_name(s, e);
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

/* Of several instances of one size none is the one that ran. */
static void sizes_settle(struct graph_captures *gc)
{
	for (size_t i = 0; i < gc->instances.nr; i++) {
		const struct graph_instance *in = &gc->instances.v[i];
		const struct graph_capture *c =
			in->capture == GRAPH_NONE ? NULL : &gc->captures.v[in->capture];
		uint32_t *at;

		if (!c || !c->by_name || c->nr == 0 || c->nr > UINT32_MAX)
			continue;
		at = u64map_at(&gc->of_size, u64map_pair(in->process, (uint32_t)c->nr));
		*at = *at == U64MAP_NONE ? (uint32_t)i : ENDED;
	}
}

static int cmp_execution(const void *pa, const void *pb)
{
	const struct graph_execution *a = pa, *b = pb;

	return (a->span > b->span) - (a->span < b->span);
}

struct graph_captures *graph_captures_new(const struct works *w)
{
	struct graph_captures *gc = xcalloc(1, sizeof(*gc));
	struct graph_sweep s = { .m = w->m, .gc = gc };

	gc->of_size = (struct u64map)U64MAP_INIT;
	maps_clear(&s);
	events_gather(&s, w);
	for (size_t i = 0; i < s.events.nr; i++) {
		if (i > 0 && s.events.v[i].process != s.events.v[i - 1].process)
			maps_clear(&s);
		event_take(&s, &s.events.v[i]);
	}
	nodes_settle(&s);
	sizes_settle(gc);
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
		u64map_release(&gc->captures.v[i].by_kernel);
	u64map_release(&gc->of_size);
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

uint32_t graph_instance_of_size(const struct graph_captures *gc, track_id process, int64_t t_ns,
				size_t nodes)
{
	uint32_t at = nodes > UINT32_MAX
			      ? U64MAP_NONE
			      : u64map_get(&gc->of_size, u64map_pair(process, (uint32_t)nodes));

	return at != U64MAP_NONE && at != ENDED && gc->instances.v[at].made_ns <= t_ns ? at
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

		*u64map_at(&c->by_kernel, u64map_pair(name, k)) = (uint32_t)i;
	}
	c->named = true;
	return &c->by_kernel;
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
