/*
 * Databases of rocprofiler-sdk. None is public, so all are made here from the schema. Where a
 * figure of the tool's own views differs, the test says so.
 */
#include "rocpd_fixture.h"

#include <inttypes.h>

/* Both kernels of k overlap, and the copy overlaps the first: sums are not unions. */
TEST(known_answers)
{
	static const struct calls_answer want[] = {
		{ "k", 2, 5000 },
		{ "m", 1, 1000 },
		{ "MEMORY_COPY_HOST_TO_DEVICE", 1, 1000 },
		{ "hipLaunchKernel", 1, 300 },
	};
	READING rd = read_sql("rocpd", true, SQL(ROCPD(U1)));
	const struct model *m = rd.m;
	int64_t covered = 0, first = INT64_MAX, last = INT64_MIN;

	assert_int_equal(rd.r, 0);
	expect_calls(m, want, ARRAY_LEN(want));
	for (int64_t t = 0; t < 8000; t++) {
		bool busy = false;

		for (size_t i = 0; i < m->spans.nr; i++)
			busy |= span_is_work(m, i) && m->spans.start_ns[i] <= t &&
				t < m->spans.end_ns[i];
		covered += busy;
	}
	for (size_t i = 0; i < m->spans.nr; i++) {
		if (!span_is_work(m, i))
			continue;
		first = m->spans.start_ns[i] < first ? m->spans.start_ns[i] : first;
		last = m->spans.end_ns[i] > last ? m->spans.end_ns[i] : last;
	}
	assert_int_equal(covered, 5500); /* of 6500: 0.846154, where the tool's view has 1.0769 */
	assert_int_equal(last - first, 6500);
	expect_model(m, "format='rocpd (schema 3)' clock=boottime");
	assert_true(m->inputs.v[0].driver_numbers);
	expect_model(m, "fact.copied_bytes=4096 W_UNLINKED_WORK=3 only");
}

TEST(places)
{
	READING rd = read_sql("rocpd", true, SQL(ROCPD(U1)));
	const struct model *m = rd.m;
	size_t k = span_nth(m, "k", 0), call = span_at(m, "hipLaunchKernel"),
	       copy = span_at(m, "MEMORY_COPY_HOST_TO_DEVICE");

	expect_model(m, "hipLaunchKernel: pid=100 tid=101 rank=4");
	assert_string_equal(model_host_of(m, m->spans.track[call]), "node1");
	expect_model(m, "hipLaunchKernel: track=main cat=HIP_RUNTIME_API k: device=gpu0 "
			"pci=0:c1:0 track='Stream 3' tid=3");
	/* the default stream tells nothing, so the queue does; a copy lies on its GPU */
	expect_model(m, "m: track='Queue 1' MEMORY_COPY_HOST_TO_DEVICE: beside=k kind=copy");
	assert_string_equal(
		model_str(m, span_args(&m->spans, copy)),
		"{\"bytes\":4096,\"source device\":\"cpu0\",\"destination device\":\"gpu0\"}");
	assert_has(model_str(m, span_args(&m->spans, k)), "\"workgroup size\":[64,1,1]");
	/* the first dispatch has the stack id of the call */
	assert_int_equal(m->links.nr, 1);
	assert_int_equal(m->links.from[0], call);
	assert_int_equal(m->links.to[0], k);
}

/* Two processes in one file: ids repeat, and none may be taken for the other's. */
TEST(two_guids)
{
	static const char other[] =
		INTO(U2, "string", "id, string",
		     "(10, 'other')") "UPDATE \"rocpd_info_kernel_symbol" U2
				      "\" SET display_name = 'k2' WHERE id = 1;";
	READING rd = read_sql("rocpd", false,
			      SQL(ROCPD(U1),
				  ROCPD_TABLES(U2) ROCPD_NAMES(U2, "node1", 200, 5) ROCPD_ROWS(U2),
				  other));
	const struct model *m = rd.m;

	expect_read(&rd, 0, "fact.databases=2 links=2");
	for (size_t i = 0; i < 2; i++) {
		const struct track *queue = track_of(m, m->links.to[i]);
		track_id process = model_process_of(m, m->spans.track[m->links.from[i]]);
		bool second = m->tracks.v[process].pid == 200;

		assert_int_equal(queue->owner, process);
		assert_string_equal(span_name(m, m->links.to[i]), second ? "k2" : "k");
		assert_int_equal(queue->rank, second ? 5 : 4);
		assert_string_equal(model_str(m, queue->device), "gpu0");
	}
}

