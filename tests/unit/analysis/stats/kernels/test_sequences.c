/* Suffix arrays and repeated sequences, against the definitions. */
#include "stats_test.h"
#include "suffix_array.h"

#include "profrig/base/strbuf.h"

static int cmp_suffix(const void *pa, const void *pb, void *ctx)
{
	const uint32_t *text = ctx, *a = text + *(const uint32_t *)pa,
		       *b = text + *(const uint32_t *)pb;

	while (*a == *b && *a) {
		a++;
		b++;
	}
	return (*a > *b) - (*a < *b);
}

static void suffixes_check(const uint32_t *text, size_t n, size_t letters)
{
	CLEANUP(xfreep) uint32_t *sa = xcalloc(n, sizeof(*sa));
	CLEANUP(xfreep) uint32_t *want = xcalloc(n, sizeof(*want));
	CLEANUP(xfreep) uint32_t *common = xcalloc(n, sizeof(*common));

	for (size_t i = 0; i < n; i++)
		want[i] = (uint32_t)i;
	qsort_r(want, n, sizeof(*want), cmp_suffix, (void *)text);
	suffix_array(text, n, letters, sa);
	assert_memory_equal(sa, want, n * sizeof(*sa));
	suffix_common(text, sa, n, common);
	for (size_t i = 1; i < n; i++) {
		uint32_t k = 0;

		while (text[sa[i] + k] == text[sa[i - 1] + k])
			k++;
		assert_int_equal(common[i], k);
	}
}

TEST(test_suffix_array)
{
	uint64_t seed = 3;

	suffixes_check((const uint32_t[]){ 0 }, 1, 1);
	for (int round = 0; round < 5000; round++) {
		uint32_t text[64];
		size_t n = 1 + rnd(&seed) % 63;
		uint32_t letters = 1 + (uint32_t)(rnd(&seed) % 5);

		for (size_t i = 0; i < n; i++)
			text[i] = 1 + (uint32_t)(rnd(&seed) % letters);
		text[n] = 0;
		suffixes_check(text, n + 1, letters + 1);
	}
}

/* A long period, and one letter alone: linear time. */
TEST(test_suffix_array_long)
{
	enum { LONG = 1 << 18 };
	CLEANUP(xfreep) uint32_t *text = xcalloc(LONG + 1, sizeof(*text));
	CLEANUP(xfreep) uint32_t *sa = xcalloc(LONG + 1, sizeof(*sa));

	for (size_t i = 0; i < LONG; i++)
		text[i] = 1;
	suffix_array(text, LONG + 1, 2, sa);
	for (size_t i = 0; i <= LONG; i++)
		assert_int_equal(sa[i], LONG - i);
	for (size_t i = 0; i < LONG; i++)
		text[i] = 1 + (uint32_t)(i % 133);
	suffix_array(text, LONG + 1, 134, sa);
	for (size_t i = 2; i <= LONG; i += 1000)
		assert_true(cmp_suffix(&sa[i - 1], &sa[i], text) < 0);
}

TEST(test_sequences)
{
	/* a b, three times, with gaps of 1 inside and of 10 between; a pause of another queue */
	expect_analysis("queue gpu0/1: a 0-5 b 6-10 a 20-25 b 26-30 x 40-41 a 50-55 b 56-60\n"
			"queue gpu0/2: a 0-1 y 2-3\n",
			&analysis_sequences,
			"pattern length count total_ns gap_ns\na;b 2 3 27 3\n");
	/* a;b;a;b is a;b twice; copies are no kernels */
	expect_analysis(
		"queue gpu0/1: a 0-1 b 1-2 copy!c 2-3 a 3-4 b 4-5 a 5-6 b 6-7 a 7-8 b 8-9\n",
		&analysis_sequences,
		"pattern length count total_ns gap_ns\n"
		"a;b 2 4 8 0\n");
	CLEANUP(table_set_release)
	struct table_set ts = analyse_text("queue gpu0/1: a 0-1 b 1-2\nqueue gpu0/2: a 0-1 b 1-2\n",
					   &analysis_sequences);

	expect_table(table_set_find(&ts, "sequences"), "pattern count\na;b 2\n");
}

