#include "path_index.h"

#include <stdlib.h>

#include "profrig/base/search.h"
#include "profrig/base/sort.h"
#include "profrig/base/xalloc.h"
#include "profrig/names/api_names.h"

/* ---- works by queue, by process ---- */

/*
 * Rows by a key, of equal ones by the end of the work, then as they are: by start on a device. The
 * works of a queue or a thread are in order, mostly, which sort_spans makes use of.
 */
struct keyed_rows {
	struct sort_span *v;
	size_t nr;
};

static void keyed_put(struct keyed_rows *k, const struct works *w, size_t row, int64_t key)
{
	/* the longer first: the larger -end */
	k->v[k->nr++] = (struct sort_span){ key, -w->v.v[row].end_ns, row };
}

/* Owned; k is empty afterwards. */
static uint32_t *keyed_sort(struct keyed_rows *k)
{
	uint32_t *rows = xcalloc(k->nr + 1, sizeof(*rows));

	sort_spans(k->v, k->nr);
	for (size_t i = 0; i < k->nr; i++)
		rows[i] = (uint32_t)k->v[i].row;
	k->nr = 0;
	return rows;
}

/* The process whose works a queue executes, as its linked works or its owner tell. */
static track_id *queue_processes(const struct works *w)
{
	const struct model *m = w->m;
	track_id *of = xcalloc(m->tracks.nr + 1, sizeof(*of));

	for (track_id t = 0; t < m->tracks.nr; t++)
		of[t] = m->tracks.v[t].owner;
	for (size_t i = 0; i < w->v.nr; i++)
		if (w->v.v[i].launch != SPAN_NONE && of[w->v.v[i].queue] == TRACK_NONE)
			of[w->v.v[i].queue] = model_process_of(m, m->spans.track[w->v.v[i].launch]);
	return of;
}

static void works_index(struct path_index *x)
{
	const struct works *w = x->w;
	size_t none = w->m->tracks.nr;
	CLEANUP(xfreep) track_id *queues = queue_processes(w);
	CLEANUP(xfreep) track_id *of = xcalloc(w->v.nr + 1, sizeof(*of));
	struct keyed_rows k = { xcalloc(w->v.nr + 1, sizeof(*k.v)), 0 };

	for (size_t i = 0; i < w->v.nr; i++) {
		uint64_t launch = w->v.v[i].launch;
		track_id p = launch == SPAN_NONE
				     ? queues[w->v.v[i].queue]
				     : model_process_of(w->m, w->m->spans.track[launch]);

		of[i] = p == TRACK_NONE ? (track_id)none : p;
	}
	for (size_t i = 0; i < w->v.nr; i++)
		keyed_put(&k, w, i, w->v.v[i].queue);
	x->by_queue = keyed_sort(&k);
	x->place = xcalloc(w->v.nr + 1, sizeof(*x->place));
	for (uint32_t i = 0; i < w->v.nr; i++)
		x->place[x->by_queue[i]] = i;
	for (size_t i = 0; i < w->v.nr; i++)
		keyed_put(&k, w, i, of[i]);
	x->by_process = keyed_sort(&k);
	free(k.v);
	x->of_process = xcalloc(none + 1, sizeof(*x->of_process));
	for (uint32_t i = 0; i < w->v.nr; i++) {
		struct path_range *r = &x->of_process[of[x->by_process[i]]];

		if (r->nr++ == 0)
			r->first = i;
	}
}

/* ---- threads ---- */

/* By span of a launch: the copy of its own that ended last inside of the call; else ROW_NONE. */
struct own_copies {
	uint32_t *rows; /* by launch */
	size_t nr, at;  /* launches are asked for in ascending order */
};

static uint32_t own_copy(struct own_copies *o, const struct works *w, uint64_t call)
{
	const struct model *m = w->m;
	uint32_t ret = ROW_NONE;

	while (o->at < o->nr && w->v.v[o->rows[o->at]].launch < call)
		o->at++;
	for (size_t i = o->at; i < o->nr && w->v.v[o->rows[i]].launch == call; i++) {
		const struct work *c = &w->v.v[o->rows[i]];

		if (c->class == WORK_COPY && c->end_ns >= m->spans.start_ns[call] &&
		    c->end_ns <= m->spans.end_ns[call])
			ret = o->rows[i];
	}
	return ret;
}

static int cmp_block(const void *pa, const void *pb, void *ctx)
{
	const struct model *m = ctx;
	const struct path_block *a = pa, *b = pb;
	int64_t end_a = m->spans.end_ns[a->call], end_b = m->spans.end_ns[b->call];

	if (end_a != end_b)
		return end_a < end_b ? -1 : 1;
	return a->call < b->call ? -1 : a->call > b->call;
}

/* By name: whether it is a synchronisation, and 0 when that was not asked yet. */
static bool name_syncs(uint8_t *known, const struct model *m, str_id name)
{
	if (known[name] == 0)
		known[name] = api_class(model_str(m, name)) == API_SYNC ? 2 : 1;
	return known[name] == 2;
}

static void thread_index(struct path_index *x, track_id t, uint8_t *names,
			 struct own_copies *copies)
{
	const struct model *m = x->m;
	const struct track *track = &m->tracks.v[t];
	struct intervals open = INTERVALS_INIT;
	size_t first = x->blocks.nr;

