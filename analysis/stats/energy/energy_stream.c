#include "energy_stream.h"

#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/topology/topology.h"

struct energy_stream {
	struct model *m;
	const struct analysis_opts *o;
	struct counter_rules *rules;
	struct topology *topology;
	struct energy_opts energy; /* with the topology */
	struct energy_jobs jobs;
	VEC(struct lane_def) lanes;
	struct energy_run *run; /* NULL before it began */
};

/* ---- jobs ---- */

/* A counter without a device (a node, a CPU package) has no device view; one of an idle GPU has, if
 * the trace has queues. */
static bool has_device_view(const struct model *m, const struct series_label *l,
			    const struct energy_opts *o)
{
	const char *id = strrchr(l->info.device, ':');

	id = id ? id + 1 : l->info.device;
	if (!*id || m->series.v[l->series].exclusive_sync)
		return false;
	if (strncmp(id, "gpu", 3) == 0)
		return true;
	for (track_id t = 0; t < m->tracks.nr; t++) {
		if (energy_track_takes_part(m, o, l->series, l->info.device, VIEW_DEVICE, t))
			return true;
	}
	return false;
}

/* Also of queues on which nothing ran: the whole of a trace, its windows and a trace that is read
 * along have the same views. */
static bool knows_queues(const struct model *m)
{
	for (track_id t = 0; t < m->tracks.nr; t++)
		if (m->tracks.v[t].kind == TRACK_QUEUE)
			return true;
	return false;
}

void energy_jobs_find(const struct model *m, const struct series_label *labels,
		      const struct energy_opts *o, struct energy_jobs *ret)
{
	bool any_queue = knows_queues(m);

	for (size_t i = 0; i < m->series.nr; i++) {
		series_id s = labels[i].series;

		if (!counter_is_energy(&labels[i].info))
			continue;
		if (any_queue && has_device_view(m, &labels[i], o))
			VEC_PUSH(&ret->v, (struct energy_job){ s, VIEW_DEVICE });
		VEC_PUSH(&ret->v, (struct energy_job){ s, VIEW_HOST });
	}
}

/* ---- the stream ---- */

struct energy_stream *energy_stream_new(struct model *m, const struct analysis_opts *o,
					struct counter_rules *rules, struct topology *topology)
{
	struct energy_stream *es = xcalloc(1, sizeof(*es));

	es->m = m;
	es->o = o;
	es->rules = rules;
	es->topology = topology;
	return es;
}

void energy_stream_free(struct energy_stream *es)
{
	if (!es)
		return;
	energy_run_free(es->run);
	VEC_RELEASE(&es->jobs.v);
	VEC_RELEASE(&es->lanes);
	free(es);
}

static void stream_begin(void *ctx, const struct lane_feed *feeds, size_t n)
{
	struct energy_stream *es = ctx;
	CLEANUP(series_labels_freep) struct series_label *labels = NULL;

	es->energy = es->o->energy;
	if (!es->m->finished) {
		model_settle(es->m);
		counters_learn(es->m, es->rules);
		topology_prepare(es->topology, es->m);
		es->energy.topology = es->topology;
	}
	for (size_t i = 0; i < n; i++) {
		bool queue = es->m->tracks.v[feeds[i].track].kind == TRACK_QUEUE;

		VEC_PUSH(&es->lanes, (struct lane_def){ feeds[i].track,
							feeds[i].cover ? LANE_COVER
							: queue        ? LANE_WORK
								       : LANE_CALLS,
							feeds[i].rank });
	}
	labels = series_labels(es->m);
	energy_jobs_find(es->m, labels, &es->energy, &es->jobs);
	/* jobs are of known kinds, so this cannot fail */
	energy_run_new(es->m, es->jobs.v.v, es->jobs.v.nr, es->lanes.v, es->lanes.nr, &es->energy,
		       &es->run, NULL);
	if (es->run)
		energy_run_ranks(es->run, es->o->comm);
}

static void stream_round(void *ctx, const struct lane_feed *feeds, size_t n, int64_t horizon_ns,
			 struct workers *w)
{
	struct energy_stream *es = ctx;

	(void)n;
	if (es->run)
		energy_run_round(es->run, feeds, horizon_ns, w);
}

static void stream_save(void *ctx, struct strbuf *to)
{
	const struct energy_stream *es = ctx;

	if (es->run)
		energy_run_save(es->run, to);
}

static void stream_load(void *ctx, struct serial_in *from)
{
	struct energy_stream *es = ctx;

	if (es->run)
		energy_run_load(es->run, from);
}

struct lane_reader energy_stream_reader(struct energy_stream *es)
{
	return (struct lane_reader){ es, stream_begin, stream_round, stream_save, stream_load };
}

const struct energy_run *energy_stream_run(const struct energy_stream *es)
{
	return es->run;
}

void energy_stream_split(const struct energy_stream *es, const struct energy_classes *classes,
			 struct workers *workers)
{
	if (es->run)
		energy_run_split(es->run, classes, workers);
}

const struct lane_def *energy_stream_lanes(const struct energy_stream *es, size_t *ret_nr)
{
	*ret_nr = es->lanes.nr;
	return es->lanes.v;
}

size_t energy_stream_jobs(const struct energy_stream *es)
{
	return es->jobs.v.nr;
}

size_t energy_stream_job(const struct energy_stream *es, const struct energy_job *j)
{
	for (size_t i = 0; i < es->jobs.v.nr; i++) {
		if (es->jobs.v.v[i].series == j->series && es->jobs.v.v[i].view == j->view)
			return i;
	}
	return SIZE_MAX;
}

bool energy_stream_lacks(const struct energy_stream *es)
{
	CLEANUP(series_labels_freep) struct series_label *labels = NULL;
	bool lacks = false;

	counters_learn(es->m, es->rules);
	labels = series_labels(es->m);
	for (size_t i = 0; i < es->m->series.nr; i++) {
		struct energy_job host = { labels[i].series, VIEW_HOST };

		lacks |= counter_is_energy(&labels[i].info) &&
			 energy_stream_job(es, &host) == SIZE_MAX;
	}
	return lacks;
}
