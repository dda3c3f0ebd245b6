/*
 * Waits for events and streams, as a trace states them beside the calls that make them
 * (critical_path.h). A row of facts names calls by their correlations, and streams by their
 * numbers; here they become spans, and tracks of queues.
 */
#include "path_index.h"

#include <stdlib.h>

#include "profrig/base/search.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/facts.h"

#define SYNC_NONE UINT32_MAX

/* A call that some row names, of one input. */
struct call {
	uint64_t correlation, group;
	uint64_t span;   /* its outermost one; SPAN_NONE: the trace lacks it */
	uint32_t sync;   /* the row of the wait that it makes; SYNC_NONE */
	uint32_t record; /* the row of the event that it records; SYNC_NONE */
};

struct waits {
	struct path_index *x;
	VEC(struct call) calls; /* by correlation, group */
	struct u64map first;    /* correlation → the first of calls */
	VEC(track_id) queues;   /* by device, stream, owner */
	uint32_t *launched;     /* rows by (queue, launch) */
	int64_t *launch_ns;     /* by place in by_queue: when it was launched, as far as is known */
};

/* Inputs that number their calls together have one group; those without one count alone. */
static uint64_t group_of(const struct model *m, uint64_t span)
{
	input_id input = span_input(&m->spans, span);
	uint64_t group = m->inputs.v[input].group;

	return group ? group : input;
}

/* ---- calls ---- */

static int cmp_call(const void *pa, const void *pb)
{
	const struct call *a = pa, *b = pb;

	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	return (a->group > b->group) - (a->group < b->group);
}

static void call_want(struct waits *ws, int64_t correlation, uint64_t group)
{
	if (correlation > 0)
		VEC_PUSH(&ws->calls, ((struct call){ (uint64_t)correlation, group, SPAN_NONE,
						     SYNC_NONE, SYNC_NONE }));
}

static struct call *call_of(struct waits *ws, uint64_t correlation, uint64_t group)
{
	const struct call key = { .correlation = correlation, .group = group };
	uint32_t first = u64map_get(&ws->first, correlation);
	size_t at;

	if (first == U64MAP_NONE)
		return NULL;
	at = LOWER_BOUND(i, first, ws->calls.nr, cmp_call(&ws->calls.v[i], &key) < 0);
	return at < ws->calls.nr && cmp_call(&ws->calls.v[at], &key) == 0 ? &ws->calls.v[at] : NULL;
}

static struct call *call_named(struct waits *ws, const struct sync_facts *f, int64_t correlation)
{
	return correlation > 0 ? call_of(ws, (uint64_t)correlation, group_of(ws->x->m, f->span))
			       : NULL;
}

static void calls_number(struct waits *ws)
{
	size_t nr = 0;

	if (ws->calls.nr)
		qsort(ws->calls.v, ws->calls.nr, sizeof(*ws->calls.v), cmp_call);
	for (size_t i = 0; i < ws->calls.nr; i++)
		if (nr == 0 || cmp_call(&ws->calls.v[nr - 1], &ws->calls.v[i]) != 0)
			ws->calls.v[nr++] = ws->calls.v[i];
	ws->calls.nr = nr;
	for (size_t i = nr; i > 0; i--)
		*u64map_at(&ws->first, ws->calls.v[i - 1].correlation) = (uint32_t)(i - 1);
}

/* Columns are by track and start, an outer call before those in it. */
static void calls_find(struct waits *ws)
{
	const struct model *m = ws->x->m;

	for (size_t i = 0; i < m->spans.nr; i++) {
		uint64_t correlation = span_correlation(&m->spans, i);
		struct call *c;

		if (correlation == 0 || m->spans.kind[i] != SPAN_HOST)
			continue;
		c = call_of(ws, correlation, group_of(m, i));
		if (c && c->span == SPAN_NONE)
			c->span = i;
	}
}

static void calls_take(struct waits *ws)
{
	const struct model *m = ws->x->m;

	for (size_t i = 0; i < m->facts.syncs.nr; i++) {
		const struct sync_facts *f = &m->facts.syncs.v[i];

		call_want(ws, f->call, group_of(m, f->span));
		call_want(ws, f->record, group_of(m, f->span));
	}
	calls_number(ws);
	calls_find(ws);
	for (uint32_t i = 0; i < m->facts.syncs.nr; i++) {
		const struct sync_facts *f = &m->facts.syncs.v[i];
		struct call *c = call_named(ws, f, f->call);

		if (c && f->kind == SYNC_RECORD_EVENT)
			c->record = i;
		else if (c)
			c->sync = i;
	}
}

