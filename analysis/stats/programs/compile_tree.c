#include "compile_tree.h"
#include "ns.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/search.h"
#include "profrig/base/xalloc.h"
#include "profrig/work/works.h"

#define COMPILE "XlaCompile"
#define COMPILE_LOOK 64

struct growing {
	const struct model *m;
	struct compile_tree *ct;
	VEC(uint32_t) tops; /* outermost ranges of threads: longest first, then by start */
	/* those of them that are named as compilations, by process and start */
	VEC(struct host {
		uint64_t process;
		int64_t start_ns, most_end_ns;
		uint32_t range;
	}) hosts;
};

static const struct compile_range *range_at(const struct growing *g, uint32_t i)
{
	return &g->ct->v.v[i];
}

static track_id track_of(const struct growing *g, uint32_t i)
{
	return g->m->spans.track[range_at(g, i)->span];
}

/* The process of a range; where the trace has no track of it, by its id. */
static uint64_t process_of(const struct growing *g, uint32_t i)
{
	track_id t = track_of(g, i), p = model_process_of(g->m, t);

	return p != TRACK_NONE ? p : UINT64_C(1) << 63 | (uint64_t)g->m->tracks.v[t].pid;
}

/* ---- ranges of one thread ---- */

/* Rows of facts are in the spans' order: by track, start, the longer first. */
static void threads_nest(struct growing *g)
{
	const struct model *m = g->m;
	VEC(uint32_t) open = VEC_INIT;
	track_id track = TRACK_NONE;

	for (size_t i = 0; i < m->facts.programs.nr; i++) {
		const struct program_facts *f = &m->facts.programs.v[i];
		struct compile_range r = { f->span, COMPILE_NONE, COMPILE_NONE, false, 0, 0, 0, 0 };

		if (f->kind != PROGRAM_COMPILE)
			continue;
		r.start_ns = m->spans.start_ns[f->span];
		r.end_ns = m->spans.end_ns[f->span];
		if (m->spans.track[f->span] != track)
			VEC_CLEAR(&open);
		track = m->spans.track[f->span];
		while (open.nr && range_at(g, open.v[open.nr - 1])->end_ns <= r.start_ns)
			open.nr--;
		if (open.nr) {
			struct compile_range *up = &g->ct->v.v[open.v[open.nr - 1]];

			g->ct->cut += r.end_ns > up->end_ns;
			r.end_ns = r.end_ns < up->end_ns ? r.end_ns : up->end_ns;
			r.parent = open.v[open.nr - 1];
			up->own_ns -= r.end_ns - r.start_ns;
		} else {
			VEC_PUSH(&g->tops, (uint32_t)g->ct->v.nr);
		}
		r.own_ns = r.end_ns - r.start_ns;
		VEC_PUSH(&open, (uint32_t)g->ct->v.nr);
		VEC_PUSH(&g->ct->v, r);
	}
	VEC_RELEASE(&open);
}

/* ---- compilations, and what they gave away ---- */

static int cmp_length(const void *pa, const void *pb, void *ctx)
{
	const struct compile_range *v = ctx, *a = &v[*(const uint32_t *)pa];
	const struct compile_range *b = &v[*(const uint32_t *)pb];
	int64_t x = a->end_ns - a->start_ns, y = b->end_ns - b->start_ns;

	if (x != y)
		return x > y ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->span > b->span) - (a->span < b->span);
}

static bool is_compilation(const struct growing *g, uint32_t i)
{
	const struct program_facts *f = facts_program(g->m, range_at(g, i)->span);

	return f && f->op != STR_NONE && strcmp(model_str(g->m, f->op), COMPILE) == 0;
}

static int cmp_host(const void *pa, const void *pb)
{
	const struct host *a = pa, *b = pb;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->range > b->range) - (a->range < b->range);
}

