/*
 * Kineto's arguments as facts of spans (model/facts.h). Keys are compared without regard to case:
 * files of 2021 have "Input dims". Values are JSON, or JSON inside of a string ("[0, 1]").
 *
 *	operators	Input Dims, Input type, Input Strides, Concrete Inputs; Sequence number,
 *			Fwd thread id; Call stack (2021)
 *	Python		Python id, Python parent id, Python module id
 *	kernels		grid, block, registers per thread, shared memory, graph id, graph node id
 *	copies, fills	bytes; kind ("HtoD") or the name: "Memcpy HtoD (Pageable -> Device)"
 *	HIP's calls	bytes or size, kind (a number of the API's enumeration); grid, block
 *	cuda_sync	cuda_sync_kind or the name; stream, correlation, wait_on_stream,
 *			wait_on_cuda_event_id, wait_on_cuda_event_record_corr_id
 *	cuda_event	a record of an event: event_id, stream, correlation
 *	collectives	of operators and kernels: Collective name, dtype, In msg nelems, …
 *	[memory]	Device Type (0: the host), Device Id, Addr, Bytes, Total Allocated,
 *			Total Reserved
 *
 * Lists of more than 30 ranks or sizes are cut by the writer and have "..." in them: such ranks
 * follow from Global rank start and Global rank stride, or are absent.
 */
#include "copy_words.h"
#include "tef.h"

#include "profrig/base/num.h"

/* clang-format off */
#define FACT_KEYS(X) \
	X(SHAPES, "input dims") X(TYPES, "input type") X(STRIDES, "input strides") \
	X(CONCRETE, "concrete inputs") X(SEQUENCE, "sequence number") X(FORWARD, "fwd thread id") \
	X(STACK, "call stack") X(PYTHON, "python id") X(PYTHON_PARENT, "python parent id") \
	X(MODULE, "python module id") X(GRID, "grid") X(BLOCK, "block") \
	X(REGISTERS, "registers per thread") X(SHARED, "shared memory") X(GRAPH, "graph id") \
	X(NODE, "graph node id") X(BYTES, "bytes") X(SIZE, "size") X(KIND, "kind") \
	X(SYNC, "cuda_sync_kind") X(WAIT_STREAM, "wait_on_stream") \
	X(WAIT_EVENT, "wait_on_cuda_event_id") \
	X(WAIT_RECORD, "wait_on_cuda_event_record_corr_id") X(EVENT, "event_id") \
	X(COLLECTIVE, "collective name") \
	X(DTYPE, "dtype") X(IN_ELEMENTS, "in msg nelems") X(OUT_ELEMENTS, "out msg nelems") \
	X(IN_SPLIT, "in split size") X(OUT_SPLIT, "out split size") \
	X(GROUP, "process group name") X(GROUP_ID, "process group id") \
	X(GROUP_ABOUT, "process group description") X(RANKS, "process group ranks") \
	X(GROUP_SIZE, "group size") X(SEQ, "seq") X(ROOT, "root rank") X(FROM, "src rank") \
	X(TO, "dst rank") X(RANK_START, "global rank start") \
	X(RANK_STRIDE, "global rank stride") X(DEVICE_TYPE, "device type") \
	X(DEVICE_ID, "device id") X(ADDRESS, "addr") X(ALLOCATED, "total allocated") \
	X(RESERVED, "total reserved")
#define X(id, key) FACT_##id##_,
enum fact_key { FACT_KEYS(X) FACT_KEYS_NR };
#undef X
#define X(id, key) { key, sizeof(key) - 1 },
static const struct {
	const char *key;
	size_t n;
} keys[] = { FACT_KEYS(X) };
#undef X
/* clang-format on */
_Static_assert(TEF_ARG_FACTS + FACT_KEYS_NR <= TEF_ARG_END && FACT_KEYS_NR <= 64, "bits");

