/* Call paths of one track: nodes in the order they were met, found by open addressing. */
#include "profile_private.h"

#include <string.h>

#include "profrig/base/xalloc.h"

#define SLOTS_MIN ((size_t)64)

static void slots_grow(struct lane *l)
{
	size_t n = l->nr_slots ? l->nr_slots * 2 : SLOTS_MIN;

	free(l->slots);
	l->slots = xreallocarray(NULL, n, sizeof(*l->slots));
	l->nr_slots = n;
	memset(l->slots, 0xff, n * sizeof(*l->slots));
	for (uint32_t i = 0; i < l->t.nodes.nr; i++) {
		const struct profile_node *node = &l->t.nodes.v[i];
		size_t at = tree_hash(node->parent, node->name, node->category);

		while (l->slots[at & (n - 1)] != NODE_NONE)
			at++;
		l->slots[at & (n - 1)] = i;
	}
}

void tree_init(struct lane *l)
{
	slots_grow(l);
}

/* The only thing of a tree that all lanes share. */
uint32_t calls_of(struct profile *p, uint32_t device, bool kernel, str_id name, str_id category)
{
	struct profile_priv *priv = p->priv;
	uint32_t who = device != LANE_NONE ? 1 + 2 * device + kernel : 0, symbol, id;
	uint32_t *at;

	pthread_mutex_lock(&priv->lock);
	at = u64map_at(&priv->symbols, u64map_pair(name, category));
	if (*at == U64MAP_NONE)
		*at = (uint32_t)priv->symbols.nr;
	symbol = *at;
	at = u64map_at(&priv->call_ids, u64map_pair(who, symbol));
	if (*at == U64MAP_NONE) {
		*at = (uint32_t)p->calls.nr;
		VEC_PUSH(&p->calls, ((struct profile_calls){ .device = device,
							     .kernel = kernel,
							     .name = name,
							     .category = category }));
	}
	id = *at;
	pthread_mutex_unlock(&priv->lock);
	return id;
}

static uint32_t row_of(struct lane *l, str_id name)
{
	uint32_t *row = u64map_at(&l->row_ids, name);

	if (*row == U64MAP_NONE)
		*row = l->t.rows++;
	return *row;
}

static uint32_t node_add(struct lane *l, uint32_t parent, str_id name, str_id category,
			 enum span_kind kind)
{
	uint32_t depth = parent == NODE_NONE ? 0 : l->t.nodes.v[parent].depth + 1;
	uint32_t device = l->t.queue ? l->t.device : LANE_NONE;

	VEC_PUSH(&l->t.nodes,
		 ((struct profile_node){ .parent = parent,
					 .depth = depth,
					 .name = name,
					 .category = category,
					 .kind = kind,
					 .calls_id = calls_of(l->p, device, kind == SPAN_KERNEL,
							      name, category) }));
	VEC_PUSH(&l->t.row_of, row_of(l, name));
	return (uint32_t)(l->t.nodes.nr - 1);
}

uint32_t tree_child_search(struct lane *l, uint32_t parent, str_id name, str_id category,
			   enum span_kind kind)
{
	size_t at = tree_hash(parent, name, category);
	uint32_t node;

	while ((node = l->slots[at & (l->nr_slots - 1)]) != NODE_NONE) {
		if (tree_is_it(&l->t.nodes.v[node], parent, name, category, kind))
			return node;
		at++;
	}
	node = node_add(l, parent, name, category, kind);
	l->slots[at & (l->nr_slots - 1)] = node;
	/* at most a quarter full, so that the first place is nearly always the right one */
	if (l->t.nodes.nr * 4 > l->nr_slots)
		slots_grow(l);
	return node;
}

uint32_t tree_twin(struct lane *l, uint32_t node)
{
	const struct profile_node n = l->t.nodes.v[node];
	uint32_t twin = node_add(l, n.parent, n.name, n.category, n.kind);

	/* the slots get all nodes when they grow: the first of a name comes first */
	if (l->t.nodes.nr * 4 > l->nr_slots)
		slots_grow(l);
	return twin;
}

void tree_release(struct lane *l)
{
	free(STEAL(l->slots));
	l->nr_slots = 0;
	VEC_RELEASE(&l->t.nodes);
	VEC_RELEASE(&l->t.row_of);
	VEC_RELEASE(&l->t.shape_of);
	VEC_RELEASE(&l->t.durations);
	VEC_RELEASE(&l->t.unions);
	VEC_RELEASE(&l->t.longest);
	u64map_release(&l->row_ids);
}

void tree_sum(struct profile_track *t)
{
	for (size_t i = 0; i < t->nodes.nr; i++)
		t->nodes.v[i].inclusive_ns = t->nodes.v[i].exclusive_ns;
	for (size_t i = t->nodes.nr; i-- > 0;) {
		const struct profile_node *n = &t->nodes.v[i];

		if (n->parent != NODE_NONE)
			t->nodes.v[n->parent].inclusive_ns =
				ns_sum(t->nodes.v[n->parent].inclusive_ns, n->inclusive_ns);
	}
}

void tree_mark_recursion(struct profile_track *t, size_t calls)
{
	uint32_t nr = (uint32_t)t->nodes.nr;
	CLEANUP(xfreep) uint32_t *parent = xcalloc(nr + 1, sizeof(*parent));
	CLEANUP(xfreep) uint32_t *of_calls = xcalloc(nr + 1, sizeof(*of_calls));
	CLEANUP(xfreep) uint8_t *is = NULL;

	for (uint32_t i = 0; i < nr; i++) {
		parent[i] = t->nodes.v[i].parent;
		of_calls[i] = t->nodes.v[i].calls_id;
	}
	is = nodes_outermost(parent, of_calls, nr, calls);
	for (uint32_t i = 0; i < nr; i++)
		t->nodes.v[i].recursive = !is[i];
}

static void worker_calls_grow(struct worker *w, uint32_t calls_id)
{
	while (w->calls.nr <= calls_id)
		VEC_PUSH(&w->calls, ((struct worker_calls){ MOMENTS_INIT, SKETCH_INIT }));
}

void worker_count(struct worker *w)
{
	for (uint32_t i = 0; i < w->nr_batch; i++) {
		const struct worker_duration *d = &w->batch[i];
		const struct sketch *s;
		uint32_t bucket;

		if (d->calls_id >= w->calls.nr)
			worker_calls_grow(w, d->calls_id);
		s = &w->calls.v[d->calls_id].sketch;
		bucket = sketch_bucket((uint64_t)d->ns) - s->first;
		if (bucket < s->nr)
			__builtin_prefetch(&s->counts[bucket], 1);
	}
	for (uint32_t i = 0; i < w->nr_batch; i++) {
		const struct worker_duration *d = &w->batch[i];
		struct worker_calls *c = &w->calls.v[d->calls_id];

		moments_add(&c->ns, d->ns);
		sketch_add(&c->sketch, (uint64_t)d->ns);
	}
	w->nr_batch = 0;
}
