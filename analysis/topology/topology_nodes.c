/*
 * Whether queues or variables may exclude a process from a device of its node: only when everything
 * that the process uses has a counter of its own.
 */
#include "topology_private.h"

#include <math.h>
#include <string.h>

#include "profrig/base/u64map.h"

enum { ENERGY, POWER, QUANTITIES };

/* A node by its name in series ("" = unknown); its sharers: those with calls that may be on it. */
struct node {
	const char *name;
	VEC(str_id) live[QUANTITIES]; /* ids that a counter measures which moves */
	VEC(str_id) owned;            /* ids that have queues */
	bool queues[QUANTITIES];      /* every sharer has queues, on measured devices only */
	uint64_t runs[QUANTITIES];    /* all devices that the run shows are measured */
};

struct nodes {
	struct topology_work *w;
	VEC(struct node) v;
};

static int quantity_of(const struct counter_info *ci)
{
	return ci->quantity == QUANTITY_ENERGY ? ENERGY : POWER;
}

static bool ids_have(const str_id *v, size_t nr, str_id id)
{
	for (size_t i = 0; i < nr; i++)
		if (v[i] == id)
			return true;
	return false;
}

/* A counter that always reads the same, as those of the odd devices of an MI250X do, measures
 * nothing. */
static bool series_moves(const struct series *se)
{
	double first = NAN;

	for (size_t i = 0; i < se->value.nr; i++) {
		double v = se->value.v[i];

		if (isnan(v))
			continue;
		if (isnan(first))
			first = v;
		else if (v < first || v > first)
			return true;
	}
	return false;
}

static bool on_node(const struct topology_work *w, const struct node *n, series_id s)
{
	return topology_same_node(model_str(w->m, w->m->series.v[s].node), w->info[s].device,
				  n->name, "");
}

static void add_live(struct nodes *ns, const bool *live)
{
	const struct topology_work *w = ns->w;

	for (size_t i = 0; i < ns->v.nr; i++) {
		struct node *n = &ns->v.v[i];

		for (series_id s = 0; s < w->m->series.nr; s++) {
			struct slice ids = w->tp->series[s].measures;
			int q = quantity_of(&w->info[s]);

			for (uint32_t k = 0; live[s] && on_node(w, n, s) && k < ids.nr; k++) {
				str_id id = w->tp->device_ids.v[ids.at + k];

				if (!ids_have(n->live[q].v, n->live[q].nr, id))
					VEC_PUSH(&n->live[q], id);
			}
		}
	}
}

/* One process of a node: the devices on which it has queues. */
static void add_sharer(struct node *n, const struct topology *tp, const struct topology_track *p)
{
	for (int q = 0; q < QUANTITIES; q++)
		n->queues[q] &= p->owned.nr > 0;
	for (uint32_t i = 0; i < p->owned.nr; i++) {
		str_id id = tp->device_ids.v[p->owned.at + i];

		for (int q = 0; q < QUANTITIES; q++)
			n->queues[q] &= ids_have(n->live[q].v, n->live[q].nr, id);
		if (!ids_have(n->owned.v, n->owned.nr, id))
			VEC_PUSH(&n->owned, id);
	}
}

static bool all_live(const struct node *n, int q, const struct device_list *l, struct topology *tp)
{
	for (size_t i = 0; i < l->v.nr; i++) {
		char id[32];

		snprintf(id, sizeof(id), "gpu%d", (int)l->v.v[i]);
		if (!ids_have(n->live[q].v, n->live[q].nr, intern_puts(tp->ids, id)))
			return false;
	}
	return true;
}

static void node_look_at(struct nodes *ns, struct node *n)
{
	const struct topology_work *w = ns->w;
	struct topology *tp = w->tp;

	n->queues[ENERGY] = n->queues[POWER] = !w->own_numbers;
	for (track_id t = 0; t < w->m->tracks.nr; t++)
		if (tp->track[t].active &&
		    topology_same_node(n->name, "", model_node_of(w->m, t), ""))
			add_sharer(n, tp, &tp->track[t]);
	for (size_t r = 0; r < tp->runs.nr; r++)
		for (int q = 0; q < QUANTITIES; q++)
			if (!tp->runs.v[r].runtime.all &&
			    all_live(n, q, &tp->runs.v[r].runtime, tp))
				n->runs[q] |= UINT64_C(1) << r;
}

/* The node of a series' device. */
static char *node_name(const struct topology_work *w, series_id s)
{
	const char *device = w->info[s].device, *id = topology_id(device);

	return id > device ? xstrndup(device, (size_t)(id - device - 1))
			   : xstrdup(model_str(w->m, w->m->series.v[s].node));
}

static uint32_t *nodes_make(struct nodes *ns, struct intern *names)
{
	const struct topology_work *w = ns->w;
	CLEANUP(u64map_release) struct u64map of_name = U64MAP_INIT;
	uint32_t *of_series = xcalloc(w->m->series.nr + 1, sizeof(*of_series));

	for (series_id s = 0; s < w->m->series.nr; s++) {
		CLEANUP(xfreep) char *name = node_name(w, s);
		str_id id = intern_puts(names, name);
		uint32_t *at = u64map_at(&of_name, id);

		if (*at == U64MAP_NONE) {
			*at = (uint32_t)ns->v.nr;
			VEC_PUSH(&ns->v, (struct node){ .name = intern_str(names, id) });
		}
		of_series[s] = *at;
	}
	return of_series;
}

static void nodes_release(struct nodes *ns)
{
	for (size_t i = 0; i < ns->v.nr; i++) {
		VEC_RELEASE(&ns->v.v[i].live[ENERGY]);
		VEC_RELEASE(&ns->v.v[i].live[POWER]);
		VEC_RELEASE(&ns->v.v[i].owned);
	}
	VEC_RELEASE(&ns->v);
}

static void limits_set(struct nodes *ns, const uint32_t *node_of)
{
	const struct topology_work *w = ns->w;

	for (series_id s = 0; s < w->m->series.nr; s++) {
		struct topology_series *se = &w->tp->series[s];
		const struct node *n = &ns->v.v[node_of[s]];
		int q = quantity_of(&w->info[s]);

		if (se->measures.nr == 0)
			continue;
		se->runs = n->runs[q];
		for (uint32_t i = 0; n->queues[q] && i < se->measures.nr; i++)
			se->queues |= ids_have(n->owned.v, n->owned.nr,
					       w->tp->device_ids.v[se->measures.at + i]);
	}
}

void topology_find_limits(struct topology_work *w)
{
	CLEANUP(xfreep) bool *live = xcalloc(w->m->series.nr + 1, sizeof(*live));
	CLEANUP(xfreep) uint32_t *node_of = NULL;
	struct intern *names = intern_new();
	struct nodes ns = { .w = w };

	node_of = nodes_make(&ns, names);
	for (series_id s = 0; s < w->m->series.nr; s++)
		live[s] = w->tp->series[s].measures.nr > 0 && series_moves(&w->m->series.v[s]);
	add_live(&ns, live);
	for (size_t i = 0; i < ns.v.nr; i++)
		node_look_at(&ns, &ns.v.v[i]);
	limits_set(&ns, node_of);
	nodes_release(&ns);
	intern_free(names);
}