/* The facts of one event: raw JSON values. */
struct said {
	struct tef *t;
	uint64_t has;
	struct json_text v[FACT_KEYS_NR];
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

enum tef_arg tef_fact_arg(const struct json_text *key)
{
	for (size_t i = 0; i < FACT_KEYS_NR; i++) {
		size_t k = 0;

		if (key->n != keys[i].n)
			continue;
		while (k < key->n && lower(key->p[k]) == keys[i].key[k])
			k++;
		if (k == key->n)
			return (enum tef_arg)(TEF_ARG_FACTS + i);
	}
	return TEF_ARG_OTHER;
}

bool tef_facts_wanted(const struct tef *t)
{
	return t->opts->facts && !t->sink->counts_only && t->doc.dialect == TEF_KINETO;
}

/* ---- values ---- */

static void said_set(struct said *s, enum tef_arg arg, const char *p, size_t n)
{
	unsigned key = (unsigned)arg - TEF_ARG_FACTS;

	s->has |= UINT64_C(1) << key;
	s->v[key] = (struct json_text){ .p = p, .n = n };
}

/* Args that no shape fitted. */
static void said_parse(struct said *s, const struct json_text *args)
{
	struct json_text key;
	struct json_cur c;
	bool some = false;

	if (!json_object_of(args, &c))
		return;
	while (json_member(&c, &some, &key) > 0) {
		enum tef_arg arg = tef_fact_arg(&key);
		const char *from;

		json_peek(&c);
		from = c.p;
		if (json_skip(&c) < 0)
			return;
		if (arg != TEF_ARG_OTHER)
			said_set(s, arg, from, (size_t)(c.p - from));
	}
}

static void said_take(struct said *s, const struct tef_event *ev)
{
	if (!ev->args_known) {
		said_parse(s, &ev->args);
		return;
	}
	for (uint32_t i = 0; i < ev->nr_said; i++)
		said_set(s, (enum tef_arg)ev->said[i].arg, ev->args.p + 1 + ev->said[i].at,
			 ev->said[i].n);
}

static bool has(const struct said *s, enum fact_key key)
{
	return s->has >> key & 1;
}

/* The value without quotes; false: it is not there, or says that there is none. */
static bool scalar(const struct said *s, enum fact_key key, struct json_text *ret)
{
	if (!has(s, key))
		return false;
	*ret = s->v[key];
	if (ret->n >= 2 && ret->p[0] == '"') {
		ret->p++;
		ret->n -= 2;
		ret->quoted = 1;
	}
	return ret->n > 0 && !json_text_is(ret, "null") && !json_text_is(ret, "None");
}

static int64_t number(const struct said *s, enum fact_key key)
{
	struct json_text text;
	int64_t v;

	if (!scalar(s, key, &text))
		return FACT_ABSENT;
	if (num_i64(text.p, text.n, &v) == 0)
		return v;
	tef_bad_number(s->t, keys[key].key, &text);
	return FACT_ABSENT;
}

/* A number of a rank, a stream or an id: below zero it is none. */
static int64_t count(const struct said *s, enum fact_key key)
{
	int64_t v = number(s, key);

	return v < 0 ? FACT_ABSENT : v;
}

static str_id text_of(const struct said *s, enum fact_key key)
{
	struct json_text text;

	return scalar(s, key, &text) ? tef_string(s->t, &text) : STR_NONE;
}

enum list_end { LIST_WHOLE, LIST_CUT, LIST_BAD };

/* [1, 2] or "[1, 2]", up to `most` numbers. */
static enum list_end list_take(const struct json_text *text, int64_t *v, size_t most, size_t *ret_n)
{
	const char *p = text->p, *end = p + text->n;
	size_t n = 0;

