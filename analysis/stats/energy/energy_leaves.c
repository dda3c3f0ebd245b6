/*
 * Finer classes of energy by power: call paths of a function, launches of a kernel, each by track.
 * They are in the order of hashes of names, as the numbers of tracks must not matter.
 *
 * Finer powers are sought where a device has LEAVES_PLENTY leaves or fewer, else only with as many
 * intervals (power_fit_refine). So that many launches do not take that from all others, only those
 * with most time are leaves, the rest of a name and track is one.
 */
#include "energy_rows.h"
#include "track_names.h"

#include <stdlib.h>

#include "profrig/base/mix.h"
#include "profrig/base/xalloc.h"

#define LEAVES_PLENTY ((size_t)256)
#define LAUNCHES_MIN ((size_t)64) /* of a device that has nearly so many leaves without */

struct leaf {
	uint64_t path; /* hash of the names on it, and of the track's */
	uint32_t class_id;
	uint32_t node;
};

/* A node of device work. */
struct launch {
	str_id device;
	bool told;
	uint64_t name, path; /* of its leaf without and with the launch's shape */
	int64_t ns;
	size_t node;
};

struct leaves {
	struct energy_groups *g;
	struct leaf *v;
	VEC(struct launch) launches;
	bool told; /* any of them */
};

static int leaf_cmp(const void *a, const void *b)
{
	const struct leaf *x = a, *y = b;

	if (x->class_id != y->class_id)
		return x->class_id < y->class_id ? -1 : 1;
	return (x->path > y->path) - (x->path < y->path);
}

/* ---- hashes ---- */

static uint64_t path_hash(uint64_t parent, uint64_t own)
{
	return mix64(parent ^ own);
}

static uint64_t text_hash(const char *s)
{
	uint64_t hash = 0;

	for (; *s; s++)
		hash = path_hash(hash, (unsigned char)*s);
	return hash;
}

/* Parents come before children; of device work the path is the name, and the track's. */
static void leaves_hash(const struct leaves *l, const struct lane_place *p, uint64_t root)
{
	const struct energy_groups *g = l->g;

	for (uint32_t i = 0; i < p->nodes; i++) {
		size_t at = p->first_node + i;
		uint32_t up = g->nodes.v[at].parent;
		uint64_t above = up == NODE_NONE || g->nodes.v[at].path == CCT_NONE
					 ? root
					 : l->v[p->first_node + up].path;

		l->v[at] = (struct leaf){ .path = path_hash(above, g->class_of_node[at]),
					  .class_id = g->class_of_node[at],
					  .node = (uint32_t)at };
	}
}

/* ---- launches ---- */

static void launches_add(struct leaves *l, const struct lane_place *p, str_id device)
{
	const struct profile_track *t = p->of;

	for (uint32_t i = 0; i < p->nodes; i++) {
		uint64_t shape = t->shape_of.nr ? t->shape_of.v[i] : 0;
		uint64_t name = l->v[p->first_node + i].path;

		l->told |= shape != 0;
		VEC_PUSH(&l->launches, ((struct launch){ .device = device,
							 .told = shape != 0,
							 .name = name,
							 .path = path_hash(name, shape),
							 .ns = t->nodes.v[i].exclusive_ns,
							 .node = p->first_node + i }));
	}
}

static int by_device(const void *a, const void *b)
{
	const struct launch *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static int by_time(const void *a, const void *b)
{
	const struct launch *x = a, *y = b;

	if (x->told != y->told)
		return x->told ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->path > y->path) - (x->path < y->path);
}

/* Of one device, by name. */
static void launches_choose(struct leaves *l, struct launch *v, size_t nr)
{
	size_t names = 0, most;

	for (size_t i = 0; i < nr; i++)
		names += i == 0 || v[i].name != v[i - 1].name;
	most = names + LAUNCHES_MIN < LEAVES_PLENTY ? LEAVES_PLENTY - names : LAUNCHES_MIN;
	qsort(v, nr, sizeof(*v), by_time);
	for (size_t i = 0; i < nr && i < most && v[i].told; i++)
		l->v[v[i].node].path = v[i].path;
}

static void launches_tell(struct leaves *l)
{
	size_t end;

	if (!l->told)
		return;
	qsort(l->launches.v, l->launches.nr, sizeof(*l->launches.v), by_device);
	for (size_t i = 0; i < l->launches.nr; i = end) {
		for (end = i;
		     end < l->launches.nr && l->launches.v[end].device == l->launches.v[i].device;)
			end++;
		launches_choose(l, &l->launches.v[i], end - i);
	}
}

/* ---- all leaves ---- */

static void leaves_number(struct energy_groups *g, struct leaf *v)
{
	size_t nr = g->nodes.nr;

	qsort(v, nr, sizeof(*v), leaf_cmp);
	g->leaf_of_node = xcalloc(nr + 1, sizeof(*g->leaf_of_node));
	g->class_of_leaf = xcalloc(nr + 1, sizeof(*g->class_of_leaf));
	for (size_t i = 0; i < nr; i++) {
		g->leaves += i == 0 || leaf_cmp(&v[i - 1], &v[i]) != 0;
		g->leaf_of_node[v[i].node] = g->leaves - 1;
		g->class_of_leaf[g->leaves - 1] = v[i].class_id;
	}
}

void energy_leaves_make(struct energy_groups *g, const struct profile *p)
{
	CLEANUP(xfreep) struct leaf *v = xcalloc(g->nodes.nr + 1, sizeof(*v));
	CLEANUP(strvec_release) struct strvec tracks = STRVEC_INIT;
	struct leaves l = { .g = g, .v = v };

	track_names(p->m, &tracks);
	for (size_t i = 0; i < g->places.nr; i++) {
		const struct lane_place *place = &g->places.v[i];

		if (place->mode == LANE_COVER)
			continue;
		leaves_hash(&l, place, text_hash(tracks.v[place->of->track]));
		if (place->mode == LANE_WORK)
			launches_add(&l, place, p->m->tracks.v[place->of->track].device);
	}
	launches_tell(&l);
	VEC_RELEASE(&l.launches);
	leaves_number(g, v);
}
