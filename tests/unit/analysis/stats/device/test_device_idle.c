#include "device_random.h"
#include "stats_test.h"

/* --- overlap --- */

TEST(test_overlap)
{
	CLEANUP(table_set_release)
	struct table_set ts = analyse_text(
		"queue gpu10/1: k 0-10\n"
		"queue gpu2/1: gemm 0-10 gemm 5-12 gemm 40-50\n"
		"queue gpu2/2: ncclDevKernel_AllReduce 8-20 c!c 18-25 f!f 45-60 note!a 0-90\n"
		"queue gpu2/3: c!c 70-70\n",
		&analysis_overlap);
	const struct table *t = table_set_find(&ts, "overlap");

	expect_columns(t, "device,wall_ns,compute_ns,comm_ns,copy_ns,exposed_comm_ns,"
			  "hidden_comm_ns,exposed_copy_ns,idle_ns,queue_overlaps");
	expect_table(t, "device wall_ns compute_ns comm_ns copy_ns exposed_comm_ns hidden_comm_ns "
			"exposed_copy_ns idle_ns queue_overlaps\n"
			"gpu2 70 22 12 22 8 4 15 25 1\n"
			"gpu10 10 10 0 0 0 0 0 0 0\n");
	assert_true(ts.checks.nr == 1 && ts.checks.v[0].ok);
}

static const struct analysis *const all[] = { &analysis_overlap, &analysis_idle,
					      &analysis_launch_latency, &analysis_queue };

/* Without device work, or without links where they are needed, an analysis says so. */
TEST(test_skipped)
{
	CLEANUP(model_freep) struct model *none = model_of_text(1, "thread 1/1 name=t: f 0-9\n");
	CLEANUP(model_freep) struct model *unlinked = model_of_text(1, "queue gpu0/1: k 0-9\n");
	struct analysis_opts o = { .shared = NULL };

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;

		assert_int_equal(analysis_run(all[i], none, NULL, &o, &ts, NULL), ANALYSIS_SKIPPED);
		assert_int_equal(ts.tables.nr, 0);
		assert_string_equal(ts.skipped.v[0].name, all[i]->name);
		assert_string_equal(ts.skipped.v[0].reason, "the inputs hold no device work");
		assert_int_equal(analysis_run(all[i], unlinked, NULL, &o, &ts, NULL),
				 i < 2 ? 0 : ANALYSIS_SKIPPED);
		assert_int_equal(ts.skipped.nr, i < 1 ? 1 : 2); /* nothing is idle */
	}
}

/* --- causes --- */

/*
 * One gap of gpu0, from 100 to 200 where the queue says nothing else: what the thread does, what
 * the queue has, and the causes that come out.
 */