	while (p < end && *p != '[')
		p++;
	p += p < end;
	while (p < end && *p != ']') {
		const char *from = p;

		if ((unsigned char)*p <= ' ' || *p == ',') {
			p++;
			continue;
		}
		while (p < end && json_is_word(*p))
			p++;
		if (p - from >= 3 && memcmp(from, "...", 3) == 0)
			return LIST_CUT;
		if (n == most || num_i64(from, (size_t)(p - from), &v[n]) < 0)
			return LIST_BAD;
		n++;
	}
	*ret_n = n;
	return p < end ? LIST_WHOLE : LIST_BAD;
}

static void three(const struct said *s, enum fact_key key, int64_t v[3])
{
	size_t n;

	if (has(s, key) && list_take(&s->v[key], v, 3, &n) != LIST_WHOLE) {
		tef_bad_number(s->t, keys[key].key, &s->v[key]);
		v[0] = v[1] = v[2] = FACT_ABSENT;
	}
}

/* *ret_cut: the writer has cut it. */
static uint32_t list(const struct said *s, enum fact_key key, bool *ret_cut)
{
	struct tef *t = s->t;
	enum list_end end;
	size_t n;

	*ret_cut = false;
	if (!has(s, key))
		return FACT_NONE;
	VEC_RESERVE(&t->fact.numbers, s->v[key].n / 2 + 1);
	end = list_take(&s->v[key], t->fact.numbers.v, t->fact.numbers.cap, &n);
	*ret_cut = end == LIST_CUT;
	if (end == LIST_BAD)
		tef_bad_number(t, keys[key].key, &s->v[key]);
	return end == LIST_WHOLE ? t->sink->ops->numbers(t->sink, t->fact.numbers.v, n) : FACT_NONE;
}

/* ---- operators ---- */

/* A list inside of a string: where its text begins in t->fact.text, SIZE_MAX: it is none. */
static size_t unquoted(const struct said *s, enum fact_key key)
{
	struct json_text text;
	size_t at = s->t->fact.text.len;

	if (!has(s, key) || s->v[key].p[0] != '"' || !scalar(s, key, &text))
		return SIZE_MAX;
	json_decode(&text, &s->t->fact.text);
	return at;
}

static uint32_t operands(const struct said *s)
{
	static const enum fact_key of[] = { FACT_SHAPES_, FACT_TYPES_, FACT_STRIDES_,
					    FACT_CONCRETE_ };
	struct tef *t = s->t;
	struct operand_texts texts = { { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };
	struct fact_text *to[] = { &texts.shapes, &texts.types, &texts.strides, &texts.concrete };
	size_t at[ARRAY_LEN(of)];

	strbuf_clear(&t->fact.text);
	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		at[i] = unquoted(s, of[i]);
		if (has(s, of[i]) && at[i] == SIZE_MAX && s->v[of[i]].p[0] == '[')
			*to[i] = (struct fact_text){ s->v[of[i]].p, s->v[of[i]].n };
	}
	for (size_t i = ARRAY_LEN(of), end = t->fact.text.len; i-- > 0;) {
		if (at[i] == SIZE_MAX)
			continue;
		*to[i] = (struct fact_text){ t->fact.text.buf + at[i], end - at[i] };
		end = at[i];
	}
	return t->sink->ops->operands(t->sink, &texts);
}

#define BIT(key) (UINT64_C(1) << (key))
#define OPERANDS (BIT(FACT_SHAPES_) | BIT(FACT_TYPES_) | BIT(FACT_STRIDES_) | BIT(FACT_CONCRETE_))
#define OPERATOR (OPERANDS | BIT(FACT_SEQUENCE_) | BIT(FACT_FORWARD_) | BIT(FACT_STACK_))
#define FRAME (BIT(FACT_PYTHON_) | BIT(FACT_PYTHON_PARENT_) | BIT(FACT_MODULE_))

static void op_put(const struct said *s, span_id span)
{
	struct span_facts f = { .kind = FACTS_OP };

	f.op = OP_FACTS_NONE;
	if (s->has & OPERANDS)
		f.op.operands = operands(s);
	f.op.sequence = number(s, FACT_SEQUENCE_);
	f.op.forward_thread = number(s, FACT_FORWARD_);
	f.op.python_id = number(s, FACT_PYTHON_);
	f.op.python_parent = number(s, FACT_PYTHON_PARENT_);
	f.op.module_id = number(s, FACT_MODULE_);
	f.op.call_stack = text_of(s, FACT_STACK_);
	s->t->sink->ops->facts(s->t->sink, span, &f);
}

/* ---- collectives ---- */

static uint32_t ranks_of(const struct said *s)
{
	struct tef *t = s->t;
	int64_t start = number(s, FACT_RANK_START_), stride = number(s, FACT_RANK_STRIDE_);
	int64_t size = number(s, FACT_GROUP_SIZE_), last;
	bool cut;
	uint32_t ranks = list(s, FACT_RANKS_, &cut);

	if (ranks != FACT_NONE || (has(s, FACT_RANKS_) && !cut) || start < 0 || stride < 1 ||
	    size < 1 || size > (int64_t)FACT_NUMBERS_MAX ||
	    __builtin_mul_overflow(stride, size, &last) ||
	    __builtin_add_overflow(last, start, &last))
		return ranks;
	VEC_RESERVE(&t->fact.numbers, (size_t)size);
	for (int64_t i = 0; i < size; i++)
		t->fact.numbers.v[i] = start + i * stride;
	return t->sink->ops->numbers(t->sink, t->fact.numbers.v, (size_t)size);
}

static void collective_put(const struct said *s, span_id span)
{
	struct span_facts f = { .kind = FACTS_COLLECTIVE };
	struct collective_facts *c = &f.collective;
	bool cut;

	*c = COLLECTIVE_FACTS_NONE;
	c->name = text_of(s, FACT_COLLECTIVE_);
	c->dtype = text_of(s, FACT_DTYPE_);
	c->in_elements = number(s, FACT_IN_ELEMENTS_);
	c->out_elements = number(s, FACT_OUT_ELEMENTS_);
	c->in_split = list(s, FACT_IN_SPLIT_, &cut);
	c->out_split = list(s, FACT_OUT_SPLIT_, &cut);
	c->ranks = ranks_of(s);
	c->group = text_of(s, has(s, FACT_GROUP_) ? FACT_GROUP_ : FACT_GROUP_ID_);
	c->group_about = text_of(s, FACT_GROUP_ABOUT_);
	c->group_size = number(s, FACT_GROUP_SIZE_);
	c->sequence = count(s, FACT_SEQ_);
	c->root = count(s, FACT_ROOT_);
	c->from = count(s, FACT_FROM_);
	c->to = count(s, FACT_TO_);
	s->t->sink->ops->facts(s->t->sink, span, &f);
}

/* ---- work ---- */

#define KERNEL \
	(BIT(FACT_GRID_) | BIT(FACT_BLOCK_) | BIT(FACT_REGISTERS_) | BIT(FACT_SHARED_) | \
	 BIT(FACT_GRAPH_) | BIT(FACT_NODE_))

static void kernel_put(const struct said *s, span_id span)
{
	struct span_facts f = { .kind = FACTS_KERNEL };

	f.kernel = KERNEL_FACTS_NONE;
	three(s, FACT_GRID_, f.kernel.grid);
	three(s, FACT_BLOCK_, f.kernel.block);
	f.kernel.registers = number(s, FACT_REGISTERS_);
	f.kernel.shared_bytes = number(s, FACT_SHARED_);
	f.kernel.graph = number(s, FACT_GRAPH_);
	f.kernel.graph_node = number(s, FACT_NODE_);
	s->t->sink->ops->facts(s->t->sink, span, &f);
}

/* What its name says, once for each name. */
static struct copy_facts copy_of(struct tef *t, str_id name, const struct json_text *text)
{
	uint32_t *at = u64map_at(&t->fact.copy_at, name);
	struct copy_facts f = COPY_FACTS_NONE;

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)t->fact.copies.nr;
		if (text->p)
			copy_words_take(text->p, text->n, &f);
		VEC_PUSH(&t->fact.copies, f);
	}
	return t->fact.copies.v[*at];
}

