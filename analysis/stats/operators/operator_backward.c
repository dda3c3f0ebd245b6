#include "operator_backward.h"
#include "ns.h"

#include <stdlib.h>

#include "profrig/base/mix.h"
#include "profrig/base/search.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

/* The innermost forward call of a number on a thread. Processes number for themselves. */
struct forward {
	uint64_t process;
	int64_t sequence;
	track_id thread;
	uint32_t call;
};
struct forwards {
	const struct forward *v;
	size_t nr;
};

struct vote {
	uint64_t process;
	int64_t id; /* of a forward thread */
	track_id thread;
	uint32_t calls;
};

struct joiner {
	const struct operator_calls *oc;
	VEC(struct forward) forward; /* by process, sequence, thread */
	VEC(struct vote) votes;      /* by process and id, most calls first */
	struct u64map vote_at;       /* by id and thread, while they are counted */
};

static bool is_backward(const struct operator_call *c)
{
	return c->sequence != FACT_ABSENT && c->forward_thread != FACT_ABSENT &&
	       c->forward_thread != 0;
}

static bool is_forward(const struct operator_call *c)
{
	return c->sequence != FACT_ABSENT && !is_backward(c);
}

/* The one that no other of its number is around. */
static bool backward_begins(const struct operator_calls *oc, const struct operator_call *c)
{
	const struct operator_call *up;

	if (!is_backward(c))
		return false;
	if (c->around == OPERATOR_NONE)
		return true;
	up = &oc->v.v[c->around];
	return up->sequence != c->sequence || up->forward_thread != c->forward_thread;
}

/* Of a call's process; threads without one are together by what is known of theirs. */
static uint64_t process_of(const struct operator_calls *oc, const struct operator_call *c)
{
	track_id thread = oc->m->spans.track[c->span], process = model_process_of(oc->m, thread);
	const struct track *t = &oc->m->tracks.v[thread];

	if (process != TRACK_NONE)
		return process;
	return UINT64_C(1) << 63 |
	       mix64(mix64((uint64_t)t->pid) + u64map_pair(t->host, (uint32_t)t->rank));
}

static int by_sequence(const void *pa, const void *pb)
{
	const struct forward *a = pa, *b = pb;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->call > b->call) - (a->call < b->call);
}

static bool same_number(const struct forward *a, const struct forward *b)
{
	return a->process == b->process && a->sequence == b->sequence;
}

/* Of one number and thread the last one stays: it began last. */
static void forward_find(struct joiner *j)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < j->oc->v.nr; i++) {
		const struct operator_call *c = &j->oc->v.v[i];

		if (is_forward(c))
			VEC_PUSH(&j->forward,
				 ((struct forward){ process_of(j->oc, c), c->sequence,
						    j->oc->m->spans.track[c->span], i }));
	}
	if (j->forward.nr)
		qsort(j->forward.v, j->forward.nr, sizeof(*j->forward.v), by_sequence);
	for (size_t i = 0; i < j->forward.nr; i++) {
		const struct forward *f = &j->forward.v[i];

		if (i + 1 < j->forward.nr && same_number(&f[1], f) && f[1].thread == f->thread)
			continue;
		j->forward.v[nr++] = *f;
	}
	j->forward.nr = nr;
}

static bool is_before(const struct forward *f, uint64_t process, int64_t sequence)
{
	return f->process != process ? f->process < process : f->sequence < sequence;
}

/* Those of a backward call's number, in its process. */
static struct forwards forward_of(const struct joiner *j, const struct operator_call *c)
{
	uint64_t process = process_of(j->oc, c);
	size_t nr = j->forward.nr;
	size_t low = LOWER_BOUND(at, 0, nr, is_before(&j->forward.v[at], process, c->sequence));
	size_t end = low;

	while (end < nr && j->forward.v[end].process == process &&
	       j->forward.v[end].sequence == c->sequence)
		end++;
	return (struct forwards){ j->forward.v + low, end - low };
}

static int by_id(const void *pa, const void *pb)
{
	const struct vote *a = pa, *b = pb;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static void vote_add(struct joiner *j, int64_t id, const struct forward *f)
{
	uint32_t *at = u64map_at(&j->vote_at, mix64((uint64_t)id) + f->thread);

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)j->votes.nr;
		VEC_PUSH(&j->votes, ((struct vote){ f->process, id, f->thread, 0 }));
	}
	j->votes.v[*at].calls++;
}

/* Needed only where a number has several threads. */
static void votes_count(struct joiner *j)
{
	bool several = false;

	for (size_t i = 1; i < j->forward.nr && !several; i++)
		several = same_number(&j->forward.v[i], &j->forward.v[i - 1]);
	for (size_t i = 0; several && i < j->oc->v.nr; i++) {
		const struct operator_call *c = &j->oc->v.v[i];
		struct forwards f;

		if (!backward_begins(j->oc, c))
			continue;
		f = forward_of(j, c);
		if (f.nr == 1)
			vote_add(j, c->forward_thread, f.v);
	}
	if (j->votes.nr)
		qsort(j->votes.v, j->votes.nr, sizeof(*j->votes.v), by_id);
}

static bool vote_before(const struct vote *v, uint64_t process, int64_t id)
{
	return v->process != process ? v->process < process : v->id < id;
}

static track_id thread_of(const struct joiner *j, uint64_t process, int64_t id)
{
	size_t nr = j->votes.nr;
	size_t at = LOWER_BOUND(k, 0, nr, vote_before(&j->votes.v[k], process, id));
	const struct vote *v = at < nr ? &j->votes.v[at] : NULL;

	return v && v->process == process && v->id == id ? v->thread : TRACK_NONE;
}

static uint32_t forward_call(const struct joiner *j, const struct operator_call *c)
{
	struct forwards f = forward_of(j, c);
	track_id thread;

	if (f.nr == 1)
		return f.v->call;
	thread = f.nr ? thread_of(j, f.v->process, c->forward_thread) : TRACK_NONE;
	for (size_t i = 0; i < f.nr; i++)
		if (f.v[i].thread == thread)
			return f.v[i].call;
	return OPERATOR_NONE;
}

uint32_t *backward_forward(const struct operator_calls *oc)
{
	struct joiner j = { .oc = oc, .vote_at = U64MAP_INIT };
	uint32_t *forward = xmalloc((oc->v.nr + 1) * sizeof(*forward));

	forward_find(&j);
	votes_count(&j);
	for (size_t i = 0; i < oc->v.nr; i++) {
		const struct operator_call *c = &oc->v.v[i];

		forward[i] = backward_begins(oc, c) ? forward_call(&j, c) : OPERATOR_NONE;
	}
	VEC_RELEASE(&j.forward);
	VEC_RELEASE(&j.votes);
	u64map_release(&j.vote_at);
	return forward;
}

void backward_add(const struct operator_calls *oc, const uint32_t *row, struct operator_rows *rows)
{
	CLEANUP(xfreep) uint32_t *forward = backward_forward(oc);

	for (size_t i = 0; i < oc->v.nr; i++) {
		struct operator_row *r;

		if (forward[i] == OPERATOR_NONE)
			continue;
		r = &rows->v.v[row[forward[i]]];
		r->backward_ns = ns_add(r->backward_ns, oc->v.v[i].nested_ns);
	}
}
