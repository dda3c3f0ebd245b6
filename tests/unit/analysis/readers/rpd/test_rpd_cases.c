/*
 * What analyses make of RPD files with known answers: nested ranges, ties, equal intervals, a
 * recording, a graph, autograd's ranges, markers, monitors, a million ranges, versions.
 */
#include "expect_table.h"
#include "rpd_fixture.h"
#include "tables_support.h"

#include <math.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/model/facts.h"
#include "profrig/model/name_map.h"
#include "profrig/names/range_name.h"

#define API(id, start, end, name, args) \
	"INSERT INTO rocpd_api(id, pid, tid, start, end, apiName_id, args_id) VALUES (" #id \
	", 100, 101, " #start ", " #end ", " #name ", " #args ");"
#define OP(id, gpu, queue, start, end, name, type) \
	"INSERT INTO rocpd_op(id, gpuId, queueId, sequenceId, start, end, description_id," \
	" opType_id) VALUES (" #id ", " #gpu ", " #queue ", 0, " #start ", " #end ", " #name \
	", " #type ");"
#define LAUNCH(api, op) "INSERT INTO rocpd_api_ops(api_id, op_id) VALUES (" #api ", " #op ");"
#define STRING(id, text) "INSERT INTO rocpd_string(id, string) VALUES (" #id ", '" text "');"

#define TABLES CLEANUP(table_set_release) struct table_set
/* A table of one analysis; the set is the caller's. */
static const struct table *table_of(struct table_set *ts, struct model *m, const char *analysis,
				    const char *table)
{
	table_set_release(ts);
	*ts = run(m, analysis, NULL);
	for (size_t i = 0; i < ts->checks.nr; i++)
		assert_true(ts->checks.v[i].ok);
	return table_set_find(ts, table);
}

/* root[0,100] ⊃ mid[10,60] ⊃ a[20,30], b[40,50] */
TEST(case_1_nested_ranges)
{
	READING rd = read_sql("rpd", false,
			      SQL(RPD_2, API(1, 0, 100, 10, 1), API(2, 10, 60, 11, 1),
				  API(3, 20, 30, 12, 1), API(4, 40, 50, 13, 1),
				  OP(1, 0, 0, 200, 207, 7, 5), OP(2, 0, 0, 210, 215, 7, 5),
				  LAUNCH(3, 1), LAUNCH(4, 2)));
	TABLES ts = TABLE_SET_INIT;

	expect_table(table_of(&ts, rd.m, "callpaths", "callpaths"),
		     "path inclusive_ns exclusive_ns device_inclusive_ns device_exclusive_ns\n"
		     "root 100 50 12 0\n"
		     "root;mid 50 30 12 0\n"
		     "root;mid;a 10 10 7 7\n"
		     "root;mid;b 10 10 5 5\n");
}

TEST(case_2_ties)
{
	READING rd =
		read_sql("rpd", false,
			 SQL(RPD_2, STRING(30, "A"), STRING(31, "B"), STRING(32, "Z"),
			     API(1, 0, 10, 30, 1), API(2, 10, 20, 31, 1), API(3, 20, 20, 2, 32),
			     STRING(33, "Y"), API(4, 20, 20, 33, 1), OP(1, 0, 0, 200, 207, 7, 5),
			     OP(2, 0, 0, 210, 215, 7, 5), LAUNCH(1, 1), LAUNCH(2, 2)));
	TABLES ts = TABLE_SET_INIT;

	/* Z is a mark, which is no call; Y is a call without length */
	expect_model(rd.m, "A: in=none B: in=none Z: kind=instant in=none");
	expect_table(table_of(&ts, rd.m, "callpaths", "callpaths"),
		     "path depth inclusive_ns exclusive_ns device_inclusive_ns\n"
		     "A 0 10 10 7\n"
		     "B 0 10 10 5\n"
		     "Y 0 0 0 0\n");
}

TEST(case_3_duplicate_intervals)
{
	READING rd = read_sql("rpd", false,
			      SQL(RPD_2, OP(1, 0, 0, 1000, 3000, 7, 5),
				  OP(2, 1, 0, 1000, 3000, 7, 5), OP(3, 0, 1, 2000, 5000, 1, 6)));
	TABLES ts = TABLE_SET_INIT;

	expect_table(table_of(&ts, rd.m, "functions", "functions"),
		     "scope=device name calls exclusive_ns share\n"
		     "k 2 4000 4/7\n"
		     "CopyHostToDevice 1 3000 3/7\n");
	expect_table(table_of(&ts, rd.m, "busy", "busy"),
		     "device spans sum_ns union_ns wall_ns busy\n"
		     "gpu0 2 5000 4000 4000 1\n"
		     "gpu1 1 2000 2000 2000 1\n");
}

