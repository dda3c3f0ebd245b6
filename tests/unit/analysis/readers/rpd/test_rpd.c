#include "rpd_fixture.h"

#include <math.h>

#define API(id, tid, start, end, name, args) \
	"INSERT INTO rocpd_api(id, pid, tid, start, end, apiName_id, args_id) VALUES (" #id \
	", 100, " #tid ", " #start ", " #end ", " #name ", " #args ");"
#define OP(id, gpu, queue, start, end, name, type) \
	"INSERT INTO rocpd_op(id, gpuId, queueId, sequenceId, start, end, description_id," \
	" opType_id) VALUES (" #id ", " #gpu ", " #queue ", 0, " #start ", " #end ", " #name \
	", " #type ");"
#define LAUNCH(api, op) "INSERT INTO rocpd_api_ops(api_id, op_id) VALUES (" #api ", " #op ");"

static int64_t exclusive(const struct model *m, const char *name)
{
	return m->spans.exclusive_ns[span_at(m, name)];
}

/* Time of the work that a call launched itself, and that it and all below it did. */
static int64_t device_ns(const struct model *m, const char *name, bool inclusive)
{
	size_t of = span_at(m, name);
	int64_t ns = 0;

	for (size_t i = 0; i < m->links.nr; i++) {
		uint64_t at = m->links.from[i];

		while (inclusive && at != of && at != SPAN_NONE)
			at = span_parent(&m->spans, at);
		if (at == of)
			ns += m->spans.end_ns[m->links.to[i]] - m->spans.start_ns[m->links.to[i]];
	}
	return ns;
}

TEST(nested)
{
	static const struct {
		const char *name;
		int64_t exclusive, own_device, device;
	} want[] = {
		{ "root", 50, 0, 12 }, { "mid", 30, 0, 12 }, { "a", 10, 7, 7 }, { "b", 10, 5, 5 }
	};
	READING rd = read_sql("rpd", false,
			      SQL(RPD_2, API(1, 1, 0, 100, 10, 1), API(2, 1, 10, 60, 11, 1),
				  API(3, 1, 20, 30, 12, 1), API(4, 1, 40, 50, 13, 1),
				  OP(1, 0, 0, 200, 207, 7, 5), OP(2, 0, 0, 210, 215, 7, 5),
				  LAUNCH(3, 1), LAUNCH(4, 2)));

	assert_int_equal(rd.r, 0);
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_int_equal(exclusive(rd.m, want[i].name), want[i].exclusive);
		assert_int_equal(device_ns(rd.m, want[i].name, false), want[i].own_device);
		assert_int_equal(device_ns(rd.m, want[i].name, true), want[i].device);
	}
	assert_only_warned(rd.m, NULL);
}

TEST(ties)
{
	READING rd = read_sql("rpd", false,
			      SQL(RPD_2, API(1, 1, 0, 10, 12, 1), API(2, 1, 10, 20, 13, 1),
				  API(3, 1, 20, 20, 2, 11), OP(1, 0, 0, 200, 207, 7, 5),
				  OP(2, 0, 0, 210, 215, 7, 5), LAUNCH(1, 1), LAUNCH(2, 2)));
	const struct model *m = rd.m;

	assert_int_equal(exclusive(m, "a"), 10);
	assert_int_equal(exclusive(m, "b"), 10);
	expect_model(m, "b: in=none mid: kind=instant in=none");
	assert_int_equal(device_ns(m, "a", true), 7);
	assert_int_equal(device_ns(m, "b", true), 5);
}

