#include "topology_private.h"

#include <string.h>

#include "profrig/base/num.h"

/* ---- names ---- */

const char *topology_id(const char *device)
{
	const char *colon = strrchr(device, ':');

	return colon ? colon + 1 : device;
}

int64_t topology_gpu(const char *id)
{
	int64_t v;

	return strncmp(id, "gpu", 3) == 0 && num_i64(id + 3, strlen(id + 3), &v) == 0 && v >= 0
		       ? v
		       : -1;
}

static bool host_prefix_is(const char *device, const char *host)
{
	size_t n = strlen(host);

	return strncmp(device, host, n) == 0 && device[n] == ':';
}

bool topology_same_node(const char *a_host, const char *a_device, const char *b_host,
			const char *b_device)
{
	const char *a_colon = strrchr(a_device, ':'), *b_colon = strrchr(b_device, ':');

	if (a_colon && b_colon)
		return a_colon - a_device == b_colon - b_device &&
		       memcmp(a_device, b_device, (size_t)(a_colon - a_device)) == 0;
	if (a_colon)
		return !*b_host || host_prefix_is(a_device, b_host);
	if (b_colon)
		return !*a_host || host_prefix_is(b_device, a_host);
	return !*a_host || !*b_host || strcmp(a_host, b_host) == 0;
}

track_id topology_sharer(const struct model *m, track_id t)
{
	track_id process = model_process_of(m, t);

	return process == TRACK_NONE ? t : process;
}

const char *topology_why_name(enum topology_why why)
{
	static const char *const names[] = {
		[WHY_NODE] = "node",
		[WHY_INDEX] = "index",
		[WHY_RANK] = "rank",
		[WHY_PCI] = "pci",
		[WHY_VISIBLE] = "visible_devices",
		[WHY_QUEUES] = "queues",
		[WHY_FILE] = "file",
		[WHY_THREAD] = "thread",
	};

	return names[why];
}

/* ---- life ---- */

struct topology *topology_new(void)
{
	struct topology *tp = xcalloc(1, sizeof(*tp));

	tp->discover = true;
	return tp;
}

void topology_rule_init(struct topology_rule *r)
{
	*r = (struct topology_rule){
		.hosts = STRVEC_INIT, .processes = STRVEC_INIT, .devices = STRVEC_INIT, .weight = 1
	};
}

void topology_rule_release(struct topology_rule *r)
{
	VEC_RELEASE(&r->ranks);
	VEC_RELEASE(&r->local_ranks);
	strvec_release(&r->hosts);
	strvec_release(&r->processes);
	strvec_release(&r->devices);
	VEC_RELEASE(&r->visible);
	free(r->where);
}

void topology_counter_release(struct topology_counter *c)
{
	free(c->device);
	strvec_release(&c->measures);
	free(c->where);
}

void topology_forget(struct topology *tp)
{
	intern_free(tp->ids);
	free(tp->track);
	free(tp->series);
	tp->ids = NULL;
	tp->track = NULL;
	tp->series = NULL;
	VEC_CLEAR(&tp->rule_ids);
	VEC_CLEAR(&tp->device_ids);
}

static void runs_release(struct topology *tp)
{
	for (size_t i = 0; i < tp->runs.nr; i++) {
		free(tp->runs.v[i].host);
		free(tp->runs.v[i].unknown);
		VEC_RELEASE(&tp->runs.v[i].driver.v);
		VEC_RELEASE(&tp->runs.v[i].runtime.v);
	}
	VEC_RELEASE(&tp->runs);
}

void topology_again(struct topology *tp)
{
	topology_forget(tp);
	runs_release(tp);
}

void topology_free(struct topology *tp)
{
	if (!tp)
		return;
	for (size_t i = 0; i < tp->rules.nr; i++)
		topology_rule_release(&tp->rules.v[i]);
	for (size_t i = 0; i < tp->counters.nr; i++)
		topology_counter_release(&tp->counters.v[i]);
	VEC_RELEASE(&tp->rules);
	VEC_RELEASE(&tp->counters);
	topology_again(tp);
	VEC_RELEASE(&tp->rule_ids);
	VEC_RELEASE(&tp->device_ids);
	free(tp);
}

void topology_add_rule(struct topology *tp, struct topology_rule *take)
{
	VEC_PUSH(&tp->rules, *take);
	topology_rule_init(take);
}

void topology_add_counter(struct topology *tp, struct topology_counter *take)
{
	VEC_PUSH(&tp->counters, *take);
	*take = (struct topology_counter){ .measures = STRVEC_INIT };
}

void topology_discover(struct topology *tp, bool on)
{
	tp->discover = on;
}

/* ---- answers ---- */

struct decision {
	bool seen;
	enum topology_why why;
	double weight;
};

/* The first rule that names the series' device and matches the process. */
static struct decision by_rules(const struct topology *tp, struct slice process, struct slice named)
{
	for (uint32_t i = 0, k = 0; i < process.nr && k < named.nr;) {
		uint32_t a = tp->rule_ids.v[process.at + i], b = tp->rule_ids.v[named.at + k];

		if (a == b)
			return (struct decision){ true, WHY_FILE, tp->rules.v[a].weight };
		if (a < b)
			i++;
		else
			k++;
	}
	return (struct decision){ false, WHY_FILE, 1 };
}