/* Of the recording: its busy and top views, and its copies. */
TEST(case_4_busy_and_top)
{
	static const double percent[] = { 85.4609201610961, 14.2519753471078, 0.182014755527864 };
	READING rd = read_recording("rpd", "rpd/matmul/matmul_result.rpd", false);
	TABLES busy = TABLE_SET_INIT, ts = TABLE_SET_INIT;
	const struct table *t;

	expect_table(table_of(&busy, rd.m, "busy", "busy"),
		     "device sum_ns union_ns wall_ns busy\n"
		     "gpu2 183918056 183918056 2964070817 183918056/2964070817\n");
	t = table_of(&ts, rd.m, "functions", "functions");
	expect_table(t, "scope=device calls exclusive_ns share\n"
			"2 157178063 157178063/183918056\n"
			"1 26211956 26211956/183918056\n"
			"53 334758 334758/183918056\n"
			"...\n");
	assert_true(fabs(num_of(table_set_find(&busy, "busy"), 0, "busy") - 0.062049143679417) <
		    5e-16);
	for (size_t i = 0; i < ARRAY_LEN(percent); i++)
		assert_true(fabs(num_of(t, i, "share") * 100 - percent[i]) < 5e-13);
}

/* Copies by direction: calls, bytes, time on the device, GB/s. */
TEST(case_4_copies)
{
	READING rd = read_recording("rpd", "rpd/matmul/matmul_result.rpd", false);
	const struct facts *f = &rd.m->facts;
	int64_t nr[2] = { 0 }, bytes[2] = { 0 }, ns[2] = { 0 };

	for (size_t i = 0; i < f->copies.nr; i++) {
		const struct copy_facts *c = &f->copies.v[i];
		int d = c->direction == COPY_D2H;

		if (!span_is_work(rd.m, c->span) || c->bytes == FACT_ABSENT ||
		    (c->direction != COPY_H2D && c->direction != COPY_D2H))
			continue;
		nr[d]++;
		bytes[d] += c->bytes;
		ns[d] += rd.m->spans.end_ns[c->span] - rd.m->spans.start_ns[c->span];
	}
	assert_true(nr[0] == 2 && bytes[0] == 2032000000 && ns[0] == 157178063);
	assert_true(nr[1] == 53 && bytes[1] == 296 && ns[1] == 334758);
	assert_int_equal(ns[0] + ns[1], 157512821);
	assert_true(fabs((double)bytes[0] / (double)ns[0] - 12.928) < 5e-4);
}

/* A kernel of a capture: the call, and its launch. */
#define CAPTURED(id, start, end, name, grid) \
	API(id, start, end, 3, 1) \
	"INSERT INTO rocpd_kernelapi VALUES (" #id ", '0x5000', " #grid \
	", 1, 1, 64, 1, 1, 0, 0, " #name ");"
#define REPLAYED(api, op, t) \
	OP(op, 0, 0, t, t + 2500, 40, 9) \
	LAUNCH(api, op) \
	OP(op + 1, 0, 0, t + 3500, t + 6000, 41, 44) \
	LAUNCH(api, op + 1) OP(op + 2, 0, 0, t + 7000, t + 9500, 42, 44) LAUNCH(api, op + 2)

