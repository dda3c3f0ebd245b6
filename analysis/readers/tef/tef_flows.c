/*
 * A flow is a chain of points s, t …, f with equal category, name and id; each point means a span
 * on its thread: the one around it, or for an "f" without "bp": "e" the next one that begins. Where
 * an API call and the work it launched carry one correlation, the model links them itself, so
 * Kineto's "ac2g" flows are not even kept.
 */
#include "tef.h"

#include "profrig/base/search.h"
#include "profrig/base/sort.h"
#include "profrig/base/workers.h"

#define SLICE_NONE UINT32_MAX
/* No stack is deeper; hostile nesting must not be climbed once per flow. */
#define MAX_CLIMB 4096

void tef_flow_add(struct tef *t, const struct tef_event *ev)
{
	struct tef_flow f = { .ph = ev->ph, .enclosing = ev->enclosing || ev->ph != 'f' };
	const struct tef_id *own = ev->tid.type == TEF_ID_NONE ? &ev->pid : &ev->tid;

	if (t->doc.native) {
		if (!t->sink->counts_only)
			tef_native_flow(t, ev);
		return;
	}
	if (t->doc.dialect == TEF_KINETO &&
	    (ev->class ? ev->class == TEF_CLASS_LAUNCH : json_text_is(&ev->cat, "ac2g"))) {
		t->n.flows_correlated++;
		return;
	}
	if (!tef_time(t, ev, &f.t_ns))
		return;
	f.key = tef_hash(tef_id_key(&ev->id), ev->cat.p ? tef_hash_text(&ev->cat) : 0,
			 ev->name.p ? tef_hash_text(&ev->name) : 0);
	f.place = tef_place_key(&ev->pid, own);
	t->n.flows++;
	if (!t->sink->counts_only)
		VEC_PUSH(&t->flows, f);
}

/* The slices by track and start, and the parent of each: the last earlier one of its track that is
 * still open. */
struct nest {
	struct tef *t;
	struct sort_span *v; /* row: of t->slices */
	uint32_t *above;     /* SLICE_NONE */
	size_t *ends;        /* behind those of each slot */
};

static size_t slot_begin(const struct nest *n, tef_slot slot)
{
	return slot > 0 ? n->ends[slot - 1] : 0;
}

static void nest_job(void *ctx, size_t slot, unsigned worker)
{
	struct nest *n = ctx;
	size_t from = slot_begin(n, (tef_slot)slot), to = n->ends[slot];

	(void)worker;
	sort_spans(n->v + from, to - from);
	for (size_t i = from; i < to; i++) {
		uint32_t up = i > from ? (uint32_t)(i - 1) : SLICE_NONE;

		while (up != SLICE_NONE && n->v[up].end_ns < n->v[i].end_ns)
			up = n->above[up];
		n->above[i] = up;
	}
}

static void nest_make(struct tef *t, struct nest *n)
{
	size_t tracks = t->tracks.nr, sum = 0;
	struct workers *w = t->opts->workers;

	*n = (struct nest){ .t = t,
			    .v = xreallocarray(NULL, t->slices.nr, sizeof(*n->v)),
			    .above = xreallocarray(NULL, t->slices.nr, sizeof(*n->above)),
			    .ends = xcalloc(tracks + 1, sizeof(*n->ends)) };
	for (size_t i = 0; i < t->slices.nr; i++)
		n->ends[t->slices.v[i].slot + 1]++;
	for (size_t i = 0; i < tracks; i++)
		n->ends[i] = sum += n->ends[i];
	/* now where each slot begins; when all are placed, where it ends */
	for (size_t i = 0; i < t->slices.nr; i++) {
		const struct tef_slice *s = &t->slices.v[i];

		n->v[n->ends[s->slot]++] = (struct sort_span){ s->start_ns, s->end_ns, i };
	}
	if (w)
		workers_run(w, tracks, nest_job, n);
	for (size_t i = 0; !w && i < tracks; i++)
		nest_job(n, i, 0);
}

static void nest_release(struct nest *n)
{
	free(n->v);
	free(n->above);
	free(n->ends);
}

/* Index of the first slice of the slot that begins after t_ns. */
static size_t slice_after(const struct nest *n, tef_slot slot, int64_t t_ns)
{
	return LOWER_BOUND(i, slot_begin(n, slot), n->ends[slot], n->v[i].start_ns <= t_ns);
}

static const struct tef_slice *flow_slice(const struct nest *n, const struct tef_flow *f)
{
	const struct tef *t = n->t;
	tef_slot slot = u64map_get(&t->places, f->place);
	/* rocprof cuts times of flows to whole µs, those of spans not */
	int64_t late_ns = t->doc.dialect == TEF_ROCPROF ? f->t_ns + 999 : f->t_ns;
	uint32_t at;
	size_t after;

	if (slot == TEF_SLOT_NONE)
		return NULL;
	if (!f->enclosing) {
		after = slice_after(n, slot, f->t_ns - 1);
		return after < n->ends[slot] ? &t->slices.v[n->v[after].row] : NULL;
	}
	after = slice_after(n, slot, late_ns);
	if (after == slot_begin(n, slot))
		return NULL;
	at = (uint32_t)(after - 1);
	for (int i = 0; at != SLICE_NONE && n->v[at].end_ns < f->t_ns; i++)
		at = i < MAX_CLIMB ? n->above[at] : SLICE_NONE;
	return at == SLICE_NONE ? NULL : &t->slices.v[n->v[at].row];
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
	t->sink->ops->link(t->sink, t->first_span + from->span, t->first_span + to->span,
			   launch ? LINK_LAUNCH : LINK_FLOW);
	return true;
}

/*
 * One chain's points. Ids are reused: each s begins a new chain. But with a single s every other
 * point belongs to it, also one that a second clock puts before it.
 */
static void chain_push(const struct nest *nest, const struct tef_flow *f, size_t n)
{
	const struct tef_slice *from = NULL;
	struct tef *t = nest->t;
	size_t starts = 0;

	for (size_t i = 0; i < n; i++) {
		if (f[i].ph == 's' && starts++ == 0)
			from = flow_slice(nest, &f[i]);
	}
	if (starts != 1)
		from = NULL;
	for (size_t i = 0; i < n; i++) {
		const struct tef_slice *at;

		if (f[i].ph == 's' && starts == 1)
			continue;
		at = flow_slice(nest, &f[i]);
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
	struct nest nest;
	size_t end;

	if (t->flows.nr == 0)
		return;
	if (t->slices.nr == 0 || t->slices.nr >= SLICE_NONE) {
		t->n.flows_unmatched += t->flows.nr;
		return;
	}
	nest_make(t, &nest);
	qsort(t->flows.v, t->flows.nr, sizeof(*t->flows.v), by_chain);
	for (size_t i = 0; i < t->flows.nr; i = end) {
		for (end = i + 1; end < t->flows.nr && t->flows.v[end].key == t->flows.v[i].key;)
			end++;
		chain_push(&nest, t->flows.v + i, end - i);
	}
	nest_release(&nest);
}
