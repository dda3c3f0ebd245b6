/*
 * What Kineto's arguments state becomes facts: both dialects, collectives, copies, calls of HIP,
 * synchronisations, memory, devices; and of a recording of an LLM, every number of its text.
 */
#include "facts_support.h"
#include "readers_test.h"

/* Events of a file; quotes are ' here. */
struct made {
	const char *cat, *name, *args;
};

static char *quoted(const char *text)
{
	char *s = xstrdup(text);

	for (char *p = s; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	return s;
}

/* A device 2, rank 3 of 8. */
static struct reading read_made(const struct made *v, size_t n)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	CLEANUP(xfreep) char *text = NULL;

	strbuf_addstr(&sb, "{'schemaVersion':1,'deviceProperties':[{'id':2,'name':'Made \\'Up\\' "
			   "9000','totalGlobalMem':68702699520,'computeMajor':9,'computeMinor':0,"
			   "'warpSize':64,'numSms':104}],'distributedInfo':{'backend':'nccl',"
			   "'rank':3,'world_size':8,'nccl_version':'2.17.1','pg_config':[{'rank':"
			   "9}]},'traceEvents':[");
	for (size_t i = 0; i < n; i++)
		strbuf_addf(
			&sb, "%s{%s'name':'%s','cat':'%s','pid':7,'tid':8,'ts':%zu,'args':{%s}}",
			i ? "," : "",
			strcmp(v[i].name, "[memory]") ? "'ph':'X','dur':2," : "'ph':'i','s':'t',",
			v[i].name, v[i].cat, 10 * i + 10, v[i].args);
	strbuf_addstr(&sb, "]}");
	text = quoted(sb.buf);
	return read_text("tef", text);
}

static char *row_of(const struct model *m, const char *span, enum facts_kind kind)
{
	size_t i = span_at(m, span);
	const void *row = kind == FACTS_OP           ? (const void *)facts_op(m, i)
			  : kind == FACTS_KERNEL     ? (const void *)facts_kernel(m, i)
			  : kind == FACTS_COPY       ? (const void *)facts_copy(m, i)
			  : kind == FACTS_SYNC       ? (const void *)facts_sync(m, i)
			  : kind == FACTS_COLLECTIVE ? (const void *)facts_collective(m, i)
						     : (const void *)facts_memory(m, i);

	return row ? fact_row_text(m, kind, row) : xstrdup("none");
}

#define expect_row(m, span, kind, text) \
	do { \
		CLEANUP(xfreep) char *row_ = row_of((m), (span), (kind)); \
		assert_string_equal(row_, text); \
	} while (0)

static void expect_list(const struct model *m, const char *span, const char *shapes,
			const char *types)
{
	const struct op_facts *o = facts_op(m, span_at(m, span));
	const struct operand_list *l;

	assert_non_null(o);
	assert_int_not_equal(o->operands, FACT_NONE);
	l = &m->facts.lists.v[o->operands];
	assert_string_equal(model_str(m, l->shapes), shapes);
	assert_string_equal(model_str(m, l->types), types);
}

static void expect_numbers(const struct model *m, uint32_t id, const char *text)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	size_t n;
	const int64_t *v = facts_numbers(m, id, &n);

	for (size_t i = 0; i < n; i++)
		strbuf_addf(&sb, "%s%lld", i ? "," : "", (long long)v[i]);
	assert_string_equal(id == FACT_NONE ? "none" : sb.buf, text);
}

