#include "findings.h"
#include "findings_fixture.h"
#include "random_work.h"
#include "readers_test.h"
#include "trace_text.h"

static void expect_found(const char *trace, const char *want)
{
	CLEANUP(model_freep) struct model *m = model_of_text(1000, trace);
	struct table_set ts = all_of(m);
	CLEANUP(xfreep) char *have = NULL;

	have = findings_text(&ts);
	assert_string_equal(have, want);
	table_set_release(&ts);
}

static void expect_words(double ns, const char *want)
{
	assert_string_equal(time_words(ns).s, want);
}

TEST(test_words)
{
	expect_words(0, "0 ns");
	expect_words(999, "999 ns");
	expect_words(1e3, "1 µs");
	expect_words(-2.5e6, "-2.5 ms");
	expect_words(7199e9, "7.2e+03 s");
	expect_words(7200e9, "2 h");
	expect_words(74700e9, "20.8 h");
	expect_words(2 * 86400e9, "2 days");
	assert_string_equal(name_words("void k<float>(float*, int)").s, "k<float>");
}

/* Times are µs. */
TEST(test_rules)
{
	/* idle for 7 of 10 ms, because the host is busy */
	expect_found(
		"thread 1/1: work 0-10000 cudaLaunchKernel#1 0-1 cudaLaunchKernel#2 8000-8001\n"
		"queue gpu0/1: a#1 1-1001 b#2 8001-10001\n",
		"busy_chunks:gpu0:21\nidle_share:gpu0:0.7\nidle_cause:gpu0:0.9999\n");
	/* a name with more than half of the work; one call alone is none */
	expect_found("thread 1/1: l#1 0-1 l#2 1-2 l#3 2-3\n"
		     "queue gpu0/1: a#1 3-1003 a#2 1003-2000 b#3 2000-2100\n",
		     "hotspot:gpu0:0.9523\n");
	expect_found("thread 1/1: l#1 0-1 l#2 1-2\nqueue gpu0/1: a#1 2-1002 b#2 1002-2000\n", "");
	/* most of it waits for communication that nothing hides */
	expect_found("thread 1/1: l#1 0-1 l#2 1-2 l#3 2-3\n"
		     "queue gpu0/1: a#1 3-1003 ncclDevKernel_AllReduce#2 1003-2003 c#3 2003-3003\n",
		     "comm_overlap:gpu0:0\nexposed_comm:gpu0:0.3333\n");
	/* a synchronisation of half the time */
	expect_found("thread 1/1: l#1 0-1 l#2 1-2 cudaDeviceSynchronize 2-2002\n"
		     "queue gpu0/1: a#1 3-2000 b#2 2000-3999\n",
		     "sync_calls::0.5005\n");
}

/* A device that computes at its idle clock for half of the time, and one that only begins so. */
TEST(test_throttling)
{
	expect_found("thread 1/1: l#1 0-1 l#2 1-2 l#3 2-3\n"
		     "queue gpu0/1: a#1 3-10000 b#2 10000-20000 c#3 20000-29000\n"
		     "series sclk.gpu0 MHz gauge changes: 0 2000 15000 500 31000 500\n",
		     "throttling:gpu0:0.4828\n");
	expect_found("thread 1/1: l#1 0-1 l#2 1-2 l#3 2-3\n"
		     "queue gpu0/1: a#1 3-10000 b#2 10000-20000 c#3 20000-29000\n"
		     "series sclk.gpu0 MHz gauge changes: 0 500 2000 2000 31000 500\n",
		     "");
}

/* A rule without its data is skipped, with the reason. */
TEST(test_skipped_rules)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1, "thread 1/1: l#1 0-1\nqueue gpu0/1: a#1 1-2\n");
	struct table_set ts = all_of(m);
	size_t straggler = 0, pageable = 0;

	for (size_t i = 0; i < ts.skipped.nr; i++) {
		straggler += strcmp(ts.skipped.v[i].name, "findings.straggler") == 0;
		pageable += strcmp(ts.skipped.v[i].name, "findings.pageable_copies") == 0;
	}
	assert_true(straggler == 1 && pageable == 1);
	table_set_release(&ts);
}

/* What a finding saves is at most what there is, in the order of its severity; any trace. */
TEST(test_laws)
{
	static const char *const ranks[] = { "high", "medium", "low" };

	for (uint64_t seed = 1; seed <= 2000; seed++) {
		CLEANUP(model_freep) struct model *m = random_work_model(seed);
		struct table_set ts = all_of(m);
		const struct table *t = table_set_find(&ts, "findings");
		int last = 0;

		for (size_t i = 0; t && i < table_rows(t); i++) {
			int rank = 0;

			while (strcmp(ranks[rank], str_of(t, i, "severity")) != 0)
				assert_true(++rank < 3);
			assert_true(rank >= last);
			last = rank;
			assert_false(num_of(t, i, "saves_at_most_ns") < 0);
			assert_true(*str_of(t, i, "text"));
		}
		table_set_release(&ts);
	}
}

TEST(test_recordings)
{
	static const struct {
		const char *reader, *file, *has[4];
	} cases[] = {
		{ "nsys", "nsys/mock/mock.sqlite", { "busy_chunks:gpu0:30\n" } },
		{ "nsys", "nsys/healthy-1pct/healthy_1pct.sqlite", { NULL } },
		{ "nsys",
		  "nsys/h100-2gpu/h100_2gpu_1s.sqlite",
		  { "copy_bound:gpu0:0.9701\n", "copy_bound:gpu1:0.9702\n",
		    "short_kernels:gpu0:0.1806\n", "sync_calls::0.8839\n" } },
		{ "tef",
		  "tef/hta-ns-resolution/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
		  { "full_queue:gpu0:3.283e+08\n" } },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct reading rd =
			read_path(cases[i].reader, kept(test_trace(cases[i].file)), false);
		struct table_set ts = all_of(rd.m);
		CLEANUP(xfreep) char *all = findings_text(&ts);

		for (size_t k = 0; k < 4 && cases[i].has[k]; k++)
			if (!strstr(all, cases[i].has[k]))
				fail_msg("%s: no %sin:\n%s", cases[i].file, cases[i].has[k], all);
		if (!cases[i].has[0] && *all)
			fail_msg("%s: %s", cases[i].file, all);
		table_set_release(&ts);
		model_free(rd.m);
	}
}