TEST(case_5_graph)
{
	READING rd =
		read_sql("rpd", false,
			 SQL(RPD_2, STRING(30, "hipStreamBeginCapture"),
			     STRING(31, "hipStreamEndCapture"), STRING(32, "hipGraphInstantiate"),
			     STRING(33, "hipGraphLaunch"), STRING(34, "stream = 0x5000 | mode = 0"),
			     STRING(35, "stream = 0x5000 | graph = 0x6000"),
			     STRING(36, "graphExec = 0x7000 | graph = 0x6000"),
			     STRING(37, "graphExec = 0x7000 | stream = 0x5000"),
			     STRING(40, "kern0"), STRING(41, "kern1"), STRING(42, "kern2"),
			     STRING(44, "Task"), API(1, 5, 10, 30, 34),
			     CAPTURED(2, 20, 25, 40, 10) CAPTURED(3, 30, 35, 41, 11)
				     CAPTURED(4, 40, 45, 42, 12),
			     API(5, 60, 70, 31, 35), API(6, 80, 90, 32, 36),
			     API(7, 1000000, 1005000, 33, 37), API(8, 2000000, 2005000, 33, 37),
			     REPLAYED(7, 1, 1010000) REPLAYED(8, 11, 2010000)));
	TABLES ts = TABLE_SET_INIT;

	expect_table(table_of(&ts, rd.m, "graphs", "graph_launches"),
		     "device name graph exec nodes dur_ns works sum_ns span_ns latency_ns\n"
		     "gpu0 hipGraphLaunch 0x6000 0x7000 3 5000 3 7500 9500 10000\n"
		     "gpu0 hipGraphLaunch 0x6000 0x7000 3 5000 3 7500 9500 10000\n");
	expect_table(table_set_find(&ts, "graph_kernels"),
		     "device graph exec sequence name captured grid block calls total_ns mean_ns "
		     "pid\n"
		     "gpu0 0x6000 0x7000 1 kern0 kern0 [10,1,1] [64,1,1] 2 5000 2500 100\n"
		     "gpu0 0x6000 0x7000 2 kern1 kern1 [11,1,1] [64,1,1] 2 5000 2500 100\n"
		     "gpu0 0x6000 0x7000 3 kern2 kern2 [12,1,1] [64,1,1] 2 5000 2500 100\n");
	expect_table(table_set_find(&ts, "graph_captures"),
		     "nodes graph exec launches\n3 0x6000 0x7000 2\n");
}

#define OP_NAMES \
	STRING(30, "iteration") \
	STRING(31, "aten::mm, seq = 1, op_id = 11, sizes = [[2, 3], [3, 4]], " \
		   "input_op_ids = [(9,0), (10,0)]") \
	STRING(32, "aten::add, op_id = 12, sizes = [[2, 4], []], input_op_ids = [(11,0)]") \
	STRING(33, "aten::fill_, seq = 2, op_id = 13, sizes = [[4]], input_op_ids = []") \
	STRING(34, "aten::relu, seq = 5, op_id = 14") \
	STRING(35, "aten::x, op_id = 15") \
	STRING(36, "weird, sizes = [1]") \
	STRING(40, "gemmK") \
	STRING(41, "addK") \
	STRING(42, "fill" \
		   "K")
/* clang-format off */
#define OP_RANGES \
	API(1, 0, 1000, 2, 30) API(2, 10, 200, 2, 31) API(3, 20, 30, 3, 1) API(4, 40, 50, 3, 1) \
	API(5, 210, 400, 2, 32) API(6, 220, 300, 2, 33) API(7, 230, 240, 3, 1) \
	API(8, 310, 320, 3, 1) API(9, 410, 420, 2, 34) API(10, 430, 440, 2, 35) \
	API(11, 450, 460, 2, 36) OP(1, 0, 0, 2000, 2100, 40, 5) OP(2, 0, 0, 2100, 2300, 40, 5) \
	OP(3, 0, 0, 2300, 2350, 42, 5) OP(4, 0, 0, 2350, 2410, 41, 5) LAUNCH(3, 1) LAUNCH(4, 2) \
	LAUNCH(7, 3) LAUNCH(8, 4)
/* clang-format on */

/* The same file with names as analyses see them, and as recorded. */
static struct model *op_ranges(bool normal)
{
	CLEANUP(test_dir_done) char *dir = test_dir();
	CLEANUP(xfreep) char *path = db_make(dir, "t.rpd", SQL(RPD_2, OP_NAMES, OP_RANGES));
	struct read_opts o = { .facts = true };
	struct model *m = model_new();

	if (normal)
		name_map_set(m, range_name);
	assert_int_equal(reader_find("rpd")->read(path, model_sink(m), &o, NULL), 0);
	model_finish(m);
	return m;
}

