/*
 * Operands of a call, from the texts of a trace:
 *
 *	shapes		[[8944,1024],[],[[2,3],[4]]]	a list of sizes; of a list of tensors, lists
 *	types		["float","Scalar","TensorList"]
 *	strides		[[1024,1],[],[[3,1],[1]]]
 *	concrete	["","True",""]			values, as texts
 *
 * Any of them may be absent, shorter than the others, or no JSON at all.
 */
#include "model_private.h"

#include <string.h>

#include "profrig/base/json_scan.h"
#include "profrig/base/num.h"

/* The scanner reads blocks. */
#define TEXT_ROOM 64

struct parsing {
	struct model_priv *p;
	struct facts_state *st;
	struct json_cur c;
	uint64_t bad;
};

static str_id put_text(struct parsing *ps, const char *text, size_t n)
{
	return ps->p->sink.ops->string(&ps->p->sink, text, n);
}

/* ---- texts ---- */

/* Blanks outside of strings go. */
static size_t compact(char *text, size_t n)
{
	size_t to = 0;
	bool quoted = false;

	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		if (!quoted && (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0'))
			continue;
		text[to++] = c;
		if (quoted && c == '\\' && i + 1 < n)
			text[to++] = text[++i];
		else if (c == '"')
			quoted = !quoted;
	}
	return to;
}

/* Sets the cursor in front of the list's elements. STR_NONE: there is none. */
static str_id list_open(struct parsing *ps, const struct fact_text *t)
{
	static const char room[TEXT_ROOM];
	struct strbuf *sb = &ps->st->text;
	struct json_cur whole;
	size_t n;
	str_id id;

	ps->c = (struct json_cur){ room, room };
	if (!t->p)
		return STR_NONE;
	strbuf_clear(sb);
	if (t->n <= FACT_TEXT_MAX)
		strbuf_add(sb, t->p, t->n);
	strbuf_add(sb, room, sizeof(room));
	n = sb->len - sizeof(room);
	whole = (struct json_cur){ sb->buf, sb->buf + n };
	if (json_peek(&whole) != '[' || json_skip(&whole) < 0 || json_peek(&whole) != 0) {
		ps->bad++;
		return STR_NONE;
	}
	n = compact(sb->buf, n);
	memset(sb->buf + n, 0, sizeof(room));
	id = put_text(ps, sb->buf, n);
	ps->c = (struct json_cur){ sb->buf, sb->buf + n };
	json_open(&ps->c, '[');
	return id;
}

/* A value that is no list, without its quotes; "" is none. */
static str_id text_take(struct parsing *ps)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	const char *at = ps->c.p;
	struct json_text t;

	if (json_peek(&ps->c) == '[' || json_peek(&ps->c) == '{') {
		if (json_skip(&ps->c) < 0)
			return STR_NONE;
		return put_text(ps, at, (size_t)(ps->c.p - at));
	}
	if (json_scalar(&ps->c, &t) < 0 || t.n == 0)
		return STR_NONE;
	json_decode(&t, &sb);
	return put_text(ps, sb.buf, sb.len);
}

/* ---- numbers ---- */

/*
 * The numbers of a list whose '[' is read, up to its end or to a list in it (*ret_lists, the cursor
 * at it). FACT_NONE: they are none, or too many.
 */
static uint32_t numbers_take(struct parsing *ps, bool *some, bool *ret_lists)
{
	bool bad = false;
	struct json_text t;

	VEC_CLEAR(&ps->st->values);
	*ret_lists = false;
	while (json_element(&ps->c, some) > 0) {
		int64_t v = -1;

		if (json_peek(&ps->c) == '[') {
			*ret_lists = true;
			break;
		}
		if (json_peek(&ps->c) == '{' || json_scalar(&ps->c, &t) < 0) {
			bad = true;
			if (json_skip(&ps->c) < 0)
				break;
			continue;
		}
		bad |= num_i64(t.p, t.n, &v) < 0 || v < 0 || v > FACT_SIZE_MAX ||
		       ps->st->values.nr == FACT_DIMS_MAX;
		if (!bad)
			VEC_PUSH(&ps->st->values, v);
	}
	bad |= *ret_lists && ps->st->values.nr > 0;
	ps->bad += bad;
	return bad || *ret_lists ? FACT_NONE
				 : facts_numbers_put(ps->p, ps->st->values.v, ps->st->values.nr);
}

