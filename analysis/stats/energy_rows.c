#include "energy_rows.h"
#include "ns.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

/* While groups and lanes are being found. */
struct finder {
	const struct model *m;
	struct energy_groups *g;
	struct u64map group_ids, node_ids;
	VEC(uint32_t) row_of_node;  /* by node of all lanes */
	VEC(uint32_t) row_of_group; /* inside its lane */
};

/* ---- groups ---- */

static uint32_t group_at(struct finder *f, size_t span)
{
	const struct span_columns *sp = &f->m->spans;
	uint32_t *id = u64map_at(&f->group_ids, u64map_pair(sp->track[span], sp->name[span]));

	if (*id == U64MAP_NONE) {
		*id = (uint32_t)f->g->groups.nr;
		VEC_PUSH(&f->g->groups,
			 (struct energy_group){ .track = sp->track[span], .name = sp->name[span] });
		VEC_PUSH(&f->row_of_group, GROUP_NONE);
	}
	return *id;
}

static void count_call(struct energy_group *g, const struct model *m, size_t i)
{
	g->calls++;
	g->duration_ns += (double)span_ns(m, i);
	g->exclusive_ns += (double)m->spans.exclusive_ns[i];
}

/* ---- nodes of one lane ---- */

static uint32_t row_at(struct finder *f, const struct lane_place *place, uint32_t group)
{
	uint32_t *row = &f->row_of_group.v[group];

	if (*row == GROUP_NONE) {
		*row = (uint32_t)(f->g->group_of_row.nr - place->first_row);
		VEC_PUSH(&f->g->group_of_row, group);
	}
	return *row;
}

static uint32_t node_at(struct finder *f, const struct lane_place *place, uint32_t path,
			uint32_t group)
{
	uint32_t *id = u64map_at(&f->node_ids, u64map_pair(path, group));

	if (*id == U64MAP_NONE) {
		*id = (uint32_t)(f->g->nodes.nr - place->first_node);
		VEC_PUSH(&f->g->nodes, (struct lane_node){ .path = path, .group = group });
		VEC_PUSH(&f->row_of_node, row_at(f, place, group));
	}
	return *id;
}

static void find_nodes(struct finder *f, track_id t, bool work, const struct lane_place *place)
{
	struct energy_groups *g = f->g;
	const struct model *m = f->m;
	size_t first = m->tracks.v[t].first_span, end = first + m->tracks.v[t].spans;
	size_t piece = m->pieces.nr ? model_first_piece(m, first) : 0;

	for (size_t i = first; i < end; i++) {
		uint32_t path = work ? CCT_NONE : g->cct.node_of_span[i], group;

		if (work ? !span_is_work(m, i) : path == CCT_NONE)
			continue;
		group = group_at(f, i);
		count_call(&g->groups.v[group], m, i);
		if (!work)
			count_call(&g->of_path[path], m, i);
		g->node_of_span[i] = node_at(f, place, path, group);
		g->row_of_span[i] = f->row_of_group.v[group];
		for (; piece < m->pieces.nr && m->pieces.v[piece].span == i; piece++)
			g->node_of_piece[piece] =
				node_at(f, place, g->cct.node_of_piece[piece], group);
	}
}

/* ---- lanes ---- */

static size_t lane_put(struct energy_groups *g, const struct model_lane *lane,
		       const struct lane_place *place)
{
	VEC_PUSH(&g->lanes, *lane);
	VEC_PUSH(&g->defs, lane->def);
	VEC_PUSH(&g->places, *place);
	return g->lanes.nr - 1;
}

static bool has_pieces(const struct model *m, track_id t)
{
	const struct track *tr = &m->tracks.v[t];
	size_t i = m->pieces.nr ? model_first_piece(m, tr->first_span) : 0;

	return i < m->pieces.nr && m->pieces.v[i].span < tr->first_span + tr->spans;
}

/* Functions whose names differ only in characters that a path replaces share their paths. */
static bool share_paths(const struct energy_groups *g, const struct lane_place *place)
{
	CLEANUP(u64map_release) struct u64map paths = U64MAP_INIT;

	for (size_t i = place->first_node; i < g->nodes.nr; i++) {
		uint32_t *seen = u64map_at(&paths, g->nodes.v[i].path);

		if (*seen != U64MAP_NONE)
			return true;
		*seen = 0;
	}
	return false;
}

