/*
 * Messages between the ranks of a profile (profile.h). Ranks run the same code on the same
 * definitions, so lanes, devices and rounds have the same numbers everywhere; only results of a
 * rank's own lanes are sent.
 */
#include "profile_private.h"

#include <string.h>

#include "profrig/base/progress.h"
#include "profrig/base/xalloc.h"

#define DAMAGED "what rank %d sent does not end as it should"

static struct serial_in part_of(const struct comm_parts *p, int rank)
{
	return (struct serial_in){ p->bytes.buf + p->at[rank], p->bytes.buf + p->at[rank + 1],
				   false };
}

/* ---- the same archive ---- */

static uint64_t hash_mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * UINT64_C(0x100000001b3);
}

/* Ranks exchange numbers of tracks and strings, so these must be equal everywhere. */
static uint64_t sources_fingerprint(const struct profile *p, struct source *const *v, size_t n)
{
	uint64_t h = hash_mix(hash_mix(UINT64_C(0xcbf29ce484222325), p->m->tracks.nr), n);

	for (size_t i = 0; i < p->m->tracks.nr; i++)
		h = hash_mix(h, p->m->tracks.v[i].name);
	for (size_t i = 0; i < n; i++)
		h = hash_mix(hash_mix(hash_mix(h, v[i]->track), v[i]->samples_only), v[i]->records);
	return hash_mix(h, intern_count(p->m->strings));
}

struct view {
	bool any;
	uint64_t fingerprint;
};

static void compare_views(struct comm *c, const struct comm_parts *all)
{
	struct serial_in first = part_of(all, 0);
	struct view a, b;

	SERIAL_TAKE(&first, a);
	for (int r = 1; r < c->size; r++) {
		struct serial_in in = part_of(all, r);
		CLEANUP(xfreep) char *host = NULL;
		CLEANUP(xfreep) char *text = NULL;

		SERIAL_TAKE(&in, b);
		host = serial_take_text(&in);
		text = serial_take_text(&in);
		if (a.any && b.any && a.fingerprint == b.fingerprint)
			continue;
		if (!a.any && b.any)
			comm_stop(c, 5, "rank 0 cannot read what rank %d on %s reads", r,
				  host ? host : "?");
		if (a.any)
			comm_stop(c, 5,
				  "rank %d on %s does not see the archive that rank 0 sees%s%s", r,
				  host ? host : "?", text ? ": " : "", text ? text : "");
	}
}

void ranks_agree(struct profile *p, struct source *const *v, size_t n, const char *text)
{
	struct comm *c = p->priv->o.comm;
	CLEANUP(strbuf_release) struct strbuf mine = STRBUF_INIT;
	CLEANUP(comm_parts_release) struct comm_parts all = { STRBUF_INIT, NULL };
	struct view view = { v != NULL, sources_fingerprint(p, v, n) };

	p->priv->agreed = true;
	if (comm_alone(c))
		return;
	SERIAL_PUT(&mine, view);
	serial_put_text(&mine, c->host);
	serial_put_text(&mine, text);
	comm_gather(c, mine.buf, mine.len, &all);
	compare_views(c, &all);
}

/* ---- assignment of lanes ---- */

/* A unit that one rank reads: a thread, a location of samples, all queues of a device. */
struct share {
	uint64_t records;
	size_t lane; /* its first */
};

static int larger_first(const void *pa, const void *pb)
{
	const struct share *a = pa, *b = pb;

	if (a->records != b->records)
		return a->records > b->records ? -1 : 1;
	return a->lane < b->lane ? -1 : a->lane > b->lane;
}

static const struct lane *first_of_device(const struct profile *p, const struct lane *l)
{
	const struct device_lanes *d = &p->priv->devices.v[l->t.device];

	for (size_t i = 0; i < d->lanes.nr; i++)
		if (d->lanes.v[i]->index >= p->priv->first_lane)
			return d->lanes.v[i];
	return l;
}

static uint64_t records_of(const struct lane *l)
{
	uint64_t nr = 1;

	for (size_t i = 0; i < l->sources.nr; i++)
		nr += l->sources.v[i]->records;
	return nr;
}

/* By index: the first lane of its device, or itself. */
static size_t share_of(const struct profile *p, const struct lane *l)
{
	return l->t.queue ? first_of_device(p, l)->index : l->index;
}

/* The largest unit goes to the rank with the least so far. */
static void shares_deal(struct profile *p, struct share *v, size_t n, int size)
{
	CLEANUP(xfreep) uint64_t *load = xcalloc((size_t)size, sizeof(*load));

	qsort(v, n, sizeof(*v), larger_first);
	for (size_t i = 0; i < n; i++) {
		int least = 0;

		for (int r = 1; r < size; r++)
			least = load[r] < load[least] ? r : least;
		load[least] += v[i].records;
		p->priv->lanes.v[v[i].lane]->rank = least;
	}
}

