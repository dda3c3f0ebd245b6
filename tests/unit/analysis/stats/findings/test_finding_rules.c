/* Each rule with a trace that it finds something in, and its neighbour in which it does not. */
#include "findings_fixture.h"
#include "readers_test.h"
#include "stats_test.h"

#include "profrig/model/facts.h"

static bool found(struct model *m, const char *id)
{
	struct table_set ts = all_of(m);
	const struct table *t = table_set_find(&ts, "findings");
	bool ret = false;

	for (size_t i = 0; t && i < table_rows(t); i++)
		ret |= strcmp(str_of(t, i, "id"), id) == 0;
	table_set_release(&ts);
	model_free(m);
	return ret;
}

#define expect_rule(id, fires, neighbour) \
	do { \
		if (!found((fires), (id))) \
			fail_msg("%s: not found", (id)); \
		if (found((neighbour), (id))) \
			fail_msg("%s: found in the neighbour", (id)); \
	} while (0)

/* Times are µs. */
#define LAUNCHES "thread 1/1: l#1 0-1 l#2 1-2 l#3 2-3 l#4 3-4\n"
static const struct {
	const char *id, *fires, *neighbour;
} device_rules[] = {
	{ "idle_share", LAUNCHES "queue gpu0/1: a#1 4-854 b#2 1155-2005\n",
	  LAUNCHES "queue gpu0/1: a#1 4-854 b#2 1154-2004\n" },
	/* one cause, and two of half each */
	{ "idle_cause",
	  "thread 1/1: l#1 0-1 f 2-1200 l#2 1200-1201\nqueue gpu0/1: a#1 1-801 b#2 "
	  "1200-2001\n",
	  "thread 1/1: l#1 0-1 f 2-1200 l#2 1200-1201 l#3 2400-2401\n"
	  "queue gpu0/1: a#1 0-800 b#2 1200-2000 c#3 2400-3200\n" },
	{ "gaps", LAUNCHES "queue gpu0/1: a#1 4-9 b#2 1009-1010 c#3 2010-2011 d#4 3011-3012\n",
	  LAUNCHES "queue gpu0/1: a#1 4-9 b#2 1009-1010 c#3 2010-2011 d#4 3010-3012\n" },
	{ "long_gap", LAUNCHES "queue gpu0/1: a#1 4-9 b#2 500009-500010\n",
	  LAUNCHES "queue gpu0/1: a#1 4-9 b#2 500008-500010\n" },
	{ "busy_chunks", LAUNCHES "queue gpu0/1: a#1 10-1510 b#2 1561-3010\n",
	  LAUNCHES "queue gpu0/1: a#1 10-1510 b#2 1560-3010\n" },
	{ "data_loading",
	  "thread 1/1: l#1 0-1 DataLoader.next 2-1060 l#2 1060-1061\n"
	  "queue gpu0/1: a#1 1-1000 b#2 1060-1200\n",
	  "thread 1/1: l#1 0-1 DataLoader.next 2-1060 l#2 1060-1061\n"
	  "queue gpu0/1: a#1 1-1000 b#2 1060-1202\n" },
	{ "exposed_comm", LAUNCHES "queue gpu0/1: a#1 4-75 ncclDevKernel#2 75-104\n",
	  LAUNCHES "queue gpu0/1: a#1 4-85 ncclDevKernel#2 85-104\n" },
	{ "comm_overlap",
	  LAUNCHES "queue gpu0/1: a#1 4-104\nqueue gpu0/2: ncclDevKernel#2 80-184\n",
	  LAUNCHES "queue gpu0/1: a#1 4-104\nqueue gpu0/2: ncclDevKernel#2 70-170\n" },
	{ "copy_bound", LAUNCHES "queue gpu0/1: a#1 4-75 c!c#2 75-104\n",
	  LAUNCHES "queue gpu0/1: a#1 4-85 c!c#2 85-104\n" },
	{ "unlinked_work", LAUNCHES "queue gpu0/1: a#1 4-10 b 10-20\n",
	  LAUNCHES "queue gpu0/1: a#1 4-10 b#2 10-20\n" },
	{ "hotspot", LAUNCHES "queue gpu0/1: a#1 4-10 a#2 10-20 b#3 20-35\n",
	  LAUNCHES "queue gpu0/1: a#1 4-10 a#2 10-20 b#3 20-36\n" },
	{ "idle_start", "thread 1/1: f 0-1200 l#1 0-1\nqueue gpu0/1: a#1 1000-9000\n",
	  "thread 1/1: f 0-1200 l#1 0-1\nqueue gpu0/1: a#1 999-9000\n" },
	{ "queue_order", LAUNCHES "queue gpu0/1: a#1 4-10 b#2 9-20\n",
	  LAUNCHES "queue gpu0/1: a#1 4-10\nqueue gpu0/2: b#2 9-20\n" },
	{ "early_work", LAUNCHES "queue gpu0/1: a#1 4-10 b#4 2-3\n",
	  LAUNCHES "queue gpu0/1: a#1 4-10 b#4 3-4\n" },
	{ "backwards", LAUNCHES "queue gpu0/1: a#1 4-10 b#4 12-11\n",
	  LAUNCHES "queue gpu0/1: a#1 4-10 b#4 12-12\n" },
	{ "sync_calls",
	  "thread 1/1: l#1 0-1 cudaDeviceSynchronize 1-1101\nqueue gpu0/1: a#1 1-1100\n",
	  "thread 1/1: l#1 0-1 cudaDeviceSynchronize 1-1000\nqueue gpu0/1: a#1 1-999\n" },
	{ "blocking_copies", "thread 1/1: cudaMemcpyAsync#1 0-1101\nqueue gpu0/1: c!c#1 1-1100\n",
	  "thread 1/1: cudaMemcpyAsync#1 0-1099\nqueue gpu0/1: c!c#1 1-1100\n" },
	{ "blocking_copies", "thread 1/1: cudaMemcpy#1 0-1101\nqueue gpu0/1: c!c#1 1-1100\n",
	  "thread 1/1: cudaMemcpy#1 0-999\nqueue gpu0/1: c!c#1 1-998\n" },
	{ "steady_allocs",
	  "thread 1/1: step_1 0-10 step_2 10-20 step_3 20-30 step_4 30-40 cudaMalloc "
	  "31-32\n"
	  "queue gpu0/1: a 0-40\n",
	  "thread 1/1: step_1 0-10 step_2 10-20 step_3 20-30 step_4 30-40 cudaMalloc "
	  "41-42\n"
	  "queue gpu0/1: a 0-40\n" },
	{ "steady_modules",
	  "thread 1/1: step_1 0-10 step_2 10-20 step_3 20-30 step_4 30-40 cuModuleLoadData "
	  "31-32\nqueue gpu0/1: a 0-40\n",
	  "thread 1/1: step_1 0-10 step_2 10-20 step_3 20-30 step_4 30-40 cuModuleLoadData "
	  "41-42\nqueue gpu0/1: a 0-40\n" },
	{ "slow_iterations",
	  "thread 1/1: step_1 0-10 step_2 10-20 step_3 20-30 step_4 30-46\n"
	  "queue gpu0/1: a 0-40\n",
	  "thread 1/1: step_1 0-10 step_2 10-20 step_3 20-30 step_4 30-45\n"
	  "queue gpu0/1: a 0-40\n" },
	{ "naive_conv", LAUNCHES "queue gpu0/1: naive_conv_ab_nonpacked_fwd#1 4-10\n",
	  LAUNCHES "queue gpu0/1: miopenSp3AsmConv#1 4-10\n" },
	{ "layout_copies", LAUNCHES "queue gpu0/1: a#1 0-94 nchwToNhwcKernel#2 94-100\n",
	  LAUNCHES "queue gpu0/1: a#1 0-95 nchwToNhwcKernel#2 95-100\n" },
	{ "gemm_align",
	  LAUNCHES "queue gpu0/1: cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align1#1 "
		   "4-10\n",
	  LAUNCHES "queue gpu0/1: cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align4#1 "
		   "4-10\n" },
	{ "tool_overhead",
	  "thread 1/1: l#1 0-1\nthread 1/2: cuptiActivityFlushAll 50000-51001\n"
	  "queue gpu0/1: a#1 1-100000\n",
	  "thread 1/1: l#1 0-1\nthread 1/2: cuptiActivityFlushAll 50000-50999\n"
	  "queue gpu0/1: a#1 1-100000\n" },
};

