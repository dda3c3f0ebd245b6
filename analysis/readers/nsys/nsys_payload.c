/*
 * Payloads that NCCL gives to its NVTX ranges (domain "NCCL", since 2.19; communicators since
 * 2.23). NVTX_EVENTS.binaryData is
 *
 *	u64 domain, u64 schema, u64 size of the payload, u64 size of all; then the payload
 *
 * in the machine's order, which is the little-endian one. What a schema has is in tables:
 *
 *	NVTX_PAYLOAD_SCHEMAS		domainId, schemaId, payloadSize
 *	NVTX_PAYLOAD_SCHEMA_ENTRIES	domainId, schemaId, idx, type, name, offset (NULL is 0)
 *	NVTX_PAYLOAD_ENUM_ENTRIES	names of values
 *
 * Fields are known by their names in NCCL: "NCCL communicator ID", "Message size [bytes]" ("Bytes"
 * in 2.19), "Root", "Peer rank", of communicators being made "No. of ranks" and "Rank". RCCL adds
 * the type. Types of entries are numbers of nvToolsExtPayload.h; an enumeration has its schema's
 * number and four bytes. NCCL tells the bytes of one rank's part where ranks put parts together
 * (all-gather, reduce-scatter, all-to-all, gather, scatter): the message is that times the ranks,
 * and unknown where these are.
 *
 * In a group (ncclGroupStart … ncclGroupEnd) kernels start when it ends. The end of a group of one
 * collective has the facts of that one; of a group of several nothing tells which kernel is whose.
 *
 * A schema that is not in the file, and one without these fields, is passed over and counted.
 *
 * Facts: NCCL's src/include/nvtx_payload_schemas.h, NVTX's nvToolsExtPayload.h, public files.
 */
#include "nsys.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/model/warnings.h"

#define HEAD_BYTES 32
#define MAX_SCHEMAS 4096
#define MAX_COMMUNICATORS 65536
#define MAX_PAYLOAD 4096

/* ---- schemas ---- */

static const struct {
	const char *name;
	enum nsys_field field;
} field_names[] = {
	{ "NCCL communicator ID", FIELD_COMM },
	{ "Message size [bytes]", FIELD_BYTES },
	{ "Bytes", FIELD_BYTES },
	{ "No. of ranks", FIELD_RANKS },
	{ "Rank", FIELD_RANK },
	{ "Root", FIELD_ROOT },
	{ "Peer rank", FIELD_PEER },
	{ "Data type", FIELD_TYPE },
	{ "Datatype", FIELD_TYPE },
	{ "Count", FIELD_COUNT },
	{ "Sequence number", FIELD_SEQUENCE },
};

/* Bytes of an entry's type; 0: it is no integer. */
static uint8_t width_of(int64_t type, bool *ret_signed)
{
	/* char … unsigned long long, int8 … uint64, of Linux on 64 bits */
	static const uint8_t widths[] = { 0, 1, 1, 2, 2, 4, 4, 8, 8, 8, 8, 1, 1, 2, 2, 4, 4, 8, 8 };

	*ret_signed = type < 19 && type % 2 == 1;
	if (type > 0 && type < (int64_t)sizeof(widths))
		return widths[type];
	if (type == 22) /* size_t */
		return 8;
	return type >= 128 ? 4 : 0; /* an enumeration */
}

static uint64_t schema_key(int64_t domain, int64_t schema)
{
	return db_hash((uint64_t)domain, (uint64_t)schema, 'P');
}

static bool take_schema(void *vp, struct sqlite_rows *q)
{
	struct nsys_payloads *p = &((struct nsys *)vp)->payloads;
	int64_t domain = sqlite_rows_i64_or(q, 0, 0), schema, size = sqlite_rows_i64_or(q, 2, 0);
	uint32_t *at;

	if (!sqlite_rows_i64(q, 1, &schema) || p->v.nr == MAX_SCHEMAS)
		return false;
	at = u64map_at(&p->at, schema_key(domain, schema));
	if (*at != U64MAP_NONE) /* each process has registered it */
		return true;
	*at = (uint32_t)p->v.nr;
	VEC_PUSH(&p->v, ((struct nsys_schema){ .size = size > 0 ? (uint64_t)size : 0 }));
	return true;
}

