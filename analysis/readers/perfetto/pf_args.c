/*
 * Debug annotations are named values: numbers, texts, dictionaries and lists of annotations. They
 * become one JSON object:
 *	{"begin_ns":5,"agent":"Agent-4","list":[1,2.5],"place":{"file":"a.c","line":7}}
 * A pointer becomes a text of hexadecimal digits, a value that JSON lacks (NaN) or that needs a
 * schema (messages) null. JSON that the writer put into a text (legacy_json_value) stays as it is.
 */
#include "perfetto.h"

#include <inttypes.h>
#include <math.h>

#include "profrig/base/json_out.h"
#include "profrig/base/num.h"

#define DEPTH_MAX 32

enum { TE_ANNOTATION = 4, TE_PLACE = 33, TE_PLACE_IID = 34 };

/* Fields of DebugAnnotation. */
enum {
	DA_NAME_IID = 1,
	DA_BOOL,
	DA_UINT,
	DA_INT,
	DA_DOUBLE,
	DA_STRING,
	DA_POINTER,
	DA_NESTED,
	DA_JSON,
	DA_NAME,
	DA_DICT,
	DA_LIST,
	DA_STRING_IID = 17
};

static void put_double(struct strbuf *to, double v)
{
	char number[32];

	if (isfinite(v))
		strbuf_add(to, number, num_fmt_f64(number, v));
	else
		strbuf_addstr(to, "null");
}

static void put_text(struct strbuf *to, const struct pb_field *f)
{
	json_quote(to, f->data ? (const char *)f->data : "", f->len);
}

/* A scalar of either kind of value; false: f is none. */
static bool scalar_put(struct strbuf *to, const struct pb_field *f, uint32_t field)
{
	switch (field) {
	case DA_BOOL:
		strbuf_addstr(to, f->u64 ? "true" : "false");
		return true;
	case DA_UINT:
		strbuf_addf(to, "%" PRIu64, f->u64);
		return true;
	case DA_INT:
		strbuf_addf(to, "%" PRId64, pb_int(f));
		return true;
	case DA_DOUBLE:
		put_double(to, pb_double(f));
		return true;
	case DA_STRING:
		put_text(to, f);
		return true;
	case DA_POINTER:
		strbuf_addf(to, "\"0x%" PRIx64 "\"", f->u64);
		return true;
	default:
		return false;
	}
}

static void comma(struct strbuf *to, char open)
{
	if (to->buf[to->len - 1] != open)
		strbuf_addch(to, ',');
}

/* ---- nested values of older traces: keys and values in two rows ---- */

static void nested_put(struct pf *p, struct pf_bytes b, int depth);

static void nested_list(struct pf *p, struct pf_bytes b, int depth)
{
	struct pb_cursor c = pf_cursor(b);
	struct pb_field f;

	strbuf_addch(&p->text, '[');
	while (pb_next(&c, &f))
		if (f.number == 4 && pb_is_bytes(&f)) {
			comma(&p->text, '[');
			nested_put(p, pf_bytes_of(&f), depth + 1);
		}
	strbuf_addch(&p->text, ']');
}

static bool next_of(struct pb_cursor *c, uint32_t number, struct pb_field *f)
{
	while (pb_next(c, f))
		if (f->number == number && pb_is_bytes(f))
			return true;
	return false;
}

static void nested_dict(struct pf *p, struct pf_bytes b, int depth)
{
	struct pb_cursor keys = pf_cursor(b), values = pf_cursor(b);
	struct pb_field key, value;

	strbuf_addch(&p->text, '{');
	while (next_of(&keys, 2, &key) && next_of(&values, 3, &value)) {
		comma(&p->text, '{');
		put_text(&p->text, &key);
		strbuf_addch(&p->text, ':');
		nested_put(p, pf_bytes_of(&value), depth + 1);
	}
	strbuf_addch(&p->text, '}');
}

static void nested_put(struct pf *p, struct pf_bytes b, int depth)
{
	static const uint32_t as[] = {
		[5] = DA_INT, [6] = DA_DOUBLE, [7] = DA_BOOL, [8] = DA_STRING
	};
	struct pb_cursor c = pf_cursor(b);
	uint64_t type = 0;
	struct pb_field f, value = { .number = 0 };

	while (pb_next(&c, &f))
		if (f.number == 1 && pb_is_number(&f))
			type = f.u64;
		else if (f.number >= 5 && f.number <= 8 && (f.number == 8) == pb_is_bytes(&f))
			value = f;
	if (type == 1 && depth <= DEPTH_MAX)
		nested_dict(p, b, depth);
	else if (type == 2 && depth <= DEPTH_MAX)
		nested_list(p, b, depth);
	else if (!value.number || !scalar_put(&p->text, &value, as[value.number]))
		strbuf_addstr(&p->text, "null");
}

/* ---- annotations ---- */

