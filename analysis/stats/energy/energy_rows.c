#include "energy_rows.h"
#include "ns.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

_Static_assert(CCT_NONE == NODE_NONE, "one word for no parent");

static int64_t duration_of(const struct profile_track *t, size_t node)
{
	if (t->queue)
		return t->nodes.v[node].exclusive_ns;
	if (t->unions.nr)
		return node < t->durations.nr ? t->durations.v[node] : 0;
	return t->nodes.v[node].inclusive_ns;
}

static void count_path(struct energy_group *g, const struct profile_track *t, size_t node)
{
	const struct profile_node *n = &t->nodes.v[node];

	g->calls += n->calls;
	g->duration_ns += (double)duration_of(t, node);
	g->exclusive_ns += (double)n->exclusive_ns;
}

/* Rows of a lane are functions, in the order of their first use. */
static void rows_add(struct energy_groups *g, const struct profile_track *t,
		     const uint32_t *node_of_path)
{
	uint32_t first = (uint32_t)g->groups.nr;

	for (uint32_t r = 0; r < t->rows; r++)
		VEC_PUSH(&g->groups, (struct energy_group){ .track = t->track });
	for (size_t i = 0; i < t->nodes.nr; i++) {
		const struct profile_node *n = &t->nodes.v[i];
		struct energy_group *group = &g->groups.v[first + t->row_of.v[i]];
		uint32_t path = t->queue ? CCT_NONE : node_of_path[i];

		group->name = n->name;
		count_path(group, t, i);
		if (path != CCT_NONE)
			count_path(&g->of_path[path], t, i);
		VEC_PUSH(&g->nodes, (struct lane_node){ .path = path,
							.group = first + t->row_of.v[i],
							.parent = n->parent });
	}
}

static void find_outermost(const struct profile_track *t, struct lane_node *nodes)
{
	uint32_t nr = (uint32_t)t->nodes.nr;
	CLEANUP(xfreep) uint32_t *parent = xcalloc(nr + 1, sizeof(*parent));
	CLEANUP(xfreep) uint8_t *is = NULL;

	for (uint32_t i = 0; i < nr; i++)
		parent[i] = nodes[i].parent;
	is = nodes_outermost(parent, t->row_of.v, nr, t->rows);
	for (uint32_t i = 0; i < nr; i++)
		nodes[i].outermost = is[i];
}

/* Paths of a track are adjacent. */
static void paths_find(const struct profile_track *t, const uint32_t *node_of_path,
		       struct lane_place *place)
{
	uint32_t first = UINT32_MAX, last = 0;

	for (size_t i = 0; !t->queue && i < t->nodes.nr; i++) {
		first = node_of_path[i] < first ? node_of_path[i] : first;
		last = node_of_path[i] > last ? node_of_path[i] : last;
	}
	if (first == UINT32_MAX)
		return;
	place->first_path = first;
	place->paths = last - first + 1;
}

/* A lane that covers another is the one behind it. */
static void lane_add(struct energy_groups *g, const struct lane_def *def,
		     const struct profile_track *t, const uint32_t *node_of_path)
{
	struct lane_place place = { .first_node = g->nodes.nr,
				    .first_row = g->groups.nr,
				    .nodes = (uint32_t)t->nodes.nr,
				    .rows = t->rows,
				    .of = t,
				    .mode = def->mode,
				    .cover = SIZE_MAX };

	if (def->mode == LANE_COVER) {
		g->places.v[g->places.nr - 1].cover = g->places.nr;
	} else {
		rows_add(g, t, node_of_path);
		paths_find(t, node_of_path, &place);
		find_outermost(t, &g->nodes.v[place.first_node]);
	}
	VEC_PUSH(&g->places, place);
}

static int name_cmp(const void *a, const void *b, void *m)
{
	return strcmp(model_str(m, *(const str_id *)a), model_str(m, *(const str_id *)b));
}

/* A class for each name, in the order of names: the order of tracks must not matter. */
static void classes_number(struct energy_groups *g, const struct model *m)
{
	CLEANUP(xfreep) str_id *names = xcalloc(g->groups.nr + 1, sizeof(*names));
	CLEANUP(xfreep) uint32_t *of_name = NULL;
	size_t most = 0;

	for (size_t i = 0; i < g->groups.nr; i++) {
		names[i] = g->groups.v[i].name;
		most = names[i] > most ? names[i] : most;
	}
	qsort_r(names, g->groups.nr, sizeof(*names), name_cmp, (void *)m);
	of_name = xcalloc(most + 1, sizeof(*of_name));
	for (size_t i = 0; i < g->groups.nr; i++) {
		g->classes += i == 0 || names[i] != names[i - 1];
		of_name[names[i]] = g->classes - 1;
	}
	for (size_t i = 0; i < g->groups.nr; i++)
		g->groups.v[i].class_id = of_name[g->groups.v[i].name];
}