static void copy_put(const struct said *s, const struct tef_event *ev, enum tef_class class,
		     str_id name, span_id span)
{
	struct span_facts f = { .kind = FACTS_COPY };
	struct json_text kind;

	f.copy = COPY_FACTS_NONE;
	if (class != TEF_CLASS_RUNTIME)
		f.copy = copy_of(s->t, name, &ev->name);
	f.copy.bytes = number(s, has(s, FACT_BYTES_) ? FACT_BYTES_ : FACT_SIZE_);
	f.copy.graph = number(s, FACT_GRAPH_);
	f.copy.graph_node = number(s, FACT_NODE_);
	if (class == TEF_CLASS_RUNTIME)
		f.copy.direction = copy_direction_of_runtime(number(s, FACT_KIND_));
	else if (class == TEF_CLASS_COPY && f.copy.direction == COPY_UNKNOWN &&
		 scalar(s, FACT_KIND_, &kind))
		copy_words_take(kind.p, kind.n, &f.copy);
	if (f.copy.bytes != FACT_ABSENT || f.copy.direction || f.copy.to ||
	    f.copy.graph != FACT_ABSENT)
		s->t->sink->ops->facts(s->t->sink, span, &f);
}

static enum sync_kind sync_of(const struct json_text *text)
{
	static const struct {
		const char *words;
		enum sync_kind kind;
	} known[] = {
		{ "stream wait event", SYNC_STREAM_WAIT_EVENT },
		{ "event", SYNC_EVENT },
		{ "stream", SYNC_STREAM },
		{ "context", SYNC_CONTEXT },
		{ "device", SYNC_DEVICE },
	};
	char buf[40];
	size_t n = text->n < sizeof(buf) - 1 ? text->n : sizeof(buf) - 1;

