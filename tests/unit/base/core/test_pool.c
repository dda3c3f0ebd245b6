#include "base_test.h"

#include "profrig/base/pool.h"

TEST(test_zeroed_aligned)
{
	struct pool p = POOL_INIT;
	uint64_t seed = 7;
	size_t bytes = 0;

	for (int i = 0; i < 20000; i++) {
		size_t n = rnd(&seed) % (i % 100 == 0 ? 100000 : 100);
		unsigned char *m = pool_alloc(&p, n);

		assert_int_equal((uintptr_t)m % 16, 0);
		for (size_t k = 0; k < n; k++)
			if (m[k])
				fail();
		memset(m, 0xff, n);
		bytes += n;
		/* Strings in between do not spoil the alignment of what follows. */
		if (i % 3 == 0) {
			pool_strdup(&p, "abc");
			bytes += 4;
		}
	}
	assert_int_equal(p.bytes, bytes);
	pool_release(&p);
	assert_null(p.head);
	assert_int_equal(p.bytes, 0);
	pool_release(&p);
}

TEST(test_strings)
{
	struct pool p = POOL_INIT;

	assert_string_equal(pool_strdup(&p, ""), "");
	assert_string_equal(pool_strdup(&p, "abc"), "abc");
	assert_string_equal(pool_strndup(&p, "abc", 2), "ab");
	assert_string_equal(pool_strndup(&p, "ab\0c", 4), "ab");
	assert_string_equal(pool_strndup(&p, NULL, 0), "");
	assert_memory_equal(pool_memdupz(&p, "a\0c", 3), "a\0c", 4);
	assert_string_equal(pool_printf(&p, "%d%%", 50), "50%");
	pool_release(&p);
}

TEST(test_large)
{
	struct pool p = POOL_INIT;
	char *a, *b, *c;

	a = pool_alloc(&p, 10 << 20);
	b = pool_alloc(&p, 1);
	c = pool_alloc(&p, 3 << 20);
	a[0] = a[(10 << 20) - 1] = 'a';
	c[(3 << 20) - 1] = 'c';
	*b = 'b';
	pool_release(&p);
}
