/* Values as bytes, there and back; and bytes that are too few. */
#include "base_test.h"

#include "profrig/base/serial.h"

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
	SERIAL_PUT(sb, n);
	serial_put_text(sb, "gpu0");
	serial_put_text(sb, NULL);
	serial_put_text(sb, "");
	SERIAL_PUT_VEC(sb, &pairs);
	SERIAL_PUT_VEC(sb, &none);
	VEC_RELEASE(&pairs);
}

TEST(test_there_and_back)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	VEC(struct pair) pairs = VEC_INIT;
	struct serial_in in;
	char *text;
	uint32_t n;

	message(&sb);
	in = (struct serial_in){ sb.buf, sb.buf + sb.len, false };
	SERIAL_TAKE(&in, n);
	assert_int_equal(n, 7);
	text = serial_take_text(&in);
	assert_string_equal(text, "gpu0");
	free(text);
	assert_null(serial_take_text(&in));
	text = serial_take_text(&in);
	assert_string_equal(text, "");
	free(text);
	SERIAL_TAKE_VEC(&in, &pairs);
	SERIAL_TAKE_VEC(&in, &pairs);
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
		struct serial_in in = { copy, copy + len, false };
		VEC(struct pair) pairs = VEC_INIT;
		uint32_t n;

		if (len)
			memcpy(copy, sb.buf, len);
		SERIAL_TAKE(&in, n);
		for (int i = 0; i < 3; i++)
			free(serial_take_text(&in));
		SERIAL_TAKE_VEC(&in, &pairs);
		SERIAL_TAKE_VEC(&in, &pairs);
		assert_true(in.bad);
		assert_true(pairs.nr <= 2);
		VEC_RELEASE(&pairs);
	}
}

/* A count beyond all memory is no count. */
TEST(test_absurd_count)
{
	size_t nr = SIZE_MAX / 2;
	struct serial_in in = { (const char *)&nr, (const char *)(&nr + 1), false };

	assert_int_equal(serial_take_count(&in, 16), 0);
	assert_true(in.bad);
}
