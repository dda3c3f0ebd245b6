/*
 * --skip-first and --steady: the part of a trace in the iterations that count. On threads it is the
 * time from the first such iteration's marker to the end of the last one, or of its works; on
 * devices it is the works that these iterations launched, wherever in that time they ran.
 */
#include "session_private.h"

#include <errno.h>
#include <inttypes.h>

#include "profrig/base/u64map.h"
#include "profrig/work/iterations.h"

struct steady {
	struct iterations *it;
	struct works *w;
	struct window at;
	size_t kept;
	uint8_t *drop; /* by span */
};

/* The first iteration of a group that counts. */
static size_t first_kept(const struct session_opts *o, const struct iteration_group *g)
{
	size_t skip = o->skip_first > 0 ? (size_t)o->skip_first : 0;

	if (o->steady && g->steady > skip)
		skip = g->steady;
	return skip < g->nr ? skip : g->nr;
}

static void group_keep(struct steady *st, const struct session_opts *o,
		       const struct iteration_group *g, uint8_t *keep)
{
	for (size_t i = first_kept(o, g); i < g->nr; i++) {
		const struct iteration *k = &st->it->v.v[g->first + i];

		keep[g->first + i] = 1;
		st->kept++;
		if (k->start_ns < st->at.from_ns)
			st->at.from_ns = k->start_ns;
		if (k->end_ns > st->at.to_ns)
			st->at.to_ns = k->end_ns;
		if (k->works && k->device_end_ns > st->at.to_ns)
			st->at.to_ns = k->device_end_ns;
	}
}

/* Works of other iterations go, and those that no iteration launched though something did. */
static void works_drop(struct steady *st, const uint8_t *keep)
{
	for (size_t i = 0; i < st->w->v.nr; i++) {
		uint32_t own = st->it->of_work[i];

		if (own == U64MAP_NONE ? st->w->v.v[i].launch != SPAN_NONE : !keep[own])
			st->drop[st->w->v.v[i].span] = 1;
	}
}

static int none_kept(struct session *s, const struct steady *st, struct err *err)
{
	const char *option = s->o->skip_first > 0 ? "--skip-first" : "--steady";

	if (st->it->v.nr == 0)
		err_set(err, EINVAL,
			"%s: the inputs have no iterations (ranges such as ProfilerStep#3; "
			"--marker "
			"PATTERN names others)",
			option);
	else
		err_set(err, EINVAL, "%s %ld: nothing is left of %zu iterations", option,
			s->o->skip_first, st->it->v.nr);
	return session_fail(s->out, SESSION_BAD_REQUEST, -EINVAL);
}

int session_steady_cut(struct session *s, struct model_windowed *ret, struct err *err)
{
	struct steady st = { .at = { INT64_MAX, INT64_MIN } };
	uint8_t *keep;
	int r;

	model_nest(s->m);
	st.w = works_new(s->m);
	r = iterations_new(s->m, st.w, s->o->analysis.marker, &st.it, err);
	if (r < 0) {
		works_free(st.w);
		return session_fail(s->out, SESSION_BAD_REQUEST, r);
	}
	keep = xcalloc(st.it->v.nr + 1, 1);
	st.drop = xcalloc(s->m->spans.nr + 1, 1);
	for (size_t g = 0; g < st.it->groups.nr; g++)
		group_keep(&st, s->o, &st.it->groups.v[g], keep);
	if (st.kept) {
		works_drop(&st, keep);
		model_window_without(s->m, &st.at, 1, st.drop, ret);
	} else {
		r = none_kept(s, &st, err);
	}
	free(keep);
	free(st.drop);
	iterations_free(st.it);
	works_free(st.w);
	return r;
}