/* Equal intervals of two devices are two; types tell kernels, copies and fills. */
TEST(devices)
{
	READING rd =
		read_sql("rpd", false,
			 SQL(RPD_2, OP(1, 0, 0, 1000, 3000, 7, 5), OP(2, 1, 0, 1000, 3000, 7, 5),
			     OP(3, 0, 1, 2000, 5000, 1, 6), OP(4, 0, 1, 6000, 6001, 1, 8)));
	const struct model *m = rd.m;
	uint64_t queues = 0, devs = 0;

	assert_int_equal(rd.r, 0);
	for (size_t i = 0; i < m->tracks.nr; i++) {
		queues += m->tracks.v[i].kind == TRACK_QUEUE;
		devs += m->tracks.v[i].kind == TRACK_DEVICE;
	}
	assert_int_equal(queues, 3);
	assert_int_equal(devs, 2);
	expect_model(m, "k: at=1000..3000 cat=KernelExecution k#1: kind=kernel "
			"CopyHostToDevice: kind=copy tid=1 FillBuffer: kind=fill");
	assert_true(m->inputs.v[0].driver_numbers);
	expect_model(m, "W_UNLINKED_WORK=4 only");
}

/* The spans of a model as text: all that must not depend on the version of the file. */
static char *model_texts(const struct model *m)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < m->spans.nr; i++) {
		const struct track *t = track_of(m, i);

		strbuf_addf(&sb, "%d %lld %lld %s %s|%lld %lld|%s|%s|%s\n", (int)t->kind,
			    (long long)t->pid, (long long)t->tid, model_str(m, t->device),
			    model_str(m, t->name), (long long)m->spans.start_ns[i],
			    (long long)m->spans.end_ns[i], span_name(m, i),
			    model_str(m, m->spans.category[i]),
			    model_str(m, span_args(&m->spans, i)));
	}
	for (size_t i = 0; i < m->links.nr; i++)
		strbuf_addf(&sb, "%d %d\n", (int)m->links.from[i], (int)m->links.to[i]);
	for (size_t i = 0; i < m->series.nr; i++)
		for (size_t k = 0; k < m->series.v[i].value.nr; k++)
			strbuf_addf(&sb, "%s %lld %g\n", model_str(m, m->series.v[i].name),
				    (long long)m->series.v[i].t_ns.v[k], m->series.v[i].value.v[k]);
	return strbuf_steal(&sb);
}

#define CONTENT \
	"INSERT INTO rocpd_api(id, pid, tid, start, end, apiName_id, args_id) VALUES" \
	" (1, 100, 101, 10, 50, 2, 20), (2, 100, 101, 20, 30, 3, 1), (3, 100, 102, 20, 90, 4, " \
	"21);" OP(1, 2, 0, 100, 200, 7, 5) OP(2, 2, 1, 120, 180, 1, 6) LAUNCH(2, 1) LAUNCH( \
		3, \
		2) "INSERT INTO rocpd_kernelapi(api_ptr_id, stream, gridX, gridY, gridZ, " \
		   "workgroupX," \
		   " workgroupY, workgroupZ, groupSegmentSize, privateSegmentSize, kernelName_id)" \
		   " VALUES (2, '0x0', 8, 1, 1, 64, 1, 1, 0, 16, 7);" \
		   "INSERT INTO rocpd_copyapi VALUES (3, '0x0', 4096, '', '', 1, '0x1', '0x2', " \
		   "0, 0, 0, 0);" \
		   "INSERT INTO rocpd_monitor(deviceType, deviceId, monitorType, start, end, " \
		   "value) VALUES" \
		   " ('gpu', 2, 'sclk', 0, 100, '800'), ('gpu', 2, 'sclk', 100, 300, '1700');"
#define TEXTS(table) \
	"INSERT INTO " table "(id, string) VALUES (20, 'step'), (21, 'ptr=0x1 | size=0x1000');"