static void hosts_find(struct growing *g)
{
	for (size_t i = 0; i < g->tops.nr; i++) {
		uint32_t top = g->tops.v[i];

		if (is_compilation(g, top))
			VEC_PUSH(&g->hosts, ((struct host){ process_of(g, top),
							    range_at(g, top)->start_ns, 0, top }));
	}
	if (g->hosts.nr)
		qsort(g->hosts.v, g->hosts.nr, sizeof(*g->hosts.v), cmp_host);
	for (size_t i = 0; i < g->hosts.nr; i++) {
		struct host *h = &g->hosts.v[i];
		int64_t before = i && h[-1].process == h->process ? h[-1].most_end_ns : INT64_MIN;

		h->most_end_ns = range_at(g, h->range)->end_ns;
		h->most_end_ns = before > h->most_end_ns ? before : h->most_end_ns;
	}
}

/*
 * The compilation of another thread that a range lies in: of several the one that began last, of
 * the last COMPILE_LOOK ones. It is longer, so it is known by now whether it is one.
 */
static uint32_t host_of(const struct growing *g, uint32_t top)
{
	const struct compile_range *r = range_at(g, top);
	uint64_t process = process_of(g, top);
	size_t after = LOWER_BOUND(at, 0, g->hosts.nr,
				   g->hosts.v[at].process < process ||
					   (g->hosts.v[at].process == process &&
					    g->hosts.v[at].start_ns <= r->start_ns));

	for (size_t i = after; i > 0 && after - i < COMPILE_LOOK; i--) {
		const struct host *h = &g->hosts.v[i - 1];
		const struct compile_range *c = range_at(g, h->range);

		if (h->process != process || h->most_end_ns < r->end_ns)
			break;
		if (c->end_ns >= r->end_ns && c->root != COMPILE_NONE &&
		    track_of(g, h->range) != track_of(g, top))
			return c->root;
	}
	return COMPILE_NONE;
}

/* How many ranges a tree of one thread has. Before parents are those of other threads. */
static uint32_t tree_size(const struct growing *g, uint32_t top)
{
	uint32_t i = top + 1;

	while (i < g->ct->v.nr && range_at(g, i)->parent != COMPILE_NONE)
		i++;
	return i - top;
}

/* The deepest range of the host's thread around another range; size: of the host's tree. */
static uint32_t launcher_of(const struct growing *g, uint32_t host, uint32_t size, uint32_t top)
{
	const struct compile_range *r = range_at(g, top);
	size_t after = LOWER_BOUND(at, host, host + size,
				   range_at(g, (uint32_t)at)->start_ns <= r->start_ns);
	uint32_t i = (uint32_t)after - 1;

	while (i != host && range_at(g, i)->end_ns < r->end_ns)
		i = range_at(g, i)->parent;
	return i;
}

/* A compilation cannot lie inside a shorter one. */
static void tops_settle(struct growing *g)
{
	struct compile_range *v = g->ct->v.v;

	if (g->tops.nr)
		qsort_r(g->tops.v, g->tops.nr, sizeof(*g->tops.v), cmp_length, v);
	hosts_find(g);
	for (size_t i = 0; i < g->tops.nr; i++) {
		uint32_t top = g->tops.v[i], host = host_of(g, top);

		if (host != COMPILE_NONE) {
			v[top].root = host;
			v[top].given = true;
		} else if (is_compilation(g, top)) {
			v[top].root = top;
			g->ct->total_ns = ns_add(g->ct->total_ns, v[top].end_ns - v[top].start_ns);
		}
	}
}

static void roots_inherit(struct growing *g)
{
	struct compile_range *v = g->ct->v.v;

	/* before parents are those of other threads, every parent stands before its children */
	for (size_t i = 0; i < g->ct->v.nr; i++) {
		if (v[i].parent != COMPILE_NONE)
			v[i].root = v[v[i].parent].root;
		g->ct->outside += v[i].root == COMPILE_NONE;
		v[i].self_ns = v[i].root == COMPILE_NONE ? 0 : v[i].own_ns;
	}
}

/* ---- time ---- */

struct gift {
	uint32_t launcher, top;
	int64_t start_ns;
};

static int cmp_gift(const void *pa, const void *pb)
{
	const struct gift *a = pa, *b = pb;

	if (a->launcher != b->launcher)
		return a->launcher < b->launcher ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->top > b->top) - (a->top < b->top);
}