static void name_put(struct pf *p, const struct pf_seq *s, struct pf_bytes b)
{
	struct pb_cursor c = pf_cursor(b);
	struct pb_field f;

	while (pb_next(&c, &f)) {
		if (f.number == DA_NAME && pb_is_bytes(&f)) {
			put_text(&p->text, &f);
			return;
		}
		if (f.number == DA_NAME_IID && pb_is_number(&f)) {
			strbuf_addstr(&p->text, pf_part(p, s, PF_ARG_NAMES, f.u64));
			/* a member needs a name that is a text */
			if (p->text.buf[p->text.len - 1] != '"') {
				p->text.len -= strlen("null");
				strbuf_addstr(&p->text, "\"?\"");
			}
			return;
		}
	}
	strbuf_addstr(&p->text, "\"\"");
}

static void value_put(struct pf *p, const struct pf_seq *s, struct pf_bytes b, int depth);

static void members_put(struct pf *p, const struct pf_seq *s, struct pf_bytes b, uint32_t field,
			int depth)
{
	char open = field == DA_LIST ? '[' : '{';
	struct pb_cursor c = pf_cursor(b);
	struct pb_field f;

	strbuf_addch(&p->text, open);
	while (pb_next(&c, &f)) {
		if (f.number != field || !pb_is_bytes(&f))
			continue;
		comma(&p->text, open);
		if (field == DA_DICT) {
			name_put(p, s, pf_bytes_of(&f));
			strbuf_addch(&p->text, ':');
		}
		value_put(p, s, pf_bytes_of(&f), depth + 1);
	}
	strbuf_addch(&p->text, open == '[' ? ']' : '}');
}

static bool is_value(const struct pb_field *f)
{
	switch (f->number) {
	case DA_BOOL:
	case DA_UINT:
	case DA_INT:
	case DA_POINTER:
	case DA_STRING_IID:
		return f->wire == PB_VARINT;
	case DA_DOUBLE:
		return f->wire == PB_I64;
	case DA_STRING:
	case DA_NESTED:
	case DA_JSON:
	case DA_DICT:
	case DA_LIST:
		return pb_is_bytes(f);
	default:
		return false;
	}
}

static void value_put(struct pf *p, const struct pf_seq *s, struct pf_bytes b, int depth)
{
	struct pb_cursor c = pf_cursor(b);
	struct pb_field f, v = { .number = 0 };

	while (pb_next(&c, &f))
		if (is_value(&f) && (!v.number || f.number < DA_DICT || v.number != f.number))
			v = f;
	if (depth > DEPTH_MAX || !v.number)
		strbuf_addstr(&p->text, "null");
	else if (v.number == DA_DICT || v.number == DA_LIST)
		members_put(p, s, b, v.number, depth);
	else if (v.number == DA_NESTED)
		nested_put(p, pf_bytes_of(&v), depth + 1);
	else if (v.number == DA_JSON)
		strbuf_add(&p->text, v.len ? (const char *)v.data : "null", v.len ? v.len : 4);
	else if (v.number == DA_STRING_IID)
		strbuf_addstr(&p->text, pf_part(p, s, PF_STRINGS, v.u64));
	else
		scalar_put(&p->text, &v, v.number);
}

static void place_put(struct pf *p, const struct pf_seq *s, const struct pb_field *f)
{
	static const char *const keys[] = { [2] = "file", [3] = "function", [4] = "line" };
	struct pb_cursor c = pf_cursor(pf_bytes_of(f));
	struct pb_field m;

	comma(&p->text, '{');
	strbuf_addstr(&p->text, "\"place\":{");
	if (f->number == TE_PLACE_IID) {
		const char *part = pf_part(p, s, PF_PLACES, f->u64);

		strbuf_addstr(&p->text, strcmp(part, "null") == 0 ? "" : part);
	}
	while (f->number == TE_PLACE && pb_next(&c, &m)) {
		if (m.number < 2 || m.number > 4 || (m.number < 4) != pb_is_bytes(&m))
			continue;
		comma(&p->text, '{');
		strbuf_addf(&p->text, "\"%s\":", keys[m.number]);
		scalar_put(&p->text, &m, m.number == 4 ? DA_UINT : DA_STRING);
	}
	strbuf_addch(&p->text, '}');
}

char *pf_args(struct pf *p, const struct pf_event *e)
{
	const struct pf_seq *s = e->packet->state;
	struct pb_cursor c = pf_cursor(e->body);
	struct pb_field f;

	strbuf_clear(&p->text);
	strbuf_addch(&p->text, '{');
	while (pb_next(&c, &f))
		if (f.number == TE_ANNOTATION && pb_is_bytes(&f)) {
			comma(&p->text, '{');
			name_put(p, s, pf_bytes_of(&f));
			strbuf_addch(&p->text, ':');
			value_put(p, s, pf_bytes_of(&f), 0);
		} else if ((f.number == TE_PLACE && pb_is_bytes(&f)) ||
			   (f.number == TE_PLACE_IID && pb_is_number(&f))) {
			place_put(p, s, &f);
		}
	strbuf_addch(&p->text, '}');
	return p->text.len > 2 ? xmemdup(p->text.buf, p->text.len + 1) : NULL;
}

