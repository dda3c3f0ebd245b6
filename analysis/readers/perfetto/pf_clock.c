/*
 * A packet's time is of a clock: one of the kernel's, or one that its sequence defines in a clock
 * snapshot (ids 64 … 127), which may count in other units and as deltas. A snapshot tells what
 * several clocks showed at one moment. Times become those of the trace's clock by the last snapshot
 * at or before them that has both clocks, else by the first one behind; a snapshot without the
 * trace's clock is placed by another clock in it.
 *
 * The trace's clock is the one that snapshots name as primary, else BOOTTIME, else, where nothing
 * uses that, the builtin clock of most packets.
 */
#include "perfetto.h"

#include "profrig/base/search.h"

#define SNAPSHOT_BYTES (2 * sizeof(struct pf_snapshot_clock) + 2 * sizeof(struct pf_tick))
#define CLOCK_BYTES 96

struct snapshot_entry {
	uint32_t id;
	uint64_t time, unit_ns;
	bool incremental;
};

static bool entry_read(struct pf_bytes b, struct snapshot_entry *ret)
{
	struct pb_cursor c = pf_cursor(b);
	struct pb_field f;

	*ret = (struct snapshot_entry){ .unit_ns = 1 };
	while (pb_next(&c, &f)) {
		if (!pb_is_number(&f))
			continue;
		if (f.number == 1)
			ret->id = (uint32_t)f.u64;
		else if (f.number == 2)
			ret->time = f.u64;
		else if (f.number == 3)
			ret->incremental = f.u64 != 0;
		else if (f.number == 4 && f.u64 > 0)
			ret->unit_ns = f.u64;
	}
	return !c.problem && ret->id != 0;
}

/* Times beyond the model's are clamped there, which the sink counts. */
static int64_t scaled(uint64_t time, uint64_t unit_ns)
{
	uint64_t ns;

	if (__builtin_mul_overflow(time, unit_ns, &ns) || ns > INT64_MAX)
		return unit_ns == 1 && (int64_t)time < 0 ? (int64_t)time : INT64_MAX;
	return (int64_t)ns;
}

static struct pf_local_clock *local_clock(struct pf_seq *s, uint32_t id)
{
	for (size_t i = 0; i < s->clocks.nr; i++)
		if (s->clocks.v[i].id == id)
			return &s->clocks.v[i];
	return NULL;
}

static void local_clock_set(struct pf_seq *s, const struct snapshot_entry *e)
{
	struct pf_local_clock *l = local_clock(s, e->id);

	if (!l) {
		VEC_PUSH(&s->clocks, (struct pf_local_clock){ .id = e->id });
		l = &s->clocks.v[s->clocks.nr - 1];
	}
	l->incremental = e->incremental;
	l->unit_ns = e->unit_ns;
	l->last_ns = scaled(e->time, e->unit_ns);
}

void pf_snapshot_take(struct pf *p, const struct pf_packet *k)
{
	struct pb_cursor c = pf_cursor(k->body);
	struct snapshot_entry e;
	struct pb_field f;

	while (pb_next(&c, &f)) {
		if (f.number == 2 && pb_is_number(&f) && f.u64 > 0 && f.u64 < PF_BUILTIN)
			p->primary = p->primary ? p->primary : (uint32_t)f.u64;
		if (f.number != 1 || !pb_is_bytes(&f))
			continue;
		if (!entry_read(pf_bytes_of(&f), &e)) {
			pf_bad(p, "a clock of a snapshot without a number");
			continue;
		}
		if (e.id >= PF_BUILTIN && e.id < PF_LOCAL_END)
			local_clock_set(k->state, &e);
		if (!p->survey)
			continue;
		if (!pf_memory(p, SNAPSHOT_BYTES))
			break;
		VEC_PUSH(&p->snapshot_clocks,
			 ((struct pf_snapshot_clock){ pf_clock_key(e.id, k->seq),
						      scaled(e.time, e.unit_ns), p->snapshots }));
	}
	p->snapshots++;
}

bool pf_time_own(struct pf *p, const struct pf_packet *k, int64_t *ret_ns, uint64_t *ret_clock)
{
	uint32_t id = k->clock ? k->clock : k->state->clock ? k->state->clock : PF_BOOTTIME;
	struct pf_local_clock *l;

	if (!k->timed)
		return false;
	*ret_clock = pf_clock_key(id, k->seq);
	if (id < PF_BUILTIN) {
		p->used[id]++;
		/* a trace that names no clock has one all the same: its primary one */
		*ret_ns = scaled(k->time, 1);
		return true;
	}
	l = id < PF_LOCAL_END ? local_clock(k->state, id) : NULL;
	*ret_ns = scaled(k->time, l ? l->unit_ns : 1);
	if (l && l->incremental) {
		if (__builtin_add_overflow(l->last_ns, *ret_ns, ret_ns))
			*ret_ns = INT64_MAX;
		l->last_ns = *ret_ns;
	}
	return true;
}

/* ---- between the walks ---- */

static void tick_add(struct pf *p, uint64_t key, int64_t own_ns, int64_t trace_ns)
{
	uint32_t *at = u64map_at(&p->clock_at, key);
	struct pf_clock *k;

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)p->clocks.nr;
		VEC_PUSH(&p->clocks, (struct pf_clock){ .key = key });
	}
	k = &p->clocks.v[*at];
	if (k->nr == k->cap) {
		k->cap = vec_grow_cap(k->cap, k->nr + 1);
		k->v = xreallocarray(k->v, k->cap, sizeof(*k->v));
	}
	k->v[k->nr++] = (struct pf_tick){ own_ns, trace_ns };
}