TEST(test_of_devices_and_hosts)
{
	for (size_t i = 0; i < ARRAY_LEN(device_rules); i++)
		expect_rule(device_rules[i].id, model_of_text(1000, device_rules[i].fires),
			    model_of_text(1000, device_rules[i].neighbour));
}

/* ---- many of a kind ---- */

/* n launches of 1 µs, and works one behind the other, each `gap` µs behind. */
static struct model *model_of_many(int n, int first_us, int dur_us, const char *name, int last_us)
{
	struct maker k = make_begin();
	track_id thread = make_thread(&k, 1, 1, RANK_NONE, "t"), queue = make_queue(&k, "gpu0", 1);
	int64_t at = first_us * 1000;

	for (int i = 1; i <= n; i++) {
		int64_t dur = (i == n ? last_us : dur_us) * 1000;

		make_span(&k, thread, SPAN_HOST, i * 1000, i * 1000 + 500, "launch", (uint64_t)i);
		make_span(&k, queue, SPAN_KERNEL, at, at + dur, name, (uint64_t)i);
		at += dur;
	}
	return make_end(&k);
}

TEST(test_of_many)
{
	expect_rule("full_queue", model_of_many(1000, 1001, 2, "a", 2),
		    model_of_many(999, 1001, 2, "a", 2));
	expect_rule("short_kernels", model_of_many(101, 200, 9, "a", 900),
		    model_of_many(100, 200, 9, "a", 900));
	expect_rule("short_kernels", model_of_many(101, 200, 9, "a", 8000),
		    model_of_many(101, 200, 9, "a", 8200));
	expect_rule("uneven_collectives", model_of_many(12, 20, 10, "ncclDevKernel", 79),
		    model_of_many(12, 20, 10, "ncclDevKernel", 78));
}

