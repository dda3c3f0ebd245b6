#include "otf2_private.h"

#include <xxhash.h>

#include "profrig/base/search.h"

/*
 * Matches sends and receives after all locations are read. Ranks inside a communicator become ranks
 * of the job (the list of locations that communicate); messages of equal (communicator, from, to,
 * tag) are paired in the order of posting, as MPI guarantees. A pair is a flow from the call around
 * the send to the call around the receive; an unmatched message becomes an instant on its thread.
 */
struct half {
	uint64_t comm;
	uint32_t from, to, tag;
	size_t message;
	uint64_t order_ticks;
};

static int by_request(const void *pa, const void *pb)
{
	const struct otf2_request *a = pa, *b = pb;

	if (a->location != b->location)
		return a->location < b->location ? -1 : 1;
	if (a->request != b->request)
		return a->request < b->request ? -1 : 1;
	return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

/* The posting before the completion: request numbers may be used again. */
static void receive_posted(struct otf2_reading *r, struct otf2_message *m)
{
	struct otf2_request key = { m->location, m->request, m->order_ticks };
	const struct otf2_request *v = r->found.requests.v, *q;
	size_t after = LOWER_BOUND(i, 0, r->found.requests.nr, by_request(&v[i], &key) <= 0);

	if (after == 0)
		return;
	q = &v[after - 1];
	if (q->location == m->location && q->request == m->request)
		m->order_ticks = q->ticks;
}

static int by_key(const void *pa, const void *pb)
{
	const struct half *a = pa, *b = pb;

	if (a->comm != b->comm)
		return a->comm < b->comm ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (a->tag > b->tag) - (a->tag < b->tag);
}

static int by_key_and_order(const void *pa, const void *pb)
{
	const struct half *a = pa, *b = pb;
	int c = by_key(pa, pb);

	if (c)
		return c;
	if (a->order_ticks != b->order_ticks)
		return a->order_ticks < b->order_ticks ? -1 : 1;
	return (a->message > b->message) - (a->message < b->message);
}

/* Rank in the job of a peer in a communicator, UINT32_MAX when the archive does not define it. */
static uint32_t peer_rank(const struct otf2_defs *d, const struct otf2_message *m, uint32_t self)
{
	const struct def_comm *c = DEF_FIND(&d->comms, m->comm);
	const struct def_group *g = c ? DEF_FIND(&d->groups, c->group) : NULL;

	if (!g)
		return UINT32_MAX;
	if (g->type == OTF2_GROUP_TYPE_COMM_SELF)
		return self;
	if (m->peer >= g->nr || g->members[m->peer] >= UINT32_MAX)
		return UINT32_MAX;
	return g->type == OTF2_GROUP_TYPE_COMM_GROUP ? (uint32_t)g->members[m->peer] : m->peer;
}

static uint32_t self_rank(const struct otf2_defs *d, const struct otf2_message *m)
{
	const struct def_location *l = &d->locations.v[m->location];
	const struct def_location_group *g = DEF_FIND(&d->location_groups, l->group);

	return g ? g->rank : UINT32_MAX;
}

static struct half *halves_of(struct otf2_reading *r, const struct otf2_message *v, size_t n,
			      bool receive, size_t *ret_nr)
{
	struct half *halves = xreallocarray(NULL, n + 1, sizeof(*halves));
	size_t nr = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t self = self_rank(&r->defs, &v[i]);
		uint32_t peer = peer_rank(&r->defs, &v[i], self);

		if (self == UINT32_MAX || peer == UINT32_MAX)
			continue;
		halves[nr++] = (struct half){ .comm = v[i].comm,
					      .from = receive ? peer : self,
					      .to = receive ? self : peer,
					      .tag = v[i].tag,
					      .message = i,
					      .order_ticks = v[i].order_ticks };
	}
	qsort(halves, nr, sizeof(*halves), by_key_and_order);
	*ret_nr = nr;
	return halves;
}

static span_id instant_put(const struct otf2_reading *r, const struct otf2_message *m,
			   const char *name)
{
	struct span_def d = { .track = r->defs.locations.v[m->location].track,
			      .start_ns = m->t_ns,
			      .end_ns = m->t_ns,
			      .name = sink_puts(r->s, name),
			      .category = sink_puts(r->s, "MPI"),
			      .kind = SPAN_INSTANT,
			      .args = STR_NONE };

	return r->s->ops->span(r->s, &d);
}

/* A matched message outside of any call needs something that the flow can start or end at. */
static void pair_link(struct otf2_reading *r, struct otf2_message *send,
		      struct otf2_message *receive)
{
	if (send->span == SPAN_NONE)
		send->span = instant_put(r, send, "send");
	if (receive->span == SPAN_NONE)
		receive->span = instant_put(r, receive, "receive");
	r->s->ops->link(r->s, send->span, receive->span, LINK_FLOW);
	send->matched = receive->matched = true;
}