static void lane_of(struct finder *f, track_id t, bool work)
{
	struct energy_groups *g = f->g;
	struct lane_place place = { g->nodes.nr, g->group_of_row.nr, SIZE_MAX };
	struct model_lane lane = { .def = { t, work ? LANE_WORK : LANE_CALLS },
				   .node_of_span = g->node_of_span,
				   .node_of_piece = work ? NULL : g->node_of_piece };

	find_nodes(f, t, work, &place);
	lane.nodes = (uint32_t)(g->nodes.nr - place.first_node);
	lane.rows = (uint32_t)(g->group_of_row.nr - place.first_row);
	if (lane.nodes == 0)
		return;
	if (!work && (has_pieces(f->m, t) || share_paths(g, &place))) {
		struct model_lane cover = { .def = { t, LANE_COVER },
					    .node_of_span = g->row_of_span,
					    .nodes = lane.rows,
					    .rows = lane.rows };

		place.cover = g->lanes.nr + 1;
		lane_put(g, &lane, &place);
		lane_put(g, &cover, &place);
	} else {
		lane_put(g, &lane, &place);
	}
}

/* The rows that the nodes add to are complete only now. */
static void lend_rows(struct finder *f)
{
	struct energy_groups *g = f->g;

	g->row_of_node = f->row_of_node.v;
	for (size_t i = 0; i < g->lanes.nr; i++) {
		if (g->lanes.v[i].def.mode != LANE_COVER)
			g->lanes.v[i].row_of = g->row_of_node + g->places.v[i].first_node;
	}
}

_Static_assert(CCT_NONE == NODE_NONE, "one word for no parent");

static void find_outermost(struct energy_groups *g)
{
	const struct cct *c = &g->cct;
	CLEANUP(xfreep) uint32_t *parent = xcalloc(c->nr + 1, sizeof(*parent));
	CLEANUP(xfreep) uint32_t *name = xcalloc(c->nr + 1, sizeof(*name));
	CLEANUP(xfreep) uint8_t *is = NULL;

	for (size_t i = 0; i < c->nr; i++) {
		parent[i] = c->nodes[i].parent;
		name[i] = c->nodes[i].name;
	}
	is = nodes_outermost(parent, name, (uint32_t)c->nr, c->nr ? intern_count(c->names) : 0);
	for (size_t i = 0; i < g->nodes.nr; i++) {
		struct lane_node *n = &g->nodes.v[i];

		n->outermost = n->path == CCT_NONE || is[n->path];
	}
}

void energy_groups_make(const struct model *m, struct energy_groups *ret)
{
	struct finder f = { .m = m, .g = ret, .group_ids = U64MAP_INIT, .node_ids = U64MAP_INIT };
	size_t spans = m->spans.nr + 1;

	*ret = (struct energy_groups){ .cct = CCT_INIT };
	cct_build(m, &ret->cct);
	ret->of_path = xcalloc(ret->cct.nr + 1, sizeof(*ret->of_path));
	ret->node_of_span = xreallocarray(NULL, spans, sizeof(*ret->node_of_span));
	ret->row_of_span = xreallocarray(NULL, spans, sizeof(*ret->row_of_span));
	memset(ret->node_of_span, 0xff, spans * sizeof(*ret->node_of_span));
	memset(ret->row_of_span, 0xff, spans * sizeof(*ret->row_of_span));
	ret->node_of_piece = xcalloc(m->pieces.nr + 1, sizeof(*ret->node_of_piece));
	for (track_id t = 0; t < m->tracks.nr; t++) {
		bool work = m->tracks.v[t].kind == TRACK_QUEUE;

		if (work || cct_host_track(m, t))
			lane_of(&f, t, work);
	}
	lend_rows(&f);
	find_outermost(ret);
	ret->rows = xcalloc(ret->groups.nr + 1, sizeof(*ret->rows));
	ret->paths = xcalloc(ret->cct.nr + 1, sizeof(*ret->paths));
	u64map_release(&f.group_ids);
	u64map_release(&f.node_ids);
	VEC_RELEASE(&f.row_of_group);
}

/* ---- of a profile ---- */

static void count_path(struct energy_group *g, const struct profile_node *n, bool queue)
{
	g->calls += n->calls;
	g->duration_ns += (double)(queue ? n->exclusive_ns : n->inclusive_ns);
	g->exclusive_ns += (double)n->exclusive_ns;
}