static const struct cause_case {
	const char *thread, *queue, *causes;
} cause_cases[] = {
	{ "l#1 120-130", "k 0-100 k#1 200-210", "launch_latency 1 80\nhost_untraced 1 20\n" },
	{ "f 0-110 g 110-115 l#1 120-130", "k 0-100 k#1 200-210",
	  "launch_latency 1 80\nhost_busy 1 15\nhost_untraced 1 5\n" },
	{ "f 0-500 mark!i 105 l#1 150-160", "k 0-100 k#1 200-210",
	  "host_busy 1 50\nlaunch_latency 1 50\n" },
	{ "l#1 90-95", "k 0-100 k#1 200-210", "queued_short 1 100\n" },
	{ "l#1 100-105", "k 0-100 k#1 10100-10110", "queued_long 1 10000\n" },
	{ "l#1 100-105", "k 0-100 k#1 10099-10110", "queued_short 1 9999\n" },
	/* the call started after its work: clocks differ, and the gap is the host's */
	{ "f 0-400 l#1 300-310", "k 0-100 k#1 200-210", "host_busy 1 100\n" },
	{ "l#1 120-130", "k 0-100 k 200-210", "no_launch 1 100\n" },
	{ "cudaGraphLaunch#1 90-95", "k 0-100 k#1 200-210", "graph_launch 1 100\n" },
	{ "f 0-400 hipGraphLaunch#1 130-140", "k 0-100 k#1 200-210",
	  "graph_launch 1 70\nhost_busy 1 30\n" },
	{ "cudaDeviceSynchronize 50-150 cudaMalloc_v3020 150-160 cuModuleLoadData 160-170 "
	  "cudaEventRecord 170-180 l#1 190-195",
	  "k 0-100 k#1 200-210",
	  "sync 1 50\nalloc 1 10\nmodule_load 1 10\napi 1 10\nhost_untraced 1 10\n"
	  "launch_latency 1 10\n" },
	/* the data loader's own calls, and what they call, are the loader's time */
	{ "enumerate(DataLoader) 0-180 read 110-120 cudaMalloc 130-140 l#1 190-195",
	  "k 0-100 k#1 200-210", "data_loading 1 80\nhost_untraced 1 10\nlaunch_latency 1 10\n" },
	/* a copy call that returned after its copy had ended has waited for it */
	{ "cudaMemcpyAsync#2 50-150 l#1 190-195", "c!c#2 60-100 k#1 200-210",
	  "sync 1 50\nhost_untraced 1 40\nlaunch_latency 1 10\n" },
	{ "cudaMemcpyAsync#2 50-150 l#1 190-195", "k 0-100 k#1 200-210 c!c#2 300-310",
	  "queued_short 1 90\napi 1 50\nhost_untraced 1 40\nlaunch_latency 1 10\n" },
	/* the caller that is parent of an outliving call closes it no earlier */
	{ "f 0-120 cudaMalloc 110-150 l#1 190-195", "k 0-100 k#1 200-210",
	  "alloc 1 40\nhost_untraced 1 40\nhost_busy 1 10\nlaunch_latency 1 10\n" },
	/* of two that start together the one launched first tells */
	{ "late#1 190-195 early#2 110-115", "k 0-100 k#1 200-210 k#2 200-220",
	  "launch_latency 1 90\nhost_untraced 1 10\n" },
	{ "l#1 110-115", "k 0-100 x 200-201 k#1 200-220",
	  "launch_latency 1 90\nhost_untraced 1 10\n" },
	/* work of no length ends a gap and begins the next one */
	{ "l#1 110-115 l#2 160-165", "k 0-100 z#1 150-150 k#2 200-210",
	  "launch_latency 2 80\nhost_untraced 2 20\n" },
};

TEST(test_causes)
{
	for (size_t i = 0; i < ARRAY_LEN(cause_cases); i++) {
		const struct cause_case *c = &cause_cases[i];
		CLEANUP(xfreep)
		char *text =
			xasprintf("thread 1/1 name=t: %s\nqueue gpu0/1: %s\n", c->thread, c->queue);
		CLEANUP(table_set_release) struct table_set ts = analyse_text(text, &analysis_idle);
		CLEANUP(xfreep) char *want = xasprintf("cause parts total_ns\n%s", c->causes);

		expect_table(table_set_find(&ts, "idle_causes"), want);
		assert_true(ts.checks.nr == 1 && ts.checks.v[0].ok);
	}
}

