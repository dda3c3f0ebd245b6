#include "base_test.h"

#include "profrig/base/search.h"

static const int v[] = { 1, 3, 3, 3, 7, 9 };

static size_t first_not_less(size_t nr, int key)
{
	return LOWER_BOUND(i, 0, nr, v[i] < key);
}

static size_t first_greater(size_t nr, int key)
{
	return LOWER_BOUND(i, 0, nr, v[i] <= key);
}

TEST(test_places)
{
	const struct {
		size_t nr;
		int key;
		size_t not_less, greater;
	} cases[] = {
		{ 0, 3, 0, 0 },                  /* empty */
		{ 1, 0, 0, 0 },  { 1, 1, 0, 1 }, /* one element */
		{ 1, 2, 1, 1 },  { 6, 0, 0, 0 }, /* all greater */
		{ 6, 10, 6, 6 },                 /* all smaller */
		{ 6, 1, 0, 1 },  { 6, 9, 5, 6 }, /* the ends */
		{ 6, 3, 1, 4 },                  /* the first of equals; behind the last */
		{ 6, 5, 4, 4 },  { 3, 3, 1, 3 }, /* absent; equals at the end */
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(first_not_less(cases[i].nr, cases[i].key), cases[i].not_less);
		assert_int_equal(first_greater(cases[i].nr, cases[i].key), cases[i].greater);
	}
}

TEST(test_ranges)
{
	size_t calls = 0, nr = 2;

	assert_int_equal(LOWER_BOUND(i, 2, 6, v[i] < 3), 2);
	assert_int_equal(LOWER_BOUND(i, 2, 4, v[i] < 9), 4);
	assert_int_equal(LOWER_BOUND(i, 4, 2, v[i] < 9), 4); /* nothing in it */
	assert_int_equal(LOWER_BOUND(i, calls++, nr++, v[i] < 2), 1);
	assert_int_equal(calls, 1); /* bounds are evaluated once */
	assert_int_equal(nr, 3);
	/* The middle of a large range does not overflow. */
	assert_true(LOWER_BOUND(i, SIZE_MAX - 10, SIZE_MAX, i < SIZE_MAX - 3) == SIZE_MAX - 3);
}

/* As a search from one end finds it. */
TEST(test_against_scan)
{
	int w[40];

	for (size_t n = 0; n <= ARRAY_LEN(w); n++) {
		for (size_t i = 0; i < n; i++)
			w[i] = (int)(i * i / 7);
		for (int key = -1; key < 240; key++) {
			size_t want = 0;

			while (want < n && w[want] < key)
				want++;
			assert_int_equal(LOWER_BOUND(i, 0, n, w[i] < key), want);
			for (size_t near = 0; near < n + 3; near++)
				assert_int_equal(NEAR_BOUND(i, near, n, w[i] < key), want);
		}
	}
}

/* A result near the hint takes few looks, on either side; a far one not many more than a search. */
TEST(test_near)
{
	const size_t nr = (size_t)1 << 20, at = nr / 3;
	static const struct {
		int off;
		size_t most;
	} cases[] = { { 0, 2 },   { 1, 3 },       { -1, 3 },      { 5, 10 },
		      { -5, 10 }, { 300000, 50 }, { -300000, 50 } };

	for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
		size_t looks = 0, near = (size_t)((int64_t)at + cases[c].off);

		assert_int_equal(NEAR_BOUND(i, near, nr, (looks++, i < at)), at);
		if (looks > cases[c].most)
			ROW_FAIL(c, "%zu looks", looks);
	}
	assert_int_equal(NEAR_BOUND(i, SIZE_MAX, nr, i < nr), nr);
	assert_true(NEAR_BOUND(i, 7, SIZE_MAX, i < SIZE_MAX - 3) == SIZE_MAX - 3);
}
