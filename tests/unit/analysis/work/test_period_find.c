#include "test.h"

#include "profrig/work/period_find.h"
#include "profrig/work/steady.h"

static size_t below(uint64_t *rnd, size_t n)
{
	return splitmix64(rnd) % n;
}

/* The definition, word by word. */
static struct period period_plain(const uint32_t *v, size_t n)
{
	struct period best = { 0 };

	for (size_t lag = 1; lag <= n / 2; lag++) {
		size_t match = 0, of = n - lag;

		for (size_t i = 0; i < of; i++)
			match += v[i] == v[i + lag];
		if (best.lag == 0 || match * best.of > best.match * of)
			best = (struct period){ lag, match, of, false };
	}
	best.accepted = best.of && (double)best.match / (double)best.of >= 0.9 && 3 * best.lag <= n;
	return best;
}

static void expect_period(const struct period *p, const struct period *want)
{
	assert_int_equal(p->lag, want->lag);
	assert_int_equal(p->match, want->match);
	assert_int_equal(p->of, want->of);
	assert_int_equal(p->accepted, want->accepted);
}

TEST(test_known)
{
	static const uint32_t abc[] = { 1, 2, 3, 1, 2, 3, 1, 2, 3, 1 };
	static const uint32_t odd[] = { 1, 2, 3, 4, 5 };
	struct period p = period_find(abc, 10);

	expect_period(&p, &(struct period){ 3, 7, 7, true });
	p = period_find(abc, 8); /* two periods and a bit are no three */
	expect_period(&p, &(struct period){ 3, 5, 5, false });
	p = period_find(odd, 5); /* the smallest of equal shares */
	expect_period(&p, &(struct period){ 1, 0, 4, false });
	p = period_find(abc, 1);
	expect_period(&p, &(struct period){ 0, 0, 0, false });
	p = period_find(abc, 0);
	expect_period(&p, &(struct period){ 0, 0, 0, false });
}

TEST(test_as_the_definition)
{
	uint64_t rnd = 11;

	for (int k = 0; k < 3000; k++) {
		uint32_t v[200], names = (uint32_t)below(&rnd, 6) + 1;
		size_t n = below(&rnd, 200), lag = below(&rnd, 40) + 1;
		uint32_t noise = (uint32_t)below(&rnd, 12);
		struct period p, want;

		for (size_t i = 0; i < n; i++)
			v[i] = i < lag || below(&rnd, 100) < noise ? (uint32_t)below(&rnd, names)
								   : v[i - lag];
		p = period_find(v, n);
		want = period_plain(v, n);
		expect_period(&p, &want);
	}
}

/* Layers inside iterations: both repeat, and the iterations match best. */
static size_t network(uint32_t *v, size_t n, size_t layers, size_t each)
{
	size_t lag = layers * each + 3;

	for (size_t i = 0; i < n; i++) {
		size_t at = i % lag;

		v[i] = (uint32_t)(at < 2 ? at : at == lag - 1 ? 2 : 3 + (at - 2) % each);
	}
	return lag;
}

TEST(test_long_sequences)
{
	static const size_t shapes[][2] = { { 12, 7 }, { 96, 40 }, { 3, 1000 }, { 1, 5 } };
	size_t n = 400000;
	uint32_t *v = xcalloc(n, sizeof(*v));
	uint64_t rnd = 3;

	for (size_t s = 0; s < ARRAY_LEN(shapes); s++) {
		size_t lag = network(v, n, shapes[s][0], shapes[s][1]);
		struct period p = period_find(v, n);

		expect_period(&p, &(struct period){ lag, n - lag, n - lag, true });
		for (size_t i = 0; i < n / 50; i++) /* 2 % of the names are odd ones */
			v[below(&rnd, n)] = 9999;
		p = period_find(v, n);
		/* by luck a multiple may match a little better, as the definition wants it */
		assert_int_equal(p.lag % lag, 0);
		assert_true(p.accepted);
	}
	for (size_t i = 0; i < n; i++)
		v[i] = (uint32_t)below(&rnd, 1000);
	assert_false(period_find(v, n).accepted);
	for (size_t i = 0; i < n; i++)
		v[i] = 7;
	assert_int_equal(period_find(v, n).lag, 1);
	free(v);
}

TEST(test_steady)
{
	static const int64_t warm[] = { 900, 300, 101, 100, 99, 102, 100, 98, 101, 100 };
	static const int64_t slow_once[] = { 100, 101, 99, 500, 100, 102, 98, 101 };
	static const int64_t equal[] = { 5, 5, 5, 5 }, two[] = { 900, 1 };
	static const int64_t falls[] = { 10, 9, 8, 7, 6, 5, 4, 3 };
	int64_t huge[] = { INT64_MAX, 0, 0, 0, 0 };

	assert_int_equal(steady_from(warm, 10), 2);
	assert_int_equal(steady_from(slow_once, 8), 0);
	assert_int_equal(steady_from(equal, 4), 0);
	assert_int_equal(steady_from(two, 2), 0);
	assert_int_equal(steady_from(falls, 8), 0);
	assert_int_equal(steady_from(huge, 5), 1);
	assert_int_equal(steady_from(NULL, 0), 0);
}

/* Half of the iterations at most, whatever the times are. */
TEST(test_steady_bounds)
{
	uint64_t rnd = 5;

	for (int k = 0; k < 2000; k++) {
		int64_t v[64];
		size_t n = below(&rnd, 64), at;

		for (size_t i = 0; i < n; i++)
			v[i] = (int64_t)(below(&rnd, 10) + (i < n / 2 ? (n - i) * 1000 : 0));
		at = steady_from(v, n);
		assert_true(at <= n / 2);
	}
}