void ranks_assign(struct profile *p)
{
	struct profile_priv *priv = p->priv;
	size_t first = priv->first_lane, all = priv->lanes.nr, n = 0;
	CLEANUP(xfreep) struct share *v = xcalloc(all + 1, sizeof(*v));
	CLEANUP(xfreep) uint64_t *records = xcalloc(all + 1, sizeof(*records));

	if (comm_alone(priv->o.comm))
		return;
	for (size_t i = first; i < all; i++)
		records[share_of(p, priv->lanes.v[i])] += records_of(priv->lanes.v[i]);
	for (size_t i = first; i < all; i++)
		if (records[i])
			v[n++] = (struct share){ records[i], i };
	shares_deal(p, v, n, priv->o.comm->size);
	for (size_t i = first; i < all; i++) {
		struct lane *l = priv->lanes.v[i];

		l->rank = priv->lanes.v[share_of(p, l)]->rank;
		l->here = is_own(p, l);
	}
}

/* ---- tracks with calls ---- */

void ranks_calls(struct profile *p)
{
	struct profile_priv *priv = p->priv;
	size_t nr = priv->lanes.nr - priv->first_lane;
	CLEANUP(comm_parts_release) struct comm_parts all = { STRBUF_INIT, NULL };
	CLEANUP(xfreep) bool *calls = NULL;

	if (comm_alone(priv->o.comm))
		return;
	calls = xcalloc(nr + 1, sizeof(*calls));
	for (size_t i = 0; i < nr; i++)
		calls[i] = priv->lanes.v[priv->first_lane + i]->calls;
	comm_gather(priv->o.comm, calls, nr, &all);
	if (all.bytes.len != nr * (size_t)priv->o.comm->size)
		comm_stop(priv->o.comm, 1, "ranks do not have the same tracks");
	for (size_t i = 0; i < all.bytes.len; i++)
		priv->lanes.v[priv->first_lane + i % nr]->calls |= all.bytes.buf[i] != 0;
}

/* ---- counters ---- */

void ranks_samples(struct profile *p)
{
	struct profile_priv *priv = p->priv;
	struct comm *c = priv->o.comm;
	CLEANUP(strbuf_release) struct strbuf mine = STRBUF_INIT;
	CLEANUP(comm_parts_release) struct comm_parts all = { STRBUF_INIT, NULL };
	CLEANUP(xfreep) struct serial_in *in = NULL;

	if (comm_alone(c))
		return;
	for (size_t i = priv->first_lane; i < priv->lanes.nr; i++)
		if (priv->lanes.v[i]->samples_only && is_own(p, priv->lanes.v[i]))
			lane_series_save(priv->lanes.v[i], &mine);
	comm_gather(c, mine.buf, mine.len, &all);
	in = xcalloc((size_t)c->size, sizeof(*in));
	for (int r = 0; r < c->size; r++)
		in[r] = part_of(&all, r);
	for (size_t i = priv->first_lane; i < priv->lanes.nr; i++) {
		struct lane *l = priv->lanes.v[i];

		if (l->samples_only && !is_own(p, l))
			lane_series_load(l, &in[l->rank]);
	}
	for (int r = 0; r < c->size; r++)
		if (in[r].bad)
			comm_stop(c, 1, DAMAGED, r);
}

/* ---- a round ---- */

struct round_of_rank {
	int64_t horizon_ns;
	bool marks;
};

/* Followed by a flag for each lane of the rank: whether it changes. */
static void lanes_unsteady(struct profile *p, int rank, struct serial_in *in)
{
	for (size_t i = p->priv->first_lane; i < p->priv->lanes.nr; i++) {
		struct lane *l = p->priv->lanes.v[i];
		bool unsteady;

		if (l->rank != rank)
			continue;
		SERIAL_TAKE(in, unsteady);
		l->changes = unsteady;
	}
	if (in->bad)
		comm_stop(p->priv->o.comm, 1, DAMAGED, rank);
}

static struct round_of_rank round_take(struct profile *p, const struct comm_parts *all)
{
	const struct comm *c = p->priv->o.comm;
	struct round_of_rank other, ret = { INT64_MAX, false };

	for (int r = 0; r < c->size; r++) {
		struct serial_in in = part_of(all, r);

		SERIAL_TAKE(&in, other);
		ret.marks |= other.marks;
		if (other.horizon_ns < ret.horizon_ns)
			ret.horizon_ns = other.horizon_ns;
		if (r != c->rank)
			lanes_unsteady(p, r, &in);
	}
	return ret;
}

int64_t ranks_horizon(struct profile *p, int64_t own_ns, bool *ret_marks)
{
	const struct profile_priv *priv = p->priv;
	struct round_of_rank r = { .horizon_ns = own_ns };
	CLEANUP(strbuf_release) struct strbuf mine = STRBUF_INIT;
	CLEANUP(comm_parts_release) struct comm_parts all = { STRBUF_INIT, NULL };

	for (size_t i = priv->first_lane; i < priv->lanes.nr; i++)
		r.marks |= priv->lanes.v[i]->marks.nr > 0;
	if (!comm_alone(priv->o.comm)) {
		SERIAL_PUT(&mine, r);
		for (size_t i = priv->first_lane; i < priv->lanes.nr; i++) {
			bool unsteady = priv->lanes.v[i]->changes > 0;

			if (is_own(p, priv->lanes.v[i]))
				SERIAL_PUT(&mine, unsteady);
		}
		comm_gather(priv->o.comm, mine.buf, mine.len, &all);
		r = round_take(p, &all);
	}
	*ret_marks = r.marks;
	return r.horizon_ns;
}

