/*
 * Transfers between ranks (SenRdmaSend, SenRdmaReceive). Both sides have one text in their names,
 * [sync=AllReduce_all_reduce_4_s0_r1_0], and name the other one (Peer). A multicast is one send for
 * each of its receivers (MultiCast XSEG) behind what prepares them (Set BCList), and the data.
 *
 * The k-th send with a text from one rank to another belongs to the k-th receive of it. They are
 * linked where both are in the file; in any case each side has its facts.
 */
#include "tef_flex.h"

#include <stdlib.h>

#include "profrig/base/num.h"

static bool text_has(const struct json_text *t, const char *word)
{
	return t->p && memmem(t->p, t->n, word, strlen(word));
}

/* The text behind "[sync=", empty without any. */
static struct json_text sync_of(const struct json_text *name)
{
	static const char word[] = "[sync=";
	const char *at = name->p ? memmem(name->p, name->n, word, sizeof(word) - 1) : NULL, *end;
	struct json_text none = { .p = NULL };

	if (!at)
		return none;
	at += sizeof(word) - 1;
	end = memchr(at, ']', (size_t)(name->p + name->n - at));
	return end ? (struct json_text){ .p = at, .n = (size_t)(end - at) } : none;
}

static void take_arg(struct tef *t, struct flex_message *m, const struct json_text *key,
		     const struct json_text *value)
{
	int64_t v;

	if (json_text_is(key, "CollGroup"))
		m->group = tef_string(t, value);
	else if (json_text_is(key, "Type"))
		m->protocol = json_text_is(value, "Set BCList");
	else if (json_text_is(key, "Peer") && num_i64(value->p, value->n, &v) == 0 && v >= 0)
		m->peer = v;
	else if (json_text_is(key, "Bytes") && num_i64(value->p, value->n, &v) == 0 && v >= 0)
		m->bytes = v;
}

uint32_t flex_message_take(struct tef *t, const struct tef_event *ev)
{
	struct json_text sync = sync_of(&ev->name), key, value;
	struct flex_message m = {
		.peer = FACT_ABSENT, .bytes = FACT_ABSENT, .group = STR_NONE, .item = UINT32_MAX
	};
	struct json_cur c;
	bool some = false;

	if (!sync.p || !json_object_of(&ev->args, &c))
		return 0;
	m.sync = tef_hash_text(&sync);
	m.send = text_has(&ev->name, "Send");
	if (!m.send && !text_has(&ev->name, "Rec"))
		return 0;
	while (json_scalar_member(&c, &some, &key, &value) > 0)
		take_arg(t, &m, &key, &value);
	VEC_PUSH(&t->flex->messages, m);
	return (uint32_t)t->flex->messages.nr;
}

/* A side whose other one is known. */
struct side {
	uint64_t key; /* of text, sender and receiver */
	int64_t start_ns;
	span_id span;
	struct flex_message *m;
	int64_t own; /* rank */
	bool send;
};

static int cmp_side(const void *pa, const void *pb)
{
	const struct side *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->send != b->send)
		return a->send ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->span > b->span) - (a->span < b->span);
}

static void facts_push(struct tef *t, const struct side *s)
{
	struct span_facts f = { .kind = FACTS_COLLECTIVE, .collective = COLLECTIVE_FACTS_NONE };
	const struct flex_message *m = s->m;

	if (!t->opts->facts || t->opts->file_facts || t->sink->counts_only)
		return;
	f.collective.name = sink_puts(t->sink, m->send ? "send" : "recv");
	f.collective.group = m->group;
	f.collective.from = m->send ? s->own : m->peer;
	f.collective.to = m->send ? m->peer : s->own;
	f.collective.bytes = m->bytes;
	t->sink->ops->facts(t->sink, s->span, &f);
}

/*
 * Sides of one key: first its sends, then its receives. The parts of a multicast have the bytes
 * that their receivers state. Returns how many have no other.
 */
static uint64_t sides_link(struct tef *t, const struct side *v, size_t n)
{
	size_t sends = 0, receives, pairs;

	while (sends < n && v[sends].send)
		sends++;
	receives = n - sends;
	pairs = sends < receives ? sends : receives;
	for (size_t i = 0; i < pairs; i++) {
		if (v[i].m->bytes == FACT_ABSENT)
			v[i].m->bytes = v[sends + i].m->bytes;
		t->sink->ops->link(t->sink, v[i].span, v[sends + i].span, LINK_FLOW);
	}
	return n - 2 * pairs;
}

void flex_messages_push(struct tef *t, struct flex *x)
{
	VEC(struct side) v = VEC_INIT;
	uint64_t alone = 0;

	for (size_t i = 0; i < x->messages.nr; i++) {
		struct flex_message *m = &x->messages.v[i];
		const struct flex_item *item = m->item < x->items.nr ? &x->items.v[m->item] : NULL;
		int64_t own;

		if (!item || m->protocol || m->peer == FACT_ABSENT || item->span == SPAN_NONE ||
		    !item->stamps)
			continue;
		own = x->devices.v[x->stamps.v[item->stamps - 1].device].rank;
		VEC_PUSH(&v, ((struct side){ tef_hash(m->sync, (uint64_t)(m->send ? own : m->peer),
						      (uint64_t)(m->send ? m->peer : own)),
					     item->start_ns, item->span, m, own, m->send }));
	}
	if (v.nr)
		qsort(v.v, v.nr, sizeof(*v.v), cmp_side);
	for (size_t from = 0, to; from < v.nr && !t->sink->counts_only; from = to) {
		for (to = from; to < v.nr && v.v[to].key == v.v[from].key; to++)
			;
		alone += sides_link(t, v.v + from, to - from);
	}
	for (size_t i = 0; i < v.nr; i++)
		facts_push(t, &v.v[i]);
	if (alone && !t->sink->counts_only)
		sink_fact(t->sink, "transfers_unmatched", (int64_t)alone);
	VEC_RELEASE(&v);
}
