#include "stats_test.h"

TEST(test_lanes_of_a_small_trace)
{
	CLEANUP(table_set_release)
	struct table_set ts =
		analyse_text("thread 1/1 name=main: f 0-100 g 10-20 l#1 12-14 i!i 30\n"
			     "queue gpu1/1: k#1 40-60 note!a 0-90\n"
			     "queue gpu0/1: ncclDevKernel_AllReduce 5-9 c!c 9-11\n",
			     &analysis_lanes);

	expect_columns(table_set_find(&ts, "lanes"),
		       "lane,kind,device,name,rank,depth,spans,exact,binned,left_out,"
		       "longest_binned_ns,bin_ns,process");
	expect_table(table_set_find(&ts, "lanes"),
		     "lane kind device depth spans exact binned left_out\n"
		     "0 queue gpu0 1 2 2 0 0\n"
		     "1 queue gpu1 1 1 1 0 0\n"
		     "2 thread - 3 3 3 0 0\n");
	expect_table(table_set_find(&ts, "lane_spans"),
		     "lane depth start_ns dur_ns name category launch launch_lane launch_ns\n"
		     "0 0 5 4 ncclDevKernel_AllReduce collective - - -\n"
		     "0 0 9 2 c copy - - -\n"
		     "1 0 40 20 k other l 2 12\n"
		     "2 0 0 100 f - - - -\n"
		     "2 1 10 10 g - - - -\n"
		     "2 2 12 2 l - - - -\n");
	assert_null(table_set_find(&ts, "lane_bins"));
}

TEST(test_lanes_need_spans)
{
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	CLEANUP(model_freep) struct model *none = model_of_text(1, "thread 1/1 name=t: i!i 3\n");
	struct analysis_opts o = { .shared = NULL };

	assert_int_equal(analysis_run(&analysis_lanes, none, NULL, &o, &ts, NULL),
			 ANALYSIS_SKIPPED);
	assert_int_equal(ts.tables.nr, 0);
}

/* ---- more than can be drawn one by one ---- */

enum { QUEUES = 3, PIECES = 30000, DEEP = 140 };

static uint64_t random_below(uint64_t *x, uint64_t n)
{
	*x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*x >> 33) % n;
}

/* Of a lane: the sums that its spans must have. */
struct told {
	int64_t spans, ns;
};

static struct model *many(struct told *told)
{
	struct maker k = make_begin();
	uint64_t x = 11;

	for (int q = 0; q < QUEUES; q++) {
		track_id queue = make_queue(&k, "gpu0", q);
		int64_t at = (int64_t)random_below(&x, 1000);

		for (int i = 0; i < PIECES; i++) {
			int64_t length =
				(int64_t)random_below(&x, random_below(&x, 50) ? 90 : 9000);

			make_span(&k, queue, SPAN_KERNEL, at, at + length,
				  random_below(&x, 2) ? "gemm" : "k", 0);
			told[q].spans++;
			told[q].ns += length;
			at += length + (int64_t)random_below(&x, 30);
		}
	}
	return make_end(&k);
}

static void add_up(const struct table *t, const char *lane, const char *value, struct told *sums,
		   bool count)
{
	int at = table_find_col(t, lane), ns = table_find_col(t, value);
	int nr = table_find_col(t, "count");

	for (size_t i = 0; i < table_rows(t); i++) {
		struct told *s = &sums[table_get_i64(t, i, (size_t)at)];

		s->ns += table_get_i64(t, i, (size_t)ns);
		s->spans += count ? table_get_i64(t, i, (size_t)nr) : 1;
	}
}

/* No span and no nanosecond is lost, and each that stands alone is longer than all in bins. */
TEST(test_bins_hold_the_short_spans)
{
	struct told told[QUEUES] = { { 0, 0 } }, sums[QUEUES] = { { 0, 0 } };
	CLEANUP(model_freep) struct model *m = many(told);
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	struct analysis_opts o = { .shared = NULL };
	const struct table *lanes, *spans, *bins;
	int64_t longest, bin_ns;

	assert_int_equal(analysis_run(&analysis_lanes, m, NULL, &o, &ts, NULL), 0);
	lanes = table_set_find(&ts, "lanes");
	spans = table_set_find(&ts, "lane_spans");
	bins = table_set_find(&ts, "lane_bins");
	assert_true(table_rows(spans) <= 25000 && table_rows(spans) > 0);
	assert_true(table_rows(bins) <= 80000 && table_rows(bins) > 0);
	add_up(spans, "lane", "dur_ns", sums, false);
	add_up(bins, "lane", "busy_ns", sums, true);
	for (int q = 0; q < QUEUES; q++) {
		assert_int_equal(sums[q].spans, told[q].spans);
		assert_int_equal(sums[q].ns, told[q].ns);
	}
	longest = table_get_i64(lanes, 0, (size_t)table_find_col(lanes, "longest_binned_ns"));
	bin_ns = table_get_i64(lanes, 0, (size_t)table_find_col(lanes, "bin_ns"));
	for (size_t i = 0; i < table_rows(spans); i++)
		assert_true(table_get_i64(spans, i, (size_t)table_find_col(spans, "dur_ns")) >
			    longest);
	for (size_t i = 0; i < table_rows(bins); i++) {
		int64_t busy = table_get_i64(bins, i, (size_t)table_find_col(bins, "busy_ns"));
		int64_t start = table_get_i64(bins, i, (size_t)table_find_col(bins, "start_ns"));

		assert_true(busy <= bin_ns && start % bin_ns == 0);
	}
}

/* Calls below the deepest row are counted. */
TEST(test_deep_calls_are_left_out)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, RANK_NONE, "t");
	struct analysis_opts o = { .shared = NULL };
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	CLEANUP(model_freep) struct model *m = NULL;

	for (int i = 0; i < DEEP; i++)
		make_span(&k, t, SPAN_HOST, i, 1000 - i, "f", 0);
	m = make_end(&k);
	assert_int_equal(analysis_run(&analysis_lanes, m, NULL, &o, &ts, NULL), 0);
	expect_table(table_set_find(&ts, "lanes"), "kind depth spans exact binned left_out\n"
						   "thread 128 140 128 0 12\n");
}
