/* protobuf: known bytes of the encoding guide, both ways, and damage at every byte. */
#include "test.h"

#include "profrig/base/protobuf.h"

#define BYTES(...) \
	((const unsigned char[]){ __VA_ARGS__ }), sizeof((const unsigned char[]){ __VA_ARGS__ })

static void is_bytes(const struct strbuf *b, const unsigned char *want, size_t n)
{
	assert_int_equal(b->len, n);
	assert_memory_equal(b->buf, want, n);
}

/* Examples of https://protobuf.dev/programming-guides/encoding. */
TEST(known_bytes_of_each_type)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;

	pb_put_u64(&b, 1, 150);
	is_bytes(&b, BYTES(0x08, 0x96, 0x01));
	strbuf_clear(&b);
	pb_put_str(&b, 2, "testing");
	is_bytes(&b, BYTES(0x12, 0x07, 't', 'e', 's', 't', 'i', 'n', 'g'));
	strbuf_clear(&b);
	pb_put_sint(&b, 1, -2);
	is_bytes(&b, BYTES(0x08, 0x03));
	strbuf_clear(&b);
	pb_put_u64(&b, 1, (uint64_t)-2);
	is_bytes(&b, BYTES(0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01));
	strbuf_clear(&b);
	pb_put_double(&b, 3, 1.5);
	is_bytes(&b, BYTES(0x19, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f));
}

static void one_number(const unsigned char *bytes, size_t n, uint64_t want)
{
	struct pb_cursor c = pb_cursor_of(bytes, n);
	struct pb_field f;

	assert_true(pb_next(&c, &f));
	assert_true(pb_is_number(&f));
	assert_int_equal(f.u64, want);
	assert_false(pb_next(&c, &f));
	assert_null(c.problem);
}

TEST(numbers_are_read)
{
	one_number(BYTES(0x08, 0x96, 0x01), 150);
	one_number(BYTES(0x08, 0), 0);
	one_number(BYTES(0x08, 0x80, 0), 0);
	one_number(BYTES(0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
		   UINT64_MAX);
	one_number(BYTES(0x09, 1, 2, 3, 4, 5, 6, 7, 0x80), 0x8007060504030201u);
	one_number(BYTES(0x0d, 1, 2, 3, 0xff), 0xff030201u);
}

TEST(signs_and_fractions)
{
	struct pb_field f = { .wire = PB_VARINT, .u64 = 3 };
	float third = 0.25f;
	uint32_t bits;

	assert_int_equal(pb_sint(&f), -2);
	f.u64 = UINT64_MAX;
	assert_int_equal(pb_sint(&f), INT64_MIN);
	assert_int_equal(pb_int(&f), -1);
	assert_true(pb_double(&f) == -1);
	memcpy(&bits, &third, sizeof(bits));
	f = (struct pb_field){ .wire = PB_I32, .u64 = bits };
	assert_true(pb_double(&f) == 0.25);
	f = (struct pb_field){ .wire = PB_I64, .u64 = 0xbff8000000000000u };
	assert_true(pb_double(&f) == -1.5);
}

TEST(messages_inside_messages)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	size_t outer = pb_open(&b, 1), inner;
	struct pb_cursor c;
	struct pb_field f;

	pb_put_u64(&b, 7, 1);
	inner = pb_open(&b, 0x1fffffff);
	pb_put_str(&b, 1, "x");
	pb_close(&b, inner);
	pb_close(&b, outer);
	pb_put_u64(&b, 2, 9);
	c = pb_cursor_of(b.buf, b.len);
	assert_true(pb_next(&c, &f) && f.number == 1 && pb_is_bytes(&f));
	{
		struct pb_cursor in = pb_inside(&f);

		assert_true(pb_next(&in, &f) && f.number == 7 && f.u64 == 1);
		assert_true(pb_next(&in, &f) && f.number == 0x1fffffff);
		in = pb_inside(&f);
		assert_true(pb_next(&in, &f) && f.len == 1 && f.data[0] == 'x');
		assert_false(pb_next(&in, &f));
		assert_null(in.problem);
	}
	assert_true(pb_next(&c, &f) && f.number == 2 && f.u64 == 9);
	/* a number has nothing inside */
	c = pb_inside(&f);
	assert_false(pb_next(&c, &f));
	assert_null(c.problem);
}

/* Equal to what pb_put_bytes writes, at both sides of each length of the length. */
TEST(messages_with_short_lengths)
{
	static const size_t lengths[] = { 0, 1, 127, 128, 16383, 16384, 2097151, 2097152 };

	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		CLEANUP(strbuf_release) struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;
		CLEANUP(xfreep) char *text = xcalloc(1, lengths[i] + 1);
		size_t at;

		memset(text, 'x', lengths[i]);
		pb_put_bytes(&a, 300, text, lengths[i]);
		at = pb_open(&b, 300);
		strbuf_add(&b, text, lengths[i]);
		pb_close_tight(&b, at);
		assert_int_equal(a.len, b.len);
		assert_memory_equal(a.buf, b.buf, a.len);
		assert_int_equal(b.buf[b.len], 0);
	}
}