TEST(case_6_autograd)
{
	CLEANUP(model_freep) struct model *m = op_ranges(true);
	TABLES ts = TABLE_SET_INIT;

	expect_table(table_of(&ts, m, "operators", "autograd"),
		     "name shapes kernel calls mean_ns total_ns inclusive_ns op_calls seq op_id\n"
		     "aten::mm [[2,3],[3,4]] gemmK 2 150 300 300 1 1 11\n"
		     "aten::add [[2,4],[]] addK 1 60 60 110 1 - 12\n"
		     "aten::fill_ [[4]] fillK 1 50 50 50 1 2 13\n"
		     "aten::relu - - 0 - 0 0 1 5 14\n"
		     "aten::x - - 0 - 0 0 1 - 15\n");
	expect_table(table_set_find(&ts, "operators"), "name shapes works own_ns nested_ns flop\n"
						       "aten::mm [[2,3],[3,4]] 2 300 300 48\n"
						       "aten::add [[2,4],[]] 1 60 110 *\n"
						       "aten::fill_ [[4]] 1 50 50 *\n"
						       "aten::relu - 0 0 0 -\n"
						       "aten::x - 0 0 0 -\n");
	expect_table(table_of(&ts, m, "functions", "functions"),
		     "scope=host category=UserMarker name calls\n"
		     "iteration 1\n"
		     "'aten::mm, sizes = [[2, 3], [3, 4]]' 1\n"
		     "'aten::add, sizes = [[2, 4], []]' 1\n"
		     "'aten::fill_, sizes = [[4]]' 1\n"
		     "aten::relu 1\n"
		     "aten::x 1\n"
		     "'weird, sizes = [1]' 1\n");
	expect_table(table_of(&ts, m, "callpaths", "callpaths"),
		     "depth=0 path device_inclusive_ns\niteration 410\n");
}

TEST(case_7_marker_table)
{
	CLEANUP(model_freep) struct model *m = op_ranges(true);
	TABLES ts = TABLE_SET_INIT;

	expect_table(table_of(&ts, m, "markers", "markers"),
		     "marker=iteration device kernel marker_calls calls total_ns mean_ns min_ns "
		     "max_ns share\n"
		     "gpu0 gemmK 1 2 300 150 100 200 300/410\n"
		     "gpu0 addK 1 1 60 60 60 60 60/410\n"
		     "gpu0 fillK 1 1 50 50 50 50 50/410\n");
	expect_table(table_set_find(&ts, "markers"),
		     "marker kernel total_ns\n"
		     "iteration gemmK 300\n"
		     "iteration addK 60\n"
		     "iteration fillK 50\n"
		     "'aten::mm, sizes = [[2, 3], [3, 4]]' gemmK 300\n"
		     "'aten::add, sizes = [[2, 4], []]' addK 60\n"
		     "'aten::add, sizes = [[2, 4], []]' fillK 50\n"
		     "'aten::fill_, sizes = [[4]]' fillK 50\n");
}

#define MONITOR(device, start, end, value) \
	"INSERT INTO rocpd_monitor(deviceType, deviceId, monitorType, start, end, value) VALUES" \
	" ('gpu', " #device ", 'sclk', " #start ", " #end ", '" #value "');"

/* Weighted by the time of the rows; what lies between rows has no value. */
TEST(case_8_clock_monitor)
{
	READING rd = read_sql("rpd", false,
			      SQL(RPD_2, OP(1, 0, 0, 50, 60, 7, 5), MONITOR(0, 0, 100, 800),
				  MONITOR(0, 100, 300, 1700), MONITOR(0, 400, 500, 900),
				  MONITOR(0, 1000, 1100, 900), MONITOR(0, 1100, 1200, 900),
				  MONITOR(3, 0, 200, 1000), MONITOR(3, 200, 800, 2000)));
	TABLES ts = TABLE_SET_INIT, clocks = TABLE_SET_INIT;

	expect_table(table_of(&clocks, rd.m, "frequency", "frequency"),
		     "series min_hz max_hz mean_hz\n"
		     "sclk.gpu-monitor3 1000e6 2000e6 1750e6\n"
		     "sclk.gpu0 800e6 1700e6 1150e6\n");
	expect_table(table_of(&ts, rd.m, "counters", "counters"),
		     "series device unit mean unknown_ns min max\n"
		     "sclk.gpu-monitor3 - Hz 1750e6 0 1000e6 2000e6\n"
		     "sclk.gpu0 gpu0 Hz 1150e6 600 800e6 1700e6\n");
	assert_int_equal(warned(rd.m, W_UNKNOWN_REFERENCE), 1);
}

#define SCALE_DEPTH 5
#define SCALE_EACH 200000