/* One set of tables in which the column tells the process apart. */
TEST(one_table)
{
	static const char plain[] =
		"CREATE TABLE rocpd_info_process(id, guid, nid, pid);"
		"CREATE TABLE rocpd_info_thread(id, guid, pid, tid);"
		"CREATE TABLE rocpd_string(id, guid, string);"
		"CREATE TABLE rocpd_event(id, guid, category_id, stack_id);"
		"CREATE TABLE rocpd_region(id, guid, pid, tid, start, end, name_id, event_id);"
		"INSERT INTO rocpd_info_process VALUES (1, 'a', 1, 10), (1, 'b', 1, 20);"
		"INSERT INTO rocpd_info_thread VALUES (1, 'a', 1, 11), (1, 'b', 1, 21);"
		"INSERT INTO rocpd_string VALUES (1, 'a', 'in a'), (1, 'b', 'in b');"
		"INSERT INTO rocpd_region VALUES (1, 'a', 1, 1, 5, 6, 1, NULL),"
		" (1, 'b', 1, 1, 5, 6, 1, NULL), (2, 'c', 1, 1, 5, 6, 1, 3);";
	READING rd = read_sql("rocpd", false, SQL(plain));

	expect_read(&rd, 0, "spans=3 'in a': pid=10 'in b': tid=21");
	assert_true(warned(rd.m, W_UNKNOWN_REFERENCE) > 0); /* of c */
}

/* More processes than have arrays of their own. */
TEST(many_guids)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, "CREATE TABLE rocpd_info_process(id, guid, pid);"
			   "CREATE TABLE rocpd_info_thread(id, guid, pid, tid);"
			   "CREATE TABLE rocpd_region(id, guid, pid, tid, start, end);");
	for (int i = 0; i < 40; i++)
		strbuf_addf(&sb,
			    "INSERT INTO rocpd_info_process VALUES (65000, 'g%d', %d);"
			    "INSERT INTO rocpd_info_thread VALUES (60000, 'g%d', 65000, %d);"
			    "INSERT INTO rocpd_region VALUES (1, 'g%d', 65000, 60000, 1, 2);",
			    i, 100 + i, i, 200 + i, i);
	READING rd = read_sql("rocpd", false, SQL(sb.buf));
	expect_read(&rd, 0, "only");
	for (size_t i = 0; i < rd.m->spans.nr; i++)
		assert_int_equal(track_of(rd.m, i)->tid, track_of(rd.m, i)->pid + 100);
	assert_int_equal(rd.m->spans.nr, 40);
}

TEST(markers)
{
	static const char rows[] =
		INTO(U1, "event", "id, category_id, stack_id, extdata",
		     "(20, 5, 60, '{\"message\": \"step \\\"1\\\"\"}'),"
		     " (21, 5, 61, '{\"message\": \"a\"}'),"
		     " (22, 5, 62, '{\"message\": \"b\"}'),"
		     " (23, 5, 63, '{\"message\": \"here\"}'), (24, 2, 64, '{}')")
			INTO(U1, "region", "id, pid, tid, start, end, name_id, event_id",
			     "(60, 1, 1, 50, 900, 7, 20), (61, 1, 1, 60, 500, 8, 21), (62, 1, 1, "
			     "70, 950, 8, 22)") INTO(U1, "track", "id, pid, tid, name_id",
						     "(1, 1, 1, 5), (2, 1, NULL, 5)")
				INTO(U1, "sample", "id, track_id, timestamp, event_id",
				     "(1, 1, 300, 23), (2, 2, 310, 24), (3, 9, 320, 24)")
					INTO(U1, "arg", "event_id, position, name, value",
					     "(1, 0, 'stream', '0x1'), (1, 1, 'f', 'k')");
	READING rd = read_sql("rocpd", true, SQL(ROCPD(U1), rows));
	const struct model *m = rd.m;

	expect_read(&rd, 0,
		    "'step \"1\"': at=50..900 hipLaunchKernel: in='step \"1\"' "
		    "args={\"stream\":\"0x1\",\"f\":\"k\"} a: kind=annotation apart=b "
		    "here: kind=instant tid=101 MARKER_CORE_API: on=process");
	assert_int_equal(warned(m, W_BAD_EVENT), 1); /* the sample without a track */
	assert_int_equal(warned(m, W_SPAN_OVERLAP), 0);
}

