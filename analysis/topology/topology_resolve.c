/* Applies a topology to one model: makes a row for every track and every series. */
#include "topology_private.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/model/warnings.h"

/* ---- processes ---- */

static void find_sharers(struct topology_work *w)
{
	const struct model *m = w->m;
	struct topology_track *v = w->tp->track;

	for (track_id t = 0; t < m->tracks.nr; t++) {
		const struct track *tr = &m->tracks.v[t];
		struct topology_track *p = &v[topology_sharer(m, t)];

		v[t].run = -1;
		v[t].local_rank = -1;
		if (tr->kind == TRACK_PROCESS)
			v[t].is_sharer = true;
		if (tr->kind != TRACK_THREAD)
			continue;
		p->is_sharer = true;
		p->active |= model_has_calls(tr) && !tr->beside;
	}
}

static void set_ranks(struct topology_work *w)
{
	const struct model *m = w->m;
	struct topology_track *v = w->tp->track;

	for (track_id t = 0; t < m->tracks.nr; t++)
		v[t].rank = m->tracks.v[t].rank;
	for (track_id t = 0; t < m->tracks.nr; t++) {
		track_id p = topology_sharer(m, t);

		if (m->tracks.v[t].kind == TRACK_THREAD && v[p].rank == RANK_NONE)
			v[p].rank = m->tracks.v[t].rank;
	}
}

static int by_host_and_rank(const void *pa, const void *pb, void *ctx)
{
	const struct topology_work *w = ctx;
	track_id a = *(const track_id *)pa, b = *(const track_id *)pb;
	int d = strcmp(model_host_of(w->m, a), model_host_of(w->m, b));

	if (d)
		return d;
	if (w->tp->track[a].rank != w->tp->track[b].rank)
		return w->tp->track[a].rank < w->tp->track[b].rank ? -1 : 1;
	return (a > b) - (a < b);
}

/* Places of ranks among those of their host; processes of one rank have one place. */
static void set_local_ranks(struct topology_work *w)
{
	const struct model *m = w->m;
	CLEANUP(xfreep) track_id *v = xreallocarray(NULL, m->tracks.nr + 1, sizeof(*v));
	struct topology_track *track = w->tp->track;
	size_t nr = 0;

	for (track_id t = 0; t < m->tracks.nr; t++)
		if (track[t].is_sharer && track[t].rank != RANK_NONE)
			v[nr++] = t;
	qsort_r(v, nr, sizeof(*v), by_host_and_rank, w);
	for (size_t i = 0; i < nr; i++) {
		bool same_host =
			i > 0 && strcmp(model_host_of(m, v[i]), model_host_of(m, v[i - 1])) == 0;

		if (!same_host)
			track[v[i]].local_rank = 0;
		else
			track[v[i]].local_rank = track[v[i - 1]].local_rank +
						 (track[v[i]].rank != track[v[i - 1]].rank);
	}
}

static void match_rules(struct topology_work *w)
{
	struct topology *tp = w->tp;

	for (track_id t = 0; t < w->m->tracks.nr; t++) {
		if (!tp->track[t].is_sharer)
			continue;
		tp->track[t].rules.at = (uint32_t)tp->rule_ids.nr;
		for (uint32_t i = 0; i < tp->rules.nr; i++) {
			if (!topology_rule_matches(tp, &tp->rules.v[i], w->m, t))
				continue;
			VEC_PUSH(&tp->rule_ids, i);
			tp->track[t].rules.nr++;
			w->matched[i] = true;
		}
	}
}

static void find_runs(struct topology_work *w)
{
	const struct topology *tp = w->tp;

	for (track_id t = 0; t < w->m->tracks.nr; t++) {
		input_id in = w->m->tracks.v[t].input;

		for (size_t i = 0; tp->track[t].is_sharer && i < tp->runs.nr; i++)
			if (in >= tp->runs.v[i].first && in < tp->runs.v[i].end &&
			    topology_same_node(tp->runs.v[i].host, "", model_host_of(w->m, t), ""))
				tp->track[t].run = (int)i;
	}
}

/* The devices that each process has queues on, each once. */
static void set_owned(struct topology_work *w)
{
	struct topology *tp = w->tp;

	for (size_t i = 0; i < w->owners.nr; i++) {
		struct slice *s = &tp->track[w->owners.v[i].sharer].owned;
		str_id id = tp->track[w->owners.v[i].queue].device;
		bool known = id == 0;

		if (s->nr == 0)
			s->at = (uint32_t)tp->device_ids.nr;
		for (uint32_t k = 0; k < s->nr; k++)
			known |= tp->device_ids.v[s->at + k] == id;
		if (known)
			continue;
		VEC_PUSH(&tp->device_ids, id);
		s->nr++;
	}
}

/* ---- series ---- */

