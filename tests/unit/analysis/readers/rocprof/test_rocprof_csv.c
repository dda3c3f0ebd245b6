/* CSV files of rocprofv3 and rocprof v1, made here: dialects, files of one run, and what is wrong
 * with them. */
#include "readers_test.h"

#define KERNELS_2025 \
	"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_" \
	"Id\"," \
	"\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"," \
	"\"LDS_Block_Size\",\"Grid_Size_X\"\n"
#define CALLS \
	"\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\"," \
	"\"Start_Timestamp\",\"End_Timestamp\"\n"
#define COUNTERS \
	"\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_" \
	"Id\"," \
	"\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\"," \
	"\"End_Timestamp\"\n"

static void assert_said(const struct model *m, const char *code, const char *words)
{
	for (size_t i = 0; i < m->warnings.nr; i++)
		if (strcmp(m->warnings.v[i].code, code) == 0 &&
		    strstr(m->warnings.v[i].text, words))
			return;
	for (size_t i = 0; i < m->warnings.nr; i++)
		print_error("%s: %s\n", m->warnings.v[i].code, m->warnings.v[i].text);
	fail_msg("no %s with '%s'", code, words);
}

/* One kernel in every dialect: order and case of columns, forms of an agent, more and fewer
 * columns. All are the same model. */
TEST(kernel_dialects)
{
	static const char *const cases[] = {
		KERNELS_2025 "\"KERNEL_DISPATCH\",\"Agent 4\",1,3,77,1,10,\"k<a, b>(int*)\",9,1000,"
			     "3500,512,64\n",
		/* 2024: no stream, sizes of segments, a bare number */
		"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\","
		"\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\","
		"\"Private_Segment_Size\",\"Group_Segment_Size\"\n"
		"\"KERNEL_DISPATCH\",4,3,77,1,10,\"k<a, b>(int*)\",9,1000,3500,0,0\n",
		/* converted from a database */
		"\"Guid\",\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\","
		"\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\","
		"\"Start_Timestamp\",\"End_Timestamp\",\"Lds_Block_Size\"\n"
		"\"0000-ab\",\"KERNEL_DISPATCH\",\"Agent 4\",1,3,77,1,10,\"k<a, b>(int*)\",9,1000,"
		"3500,512\n",
		/* a duration behind, CRLF, a byte order mark, no quotes where none are needed */
		"\xef\xbb\xbfKind,Agent_Id,Queue_Id,Stream_Id,Kernel_Name,Correlation_Id,"
		"Start_Timestamp,End_Timestamp,Duration\r\n"
		"KERNEL_DISPATCH,agent-4,1,3,\"k<a, b>(int*)\",9,1000,3500,2500\r\n",
		/* another order, other spelling, no line end at the end */
		"END_TIMESTAMP,start timestamp,kernel-name,AGENT_ID,kind,stream_id,correlation_id\n"
		"3500,1000,\"k<a, b>(int*)\",Agent_4,KERNEL_DISPATCH,3,9",
		"\n\nKernel_Name,Kind,Stream_Id,Agent_Id,Start_Timestamp,End_Timestamp,"
		"Correlation_Id\n\n\"k<a, b>(int*)\",KERNEL_DISPATCH,3,GPU 4,1000,3500.0,9\n\n\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_text("rocprof_csv", cases[i]);
		const struct track *t;

		if (rd.r != 0 || rd.m->spans.nr != 1)
			ROW_FAIL(i, "%d, %zu spans: %s", rd.r, rd.m->spans.nr, rd.err.msg);
		t = track_of(rd.m, 0);
		assert_string_equal(span_name(rd.m, 0), "k<a, b>(int*)");
		assert_int_equal(rd.m->spans.start_ns[0], 1000);
		assert_int_equal(rd.m->spans.end_ns[0], 3500);
		assert_int_equal(rd.m->spans.kind[0], SPAN_KERNEL);
		assert_string_equal(model_str(rd.m, rd.m->spans.category[0]), "KERNEL_DISPATCH");
		assert_string_equal(model_str(rd.m, t->device), "gpu4");
		assert_int_equal(t->kind, TRACK_QUEUE);
		assert_int_equal(t->tid, 3);
		assert_int_equal(rd.m->tracks.v[t->parent].kind, TRACK_DEVICE);
		assert_only_warned(rd.m, W_UNLINKED_WORK);
	}
}

