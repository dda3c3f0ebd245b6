#include "base_test.h"

#include "profrig/sort.h"

static int cmp_i64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void test_sort(void **state UNUSED)
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

static void test_median(void **state UNUSED)
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
static void test_median_shapes(void **state UNUSED)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_median),
		cmocka_unit_test(test_median_shapes),
	};

	return cmocka_run_group_tests_name("sort", tests, NULL, NULL);
}
