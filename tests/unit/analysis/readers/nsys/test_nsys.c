/* What exports of Nsight Systems may hold, old and new, and what may be wrong with them. */
#include "nsys_fixture.h"

#include <inttypes.h>

#define MARK(start, text, type, domain) \
	"INSERT INTO NVTX_EVENTS(start, \"end\", eventType, text, globalTid, domainId) VALUES " \
	"(" #start ", NULL, " #type ", '" text "', " TID_10_11 ", " #domain ");"
#define RANGE(start, end, text, type, domain) \
	"INSERT INTO NVTX_EVENTS(start, \"end\", eventType, text, globalTid, domainId) VALUES " \
	"(" #start ", " #end ", " #type ", '" text "', " TID_10_11 ", " #domain ");"

static size_t queue_count(const struct model *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->tracks.nr; i++)
		n += m->tracks.v[i].kind == TRACK_QUEUE;
	return n;
}

TEST(processes)
{
	READING rd = read_sql("nsys", false, SQL(NSYS_SMALL));
	const struct model *m = rd.m;

	expect_read(&rd, 0, "links=2 only");
	for (size_t i = 0; i < 2; i++) {
		const struct track *queue = track_of(m, m->links.to[i]);
		track_id thread = m->spans.track[m->links.from[i]];

		assert_int_equal(queue->owner, model_process_of(m, thread));
		assert_int_equal(queue->tid, 7);
		assert_string_equal(model_str(m, queue->device), "gpu0");
	}
	assert_int_equal(queue_count(m), 2); /* stream 7 of one is not stream 7 of the other */
	for (size_t i = 0; i < m->tracks.nr; i++) {
		const struct track *t = &m->tracks.v[i];

		if (t->kind == TRACK_PROCESS && t->pid == 10)
			assert_string_equal(model_str(m, t->name), "python3");
		if (t->kind == TRACK_THREAD && t->pid == 10) {
			assert_string_equal(model_str(m, t->name), "worker");
			assert_int_equal(t->tid, 11);
		}
		assert_int_not_equal(t->pid, 30); /* named, but nothing happens in it */
	}
	assert_span(m, "void k<int>(int)", 300, 400);
}

TEST(ranges)
{
	READING rd = read_sql(
		"nsys", true,
		SQL(NSYS_SMALL, RANGE(50, 500, "step", 59, 0), RANGE(90, 220, "forward", 59, 0),
		    RANGE(60, 700, "async a", 60, 0), RANGE(80, 900, "async b", 60, 0),
		    MARK(95, "here", 34, 0), RANGE(100, 210, "all_reduce", 59, 3),
		    MARK(0, "NCCL", 75, 3), MARK(5, "cat", 33, 3),
		    "INSERT INTO NVTX_EVENTS VALUES (96, 97, 59, NULL, " TID_10_11
		    ", NULL, 6, 0, 42);"));
	const struct model *m = rd.m;

	expect_read(&rd, 0, "only step: kind=host forward: in=step");
	/* the kernel is projected on the ranges through its launch */
	expect_model(m, "cudaLaunchKernel: in=all_reduce all_reduce: cat=nvtx:NCCL step: cat=nvtx "
			"registered: args={\"payload\":42} here: kind=instant "
			"'async a': kind=annotation apart='async b'");
	assert_true(track_of(m, span_at(m, "async a"))->beside);
	expect_model(m, "fact.nvtx_ranges=6 fact.nvtx_marks=1 fact.nvtx_other=1");
}

TEST(open_ranges)
{
	struct reading rd =
		read_sql("nsys", false,
			 SQL(NSYS_SMALL, RANGE(150, NULL, "open", 59, 0), RANGE(10, 20, "a", 59, 0),
			     RANGE(170, NULL, "late", 60, 0), RANGE(999, NULL, "last", 59, 0)));

	expect_read(&rd, 0, "W_OPEN_SPAN=3 open: at=150..200 last: at=999");
	reading_release(&rd);
}

