/*
 * Rounds. Tracks are read in parallel, each until its buffer is full. All of them are complete up
 * to the earliest of their last times, the horizon; events before it go to the reader of lanes and
 * are dropped. That frees room, so every round advances. Tracks without a reader of their events
 * are read to the end at once.
 */
#include "profile_private.h"

#include <string.h>

#include "profrig/base/progress.h"
#include "profrig/base/search.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/name_map.h"
#include "profrig/model/warnings.h"

/* Small enough to stay in a cache: larger ones are slower. */
#define BUFFER_BYTES ((size_t)4 << 20)

/* ---- lanes of the sources ---- */

/* Two locations of one reference are one track: their sources are read in turn. */
static void lanes_make(struct profile *p, struct source *const *v, size_t n)
{
	struct profile_priv *priv = p->priv;
	CLEANUP(u64map_release) struct u64map by_track = U64MAP_INIT;

	priv->first_lane = priv->lanes.nr;
	atomic_store(&priv->pulled, 0);
	for (size_t i = 0; i < n; i++) {
		uint32_t *at = u64map_at(&by_track, v[i]->track);
		struct lane *l;

		if (*at == U64MAP_NONE)
			*at = (uint32_t)lane_add(p, v[i]->track)->index;
		l = priv->lanes.v[*at];
		VEC_PUSH(&l->sources, v[i]);
		l->samples_only &= v[i]->samples_only;
		l->in_step |= v[i]->callsites && !v[i]->samples_only;
	}
}

static void progress_begin(const struct profile *p)
{
	uint64_t records = 0;

	for (size_t i = p->priv->first_lane; i < p->priv->lanes.nr; i++) {
		const struct lane *l = p->priv->lanes.v[i];

		for (size_t k = 0; is_own(p, l) && k < l->sources.nr; k++)
			records += l->sources.v[k]->records;
	}
	progress_items(records);
}

static void lanes_share_buffer(struct profile *p)
{
	struct profile_priv *priv = p->priv;
	size_t bytes = priv->o.buffer_bytes ? priv->o.buffer_bytes : BUFFER_BYTES, nr = 0;

	for (size_t i = priv->first_lane; i < priv->lanes.nr; i++) {
		struct lane *l = priv->lanes.v[i];

		l->keeps_events = l->t.queue || (l->nests && priv->o.lanes.round);
		l->in_step |= l->keeps_events;
		nr += l->in_step && is_own(p, l);
	}
	priv->lane_events = nr ? bytes / sizeof(struct lane_event) / nr : 0;
	if (priv->lane_events < LANE_EVENTS_MIN)
		priv->lane_events = LANE_EVENTS_MIN;
	/* at once: growing would take half as much again */
	for (size_t i = priv->first_lane; i < priv->lanes.nr; i++)
		if (priv->lanes.v[i]->keeps_events && is_own(p, priv->lanes.v[i]))
			VEC_RESERVE(&priv->lanes.v[i]->events, priv->lane_events);
}

/* ---- rounds ---- */

#define EVENTS_DROP(events, seen) \
	do { \
		(events)->nr -= *(seen); \
		if (*(seen)) \
			memmove((events)->v, (events)->v + *(seen), \
				(events)->nr * sizeof(*(events)->v)); \
		*(seen) = 0; \
	} while (0)

/* What was handed out is forgotten. */
static void events_drop(struct lane *l)
{
	EVENTS_DROP(&l->events, &l->seen);
	EVENTS_DROP(&l->cover, &l->cover_seen);
	l->changes = 0;
	for (size_t k = 0; k < l->events.nr; k++)
		l->changes += l->events.v[k].change != 0;
}

static void job_pull(void *profile, size_t i, unsigned worker)
{
	struct profile *p = profile;
	struct lane *l = p->priv->lanes.v[p->priv->first_lane + i];

	events_drop(l);
	if (is_own(p, l) && !l->done)
		lane_pull(l, &p->priv->by_worker[worker]);
}

static void job_pull_samples(void *profile, size_t i, unsigned worker)
{
	struct profile *p = profile;
	struct lane *l = p->priv->lanes.v[p->priv->first_lane + i];

	if (l->samples_only && is_own(p, l) && !l->done)
		lane_pull(l, &p->priv->by_worker[worker]);
}

static void job_find_calls(void *profile, size_t i, unsigned worker)
{
	struct profile *p = profile;
	struct lane *l = p->priv->lanes.v[p->priv->first_lane + i];

	(void)worker;
	l->calls = false;
	for (size_t k = 0; l->nests && is_own(p, l) && !l->calls && k < l->sources.nr; k++)
		l->calls =
			l->sources.v[k]->has_calls && l->sources.v[k]->has_calls(l->sources.v[k]);
}