static void classes_make(struct energy_groups *g, const struct profile *p)
{
	classes_number(g, p->m);
	g->class_of_node = xcalloc(g->nodes.nr + 1, sizeof(*g->class_of_node));
	g->class_of = xcalloc(g->places.nr + 1, sizeof(*g->class_of));
	g->leaf_of = xcalloc(g->places.nr + 1, sizeof(*g->leaf_of));
	for (size_t i = 0; i < g->nodes.nr; i++)
		g->class_of_node[i] = g->groups.v[g->nodes.v[i].group].class_id;
	energy_leaves_make(g, p);
	for (size_t i = 0; i < g->places.nr; i++) {
		const struct lane_place *place = &g->places.v[i];

		if (place->mode == LANE_COVER || place->nodes == 0)
			continue;
		g->class_of[i] = &g->class_of_node[place->first_node];
		g->leaf_of[i] = &g->leaf_of_node[place->first_node];
	}
}

/* ---- single calls ---- */

static void calls_take(struct energy_groups *g, size_t lane, const struct profile_track *t)
{
	for (size_t i = 0; i < t->longest.nr; i++) {
		const struct profile_call *c = &t->longest.v[i];

		VEC_PUSH(&g->calls, ((struct energy_call){ .lane = lane,
							   .node = c->node,
							   .piece_node = c->piece_node,
							   .start_ns = c->start_ns,
							   .end_ns = c->end_ns }));
	}
}

static void parents_make(struct energy_groups *g)
{
	g->parent_of_node = xcalloc(g->nodes.nr + 1, sizeof(*g->parent_of_node));
	g->parent_of = xcalloc(g->places.nr + 1, sizeof(*g->parent_of));
	g->nodes_of = xcalloc(g->places.nr + 1, sizeof(*g->nodes_of));
	for (size_t i = 0; i < g->nodes.nr; i++)
		g->parent_of_node[i] = g->nodes.v[i].parent;
	for (size_t i = 0; i < g->places.nr; i++) {
		g->parent_of[i] = &g->parent_of_node[g->places.v[i].first_node];
		g->nodes_of[i] = g->places.v[i].nodes;
	}
}

void energy_groups_make(const struct profile *p, const struct lane_def *lanes, size_t nr,
			struct energy_groups *ret)
{
	CLEANUP(xfreep) size_t *at = xcalloc(p->m->tracks.nr + 1, sizeof(*at));

	*ret = (struct energy_groups){ .cct = CCT_INIT };
	cct_build(p, false, &ret->cct);
	ret->of_path = xcalloc(ret->cct.nr + 1, sizeof(*ret->of_path));
	for (size_t i = 0; i < p->tracks.nr; i++)
		at[p->tracks.v[i]->track] = i;
	for (size_t i = 0; i < nr; i++) {
		const struct profile_track *t = p->tracks.v[at[lanes[i].track]];

		lane_add(ret, &lanes[i], t, ret->cct.node_of_path[at[lanes[i].track]]);
		if (lanes[i].mode != LANE_COVER)
			calls_take(ret, i, t);
	}
	classes_make(ret, p);
	parents_make(ret);
	ret->rows = xcalloc(ret->groups.nr + 1, sizeof(*ret->rows));
	ret->paths = xcalloc(ret->cct.nr + 1, sizeof(*ret->paths));
}

void energy_groups_release(struct energy_groups *g)
{
	VEC_RELEASE(&g->groups);
	VEC_RELEASE(&g->places);
	VEC_RELEASE(&g->nodes);
	VEC_RELEASE(&g->taken);
	free(g->class_of_node);
	free(g->class_of);
	free(g->leaf_of_node);
	free(g->class_of_leaf);
	free(g->leaf_of);
	free(g->parent_of_node);
	free(g->parent_of);
	free(g->nodes_of);
	VEC_RELEASE(&g->calls);
	free(g->of_path);
	free(g->rows);
	free(g->paths);
	cct_release(&g->cct);
}

/* ---- collecting ---- */

static void value_add(struct energy_value *v, const struct node_energy *e, double power_j)
{
	sum_add(&v->power_j, power_j);
	v->taken = true;
	v->own_marks |= e->marks;
	v->marks |= e->marks;
	v->exclusive_ns = ns_add(v->exclusive_ns, e->exclusive_ns);
	sum_add(&v->exclusive_j, e->exclusive_j);
	sum_add(&v->share_ns, e->share_ns);
}

static void row_uncertainty(struct energy_groups *g, const struct energy_run *run, size_t job,
			    size_t lane, uint32_t row)
{
	size_t group = g->places.v[lane].first_row + row;
	struct energy_value *v = &g->rows[group];

	v->uncertainty_j = energy_run_uncertainty(run, job, lane, row);
	v->power_uncertainty_j =
		energy_run_power_half_width(run, job, g->groups.v[group].class_id,
					    sum_value(&v->power_j), sum_value(&v->power_doubt_j));
}

