#include "energy_rows.h"
#include "ns.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/u64map.h"
#include "profrig/xalloc.h"

/* Per (track, name): until when its calls cover their track. */
struct cover {
	VEC(int64_t) until_ns;
};

/* Whether no earlier call of its name on its track had the span's start open; where calls are well
 * nested that holds for all of it or for nothing. */
static bool fresh_of(int64_t *until_ns, int64_t start_ns, int64_t end_ns)
{
	bool fresh = start_ns >= *until_ns;

	if (end_ns > *until_ns)
		*until_ns = end_ns;
	return fresh;
}

static uint32_t group_at(struct energy_groups *g, struct u64map *ids, struct cover *cover,
			 track_id track, str_id name)
{
	uint32_t *id = u64map_at(ids, u64map_pair(track, name));

	if (*id == U64MAP_NONE) {
		*id = (uint32_t)g->groups.nr;
		VEC_PUSH(&g->groups, (struct energy_group){ .track = track, .name = name });
		VEC_PUSH(&cover->until_ns, INT64_MIN);
	}
	return *id;
}

static void count_call(struct energy_group *g, const struct model *m, size_t i)
{
	g->calls++;
	g->duration_ns += (double)span_ns(m, i);
	g->exclusive_ns += (double)m->spans.exclusive_ns[i];
}

static void find_groups(const struct model *m, struct energy_groups *g)
{
	CLEANUP(u64map_release) struct u64map ids = U64MAP_INIT;
	struct cover cover = { VEC_INIT };

	for (size_t i = 0; i < m->spans.nr; i++) {
		bool work = span_is_work(m, i), call = g->cct.node_of_span[i] != CCT_NONE;
		uint32_t id;

		g->of_span[i] = GROUP_NONE;
		if (!work && !call)
			continue;
		id = group_at(g, &ids, &cover, m->spans.track[i], m->spans.name[i]);
		g->of_span[i] = id;
		count_call(&g->groups.v[id], m, i);
		g->fresh[i] = work ? true
				   : fresh_of(&cover.until_ns.v[id], m->spans.start_ns[i],
					      m->spans.end_ns[i]);
		if (call)
			count_call(&g->of_path[g->cct.node_of_span[i]], m, i);
	}
	VEC_RELEASE(&cover.until_ns);
}

void energy_groups_make(const struct model *m, struct energy_groups *ret)
{
	*ret = (struct energy_groups){ .cct = CCT_INIT };
	cct_build(m, &ret->cct);
	ret->of_span = xreallocarray(NULL, m->spans.nr + 1, sizeof(*ret->of_span));
	ret->fresh = xcalloc(m->spans.nr + 1, sizeof(*ret->fresh));
	ret->of_path = xcalloc(ret->cct.nr + 1, sizeof(*ret->of_path));
	find_groups(m, ret);
	ret->rows = xcalloc(ret->groups.nr + 1, sizeof(*ret->rows));
	ret->paths = xcalloc(ret->cct.nr + 1, sizeof(*ret->paths));
}

void energy_groups_release(struct energy_groups *g)
{
	VEC_RELEASE(&g->groups);
	free(g->of_span);
	free(g->fresh);
	free(g->of_path);
	free(g->rows);
	free(g->paths);
	cct_release(&g->cct);
}

static void add(struct energy_value *v, double inclusive_j, double exclusive_j,
		int64_t exclusive_ns, uint8_t marks)
{
	v->taken = true;
	v->marks |= marks;
	v->exclusive_ns = ns_add(v->exclusive_ns, exclusive_ns);
	sum_add(&v->inclusive_j, inclusive_j);
	sum_add(&v->exclusive_j, exclusive_j);
}

static void add_to_path(struct energy_groups *g, uint32_t node, double exclusive_j,
			int64_t exclusive_ns, uint8_t marks)
{
	add(&g->paths[node], 0, exclusive_j, exclusive_ns, marks);
}

/* A span that outlives its parent has two places in the tree; its piece is number k. */
static void pour_call(struct energy_groups *g, const struct energy_result *r, size_t i, size_t k)
{
	double exclusive = r->exclusive_j[i];
	int64_t ns = r->exclusive_ns[i];

	if (k != SIZE_MAX) {
		const struct energy_piece *p = &r->pieces[k];

		add_to_path(g, g->cct.node_of_piece[k], p->exclusive_j, p->exclusive_ns,
			    r->marks[i]);
		exclusive -= p->exclusive_j;
		ns -= p->exclusive_ns;
	}
	add_to_path(g, g->cct.node_of_span[i], exclusive, ns, r->marks[i]);
}

/* A path's inclusive is what its subtree holds, also where calls overlap; parents come before
 * children. */
static void sum_subtrees(struct energy_groups *g)
{
	for (size_t n = g->cct.nr; n-- > 0;) {
		struct energy_value *v = &g->paths[n];
		uint32_t up = g->cct.nodes[n].parent;

		sum_add(&v->inclusive_j, sum_value(&v->exclusive_j));
		if (up != CCT_NONE)
			sum_add(&g->paths[up].inclusive_j, sum_value(&v->inclusive_j));
	}
}

/* A span's part of its function's inclusive sum. */
static double fresh_j(const struct energy_groups *g, const struct energy_result *r, size_t i)
{
	if (r->view == VIEW_HOST && r->new_j)
		return r->new_j[i];
	return g->fresh[i] ? r->inclusive_j[i] : 0;
}

void energy_pour(struct energy_groups *g, const struct model *m, const struct energy_result *r)
{
	size_t next = 0;

	memset(g->rows, 0, g->groups.nr * sizeof(*g->rows));
	memset(g->paths, 0, g->cct.nr * sizeof(*g->paths));
	for (size_t i = 0; r->exclusive_j && i < m->spans.nr; i++) {
		size_t piece = SIZE_MAX;

		if (next < m->pieces.nr && m->pieces.v[next].span == i)
			piece = next++;
		if (isnan(r->exclusive_j[i]) || g->of_span[i] == GROUP_NONE)
			continue;
		add(&g->rows[g->of_span[i]], fresh_j(g, r, i), r->exclusive_j[i],
		    r->exclusive_ns[i], r->marks[i]);
		if (r->view == VIEW_HOST)
			pour_call(g, r, i, piece);
	}
	sum_subtrees(g);
}
