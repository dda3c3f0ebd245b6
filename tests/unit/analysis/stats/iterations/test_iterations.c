#include "random_work.h"
#include "readers_test.h"
#include "tables_support.h"
#include "trace_text.h"

#include "profrig/base/u64map.h"
#include "profrig/work/iterations.h"

static const char loop[] =
	"thread 1/1 name=main: step_1 0-100 launch#1 10-12 launch#2 20-22 step_2 100-200 launch#3 "
	"110-112 launch#4 120-122 step_3 200-300 step_9 250-260 launch#5 210-212\n"
	"thread 1/2 name=autograd: launch#6 130-132 launch#7 350-352\n"
	"queue gpu0/1: a#1 50-90 b#2 80-150 a#3 160-200 b#4 200-210 a#5 300-301 c#6 205-220 "
	"d#7 400-410 e 5-6\n";

TEST(test_iterations)
{
	CLEANUP(model_freep) struct model *m = model_of_text(1, loop);
	struct table_set ts = run(m, "iterations", NULL);

	expect_columns(table_set_find(&ts, "iterations"),
		       "track,marker,index,start_ns,dur_ns,steady,works,sum_ns,union_ns,"
		       "device_start_ns,device_span_ns,change,rank,joules,edp_js,energy_flags,"
		       "uncertainty_j");
	/* step_9 lies inside step_3; work is the launching thread's or any other one's of the
	 * process; what is launched outside, and what has no launch, is of none */
	expect_table(table_set_find(&ts, "iterations"),
		     "track marker index start_ns dur_ns works sum_ns union_ns device_start_ns "
		     "device_span_ns rank\n"
		     "main step_1 0 0 100 2 110 100 50 100 -\n"
		     "main step_2 1 100 100 3 65 60 160 60 -\n"
		     "main step_3 2 200 100 1 1 1 300 1 -\n");
	expect_table(table_set_find(&ts, "periods"), "device works period match of accepted\n"
						     "gpu0 7 2 2 5 no\n");
	table_set_release(&ts);
}

TEST(test_a_pattern)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1, "thread 1/1 name=main: epoch 0-10 x 1-2 epoch 10-30 y "
					   "11-12\n");
	struct table_set ts = run(m, "iterations", NULL);

	assert_null(table_set_find(&ts, "iterations"));
	table_set_release(&ts);
	ts = run(m, "iterations", &(struct analysis_opts){ .marker = "^epoch$" });
	expect_table(table_set_find(&ts, "iterations"),
		     "marker index start_ns dur_ns works device_start_ns\n"
		     "epoch 0 0 10 0 -\n"
		     "epoch 1 10 20 0 -\n");
	table_set_release(&ts);
}

/* ProfilerStep counts before what the program names, and more ranges before fewer. */
TEST(test_families)
{
	static const struct {
		const char *trace, *first;
	} cases[] = {
		{ "thread 1/1: step=1 0-4 step=2 4-8 iteration:7 0-3 iteration:8 4-5 iteration:9 "
		  "6-7\n",
		  "iteration:7" },
		{ "thread 1/1: Batch_3 0-4 iter1 4-5\n", "Batch_3" },
		{ "thread 1/1: train-step_12 0-4\n", "train-step_12" },
		{ "thread 1/1: steps 0-4 mystep 4-6 step1x 6-7 restep 8-9\n", NULL },
		{ "queue gpu0/1: step_1!a 0-4 step_2!a 4-8\n", NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(model_freep) struct model *m = model_of_text(1, cases[i].trace);
		struct table_set ts = run(m, "iterations", NULL);
		const struct table *t = table_set_find(&ts, "iterations");

		if (cases[i].first)
			assert_string_equal(str_of(t, 0, "marker"), cases[i].first);
		else
			assert_null(t);
		table_set_release(&ts);
	}
}

/* Of several threads with markers each launches for its own; other threads for the first. */
TEST(test_threads)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1, "thread 1/1 name=a: step_1 0-10 l#1 1-2\n"
					   "thread 1/2 name=b: step_1 0-10 l#2 1-2\n"
					   "thread 1/3 name=c: l#3 3-4\n"
					   "thread 2/4 name=d: l#4 3-4\n"
					   "queue gpu0/1: k#1 5-6 k#2 5-8 k#3 8-9 k#4 9-10\n");
	struct table_set ts = run(m, "iterations", NULL);

	expect_table(table_set_find(&ts, "iterations"), "track works sum_ns\n"
							"a 2 2\n"
							"b 1 3\n");
	table_set_release(&ts);
}

/* Without markers: full periods of the works in launch order, copies by their direction. */
TEST(test_periods)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(
		1, "thread 1/1: l#1 0-1 l#2 1-2 l#3 2-3 l#4 3-4 l#5 4-5 l#6 5-6 l#7 6-7\n"
		   "queue gpu0/1: a#1 10-11 c!c#2 11-13 a#3 13-14 c!c#4 14-17 a#5 20-21 c!c#6 "
		   "21-22 a#7 22-23\n");
	struct table_set ts = run(m, "iterations", NULL);

	expect_table(table_set_find(&ts, "iterations"),
		     "track marker index start_ns dur_ns steady works sum_ns device_span_ns\n"
		     "gpu0 period 0 10 3 yes 2 3 3\n"
		     "gpu0 period 1 13 4 yes 2 4 4\n"
		     "gpu0 period 2 20 2 yes 2 2 2\n");
	table_set_release(&ts);
}