	for (size_t i = 0; i < n; i++)
		buf[i] = lower(text->p[i]);
	buf[n] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strstr(buf, known[i].words))
			return known[i].kind;
	return SYNC_UNKNOWN;
}

/* That of the calls of the same rank. */
static int64_t sync_correlation(const struct tef *t, struct tef_args args, uint64_t correlation)
{
	uint64_t v;

	args.correlation = correlation;
	v = args.has_correlation ? tef_kineto_correlation(t, &args) : 0;
	return v == 0 || v > INT64_MAX ? FACT_ABSENT : (int64_t)v;
}

static void sync_put(const struct said *s, const struct tef_event *ev, span_id span)
{
	struct span_facts f = { .kind = FACTS_SYNC };
	struct tef_args args;
	struct json_text kind;
	int64_t stream, record;

	f.sync = SYNC_FACTS_NONE;
	args = ev->args_known ? ev->kineto : tef_kineto_args(&s->t->doc, &ev->args);
	if (json_text_is(&ev->cat, "cuda_event"))
		f.sync.kind = SYNC_RECORD_EVENT;
	else if (scalar(s, FACT_SYNC_, &kind))
		f.sync.kind = sync_of(&kind);
	else if (ev->name.p)
		f.sync.kind = sync_of(&ev->name);
	if (tef_id_number(&args.stream, &stream) && stream >= 0)
		f.sync.stream = stream;
	f.sync.event = count(s, has(s, FACT_EVENT_) ? FACT_EVENT_ : FACT_WAIT_EVENT_);
	f.sync.event_stream = count(s, FACT_WAIT_STREAM_);
	f.sync.call = sync_correlation(s->t, args, args.correlation);
	record = count(s, FACT_WAIT_RECORD_);
	f.sync.record = sync_correlation(s->t, args, record == FACT_ABSENT ? 0 : (uint64_t)record);
	s->t->sink->ops->facts(s->t->sink, span, &f);
}

