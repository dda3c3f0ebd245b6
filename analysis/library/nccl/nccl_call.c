#include "nccl_call.h"
#include "nccl_comm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define TYPE_MAX 255 /* from 12 on: types that profrig does not know */

/* clang-format off */
static const struct nccl_operation operations[] = {
	{ .name = "AllReduce", .reduces = true },
	{ .name = "AllGather", .ranks = true, .bytes = true },
	{ .name = "ReduceScatter", .reduces = true, .ranks = true },
	{ .name = "Broadcast", .root = true, .bytes = true },
	{ .name = "Reduce", .reduces = true, .root = true },
	{ .name = "Send", .root = true, .peer = true },
	{ .name = "Recv", .root = true, .peer = true },
	{ .name = "AlltoAll", .ranks = true, .late = true },
	{ .name = "Gather", .root = true, .ranks = true, .late = true },
	{ .name = "Scatter", .root = true, .ranks = true, .late = true },
};
/* clang-format on */

void nccl_call_init(struct nccl_call *c, char kind)
{
	*c = (struct nccl_call){ .kind = kind,
				 .count = NCCL_NONE,
				 .size = NCCL_NONE,
				 .datatype = NCCL_NONE,
				 .redop = NCCL_NONE,
				 .root = NCCL_NONE,
				 .nranks = NCCL_NONE,
				 .rank = NCCL_NONE };
}

/* "mscclFuncAllToAll" → AlltoAll. */
void nccl_call_name(struct nccl_call *c, struct text_slice name)
{
	static const char *const prefixes[] = { "mscclFunc", "mscclpp_nccl", "nccl" };

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		size_t n = strlen(prefixes[i]);

		if (!slice_begins(name, prefixes[i]))
			continue;
		name.p += n;
		name.n -= n;
		c->rccl |= prefixes[i][0] == 'm';
		break;
	}
	c->name = name;
	for (size_t i = 0; i < ARRAY_LEN(operations) && !c->operation; i++)
		if (name.n == strlen(operations[i].name) &&
		    !strncasecmp(name.p, operations[i].name, name.n))
			c->operation = &operations[i];
}

/* ---- text ---- */

static void text_number(struct strbuf *to, int64_t v)
{
	char buf[24];

	strbuf_addch(to, ' ');
	if (v == NCCL_NONE)
		strbuf_addch(to, '-');
	else
		strbuf_add(to, buf, num_fmt_i64(buf, v));
}

/* "n--I AllReduce 8 - 7 0 0 2 unknown=3" */
void nccl_call_text(const struct nccl_call *c, struct strbuf *to)
{
	const int64_t numbers[] = { c->count, c->size, c->datatype, c->redop, c->root, c->nranks };

	strbuf_clear(to);
	strbuf_addch(to, c->rccl ? 'r' : 'n');
	strbuf_addch(to, c->bytes ? 'b' : '-');
	strbuf_addch(to, c->acc ? 'a' : '-');
	strbuf_addch(to, c->kind);
	strbuf_addch(to, ' ');
	if (c->operation)
		strbuf_addstr(to, c->operation->name);
	else if (c->name.n > 0)
		strbuf_add(to, c->name.p, c->name.n);
	else
		strbuf_addch(to, '-');
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		text_number(to, numbers[i]);
	for (size_t i = 0; i < c->mores; i++) {
		strbuf_addch(to, ' ');
		strbuf_add(to, c->more[i].name.p, c->more[i].name.n);
		strbuf_addch(to, '=');
		strbuf_add(to, c->more[i].value.p, c->more[i].value.n);
	}
}

/* ---- parse: the key ---- */

static const char *const types[] = { "i8",  "u8",  "i32", "u32",  "i64", "u64",
				     "f16", "f32", "f64", "bf16", "f8",  "bf8" };
/* Above them are those that a program made, whose factor is not logged. */
static const char *const redops[] = { "sum", "prod", "max", "min", "avg" };

/* As nccl_call_text wrote it. */
static void call_of_text(struct nccl_call *c, struct text_slice *rest)
{
	int64_t *const numbers[] = { &c->count, &c->size, &c->datatype,
				     &c->redop, &c->root, &c->nranks };
	struct text_slice word;

	nccl_call_init(c, 'I');
	if (!slice_word(rest, &word) || word.n != 4)
		return;
	c->rccl = word.p[0] == 'r';
	c->bytes = word.p[1] == 'b';
	c->acc = word.p[2] == 'a';
	c->kind = word.p[3];
	if (slice_word(rest, &word) && !slice_is(word, "-"))
		nccl_call_name(c, word);
	for (size_t i = 0; i < ARRAY_LEN(numbers) && slice_word(rest, &word); i++)
		if (!slice_is(word, "-"))
			num_i64(word.p, word.n, numbers[i]);
}