/* Where the launcher is innermost on its thread. */
static void own_intervals(const struct growing *g, uint32_t launcher, struct intervals *ret)
{
	const struct compile_range *r = range_at(g, launcher);
	int64_t at = r->start_ns;

	for (uint32_t i = launcher + 1; i < g->ct->v.nr; i++) {
		const struct compile_range *c = range_at(g, i);

		if (c->parent == COMPILE_NONE || c->start_ns >= r->end_ns)
			break;
		if (c->parent != launcher)
			continue;
		intervals_join(ret, at, c->start_ns > at ? c->start_ns : at);
		at = c->end_ns > at ? c->end_ns : at;
	}
	intervals_join(ret, at, r->end_ns > at ? r->end_ns : at);
}

/* Divides the time of the gifts [0, nr) of one launcher by their own times, exactly. */
static void gifts_divide(struct growing *g, const struct gift *v, size_t nr)
{
	struct intervals own = INTERVALS_INIT, busy = INTERVALS_INIT;
	struct compile_range *r = g->ct->v.v;
	__int128 all = 0, before = 0;
	int64_t part;

	own_intervals(g, v[0].launcher, &own);
	for (size_t i = 0; i < nr; i++) {
		intervals_join(&busy, r[v[i].top].start_ns, r[v[i].top].end_ns);
		all += r[v[i].top].end_ns - r[v[i].top].start_ns;
	}
	part = intervals_common(&own, &busy);
	r[v[0].launcher].self_ns -= part;
	for (size_t i = 0; i < nr; i++)
		for (uint32_t k = v[i].top, end = v[i].top + tree_size(g, v[i].top); k < end; k++) {
			__int128 until = before + r[k].own_ns;

			r[k].self_ns =
				all ? (int64_t)(part * until / all - part * before / all) : 0;
			before = until;
		}
	intervals_release(&own);
	intervals_release(&busy);
}

static void gifts_take(struct growing *g)
{
	CLEANUP(xfreep) uint32_t *sizes = xcalloc(g->ct->v.nr + 1, sizeof(*sizes));
	struct compile_range *r = g->ct->v.v;
	VEC(struct gift) v = VEC_INIT;

	for (size_t i = 0; i < g->hosts.nr; i++)
		sizes[g->hosts.v[i].range] = tree_size(g, g->hosts.v[i].range);
	for (size_t i = 0; i < g->tops.nr; i++) {
		uint32_t top = g->tops.v[i];

		if (r[top].given)
			VEC_PUSH(&v, ((struct gift){
					     launcher_of(g, r[top].root, sizes[r[top].root], top),
					     top, r[top].start_ns }));
	}
	if (v.nr)
		qsort(v.v, v.nr, sizeof(*v.v), cmp_gift);
	for (size_t i = 0, end; i < v.nr; i = end) {
		for (end = i + 1; end < v.nr && v.v[end].launcher == v.v[i].launcher; end++)
			;
		gifts_divide(g, &v.v[i], end - i);
	}
	for (size_t i = 0; i < v.nr; i++)
		r[v.v[i].top].parent = v.v[i].launcher;
	VEC_RELEASE(&v);
}

void compile_tree_make(const struct model *m, struct compile_tree *ret)
{
	struct growing g = { .m = m, .ct = ret };

	*ret = (struct compile_tree){ .total_ns = 0 };
	threads_nest(&g);
	tops_settle(&g);
	roots_inherit(&g);
	gifts_take(&g);
	VEC_RELEASE(&g.tops);
	VEC_RELEASE(&g.hosts);
}

void compile_tree_release(struct compile_tree *ct)
{
	VEC_RELEASE(&ct->v);
}

static bool is_below(const struct compile_tree *ct, uint32_t i, uint32_t range)
{
	for (i = ct->v.v[i].parent; i != COMPILE_NONE; i = ct->v.v[i].parent)
		if (i == range)
			return true;
	return false;
}

void compile_tree_collapse(struct compile_tree *ct, uint32_t range)
{
	for (uint32_t i = 0; i < ct->v.nr; i++) {
		if (!is_below(ct, i, range))
			continue;
		ct->v.v[range].self_ns += ct->v.v[i].self_ns;
		ct->v.v[i].self_ns = 0;
	}
}
