#include "profrig/model/timebase.h"
#include "model_private.h"

#include "profrig/model/warnings.h"

void model_set_timebase(struct model *m, const struct timebase *tb)
{
	m->priv->timebase = tb;
}

/* monotonic − realtime of the anchor nearest to a real time: the real time clock may have been set
 * during a run. */
static int64_t realtime_shift(const struct timebase *tb, int64_t realtime_ns)
{
	uint64_t best = UINT64_MAX;
	int64_t shift = 0;

	for (size_t i = 0; i < tb->anchors.nr; i++) {
		const struct clock_anchor *a = &tb->anchors.v[i];
		int64_t d = time_clamp(a->realtime_ns) - time_clamp(realtime_ns);
		uint64_t distance = (uint64_t)(d < 0 ? -d : d);

		if (distance < best) {
			best = distance;
			shift = time_clamp(a->monotonic_ns) - time_clamp(a->realtime_ns);
		}
	}
	return shift;
}

static int64_t boottime_shift(const struct timebase *tb)
{
	__int128 sum = 0;

	for (size_t i = 0; i < tb->anchors.nr; i++)
		sum += (__int128)tb->anchors.v[i].monotonic_ns - tb->anchors.v[i].boottime_ns;
	return time_clamp((int64_t)(sum / (__int128)tb->anchors.nr));
}

static int64_t own_to_realtime(const struct input *in)
{
	return time_clamp(in->anchor_realtime_ns) - time_clamp(in->anchor_own_ns);
}

/* Its real time counts where the monotonic clock is another one, as in a time namespace. */
static int64_t origin_shift(const struct timebase *tb)
{
	const struct clock_origin *o = &tb->origin;
	int64_t own = time_clamp(o->own_ns), realtime = time_clamp(o->realtime_ns);

	if (o->monotonic_ns >= tb->workload_start_ns && o->monotonic_ns <= tb->workload_end_ns)
		return time_shift(time_clamp(o->monotonic_ns), -own);
	return time_shift(time_shift(realtime, realtime_shift(tb, realtime)), -own);
}

/* A recording of the workload that counts from its own beginning, at an unknown time: it fits
 * inside the workload, so it began at the workload's start or later by at most the rest. */
static bool fits_workload(const struct timebase *tb, const struct input *in)
{
	int64_t length = tb->workload_end_ns - tb->workload_start_ns;

	return in->from_start && tb->workload_start_ns > 0 && in->first_ns <= in->last_ns &&
	       in->first_ns >= 0 && in->last_ns <= length;
}

static bool start_shift(const struct timebase *tb, const struct input *in, int64_t *ret_shift_ns)
{
	if (tb->origin.known)
		*ret_shift_ns = origin_shift(tb);
	else if (fits_workload(tb, in))
		*ret_shift_ns = time_clamp(tb->workload_start_ns);
	else
		return false;
	return true;
}

bool timebase_shift(const struct timebase *tb, const struct input *in, int64_t *ret_shift_ns)
{
	bool anchors = tb && tb->anchors.nr > 0;
	int64_t middle = 0, to_real;

	*ret_shift_ns = 0;
	if (in->clock == TRACE_CLOCK_MONOTONIC || (!anchors && in->clock != TRACE_CLOCK_OWN))
		return true;
	if (!anchors)
		return false;
	if (in->clock == TRACE_CLOCK_OWN && !in->has_realtime_anchor)
		return start_shift(tb, in, ret_shift_ns);
	if (in->clock == TRACE_CLOCK_BOOTTIME) {
		*ret_shift_ns = boottime_shift(tb);
		return true;
	}
	to_real = in->clock == TRACE_CLOCK_OWN ? own_to_realtime(in) : 0;
	if (in->first_ns <= in->last_ns)
		middle = time_shift(in->first_ns / 2 + in->last_ns / 2, to_real);
	else if (in->clock == TRACE_CLOCK_OWN)
		middle = in->anchor_realtime_ns;
	else
		middle = tb->anchors.v[0].realtime_ns;
	*ret_shift_ns = time_shift(to_real, realtime_shift(tb, middle));
	return true;
}

void timebase_apply(struct model *m, input_id input)
{
	const struct timebase *tb = m->priv->timebase;
	struct input *in = &m->inputs.v[input];

	if (m->priv->input_states.v[input].fixed)
		return;
	in->aligned = timebase_shift(tb, in, &in->shift_ns);
	in->start_taken = in->aligned && in->clock == TRACE_CLOCK_OWN && tb &&
			  !in->has_realtime_anchor && !tb->origin.known;
	in->start_slack_ns =
		in->start_taken ? tb->workload_end_ns - tb->workload_start_ns - in->last_ns : 0;
	m->priv->input_states.v[input].anchored = tb && tb->anchors.nr > 0 && in->aligned;
}

/* Inputs of one domain share a clock. Inputs related by a run's anchors are in CLOCK_MONOTONIC. */
static enum trace_clock domain_of(const struct model *m, size_t i, bool own_is_realtime)
{
	const struct input *in = &m->inputs.v[i];

