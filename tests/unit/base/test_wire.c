/* Values as bytes, there and back; and bytes that are too few. */
#include "base_test.h"

#include "profrig/base/wire.h"

struct pair {
	int64_t a;
	double b;
};

static void message(struct strbuf *sb)
{
	VEC(struct pair) pairs = VEC_INIT;
	VEC(struct pair) none = VEC_INIT;
	uint32_t n = 7;

	VEC_PUSH(&pairs, (struct pair){ -1, 0.5 });
	VEC_PUSH(&pairs, (struct pair){ INT64_MAX, -2 });
	WIRE_PUT(sb, n);
	wire_put_text(sb, "gpu0");
	wire_put_text(sb, NULL);
	wire_put_text(sb, "");
	WIRE_PUT_VEC(sb, &pairs);
	WIRE_PUT_VEC(sb, &none);
	VEC_RELEASE(&pairs);
}

TEST(test_there_and_back)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	VEC(struct pair) pairs = VEC_INIT;
	struct wire in;
	char *text;
	uint32_t n;

	message(&sb);
	in = (struct wire){ sb.buf, sb.buf + sb.len, false };
	WIRE_TAKE(&in, n);
	assert_int_equal(n, 7);
	text = wire_take_text(&in);
	assert_string_equal(text, "gpu0");
	free(text);
	assert_null(wire_take_text(&in));
	text = wire_take_text(&in);
	assert_string_equal(text, "");
	free(text);
	WIRE_TAKE_VEC(&in, &pairs);
	WIRE_TAKE_VEC(&in, &pairs);
	assert_int_equal(pairs.nr, 2);
	assert_int_equal(pairs.v[0].a, -1);
	assert_true(pairs.v[1].a == INT64_MAX && pairs.v[1].b == -2);
	assert_false(in.bad);
	assert_ptr_equal(in.at, in.end);
	VEC_RELEASE(&pairs);
}

/* Cut anywhere, it is noticed, and nothing is made of memory that is not there. */
TEST(test_cut)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	message(&sb);
	for (size_t len = 0; len < sb.len; len++) {
		CLEANUP(xfreep) char *copy = xcalloc(len + 1, 1);
		struct wire in = { copy, copy + len, false };
		VEC(struct pair) pairs = VEC_INIT;
		uint32_t n;

		if (len)
			memcpy(copy, sb.buf, len);
		WIRE_TAKE(&in, n);
		for (int i = 0; i < 3; i++)
			free(wire_take_text(&in));
		WIRE_TAKE_VEC(&in, &pairs);
		WIRE_TAKE_VEC(&in, &pairs);
		assert_true(in.bad);
		assert_true(pairs.nr <= 2);
		VEC_RELEASE(&pairs);
	}
}

/* A count beyond all memory is no count. */
TEST(test_absurd_count)
{
	size_t nr = SIZE_MAX / 2;
	struct wire in = { (const char *)&nr, (const char *)(&nr + 1), false };

	assert_int_equal(wire_take_count(&in, 16), 0);
	assert_true(in.bad);
}
