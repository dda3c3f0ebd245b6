#include "sqlite_fixture.h"

#define CALLS(name) \
	"CREATE TABLE " name "(BeginNs INTEGER, EndNs INTEGER, pid INTEGER, tid INTEGER," \
	" Name TEXT, args TEXT, \"Index\" INTEGER, Data TEXT, __section INTEGER," \
	" __lane INTEGER, DurationNs INTEGER);"
#define WORK(name) \
	"CREATE TABLE " name "(BeginNs INTEGER, EndNs INTEGER, \"dev-id\" INTEGER," \
	" \"queue-id\" INTEGER, Name TEXT, pid INTEGER, tid INTEGER, \"roctx-range\" TEXT," \
	" \"stream-id\" INTEGER, \"Index\" INTEGER, Data TEXT, __section INTEGER," \
	" __lane INTEGER, DurationNs INTEGER);"
#define ROCTX \
	"CREATE TABLE rocTX(BeginNs INTEGER, EndNs INTEGER, pid INTEGER, tid INTEGER, Name TEXT," \
	" \"Index\" INTEGER, __section INTEGER, __lane INTEGER);"
#define KERN \
	"CREATE TABLE KERN(\"Index\" INTEGER, KernelName TEXT, \"gpu-id\" INTEGER," \
	" \"queue-id\" INTEGER, \"queue-index\" INTEGER, pid INTEGER, tid INTEGER, grd INTEGER," \
	" wgr INTEGER, lds INTEGER, scr INTEGER, arch_vgpr INTEGER, accum_vgpr INTEGER," \
	" sgpr INTEGER, wave_size INTEGER, sig INTEGER, obj INTEGER, DispatchNs INTEGER," \
	" BeginNs INTEGER, EndNs INTEGER, CompleteNs INTEGER, DurationNs INTEGER);"
#define KERN_ROW(name, gpu, begin, end) \
	"INSERT INTO KERN VALUES (0, '\"" name "\"', " gpu ", 0, 0, 7, 7, 1024, 256, 0, 16, 24," \
	" 0, 32, 64, '0x0', '0x1', 1, " begin ", " end ", 9999, 0);"

/* HIP call → kernel by (pid, Index); HSA calls count apart; a range around it. */
TEST(hip_trace)
{
	READING rd = read_sql(
		"rocprof_db", true,
		SQL(CALLS("HIP") CALLS("HSA") WORK("OPS") WORK("COPY") ROCTX KERN,
		    "INSERT INTO HIP VALUES (100, 200, 7, 8, 'hipLaunchKernel', '( kernel(k) )', 5,"
		    " '', 2, 8, 100), (300, 400, 9, 9, 'hipMemcpy', '', 5, '', 2, 9, 100);"
		    "INSERT INTO HSA VALUES (310, 390, 9, 9, 'hsa_amd_memory_async_copy', '', 5,"
		    " '', 3, 9, 80);"
		    "INSERT INTO OPS VALUES (150, 250, 0, 1, 'k', 7, 8, '', 1, 5, '', 6, 1, 100),"
		    " (260, 261, 0, 1, '\"<barrier packet>\"', 7, 0, '', 0, 6, '', 518, 0, 1);"
		    "INSERT INTO COPY VALUES (350, 380, 1, 0, 'CopyHostToDevice', 9, 9, '', 0, 5,"
		    " '', 1, 0, 30), (351, 352, 1, 0, 'FillBuffer', 9, 9, '', 0, 77, '', 1, 0, 1),"
		    " (360, 370, NULL, NULL, 'async-copy', 9, 9, '', 0, 5, '', 1, 0, 10);"
		    "INSERT INTO rocTX VALUES (50, 500, 7, 8, 'step', 1, 0, 8),"
		    " (60, 60, 7, 8, 'mark', 2, 0, 8);",
		    KERN_ROW("k", "0", "150", "250")));
	const struct model *m = rd.m;
	size_t launch = span_at(m, "hipLaunchKernel");

	expect_read(&rd, 0, "format='rocprof v1 database' links=3");
	assert_int_equal(m->links.from[0], launch);
	assert_int_equal(m->links.to[0], span_at(m, "k"));
	expect_model(m, "hipLaunchKernel: in=step args='{\"args\":\"( kernel(k) )\"}' "
			"mark: kind=instant '<barrier packet>': kind=annotation "
			"FillBuffer: kind=fill async-copy: kind=copy "
			"CopyHostToDevice: device=gpu1");
	for (size_t i = 0; i < m->links.nr; i++)
		if (m->links.to[i] == span_at(m, "async-copy"))
			assert_int_equal(m->links.from[i], span_at(m, "hsa_amd_memory_async_copy"));
	assert_int_equal(warned(m, W_IGNORED_RECORD), 1); /* KERN is OPS once more */
	assert_int_equal(warned(m, W_UNLINKED_WORK), 1);  /* the fill's call is missing */
	assert_int_equal(m->warnings.nr, 2);
}

