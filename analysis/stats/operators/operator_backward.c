#include "operator_backward.h"
#include "ns.h"

#include <stdlib.h>

#include "profrig/base/search.h"
#include "profrig/base/xalloc.h"

/* The innermost forward call of a number on a thread. */
struct forward {
	int64_t sequence;
	track_id thread;
	uint32_t call;
};

struct vote {
	int64_t id; /* of a forward thread */
	track_id thread;
	uint32_t calls;
};

struct joiner {
	const struct operator_calls *oc;
	VEC(struct forward) forward; /* by sequence, thread */
	VEC(struct vote) votes;      /* by id, most calls first */
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

static int by_sequence(const void *pa, const void *pb)
{
	const struct forward *a = pa, *b = pb;

	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->call > b->call) - (a->call < b->call);
}

/* Of one number and thread the last one stays: it began last. */
static void forward_find(struct joiner *j)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < j->oc->v.nr; i++) {
		const struct operator_call *c = &j->oc->v.v[i];

		if (is_forward(c))
			VEC_PUSH(&j->forward,
				 ((struct forward){ c->sequence, j->oc->m->spans.track[c->span],
						    i }));
	}
	if (j->forward.nr)
		qsort(j->forward.v, j->forward.nr, sizeof(*j->forward.v), by_sequence);
	for (size_t i = 0; i < j->forward.nr; i++) {
		const struct forward *f = &j->forward.v[i];

		if (i + 1 < j->forward.nr && f[1].sequence == f->sequence &&
		    f[1].thread == f->thread)
			continue;
		j->forward.v[nr++] = *f;
	}
	j->forward.nr = nr;
}

/* Those of a number. */
static const struct forward *forward_of(const struct joiner *j, int64_t sequence, size_t *ret_nr)
{
	size_t low = LOWER_BOUND(at, 0, j->forward.nr, j->forward.v[at].sequence < sequence), end;

	for (end = low; end < j->forward.nr && j->forward.v[end].sequence == sequence;)
		end++;
	*ret_nr = end - low;
	return j->forward.v + low;
}

static int by_id(const void *pa, const void *pb)
{
	const struct vote *a = pa, *b = pb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static void vote_add(struct joiner *j, int64_t id, track_id thread)
{
	for (size_t i = 0; i < j->votes.nr && i < 4096; i++)
		if (j->votes.v[i].id == id && j->votes.v[i].thread == thread) {
			j->votes.v[i].calls++;
			return;
		}
	if (j->votes.nr < 4096)
		VEC_PUSH(&j->votes, ((struct vote){ id, thread, 1 }));
}

/* Needed only where a number has several threads. */
static void votes_count(struct joiner *j)
{
	bool several = false;

	for (size_t i = 1; i < j->forward.nr && !several; i++)
		several = j->forward.v[i].sequence == j->forward.v[i - 1].sequence;
	for (size_t i = 0; several && i < j->oc->v.nr; i++) {
		const struct operator_call *c = &j->oc->v.v[i];
		const struct forward *f;
		size_t nr;

		if (!backward_begins(j->oc, c))
			continue;
		f = forward_of(j, c->sequence, &nr);
		if (nr == 1)
			vote_add(j, c->forward_thread, f->thread);
	}
	if (j->votes.nr)
		qsort(j->votes.v, j->votes.nr, sizeof(*j->votes.v), by_id);
}

static track_id thread_of(const struct joiner *j, int64_t id)
{
	for (size_t i = 0; i < j->votes.nr; i++)
		if (j->votes.v[i].id == id)
			return j->votes.v[i].thread;
	return TRACK_NONE;
}

static uint32_t forward_call(const struct joiner *j, const struct operator_call *c)
{
	size_t nr;
	const struct forward *f = forward_of(j, c->sequence, &nr);
	track_id thread;

	if (nr == 1)
		return f->call;
	thread = nr ? thread_of(j, c->forward_thread) : TRACK_NONE;
	for (size_t i = 0; i < nr; i++)
		if (f[i].thread == thread)
			return f[i].call;
	return OPERATOR_NONE;
}

uint32_t *backward_forward(const struct operator_calls *oc)
{
	struct joiner j = { .oc = oc };
	uint32_t *forward = xmalloc((oc->v.nr + 1) * sizeof(*forward));

	forward_find(&j);
	votes_count(&j);
	for (size_t i = 0; i < oc->v.nr; i++) {
		const struct operator_call *c = &oc->v.v[i];

		forward[i] = backward_begins(oc, c) ? forward_call(&j, c) : OPERATOR_NONE;
	}
	VEC_RELEASE(&j.forward);
	VEC_RELEASE(&j.votes);
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