/* Of a launched graph either its nodes or the graph as a whole are the work. */
TEST(graphs)
{
	static const char tables[] =
		"CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INTEGER, \"end\" INTEGER,"
		" deviceId INTEGER, graphId INTEGER, graphExecId INTEGER, contextId INTEGER,"
		" streamId INTEGER, correlationId INTEGER, globalPid INTEGER);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, 0, " TID_10_11
		", 5, 7, 0), (30, 40, 0, " TID_10_11 ", 6, 7, 0);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 110, 0, 1, 7, 5, " PID_10
		", 2, 1, 900),"
		" (120, 140, 0, 1, 7, 5, " PID_10 ", 2, 1, 901);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (100, 140, 0, 3, 4, 1, 7, "
		"5, " PID_10 "), (200, 250, 0, 8, 9, 1, 7, 6, " PID_10 ");";
	READING rd = read_sql("nsys", true, SQL(NSYS_BASE, tables));
	const struct model *m = rd.m;

	expect_read(&rd, 0, "links=3");
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(span_name(m, m->links.from[i]), "cudaGraphLaunch");
	expect_model(m, "'[CUDA graph 3]': kind=annotation '[CUDA graph 8]': kind=kernel");
	assert_has(model_str(m, span_args(&m->spans, span_at(m, "void k<int>(int)"))),
		   "\"graph node id\":900");
}

/* Processes that see one device each, and call it 0. */
TEST(devices)
{
	READING rd = read_sql(
		"nsys", false,
		SQL(NSYS_SMALL,
		    "CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT, busLocation TEXT);"
		    "INSERT INTO TARGET_INFO_GPU VALUES (2, 'H100', '0000:c1:00.0'), (5, 'H100', "
		    "'?');"
		    "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId INTEGER, cudaId INTEGER, pid "
		    "INTEGER);"
		    "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (2, 0, 10), (5, 0, 20);"
		    "CREATE TABLE MPI_RANKS(globalPid INTEGER, rank INTEGER);"
		    "INSERT INTO MPI_RANKS VALUES (" PID_10 ", 0), (" PID_20 ", 1), (1, -4);"));
	const struct model *m = rd.m;
	bool seen[6] = { false };

	assert_int_equal(rd.r, 0);
	assert_true(m->inputs.v[0].driver_numbers);
	for (size_t i = 0; i < m->tracks.nr; i++) {
		const struct track *t = &m->tracks.v[i];
		bool second =
			t->kind == TRACK_QUEUE && strstr(model_str(m, t->device), "gpu5") != NULL;

		if (t->kind != TRACK_QUEUE)
			continue;
		assert_int_equal(m->tracks.v[t->owner].pid, second ? 20 : 10);
		assert_int_equal(t->rank, second);
		assert_string_equal(model_str(m, t->pci), second ? "" : "0:c1:0");
		seen[second ? 5 : 2] = true;
	}
	assert_true(seen[2] && seen[5]);
}

TEST(clocks)
{
	static const struct {
		const char *meta;
		enum trace_clock clock;
		bool anchored;
		int64_t own_ns;
	} cases[] = {
		{ "('EXPORT_SCHEMA_VERSION', '3.1.7')", TRACE_CLOCK_OWN, true, 0 },
		{ "('EXPORT_PARAM_TIME_SHIFT', '1000')", TRACE_CLOCK_OWN, true, 1000 },
		{ "('EXPORT_PARAM_TIME_NORMALIZE', 'true')", TRACE_CLOCK_REALTIME, false, 0 },
		{ "('EXPORT_PARAM_TIME_NORMALIZE', 'true'), ('EXPORT_PARAM_TIME_SHIFT', '5')",
		  TRACE_CLOCK_OWN, true, INT64_C(1700000000000000005) },
		{ "('EXPORT_PARAM_TIME_SHIFT', 'x')", TRACE_CLOCK_OWN, true, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep)
		char *meta = xasprintf("CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);"
				       "INSERT INTO META_DATA_EXPORT VALUES %s;"
				       "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs "
				       "INTEGER, systemClockNs INTEGER);"
				       "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES "
				       "(1700000000000000000, 7);",
				       cases[i].meta);
		READING rd = read_sql("nsys", false, SQL(NSYS_SMALL, meta));
		const struct input *in = &rd.m->inputs.v[0];

		assert_int_equal(rd.r, 0);
		if (in->clock != cases[i].clock || in->has_realtime_anchor != cases[i].anchored ||
		    in->anchor_own_ns != cases[i].own_ns)
			ROW_FAIL(i, "clock %d, anchor %d at %" PRId64, in->clock,
				 in->has_realtime_anchor, in->anchor_own_ns);
	}
}