static void memory_put(const struct said *s, span_id span)
{
	struct span_facts f = { .kind = FACTS_MEMORY };

	f.memory = MEMORY_FACTS_NONE;
	f.memory.on_device = has(s, FACT_DEVICE_TYPE_) && number(s, FACT_DEVICE_TYPE_) > 0;
	f.memory.device = count(s, FACT_DEVICE_ID_);
	f.memory.address = number(s, FACT_ADDRESS_);
	f.memory.bytes = number(s, FACT_BYTES_);
	f.memory.allocated = number(s, FACT_ALLOCATED_);
	f.memory.reserved = number(s, FACT_RESERVED_);
	s->t->sink->ops->facts(s->t->sink, span, &f);
}

static void class_put(const struct said *s, const struct tef_event *ev, enum tef_class class,
		      str_id name, span_id span)
{
	switch (class) {
	case TEF_CLASS_OP:
	case TEF_CLASS_PYTHON:
		if (s->has & (OPERATOR | FRAME))
			op_put(s, span);
		break;
	case TEF_CLASS_KERNEL:
		if (s->has & KERNEL)
			kernel_put(s, span);
		break;
	case TEF_CLASS_RUNTIME:
		if (s->has & (BIT(FACT_GRID_) | BIT(FACT_BLOCK_)))
			kernel_put(s, span);
		else if (s->has & (BIT(FACT_BYTES_) | BIT(FACT_SIZE_)))
			copy_put(s, ev, class, name, span);
		break;
	case TEF_CLASS_COPY:
	case TEF_CLASS_FILL:
		copy_put(s, ev, class, name, span);
		break;
	case TEF_CLASS_NOTE:
		if (s->has & (BIT(FACT_SYNC_) | BIT(FACT_WAIT_STREAM_) | BIT(FACT_WAIT_EVENT_)) ||
		    json_text_is(&ev->cat, "cuda_sync") || json_text_is(&ev->cat, "xpu_sync") ||
		    json_text_is(&ev->cat, "cuda_event"))
			sync_put(s, ev, span);
		break;
	case TEF_CLASS_MEMORY:
		if (s->has & BIT(FACT_BYTES_))
			memory_put(s, span);
		break;
	default:
		break;
	}
	if (has(s, FACT_COLLECTIVE_) && class != TEF_CLASS_NOTE)
		collective_put(s, span);
}

void tef_facts_put(struct tef *t, const struct tef_event *ev, enum tef_class class, str_id name,
		   span_id span)
{
	struct said s;

	if (!t->facts || span == SPAN_NONE || !ev->args.p ||
	    !(tef_class_has_args(class) || tef_class_has_facts(class)))
		return;
	s.t = t;
	s.has = 0;
	said_take(&s, ev);
	if (s.has || class == TEF_CLASS_COPY || class == TEF_CLASS_NOTE)
		class_put(&s, ev, class, name, span);
}

static bool axes(const struct tef_event *ev, const struct tef_said *said, uint64_t *to)
{
	const struct json_text text = { .p = ev->args.p + 1 + said->at, .n = said->n };
	int64_t v[3];
	size_t n;

	if (list_take(&text, v, 3, &n) != LIST_WHOLE || n != 3)
		return false;
	for (size_t i = 0; i < 3; i++)
		to[i] = (uint64_t)v[i];
	return v[0] >= 0 && v[1] >= 0 && v[2] >= 0;
}

bool tef_facts_shape(const struct tef_event *ev, struct launch_shape *ret)
{
	bool grid = false, block = false;

	for (uint32_t i = 0; ev->args_known && i < ev->nr_said; i++) {
		const struct tef_said *said = &ev->said[i];

		if (said->arg == TEF_ARG_FACTS + FACT_GRID_)
			grid = axes(ev, said, ret->v + LAUNCH_SHAPE_GRID);
		else if (said->arg == TEF_ARG_FACTS + FACT_BLOCK_)
			block = axes(ev, said, ret->v + LAUNCH_SHAPE_BLOCK);
	}
	return grid && block;
}