TEST(repeated_numbers_packed_or_single)
{
	uint64_t v;
	struct pb_field f = { .wire = PB_LEN,
			      .data = (const unsigned char *)"\x01\x96\x01",
			      .len = 3 };
	struct pb_packed p = pb_packed_of(&f);

	assert_true(pb_packed_next(&p, &v) && v == 1);
	assert_true(pb_packed_next(&p, &v) && v == 150);
	assert_false(pb_packed_next(&p, &v));
	assert_null(p.c.problem);
	f.len = 2;
	p = pb_packed_of(&f);
	assert_true(pb_packed_next(&p, &v));
	assert_false(pb_packed_next(&p, &v));
	assert_non_null(p.c.problem);
	f = (struct pb_field){ .wire = PB_VARINT, .u64 = 5 };
	p = pb_packed_of(&f);
	assert_true(pb_packed_next(&p, &v) && v == 5);
	assert_false(pb_packed_next(&p, &v));
}

/* Field 1 = 5, a group of number 2 with a field and an inner group, field 3 = 6. */
TEST(groups_are_passed_over)
{
	struct pb_cursor c =
		pb_cursor_of(BYTES(0x08, 5, 0x13, 0x0a, 1, 'x', 0x1b, 0x1c, 0x14, 0x18, 6));
	struct pb_field f;

	assert_true(pb_next(&c, &f) && f.number == 1 && f.u64 == 5);
	assert_true(pb_next(&c, &f) && f.number == 3 && f.u64 == 6);
	assert_false(pb_next(&c, &f));
	assert_null(c.problem);
}

static void is_damaged(const unsigned char *bytes, size_t n, const char *words)
{
	struct pb_cursor c = pb_cursor_of(bytes, n);
	struct pb_field f;

	while (pb_next(&c, &f))
		;
	assert_non_null(c.problem);
	assert_non_null(strstr(c.problem, words));
	assert_ptr_equal(c.at, bytes);
	assert_false(pb_next(&c, &f));
}

TEST(damage_is_told)
{
	unsigned char deep[PB_GROUP_DEPTH + 1];

	is_damaged(BYTES(0x80), "number is cut off");
	is_damaged(BYTES(0x00, 0), "impossible number");
	is_damaged(BYTES(0x80, 0x80, 0x80, 0x80, 0x10, 0), "impossible number");
	is_damaged(BYTES(0x0e, 0), "impossible type");
	is_damaged(BYTES(0x0f, 0), "impossible type");
	is_damaged(BYTES(0x0c), "impossible type");
	is_damaged(BYTES(0x08, 0x80), "cut off");
	is_damaged(BYTES(0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0),
		   "too long");
	is_damaged(BYTES(0x09, 1, 2, 3, 4, 5, 6, 7), "cut off");
	is_damaged(BYTES(0x0d, 1, 2, 3), "cut off");
	is_damaged(BYTES(0x0a, 2, 'x'), "behind the end");
	is_damaged(BYTES(0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 'x'),
		   "behind the end");
	is_damaged(BYTES(0x0b, 0x14), "another number");
	is_damaged(BYTES(0x0b, 0x08, 1), "cut off");
	memset(deep, 0x0b, sizeof(deep));
	is_damaged(deep, sizeof(deep), "too deeply");
}

/* Cut at every byte: whole fields are read, a cut one is a problem; nothing behind is read. */
TEST(cut_at_every_byte)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	size_t ends[4], nr = 0, opened;

	pb_put_u64(&b, 1, 300), ends[nr++] = b.len;
	pb_put_str(&b, 2, "name"), ends[nr++] = b.len;
	pb_put_double(&b, 3, 0.5), ends[nr++] = b.len;
	opened = pb_open(&b, 4);
	pb_put_sint(&b, 1, -7);
	pb_close(&b, opened), ends[nr++] = b.len;
	for (size_t n = 0; n <= b.len; n++) {
		CLEANUP(xfreep) unsigned char *copy = xmemdup(b.buf, n ? n : 1);
		struct pb_cursor c = pb_cursor_of(copy, n);
		struct pb_field f;
		size_t read = 0, whole = 0;

		while (whole < nr && ends[whole] <= n)
			whole++;
		while (pb_next(&c, &f))
			assert_int_equal(f.number, ++read);
		assert_int_equal(read, whole);
		assert_int_equal(c.problem == NULL, n == (whole ? ends[whole - 1] : 0));
	}
}

TEST(random_fields_come_back)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;

	for (uint64_t i = 0; i < 20000; i++)
		pb_put_u64(&b, 1 + (uint32_t)(mix64(i) % 1000), mix64(~i) >> (i % 64));
	{
		struct pb_cursor c = pb_cursor_of(b.buf, b.len);
		struct pb_field f;
		uint64_t i = 0;

		for (; pb_next(&c, &f); i++) {
			assert_int_equal(f.number, 1 + mix64(i) % 1000);
			assert_int_equal(f.u64, mix64(~i) >> (i % 64));
		}
		assert_int_equal(i, 20000);
		assert_null(c.problem);
	}
}

/* A ceiling of the strbuf (hostile output) leaves the message unfinished, and nothing else. */
TEST(a_full_strbuf_is_no_harm)
{
	CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT;
	size_t opened;

	strbuf_limit(&b, 6);
	opened = pb_open(&b, 1);
	pb_put_str(&b, 1, "more than fits");
	pb_close(&b, opened);
	assert_true(b.overflow);
}
