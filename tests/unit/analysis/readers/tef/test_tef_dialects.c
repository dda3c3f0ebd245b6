#include "readers_test.h"

#define FIX "tests/fixtures/tef/"

TEST(kineto_device)
{
	READING rd = read_path("tef", FIX "kineto.json", true);
	const struct model *m = rd.m;
	size_t gemm = span_at(m, "gemm<float>");
	const struct track *q = track_of(m, gemm), *device = &m->tracks.v[q->parent];

	expect_read(&rd, 0, "format='Trace Event Format (Kineto)' clock=realtime");
	/* baseTimeNanoseconds + ts, all digits */
	assert_span(m, "gemm<float>", 1735632360000000000 + 4203669604610100,
		    1735632360000000000 + 4203669604619700);
	expect_model(m, "gemm<float>: kind=kernel on=queue tid=7 rank=3 device=gpu1 "
			"'Memcpy HtoD (Host -> Device)': kind=copy 'Memset (Device)': kind=fill");
	assert_int_equal(device->kind, TRACK_DEVICE);
	assert_string_equal(model_str(m, device->device), "gpu1");
	assert_string_equal(model_str(m, device->host), "node7");
	/* the annotation came before the work that names its queue, lies on it and is no work */
	expect_model(m, "step: beside=gemm<float> kind=annotation work=0 gemm<float>: work=1");
}

TEST(kineto_host)
{
	READING rd = read_path("tef", FIX "kineto.json", true);
	const struct model *m = rd.m;
	size_t call = span_at(m, "hipLaunchKernel"), op = span_at(m, "aten::mm"), devices = 0,
	       gpu_processes = 0;

	assert_int_equal(m->spans.correlation[call], 77);
	assert_int_equal(span_correlation(&m->spans, op),
			 0); /* its External id counts something else */
	expect_model(m, "hipLaunchKernel: in=aten::mm track='thread 501 (main)' pid=500 rank=3");
	/* one launch by correlation, the ac2g flow does not double it; one fwdbwd flow */
	assert_int_equal(m->links.nr, 2);
	for (size_t i = 0; i < 2; i++) {
		bool launch = m->links.kind[i] == LINK_LAUNCH;

		assert_int_equal(m->links.from[i], launch ? call : op);
		assert_int_equal(m->links.to[i],
				 launch ? span_at(m, "gemm<float>") : span_at(m, "MmBackward0"));
	}
	assert_int_not_equal(m->links.kind[0], m->links.kind[1]);
	expect_model(m, "W_UNLINKED_WORK=2 only");
	/* metadata of devices makes no processes */
	for (size_t i = 0; i < m->tracks.nr; i++) {
		devices += m->tracks.v[i].kind == TRACK_DEVICE;
		gpu_processes += m->tracks.v[i].kind == TRACK_PROCESS && m->tracks.v[i].pid == 1;
	}
	assert_int_equal(devices, 1);
	assert_int_equal(gpu_processes, 0);
}

/* Without args the pid is the device and the tid the stream; without a correlation the External id
 * joins. A merged file's ranks stay apart. */
TEST(kineto_variants)
{
	READING rd = read_text(
		"tef",
		"[{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"old\",\"pid\":2,\"tid\":5,\"ts\":10,"
		"\"dur\":1,\"args\":{\"External id\":9}},"
		"{\"ph\":\"X\",\"cat\":\"Runtime\",\"name\":\"cudaLaunch\",\"pid\":100,\"tid\":100,"
		"\"ts\":5,\"dur\":1,\"args\":{\"External id\":\"9\"}},"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"r0\",\"pid\":2,\"tid\":4,\"ts\":20,"
		"\"dur\":1,\"args\":{\"device\":0,\"stream\":4,\"correlation\":7,\"rank\":0}},"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"r1\",\"pid\":100000003,\"tid\":4,"
		"\"ts\":20,\"dur\":1,\"args\":{\"device\":0,\"stream\":4,\"correlation\":7,"
		"\"rank\":1}},"
		"{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"n1\",\"pid\":100000003,"
		"\"tid\":4,\"ts\":20,\"dur\":1,\"args\":{\"rank\":1}},"
		"{\"ph\":\"X\",\"cat\":\"overhead\",\"name\":\"flush\",\"pid\":-1,\"tid\":0,\"ts\":"
		"30,\"dur\":1}]");
	const struct model *m = rd.m;
	size_t old = span_at(m, "old"), r0 = span_at(m, "r0"), r1 = span_at(m, "r1");

	expect_model(m, "clock=own links=1 old: device=gpu2 tid=5");
	assert_int_equal(m->links.from[0], span_at(m, "cudaLaunch"));
	assert_int_equal(m->links.to[0], old);
	assert_int_not_equal(m->spans.track[r0], m->spans.track[r1]);
	assert_int_not_equal(m->spans.correlation[r0], m->spans.correlation[r1]);
	expect_model(m, "r1: rank=1 n1: beside=r1 flush: track='thread 0' on=thread");
}