TEST(versions_agree)
{
	READING two = read_sql("rpd", true, SQL(RPD_2, TEXTS("rocpd_string"), CONTENT));
	READING three = read_sql("rpd", true,
				 SQL(RPD_3, TEXTS("rocpd_ustring"),
				     "INSERT INTO rocpd_ustring VALUES (1, '');", CONTENT));
	struct reading none =
		read_sql("rpd", true,
			 SQL(RPD_2, TEXTS("rocpd_string"), CONTENT, "DROP TABLE rocpd_metadata;"));
	CLEANUP(xfreep) char *a = model_texts(two.m);

	assert_int_equal(two.r | three.r | none.r, 0);
	assert_string_equal(two.m->inputs.v[0].format, "RPD 2");
	assert_string_equal(three.m->inputs.v[0].format, "RPD 3");
	assert_string_equal(a, kept(model_texts(three.m)));
	assert_string_equal(a, kept(model_texts(none.m)));
	assert_int_equal(two.m->links.nr, 2);
	assert_has(a, "|step|UserMarker|",
		   "{\"launch\":{\"grid\":[8,1,1],\"block\":[64,1,1],\"lds\":0,"
		   "\"scratch\":16,\"stream\":\"0x0\"}}",
		   "{\"args\":\"ptr=0x1 | size=0x1000\",\"launch\":{\"bytes\":4096,"
		   "\"kind\":1,",
		   "sclk.gpu2 300 1700");
	assert_only_warned(two.m, NULL);
	assert_only_warned(three.m, NULL);
	reading_release(&none);
}

/* Arguments hang off the work, and HSA has a table of its own. */
TEST(version_1)
{
	READING rd = read_sql(
		"rpd", true,
		SQL(RPD_API_2 RPD_OP_2 RPD_STRINGS_1,
		    "CREATE TABLE rocpd_api_ops(id integer PRIMARY KEY, api_id integer, op_id "
		    "integer);"
		    "CREATE TABLE rocpd_kernelop(op_ptr_id integer PRIMARY KEY, gridX integer, "
		    "gridY integer, gridZ integer, workgroupX integer, workgroupY integer, "
		    "workgroupZ integer, kernelName_id integer);"
		    "CREATE TABLE rocpd_copyop(op_ptr_id integer PRIMARY KEY, size integer, kind "
		    "integer);"
		    "CREATE TABLE rocpd_hsaApi(id integer PRIMARY KEY, pid integer, tid integer, "
		    "start integer, end integer, apiName_id integer, args_id integer, return "
		    "integer);",
		    API(1, 1, 10, 20, 3, 1), OP(1, 0, 0, 30, 40, 7, 5), OP(2, 0, 0, 50, 60, 1, 6),
		    LAUNCH(1, 1),
		    "INSERT INTO rocpd_kernelop VALUES (1, 4, 1, 1, 64, 1, 1, 7);"
		    "INSERT INTO rocpd_copyop VALUES (2, 128, 1);"
		    "INSERT INTO rocpd_hsaApi VALUES (1, 100, 1, 12, 15, 12, 1, 0);"));
	const struct model *m = rd.m;

	expect_read(&rd, 0,
		    "format='RPD 1' links=1 fact.hsa_api=1 fact.copy_bytes=128 "
		    "a: in=hipLaunchKernel cat=hsa");
	assert_has(model_str(m, span_args(&m->spans, span_at(m, "k"))), "\"grid\":[4,1,1]");
}

