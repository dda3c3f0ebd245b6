/*
 * A model's profile read for energy jobs of the test's choice, in rounds that may be cut further:
 *
 *	struct energy_read r;
 *	energy_read(m, jobs, nr, &opts, 0, &r);
 *	energy_groups_make(r.p, r.lanes.v, r.lanes.nr, &g); energy_collect(&g, r.run, job);
 *	energy_read_release(&r);
 */
#ifndef ENERGY_READ_H
#define ENERGY_READ_H

#include "energy_rows.h"
#include "test.h"

#include "profrig/base/search.h"

struct energy_read {
	const struct model *m;
	const struct energy_job *jobs;
	size_t nr_jobs;
	const struct energy_opts *o;
	size_t cut; /* about as many events of a lane in each part of a round; 0: all */
	struct profile *p;
	VEC(struct lane_def) lanes;
	struct energy_run *run;
};

static inline void read_begin(void *ctx, const struct lane_feed *feeds, size_t n)
{
	struct energy_read *r = ctx;

	for (size_t i = 0; i < n; i++) {
		bool queue = r->m->tracks.v[feeds[i].track].kind == TRACK_QUEUE;

		VEC_PUSH(&r->lanes, ((struct lane_def){ feeds[i].track,
							feeds[i].cover ? LANE_COVER
							: queue        ? LANE_WORK
								       : LANE_CALLS,
							0 }));
	}
	assert_int_equal(energy_run_new(r->m, r->jobs, r->nr_jobs, r->lanes.v, r->lanes.nr, r->o,
					&r->run, NULL),
			 0);
}

/* The time of the earliest of the lanes' events number `cut`. */
static inline int64_t part_end(const struct lane_feed *feeds, size_t n, size_t cut, int64_t end_ns)
{
	for (size_t i = 0; i < n; i++)
		if (feeds[i].nr > cut && feeds[i].v[cut].t_ns < end_ns)
			end_ns = feeds[i].v[cut].t_ns;
	return end_ns;
}

static inline void read_round(void *ctx, const struct lane_feed *feeds, size_t n,
			      int64_t horizon_ns, struct workers *w)
{
	struct energy_read *r = ctx;
	CLEANUP(xfreep) struct lane_feed *rest = xcalloc(n + 1, sizeof(*rest));
	CLEANUP(xfreep) struct lane_feed *part = xcalloc(n + 1, sizeof(*part));
	size_t cut = r->cut;
	int64_t to_ns;

	for (size_t i = 0; i < n; i++)
		rest[i] = feeds[i];
	do {
		size_t fed = 0;

		to_ns = cut ? part_end(rest, n, cut, horizon_ns) : horizon_ns;
		for (size_t i = 0; i < n; i++) {
			part[i] = rest[i];
			if (to_ns != horizon_ns)
				part[i].nr =
					LOWER_BOUND(k, 0, rest[i].nr, rest[i].v[k].t_ns < to_ns);
			part[i].changes = part[i].nr;
			rest[i].v += part[i].nr;
			rest[i].nr -= part[i].nr;
			fed += part[i].nr;
		}
		energy_run_round(r->run, part, to_ns, w);
		/* more events at one time than a part holds */
		cut = fed ? r->cut : 2 * cut;
	} while (to_ns != horizon_ns);
}

static inline void energy_read(struct model *m, const struct energy_job *jobs, size_t nr_jobs,
			       const struct energy_opts *o, size_t cut, struct energy_read *ret)
{
	struct profile_opts po = { .threads = 1,
				   .lanes = { ret, read_begin, read_round, NULL, NULL } };

	*ret = (struct energy_read){ .m = m, .jobs = jobs, .nr_jobs = nr_jobs, .o = o, .cut = cut };
	ret->p = profile_of_model(m, &po);
}

static inline void energy_read_release(struct energy_read *r)
{
	energy_run_free(r->run);
	profile_free(r->p);
	VEC_RELEASE(&r->lanes);
}

#endif