TEST(other_tables)
{
	READING rd = read_sql(
		"nsys", true,
		SQL(NSYS_SMALL,
		    "CREATE TABLE OSRT_API(start INTEGER, \"end\" INTEGER, globalTid INTEGER,"
		    " correlationId INTEGER, nameId INTEGER);"
		    "INSERT INTO OSRT_API VALUES (120, 130, " TID_10_11 ", 1, 10);"
		    "CREATE TABLE PROFILER_OVERHEAD(start INTEGER, \"end\" INTEGER,"
		    " globalTid INTEGER, nameId INTEGER);"
		    "INSERT INTO PROFILER_OVERHEAD VALUES (140, 150, " TID_10_11 ", 9);"
		    "CREATE TABLE TARGET_INFO_GPU_METRICS(typeId INTEGER, metricId INTEGER,"
		    " metricName TEXT);"
		    "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (257, 4, 'SMs Active [Throughput "
		    "%]');"
		    "CREATE TABLE GPU_METRICS(timestamp INTEGER, typeId INTEGER, metricId INTEGER,"
		    " value INTEGER);"
		    "INSERT INTO GPU_METRICS VALUES (10, 257, 4, 55), (20, 257, 4, 65), (20, 257, "
		    "9, 1);"
		    "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start INTEGER, globalPid INTEGER,"
		    " deviceId INTEGER, bytes INTEGER, memoryOperationType INTEGER);"
		    "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (1, " PID_10 ", 0, 4096, 0),"
		    " (9, " PID_10 ", 0, 4096, 1);"
		    "CREATE TABLE SCHED_EVENTS(start INTEGER, cpu INTEGER);"
		    "INSERT INTO SCHED_EVENTS VALUES (1, 1), (2, 1), (3, 1);"));
	const struct model *m = rd.m;

	expect_read(&rd, 0, "W_IGNORED_RECORD=3 only");
	assert_has(m->warnings.v[0].text, "SCHED_EVENTS (3)");
	assert_int_equal(m->links.nr, 2); /* poll's 1 is not CUDA's */
	expect_model(m, "poll: in=cudaLaunchKernel 'Buffer flush': on=counter "
			"~'SMs Active': device=gpu1 unit=% samples=2 v[1]=65 "
			"~'metric 9': samples=1 allocate: args={\"bytes\":4096} "
			"free: kind=instant");
}

/* Files of old schemas and files that were cut down have few columns. */
TEST(few_columns)
{
	READING rd = read_sql(
		"nsys", true,
		SQL(NSYS_STRINGS
		    "CREATE TABLE EXPORT_META_DATA(name TEXT, value TEXT);"
		    "INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_SCHEMA_VERSION', '2.7.1');"
		    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, \"end\", deviceId, streamId,"
		    " correlationId, shortName);"
		    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 9, 3, 1, 8, 1);"
		    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, \"end\", globalTid,"
		    " correlationId, nameId);"
		    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, " TID_10_11 ", 8, 3);"
		    "CREATE TABLE NVTX_EVENTS(start, \"end\", text);"
		    "INSERT INTO NVTX_EVENTS VALUES (0, 3, 'r');"));

	expect_read(&rd, 0,
		    "format='Nsight Systems (schema 2.7.1)' links=1 only k: device=gpu3 "
		    "r: at=0..3");
}