/* Two processes: ids are offset, strings are there twice, queues of equal numbers are two. */
TEST(writers)
{
	READING rd = read_sql(
		"rpd", false,
		SQL(RPD_3,
		    "INSERT INTO rocpd_string(id, string) VALUES (4294967297, 'k'),"
		    " (4294967298, 'hipLaunchKernel'), (4294967299, 'KernelExecution');"
		    "INSERT INTO rocpd_api VALUES (1, 100, 100, 10, 20, 3, 0, 0, 1),"
		    " (4294967297, 200, 200, 12, 22, 4294967298, 0, 0, 1);",
		    OP(1, 0, 0, 30, 40, 7, 5), OP(4294967297, 0, 0, 35, 45, 4294967297, 4294967299),
		    LAUNCH(1, 1), LAUNCH(4294967297, 4294967297)));
	const struct model *m = rd.m;

	expect_read(&rd, 0, "links=2");
	for (int i = 0; i < 2; i++) {
		size_t k = span_nth(m, "k", i);

		assert_int_equal(m->tracks.v[track_of(m, k)->owner].pid, i ? 200 : 100);
		assert_string_equal(model_str(m, m->spans.category[k]), "KernelExecution");
	}
	assert_true(m->spans.track[span_nth(m, "k", 0)] != m->spans.track[span_nth(m, "k", 1)]);
	for (size_t i = 0; i < m->links.nr; i++)
		assert_int_equal(track_of(m, m->links.from[i])->pid,
				 m->tracks.v[track_of(m, m->links.to[i])->owner].pid);
	assert_only_warned(m, NULL);
}

TEST(nodes)
{
	READING rd = read_sql(
		"rpd", false,
		SQL(RPD_3,
		    "INSERT INTO rocpd_api VALUES (1, 30000100, 30000101, 10, 20, 3, 0, 0, 1);",
		    OP(1, 3002, 3001, 30, 40, 7, 5), LAUNCH(1, 1)));
	const struct model *m = rd.m;
	const struct track *t = track_of(m, span_at(m, "hipLaunchKernel"));

	assert_int_equal(t->pid, 100);
	assert_int_equal(t->tid, 101);
	assert_string_equal(model_host_of(m, m->spans.track[span_at(m, "hipLaunchKernel")]),
			    "node3");
	t = track_of(m, span_at(m, "k"));
	assert_int_equal(t->tid, 1);
	assert_has(model_str(m, t->device), "gpu2");
	assert_string_equal(model_str(m, t->host), "node3");
}

/* What the tracer spends on itself is no time of the program. */
TEST(overhead)
{
	READING rd = read_sql("rpd", false,
			      SQL(RPD_2, API(1, 1, 0, 100, 3, 1), API(2, 1, 10, 60, 9, 1),
				  OP(1, 0, 0, 200, 207, 7, 5), LAUNCH(1, 1)));
	const struct model *m = rd.m;

	assert_int_equal(exclusive(m, "hipLaunchKernel"), 100);
	expect_model(m, "fact.overhead_rows=1 fact.overhead_ns=50 ApiTable::writeRows: on=counter "
			"kind=annotation");
}

TEST(endless_overhead)
{
	struct reading rd = read_sql("rpd", false,
				     SQL(RPD_2, API(1, 1, 0, 100, 3, 1),
					 API(2, 1, 10, 4000000000000000000, 9, 1),
					 API(3, 1, 10, 4000000000000000000, 9, 1),
					 API(4, 1, 10, 4000000000000000000, 9, 1)));

	assert_int_equal(fact(rd.m, "overhead_rows"), 3);
	assert_int_equal(fact(rd.m, "overhead_ns"), INT64_MAX);
	reading_release(&rd);
}

/* A graph: one launch, many ops. Work with two launches has two links. */
TEST(many_to_many)
{
	READING rd =
		read_sql("rpd", false,
			 SQL(RPD_2, API(1, 1, 10, 20, 3, 1), API(2, 1, 30, 40, 4, 1),
			     OP(1, 0, 0, 50, 60, 7, 5), OP(2, 0, 0, 60, 70, 7, 5),
			     OP(3, 0, 0, 70, 80, 7, 5), LAUNCH(1, 1), LAUNCH(1, 2), LAUNCH(1, 3),
			     LAUNCH(2, 3), LAUNCH(1, 3), LAUNCH(9, 2), LAUNCH(1, 77)));
	const struct model *m = rd.m;
	uint64_t of_last = 0;

	assert_int_equal(rd.r, 0);
	for (size_t i = 0; i < m->links.nr; i++)
		of_last += m->links.to[i] == span_nth(m, "k", 2);
	assert_int_equal(of_last, 2);
	assert_int_equal(m->links.nr, 4);
	assert_int_equal(warned(m, W_UNKNOWN_REFERENCE), 1); /* op 77 */
	assert_int_equal(warned(m, W_UNLINKED_WORK), 1);     /* call 9 */
}