/* Each work belongs to at most one iteration, and sums are those of the works. */
TEST(test_laws)
{
	for (uint64_t seed = 1; seed <= 10000; seed++) {
		CLEANUP(model_freep) struct model *m = random_work_model(seed);
		struct works *w;
		struct iterations *it;
		struct err err = ERR_INIT;
		uint64_t works = 0, owned = 0;

		model_nest(m);
		w = works_new(m);
		assert_int_equal(iterations_new(m, w, NULL, &it, &err), 0);
		for (size_t i = 0; i < it->v.nr; i++) {
			const struct iteration *v = &it->v.v[i];

			works += v->works;
			assert_true(v->start_ns <= v->end_ns);
			assert_true(v->union_ns <= v->device_end_ns - v->device_start_ns);
			assert_true(v->union_ns <= v->sum_ns);
			if (i && v->index)
				assert_true(it->v.v[i - 1].end_ns <= v->start_ns ||
					    v->marker == SPAN_NONE);
		}
		for (size_t i = 0; i < w->v.nr; i++)
			owned += it->of_work[i] != U64MAP_NONE;
		assert_int_equal(works, owned);
		iterations_free(it);
		works_free(w);
	}
}

/* ---- recordings: figures from exact code of their own ---- */

TEST(test_recordings)
{
	static const struct {
		const char *file, *iterations, *periods;
	} cases[] = {
		{ "tef/hta-ns-resolution/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
		  "marker dur_ns works sum_ns union_ns device_span_ns steady\n"
		  "ProfilerStep#101 35115869 1219 94569795 94569795 97662895 no\n"
		  "ProfilerStep#102 72077474 1219 94591138 94591138 95736026 yes\n"
		  "ProfilerStep#103 95697341 1219 94459362 94459362 95569787 yes\n"
		  "ProfilerStep#104 95551087 1219 94561467 94561467 95663323 yes\n"
		  "ProfilerStep#105 95699037 1219 94272679 94272679 95394012 yes\n",
		  "gpu0 6095 1219 4876 4876 yes" },
		{ "tef/hta-two-rank/sampled_rank-0.json.gz",
		  "marker dur_ns works sum_ns union_ns device_span_ns steady\n"
		  "ProfilerStep#551 607312000 602 302241000 278680000 600058000 yes\n"
		  "ProfilerStep#552 622928000 602 305603000 268976000 615601000 yes\n",
		  "gpu0 1204 602 119 602 no" },
		{ "tef/hta-two-rank/sampled_rank-1.json.gz",
		  "marker dur_ns works sum_ns union_ns device_span_ns steady\n"
		  "ProfilerStep#551 607904000 577 306242000 272003000 600674000 yes\n"
		  "ProfilerStep#552 630639000 577 361288000 308047000 623286000 yes\n",
		  "gpu1 1154 574 93 580 no" },
		{ "tef/hta-nccl/nccl_data.json.gz",
		  "marker dur_ns works sum_ns union_ns device_span_ns steady\n"
		  "ProfilerStep#4 222442191 1258 51381015 49438921 215769424 yes\n"
		  "ProfilerStep#5 219726905 1258 51596866 49728926 213532750 yes\n"
		  "ProfilerStep#6 224936243 1258 62207957 58332167 218764039 yes\n",
		  "gpu0 3774 1258 2516 2516 yes" },
		{ "tef/hta-mi250-minitoy/mi250_minitoy_train_ROCm6_2_kineto.json.gz",
		  "marker dur_ns works sum_ns union_ns device_span_ns steady\n"
		  "ProfilerStep#1 9288291 16 149042 149042 8911887 yes\n"
		  "ProfilerStep#2 49073 0 0 0 0 yes\n",
		  "gpu2 16 1 2 15 no" },
		{ "tef/tracelens-mi300-qwen/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
		  "marker dur_ns works sum_ns union_ns device_span_ns steady\n"
		  "ProfilerStep#6 42738946 1054 29743938 29743938 33131334 yes\n",
		  "gpu2 1054 43 997 1011 yes" },
		{ "tef/tracelens-mi300-falconsai/Falconsai_nsfw_image_detection__1016002.json.gz",
		  "marker dur_ns works sum_ns union_ns device_span_ns steady\n"
		  "ProfilerStep#6 7453325 155 1716301 1716301 6868849 yes\n",
		  "gpu2 155 12 133 143 yes" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct reading rd = read_recording("tef", cases[i].file, false);
		CLEANUP(xfreep)
		char *periods =
			xasprintf("device works period match of accepted\n%s\n", cases[i].periods);
		struct table_set ts = run(rd.m, "iterations", NULL);

		expect_table(table_set_find(&ts, "iterations"), cases[i].iterations);
		expect_table(table_set_find(&ts, "periods"), periods);
		table_set_release(&ts);
		model_free(rd.m);
	}
}
