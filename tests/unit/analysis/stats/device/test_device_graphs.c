/* Graphs, kernels that overlap on one queue, and the lengths of kernels. */
#include "expect_model.h"
#include "stats_test.h"

#include "profrig/model/facts.h"

/* Two launches of a graph, one on two devices, one whose work is missing, one called by another. */
TEST(test_graphs)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(
		1, "thread 1/1 name=main: cudaGraphLaunch_v10000#1 10-20 hipGraphLaunch 30-35 "
		   "cudaGraphLaunch 40-60 cuGraphLaunch#2 45-50 cudaLaunchKernel#3 70-75\n"
		   "queue gpu0/1: a#1 25-30 b#1 28-40 a#2 65-70 k#3 80-90 a#1 50-50\n"
		   "queue gpu1/1: a#1 26-27\n");
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_graphs);

	expect_table(table_set_find(&ts, "graph_launches"),
		     "device thread name graph start_ns dur_ns works sum_ns union_ns span_ns "
		     "latency_ns\n"
		     "gpu0 main cudaGraphLaunch_v10000 - 0 10 3 17 15 25 15\n"
		     "gpu1 main cudaGraphLaunch_v10000 - 0 10 1 1 1 1 16\n"
		     "- main hipGraphLaunch - 20 5 0 0 0 - -\n"
		     "gpu0 main cuGraphLaunch - 35 5 1 5 5 5 20\n");
	expect_table(table_set_find(&ts, "graph_kernels"),
		     "device graph node name calls total_ns mean_ns min_ns max_ns\n"
		     "gpu0 - - a 3 10 10/3 0 5\n"
		     "gpu0 - - b 1 12 12 12 12\n"
		     "gpu1 - - a 1 1 1 1 1\n");
	assert_int_equal(warned(m, W_GRAPH_WORK_MISSING), 1);
}

static void in_graph(struct maker *k, span_id span, int64_t graph, int64_t node)
{
	struct span_facts f = { .kind = FACTS_KERNEL, .kernel = KERNEL_FACTS_NONE };

	f.kernel.graph = graph;
	f.kernel.graph_node = node;
	k->s->ops->facts(k->s, span, &f);
}

/* Numbers of the trace; work of a graph needs no known launch. */
TEST(test_graph_numbers)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, RANK_NONE, "main"), q = make_queue(&k, "gpu0", 1);

	make_span(&k, t, SPAN_HOST, 0, 5, "launches", 7);
	in_graph(&k, make_span(&k, q, SPAN_KERNEL, 10, 20, "a", 7), 3, 1);
	in_graph(&k, make_span(&k, q, SPAN_KERNEL, 15, 30, "b", 7), 3, 2);
	in_graph(&k, make_span(&k, q, SPAN_KERNEL, 40, 44, "a", 0), 3, 1);
	in_graph(&k, make_span(&k, q, SPAN_KERNEL, 44, 48, "a", 0), 4, 1);

	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_graphs);
	CLEANUP(table_set_release) struct table_set over = analyse(m, &analysis_overlap);

	expect_table(table_set_find(&ts, "graph_launches"),
		     "name graph start_ns works sum_ns union_ns latency_ns\n"
		     "launches 3 0 2 25 20 10\n"
		     "[unlinked] - 40 2 8 8 -\n");
	expect_table(table_set_find(&ts, "graph_kernels"), "graph node name calls total_ns\n"
							   "3 1 a 2 14\n"
							   "3 2 b 1 15\n"
							   "4 1 a 1 4\n");
	/* kernels of a graph may run side by side */
	expect_table(table_set_find(&over, "overlap"), "queue_overlaps\n0\n");
	assert_int_equal(warned(m, W_GRAPH_WORK_MISSING), 0);
}

TEST(test_no_graphs)
{
	CLEANUP(model_freep) struct model *m = model_of_text(1, "queue gpu0/1: a 0-1\n");
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	struct analysis_opts o = { .shared = NULL };

	assert_int_equal(analysis_run(&analysis_graphs, m, NULL, &o, &ts, NULL), ANALYSIS_SKIPPED);
	assert_string_equal(ts.skipped.v[0].reason, "no graph was launched or captured");
}

/* Overlaps on one queue are counted by kernel, each moment counts once; copies and others may. */
TEST(test_queue_overlaps)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1, "queue gpu0/1: a 0-10 b 5-12 c 11-20 d 20-30 e!c 25-40 "
					   "z 28-28\n"
					   "queue gpu0/2: a 0-10\n"
					   "thread 1/1 name=t: cudaGraphLaunch#1 0-1\n"
					   "queue gpu0/3: g#1 50-60 g#1 55-65\n");
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_overlap);

	expect_table(table_set_find(&ts, "overlap"), "wall_ns compute_ns queue_overlaps\n"
						     "65 45 2\n");
	assert_int_equal(warned(m, W_QUEUE_OVERLAP), 2);
}

TEST(test_kernel_lengths)
{
	CLEANUP(table_set_release)
	struct table_set ts = analyse_text("queue gpu0/1: a 0-9999 b 10000-20000 c!c 20000-20001 "
					   "d 30000-30001 ncclKernel 100000-1100000\n"
					   "queue gpu1/1: c!c 0-5\n",
					   &analysis_kernel_lengths);

	expect_table(table_set_find(&ts, "kernel_lengths"),
		     "device kernel_ns_bucket count total_ns share\n"
		     "gpu0 <10us 2 10000 10000/1020000\n"
		     "gpu0 10-20us 1 10000 10000/1020000\n"
		     "gpu0 1-10ms 1 1000000 1000000/1020000\n");
}
