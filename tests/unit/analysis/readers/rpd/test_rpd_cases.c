/*
 * What analyses make of RPD files with known answers: nested ranges, ties, equal intervals, a
 * recording, a graph, autograd's ranges, markers, monitors, a million ranges, versions.
 */
#include "expect_table.h"
#include "rpd_fixture.h"
#include "tables_support.h"

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
	READING rd = read_sql("rpd", false,
			      SQL(RPD_2, STRING(30, "A"), STRING(31, "B"), STRING(32, "Z"),
				  API(1, 0, 10, 30, 1), API(2, 10, 20, 31, 1),
				  API(3, 20, 20, 2, 32), OP(1, 0, 0, 200, 207, 7, 5),
				  OP(2, 0, 0, 210, 215, 7, 5), LAUNCH(1, 1), LAUNCH(2, 2)));
	TABLES ts = TABLE_SET_INIT;

	/* Z is a mark: no call, and open at no time */
	expect_model(rd.m, "A: in=none B: in=none Z: kind=instant in=none");
	expect_table(table_of(&ts, rd.m, "callpaths", "callpaths"),
		     "path depth inclusive_ns exclusive_ns device_inclusive_ns\n"
		     "A 0 10 10 7\n"
		     "B 0 10 10 5\n");
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
	READING rd = read_recording("rpd", "rpd/matmul/matmul_result.rpd", false);
	TABLES ts = TABLE_SET_INIT;

	expect_table(table_of(&ts, rd.m, "busy", "busy"),
		     "device sum_ns union_ns wall_ns busy\n"
		     "gpu2 183918056 183918056 2964070817 183918056/2964070817\n");
	expect_table(table_of(&ts, rd.m, "functions", "functions"),
		     "scope=device calls exclusive_ns share\n"
		     "2 157178063 157178063/183918056\n"
		     "1 26211956 26211956/183918056\n"
		     "53 334758 334758/183918056\n"
		     "...\n");
}

/* A kernel of a capture: the call, and its launch. */
#define CAPTURED(id, start, end, name, grid) \
	API(id, start, end, 3, 1) \
	"INSERT INTO rocpd_kernelapi VALUES (" #id ", '0x5000', " #grid \
	", 1, 1, 64, 1, 1, 0, 0, " #name ");"
#define REPLAYED(api, op, t) \
	OP(op, 0, 0, t, t + 2500, 40, 9) \
	LAUNCH(api, op) OP(op + 1, 0, 0, t + 3500, t + 6000, 41, 9) LAUNCH(api, op + 1) \
		OP(op + 2, 0, 0, t + 7000, t + 9500, 42, 9) LAUNCH(api, op + 2)

TEST(case_5_graph)
{
	READING rd = read_sql(
		"rpd", false,
		SQL(RPD_2, STRING(30, "hipStreamBeginCapture"), STRING(31, "hipStreamEndCapture"),
		    STRING(32, "hipGraphInstantiate"), STRING(33, "hipGraphLaunch"),
		    STRING(34, "stream = 0x5000 | mode = 0"),
		    STRING(35, "stream = 0x5000 | graph = 0x6000"),
		    STRING(36, "graphExec = 0x7000 | graph = 0x6000"),
		    STRING(37, "graphExec = 0x7000 | stream = 0x5000"), STRING(40, "kern0"),
		    STRING(41, "kern1"), STRING(42, "kern2"), API(1, 5, 10, 30, 34),
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
}

#define OP_NAMES \
	STRING(30, "iteration") \
	STRING(31, "aten::mm, seq = 1, op_id = 11, sizes = [[2, 3], [3, 4]], " \
		   "input_op_ids = [(9,0), (10,0)]") \
	STRING(32, "aten::add, op_id = 12, sizes = [[2, 4], []], input_op_ids = [(11,0)]") \
	STRING(33, "aten::fill_, seq = 2, op_id = 13, sizes = [[4]], input_op_ids = []") \
	STRING(34, "aten::relu, seq = 5, op_id = 14") \
	STRING(35, "aten::x, op_id = 15") STRING(36, "weird, sizes = [1]") STRING(40, "gemmK") \
		STRING(41, "addK") STRING(42, "fillK")
#define OP_RANGES \
	API(1, 0, 1000, 2, 30) \
	API(2, 10, 200, 2, 31) API(3, 20, 30, 3, 1) API(4, 40, 50, 3, 1) API(5, 210, 400, 2, 32) \
		API(6, 220, 300, 2, 33) API(7, 230, 240, 3, 1) API(8, 310, 320, 3, 1) \
			API(9, 410, 420, 2, 34) API(10, 430, 440, 2, 35) API(11, 450, 460, 2, 36) \
				OP(1, 0, 0, 2000, 2100, 40, 5) OP(2, 0, 0, 2100, 2300, 40, 5) \
					OP(3, 0, 0, 2300, 2350, 42, 5) \
						OP(4, 0, 0, 2350, 2410, 41, 5) LAUNCH(3, 1) \
							LAUNCH(4, 2) LAUNCH(7, 3) LAUNCH(8, 4)

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
