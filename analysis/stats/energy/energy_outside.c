#include "energy_outside.h"

#include <stdlib.h>

#include "profrig/base/xalloc.h"

struct outside {
	const struct model *m;
	const struct energy_groups *g;
	const struct lane_def *lanes;
};

/* Of a lane those that begin before or end after a window; most lanes have none. */
static uint64_t calls_outside(const struct outside *o, size_t lane, const struct window *w)
{
	const struct span_columns *c = &o->m->spans;
	const struct track *t = &o->m->tracks.v[o->lanes[lane].track];
	bool work = o->g->places.v[lane].mode == LANE_WORK;
	uint64_t nr = 0, end = t->first_span + t->spans;

	if (o->g->places.v[lane].mode == LANE_COVER)
		return 0;
	for (uint64_t i = t->first_span; i < end; i++)
		nr += c->start_ns[i] < w->from_ns || c->end_ns[i] > w->to_ns;
	if (nr == 0)
		return 0;
	nr = 0;
	for (uint64_t i = t->first_span; i < end; i++)
		nr += (c->start_ns[i] < w->from_ns || c->end_ns[i] > w->to_ns) &&
		      c->start_ns[i] != c->end_ns[i] && (!work || span_is_work(o->m, i));
	return nr;
}

/* The counter for which calls are outside first. */
static const char *counter_of(const struct outside *o, const struct energy_run *run,
			      const struct sampled_jobs *jobs)
{
	for (size_t i = 0; i < jobs->v.nr; i++) {
		const struct sampled_job *j = &jobs->v.v[i];

		for (size_t l = 0; l < energy_run_lanes(run, j->number); l++)
			if (calls_outside(o, energy_run_lane(run, j->number, l), &j->w))
				return j->counter;
	}
	return "";
}

/* By lane: the time that all of its counters sampled. */
static struct window *sampled_by_all(const struct energy_groups *g, const struct energy_run *run,
				     const struct sampled_jobs *jobs)
{
	struct window *all = xcalloc(g->places.nr + 1, sizeof(*all));

	for (size_t l = 0; l < g->places.nr; l++)
		all[l] = (struct window){ INT64_MIN, INT64_MAX };
	for (size_t i = 0; i < jobs->v.nr; i++) {
		const struct sampled_job *j = &jobs->v.v[i];

		for (size_t l = 0; l < energy_run_lanes(run, j->number); l++) {
			struct window *of = &all[energy_run_lane(run, j->number, l)];

			of->from_ns = j->w.from_ns > of->from_ns ? j->w.from_ns : of->from_ns;
			of->to_ns = j->w.to_ns < of->to_ns ? j->w.to_ns : of->to_ns;
		}
	}
	return all;
}

uint64_t energy_calls_outside(const struct model *m, const struct energy_groups *g,
			      const struct lane_def *lanes, const struct energy_run *run,
			      const struct sampled_jobs *jobs, const char **ret_counter)
{
	struct outside o = { m, g, lanes };
	CLEANUP(xfreep) struct window *all = sampled_by_all(g, run, jobs);
	uint64_t nr = 0;

	for (size_t l = 0; l < g->places.nr; l++)
		nr += calls_outside(&o, l, &all[l]);
	if (nr)
		*ret_counter = counter_of(&o, run, jobs);
	return nr;
}
