/*
 * Kernels of one name by their launch. The node that the tree has for a name is that of the first
 * launch met; others get nodes beside it. Shapes are numbered by first use on the track, 0 is an
 * unknown one.
 */
#include "profile_private.h"

#include "profrig/scan/launch_shape.h"

#define NUMBER_OTHER (UINT32_MAX - 1)

static uint32_t number_new(struct kernel_shapes *shapes, uint64_t hash)
{
	uint32_t *at = u64map_at(&shapes->number_of_hash, hash);

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)shapes->hashes.nr;
		VEC_PUSH(&shapes->hashes, hash);
	}
	return *at;
}

static uint32_t number_of(struct lane *l, struct kernel_shapes *shapes, str_id args)
{
	const struct intern *texts = l->p->m->strings;
	struct launch_shape shape;
	uint32_t *at, number;

	if (shapes->hashes.nr == 0)
		number_new(shapes, 0);
	if (args == STR_NONE)
		return 0;
	at = u64map_at(&shapes->number_of_args, args);
	if (*at != U64MAP_NONE)
		return *at;
	launch_shape_of(intern_str(texts, args), intern_len(texts, args), &shape);
	number = number_new(shapes, launch_shape_hash(&shape));
	*at = number;
	return number;
}

/* Of nodes that were made meanwhile. */
static void shapes_extend(struct lane *l, struct kernel_shapes *shapes)
{
	while (l->t.shape_of.nr < l->t.nodes.nr)
		VEC_PUSH(&l->t.shape_of, 0);
	while (shapes->nr_of.nr < l->t.nodes.nr)
		VEC_PUSH(&shapes->nr_of, 1);
}

static uint32_t twin_of(struct lane *l, struct kernel_shapes *shapes, uint32_t node,
			uint32_t number, uint64_t hash)
{
	uint64_t key = u64map_pair(node, number);
	uint32_t twin = u64map_get(&shapes->node_of, key);

	if (twin != U64MAP_NONE)
		return twin;
	if (number != NUMBER_OTHER && shapes->nr_of.v[node] == SHAPES_MAX)
		return twin_of(l, shapes, node, NUMBER_OTHER, SHAPE_OTHER);
	shapes->nr_of.v[node] += number != NUMBER_OTHER;
	twin = tree_twin(l, node);
	shapes_extend(l, shapes);
	l->t.shape_of.v[twin] = hash;
	*u64map_at(&shapes->node_of, key) = twin;
	return twin;
}

uint32_t kernel_node(struct lane *l, struct kernel_shapes *shapes, uint32_t node, str_id args)
{
	bool is_new = l->t.nodes.v[node].calls == 0;
	uint32_t number;
	uint64_t hash;

	if (args == STR_NONE && l->t.shape_of.nr == 0)
		return node;
	number = number_of(l, shapes, args);
	hash = shapes->hashes.v[number];
	shapes_extend(l, shapes);
	if (is_new)
		l->t.shape_of.v[node] = hash;
	return l->t.shape_of.v[node] == hash ? node : twin_of(l, shapes, node, number, hash);
}

void kernel_shapes_release(struct kernel_shapes *shapes)
{
	u64map_release(&shapes->number_of_args);
	u64map_release(&shapes->number_of_hash);
	u64map_release(&shapes->node_of);
	VEC_RELEASE(&shapes->hashes);
	VEC_RELEASE(&shapes->nr_of);
}