/* ---- results ---- */

static void devices_save(const struct profile *p, struct strbuf *to)
{
	for (size_t i = 0; i < p->devices.nr; i++) {
		const struct profile_device *d = &p->devices.v[i];

		SERIAL_PUT(to, d->union_ns);
		SERIAL_PUT(to, d->max_concurrency);
		SERIAL_PUT(to, d->linked);
		SERIAL_PUT(to, d->linked_ns);
	}
}

/* One rank has all of a device's queues; on the others the figures are 0. */
static void devices_load(struct profile *p, struct serial_in *from)
{
	for (size_t i = 0; i < p->devices.nr; i++) {
		struct profile_device more, *d = &p->devices.v[i];

		SERIAL_TAKE(from, more.union_ns);
		SERIAL_TAKE(from, more.max_concurrency);
		SERIAL_TAKE(from, more.linked);
		SERIAL_TAKE(from, more.linked_ns);
		d->union_ns = ns_sum(d->union_ns, more.union_ns);
		if (more.max_concurrency > d->max_concurrency)
			d->max_concurrency = more.max_concurrency;
		d->linked += more.linked;
		d->linked_ns = ns_sum(d->linked_ns, more.linked_ns);
	}
}

static void lanes_save(const struct profile *p, struct strbuf *to)
{
	const struct profile_priv *priv = p->priv;
	uint32_t nr = 0;

	for (size_t i = priv->first_lane; i < priv->lanes.nr; i++)
		nr += priv->lanes.v[i]->here;
	SERIAL_PUT(to, nr);
	for (size_t i = priv->first_lane; i < priv->lanes.nr; i++) {
		if (!priv->lanes.v[i]->here)
			continue;
		SERIAL_PUT(to, i);
		lane_save(priv->lanes.v[i], to);
	}
}

static void lanes_load(struct profile *p, struct serial_in *from, const uint32_t *calls,
		       size_t nr_calls)
{
	struct profile_priv *priv = p->priv;
	uint32_t nr;

	SERIAL_TAKE(from, nr);
	for (uint32_t k = 0; k < nr && !from->bad; k++) {
		size_t i;

		SERIAL_TAKE(from, i);
		from->bad |= i < priv->first_lane || i >= priv->lanes.nr;
		if (!from->bad)
			lane_load(priv->lanes.v[i], from, calls, nr_calls);
	}
}

static void results_send(struct profile *p, int to)
{
	const struct profile_priv *priv = p->priv;
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	calls_save(p, &sb);
	lanes_save(p, &sb);
	devices_save(p, &sb);
	SERIAL_PUT_VEC(&sb, &priv->credits);
	if (priv->o.lanes.save)
		priv->o.lanes.save(priv->o.lanes.ctx, &sb);
	priv->o.comm->ops->send(priv->o.comm, to, sb.buf, sb.len);
}

static void results_receive(struct profile *p, int from)
{
	struct profile_priv *priv = p->priv;
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	CLEANUP(xfreep) uint32_t *calls = NULL;
	VEC(struct credit) credits = VEC_INIT;
	struct serial_in in;
	size_t nr_calls;

	priv->o.comm->ops->receive(priv->o.comm, from, &sb);
	in = (struct serial_in){ sb.buf, sb.buf + sb.len, false };
	calls = calls_load(p, &in, &nr_calls);
	lanes_load(p, &in, calls, nr_calls);
	devices_load(p, &in);
	SERIAL_TAKE_VEC(&in, &credits);
	for (size_t i = 0; i < credits.nr; i++)
		credit_add(priv, credits.v[i].lane, credits.v[i].node, credits.v[i].ns);
	VEC_RELEASE(&credits);
	if (priv->o.lanes.load)
		priv->o.lanes.load(priv->o.lanes.ctx, &in);
	if (in.bad || in.at != in.end)
		comm_stop(priv->o.comm, 1, DAMAGED, from);
}

/* A rank is done once it has sent its results. */
static void results_gone(struct profile *p)
{
	VEC_CLEAR(&p->priv->credits);
	u64map_release(&p->priv->credit_ids);
}

/* A binomial tree: in step k those whose rank is an odd multiple of 2^k send 2^k ranks down. */
void ranks_reduce(struct profile *p)
{
	struct comm *c = p->priv->o.comm;

	if (comm_alone(c))
		return;
	progress_phase("gather the results of %d ranks", c->size);
	for (int step = 1; step < c->size; step *= 2) {
		if (c->rank & step) {
			results_send(p, c->rank - step);
			results_gone(p);
			return;
		}
		if (c->rank + step < c->size)
			results_receive(p, c->rank + step);
	}
}
