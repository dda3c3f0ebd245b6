#include "base_test.h"

#include "profrig/base/sort.h"

static int cmp_i64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

TEST(test_sort)
{
	static const size_t sizes[] = { 0, 1, 2, 63, 64, 65, 1000, 40000 };
	static const uint64_t masks[] = { 0xff, 0xffff00, UINT64_MAX, UINT64_C(0xff00000000000000),
					  0 };
	uint64_t seed = 42;

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		for (size_t k = 0; k < ARRAY_LEN(masks); k++) {
			size_t n = sizes[i];
			CLEANUP(xfreep) int64_t *a = xcalloc(n + 1, sizeof(*a));
			CLEANUP(xfreep) int64_t *b = xcalloc(n + 1, sizeof(*b));

			for (size_t j = 0; j < n; j++)
				a[j] = b[j] = (int64_t)(rnd(&seed) & masks[k]);
			if (n > 2) {
				a[0] = b[0] = INT64_MIN;
				a[1] = b[1] = INT64_MAX;
			}
			sort_i64(a, n);
			qsort(b, n, sizeof(*b), cmp_i64);
			assert_memory_equal(a, b, n * sizeof(*a) + 1);
		}
	}
}

TEST(test_median)
{
	static const uint64_t masks[] = { 1, 0xff, UINT64_MAX };
	uint64_t seed = 7;

	assert_int_equal(median_i64(NULL, 0), 0);
	for (size_t n = 1; n < 200; n++) {
		for (size_t k = 0; k < ARRAY_LEN(masks); k++) {
			CLEANUP(xfreep) int64_t *a = xcalloc(n, sizeof(*a));
			CLEANUP(xfreep) int64_t *b = xcalloc(n, sizeof(*b));

			for (size_t j = 0; j < n; j++)
				a[j] = b[j] = (int64_t)(rnd(&seed) & masks[k]);
			qsort(b, n, sizeof(*b), cmp_i64);
			assert_int_equal(median_i64(a, n), b[(n - 1) / 2]);
			qsort(a, n, sizeof(*a), cmp_i64);
			assert_memory_equal(a, b, n * sizeof(*a));
		}
	}
}

/* What a pivot in the middle finds hardest: sorted, reversed, a peak, all equal. */
TEST(test_median_shapes)
{
	enum { N = 1001 };
	int64_t up[N], down[N], peak[N], flat[N];

	for (int i = 0; i < N; i++) {
		up[i] = i;
		down[i] = -i;
		peak[i] = i < N / 2 ? i : N - i;
		flat[i] = 5;
	}
	assert_int_equal(median_i64(up, N), 500);
	assert_int_equal(median_i64(down, N), -500);
	assert_int_equal(median_i64(peak, N), 250);
	assert_int_equal(median_i64(flat, N), 5);
}

static int cmp_pairs(const void *pa, const void *pb)
{
	const struct sort_pair *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* Keys that differ in all bytes, in some, in none; equal ones stay as they were. */
TEST(test_pairs)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 100, 5000 };
	static const uint64_t masks[] = { 0x3,
					  0xff00ff,
					  UINT64_C(0xff00000000000000),
					  UINT64_MAX,
					  UINT64_C(0x0101010101010101),
					  0 };
	uint64_t seed = 11;

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		for (size_t k = 0; k < ARRAY_LEN(masks); k++) {
			size_t n = sizes[i];
			CLEANUP(xfreep) struct sort_pair *a = xcalloc(n + 1, sizeof(*a));
			CLEANUP(xfreep) struct sort_pair *b = xcalloc(n + 1, sizeof(*b));

			for (size_t j = 0; j < n; j++)
				a[j] = (struct sort_pair){ ~(rnd(&seed) & masks[k]), j };
			memcpy(b, a, n * sizeof(*a));
			sort_pairs(a, n);
			qsort(b, n, sizeof(*b), cmp_pairs);
			assert_memory_equal(a, b, (n + 1) * sizeof(*a));
		}
	}
}

static int cmp_spans(const void *pa, const void *pb)
{
	const struct sort_span *a = pa, *b = pb;

	if (sort_span_before(a, b) || sort_span_before(b, a))
		return sort_span_before(a, b) ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* In order, in stretches of order, and in none; equal ones stay as they were. */
TEST(test_spans)
{
	static const size_t sizes[] = { 0, 1, 2, 15, 16, 17, 33, 100, 5000 };
	static const uint64_t stretches[] = { 1, 3, 16, 40, 10000 };
	uint64_t seed = 3;

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		for (size_t k = 0; k < ARRAY_LEN(stretches); k++) {
			size_t n = sizes[i];
			CLEANUP(xfreep) struct sort_span *a = xcalloc(n + 1, sizeof(*a));
			CLEANUP(xfreep) struct sort_span *b = xcalloc(n + 1, sizeof(*b));

			for (size_t j = 0; j < n; j++) {
				int64_t at = (int64_t)(rnd(&seed) % 3 + j % stretches[k]);

				a[j] = (struct sort_span){ at, at + (int64_t)(rnd(&seed) % 4), j };
			}
			memcpy(b, a, n * sizeof(*a));
			sort_spans(a, n);
			qsort(b, n, sizeof(*b), cmp_spans);
			assert_memory_equal(a, b, n * sizeof(*a) + 1);
		}
	}
}