static size_t count_of(const struct parsing *ps, uint32_t numbers)
{
	size_t n;

	facts_numbers(ps->p->model, numbers, &n);
	return n;
}

/* ---- operands ---- */

static struct operand *operand_add(struct parsing *ps, bool in)
{
	if (ps->st->operands.nr >= FACT_OPERANDS_MAX ||
	    ps->p->model->facts.operands.nr + ps->st->operands.nr >= FACT_ALL_MAX) {
		ps->bad++;
		return NULL;
	}
	VEC_PUSH(&ps->st->operands, (struct operand){ .in = in,
						      .dims = FACT_NONE,
						      .strides = FACT_NONE,
						      .type = STR_NONE,
						      .concrete = STR_NONE });
	return &ps->st->operands.v[ps->st->operands.nr - 1];
}

/* The next operand that is no element of a list, or a new one; NULL: there are too many. */
static struct operand *operand_next(struct parsing *ps, size_t *at)
{
	while (*at < ps->st->operands.nr && ps->st->operands.v[*at].in)
		++*at;
	if (*at < ps->st->operands.nr)
		return &ps->st->operands.v[(*at)++];
	*at = ps->st->operands.nr + 1;
	return operand_add(ps, false);
}

/* The next element of the list that was met last; NULL: it has no more. */
static struct operand *element_next(struct parsing *ps, size_t *at)
{
	return *at < ps->st->operands.nr && ps->st->operands.v[*at].in
		       ? &ps->st->operands.v[(*at)++]
		       : NULL;
}

/* The cursor is at a value inside a list of tensors. */
static bool element_shape(struct parsing *ps)
{
	struct operand *o = operand_add(ps, true);
	size_t at = ps->st->operands.nr - 1;
	bool some = false, lists;
	uint32_t dims;

	if (!o || json_peek(&ps->c) != '[')
		return json_skip(&ps->c) >= 0 && o;
	json_open(&ps->c, '[');
	dims = numbers_take(ps, &some, &lists);
	ps->st->operands.v[at].dims = dims;
	if (lists) {
		ps->bad++;
		return json_skip_open(&ps->c, '[', 2) >= 0;
	}
	return true;
}

static bool shape_take(struct parsing *ps)
{
	size_t at = ps->st->operands.nr;
	bool some = false, lists;
	uint32_t dims;

	if (!operand_add(ps, false))
		return false;
	if (json_peek(&ps->c) != '[')
		return json_skip(&ps->c) >= 0;
	json_open(&ps->c, '[');
	dims = numbers_take(ps, &some, &lists);
	ps->st->operands.v[at].dims = dims;
	ps->st->operands.v[at].kind = lists ? OPERAND_LIST : OPERAND_UNKNOWN;
	if (!lists)
		return true;
	do
		if (!element_shape(ps))
			return false;
	while (json_element(&ps->c, &some) > 0);
	return true;
}

static void shapes_take(struct parsing *ps)
{
	bool some = false;

	while (json_element(&ps->c, &some) > 0)
		if (!shape_take(ps))
			return;
}

static void types_take(struct parsing *ps)
{
	bool some = false;
	size_t at = 0;

	while (json_element(&ps->c, &some) > 0) {
		struct operand *o = operand_next(ps, &at), *e;
		bool inner = false;

		if (!o)
			return;
		if (json_peek(&ps->c) != '[') {
			o->type = text_take(ps);
			continue;
		}
		o->kind = OPERAND_LIST;
		json_open(&ps->c, '[');
		while (json_element(&ps->c, &inner) > 0) {
			e = element_next(ps, &at);
			if (e)
				e->type = text_take(ps);
			else if (json_skip(&ps->c) < 0)
				return;
		}
	}
}