/* ---- queues ---- */

struct queue_key {
	str_id device;
	int64_t stream;
	track_id owner;
};

static int cmp_queue_key(const struct queue_key *a, const struct queue_key *b)
{
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return (a->owner > b->owner) - (a->owner < b->owner);
}

static struct queue_key key_of(const struct model *m, track_id queue)
{
	const struct track *t = &m->tracks.v[queue];

	return (struct queue_key){ t->device, t->tid, t->owner };
}

static int cmp_queue(const void *pa, const void *pb, void *ctx)
{
	track_id a = *(const track_id *)pa, b = *(const track_id *)pb;
	struct queue_key x = key_of(ctx, a), y = key_of(ctx, b);

	return cmp_queue_key(&x, &y) ?: (a > b) - (a < b);
}

static void queues_take(struct waits *ws)
{
	const struct model *m = ws->x->m;

	for (track_id t = 0; t < m->tracks.nr; t++)
		if (m->tracks.v[t].kind == TRACK_QUEUE)
			VEC_PUSH(&ws->queues, t);
	if (ws->queues.nr)
		qsort_r(ws->queues.v, ws->queues.nr, sizeof(track_id), cmp_queue, (void *)m);
}

static bool key_below(const struct model *m, track_id queue, const struct queue_key *key)
{
	struct queue_key k = key_of(m, queue);

	return cmp_queue_key(&k, key) < 0;
}

/* The queue of this stream on the device of another queue, of the same process; TRACK_NONE. */
static track_id queue_beside(const struct waits *ws, track_id queue, int64_t stream)
{
	const struct model *m = ws->x->m;
	struct queue_key key = key_of(m, queue), found;
	size_t at;

	key.stream = stream;
	at = LOWER_BOUND(i, 0, ws->queues.nr, key_below(m, ws->queues.v[i], &key));
	if (at == ws->queues.nr)
		return TRACK_NONE;
	found = key_of(m, ws->queues.v[at]);
	return cmp_queue_key(&found, &key) == 0 ? ws->queues.v[at] : TRACK_NONE;
}

/*
 * The queue on which an awaited event was recorded; TRACK_NONE. The row of the record knows it,
 * else it is a stream of the device that waits.
 */
static track_id event_queue(struct waits *ws, const struct sync_facts *f)
{
	const struct model *m = ws->x->m;
	const struct call *c = call_named(ws, f, f->record);
	track_id on = m->spans.track[f->span], recorded = TRACK_NONE;

	if (c && c->record != SYNC_NONE)
		recorded = m->spans.track[m->facts.syncs.v[c->record].span];
	if (recorded != TRACK_NONE && m->tracks.v[recorded].kind == TRACK_QUEUE)
		return recorded;
	if (m->tracks.v[on].kind != TRACK_QUEUE || f->event_stream == FACT_ABSENT)
		return TRACK_NONE;
	return queue_beside(ws, on, f->event_stream);
}

/* ---- rows by their launches ---- */

static int cmp_launched(const void *pa, const void *pb, void *ctx)
{
	const struct waits *ws = ctx;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	track_id qa = ws->x->w->v.v[a].queue, qb = ws->x->w->v.v[b].queue;
	uint32_t place_a = ws->x->place[a], place_b = ws->x->place[b];

	if (qa != qb)
		return qa < qb ? -1 : 1;
	if (ws->launch_ns[place_a] != ws->launch_ns[place_b])
		return ws->launch_ns[place_a] < ws->launch_ns[place_b] ? -1 : 1;
	return (place_a > place_b) - (place_a < place_b);
}

/* A work without a launch counts as launched with the one before it on its queue. */
static void launches_take(struct waits *ws)
{
	const struct path_index *x = ws->x;
	const struct work *v = x->w->v.v;
	int64_t last_ns = INT64_MIN;

	ws->launch_ns = xcalloc(x->w->v.nr + 1, sizeof(*ws->launch_ns));
	ws->launched = xcalloc(x->w->v.nr + 1, sizeof(*ws->launched));
	for (size_t i = 0; i < x->w->v.nr; i++) {
		const struct work *k = &v[x->by_queue[i]];

		if (i == 0 || v[x->by_queue[i - 1]].queue != k->queue)
			last_ns = INT64_MIN;
		if (k->launch != SPAN_NONE)
			last_ns = x->m->spans.start_ns[k->launch];
		ws->launch_ns[i] = last_ns;
		ws->launched[i] = x->by_queue[i];
	}
	qsort_r(ws->launched, x->w->v.nr, sizeof(*ws->launched), cmp_launched, ws);
}