char *pf_args_both(char *args, char *more)
{
	char *both;

	if (!args || !more)
		return args ? args : more;
	both = xasprintf("%.*s,%s", (int)strlen(args) - 1, args, more + 1);
	free(args);
	free(more);
	return both;
}

/* ---- what a device's work says ---- */

/* "Agent-4", "GPU-0", "CPU-1", or 4. */
static void agent_take(const struct pb_field *f, int64_t *ret, bool *ret_cpu)
{
	size_t at = f->len;

	if (pb_is_number(f)) {
		*ret = pb_int(f);
		return;
	}
	while (at > 0 && f->data[at - 1] >= '0' && f->data[at - 1] <= '9')
		at--;
	if (num_i64((const char *)f->data + at, f->len - at, ret) < 0)
		*ret = FACT_ABSENT;
	*ret_cpu = f->len >= 3 && memcmp(f->data, "CPU", 3) == 0;
}

static void said_as_shape(const char *name, size_t n, uint64_t v, struct pf_said *ret)
{
	/* products of the three dimensions: enough to tell launches apart */
	int at = launch_shape_field(name, n);

	if (at >= 0)
		ret->shape.v[at] = v;
}

static void said_one(const char *name, size_t n, const struct pb_field *f, struct pf_said *ret)
{
	static const struct {
		const char *name;
		size_t at;
	} numbers[] = {
		{ "corr_id", offsetof(struct pf_said, correlation) },
		{ "correlation_id", offsetof(struct pf_said, correlation) },
		{ "stack_id", offsetof(struct pf_said, correlation) },
		{ "copy_bytes", offsetof(struct pf_said, bytes) },
		{ "bytes", offsetof(struct pf_said, bytes) },
		{ "queue", offsetof(struct pf_said, queue) },
		{ "tid", offsetof(struct pf_said, tid) },
		{ "group_segment_size", offsetof(struct pf_said, shared) },
		{ "private_segment_size", offsetof(struct pf_said, local) },
		{ "begin_ns", offsetof(struct pf_said, begin_ns) },
	};

	if ((n == 5 && memcmp(name, "agent", 5) == 0) || (n == 6 && memcmp(name, "device", 6) == 0))
		agent_take(f, &ret->agent, &ret->agent_cpu);
	else if (n == 9 && memcmp(name, "src_agent", 9) == 0)
		agent_take(f, &ret->from, &ret->from_cpu);
	else if (n == 9 && memcmp(name, "dst_agent", 9) == 0)
		agent_take(f, &ret->to, &ret->to_cpu);
	if (!pb_is_number(f))
		return;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (strlen(numbers[i].name) == n && memcmp(name, numbers[i].name, n) == 0) {
			memcpy((char *)ret + numbers[i].at, &f->u64, sizeof(f->u64));
			return;
		}
	said_as_shape(name, n, f->u64, ret);
}

static void said_annotation(struct pf *p, const struct pf_seq *s, struct pf_bytes b,
			    struct pf_said *ret)
{
	struct pb_cursor c = pf_cursor(b);
	struct pb_field f, v = { .number = 0 };
	const char *name = NULL;
	size_t n = 0;

	while (pb_next(&c, &f))
		if (f.number == DA_NAME && pb_is_bytes(&f)) {
			name = (const char *)f.data;
			n = f.len;
		} else if (f.number == DA_NAME_IID && pb_is_number(&f)) {
			name = pf_part(p, s, PF_ARG_NAMES, f.u64) + 1; /* in quotes */
			n = strlen(name) - 1;
		} else if (is_value(&f)) {
			v = f;
		}
	if (name && v.number && v.number != DA_STRING_IID)
		said_one(name, n, &v, ret);
}

void pf_said_take(struct pf *p, const struct pf_event *e, struct pf_said *ret)
{
	struct pb_cursor c = pf_cursor(e->body);
	struct pb_field f;

	*ret = (struct pf_said){ .correlation = FACT_ABSENT,
				 .bytes = FACT_ABSENT,
				 .queue = FACT_ABSENT,
				 .tid = FACT_ABSENT,
				 .shared = FACT_ABSENT,
				 .local = FACT_ABSENT,
				 .agent = FACT_ABSENT,
				 .from = FACT_ABSENT,
				 .to = FACT_ABSENT,
				 .begin_ns = FACT_ABSENT };
	while (pb_next(&c, &f))
		if (f.number == TE_ANNOTATION && pb_is_bytes(&f))
			said_annotation(p, e->packet->state, pf_bytes_of(&f), ret);
}
