/* What rocprofv3 writes as JSON. The fixture is made by hand after the manual's description. */
#include "readers_test.h"

#define FIX "tests/fixtures/tef/rocprofv3.json"

TEST(work)
{
	READING rd = read_path("tef", FIX, true);
	const struct model *m = rd.m;
	size_t add = span_at(m, "add(float*)"), made = span_at(m, "kernel 6"),
	       copy = span_at(m, "MEMORY_COPY_HOST_TO_DEVICE");
	const struct track *q = track_of(m, add), *device = &m->tracks.v[q->parent];

	expect_read(&rd, 0, "format='rocprofv3 JSON' clock=boottime");
	assert_true(m->inputs.v[0].driver_numbers);
	expect_model(m, "add(float*): at=1000300000..1000304000 kind=kernel cat=KERNEL_DISPATCH");
	/* devices count by the driver's nodes, which the file does not list in order */
	expect_model(m, "add(float*): device=gpu0 pci=0:c1:0 on=queue 'kernel 6': device=gpu1 "
			"pci=0:c5:0");
	assert_int_equal(q->tid, 2); /* of the null stream: the queue */
	assert_int_equal(track_of(m, made)->tid, 3);
	assert_int_equal(m->tracks.v[q->owner].pid, 717);
	assert_int_equal(device->kind, TRACK_DEVICE);
	assert_string_equal(model_str(m, device->host), "node3");
	expect_model(m, "MEMORY_COPY_HOST_TO_DEVICE: kind=copy beside='kernel 6'");
	assert_has(model_str(m, span_args(&m->spans, copy)), "\"bytes\": 4096");
	expect_model(m, "SCRATCH_MEMORY_ALLOC: kind=annotation beside=add(float*)");
}