/* ---- the document ---- */

struct device_words {
	struct json_text id, name, memory, major, minor, warp, units;
};

static int64_t word_number(struct tef *t, const char *what, const struct json_text *text)
{
	int64_t v;

	if (!text->p)
		return FACT_ABSENT;
	if (num_i64(text->p, text->n, &v) == 0)
		return v;
	tef_bad_number(t, what, text);
	return FACT_ABSENT;
}

static int take_device(struct json_cur *c, void *to)
{
	static const struct json_known fields[] = {
		JSON_INTO("id", json_take_text, struct device_words, id),
		JSON_INTO("name", json_take_text, struct device_words, name),
		JSON_INTO("totalGlobalMem", json_take_text, struct device_words, memory),
		JSON_INTO("computeMajor", json_take_text, struct device_words, major),
		JSON_INTO("computeMinor", json_take_text, struct device_words, minor),
		JSON_INTO("warpSize", json_take_text, struct device_words, warp),
		JSON_INTO("numSms", json_take_text, struct device_words, units),
	};
	struct tef *t = to;
	struct device_words w = { .id = { .p = NULL } };
	struct device_facts d = DEVICE_FACTS_NONE;
	int r = json_members(c, fields, ARRAY_LEN(fields), &w);

	if (r < 0 || !w.id.p)
		return r;
	d.number = word_number(t, "id of a device", &w.id);
	d.name = w.name.p ? tef_string(t, &w.name) : STR_NONE;
	d.units = word_number(t, "numSms", &w.units);
	d.warp = word_number(t, "warpSize", &w.warp);
	d.memory = word_number(t, "totalGlobalMem", &w.memory);
	d.capability_major = word_number(t, "computeMajor", &w.major);
	d.capability_minor = word_number(t, "computeMinor", &w.minor);
	t->sink->ops->device(t->sink, &d);
	return 0;
}

struct world_words {
	struct json_text rank, size, backend, nccl, rccl;
};

static void world_put(struct tef *t, struct json_cur c)
{
	static const struct json_known fields[] = {
		JSON_INTO("rank", json_take_text, struct world_words, rank),
		JSON_INTO("world_size", json_take_text, struct world_words, size),
		JSON_INTO("backend", json_take_text, struct world_words, backend),
		JSON_INTO("nccl_version", json_take_text, struct world_words, nccl),
		JSON_INTO("rccl_version", json_take_text, struct world_words, rccl),
	};
	struct world_words w = { .rank = { .p = NULL } };
	struct world_facts f = WORLD_FACTS_NONE;
	const struct json_text *version;

	json_members(&c, fields, ARRAY_LEN(fields), &w);
	version = w.nccl.p ? &w.nccl : &w.rccl;
	f.rank = word_number(t, "rank", &w.rank);
	f.rank = f.rank < 0 ? FACT_ABSENT : f.rank;
	f.size = word_number(t, "world_size", &w.size);
	f.backend = w.backend.p ? tef_string(t, &w.backend) : STR_NONE;
	f.version = version->p ? tef_string(t, version) : STR_NONE;
	t->sink->ops->world(t->sink, &f);
}

void tef_facts_doc(struct tef *t)
{
	struct json_cur c = { t->doc.devices, t->map.data + t->map.len };

	if (!tef_facts_wanted(t))
		return;
	if (c.p)
		json_elements(&c, take_device, t);
	if (t->doc.world)
		world_put(t, (struct json_cur){ t->doc.world, t->map.data + t->map.len });
}

void tef_facts_release(struct tef *t)
{
	strbuf_release(&t->fact.text);
	VEC_RELEASE(&t->fact.numbers);
	VEC_RELEASE(&t->fact.copies);
	u64map_release(&t->fact.copy_at);
}
