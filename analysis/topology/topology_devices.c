/*
 * On which device a queue's work runs. The number in a trace is the process's own; samplers name
 * physical devices. The first of these that applies: a rule of the file, the PCI address, the run's
 * variables, else both numbers are taken as the same.
 */
#include "topology_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/model/warnings.h"

static str_id gpu_id(struct topology *tp, int64_t gpu)
{
	char id[32];

	snprintf(id, sizeof(id), "gpu%" PRId64, gpu);
	return intern_puts(tp->ids, id);
}

/* The first rule with a list that matches a process, NULL. */
static const struct topology_rule *visible_rule(const struct topology *tp, track_id sharer)
{
	struct slice s = tp->track[sharer].rules;

	for (uint32_t i = 0; i < s.nr; i++) {
		const struct topology_rule *r = &tp->rules.v[tp->rule_ids.v[s.at + i]];

		if (r->visible.nr > 0)
			return r;
	}
	return NULL;
}

/* The device on which the processes of a queue agree. by_queue is sorted; *at moves to the next
 * queue's. */
static bool place_by_file(struct topology_work *w, track_id q, int64_t index, size_t *at)
{
	struct topology *tp = w->tp;
	int64_t gpu = -1;
	bool agreed = true;

	for (; *at < w->by_queue.nr && w->by_queue.v[*at].queue <= q; ++*at) {
		const struct topology_rule *r;
		int64_t one;

		if (w->by_queue.v[*at].queue < q)
			continue;
		r = visible_rule(tp, w->by_queue.v[*at].sharer);
		if (r && index >= (int64_t)r->visible.nr)
			topology_warn(w, w->m->tracks.v[q].input, W_TOPOLOGY, 1,
				      "%s: '%s' is on device %" PRId64
				      " of a process that sees %zu by this rule",
				      r->where, model_str(w->m, w->m->tracks.v[q].name), index,
				      r->visible.nr);
		one = r && index >= 0 && (size_t)index < r->visible.nr ? r->visible.v[index] : -1;
		agreed = agreed && one >= 0 && (gpu < 0 || gpu == one);
		gpu = one;
	}
	if (!agreed || gpu < 0)
		return false;
	tp->track[q].device = gpu_id(tp, gpu);
	tp->track[q].why = WHY_FILE;
	return true;
}

/* The one device of the queue's node that was sampled at its address. */
static bool place_by_pci(struct topology_work *w, track_id q)
{
	const struct model *m = w->m;
	const struct track *t = &m->tracks.v[q];
	const char *found = NULL;

	for (size_t i = 0; t->pci && i < m->series.nr; i++) {
		const struct series *se = &m->series.v[i];
		const char *device = w->info[i].device;

		if (se->pci != t->pci || !*device ||
		    !topology_same_node(model_str(m, se->node), device, model_node_of(m, q),
					model_str(m, t->device)))
			continue;
		if (found && strcmp(found, topology_id(device)) != 0)
			return false;
		found = topology_id(device);
	}
	if (!found)
		return false;
	w->tp->track[q].device = intern_puts(w->tp->ids, found);
	w->tp->track[q].why = WHY_PCI;
	return true;
}

/* The list that the numbers of an input's queues index; NULL unknown. */
static const struct device_list *list_of(const struct topology_work *w, track_id q)
{
	const struct model *m = w->m;
	input_id in = m->tracks.v[q].input;

	for (size_t i = 0; i < w->tp->runs.nr; i++) {
		const struct topology_run *r = &w->tp->runs.v[i];
		const struct device_list *l;

		if (in < r->first || in >= r->end ||
		    !topology_same_node(r->host, "", model_host_of(m, q), ""))
			continue;
		l = m->inputs.v[in].driver_numbers ? &r->driver : &r->runtime;
		return l->all ? NULL : l;
	}
	return NULL;
}

/* By input: a queue has a number that its list does not have, so these are no numbers of that
 * list. */
