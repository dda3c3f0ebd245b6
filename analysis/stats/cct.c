#include "cct.h"
#include "track_names.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/intern.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

#define DEEPER "[deeper]"

struct builder {
	const struct model *m;
	struct cct *c;
	struct u64map roots, children; /* (track, name) and (parent, name) → node */
	str_id *frame_of_name; /* model string → name in cct.names, STR_NONE: not seen yet */
	str_id deeper;
	uint32_t max_depth;
};

static str_id frame_of(struct builder *b, str_id name)
{
	str_id *f = &b->frame_of_name[name];
	if (*f != STR_NONE)
		return *f;
	CLEANUP(xfreep) char *clean = xstrdup(model_str(b->m, name));
	for (char *p = clean; *p; p++)
		if (*p == ';')
			*p = ':';
	*f = intern_puts(b->c->names, clean);
	return *f;
}

static uint32_t child_of(struct builder *b, track_id track, uint32_t parent, str_id name,
			 bool collapsed)
{
	struct cct *c = b->c;
	bool root = parent == CCT_NONE;
	uint32_t *slot = root ? u64map_at(&b->roots, u64map_pair(track, name))
			      : u64map_at(&b->children, u64map_pair(parent, name));
	if (*slot != U64MAP_NONE)
		return *slot;
	if (c->nr == c->cap) {
		c->cap = vec_grow_cap(c->cap, c->nr + 1);
		c->nodes = xreallocarray(c->nodes, c->cap, sizeof(*c->nodes));
	}
	uint32_t depth = root ? 0 : c->nodes[parent].depth + 1;
	*slot = (uint32_t)c->nr;
	c->nodes[c->nr] = (struct cct_node){ parent, track, name, depth, collapsed };
	return (uint32_t)c->nr++;
}

/* The node of one more call below parent, which may be CCT_NONE. */
static uint32_t child_below(struct builder *b, track_id track, uint32_t parent, str_id name)
{
	struct cct *c = b->c;

	if (parent != CCT_NONE && c->nodes[parent].collapsed)
		return parent;
	if (parent != CCT_NONE && c->nodes[parent].depth >= b->max_depth)
		return child_of(b, track, parent, b->deeper, true);
	return child_of(b, track, parent, frame_of(b, name), false);
}

static void builder_begin(struct builder *b)
{
	size_t names = intern_count(b->m->strings);

	b->c->names = intern_new();
	b->frame_of_name = xreallocarray(NULL, names + 1, sizeof(*b->frame_of_name));
	memset(b->frame_of_name, 0xff, names * sizeof(*b->frame_of_name));
	b->deeper = intern_puts(b->c->names, DEEPER);
}

static void builder_end(struct builder *b)
{
	u64map_release(&b->roots);
	u64map_release(&b->children);
	free(b->frame_of_name);
}

static void add_places(struct builder *b)
{
	const struct model *m = b->m;
	uint32_t *node_of = xreallocarray(NULL, m->places.nr + 1, sizeof(*node_of));

	for (size_t i = 0; i < m->places.nr; i++) {
		const struct launch_place *l = &m->places.v[i];

		node_of[i] = child_below(b, l->track,
					 l->parent == PLACE_NONE ? CCT_NONE : node_of[l->parent],
					 l->name);
	}
	b->c->node_of_place = node_of;
}

static void tree_build(const struct profile *p, uint32_t max_depth, bool places, struct cct *c)
{
	struct builder b = { .m = p->m, .c = c, .max_depth = max_depth };

	builder_begin(&b);
	c->nr_tracks = p->tracks.nr;
	c->node_of_path = xcalloc(p->tracks.nr + 1, sizeof(*c->node_of_path));
	for (size_t i = 0; i < p->tracks.nr; i++) {
		const struct profile_track *t = p->tracks.v[i];
		uint32_t *node_of = xreallocarray(NULL, t->nodes.nr + 1, sizeof(*node_of));

		c->node_of_path[i] = node_of;
		for (size_t k = 0; !t->queue && k < t->nodes.nr; k++) {
			const struct profile_node *n = &t->nodes.v[k];
			uint32_t parent = n->parent == NODE_NONE ? CCT_NONE : node_of[n->parent];

			node_of[k] = child_below(&b, t->track, parent, n->name);
			if (c->nodes[node_of[k]].collapsed)
				c->cut_spans += n->calls;
		}
	}
	if (places)
		add_places(&b);
	builder_end(&b);
}

/* The deepest level down to which the text of all paths stays within max_bytes; UINT32_MAX when
 * all of it does. */
static uint32_t affordable_depth(const struct cct *c, uint64_t max_bytes)
{
	uint32_t levels = 0;
	for (size_t n = 0; n < c->nr; n++)
		if (c->nodes[n].depth >= levels)
			levels = c->nodes[n].depth + 1;
	CLEANUP(xfreep) uint64_t *len = xcalloc(c->nr + 1, sizeof(*len));
	CLEANUP(xfreep) uint64_t *at = xcalloc((size_t)levels + 1, sizeof(*at));
	for (size_t n = 0; n < c->nr; n++) {
		const struct cct_node *node = &c->nodes[n];
		len[n] = intern_len(c->names, node->name) + 1;
		if (node->parent != CCT_NONE)
			len[n] += len[node->parent];
		at[node->depth] += len[n];
	}
	uint64_t sum = 0;
	for (uint32_t d = 0; d < levels; d++) {
		sum += at[d];
		if (sum > max_bytes)
			return d ? d - 1 : 0;
	}
	return UINT32_MAX;
}

