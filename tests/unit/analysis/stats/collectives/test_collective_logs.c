#include "stats_test.h"

#include "profrig/library/library_log.h"
#include "profrig/model/library_calls.h"

/* A line of RCCL, which names the rank of the job. */
#define LINE(pid, name, count, rank) \
	"n1:" pid ":" pid " [0] NCCL INFO " name \
	": opCount 0 sendbuff 0x1 recvbuff 0x2 acc (nil) count " count \
	" datatype 7 op 0 root 0 comm 0x10 [nranks=2] stream 0x3 task 0 globalrank " rank "\n"

static void push_log(struct sink *s, const char *path, const char *text)
{
	struct library_calls *calls = library_calls_new();
	struct library_log *log = library_log_new(path, calls);
	struct library_counts n;

	library_calls_keep_order(calls);
	library_log_text(log, text, strlen(text));
	library_log_end(log, &n);
	library_log_free(log);
	s->ops->input(s, path, "library_log");
	s->ops->clock(s);
	s->ops->library(s, calls);
	s->ops->input_end(s);
}

/* Owners of queues are processes that no log names, as in a container. */
static const char trace[] =
	"queue gpu0/7 owner=177 rank=0: ncclDevKernel_AllReduce_Sum_f32(x) 0-30 "
	"ncclDevKernel_AllReduce_Sum_f32(x) 40-50\n"
	"queue gpu1/7 owner=178 rank=1: ncclDevKernel_AllReduce_Sum_f32(x) 10-30 "
	"ncclDevKernel_AllReduce_Sum_f32(x) 42-50\n";

static struct table_set of_logs(const char *of_trace, const char *const *logs, size_t n)
{
	struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct table_set ts;

