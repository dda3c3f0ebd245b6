#include "profrig/base/protobuf.h"

#include <assert.h>
#include <endian.h>

#define GROUP_BEGIN 3
#define GROUP_END 4
#define NUMBER_MAX ((1u << 29) - 1)
#define OPEN_BYTES 4 /* of a length that pb_close fills in */

bool pb_varint_long(const unsigned char **at, const unsigned char *end, uint64_t *ret)
{
	const unsigned char *p = *at;
	uint64_t v = 0;

	for (unsigned int i = 0; i < PB_VARINT_MAX && p < end; i++) {
		v |= (uint64_t)(*p & 0x7f) << (7 * i);
		if (*p++ < 0x80) {
			*at = p;
			*ret = v;
			return true;
		}
	}
	return false;
}

static uint64_t little_endian(const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	memcpy(&v, p, n);
	return le64toh(v);
}

static const char *key_read(const unsigned char **p, const unsigned char *end, uint32_t *number,
			    unsigned int *type)
{
	uint64_t key;

	if (!pb_varint(p, end, &key))
		return "a field's number is cut off";
	*type = key & 7;
	key >>= 3;
	if (key == 0 || key > NUMBER_MAX)
		return "a field has an impossible number";
	*number = (uint32_t)key;
	return NULL;
}

/* The value behind a key that begins no group. */
static const char *value_read(const unsigned char **p, const unsigned char *end, unsigned int type,
			      struct pb_field *ret)
{
	size_t left, n = type == PB_I64 ? 8 : 4;

	ret->wire = type;
	ret->data = NULL;
	ret->len = 0;
	ret->u64 = 0;
	switch (type) {
	case PB_VARINT:
		return pb_varint(p, end, &ret->u64) ? NULL : "a number is cut off or too long";
	case PB_I64:
	case PB_I32:
		if ((size_t)(end - *p) < n)
			return "a number is cut off";
		ret->u64 = little_endian(*p, n);
		*p += n;
		return NULL;
	case PB_LEN:
		if (!pb_varint(p, end, &ret->u64))
			return "a length is cut off or too long";
		left = (size_t)(end - *p);
		if (ret->u64 > left)
			return "a length leads behind the end";
		ret->data = *p;
		ret->len = (size_t)ret->u64;
		ret->u64 = 0;
		*p += ret->len;
		return NULL;
	default:
		return "a field has an impossible type";
	}
}

/* Passes over a group of the given number, whose key is read. */
static const char *group_skip(const unsigned char **p, const unsigned char *end, uint32_t number)
{
	uint32_t open[PB_GROUP_DEPTH] = { number };
	unsigned int depth = 1, type;
	struct pb_field f;

	while (depth > 0) {
		const char *problem = key_read(p, end, &f.number, &type);

		if (!problem && type == GROUP_BEGIN) {
			if (depth == PB_GROUP_DEPTH)
				return "groups are nested too deeply";
			open[depth++] = f.number;
		} else if (!problem && type == GROUP_END) {
			if (open[--depth] != f.number)
				return "a group ends under another number";
		} else if (!problem) {
			problem = value_read(p, end, type, &f);
		}
		if (problem)
			return problem;
	}
	return NULL;
}

bool pb_next_any(struct pb_cursor *c, struct pb_field *ret)
{
	const unsigned char *p = c->at;

	while (!c->problem && p < c->end) {
		unsigned int type;
		const char *problem = key_read(&p, c->end, &ret->number, &type);

		if (!problem)
			problem = type == GROUP_BEGIN ? group_skip(&p, c->end, ret->number)
						      : value_read(&p, c->end, type, ret);
		if (problem) {
			c->problem = problem;
			return false;
		}
		c->at = p;
		if (type != GROUP_BEGIN)
			return true;
	}
	return false;
}

struct pb_packed pb_packed_of(const struct pb_field *f)
{
	struct pb_packed p = { .c = pb_inside(f), .single = pb_is_number(f), .one = f->u64 };

	return p;
}

bool pb_packed_next(struct pb_packed *p, uint64_t *ret)
{
	if (p->single) {
		p->single = false;
		*ret = p->one;
		return true;
	}
	if (p->c.problem || p->c.at == p->c.end)
		return false;
	if (pb_varint(&p->c.at, p->c.end, ret))
		return true;
	p->c.problem = "a packed number is cut off or too long";
	return false;
}

void pb_put_varint(struct strbuf *b, uint64_t v)
{
	unsigned char bytes[PB_VARINT_MAX];
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		bytes[n++] = (unsigned char)(v | 0x80);
	bytes[n++] = (unsigned char)v;
	strbuf_add(b, bytes, n);
}

static void put_key(struct strbuf *b, uint32_t number, enum pb_wire wire)
{
	assert(number > 0 && number <= NUMBER_MAX);
	pb_put_varint(b, (uint64_t)number << 3 | wire);
}

void pb_put_u64(struct strbuf *b, uint32_t number, uint64_t v)
{
	put_key(b, number, PB_VARINT);
	pb_put_varint(b, v);
}

void pb_put_sint(struct strbuf *b, uint32_t number, int64_t v)
{
	pb_put_u64(b, number, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

void pb_put_i64(struct strbuf *b, uint32_t number, uint64_t v)
{
	uint64_t le = htole64(v);

	put_key(b, number, PB_I64);
	strbuf_add(b, &le, sizeof(le));
}

void pb_put_double(struct strbuf *b, uint32_t number, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	pb_put_i64(b, number, bits);
}

void pb_put_bytes(struct strbuf *b, uint32_t number, const void *data, size_t n)
{
	put_key(b, number, PB_LEN);
	pb_put_varint(b, n);
	strbuf_add(b, data, n);
}

void pb_put_str(struct strbuf *b, uint32_t number, const char *s)
{
	pb_put_bytes(b, number, s, strlen(s));
}

size_t pb_open(struct strbuf *b, uint32_t number)
{
	put_key(b, number, PB_LEN);
	strbuf_add(b, "\0\0\0", OPEN_BYTES);
	return b->len;
}

/* A varint of fixed width: leading groups of zeros are allowed. */
void pb_close(struct strbuf *b, size_t opened)
{
	size_t n = b->len - opened;

	if (b->overflow)
		return;
	assert(n < (size_t)1 << (7 * OPEN_BYTES));
	for (unsigned int i = 0; i < OPEN_BYTES; i++, n >>= 7)
		b->buf[opened - OPEN_BYTES + i] =
			(char)((n & 0x7f) | (i + 1 < OPEN_BYTES ? 0x80 : 0));
}

void pb_close_tight(struct strbuf *b, size_t opened)
{
	size_t n = b->len - opened, bytes = 1;
	char *at = b->buf + opened - OPEN_BYTES;

	if (b->overflow)
		return;
	while (bytes < OPEN_BYTES && n >> (7 * bytes))
		bytes++;
	pb_close(b, opened);
	if (bytes == OPEN_BYTES)
		return;
	memmove(at + bytes, b->buf + opened, n);
	at[bytes - 1] = (char)(at[bytes - 1] & 0x7f);
	b->len -= OPEN_BYTES - bytes;
	b->buf[b->len] = '\0';
}
