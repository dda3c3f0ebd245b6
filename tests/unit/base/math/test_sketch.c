#include "test.h"

#include <inttypes.h>
#include <math.h>

#include "profrig/base/moments.h"
#include "profrig/base/sketch.h"
#include "profrig/base/sort.h"

/* ---- buckets ---- */

/* Values around every power of two and at random: the bucket's middle is near, buckets follow the
 * values' order. */
TEST(test_buckets)
{
	uint64_t seed = 7;

	for (int i = 0; i < 200000; i++) {
		uint64_t v = rnd(&seed) >> (rnd(&seed) % 64);
		struct sketch s = SKETCH_INIT;
		double got;

		if (i < 192)
			v = (UINT64_C(1) << i % 64) - 1 + (uint64_t)(i / 64);
		sketch_add(&s, v);
		assert_true(s.nr < SKETCH_STEPS);
		got = sketch_at(&s, 0);
		if (fabs(got - (double)v) > SKETCH_ERROR * (double)v)
			fail_msg("%" PRIu64 " became %f", v, got);
		if (v < 128)
			assert_true(got == (double)v);
		if (v < UINT64_MAX)
			assert_in_range(sketch_bucket(v + 1) - sketch_bucket(v), 0, 1);
		sketch_release(&s);
	}
}

/* Every place of many samples, against the sorted values; in parts that are merged. */
TEST(test_places)
{
	uint64_t seed = 99;

	for (int round = 0; round < 50; round++) {
		struct sketch parts[3] = { SKETCH_INIT, SKETCH_INIT, SKETCH_INIT };
		size_t n = 1 + rnd(&seed) % 2000;
		int64_t *v = xcalloc(n, sizeof(*v));

		for (size_t i = 0; i < n; i++) {
			v[i] = (int64_t)(rnd(&seed) >> (20 + rnd(&seed) % 40));
			sketch_add(&parts[rnd(&seed) % 3], (uint64_t)v[i]);
		}
		sketch_merge(&parts[0], &parts[1]);
		sketch_merge(&parts[0], &parts[2]);
		sort_i64(v, n);
		for (size_t i = 0; i < n; i++) {
			double got = sketch_at(&parts[0], i);

			if (fabs(got - (double)v[i]) > SKETCH_ERROR * (double)v[i])
				fail_msg("place %zu of %zu: %f, not %" PRId64, i, n, got, v[i]);
		}
		for (size_t i = 0; i < ARRAY_LEN(parts); i++)
			sketch_release(&parts[i]);
		free(v);
	}
}

TEST(test_empty)
{
	struct sketch a = SKETCH_INIT, b = SKETCH_INIT;

	sketch_merge(&a, &b);
	assert_true(sketch_at(&a, 0) == 0);
	sketch_add(&b, 5);
	sketch_merge(&a, &b);
	assert_true(sketch_at(&a, 0) == 5);
	sketch_release(&a);
	sketch_release(&b);
}

/* ---- moments ---- */

TEST(test_moments_known)
{
	static const struct {
		int64_t v[8];
		size_t n;
		double mean, stddev;
	} cases[] = {
		{ { 0 }, 0, 0, 0 },
		{ { 7 }, 1, 7, 0 },
		{ { 2, 4, 4, 4, 5, 5, 7, 9 }, 8, 5, 2.1380899352993951 }, /* √(32/7) */
		{ { 0, 0 }, 2, 0, 0 },
		/* what a sum of floating squares would lose: 2^61 and neighbours */
		{ { INT64_C(1) << 61, (INT64_C(1) << 61) + 1, (INT64_C(1) << 61) + 2 },
		  3,
		  0x1p61 + 1,
		  1 },
		{ { INT64_MAX, 0 }, 2, 0x1p62, 6521908912666391106.2 }, /* (2^63 − 1)/√2 */
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct moments m = MOMENTS_INIT;

		for (size_t k = 0; k < cases[i].n; k++)
			moments_add(&m, cases[i].v[k]);
		if (moments_mean(&m) != cases[i].mean ||
		    fabs(moments_stddev(&m) - cases[i].stddev) > 1e-15 * cases[i].stddev)
			ROW_FAIL(i, "mean %.17g, stddev %.17g", moments_mean(&m),
				 moments_stddev(&m));
	}
}

/* Parts of any size in any order: equal to the last bit; and near what two passes give. */
TEST(test_moments_parts)
{
	uint64_t seed = 3;

	for (int round = 0; round < 200; round++) {
		struct moments all = MOMENTS_INIT, parts[2] = { MOMENTS_INIT, MOMENTS_INIT };
		enum { N = 100 };
		int64_t v[N];
		long double squares = 0;
		double two_pass;

		for (size_t i = 0; i < N; i++) {
			v[i] = (int64_t)(rnd(&seed) >> (1 + rnd(&seed) % 60));
			moments_add(&all, v[i]);
		}
		for (size_t i = N; i-- > 0;)
			moments_add(&parts[rnd(&seed) % 2], v[i]);
		moments_merge(&parts[0], &parts[1]);
		assert_int_equal(parts[0].n, N);
		assert_int_equal(parts[0].min, all.min);
		assert_int_equal(parts[0].max, all.max);
		assert_true(moments_mean(&parts[0]) == moments_mean(&all));
		assert_true(moments_stddev(&parts[0]) == moments_stddev(&all));
		assert_int_equal(moments_sum(&parts[0]), moments_sum(&all));
		for (size_t i = 0; i < N; i++) {
			long double d = (long double)v[i] - (long double)all.sum / (long double)N;

			squares += d * d;
		}
		two_pass = (double)sqrtl(squares / (N - 1));
		assert_true(fabs(two_pass - moments_stddev(&all)) <= 1e-15 * two_pass);
	}
}

/* A million centuries are no numbers to be proud of, and no crash. */
TEST(test_moments_limits)
{
	struct moments m = MOMENTS_INIT;

	for (int i = 0; i < 1000; i++)
		moments_add(&m, INT64_MAX);
	moments_add(&m, -5);
	assert_int_equal(m.min, 0);
	assert_int_equal(moments_sum(&m), INT64_MAX);
	assert_true(isfinite(moments_stddev(&m)));
	moments_merge(&m, &m);
	assert_true(isfinite(moments_stddev(&m)));
}
