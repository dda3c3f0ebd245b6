#include "base_test.h"

TEST(test_set)
{
	struct err err = ERR_INIT;

	assert_int_equal(err_set(&err, EINVAL, "no column '%s'", "x"), -EINVAL);
	assert_int_equal(err.code, EINVAL);
	assert_string_equal(err.msg, "no column 'x'");
	assert_int_equal(err_sys(&err, ENOENT, "%s", "a/b"), -ENOENT);
	assert_string_equal(err.msg, "a/b: No such file or directory");
	assert_int_equal(err_sys(&err, 99999, "odd"), -99999);
	assert_string_equal(err.msg, "odd: unknown error");
}

TEST(test_wrap)
{
	struct err err = ERR_INIT;

	assert_int_equal(err_wrap(&err, -EPERM, "outer"), -EPERM);
	assert_string_equal(err.msg, "outer: Operation not permitted");
	assert_int_equal(err.code, EPERM);
	err_set(&err, EINVAL, "cause");
	assert_int_equal(err_wrap(&err, -EINVAL, "inner %d", 2), -EINVAL);
	assert_int_equal(err_wrap(&err, -EINVAL, "outer"), -EINVAL);
	assert_string_equal(err.msg, "outer: inner 2: cause");
	assert_int_equal(err.code, EINVAL);
}

TEST(test_null)
{
	assert_int_equal(err_set(NULL, EIO, "x"), -EIO);
	assert_int_equal(err_sys(NULL, EIO, "x"), -EIO);
	assert_int_equal(err_wrap(NULL, -EIO, "x"), -EIO);
}

TEST(test_own_message_as_argument)
{
	struct err err = ERR_INIT;

	err_set(&err, EIO, "first");
	err_set(&err, EINVAL, "second after %s", err.msg);
	assert_string_equal(err.msg, "second after first");
}

TEST(test_too_long)
{
	struct err err = ERR_INIT;
	char text[2000];
	size_t room = sizeof(err.msg) - 1;

	memset(text, 'a', sizeof(text));
	text[room] = '\0';
	err_set(&err, EIO, "%s", text);
	assert_int_equal(strlen(err.msg), room);
	assert_int_equal(err.msg[room - 1], 'a');
	err_wrap(&err, -EIO, "p");
	assert_int_equal(strlen(err.msg), room);
	assert_int_equal(err.msg[room - 1], '+');
	assert_memory_equal(err.msg, "p: a", 4);
	text[room] = 'a';
	text[sizeof(text) - 1] = '\0';
	err_sys(&err, EIO, "%s", text);
	assert_int_equal(strlen(err.msg), room);
	assert_int_equal(err.msg[room - 1], '+');
}

/* Wherever the cut falls, the mark must not stand behind half a character. */
TEST(test_cut_between_characters)
{
	struct err err = ERR_INIT;
	CLEANUP(xfreep) char *text = xcalloc(1, 2000);

	for (size_t i = 0; i < 900; i++)
		text[i] = "\xe2\x82\xac"[i % 3];
	for (int lead = 0; lead < 4; lead++) {
		size_t n;

		err_set(&err, EIO, "%.*s%s", lead, "xxxx", text);
		n = strlen(err.msg);
		assert_int_equal(err.msg[n - 1], '+');
		assert_int_equal((n - 1 - (size_t)lead) % 3, 0);
		assert_true(n >= sizeof(err.msg) - 4);
	}
}