TEST(dispatches)
{
	READING rd = read_sql(
		"rocprof_db", true,
		SQL(KERN, KERN_ROW("a", "8", "100", "200"), KERN_ROW("b", "NULL", "300", "250"),
		    KERN_ROW("c", "8", "NULL", "400"), KERN_ROW("d", "8", "'None'", "400")));

	expect_read(&rd, 0,
		    "spans=2 W_NEGATIVE_DURATION=1 W_BAD_EVENT=2 W_BAD_NUMBER=1 "
		    "a: at=100..200 device=gpu8 "
		    "args={\"grid_items\":1024,\"block_items\":256,\"lds\":0,\"scratch\":16,"
		    "\"vgpr\":24,\"sgpr\":32} "
		    "b: at=300");
}

#define COUNTERS(times) \
	"CREATE TABLE KERN(\"Index\" INTEGER, KernelName TEXT, \"gpu-id\" INTEGER," \
	" \"queue-id\" INTEGER, pid INTEGER, SQ_WAVES INTEGER, \"TCC_HIT[0]\" REAL" times ");"

/* A value of a dispatch is a sample at its end, on its queue. */
TEST(counters)
{
	READING rd = read_sql(
		"rocprof_db", false,
		SQL(COUNTERS(", BeginNs INTEGER, EndNs INTEGER, CompleteNs INTEGER, "
			     "DurationNs INTEGER, __section INTEGER") "INSERT INTO KERN VALUES (0, "
								      "'a', 1, 0, 7, 16, 2.5, 10, "
								      "20, 30, 10, 0),"
								      " (1, 'b', 1, 0, 7, 32, "
								      "'None', 30, 40, 50, 10, 0),"
								      " (2, 'c', 1, 3, 7, 'x', 1, "
								      "50, 60, 70, 10, 0);"));
	const struct series *waves = series_named(rd.m, "SQ_WAVES");

	expect_read(&rd, 0, "spans=3");
	assert_int_equal(rd.m->series.nr, 3); /* TCC_HIT[0] on two queues */
	expect_model(rd.m, "~SQ_WAVES: samples=2 t[1]=40 v[1]=32 device=gpu1");
	assert_int_equal(waves->track, rd.m->spans.track[span_at(rd.m, "b")]);
	expect_model(rd.m, "W_BAD_NUMBER=1 ~TCC_HIT[0]: v[0]=2.5");
}

/* Beside the kernels of a HIP trace only the counters are new. */
TEST(counters_again)
{
	READING rd = read_sql(
		"rocprof_db", false,
		SQL(WORK(
			"OPS") "INSERT INTO OPS VALUES (10, 20, 1, 0, 'a', 7, 7, '', 0, 1, '', 0, "
			       "0, 10);" COUNTERS(
				       ", BeginNs INTEGER, EndNs INTEGER") "INSERT INTO KERN "
									   "VALUES (0, 'a', 1, 0, "
									   "7, 16, 2.5, 10, 20);"));

	expect_read(&rd, 0, "spans=1 W_IGNORED_RECORD=1 ~SQ_WAVES: samples=1");
}

TEST(counters_untimed)
{
	struct reading rd =
		read_sql("rocprof_db", false,
			 SQL(COUNTERS("") "INSERT INTO KERN VALUES (0, 'a', 1, 0, 7, 16,"
					  " 2), (1, 'b', 1, 0, 7, 32, 3);"));

	expect_read(&rd, 0,
		    "'fact.sum of SQ_WAVES'=48 'fact.sum of TCC_HIT[0]'=5 series=0 "
		    "W_BAD_EVENT=1");
	reading_release(&rd);
}