TEST(monitor)
{
	static const int64_t t_ns[] = { 0, 100, 300, 400, 500 };
	static const double mhz[] = { 800, 1700, 1700, 900, 900 };
	READING rd = read_sql(
		"rpd", false,
		SQL(RPD_2, OP(1, 0, 0, 50, 60, 7, 5),
		    "INSERT INTO rocpd_monitor(deviceType, deviceId, monitorType, start, end, "
		    "value) VALUES ('gpu', 0, 'sclk', 0, 100, '800'),"
		    " ('gpu', 1, 'sclk', 0, 50, '700'), ('gpu', 0, 'sclk', 100, 300, '1700'),"
		    " ('gpu', 0, 'sclk', 400, 500, '900'), ('gpu', 1, 'sclk', 50, 60, 'fast');"));
	const struct series *s = series_named(rd.m, "sclk.gpu0");

	assert_int_equal(s->t_ns.nr, ARRAY_LEN(t_ns));
	for (size_t i = 0; i < ARRAY_LEN(t_ns); i++) {
		assert_int_equal(s->t_ns.v[i], t_ns[i]);
		assert_true(s->value.v[i] == mhz[i]);
	}
	assert_string_equal(model_str(rd.m, s->unit), "MHz");
	assert_string_equal(model_str(rd.m, s->device), "gpu0");
	s = series_named(rd.m, "sclk.gpu-monitor1");
	assert_string_equal(model_str(rd.m, s->device), "");
	expect_model(rd.m, "W_UNKNOWN_REFERENCE=1 W_BAD_NUMBER=1");
}

TEST(stack_frames)
{
	READING rd = read_sql(
		"rpd", true,
		SQL(RPD_3,
		    "INSERT INTO rocpd_api VALUES (1, 100, 100, 10, 20, 3, 11, 10, 1);"
		    "INSERT INTO rocpd_stackframe(api_ptr_id, depth, name_id) VALUES (1, 1, 12),"
		    " (1, 0, 3), (1, 2, 999), (1, NULL, 3);",
		    OP(1, 0, 0, 50, 60, 7, 5), LAUNCH(1, 1)));

	expect_model(rd.m, "fact.stack_frames=4 W_BAD_EVENT=1 "
			   "hipLaunchKernel: args={\"stack\":[\"hipLaunchKernel\",\"a\",\"?\"]} "
			   "cat=root");
}