/* ---- against the definition ---- */

struct naive {
	const uint8_t *text; /* of one queue */
	size_t n;
};

static bool same_at(const struct naive *x, size_t a, size_t b, size_t len)
{
	return b + len <= x->n && memcmp(x->text + a, x->text + b, len) == 0;
}

/* Whether all occurrences have one letter at `side` of them (−1: in front, len: behind). */
static bool extends(const struct naive *x, size_t at, size_t len, long side)
{
	int letter = -2;

	for (size_t i = 0; i < x->n; i++) {
		long p = (long)i + side;
		int here = p < 0 || p >= (long)x->n ? -1 : x->text[p];

		if (!same_at(x, at, i, len))
			continue;
		if (here == -1 || (letter != -2 && here != letter))
			return false;
		letter = here;
	}
	return true;
}

static bool is_first(const struct naive *x, size_t at, size_t len)
{
	for (size_t i = 0; i < at; i++)
		if (same_at(x, at, i, len))
			return false;
	return true;
}

static bool power(const struct naive *x, size_t at, size_t len)
{
	for (size_t p = 1; p < len; p++)
		if (len % p == 0 && memcmp(x->text + at, x->text + at + p, len - p) == 0)
			return true;
	return false;
}

static size_t occurrences(const struct naive *x, size_t at, size_t len)
{
	size_t nr = 0;

	for (size_t i = 0; i < x->n;)
		if (same_at(x, at, i, len)) {
			nr++;
			i += len;
		} else {
			i++;
		}
	return nr;
}

/* A period of 133 kernels, many times: its powers do not use up what is looked at. */
TEST(test_sequences_period)
{
	struct maker k = make_begin();
	track_id q = make_queue(&k, "gpu0", 1);

	for (int i = 0; i < 133 * 500; i++) {
		char name[16];

		snprintf(name, sizeof(name), "k%d", i % 133);
		make_span(&k, q, SPAN_KERNEL, i * 5, i * 5 + 3, name, 0);
	}
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_sequences);

	expect_table(table_set_find(&ts, "sequences"), "length count total_ns\n133 500 199500\n");
}

TEST(test_sequences_random)
{
	uint64_t seed = 77;

	for (int round = 0; round < 3000; round++) {
		struct maker k = make_begin();
		track_id q = make_queue(&k, "gpu0", 1);
		uint8_t text[24];
		struct naive x = { text, 2 + rnd(&seed) % 22 };
		uint32_t letters = 1 + (uint32_t)(rnd(&seed) % 3);
		size_t rows = 0;

		for (size_t i = 0; i < x.n; i++) {
			char name[2] = { (char)('a' + rnd(&seed) % letters), 0 };

			text[i] = (uint8_t)name[0];
			make_span(&k, q, SPAN_KERNEL, (int64_t)i * 5, (int64_t)i * 5 + 3, name, 0);
		}
		CLEANUP(model_freep) struct model *m = make_end(&k);
		CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_sequences);
		const struct table *t = table_set_find(&ts, "sequences");

		for (size_t at = 0; at < x.n; at++)
			for (size_t len = 2; at + len <= x.n; len++) {
				size_t nr = occurrences(&x, at, len), row;
				CLEANUP(strbuf_release) struct strbuf pattern = STRBUF_INIT;

				if (nr < 2 || !is_first(&x, at, len) || power(&x, at, len) ||
				    extends(&x, at, len, -1) || extends(&x, at, len, (long)len))
					continue;
				for (size_t i = 0; i < len; i++)
					strbuf_addf(&pattern, "%s%c", i ? ";" : "", text[at + i]);
				assert_non_null(t);
				row = row_of(t, "pattern", pattern.buf, NULL, NULL);
				assert_int_equal(num_of(t, row, "count"), nr);
				assert_int_equal(num_of(t, row, "length"), len);
				assert_int_equal(num_of(t, row, "total_ns"), nr * len * 3);
				assert_int_equal(num_of(t, row, "gap_ns"), nr * (len - 1) * 2);
				rows++;
			}
		assert_int_equal(t ? table_rows(t) : 0, rows);
	}
}
