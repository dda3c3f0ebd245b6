/*
 * Chrome wrote its older events ("phases", the letters of Trace Event Format) into track events:
 *
 *	B E I R		slices and instants of a thread: handled as if a type said so
 *	X		a whole slice, with a duration
 *	b e n S F	asynchronous slices, by an id: local to the process, or global
 *	s t f		flows: a point of a flow on the slice that is open around it
 * Any event may have bind_id, a flow that begins or ends at its slice, and may be of another thread
 * than its writer.
 *
 * An asynchronous id gets a row of its process and category that is free at its first begin.
 */
#include "perfetto.h"

struct legacy {
	uint32_t phase;
	int64_t duration_us, pid, tid;
	uint64_t id, bind_id;
	uint32_t id_field, direction, name_iid;
	bool bound;
	struct pf_bytes scope;
};

static struct legacy legacy_of(struct pf_bytes b)
{
	struct legacy l = { .pid = PID_NONE, .tid = PID_NONE };
	struct pb_cursor c = pf_cursor(b);
	struct pb_field f;

	while (pb_next(&c, &f))
		switch (f.number) {
		case 1:
			l.name_iid = (uint32_t)f.u64;
			break;
		case 2:
			l.phase = (uint32_t)f.u64;
			break;
		case 3:
			l.duration_us = pb_int(&f);
			break;
		case 6:
		case 10:
		case 11:
			l.id = f.u64;
			l.id_field = f.number;
			break;
		case 7:
			l.scope = pf_bytes_of(&f);
			break;
		case 8:
			l.bind_id = f.u64;
			l.bound = true;
			break;
		case 13:
			l.direction = (uint32_t)f.u64;
			break;
		case 18:
			l.pid = (int32_t)f.u64;
			break;
		case 19:
			l.tid = (int32_t)f.u64;
			break;
		default:
			break;
		}
	return l;
}

uint32_t pf_legacy_phase(struct pf_bytes legacy)
{
	return legacy_of(legacy).phase;
}

static bool is_async(uint32_t phase)
{
	return phase == 'b' || phase == 'e' || phase == 'n' || phase == 'S' || phase == 'F';
}

bool pf_legacy_track(struct pf *p, const struct pf_event *e, uint64_t *ret_uuid)
{
	struct legacy l = legacy_of(e->legacy);
	struct pf_track *t;
	uint32_t at;

	if (l.tid == PID_NONE || l.tid == 0)
		return false;
	*ret_uuid = pf_thread_uuid(l.pid, l.tid);
	at = pf_track_of(p, *ret_uuid);
	t = &p->tracks.v[at];
	if (at > 0 && t->kind == PF_CUSTOM) {
		t->kind = PF_THREAD;
		t->pid = l.pid;
		t->tid = l.tid;
	}
	return true;
}

static uint64_t text_hash(struct pf_bytes b)
{
	uint64_t h = b.n;

	for (size_t i = 0; i < b.n; i++)
		h = pf_mix(h, b.p[i]);
	return h;
}

/* The track of an asynchronous id; below the track of its event, so that it has a process. */
static uint32_t async_track(struct pf *p, const struct pf_event *e, const struct legacy *l,
			    uint32_t track)
{
	uint64_t own = l->id_field == 11 ? 0 : (uint64_t)pf_track_pid(p, track);
	uint64_t uuid = pf_mix(pf_mix(own, l->id), pf_mix(e->category, text_hash(l->scope)));
	uint32_t at = pf_track_of(p, uuid);
	struct pf_track *t = &p->tracks.v[at];

	if (at > 0 && !t->has_parent) {
		t->parent = p->tracks.v[track].uuid;
		t->has_parent = true;
		t->name = "async";
	}
	return at;
}

static void flow_of(struct pf *p, const struct pf_event *e, uint64_t id, bool ends)
{
	pf_flow_add(p, pf_mix(id, UINT64_C(0x6c6567616379)), e->t_ns, ends, LINK_FLOW);
}

/* A point of a flow belongs to the open slice of the track. */
static void flow_point(struct pf *p, const struct pf_event *e, const struct legacy *l,
		       uint32_t track)
{
	struct pf_track *t = &p->tracks.v[track];
	struct pf_open *o = t->open.nr ? &t->open.v[t->open.nr - 1] : NULL;

	/* the flows of one slice lie side by side */
	if (!o || (o->flows > 0 && o->flow + o->flows != p->flows.nr)) {
		p->n.flows_out++;
		return;
	}
	if (o->flows == 0)
		o->flow = (uint32_t)p->flows.nr;
	flow_of(p, e, l->bound ? l->bind_id : l->id, l->phase == 'f');
	o->flows = (uint32_t)p->flows.nr - o->flow;
}

bool pf_legacy_push(struct pf *p, struct pf_event *e, uint32_t track, struct pf_open *o)
{
	struct legacy l = legacy_of(e->legacy);
	int64_t dur_ns;

	if (l.bound && l.direction)
		flow_of(p, e, l.bind_id, l.direction == 1);
	o->flows = (uint32_t)p->flows.nr - o->flow;
	if (e->name == STR_NONE && l.name_iid) {
		str_id id = pf_interned(p, e->packet->state, PF_NAMES, l.name_iid);

		o->name = id == STR_NONE ? p->empty : id;
	}
	if (l.phase == 's' || l.phase == 't' || l.phase == 'f') {
		flow_point(p, e, &l, track);
		free(o->args);
		return true;
	}
	if (is_async(l.phase)) {
		track = async_track(p, e, &l, track);
		o->kind = SPAN_ANNOTATION;
		o->kind_stated = true;
		pf_slice_take(p, track,
			      l.phase == 'n'                     ? PF_INSTANT
			      : l.phase == 'b' || l.phase == 'S' ? PF_BEGIN
								 : PF_END,
			      e->t_ns, o);
		return true;
	}
	if (l.phase != 'X')
		return false;
	if (__builtin_mul_overflow(l.duration_us, 1000, &dur_ns) ||
	    __builtin_add_overflow(e->t_ns, dur_ns, &dur_ns))
		dur_ns = INT64_MAX;
	pf_span_push(p, track, o, dur_ns, false);
	return true;
}
