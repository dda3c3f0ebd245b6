/*
 * Checks that the devices of a node used no more energy than the node, whose counter is upstream of
 * them: losses of conversion, network, fans and memory only make the node's figure larger. Their
 * size differs by machine, so none is assumed.
 *
 * Devices of one kind are added up; kinds never are, as one may contain the other: the counter of a
 * GH200's GPU is the whole module's, the Cray sensor of a card contains its GPUs. For the same
 * reason a device with several counters counts once.
 */
#include "analyses_private.h"
#include "series_label.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/sum.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

/* clang-format off */
#define NODE_ENERGY(X) \
	X(STR, counter) X(STR, device) X(STR, kind) X(U64, devices) X(I64, duration_ns) \
	X(F64, node_j) X(F64, devices_j) X(F64, rest_j) X(F64, slack_j) X(STR, verdict)
/* clang-format on */
TABLE_FORM(node_energy, NODE_ENERGY,
	   "one row per counter of a whole node and kind of its devices: what both counted in the "
	   "same time; devices never count more than their node");

/* Sensors of one machine agree to about a percent; AMD's factor alone is 0.27 %. */
#define SENSORS_AGREE 0.01

/* Kinds of devices, by the word in their ids. */
static const char *const kinds[] = { "gpu", "accel", "pkg", "cpu" };

/* A counter of a device, or of a node. */
struct meter {
	const struct series_label *label;
	int kind; /* of kinds; -1: of the node */
	struct curve c;
};

struct meters {
	const struct model *m;
	VEC(struct meter) v;
};

/*
 * Energy of a node's counter and of its devices' counters, over the time that all of them sampled.
 */
struct comparison {
	const struct meter *node;
	int kind;
	VEC(const struct meter *) devices;
	int64_t from_ns, to_ns;
	double node_j, devices_j, slack_j;
	const char *verdict;
};

static const char *id_of(const char *device)
{
	const char *colon = strrchr(device, ':');

	return colon ? colon + 1 : device;
}

static int kind_of(const char *id)
{
	size_t n = strcspn(id, "0123456789");

	if (!id[n] || id[n + strspn(id + n, "0123456789")])
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strlen(kinds[i]) == n && strncmp(kinds[i], id, n) == 0)
			return (int)i;
	return -1;
}

static bool same_node(const struct model *m, const struct meter *node, const struct meter *device)
{
	const char *a = node->label->device, *b = device->label->device;
	size_t n = (size_t)(id_of(b) - b), len = (size_t)(id_of(a) - a);

	if (!m->several_hosts && !m->ranks_apart)
		return true;
	/* "one" of a node's counter that has a host and no device, else "one:" of "one:gpu0" */
	if (!*node->label->info.device)
		return n > 0 && strlen(a) == n - 1 && strncmp(a, b, n - 1) == 0;
	return n == len && strncmp(a, b, n) == 0;
}

static void meter_take(struct meters *ms, const struct series_label *l, const struct energy_opts *o)
{
	struct meter me = { .label = l, .kind = -1 };

	if (!counter_is_energy(&l->info) || ms->m->series.v[l->series].estimated)
		return;
	if (!counter_is_of_node(&l->info)) {
		me.kind = kind_of(id_of(l->info.device));
		if (me.kind < 0)
			return;
	}
	if (curve_make(ms->m, l->series, &l->info, o, &me.c, NULL) < 0)
		return;
	/* a counter that never changes measures nothing */
	if (me.c.n < 2 || curve_total(&me.c) <= 0)
		curve_release(&me.c);
	else
		VEC_PUSH(&ms->v, me);
}

static double mean_w(const struct meter *me)
{
	const struct curve *c = &me->c;

	return curve_total(c) / ((double)(c->t_ns[c->n - 1] - c->t_ns[0]) * 1e-9);
}

/*
 * Prefers an energy counter to readings of power, then the largest, which may include the others.
 */
static bool is_better(const struct meter *a, const struct meter *b)
{
	bool counts_a = a->label->info.quantity == QUANTITY_ENERGY;
	bool counts_b = b->label->info.quantity == QUANTITY_ENERGY;

	return counts_a == counts_b ? mean_w(a) > mean_w(b) : counts_a;
}

static void find_devices(const struct meters *ms, struct comparison *x)
{
	for (size_t i = 0; i < ms->v.nr; i++) {
		const struct meter *me = &ms->v.v[i];
		size_t k = 0;

		if (me->kind != x->kind || !same_node(ms->m, x->node, me))
			continue;
		while (k < x->devices.nr &&
		       strcmp(x->devices.v[k]->label->device, me->label->device) != 0)
			k++;
		if (k == x->devices.nr)
			VEC_PUSH(&x->devices, me);
		else if (is_better(me, x->devices.v[k]))
			x->devices.v[k] = me;
	}
}

