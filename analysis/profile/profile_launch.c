/*
 * Matches device work with its launch by the numbers of call sites. The launches of a call site
 * wait in a queue for their work; a call site mostly launches from one call path, so a queue is a
 * few runs of equal launches, however many launches there are.
 */
#include "profile_private.h"

#include <string.h>

#include "profrig/base/xalloc.h"

/* ---- on a lane: the nodes of marks, once they are known ---- */

void lane_op_callsite(struct sink *s, track_id t, int64_t t_ns, uint32_t process, uint64_t id)
{
	struct lane *l = (struct lane *)((char *)s - offsetof(struct lane, sink));
	struct frame *f;

	(void)t;
	if (l->open.nr == 0)
		return;
	f = &l->open.v[l->open.nr - 1];
	t_ns = time_shift(t_ns, l->shift_ns);
	if (t_ns < l->mark_ns)
		t_ns = l->mark_ns;
	if (t_ns < l->now_ns)
		t_ns = l->now_ns;
	l->mark_ns = t_ns;
	VEC_PUSH(&l->marks, ((struct launch_mark){ .id = id,
						   .process = process,
						   .t_ns = t_ns,
						   .frame = l->open.nr - 1,
						   .node = f->node,
						   .name = STR_NONE,
						   .by = LANE_NONE,
						   .ns = MARK_OPEN }));
	if (l->nests && l->open.nr <= l->settled)
		l->marks.v[l->marks.nr - 1].frame = MARK_SETTLED;
	if (!l->t.queue)
		return;
	/* a second number of one piece of work uses up a launch, no more */
	if (f->mark)
		l->marks.v[l->marks.nr - 1].ns = MARK_NO_WORK;
	else
		f->mark = l->marks_before + l->marks.nr;
}

/* The call that launched took no time: it will get its node with those. */
void marks_instant(struct lane *l, const struct frame *f)
{
	for (size_t i = l->marks.nr; i-- > l->marks_pending;) {
		struct launch_mark *m = &l->marks.v[i];

		if (m->frame == l->open.nr && m->name == STR_NONE) {
			m->name = f->name;
			m->category = f->category;
		}
	}
}

void marks_settle(struct lane *l, uint32_t below)
{
	for (; l->marks_pending < l->marks.nr; l->marks_pending++) {
		struct launch_mark *m = &l->marks.v[l->marks_pending];

		if (m->frame == MARK_SETTLED)
			continue;
		m->node = m->name != STR_NONE
				  ? tree_child(l, below, m->name, m->category, SPAN_HOST)
				  : l->open.v[m->frame].node;
	}
}

void marks_work(struct lane *l, const struct frame *f, int64_t ns)
{
	if (f->mark)
		l->marks.v[f->mark - 1 - l->marks_before].ns = ns;
}

/* ---- between two rounds ---- */

/* A mark that waits for its turn, also one of another rank. */
struct due {
	int64_t t_ns;
	uint64_t id, mark; /* mark: counted from 0 over the lane */
	uint32_t process, lane, node;
	bool work;
};

/* In order of time, launches before work, and as the tracks come. */
static int cmp_due(const void *pa, const void *pb)
{
	const struct due *a = pa, *b = pb;

	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns ? -1 : 1;
	if (a->work != b->work)
		return a->work ? 1 : -1;
	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	return a->mark < b->mark ? -1 : a->mark > b->mark;
}

/* The queue of a call site in a process. Queues of equal hash, which are rare, are in a list. */
static struct launches *launches_of(struct profile_priv *priv, uint32_t process, uint64_t id)
{
	uint64_t hash = (id ^ (uint64_t)process << 32) * UINT64_C(0x9e3779b97f4a7c15) + process;
	uint32_t *at = u64map_at(&priv->launch_ids, hash), first = *at;

	for (uint32_t i = first; i != U64MAP_NONE; i = priv->launches.v[i].next)
		if (priv->launches.v[i].process == process && priv->launches.v[i].id == id)
			return &priv->launches.v[i];
	*at = (uint32_t)priv->launches.nr;
	VEC_PUSH(&priv->launches,
		 ((struct launches){ .id = id, .process = process, .next = first }));
	return &priv->launches.v[priv->launches.nr - 1];
}

static void launch_put(struct launches *q, const struct due *d)
{
	struct launch_run *last = q->runs.nr > q->first ? &q->runs.v[q->runs.nr - 1] : NULL;

	if (last && last->lane == d->lane && last->node == d->node)
		last->nr++;
	else
		VEC_PUSH(&q->runs, ((struct launch_run){ d->lane, d->node, 1 }));
}

/* Returns false when there is none. */
static bool launch_take(struct launches *q, struct launch_run *ret)
{
	struct launch_run *r;

	if (q->first == q->runs.nr)
		return false;
	r = &q->runs.v[q->first];
	*ret = *r;
	if (--r->nr > 0)
		return true;
	if (++q->first * 2 > q->runs.nr) {
		q->runs.nr -= q->first;
		memmove(q->runs.v, q->runs.v + q->first, q->runs.nr * sizeof(*q->runs.v));
		q->first = 0;
	}
	return true;
}

