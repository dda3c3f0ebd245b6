#include "readers_test.h"

#define FIX "tests/fixtures/"

TEST(registry)
{
	static const char *const names[] = { "otf2",        "tef",  "samples",
					     "metrics_csv", "nsys", "rocpd" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_non_null(reader_find(names[i]));
	assert_null(reader_find("no-such-reader"));
	assert_null(reader_find(""));
	for (const struct reader *const *r = readers; *r; r++)
		assert_true((*r)->name && (*r)->about && (*r)->suffixes && (*r)->probe &&
			    (*r)->read);
}

TEST(parsing)
{
	static const struct {
		const char *text, *reader, *dialect; /* no reader: the words of the error */
	} cases[] = {
		{ "tef", "tef", NULL },
		{ "tef:kineto", "tef", "kineto" },
		{ "tef:rocprofv3", "tef", "rocprofv3" },
		{ "otf2", "otf2", NULL },
		{ "tef:", NULL, "has no dialect ''; it has chrome, kineto" },
		{ "tef:Kineto", NULL, "has no dialect 'Kineto'" },
		{ "otf2:x", NULL, "reader 'otf2' has no dialects" },
		{ "", NULL, "there is no reader ''; there are otf2, tef" },
		{ "json", NULL, "there is no reader 'json'" },
		{ "te:kineto", NULL, "there is no reader 'te'" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct reader *rd = NULL;
		const char *dialect = NULL;
		struct err e = ERR_INIT;
		int r = reader_parse(cases[i].text, &rd, &dialect, &e);

		if (!cases[i].reader) {
			if (r != -EINVAL || !strstr(e.msg, cases[i].dialect))
				ROW_FAIL(i, "%d: %s", r, e.msg);
			continue;
		}
		assert_int_equal(r, 0);
		assert_string_equal(rd->name, cases[i].reader);
		assert_true(!dialect == !cases[i].dialect);
		if (dialect)
			assert_string_equal(dialect, cases[i].dialect);
	}
}

TEST(detection)
{
	static const struct {
		const char *path, *reader;
	} cases[] = LIST(
		{ FIX "tef/chrome.json", "tef" }, { FIX "tef/kineto.json", "tef" },
		{ FIX "tef/rocprof-v1.json", "tef" }, { FIX "tef/rocprofv3.json", "tef" },
		{ FIX "tef/jax.json", "tef" }, { FIX "tef/mtia.json", "tef" },
		{ FIX "tef/chrome-samples.json", "tef" }, { FIX "tef/profrig-blas.json", "tef" },
		{ FIX "tef/damaged.json", "tef" }, { FIX "tef/comma-first.json", "tef" },
		{ FIX "samples/gpu.csv", "samples" }, { FIX "samples/change.csv", "samples" },
		{ FIX "metrics_csv/two-ranks.csv", "metrics_csv" },
		{ FIX "metrics_csv/quoted.csv", "metrics_csv" },
		{ FIX "metrics_csv/header-only.csv", "metrics_csv" },
		{ FIX "ncu_csv/raw.csv", "ncu_csv" }, { FIX "ncu_csv/details.csv", "ncu_csv" },
		{ FIX "ncu_csv/summary.csv", "ncu_csv" }, { FIX "ncu_csv/not-ncu.csv", NULL },
		{ FIX "nsys/two-processes.sqlite", "nsys" }, { FIX "nsys/xla.sqlite", "nsys" },
		{ FIX "rocpd/two-processes.db", "rocpd" }, { FIX "rpd/two-writers-v3.rpd", "rpd" },
		{ FIX "rpd/v1.rpd", "rpd" }, { FIX "rocprof_db/hip.db", "rocprof_db" },
		{ FIX "metrics_csv/not-metrics.csv", NULL },
		{ FIX "samples/not-samples.csv", NULL }, { FIX "tef/no-events.json", NULL },
		{ FIX "rundir/complete/run.json", NULL }, { FIX "samples/no-header.csv", NULL },
		{ FIX "tef", NULL });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct reader *rd = NULL;
		struct err e = ERR_INIT;
		int r = reader_detect(cases[i].path, &rd, &e);

		if (cases[i].reader) {
			assert_int_equal(r, 0);
			assert_string_equal(rd->name, cases[i].reader);
			continue;
		}
		assert_int_equal(r, -EINVAL);
		assert_has(e.msg, cases[i].path, "profrig knows", "samples (.csv");
	}
}

TEST(detection_of_text)
{
	static const struct {
		const char *text;
		size_t n;
		const char *reader, *words;
	} cases[] = {
		{ "[\n", 2, "tef", NULL },
		{ "[]", 2, "tef", NULL },
		{ "[{\"ph\":\"X\"}", 11, "tef", NULL },
		{ "[1,2,3]", 7, NULL, "not a trace" },
		{ "{\"a\":1}", 7, NULL, "not a trace" },
		{ "", 0, NULL, "it is empty" },
		{ "SQLite format 3\0...", 19, NULL, "an SQLite database" },
		{ "\x7f"
		  "ELF....",
		  8, NULL, "a program" },
		{ "BZh91AY", 7, NULL, "bzip2-compressed" },
		{ "t_ns,power[W]\n", 14, "samples", NULL },
		{ "t_ns\n", 5, NULL, "not a trace" },
		{ "Group,Metric Name,Time,Value", 28, "metrics_csv", NULL },
		{ "Group,Metric Name,Time\n", 23, NULL, "not a trace" },
		{ "Group,Metric Name,Time,Value,Unit\n", 34, NULL, "not a trace" },
		{ "Thread,Group,Depth,\"Name\",Start,End,Duration\n", 45, NULL, "not a trace" },
		{ "# profrig samples: 1\nt_ns,a", 27, "samples", NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *path = temp_file(cases[i].text, cases[i].n);
		const struct reader *rd = NULL;
		struct err e = ERR_INIT;
		int r = reader_detect(path, &rd, &e);

		unlink(path);
		free(path);
		assert_int_equal(r, cases[i].reader ? 0 : -EINVAL);
		if (cases[i].reader)
			assert_string_equal(rd->name, cases[i].reader);
		else if (!strstr(e.msg, cases[i].words))
			fail_msg("'%s' instead of '%s'", e.msg, cases[i].words);
	}
	const struct reader *rd = NULL;

	assert_int_equal(reader_detect("/tmp/profrig-no-such-file", &rd, NULL), -ENOENT);
}

/* Kineto heads may be longer than what a probe sees. */
TEST(late_events)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	const struct reader *rd = NULL;

	strbuf_addstr(&sb,
		      "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 5, \"pg_config\": [");
	for (int i = 0; i < PROBE_BYTES / 4; i++)
		strbuf_addstr(&sb, "[0],\n");
	strbuf_addstr(&sb,
		      "[1]]}, \"traceEvents\": "
		      "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1}]}");
	CLEANUP(xfreep) char *path = temp_file(sb.buf, sb.len);
	assert_int_equal(reader_detect(path, &rd, NULL), 0);
	assert_string_equal(rd->name, "tef");
	READING r = read_path("tef", path, false);

	assert_int_equal(r.r, 0);
	assert_int_equal(track_of(r.m, 0)->rank, 5);
	unlink(path);
}

static void check_words(const char *path, const char *reader, uint64_t min, const char *verdict,
			uint64_t records, const char *reason)
{
	struct artifact_check c;

	reader_check(path, reader, min, &c);
	assert_string_equal(c.verdict, verdict);
	assert_int_equal(c.records, records);
	if (!strstr(c.reason, reason))
		fail_msg("%s: '%s' instead of '%s'", path, c.reason, reason);
}

TEST(checks)
{
	struct artifact_check c;

	check_words(FIX "tef/profrig-blas.json", "tef", 0, "valid", 2, "");
	check_words(FIX "tef/profrig-blas.json", NULL, 2, "valid", 2, "");
	check_words(FIX "tef/profrig-blas.json", "tef", 3, "empty", 2, "2 records, at least 3");
	check_words(FIX "tef/damaged.json", "tef", 0, "damaged", 3, "damaged at byte 58");
	check_words(FIX "tef/cut-object.json", "tef", 0, "damaged", 1, "ends early at byte");
	check_words(FIX "tef/comma-first.json", "tef", 0, "damaged", 0, "byte 0");
	check_words(FIX "tef/comma-first.json", "samples", 0, "damaged", 0,
		    "comma-first.json: line 1: ");
	check_words(FIX "samples/gpu.csv", "samples", 1, "valid", 12, "");
	check_words(FIX "samples/no-header.csv", "samples", 1, "empty", 0, "no header");
	check_words(FIX "rundir/complete/artifacts/rocprof/empty.json", "tef", 0, "empty", 0,
		    "0 bytes");
	check_words(FIX "no-such-file", "tef", 0, "damaged", 0, "no such file");
	/* neither named nor recognised: then bytes are enough */
	check_words(FIX "rundir/interrupted/artifacts/roctx_trace/notes.txt", "", 0, "valid", 0,
		    "");
	check_words(FIX "rundir/complete/artifacts/rocprof/empty.json", "", 0, "empty", 0,
		    "0 bytes");
	/* it is named, but this program does not know it */
	check_words(FIX "rundir/complete/artifacts/rocprof/empty.json", "other", 0, "empty", 0,
		    "0 bytes");
	check_words(FIX "tef/chrome.json", "other", 1, "valid", 0, "no reader 'other'");
	reader_check(FIX "tef/chrome.json", "other", 1, &c);
	assert_true(c.unread);
	reader_check(FIX "tef/profrig-blas.json", "tef", 0, &c);
	assert_false(c.unread);
	assert_int_equal(c.first_ns, 5000001001);
	assert_int_equal(c.last_ns, 5000003501);
	assert_string_equal(c.reader, "tef");
}