/* ---- ranks ---- */

static void rank_put(struct maker *k, int rank, int n, int late_us, int offset_us)
{
	CLEANUP(xfreep) char *device = xasprintf("gpu%d", rank), *file = xasprintf("rank%d", rank);
	static const int64_t ranks[] = { 0, 1 };
	struct track_def d = TRACK_DEF_INIT;
	track_id queue;

	k->s->ops->input(k->s, file, "tef");
	k->s->ops->clock(k->s);
	d.kind = TRACK_QUEUE;
	d.rank = rank;
	d.device = device;
	d.pid = 100 + rank;
	d.tid = 7;
	queue = k->s->ops->track(k->s, &d);
	for (int i = 0; i < n; i++) {
		struct span_facts f = { .kind = FACTS_COLLECTIVE,
					.collective = COLLECTIVE_FACTS_NONE };
		/* lengths differ, so that only the clocks can explain ends that differ */
		int64_t at = (i * 1000 + i * i * 7 + offset_us) * 1000;
		span_id id = make_span(k, queue, SPAN_KERNEL, at + late_us * 1000, at + 500000,
				       "ncclDevKernel_AllReduce", 0);

		f.collective.name = sink_puts(k->s, "allreduce");
		f.collective.dtype = sink_puts(k->s, "Byte");
		f.collective.in_elements = f.collective.out_elements = 1000000;
		f.collective.group = sink_puts(k->s, "0");
		f.collective.sequence = i + 1;
		f.collective.ranks = k->s->ops->numbers(k->s, ranks, 2);
		f.collective.group_size = 2;
		k->s->ops->facts(k->s, id, &f);
	}
	k->s->ops->input_end(k->s);
}

/* Of two ranks: collectives, how much later the second one starts, and its clock is ahead. */
static struct model *model_of_ranks(int n, int late_us, int offset_us)
{
	struct maker k = { .m = model_new() };

	k.s = model_sink(k.m);
	rank_put(&k, 0, n, 0, 0);
	rank_put(&k, 1, n, late_us, offset_us);
	model_finish(k.m);
	return k.m;
}

TEST(test_of_ranks)
{
	expect_rule("straggler", model_of_ranks(10, 5, 0), model_of_ranks(9, 5, 0));
	expect_rule("rank_clocks", model_of_ranks(12, 5, 3000), model_of_ranks(12, 5, 0));
}

/* ---- facts, by a trace of PyTorch's profiler on an A100 with 1000 bytes ---- */

static struct model *model_of_events(const char *events)
{
	CLEANUP(xfreep)
	char *text = xasprintf("{'schemaVersion':1,'deviceProperties':[{'id':0,'name':'NVIDIA "
			       "A100-SXM4-80GB','totalGlobalMem':1000,'computeMajor':8,"
			       "'computeMinor':0,'warpSize':32,'numSms':108}],'traceEvents':[%s]}",
			       events);
	struct reading rd;