/* Rows of a lane are functions, in the order of their first use. */
static void lane_of_profile(struct energy_groups *g, const struct lane_def *def,
			    const struct profile_track *t, const uint32_t *node_of_path)
{
	struct lane_place place = { g->nodes.nr, g->group_of_row.nr, SIZE_MAX };
	struct model_lane lane = {
		.def = *def, .nodes = (uint32_t)t->nodes.nr, .rows = t->rows, .row_of = t->row_of.v
	};
	uint32_t first = (uint32_t)g->groups.nr;

	for (uint32_t r = 0; r < t->rows; r++) {
		VEC_PUSH(&g->group_of_row, first + r);
		VEC_PUSH(&g->groups, (struct energy_group){ .track = def->track });
	}
	for (size_t i = 0; i < t->nodes.nr; i++) {
		const struct profile_node *n = &t->nodes.v[i];
		struct energy_group *group = &g->groups.v[first + t->row_of.v[i]];
		uint32_t path = t->queue ? CCT_NONE : node_of_path[i];

		group->name = n->name;
		count_path(group, n, t->queue);
		if (path != CCT_NONE)
			count_path(&g->of_path[path], n, false);
		VEC_PUSH(&g->nodes, (struct lane_node){ .path = path,
							.group = first + t->row_of.v[i],
							.parent = n->parent });
	}
	lane_put(g, &lane, &place);
}

static void find_outermost_of_lane(struct energy_groups *g, size_t lane)
{
	struct lane_node *nodes = g->nodes.v + g->places.v[lane].first_node;
	uint32_t nr = g->lanes.v[lane].nodes;
	CLEANUP(xfreep) uint32_t *parent = xcalloc(nr + 1, sizeof(*parent));
	CLEANUP(xfreep) uint8_t *is = NULL;

	for (uint32_t i = 0; i < nr; i++)
		parent[i] = nodes[i].parent;
	is = nodes_outermost(parent, g->lanes.v[lane].row_of, nr, g->lanes.v[lane].rows);
	for (uint32_t i = 0; i < nr; i++)
		nodes[i].outermost = is[i];
}

void energy_groups_of_profile(const struct profile *p, const struct lane_def *lanes, size_t nr,
			      struct energy_groups *ret)
{
	CLEANUP(xfreep) size_t *place = xcalloc(p->m->tracks.nr + 1, sizeof(*place));

	*ret = (struct energy_groups){ .cct = CCT_INIT, .trees = true };
	cct_build_profile(p, &ret->cct);
	ret->of_path = xcalloc(ret->cct.nr + 1, sizeof(*ret->of_path));
	for (size_t i = 0; i < p->tracks.nr; i++)
		place[p->tracks.v[i]->track] = i;
	for (size_t i = 0; i < nr; i++) {
		size_t at = place[lanes[i].track];

		lane_of_profile(ret, &lanes[i], p->tracks.v[at], ret->cct.node_of_path[at]);
		find_outermost_of_lane(ret, i);
	}
	ret->rows = xcalloc(ret->groups.nr + 1, sizeof(*ret->rows));
	ret->paths = xcalloc(ret->cct.nr + 1, sizeof(*ret->paths));
}

void energy_groups_release(struct energy_groups *g)
{
	VEC_RELEASE(&g->groups);
	VEC_RELEASE(&g->lanes);
	VEC_RELEASE(&g->defs);
	VEC_RELEASE(&g->places);
	VEC_RELEASE(&g->nodes);
	VEC_RELEASE(&g->group_of_row);
	free(g->node_of_span);
	free(g->node_of_piece);
	free(g->row_of_span);
	free(g->row_of_node);
	free(g->of_path);
	free(g->rows);
	free(g->paths);
	cct_release(&g->cct);
}

/* ---- collecting ---- */

static void value_add(struct energy_value *v, const struct node_energy *e)
{
	v->taken = true;
	v->own_marks |= e->marks;
	v->marks |= e->marks;
	v->exclusive_ns = ns_add(v->exclusive_ns, e->exclusive_ns);
	sum_add(&v->exclusive_j, e->exclusive_j);
	sum_add(&v->share_ns, e->share_ns);
}