static bool *inputs_beyond(const struct topology_work *w)
{
	const struct model *m = w->m;
	bool *beyond = xcalloc(m->inputs.nr + 1, sizeof(*beyond));

	for (track_id q = 0; q < m->tracks.nr; q++) {
		const struct track *t = &m->tracks.v[q];
		const struct device_list *l = t->kind == TRACK_QUEUE ? list_of(w, q) : NULL;
		int64_t index = topology_gpu(topology_id(model_str(m, t->device)));

		if (l && index >= 0 && (size_t)index >= l->v.nr)
			beyond[t->input] = true;
	}
	return beyond;
}

static bool place_by_run(struct topology_work *w, track_id q, int64_t index, const bool *beyond)
{
	const struct device_list *l = list_of(w, q);

	if (!l || index < 0 || beyond[w->m->tracks.v[q].input])
		return false;
	w->tp->track[q].device = gpu_id(w->tp, l->v.v[index]);
	w->tp->track[q].why = WHY_VISIBLE;
	return true;
}

static void warn_lists(struct topology_work *w, const bool *beyond)
{
	for (size_t i = 0; i < w->tp->runs.nr; i++)
		if (w->tp->runs.v[i].unknown)
			topology_warn(w, UINT32_MAX, W_VISIBLE_DEVICES, 1, "%s",
				      w->tp->runs.v[i].unknown);
	for (input_id i = 0; i < w->m->inputs.nr; i++)
		if (beyond[i])
			topology_warn(w, i, W_VISIBLE_DEVICES, 1,
				      "%s has devices that the run's variables do not show; its "
				      "numbers are taken as they are",
				      w->m->inputs.v[i].path);
}

struct device_number {
	str_id id, pci;
	const char *host;
};

static int by_device_number(const void *pa, const void *pb)
{
	const struct device_number *a = pa, *b = pb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (strcmp(a->host, b->host) != 0)
		return strcmp(a->host, b->host);
	return (a->pci > b->pci) - (a->pci < b->pci);
}

/* One number at two addresses of a node: every process numbers its devices for itself. */
static void find_own_numbers(struct topology_work *w)
{
	const struct model *m = w->m;
	CLEANUP(xfreep) struct device_number *v = xreallocarray(NULL, m->tracks.nr + 1, sizeof(*v));
	uint64_t twice = 0;
	size_t nr = 0;

	for (track_id q = 0; q < m->tracks.nr; q++)
		if (m->tracks.v[q].pci && w->tp->track[q].why == WHY_INDEX)
			v[nr++] = (struct device_number){ w->tp->track[q].device,
							  m->tracks.v[q].pci, model_host_of(m, q) };
	qsort(v, nr, sizeof(*v), by_device_number);
	for (size_t i = 1; i < nr; i++)
		twice += v[i].id == v[i - 1].id && strcmp(v[i].host, v[i - 1].host) == 0 &&
			 v[i].pci != v[i - 1].pci;
	w->own_numbers = twice > 0;
	if (twice)
		topology_warn(w, UINT32_MAX, W_VISIBLE_DEVICES, twice,
			      "queues of one device number sit at different PCI addresses: each "
			      "process has numbers of its own, and no sampled device has these "
			      "addresses");
}

void topology_place_queues(struct topology_work *w)
{
	const struct model *m = w->m;
	CLEANUP(xfreep) bool *beyond = inputs_beyond(w);
	size_t at = 0;

	for (track_id q = 0; q < m->tracks.nr; q++) {
		const char *id = topology_id(model_str(m, m->tracks.v[q].device));
		int64_t index = topology_gpu(id);

		if (m->tracks.v[q].kind != TRACK_QUEUE)
			continue;
		w->tp->track[q].device = intern_puts(w->tp->ids, id);
		w->tp->track[q].why = WHY_INDEX;
		if (place_by_file(w, q, index, &at) || !w->tp->discover || place_by_pci(w, q))
			continue;
		place_by_run(w, q, index, beyond);
	}
	if (!w->tp->discover)
		return;
	warn_lists(w, beyond);
	find_own_numbers(w);
}