TEST(operators)
{
	static const struct made events[] = {
		{ "cpu_op", "aten::mm",
		  "'External id':5,'Sequence number':7,'Fwd thread id':0,'Input "
		  "Dims':[[2,3],[3,4]],"
		  "'Input type':['float','float'],'Input Strides':[[3,1],[4,1]],"
		  "'Concrete Inputs':['','']" },
		{ "cpu_op", "plain", "'External id':6" },
		{ "python_function", "frame",
		  "'Python parent id':null,'Python id':1,'Python module id':4" },
		{ "Operator", "old",
		  "'Input dims':'[[5, 6]]','Input type':'[\\'float\\']',"
		  "'Call stack':'a.py(1): f;b.py','Sequence number':'9'" },
		{ "Runtime", "cudaLaunchKernel_v3020", "'correlation':4" },
	};
	READING rd = read_made(events, ARRAY_LEN(events));

	expect_read(&rd, 0, "only");
	expect_row(rd.m, "aten::mm", FACTS_OP, "0 7 0 - - - '-' '-' - ");
	expect_list(rd.m, "aten::mm", "[[2,3],[3,4]]", "[\"float\",\"float\"]");
	expect_row(rd.m, "plain", FACTS_OP, "none");
	expect_row(rd.m, "frame", FACTS_OP, "4294967295 - - 1 - 4 '-' '-' - ");
	expect_row(rd.m, "old", FACTS_OP, "1 9 - - - - 'a.py(1): f;b.py' '-' - ");
	expect_list(rd.m, "old", "[[5,6]]", "[\"float\"]");
}

#define QUEUE "'device':2,'stream':7,'correlation':1,"

TEST(work)
{
	static const struct made events[] = {
		{ "kernel", "gemm",
		  QUEUE "'grid':[\n4,\n  106,\t1],'block':[128,1,1],'registers per thread':30,"
			"'shared memory':0,'graph id':5,'graph node id':9" },
		{ "gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", QUEUE "'bytes':256" },
		{ "gpu_memcpy", "CopyAny", QUEUE "'kind':'DtoD','bytes':1" },
		{ "gpu_memset", "Memset (Device)", QUEUE "'bytes':8" },
		{ "cuda_runtime", "hipMemcpyWithStream",
		  "'correlation':5,'src':'0x5','dst':'0x7','size':2560,'kind':1" },
		{ "cuda_runtime", "hipLaunchKernel",
		  "'correlation':6,'grid':[3,1,1],'block':[64,1,1],'shared memory':16" },
		{ "cuda_sync", "Stream Wait Event",
		  QUEUE "'wait_on_stream':20,'wait_on_cuda_event_id':11,"
			"'wait_on_cuda_event_record_corr_id':9" },
		{ "cuda_event", "cudaEvent", QUEUE "'event_id':11" },
		{ "cuda_sync", "Context Sync",
		  "'device':2,'stream':-1,'cuda_sync_kind':'Context Sync'" },
	};
	READING rd = read_made(events, ARRAY_LEN(events));
	const struct model *m = rd.m;

	expect_read(&rd, 0, "W_BAD_FACT=0 W_BAD_NUMBER=0");
	expect_row(m, "gemm", FACTS_KERNEL, "4 106 1 128 1 1 0 30 0 - 5 9 - ");
	expect_row(m, "Memcpy HtoD (Pageable -> Device)", FACTS_COPY, "256 1 1 3 - - ");
	expect_row(m, "CopyAny", FACTS_COPY, "1 3 0 0 - - ");
	expect_row(m, "Memset (Device)", FACTS_COPY, "8 0 0 3 - - ");
	expect_row(m, "hipMemcpyWithStream", FACTS_COPY, "2560 1 0 0 - - ");
	expect_row(m, "hipLaunchKernel", FACTS_KERNEL, "3 1 1 64 1 1 0 - 16 - - - - ");
	expect_row(m, "Stream Wait Event", FACTS_SYNC, "4 7 11 20 1 9 ");
	expect_row(m, "cudaEvent", FACTS_SYNC, "6 7 11 - 1 - ");
	expect_row(m, "Context Sync", FACTS_SYNC, "5 - - - - - ");
}

