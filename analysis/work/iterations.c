#include "iterations_private.h"
#include "xla_warmup.h"

#include <stdlib.h>

#include "profrig/base/change_points.h"
#include "profrig/base/search.h"
#include "profrig/base/sort.h"
#include "profrig/work/steady.h"

/* ---- which works an iteration owns ---- */

/* The iteration of a group that is open at a time; U64MAP_NONE. */
static uint32_t iteration_at(const struct iterations *it, const struct iteration_group *g,
			     int64_t t_ns)
{
	size_t after = LOWER_BOUND(at, g->first, g->first + g->nr, it->v.v[at].start_ns <= t_ns);

	if (after == g->first || t_ns >= it->v.v[after - 1].end_ns)
		return U64MAP_NONE;
	return (uint32_t)(after - 1);
}

/* The process of a thread; where the trace has no track of it, by its id. */
static uint64_t process_key(const struct model *m, track_id t)
{
	track_id p = model_process_of(m, t);

	return p != TRACK_NONE ? p : u64map_pair(1, (uint32_t)m->tracks.v[t].pid);
}

uint32_t iterations_at(const struct iterations *it, const struct model *m, uint64_t span)
{
	track_id t = m->spans.track[span];
	uint32_t g = u64map_get(&it->of_thread, t);

	if (g == U64MAP_NONE)
		g = u64map_get(&it->of_process, process_key(m, t));
	return g == U64MAP_NONE ? U64MAP_NONE
				: iteration_at(it, &it->groups.v[g], m->spans.start_ns[span]);
}

static void works_own(struct iterations *it, const struct works *w)
{
	const struct model *m = w->m;

	for (size_t g = 0; g < it->groups.nr; g++) {
		track_id t = it->v.v[it->groups.v[g].first].track;
		uint32_t *at = u64map_at(&it->of_process, process_key(m, t));

		*u64map_at(&it->of_thread, t) = (uint32_t)g;
		if (*at == U64MAP_NONE)
			*at = (uint32_t)g;
	}
	for (size_t i = 0; i < w->v.nr; i++)
		if (w->v.v[i].launch != SPAN_NONE)
			it->of_work[i] = iterations_at(it, m, w->v.v[i].launch);
}

/* ---- sums of the works ---- */

static void iteration_add(struct iteration *i, const struct work *o)
{
	int64_t from = o->start_ns;

	if (i->works == 0) {
		i->device_start_ns = o->start_ns;
		i->device_end_ns = o->start_ns;
	}
	if (from < i->device_end_ns)
		from = i->device_end_ns;
	if (o->end_ns > from)
		i->union_ns += o->end_ns - from;
	if (o->end_ns > i->device_end_ns)
		i->device_end_ns = o->end_ns;
	i->sum_ns += o->end_ns - o->start_ns;
	i->works++;
}

static void works_sum(struct iterations *it, const struct works *w)
{
	struct sort_span *v = xcalloc(w->v.nr + 1, sizeof(*v));
	size_t nr = 0;

	/* by iteration, then by start: the longer first, which is the larger -start */
	for (size_t i = 0; i < w->v.nr; i++)
		if (it->of_work[i] != U64MAP_NONE)
			v[nr++] = (struct sort_span){ it->of_work[i], -w->v.v[i].start_ns, i };
	sort_spans(v, nr);
	for (size_t i = 0; i < nr; i++)
		iteration_add(&it->v.v[v[i].start_ns], &w->v.v[v[i].row]);
	free(v);
}

/* ---- steady state ---- */

static void changes_mark(struct iterations *it, const struct iteration_group *g)
{
	struct change_points found = { VEC_INIT };
	double *x;

	if (g->nr < 8 || g->nr > CHANGE_VALUES_MAX)
		return;
	x = xcalloc(g->nr, sizeof(*x));
	for (size_t i = 0; i < g->nr; i++)
		x[i] = (double)iteration_ns(&it->v.v[g->first + i]);
	change_points_windowed(x, g->nr, 50, 0.001, 0.05, &found);
	for (size_t i = 0; i < found.v.nr; i++)
		it->v.v[g->first + found.v.v[i].at].change = true;
	change_points_release(&found);
	free(x);
}

static void group_settle(struct iterations *it, const struct works *w, struct iteration_group *g)
{
	size_t told = xla_warmup(it, w, g);
	int64_t *dur_ns = xcalloc(g->nr + 1, sizeof(*dur_ns));

	for (size_t i = 0; i < g->nr; i++) {
		it->v.v[g->first + i].index = (uint32_t)i;
		dur_ns[i] = iteration_ns(&it->v.v[g->first + i]);
	}
	g->steady = steady_from(dur_ns, g->nr);
	if (told >= g->nr)
		it->all_warmup++;
	g->steady = told >= g->nr ? 0 : told > g->steady ? told : g->steady;
	for (size_t i = g->steady; i < g->nr; i++)
		it->v.v[g->first + i].steady = true;
	free(dur_ns);
	changes_mark(it, g);
}

int iterations_new(const struct model *m, const struct works *w, const char *pattern,
		   struct iterations **ret, struct err *err)
{
	struct iterations *it = xcalloc(1, sizeof(*it));
	int r;

	it->of_work = xcalloc(w->v.nr + 1, sizeof(*it->of_work));
	for (size_t i = 0; i < w->v.nr; i++)
		it->of_work[i] = U64MAP_NONE;
	r = markers_find(it, m, pattern, err);
	if (r < 0) {
		iterations_free(it);
		return r;
	}
	periods_find(it, w);
	if (it->groups.nr)
		works_own(it, w);
	else if (!pattern)
		periods_own(it, w);
	works_sum(it, w);
	periods_times(it);
	for (size_t g = 0; g < it->groups.nr; g++)
		group_settle(it, w, &it->groups.v[g]);
	*ret = it;
	return 0;
}

void iterations_free(struct iterations *it)
{
	if (!it)
		return;
	VEC_RELEASE(&it->v);
	VEC_RELEASE(&it->groups);
	VEC_RELEASE(&it->periods);
	u64map_release(&it->of_thread);
	u64map_release(&it->of_process);
	free(it->of_work);
	free(it);
}
