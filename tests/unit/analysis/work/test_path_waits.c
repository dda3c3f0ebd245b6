#include "path_index.h"
#include "random_work.h"
#include "readers_test.h"
#include "tables_support.h"

#include "profrig/model/facts.h"
#include "profrig/work/critical_path.h"

/* ---- by the definition: every wait against every work ---- */

struct known {
	const struct path_index *x;
	int64_t *launch_ns; /* by row: of its launch, else of the work before it on its queue */
};

static bool place_below(const struct known *k, uint32_t a, uint32_t b)
{
	return k->launch_ns[a] != k->launch_ns[b] ? k->launch_ns[a] < k->launch_ns[b]
						  : k->x->place[a] < k->x->place[b];
}

static uint64_t call_by(const struct model *m, int64_t correlation)
{
	for (size_t i = 0; correlation > 0 && i < m->spans.nr; i++)
		if (m->spans.kind[i] == SPAN_HOST &&
		    span_correlation(&m->spans, i) == (uint64_t)correlation)
			return i;
	return SPAN_NONE;
}

static track_id stream_of_event(const struct model *m, const struct sync_facts *f)
{
	track_id on = m->spans.track[f->span];

	for (size_t i = m->facts.syncs.nr; f->record > 0 && i > 0; i--) {
		const struct sync_facts *r = &m->facts.syncs.v[i - 1];

		if (r->kind == SYNC_RECORD_EVENT && r->call == f->record)
			return m->spans.track[r->span];
	}
	for (track_id t = 0; f->event_stream != FACT_ABSENT && t < m->tracks.nr; t++)
		if (m->tracks.v[t].kind == TRACK_QUEUE &&
		    m->tracks.v[t].device == m->tracks.v[on].device &&
		    m->tracks.v[t].owner == m->tracks.v[on].owner &&
		    m->tracks.v[t].tid == f->event_stream)
			return t;
	return TRACK_NONE;
}

static void wait_expect(const struct known *k, const struct sync_facts *f, uint32_t *awaited)
{
	const struct model *m = k->x->m;
	const struct work *v = k->x->w->v.v;
	track_id waits = m->spans.track[f->span], on = stream_of_event(m, f);
	uint64_t call = call_by(m, f->call), record = call_by(m, f->record);
	int64_t wait_ns = m->spans.start_ns[call == SPAN_NONE ? f->span : call];
	int64_t record_ns = record == SPAN_NONE ? wait_ns : m->spans.start_ns[record];
	uint32_t next = ROW_NONE, last = ROW_NONE;

	if (record_ns > wait_ns)
		record_ns = wait_ns;
	for (uint32_t i = 0; i < k->x->w->v.nr; i++) {
		if (v[i].queue == waits && k->launch_ns[i] >= wait_ns &&
		    (next == ROW_NONE || place_below(k, i, next)))
			next = i;
		if (v[i].queue == on && k->launch_ns[i] < record_ns &&
		    (last == ROW_NONE || place_below(k, last, i)))
			last = i;
	}
	if (on != waits && next != ROW_NONE && last != ROW_NONE &&
	    v[last].end_ns <= v[next].start_ns &&
	    (awaited[next] == ROW_NONE || v[last].end_ns > v[awaited[next]].end_ns))
		awaited[next] = last;
}

static size_t expect_awaited(const struct path_index *x)
{
	const struct work *v = x->w->v.v;
	CLEANUP(xfreep) uint32_t *awaited = xcalloc(x->w->v.nr + 1, sizeof(*awaited));
	struct known k = { x, xcalloc(x->w->v.nr + 1, sizeof(int64_t)) };
	int64_t last_ns = INT64_MIN;
	size_t nr = 0;

	for (uint32_t i = 0; i < x->w->v.nr; i++) {
		uint32_t row = x->by_queue[i];

		awaited[i] = ROW_NONE;
		if (i == 0 || v[x->by_queue[i - 1]].queue != v[row].queue)
			last_ns = INT64_MIN;
		if (v[row].launch != SPAN_NONE)
			last_ns = x->m->spans.start_ns[v[row].launch];
		k.launch_ns[row] = last_ns;
	}
	for (size_t i = 0; i < x->m->facts.syncs.nr; i++)
		if (x->m->facts.syncs.v[i].kind == SYNC_STREAM_WAIT_EVENT)
			wait_expect(&k, &x->m->facts.syncs.v[i], awaited);
	for (uint32_t i = 0; i < x->w->v.nr; i++) {
		assert_int_equal(x->awaited ? x->awaited[i] : ROW_NONE, awaited[i]);
		nr += awaited[i] != ROW_NONE;
	}
	free(k.launch_ns);
	return nr;
}