static int64_t leftovers_put(struct otf2_reading *r, const struct otf2_message *v, size_t n,
			     const char *name)
{
	int64_t nr = 0;

	for (size_t i = 0; i < n; i++) {
		if (v[i].matched)
			continue;
		instant_put(r, &v[i], name);
		nr++;
	}
	return nr;
}

/* ---- for a sink that only counts: how many instants the messages come to ---- */

/* Messages of equal communicator, from, to and tag; [0] sends, [1] receives. */
struct channel {
	uint64_t nr[2], in_calls[2];
	struct otf2_message last;
};

struct otf2_channels {
	struct u64map by_key; /* → v */
	VEC(struct channel) v;
};

struct otf2_channels *otf2_channels_new(void)
{
	return xcalloc(1, sizeof(struct otf2_channels));
}

void otf2_channels_free(struct otf2_channels *c)
{
	if (!c)
		return;
	u64map_release(&c->by_key);
	VEC_RELEASE(&c->v);
	free(c);
}

static struct channel *channel_at(struct otf2_channels *c, uint64_t comm, uint32_t from,
				  uint32_t to, uint32_t tag)
{
	uint64_t key[3] = { comm, (uint64_t)from << 32 | to, tag };
	uint32_t *at = u64map_at(&c->by_key, XXH3_64bits(key, sizeof(key)));

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)c->v.nr;
		VEC_PUSH(&c->v, (struct channel){ .nr = { 0 } });
	}
	return &c->v.v[*at];
}

void otf2_message_count(const struct otf2_reading *r, const struct otf2_message *m, bool receive,
			bool in_call)
{
	uint32_t self = self_rank(&r->defs, m), peer = peer_rank(&r->defs, m, self);
	struct channel *c;

	/* outside of a call it is an instant with a partner or without one */
	if (!in_call || self == UINT32_MAX || peer == UINT32_MAX)
		instant_put(r, m, "");
	if (self == UINT32_MAX || peer == UINT32_MAX)
		return;
	c = channel_at(r->channels, m->comm, receive ? peer : self, receive ? self : peer, m->tag);
	c->nr[receive]++;
	c->in_calls[receive] += in_call;
	c->last = *m;
}

/*
 * The number of unmatched messages in calls. Where a channel has messages outside of calls too, it
 * is unknown which of them are unmatched: as many as possible are taken to be in calls.
 */
static void channels_put(const struct otf2_reading *r)
{
	for (size_t i = 0; i < r->channels->v.nr; i++) {
		const struct channel *c = &r->channels->v.v[i];
		bool more = c->nr[1] > c->nr[0];
		uint64_t alone = c->nr[more] - c->nr[!more];

		for (uint64_t k = 0; k < alone && k < c->in_calls[more]; k++)
			instant_put(r, &c->last, "");
	}
}

/* ---- all of them ---- */

void otf2_match_messages(struct otf2_reading *r)
{
	struct half *sends, *receives;
	size_t nr_sends, nr_receives;
	int64_t pairs = 0;

	if (r->channels)
		channels_put(r);
	if (r->found.sends.nr + r->found.receives.nr == 0)
		return;
	if (r->found.requests.nr)
		qsort(r->found.requests.v, r->found.requests.nr, sizeof(*r->found.requests.v),
		      by_request);
	for (size_t i = 0; i < r->found.receives.nr; i++) {
		if (r->found.receives.v[i].request != UINT64_MAX)
			receive_posted(r, &r->found.receives.v[i]);
	}
	sends = halves_of(r, r->found.sends.v, r->found.sends.nr, false, &nr_sends);
	receives = halves_of(r, r->found.receives.v, r->found.receives.nr, true, &nr_receives);
	for (size_t a = 0, b = 0; a < nr_sends && b < nr_receives;) {
		int c = by_key(&sends[a], &receives[b]);

		if (c == 0) {
			pair_link(r, &r->found.sends.v[sends[a].message],
				  &r->found.receives.v[receives[b].message]);
			pairs++;
		}
		a += c <= 0;
		b += c >= 0;
	}
	free(sends);
	free(receives);
	sink_fact(r->s, "messages", pairs);
	sink_fact(r->s, "unmatched_sends",
		  leftovers_put(r, r->found.sends.v, r->found.sends.nr, "unmatched send"));
	sink_fact(r->s, "unmatched_receives",
		  leftovers_put(r, r->found.receives.v, r->found.receives.nr, "unmatched receive"));
}
