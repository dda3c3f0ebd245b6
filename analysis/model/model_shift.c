#include "profrig/model/model_shift.h"

#include "profrig/model/sink.h"

static bool tracks_hold(const struct model *m, const int64_t *by_ns)
{
	for (size_t t = 0; t < m->tracks.nr; t++) {
		uint64_t first = m->tracks.v[t].first_span;

		for (uint64_t i = first; i < first + m->tracks.v[t].spans; i++)
			if (by_ns[span_input(&m->spans, i)] != by_ns[span_input(&m->spans, first)])
				return false;
	}
	return true;
}

static void take_in(struct model *m, bool *seen, int64_t from_ns, int64_t to_ns)
{
	m->first_ns = !*seen || from_ns < m->first_ns ? from_ns : m->first_ns;
	m->last_ns = !*seen || to_ns > m->last_ns ? to_ns : m->last_ns;
	*seen = true;
}

/* As model_finish finds them: of all inputs with events. */
static void find_ends(struct model *m)
{
	bool seen = false;

	for (size_t i = 0; i < m->inputs.nr; i++) {
		const struct input *in = &m->inputs.v[i];
		if (in->first_ns <= in->last_ns)
			take_in(m, &seen, time_shift(in->first_ns, in->shift_ns),
				time_shift(in->last_ns, in->shift_ns));
	}
}

bool model_shift_inputs(struct model *m, const int64_t *by_ns)
{
	if (!tracks_hold(m, by_ns))
		return false;
	for (size_t i = 0; i < m->pieces.nr; i++) {
		struct span_piece *p = &m->pieces.v[i];
		p->start_ns = time_shift(p->start_ns, by_ns[span_input(&m->spans, p->span)]);
	}
	for (size_t i = 0; i < m->spans.nr; i++) {
		int64_t by = by_ns[span_input(&m->spans, i)];

		m->spans.start_ns[i] = time_shift(m->spans.start_ns[i], by);
		m->spans.end_ns[i] = time_shift(m->spans.end_ns[i], by);
	}
	for (size_t s = 0; s < m->series.nr; s++) {
		struct series *se = &m->series.v[s];
		for (size_t k = 0; k < se->t_ns.nr && by_ns[se->input]; k++)
			se->t_ns.v[k] = time_shift(se->t_ns.v[k], by_ns[se->input]);
	}
	for (size_t i = 0; i < m->inputs.nr; i++)
		m->inputs.v[i].shift_ns = time_shift(m->inputs.v[i].shift_ns, by_ns[i]);
	find_ends(m);
	return true;
}