/* The profiler's own window stands beside the threads: as one of them it would be the longest call
 * of all, and take a process's share of the energy. */
TEST(kineto_window)
{
	READING rd = read_text(
		"tef",
		"{\"schemaVersion\":1,\"deviceProperties\":[],\"traceEvents\":["
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":9,\"tid\":9,\"ts\":"
		"10,"
		"\"dur\":5},"
		"{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch Profiler "
		"(0)\",\"pid\":\"Spans\","
		"\"tid\":\"PyTorch Profiler\",\"ts\":5,\"dur\":100,\"args\":{\"Op count\":0}}]}");

	expect_model(rd.m, "'PyTorch Profiler (0)': at=5000..105000 on=counter "
			   "track='PyTorch Profiler' aten::mm: on=thread");
}

/* A category "kernel" alone makes no device trace. */
TEST(not_kineto)
{
	struct reading rd =
		read_text("tef", "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"sys_read\",\"pid\":"
				 "2,\"tid\":5,\"ts\":10,\"dur\":1,\"args\":{\"fd\":9}}]");

	assert_string_equal(rd.m->inputs.v[0].format, "Trace Event Format");
	assert_int_equal(track_of(rd.m, 0)->kind, TRACK_THREAD);
	assert_int_equal(rd.m->spans.kind[0], SPAN_HOST);
	reading_release(&rd);
}

/* The base stands behind events that are damaged in the middle. */
TEST(kineto_base_behind_damage)
{
	struct reading rd =
		read_text("tef", "{\"schemaVersion\":1,\"deviceProperties\":[],\"traceEvents\":["
				 "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"pid\":0,"
				 "\"tid\":7,\"ts\":1.5,\"dur\":1,\"args\":{\"device\":0}},"
				 "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"b\",}]}]]\n,"
				 "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"c\",\"pid\":0,"
				 "\"tid\":7,\"ts\":3,\"dur\":1,\"args\":{\"device\":0}}"
				 "],\"baseTimeNanoseconds\": 1700000000000000000}");

	expect_read(&rd, READ_PARTIAL, "a: at=1700000000000001500..1700000000000002500");
	reading_release(&rd);
}

TEST(rocprof)
{
	READING rd = read_path("tef", FIX "rocprof-v1.json", true);
	const struct model *m = rd.m;
	size_t call = span_at(m, "hipLaunchKernel"), k = span_at(m, "kernel_a(int*)"),
	       copy = span_at(m, "CopyHostToDevice");

	expect_read(&rd, 0, "format='Trace Event Format (rocprof v1)' clock=boottime");
	/* ns of the arguments, not the µs of ts and dur */
	expect_model(m, "hipLaunchKernel: at=1000750..1003950 pid=4240 tid=4242 cat='CPU HIP API' "
			"kernel_a(int*): at=2000235..2010395 kind=kernel device=gpu3 tid=1 "
			"CopyHostToDevice: kind=copy device=gpu3");
	assert_int_equal(m->tracks.v[track_of(m, k)->parent].kind, TRACK_DEVICE);
	assert_int_equal(track_of(m, k)->parent, track_of(m, copy)->parent);
	/* the flow's whole µs lies before the call begins */
	assert_int_equal(m->links.nr, 1);
	assert_int_equal(m->links.kind[0], LINK_LAUNCH);
	assert_int_equal(m->links.from[0], call);
	assert_int_equal(m->links.to[0], k);
	assert_only_warned(m, NULL);
}

TEST(rocprof_names_behind)
{
	READING rd = read_text(
		"tef",
		"[{\"ph\":\"X\",\"name\":\"k\",\"pid\":\"9\",\"tid\":\"1\",\"ts\":\"2\",\"dur\":"
		"\"1\","
		"\"args\":{\"BeginNs\":\"2000\",\"EndNs\":\"2500\",\"stream-id\":\"1\"}},"
		"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":9,\"args\":{\"name\":\"GPU3\"}}]");

	expect_model(rd.m, "fact.metadata=1 k: at=2000..2500 kind=kernel device=gpu3");
}