/* The place in launched of a queue's first row that was launched at a time or later. */
static size_t launched_from(const struct waits *ws, track_id queue, int64_t t_ns)
{
	const struct work *v = ws->x->w->v.v;

	return LOWER_BOUND(at, 0, ws->x->w->v.nr,
			   v[ws->launched[at]].queue < queue ||
				   (v[ws->launched[at]].queue == queue &&
				    ws->launch_ns[ws->x->place[ws->launched[at]]] < t_ns));
}

/* ---- waits ---- */

static int64_t start_of(const struct waits *ws, const struct call *c, int64_t otherwise_ns)
{
	return c && c->span != SPAN_NONE ? ws->x->m->spans.start_ns[c->span] : otherwise_ns;
}

/* The event of a wait is recorded before this. */
static int64_t recorded_ns(struct waits *ws, const struct sync_facts *f, int64_t wait_ns)
{
	int64_t ns = start_of(ws, call_named(ws, f, f->record), wait_ns);

	return ns < wait_ns ? ns : wait_ns;
}

static void queue_wait_take(struct waits *ws, const struct sync_facts *f)
{
	struct path_index *x = ws->x;
	const struct work *v = x->w->v.v;
	track_id waits = x->m->spans.track[f->span], on = event_queue(ws, f);
	int64_t wait_ns = start_of(ws, call_named(ws, f, f->call), x->m->spans.start_ns[f->span]);
	size_t to = launched_from(ws, waits, wait_ns);
	size_t from = on == TRACK_NONE ? 0 : launched_from(ws, on, recorded_ns(ws, f, wait_ns));
	uint32_t row, awaited;

	if (on == TRACK_NONE || on == waits || from == 0 || to == x->w->v.nr)
		return;
	row = ws->launched[to];
	awaited = ws->launched[from - 1];
	if (v[row].queue != waits || v[awaited].queue != on || v[awaited].end_ns > v[row].start_ns)
		return;
	if (x->awaited[row] == ROW_NONE || v[awaited].end_ns > v[x->awaited[row]].end_ns)
		x->awaited[row] = awaited;
}

static void queue_waits_take(struct waits *ws)
{
	const struct facts *f = &ws->x->m->facts;

	launches_take(ws);
	ws->x->awaited = xreallocarray(NULL, ws->x->w->v.nr + 1, sizeof(uint32_t));
	for (size_t i = 0; i < ws->x->w->v.nr; i++)
		ws->x->awaited[i] = ROW_NONE;
	for (size_t i = 0; i < f->syncs.nr; i++)
		if (f->syncs.v[i].kind == SYNC_STREAM_WAIT_EVENT)
			queue_wait_take(ws, &f->syncs.v[i]);
}

static void block_take(struct waits *ws, struct path_block *b)
{
	const struct model *m = ws->x->m;
	const struct call *c =
		call_of(ws, span_correlation(&m->spans, b->call), group_of(m, b->call));
	const struct sync_facts *f = c && c->sync != SYNC_NONE ? &m->facts.syncs.v[c->sync] : NULL;
	track_id on = f ? m->spans.track[f->span] : TRACK_NONE;

	if (f && f->kind == SYNC_STREAM && f->stream != FACT_ABSENT &&
	    m->tracks.v[on].kind == TRACK_QUEUE)
		b->queue = on;
	if (f && f->kind == SYNC_EVENT) {
		b->queue = event_queue(ws, f);
		b->before_ns = recorded_ns(ws, f, b->before_ns);
	}
}

void path_waits_take(struct path_index *x)
{
	struct waits ws = { .x = x, .first = U64MAP_INIT };

	if (x->m->facts.syncs.nr == 0 || x->w->v.nr == 0)
		return;
	calls_take(&ws);
	queues_take(&ws);
	queue_waits_take(&ws);
	for (size_t i = 0; i < x->blocks.nr; i++)
		if (x->blocks.v[i].own == ROW_NONE)
			block_take(&ws, &x->blocks.v[i]);
	VEC_RELEASE(&ws.calls);
	VEC_RELEASE(&ws.queues);
	u64map_release(&ws.first);
	free(ws.launched);
	free(ws.launch_ns);
}
