#include "attribution_private.h"

static bool is_running(const struct accumulator *w, uint32_t node)
{
	for (size_t i = 0; i < w->running.nr; i++) {
		if (w->running.v[i].node == node)
			return true;
	}
	return false;
}

/* In sixteenths of a ns, so that sums do not depend on their order. */
static float log_time_ns(fixed128 time)
{
	return (float)(floor(fixed_time_value(time) * LOG_PER_NS) / LOG_PER_NS);
}

/* As of whole intervals, nothing of one that is dead for all counters. */
static bool is_live(const struct accumulator *w)
{
	for (size_t c = 0; c < w->grid->counters.nr; c++) {
		if (!w->rate[c].dead)
			return true;
	}
	return false;
}

void accumulator_log(struct accumulator *w, int64_t interval)
{
	if (!is_live(w))
		return;
	for (size_t i = 0; i < w->open_nodes.nr; i++) {
		uint32_t node = w->open_nodes.v[i];
		const struct touched *t = &w->node[node];

		interval_log_add(&w->log,
				 (struct log_entry){ .interval = (uint32_t)interval & LOG_INTERVAL,
						     .at_end = is_running(w, node),
						     .node = node,
						     .own_ns = (float)t->own_ns,
						     .share_ns = log_time_ns(t->share_time) });
	}
}

/* The share-time of a whole interval, from a counter that is not dead in it; 0: all are. */
static fixed128 whole_share_time(const struct share_curve *l, int64_t interval)
{
	size_t counters = l->grid->counters.nr;
	const struct share_sum *s = &l->before.v[(size_t)(interval - l->first_interval) * counters];
	fixed128 most = 0;

	for (size_t c = 0; c < counters; c++) {
		fixed128 time = s[counters + c].share_time - s[c].share_time;

		most = time > most ? time : most;
	}
	return most;
}

/* Of a block that is not wanted only the edges are looked at. */
void accumulator_log_whole(struct accumulator *w, const struct share_curve *l, uint32_t node,
			   int64_t from, int64_t to)
{
	const int64_t *t_ns = w->grid->t_ns;

	for (int64_t i = from; i < to; i++) {
		fixed128 share_time;

		if (!interval_log_wants(&w->log, i)) {
			i = interval_log_next(i) - 1;
			continue;
		}
		share_time = whole_share_time(l, i);
		if (share_time == 0)
			continue;
		interval_log_add(&w->log,
				 (struct log_entry){ .interval = (uint32_t)i & LOG_INTERVAL,
						     .at_end = 1,
						     .node = node,
						     .own_ns = (float)(t_ns[i + 1] - t_ns[i]),
						     .share_ns = log_time_ns(share_time) });
	}
}