static void collect_nodes(struct energy_groups *g, const struct energy_run *run, size_t job,
			  size_t lane)
{
	const struct lane_place *p = &g->places.v[lane];

	for (uint32_t i = 0; i < g->lanes.v[lane].nodes; i++) {
		const struct lane_node *n = &g->nodes.v[p->first_node + i];
		struct node_energy e = energy_run_value(run, job, lane, i);

		value_add(&g->rows[n->group], &e);
		if (n->path != CCT_NONE)
			value_add(&g->paths[n->path], &e);
		else
			sum_add(&g->rows[n->group].inclusive_j, e.exclusive_j);
	}
	for (uint32_t i = 0; i < g->lanes.v[lane].rows; i++)
		g->rows[g->group_of_row.v[p->first_row + i]].uncertainty_j =
			energy_run_uncertainty(run, job, lane, i);
}

/* A path's inclusive is what its subtree holds, also where calls overlap; parents come before
 * children. */
static void sum_subtrees(struct energy_groups *g)
{
	for (size_t n = g->cct.nr; n-- > 0;) {
		struct energy_value *v = &g->paths[n];
		uint32_t up = g->cct.nodes[n].parent;

		sum_add(&v->inclusive_j, sum_value(&v->exclusive_j));
		if (up == CCT_NONE)
			continue;
		sum_add(&g->paths[up].inclusive_j, sum_value(&v->inclusive_j));
		g->paths[up].marks |= v->marks;
	}
}

/* The same from a lane's own tree; parents come before children. */
static void collect_tree(struct energy_groups *g, const struct energy_run *run, size_t job,
			 size_t lane)
{
	const struct lane_node *nodes = &g->nodes.v[g->places.v[lane].first_node];
	uint32_t nr = g->lanes.v[lane].nodes;
	CLEANUP(xfreep) struct sum *sums = xcalloc(nr + 1, sizeof(*sums));
	CLEANUP(xfreep) uint8_t *marks = xcalloc(nr + 1, 1);

	for (uint32_t i = nr; i-- > 0;) {
		const struct lane_node *n = &nodes[i];
		struct node_energy e = energy_run_value(run, job, lane, i);

		sum_add(&sums[i], e.exclusive_j);
		marks[i] |= e.marks;
		g->rows[n->group].marks |= marks[i];
		if (n->outermost)
			sum_add(&g->rows[n->group].inclusive_j, sum_value(&sums[i]));
		if (n->parent == NODE_NONE)
			continue;
		sum_add(&sums[n->parent], sum_value(&sums[i]));
		marks[n->parent] |= marks[i];
	}
}

/* A function's inclusive, recursion counted once: from its outermost paths, or from the lane that
 * covers it. */
static void collect_inclusive(struct energy_groups *g, const struct energy_run *run, size_t job,
			      size_t lane)
{
	const struct lane_place *p = &g->places.v[lane];

	for (uint32_t i = 0; i < g->lanes.v[lane].nodes; i++) {
		const struct lane_node *n = &g->nodes.v[p->first_node + i];
		struct energy_value *row = &g->rows[n->group];

		if (n->path == CCT_NONE)
			continue;
		row->marks |= g->paths[n->path].marks;
		if (p->cover == SIZE_MAX && n->outermost)
			sum_add(&row->inclusive_j, sum_value(&g->paths[n->path].inclusive_j));
	}
	for (uint32_t i = 0; p->cover != SIZE_MAX && i < g->lanes.v[p->cover].nodes; i++) {
		struct node_energy e = energy_run_value(run, job, p->cover, i);
		struct energy_value *row = &g->rows[g->group_of_row.v[p->first_row + i]];

		sum_add(&row->inclusive_j, e.exclusive_j);
		row->marks |= e.marks;
	}
}

void energy_collect(struct energy_groups *g, const struct energy_run *run, size_t job)
{
	memset(g->rows, 0, g->groups.nr * sizeof(*g->rows));
	memset(g->paths, 0, g->cct.nr * sizeof(*g->paths));
	for (size_t i = 0; i < g->groups.nr; i++)
		g->rows[i].uncertainty_j = NAN;
	for (size_t l = 0; l < g->lanes.nr; l++) {
		if (g->lanes.v[l].def.mode != LANE_COVER && energy_run_takes_part(run, job, l))
			collect_nodes(g, run, job, l);
	}
	sum_subtrees(g);
	for (size_t l = 0; l < g->lanes.nr; l++) {
		if (g->lanes.v[l].def.mode != LANE_CALLS || !energy_run_takes_part(run, job, l))
			continue;
		if (g->trees)
			collect_tree(g, run, job, l);
		else
			collect_inclusive(g, run, job, l);
	}
}
