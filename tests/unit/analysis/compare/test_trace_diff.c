#include "dice.h"
#include "test.h"

#include <math.h>

#include "profrig/compare/trace_diff.h"

static const struct trace_diff_row *row_of(const struct trace_diff *d, const char *name)
{
	for (size_t i = 0; i < d->v.nr; i++)
		if (strcmp(d->v.v[i].name, name) == 0)
			return &d->v.v[i];
	fail_msg("no row %s", name);
	return d->v.v;
}

TEST(count_and_rate)
{
	static const struct trace_total a[] = { { "gemm", 10, 1000 }, { "old", 2, 50 } };
	static const struct trace_total b[] = { { "relu", 3, 30 }, { "gemm", 8, 1200 } };
	struct trace_diff d;
	const struct trace_diff_row *r;

	trace_diff_make(a, 2, b, 2, &d);
	assert_int_equal(d.v.nr, 3);
	r = row_of(&d, "gemm");
	/* means 100 and 150: two calls less at 125, and 50 more in nine calls */
	assert_true(r->count_effect_ns == -250 && r->rate_effect_ns == 450);
	assert_int_equal(r->delta_ns, 200);
	assert_int_equal(r->state, TRACE_DECREASED);
	assert_int_equal(row_of(&d, "old")->state, TRACE_GONE);
	assert_int_equal(row_of(&d, "relu")->state, TRACE_NEW);
	assert_true(row_of(&d, "old")->rate_effect_ns == 0);
	assert_int_equal(d.sum.new_ns, 30);
	assert_int_equal(d.sum.gone_ns, 50);
	assert_int_equal(d.sum.delta_ns, 180);
	assert_true(d.sum.count_effect_ns == -250 && d.sum.rate_effect_ns == 450);
	assert_true(d.names_a == 2 && d.names_b == 2 && d.common == 1);
	assert_true(fabs(trace_diff_overlap(&d) - 1 / 3.0) < 1e-15);
	/* by size: gemm 200, old 50, relu 30 */
	assert_string_equal(d.v.v[0].name, "gemm");
	assert_string_equal(d.v.v[1].name, "old");
	trace_diff_release(&d);
}

TEST(lists_that_are_odd)
{
	static const struct trace_total a[] = { { "x", 1, 5 }, { "x", 2, 7 }, { "none", 0, 4 } };
	static const struct trace_total b[] = { { "none", 0, 9 }, { "x", 3, 12 } };
	struct trace_diff d;

	trace_diff_make(a, 3, b, 2, &d);
	assert_int_equal(d.v.nr, 2);
	assert_int_equal(row_of(&d, "x")->count_a, 3);
	assert_int_equal(row_of(&d, "x")->state, TRACE_UNCHANGED);
	assert_int_equal(row_of(&d, "x")->delta_ns, 0);
	assert_int_equal(row_of(&d, "none")->delta_ns, 5);
	assert_int_equal(d.names_a, 1);
	assert_int_equal(d.of[TRACE_UNCHANGED], 1);
	assert_int_equal(d.sum.delta_ns, d.sum.new_ns - d.sum.gone_ns);
	trace_diff_release(&d);
	trace_diff_make(NULL, 0, NULL, 0, &d);
	assert_int_equal(d.v.nr, 0);
	assert_true(isnan(trace_diff_overlap(&d)));
	trace_diff_release(&d);
}

TEST(numbers_at_their_limits)
{
	static const struct trace_total a[] = { { "x", 1, INT64_MAX }, { "y", UINT64_MAX, 1 } };
	static const struct trace_total b[] = { { "x", UINT64_MAX, 0 }, { "y", 1, INT64_MAX } };
	struct trace_diff d;

	trace_diff_make(a, 2, b, 2, &d);
	for (size_t i = 0; i < d.v.nr; i++) {
		assert_true(isfinite(d.v.v[i].count_effect_ns));
		assert_true(isfinite(d.v.v[i].rate_effect_ns));
	}
	assert_int_equal(d.sum.total_a_ns, INT64_MAX);
	assert_int_equal(d.sum.count_a, UINT64_MAX);
	assert_int_equal(row_of(&d, "x")->delta_ns, -INT64_MAX);
	trace_diff_release(&d);
}

#define NAMES 12

static size_t list_random(struct dice *x, struct trace_total *v, char names[NAMES][4])
{
	size_t nr = 0;

	for (size_t i = 0; i < NAMES; i++) {
		struct trace_total t = { names[i], below(x, 7), 0 };

		if (below(x, 3) == 0)
			continue;
		t.total_ns = t.count ? (int64_t)below(x, 1u << below(x, 31)) : 0;
		v[nr++] = t;
	}
	return nr;
}

/*
 * The effect as an exact fraction: 2·na·nb·effect = (nb − na)(ta·nb + tb·na). Rounding to 1/1024
 * moves it by at most half of that.
 */
static void effect_check(const struct trace_diff_row *r)
{
	__int128 na = (__int128)r->count_a, nb = (__int128)r->count_b;
	__int128 top = (nb - na) * (r->total_a_ns * nb + r->total_b_ns * na), under = 2 * na * nb;
	__int128 fine = (__int128)(r->count_effect_ns * 1024), off = fine * under - top * 1024;

	assert_true((double)fine == r->count_effect_ns * 1024);
	assert_true(2 * (off < 0 ? -off : off) <= under);
}

/* Laws on random lists: effects add up, row by row and over all; the other way round is minus. */
TEST(partitions_are_exact)
{
	char names[NAMES][4];
	struct dice x = { 20 };

	for (size_t i = 0; i < NAMES; i++)
		snprintf(names[i], sizeof(names[i]), "k%zu", i);
	for (size_t round = 0; round < 5000; round++) {
		struct trace_total a[NAMES], b[NAMES];
		size_t na = list_random(&x, a, names), nb = list_random(&x, b, names);
		struct trace_diff d, back;
		int64_t delta = 0;

		trace_diff_make(a, na, b, nb, &d);
		trace_diff_make(b, nb, a, na, &back);
		for (size_t i = 0; i < d.v.nr; i++) {
			const struct trace_diff_row *r = &d.v.v[i];

			delta += r->delta_ns;
			if (r->count_a && r->count_b) {
				assert_true(r->count_effect_ns + r->rate_effect_ns ==
					    (double)r->delta_ns);
				effect_check(r);
			}
			assert_true(row_of(&back, r->name)->count_effect_ns == -r->count_effect_ns);
			assert_true(i == 0 || llabs(d.v.v[i - 1].delta_ns) >= llabs(r->delta_ns));
		}
		assert_int_equal(delta, d.sum.delta_ns);
		assert_true((double)d.sum.new_ns - (double)d.sum.gone_ns + d.sum.count_effect_ns +
				    d.sum.rate_effect_ns ==
			    (double)d.sum.delta_ns);
		assert_int_equal(d.names_a + d.names_b - d.common,
				 d.of[TRACE_NEW] + d.of[TRACE_GONE] + d.of[TRACE_INCREASED] +
					 d.of[TRACE_DECREASED] + d.of[TRACE_UNCHANGED]);
		trace_diff_release(&d);
		trace_diff_release(&back);
	}
}