static bool take_entry(void *vp, struct sqlite_rows *q)
{
	struct nsys_payloads *p = &((struct nsys *)vp)->payloads;
	int64_t schema, offset = sqlite_rows_i64_or(q, 4, 0), type = sqlite_rows_i64_or(q, 2, 0);
	struct nsys_entry e = { .is_signed = false };
	size_t n;
	const char *name = sqlite_rows_text(q, 3, &n);
	uint32_t at;

	if (!sqlite_rows_i64(q, 1, &schema) || !name || offset < 0 || offset > MAX_PAYLOAD)
		return false;
	at = u64map_get(&p->at, schema_key(sqlite_rows_i64_or(q, 0, 0), schema));
	e.width = width_of(type, &e.is_signed);
	e.offset = (uint32_t)offset;
	if (at == U64MAP_NONE || e.width == 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(field_names); i++) {
		struct nsys_entry *to = &p->v.v[at].at[field_names[i].field];

		if (strcmp(name, field_names[i].name) != 0 || to->width)
			continue;
		*to = e;
		p->v.v[at].some = true;
	}
	return true;
}

/* ---- payloads ---- */

static uint64_t number_at(const char *p, uint8_t width, bool is_signed)
{
	uint64_t v = 0;

	for (uint8_t i = 0; i < width; i++)
		v |= (uint64_t)(unsigned char)p[i] << (8 * i);
	if (is_signed && width < 8 && (v >> (8 * width - 1)) & 1)
		v |= ~UINT64_C(0) << (8 * width);
	return v;
}

struct payload {
	const struct nsys_schema *schema;
	const char *p; /* behind the head */
	uint64_t n;
};

enum payload_is { PAYLOAD_READ, PAYLOAD_OTHER, PAYLOAD_UNKNOWN, PAYLOAD_TORN };

static enum payload_is payload_open(const struct nsys *ns, const char *blob, size_t n,
				    struct payload *ret)
{
	uint64_t size;
	uint32_t at;

	if (n < HEAD_BYTES)
		return PAYLOAD_TORN;
	at = u64map_get(&ns->payloads.at, schema_key((int64_t)number_at(blob, 8, false),
						     (int64_t)number_at(blob + 8, 8, false)));
	if (at == U64MAP_NONE)
		return PAYLOAD_UNKNOWN;
	size = number_at(blob + 16, 8, false);
	ret->schema = &ns->payloads.v.v[at];
	if (!ret->schema->some)
		return PAYLOAD_OTHER;
	if (size > n - HEAD_BYTES || ret->schema->size > n - HEAD_BYTES)
		return PAYLOAD_TORN;
	ret->p = blob + HEAD_BYTES;
	ret->n = size;
	return PAYLOAD_READ;
}

/* false: the payload has no such field. */
static bool field_read(const struct payload *pl, enum nsys_field f, int64_t *ret)
{
	const struct nsys_entry *e = &pl->schema->at[f];

	if (e->width == 0 || e->offset + (uint64_t)e->width > pl->n)
		return false;
	*ret = (int64_t)number_at(pl->p + e->offset, e->width, e->is_signed);
	return true;
}

/* Not negative; FACT_ABSENT. */
static int64_t field_fact(const struct payload *pl, enum nsys_field f)
{
	int64_t v;

	return field_read(pl, f, &v) && v >= 0 ? v : FACT_ABSENT;
}

/* ---- communicators ---- */

/* What processes say of themselves: the rank in their largest communicator. */
struct own_rank {
	int64_t process, ranks, rank;
	bool several; /* it has several ranks in it */
};

struct communicators {
	struct nsys *ns;
	struct u64map of; /* by process: in v */
	VEC(struct own_rank) v;
};

static void rank_take(struct communicators *c, int64_t global, int64_t ranks, int64_t rank)
{
	int64_t process = nsys_process_global(global);
	uint32_t *at = u64map_at(&c->of, (uint64_t)process);
	struct own_rank *o;

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)c->v.nr;
		VEC_PUSH(&c->v, ((struct own_rank){ process, -1, -1, false }));
	}
	o = &c->v.v[*at];
	if (ranks > o->ranks)
		*o = (struct own_rank){ process, ranks, rank, false };
	else if (ranks == o->ranks && rank != o->rank)
		o->several = true;
}

static bool take_communicator(void *vp, struct sqlite_rows *q)
{
	struct communicators *c = vp;
	struct payload pl;
	size_t n;
	const char *blob = sqlite_rows_text(q, 1, &n);
	int64_t comm, ranks, rank;

	if (!blob || payload_open(c->ns, blob, n, &pl) != PAYLOAD_READ)
		return false;
	ranks = field_fact(&pl, FIELD_RANKS);
	if (ranks <= 0 || ranks > INT32_MAX || !field_read(&pl, FIELD_COMM, &comm) ||
	    c->ns->payloads.ranks_of.nr >= MAX_COMMUNICATORS)
		return false;
	/* 0: the communicator was being made, and had no number yet */
	if (comm != 0)
		*u64map_at(&c->ns->payloads.ranks_of, (uint64_t)comm) = (uint32_t)ranks;
	rank = field_fact(&pl, FIELD_RANK);
	if (rank >= 0 && rank < ranks)
		rank_take(c, sqlite_rows_i64_or(q, 0, 0), ranks, rank);
	return true;
}