TEST(calls)
{
	READING rd = read_path("tef", FIX, true);
	const struct model *m = rd.m;
	size_t push = span_at(m, "step \"1\""),
	       ranges[2] = { span_nth(m, "epoch", 0), span_nth(m, "epoch", 1) };

	expect_model(m, "hipLaunchKernel: pid=717 tid=717 cat=HIP_RUNTIME_API in='step \"1\"' "
			"hipMemcpyAsync: tid=718 'step \"1\"': kind=annotation here: kind=instant "
			"ncclAllReduce: in='step \"1\"' "
			"MEMORY_ALLOCATION_ALLOCATE: kind=annotation");
	/* a list that is not known holds calls */
	assert_span(m, "hipMalloc", 1000229000, 1000229500);
	/* two ranges of the process overlap: each has a track, and none is the thread's */
	assert_int_not_equal(m->spans.track[ranges[0]], m->spans.track[ranges[1]]);
	for (int i = 0; i < 2; i++) {
		assert_int_not_equal(m->spans.track[ranges[i]], m->spans.track[push]);
		assert_int_equal(m->tracks.v[track_of(m, ranges[i])->parent].pid, 717);
	}
	expect_model(m, "s_waitcnt: kind=instant track='PC samples'");
	/* each launch with its work; a call's arguments are no record */
	assert_int_equal(m->links.nr, 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(m->links.kind[i] == LINK_LAUNCH && span_is_work(m, m->links.to[i]));
	expect_model(m, "W_UNLINKED_WORK=0 W_SPAN_OVERLAP=0");
}

TEST(counters)
{
	READING rd = read_path("tef", FIX, false);
	const struct series *s = series_named(rd.m, "SQ_WAVES");

	assert_int_equal(s->t_ns.nr, 1);
	assert_true(s->value.v[0] == 1024.5); /* both instances */
	expect_model(rd.m, "~SQ_WAVES: t[0]=1000304000 device=gpu0");
	assert_int_equal(rd.m->tracks.v[s->track].kind, TRACK_QUEUE);
	/* the other dispatch is in no list of times, so its counter has no place */
	assert_int_equal(warned(rd.m, W_IGNORED_RECORD), 1);
	assert_int_equal(warned(rd.m, W_UNKNOWN_REFERENCE), 1); /* kernel 6 */
}

#define DOC(members) "{\"rocprofiler-sdk-tool\": [{" members "}]}"
#define CALL(start, end) \
	"{\"kind\":0,\"operation\":0,\"thread_id\":4,\"start_timestamp\":" start \
	",\"end_timestamp\":" end "}"
#define CALLS(list) DOC("\"buffer_records\":{\"hip_api\":[" list "]}")

/* Counters alone: what was dispatched is known from them. Names stand behind their use. */
TEST(counters_alone)
{
	READING rd = read_text(
		"tef", DOC("\"callback_records\":{\"counter_collection\":[{\"dispatch_data\":{"
			   "\"start_timestamp\":5,\"end_timestamp\":9,\"dispatch_info\":{"
			   "\"agent_id\":2,\"queue_id\":1,\"kernel_id\":3,\"dispatch_id\":1}},"
			   "\"records\":[{\"counter_id\":8,\"value\":2}]}]},"
			   "\"kernel_symbols\":[{\"kernel_id\":3,\"kernel_name\":\"k\"}],"
			   "\"agents\":[{\"id\":2,\"type\":2,\"logical_node_type_id\":6}]"));

	expect_read(&rd, 0, "k: at=5..9");
	assert_string_equal(model_str(rd.m, track_of(rd.m, 0)->device), "gpu6");
	expect_model(rd.m, "W_UNKNOWN_REFERENCE only ~'counter 8': samples=1");
}

/* Processes of one file count everything from the start. */
TEST(two_processes)
{
	static const char one[] =
		"\"buffer_records\":{\"kernel_dispatch\":[{\"start_timestamp\":%d,"
		"\"end_timestamp\":%d,\"correlation_id\":{\"internal\":1},\"dispatch_info\":{"
		"\"agent_id\":{\"handle\":2},\"queue_id\":{\"handle\":1},\"kernel_id\":3}}],"
		"\"hip_api\":[{\"start_timestamp\":%d,\"end_timestamp\":%d,\"thread_id\":%d,"
		"\"kind\":0,\"operation\":0,\"correlation_id\":{\"internal\":1}}]},"
		"\"agents\":[{\"id\":{\"handle\":2},\"type\":2}],\"metadata\":{\"pid\":%d},"
		"\"kernel_symbols\":[{\"kernel_id\":3,\"kernel_name\":\"k%d\"}]";
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	const struct model *m;

	strbuf_addstr(&text, "{\"rocprofiler-sdk-tool\":[{");
	strbuf_addf(&text, one, 20, 30, 10, 15, 7, 7, 1);
	strbuf_addstr(&text, "},{");
	strbuf_addf(&text, one, 40, 50, 32, 35, 8, 8, 2);
	strbuf_addstr(&text, "}]}");
	READING rd = read_text("tef", text.buf);
	m = rd.m;
	expect_read(&rd, 0, "links=2");
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(track_of(m, m->links.from[i])->pid,
				 m->tracks.v[track_of(m, m->links.to[i])->owner].pid);
	assert_int_not_equal(m->spans.track[span_at(m, "k1")], m->spans.track[span_at(m, "k2")]);
	assert_int_equal(track_of(m, span_at(m, "k1"))->parent,
			 track_of(m, span_at(m, "k2"))->parent);
}

TEST(odd)
{
	static const struct {
		const char *text, *code;
		int r;
		uint64_t spans;
	} cases[] = {
		{ CALLS(CALL("5", "9")), W_UNKNOWN_REFERENCE, 0, 1 },
		{ CALLS(CALL("0", "9")), W_BAD_EVENT, 0, 0 },
		{ CALLS(CALL("9", "5")), W_NEGATIVE_DURATION, 0, 1 },
		{ CALLS(CALL("-9", "5")), W_BAD_NUMBER, 0, 0 },
		{ CALLS(CALL("5", "1e400")), W_BAD_NUMBER, 0, 0 },
		{ CALLS(CALL("5", "NaN")), W_BAD_NUMBER, 0, 0 },
		{ CALLS(CALL("5", "99999999999999999999")), W_BAD_NUMBER, 0, 0 },
		{ CALLS("{\"thread_id\":3}"), W_BAD_EVENT, 0, 0 },
		{ CALLS("17,\"x\",[]"), W_BAD_EVENT, 0, 0 },
		{ CALLS(""), W_EMPTY_INPUT, 0, 0 },
		{ DOC("\"buffer_records\":[]"), W_EMPTY_INPUT, 0, 0 },
		{ DOC("\"agents\":7,\"strings\":[],\"metadata\":null"), W_EMPTY_INPUT, 0, 0 },
		{ "{\"rocprofiler-sdk-tool\":{\"buffer_records\":{\"hip_api\":[" CALL("5",
										      "9") "]"
											   "}}}",
		  W_UNKNOWN_REFERENCE, 0, 1 },
		{ "{\"rocprofiler-sdk-tool\":[]}", NULL, -EINVAL, 0 },
		{ "{\"rocprofiler-sdk-tool\":[{\"buffer_records\":{\"hip_api\":[" CALL(
			  "5", "9") ",{\"ki",
		  W_TRUNCATED, READ_PARTIAL, 1 },
		{ CALLS(CALL("5", "9") "}"), W_TRUNCATED, READ_PARTIAL, 1 },
		{ CALLS(CALL("5", "9")) "]", W_TRUNCATED, READ_PARTIAL, 1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_text("tef", cases[i].text);

		if (rd.r != cases[i].r || rd.m->spans.nr != cases[i].spans)
			ROW_FAIL(i, "result %d: %s, %zu spans", rd.r, rd.err.msg, rd.m->spans.nr);
		if (cases[i].code && !warned(rd.m, cases[i].code))
			ROW_FAIL(i, "no %s", cases[i].code);
		if (rd.r < 0 && !strstr(rd.err.msg, "byte"))
			ROW_FAIL(i, "%s", rd.err.msg);
	}
}

TEST(cut_everywhere)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0, most = 0;
	uint64_t seed = 11;

	assert_true(fs_read(FIX, 1 << 20, &text, &n, NULL) >= 0);
	for (size_t cut = 0; cut + 2 < n; cut++) {
		READING rd = read_bytes("tef", text, cut);

		if (rd.r == 0)
			ROW_FAIL(cut, "nothing is said of the cut");
		if (rd.r == READ_PARTIAL && (!warned(rd.m, W_TRUNCATED) || !rd.m->spans.nr))
			ROW_FAIL(cut, "partial without a reason or a span");
		most = rd.m->spans.nr > most ? rd.m->spans.nr : most;
	}
	assert_int_equal(most, 15);
	for (int i = 0; i < 3000; i++) {
		CLEANUP(xfreep) char *bad = xmemdup(text, n);

		for (uint64_t k = rnd(&seed) % 5 + 1; k > 0; k--)
			bad[rnd(&seed) % n] = (char)rnd(&seed);
		READING rd = read_bytes("tef", bad, n);
		assert_true(rd.r <= READ_PARTIAL);
	}
}