static void due_match(struct profile *p, const struct due *d)
{
	struct profile_priv *priv = p->priv;
	struct launches *q = launches_of(priv, d->process, d->id);
	struct lane *l = priv->lanes.v[d->lane];
	struct launch_run by;

	if (!d->work) {
		launch_put(q, d);
	} else if (launch_take(q, &by)) {
		priv->tied++;
		if (is_own(p, l)) {
			l->marks.v[d->mark - l->marks_before].by = by.lane;
			l->marks.v[d->mark - l->marks_before].node = by.node;
		}
	} else {
		priv->untied++;
	}
}

void credit_add(struct profile_priv *priv, uint32_t lane, uint32_t node, int64_t ns)
{
	uint32_t *at = u64map_at(&priv->credit_ids, u64map_pair(lane, node));

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)priv->credits.nr;
		VEC_PUSH(&priv->credits, ((struct credit){ lane, node, 0 }));
	}
	priv->credits.v[*at].ns = ns_sum(priv->credits.v[*at].ns, ns);
}

void credits_pay(struct profile *p)
{
	for (size_t i = 0; i < p->priv->credits.nr; i++) {
		const struct credit *c = &p->priv->credits.v[i];
		struct profile_node *n = &p->priv->lanes.v[c->lane]->t.nodes.v[c->node];

		n->device_ns = ns_sum(n->device_ns, c->ns);
	}
	VEC_CLEAR(&p->priv->credits);
	u64map_release(&p->priv->credit_ids);
}

static void work_credit(struct profile *p, const struct lane *l, const struct launch_mark *m)
{
	struct profile_device *d = &p->devices.v[l->t.device];

	if (m->by == LANE_NONE || m->node == NODE_NONE || m->ns == MARK_NO_WORK)
		return;
	credit_add(p->priv, m->by, m->node, m->ns);
	d->linked++;
	d->linked_ns = ns_sum(d->linked_ns, m->ns);
}

/* Drops work that is matched and has ended, and launches that are in their queue. */
static void marks_drop(struct profile *p, struct lane *l)
{
	size_t done = 0;

	while (done < l->marks_matched && (!l->t.queue || l->marks.v[done].ns != MARK_OPEN)) {
		if (l->t.queue)
			work_credit(p, l, &l->marks.v[done]);
		done++;
	}
	if (done == 0)
		return;
	l->marks.nr -= done;
	memmove(l->marks.v, l->marks.v + done, l->marks.nr * sizeof(*l->marks.v));
	l->marks_before += done;
	l->marks_matched -= done;
	l->marks_pending -= l->marks_pending < done ? l->marks_pending : done;
}

struct dues {
	VEC(struct due) v;
};

static void dues_collect(struct profile_priv *priv, int64_t horizon_ns, struct dues *ret)
{
	for (size_t i = priv->first_lane; i < priv->lanes.nr; i++) {
		struct lane *l = priv->lanes.v[i];

		for (; l->marks_matched < l->marks.nr &&
		       l->marks.v[l->marks_matched].t_ns < horizon_ns;
		     l->marks_matched++) {
			const struct launch_mark *m = &l->marks.v[l->marks_matched];

			VEC_PUSH(&ret->v,
				 ((struct due){ m->t_ns, m->id, l->marks_before + l->marks_matched,
						m->process, (uint32_t)l->index, m->node,
						l->t.queue }));
		}
	}
}

/* Every rank matches all marks, so that all ranks have the same queues. */
static void dues_exchange(struct comm *c, struct dues *due)
{
	CLEANUP(comm_parts_release) struct comm_parts all = { STRBUF_INIT, NULL };

	comm_gather(c, due->v.v, due->v.nr * sizeof(*due->v.v), &all);
	VEC_RESERVE(&due->v, all.bytes.len / sizeof(*due->v.v));
	due->v.nr = all.bytes.len / sizeof(*due->v.v);
	if (due->v.nr)
		memcpy(due->v.v, all.bytes.buf, due->v.nr * sizeof(*due->v.v));
}

void launches_match(struct profile *p, int64_t horizon_ns, bool anybody)
{
	struct profile_priv *priv = p->priv;
	struct dues due = { VEC_INIT };

	if (!anybody)
		return;
	dues_collect(priv, horizon_ns, &due);
	if (!comm_alone(priv->o.comm))
		dues_exchange(priv->o.comm, &due);
	if (due.v.nr)
		qsort(due.v.v, due.v.nr, sizeof(*due.v.v), cmp_due);
	for (size_t i = 0; i < due.v.nr; i++)
		due_match(p, &due.v.v[i]);
	VEC_RELEASE(&due.v);
	for (size_t i = priv->first_lane; i < priv->lanes.nr; i++)
		marks_drop(p, priv->lanes.v[i]);
}

void launches_release(struct profile_priv *priv)
{
	for (size_t i = 0; i < priv->launches.nr; i++)
		VEC_RELEASE(&priv->launches.v[i].runs);
	VEC_RELEASE(&priv->launches);
	u64map_release(&priv->launch_ids);
	VEC_RELEASE(&priv->credits);
	u64map_release(&priv->credit_ids);
}
