/* Which launches became nodes of which graph, and which work is which node. */
#include "graph_captures.h"
#include "stats_test.h"

#include "profrig/model/facts.h"

/* A thread of a process. */
static track_id thread_of(struct maker *k, int64_t pid, int64_t tid, const char *name)
{
	struct track_def p = TRACK_DEF_INIT, d = TRACK_DEF_INIT;

	p.kind = TRACK_PROCESS;
	p.pid = d.pid = pid;
	d.kind = TRACK_THREAD;
	d.tid = tid;
	d.name = name;
	d.parent = k->s->ops->track(k->s, &p);
	return k->s->ops->track(k->s, &d);
}

static uint64_t call_add(struct maker *k, track_id t, int64_t start, int64_t end, const char *name,
			 struct capture_facts f)
{
	struct span_facts sf = { .kind = FACTS_CAPTURE, .capture = f };
	uint64_t span = make_span(k, t, SPAN_HOST, start, end, name, (uint64_t)start + 1);

	k->s->ops->facts(k->s, span, &sf);
	return span;
}

static struct capture_facts handles(enum capture_kind kind, int64_t stream, int64_t graph,
				    int64_t exec)
{
	struct capture_facts f = CAPTURE_FACTS_NONE;

	f.kind = kind;
	f.stream = stream;
	f.graph = graph;
	f.exec = exec;
	return f;
}

#define NO FACT_ABSENT
#define BEGIN(t, at, stream) \
	call_add(&k, t, at, (at) + 1, "hipStreamBeginCapture", \
		 handles(CAPTURE_BEGIN, stream, NO, NO))
#define END(t, at, stream, graph) \
	call_add(&k, t, at, (at) + 1, "hipStreamEndCapture", \
		 handles(CAPTURE_END, stream, graph, NO))
#define INSTANTIATE(t, at, graph, exec) \
	call_add(&k, t, at, (at) + 1, "hipGraphInstantiate", \
		 handles(CAPTURE_INSTANTIATE, NO, graph, exec))
#define LAUNCH(t, at, exec) \
	call_add(&k, t, at, (at) + 1, "hipGraphLaunch", handles(CAPTURE_LAUNCH, 1, NO, exec))

static void node_add(struct maker *k, track_id t, int64_t at, int64_t stream, const char *name)
{
	struct capture_facts f = handles(CAPTURE_NODE, stream, NO, NO);

	f.name = name ? sink_puts(k->s, name) : STR_NONE;
	call_add(k, t, at, at + 1, "hipLaunchKernel", f);
}

/* Work of the launch that begins at this time. */
static void work_add(struct maker *k, track_id q, int64_t launch, int64_t start, int64_t end,
		     const char *name)
{
	make_span(k, q, SPAN_KERNEL, start, end, name, (uint64_t)launch + 1);
}

static struct table_set graphs_of(struct maker *k, struct model **ret)
{
	*ret = make_end(k);
	return analyse(*ret, &analysis_graphs);
}

/* Handles are used again, and another process has the same ones. */
TEST(test_handles_again)
{
	struct maker k = make_begin();
	track_id a = thread_of(&k, 1, 1, "a"), b = thread_of(&k, 2, 2, "b");
	track_id q = make_queue(&k, "gpu0", 1);
	CLEANUP(model_freep) struct model *m = NULL;

	BEGIN(a, 0, 1);
	node_add(&k, a, 2, 1, "x");
	END(a, 4, 1, 10);
	INSTANTIATE(a, 6, 10, 20);
	BEGIN(b, 0, 1);
	node_add(&k, b, 2, 1, "other");
	END(b, 4, 1, 10);
	INSTANTIATE(b, 6, 10, 20);
	LAUNCH(a, 10, 20);
	work_add(&k, q, 10, 20, 25, "x");
	BEGIN(a, 30, 1);
	node_add(&k, a, 32, 1, "y");
	END(a, 34, 1, 10);
	INSTANTIATE(a, 36, 10, 20);
	LAUNCH(a, 40, 20);
	work_add(&k, q, 40, 50, 57, "y");

	CLEANUP(table_set_release) struct table_set ts = graphs_of(&k, &m);

	expect_table(table_set_find(&ts, "graph_kernels"),
		     "device graph exec sequence name captured calls total_ns pid\n"
		     "- 0xa 0x14 1 other other 0 0 2\n"
		     "gpu0 0xa 0x14 1 x x 1 5 1\n"
		     "gpu0 0xa 0x14 1 y y 1 7 1\n");
	expect_table(table_set_find(&ts, "graph_launches"), "start_ns works nodes sum_ns\n"
							    "10 1 1 5\n"
							    "40 1 1 7\n");
}

