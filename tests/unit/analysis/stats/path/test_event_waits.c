/* Paths across queues: waits for events as Kineto and Nsight Systems record them. */
#include "nsys_fixture.h"
#include "readers_test.h"
#include "tables_support.h"

/* ---- Kineto; times are µs, the table's ns ---- */

struct event {
	const char *cat, *name;
	int start, end, stream; /* -1: on the thread */
	const char *args;       /* quotes are ' */
};

static struct reading read_events(const struct event *v, size_t n)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, "{'schemaVersion':1,'traceEvents':[");
	for (size_t i = 0; i < n; i++) {
		strbuf_addf(&sb, "%s{'ph':'X','cat':'%s','name':'%s','ts':%d,'dur':%d,",
			    i ? "," : "", v[i].cat, v[i].name, v[i].start, v[i].end - v[i].start);
		if (v[i].stream < 0)
			strbuf_addf(&sb, "'pid':100,'tid':101,'args':{%s}}", v[i].args);
		else
			strbuf_addf(&sb, "'pid':0,'tid':%d,'args':{'device':0,'stream':%d,%s}}",
				    v[i].stream, v[i].stream, v[i].args);
	}
	strbuf_addstr(&sb, "]}");
	for (size_t i = 0; i < sb.len; i++)
		if (sb.buf[i] == '\'')
			sb.buf[i] = '"';
	return read_text("tef", sb.buf);
}

static void expect_path(const struct event *v, size_t n, const char *want)
{
	struct reading rd = read_events(v, n);
	struct table_set ts;

	assert_int_equal(rd.r, 0);
	ts = run(rd.m, "critical_path", NULL);
	expect_table(table_set_find(&ts, "critical_path"), want);
	table_set_release(&ts);
	model_free(rd.m);
}

#define STEP \
	{ \
		"user_annotation", "ProfilerStep#1", 0, 100, -1, "'x':1" \
	}
#define CALL(name, start, end, number) \
	{ \
		"cuda_runtime", name, start, end, -1, "'correlation':" #number \
	}
#define KERNEL(name, start, end, stream, number) \
	{ \
		"kernel", name, start, end, stream, "'correlation':" #number \
	}
/* What happens on two streams; b is launched on 8 after the wait for the event of 7. */
#define STREAMS \
	STEP, CALL("cudaLaunchKernel", 0, 1, 5), CALL("cudaLaunchKernel", 2, 4, 1), \
		CALL("cudaEventRecord", 5, 6, 2), CALL("cudaStreamWaitEvent", 7, 8, 3), \
		CALL("cudaLaunchKernel", 9, 10, 4), CALL("cudaDeviceSynchronize", 20, 95, 6), \
		KERNEL("z", 3, 12, 8, 5), KERNEL("a", 10, 40, 7, 1), KERNEL("b", 45, 60, 8, 4)

TEST(test_stream_waits)
{
	/* with what the profiler does not record of the wait, b has nothing before it but z */
	static const struct event plain[] = { STREAMS };
	static const struct event waits[] = {
		STREAMS,
		{ "cuda_sync", "Stream Wait Event", 7, 8, 8,
		  "'cuda_sync_kind':'Stream Wait Event','wait_on_stream':7,'correlation':3,"
		  "'wait_on_cuda_event_record_corr_id':2,'wait_on_cuda_event_id':1" },
	};
	/* the stream is known from the event's own row alone */
	static const struct event events[] = {
		STREAMS,
		{ "cuda_event", "cudaEvent", 40, 41, 7, "'event_id':1,'correlation':2" },
		{ "cuda_sync", "Stream Wait Event", 7, 8, 8,
		  "'cuda_sync_kind':'Stream Wait Event','wait_on_stream':-1,'correlation':3,"
		  "'wait_on_cuda_event_record_corr_id':2,'wait_on_cuda_event_id':1" },
	};
	static const char across[] = "class ns\ncompute 45000\nkernel_gap 5000\nlaunch 8000\n"
				     "host 7000\nsync_return 35000\n";

	expect_path(plain, ARRAY_LEN(plain),
		    "class ns\ncompute 24000\nkernel_gap 33000\nlaunch 3000\nhost 5000\n"
		    "sync_return 35000\n");
	expect_path(waits, ARRAY_LEN(waits), across);
	expect_path(events, ARRAY_LEN(events), across);
}

/* Work that was queued behind the record of an event is not waited for. */
TEST(test_recorded_before)
{
#define LATER \
	STEP, CALL("cudaLaunchKernel", 1, 2, 1), CALL("cudaEventRecord", 3, 4, 2), \
		CALL("cudaLaunchKernel", 5, 6, 3), CALL("cudaStreamWaitEvent", 7, 8, 4), \
		CALL("cudaLaunchKernel", 9, 10, 5), CALL("cudaDeviceSynchronize", 20, 95, 6), \
		KERNEL("a", 10, 20, 7, 1), KERNEL("later", 20, 44, 7, 3), \
		KERNEL("b", 45, 90, 8, 5)
	static const struct event told[] = {
		LATER,
		{ "cuda_sync", "Stream Wait Event", 7, 8, 8,
		  "'wait_on_stream':7,'correlation':4,'wait_on_cuda_event_record_corr_id':2" },
	};
	static const struct event untold[] = {
		LATER,
		{ "cuda_sync", "Stream Wait Event", 7, 8, 8, "'wait_on_stream':7,'correlation':4" },
	};

	expect_path(told, ARRAY_LEN(told),
		    "class ns\ncompute 55000\nkernel_gap 25000\nlaunch 9000\nhost 6000\n"
		    "sync_return 5000\n");
	expect_path(untold, ARRAY_LEN(untold),
		    "class ns\ncompute 79000\nkernel_gap 1000\nlaunch 9000\nhost 6000\n"
		    "sync_return 5000\n");
}

