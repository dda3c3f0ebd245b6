/*
 * A flow is a chain of points s, t …, f with equal category, name and id; each point means a span
 * on its thread: the one around it, or for an "f" without "bp": "e" the next one that begins. Where
 * an API call and the work it launched carry one correlation, the model links them itself, so
 * Kineto's "ac2g" flows are not even kept.
 */
#include "tef.h"

#define SLICE_NONE UINT32_MAX
/* No stack is deeper; hostile nesting must not be climbed once per flow. */
#define MAX_CLIMB 4096

void tef_flow_add(struct tef *t, const struct tef_event *ev)
{
	struct tef_flow f = { .ph = ev->ph, .enclosing = ev->enclosing || ev->ph != 'f' };
	const struct tef_id *own = ev->tid.type == TEF_ID_NONE ? &ev->pid : &ev->tid;

	if (t->doc.own) {
		tef_own_flow(t, ev);
		return;
	}
	if (t->doc.dialect == TEF_KINETO && json_text_is(&ev->cat, "ac2g")) {
		t->n.flows_correlated++;
		return;
	}
	if (!tef_time(t, ev, &f.t_ns))
		return;
	f.key = tef_hash(tef_id_key(&ev->id), ev->cat.p ? tef_hash_text(&ev->cat) : 0,
			 ev->name.p ? tef_hash_text(&ev->name) : 0);
	f.place = tef_place_key(&ev->pid, own);
	t->n.flows++;
	VEC_PUSH(&t->flows, f);
}

static int by_track(const void *va, const void *vb)
{
	const struct tef_slice *a = va, *b = vb;

	if (a->slot != b->slot)
		return a->slot < b->slot ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return a->span < b->span ? -1 : a->span > b->span;
}

/* Sorts the slices and finds what each lies in: the last earlier one of its track that is still
 * open. */
static void slices_nest(struct tef *t)
{
	qsort(t->slices.v, t->slices.nr, sizeof(*t->slices.v), by_track);
	for (size_t i = 0; i < t->slices.nr; i++) {
		struct tef_slice *s = &t->slices.v[i];
		uint32_t up = i > 0 && t->slices.v[i - 1].slot == s->slot ? (uint32_t)(i - 1)
									  : SLICE_NONE;

		while (up != SLICE_NONE && t->slices.v[up].end_ns < s->end_ns)
			up = t->slices.v[up].parent;
		s->parent = up;
	}
}

/* Index of the first slice of the track that begins after t_ns. */
static size_t slice_after(const struct tef *t, tef_slot slot, int64_t t_ns)
{
	size_t lo = 0, hi = t->slices.nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct tef_slice *s = &t->slices.v[mid];

		if (s->slot < slot || (s->slot == slot && s->start_ns <= t_ns))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const struct tef_slice *flow_slice(const struct tef *t, const struct tef_flow *f)
{
	tef_slot slot = u64map_get(&t->places, f->place);
	/* rocprof cuts times of flows to whole µs, those of spans not */
	int64_t late_ns = t->doc.dialect == TEF_ROCPROF ? f->t_ns + 999 : f->t_ns;
	uint32_t at;
	size_t after;

	if (slot == TEF_SLOT_NONE)
		return NULL;
	if (!f->enclosing) {
		after = slice_after(t, slot, f->t_ns - 1);
		return after < t->slices.nr && t->slices.v[after].slot == slot ? &t->slices.v[after]
									       : NULL;
	}
	after = slice_after(t, slot, late_ns);
	if (after == 0 || t->slices.v[after - 1].slot != slot)
		return NULL;
	at = (uint32_t)(after - 1);
	for (int i = 0; at != SLICE_NONE && t->slices.v[at].end_ns < f->t_ns; i++)
		at = i < MAX_CLIMB ? t->slices.v[at].parent : SLICE_NONE;
	return at == SLICE_NONE ? NULL : &t->slices.v[at];
}

static int by_chain(const void *va, const void *vb)
{
	const struct tef_flow *a = va, *b = vb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns ? -1 : 1;
	/* s, t, f at one time */
	if (a->ph != b->ph)
		return (a->ph == 'f') - (b->ph == 'f') ?: (a->ph == 't') - (b->ph == 't');
	return 0;
}

static bool link_points(struct tef *t, const struct tef_slice *from, const struct tef_slice *to)
{
	bool launch;

	if (!from || !to)
		return false;
	if (from == to || (from->correlation != 0 && from->correlation == to->correlation))
		return true;
	launch = t->tracks.v[from->slot].def.kind == TRACK_THREAD &&
		 t->tracks.v[to->slot].def.kind == TRACK_QUEUE;
	t->sink->ops->link(t->sink, from->span, to->span, launch ? LINK_LAUNCH : LINK_FLOW);
	return true;
}

/*
 * One chain's points. Ids are used again: each s begins anew. But with a single s every other point
 * belongs to it, also one that a second clock puts before it.
 */
static void chain_push(struct tef *t, const struct tef_flow *f, size_t n)
{
	const struct tef_slice *from = NULL;
	size_t starts = 0;

	for (size_t i = 0; i < n; i++) {
		if (f[i].ph == 's' && starts++ == 0)
			from = flow_slice(t, &f[i]);
	}
	if (starts != 1)
		from = NULL;
	for (size_t i = 0; i < n; i++) {
		const struct tef_slice *at;

		if (f[i].ph == 's' && starts == 1)
			continue;
		at = flow_slice(t, &f[i]);
		if (f[i].ph == 's') {
			from = at;
			continue;
		}
		t->n.flows_unmatched += !link_points(t, from, at);
		if (f[i].ph == 't' && at)
			from = at;
	}
}

void tef_flows_push(struct tef *t)
{
	size_t end;

	if (t->flows.nr == 0)
		return;
	if (t->slices.nr == 0 || t->slices.nr >= SLICE_NONE) {
		t->n.flows_unmatched += t->flows.nr;
		return;
	}
	slices_nest(t);
	qsort(t->flows.v, t->flows.nr, sizeof(*t->flows.v), by_chain);
	for (size_t i = 0; i < t->flows.nr; i = end) {
		for (end = i + 1; end < t->flows.nr && t->flows.v[end].key == t->flows.v[i].key;)
			end++;
		chain_push(t, t->flows.v + i, end - i);
	}
}
