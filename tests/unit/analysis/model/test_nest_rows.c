/* Spans that overlap on one track, laid into rows in which they nest. */
#include "test.h"

#include "profrig/model/nest_rows.h"

struct interval {
	int64_t start, end;
};

static uint32_t span_put(struct nest_rows *l, int64_t start, int64_t end, bool nests)
{
	return nest_rows_put(l, 3, start, end, nests);
}

TEST(known_cases)
{
	static const struct {
		const char *what;
		bool nests;
		size_t nr;
		struct interval v[5];
		uint32_t want[5];
	} cases[] = {
		{ "nested calls", true, 3, { { 0, 9 }, { 1, 8 }, { 2, 3 } }, { 0, 0, 0 } },
		{ "nested kernels", false, 3, { { 0, 9 }, { 1, 8 }, { 2, 3 } }, { 0, 1, 2 } },
		{ "touching", false, 3, { { 0, 5 }, { 5, 9 }, { 9, 12 } }, { 0, 0, 0 } },
		{ "partial overlap", true, 3, { { 0, 5 }, { 3, 8 }, { 4, 5 } }, { 0, 1, 0 } },
		{ "equal calls", true, 3, { { 0, 5 }, { 0, 5 }, { 0, 5 } }, { 0, 0, 0 } },
		{ "equal kernels", false, 3, { { 0, 5 }, { 0, 5 }, { 0, 5 } }, { 0, 1, 2 } },
		{ "no length", false, 3, { { 5, 5 }, { 5, 5 }, { 5, 5 } }, { 0, 0, 0 } },
		ROW("no length at an end", true, 4, { { 0, 5 }, { 1, 5 }, { 5, 7 }, { 5, 5 } },
		    { 0, 0, 0, 0 }),
		ROW("a freed row is taken again", false, 5,
		    { { 0, 9 }, { 1, 2 }, { 2, 4 }, { 3, 5 }, { 9, 10 } }, { 0, 1, 1, 2, 0 }),
		ROW("outlives what it began in", true, 4,
		    { { 0, 10 }, { 2, 6 }, { 4, 8 }, { 7, 8 } }, { 0, 0, 1, 0 }),
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(nest_rows_release) struct nest_rows l = NEST_ROWS_INIT;

		for (size_t k = 0; k < cases[i].nr; k++) {
			uint32_t got = span_put(&l, cases[i].v[k].start, cases[i].v[k].end,
						cases[i].nests);

			if (got != cases[i].want[k])
				ROW_FAIL(i, "%s: span %zu is in row %u, not %u", cases[i].what, k,
					 got, cases[i].want[k]);
		}
	}
}

TEST(tracks_are_apart)
{
	CLEANUP(nest_rows_release) struct nest_rows l = NEST_ROWS_INIT;

	assert_int_equal(nest_rows_put(&l, 7, -5, 9, false), 0);
	assert_int_equal(nest_rows_put(&l, 2, -5, 9, false), 0);
	assert_int_equal(nest_rows_put(&l, 7, 0, 9, false), 1);
	assert_int_equal(nest_rows_count(&l, 7), 2);
	assert_int_equal(nest_rows_count(&l, 2), 1);
	assert_int_equal(nest_rows_count(&l, 3), 0);
	assert_int_equal(nest_rows_count(&l, 100), 0);
}

/* An instant lies inside a kernel. */
TEST(instants_take_no_room)
{
	CLEANUP(nest_rows_release) struct nest_rows l = NEST_ROWS_INIT;

	assert_int_equal(span_put(&l, 0, 10, false), 0);
	assert_int_equal(span_put(&l, 0, 0, true), 0);
	assert_int_equal(span_put(&l, 5, 5, true), 0);
	assert_int_equal(span_put(&l, 5, 8, false), 1);
	assert_int_equal(span_put(&l, 10, 10, true), 0);
	assert_int_equal(span_put(&l, 10, 12, false), 0);
}

/* Times of a file may be anything. */
TEST(outermost_times)
{
	CLEANUP(nest_rows_release) struct nest_rows l = NEST_ROWS_INIT;

	assert_int_equal(span_put(&l, INT64_MIN, INT64_MAX, false), 0);
	assert_int_equal(span_put(&l, 0, INT64_MAX, false), 1);
	assert_int_equal(span_put(&l, 1, 0, false), 2); /* ends before it begins */
	assert_int_equal(span_put(&l, 2, 3, false), 2);
	assert_int_equal(span_put(&l, INT64_MAX, INT64_MAX, false), 0);
	assert_int_equal(span_put(&l, INT64_MAX, INT64_MAX, true), 0);
}

TEST(a_released_one_begins_anew)
{
	CLEANUP(nest_rows_release) struct nest_rows l = NEST_ROWS_INIT;

	assert_int_equal(nest_rows_put(&l, 0, 0, 9, false), 0);
	assert_int_equal(nest_rows_put(&l, 0, 1, 9, false), 1);
	nest_rows_release(&l);
	assert_int_equal(nest_rows_count(&l, 0), 0);
	assert_int_equal(nest_rows_put(&l, 0, 0, 9, false), 0);
}

TEST(many_at_once)
{
	CLEANUP(nest_rows_release) struct nest_rows l = NEST_ROWS_INIT;

	for (int64_t i = 0; i < 100000; i++)
		assert_int_equal(span_put(&l, i, 1000000 + i, true), i);
	for (int64_t i = 0; i < 100000; i++)
		assert_int_equal(span_put(&l, 1000000 + i, 2000000, false), i);
	assert_int_equal(nest_rows_count(&l, 3), 100000);
}

static int by_start(const void *pa, const void *pb)
{
	const struct interval *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->end < b->end) - (a->end > b->end);
}

/* What the header says, span by span: the first row in which nothing is in the way. */
static bool has_room(const struct interval *v, const uint32_t *row, size_t at, uint32_t in,
		     bool nests)
{
	for (size_t i = 0; i < at; i++)
		if (row[i] == in && v[i].end > v[at].start && (!nests || v[i].end < v[at].end))
			return false;
	return true;
}

TEST(first_row_with_room)
{
	uint64_t seed = 42;

	for (uint64_t c = 0; c < test_cases(300); c++) {
		CLEANUP(nest_rows_release) struct nest_rows l = NEST_ROWS_INIT;
		bool nests = rnd(&seed) % 2;
		struct interval v[60];
		uint32_t row[60];
		size_t nr = rnd(&seed) % ARRAY_LEN(v);

		for (size_t i = 0; i < nr; i++) {
			v[i].start = (int64_t)(rnd(&seed) % 40) - 20;
			v[i].end = v[i].start + (int64_t)(rnd(&seed) % 12);
		}
		if (nr)
			qsort(v, nr, sizeof(*v), by_start);
		for (size_t i = 0; i < nr; i++) {
			uint32_t want = 0;

			while (!has_room(v, row, i, want, nests))
				want++;
			row[i] = span_put(&l, v[i].start, v[i].end, nests);
			if (row[i] != want)
				ROW_FAIL(c, "span %zu is in row %u, not %u", i, row[i], want);
		}
	}
}
