#include "library_matching.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/model/sink.h"
#include "profrig/model/timebase.h"

#define CLIMB_MAX 64 /* open calls that are looked at for one that fits */

bool library_match_in_time(const struct library_row *r)
{
	return !strcmp(r->library, "onednn");
}

/* A primitive of one log, or a call that nothing is around on its own thread. */
struct primitive {
	int64_t start_ns, end_ns, pid;
	uint32_t event;
	uint32_t threads; /* on which a fitting call is open during all of it */
	uint64_t around;  /* on the last such thread, the innermost */
};

struct primitives {
	VEC(struct primitive) v;
};

static int primitive_by_time(const void *va, const void *vb)
{
	const struct primitive *a = va, *b = vb;

	ORDER(a->start_ns, b->start_ns);
	ORDER(a->event, b->event);
	return 0;
}

/* The innermost of the open calls that holds all of a primitive and has a fitting name. */
static uint64_t open_around(const struct matching *mt, const struct primitive *p,
			    const uint64_t *open, size_t n)
{
	const struct span_columns *c = &mt->m->spans;
	const char *operation = mt->lc->rows.v[mt->lc->events.v[p->event].row].operation;

	for (size_t i = 0; i < n && i < CLIMB_MAX; i++) {
		uint64_t span = open[n - 1 - i];

		if (c->end_ns[span] >= p->end_ns &&
		    library_operator_fits(operation, model_str(mt->m, c->name[span])))
			return span;
	}
	return SPAN_NONE;
}

/* One thread against primitives by time. meets: whether an input's times can be compared. */
static void thread_sweep(const struct matching *mt, const struct track *t, const bool *meets,
			 struct primitives *ps)
{
	const struct span_columns *c = &mt->m->spans;
	uint64_t at = t->first_span, end = at + t->spans;
	VEC(uint64_t) open = VEC_INIT;

	for (size_t i = 0; i < ps->v.nr; i++) {
		struct primitive *p = &ps->v.v[i];
		uint64_t around;

		for (; at < end && c->start_ns[at] <= p->start_ns; at++) {
			if (c->kind[at] != SPAN_HOST || !meets[span_input(c, at)])
				continue;
			while (open.nr && c->end_ns[open.v[open.nr - 1]] <= c->start_ns[at])
				open.nr--;
			VEC_PUSH(&open, at);
		}
		while (open.nr && c->end_ns[open.v[open.nr - 1]] < p->start_ns)
			open.nr--;
		if (p->pid != LIBRARY_NO_ID && t->pid != PID_NONE && p->pid != t->pid)
			continue;
		around = open_around(mt, p, open.v, open.nr);
		if (around == SPAN_NONE)
			continue;
		p->around = around;
		p->threads++;
	}
	VEC_RELEASE(&open);
}

static void primitives_settle(const struct matching *mt, const struct primitives *ps, bool meets)
{
	for (size_t i = 0; i < ps->v.nr; i++) {
		const struct primitive *p = &ps->v.v[i];
		struct library_row_match *r = &mt->lm->row[mt->lc->events.v[p->event].row];
		uint64_t span = p->threads == 1 ? p->around : SPAN_NONE;

		mt->lm->around[p->event] = span;
		if (mt->lm->span[p->event] != SPAN_NONE)
			continue; /* a call of its own: only its caller was looked for */
		r->calls += span != SPAN_NONE;
		if (span == SPAN_NONE && r->why == WHY_NONE)
			r->why = meets ? WHY_OPEN : WHY_CLOCK;
	}
}

/* The primitives of one log. */
static void log_match(const struct matching *mt, input_id input, struct primitives *ps)
{
	const struct model *m = mt->m;
	CLEANUP(xfreep) bool *meets = xcalloc(m->inputs.nr + 1, sizeof(*meets));
	bool any = false;

	for (size_t i = 0; i < m->inputs.nr; i++) {
		meets[i] = i != input && timebase_meets(m, input, (input_id)i);
		any |= meets[i] && m->inputs.v[i].spans > 0;
	}
	qsort(ps->v.v, ps->v.nr, sizeof(*ps->v.v), primitive_by_time);
	for (size_t i = 0; any && i < m->tracks.nr; i++)
		if (m->tracks.v[i].kind == TRACK_THREAD && !m->tracks.v[i].beside)
			thread_sweep(mt, &m->tracks.v[i], meets, ps);
	primitives_settle(mt, ps, any);
}

/* When an event was, on the common clock; false: it is not looked for in time. */
static bool primitive_of(const struct matching *mt, size_t event, struct primitive *ret)
{
	const struct library_event *e = &mt->lc->events.v[event];
	const struct library_stream *s = &mt->lc->streams.v[e->stream];
	const struct library_row *r = &mt->lc->rows.v[e->row];
	const struct span_columns *c = &mt->m->spans;
	uint64_t span = mt->lm->span[event];

	*ret = (struct primitive){ .pid = s->pid, .event = (uint32_t)event };
	if (library_match_in_time(r)) {
		ret->start_ns = time_shift(e->t_ns, mt->m->inputs.v[s->input].shift_ns);
		ret->end_ns = time_shift(ret->start_ns, e->dur_ns);
		return e->dur_ns >= 0 && e->t_ns != LIBRARY_NO_TIME;
	}
	if (span == SPAN_NONE || span_parent(c, span) != SPAN_NONE || !library_is_cpu(r->library))
		return false;
	ret->start_ns = c->start_ns[span];
	ret->end_ns = c->end_ns[span];
	return true;
}

void library_around_match(const struct matching *mt)
{
	const struct library_calls *lc = mt->lc;
	struct primitives ps = { VEC_INIT };

	/* events of one input are together */
	for (size_t i = 0; i < lc->events.nr;) {
		input_id input = lc->streams.v[lc->events.v[i].stream].input;
		struct primitive p;

		VEC_CLEAR(&ps.v);
		for (; i < lc->events.nr && lc->streams.v[lc->events.v[i].stream].input == input;
		     i++)
			if (primitive_of(mt, i, &p))
				VEC_PUSH(&ps.v, p);
		if (ps.v.nr)
			log_match(mt, input, &ps);
	}
	VEC_RELEASE(&ps.v);
}
