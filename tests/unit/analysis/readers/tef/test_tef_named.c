/* Timelines whose devices only names tell: TensorFlow's and Ascend's. */
#include "model_dump.h"
#include "readers_test.h"

/* clang-format off */
#define PROCESS(pid, name) \
	"{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":" #pid \
	",\"args\":{\"name\":\"" name "\"}}"
#define THREAD(pid, tid, name) \
	"{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":" #pid ",\"tid\":" #tid \
	",\"args\":{\"name\":\"" name "\"}}"
#define RUN(name, pid, tid, ts, dur, args) \
	"{\"name\":\"" name "\",\"ph\":\"X\",\"pid\":" #pid ",\"tid\":" #tid ",\"ts\":" #ts \
	",\"dur\":" #dur ",\"args\":{" args "}}"
#define TYPE(type) "\"Task Type\":\"" type "\",\"Physic Stream Id\":2,\"Task Id\":9"

static const char processes[] = "{\"traceEvents\":["
	PROCESS(1, "Allocators") ","
	PROCESS(2, "/job:localhost/replica:0/task:0/device:GPU:0 Compute") ","
	PROCESS(3, "/device:GPU:1/stream:all Compute") ","
	PROCESS(4, "/gpu:1/context#0/stream#7:Kernel Compute") ","
	PROCESS(5, "/gpu:1/context#0/stream#8:MemcpyHtoD Compute") ","
	PROCESS(6, "/device:GPU:0/stream:all Compute") ","
	PROCESS(7, "/device:GPU:0/memcpy Compute") ","
	RUN("MatMul", 2, 0, 10, 5, "\"op\":\"MatMul\"") ","
	RUN("again", 3, 0, 20, 5, "") ","
	RUN("k7", 4, 0, 20, 5, "") ","
	RUN("up", 5, 0, 30, 5, "") ","
	RUN("k0", 6, 0, 20, 5, "") ","
	RUN("MEMSET", 6, 0, 26, 1, "") ","
	RUN("down", 7, 0, 40, 5, "") "]}";

static const char threads[] = "["
	RUN("k", 1, 14, 10, 5, "") ","
	RUN("Memcpy", 1, 15, 10, 5, "") ","
	RUN("main", 2, 1, 1, 50, "") ","
	THREAD(1, 14, "Stream #14(Compute)") ","
	THREAD(1, 15, "/device:GPU:3/stream:15") ","
	PROCESS(1, "/device:GPU:3") ","
	PROCESS(2, "/host:CPU") "]";

static const char msprof[] = "["
	PROCESS(1, "CANN") ","
	PROCESS(2, "Ascend Hardware") ","
	"{\"name\":\"process_labels\",\"ph\":\"M\",\"pid\":2,\"args\":{\"labels\":\"NPU 5\"}},"
	THREAD(2, 40, "Stream 7") ","
	RUN("aten::mm", 3, 3, 1, 4, "\"cat\":1") ","
	RUN("Node@launch", 1, 11, 10, 5, "\"connection_id\":1") ","
	"{\"name\":\"HostToDevice1\",\"ph\":\"s\",\"cat\":\"HostToDevice\",\"id\":\"1\","
	"\"pid\":1,\"tid\":11,\"ts\":\"10\"},"
	"{\"name\":\"HostToDevice1\",\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"HostToDevice\","
	"\"id\":\"1\",\"pid\":2,\"tid\":40,\"ts\":\"20\"},"
	RUN("MatMulV2", 2, 40, "20", 5, TYPE("AI_CORE")) ","
	RUN("EVENT_WAIT", 2, 40, 30, 5, TYPE("EVENT_WAIT")) ","
	RUN("copy", 2, 41, 36, 5, TYPE("MEMCPY_ASYNC")) "]";
/* clang-format on */