/* Other accelerators' words for the same things. */
TEST(mtia)
{
	READING rd = read_path("tef", FIX "mtia.json", true);
	const struct model *m = rd.m;
	size_t call = span_at(m, "mtiaLaunch"), other = span_at(m, "xpuLaunch");

	expect_read(&rd, 0,
		    "format='Trace Event Format (Kineto)' clock=realtime "
		    "fc_kernel: kind=kernel work=1 device=gpu1 tid=17");
	/* without arguments the place tells device and queue */
	expect_model(m, "links=2 dpe_job: work=1 device=gpu0 tid=3 mtiaLaunch: on=thread "
			"in=aten::linear xpuLaunch: kind=host");
	for (size_t i = 0; i < 2; i++)
		assert_true(m->links.from[i] == call || m->links.from[i] == other);
	expect_model(m, "W_UNLINKED_WORK only fc_kernel: rank=4");
}

#define EVENT(cat, pid, tid, ts, dur, args) \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" cat "\",\"pid\":" pid ",\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}}"

/* Whatever devices the head lists, of any vendor. */
TEST(kineto_properties)
{
	static const char *const vendors[] = {
		"\"name\":\"NVIDIA H100\",\"computeMajor\":9,\"numSms\":132,"
		"\"sharedMemPerBlockOptin\":232448}",
		"\"name\":\"AMD Instinct MI300X\",\"computeMajor\":9,\"warpSize\":64,"
		"\"maxSharedMemoryPerMultiProcessor\":65536}",
	};
	static const int counts[] = { 0, 1, 8, 300 };

	for (size_t i = 0; i < ARRAY_LEN(counts) * 2; i++) {
		int n = counts[i / 2];
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

		strbuf_addstr(&text, "{\"schemaVersion\":1,\"deviceProperties\":[");
		for (int d = 0; d < n; d++) {
			strbuf_addf(&text, "%s{\"id\":%d,%s", d ? "," : "", d, vendors[i % 2]);
		}
		strbuf_addstr(&text, "],\"traceEvents\":[");
		strbuf_addstr(
			&text,
			EVENT("cuda_runtime", "9", "9", "1", "2", "\"correlation\":3") "," EVENT(
				"kernel", "7", "1", "5", "2",
				"\"device\":7,\"stream\":1,\"correlation\":3") "]}");
		READING rd = read_text("tef", text.buf);
		if (rd.r != 0 || rd.m->links.nr != 1)
			ROW_FAIL(i, "%s, %zu links", rd.err.msg, rd.m->links.nr);
		expect_model(rd.m, "format='Trace Event Format (Kineto)' only kernel: device=gpu7");
	}
}

/* Whatever a dialect writes for a device and a stream, the work lies on a queue of a device. */
TEST(device_habits)
{
	static const struct {
		const char *pid, *tid, *args, *device;
		int64_t stream;
	} cases[] = {
		{ "3", "7", "", "gpu3", 7 },
		{ "\"3\"", "\"7\"", "", "gpu3", 7 },
		{ "\"GPU 3\"", "\"stream 7\"", "", "gpu3", PID_NONE },
		{ "\"cuda:12\"", "7", "", "gpu12", 7 },
		{ "\"GPU\"", "7", "", "gpu0", 7 },
		{ "-1", "7", "", "gpu0", 7 },
		{ "1712195495", "7", "", "gpu0", 7 },
		{ "900", "901", "\"device\":1,\"stream\":20", "gpu1", 20 },
		{ "900", "901", "\"device\":\"1\",\"stream\":\"20\"", "gpu1", 20 },
		{ "900", "901", "\"device\":\"cuda:1\",\"stream\":20.0", "gpu1", 20 },
		{ "900", "901", "\"device\":-1,\"stream\":20", "gpu0", 20 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep)
		char *text = xasprintf("{\"schemaVersion\":1,\"deviceProperties\":[],"
				       "\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\","
				       "\"name\":\"k\",\"pid\":%s,\"tid\":%s,\"ts\":5,"
				       "\"dur\":1,\"args\":{%s}}]}",
				       cases[i].pid, cases[i].tid, cases[i].args);
		READING rd = read_text("tef", text);
		const struct track *q = track_of(rd.m, 0);

		if (q->kind != TRACK_QUEUE || q->tid != cases[i].stream ||
		    strcmp(model_str(rd.m, q->device), cases[i].device) != 0)
			ROW_FAIL(i, "'%s', %d", model_str(rd.m, q->device), (int)q->tid);
		assert_string_equal(model_str(rd.m, rd.m->tracks.v[q->parent].device),
				    cases[i].device);
	}
}