static void strides_set(struct parsing *ps, struct operand *o, uint32_t strides)
{
	size_t nr = count_of(ps, strides);

	if (strides == FACT_NONE || o->dims == FACT_NONE)
		return;
	if (nr == count_of(ps, o->dims))
		o->strides = strides;
	else
		ps->bad += nr > 0;
}

static bool list_strides(struct parsing *ps, size_t *at, bool *some)
{
	do {
		struct operand *e = element_next(ps, at);
		bool inner = false, lists;
		uint32_t strides;

		if (!e || json_peek(&ps->c) != '[') {
			if (json_skip(&ps->c) < 0)
				return false;
			continue;
		}
		json_open(&ps->c, '[');
		strides = numbers_take(ps, &inner, &lists);
		strides_set(ps, e, strides);
		if (lists && json_skip_open(&ps->c, '[', 2) < 0)
			return false;
	} while (json_element(&ps->c, some) > 0);
	return true;
}

static void strides_take(struct parsing *ps)
{
	bool some = false;
	size_t at = 0;

	while (json_element(&ps->c, &some) > 0) {
		struct operand *o = operand_next(ps, &at);
		bool inner = false, lists;
		uint32_t strides;

		if (!o || json_peek(&ps->c) != '[') {
			if (!o || json_skip(&ps->c) < 0)
				return;
			continue;
		}
		json_open(&ps->c, '[');
		strides = numbers_take(ps, &inner, &lists);
		strides_set(ps, o, strides);
		if (lists && !list_strides(ps, &at, &inner))
			return;
	}
}

static void concrete_take(struct parsing *ps)
{
	bool some = false;
	size_t at = 0;

	while (json_element(&ps->c, &some) > 0) {
		struct operand *o = operand_next(ps, &at);

		if (!o)
			return;
		o->concrete = text_take(ps);
	}
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static void kind_set(struct parsing *ps, struct operand *o)
{
	const char *type = model_str(ps->p->model, o->type);
	bool sizes = count_of(ps, o->dims) > 0;

	if (o->kind == OPERAND_LIST || begins(type, "TensorList") || begins(type, "GenericList"))
		o->kind = OPERAND_LIST;
	else if (begins(type, "Scalar") || (!*type && !sizes && o->concrete != STR_NONE))
		o->kind = OPERAND_SCALAR;
	else
		o->kind = *type || sizes ? OPERAND_TENSOR : OPERAND_UNKNOWN;
	if (o->kind != OPERAND_TENSOR && !sizes)
		o->dims = o->strides = FACT_NONE;
}

uint32_t facts_parse(struct model_priv *p, const struct operand_texts *t, uint64_t *ret_bad)
{
	struct facts *f = &p->model->facts;
	struct parsing ps = { .p = p, .st = &p->facts };
	struct operand_list list = { .first = (uint32_t)f->operands.nr };

	VEC_CLEAR(&ps.st->operands);
	list.shapes = list_open(&ps, &t->shapes);
	shapes_take(&ps);
	list.types = list_open(&ps, &t->types);
	types_take(&ps);
	list.strides = list_open(&ps, &t->strides);
	strides_take(&ps);
	list.concrete = list_open(&ps, &t->concrete);
	concrete_take(&ps);
	for (size_t i = 0; i < ps.st->operands.nr; i++) {
		kind_set(&ps, &ps.st->operands.v[i]);
		VEC_PUSH(&f->operands, ps.st->operands.v[i]);
	}
	list.nr = (uint32_t)ps.st->operands.nr;
	VEC_PUSH(&f->lists, list);
	*ret_bad = ps.bad;
	return (uint32_t)(f->lists.nr - 1);
}
