#include "random_work.h"
#include "readers_test.h"
#include "tables_support.h"
#include "trace_text.h"

#include "profrig/work/critical_path.h"

static void expect_path(const char *trace, const char *want)
{
	CLEANUP(model_freep) struct model *m = model_of_text(1, trace);
	struct table_set ts = run(m, "critical_path", NULL);

	expect_table(table_set_find(&ts, "critical_path"), want);
	table_set_release(&ts);
}

/* The host waits at the end: back through the call, the work, its queue, its launch. */
TEST(test_waiting_host)
{
	expect_path("thread 1/1: step_1 0-100 cudaLaunchKernel#1 10-12 cudaLaunchKernel#2 14-16 "
		    "cudaDeviceSynchronize 20-95\n"
		    "queue gpu0/1: a#1 20-50 b#2 53-90\n",
		    "iteration class ns share rank\n"
		    "step_1 compute 67 67/100 -\n"
		    "step_1 kernel_gap 3 3/100 -\n"
		    "step_1 launch 10 10/100 -\n"
		    "step_1 host 15 15/100 -\n"
		    "step_1 sync_return 5 5/100 -\n");
}

/* A work that was launched after its queue had run dry waited for the host. */
TEST(test_late_launch)
{
	expect_path("thread 1/1: step_1 0-40 cudaLaunchKernel#1 10-12 cudaLaunchKernel#2 30-32\n"
		    "queue gpu0/1: a#1 12-20 ncclDevKernel_AllReduce#2 35-60\n",
		    "class ns\n"
		    "communication 25\n"
		    "launch 5\n"
		    "host 30\n");
}

/* A copy call that returned after its own copy blocks, whatever its name is. */
TEST(test_blocking_copy)
{
	expect_path("thread 1/1: step_1 0-40 cudaMemcpyAsync#1 10-30\n"
		    "queue gpu0/1: m!c#1 15-25\n",
		    "class ns\n"
		    "copy 10\n"
		    "launch 5\n"
		    "host 20\n"
		    "sync_return 5\n");
	expect_path("thread 1/1: step_1 0-40 cudaMemcpyAsync#1 10-20\n"
		    "queue gpu0/1: m!c#1 15-25\n",
		    "class ns\n"
		    "host 40\n");
}

/* From another thread without an open call the walk goes on at the marker's; before all that is
 * recorded the time is unknown. */
TEST(test_threads_and_edges)
{
	expect_path("thread 1/1: step_1 0-50\n"
		    "thread 1/2: backward 20-30 cudaLaunchKernel#1 25-26\n"
		    "queue gpu0/1: a#1 40-60\n",
		    "class ns\n"
		    "compute 20\n"
		    "launch 15\n"
		    "host 25\n");
	expect_path("thread 1/1: step_1 10-30 cudaLaunchKernel#1 12-13 cudaDeviceSynchronize "
		    "14-28\n"
		    "queue gpu0/1: old 15-20 a#1 21-26\n",
		    "class ns\n"
		    "compute 10\n"
		    "kernel_gap 1\n"
		    "host 2\n"
		    "sync_return 2\n"
		    "unknown 5\n");
}

TEST(test_periods_have_paths)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1, "thread 1/1: l#1 0-1 l#2 1-2 l#3 2-3\n"
					   "queue gpu0/1: a#1 10-11 a#2 11-13 a#3 20-21\n");
	struct table_set ts = run(m, "critical_path", NULL);

	expect_table(table_set_find(&ts, "critical_path"), "iteration class ns\n"
							   "0 compute 1\n"
							   "1 compute 2\n"
							   "2 compute 1\n");
	table_set_release(&ts);
}

TEST(test_longest_parts)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1, "thread 1/1: step_1 5-105 cudaLaunchKernel#1 15-17 "
					   "cudaDeviceSynchronize 25-100\n"
					   "queue gpu0/1: gemm#1 25-95\n");
	struct table_set ts = run(m, "critical_path", NULL);

	expect_table(table_set_find(&ts, "critical_spans"),
		     "iteration start_ns dur_ns class name\n"
		     "step_1 20 70 compute gemm\n"
		     "step_1 0 10 host -\n"
		     "step_1 10 10 launch cudaLaunchKernel\n"
		     "step_1 90 5 sync_return cudaDeviceSynchronize\n"
		     "step_1 95 5 host -\n");
	/* all of it in order of time, each with the track of its work or call */
	expect_table(table_set_find(&ts, "critical_parts"),
		     "iteration start_ns dur_ns class name track\n"
		     "step_1 0 10 host - -\n"
		     "step_1 10 10 launch cudaLaunchKernel 'thread 1'\n"
		     "step_1 20 70 compute gemm 'gpu0 queue 1'\n"
		     "step_1 90 5 sync_return cudaDeviceSynchronize 'thread 1'\n"
		     "step_1 95 5 host - -\n");
	table_set_release(&ts);
}