	s->ops->input(s, "trace", "tef");
	s->ops->clock(s);
	trace_text(s, 1, of_trace);
	s->ops->input_end(s);
	for (size_t i = 0; i < n; i++)
		push_log(s, "nccl.log", logs[i]);
	model_finish(m);
	ts = analyse(m, &analysis_collectives);
	model_free(m);
	return ts;
}
#define OF_LOGS(text, ...) \
	of_logs(text, (const char *const[]){ __VA_ARGS__ }, \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static const char *skipped_why(const struct table_set *ts)
{
	for (size_t i = 0; i < ts->skipped.nr; i++)
		if (strcmp(ts->skipped.v[i].name, "collectives.sizes") == 0)
			return ts->skipped.v[i].reason;
	return "";
}

#define RANK_0 LINE("77", "AllReduce", "8", "0") LINE("77", "AllReduce", "16", "0")
#define RANK_1 LINE("78", "AllReduce", "8", "1") LINE("78", "AllReduce", "16", "1")

TEST(by_rank_operation_and_ordinal)
{
	CLEANUP(table_set_release) struct table_set ts = OF_LOGS(trace, RANK_1, RANK_0);

	expect_table(table_set_find(&ts, "collective_instances"),
		     "name dtype bytes ranks complete source\n"
		     "allreduce f32 32 2 yes log\nallreduce f32 64 2 yes log\n");
	assert_string_equal(skipped_why(&ts), "");
}

TEST(both_ranks_in_one_log)
{
	CLEANUP(table_set_release)
	struct table_set ts =
		OF_LOGS(trace, LINE("78", "AllReduce", "8", "1") LINE("77", "AllReduce", "8", "0")
				       LINE("77", "AllReduce", "16", "0")
					       LINE("78", "AllReduce", "16", "1"));

	expect_table(table_set_find(&ts, "collective_instances"),
		     "bytes complete source\n32 yes log\n64 yes log\n");
}

TEST(other_numbers_of_calls)
{
	CLEANUP(table_set_release)
	struct table_set ts = OF_LOGS(trace, RANK_1, RANK_0 LINE("77", "AllReduce", "4", "0"));

	/* the sizes of one rank only would be no agreement */
	expect_table(table_set_find(&ts, "collective_instances"),
		     "bytes complete source transfer_ns\n- yes - 20\n- yes - 8\n");
	assert_string_equal(skipped_why(&ts),
			    "rank 0: the log of NCCL has 3 calls of allreduce, the trace has 2");
}

TEST(log_of_one_rank_only)
{
	CLEANUP(table_set_release) struct table_set ts = OF_LOGS(trace, RANK_1);

	expect_table(table_set_find(&ts, "collective_instances"),
		     "bytes complete source transfer_ns\n- yes - 20\n- yes - 8\n");
	assert_string_equal(skipped_why(&ts),
			    "rank 0: the log of NCCL has 0 calls of allreduce, the trace has 2");
}

/* Two communicators may number their ranks alike. */
TEST(two_processes_of_one_rank)
{
	CLEANUP(table_set_release)
	struct table_set ts =
		OF_LOGS(trace, LINE("77", "AllReduce", "8", "0") LINE("79", "AllReduce", "16", "0"),
			RANK_1);

	assert_string_equal(skipped_why(&ts), "rank 0: the log of NCCL has 2 calls of allreduce of "
					      "several processes, the trace has 2");
}

/* Another operation of the rank is no matter. */
TEST(other_operations)
{
	CLEANUP(table_set_release)
	struct table_set ts = OF_LOGS(trace, LINE("77", "Broadcast", "4", "0") RANK_0, RANK_1);

	assert_string_equal(skipped_why(&ts), "");
	expect_table(table_set_find(&ts, "collective_instances"), "bytes\n32\n64\n");
}

/* One rank alone: its device stands for it, and all of the log is its own. */
TEST(one_rank)
{
	CLEANUP(table_set_release)
	struct table_set ts = OF_LOGS("queue gpu0/7: ncclDevKernel_AllReduce_Sum_f32(x) 0-30 "
				      "ncclDevKernel_AllReduce_Sum_f32(x) 40-50\n",
				      RANK_1);

	expect_table(table_set_find(&ts, "collective_instances"),
		     "dtype bytes ranks source\nf32 32 2 log\nf32 64 2 log\n");
}

TEST(without_a_log)
{
	CLEANUP(table_set_release) struct table_set ts = OF_LOGS(trace, "nothing\n");

	expect_table(table_set_find(&ts, "collective_instances"), "bytes source\n- -\n- -\n");
	assert_string_equal(skipped_why(&ts), "");
}

/* What the trace states stays; the log adds what it lacks. */
TEST(facts_without_a_size)
{
	static const int64_t elements[] = { FACT_ABSENT, 5 };
	struct maker k = make_begin();
	track_id t = make_thread(&k, 177, 1, 0, "main"), q;
	struct model *m;
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;

	q = make_queue(&k, "gpu0", 7);
	for (int i = 0; i < 2; i++) {
		struct span_facts f = { .kind = FACTS_COLLECTIVE,
					.collective = COLLECTIVE_FACTS_NONE };
		span_id id = make_call(&k, t, i * 100, i * 100 + 50, "record_param_comms");

		f.collective.name = sink_puts(k.s, "all_reduce_coalesced");
		f.collective.dtype = elements[i] == 5 ? sink_puts(k.s, "Double") : STR_NONE;
		f.collective.in_elements = f.collective.out_elements = elements[i];
		f.collective.group = sink_puts(k.s, "g");
		f.collective.group_size = 4;
		k.s->ops->facts(k.s, id, &f);
		make_span(&k, t, SPAN_HOST, i * 100 + 10, i * 100 + 20, "launch", (uint64_t)i + 1);
		make_span(&k, q, SPAN_KERNEL, 1000 + i * 100, 1050 + i * 100,
			  "ncclDevKernel_AllReduce_Sum_f32(x)", (uint64_t)i + 1);
	}
	k.s->ops->input_end(k.s);
	push_log(k.s, "nccl.log", RANK_1);
	m = k.m;
	model_finish(m);
	ts = analyse(m, &analysis_collectives);
	expect_table(table_set_find(&ts, "collective_instances"),
		     "group name dtype bytes ranks source\n"
		     "g all_reduce_coalesced f32 32 4 log\n"
		     "g all_reduce_coalesced Double 40 4 trace\n");
	model_free(m);
}