TEST(collectives)
{
	static const struct made events[] = {
		{ "cpu_op", "record_param_comms",
		  "'Collective name':'alltoallv','dtype':'BFloat16','In msg nelems':10,"
		  "'Out msg nelems':12,'Group size':2,'In split size':'[4, 6]',"
		  "'Out split size':'[]','Process Group Name':'0','Seq':17,"
		  "'Process Group Description':'default_pg','Process Group Ranks':'[0, 1]',"
		  "'Src Rank':-1,'dst rank':1" },
		{ "kernel", "ncclKernel",
		  QUEUE "'grid':[1,1,1],'Collective name':'send','Process Group ID':4,"
			"'Process Group Ranks':'[0, 2, ..., 30, ..., 126]','Group size':64,"
			"'Global rank start':0,'Global rank stride':2" },
		{ "cpu_op", "cut",
		  "'Collective name':'','Process Group Ranks':'[0, 1, ..., 7]','Group size':8" },
	};
	READING rd = read_made(events, ARRAY_LEN(events));
	const struct collective_facts *c;
	size_t n;

	expect_read(&rd, 0, "W_BAD_FACT=0 W_BAD_NUMBER=0");
	expect_row(rd.m, "record_param_comms", FACTS_COLLECTIVE,
		   "'alltoallv' 'BFloat16' 10 12 0 1 2 '0' 'default_pg' 2 17 - - 1 - - ");
	c = facts_collective(rd.m, span_at(rd.m, "record_param_comms"));
	expect_numbers(rd.m, c->in_split, "4,6");
	expect_numbers(rd.m, c->out_split, "");
	expect_numbers(rd.m, c->ranks, "0,1");
	c = facts_collective(rd.m, span_at(rd.m, "ncclKernel"));
	assert_string_equal(model_str(rd.m, c->group), "4");
	assert_int_equal(facts_numbers(rd.m, c->ranks, &n)[63], 126);
	assert_int_equal(n, 64);
	assert_int_equal(facts_kernel(rd.m, span_at(rd.m, "ncclKernel"))->grid[0], 1);
	c = facts_collective(rd.m, span_at(rd.m, "cut"));
	expect_numbers(rd.m, c->ranks, "none");
	assert_int_equal(c->name, STR_NONE);
	assert_int_equal(c->group_size, 8);
}

TEST(memory_devices_job)
{
	static const struct made events[] = {
		{ "cpu_instant_event", "[memory]",
		  "'Device Type':6,'Device Id':0,'Addr':140046054457344,'Bytes':-512,"
		  "'Total Allocated':1024,'Total Reserved':4096" },
		{ "", "[memory]", "'Device Type':0,'Device Id':-1,'Bytes':16" },
	};
	READING rd = read_made(events, ARRAY_LEN(events));
	const struct device_facts *d = facts_device(rd.m, 0, 2);
	const struct memory_facts *y = rd.m->facts.memory.v;

	expect_read(&rd, 0, "only");
	assert_int_equal(rd.m->facts.memory.nr, 2);
	assert_int_equal(y[0].bytes, -512);
	assert_int_equal(y[0].allocated, 1024);
	assert_int_equal(y[0].reserved, 4096);
	assert_int_equal(y[0].address, INT64_C(140046054457344));
	assert_true(y[0].on_device);
	assert_false(y[1].on_device);
	assert_int_equal(y[1].device, FACT_ABSENT);
	assert_int_equal(y[1].allocated, FACT_ABSENT);
	assert_string_equal(model_str(rd.m, d->name), "Made \"Up\" 9000");
	assert_int_equal(d->units, 104);
	assert_int_equal(d->warp, 64);
	assert_int_equal(d->memory, INT64_C(68702699520));
	assert_int_equal(d->capability_major, 9);
	assert_int_equal(rd.m->facts.worlds.nr, 1);
	assert_int_equal(rd.m->facts.worlds.v[0].rank, 3);
	assert_int_equal(rd.m->facts.worlds.v[0].size, 8);
	assert_string_equal(model_str(rd.m, rd.m->facts.worlds.v[0].version), "2.17.1");
}

TEST(damaged_values_are_counted)
{
	static const struct made events[] = {
		{ "kernel", "k",
		  QUEUE "'grid':[1,2,3,4],'block':['a'],'registers per thread':'many',"
			"'shared memory':-5" },
		{ "cpu_op", "op", "'Input Dims':{'a':1},'Input type':7,'Sequence number':1e5" },
	};
	READING rd = read_made(events, ARRAY_LEN(events));

	expect_read(&rd, 0, "W_BAD_NUMBER=4 W_BAD_FACT=1");
	expect_row(rd.m, "k", FACTS_KERNEL, "- - - - - - 0 - - - - - - ");
	expect_row(rd.m, "op", FACTS_OP, "4294967295 - - - - - '-' '-' - ");
}