void cct_build_limited(const struct profile *p, uint32_t max_depth, uint64_t max_path_bytes,
		       bool places, struct cct *ret)
{
	struct cct c = CCT_INIT;
	uint32_t affordable;

	tree_build(p, max_depth, places, &c);
	affordable = affordable_depth(&c, max_path_bytes);
	if (affordable < max_depth) {
		cct_release(&c);
		tree_build(p, affordable, places, &c);
	}
	*ret = c;
}

void cct_build(const struct profile *p, bool places, struct cct *ret)
{
	cct_build_limited(p, CCT_MAX_DEPTH, CCT_MAX_PATH_BYTES, places, ret);
}

void cct_release(struct cct *c)
{
	for (size_t i = 0; i < c->nr_tracks; i++)
		free(c->node_of_path[i]);
	free(c->node_of_path);
	free(c->nodes);
	free(c->node_of_place);
	intern_free(c->names);
	*c = (struct cct)CCT_INIT;
}

void cct_path(const struct cct *c, uint32_t node, struct strbuf *out)
{
	size_t len = 0;
	for (uint32_t n = node; n != CCT_NONE; n = c->nodes[n].parent)
		len += intern_len(c->names, c->nodes[n].name) + 1;
	strbuf_clear(out);
	strbuf_reserve(out, len);
	CLEANUP(xfreep)
	uint32_t *chain = xreallocarray(NULL, (size_t)c->nodes[node].depth + 1, sizeof(*chain));
	size_t k = 0;
	for (uint32_t n = node; n != CCT_NONE; n = c->nodes[n].parent)
		chain[k++] = n;
	while (k-- > 0) {
		strbuf_addstr(out, intern_str(c->names, c->nodes[chain[k]].name));
		if (k)
			strbuf_addch(out, ';');
	}
}

struct order_ctx {
	const struct cct *c;
	const double *weight;
	uint32_t first;        /* the node of the first weight */
	const uint32_t *place; /* of a track; NULL: the nodes are of one */
};

static int cmp_sibling(const void *pa, const void *pb, void *ctx)
{
	const struct order_ctx *o = ctx;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const struct cct_node *na = &o->c->nodes[a], *nb = &o->c->nodes[b];
	uint32_t ta = o->place ? o->place[na->track] : 0, tb = o->place ? o->place[nb->track] : 0;
	double wa = o->weight[a - o->first], wb = o->weight[b - o->first];

	if (ta != tb)
		return ta < tb ? -1 : 1;
	/* parents, so that the children of one node are adjacent; CCT_NONE, the roots, last */
	if (na->parent != nb->parent)
		return na->parent < nb->parent ? -1 : 1;
	if (wa != wb)
		return wa > wb ? -1 : 1;
	return strcmp(intern_str(o->c->names, na->name), intern_str(o->c->names, nb->name));
}

/* The nodes [o->first, o->first + nr), with whose parents they come. */
static void order_make(struct order_ctx *o, uint32_t nr, uint32_t *order)
{
	const struct cct_node *nodes = o->c->nodes;
	uint32_t base = o->first;
	CLEANUP(xfreep) uint32_t *sorted = xreallocarray(NULL, (size_t)nr + 1, sizeof(*sorted));
	CLEANUP(xfreep) uint32_t *first = xcalloc((size_t)nr + 1, sizeof(*first));
	CLEANUP(xfreep) uint32_t *count = xcalloc((size_t)nr + 1, sizeof(*count));
	CLEANUP(xfreep) uint32_t *stack = xreallocarray(NULL, (size_t)nr + 1, sizeof(*stack));
	size_t top = 0, done = 0;

	for (uint32_t n = 0; n < nr; n++)
		sorted[n] = base + n;
	qsort_r(sorted, nr, sizeof(*sorted), cmp_sibling, o);
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t parent = nodes[sorted[i]].parent;

		if (parent != CCT_NONE && count[parent - base]++ == 0)
			first[parent - base] = i;
	}
	/* A stack of nodes still to be written: a family is pushed backwards, so its heaviest
	 * member comes off first. */
	for (size_t i = nr; i-- > 0;)
		if (nodes[sorted[i]].parent == CCT_NONE)
			stack[top++] = sorted[i];
	while (top) {
		uint32_t n = stack[--top];

		order[done++] = n;
		for (uint32_t k = count[n - base]; k-- > 0;)
			stack[top++] = sorted[first[n - base] + k];
	}
}

uint32_t *cct_preorder(const struct cct *c, const struct model *m, const double *weight)
{
	CLEANUP(xfreep) track_id *tracks = track_order(m);
	CLEANUP(xfreep) uint32_t *place = xcalloc(m->tracks.nr + 1, sizeof(*place));
	struct order_ctx o = { .c = c, .weight = weight, .place = place };
	uint32_t *order = xreallocarray(NULL, c->nr + 1, sizeof(*order));

	for (uint32_t i = 0; i < m->tracks.nr; i++)
		place[tracks[i]] = i;
	order_make(&o, (uint32_t)c->nr, order);
	return order;
}

uint32_t *cct_preorder_of_track(const struct cct *c, uint32_t first, uint32_t nr,
				const double *weight)
{
	struct order_ctx o = { .c = c, .weight = weight, .first = first };
	uint32_t *order = xreallocarray(NULL, (size_t)nr + 1, sizeof(*order));

	order_make(&o, nr, order);
	return order;
}
