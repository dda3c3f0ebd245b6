/*
 * protobuf: the wire format of Protocol Buffers, read and written without a schema
 * (https://protobuf.dev/programming-guides/encoding).
 *
 * A message is a row of fields: a key (number << 3 | wire type) as a varint, then the value. A
 * field of type "len" is bytes, a text, or another message: the schema tells. Fields come in any
 * order, any number of times; of a scalar that comes twice the last one counts.
 *
 * Reading: a cursor walks over the fields of one message in memory. Nothing is copied or allocated.
 *
 *	struct pb_cursor c = pb_cursor_of(bytes, n);
 *	struct pb_field f;
 *
 *	while (pb_next(&c, &f))
 *		switch (f.number) {
 *		case 1: id = f.u64; break;		varint, i64, i32
 *		case 4: inner = pb_inside(&f); …	a message: another cursor
 *		}
 *	if (c.problem) …				damaged at c.at; fields before it are good
 *
 * Every length is checked against what is left, so a cursor never leaves its bytes; the caller
 * descends by one level per call of its own, so depth is the caller's, and bounded where a message
 * holds itself. A field whose wire type is not the one that the schema has is the caller's to
 * refuse (pb_is_number, pb_is_bytes). Groups (types 3 and 4, withdrawn) are passed over as a whole,
 * nested ones to PB_GROUP_DEPTH.
 */
#ifndef PROFRIG_PROTOBUF_H
#define PROFRIG_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "profrig/base/strbuf.h"

enum pb_wire { PB_VARINT = 0, PB_I64 = 1, PB_LEN = 2, PB_I32 = 5 };
#define PB_GROUP_DEPTH 32
#define PB_VARINT_MAX 10 /* bytes */

struct pb_cursor {
	const unsigned char *at, *end;
	const char *problem; /* NULL while all is well; at is then where the bad field begins */
};

struct pb_field {
	uint32_t number; /* 1 … 2^29 − 1 */
	enum pb_wire wire;
	uint64_t u64;              /* of a number: varint, i64, i32 without a sign */
	const unsigned char *data; /* of PB_LEN; borrowed */
	size_t len;
};

static inline struct pb_cursor pb_cursor_of(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	/* of nothing p may be NULL, to which C adds no 0 */
	return (struct pb_cursor){ p, n ? p + n : p, NULL };
}

/*
 * A varint at *at, which moves behind it. false: cut off at end, or longer than 10 bytes; *at
 * stays. Bits beyond the 64th are dropped, as all readers do.
 */
bool pb_varint_long(const unsigned char **at, const unsigned char *end, uint64_t *ret);
static inline bool pb_varint(const unsigned char **at, const unsigned char *end, uint64_t *ret)
{
	if (*at < end && **at < 0x80) {
		*ret = *(*at)++;
		return true;
	}
	return pb_varint_long(at, end, ret);
}

/* The next field; false at the end, and at a damaged field, which sets problem. */
bool pb_next_any(struct pb_cursor *c, struct pb_field *ret);
static inline bool pb_next(struct pb_cursor *c, struct pb_field *ret)
{
	/* most fields: a number below 16, then a varint of at most two bytes or a length of one */
	if (__builtin_expect(c->end - c->at >= 2 && !c->problem, 1)) {
		unsigned int key = c->at[0], v = c->at[1], type = key & 7;

		if ((key | v) < 0x80 && key >= 8 &&
		    (type == PB_VARINT || (type == PB_LEN && v <= c->end - c->at - 2))) {
			ret->number = key >> 3;
			ret->wire = type;
			c->at += 2;
			ret->u64 = type == PB_VARINT ? v : 0;
			ret->data = type == PB_LEN ? c->at : NULL;
			ret->len = type == PB_LEN ? v : 0;
			c->at += ret->len;
			return true;
		}
		if (key < 0x80 && key >= 8 && type == PB_VARINT && c->end - c->at >= 3 &&
		    c->at[2] < 0x80) {
			ret->number = key >> 3;
			ret->wire = PB_VARINT;
			ret->u64 = (v & 0x7f) | (uint64_t)c->at[2] << 7;
			ret->data = NULL;
			ret->len = 0;
			c->at += 3;
			return true;
		}
	}
	return c->at < c->end && pb_next_any(c, ret);
}

static inline bool pb_is_number(const struct pb_field *f)
{
	return f->wire != PB_LEN;
}

static inline bool pb_is_bytes(const struct pb_field *f)
{
	return f->wire == PB_LEN;
}

/* The cursor of a message in a field; of a number an empty one. */
static inline struct pb_cursor pb_inside(const struct pb_field *f)
{
	return pb_cursor_of(f->data, f->len);
}

/* int32, int64, enum: a varint in two's complement. */
static inline int64_t pb_int(const struct pb_field *f)
{
	return (int64_t)f->u64;
}

/* sint32, sint64: zigzag. */
static inline int64_t pb_sint(const struct pb_field *f)
{
	return (int64_t)(f->u64 >> 1) ^ -(int64_t)(f->u64 & 1);
}

/* A double (PB_I64), a float (PB_I32); of other fields the number itself. */
static inline double pb_double(const struct pb_field *f)
{
	double d;
	float s;
	uint32_t u = (uint32_t)f->u64;

	if (f->wire == PB_I64) {
		memcpy(&d, &f->u64, sizeof(d));
		return d;
	}
	if (f->wire == PB_I32) {
		memcpy(&s, &u, sizeof(s));
		return s;
	}
	return (double)pb_int(f);
}

/*
 * Calls each number of a repeated field of integers, packed (PB_LEN) or single, whichever f is:
 *	for (struct pb_packed p = pb_packed_of(&f); pb_packed_next(&p, &v);) …
 * A cut-off last number ends the row with p.problem set.
 */
struct pb_packed {
	struct pb_cursor c;
	bool single;
	uint64_t one;
};
struct pb_packed pb_packed_of(const struct pb_field *f);
bool pb_packed_next(struct pb_packed *p, uint64_t *ret);

/*
 * Writing: fields are appended to a strbuf. A message inside a message is written between
 * pb_open and pb_close, which fills in its length afterwards (always 4 bytes: at most 2^28 − 1).
 */
void pb_put_varint(struct strbuf *b, uint64_t v);
void pb_put_u64(struct strbuf *b, uint32_t number, uint64_t v);  /* uint, int (cast), bool, enum */
void pb_put_sint(struct strbuf *b, uint32_t number, int64_t v);  /* sint32, sint64 */
void pb_put_i64(struct strbuf *b, uint32_t number, uint64_t v);  /* fixed64 */
void pb_put_double(struct strbuf *b, uint32_t number, double v); /* double */
void pb_put_bytes(struct strbuf *b, uint32_t number, const void *data, size_t n);
void pb_put_str(struct strbuf *b, uint32_t number, const char *s);
/* Returns what pb_close takes. */
size_t pb_open(struct strbuf *b, uint32_t number);
void pb_close(struct strbuf *b, size_t opened);
/* The same with a length of as few bytes as it needs: moves the content of the message. */
void pb_close_tight(struct strbuf *b, size_t opened);

#endif