TEST(counters)
{
	static const char rows[] =
		INTO(U1, "info_pmc", "id, agent_id, name, units, value_type",
		     "(1, 2, 'SQ_WAVES', '', 'ABS'), (2, 3, 'energy', 'uJ', 'ACCUM'),"
		     " (3, NULL, 'x', NULL, NULL)") INTO(U1, "event", "id, category_id, stack_id",
							 "(30, 5, 0)")
			INTO(U1, "track", "id, pid, tid, name_id", "(1, 1, NULL, 5)")
				INTO(U1, "sample", "track_id, timestamp, event_id", "(1, 123, 30)")
					INTO(U1, "pmc_event", "event_id, pmc_id, value",
					     "(2, 1, 10), (2, 1, 5.5), (3, 1, 7), (30, 2, 1000),"
					     " (30, 3, NULL), (1, 3, 1), (99, 1, 1), (2, 99, 1)");
	READING rd = read_sql("rocpd", false, SQL(ROCPD(U1), rows));

	expect_read(&rd, 0,
		    "W_UNKNOWN_REFERENCE=2 ~SQ_WAVES: samples=2 v[0]=15.5 t[0]=3000 "
		    "v[1]=7 t[1]=5000 device=gpu0 ~energy: device=gpu1 unit=uJ "
		    "kind=cumulative t[0]=123 ~x: failed=1");
	assert_int_equal(warned(rd.m, W_BAD_EVENT), 1); /* of a call, which has no time for it */
}

TEST(allocations)
{
	static const char rows[] = INTO(
		U1, "memory_allocate", "agent_id, type, level, start, end, address, size",
		"(2, 'ALLOC', 'REAL', 10, 20, 4096, 512), (NULL, 'FREE', 'REAL', 30, 35, 4096, 0)");
	READING rd = read_sql("rocpd", true, SQL(ROCPD(U1), rows));

	expect_read(&rd, 0,
		    "fact.allocations=2 FREE: at=30..35 ALLOC: kind=annotation "
		    "args={\"bytes\":512,\"address\":4096,\"level\":\"REAL\"}");
}