static const struct topology_counter *counter_of(const struct topology *tp, const char *node,
						 const char *device)
{
	for (size_t i = 0; i < tp->counters.nr; i++) {
		struct topology_rule as_rule = { .devices = { .v = &tp->counters.v[i].device,
							      .nr = 1 } };

		if (topology_rule_names(&as_rule, node, topology_id(device)))
			return &tp->counters.v[i];
	}
	return NULL;
}

static void add_id(struct topology *tp, struct topology_series *se, const char *id)
{
	VEC_PUSH(&tp->device_ids, intern_puts(tp->ids, id));
	se->measures.nr++;
}

static void name_series(struct topology_work *w, series_id s)
{
	struct topology *tp = w->tp;
	struct topology_series *se = &tp->series[s];
	const char *device = w->info[s].device, *id = topology_id(device);
	CLEANUP(xfreep)
	char *node = id > device ? xstrndup(device, (size_t)(id - device - 1))
				 : xstrdup(model_str(w->m, w->m->series.v[s].node));
	const struct topology_counter *c = counter_of(tp, node, device);

	se->measures.at = (uint32_t)tp->device_ids.nr;
	for (size_t i = 0; c && i < c->measures.nr; i++)
		add_id(tp, se, c->measures.v[i]);
	if (!c)
		add_id(tp, se, id);
	se->rules.at = (uint32_t)tp->rule_ids.nr;
	for (uint32_t i = 0; i < tp->rules.nr; i++) {
		bool named = false;

		for (uint32_t k = 0; k < se->measures.nr && !named; k++)
			named = topology_rule_names(
				&tp->rules.v[i], node,
				intern_str(tp->ids, tp->device_ids.v[se->measures.at + k]));
		if (!named)
			continue;
		VEC_PUSH(&tp->rule_ids, i);
		se->rules.nr++;
	}
}

static void name_all(struct topology_work *w)
{
	for (series_id s = 0; s < w->m->series.nr; s++)
		if (*w->info[s].device && counter_is_energy(&w->info[s]))
			name_series(w, s);
}

/* ---- all of it ---- */

static void list_devices(struct topology_work *w)
{
	const struct model *m = w->m;

	for (series_id s = 0; s < m->series.nr; s++) {
		const char *device = w->info[s].device, *node = model_str(m, m->series.v[s].node);
		CLEANUP(xfreep) char *whole = NULL;

		if (!*device)
			continue;
		whole = strchr(device, ':') || !*node ? xstrdup(device)
						      : xasprintf("%s:%s", node, device);
		intern_puts(w->devices, whole);
	}
	for (track_id t = 0; t < m->tracks.nr; t++) {
		const char *node = model_node_of(m, t);
		CLEANUP(xfreep) char *whole = NULL;

		if (!w->tp->track[t].device)
			continue;
		whole = xasprintf("%s%s%s", node, *node ? ":" : "",
				  intern_str(w->tp->ids, w->tp->track[t].device));
		intern_puts(w->devices, whole);
	}
}

static void work_release(struct topology_work *w)
{
	free(w->info);
	free(w->matched);
	intern_free(w->devices);
	VEC_RELEASE(&w->owners);
	VEC_RELEASE(&w->by_queue);
}

void topology_warn(struct topology_work *w, input_id input, const char *code, uint64_t count,
		   const char *fmt, ...)
{
	CLEANUP(xfreep) char *text = NULL;
	va_list ap;

	if (w->quiet)
		return;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	model_warn(w->m, input, code, count, "%s", text);
}

static void topology_decide(struct topology *tp, struct model *m, bool quiet)
{
	CLEANUP(work_release)
	struct topology_work w = { .tp = tp, .m = m, .devices = intern_new(), .quiet = quiet };

	topology_forget(tp);
	tp->ids = intern_new();
	tp->track = xcalloc(m->tracks.nr + 1, sizeof(*tp->track));
	tp->series = xcalloc(m->series.nr + 1, sizeof(*tp->series));
	w.info = xcalloc(m->series.nr + 1, sizeof(*w.info));
	w.matched = xcalloc(tp->rules.nr + 1, sizeof(*w.matched));
	for (series_id s = 0; s < m->series.nr; s++)
		w.info[s] = counter_info(m, s);
	find_sharers(&w);
	set_ranks(&w);
	set_local_ranks(&w);
	match_rules(&w);
	topology_find_owners(&w);
	topology_place_queues(&w);
	set_owned(&w);
	name_all(&w);
	list_devices(&w);
	topology_rules_check(&w);
	if (!tp->discover)
		return;
	find_runs(&w);
	topology_find_limits(&w);
}

void topology_resolve(struct topology *tp, struct model *m)
{
	topology_decide(tp, m, false);
}

void topology_prepare(struct topology *tp, struct model *m)
{
	topology_decide(tp, m, true);
}
