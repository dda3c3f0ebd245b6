/*
 * Captures of graphs whose calls state no handles: known by the names of the calls, in text and as
 * Nsight Systems, Kineto and rocpd have them.
 */
#include "../../readers/nsys/nsys_fixture.h"
#include "../../readers/rocpd/rocpd_fixture.h"
#include "expect_model.h"
#include "stats_test.h"

#include "profrig/base/strbuf.h"

#define LAUNCHES "thread name start_ns works nodes\n"
#define CAPTURES "thread start_ns dur_ns nodes graph exec launches\n"

/* Two kernels and a fill are captured, and run twice; a launch that is lost is lost. */
#define CAPTURE \
	"cudaStreamBeginCapture_v10000 0-2 cudaLaunchKernel 10-12 cuLaunchKernel 11-12 " \
	"cudaMemsetAsync 14-16 cudaLaunchKernel 20-22 cudaStreamEndCapture_v10000 30-34 " \
	"cudaGraphInstantiate_v12000 40-45 "
#define REPLAYS "cudaGraphLaunch#1 50-52 cudaGraphLaunch#2 60-62 cudaLaunchKernel 70-71\n"
#define WORKS \
	"queue gpu0/1: a#1 100-110 m!f#1 110-111 b#1 111-120 a#2 200-210 m!f#2 210-212 b#2 " \
	"212-220\n"

static struct table_set graphs_of(const char *text, struct model **ret)
{
	*ret = model_of_text_with(1, text, model_finish_flat);
	return analyse(*ret, &analysis_graphs);
}

TEST(one_graph)
{
	CLEANUP(model_freep) struct model *m = NULL;
	CLEANUP(table_set_release)
	struct table_set ts = graphs_of("thread 1/1 name=main: " CAPTURE REPLAYS WORKS, &m);

	expect_table(table_set_find(&ts, "graph_captures"), CAPTURES "main 0 34 3 - - 2\n");
	expect_table(table_set_find(&ts, "graph_launches"),
		     LAUNCHES "main cudaGraphLaunch 50 3 3\nmain cudaGraphLaunch 60 3 3\n");
	expect_table(table_set_find(&ts, "graph_kernels"),
		     "device sequence name calls total_ns pid\n"
		     "gpu0 1 a 2 20 1\n"
		     "gpu0 2 m 2 3 1\n"
		     "gpu0 3 b 2 17 1\n");
}

/* What is captured launches nothing, and is not missed; the launch behind it is. */
TEST(launches_without_work)
{
	CLEANUP(model_freep) struct model *m = NULL;
	CLEANUP(table_set_release)
	struct table_set ts = graphs_of("thread 1/1 name=main: " CAPTURE REPLAYS WORKS, &m);
	CLEANUP(table_set_release) struct table_set latency = analyse(m, &analysis_launch_latency);

	assert_int_equal(warned(m, W_LAUNCH_WITHOUT_WORK), 1);
	assert_int_equal(warned(m, W_GRAPH_WORK_MISSING), 0);
}

