/*
 * Begins and ends of a track form a stack. They are paired in the order of the file, which is that
 * of time where one writer has the track. A track is sorted by time first where the walk before saw
 * that this does not hold: two writers whose times interleave, two clocks, or an end before its
 * begin.
 *
 * A slice is pushed when it ends. Of slices with one start the outer one must be pushed first, as
 * the model takes the first of two equal spans for the outer one; so a slice that began together
 * with the one around it waits for that one's end.
 */
#include "perfetto.h"

#include "profrig/base/search.h"

/* An open slice, with room for its vector to grow. */
#define OPEN_BYTES (2 * sizeof(struct pf_open))
#define START_BYTES (2 * sizeof(int64_t))
#define LATE_BYTES (sizeof(struct pf_late) * 3 / 2)

/* ---- the first walk ---- */

void pf_slice_survey(struct pf *p, uint32_t track, uint8_t type, int64_t own_ns, uint64_t clock,
		     uint32_t seq)
{
	struct pf_track *t = &p->tracks.v[track];

	t->begins += type == PF_BEGIN;
	if (t->sorted)
		return;
	if (t->last_own_ns != INT64_MIN &&
	    (clock != t->last_clock || (seq != t->last_seq && own_ns < t->last_own_ns)))
		t->sorted = true;
	t->last_own_ns = own_ns;
	t->last_clock = clock;
	t->last_seq = seq;
	if (type == PF_BEGIN && pf_memory(p, START_BYTES)) {
		VEC_PUSH(&t->starts, own_ns);
	} else if (type == PF_END && t->starts.nr > 0) {
		t->sorted |= own_ns < t->starts.v[--t->starts.nr];
		p->budget.left += START_BYTES;
	}
}

void pf_survey_end(struct pf *p)
{
	for (size_t i = 0; i < p->tracks.nr; i++) {
		struct pf_track *t = &p->tracks.v[i];

		p->budget.left += (int64_t)(t->starts.nr * START_BYTES);
		VEC_RELEASE(&t->starts);
		VEC_CLEAR(&t->starts);
		p->threads_called |= t->kind == PF_THREAD && t->begins > 0;
		t->begins = 0;
	}
}

/* ---- spans ---- */

static enum span_kind kind_of(const struct pf *p, const struct pf_track *t, const struct pf_open *o)
{
	if (o->kind_stated)
		return (enum span_kind)o->kind;
	if (t->native)
		return t->track_kind == TRACK_QUEUE ? SPAN_KERNEL : SPAN_HOST;
	return t->kind != PF_THREAD && p->threads_called ? SPAN_ANNOTATION : SPAN_HOST;
}

static void flows_set(struct pf *p, const struct pf_open *o, span_id span)
{
	bool queue = o->kind_stated && (o->kind == SPAN_KERNEL || o->kind == SPAN_COPY);

	for (uint32_t i = o->flow; i < o->flow + o->flows; i++) {
		p->flows.v[i].span = span;
		p->flows.v[i].correlation = o->correlation;
		p->flows.v[i].on_queue = queue;
	}
}

void pf_span_push(struct pf *p, uint32_t track, struct pf_open *o, int64_t end_ns, bool instant)
{
	struct span_def d = { .start_ns = o->start_ns,
			      .end_ns = instant ? o->start_ns : end_ns,
			      .name = o->name,
			      .category = o->category,
			      .correlation = o->correlation,
			      .args = STR_NONE };
	span_id id;

	if (!pf_memory(p, o->late ? MEM_SPAN : PF_SPAN_BYTES)) {
		p->n.no_memory++;
		free(o->args);
		return;
	}
	d.track = o->on == TRACK_NONE ? pf_model_track(p, track) : o->on;
	d.kind = instant ? SPAN_INSTANT : kind_of(p, &p->tracks.v[track], o);
	if (o->args)
		d.args = sink_puts(p->sink, o->args);
	else if (o->said && d.kind == SPAN_KERNEL && p->opts->keep_shapes)
		d.args = launch_shapes_put(&p->launches, p->sink, &p->said.v[o->said - 1].shape);
	free(o->args);
	o->args = NULL;
	id = p->sink->ops->span(p->sink, &d);
	flows_set(p, o, id);
	if (o->said) {
		pf_device_facts(p, o, id);
		VEC_PUSH(&p->said_free, o->said);
	}
}

/* ---- stacks ---- */

static int by_order(const void *va, const void *vb)
{
	const struct pf_held *a = va, *b = vb;

	return a->open.order < b->open.order ? -1 : a->open.order > b->open.order;
}

/* What waited for a slice that was pushed, in the order of the begins. */
static void held_push(struct pf *p, uint32_t track, uint32_t from)
{
	struct pf_track *t = &p->tracks.v[track];
	size_t nr = t->held.nr;

	if (nr == from)
		return;
	if (nr - from > 1)
		qsort(t->held.v + from, nr - from, sizeof(*t->held.v), by_order);
	for (size_t i = from; i < nr; i++)
		pf_span_push(p, track, &p->tracks.v[track].held.v[i].open,
			     p->tracks.v[track].held.v[i].end_ns, false);
	p->tracks.v[track].held.nr = from;
}

static void slice_begin(struct pf *p, uint32_t track, const struct pf_open *o)
{
	struct pf_track *t = &p->tracks.v[track];

	/* while one is left out, so are those inside it, and ends find their begins */
	if (t->left_out > 0 || !pf_memory(p, OPEN_BYTES)) {
		t->left_out++;
		p->n.no_memory++;
		free(o->args);
		return;
	}
	VEC_PUSH(&t->open, *o);
	t->open.v[t->open.nr - 1].held = (uint32_t)t->held.nr;
	t->open.v[t->open.nr - 1].order = t->begins++;
}

