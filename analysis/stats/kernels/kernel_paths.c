/*
 * kernel_paths: which call paths launched which kernels, copies and fills: the frames of a flame
 * graph of device time. Question: where in the program does the device's work come from?
 *
 *	total_ns	summed durations of the work of this name that calls with this path launched
 * Σ total_ns of a path = device_exclusive_ns of callpaths; Σ of all rows = all device work. Work
 * without a known launch has the path [unattributed] of its device. In a window work has the path
 * that launched it in the whole trace (model.placed).
 *
 * Frames beyond MAX_FRAMES count with the frame there; when all paths together are longer than
 * MAX_PATH_BYTES, the lightest rows have the path [other paths] of their track.
 *
 * O(n) in calls on the way from a launch to its outermost call; each is looked at once.
 */
#include "analyses_private.h"
#include "ns.h"
#include "track_names.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/names/classes.h"

#define MAX_FRAMES 400
#define MAX_PATH_BYTES ((size_t)64 << 20)
#define NO_NODE UINT32_MAX
#define UNKNOWN_NODE (UINT32_MAX - 1)

/* clang-format off */
#define KERNEL_PATHS(X) \
	X(STR, track) X(STR, path) X(STR, name) X(STR, class) X(I64, calls) X(I64, total_ns)
/* clang-format on */
TABLE_FORM(kernel_paths, KERNEL_PATHS,
	   "one row per call path of a thread and kernel, copy or fill that it launched");

struct path_node {
	uint32_t parent; /* NO_NODE: outermost */
	track_id track;
	str_id name;
	uint32_t depth;
};

struct path_work {
	uint32_t node; /* NO_NODE: the launch is not known */
	str_id name;
	uint64_t first; /* span, of its kind */
	str_id device;
	uint64_t calls;
	int64_t ns;
};

struct paths {
	const struct model *m;
	VEC(struct path_node) nodes;
	VEC(struct path_work) rows;
	struct u64map roots, below, works, lost;
	uint32_t *of_span; /* UNKNOWN_NODE: not asked for yet; NULL where a window is */
	VEC(uint64_t) climb;
};

static void paths_release(struct paths *p)
{
	VEC_RELEASE(&p->nodes);
	VEC_RELEASE(&p->rows);
	VEC_RELEASE(&p->climb);
	u64map_release(&p->roots);
	u64map_release(&p->below);
	u64map_release(&p->works);
	u64map_release(&p->lost);
	free(p->of_span);
}

static uint32_t node_at(struct paths *p, uint32_t parent, track_id track, str_id name)
{
	bool root = parent == NO_NODE;
	uint32_t *slot;

	if (!root && p->nodes.v[parent].depth + 1 >= MAX_FRAMES)
		return parent;
	slot = root ? u64map_at(&p->roots, u64map_pair(track, name))
		    : u64map_at(&p->below, u64map_pair(parent, name));
	if (*slot == U64MAP_NONE) {
		*slot = (uint32_t)p->nodes.nr;
		VEC_PUSH(&p->nodes,
			 ((struct path_node){ parent, track, name,
					      root ? 0 : p->nodes.v[parent].depth + 1 }));
	}
	return *slot;
}

/* Up to a call whose node is known, and down again. */
static uint32_t node_of_launch(struct paths *p, uint64_t span)
{
	const struct span_columns *c = &p->m->spans;
	uint32_t node = NO_NODE;

	VEC_CLEAR(&p->climb);
	for (; span != SPAN_NONE && p->of_span[span] == UNKNOWN_NODE; span = span_parent(c, span))
		VEC_PUSH(&p->climb, span);
	if (span != SPAN_NONE)
		node = p->of_span[span];
	for (size_t i = p->climb.nr; i-- > 0;) {
		uint64_t s = p->climb.v[i];

		if (model_below_piece(p->m, s)) /* its parent had outlived its own */
			node = node_at(p, NO_NODE, c->track[s], c->name[span_parent(c, s)]);
		if (c->kind[s] != SPAN_INSTANT)
			node = node_at(p, node, c->track[s], c->name[s]);
		p->of_span[s] = node;
	}
	return node;
}

static void work_add(struct paths *p, uint32_t node, uint64_t span)
{
	const struct span_columns *c = &p->m->spans;
	str_id device = p->m->tracks.v[c->track[span]].device;
	uint32_t *at = node == NO_NODE ? u64map_at(&p->lost, u64map_pair(device, c->name[span]))
				       : u64map_at(&p->works, u64map_pair(node, c->name[span]));
	struct path_work *w;

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)p->rows.nr;
		VEC_PUSH(&p->rows, ((struct path_work){ node, c->name[span], span, device, 0, 0 }));
	}
	w = &p->rows.v[*at];
	w->calls++;
	w->ns = ns_add(w->ns, c->end_ns[span] - c->start_ns[span]);
}

static void works_add(struct paths *p, const struct works *w)
{
	p->of_span = xreallocarray(NULL, p->m->spans.nr + 1, sizeof(*p->of_span));
	for (size_t i = 0; i < p->m->spans.nr; i++)
		p->of_span[i] = UNKNOWN_NODE;
	for (size_t i = 0; i < w->v.nr; i++)
		work_add(p,
			 w->v.v[i].launch == SPAN_NONE ? NO_NODE
						       : node_of_launch(p, w->v.v[i].launch),
			 w->v.v[i].span);
}