/* Among dates a time of 0 is none; among small numbers it is the beginning. */
TEST(kineto_no_time)
{
	static const struct {
		const char *text;
		uint64_t work, bad;
	} cases[] = {
		{ "[" EVENT("kernel", "0", "7", "0", "5", "\"stream\":7") "," EVENT(
			  "kernel", "0", "7", "1712195495505582.988", "5", "\"stream\":7") "]",
		  1, 1 },
		{ "{\"traceEvents\":[" EVENT(
			  "gpu_memcpy", "0", "7", "0", "0",
			  "\"stream\":7") "," EVENT("kernel", "0", "7", "17", "5",
						    "\"stream\":7") "],\"baseTimeNanoseconds\":"
								    "1735632360000000000}",
		  1, 1 },
		{ "[" EVENT("kernel", "0", "7", "0", "5", "\"stream\":7") "," EVENT(
			  "kernel", "0", "7", "7", "5", "\"stream\":7") "]",
		  2, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_text("tef", cases[i].text);

		if (rd.m->spans.nr != cases[i].work || warned(rd.m, W_BAD_EVENT) != cases[i].bad)
			ROW_FAIL(i, "%zu spans", rd.m->spans.nr);
		assert_true(rd.m->last_ns - rd.m->first_ns < 1000000);
	}
}

/* What chrome://tracing writes itself: thread times, marks of objects, samples of stacks. */
TEST(chrome_samples)
{
	READING rd = read_path("tef", FIX "chrome-samples.json", true);
	const struct model *m = rd.m;
	size_t leaf = span_nth(m, "paint \"x\"", 0);

	expect_read(&rd, 0, "format='Trace Event Format'");
	/* displayTimeUnit is for the viewer: times are µs in any case; tts is not the time */
	expect_model(m, "fact.stack_samples=4 Task: at=1000500..1004500 "
			"ProfileChunk: kind=instant 'paint \"x\"': kind=instant");
	assert_int_equal(m->spans.start_ns[leaf], 1001000);
	expect_model(m, "'paint \"x\"': in=Task cat=cycles:HG "
			"args='{\"stack\":\"main;paint \\\"x\\\"\"}'");
	assert_int_equal(track_of(m, span_at(m, "main"))->tid, 99); /* no event is on it */
	assert_int_equal(m->spans.kind[span_at(m, "cycles:HG")], SPAN_INSTANT); /* no frame 77 */
	assert_int_equal(warned(m, W_UNKNOWN_REFERENCE), 1);
	assert_int_equal(warned(m, W_IGNORED_RECORD), 2); /* objects have no place here */
	assert_int_equal(m->warnings.nr, 2);
}

/* Every frame the child of the one before it: their stacks would be a thousand times the file. */
TEST(chrome_deep_stacks)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	size_t bytes = 0;

	strbuf_addstr(&text, "{\"traceEvents\":[],\"stackFrames\":{\"0\":{\"name\":\"f\"}");
	for (int i = 1; i < 5000; i++)
		strbuf_addf(&text, ",\"%d\":{\"name\":\"f%d\",\"parent\":%d}", i, i, i - 1);
	strbuf_addstr(&text, "},\"samples\":[");
	for (int i = 0; i < 5000; i++)
		strbuf_addf(&text, "%s{\"tid\":1,\"ts\":%d,\"sf\":%d}", i ? "," : "", i, i);
	strbuf_addstr(&text, "]}");
	READING rd = read_text("tef", text.buf);
	expect_read(&rd, 0, "spans=5000");
	for (size_t i = 0; i < rd.m->spans.nr; i++)
		bytes += strlen(model_str(rd.m, span_args(&rd.m->spans, i)));
	assert_in_range(bytes, 10000, text.len + 65536);
	assert_in_range(warned(rd.m, W_IGNORED_RECORD), 4000, 4999);
}

TEST(uftrace)
{
	READING rd = read_path("tef", FIX "uftrace.json", false);
	const struct model *m = rd.m;
	size_t f = span_at(m, "f");

	expect_model(m, "format='Trace Event Format (uftrace)' clock=monotonic "
			"main: at=2054326478724..2054326486477 f: in=main");
	assert_int_equal(m->spans.exclusive_ns[f], 1026 - 92 - 79);
	/* no tid: the main thread */
	expect_model(m, "only f: pid=10667 tid=10667 track='[10667] a'");
}