static bool any_common(const struct topology *tp, struct slice a, struct slice b)
{
	for (uint32_t i = 0; i < a.nr; i++)
		for (uint32_t k = 0; k < b.nr; k++)
			if (tp->device_ids.v[a.at + i] == tp->device_ids.v[b.at + k])
				return true;
	return false;
}

/* Whether a list of GPUs applies to a counter, and holds none of its devices. */
static bool list_hides(const struct topology *tp, const struct device_list *l,
		       struct slice measures)
{
	for (uint32_t i = 0; i < measures.nr; i++) {
		const char *id = intern_str(tp->ids, tp->device_ids.v[measures.at + i]);
		int64_t gpu = topology_gpu(id);

		if (gpu < 0)
			return false;
		for (size_t k = 0; k < l->v.nr; k++)
			if (l->v.v[k] == gpu)
				return false;
	}
	return measures.nr > 0;
}

/* Of a process of the series' node. */
static struct decision sharer_decide(const struct topology *tp, track_id sharer, series_id s)
{
	const struct topology_track *p = &tp->track[sharer];
	const struct topology_series *se = &tp->series[s];
	struct decision d = { true, WHY_NODE, 1 };

	if (se->rules.nr > 0)
		return by_rules(tp, p->rules, se->rules);
	if (p->run >= 0 && se->runs >> p->run & 1) {
		d.why = WHY_VISIBLE;
		d.seen = !list_hides(tp, &tp->runs.v[p->run].runtime, se->measures);
	}
	if (d.seen && se->queues) {
		d.why = WHY_QUEUES;
		d.seen = any_common(tp, p->owned, se->measures);
	}
	return d;
}

/* A strictly synchronous counter belongs to the thread it was read on. */
static bool is_own(const struct model *m, const struct series *se)
{
	return se->exclusive_sync && se->track != TRACK_NONE &&
	       m->tracks.v[se->track].kind == TRACK_THREAD;
}

/*
 * Whether a track is on the node of a series' device. That ranks of unknown hosts are nodes of
 * their own is an assumption, which rules of the file overrule.
 */
static bool on_one_node(const struct model *m, series_id s, const char *device, track_id t,
			bool stated)
{
	const struct series *se = &m->series.v[s];
	const char *host = model_host_of(m, t), *of_track = model_str(m, m->tracks.v[t].device);

	if (m->ranks_apart && !se->host && !*host)
		return stated ||
		       topology_same_node(model_str(m, se->node), device, model_node_of(m, t), "");
	return topology_same_node(model_str(m, se->host), device, host, of_track);
}

/* A reason that holds without further knowledge; of a counter in the file of such a rank. */
static enum topology_why why_of(const struct model *m, series_id s, enum topology_why why)
{
	const struct series *se = &m->series.v[s];

	return (why == WHY_NODE || why == WHY_INDEX) && !se->host && se->node ? WHY_RANK : why;
}

bool topology_sees(const struct topology *tp, const struct model *m, track_id thread, series_id s,
		   const char *device)
{
	const struct series *se = &m->series.v[s];

	if (is_own(m, se))
		return thread == se->track;
	if (!on_one_node(m, s, device, thread, tp && tp->series[s].rules.nr > 0))
		return false;
	return !tp || sharer_decide(tp, topology_sharer(m, thread), s).seen;
}

double topology_weight(const struct topology *tp, const struct model *m, track_id thread,
		       series_id s)
{
	if (!tp || is_own(m, &m->series.v[s]))
		return 1;
	return sharer_decide(tp, topology_sharer(m, thread), s).weight;
}

enum topology_why topology_why_sees(const struct topology *tp, const struct model *m,
				    track_id thread, series_id s)
{
	if (is_own(m, &m->series.v[s]))
		return WHY_THREAD;
	return why_of(m, s, tp ? sharer_decide(tp, topology_sharer(m, thread), s).why : WHY_NODE);
}

const char *topology_queue_device(const struct topology *tp, const struct model *m, track_id queue)
{
	return tp ? intern_str(tp->ids, tp->track[queue].device)
		  : topology_id(model_str(m, m->tracks.v[queue].device));
}

bool topology_runs_on(const struct topology *tp, const struct model *m, track_id queue, series_id s,
		      const char *device)
{
	const char *id = topology_queue_device(tp, m, queue);
	struct slice measures = tp ? tp->series[s].measures : (struct slice){ 0, 0 };
	bool found = measures.nr == 0 && *id && strcmp(id, topology_id(device)) == 0;

	for (uint32_t i = 0; i < measures.nr && !found; i++)
		found = tp->device_ids.v[measures.at + i] == tp->track[queue].device;
	return found && on_one_node(m, s, device, queue, tp && tp->track[queue].why == WHY_FILE);
}

enum topology_why topology_why_runs_on(const struct topology *tp, const struct model *m,
				       track_id queue, series_id s)
{
	struct counter_info ci = counter_info(m, s);

	if (!tp)
		return why_of(m, s, WHY_INDEX);
	return strcmp(topology_queue_device(tp, m, queue), topology_id(ci.device)) == 0
		       ? why_of(m, s, tp->track[queue].why)
		       : WHY_FILE;
}

bool topology_stated(const struct topology *tp)
{
	return tp->rules.nr || tp->counters.nr;
}