/* A million ranges, five inside each other, of random lengths; sums: exclusive times by depth. */
static char *scale_file(const char *dir, int64_t sums[SCALE_DEPTH])
{
	char *path = db_make(dir, "scale.rpd",
			     SQL(RPD_2, STRING(20, "r0"), STRING(21, "r1"), STRING(22, "r2"),
				 STRING(23, "r3"), STRING(24, "r4"), OP(1, 0, 0, 10, 20, 7, 5)));
	int64_t t_ns = 0, start[SCALE_DEPTH], end[SCALE_DEPTH];
	uint64_t seed = 9;
	sqlite3_stmt *st;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	db_exec(db, "PRAGMA synchronous=OFF; BEGIN");
	assert_int_equal(sqlite3_prepare_v2(db,
					    "INSERT INTO rocpd_api(pid, tid, start, end, "
					    "apiName_id, args_id) VALUES (100, 101, ?, ?, 2, ?)",
					    -1, &st, NULL),
			 SQLITE_OK);
	for (int i = 0; i < SCALE_EACH; i++) {
		for (int d = 0; d < SCALE_DEPTH; d++)
			start[d] = t_ns += (int64_t)(rnd(&seed) % 100);
		for (int d = SCALE_DEPTH; d-- > 0;)
			end[d] = t_ns += 1 + (int64_t)(rnd(&seed) % 100);
		for (int d = 0; d < SCALE_DEPTH; d++) {
			bool inner = d + 1 < SCALE_DEPTH;

			sums[d] += end[d] - start[d] - (inner ? end[d + 1] - start[d + 1] : 0);
			sqlite3_bind_int64(st, 1, start[d]);
			sqlite3_bind_int64(st, 2, end[d]);
			sqlite3_bind_int64(st, 3, 20 + d);
			assert_int_equal(sqlite3_step(st), SQLITE_DONE);
			sqlite3_reset(st);
		}
	}
	sqlite3_finalize(st);
	db_exec(db, "COMMIT");
	sqlite3_close(db);
	return path;
}

/* Sums are exact, the file stays as it was, and all takes less than a second of the processor. */
TEST_IN(case_9_scale, dir)
{
	int64_t sums[SCALE_DEPTH] = { 0 };
	CLEANUP(xfreep) char *path = scale_file(dir, sums);
	CLEANUP(xfreep) char *before = NULL, *after = NULL;
	int64_t least = INT64_MAX;
	size_t n_before, n_after;

	assert_int_equal(fs_read(path, 1 << 30, &before, &n_before, NULL), 0);
	for (int i = 0; i < 3 && least >= 1000000000; i++) {
		int64_t from = clock_thread_cpu_ns(), took;
		READING rd = read_path("rpd", path, false);
		TABLES ts = run(rd.m, "callpaths", NULL);
		const struct table *t = table_set_find(&ts, "callpaths");

		took = clock_thread_cpu_ns() - from;
		least = took < least ? took : least;
		assert_int_equal(rd.m->spans.nr, SCALE_EACH * SCALE_DEPTH + 1);
		assert_int_equal(table_rows(t), SCALE_DEPTH + 1); /* [unattributed] */
		for (size_t d = 0; d < SCALE_DEPTH; d++) {
			assert_true(num_of(t, d, "calls") == SCALE_EACH);
			assert_true(num_of(t, d, "exclusive_ns") == (double)sums[d]);
		}
	}
	assert_int_equal(fs_read(path, 1 << 30, &after, &n_after, NULL), 0);
	assert_int_equal(n_before, n_after);
	assert_memory_equal(before, after, n_before);
	print_message("%.2f s of the processor\n", (double)least * 1e-9);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	assert_true(least < 1000000000);
#endif
}

/* ---- versions ---- */

/* Names are ids below 50, texts those from 50 on. */
#define VERSION_NAMES \
	STRING(30, "hipStreamBeginCapture") \
	STRING(31, "hipStreamEndCapture") \
	STRING(32, "hipGraphInstantiateWithFlags") \
	STRING(33, "hipGraphLaunch") \
	STRING(40, "kern0") STRING(41, "kern1") STRING(42, "kern2") STRING(44, "Task")
#define VERSION_TEXTS(table) \
	"INSERT INTO " table "(id, string) VALUES (50, 'stream = 0x5000 | mode = 0')," \
	" (51, 'stream = 0x5000 | graph = 0x6000'), (52, 'graphExec = 0x7000 | graph = 0x6000')," \
	" (53, 'graphExec = 0x7000 | stream = 0x5000'), (54, 'step')," \
	" (55, 'aten::mm, seq = 1, op_id = 11, sizes = [[2, 3], [3, 4]], input_op_ids = []')," \
	" (56, 'ptr=0x1 | size=0x1000');"