/*
 * Energy needs to know which processes have calls (topology.h) before the first one is read.
 */
static void calls_find(struct profile *p)
{
	struct profile_priv *priv = p->priv;

	workers_run(priv->workers, priv->lanes.nr - priv->first_lane, job_find_calls, p);
	ranks_calls(p);
	for (size_t i = priv->first_lane; i < priv->lanes.nr; i++)
		p->m->tracks.v[priv->lanes.v[i]->t.track].calls |= priv->lanes.v[i]->calls;
}

/* Reads the counters with locations of their own before anything else. */
static void pull_samples(struct profile *p)
{
	struct profile_priv *priv = p->priv;

	workers_run(priv->workers, priv->lanes.nr - priv->first_lane, job_pull_samples, p);
	ranks_samples(p);
	for (size_t i = priv->first_lane; i < priv->lanes.nr; i++)
		if (priv->lanes.v[i]->samples_only)
			lane_series_merge(priv->lanes.v[i]);
}

/* Every track that this rank reads is complete before it. */
static int64_t lanes_horizon(const struct profile *p)
{
	const struct profile_priv *priv = p->priv;
	int64_t t = INT64_MAX;

	for (size_t i = priv->first_lane; i < priv->lanes.nr; i++) {
		const struct lane *l = priv->lanes.v[i];

		if (is_own(p, l) && l->in_step && !l->done && l->now_ns < t)
			t = l->now_ns;
	}
	return t;
}

/* Events are in the order of time. */
static size_t events_before(const struct lane_event *v, size_t nr, int64_t t_ns)
{
	return t_ns == INT64_MAX ? nr : LOWER_BOUND(i, 0, nr, v[i].t_ns < t_ns);
}

static void feeds_make(struct profile *p)
{
	struct profile_priv *priv = p->priv;

	VEC_CLEAR(&priv->feeds);
	for (size_t i = priv->first_lane; i < priv->lanes.nr; i++) {
		struct lane *l = priv->lanes.v[i];

		if (!l->keeps_events)
			continue;
		VEC_PUSH(&priv->feeds, (struct lane_feed){ .track = l->t.track,
							   .v = l->events.v,
							   .nr = l->seen,
							   .changes = l->changes,
							   .rank = l->rank,
							   .nodes = (uint32_t)l->t.nodes.nr,
							   .rows = l->t.rows,
							   .row_of = l->t.row_of.v });
		if (l->covers)
			VEC_PUSH(&priv->feeds, (struct lane_feed){ .track = l->t.track,
								   .v = l->cover.v,
								   .nr = l->cover_seen,
								   .cover = true,
								   .changes = l->cover_seen,
								   .rank = l->rank,
								   .nodes = l->t.rows,
								   .rows = l->t.rows });
	}
}

static void profile_begin(struct profile *p)
{
	struct profile_priv *priv = p->priv;

	if (!priv->o.lanes.round)
		return;
	feeds_make(p);
	priv->o.lanes.begin(priv->o.lanes.ctx, priv->feeds.v, priv->feeds.nr);
}

static void hand_out(struct profile *p, int64_t t_ns)
{
	struct profile_priv *priv = p->priv;

	for (size_t i = priv->first_lane; i < priv->lanes.nr; i++) {
		struct lane *l = priv->lanes.v[i];

		if (!l->keeps_events)
			continue;
		l->seen = events_before(l->events.v, l->events.nr, t_ns);
		l->cover_seen = events_before(l->cover.v, l->cover.nr, t_ns);
	}
	workers_run(priv->workers, p->devices.nr, device_round, p);
	if (!priv->o.lanes.round)
		return;
	feeds_make(p);
	priv->o.lanes.round(priv->o.lanes.ctx, priv->feeds.v, priv->feeds.nr, t_ns, priv->workers);
}

static void worker_release(struct worker *w)
{
	for (size_t i = 0; i < w->calls.nr; i++)
		sketch_release(&w->calls.v[i].sketch);
	VEC_RELEASE(&w->calls);
}

/* Merges the counts of the workers. */
static void calls_gather(struct profile *p)
{
	for (unsigned w = 0; w < workers_count(p->priv->workers); w++) {
		struct worker *from = &p->priv->by_worker[w];

		worker_count(from);
		for (size_t i = 0; i < from->calls.nr; i++) {
			moments_merge(&p->calls.v[i].ns, &from->calls.v[i].ns);
			sketch_merge(&p->calls.v[i].sketch, &from->calls.v[i].sketch);
		}
		worker_release(from);
	}
}