/* One row of runtime calls or of kernels that is wrong in one way. */
TEST(odd_rows)
{
#define CALL(start, end, tid, id, name) \
	"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" start ", " end ", 0, " tid ", " id \
	", " name ", 0);"
#define KERNEL(start, end, device, stream, name) \
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" start ", " end ", " device \
	", 1, " stream ", 9, " PID_10 ", " name ", NULL, NULL);"
	static const struct {
		const char *sql, *code;
		size_t spans; /* beside the two calls and kernels */
	} cases[] = {
		{ CALL("5", "4", TID_10_11, "9", "3"), W_NEGATIVE_DURATION, 1 },
		{ CALL("NULL", "4", TID_10_11, "9", "3"), W_BAD_EVENT, 0 },
		{ CALL("3", "NULL", TID_10_11, "9", "3"), W_BAD_EVENT, 1 },
		{ CALL("'x'", "4", TID_10_11, "9", "3"), W_BAD_NUMBER, 0 },
		{ CALL("9e99", "4", TID_10_11, "9", "3"), W_BAD_NUMBER, 0 },
		{ CALL("9223372036854775807", "-9223372036854775808", TID_10_11, "9", "3"),
		  W_TIME_RANGE, 1 },
		{ CALL("1", "2", "NULL", "9", "3"), NULL, 1 },
		{ CALL("1", "2", "-1", "-9", "3"), NULL, 1 },
		{ CALL("1", "2", TID_10_11, "9", "77"), W_UNKNOWN_REFERENCE, 1 },
		{ CALL("1", "2", TID_10_11, "9", "NULL"), NULL, 1 },
		{ KERNEL("0", "0", "0", "7", "2"), W_BAD_EVENT, 0 },
		{ KERNEL("0", "5", "0", "7", "2"), W_UNLINKED_WORK, 1 },
		{ KERNEL("8", "5", "0", "7", "2"), W_NEGATIVE_DURATION, 1 },
		{ KERNEL("1", "5", "-3", "-7", "2"), W_UNLINKED_WORK, 1 },
		{ KERNEL("1", "5", "NULL", "NULL", "2"), W_UNLINKED_WORK, 1 },
		{ KERNEL("1", "5", "9223372036854775807", "4294967295", "2"), W_UNLINKED_WORK, 1 },
		{ KERNEL("1", "5", "0", "7", "78"), W_UNKNOWN_REFERENCE, 1 },
		{ "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 0, 1, 7, 0, NULL, -5, 99, "
		  "1, 1);",
		  W_BAD_EVENT, 1 },
		{ "UPDATE StringIds SET value = NULL WHERE id = 2;", NULL, 0 },
		{ "UPDATE StringIds SET value = x'66ff00fe' WHERE id = 2;", NULL, 0 },
		{ "INSERT INTO NVTX_EVENTS VALUES (5, 3, 59, x'80', " TID_10_11 ", 0, 1, 7, 0);",
		  W_NEGATIVE_DURATION, 1 },
		{ "INSERT INTO NVTX_EVENTS VALUES (5, 3, 60, 'r', " TID_10_11 ", 0, 1, 7, 0);",
		  W_NEGATIVE_DURATION, 1 },
		{ "INSERT INTO NVTX_EVENTS VALUES (NULL, 3, 59, 'r', 0, 0, 1, 7, 0);", W_BAD_EVENT,
		  0 },
		{ "CREATE TABLE META_DATA_EXPORT(name, value);"
		  "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '4.0.1');",
		  W_UNKNOWN_VERSION, 0 },
		{ "CREATE TABLE OSRT_API(x); INSERT INTO OSRT_API VALUES (1);", W_BAD_EVENT, 0 },
		{ "DROP TABLE NVTX_EVENTS; CREATE VIEW NVTX_EVENTS AS SELECT 1 AS start;", NULL,
		  0 },
		{ "DROP TABLE StringIds;", W_UNKNOWN_REFERENCE, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_sql("nsys", true, SQL(NSYS_SMALL, cases[i].sql));

		if (rd.r != (warned(rd.m, W_TIME_RANGE) ? READ_PARTIAL : 0) ||
		    rd.m->spans.nr != 4 + cases[i].spans)
			ROW_FAIL(i, "%d, %zu spans", rd.r, rd.m->spans.nr);
		if (cases[i].code && warned(rd.m, cases[i].code) == 0)
			ROW_FAIL(i, "no %s", cases[i].code);
		if (!cases[i].code)
			for (size_t k = 0; k < rd.m->warnings.nr; k++)
				if (strcmp(rd.m->warnings.v[k].code, W_UNLINKED_WORK) != 0)
					ROW_FAIL(i, "%s: %s", rd.m->warnings.v[k].code,
						 rd.m->warnings.v[k].text);
	}
}

/* A file that names a device, a queue and a thread in each row does not get a track for each. */
TEST(many_tracks)
{
	static const char rows[] =
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)"
		" INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i, i + 5, i, i, i, i, i << 24, 2, "
		"1, NULL FROM n;"
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
		" INSERT INTO NVTX_EVENTS SELECT i, 1000000 - i, 60, 'r', i, 0, 1, 7, 0 FROM n;";
	READING rd = read_sql("nsys", false, SQL(NSYS_SMALL, rows));

	expect_read(&rd, 0, "spans=80004");
	assert_in_range(rd.m->tracks.nr, 50000, 65536 + 8);
	assert_true(warned(rd.m, W_BAD_EVENT) > 0);
}

TEST(empty)
{
	struct reading rd = read_sql("nsys", false, SQL(NSYS_BASE));

	expect_read(&rd, 0, "W_EMPTY_INPUT only");
	reading_release(&rd);
	rd = read_text("nsys", "SQLite format 4");
	assert_int_equal(rd.r, -EBADMSG);
	reading_release(&rd);
	rd = read_text("nsys", "");
	assert_true(rd.r < 0);
	reading_release(&rd);
}

static char *small_file(const char *dir, size_t *n)
{
	CLEANUP(xfreep)
	char *path =
		db_make(dir, "small.db",
			SQL(NSYS_SMALL, RANGE(50, 500, "step", 59, 0), RANGE(1, 9, "r", 60, 2)));
	char *data = NULL;

	assert_int_equal(fs_read(path, 1 << 20, &data, n, NULL), 0);
	return data;
}