/* The parts are in order and cover the window, whatever the trace is. */
TEST(test_covers_the_window)
{
	size_t parts = 0;

	for (uint64_t seed = 1; seed <= 10000; seed++) {
		struct model *m = random_work_model(seed);
		struct works *w;
		struct iterations *it;
		struct path_finder *f;
		struct path p = { .start_ns = 0 };
		struct err err = ERR_INIT;

		model_nest(m);
		w = works_new(m);
		assert_int_equal(iterations_new(m, w, NULL, &it, &err), 0);
		f = path_finder_new(w);
		for (size_t i = 0; i < it->v.nr; i++) {
			int64_t at;

			path_find(f, it, i, &p);
			at = p.start_ns;
			assert_int_equal(at, it->v.v[i].start_ns);
			for (size_t k = 0; k < p.v.nr; k++) {
				assert_int_equal(p.v.v[k].start_ns, at);
				assert_true(p.v.v[k].end_ns > at);
				at = p.v.v[k].end_ns;
			}
			assert_int_equal(at, p.end_ns);
			parts += p.v.nr;
		}
		path_release(&p);
		path_finder_free(f);
		iterations_free(it);
		works_free(w);
		model_free(m);
	}
	assert_true(parts > 10000);
}

/* ---- recordings: figures from exact code of their own, by the same rules ---- */

TEST(test_recordings)
{
	static const struct {
		const char *file, *rows;
	} cases[] = {
		{ "tef/hta-two-rank/sampled_rank-0.json.gz",
		  "ProfilerStep#551 copy 8000\nProfilerStep#551 launch 25000\n"
		  "ProfilerStep#551 host 607235000\nProfilerStep#551 sync_return 44000\n"
		  "ProfilerStep#552 compute 1235000\nProfilerStep#552 copy 10000\n"
		  "ProfilerStep#552 kernel_gap 64000\nProfilerStep#552 launch 25000\n"
		  "ProfilerStep#552 host 621550000\nProfilerStep#552 sync_return 44000\n" },
		{ "tef/hta-two-rank/sampled_rank-1.json.gz",
		  "ProfilerStep#551 copy 8000\nProfilerStep#551 launch 22000\n"
		  "ProfilerStep#551 host 607836000\nProfilerStep#551 sync_return 38000\n"
		  "ProfilerStep#552 copy 8000\nProfilerStep#552 launch 22000\n"
		  "ProfilerStep#552 host 630567000\nProfilerStep#552 sync_return 42000\n" },
		{ "tef/hta-mi250-minitoy/mi250_minitoy_train_ROCm6_2_kineto.json.gz",
		  "ProfilerStep#1 copy 38161\nProfilerStep#1 launch 28574\n"
		  "ProfilerStep#1 host 9192519\nProfilerStep#1 sync_return 29037\n"
		  "ProfilerStep#2 host 49073\n" },
		{ "tef/hta-ns-resolution/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
		  "ProfilerStep#101 compute 93686920\nProfilerStep#101 copy 651548\n"
		  "ProfilerStep#101 kernel_gap 1002585\nProfilerStep#101 launch 9138\n"
		  "ProfilerStep#101 host 5801127\nProfilerStep#102 compute 158351025\n"
		  "ProfilerStep#102 copy 1490616\nProfilerStep#102 kernel_gap 1892801\n"
		  "ProfilerStep#103 compute *\nProfilerStep#103 copy *\n"
		  "ProfilerStep#103 kernel_gap *\nProfilerStep#104 compute *\n"
		  "ProfilerStep#104 copy *\nProfilerStep#104 kernel_gap *\n"
		  "ProfilerStep#105 compute 181351039\nProfilerStep#105 copy 1508535\n"
		  "ProfilerStep#105 kernel_gap 2077717\n" },
		{ "tef/hta-nccl/nccl_data.json.gz",
		  "ProfilerStep#4 host 222442191\nProfilerStep#5 host 219726905\n"
		  "ProfilerStep#6 host 224936243\n" },
		{ "tef/tracelens-mi300-qwen/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
		  "ProfilerStep#6 compute 41124428\nProfilerStep#6 kernel_gap 65212\n"
		  "ProfilerStep#6 launch 30760\nProfilerStep#6 host 5662588\n"
		  "ProfilerStep#6 sync_return 9237\n" },
		{ "tef/tracelens-mi300-falconsai/Falconsai_nsfw_image_detection__1016002.json.gz",
		  "ProfilerStep#6 host 7453325\n" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct reading rd = read_recording("tef", cases[i].file, false);
		CLEANUP(xfreep)
		char *rows = xasprintf("iteration class ns\n%s", cases[i].rows);
		struct table_set ts = run(rd.m, "critical_path", NULL);

		expect_table(table_set_find(&ts, "critical_path"), rows);
		table_set_release(&ts);
		model_free(rd.m);
	}
}