/* The same facts, whether events are parsed by their shapes or one by one. */
TEST(shapes_and_slow_parser_agree)
{
	CLEANUP(strbuf_release) struct strbuf fast = STRBUF_INIT, slow = STRBUF_INIT;

	strbuf_addstr(&fast, "{\"schemaVersion\":1,\"traceEvents\":[");
	strbuf_addstr(&slow, fast.buf);
	for (int i = 0; i < 200; i++)
		for (int k = 0; k < 2; k++)
			strbuf_addf(k ? &slow : &fast,
				    "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"n%d\",\"pid\":7,"
				    "\"tid\":8,\"ts\":%d,\"dur\":2,\"args\":{%s\"Input Dims\":[[%d,"
				    "2]],\"Input type\":[\"fl\\u006fat\"],\"grid\":[%d,1,1],"
				    "\"device\":1,\"stream\":2,\"correlation\":%d,"
				    "\"Sequence number\":%d,\"bytes\":%d,"
				    "\"Collective name\":\"c%d\"}}",
				    i ? "," : "",
				    i % 3 == 0   ? "cpu_op"
				    : i % 3 == 1 ? "kernel"
						 : "gpu_memcpy",
				    i, i * 10, k ? "\"\\u0041\":1," : "", i % 9, i, i, i, i * 3,
				    i % 4);
	strbuf_addstr(&fast, "]}");
	strbuf_addstr(&slow, "]}");
	{
		READING a = read_text("tef", fast.buf);
		READING b = read_text("tef", slow.buf);

		assert_true(same_facts("shapes", a.m, b.m) > 300);
		assert_int_equal(a.m->facts.ops.nr, 67);
		assert_int_equal(a.m->facts.collectives.nr, 200);
	}
}

TEST(counting_reads_no_facts)
{
	CLEANUP(xfreep)
	char *text = quoted("{'schemaVersion':1,'traceEvents':[{'ph':'X','cat':"
			    "'cpu_op','name':'aten::mm','pid':7,'tid':8,'ts':10,"
			    "'dur':2,'args':{'Input Dims':[[2,-3]]}}]}");
	CLEANUP(xfreep) char *path = temp_file(text, strlen(text));
	struct counts n;

	assert_int_equal(reader_count(reader_find("tef"), path, &n, NULL, NULL), 0);
	assert_int_equal(n.spans, 1);
	unlink(path);
}

TEST(recording_of_an_llm)
{
	READING rd = read_recording("tef",
				    "tef/tracelens-mi300-qwen/"
				    "Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
				    false);
	const struct facts *f = &rd.m->facts;
	uint64_t mm = 0;

	assert_int_equal(f->ops.nr, 4619 + 4266);
	assert_int_equal(f->memory.nr, 2692);
	assert_int_equal(f->copies.nr, 2);
	assert_int_equal(f->devices.nr, 1);
	assert_int_equal(f->devices.v[0].units, 304);
	assert_true(f->lists.nr < 400);
	for (size_t i = 0; i < f->ops.nr; i++)
		mm += f->ops.v[i].operands != FACT_NONE &&
		      !strcmp(span_name(rd.m, f->ops.v[i].span), "aten::mm") &&
		      !strcmp(model_str(rd.m, f->lists.v[f->ops.v[i].operands].shapes),
			      "[[8944,1024],[1024,2816]]");
	assert_int_equal(mm, 48);
}

TEST(recording_of_collectives)
{
	READING rd = read_recording("tef", "tef/hta-nccl/nccl_data.json.gz", false);
	const struct facts *f = &rd.m->facts;
	size_t n;

	assert_int_equal(f->collectives.nr, 27 + 21);
	assert_int_equal(f->kernels.nr, 2700);
	assert_int_equal(f->copies.nr, 960 + 114);
	assert_int_equal(f->worlds.v[0].size, 2);
	assert_int_equal(f->devices.v[0].units, 108);
	for (size_t i = 0; i < f->collectives.nr; i++) {
		assert_true(*model_str(rd.m, f->collectives.v[i].name));
		facts_numbers(rd.m, f->collectives.v[i].ranks, &n);
		assert_true(n <= (size_t)f->collectives.v[i].group_size);
	}
	assert_int_equal(warned(rd.m, W_BAD_FACT) + warned(rd.m, W_BAD_NUMBER), 0);
}