TEST(odd_rows)
{
#define DISPATCH(values) \
	INTO(U1, "kernel_dispatch", \
	     "pid, agent_id, kernel_id, queue_id, stream_id, start, end, event_id", \
	     "(" values ")")
#define REGION(values) INTO(U1, "region", "pid, tid, start, end, name_id, event_id", "(" values ")")
	static const struct {
		const char *sql, *code;
		size_t spans;
	} cases[] = {
		{ DISPATCH("1, 2, 1, 1, 3, 0, 0, 2"), W_BAD_EVENT, 0 },
		{ DISPATCH("1, 2, 1, 1, 3, 9, 8, 2"), W_NEGATIVE_DURATION, 1 },
		{ DISPATCH("1, 2, 99, 1, 3, 1, 2, 2"), W_UNKNOWN_REFERENCE, 1 },
		{ DISPATCH("1, 99, 1, 1, 3, 1, 2, 2"), W_UNKNOWN_REFERENCE, 1 },
		{ DISPATCH("88, 2, 1, 1, 3, 1, 2, 2"), W_UNKNOWN_REFERENCE, 1 },
		{ DISPATCH("NULL, NULL, 1, NULL, NULL, 1, 2, NULL"), NULL, 1 },
		{ DISPATCH("1, 2, 1, -9, -9, 1, 9223372036854775807, 2"), W_TIME_RANGE, 1 },
		{ DISPATCH("1, 2, 1, 1, 3, 'x', 2, 2"), W_BAD_EVENT, 0 },
		{ DISPATCH("1, 2, 1, 1, 3, 1, NULL, 2"), W_BAD_EVENT, 1 },
		{ REGION("1, 77, 1, 2, 3, 1"), W_UNKNOWN_REFERENCE, 1 },
		{ REGION("1, 1, 5, 2, 3, 1"), W_NEGATIVE_DURATION, 1 },
		{ REGION("1, 1, 5, 6, 99, 99"), NULL, 1 },
		{ INTO(U1, "memory_copy", "start, end, size", "(1, 2, -1)"), W_BAD_EVENT, 1 },
		{ INTO(U1, "memory_copy", "start, end, size", "(1, 2, 9223372036854775807)"),
		  W_BAD_EVENT, 1 },
		{ "UPDATE \"rocpd_event" U1 "\" SET extdata = '{\"message\": ';", NULL, 0 },
		{ "UPDATE \"rocpd_event" U1 "\" SET extdata = x'ff00';", NULL, 0 },
		{ "UPDATE \"rocpd_info_agent" U1 "\" SET extdata = '[[[[', type_index = -4;", NULL,
		  0 },
		{ "UPDATE \"rocpd_metadata" U1 "\" SET value = '4' WHERE tag = 'schema_version';",
		  W_UNKNOWN_VERSION, 0 },
		{ "ALTER TABLE \"rocpd_region" U1 "\" DROP COLUMN start;"
		  "INSERT INTO \"rocpd_region" U1 "\"(end) VALUES (1);",
		  W_BAD_EVENT, -1 },
		{ "DROP TABLE \"rocpd_string" U1 "\";", NULL, 0 },
		{ "DROP TABLE \"rocpd_event" U1 "\";", NULL, 0 },
		{ "DROP TABLE \"rocpd_info_process" U1 "\";", W_UNKNOWN_REFERENCE, 0 },
		{ "CREATE TABLE \"rocpd_region_x\"(a); CREATE TABLE rocpd_regionalia(b);",
		  W_BAD_EVENT, 0 },
		{ "CREATE TABLE rocpd_string_y(id, guid, string);"
		  "INSERT INTO rocpd_string_y VALUES (1, 'q', 'a'), (1, 'q', 'b');",
		  W_BAD_EVENT, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		/* views may name what a case drops */
		READING rd = read_sql("rocpd", true,
				      SQL("PRAGMA legacy_alter_table=ON;", ROCPD(U1),
					  "DROP VIEW rocpd_region;", cases[i].sql));

		if (rd.r != (warned(rd.m, W_TIME_RANGE) ? READ_PARTIAL : 0) ||
		    rd.m->spans.nr != 5 + cases[i].spans)
			ROW_FAIL(i, "%d, %zu spans", rd.r, rd.m->spans.nr);
		if (cases[i].code && warned(rd.m, cases[i].code) == 0)
			ROW_FAIL(i, "no %s", cases[i].code);
		for (size_t k = 0; !cases[i].code && k < rd.m->warnings.nr; k++)
			if (strcmp(rd.m->warnings.v[k].code, W_UNLINKED_WORK) != 0)
				ROW_FAIL(i, "%s: %s", rd.m->warnings.v[k].code,
					 rd.m->warnings.v[k].text);
	}
}

static char *small_file(const char *dir, size_t *n)
{
	CLEANUP(xfreep) char *path = db_make(dir, "small.db", SQL(ROCPD(U1)));
	char *data = NULL;

	assert_int_equal(fs_read(path, 1 << 20, &data, n, NULL), 0);
	return data;
}

TEST_IN(cut_everywhere, dir)
{
	size_t n, partial = 0;

	CLEANUP(xfreep) char *data = small_file(dir, &n);
	for (size_t i = 0; i <= n; i += i + 1024 < n ? 7 : 1) {
		READING rd = read_bytes("rocpd", data, i);

		if (i < n && rd.r == 0)
			fail_msg("cut at %zu of %zu is read as a whole", i, n);
		partial += rd.r == READ_PARTIAL;
		assert_true(rd.m->spans.nr <= 5);
	}
	print_message("# %zu cuts gave a part\n", partial);
}

TEST_IN(mutated, dir)
{
	size_t n;

	CLEANUP(xfreep) char *data = small_file(dir, &n);
	assert_mutations_read("rocpd", data, n, 5, 16, true);
}

TEST(detected)
{
	static const struct sql_format cases[] = {
		{ ROCPD_TABLES(U1), "rocpd" },
		{ "CREATE TABLE rocpd_info_node(id); CREATE TABLE rocpd_kernel_dispatch(id);",
		  "rocpd" },
		{ "CREATE TABLE rocpd_string(id); CREATE TABLE rocpd_metadata(id);", NULL },
	};

	expect_detected("x.db", cases, ARRAY_LEN(cases));
}