static void slice_close(struct pf *p, uint32_t track, int64_t end_ns)
{
	struct pf_track *t = &p->tracks.v[track];
	struct pf_open o = t->open.v[--t->open.nr];

	if (t->open.nr > 0 && t->open.v[t->open.nr - 1].start_ns == o.start_ns) {
		VEC_PUSH(&t->held, ((struct pf_held){ o, end_ns }));
		return;
	}
	p->budget.left += OPEN_BYTES * (int64_t)(1 + t->held.nr - o.held);
	pf_span_push(p, track, &o, end_ns, false);
	held_push(p, track, o.held);
}

/* An end may bring more of what its begin said. */
static void slice_end(struct pf *p, uint32_t track, int64_t t_ns, const struct pf_open *end)
{
	struct pf_track *t = &p->tracks.v[track];
	struct pf_open *o;

	if (t->left_out > 0 || t->open.nr == 0) {
		p->n.strays += t->left_out == 0;
		t->left_out -= t->left_out > 0;
		free(end->args);
		return;
	}
	o = &t->open.v[t->open.nr - 1];
	o->args = pf_args_both(o->args, end->args);
	if (end->correlation)
		o->correlation = end->correlation;
	if (end->flows > 0 && (o->flows == 0 || o->flow + o->flows == end->flow)) {
		o->flow = o->flows ? o->flow : end->flow;
		o->flows += end->flows;
	} else {
		p->n.flows_out += end->flows;
	}
	slice_close(p, track, t_ns);
}

static void slice_now(struct pf *p, uint32_t track, uint8_t type, int64_t t_ns, struct pf_open *o)
{
	struct pf_track *t = &p->tracks.v[track];

	o->late = t_ns < t->last_ns;
	if (t_ns > t->last_ns)
		t->last_ns = t_ns;
	switch (type) {
	case PF_STATE: /* holds until the next one */
	case PF_STATE_END:
		if (t->open.nr > 0)
			slice_close(p, track, t_ns);
		if (type == PF_STATE)
			slice_begin(p, track, o);
		else
			free(o->args);
		break;
	case PF_BEGIN:
		slice_begin(p, track, o);
		break;
	case PF_END:
		slice_end(p, track, t_ns, o);
		break;
	default:
		pf_span_push(p, track, o, t_ns, true);
	}
}

void pf_slice_take(struct pf *p, uint32_t track, uint8_t type, int64_t t_ns, struct pf_open *o)
{
	if (!p->tracks.v[track].sorted || p->late.nr == UINT32_MAX) {
		slice_now(p, track, type, t_ns, o);
		return;
	}
	if (!pf_memory(p, LATE_BYTES)) {
		p->n.no_memory++;
		free(o->args);
		return;
	}
	VEC_PUSH(&p->late, ((struct pf_late){ .t_ns = t_ns,
					      .track = track,
					      .order = (uint32_t)p->late.nr,
					      .type = type,
					      .open = *o }));
}

static int by_time(const void *va, const void *vb)
{
	const struct pf_late *a = va, *b = vb;

	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void pf_slices_end(struct pf *p)
{
	if (p->late.nr > 1)
		qsort(p->late.v, p->late.nr, sizeof(*p->late.v), by_time);
	for (size_t i = 0; i < p->late.nr; i++)
		slice_now(p, p->late.v[i].track, p->late.v[i].type, p->late.v[i].t_ns,
			  &p->late.v[i].open);
	VEC_RELEASE(&p->late);
	VEC_CLEAR(&p->late);
	for (uint32_t i = 0; i < p->tracks.nr; i++)
		while (p->tracks.v[i].open.nr > 0) {
			const struct pf_track *t = &p->tracks.v[i];

			p->n.open++;
			slice_close(p, i, t->last_ns);
		}
}

/* ---- flows ---- */

static int by_flow(const void *va, const void *vb)
{
	const struct pf_flow *a = va, *b = vb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns ? -1 : 1;
	if (a->ends != b->ends)
		return a->ends ? 1 : -1;
	return a->span < b->span ? -1 : a->span > b->span;
}

static void link_push(struct pf *p, const struct pf_flow *from, const struct pf_flow *to)
{
	enum link_kind kind = !from->on_queue && to->on_queue ? LINK_LAUNCH : LINK_FLOW;

	if (from->span == SPAN_NONE || to->span == SPAN_NONE) {
		p->n.flows_out++;
		return;
	}
	/* a launch that correlation finds as well */
	if (from->span == to->span || (from->correlation && from->correlation == to->correlation))
		return;
	p->sink->ops->link(p->sink, from->span, to->span, kind);
}

/* profrig's own links have two ends each, and a kind. */
static void native_links_push(struct pf *p)
{
	for (size_t i = 0; i + 1 < p->flows.nr; i++) {
		const struct pf_flow *a = &p->flows.v[i], *b = a + 1;

		if (a->id != b->id || a->ends == b->ends)
			continue;
		if (a->span == SPAN_NONE || b->span == SPAN_NONE)
			p->n.flows_out++;
		else
			p->sink->ops->link(p->sink, a->ends ? b->span : a->span,
					   a->ends ? a->span : b->span, (enum link_kind)a->kind);
		i++;
	}
}

void pf_flows_push(struct pf *p)
{
	bool joined = false; /* the point before is of this flow, and did not end it */

	if (p->flows.nr > 1)
		qsort(p->flows.v, p->flows.nr, sizeof(*p->flows.v), by_flow);
	if (p->is_native) {
		native_links_push(p);
		return;
	}
	for (size_t i = 1; i < p->flows.nr; i++) {
		const struct pf_flow *a = &p->flows.v[i - 1], *b = a + 1;

		joined = a->id == b->id && !a->ends;
		if (joined)
			link_push(p, a, b);
	}
}