static const struct {
	const char *threads, *captures, *launches;
} cases[] = {
	/* two graphs of one size: which of them ran is not known */
	{ "thread 1/1 name=t: cudaStreamBeginCapture 0-1 cudaLaunchKernel 2-3 cudaStreamEndCapture "
	  "4-5 cudaGraphInstantiate 6-7 cudaStreamBeginCapture 10-11 cudaLaunchKernel 12-13 "
	  "cudaStreamEndCapture 14-15 cudaGraphInstantiate 16-17 cudaGraphLaunch#1 20-21\n",
	  "t 0 5 1 - - -\nt 10 5 1 - - -\n", "t cudaGraphLaunch 20 1 -\n" },
	/* of two sizes it is; what was launched before it was instantiated is another one */
	{ "thread 1/1 name=t: cudaGraphLaunch#1 0-1 cudaStreamBeginCapture 2-3 cudaLaunchKernel "
	  "4-5 cudaStreamEndCapture 6-7 cudaGraphInstantiate 8-9 hipStreamBeginCapture 10-11 "
	  "hipModuleLaunchKernel 12-13 hipMemcpyAsync 13-14 hipStreamEndCapture 15-16 "
	  "hipGraphInstantiateWithFlags 16-17 cudaGraphLaunch#2 20-21\n",
	  "t 2 5 1 - - 1\nt 10 6 2 - - 0\n",
	  "t cudaGraphLaunch 0 1 -\nt cudaGraphLaunch 20 1 1\n" },
	/* another thread captures for itself, another process has its own; work means no node */
	{ "thread 1/1 name=t: cudaStreamBeginCapture 0-1 cudaLaunchKernel 2-3 cudaLaunchKernel#3 "
	  "4-5 cudaStreamEndCapture 10-12 cudaGraphInstantiate 13-14\n"
	  "thread 1/2 name=u: cudaStreamBeginCapture 1-2 cudaLaunchKernel 3-4 cudaLaunchKernel 5-6 "
	  "cudaStreamEndCapture 7-8 cudaGraphInstantiate 9-10\n"
	  "thread 2/3 name=v: cudaLaunchKernel 3-4 cudaGraphLaunch#1 20-21\n",
	  "t 0 12 1 - - 0\nu 1 7 2 - - 0\n", "v cudaGraphLaunch 20 1 -\n" },
	/* without an end, and ended without having begun */
	{ "thread 1/1 name=t: cudaStreamEndCapture 0-1 cudaGraphInstantiate 1-2 "
	  "cudaStreamBeginCapture 3-4 cudaLaunchKernel 5-6 cudaGraphLaunch#1 20-21\n",
	  "t 3 - 1 - - -\n", "t cudaGraphLaunch 20 1 -\n" },
	/* a driver's calls in a runtime's */
	{ "thread 1/1 name=t: cudaStreamBeginCapture 0-4 cuStreamBeginCapture_v2 1-3 "
	  "cudaLaunchKernel 5-8 cuLaunchKernel 6-7 cudaStreamEndCapture 9-12 cuStreamEndCapture "
	  "10-11 cudaGraphInstantiate 13-16 cuGraphInstantiateWithFlags 14-15 cudaGraphLaunch "
	  "20-24 cuGraphLaunch#1 21-22\n",
	  "t 0 12 1 - - 1\n", "t cuGraphLaunch 21 1 1\n" },
};

TEST(rules)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep)
		char *text = xasprintf("%squeue gpu0/1: k#1 100-110 k#2 120-130 k#3 140-150\n",
				       cases[i].threads);
		CLEANUP(xfreep) char *captures = xasprintf(CAPTURES "%s", cases[i].captures);
		CLEANUP(xfreep) char *launches = xasprintf(LAUNCHES "%s", cases[i].launches);
		CLEANUP(model_freep) struct model *m = NULL;
		CLEANUP(table_set_release) struct table_set ts = graphs_of(text, &m);

		expect_table(table_set_find(&ts, "graph_captures"), captures);
		expect_table(table_set_find(&ts, "graph_launches"), launches);
	}
}

/* A capture and no work of a graph: no table is empty. */
TEST(nothing_ran)
{
	CLEANUP(model_freep) struct model *m = NULL;
	CLEANUP(table_set_release)
	struct table_set ts =
		graphs_of("thread 1/1 name=t: " CAPTURE "\nqueue gpu0/1: k 0-1\n", &m);

	assert_int_equal(ts.tables.nr, 1);
	expect_table(table_set_find(&ts, "graph_captures"), CAPTURES "t 0 34 3 - - 0\n");
}

/* ---- as formats have them ---- */

#define EXPECT_FORMAT(thread, begin, lasted, launched) \
	do { \
		CLEANUP(table_set_release) struct table_set ts = analyse(rd.m, &analysis_graphs); \
		CLEANUP(table_set_release) \
		struct table_set ls = analyse(rd.m, &analysis_launch_latency); \
		expect_table(table_set_find(&ts, "graph_captures"), \
			     "thread start_ns dur_ns nodes launches\n" thread " " begin " " lasted \
			     " 2 1\n"); \
		expect_table(table_set_find(&ts, "graph_launches"), \
			     "start_ns works nodes\n" launched " 2 2\n"); \
		expect_table(table_set_find(&ts, "graph_kernels"), \
			     "sequence name calls\n1 a 1\n2 b 1\n"); \
		assert_int_equal(warned(rd.m, W_LAUNCH_WITHOUT_WORK), 0); \
	} while (0)