TEST(names)
{
	static const struct {
		const char *cell, *name;
	} cases[] = {
		{ "\"f(int, int)\"", "f(int, int)" },
		{ "\"a \"\"b\"\" c\"", "a \"b\" c" },
		{ "\"operator\"\"_x(char)\"", "operator\"_x(char)" },
		{ "\"two\nlines\"", "two\nlines" },
		/* not doubled: from both ends only the name is left */
		{ "\"f<\"x\">(int)\"", "f<\"x\">(int)" },
		{ "\"f(\"a,b\", c)\"", "f(\"a,b\", c)" },
		{ "\"f(\"a\",\"b\")\"", "f(\"a\",\"b\")" },
		{ "\"one \" quote\"", "one \" quote" },
		{ "\"one \",quote\"", "one \",quote" },
		{ "plain", "plain" },
		{ "\"\"", "" },
		{ "\"\xff\xfe\"", "\xff\xfe" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep)
		char *text =
			xasprintf(KERNELS_2025
				  "\"KERNEL_DISPATCH\",\"Agent 4\",1,1,77,1,10,%s,1,1000,3500,0,1\n"
				  "\"KERNEL_DISPATCH\",\"Agent 4\",1,1,77,2,10,\"next, "
				  "one\",2,4000,5000,0,1\n",
				  cases[i].cell);
		READING rd = read_text("rocprof_csv", text);

		if (rd.r != 0 || rd.m->spans.nr != 2)
			ROW_FAIL(i, "%d, %zu spans: %s", rd.r, rd.m->spans.nr, rd.err.msg);
		if (strcmp(span_name(rd.m, 0), cases[i].name) != 0)
			ROW_FAIL(i, "'%s'", span_name(rd.m, 0));
		assert_string_equal(span_name(rd.m, 1), "next, one");
		assert_int_equal(rd.m->spans.start_ns[1], 4000);
		assert_only_warned(rd.m, W_UNLINKED_WORK);
	}
}

TEST(missing_columns)
{
	static const struct refused cases[] = {
		{ "", -ENODATA, "no header" },
		{ "\r\n\n", -ENODATA, "no header" },
		{ "a,b,c\n1,2,3\n", -EINVAL, ":1: the columns are none" },
		{ "\n\"open\n", -EINVAL, ":2: the columns are none" },
		{ "Kind,Agent_Id,Kernel_Name,End_Timestamp\n", -EINVAL,
		  ":1: no column 'Start_Timestamp'" },
		{ "Kind,Agent_Id,Kernel_Name,Start_Timestamp\n", -EINVAL,
		  "no column 'End_Timestamp'" },
		{ "Domain,Function,Thread_Id\n", -EINVAL, "no column 'Start_Timestamp'" },
		{ "Counter_Name,Counter_Value,Kernel_Name\n", -EINVAL, "no column 'Dispatch_Id'" },
		{ "Counter_Name,Counter_Value,Dispatch_Id\n", -EINVAL, "no column 'Kernel_Name'" },
	};

	expect_refused("rocprof_csv", cases, ARRAY_LEN(cases));
}

