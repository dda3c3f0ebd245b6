#include "base_test.h"

#include "profrig/base/vec.h"

struct pair {
	int a, b;
};

TEST(test_push)
{
	VEC(struct pair) v = VEC_INIT;

	for (int i = 0; i < 1000; i++)
		VEC_PUSH(&v, ((struct pair){ i, -i }));
	assert_int_equal(v.nr, 1000);
	assert_int_equal(v.v[999].b, -999);
	/* An element pushed again: read after the move. */
	for (int i = 0; i < 1000; i++)
		VEC_PUSH(&v, v.v[0]);
	assert_int_equal(v.v[1999].b, 0);
	VEC_CLEAR(&v);
	assert_int_equal(v.nr, 0);
	assert_true(v.cap >= 2000);
	VEC_RELEASE(&v);
	assert_null(v.v);
	assert_int_equal(v.cap, 0);
}

TEST(test_reserve)
{
	VEC(struct pair) v = VEC_INIT;
	struct pair *at;

	VEC_RESERVE(&v, 100);
	assert_true(v.cap >= 100 && v.nr == 0);
	at = v.v;
	for (int i = 0; i < 100; i++)
		VEC_PUSH(&v, ((struct pair){ i, i }));
	assert_ptr_equal(at, v.v);
	VEC_RELEASE(&v);
}

TEST(test_growth)
{
	assert_int_equal(vec_grow_cap(0, 1), 8);
	assert_int_equal(vec_grow_cap(100, 101), 158);
	assert_int_equal(vec_grow_cap(100, 1000), 1000);
}