/* clang-format off */
#define VERSION_CONTENT \
	API(1, 0, 9000, 2, 54) API(2, 5, 10, 30, 50) CAPTURED(3, 20, 25, 40, 10) \
	CAPTURED(4, 30, 35, 41, 11) CAPTURED(5, 40, 45, 42, 12) API(6, 60, 70, 31, 51) \
	API(7, 80, 90, 32, 52) API(8, 1000, 6000, 33, 53) REPLAYED(8, 1, 10000) \
	API(9, 6100, 6900, 2, 55) API(10, 6200, 6300, 3, 1) API(11, 7000, 7600, 4, 56) \
	OP(20, 1, 0, 30000, 31000, 7, 5) LAUNCH(10, 20) OP(21, 1, 1, 30500, 32000, 1, 6) \
	LAUNCH(11, 21) \
	"INSERT INTO rocpd_kernelapi VALUES (10, '0x0', 8, 1, 1, 64, 1, 1, 0, 16, 7);" \
	"INSERT INTO rocpd_copyapi VALUES (11, '0x0', 4096, '', '', 1, '0x1', '0x2', 0, 0, 0, 0);" \
	MONITOR(0, 0, 20000, 800) MONITOR(0, 20000, 40000, 1700)
/* clang-format on */

/* All tables of a file as text. */
static char *all_tables(const char *const *sql)
{
	READING rd = read_sql("rpd", true, sql);
	struct analysis_opts o = { .shared = analysis_shared_new() };
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	TABLES ts = TABLE_SET_INIT;

	assert_int_equal(rd.r, 0);
	for (size_t i = 0; analyses[i]; i++)
		assert_true(analysis_run(analyses[i], rd.m, NULL, &o, &ts, NULL) >= 0);
	analysis_shared_free(o.shared);
	for (size_t i = 0; i < ts.tables.nr; i++) {
		fprintf(f, "== %s\n", table_name(ts.tables.v[i]));
		table_write_csv(ts.tables.v[i], f);
	}
	fclose(f);
	return text;
}

TEST(case_10_versions)
{
	CLEANUP(xfreep)
	char *two = all_tables(
		SQL(RPD_2, VERSION_NAMES, VERSION_TEXTS("rocpd_string"), VERSION_CONTENT));
	CLEANUP(xfreep)
	char *three = all_tables(SQL(RPD_3, VERSION_NAMES, VERSION_TEXTS("rocpd_ustring"),
				     "INSERT INTO rocpd_ustring VALUES (1, '');", VERSION_CONTENT));
	CLEANUP(xfreep)
	char *none = all_tables(SQL(RPD_2, VERSION_NAMES, VERSION_TEXTS("rocpd_string"),
				    VERSION_CONTENT, "DELETE FROM rocpd_metadata;"));

	assert_has(two, "== graph_kernels\n", "kern2", "== autograd\n", "== markers\n",
		   "== frequency\n", "step;hipGraphLaunch");
	assert_string_equal(two, three);
	assert_string_equal(two, none);
}

/* Empty and missing tables are no problem; without work on a device the file counts as empty. */
TEST(case_10_empty_and_missing)
{
	static const char *const v2[] = { RPD_2, API(1, 0, 10, 10, 1), NULL },
				 *const v3[] = { RPD_3, API(1, 0, 10, 10, 1), NULL },
				 *const bare[] = { RPD_2, API(1, 0, 10, 10, 1),
						   "DROP TABLE rocpd_metadata;"
						   "DROP TABLE rocpd_monitor;"
						   "DROP TABLE rocpd_kernelapi;"
						   "DROP TABLE rocpd_copyapi;"
						   "DROP TABLE rocpd_api_ops;",
						   NULL },
				 *const nothing[] = { RPD_3, NULL },
				 *const *const files[] = { v2, v3, bare, nothing };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		READING rd = read_sql("rpd", false, files[i]);

		assert_int_equal(rd.r, 0);
		assert_int_equal(rd.m->spans.nr, files[i] == nothing ? 0 : 1);
		expect_model(rd.m, "W_EMPTY_INPUT=1 only");
	}
}
