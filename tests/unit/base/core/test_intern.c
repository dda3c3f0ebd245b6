#include "base_test.h"

#include "profrig/base/intern.h"

TEST(test_ids)
{
	struct intern *in = intern_new();

	assert_int_equal(intern_count(in), 1);
	assert_int_equal(intern_puts(in, ""), 0);
	assert_int_equal(intern_put(in, NULL, 0), 0);
	assert_int_equal(intern_find(in, "", 0), 0);
	assert_int_equal(intern_puts(in, "a"), 1);
	assert_int_equal(intern_puts(in, "b"), 2);
	assert_int_equal(intern_puts(in, "a"), 1);
	assert_int_equal(intern_put(in, "abc", 1), 1);
	assert_int_equal(intern_find(in, "b", 1), 2);
	assert_int_equal(intern_find(in, "c", 1), STR_NONE);
	assert_int_equal(intern_count(in), 3);
	assert_string_equal(intern_str(in, 0), "");
	assert_string_equal(intern_str(in, 2), "b");
	assert_string_equal(intern_str(in, STR_NONE), "");
	assert_int_equal(intern_len(in, STR_NONE), 0);
	intern_free(in);
	intern_free(NULL);
}

TEST(test_nul_bytes)
{
	struct intern *in = intern_new();
	str_id one = intern_put(in, "\0", 1);
	str_id two = intern_put(in, "\0\0", 2);
	str_id mixed = intern_put(in, "a\0b", 3);

	assert_true(one != 0 && one != two);
	assert_int_equal(intern_len(in, two), 2);
	assert_int_equal(intern_find(in, "a", 1), STR_NONE);
	assert_memory_equal(intern_str(in, mixed), "a\0b", 4);
	intern_free(in);
}

/* Through many growths: ids follow first use, texts and pointers stay. */
TEST(test_many)
{
	enum { N = 200000 };
	struct intern *in = intern_new();
	const char *early = intern_str(in, intern_puts(in, "early"));
	char buf[64];

	for (int i = 0; i < N; i++) {
		int n = snprintf(buf, sizeof(buf), "void kernel<%d, float>(%d)", i, i * 7);

		assert_int_equal(intern_put(in, buf, (size_t)n), i + 2);
	}
	for (int i = N - 1; i >= 0; i--) {
		int n = snprintf(buf, sizeof(buf), "void kernel<%d, float>(%d)", i, i * 7);

		assert_int_equal(intern_put(in, buf, (size_t)n), i + 2);
		assert_int_equal(intern_find(in, buf, (size_t)n), i + 2);
		assert_string_equal(intern_str(in, (str_id)i + 2), buf);
		assert_int_equal(intern_len(in, (str_id)i + 2), n);
	}
	assert_int_equal(intern_count(in), N + 2);
	assert_ptr_equal(early, intern_str(in, 1));
	intern_free(in);
}

/* Every length around the ones where the hash changes its method. */
TEST(test_lengths)
{
	struct intern *in = intern_new();
	char buf[5000];

	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (char)(i * 31);
	for (size_t n = 1; n <= sizeof(buf); n++)
		assert_int_equal(intern_put(in, buf, n), n);
	for (size_t n = 1; n <= sizeof(buf); n++)
		assert_int_equal(intern_find(in, buf, n), n);
	intern_free(in);
}