/* Other streams and launches outside of the capture are no nodes; other threads' are. */
TEST(test_windows)
{
	struct maker k = make_begin();
	track_id a = thread_of(&k, 1, 1, "a"), b = thread_of(&k, 1, 2, "b");
	CLEANUP(model_freep) struct model *m = NULL;

	node_add(&k, a, 0, 1, "before");
	BEGIN(a, 10, 1);
	node_add(&k, b, 14, 1, "second");
	node_add(&k, a, 12, 1, "first");
	node_add(&k, a, 16, 2, "another stream");
	node_add(&k, a, 18, 1, NULL); /* a copy */
	END(a, 20, 1, 10);
	node_add(&k, a, 30, 1, "behind");
	BEGIN(a, 40, 3);
	node_add(&k, a, 42, 3, "never ended");
	make_span(&k, make_queue(&k, "gpu0", 1), SPAN_KERNEL, 50, 51, "k", 0);

	CLEANUP(table_set_release) struct table_set ts = graphs_of(&k, &m);

	expect_table(table_set_find(&ts, "graph_kernels"),
		     "device graph exec sequence name calls mean_ns\n"
		     "- 0xa - 1 first 0 -\n"
		     "- 0xa - 2 second 0 -\n"
		     "- 0xa - 3 - 0 -\n"
		     "- - - 1 'never ended' 0 -\n");
	assert_null(table_set_find(&ts, "graph_launches"));
}

/* Queues run nodes in any order: names meet by their number, what has no name by its place. */
TEST(test_replay)
{
	struct maker k = make_begin();
	track_id a = thread_of(&k, 1, 1, "a");
	track_id q = make_queue(&k, "gpu0", 1), r = make_queue(&k, "gpu0", 2);
	CLEANUP(model_freep) struct model *m = NULL;

	BEGIN(a, 0, 1);
	node_add(&k, a, 2, 1, "x");
	node_add(&k, a, 4, 1, "y");
	node_add(&k, a, 6, 1, NULL);
	node_add(&k, a, 8, 1, "x");
	END(a, 10, 1, NO); /* the trace lacks the graph: what is instantiated next is it */
	INSTANTIATE(a, 12, 10, 20);
	LAUNCH(a, 100, 20);
	work_add(&k, q, 100, 112, 113, "x");
	work_add(&k, r, 100, 110, 112, "y");
	work_add(&k, r, 100, 114, 118, "copy");
	work_add(&k, q, 100, 120, 128, "x");
	/* one more than was captured: what has no name has no node */
	LAUNCH(a, 200, 20);
	work_add(&k, q, 200, 212, 228, "x");
	work_add(&k, q, 200, 230, 262, "z");
	/* instantiated before the recording */
	LAUNCH(a, 300, 99);
	work_add(&k, q, 300, 310, 311, "w");

	CLEANUP(table_set_release) struct table_set ts = graphs_of(&k, &m);

	expect_table(table_set_find(&ts, "graph_kernels"),
		     "device exec sequence name captured calls total_ns\n"
		     "gpu0 0x14 1 x x 2 17\n"
		     "gpu0 0x14 2 y y 1 2\n"
		     "gpu0 0x14 3 copy - 1 4\n"
		     "gpu0 0x14 4 x x 1 8\n"
		     "gpu0 0x14 - z - 1 32\n"
		     "gpu0 0x63 - w - 1 1\n");
	expect_table(table_set_find(&ts, "graph_launches"), "exec nodes works\n"
							    "0x14 4 4\n"
							    "0x14 4 2\n"
							    "0x63 - 1\n");
}

/* Of random programs: each node has a row, and the works of all rows are those of the launches. */
TEST(test_laws)
{
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		struct maker k = make_begin();
		track_id t[3], q[3];
		uint64_t rs = seed, works = 0, launches = 0;
		CLEANUP(model_freep) struct model *m = NULL;

		for (int i = 0; i < 3; i++) {
			t[i] = thread_of(&k, 1 + i / 2, 1 + i, "t");
			q[i] = make_queue(&k, i ? "gpu1" : "gpu0", i);
		}
		for (int64_t at = 0; at < 400; at += 2) {
			track_id on = t[rnd(&rs) % 3];
			int64_t h = (int64_t)(rnd(&rs) % 3);

			switch (rnd(&rs) % 6) {
			case 0:
				BEGIN(on, at, h);
				break;
			case 1:
				END(on, at, h, (int64_t)(rnd(&rs) % 2));
				break;
			case 2:
				INSTANTIATE(on, at, h, (int64_t)(rnd(&rs) % 3));
				break;
			case 3:
				node_add(&k, on, at, h, rnd(&rs) % 2 ? "x" : "y");
				break;
			default:
				LAUNCH(on, at, h);
				launches++;
				for (uint64_t n = rnd(&rs) % 4; n > 0; n--, works++)
					work_add(&k, q[rnd(&rs) % 3], at, at + 3, at + 5,
						 rnd(&rs) % 2 ? "x" : "z");
			}
		}
		if (works == 0)
			make_span(&k, q[0], SPAN_KERNEL, 1, 2, "k", 0);

		CLEANUP(table_set_release) struct table_set ts = graphs_of(&k, &m);
		struct works *w = works_new(m);
		CLEANUP(graph_captures_freep) struct graph_captures *gc = graph_captures_new(w);
		const struct table *nodes = table_set_find(&ts, "graph_kernels");

		assert_int_equal(gc->executions.nr, launches);
		if (nodes) {
			double idle = 0, known = 0;

			assert_true(column_sum(nodes, "calls") == (double)works);
			for (size_t i = 0; i < table_rows(nodes); i++) {
				idle += num_of(nodes, i, "calls") == 0;
				known += num_of(nodes, i, "sequence") > 0;
			}
			assert_true(known >= (double)gc->nodes.nr && idle <= known);
		}
		works_free(w);
	}
}