static int by_own(const void *va, const void *vb)
{
	const struct pf_tick *a = va, *b = vb;

	if (a->own_ns != b->own_ns)
		return a->own_ns < b->own_ns ? -1 : 1;
	return a->trace_ns < b->trace_ns ? -1 : a->trace_ns > b->trace_ns;
}

static void ticks_sort(struct pf *p)
{
	for (size_t i = 0; i < p->clocks.nr; i++)
		qsort(p->clocks.v[i].v, p->clocks.v[i].nr, sizeof(*p->clocks.v[i].v), by_own);
}

/* The time of a snapshot, by the trace's clock or by one that is known already. */
static bool snapshot_time(struct pf *p, const struct pf_snapshot_clock *v, size_t n, bool direct,
			  int64_t *ret_ns)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].key == p->trace_clock) {
			*ret_ns = v[i].ns;
			return true;
		}
	for (size_t i = 0; !direct && i < n; i++)
		if (pf_time_convert(p, v[i].key, v[i].ns, ret_ns))
			return true;
	return false;
}

/* Adds the ticks of all snapshots that have the trace's clock, or else of those that have not. */
static void snapshots_place(struct pf *p, bool direct)
{
	size_t end;
	int64_t ns;

	for (size_t i = 0; i < p->snapshot_clocks.nr; i = end) {
		const struct pf_snapshot_clock *v = &p->snapshot_clocks.v[i];
		int64_t other;

		for (end = i; end < p->snapshot_clocks.nr &&
			      p->snapshot_clocks.v[end].snapshot == v->snapshot;)
			end++;
		if (!direct && snapshot_time(p, v, end - i, true, &other))
			continue;
		if (!snapshot_time(p, v, end - i, direct, &ns))
			continue;
		for (size_t k = 0; k < end - i; k++)
			if (v[k].key != p->trace_clock &&
			    (direct || u64map_get(&p->clock_at, v[k].key) == U64MAP_NONE))
				tick_add(p, v[k].key, v[k].ns, ns);
	}
	ticks_sort(p);
}

static bool snapshots_have(const struct pf *p, uint64_t key)
{
	for (size_t i = 0; i < p->snapshot_clocks.nr; i++)
		if (p->snapshot_clocks.v[i].key == key)
			return true;
	return false;
}

void pf_clocks_settle(struct pf *p)
{
	p->trace_clock = p->primary ? p->primary : PF_BOOTTIME;
	if (!p->used[p->trace_clock] && !snapshots_have(p, p->trace_clock))
		for (uint32_t i = 1; i < PF_BUILTIN; i++)
			if (p->used[i] > p->used[p->trace_clock])
				p->trace_clock = i;
	snapshots_place(p, true);
	snapshots_place(p, false);
	p->last_clock = 0; /* the one it found may have moved */
}

bool pf_time_convert(struct pf *p, uint64_t clock, int64_t own_ns, int64_t *ret_ns)
{
	const struct pf_tick *t = &p->last_tick;
	const struct pf_clock *k;
	uint32_t at;
	size_t i;

	if (clock == p->trace_clock) {
		*ret_ns = own_ns;
		return true;
	}
	if (clock != p->last_clock || own_ns < t->own_ns || own_ns >= p->last_until_ns) {
		at = u64map_get(&p->clock_at, clock);
		if (at == U64MAP_NONE)
			return false;
		k = &p->clocks.v[at];
		i = LOWER_BOUND(n, 0, k->nr, k->v[n].own_ns <= own_ns);
		p->last_until_ns = i < k->nr ? k->v[i].own_ns : INT64_MAX;
		p->last_clock = clock;
		p->last_tick = k->v[i - (i > 0)];
	}
	*ret_ns = time_clamp(time_clamp(own_ns) - time_clamp(t->own_ns)) + time_clamp(t->trace_ns);
	*ret_ns = time_clamp(*ret_ns);
	return true;
}

void pf_clock_set(struct pf *p)
{
	struct input *in = p->sink->ops->current(p->sink);
	uint32_t real = u64map_get(&p->clock_at, PF_REALTIME);

	in->clock = p->trace_clock == PF_BOOTTIME    ? TRACE_CLOCK_BOOTTIME
		    : p->trace_clock == PF_MONOTONIC ? TRACE_CLOCK_MONOTONIC
		    : p->trace_clock == PF_REALTIME  ? TRACE_CLOCK_REALTIME
						     : TRACE_CLOCK_OWN;
	in->resolution_hz = 1e9;
	if (in->clock != TRACE_CLOCK_REALTIME && real != U64MAP_NONE) {
		in->has_realtime_anchor = true;
		in->anchor_own_ns = time_clamp(p->clocks.v[real].v[0].trace_ns);
		in->anchor_realtime_ns = time_clamp(p->clocks.v[real].v[0].own_ns);
	}
}

void pf_clocks_release(struct pf *p)
{
	for (size_t i = 0; i < p->clocks.nr; i++)
		free(p->clocks.v[i].v);
	VEC_RELEASE(&p->clocks);
	VEC_RELEASE(&p->snapshot_clocks);
	u64map_release(&p->clock_at);
}