	for (char *p = text; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	rd = read_text("tef", text);
	assert_int_equal(rd.r, 0);
	return rd.m;
}

#define EVENT(cat, name, pid, tid, ts, dur, args) \
	"{'ph':'X','cat':'" cat "','name':'" name "','pid':" #pid ",'tid':" #tid ",'ts':" #ts \
	",'dur':" #dur ",'args':{" args "}}"
#define LAUNCH EVENT("cuda_runtime", "cudaLaunchKernel", 7, 8, 11, 1, "'correlation':1")
#define WORK(cat, name, dur) \
	EVENT(cat, name, 0, 7, 20, dur, "'device':0,'stream':7,'correlation':1")
#define PRODUCT(dur) \
	EVENT("cpu_op", "aten::mm", 7, 8, 10, 5, \
	      "'Input Dims':[[1024,1024],[1024,1024]],'Input type':['float','float']") \
	"," LAUNCH "," WORK("kernel", "cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align4", dur)
#define KERNEL(name) LAUNCH "," WORK("kernel", name, 10)
#define MEMORY(reserved) \
	KERNEL("a") \
	",{'ph':'i','s':'t','cat':'cpu_instant_event','name':'[memory]','pid':7," \
	"'tid':8,'ts':12,'args':{'Device Type':1,'Device Id':0,'Addr':1,'Bytes':800," \
	"'Total Allocated':800,'Total Reserved':" #reserved "}}"
#define OVERHEAD(name, cat) \
	LAUNCH "," WORK("kernel", "a", 100000) "," EVENT(cat, name, -1, 0, 200, 2000, "'x':1")

TEST(test_of_facts)
{
	static const struct {
		const char *id, *fires, *neighbour;
	} rules[] = {
		/* 2.1 GFLOP at 156 TFLOP/s take 13.8 µs */
		{ "gemm_efficiency", PRODUCT(50), PRODUCT(45) },
		{ "above_roofline", PRODUCT(13), PRODUCT(14) },
		{ "gemm_old_kernel", KERNEL("volta_sgemm_128x64_nn"),
		  KERNEL("ampere_sgemm_128x64_nn") },
		{ "gemm_simt", KERNEL("ampere_sgemm_32x128_tn"),
		  KERNEL("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_32x6_tn") },
		{ "pageable_copies",
		  LAUNCH "," WORK("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 10),
		  LAUNCH "," WORK("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 10) },
		{ "memory_full", MEMORY(901), MEMORY(900) },
		/* CUPTI's own work, and what CUDA does by itself */
		{ "tool_overhead", OVERHEAD("Activity Buffer Request", "overhead"),
		  OVERHEAD("Lazy Function Loading", "overhead") },
		{ "tool_overhead", OVERHEAD("Buffer Flush", "overhead"),
		  OVERHEAD("Buffer Flush", "cpu_op") },
	};

	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		expect_rule(rules[i].id, model_of_events(rules[i].fires),
			    model_of_events(rules[i].neighbour));
}

/* ---- runs without the tools ---- */

static void expect_cost(double overhead, const char *want)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1, "thread 1/1: l#1 0-1\nqueue gpu0/1: a#1 1-2\n");
	struct analysis_marks am = { .marks = VEC_INIT };
	struct table_set ts;
	CLEANUP(xfreep) char *have = NULL;

	VEC_PUSH(&am.overhead, ((struct analysis_overhead){ .tools = xstrdup("rocprofv3"),
							    .unit = xstrdup(""),
							    .verdict = xstrdup(""),
							    .overhead = overhead,
							    .baseline_s = 10,
							    .tools_s = 10 * (1 + overhead) }));
	ts = all_with(m, &am);
	have = findings_text(&ts);
	assert_string_equal(have, want);
	table_set_release(&ts);
	analysis_marks_release(&am);
}

TEST(test_of_baselines)
{
	expect_cost(0.06, "tool_cost::0.06\n");
	expect_cost(0.05, "");
}

/* ---- what mending saves, in joules ---- */

/* 400 W over a recording that begins before the device's work; saved at most: idle time. */
TEST(test_joules)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1e6, "thread 1/1: l#1 0-1 f 2-120 l#2 120-121\n"
					     "queue gpu0/1: a#1 1-80 b#2 120-200\n"
					     "series power.gpu0 W gauge: 0 400 100 400 200 400\n");
	struct table_set ts = all_of(m);
	const struct table *t = table_set_find(&ts, "findings");
	size_t row = row_of(t, "id", "idle_share", NULL, NULL);

	assert_near(num_of(t, row, "saves_at_most_ns"), 40e6, 0);
	assert_near(num_of(t, row, "saves_at_most_j"), 16, 1e-9);
	table_set_release(&ts);
}