TEST(odd_files)
{
	static const struct {
		const char *sql;
		int r;
		const char *code;
		const char *says;
	} cases[] = {
		{ "CREATE TABLE t(x)", -EINVAL, NULL, "no table of rocprof v1" },
		{ KERN, 0, W_EMPTY_INPUT, NULL },
		{ "CREATE TABLE KERN(\"Index\" INTEGER, KernelName TEXT);"
		  "INSERT INTO KERN VALUES (1, 'k')",
		  0, W_BAD_EVENT, "no times" },
		{ "CREATE TABLE HIP(BeginNs INTEGER, EndNs INTEGER)", -ENOENT, NULL,
		  "table 'HIP' has no column 'pid'" },
		{ "CREATE TABLE HIP(BeginNs INTEGER, EndNs INTEGER);" KERN KERN_ROW("a", "0", "1",
										    "2"),
		  READ_PARTIAL, W_TRUNCATED, "table 'HIP' has no column 'pid'" },
		{ "CREATE VIEW KERN AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
		  "FROM r) SELECT x AS BeginNs, x AS EndNs, 'k' AS KernelName FROM r",
		  -EACCES, NULL, "not authorized" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_sql("rocprof_db", false, SQL(cases[i].sql));

		if (rd.r != cases[i].r)
			ROW_FAIL(i, "%d: %s", rd.r, rd.err.msg);
		if (cases[i].code && !warned(rd.m, cases[i].code))
			ROW_FAIL(i, "no %s", cases[i].code);
		if (cases[i].says && rd.r < 0 && !strstr(rd.err.msg, cases[i].says))
			ROW_FAIL(i, "%s", rd.err.msg);
		if (cases[i].says && rd.r >= 0 && !strstr(rd.m->warnings.v[0].text, cases[i].says))
			ROW_FAIL(i, "%s", rd.m->warnings.v[0].text);
	}
}

TEST(finite_difference)
{
	static const struct {
		const char *name;
		uint64_t n;
		int64_t sum_ns, min_ns, max_ns;
	} kernels[] = {
		{ "void laplacian_kernel<double>", 1001, 2608618986, 2593292, 2620970 },
		{ "void test_function_kernel<double>", 1, 1130883, 1130883, 1130883 },
		{ "void check_kernel<double>", 1, 1032003, 1032003, 1032003 },
		{ "__amd_rocclr_fillBufferAligned.kd", 1, 5440, 5440, 5440 },
	};
	CLEANUP(xfreep) char *path = test_trace("rocprof/v1-finite-difference/results.db");
	const struct reader *which = NULL;
	int64_t total = 0, reach = INT64_MIN, sum_union = 0;
	const struct model *m;

	assert_int_equal(reader_detect(path, &which, NULL), 0);
	assert_string_equal(which->name, "rocprof_db");
	READING rd = read_path("rocprof_db", path, false);
	m = rd.m;
	expect_read(&rd, 0, "fact.KERN=1004 spans=1004");
	for (size_t k = 0; k < ARRAY_LEN(kernels); k++) {
		uint64_t n = 0;
		int64_t sum = 0, min = INT64_MAX, max = 0;

		for (size_t i = 0; i < m->spans.nr; i++) {
			int64_t ns = m->spans.end_ns[i] - m->spans.start_ns[i];

			if (strncmp(span_name(m, i), kernels[k].name, strlen(kernels[k].name)) != 0)
				continue;
			n++;
			sum += ns;
			min = ns < min ? ns : min;
			max = ns > max ? ns : max;
		}
		assert_int_equal(n, kernels[k].n);
		assert_int_equal(sum, kernels[k].sum_ns);
		assert_int_equal(min, kernels[k].min_ns);
		assert_int_equal(max, kernels[k].max_ns);
		total += sum;
	}
	assert_int_equal(total, 2610787312);
	/* one queue, so the columns are in the order of starts */
	for (size_t i = 0; i < m->spans.nr; i++) {
		int64_t from = m->spans.start_ns[i] > reach ? m->spans.start_ns[i] : reach;

		assert_true(span_is_work(m, i));
		assert_string_equal(model_str(m, track_of(m, i)->device), "gpu8");
		assert_int_equal(track_of(m, i)->tid, 0);
		sum_union += m->spans.end_ns[i] > from ? m->spans.end_ns[i] - from : 0;
		reach = m->spans.end_ns[i] > reach ? m->spans.end_ns[i] : reach;
	}
	assert_int_equal(sum_union, total);
	assert_int_equal(reach - m->spans.start_ns[0], 2649034656);
	assert_int_equal(2608618986 / 1001, 2606012);
	assert_only_warned(m, NULL);
}