TEST(odd_rows)
{
	static const struct {
		const char *sql;
		const char *code;
		uint64_t count;
		size_t spans;
	} cases[] = {
		{ API(1, 1, 100, 50, 3, 1), W_NEGATIVE_DURATION, 1, 1 },
		{ API(1, NULL, 100, 150, 3, 1), W_BAD_EVENT, 1, 0 },
		{ API(1, -5, 100, 150, 3, 1), W_BAD_EVENT, 1, 0 },
		{ API(1, 'x', 100, 150, 3, 1), W_BAD_NUMBER, 1, 0 },
		{ API(1, 1, NULL, 150, 3, 1), W_BAD_EVENT, 1, 0 },
		{ API(1, 1, 100, NULL, 3, 1), W_BAD_EVENT, 1, 1 },
		{ API(1, 1, 100, randomblob(1), 3, 1), W_BAD_NUMBER, 1, 1 },
		{ API(1, 1, 100, 200, 999, 1), W_UNKNOWN_REFERENCE, 1, 1 },
		{ API(1, 1, 100, 200, NULL, NULL), W_UNKNOWN_REFERENCE, 1, 1 },
		{ API(1, 1, -9223372036854775807, 9223372036854775807, 3, 1), W_TIME_RANGE, 2, 1 },
		{ API(1, 1, 1e300, 200, 3, 1), W_BAD_NUMBER, 1, 0 },
		{ API(1, 1, 9e999, 200, 3, 1), W_BAD_NUMBER, 1, 0 },
		{ OP(1, 0, 0, 0, 0, 7, 5), W_BAD_EVENT, 1, 0 },
		{ OP(1, 0, 0, 0, 8306017478773569, 7, 5), W_BAD_EVENT, 1, 0 },
		{ OP(1, -1, 0, 10, 20, 7, 5), W_BAD_EVENT, 1, 0 },
		{ OP(1, NULL, 0, 10, 20, 7, 5), W_BAD_EVENT, 1, 0 },
		{ OP(1, 0, 0, 20, 10, 7, 5), W_NEGATIVE_DURATION, 1, 1 },
		{ OP(1, 9223372036854775807, 9223372036854775807, 10, 20, 7, 5), W_UNLINKED_WORK, 1,
		  1 },
		{ OP(1, 0, 0, 10, 20, 999, 999), W_UNKNOWN_REFERENCE, 2, 1 },
		{ "INSERT INTO rocpd_api_ops(api_id, op_id) VALUES (NULL, 1), (2, 'x')",
		  W_BAD_EVENT, 2, 0 },
		{ "UPDATE rocpd_metadata SET value = '12'", W_UNKNOWN_VERSION, 1, 0 },
		{ "UPDATE rocpd_string SET string = x'ff00fe80'; " API(1, 1, 1, 2, 3, 1), NULL, 0,
		  1 },
		{ "DROP TABLE rocpd_string; " API(1, 1, 1, 2, 3, 1), W_UNKNOWN_REFERENCE, 2, 1 },
		{ "DROP TABLE rocpd_string; CREATE TABLE rocpd_string(id, string); INSERT INTO "
		  "rocpd_string VALUES (3, 'x'), (3, 'y'), (NULL, 'z'); " API(1, 1, 1, 2, 3, 1),
		  W_UNKNOWN_REFERENCE, 1, 1 },
		{ "DROP TABLE rocpd_monitor; DROP TABLE rocpd_kernelapi; DROP TABLE rocpd_copyapi;"
		  " DROP TABLE rocpd_api_ops;" OP(1, 0, 0, 10, 20, 7, 5),
		  W_UNLINKED_WORK, 1, 1 },
		{ "SELECT 1", W_EMPTY_INPUT, 1, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_sql("rpd", true, SQL(RPD_2, cases[i].sql));

		if (rd.r != (warned(rd.m, W_TIME_RANGE) ? READ_PARTIAL : 0))
			ROW_FAIL(i, "%d %s", rd.r, rd.err.msg);
		if (rd.m->spans.nr != cases[i].spans)
			ROW_FAIL(i, "%zu spans", rd.m->spans.nr);
		if (cases[i].code && warned(rd.m, cases[i].code) != cases[i].count)
			ROW_FAIL(i, "%d times %s", (int)warned(rd.m, cases[i].code), cases[i].code);
	}
}

TEST(odd_tables)
{
	static const struct {
		const char *sql;
		int r;
		const char *says;
	} cases[] = {
		{ "CREATE TABLE t(x)", -EINVAL, "neither table 'rocpd_api' nor 'rocpd_op'" },
		{ RPD_COMMON RPD_STRINGS RPD_OP_2 OP(1, 0, 0, 10, 20, 7, 5), READ_PARTIAL,
		  "no table 'rocpd_api'" },
		{ RPD_COMMON RPD_STRINGS RPD_OP_2 "CREATE TABLE rocpd_api(id)", -ENOENT,
		  "table 'rocpd_api' has no column 'pid'" },
		{ RPD_COMMON RPD_STRINGS RPD_API_2
		  "CREATE TABLE rocpd_op(id, gpuId, start);" API(1, 1, 10, 20, 3, 1),
		  READ_PARTIAL, "table 'rocpd_op' has no column 'end'" },
		{ RPD_COMMON RPD_STRINGS RPD_OP_2
		  "CREATE VIEW rocpd_api AS SELECT 1 AS id, 2 AS pid, 3 AS tid, 4 AS start, 5 AS "
		  "end, 3 AS apiName_id FROM rocpd_string a, rocpd_string b, rocpd_string c,"
		  " rocpd_string d, rocpd_string e, rocpd_string f, rocpd_string g",
		  READ_PARTIAL, "more steps than" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = read_sql("rpd", false, SQL(cases[i].sql));
		const char *said = rd.err.msg;

		if (rd.r >= 0)
			for (size_t k = 0; k < rd.m->warnings.nr; k++)
				if (strcmp(rd.m->warnings.v[k].code, W_TRUNCATED) == 0)
					said = rd.m->warnings.v[k].text;
		if (rd.r != cases[i].r || !strstr(said, cases[i].says))
			ROW_FAIL(i, "%d: %s", rd.r, said);
	}
}

/* Reads a whole file of which a part is missing or wrong: never more than what is true of a file
 * is asked of it. */
static struct reading read_damaged(const char *path)
{
	struct reading rd = read_path("rpd", path, true);

	assert_true(rd.r <= READ_PARTIAL);
	if (rd.r < 0)
		assert_has(rd.err.msg, path);
	if (rd.r == READ_PARTIAL)
		assert_true(warned(rd.m, W_TRUNCATED) > 0);
	for (size_t i = 0; i < rd.m->spans.nr; i++)
		assert_true(rd.m->spans.end_ns[i] >= rd.m->spans.start_ns[i]);
	return rd;
}

TEST_IN(cut_anywhere, dir)
{
	CLEANUP(xfreep)
	char *path = db_make(dir, "t.rpd", SQL(RPD_3, TEXTS("rocpd_ustring"), CONTENT));
	READING whole = read_path("rpd", path, true);
	int64_t size = fs_size(path);
	uint64_t errors = 0, partial = 0;

	for (int64_t n = size - 1; n >= 0; n -= n % 512 < 3 ? 1 : 13) {
		assert_int_equal(truncate(path, n), 0);
		READING rd = read_damaged(path);
		errors += rd.r < 0;
		partial += rd.r == READ_PARTIAL;
		assert_true(rd.m->spans.nr <= whole.m->spans.nr);
		/* a page that is missing is never read as if nothing were */
		if (rd.r == 0)
			assert_int_equal(rd.m->spans.nr, whole.m->spans.nr);
	}
	/* without the schema there is nothing, with it what stands before the cut */
	assert_true(errors > 10 && partial > 10);
	print_message("%d cut files: %d unreadable, %d partial\n", (int)size, (int)errors,
		      (int)partial);
}

TEST_IN(mutations, dir)
{
	CLEANUP(xfreep)
	char *path = db_make(dir, "t.rpd", SQL(RPD_3, TEXTS("rocpd_ustring"), CONTENT));
	CLEANUP(xfreep) char *bytes = NULL;
	uint64_t seed = 42, n_cases = test_cases(1500);
	size_t n;

	assert_int_equal(fs_read(path, 1 << 22, &bytes, &n, NULL), 0);
	for (uint64_t i = 0; i < n_cases; i++) {
		CLEANUP(xfreep) char *bad = xmemdup(bytes, n);
		FILE *f = fopen(path, "we");

		/* behind the magic, so that it stays a database */
		for (uint64_t k = 1 + rnd(&seed) % 8; k > 0; k--)
			bad[16 + rnd(&seed) % (n - 16)] = (char)rnd(&seed);
		assert_int_equal(fwrite(bad, 1, n, f), n);
		fclose(f);
		READING rd = read_damaged(path);
	}
}