TEST(calls)
{
	READING rd = read_text("rocprof_csv",
			       CALLS "\"HIP_RUNTIME_API_EXT\",\"outer\",5,7,1,1000,9000\n"
				     "\"HSA_CORE_API\",\"inner\",5,7,2,2000,3000\n"
				     "\"HIP_RUNTIME_API_EXT\",\"other\",6,8,1,1000,2000\n"
				     "\"MARKER_CORE_API\",\"mark, one\",5,7,3,1500,1500\n"
				     "\"MARKER_CORE_API\",\"range a\",5,0,4,1000,5000\n"
				     "\"MARKER_CORE_RANGE_API\",\"range b\",5,7,5,3000,8000\n"
				     "\"MARKER_CORE_API\",\"range c\",5,0,6,1200,2000\n"
				     "\"MARKER_CORE_API\",\"range d\",6,0,6,1200,2000\n");
	const struct model *m = rd.m;
	size_t inner = span_at(m, "inner");

	expect_read(&rd, 0, "clock=boottime");
	assert_string_equal(span_name(m, span_parent(&m->spans, inner)), "outer");
	expect_model(m, "'mark, one': kind=instant inner: pid=5 tid=7 other: pid=6");
	/* ranges that overlap lie on tracks of their own, those that nest do not */
	assert_true(m->spans.track[span_at(m, "range a")] != m->spans.track[span_at(m, "range b")]);
	expect_model(m, "'range a': beside='range c'");
	assert_true(track_of(m, span_at(m, "range b"))->beside);
	expect_model(m, "only 'range b': track='process ranges #2' 'range d': pid=6");
}

TEST(arguments)
{
	static const char text[] = "Kind,Agent_Id,Kernel_Name,Start_Timestamp,End_Timestamp,Odd "
				   "\"\"x,Size,Empty,Zero\n"
				   "K,Agent 1,k,1000,2000,\"a \"\"b\"\", \\ \xff\",-1.5,,007\n";
	READING rd = read_text("rocprof_csv", text);

	assert_int_equal(rd.r, 0);
	assert_string_equal(model_str(rd.m, span_args(&rd.m->spans, 0)),
			    "{\"Agent_Id\":\"Agent 1\",\"Odd \\\"x\":\"a \\\"b\\\", \\\\ "
			    "\xef\xbf\xbd\",\"Size\":-1.5,\"Zero\":\"007\"}");
}

TEST(copies)
{
	static const struct {
		const char *direction, *device;
	} cases[] = {
		{ "MEMORY_COPY_HOST_TO_DEVICE", "gpu5" },
		{ "MEMORY_COPY_DEVICE_TO_HOST", "gpu4" },
		{ "DEVICE_TO_DEVICE", "gpu4" },
		{ "HOST_TO_HOST", "cpu4" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep)
		char *text = xasprintf("Kind,Direction,Source_Agent_Id,Destination_Agent_Id,"
				       "Correlation_Id,Start_Timestamp,End_Timestamp\n"
				       "MEMORY_COPY,%s,Agent 4,Agent 5,1,1000,2000\n",
				       cases[i].direction);
		READING rd = read_text("rocprof_csv", text);

		assert_int_equal(rd.m->spans.nr, 1);
		assert_int_equal(rd.m->spans.kind[0], SPAN_COPY);
		if (strcmp(model_str(rd.m, track_of(rd.m, 0)->device), cases[i].device) != 0)
			ROW_FAIL(i, "%s", model_str(rd.m, track_of(rd.m, 0)->device));
	}
}

TEST(allocations)
{
	READING rd = read_text(
		"rocprof_csv",
		"Kind,Operation,Agent_Id,Allocation_Size,Address,Correlation_Id,Start_Timestamp,"
		"End_Timestamp\n"
		"M,MEMORY_ALLOCATION_ALLOCATE,Agent 1,100,\"0x10\",1,1000,1100\n"
		"M,MEMORY_ALLOCATION_ALLOCATE,Agent 1,200,\"0x20\",2,1050,1200\n"
		"M,MEMORY_ALLOCATION_FREE,,0,\"0x10\",3,2000,2100\n"
		"M,MEMORY_ALLOCATION_ALLOCATE,Agent 1,300,\"0x10\",4,3000,3100\n"
		"M,MEMORY_ALLOCATION_FREE,,0,\"0x99\",5,4000,4100\n");

	expect_model(rd.m, "fact.allocations=3 fact.allocated_bytes=600 fact.frees=2 "
			   "fact.addresses_not_freed=2 spans=5 only");
}