/* ---- paths ---- */

/* The longest chain of works in a window of which each waits for the one before. */
static int64_t longest_chain(const struct path_index *x, int64_t from_ns, int64_t to_ns)
{
	const struct work *v = x->w->v.v;
	CLEANUP(xfreep) int64_t *chain = xcalloc(x->w->v.nr + 1, sizeof(*chain));
	CLEANUP(xfreep) uint32_t *order = xcalloc(x->w->v.nr + 1, sizeof(*order));
	int64_t most = 0;

	for (uint32_t i = 0; i < x->w->v.nr; i++) {
		uint32_t k = i;

		while (k > 0 && (v[order[k - 1]].start_ns > v[i].start_ns ||
				 (v[order[k - 1]].start_ns == v[i].start_ns &&
				  v[order[k - 1]].end_ns > v[i].end_ns))) {
			order[k] = order[k - 1];
			k--;
		}
		order[k] = i;
	}
	for (uint32_t n = 0; n < x->w->v.nr; n++) {
		uint32_t i = order[n], before[2] = { path_queue_before(x, i),
						     x->awaited ? x->awaited[i] : ROW_NONE };

		if (v[i].start_ns < from_ns || v[i].end_ns > to_ns)
			continue;
		for (size_t k = 0; k < 2; k++)
			if (before[k] != ROW_NONE && chain[before[k]] > chain[i])
				chain[i] = chain[before[k]];
		chain[i] += v[i].end_ns - v[i].start_ns;
		most = chain[i] > most ? chain[i] : most;
	}
	return most;
}

/* Behind a gap is the work that held back the next one, which is the last of those that could. */
static size_t expect_gaps(const struct path_index *x, const struct path *p)
{
	size_t across = 0;

	for (size_t i = 1; i + 1 < p->v.nr; i++) {
		size_t row, before;

		if (p->v.v[i].class != PATH_KERNEL_GAP)
			continue;
		row = works_find(x->w, p->v.v[i + 1].span);
		before = works_find(x->w, p->v.v[i - 1].span);
		/* one without length is no part */
		if (row == SIZE_MAX || before == SIZE_MAX || p->v.v[i].span != p->v.v[i + 1].span)
			continue;
		assert_true(x->w->v.v[before].end_ns <= x->w->v.v[row].start_ns);
		across += x->w->v.v[before].queue != x->w->v.v[row].queue;
	}
	return across;
}

TEST(test_any_trace)
{
	size_t waits = 0, across = 0, paths = 0;

	for (uint64_t seed = 1; seed <= 10000; seed++) {
		CLEANUP(model_freep) struct model *m = random_work_model(seed);
		struct path p = { .start_ns = 0 };
		struct err err = ERR_INIT;
		struct iterations *it;
		struct path_finder *f;
		struct path_index x;
		struct works *w;

		model_nest(m);
		w = works_new(m);
		path_index_make(&x, w);
		waits += expect_awaited(&x);
		assert_int_equal(iterations_new(m, w, NULL, &it, &err), 0);
		f = path_finder_new(w);
		for (size_t i = 0; i < it->v.nr; i++) {
			int64_t ns = 0;

			path_find(f, it, i, &p);
			for (size_t k = 0; k < p.v.nr; k++)
				ns += p.v.v[k].end_ns - p.v.v[k].start_ns;
			assert_int_equal(ns, p.end_ns - p.start_ns);
			assert_true(ns >= longest_chain(&x, p.start_ns, p.end_ns));
			across += expect_gaps(&x, &p);
			paths++;
		}
		path_release(&p);
		path_finder_free(f);
		path_index_release(&x);
		iterations_free(it);
		works_free(w);
	}
	if (waits < 1000 || across < 40 || paths < 10000)
		fail_msg("%zu waits, %zu across queues, %zu paths", waits, across, paths);
}
