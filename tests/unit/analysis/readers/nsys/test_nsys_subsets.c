/* Exports hold the tables of what was traced: every subset of them, absent or empty. */
#include "nsys_fixture.h"

#define DEVICE_COLUMNS \
	"(start INTEGER, \"end\" INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER," \
	" correlationId INTEGER, globalPid INTEGER, "
#define ON_DEVICE(start, end, id) " (" #start ", " #end ", 0, 1, 7, " #id ", " PID_10 ", "

enum { KERNEL, COPY, FILL, GRAPH, WAIT, CALL, RANGE, STRINGS, PROCESS, TABLES };

/* Each launched by the call of its number, but for the wait. */
static const struct {
	const char *create, *rows, *span;
	enum span_kind kind;
	uint64_t correlation;
} tables[TABLES] = {
	[KERNEL] = { "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL" DEVICE_COLUMNS
		     "demangledName INTEGER, shortName INTEGER, graphNodeId INTEGER);",
		     "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES" ON_DEVICE(300, 400,
									       1) " 2, 1, NULL);",
		     "void k<int>(int)", SPAN_KERNEL, 1 },
	[COPY] = { "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY" DEVICE_COLUMNS
		   "bytes INTEGER, copyKind INTEGER);",
		   "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES" ON_DEVICE(400, 500,
									     2) " 64, 1);",
		   "[CUDA memcpy Host-to-Device]", SPAN_COPY, 2 },
	[FILL] = { "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET" DEVICE_COLUMNS
		   "bytes INTEGER, value INTEGER);",
		   "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES" ON_DEVICE(500, 600,
									     3) " 64, 0);",
		   "[CUDA memset]", SPAN_FILL, 3 },
	[GRAPH] = { "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE" DEVICE_COLUMNS
		    "graphId INTEGER, graphExecId INTEGER);",
		    "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES" ON_DEVICE(600, 700,
										   4) " 9, 1);",
		    "[CUDA graph 9]", SPAN_KERNEL, 4 },
	[WAIT] = { "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION" DEVICE_COLUMNS
		   "syncType INTEGER);",
		   "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES" ON_DEVICE(700, 800,
										      5) " 4);",
		   "Context sync", SPAN_ANNOTATION, 0 },
	[CALL] = { NSYS_RUNTIME,
		   "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 11, 0, " TID_10_11
		   ", 1, 3, 0), (12, 13, 0, " TID_10_11 ", 2, 3, 0),"
		   " (14, 15, 0, " TID_10_11 ", 3, 3, 0), (16, 17, 0, " TID_10_11 ", 4, 3, 0),"
		   " (18, 19, 0, " TID_10_11 ", 5, 3, 0);",
		   "cudaLaunchKernel", SPAN_HOST, 0 },
	[RANGE] = { NSYS_NVTX,
		    "INSERT INTO NVTX_EVENTS(start, \"end\", eventType, text, globalTid) VALUES "
		    "(5, 100, 59, 'step', " TID_10_11 ");",
		    "step", SPAN_HOST, 0 },
	[STRINGS] = { NSYS_STRINGS, "", NULL, SPAN_HOST, 0 },
	[PROCESS] = { "CREATE TABLE PROCESSES(globalPid INTEGER, pid INTEGER, name TEXT);",
		      "INSERT INTO PROCESSES VALUES (" PID_10 ", 10, 'python3');", NULL, SPAN_HOST,
		      0 },
};

/* What a file has whose StringIds are lacking. */
static const char *name_of(int table, unsigned filled)
{
	if (filled & 1U << STRINGS)
		return tables[table].span;
	return table == KERNEL ? "kernel" : table == CALL ? "cuda_runtime" : tables[table].span;
}

static void check_work(const struct model *m, int table, unsigned filled)
{
	size_t at = span_at(m, name_of(table, filled));
	const struct track *q = track_of(m, at);

	assert_int_equal(m->spans.kind[at], tables[table].kind);
	if (table == CALL || table == RANGE) {
		assert_int_equal(q->kind, TRACK_THREAD);
		return;
	}
	assert_int_equal(q->kind, TRACK_QUEUE);
	assert_int_equal(q->tid, 7);
	assert_string_equal(model_str(m, q->device), "gpu0");
	assert_int_equal(m->tracks.v[q->owner].pid, 10);
	assert_string_equal(model_str(m, m->tracks.v[q->owner].name),
			    filled & 1U << PROCESS ? "python3" : "process 10");
}

static void subset_check(const struct reading *rd, unsigned filled)
{
	const struct model *m = rd->m;
	size_t spans = 0, links = 0;

	assert_true(rd->r == 0);
	for (int i = 0; i < TABLES; i++) {
		if (!(filled & 1U << i) || !tables[i].span)
			continue;
		spans += i == CALL ? 5 : 1;
		links += tables[i].correlation && filled & 1U << CALL;
		check_work(m, i, filled);
	}
	assert_int_equal(m->spans.nr, spans);
	assert_int_equal(m->links.nr, links);
	for (size_t i = 0; i < links; i++)
		assert_int_equal(m->spans.correlation[m->links.from[i]],
				 m->spans.correlation[m->links.to[i]]);
}

/* A table is there with its rows (a bit of filled), or there and empty, or absent. */
static void subset(unsigned filled, bool empty)
{
	const char *sql[2 * TABLES + 2] = { "CREATE TABLE META_DATA_EXPORT(name, value);" };
	size_t n = 1;

	for (int i = 0; i < TABLES; i++) {
		bool rows = filled & 1U << i;

		if (rows || (empty && i != STRINGS))
			sql[n++] = tables[i].create;
		if (rows)
			sql[n++] = tables[i].rows;
	}
	READING rd = read_sql("nsys", false, sql);
	subset_check(&rd, filled);
}

TEST(absent_tables)
{
	for (unsigned filled = 0; filled < 1U << TABLES; filled++)
		subset(filled, false);
}

TEST(empty_tables)
{
	for (unsigned filled = 0; filled < 1U << TABLES; filled++)
		subset(filled, true);
}

/* Processes number their calls alike; a file with one kind of work alone tells them apart too. */
TEST(processes_of_each_work)
{
	static const char *const names[] = { "KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct reading rd = read_sql(
			"nsys", false,
			SQL(NSYS_STRINGS NSYS_RUNTIME
			    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, 0, " TID_10_11
			    ", 1, 3, 0),"
			    " (11, 21, 0, " TID_20_21 ", 1, 3, 0);",
			    textf("CREATE TABLE CUPTI_ACTIVITY_KIND_%s" DEVICE_COLUMNS
				  "bytes INTEGER);INSERT INTO CUPTI_ACTIVITY_KIND_%s VALUES "
				  "(300, 400, 0, 1, 7, 1, " PID_20 ", 0),"
				  " (310, 420, 0, 1, 7, 1, " PID_10 ", 0);",
				  names[i], names[i])));
		const struct model *m = rd.m;

		assert_int_equal(m->links.nr, 2);
		for (size_t k = 0; k < 2; k++)
			assert_int_equal(track_of(m, m->links.to[k])->owner,
					 model_process_of(m, m->spans.track[m->links.from[k]]));
		reading_release(&rd);
	}
}