TEST(counters_long)
{
	struct reading rd =
		read_text("rocprof_csv",
			  COUNTERS "1,1,Agent 1,1,50,51,\"k, a\",\"SQ_WAVES\",16.000000,1000,2000\n"
				   "1,1,Agent 1,1,50,51,\"k, a\",\"GRBM_COUNT\",2.5,1000,2000\n"
				   "2,2,Agent 1,1,50,51,\"k, b\",\"SQ_WAVES\",8,3000,4000\n"
				   "2,2,Agent 1,1,50,51,\"k, b\",\"GRBM_COUNT\",nan,3000,4000\n"
				   "2,2,Agent 1,1,50,51,\"k, b\",\"GRBM_COUNT\",many,3000,4000\n");

	expect_read(&rd, 0, "spans=2");
	assert_int_equal(track_of(rd.m, 0)->pid, 50);
	expect_model(rd.m, "fact.dispatches=2 W_READ_FAILED=1 W_BAD_NUMBER=1 ~SQ_WAVES: samples=2 "
			   "v[0]=16 v[1]=8 t[1]=4000 device=gpu1 kind=unknown");
	assert_said(rd.m, W_BAD_NUMBER, "line 6");
	reading_release(&rd);
}

TEST(counters_wide)
{
	static const struct {
		const char *text, *device;
		uint64_t spans;
	} cases[] = {
		ROW("Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,SQ_WAVES,FETCH_"
		    "SIZE,"
		    "DispatchNs,BeginNs,EndNs,CompleteNs\n"
		    "0,\"k, a [clone .kd]\",8,2,0,50,51,64,64,16,1.5,900,1000,2000,2100\n"
		    "1,\"k, b\",8,2,1,50,51,64,64,8,None,2900,3000,4000,4100\n",
		    "gpu8", 2),
		ROW("Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,Start_Timestamp,"
		    "End_Timestamp,Correlation_ID,SQ_WAVES\n"
		    "0,2,64,64,\"k, a\",1000,2000,0,16\n1,2,64,64,\"k, b\",3000,4000,0,8\n",
		    "gpu2", 2),
		/* --timestamp off: nothing has a time */
		{ "Index,KernelName,gpu-id,queue-id,SQ_WAVES\n0,\"k, a\",8,2,16\n1,k,8,2,8\n", "",
		  0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_text("rocprof_csv", cases[i].text);

		if (rd.r != 0 || rd.m->spans.nr != cases[i].spans)
			ROW_FAIL(i, "%d, %zu spans", rd.r, rd.m->spans.nr);
		assert_int_equal(fact(rd.m, "dispatches"), 2);
		if (cases[i].spans) {
			const struct series *s = series_named(rd.m, "SQ_WAVES");

			assert_true(s->value.nr == 2 && s->value.v[0] == 16);
			assert_string_equal(model_str(rd.m, track_of(rd.m, 0)->device),
					    cases[i].device);
			assert_only_warned(rd.m, NULL);
		} else {
			expect_model(rd.m, "'fact.sum of SQ_WAVES'=24 W_IGNORED_RECORD only");
		}
	}
}

TEST(summaries)
{
	struct reading rd =
		read_text("rocprof_csv", "Name,Calls,TotalDurationNs,AverageNs,Percentage\n"
					 "\"f, g\",3,100,33,50\nh,2,100,50,50\n");

	expect_read(&rd, 0, "spans=0 fact.calls=5 fact.total_ns=200");
	assert_said(rd.m, W_IGNORED_RECORD, "a summary");
	assert_only_warned(rd.m, W_IGNORED_RECORD);
	reading_release(&rd);
}

/* ---- files of one run ---- */

static struct model *read_files(const char *dir, const char *const *files)
{
	struct model *m = model_new();
	struct read_opts o = { .keep_args = false };
	struct err err = ERR_INIT;

	for (; *files; files++) {
		if (reader_find("rocprof_csv")
			    ->read(in_dir(dir, *files), model_sink(m), &o, &err) != 0)
			fail_msg("%s", err.msg);
	}
	model_finish(m);
	return m;
}

#define AGENTS \
	"Node_Id,Logical_Node_Id,Agent_Type,Location_Id,Domain,Name\n" \
	"0,0,CPU,0,0,cpu\n1,1,CPU,0,0,cpu\n4,2,GPU,49408,0,gfx90a\n6,3,GPU,51200,1,gfx90a\n"

TEST_IN(one_run, dir)
{
	static const char *const files[] =
		LIST("4242_kernel_trace.csv", "4242_hip_api_trace.csv",
		     "4242_memory_copy_trace.csv", "4242_agent_info.csv",
		     "4242_counter_collection.csv", "4242_kernel_stats.csv", NULL);
	const struct track *q;

	test_put(dir, files[0],
		 KERNELS_2025 "K,Agent 2,1,1,4243,1,1,k1,11,2000,3000,0,1\n"
			      "K,Agent 3,1,1,4243,2,1,k2,12,3000,4000,0,1\n"
			      "K,Agent 3,1,1,4243,3,1,k3,99,5000,6000,0,1\n");
	test_put(dir, files[1],
		 CALLS "H,launch1,4242,4243,11,1000,1100\nH,launch2,4242,4243,12,1200,1300\n"
		       "H,copy,4242,4242,13,1400,1500\n");
	test_put(dir, files[2],
		 "Kind,Direction,Stream_Id,Source_Agent_Id,Destination_Agent_Id,Correlation_Id,"
		 "Start_Timestamp,End_Timestamp\n"
		 "M,MEMORY_COPY_HOST_TO_DEVICE,1,Agent 0,Agent 2,13,7000,8000\n");
	test_put(dir, files[3], AGENTS);
	test_put(dir, files[4],
		 COUNTERS "11,1,Agent 2,1,4242,4243,k1,SQ_WAVES,4,2000,3000\n"
			  "12,2,Agent 3,1,4242,4243,k2,SQ_WAVES,5,3000,4000\n");
	test_put(dir, files[5], "Name,Calls,TotalDurationNs\nk1,1,1000\n");
	CLEANUP(model_freep) struct model *m = read_files(dir, files);
	/* the dispatches of the counters are those of the trace */
	expect_model(m, "spans=7 W_DUPLICATE_INPUT=2 ~SQ_WAVES: samples=1");
	/* launches lie in another file */
	assert_int_equal(m->links.nr, 3);
	for (size_t i = 0; i < m->links.nr; i++) {
		const char *from = span_name(m, m->links.from[i]),
			   *to = span_name(m, m->links.to[i]);

		if (strcmp(from, "copy") == 0)
			assert_string_equal(to, "MEMORY_COPY_HOST_TO_DEVICE");
		else
			assert_int_equal(from[6], to[1]);
	}
	assert_int_equal(warned(m, W_UNLINKED_WORK), 1);
	/* devices are GPUs, and where they sit is known */
	q = track_of(m, span_at(m, "k2"));
	expect_model(m, "k2: device=gpu1 pci=1:c8:0 k1: device=gpu0");
	/* the process of the name is that of the rows, and the copy's queue is the kernel's */
	assert_int_equal(q->pid, 4242);
	assert_int_equal(q->owner, track_of(m, span_at(m, "launch1"))->parent);
	expect_model(m, "k1: beside=MEMORY_COPY_HOST_TO_DEVICE");
}

/* Releases of 2024: the counters' times are in the trace beside them. */
TEST_IN(counters_joined, dir)
{
	static const char *const files[] = { "9_counter_collection.csv", "9_kernel_trace.csv",
					     NULL };
	const struct series *s;

	test_put(dir, files[0],
		 "Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Kernel_Name,Counter_Name,Counter_Value\n"
		 "2,4,1,9,b,SQ_WAVES,5\n1,4,1,9,a,SQ_WAVES,4\n3,4,1,9,lost,SQ_WAVES,6\n");
	test_put(dir, files[1],
		 "Kind,Agent_Id,Queue_Id,Thread_Id,Dispatch_Id,Kernel_Name,Correlation_Id,"
		 "Start_Timestamp,End_Timestamp\nK,4,1,9,1,\"a \"x\"\",0,1000,2000\n"
		 "K,4,1,9,1,a,0,1000,2000\nK,4,1,9,2,b,0,3000,4000\n");
	CLEANUP(model_freep) struct model *m = read_files(dir, files);
	s = series_named(m, "SQ_WAVES");
	expect_model(m, "spans=3 ~SQ_WAVES: samples=2 t[1]=4000 v[1]=5");
	assert_int_equal(s->track, m->spans.track[0]);
	assert_int_equal(warned(m, W_BAD_EVENT), 1);
}

/* Numbers of correlations are each run's own; a prefix that is no pid finds it in a sibling. */
TEST_IN(two_runs, dir)
{
	static const char *const files[] = { "a_kernel_trace.csv", "a_hip_api_trace.csv",
					     "b_kernel_trace.csv", "b_hip_api_trace.csv",
					     "kernel_trace.csv",   NULL };

	test_put(dir, files[0], KERNELS_2025 "K,GPU 0,1,1,1,1,1,ka,5,2000,3000,0,1\n");
	test_put(dir, files[1], CALLS "H,la,70,70,5,1000,1100\n");
	test_put(dir, files[2], KERNELS_2025 "K,GPU 0,1,1,1,1,1,kb,5,2000,3000,0,1\n");
	test_put(dir, files[3], CALLS "H,lb,80,80,5,1000,1100\n");
	test_put(dir, files[4], KERNELS_2025 "K,GPU 0,1,1,1,1,1,kc,5,2000,3000,0,1\n");
	CLEANUP(model_freep) struct model *m = read_files(dir, files);
	assert_int_equal(m->links.nr, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(span_name(m, m->links.from[i])[1],
				 span_name(m, m->links.to[i])[1]);
	expect_model(m, "ka: pid=70 kb: pid=80 kc: pid=none");
}

/* Two processes in one converted file have equal correlations. */
TEST_IN(guids, dir)
{
	static const char *const files[] = { "x_kernel_trace.csv", "x_hip_api_trace.csv", NULL };

	test_put(dir, files[0],
		 "Guid,Kind,Agent_Id,Stream_Id,Kernel_Name,Correlation_Id,Start_Timestamp,"
		 "End_Timestamp\ng-1,K,GPU 0,1,k1,5,2000,3000\ng-2,K,GPU 0,1,k2,5,2000,3000\n");
	test_put(dir, files[1],
		 "Guid,Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,"
		 "End_Timestamp\ng-2,H,l2,2,2,5,1000,1100\ng-1,H,l1,1,1,5,1000,1100\n");
	CLEANUP(model_freep) struct model *m = read_files(dir, files);
	assert_int_equal(m->links.nr, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(span_name(m, m->links.from[i])[1],
				 span_name(m, m->links.to[i])[1]);
}

/* ---- what is wrong with them ---- */

TEST(bad_rows)
{
	static const struct {
		const char *row;
		uint64_t spans;
		const char *code, *words;
	} cases[] = {
		{ "H,f,1,1,1,2000,1000\n", 1, W_NEGATIVE_DURATION, "f" },
		{ "H,f,1,1,1,0,0\n", 0, W_BAD_EVENT, "without a time" },
		{ "H,f,1,1,1,0,5000\n", 0, W_BAD_EVENT, "without a time" },
		{ "H,f,1,1,1,-5,5000\n", 0, W_BAD_EVENT, "without a time" },
		{ "H,f,1,1,1,,5000\n", 0, W_BAD_EVENT, "without a time" },
		{ "H,f,1,1,1,nan,5000\n", 0, W_BAD_NUMBER, "line 2" },
		{ "H,f,1,1,1,1000,99999999999999999999\n", 0, W_BAD_NUMBER, "line 2" },
		{ "H,f,1,1,1,1000,9223372036854775807\n", 1, W_TIME_RANGE, "out of range" },
		{ "H,f,1,1,x,1000,2000\n", 1, W_BAD_NUMBER, "line 2" },
		{ "H,f,1,one,1,1000,2000\n", 1, W_BAD_NUMBER, "line 2" },
		{ "H,f,1\n", 0, W_BAD_EVENT, "number of fields" },
		{ "H,f,1,1,1,1000,2000,\n", 0, W_BAD_EVENT, "number of fields" },
		{ "H,f,1,1,1,\"1000,2000\n", 0, W_BAD_EVENT, "number of fields" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep)
		char *text = xasprintf(CALLS "%sH,good,1,1,2,3000,4000\n", cases[i].row);
		READING rd = read_text("rocprof_csv", text);

		if (rd.r != (warned(rd.m, W_TIME_RANGE) ? READ_PARTIAL : 0) ||
		    rd.m->spans.nr != cases[i].spans + 1)
			ROW_FAIL(i, "%d, %zu spans", rd.r, rd.m->spans.nr);
		assert_said(rd.m, cases[i].code, cases[i].words);
		assert_only_warned(rd.m, cases[i].code);
		assert_span(rd.m, "good", 3000, 4000);
	}
}

/* Wherever a file is cut, the whole rows before count and nothing is made up. */
TEST(cut_everywhere)
{
	static const char text[] = CALLS
		"\"HIP\",\"f, one\",1,1,1,1000100,1000200\n\"HIP\",\"g \"\"two\"\"\",1,1,2,1000300,"
		"1000400\n\"HIP\",\"h\",1,1,3,1000500,1000600\n";
	size_t n = strlen(text), header = strlen(CALLS), rows = 0;

	for (size_t i = 0; i <= n; i++) {
		READING rd = read_bytes("rocprof_csv", text, i);
		bool whole_row = i > header && text[i - 1] == '\n';
		/* that the line end alone is missing cannot be seen */
		bool unended = i > header && i < n && text[i] == '\n';

		rows += whole_row;
		if (i < header - 1) {
			assert_true(rd.r < 0 || rd.m->spans.nr == 0);
		} else if (i <= header || whole_row || unended) {
			assert_int_equal(rd.r, 0);
			assert_int_equal(rd.m->spans.nr, rows + unended);
		} else {
			if (rd.r != READ_PARTIAL || rd.m->spans.nr != rows)
				ROW_FAIL(i, "%d, %zu spans", rd.r, rd.m->spans.nr);
			assert_true(rd.m->inputs.v[0].partial);
			assert_said(rd.m, W_TRUNCATED, "inside a row");
		}
	}
	assert_int_equal(rows, 3);
}

/* Bytes changed at random: never more spans than rows, never an end before a start. */
TEST(mutations)
{
	static const char *const texts[] = {
		KERNELS_2025 "\"K\",\"Agent 4\",1,3,77,1,10,\"k<a, b>(int*)\",9,1000,3500,512,64\n"
			     "\"K\",\"Agent 5\",1,3,77,2,10,\"k \"\"q\"\"\",10,4000,4500,512,64\n",
		CALLS "\"MARKER_CORE_API\",\"r\",1,0,1,1000,2000\n\"H\",\"f\",1,1,2,1000,2000\n",
		COUNTERS "1,1,Agent 1,1,50,51,\"k, a\",\"SQ_WAVES\",16.0,1000,2000\n"
			 "2,2,Agent 1,1,50,51,\"k, a\",\"SQ_WAVES\",17.0,3000,4000\n",
		"Index,KernelName,gpu-id,queue-id,SQ_WAVES,BeginNs,EndNs\n0,\"k\",8,2,16,1000,"
		"2000\n",
	};
	static const char bytes[] = ",\"\n\r\0 0-9aN\xff";
	uint64_t seed = 11;

	for (uint64_t i = 0; i < test_cases(4000); i++) {
		const char *text = texts[i % ARRAY_LEN(texts)];
		size_t n = strlen(text);
		CLEANUP(xfreep) char *copy = xmemdup(text, n);

		for (uint64_t k = 1 + rnd(&seed) % 4; k > 0; k--)
			copy[rnd(&seed) % n] = bytes[rnd(&seed) % (sizeof(bytes) - 1)];
		READING rd = read_bytes("rocprof_csv", copy, n);
		assert_in_range(rd.m->spans.nr, 0, 4);
		for (size_t s = 0; s < rd.m->spans.nr; s++)
			assert_true(rd.m->spans.end_ns[s] >= rd.m->spans.start_ns[s]);
	}
}

/* More agents, threads and counters than there can be. */
TEST(many_things)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, KERNELS_2025);
	for (int i = 0; i < 2000; i++)
		strbuf_addf(&sb, "K,Agent %d,1,1,1,1,1,k,1,%d,%d,0,1\n", i, 1000 + i, 2000 + i);
	READING rd = read_bytes("rocprof_csv", sb.buf, sb.len);
	expect_read(&rd, 0, "spans=2000");
	assert_int_equal(warned(rd.m, W_BAD_EVENT), 2000 - 256);
}

/* Large enough for rows to be found by a thread of its own: the same as in small pieces. */
TEST(large_file)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	enum { ROWS = 40000 };
	struct reading rd;
	int64_t sum = 0;

	strbuf_addstr(&sb, KERNELS_2025);
	for (int i = 0; i < ROWS; i++) {
		/* now and then quotes that are not doubled, and lines that are no rows */
		strbuf_addf(&sb, "\"K\",\"Agent 4\",1,%d,77,%d,10,\"k%d(%s, int)\",%d,%d,%d,0,64\n",
			    i % 5, i, i % 700, i % 97 ? "char" : "\"x\"", i + 1, 1000 + 10 * i,
			    1000 + 10 * i + i % 10);
		if (i % 1000 == 999)
			strbuf_addstr(&sb, "\"K\",\"what\n");
	}
	rd = read_bytes("rocprof_csv", sb.buf, sb.len);
	assert_true(sb.len > (size_t)2 << 20);
	assert_int_equal(rd.r, 0);
	assert_int_equal(rd.m->spans.nr, ROWS);
	for (size_t i = 0; i < ROWS; i++)
		sum += rd.m->spans.end_ns[i] - rd.m->spans.start_ns[i];
	assert_int_equal(sum, (int64_t)ROWS / 10 * 45);
	assert_int_equal(fact(rd.m, "rows"), ROWS);
	assert_int_equal(warned(rd.m, W_BAD_EVENT), ROWS / 1000);
	span_at(rd.m, "k97(\"x\", int)");
	reading_release(&rd);
	/* nothing is left behind when it ends in the middle of a row */
	rd = read_bytes("rocprof_csv", sb.buf, sb.len - 20);
	assert_int_equal(rd.r, READ_PARTIAL);
	reading_release(&rd);
}

TEST_IN(detected, dir)
{
	static const char text[] = CALLS "H,f,1,1,1,1000,2000\n";
	CLEANUP(xfreep) char *path = fs_join(dir, "1_hip_api_trace.csv");
	const struct reader *found = NULL;

	test_put(dir, "1_hip_api_trace.csv", text);
	assert_int_equal(reader_detect(path, &found, NULL), 0);
	assert_string_equal(found->name, "rocprof_csv");
	READING rd = read_path("rocprof_csv", path, false);
	assert_int_equal(rd.m->spans.nr, 1);
	assert_int_equal(span_args(&rd.m->spans, 0), STR_NONE);
}