TEST(test_idle_tables)
{
	CLEANUP(table_set_release)
	struct table_set ts = analyse_text(
		"thread 1/1 name=t: f 0-90000 l#1 10000-10001 l#2 99000-99001\n"
		"queue gpu1/1: a 0-5000 b#1 14999-15000 c#2 100000-100001 d 110001-110002\n"
		"queue gpu0/1: k 0-1\n",
		&analysis_idle);

	expect_columns(table_set_find(&ts, "idle"),
		       "device,gap_ns_bucket,count,total_ns,host_cause");
	expect_columns(table_set_find(&ts, "idle_causes"),
		       "device,cause,parts,total_ns,share,joules,energy_flags,uncertainty_j");
	expect_columns(table_set_find(&ts, "idle_gaps"),
		       "device,start_ns,dur_ns,cause,before,after,api");
	expect_table(table_set_find(&ts, "idle"), "device gap_ns_bucket count total_ns host_cause\n"
						  "gpu1 <10us 1 9999 host_busy\n"
						  "gpu1 10-20us 1 10000 no_launch\n"
						  "gpu1 50-100us 1 85000 host_busy\n");
	expect_table(table_set_find(&ts, "idle_causes"), "cause parts total_ns share\n"
							 "host_busy 2 80000 80000/104999\n"
							 "no_launch 1 10000 10000/104999\n"
							 "host_untraced 1 9000 9000/104999\n"
							 "launch_latency 2 5999 5999/104999\n");
	expect_table(table_set_find(&ts, "idle_gaps"), "start_ns dur_ns cause before after api\n"
						       "15000 85000 host_busy b c l\n"
						       "100001 10000 no_launch c d -\n"
						       "5000 9999 host_busy a b l\n");
	expect_table(table_set_find(&ts, "lane_idle"),
		     "device start_ns dur_ns binned cause total_ns parts\n"
		     "gpu1 5000 9999 0 host_busy 5000 1\n"
		     "gpu1 5000 9999 0 launch_latency 4999 1\n"
		     "...\n");
}

/* Of more gaps than stand by themselves the longest do; bins have the rest, and no time is lost. */
TEST(test_many_gaps)
{
	enum { GAPS = 30000, LONGEST = 20000 };
	struct maker k = make_begin();
	track_id q = make_queue(&k, "gpu0", 1);
	CLEANUP(model_freep) struct model *m = NULL;
	const struct table *t;
	int64_t at = 0, kept = 0, kept_ns = 0, binned = 0, shortest = INT64_MAX;
	uint64_t seed = 5;

	for (int i = 0; i <= GAPS; i++) {
		make_span(&k, q, SPAN_KERNEL, at, at + 10, "k", 0);
		at += 11 + (int64_t)(splitmix64(&seed) % 5000);
	}
	m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_idle);
	t = table_set_find(&ts, "lane_idle");
	for (size_t i = 0; i < table_rows(t); i++) {
		if (num_of(t, i, "binned") > 0) {
			binned += (int64_t)num_of(t, i, "binned");
			continue;
		}
		kept++;
		kept_ns += (int64_t)num_of(t, i, "dur_ns");
		if (num_of(t, i, "dur_ns") < (double)shortest)
			shortest = (int64_t)num_of(t, i, "dur_ns");
	}
	assert_int_equal(kept, LONGEST);
	assert_int_equal(binned, GAPS - LONGEST);
	assert_int_equal(column_sum(t, "total_ns"),
			 column_sum(table_set_find(&ts, "idle_causes"), "total_ns"));
	assert_true(shortest > 1000);
	assert_true(kept_ns < column_sum(t, "total_ns"));
}

/* The longest 100 of all devices; of equal ones the earlier device and gap. */
TEST(test_longest_gaps)
{
	struct maker k = make_begin();
	track_id q[2] = { make_queue(&k, "gpu0", 1), make_queue(&k, "gpu1", 1) };
	CLEANUP(model_freep) struct model *m = NULL;
	const struct table *t;

	for (int64_t at = 0; at < 80; at++) {
		make_span(&k, q[0], SPAN_KERNEL, at * 1000, at * 1000 + 1000 - 5, "k", 0);
		make_span(&k, q[1], SPAN_KERNEL, at * 1000, at * 1000 + 1000 - (at == 7 ? 9 : 5),
			  "k", 0);
	}
	m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_idle);
	t = table_set_find(&ts, "idle_gaps");
	assert_int_equal(table_rows(t), 100);
	expect_table(t, "device start_ns dur_ns\n"
			"gpu1 7991 9\n"
			"gpu0 995 5\n"
			"gpu0 1995 5\n"
			"...\n");
	assert_string_equal(str_of(t, 79, "device"), "gpu0");
	assert_string_equal(str_of(t, 80, "device"), "gpu1");
	assert_int_equal(num_of(t, 99, "start_ns"), 20995);
}