/* Ranks count only if all processes have different ones in communicators of one size. */
static void ranks_settle(struct communicators *c)
{
	CLEANUP(u64map_release) struct u64map taken = U64MAP_INIT;
	bool clear = c->v.nr > 0;

	for (size_t i = 0; clear && i < c->v.nr; i++) {
		const struct own_rank *o = &c->v.v[i];
		uint32_t *at = u64map_at(&taken, (uint64_t)o->rank);

		clear = !o->several && o->ranks == c->v.v[0].ranks && *at == U64MAP_NONE;
		*at = 1;
	}
	for (size_t i = 0; clear && i < c->v.nr; i++) {
		uint32_t *at = u64map_at(&c->ns->ranks, (uint64_t)c->v.v[i].process);

		if (*at == U64MAP_NONE)
			*at = (uint32_t)c->v.v[i].rank;
	}
}

void nsys_payloads_load(struct nsys *ns)
{
	static const struct db_table tables[] = {
		{ "NVTX_PAYLOAD_SCHEMAS", "domainId? schemaId payloadSize?", .take = take_schema },
		{ "NVTX_PAYLOAD_SCHEMA_ENTRIES", "domainId? schemaId type name offset?",
		  .take = take_entry },
	};
	static const struct db_table events = { "NVTX_EVENTS", "globalTid? binaryData?",
						.take = take_communicator };
	struct communicators c = { .ns = ns };
	bool some = false;

	if (!ns->sc.facts)
		return;
	db_scan_tables(&ns->sc, tables, ARRAY_LEN(tables), ns);
	for (size_t i = 0; i < ns->payloads.v.nr; i++)
		some |= ns->payloads.v.v[i].at[FIELD_RANKS].width > 0;
	if (some && sqlite_db_has_column(ns->sc.db, events.name, "binaryData"))
		db_scan_table(&ns->sc, &events, &c);
	ranks_settle(&c);
	u64map_release(&c.of);
	VEC_RELEASE(&c.v);
}

void nsys_payloads_release(struct nsys *ns)
{
	struct nsys_payloads *p = &ns->payloads;

	u64map_release(&p->at);
	u64map_release(&p->ranks_of);
	VEC_RELEASE(&p->v);
	VEC_RELEASE(&p->groups);
}

/* ---- collectives ---- */

static int64_t times(int64_t a, int64_t b)
{
	int64_t r;

	return a == FACT_ABSENT || b == FACT_ABSENT || __builtin_mul_overflow(a, b, &r)
		       ? FACT_ABSENT
		       : r;
}

/* Whether the size in a payload is that of one rank's part of the message. */
static bool tells_part(const char *name)
{
	static const char *const parts[] = { "ncclAllGather", "ncclReduceScatter", "ncclAlltoAll",
					     "ncclAllToAll",  "ncclGather",        "ncclScatter" };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (strcmp(name, parts[i]) == 0)
			return true;
	return false;
}

/* ncclDataType_t, as the logs of NCCL are read. */
static const struct {
	const char *name;
	int64_t bytes;
} types[] = {
	{ "i8", 1 },  { "u8", 1 },  { "i32", 4 }, { "u32", 4 },  { "i64", 8 }, { "u64", 8 },
	{ "f16", 2 }, { "f32", 4 }, { "f64", 8 }, { "bf16", 2 }, { "f8", 1 },  { "bf8", 1 },
};

/* count: of one rank's part. */
static void elements_take(struct collective_facts *f, const char *name, int64_t count)
{
	int64_t all = times(count, f->group_size);

	f->in_elements = f->out_elements = count;
	if (strcmp(name, "ncclReduceScatter") == 0 || strncasecmp(name, "ncclAllToAll", 12) == 0)
		f->in_elements = all;
	if (strcmp(name, "ncclAllGather") == 0 || strncasecmp(name, "ncclAllToAll", 12) == 0)
		f->out_elements = all;
}