	if (m->priv->input_states.v[i].anchored)
		return TRACE_CLOCK_MONOTONIC;
	if (in->clock == TRACE_CLOCK_OWN && in->has_realtime_anchor && own_is_realtime)
		return TRACE_CLOCK_REALTIME;
	return in->clock;
}

/* An own clock with a real time is worth moving only when there is something to meet in real time.
 */
static bool realtime_wanted(const struct model *m)
{
	size_t nr = 0;

	for (size_t i = 0; i < m->inputs.nr; i++) {
		enum trace_clock domain = domain_of(m, i, true);

		nr += domain == TRACE_CLOCK_REALTIME;
	}
	return nr > 1;
}

/* What holds nothing has no clock to relate. */
static bool has_times(const struct input *in)
{
	return in->first_ns <= in->last_ns;
}

static void own_clocks_move(struct model *m, bool own_is_realtime)
{
	for (size_t i = 0; i < m->inputs.nr; i++) {
		struct input *in = &m->inputs.v[i];

		if (domain_of(m, i, own_is_realtime) != TRACE_CLOCK_REALTIME ||
		    in->clock != TRACE_CLOCK_OWN || m->priv->input_states.v[i].fixed)
			continue;
		m->priv->input_states.v[i].moved_ns += own_to_realtime(in) - in->shift_ns;
		in->shift_ns = own_to_realtime(in);
	}
}

static void inputs_relate(struct model *m)
{
	enum trace_clock common = TRACE_CLOCK_OWN;
	bool own_is_realtime = realtime_wanted(m);

	own_clocks_move(m, own_is_realtime);
	for (size_t i = 0; i < m->inputs.nr; i++) {
		if (common == TRACE_CLOCK_OWN && has_times(&m->inputs.v[i]))
			common = domain_of(m, i, own_is_realtime);
	}
	for (size_t i = 0; i < m->inputs.nr; i++) {
		struct input *in = &m->inputs.v[i];
		enum trace_clock domain = domain_of(m, i, own_is_realtime);

		in->aligned = domain != TRACE_CLOCK_OWN && domain == common;
		if (in->start_taken)
			model_warn(
				m, (input_id)i, W_CLOCK_ASSUMED, 1,
				"the times of %s count from a moment that it does not tell; it is "
				"taken for the start of the workload and may lie up to %.3f s "
				"later",
				in->path, (double)in->start_slack_ns * 1e-9);
		if (!in->aligned && has_times(in))
			model_warn(m, (input_id)i, W_NOT_ALIGNED, 1,
				   "the clock of %s cannot be related to that of the other inputs",
				   in->path);
	}
}

static void stored_move(struct model *m)
{
	const struct input_state *states = m->priv->input_states.v;
	struct span_columns *c = &m->spans;
	bool any = false;

	for (size_t i = 0; i < m->inputs.nr; i++)
		any = any || states[i].moved_ns != 0;
	if (!any)
		return;
	for (size_t i = 0; i < c->nr; i++) {
		c->start_ns[i] = time_shift(c->start_ns[i], states[span_input(c, i)].moved_ns);
		c->end_ns[i] = time_shift(c->end_ns[i], states[span_input(c, i)].moved_ns);
	}
	for (size_t i = 0; i < m->series.nr; i++) {
		struct series *se = &m->series.v[i];

		for (size_t k = 0; k < se->t_ns.nr; k++)
			se->t_ns.v[k] = time_shift(se->t_ns.v[k], states[se->input].moved_ns);
	}
}

void timebase_fix(struct model *m, input_id input)
{
	own_clocks_move(m, realtime_wanted(m));
	stored_move(m);
	for (size_t i = 0; i < m->inputs.nr; i++)
		m->priv->input_states.v[i].moved_ns = 0;
	m->priv->input_states.v[input].fixed = true;
}

/* Own clocks with a real time are left as they are where nothing was to be met in it. */
bool timebase_meets(const struct model *m, input_id a, input_id b)
{
	const struct input *in[] = { &m->inputs.v[a], &m->inputs.v[b] };
	enum trace_clock domain[2];

	if (a == b)
		return true;
	for (int i = 0; i < 2; i++) {
		domain[i] = domain_of(m, i ? b : a, false);
		if (domain[i] == TRACE_CLOCK_OWN || in[i]->start_taken)
			return false;
	}
	return domain[0] == domain[1];
}

static size_t inputs_with_times(const struct model *m)
{
	size_t nr = 0;

	for (size_t i = 0; i < m->inputs.nr; i++)
		nr += has_times(&m->inputs.v[i]);
	return nr;
}

void timebase_settle(struct model *m)
{
	if (inputs_with_times(m) > 1) {
		inputs_relate(m);
	} else {
		for (size_t i = 0; i < m->inputs.nr; i++)
			m->inputs.v[i].aligned = true;
	}
	stored_move(m);
}
