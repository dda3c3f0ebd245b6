#include "base_test.h"

#include "profrig/base/strbuf.h"

TEST(test_grow)
{
	struct strbuf sb = STRBUF_INIT;

	assert_string_equal(sb.buf, "");
	for (int i = 0; i < 10000; i++)
		strbuf_addch(&sb, 'a' + i % 26);
	strbuf_addstr(&sb, "");
	strbuf_add(&sb, "\0z", 2);
	assert_int_equal(sb.len, 10002);
	assert_int_equal(sb.buf[26], 'a');
	assert_int_equal(sb.buf[10001], 'z');
	assert_int_equal(sb.buf[10002], '\0');
	strbuf_clear(&sb);
	assert_string_equal(sb.buf, "");
	assert_true(sb.cap > 10000);
	strbuf_release(&sb);
	strbuf_release(&sb);
	assert_string_equal(sb.buf, "");
	assert_int_equal(strbuf_empty[0], '\0');
}

TEST(test_format)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%d-%s", 42, "x");
	assert_string_equal(sb.buf, "42-x");
	/* Around the size of the buffer that short texts are made in. */
	for (int n = 250; n < 262; n++) {
		strbuf_clear(&sb);
		strbuf_addf(&sb, "<%*d>", n, 7);
		assert_int_equal(sb.len, n + 2);
		assert_int_equal(sb.buf[n], '7');
		assert_int_equal(sb.buf[n + 1], '>');
	}
}

TEST(test_ceiling)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_limit(&sb, 5);
	strbuf_addstr(&sb, "abc");
	assert_false(sb.overflow);
	strbuf_addstr(&sb, "de");
	assert_false(sb.overflow);
	strbuf_addstr(&sb, "fg");
	assert_true(sb.overflow);
	assert_string_equal(sb.buf, "abcde");
	strbuf_clear(&sb);
	assert_false(sb.overflow);
	strbuf_addf(&sb, "%s", "0123456789");
	assert_string_equal(sb.buf, "01234");
	strbuf_addch(&sb, 'x');
	assert_string_equal(sb.buf, "01234");
	/* A ceiling below what stands there cuts nothing and lets nothing in. */
	strbuf_clear(&sb);
	strbuf_addstr(&sb, "abcd");
	strbuf_limit(&sb, 2);
	strbuf_addstr(&sb, "e");
	assert_true(sb.overflow);
	assert_string_equal(sb.buf, "abcd");
}

TEST(test_steal)
{
	struct strbuf sb = STRBUF_INIT;
	char *s = strbuf_steal(&sb);

	assert_string_equal(s, "");
	free(s);
	strbuf_addstr(&sb, "mine");
	s = strbuf_steal(&sb);
	assert_string_equal(s, "mine");
	assert_string_equal(sb.buf, "");
	assert_int_equal(sb.len, 0);
	free(s);
}

TEST(test_rtrim)
{
	static const char *const rows[][2] = {
		{ "", "" }, { "a", "a" }, { "a \t\r\n", "a" }, { " \n", "" }, { " a b ", " a b" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

		strbuf_addstr(&sb, rows[i][0]);
		strbuf_rtrim(&sb);
		assert_string_equal(sb.buf, rows[i][1]);
		assert_int_equal(sb.len, strlen(rows[i][1]));
	}
	/* A NUL byte is no blank. */
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_add(&sb, "a\0", 2);
	strbuf_rtrim(&sb);
	assert_int_equal(sb.len, 2);
}

TEST(test_shell)
{
	static const char *const rows[][2] =
		LIST({ "", "''" }, { "plain-1.0_x/y:z,@%+=", "plain-1.0_x/y:z,@%+=" },
		     { "two words", "'two words'" }, { "it's", "'it'\\''s'" }, { "'", "''\\'''" },
		     { "$HOME", "'$HOME'" }, { "a;b", "'a;b'" }, { "*", "'*'" }, { "~", "'~'" },
		     { "line\nend", "'line\nend'" }, { "\xc3\xa4", "'\xc3\xa4'" },
		     { "back\\slash", "'back\\slash'" });

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

		strbuf_add_shell(&sb, rows[i][0]);
		assert_string_equal(sb.buf, rows[i][1]);
	}
}