/* The payload states a number of elements, or bytes and their type give it. */
static void type_take(struct nsys *ns, struct collective_facts *f, const char *name,
		      const struct payload *pl)
{
	int64_t type = field_fact(pl, FIELD_TYPE), count = field_fact(pl, FIELD_COUNT);
	int64_t bytes = field_fact(pl, FIELD_BYTES);

	if (type >= 0 && (size_t)type < ARRAY_LEN(types)) {
		f->dtype = sink_puts(ns->sc.sink, types[type].name);
		if (count == FACT_ABSENT && bytes != FACT_ABSENT && bytes % types[type].bytes == 0)
			count = bytes / types[type].bytes;
	}
	if (count != FACT_ABSENT)
		elements_take(f, name, count);
}

static struct collective_facts facts_of(struct nsys *ns, const char *name, const struct payload *pl)
{
	struct collective_facts f = COLLECTIVE_FACTS_NONE;
	struct sink *s = ns->sc.sink;
	int64_t comm, peer = field_fact(pl, FIELD_PEER);
	char text[32];
	uint32_t ranks;

	f.name = sink_puts(s, name);
	if (field_read(pl, FIELD_COMM, &comm) && comm != 0) {
		snprintf(text, sizeof(text), "0x%" PRIx64, (uint64_t)comm);
		f.group = sink_puts(s, text);
		f.group_about = sink_puts(s, "NCCL communicator");
		ranks = u64map_get(&ns->payloads.ranks_of, (uint64_t)comm);
		f.group_size = ranks == U64MAP_NONE ? FACT_ABSENT : ranks;
	}
	f.bytes = field_fact(pl, FIELD_BYTES);
	if (tells_part(name))
		f.bytes = times(f.bytes, f.group_size);
	type_take(ns, &f, name, pl);
	f.sequence = field_fact(pl, FIELD_SEQUENCE);
	f.root = field_fact(pl, FIELD_ROOT);
	f.to = strcmp(name, "ncclSend") == 0 ? peer : FACT_ABSENT;
	f.from = strcmp(name, "ncclRecv") == 0 ? peer : FACT_ABSENT;
	return f;
}

static struct nsys_group *group_of(struct nsys *ns, nsys_slot thread)
{
	while (ns->payloads.groups.nr <= thread)
		VEC_PUSH(&ns->payloads.groups, ((struct nsys_group){ .depth = 0 }));
	return &ns->payloads.groups.v[thread];
}

static void facts_put(struct nsys *ns, span_id span, const struct collective_facts *f)
{
	db_facts_put(&ns->sc, span,
		     &(struct span_facts){ .kind = FACTS_COLLECTIVE, .collective = *f });
}

static void group_end(struct nsys *ns, struct nsys_group *g, span_id span)
{
	if (g->depth == 0 || --g->depth > 0)
		return;
	if (g->calls == 1)
		facts_put(ns, span, &g->facts);
	else if (g->calls > 1)
		ns->payloads.grouped += g->calls;
}

void nsys_payload_take(struct nsys *ns, nsys_slot thread, span_id span, const char *name,
		       const char *payload, size_t n)
{
	struct nsys_payloads *p = &ns->payloads;
	struct nsys_group *g = group_of(ns, thread);
	struct collective_facts f;
	struct payload pl;
	enum payload_is is;

	if (strcmp(name, "ncclGroupStart") == 0 && g->depth++ == 0)
		g->calls = 0;
	else if (strcmp(name, "ncclGroupEnd") == 0)
		group_end(ns, g, span);
	if (!payload)
		return;
	is = payload_open(ns, payload, n, &pl);
	p->read += is == PAYLOAD_READ;
	p->other += is == PAYLOAD_OTHER;
	p->unknown += is == PAYLOAD_UNKNOWN;
	p->torn += is == PAYLOAD_TORN;
	if (is != PAYLOAD_READ || field_fact(&pl, FIELD_BYTES) == FACT_ABSENT)
		return;
	f = facts_of(ns, name, &pl);
	facts_put(ns, span, &f);
	if (g->depth > 0) {
		g->calls++;
		g->facts = f;
	}
}

void nsys_payloads_told(struct nsys *ns)
{
	const struct nsys_payloads *p = &ns->payloads;
	struct sink *s = ns->sc.sink;

	if (p->read)
		sink_fact(s, "nccl_payloads", p->read);
	if (p->grouped)
		sink_fact(s, "nccl_grouped", p->grouped);
	if (p->other)
		sink_fact(s, "payloads_other", p->other);
	sink_warn(s, W_IGNORED_RECORD, (uint64_t)p->unknown,
		  "payloads of NVTX ranges whose schema is not in the file");
	sink_warn(s, W_BAD_EVENT, (uint64_t)p->torn,
		  "payloads of NVTX ranges that are shorter than they say");
}