static void assert_on(const struct model *m, const char *name, enum span_kind kind,
		      const char *device, int64_t stream)
{
	size_t at = span_at(m, name);

	assert_int_equal(m->spans.kind[at], kind);
	assert_int_equal(track_of(m, at)->kind, TRACK_QUEUE);
	assert_string_equal(model_str(m, track_of(m, at)->device), device);
	assert_int_equal(track_of(m, at)->tid, stream);
}

TEST(tensorflow_processes)
{
	READING rd = read_text("tef", processes);
	const struct model *m = rd.m;

	expect_read(&rd, 0, "format='Trace Event Format (TensorFlow)' MatMul: on=thread");
	assert_on(m, "again", SPAN_ANNOTATION, "gpu1", PID_NONE);
	assert_on(m, "k7", SPAN_KERNEL, "gpu1", 7);
	assert_on(m, "up", SPAN_COPY, "gpu1", 8);
	assert_on(m, "k0", SPAN_KERNEL, "gpu0", PID_NONE);
	assert_on(m, "MEMSET", SPAN_FILL, "gpu0", PID_NONE);
	assert_on(m, "down", SPAN_COPY, "gpu0", PID_NONE);
	assert_int_not_equal(m->spans.track[span_at(m, "down")], m->spans.track[span_at(m, "k0")]);
}

TEST(tensorflow_threads)
{
	READING rd = read_text("tef", threads);
	const struct model *m = rd.m;

	assert_on(m, "k", SPAN_KERNEL, "gpu3", 14);
	assert_on(m, "Memcpy", SPAN_COPY, "gpu3", 15);
	assert_int_equal(track_of(m, span_at(m, "main"))->kind, TRACK_THREAD);
}

TEST(ascend)
{
	READING rd = read_text("tef", msprof);
	const struct model *m = rd.m;

	expect_read(&rd, 0, "format='Trace Event Format (Ascend)'");
	assert_on(m, "MatMulV2", SPAN_KERNEL, "gpu5", 7);
	assert_on(m, "EVENT_WAIT", SPAN_ANNOTATION, "gpu5", 7);
	assert_on(m, "copy", SPAN_COPY, "gpu5", 41);
	expect_model(m, "links=1 aten::mm: on=thread");
	assert_int_equal(m->links.kind[0], LINK_LAUNCH);
	assert_int_equal(m->links.from[0], span_at(m, "Node@launch"));
	assert_int_equal(m->links.to[0], span_at(m, "MatMulV2"));
}

/* The names may be the last events of a file, and its other events look like Kineto's. */
TEST(names_last)
{
	CLEANUP(strbuf_release) struct strbuf events = STRBUF_INIT, first = STRBUF_INIT;
	static const char names[] = PROCESS(2, "Ascend Hardware") "," THREAD(2, 40, "Stream 7");
	struct reading a, b;

	for (int i = 0; i < 3000; i++)
		strbuf_addf(&events,
			    "{\"name\":\"op\",\"cat\":\"cpu_op\",\"ph\":\"X\",\"pid\":2,\"tid\":%d,"
			    "\"ts\":%d,\"dur\":1},",
			    40 + i % 2, i);
	strbuf_addf(&first, "[%s,%.*s]", names, (int)events.len - 1, events.buf);
	a = read_text("tef", first.buf);
	strbuf_clear(&first);
	strbuf_addf(&first, "[%s%s]", events.buf, names);
	b = read_text("tef", first.buf);
	assert_on(a.m, "op", SPAN_KERNEL, "gpu0", 7);
	assert_models_equal(a.m, b.m, "names behind the events");
	reading_release(&a);
	reading_release(&b);
}

TEST(system_events)
{
	READING rd = read_text(
		"tef", "{\"traceEvents\":[" RUN("a", 1, 1, 1, 1,
						"") "],\"systemTraceEvents\":"
						    "\"# tracer: nop\\n#\\n swapper-0 [000] 1.0: "
						    "x\\n a-1 [000] 2.0: y\\n\"}");

	expect_read(&rd, 0, "spans=1 W_IGNORED_RECORD=2");
}