TEST(kineto)
{
	static const struct {
		const char *cat, *name;
		int ts, correlation;
	} events[] = {
		{ "cuda_runtime", "cudaStreamBeginCapture", 1, 1 },
		{ "cuda_runtime", "cudaLaunchKernel", 3, 2 },
		{ "cuda_runtime", "cudaLaunchKernel", 5, 3 },
		{ "cuda_runtime", "cudaStreamEndCapture", 7, 4 },
		{ "cuda_runtime", "cudaGraphInstantiate", 10, 5 },
		{ "cuda_runtime", "cudaGraphLaunch", 20, 6 },
		{ "kernel", "a", 30, 6 },
		{ "kernel", "b", 40, 6 },
	};
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, "{\"schemaVersion\":1,\"traceEvents\":[");
	for (size_t i = 0; i < ARRAY_LEN(events); i++)
		strbuf_addf(&sb,
			    "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":1,"
			    "\"ts\":%d,\"dur\":2,\"args\":{\"correlation\":%d,\"device\":0,"
			    "\"stream\":7}}",
			    i ? "," : "", events[i].cat, events[i].name, *events[i].cat == 'c',
			    events[i].ts, events[i].correlation);
	strbuf_addstr(&sb, "]}");

	READING rd = read_text("tef", sb.buf);

	model_nest(rd.m);
	EXPECT_FORMAT("'thread 1'", "0", "8000", "19000");
}

/* One after the other, each 10 ns long. */
#define NSYS_CALL(at, name) "(" #at ", " #at " + 10, 0, " TID_10_11 ", " #at ", " #name ", 0)"

TEST(nsight_systems)
{
	READING rd = read_sql(
		"nsys", false,
		SQL(NSYS_BASE
		    "INSERT INTO StringIds VALUES (21, 'cudaStreamBeginCapture_v10000'),"
		    " (22, 'cudaStreamEndCapture_v10000'), (23, 'cudaGraphInstantiate_v12000'),"
		    " (24, 'a'), (25, 'b');",
		    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES" NSYS_CALL(
			    100, 21) "," NSYS_CALL(120, 3) "," NSYS_CALL(140, 3) ";",
		    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES" NSYS_CALL(
			    160, 22) "," NSYS_CALL(180, 23) "," NSYS_CALL(200, 7) ";",
		    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
		    " (300, 310, 0, 1, 7, 200, " PID_10 ", 24, 24, 11),"
		    " (310, 320, 0, 1, 7, 200, " PID_10 ", 25, 25, 12);"));

	model_nest(rd.m);
	EXPECT_FORMAT("worker", "0", "70", "100");
}

TEST(rocpd)
{
	READING rd = read_sql(
		"rocpd", false,
		SQL(ROCPD_TABLES(U1) ROCPD_NAMES(U1, "node1", 100, 4) INTO(
			U1, "string", "id, string",
			"(21, 'hipStreamBeginCapture'), (22, "
			"'hipStreamEndCapture'),"
			" (23, 'hipGraphInstantiate'), (24, "
			"'hipGraphLaunch')") INTO(U1, "info_kernel_symbol",
						  "id, kernel_name, "
						  "display_name",
						  "(11, 'a', NULL), (12, "
						  "'b', NULL)")
			    INTO(U1, "event", "id, category_id, stack_id, parent_stack_id",
				 "(1, 2, 51, 51), (2, 2, 52, 52), (3, 2, 53, 53), (4, 2, 54, 54),"
				 " (5, 2, 55, 55), (6, 2, 56, 56), (7, 1, 56, 56), (8, 1, 56, 56)")
				    INTO(U1, "region",
					 "id, pid, tid, start, end, name_id, event_id",
					 "(1, 1, 1, 100, 110, 21, 1), (2, 1, 1, 120, 130, 3, 2),"
					 " (3, 1, 1, 140, 150, 3, 3), (4, 1, 1, 160, 180, 22, 4),"
					 " (5, 1, 1, 190, 195, 23, 5), (6, 1, 1, 200, 210, 24, 6)")
					    INTO(U1, "kernel_dispatch",
						 "id, pid, tid, agent_id, kernel_id, dispatch_id, "
						 "queue_id, stream_id,"
						 " start, end, event_id",
						 "(1, 1, 1, 2, 11, 1, 1, 3, 300, 310, 7),"
						 " (2, 1, 1, 2, 12, 2, 1, 3, 310, 320, 8)")));

	model_nest(rd.m);
	EXPECT_FORMAT("main", "0", "80", "100");
}
