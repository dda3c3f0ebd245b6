/*
 * Packets of one writer form a sequence. Its state grows from packet to packet: interned texts,
 * defaults, the time of incremental clocks. A writer clears it now and then and says all again, so
 * that a reader who lost packets can go on from there; until then packets that need the state are
 * passed over.
 */
#include "perfetto.h"

#include <inttypes.h>

#include "profrig/base/json_out.h"

/* What sequences and interned texts take, without the texts. */
#define SEQ_BYTES (sizeof(struct pf_seq) + 64)
#define TABLES_BYTES (PF_TABLES * sizeof(struct pf_iids))
#define IID_BYTES 48

/* Fields of InternedData. */
static const struct {
	uint32_t field;
	enum pf_table table;
} interned_fields[] = {
	{ 1, PF_CATEGORIES }, { 2, PF_NAMES },        { 3, PF_ARG_NAMES }, { 4, PF_PLACES },
	{ 24, PF_STAGES },    { 24, PF_STAGE_PARTS }, { 29, PF_STRINGS },
};

static struct pf_seq *seq_of(struct pf *p, uint32_t id)
{
	uint32_t at;
	struct pf_seq *s;

	if (p->last_seq && p->last_seq->id == id)
		return p->last_seq;
	at = u64map_get(&p->seq_at, id);
	if (at == U64MAP_NONE) {
		if (p->seqs.nr > 0 && !pf_memory(p, SEQ_BYTES))
			return NULL;
		s = xcalloc(1, sizeof(*s));
		s->id = id;
		s->known = true;
		*u64map_at(&p->seq_at, id) = (uint32_t)p->seqs.nr;
		VEC_PUSH(&p->seqs, s);
	} else {
		s = p->seqs.v[at];
	}
	return p->last_seq = s;
}

static void iids_clear(struct pf_iids *t)
{
	VEC_CLEAR(&t->dense);
	u64map_release(&t->sparse);
	t->nr = 0;
}

static void state_clear(struct pf_seq *s)
{
	s->epoch++;
	s->clock = 0;
	s->has_track = s->has_thread = false;
	VEC_CLEAR(&s->counters);
	VEC_CLEAR(&s->doubles);
	for (size_t i = 0; s->tables && i < PF_TABLES; i++)
		iids_clear(&s->tables[i]);
}

bool pf_seq_take(struct pf *p, struct pf_packet *k)
{
	struct pf_seq *s = seq_of(p, k->seq);

	k->state = s;
	if (!s) {
		p->n.no_memory += !p->survey;
		return false;
	}
	if (k->dropped && s->begun) {
		s->known = false;
		p->n.lost += !p->survey;
	}
	s->begun = true;
	if (k->flags & PF_CLEARED) {
		state_clear(s);
		s->known = true;
	}
	if ((k->flags & PF_NEEDS_STATE) && !s->known) {
		p->n.needs_state += !p->survey;
		return false;
	}
	return true;
}

/* ---- interned texts ---- */

static void iid_put(struct pf *p, struct pf_iids *t, uint64_t iid, uint32_t text)
{
	if (iid < t->dense.nr) {
		t->dense.v[iid] = text;
		return;
	}
	if (!pf_memory(p, IID_BYTES)) {
		p->n.no_memory++;
		return;
	}
	t->nr++;
	if (iid > 2 * (uint64_t)t->nr + 16) {
		*u64map_at(&t->sparse, iid) = text;
		return;
	}
	while (t->dense.nr <= iid)
		VEC_PUSH(&t->dense, PF_IID_NONE);
	t->dense.v[iid] = text;
}

uint32_t pf_interned(struct pf *p, const struct pf_seq *s, enum pf_table table, uint64_t iid)
{
	const struct pf_iids *t = s->tables ? &s->tables[table] : NULL;
	uint32_t id = PF_IID_NONE;

	if (t && iid < t->dense.nr)
		id = t->dense.v[iid];
	if (id == PF_IID_NONE && t)
		id = u64map_get(&t->sparse, iid);
	if (id == PF_IID_NONE)
		p->n.unknown_iid++;
	return id;
}

const char *pf_part(struct pf *p, const struct pf_seq *s, enum pf_table table, uint64_t iid)
{
	uint32_t at = pf_interned(p, s, table, iid);

	return at == PF_IID_NONE ? "null" : p->parts.v[at];
}

/* p->word becomes a part of JSON. */
static uint32_t part_put(struct pf *p)
{
	VEC_PUSH(&p->parts, pool_strndup(&p->texts, p->word.buf, p->word.len));
	return (uint32_t)(p->parts.nr - 1);
}

/* "file":"a.c","function":"f","line":7 */
static void place_put(struct pf *p, struct pf_bytes b)
{
	static const char *const keys[] = { [2] = "file", [3] = "function", [4] = "line" };
	struct pb_cursor c = pf_cursor(b);
	struct pb_field f;

	while (pb_next(&c, &f)) {
		if (f.number < 2 || f.number > 4 || (f.number < 4) != pb_is_bytes(&f))
			continue;
		strbuf_addf(&p->word, "%s\"%s\":", p->word.len ? "," : "", keys[f.number]);
		if (f.number == 4)
			strbuf_addf(&p->word, "%" PRIu64, f.u64);
		else
			json_quote(&p->word, (const char *)f.data, f.len);
	}
}

