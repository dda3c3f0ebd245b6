/* What a run.json may say, and what it may not. */
#include "publish_record.h"
#include "test.h"

#include "profrig/base/redact.h"
#include "profrig/base/strbuf.h"

#define ID "20260304T050607Z-mlp-3fa9c1"
#define TIMES "\"started_utc\": \"2026-03-04T05:06:07.5Z\", \"ended_utc\": \"2026-03-04T05:06:08Z\""

static int parse(const char *text, const char *folder, struct publish_record *ret, struct err *err)
{
	*err = (struct err)ERR_INIT;
	return publish_record_parse(text, strlen(text), folder, ret, err);
}

TEST(wrong_documents_are_refused)
{
	static const struct {
		const char *text, *folder;
		int code;
		const char *words;
	} rows[] = {
		{ "", ID, EBADMSG, "run.json, line" },
		{ "[]", ID, EBADMSG, "not of schema" },
		{ "{\"schema\": \"other/1\"}", ID, EBADMSG, "not of schema" },
		{ "{\"schema\": 1}", ID, EBADMSG, "not of schema" },
		{ "{\"schema\": \"profrig.run/1\"}", ID, EBADMSG, "no status" },
		{ "{\"schema\": \"profrig.run/1\", \"status\": \"running\", " TIMES "}", ID, EBUSY,
		  "has not ended" },
		{ "{\"schema\": \"profrig.run/1\", \"status\": \"planned\"}", ID, EBUSY,
		  "has not ended" },
		{ "{\"schema\": \"profrig.run/1\", \"status\": \"failed\","
		  " \"ended_utc\": \"soon\"}",
		  ID, EBADMSG, "or no end" },
		{ "{\"schema\": \"profrig.run/1\", \"status\": \"failed\", " TIMES "}", ID, EBADMSG,
		  "says that it is the run ''" },
		{ "{\"schema\": \"profrig.run/1\", \"status\": \"failed\", " TIMES
		  ", \"id\": \"20260304T050607Z-mlp-3fa9c2\"}",
		  ID, EBADMSG, "says that it is the run '20260304T050607Z-mlp-3fa9c2'" },
		{ "{\"schema\": \"profrig.run/1\", \"status\": \"failed\", " TIMES
		  ", \"id\": \"../../etc\"}",
		  "copy", EBADMSG, "no run's id" },
		{ "{\"schema\": \"profrig.run/1\", \"status\": \"a\\u0000b\"}", ID, EBADMSG,
		  "run.json, line" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(publish_record_release) struct publish_record rec;
		struct err err;
		int r = parse(rows[i].text, rows[i].folder, &rec, &err);

		if (r != -rows[i].code || !strstr(err.msg, rows[i].words))
			ROW_FAIL(i, "%d, %s", r, err.msg);
	}
}

TEST(a_run_is_known_by_its_folder)
{
	static const struct {
		const char *folder, *stated, *labels, *want;
	} rows[] = {
		{ ID, ID, "", ID },
		{ ID, ID, "\"campaign\": \"c\"", ID },
		{ "renamed", ID, "", ID },
		{ "aaa-1.2", "aaa-1.2", "\"campaign\": \"night\"",
		  "20260304T050607Z-night-aaa-1.2" },
		{ "aaa-1.2", ID, "\"campaign\": \"night\"", "20260304T050607Z-night-aaa-1.2" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(publish_record_release) struct publish_record rec;
		struct err err;

		if (parse(textf("{\"schema\": \"profrig.run/1\", \"status\": \"failed\", " TIMES
				", \"id\": \"%s\", \"labels\": {%s}}",
				rows[i].stated, rows[i].labels),
			  rows[i].folder, &rec, &err) < 0 ||
		    strcmp(rec.id, rows[i].want) != 0)
			ROW_FAIL(i, "%s %s", rec.id ? rec.id : "", err.msg);
		assert_true(rec.started_ns == INT64_C(1772600767500000000));
		assert_true(rec.ended_ns == INT64_C(1772600768000000000));
	}
}

/* Members of wrong kinds are as if they were not there. */
TEST(wrong_kinds_are_nothing)
{
	CLEANUP(publish_record_release) struct publish_record rec;
	struct err err;

	assert_int_equal(
		parse("{\"schema\": \"profrig.run/1\", \"status\": \"failed\", " TIMES
		      ", \"id\": \"" ID "\", \"model\": 7, \"labels\": [\"a\"], \"metrics\": {},"
		      " \"devices\": \"x\", \"tools\": [1, {\"name\": 2}], \"durations_s\": 3,"
		      " \"host\": [], \"exit_code\": \"0\"}",
		      ID, &rec, &err),
		0);
	assert_string_equal(rec.model, "");
	assert_string_equal(rec.host, "");
	assert_int_equal(rec.labels.nr + rec.metrics.nr + rec.devices.nr + rec.durations.nr, 0);
	assert_false(rec.exited);
}

TEST(long_texts_are_cut_between_characters)
{
	CLEANUP(publish_record_release) struct publish_record rec;
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct err err;

	strbuf_addstr(&sb, "{\"schema\": \"profrig.run/1\", \"status\": \"failed\", " TIMES
			   ", \"id\": \"" ID "\", \"model\": \"x");
	for (size_t i = 0; i < PUBLISH_MAX_TEXT; i++)
		strbuf_addstr(&sb, "é");
	strbuf_addstr(&sb, "\"}");
	assert_int_equal(parse(sb.buf, ID, &rec, &err), 0);
	/* 1 + 2·198 = 397 bytes, and three of the mark */
	assert_int_equal(strlen(rec.model), 400);
	assert_string_equal(rec.model + 393, "éé…");
}

TEST(metrics_are_bounded_and_counted)
{
	CLEANUP(publish_record_release) struct publish_record rec;
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct err err;

	strbuf_addstr(&sb, "{\"schema\": \"profrig.run/1\", \"status\": \"failed\", " TIMES
			   ", \"id\": \"" ID "\", \"metrics\": [{}");
	for (size_t i = 0; i < PUBLISH_MAX_METRICS + 10; i++)
		strbuf_addf(&sb, ", {\"name\": \"m%zu\", \"value\": 1}", i / 2);
	strbuf_addstr(&sb, "]}");
	assert_int_equal(parse(sb.buf, ID, &rec, &err), 0);
	assert_int_equal(rec.metrics.nr, PUBLISH_MAX_METRICS);
	assert_int_equal(rec.left_out, 11);
	assert_string_equal(rec.metrics.v[1].key, "#2");
	assert_string_equal(rec.metrics.v[2].key, "");
}

/* A run may have the metrics a, a and a#2 of its own. */
TEST(keys_are_single)
{
	CLEANUP(publish_record_release) struct publish_record rec;
	struct err err;

	assert_int_equal(parse("{\"schema\": \"profrig.run/1\", \"status\": \"failed\", " TIMES
			       ", \"id\": \"" ID "\", \"metrics\": ["
			       "{\"name\": \"e\", \"value\": 1, \"source\": \"energy_totals: #2\"},"
			       "{\"name\": \"e\", \"value\": 2}, {\"name\": \"e\", \"value\": 3},"
			       "{\"name\": \"e\", \"value\": 4}]}",
			       ID, &rec, &err),
			 0);
	assert_string_equal(rec.metrics.v[0].key, "#2");
	assert_string_equal(rec.metrics.v[1].key, "");
	assert_string_equal(rec.metrics.v[2].key, "#3");
	assert_string_equal(rec.metrics.v[3].key, "#4");
}

TEST(secrets_are_masked)
{
	CLEANUP(publish_record_release) struct publish_record rec;
	struct err err;

	redact_learn("hunter2-token-long");
	assert_int_equal(parse("{\"schema\": \"profrig.run/1\", \"status\": \"failed\", " TIMES
			       ", \"id\": \"" ID "\", \"reason\": \"with hunter2-token-long\"}",
			       ID, &rec, &err),
			 0);
	assert_string_equal(rec.reason, "with ***");
}

TEST_IN(a_directory_is_not_trusted, dir)
{
	CLEANUP(publish_record_release) struct publish_record rec = { .tools = STRVEC_INIT };
	struct err err = ERR_INIT;

	test_put(dir, "elsewhere/run.json", "{}");
	test_put(dir, ID "/other", "{}");
	assert_int_equal(publish_record_read(in_dir(dir, ID), &rec, &err), -ENOENT);
	assert_int_equal(symlink("../elsewhere/run.json", in_dir(dir, ID "/run.json")), 0);
	assert_int_equal(publish_record_read(in_dir(dir, ID), &rec, &err), -ELOOP);
	assert_int_equal(unlink(in_dir(dir, ID "/run.json")), 0);
	assert_int_equal(link(in_dir(dir, ID "/other"), in_dir(dir, ID "/run.json")), 0);
	assert_int_equal(publish_record_read(in_dir(dir, ID), &rec, &err), -EMLINK);
}