	for (uint64_t i = track->first_span; i < track->first_span + track->spans; i++) {
		uint32_t own;

		if (m->spans.kind[i] == SPAN_INSTANT)
			continue;
		intervals_join(&open, m->spans.start_ns[i], m->spans.end_ns[i]);
		own = own_copy(copies, x->w, i);
		if (own != ROW_NONE || name_syncs(names, m, m->spans.name[i]))
			VEC_PUSH(&x->blocks,
				 ((struct path_block){ i, own, TRACK_NONE, m->spans.start_ns[i] }));
	}
	x->blocks_of[t] = (struct path_range){ (uint32_t)first, (uint32_t)(x->blocks.nr - first) };
	if (x->blocks.nr > first)
		qsort_r(x->blocks.v + first, x->blocks.nr - first, sizeof(*x->blocks.v), cmp_block,
			(void *)m);
	x->open_of[t] = (struct path_range){ (uint32_t)x->open.nr, (uint32_t)open.v.nr };
	for (size_t i = 0; i < open.v.nr; i++)
		VEC_PUSH(&x->open, open.v.v[i]);
	intervals_release(&open);
}

static void threads_index(struct path_index *x)
{
	const struct works *w = x->w;
	struct keyed_rows k = { xcalloc(w->v.nr + 1, sizeof(*k.v)), 0 };
	struct own_copies copies = { .nr = w->v.nr };
	CLEANUP(xfreep) uint8_t *names = xcalloc(intern_count(x->m->strings) + 1, 1);

	for (size_t i = 0; i < w->v.nr; i++)
		keyed_put(&k, w, i,
			  w->v.v[i].launch == SPAN_NONE ? INT64_MAX : (int64_t)w->v.v[i].launch);
	copies.rows = keyed_sort(&k);
	free(k.v);
	x->blocks_of = xcalloc(x->m->tracks.nr + 1, sizeof(*x->blocks_of));
	x->open_of = xcalloc(x->m->tracks.nr + 1, sizeof(*x->open_of));
	for (track_id t = 0; t < x->m->tracks.nr; t++)
		if (x->m->tracks.v[t].kind == TRACK_THREAD && x->m->tracks.v[t].spans)
			thread_index(x, t, names, &copies);
	free(copies.rows);
}

void path_index_make(struct path_index *x, const struct works *w)
{
	*x = (struct path_index){ .w = w, .m = w->m };
	works_index(x);
	threads_index(x);
	path_waits_take(x);
}

void path_index_release(struct path_index *x)
{
	free(x->by_queue);
	free(x->place);
	free(x->by_process);
	free(x->of_process);
	VEC_RELEASE(&x->blocks);
	VEC_RELEASE(&x->open);
	free(x->blocks_of);
	free(x->open_of);
	free(x->awaited);
}

/* ---- questions ---- */

uint32_t path_queue_before(const struct path_index *x, uint32_t row)
{
	const struct work *v = x->w->v.v;
	track_id queue = v[row].queue;
	/* of rows before this one in the order: the last of the queue that ended by its start */
	size_t after = LOWER_BOUND(at, 0, x->place[row],
				   v[x->by_queue[at]].queue < queue ||
					   (v[x->by_queue[at]].queue == queue &&
					    v[x->by_queue[at]].end_ns <= v[row].start_ns));

	if (after == 0 || v[x->by_queue[after - 1]].queue != queue)
		return ROW_NONE;
	return x->by_queue[after - 1];
}

uint32_t path_before(const struct path_index *x, uint32_t row)
{
	const struct work *v = x->w->v.v;
	uint32_t own = path_queue_before(x, row), other = x->awaited ? x->awaited[row] : ROW_NONE;

	if (own == ROW_NONE || other == ROW_NONE)
		return own == ROW_NONE ? other : own;
	return v[other].end_ns > v[own].end_ns ? other : own;
}

/* Rows of a process that ended by a time: their number. */
static uint32_t ended_by(const struct path_index *x, const struct path_range *r, int64_t t_ns)
{
	return (uint32_t)LOWER_BOUND(at, 0, r->nr,
				     x->w->v.v[x->by_process[r->first + at]].end_ns <= t_ns);
}

static const struct path_range *process_range(const struct path_index *x, track_id process)
{
	return &x->of_process[process == TRACK_NONE ? x->m->tracks.nr : process];
}

uint32_t path_ended_at(const struct path_index *x, track_id process, int64_t end_ns)
{
	const struct path_range *r = process_range(x, process);
	uint32_t nr = ended_by(x, r, end_ns), row;

	if (nr == 0)
		return ROW_NONE;
	row = x->by_process[r->first + nr - 1];
	return x->w->v.v[row].end_ns == end_ns ? row : ROW_NONE;
}

uint32_t path_waited_for(const struct path_index *x, const struct path_block *b)
{
	const struct span_columns *c = &x->m->spans;
	const struct path_range *r = process_range(x, model_process_of(x->m, c->track[b->call]));

	if (b->own != ROW_NONE)
		return b->own;
	for (uint32_t i = ended_by(x, r, c->end_ns[b->call]); i > 0; i--) {
		uint32_t row = x->by_process[r->first + i - 1];
		const struct work *w = &x->w->v.v[row];

		if (w->end_ns < c->start_ns[b->call])
			return ROW_NONE;
		if (b->queue != TRACK_NONE && w->queue != b->queue)
			continue;
		if (w->launch == SPAN_NONE || c->start_ns[w->launch] < b->before_ns)
			return row;
	}
	return ROW_NONE;
}

size_t path_blocks_by(const struct path_index *x, track_id thread, int64_t t_ns)
{
	const struct path_block *v = x->blocks.v + x->blocks_of[thread].first;

	return LOWER_BOUND(at, 0, x->blocks_of[thread].nr, x->m->spans.end_ns[v[at].call] <= t_ns);
}

const struct interval *path_open_before(const struct path_index *x, track_id thread, int64_t t_ns)
{
	const struct interval *v = x->open.v + x->open_of[thread].first;
	size_t after = LOWER_BOUND(at, 0, x->open_of[thread].nr, v[at].start_ns < t_ns);

	return after ? &v[after - 1] : NULL;
}