static void collect_nodes(struct energy_groups *g, const struct energy_run *run, size_t job,
			  size_t lane)
{
	const struct lane_place *p = &g->places.v[lane];

	for (uint32_t i = 0; i < p->nodes; i++) {
		const struct lane_node *n = &g->nodes.v[p->first_node + i];
		struct node_energy e = energy_run_value(run, job, lane, i);
		double power_j = energy_run_power_j(run, job, lane, i);

		value_add(&g->rows[n->group], &e, power_j);
		sum_add(&g->rows[n->group].power_doubt_j,
			energy_run_power_doubt_j(run, job, lane, i));
		if (n->path != CCT_NONE)
			value_add(&g->paths[n->path], &e, power_j);
		else
			sum_add(&g->rows[n->group].inclusive_j, e.exclusive_j);
	}
	for (uint32_t i = 0; i < p->rows; i++)
		row_uncertainty(g, run, job, lane, i);
}

/* A path's inclusive is what its subtree holds, also where calls overlap; parents come before
 * children. */
static void sum_subtrees(struct energy_groups *g, const struct lane_place *p)
{
	for (size_t n = p->first_path + p->paths; n-- > p->first_path;) {
		struct energy_value *v = &g->paths[n];
		uint32_t up = g->cct.nodes[n].parent;

		sum_add(&v->inclusive_j, sum_value(&v->exclusive_j));
		sum_add(&v->power_inclusive_j, sum_value(&v->power_j));
		if (up == CCT_NONE)
			continue;
		sum_add(&g->paths[up].power_inclusive_j, sum_value(&v->power_inclusive_j));
		sum_add(&g->paths[up].inclusive_j, sum_value(&v->inclusive_j));
		g->paths[up].marks |= v->marks;
	}
}

/* A function's inclusive, recursion counted once: from the outermost nodes of a lane's tree, whose
 * parents come before children, or from the lane that covers it. */
static void collect_inclusive(struct energy_groups *g, const struct energy_run *run, size_t job,
			      size_t lane)
{
	const struct lane_place *p = &g->places.v[lane];
	const struct lane_node *nodes = &g->nodes.v[p->first_node];
	CLEANUP(xfreep) struct sum *sums = xcalloc(p->nodes + 1, sizeof(*sums));
	CLEANUP(xfreep) uint8_t *marks = xcalloc(p->nodes + 1, 1);

	for (uint32_t i = p->nodes; i-- > 0;) {
		const struct lane_node *n = &nodes[i];
		struct node_energy e = energy_run_value(run, job, lane, i);

		sum_add(&sums[i], e.exclusive_j);
		marks[i] |= e.marks;
		g->rows[n->group].marks |= marks[i];
		if (n->outermost && p->cover == SIZE_MAX)
			sum_add(&g->rows[n->group].inclusive_j, sum_value(&sums[i]));
		if (n->parent == NODE_NONE)
			continue;
		sum_add(&sums[n->parent], sum_value(&sums[i]));
		marks[n->parent] |= marks[i];
	}
	for (uint32_t i = 0; p->cover != SIZE_MAX && i < p->rows; i++) {
		struct node_energy e = energy_run_value(run, job, p->cover, i);
		struct energy_value *row = &g->rows[p->first_row + i];

		sum_add(&row->inclusive_j, e.exclusive_j);
		row->marks |= e.marks;
	}
}

/* Zeros where the job before has values. */
static void values_clear(struct energy_groups *g)
{
	for (size_t i = 0; i < g->taken.nr; i++) {
		const struct lane_place *p = &g->places.v[g->taken.v[i]];

		memset(&g->rows[p->first_row], 0, p->rows * sizeof(*g->rows));
		memset(&g->paths[p->first_path], 0, p->paths * sizeof(*g->paths));
	}
	VEC_CLEAR(&g->taken);
}

static void collect_lane(struct energy_groups *g, const struct energy_run *run, size_t job,
			 size_t lane)
{
	const struct lane_place *p = &g->places.v[lane];

	for (size_t i = p->first_row; i < p->first_row + p->rows; i++)
		g->rows[i].uncertainty_j = g->rows[i].power_uncertainty_j = NAN;
	collect_nodes(g, run, job, lane);
	if (p->mode != LANE_CALLS)
		return;
	sum_subtrees(g, p);
	collect_inclusive(g, run, job, lane);
}

void energy_collect(struct energy_groups *g, const struct energy_run *run, size_t job)
{
	values_clear(g);
	for (size_t i = 0; i < energy_run_lanes(run, job); i++) {
		size_t lane = energy_run_lane(run, job, i);

		if (g->places.v[lane].mode == LANE_COVER)
			continue;
		VEC_PUSH(&g->taken, lane);
		collect_lane(g, run, job, lane);
	}
}
