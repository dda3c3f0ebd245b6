#include "attribution_private.h"

/* Work on the device's queues; work on one queue may overlap too (a queue of several hardware
 * pipes), so each piece counts by itself. */
static void collect(struct attribution *a, bool *queues, struct intervals *running, bool *any)
{
	const struct span_columns *sp = &a->m->spans;

	for (track_id t = 0; t < a->m->tracks.nr; t++) {
		const struct track *tr = &a->m->tracks.v[t];

		queues[t] = energy_queue_takes_part(a, t);
		if (!queues[t])
			continue;
		for (size_t i = tr->first_span; i < tr->first_span + tr->spans; i++) {
			if (!span_is_work(a->m, i))
				continue;
			*any = true;
			intervals_add(running, sp->start_ns[i], sp->end_ns[i]);
		}
	}
}

static void read_queue(struct attribution *a, const struct share *sh, track_id t)
{
	const struct track *tr = &a->m->tracks.v[t];
	struct share_pos at = share_begin(sh);

	for (size_t i = tr->first_span; i < tr->first_span + tr->spans; i++) {
		struct span_energy e = { .span = i };

		if (!span_is_work(a->m, i))
			continue;
		e.from = at = share_seek(sh, at, a->m->spans.start_ns[i]);
		e.to = share_seek(sh, at, a->m->spans.end_ns[i]);
		sum_add(&e.exclusive_j, share_between(sh, e.from, e.to));
		e.exclusive_ns = share_live_between(sh, e.from, e.to);
		energy_write(a, sh, &e);
	}
}

bool energy_device(struct attribution *a)
{
	CLEANUP(xfreep) bool *queues = xcalloc(a->m->tracks.nr + 1, sizeof(*queues));
	struct intervals running = { VEC_INIT, VEC_INIT };
	struct steps active = { 0 };
	struct share sh = { 0 };
	bool any = false;

	collect(a, queues, &running, &any);
	if (any) {
		energy_alloc(a);
		steps_make(&running, &active);
		share_make(a->c, &active, a->o->independent, &sh, &a->totals);
		for (track_id t = 0; t < a->m->tracks.nr; t++) {
			if (queues[t])
				read_queue(a, &sh, t);
		}
	}
	share_release(&sh);
	steps_release(&active);
	intervals_release(&running);
	return any;
}