/* A call waits for the stream or event that it names, not for what runs beside it. */
TEST(test_calls_wait)
{
#define BESIDE(call) \
	STEP, CALL("cudaLaunchKernel", 1, 2, 1), CALL("cudaEventRecord", 3, 4, 2), \
		CALL("cudaLaunchKernel", 5, 6, 3), CALL(call, 10, 60, 4), \
		KERNEL("a", 10, 50, 7, 1), KERNEL("beside", 20, 58, 8, 3)
	static const struct event plain[] = { BESIDE("cudaStreamSynchronize") };
	static const struct event stream[] = {
		BESIDE("cudaStreamSynchronize"),
		{ "cuda_sync", "Stream Sync", 10, 60, 7,
		  "'cuda_sync_kind':'Stream Sync','correlation':4" },
	};
	static const struct event event[] = {
		BESIDE("cudaEventSynchronize"),
		{ "cuda_sync", "Event Sync", 10, 60, 0,
		  "'cuda_sync_kind':'Event Sync','wait_on_stream':7,'correlation':4,"
		  "'wait_on_cuda_event_record_corr_id':2" },
	};
	static const char of_a[] = "class ns\ncompute 40000\nlaunch 9000\nhost 41000\n"
				   "sync_return 10000\n";

	expect_path(plain, ARRAY_LEN(plain),
		    "class ns\ncompute 38000\nlaunch 15000\nhost 45000\nsync_return 2000\n");
	expect_path(stream, ARRAY_LEN(stream), of_a);
	expect_path(event, ARRAY_LEN(event), of_a);
}

/* ---- Nsight Systems ---- */

#define EXPORT \
	"CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);" \
	"INSERT INTO StringIds VALUES (1,'cudaLaunchKernel'),(2,'cudaEventRecord')," \
	" (3,'cudaStreamWaitEvent'),(4,'a'),(5,'b'),(6,'old');" \
	"CREATE TABLE NVTX_EVENTS(start, \"end\", eventType, text, globalTid);" \
	"INSERT INTO NVTX_EVENTS VALUES (0, 100, 59, 'step_1', 16777217);" \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, \"end\", globalTid, correlationId," \
	" nameId);" \
	"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 16777217, 1, 1)," \
	" (3, 4, 16777217, 2, 2), (5, 6, 16777217, 3, 3), (7, 8, 16777217, 4, 1)," \
	" (9, 10, 16777217, 5, 2);" \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, \"end\", deviceId, streamId," \
	" correlationId, globalPid, demangledName);" \
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 60, 0, 7, 1, 16777216, 4)," \
	" (70, 120, 0, 8, 4, 16777216, 5), (8, 12, 0, 9, 0, 16777216, 6);"

static void expect_export(const char *tables, const char *want)
{
	READING rd = read_sql("nsys", false, SQL(EXPORT, tables));
	struct table_set ts;

	assert_int_equal(rd.r, 0);
	ts = run(rd.m, "critical_path", NULL);
	expect_table(table_set_find(&ts, "critical_path"), want);
	table_set_release(&ts);
}

TEST(test_nsys_events)
{
	static const char across[] = "class ns\ncompute 100\nkernel_gap 10\nlaunch 9\nhost 1\n";

	expect_export("", "class ns\ncompute 50\nlaunch 63\nhost 7\n");
	/* eventSyncId names the record */
	expect_export("CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, \"end\", deviceId,"
		      " streamId, correlationId, globalPid, syncType, eventId, eventSyncId);"
		      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
		      " (5, 6, 0, 8, 3, 16777216, 2, 11, 21);"
		      "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(deviceId, contextId, streamId,"
		      " correlationId, globalPid, eventId, eventSyncId);"
		      "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES"
		      " (0, 1, 7, 2, 16777216, 11, 21), (0, 1, 9, 5, 16777216, 11, 22);",
		      across);
	/* older exports have none: the last record of the event before the wait */
	expect_export("CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, \"end\", deviceId,"
		      " streamId, correlationId, globalPid, syncType, eventId);"
		      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
		      " (5, 6, 0, 8, 3, 16777216, 2, 11);"
		      "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(deviceId, contextId, streamId,"
		      " correlationId, globalPid, eventId);"
		      "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES"
		      " (0, 1, 7, 2, 16777216, 11), (0, 1, 9, 5, 16777216, 11);",
		      across);
}