TEST(profrig_tracer)
{
	READING rd = read_path("tef", FIX "profrig-blas.json", true);
	const struct model *m = rd.m;

	expect_read(&rd, 0,
		    "format='Trace Event Format (profrig blas)' clock=monotonic "
		    "cblas_sgemm: at=5000001001..5000003501 cat=blas host=node1 tid=77 "
		    "sdot_: at=5000002000..5000002999 tid=78");
	assert_only_warned(m, NULL); /* never closed is how these files are */
}

/* A writer killed in the middle of a line leaves NUL bytes where the rest should be, and other
 * threads' lines behind them. */
TEST(profrig_holes)
{
	static const char text[] =
		"[\n{\"ph\":\"M\",\"pid\":7,\"tid\":7,\"ts\":1.000,\"name\":\"profrig\",\"args\":{"
		"\"tracer\":\"roctx\",\"clock\":\"CLOCK_MONOTONIC\",\"host\":\"h\"}},\n"
		"{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":2.000,\"dur\":1.000,\"name\":\"a\"},\n"
		"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		"{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":4.000,\"dur\":1.000,\"name\":\"b\"},\n"
		"{\"ph\":\"X\",\"pid\":7,\"tid\":8,\"ts\":5.000,\"dur\":1."
		"0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		"{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":6.000,\"dur\":1.000,\"name\":\"c\"},\n"
		"{\"ph\":\"X\",\"pid\":7,\"tid\":8,\"ts\":7.000,\"dur\":1.000,\"name\":"
		"\"half\0\0\0\0\0\0\0\0"
		"{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":8.000,\"dur\":1.000,\"name\":\"d\"},\n"
		"\0\0\0\0\0\0\0\0\0\0";
	READING rd = read_bytes("tef", text, sizeof(text) - 1);

	expect_read(&rd, 0,
		    "format='Trace Event Format (profrig roctx)' spans=4 W_UNTERMINATED=2 "
		    "only a: at=2000..3000 b: at=4000..5000 c: at=6000..7000 "
		    "d: at=8000..9000");
}

TEST(clocks)
{
	static const struct {
		const char *text;
		enum trace_clock clock;
		double hz;
	} cases[] = {
		{ "[{\"ph\":\"X\",\"ts\":5,\"dur\":1,\"pid\":1}]", TRACE_CLOCK_OWN, 1e6 },
		{ "[{\"ph\":\"X\",\"ts\":1712195495505582.9,\"dur\":1,\"pid\":1}]",
		  TRACE_CLOCK_REALTIME, 1e9 },
		{ "[{\"ph\":\"X\",\"ts\":9712195495505582,\"dur\":1,\"pid\":1}]", TRACE_CLOCK_OWN,
		  1e6 },
		{ "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":5,\"dur\":1,\"pid\":1}],\"metadata\":{"
		  "\"clock-domain\":\"LINUX_CLOCK_MONOTONIC\"}}",
		  TRACE_CLOCK_MONOTONIC, 1e6 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_text("tef", cases[i].text);

		assert_int_equal(rd.m->inputs.v[0].clock, cases[i].clock);
		assert_true(rd.m->inputs.v[0].resolution_hz == cases[i].hz);
	}
}

/* A dialect that is said counts more than what is seen. */
TEST(said)
{
	static const char kernel[] =
		"[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":2,\"tid\":5,\"ts\":10,"
		"\"dur\":1,\"args\":{\"fd\":9}}]";
	static const struct {
		const char *dialect, *format;
		enum track_kind kind;
	} cases[] = {
		{ NULL, "Trace Event Format", TRACK_THREAD },
		{ "chrome", "Trace Event Format", TRACK_THREAD },
		{ "kineto", "Trace Event Format (Kineto)", TRACK_QUEUE },
		{ "rocprof_v1", "Trace Event Format (rocprof v1)", TRACK_THREAD },
		{ "profrig", "Trace Event Format (profrig)", TRACK_THREAD },
		{ "uftrace", "Trace Event Format (uftrace)", TRACK_THREAD },
	};
	CLEANUP(xfreep) char *path = temp_file(kernel, sizeof(kernel) - 1);

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct read_opts o = { .dialect = cases[i].dialect };
		CLEANUP(model_freep) struct model *m = model_new();

		assert_int_equal(reader_find("tef")->read(path, model_sink(m), &o, NULL), 0);
		model_finish(m);
		if (track_of(m, 0)->kind != cases[i].kind ||
		    strcmp(m->inputs.v[0].format, cases[i].format) != 0)
			ROW_FAIL(i, "%s", m->inputs.v[0].format);
	}
	unlink(path);
}