/* Places become nodes in their order, parents first. */
static void placed_works_add(struct paths *p, const struct works *w)
{
	const struct model *m = p->m;
	CLEANUP(xfreep) uint32_t *node = xcalloc(m->places.nr + 1, sizeof(*node));
	struct u64map place = U64MAP_INIT;

	for (size_t i = 0; i < m->places.nr; i++) {
		const struct launch_place *l = &m->places.v[i];

		node[i] = node_at(p, l->parent == PLACE_NONE ? NO_NODE : node[l->parent], l->track,
				  l->name);
	}
	for (size_t i = 0; i < m->placed.nr; i++)
		*u64map_at(&place, m->placed.v[i].work) = m->placed.v[i].place;
	for (size_t i = 0; i < w->v.nr; i++) {
		uint32_t at = u64map_get(&place, w->v.v[i].span);

		work_add(p, at == U64MAP_NONE ? NO_NODE : node[at], w->v.v[i].span);
	}
	u64map_release(&place);
}

/* ---- the table ---- */

struct path_order {
	const struct paths *p;
	struct strvec tracks; /* names */
};

static const char *track_of(const struct path_order *o, const struct path_work *w)
{
	return w->node == NO_NODE ? model_str(o->p->m, w->device)
				  : o->tracks.v[o->p->nodes.v[w->node].track];
}

/* The innermost first. */
static size_t chain_of(const struct paths *p, uint32_t node, uint32_t chain[MAX_FRAMES])
{
	size_t n = 0;

	for (; node != NO_NODE; node = p->nodes.v[node].parent)
		chain[n++] = node;
	return n;
}

static int cmp_path(const struct paths *p, uint32_t a, uint32_t b)
{
	uint32_t of_a[MAX_FRAMES], of_b[MAX_FRAMES];
	size_t n = chain_of(p, a, of_a), m = chain_of(p, b, of_b);

	while (n && m) {
		int c = strcmp(model_str(p->m, p->nodes.v[of_a[--n]].name),
			       model_str(p->m, p->nodes.v[of_b[--m]].name));

		if (c)
			return c;
	}
	return (n > m) - (n < m);
}

/* By what the rows say: spans are numbered as they are read. */
static int cmp_row(const void *pa, const void *pb, void *ctx)
{
	const struct path_work *a = pa, *b = pb;
	const struct path_order *o = ctx;
	int c;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	c = strcmp(model_str(o->p->m, a->name), model_str(o->p->m, b->name));
	if (!c)
		c = strcmp(track_of(o, a), track_of(o, b));
	if (!c)
		c = cmp_path(o->p, a->node, b->node);
	return c ? c : (a->calls < b->calls) - (a->calls > b->calls);
}

static void path_put(const struct paths *p, uint32_t node, struct strbuf *out)
{
	uint32_t chain[MAX_FRAMES];
	size_t n = chain_of(p, node, chain);

	strbuf_clear(out);
	while (n-- > 0) {
		for (const char *s = model_str(p->m, p->nodes.v[chain[n]].name); *s; s++)
			strbuf_addch(out, *s == ';' ? ':' : *s);
		if (n)
			strbuf_addch(out, ';');
	}
}

static const char *class_of(const struct model *m, uint64_t span)
{
	if (m->spans.kind[span] != SPAN_KERNEL)
		return "copy";
	return kernel_class_by(m->classes, model_str(m, m->spans.name[span]));
}

static void rows_write(struct paths *p, struct table *t)
{
	CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT;
	struct path_order order = { .p = p, .tracks = STRVEC_INIT };
	const struct model *m = p->m;
	size_t bytes = 0;

	track_names(m, &order.tracks);
	if (p->rows.nr)
		qsort_r(p->rows.v, p->rows.nr, sizeof(*p->rows.v), cmp_row, &order);
	for (size_t i = 0; i < p->rows.nr; i++) {
		const struct path_work *w = &p->rows.v[i];
		const char *shown = "[unattributed]";

		if (w->node != NO_NODE && bytes < MAX_PATH_BYTES) {
			path_put(p, w->node, &path);
			bytes += path.len;
			shown = path.buf;
		} else if (w->node != NO_NODE) {
			shown = "[other paths]";
		}
		table_add(t, &(struct kernel_paths_row){
				     track_of(&order, w), shown, model_str(m, w->name),
				     class_of(m, w->first), (int64_t)w->calls, w->ns });
	}
	strvec_release(&order.tracks);
}

static int kernel_paths_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			    struct err *err)
{
	const struct works *w = analysis_works(m, o);
	CLEANUP(paths_release) struct paths p = { .m = m };
	struct table *t = table_make(&kernel_paths_form);

	(void)err;
	if (m->windows.nr)
		placed_works_add(&p, w);
	else
		works_add(&p, w);
	rows_write(&p, t);
	table_set_add(out, t);
	return 0;
}

const struct analysis analysis_kernel_paths = {
	.name = "kernel_paths",
	.about = "device work by the call path that launched it",
	.tables = { &kernel_paths_form },
	.run = kernel_paths_run,
	.needs_work = true,
	.needs_calls = true,
};
