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

/* In groups as one by one: texts that are new, known, repeated in a group, and empty. */
TEST(test_many_at_once)
{
	enum { N = 5000 };
	static const size_t sizes[] = { 0, 1, 31, 32, 33, 64, 1000, N };
	static char names[N][24];
	static struct intern_text texts[N];
	static str_id ids[N];
	struct intern *one = intern_new(), *many = intern_new();
	uint64_t seed = 5;

	for (size_t round = 0; round < ARRAY_LEN(sizes); round++) {
		size_t n = sizes[round];

		for (size_t i = 0; i < n; i++) {
			int len = snprintf(names[i], sizeof(names[i]), "kernel<%d>",
					   (int)(rnd(&seed) % N));

			texts[i] = (struct intern_text){ names[i], i % 7 ? (size_t)len : 0 };
		}
		intern_put_many(many, texts, n, ids);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(ids[i], intern_put(one, texts[i].s, texts[i].n));
	}
	assert_true(intern_count(many) == intern_count(one) && intern_count(one) > 2000);
	for (str_id i = 0; i < intern_count(one); i++)
		assert_string_equal(intern_str(many, i), intern_str(one, i));
	intern_free(one);
	intern_free(many);
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