/* Cut anywhere: an error, or less than all with a word; what is read is what was there. */
TEST_IN(cut_everywhere, dir)
{
	size_t n, partial = 0;

	CLEANUP(xfreep) char *data = small_file(dir, &n);
	for (size_t i = 0; i <= n; i++) {
		READING rd = read_bytes("nsys", data, i);

		if (i == n)
			assert_int_equal(rd.r, 0);
		else if (rd.r == 0)
			fail_msg("cut at %zu of %zu is read as a whole", i, n);
		partial += rd.r == READ_PARTIAL;
		assert_true(rd.m->spans.nr <= 6);
	}
	print_message("# %zu of %zu cuts gave a part\n", partial, n);
}

TEST_IN(mutated, dir)
{
	size_t n;

	CLEANUP(xfreep) char *data = small_file(dir, &n);
	assert_mutations_read("nsys", data, n, 11, 8, true);
}

static const char sampled_sql[] = NSYS_SMALL
	"INSERT INTO StringIds VALUES (50, 'main'), (51, 'leaf'), (52, 'sys_read'),"
	" (53, '/usr/lib/libfoo.so.1'), (54, '0x7f00');"
	"CREATE TABLE COMPOSITE_EVENTS(id INTEGER, start INTEGER, cpu INTEGER,"
	" threadState INTEGER, globalTid INTEGER, cpuCycles INTEGER);"
	"CREATE TABLE SAMPLING_CALLCHAINS(id INTEGER, symbol INTEGER, module INTEGER,"
	" kernelMode INTEGER, thumbCode INTEGER, unresolved INTEGER, specialEntry INTEGER,"
	" originalIP INTEGER, stackDepth INTEGER);"
	"INSERT INTO COMPOSITE_EVENTS VALUES (1, 1000000, 0, 0, " TID_10_11
	", 5), (2, 2000000, 0, 0, " TID_10_11 ", 5),"
	" (3, 3000000, 0, 0, " TID_10_11 ", 5), (4, 3000000, 1, 0, " TID_20_21 ", 5),"
	" (1, 9, 0, 0, 0, 5), (5, NULL, 0, 0, 0, 5);"
	"INSERT INTO SAMPLING_CALLCHAINS VALUES (2, 51, 53, 0, 0, 0, 0, 0, 0), (2, 50, 53, 0, 0, "
	"0, 0, 0, 1),"
	" (1, 50, 53, 0, 0, 0, 0, 0, 2), (1, 51, 53, 0, 0, 0, 0, 0, 1),"
	" (1, 52, 53, 1, 0, 0, 0, 0, 0),"
	" (3, 54, 53, 0, 0, 1, 0, 0, 0), (99, 50, 53, 0, 0, 0, 0, 0, 0);";

/* Leaf first and in any order; a sample without a chain, a frame without a symbol. */
TEST(cpu_samples)
{
	READING rd = read_sql("nsys", false, SQL(sampled_sql));
	const struct model *m = rd.m;
	size_t at = span_at(m, "main"), leaf = span_at(m, "leaf");
	const struct track *t = &m->tracks.v[m->spans.track[at]];

	assert_int_equal(rd.r, 0);
	assert_string_equal(model_str(m, t->name), "worker samples");
	assert_int_equal(t->pid, 10);
	assert_true(t->beside);
	assert_int_equal(m->spans.kind[at], SPAN_ANNOTATION);
	assert_int_equal(m->spans.start_ns[at], 1000000);
	assert_int_equal(m->spans.end_ns[at], 3000000);
	assert_int_equal(m->spans.exclusive_ns[at], 0);
	assert_int_equal(span_parent(&m->spans, leaf), at);
	assert_int_equal(m->spans.exclusive_ns[leaf], 1000000);
	expect_model(m, "sys_read: in=leaf cat='sampled kernel'");
	assert_int_equal(m->spans.exclusive_ns[span_at(m, "[libfoo.so.1]")], 1000000);
	assert_int_equal(m->spans.exclusive_ns[span_at(m, "[unknown]")], 1000000);
	expect_model(m, "fact.cpu_samples=4 fact.sample_ns=1000000 fact.without_stack=1 "
			"W_BAD_EVENT=3");
}

TEST(detected)
{
	static const struct sql_format cases[] =
		LIST({ NSYS_SMALL, "nsys" }, { NSYS_STRINGS NSYS_NVTX, "nsys" },
		     { NSYS_STRINGS "CREATE TABLE META_DATA_EXPORT(name, value);", "nsys" },
		     { NSYS_STRINGS, NULL }, { "CREATE TABLE t(a);", NULL });

	expect_detected("x.sqlite", cases, ARRAY_LEN(cases));
}