/* The text of an entry as the tables have it. */
static uint32_t entry_text(struct pf *p, enum pf_table table, struct pf_bytes entry,
			   struct pf_bytes text)
{
	str_id id;

	strbuf_clear(&p->word);
	if (table >= PF_PARTS) {
		if (table == PF_PLACES)
			place_put(p, entry);
		else if (table == PF_STAGE_PARTS)
			strbuf_add(&p->word, text.p ? (const char *)text.p : "", text.n);
		else
			json_quote(&p->word, text.p ? (const char *)text.p : "", text.n);
		return part_put(p);
	}
	id = pf_string(p, text);
	if (table == PF_NAMES)
		pf_name_learn(p, id, text);
	if (table == PF_CATEGORIES && u64map_get(&p->category_text, id) == U64MAP_NONE) {
		strbuf_add(&p->word, text.p ? (const char *)text.p : "", text.n);
		*u64map_at(&p->category_text, id) = part_put(p);
	}
	return id;
}

static void entry_take(struct pf *p, struct pf_seq *s, enum pf_table table, struct pf_bytes b)
{
	struct pb_cursor c = pf_cursor(b);
	struct pf_bytes text = { NULL, 0 };
	uint64_t iid = 0;
	struct pb_field f;

	while (pb_next(&c, &f))
		if (f.number == 1 && pb_is_number(&f))
			iid = f.u64;
		else if (f.number == 2 && pb_is_bytes(&f))
			text = pf_bytes_of(&f);
	if (c.problem || iid == 0) {
		pf_bad(p, "an interned text without a number");
		return;
	}
	if (!pf_memory(p, b.n + 32)) {
		p->n.no_memory++;
		return;
	}
	iid_put(p, &s->tables[table], iid, entry_text(p, table, b, text));
}

static void interned_take(struct pf *p, struct pf_seq *s, struct pf_bytes b)
{
	struct pb_cursor c = pf_cursor(b);
	struct pb_field f;

	if (!s->tables) {
		if (!pf_memory(p, TABLES_BYTES)) {
			p->n.no_memory++;
			return;
		}
		s->tables = xcalloc(PF_TABLES, sizeof(*s->tables));
	}
	while (pb_next(&c, &f))
		for (size_t i = 0; pb_is_bytes(&f) && i < ARRAY_LEN(interned_fields); i++)
			if (f.number == interned_fields[i].field)
				entry_take(p, s, interned_fields[i].table, pf_bytes_of(&f));
	if (c.problem)
		pf_bad(p, c.problem);
}

/* ---- defaults ---- */

/* A clear forgets them, so there are never more than one packet's. */
static void event_defaults_take(struct pf *p, struct pf_seq *s, struct pf_bytes b)
{
	struct pb_cursor c = pf_cursor(b);
	struct pb_field f;
	uint64_t uuid;

	VEC_CLEAR(&s->counters);
	VEC_CLEAR(&s->doubles);
	while (pb_next(&c, &f)) {
		struct pb_packed v = pb_packed_of(&f);

		if (f.number == 11 && pb_is_number(&f)) {
			s->track = f.u64;
			s->has_track = true;
		}
		while ((f.number == 31 || f.number == 45) && pb_packed_next(&v, &uuid)) {
			if (!pf_memory(p, sizeof(uuid)))
				break;
			if (f.number == 31)
				VEC_PUSH(&s->counters, uuid);
			else
				VEC_PUSH(&s->doubles, uuid);
		}
	}
}

static void defaults_take(struct pf *p, struct pf_seq *s, struct pf_bytes b)
{
	struct pb_cursor c = pf_cursor(b);
	struct pb_field f;

	while (pb_next(&c, &f))
		if (f.number == PF_CLOCK_ID && pb_is_number(&f))
			s->clock = (uint32_t)f.u64;
		else if (f.number == PF_TRACK_EVENT && pb_is_bytes(&f))
			event_defaults_take(p, s, pf_bytes_of(&f));
}

void pf_seq_learn_all(struct pf *p, const struct pf_packet *k)
{
	if (k->defaults.p)
		defaults_take(p, k->state, k->defaults);
	if (k->interned.p && !p->survey)
		interned_take(p, k->state, k->interned);
}

void pf_seqs_reset(struct pf *p)
{
	for (size_t i = 0; i < p->seqs.nr; i++) {
		struct pf_seq *s = p->seqs.v[i];

		state_clear(s);
		s->epoch = 0;
		s->known = true;
		s->begun = false;
		VEC_CLEAR(&s->clocks);
	}
}

void pf_seqs_release(struct pf *p)
{
	for (size_t i = 0; i < p->seqs.nr; i++) {
		struct pf_seq *s = p->seqs.v[i];

		for (size_t k = 0; s->tables && k < PF_TABLES; k++) {
			VEC_RELEASE(&s->tables[k].dense);
			u64map_release(&s->tables[k].sparse);
		}
		free(s->tables);
		VEC_RELEASE(&s->counters);
		VEC_RELEASE(&s->doubles);
		VEC_RELEASE(&s->clocks);
		free(s);
	}
	VEC_RELEASE(&p->seqs);
	u64map_release(&p->seq_at);
}