static void comparison_narrow(struct comparison *x, const struct curve *c)
{
	x->from_ns = c->t_ns[0] > x->from_ns ? c->t_ns[0] : x->from_ns;
	x->to_ns = c->t_ns[c->n - 1] < x->to_ns ? c->t_ns[c->n - 1] : x->to_ns;
}

static double energy_of(const struct comparison *x, const struct curve *c)
{
	size_t hint = 0;
	double from = curve_at(c, x->from_ns, &hint);

	return curve_at(c, x->to_ns, &hint) - from;
}

/* A counter is published once per period, so its value at an edge may be off by one period. */
static double edges_j(const struct meter *me)
{
	return mean_w(me) * (double)me->c.median_period_ns * 1e-9;
}

static void comparison_run(struct comparison *x)
{
	const struct curve *node = &x->node->c;
	struct sum sum = SUM_INIT;

	x->from_ns = node->t_ns[0];
	x->to_ns = node->t_ns[node->n - 1];
	for (size_t i = 0; i < x->devices.nr; i++)
		comparison_narrow(x, &x->devices.v[i]->c);
	x->verdict = "not_compared";
	x->node_j = x->devices_j = x->slack_j = NAN;
	/* energy that the node's counter lost in a reset is still in its devices' counters */
	if (x->to_ns <= x->from_ns || node->flags & CF_RESET)
		return;
	x->node_j = energy_of(x, node);
	x->slack_j = SENSORS_AGREE * x->node_j + edges_j(x->node);
	for (size_t i = 0; i < x->devices.nr; i++) {
		sum_add(&sum, energy_of(x, &x->devices.v[i]->c));
		x->slack_j += edges_j(x->devices.v[i]);
	}
	x->devices_j = sum_value(&sum);
	x->verdict = x->devices_j <= x->node_j + x->slack_j ? "ok" : "exceeded";
}

static void node_row_add(struct table *t, const struct comparison *x)
{
	table_add(t, &(struct node_energy_row){ x->node->label->name, x->node->label->device,
						kinds[x->kind], x->devices.nr,
						x->to_ns > x->from_ns ? x->to_ns - x->from_ns : 0,
						x->node_j, x->devices_j, x->node_j - x->devices_j,
						x->slack_j, x->verdict });
}

static void node_rows(struct table *t, struct model *m, const struct meters *ms,
		      const struct meter *node)
{
	for (size_t kind = 0; kind < ARRAY_LEN(kinds); kind++) {
		struct comparison x = { .node = node, .kind = (int)kind };

		find_devices(ms, &x);
		if (x.devices.nr > 0) {
			comparison_run(&x);
			node_row_add(t, &x);
		}
		if (x.devices.nr > 0 && x.devices_j > x.node_j + x.slack_j)
			model_warn(m, m->series.v[node->label->series].input, W_NODE_ENERGY, 1,
				   "%s counted %.6g J, %zu %s of the node %.6g J in the same time",
				   node->label->name, x.node_j, x.devices.nr, kinds[kind],
				   x.devices_j);
		VEC_RELEASE(&x.devices);
	}
}

static bool any_node(const struct model *m, const struct series_label *labels)
{
	for (size_t i = 0; i < m->series.nr; i++)
		if (counter_is_energy(&labels[i].info) && counter_is_of_node(&labels[i].info))
			return true;
	return false;
}

static int node_energy_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			   struct err *err)
{
	CLEANUP(series_labels_freep) struct series_label *labels = series_labels(m);
	CLEANUP(table_freep) struct table *t = table_make(&node_energy_form);
	struct meters ms = { .m = m };

	(void)err;
	if (!any_node(m, labels))
		return 0;
	for (size_t i = 0; i < m->series.nr; i++)
		meter_take(&ms, &labels[i], &o->energy);
	for (size_t i = 0; i < ms.v.nr; i++)
		if (ms.v.v[i].kind < 0)
			node_rows(t, m, &ms, &ms.v.v[i]);
	for (size_t i = 0; i < ms.v.nr; i++)
		curve_release(&ms.v.v[i].c);
	VEC_RELEASE(&ms.v);
	if (table_rows(t) > 0)
		table_set_add(out, STEAL(t));
	return 0;
}

const struct analysis analysis_node_energy = {
	.name = "node_energy",
	.about = "whether the devices of a node counted no more energy than the node itself",
	.nothing = "no counter of a whole node was sampled",
	.tables = { &node_energy_form },
	.run = node_energy_run,
	.series_only = true,
};