static void launches_say(struct profile *p)
{
	struct profile_priv *priv = p->priv;

	if (priv->tied + priv->untied)
		sink_fact(model_sink(p->m), "launches", (int64_t)priv->tied);
	if (priv->untied)
		model_warn(p->m, priv->input, W_UNLINKED_WORK, priv->untied, SAY_UNLINKED_WORK);
	priv->tied = priv->untied = 0;
}

void profile_rounds(struct profile *p)
{
	struct profile_priv *priv = p->priv;
	bool marks;
	int64_t t_ns;

	lanes_share_buffer(p);
	profile_begin(p);
	do {
		workers_run(priv->workers, priv->lanes.nr - priv->first_lane, job_pull, p);
		t_ns = ranks_horizon(p, lanes_horizon(p), &marks);
		hand_out(p, t_ns);
		launches_match(p, t_ns, marks);
	} while (t_ns != INT64_MAX);
	calls_gather(p);
}

static void take_sources(void *profile, struct source *const *v, size_t n)
{
	struct profile *p = profile;
	struct profile_priv *priv = p->priv;

	ranks_agree(p, v, n, NULL);
	name_map_update(p->m);
	priv->input = (input_id)(p->m->inputs.nr - 1);
	priv->shift_ns = p->m->inputs.v[priv->input].shift_ns;
	lanes_make(p, v, n);
	ranks_assign(p);
	calls_find(p);
	progress_begin(p);
	pull_samples(p);
	profile_rounds(p);
	ranks_reduce(p);
	credits_pay(p);
	for (size_t i = priv->first_lane; i < priv->lanes.nr; i++)
		lane_close(priv->lanes.v[i]);
	launches_say(p);
	for (size_t i = priv->first_lane; i < priv->lanes.nr; i++)
		lane_say_open(priv->lanes.v[i]);
}

/* ---- life ---- */

void profile_give_up(struct profile *p, const char *why)
{
	if (!p->priv->agreed)
		ranks_agree(p, NULL, 0, why);
}

struct profile *profile_alloc(struct model *m, const struct profile_opts *o)
{
	struct profile *p = xcalloc(1, sizeof(*p));

	p->m = m;
	p->priv = xcalloc(1, sizeof(*p->priv));
	p->priv->o = *o;
	p->priv->workers = workers_new(o->threads);
	p->priv->by_worker = xcalloc(workers_count(p->priv->workers), sizeof(*p->priv->by_worker));
	pthread_mutex_init(&p->priv->lock, NULL);
	return p;
}

struct profile *profile_new(struct model *m, const struct profile_opts *o)
{
	struct profile *p = profile_alloc(m, o);

	model_set_sources(m, take_sources, p);
	return p;
}

static void priv_free(struct profile_priv *priv)
{
	for (unsigned i = 0; i < workers_count(priv->workers); i++)
		worker_release(&priv->by_worker[i]);
	free(priv->by_worker);
	workers_free(priv->workers);
	for (size_t i = 0; i < priv->lanes.nr; i++)
		lane_free(priv->lanes.v[i]);
	VEC_RELEASE(&priv->lanes);
	VEC_RELEASE(&priv->feeds);
	for (size_t i = 0; i < priv->devices.nr; i++)
		VEC_RELEASE(&priv->devices.v[i].lanes);
	VEC_RELEASE(&priv->devices);
	launches_release(priv);
	u64map_release(&priv->symbols);
	u64map_release(&priv->call_ids);
	pthread_mutex_destroy(&priv->lock);
	free(priv);
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	priv_free(p->priv);
	for (size_t i = 0; i < p->calls.nr; i++)
		sketch_release(&p->calls.v[i].sketch);
	VEC_RELEASE(&p->calls);
	VEC_RELEASE(&p->devices);
	VEC_RELEASE(&p->tracks);
	free(p);
}

void profile_finish(struct profile *p)
{
	device_sum(p);
	for (size_t i = 0; i < p->tracks.nr; i++) {
		struct profile_track *t = p->tracks.v[i];

		tree_sum(t);
		tree_mark_recursion(t, p->calls.nr);
		longest_sort(t);
		/* makes names of tracks unique */
		if (!p->of_model)
			p->m->tracks.v[t->track].spans += t->spans;
	}
}

/*
 * Bytes of a record of an archive in a model: half a span of 29 bytes in columns, of up to 65 where
 * all are filled, and the memory of analyses to sort durations and build trees. Measured: 19 for
 * calls alone; this is for archives with device work.
 */
#define MODEL_BYTES_PER_RECORD 48

bool profile_is_better(uint64_t records, uint64_t memory_bytes)
{
	return memory_bytes > 0 && records > memory_bytes / 4 / MODEL_BYTES_PER_RECORD;
}