static bool call_is_bad(const struct nccl_call *c, struct library_key *k)
{
	if (c->count < 0 || c->count > DIM_MAX)
		key_bad(k, "count=%" PRId64 " is no size", c->count);
	else if (c->datatype < 0 || c->datatype > TYPE_MAX)
		key_bad(k, "datatype=%" PRId64 " is no type", c->datatype);
	else if (c->redop != NCCL_NONE && c->redop < 0)
		key_bad(k, "op=%" PRId64 " is no operation", c->redop);
	else if (c->nranks != NCCL_NONE && (c->nranks <= 0 || c->nranks > INT32_MAX))
		key_bad(k, "nranks=%" PRId64 " is no number of ranks", c->nranks);
	else if (c->root != NCCL_NONE && c->root < 0)
		key_bad(k, "root=%" PRId64 " is no rank", c->root);
	else if (c->root != NCCL_NONE && c->nranks != NCCL_NONE && c->root >= c->nranks)
		key_bad(k, "root=%" PRId64 " of %" PRId64 " ranks", c->root, c->nranks);
	return k->why[0] != 0;
}

/* Of an element; 0: not known. */
static int64_t call_type_bytes(const struct nccl_call *c)
{
	const char *name;

	if (c->bytes)
		return 1;
	if (c->datatype >= (int64_t)ARRAY_LEN(types))
		return 0;
	name = types[c->datatype];
	return element_type(name, strlen(name))->bits / 8;
}

static void key_type(struct library_key *k, const struct nccl_call *c)
{
	if (c->bytes)
		key_word(k, "dtype", "bytes");
	else if (c->datatype < (int64_t)ARRAY_LEN(types))
		key_word(k, "dtype", types[c->datatype]);
	else
		key_int(k, "dtype", c->datatype);
}

/* Operations that have no op, or no root, are logged with 0. */
static void key_reduction(struct library_key *k, const struct nccl_call *c)
{
	const struct nccl_operation *op = c->operation;

	if (c->redop != NCCL_NONE && (c->redop > 0 || !op || op->reduces))
		key_word(k, "op",
			 c->redop < (int64_t)ARRAY_LEN(redops) ? redops[c->redop] : "premulsum");
	if (c->root != NCCL_NONE && (c->root > 0 || !op || op->root))
		key_int(k, op && op->peer ? "peer" : "root", c->root);
}

/* Sets flops and bytes, which are of one rank's call; false: they are too large. */
static bool key_payload(struct library_key *k, const struct nccl_call *c)
{
	const struct nccl_operation *op = c->operation;
	int64_t size = call_type_bytes(c);
	bool root_alone = c->name.n == 0 && c->root != NCCL_NONE; /* 2.3: Broadcast or Reduce */

	if (size == 0 || (!op && !root_alone) || (op && op->ranks && c->nranks == NCCL_NONE)) {
		k->flops = 0;
		k->inexact = true;
		return true;
	}
	k->inexact = !op || c->nranks == NCCL_NONE ||
		     (op->reduces && c->redop >= (int64_t)ARRAY_LEN(redops));
	return key_work(k, 0,
			amount_mul(amount_mul(amount_mul(1, c->count), size),
				   op && op->ranks ? c->nranks : 1));
}

/*
 * What INFO and CALL lines have in common. Of operations that some versions tell in bytes it is the
 * bytes.
 */
static void key_common(struct library_key *k, const struct nccl_call *c)
{
	const struct nccl_operation *op = c->operation;
	int64_t size = op && op->bytes ? call_type_bytes(c) : 0;

	if (!op)
		return;
	strbuf_addf(&k->common, "nccl %s %" PRId64 " %" PRId64, op->name,
		    size ? c->count * size : c->count, size ? 0 : c->datatype);
	if (op->reduces)
		strbuf_addf(&k->common, " op %" PRId64, c->redop);
	if (op->root)
		strbuf_addf(&k->common, " root %" PRId64, c->root);
}

enum record_is nccl_call_key(struct text_slice text, struct library_key *k)
{
	struct text_slice rest = text, word;
	struct nccl_call c;
	char name[64];

	call_of_text(&c, &rest);
	if (call_is_bad(&c, k))
		return RECORD_BAD;
	if (c.operation)
		snprintf(name, sizeof(name), "%s", c.operation->name);
	else
		snprintf(name, sizeof(name), "%.*s", (int)c.name.n, c.name.p);
	key_begin(k, *name ? name : "collective", *name ? name : "collective");
	key_int(k, "count", c.count);
	key_type(k, &c);
	key_reduction(k, &c);
	if (c.nranks != NCCL_NONE)
		key_int(k, "nranks", c.nranks);
	if (c.size != NCCL_NONE && c.size != c.count * call_type_bytes(&c))
		key_int(k, "size", c.size);
	if (c.acc)
		key_word(k, "acc", "1");
	while (slice_word(&rest, &word)) {
		strbuf_addch(&k->text, ' ');
		strbuf_add(&k->text, word.p, word.n);
	}
	k->library = c.rccl ? "rccl" : "nccl";
	k->level = c.kind == 'C' ? LEVEL_TRACE : LEVEL_BENCH;
	key_common(k, &c);
	return key_payload(k, &c) ? RECORD_CALL : RECORD_BAD;
}