/* --- latency and queue --- */

TEST(test_launch_latency)
{
	CLEANUP(table_set_release)
	struct table_set ts = analyse_text("thread 1/1 name=t: a#1 0-10 b#2 20-30 c#3 50-60\n"
					   "queue gpu0/1: k#1 5-8 k#2 45-46 k#3 48-49 k 90-91\n"
					   "queue gpu1/1: k 90-91\n",
					   &analysis_launch_latency);

	expect_columns(table_set_find(&ts, "launch_latency"),
		       "device,linked,unlinked,min_ns,median_ns,p95_ns,max_ns,early,before_return");
	expect_table(table_set_find(&ts, "launch_latency"),
		     "device linked unlinked min_ns median_ns p95_ns max_ns early before_return\n"
		     "gpu0 3 1 -2 5 23 25 1 2\n"
		     "gpu1 0 1 - - - - 0 0\n");
}

TEST(test_queue)
{
	CLEANUP(table_set_release)
	struct table_set ts =
		analyse_text("thread 1/1 name=t: a#1 0-1 b#2 10-11 c#3 20-21 d#4 40-41\n"
			     "queue gpu0/1: k#1 20-25 k#2 30-31 k#3 30-31 k 35-36\n"
			     "queue gpu1/1: k#4 30-31\n"
			     "queue gpu2/1: k 30-31\n",
			     &analysis_queue);

	expect_columns(table_set_find(&ts, "queue"), "device,max,mean,area_ns,full_ns");
	expect_table(table_set_find(&ts, "queue"), "device max mean area_ns full_ns\n"
						   "gpu0 2 50/30 50 0\n"
						   "gpu1 0 -1 -10 0\n");
	assert_true(ts.checks.nr == 1 && ts.checks.v[0].ok);
}

/* 1200 launches before any work: the queue is full from the 1000th on. */
TEST(test_full_queue)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, RANK_NONE, "main"), q = make_queue(&k, "gpu0", 1);
	CLEANUP(model_freep) struct model *m = NULL;

	for (uint64_t i = 0; i < 1200; i++) {
		int64_t at = (int64_t)i * 10;

		make_span(&k, t, SPAN_HOST, at, at + 2, "launch", i + 1);
		make_span(&k, q, SPAN_KERNEL, 20000 + at, 20000 + at + 10, "k", i + 1);
	}
	m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_queue);
	expect_table(table_set_find(&ts, "queue"), "max area_ns full_ns\n"
						   "1200 24000000 12010\n");
}

/* --- laws --- */

/*
 * Every moment of a small random trace, by the definition and one at a time: the causes, and what
 * of the tables follows from them.
 */
TEST(test_laws)
{
	struct dice d = { 7 };

	for (int round = 0; round < 10000; round++) {
		CLEANUP(model_freep) struct model *m = random_model(&d);
		CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
		struct analysis_opts o = { .shared = analysis_shared_new() };
		const struct works *w = analysis_works(m, &o);

		for (size_t a = 0; a < ARRAY_LEN(all); a++)
			assert_true(analysis_run(all[a], m, NULL, &o, &ts, NULL) >= 0);
		for (size_t c = 0; c < ts.checks.nr; c++)
			if (!ts.checks.v[c].ok)
				ROW_FAIL(round, "%s: %s", ts.checks.v[c].name,
					 ts.checks.v[c].detail);
		for (uint32_t dev = 0; dev < w->devices.nr; dev++) {
			struct moments_of want = { .ns = { 0 } };

			moments_count(w, dev, &want);
			expect_moments(round, w, dev, &ts, &want);
		}
		analysis_shared_free(o.shared);
	}
}
