#include "html_private.h"
#include "test.h"
#include "writers_private.h"

#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <jansson.h>
#include <math.h>
#include <nettle/base64.h>
#include <sys/stat.h>

#include "profrig/base/strbuf.h"

static char *dir;

static int make_dir(void **state UNUSED)
{
	dir = test_dir();
	return 0;
}

static int drop_dir(void **state UNUSED)
{
	test_dir_done(&dir);
	return 0;
}

static struct table *paths_table(size_t rows)
{
	struct table *t = table_new("callpaths");
	char path[64];

	table_col(t, "path", TABLE_STR, NULL);
	table_col(t, "exclusive_ns", TABLE_I64, "ns");
	for (size_t i = 0; i < rows; i++) {
		snprintf(path, sizeof(path), "main;f%zu", i);
		table_str(t, path);
		table_i64(t, (int64_t)((i * 7919) % rows) + 1);
		table_row(t);
	}
	return t;
}

static json_t *payload_of(const struct report *r, struct html_limits limit)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	json_error_t err;
	json_t *doc;

	html_write_data(r, limit, f);
	fclose(f);
	doc = json_loadb(text, n, JSON_ALLOW_NUL, &err);
	if (!doc)
		fail_msg("payload is no JSON: %s in %s", err.text, text);
	return doc;
}

static const struct html_limits no_limit = { SIZE_MAX, SIZE_MAX };

/* ---- which rows ---- */

TEST(test_all_rows_when_they_fit)
{
	CLEANUP(table_freep) struct table *t = paths_table(10);
	struct html_rows r;

	html_rows_choose(t, (struct html_limits){ 10, 100000 }, &r);
	assert_null(r.row);
	assert_null(r.words);
	assert_int_equal(r.nr, 10);
	html_rows_release(&r);
}

TEST(test_heaviest_rows_in_table_order)
{
	CLEANUP(table_freep) struct table *t = paths_table(1000);
	struct html_rows r;
	int64_t least_kept = INT64_MAX;
	bool kept[1000] = { false };

	html_rows_choose(t, (struct html_limits){ 100, 1000000 }, &r);
	assert_int_equal(r.nr, 100);
	assert_int_equal(r.of, 1000);
	for (size_t i = 0; i < r.nr; i++) {
		size_t row = html_rows_at(&r, i);

		assert_true(i == 0 || row > html_rows_at(&r, i - 1));
		kept[row] = true;
		if (table_get_i64(t, row, 1) < least_kept)
			least_kept = table_get_i64(t, row, 1);
	}
	for (size_t i = 0; i < 1000; i++)
		assert_true(kept[i] || table_get_i64(t, i, 1) <= least_kept);
	/* Σ of the top 100 of 1…1000 is 95050 of 500500 */
	assert_has(r.words, "100 heaviest of 1000 rows (19.0 % of all own time)",
		   "tables/callpaths.csv");
	html_rows_release(&r);
}

TEST(test_bytes_limit_rows_too)
{
	CLEANUP(table_freep) struct table *t = paths_table(1000);
	struct html_rows r;

	html_rows_choose(t, (struct html_limits){ 1000, 2400 }, &r);
	assert_true(r.nr > 50 && r.nr < 130);
	assert_non_null(r.words);
	html_rows_release(&r);
}

TEST(test_unattributed_stays)
{
	CLEANUP(table_freep) struct table *t = paths_table(50);
	struct html_rows r;

	table_str(t, "[unattributed]");
	table_i64(t, 0);
	table_row(t);
	html_rows_choose(t, (struct html_limits){ 5, 100000 }, &r);
	assert_int_equal(html_rows_at(&r, r.nr - 1), 50);
	html_rows_release(&r);
}

/* A main() of no own time, above paths that have all of it. */
TEST(test_ancestors_stay)
{
	CLEANUP(table_freep) struct table *t = table_new("callpaths");
	struct html_rows r;

	table_col(t, "path", TABLE_STR, NULL);
	table_col(t, "inclusive_ns", TABLE_I64, "ns");
	table_col(t, "exclusive_ns", TABLE_I64, "ns");
	for (int i = 0; i < 40; i++) {
		char path[32];

		snprintf(path, sizeof(path), i == 30 ? "main" : "main;leaf_%d", i);
		table_str(t, path);
		table_i64(t, i == 30 ? 39000 : 1000);
		table_i64(t, i == 30 ? 0 : 1000);
		table_row(t);
	}
	html_rows_choose(t, (struct html_limits){ 10, 100000 }, &r);
	assert_int_equal(r.nr, 10);
	assert_int_equal(html_rows_at(&r, 9), 30);
	assert_has(r.words, "10 heaviest of 40 rows (23.1 % of all own time)");
	html_rows_release(&r);
}

/* Of two estimates of one energy the better one weighs, once. */
TEST(test_best_energy_weighs)
{
	for (int best = 0; best < 2; best++) {
		CLEANUP(table_freep) struct table *t = table_new("energy");
		struct html_rows r;

		table_col(t, "name", TABLE_STR, NULL);
		table_col(t, "exclusive_j", TABLE_F64, "J");
		if (best)
			table_col(t, "best_j", TABLE_F64, "J");
		for (int i = 0; i < 4; i++) {
			table_str(t, "f");
			table_f64(t, i == 1 ? 7 : 1);
			if (best)
				table_f64(t, i == 2 ? 6 : 2);
			table_row(t);
		}
		html_rows_choose(t, (struct html_limits){ 1, 100000 }, &r);
		assert_int_equal(html_rows_at(&r, 0), best ? 2 : 1);
		assert_has(r.words,
			   best ? "(50.0 % of all own energy)" : "(70.0 % of all own energy)");
		html_rows_release(&r);
	}
}

TEST(test_rows_without_weight)
{
	CLEANUP(table_freep) struct table *t = table_new("timeline");
	struct html_rows r;

	table_col(t, "series", TABLE_STR, NULL);
	for (int i = 0; i < 9; i++) {
		table_str(t, "s");
		table_row(t);
	}
	html_rows_choose(t, (struct html_limits){ 4, 1000 }, &r);
	assert_int_equal(r.nr, 4);
	assert_int_equal(html_rows_at(&r, 3), 3);
	assert_has(r.words, "first 4 of 9 rows");
	html_rows_release(&r);
}

/* ---- the data ---- */

TEST(test_values_come_back)
{
	struct report r = REPORT_INIT;
	struct table *t = table_new("values");
	json_t *doc, *data;

	table_about(t, "one \"thing\"");
	table_col(t, "s", TABLE_STR, NULL);
	table_col(t, "i", TABLE_I64, "ns");
	table_col(t, "u", TABLE_U64, NULL);
	table_col(t, "f", TABLE_F64, "J");
	table_str(t, "</script><!-- \xff");
	table_i64(t, INT64_C(-9007199254740993));
	table_u64(t, UINT64_MAX);
	table_f64(t, 0.1);
	table_row(t);
	table_str(t, "");
	table_i64(t, INT64_C(9007199254740992));
	table_u64(t, 7);
	table_f64(t, NAN);
	table_row(t);
	VEC_PUSH(&r.tables.tables, t);
	doc = payload_of(&r, no_limit);
	data = json_object_get(json_object_get(json_object_get(doc, "tables"), "values"), "data");
	assert_string_equal(json_string_value(json_array_get(json_array_get(data, 0), 0)),
			    "</script><!-- \xef\xbf\xbd");
	/* what a JavaScript number would round comes as digits */
	assert_string_equal(json_string_value(json_array_get(json_array_get(data, 1), 0)),
			    "-9007199254740993");
	assert_int_equal(json_integer_value(json_array_get(json_array_get(data, 1), 1)),
			 INT64_C(9007199254740992));
	assert_string_equal(json_string_value(json_array_get(json_array_get(data, 2), 0)),
			    "18446744073709551615");
	assert_true(json_real_value(json_array_get(json_array_get(data, 3), 0)) == 0.1);
	assert_true(json_is_null(json_array_get(json_array_get(data, 3), 1)));
	json_decref(doc);
	table_free(t);
	VEC_RELEASE(&r.tables.tables);
}

TEST(test_foreign_json_cannot_close_the_element)
{
	struct report r = { .analysis_json =
				    (char *)"{\"warnings\":[{\"text\":\"</script><script>x\"}]}",
			    .run_json = (char *)"{\"model\":\"<!--<script>\"}" };
	CLEANUP(xfreep) char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	json_t *doc;

	html_write_data(&r, no_limit, f);
	fclose(f);
	assert_null(strchr(text, '<'));
	doc = json_loads(text, 0, NULL);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(doc, "run"), "model")),
		"<!--<script>");
	json_decref(doc);
}

TEST(test_damaged_json_is_said)
{
	struct report r = { .analysis_json = (char *)"{\"a\":", .run_json = (char *)"[1]" };
	json_t *doc = payload_of(&r, no_limit);

	assert_true(json_is_null(json_object_get(doc, "analysis")));
	assert_true(json_is_null(json_object_get(doc, "run")));
	assert_int_equal(json_array_size(json_object_get(doc, "problems")), 2);
	json_decref(doc);
}

TEST(test_cut_is_in_the_data)
{
	struct report r = REPORT_INIT;
	json_t *doc, *t;

	VEC_PUSH(&r.tables.tables, paths_table(20));
	doc = payload_of(&r, (struct html_limits){ 5, 100000 });
	t = json_object_get(json_object_get(doc, "tables"), "callpaths");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(t, "cut"), "of")), 20);
	assert_int_equal(json_array_size(json_array_get(json_object_get(t, "data"), 1)), 5);
	json_decref(doc);
	table_free(r.tables.tables.v[0]);
	VEC_RELEASE(&r.tables.tables);
}

/* Long columns of texts that repeat themselves are words and numbers, all others as they were. */
TEST(test_repeated_texts_are_words)
{
	struct report r = REPORT_INIT;
	struct table *t = table_new("spans");
	json_t *doc, *data, *column;

	table_col(t, "kind", TABLE_STR, NULL);
	table_col(t, "each", TABLE_STR, NULL);
	for (int i = 0; i < 1200; i++) {
		table_str(t, i % 3 ? "gemm" : "<b>");
		table_str(t, textf("name %d", i));
		table_row(t);
	}
	VEC_PUSH(&r.tables.tables, t);
	doc = payload_of(&r, no_limit);
	data = json_object_get(json_object_get(json_object_get(doc, "tables"), "spans"), "data");
	column = json_array_get(data, 0);
	assert_int_equal(json_array_size(json_object_get(column, "at")), 1200);
	for (size_t i = 0; i < 1200; i++) {
		json_t *at = json_array_get(json_object_get(column, "at"), i);
		json_t *word = json_array_get(json_object_get(column, "words"),
					      (size_t)json_integer_value(at));

		assert_string_equal(json_string_value(word), i % 3 ? "gemm" : "<b>");
	}
	column = json_array_get(data, 1);
	assert_int_equal(json_array_size(column), 1200);
	assert_string_equal(json_string_value(json_array_get(column, 7)), "name 7");
	json_decref(doc);
	table_free(t);
	VEC_RELEASE(&r.tables.tables);
}

static int64_t nth_value(json_t *values, size_t i)
{
	return json_integer_value(json_array_get(values, i));
}

/* Long columns of integers that grow slowly are steps; unknown ones stay unknown. */
TEST(test_slow_integers_are_steps)
{
	struct report r = REPORT_INIT;
	struct table *t = table_new("spans");
	json_t *doc, *data, *steps;
	int64_t value = 0;

	table_col(t, "start_ns", TABLE_I64, "ns");
	table_col(t, "launch_ns", TABLE_F64, "ns");
	table_col(t, "jumps", TABLE_I64, NULL);
	table_col(t, "large", TABLE_U64, NULL);
	table_col(t, "share", TABLE_F64, NULL);
	for (int64_t i = 0; i < 1200; i++) {
		table_i64(t, 5000000 - 1000000 * (i == 900) + 37 * i);
		table_f64(t, i % 3 ? (double)(1000000 + 11 * i) : NAN);
		table_i64(t, i % 2 ? 7 : 900000);
		table_u64(t, UINT64_MAX - (uint64_t)i);
		table_f64(t, 100000 + (double)i + 0.5);
		table_row(t);
	}
	VEC_PUSH(&r.tables.tables, t);
	doc = payload_of(&r, no_limit);
	data = json_object_get(json_object_get(json_object_get(doc, "tables"), "spans"), "data");
	steps = json_object_get(json_array_get(data, 0), "steps");
	assert_int_equal(json_array_size(steps), 1200);
	for (size_t i = 0; i < 1200; i++)
		assert_int_equal(value += nth_value(steps, i), table_get_i64(t, i, 0));
	steps = json_object_get(json_array_get(data, 1), "steps");
	assert_true(json_is_null(json_array_get(steps, 0)));
	assert_int_equal(nth_value(steps, 1), 1000011);
	assert_int_equal(nth_value(steps, 2), 11);
	assert_true(json_is_null(json_array_get(steps, 3)));
	assert_int_equal(nth_value(steps, 4), 22);
	for (size_t c = 2; c < 5; c++)
		assert_int_equal(json_array_size(json_array_get(data, c)), 1200);
	assert_string_equal(json_string_value(json_array_get(json_array_get(data, 3), 0)),
			    "18446744073709551615");
	json_decref(doc);
	table_free(t);
	VEC_RELEASE(&r.tables.tables);
}

/* Sums that the page makes itself are not in it. */
TEST(test_unused_columns_are_left_out)
{
	struct report r = REPORT_INIT;
	struct table *t = table_new("energy_callpaths");
	json_t *doc, *table;

	table_col(t, "path", TABLE_STR, NULL);
	table_col(t, "exclusive_j", TABLE_F64, "J");
	table_col(t, "inclusive_j", TABLE_F64, "J");
	table_str(t, "main");
	table_f64(t, 1);
	table_f64(t, 2);
	table_row(t);
	VEC_PUSH(&r.tables.tables, t);
	doc = payload_of(&r, no_limit);
	table = json_object_get(json_object_get(doc, "tables"), "energy_callpaths");
	assert_int_equal(json_array_size(json_object_get(table, "columns")), 2);
	assert_int_equal(json_array_size(json_object_get(table, "data")), 2);
	assert_true(html_column_used(t, 1));
	assert_false(html_column_used(t, 2));
	json_decref(doc);
	table_free(t);
	VEC_RELEASE(&r.tables.tables);
}

/* ---- packing ---- */

static void html_unpack(const char *text, size_t n, struct strbuf *out)
{
	CLEANUP(xfreep) uint8_t *gz = xmalloc(n), *step = xmalloc(65536);
	struct base64_decode_ctx ctx;
	struct inflate_state st;
	size_t len = n;

	base64_decode_init(&ctx);
	assert_int_equal(base64_decode_update(&ctx, &len, gz, n, text), 1);
	isal_inflate_init(&st);
	st.crc_flag = ISAL_GZIP;
	st.next_in = gz;
	st.avail_in = (uint32_t)len;
	do {
		st.next_out = step;
		st.avail_out = 65536;
		assert_int_equal(isal_inflate(&st), ISAL_DECOMP_OK);
		strbuf_add(out, step, 65536 - st.avail_out);
	} while (st.block_state != ISAL_BLOCK_FINISH);
}

/* What the next functions find in variables that they forget to set. */
static __attribute__((noinline)) void leave_behind(void)
{
	volatile uint8_t stack[1 << 17];

	for (size_t i = 0; i < sizeof(stack); i++)
		stack[i] = 0x55;
}

TEST(test_long_data_is_packed)
{
	CLEANUP(strbuf_release) struct strbuf in = STRBUF_INIT, out = STRBUF_INIT;
	CLEANUP(xfreep) char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	for (int i = 0; in.len < 3 * HTML_PACK_MIN; i++)
		strbuf_addf(&in, "[%d,\"name %d\"]", i, i * 31 % 1000);
	leave_behind();
	html_write_packed(in.buf, in.len, f);
	fclose(f);
	assert_true(n < in.len / 3);
	assert_memory_equal(text, "\"gzip:", 6);
	assert_int_equal(text[n - 1], '"');
	html_unpack(text + 6, n - 7, &out);
	assert_int_equal(out.len, in.len);
	assert_memory_equal(out.buf, in.buf, in.len);
}

TEST(test_short_data_is_not_packed)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	html_write_packed("{\"a\":1}", 7, f);
	fclose(f);
	assert_string_equal(text, "{\"a\":1}");
}

/* ---- the last lines of a step ---- */

static json_t *run_of(const char *status, const char *steps)
{
	json_t *run = html_parse(textf("{\"status\":\"%s\",\"steps\":[%s]}", status, steps));

	assert_non_null(run);
	return run;
}

static void html_put(const char *name, const char *data, size_t n)
{
	assert_int_equal(fs_mkdirs(textf("%s/steps", dir), 0755, NULL), 0);
	assert_int_equal(fs_write_atomic(textf("%s/steps/%s", dir, name), data, n, NULL), 0);
}

TEST(test_last_forty_lines)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct report r = { .run_dir = dir };
	struct html_logs logs;
	json_t *run;
	int lines = 1;

	for (int i = 0; i < 5000; i++)
		strbuf_addf(&sb, "line %d\n", i);
	html_put("02-workload.out", sb.buf, sb.len);
	html_put("02-workload.err", "a\0b\n", 4);
	run = run_of("failed", "{\"name\":\"pre\",\"exit_code\":0,\"out\":\"steps/01-pre.out\"},"
			       "{\"name\":\"workload\",\"exit_code\":3,\"out\":\"steps/"
			       "02-workload.out\",\"err\":\"steps/02-workload.err\"}");
	html_logs_read(&r, run, &logs);
	assert_int_equal(logs.v.nr, 1);
	assert_string_equal(logs.v.v[0].step, "workload");
	for (const char *s = logs.v.v[0].out.text; *s; s++)
		lines += *s == '\n';
	assert_int_equal(lines, 40);
	assert_memory_equal(logs.v.v[0].out.text, "line 4960\n", 10);
	assert_string_equal(strrchr(logs.v.v[0].out.text, '\n'), "\nline 4999");
	assert_int_equal(logs.v.v[0].out.bytes, (int64_t)sb.len);
	assert_string_equal(logs.v.v[0].err.text, "a b");
	html_logs_release(&logs);
	html_parse_free(run);
}

TEST(test_long_lines_are_bounded)
{
	CLEANUP(xfreep) char *text = xmalloc(100000);
	struct report r = { .run_dir = dir };
	struct html_logs logs;
	json_t *run = run_of("timeout", "{\"name\":\"workload\",\"signal\":\"SIGTERM\",\"out\":"
					"\"steps/long.out\",\"err\":\"steps/two.err\"}");

	memset(text, 'x', 100000);
	html_put("long.out", text, 100000);
	text[90000] = '\n';
	html_put("two.err", text, 100000);
	html_logs_read(&r, run, &logs);
	assert_int_equal(logs.v.nr, 1);
	assert_int_equal(strlen(logs.v.v[0].out.text), 16384);
	/* the cut line goes, the whole one stays */
	assert_int_equal(strlen(logs.v.v[0].err.text), 9999);
	html_logs_release(&logs);
	html_parse_free(run);
}

TEST(test_logs_only_of_the_run)
{
	struct report r = { .run_dir = dir };
	struct html_logs logs;
	json_t *run = run_of(
		"failed",
		"{\"name\":\"a\",\"exit_code\":1,\"out\":\"../secret\",\"err\":\"/etc/passwd\"},"
		"{\"name\":\"b\",\"exit_code\":1,\"out\":\"steps/link.out\",\"err\":\"steps/"
		"fifo.err\"},"
		"{\"name\":\"c\",\"exit_code\":1,\"out\":\"..\",\"err\":\"\"}");

	html_put("x", "x", 1);
	assert_int_equal(fs_write_atomic(textf("%s/secret", dir), "secret", 6, NULL), 0);
	assert_int_equal(symlink(textf("%s/secret", dir), textf("%s/steps/link.out", dir)), 0);
	assert_int_equal(mkfifo(textf("%s/steps/fifo.err", dir), 0600), 0);
	html_logs_read(&r, run, &logs);
	assert_int_equal(logs.v.nr, 3);
	for (size_t i = 0; i < logs.v.nr; i++) {
		assert_null(logs.v.v[i].out.text);
		assert_null(logs.v.v[i].err.text);
	}
	html_logs_release(&logs);
	html_parse_free(run);
}

TEST(test_which_steps_have_logs)
{
	static const struct {
		const char *status, *steps, *expect;
	} cases[] = {
		{ "success", "{\"name\":\"workload\",\"exit_code\":1}", "" },
		{ "partial", "{\"name\":\"workload\",\"exit_code\":0}", "" },
		/* nothing failed but the run did (an empty required output): the workload's words
		 */
		{ "failed",
		  "{\"name\":\"workload\",\"exit_code\":0,\"started_ns\":1},{\"name\":\"post\","
		  "\"exit_code\":0,\"started_ns\":2}",
		  "workload" },
		/* killed while preparing: the last that began */
		{ "running", "{\"name\":\"pre\",\"exit_code\":null,\"started_ns\":1}", "pre" },
		{ "failed",
		  "{\"name\":\"post\",\"exit_code\":2},{\"name\":\"post\",\"exit_code\":2}",
		  "post,post (step 2)" },
		{ "failed", "", "" },
		{ "failed", "3,null,[]", "" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT;
		struct report r = { .run_dir = dir };
		struct html_logs logs;
		json_t *run = run_of(cases[i].status, cases[i].steps);

		html_logs_read(&r, run, &logs);
		for (size_t k = 0; k < logs.v.nr; k++)
			strbuf_addf(&got, "%s%s", k ? "," : "", logs.v.v[k].step);
		assert_string_equal(got.buf, cases[i].expect);
		html_logs_release(&logs);
		html_parse_free(run);
	}
}

/* ---- the plain document and the writer ---- */

TEST(test_plain_escapes)
{
	struct report r = { .analysis_json = (char *)"{\"warnings\":[{\"code\":\"<i>\",\"text\":\"<"
						     "script>alert(1)</script>\"}]}",
			    .run_json = (char *)"{\"model\":\"<img src=x "
						"onerror=alert(1)>\",\"status\":\"failed\","
						"\"reason\":\"a & 'b' \\\"c\\\"\"}" };
	struct table *t = table_new("functions");
	CLEANUP(xfreep) char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	table_col(t, "name", TABLE_STR, NULL);
	table_str(t, "<b>bold\x01</b>");
	table_row(t);
	VEC_PUSH(&r.tables.tables, t);
	html_write_plain(&r, 10, f);
	fclose(f);
	assert_lacks(text, "<script", "<img", "<b>bold");
	assert_has(text, "&#60;b&#62;bold\\x01&#60;/b&#62;", "a &#38; &#39;b&#39; &#34;c&#34;",
		   "<title>&#60;img src=x onerror=alert(1)&#62;");
	table_free(t);
	VEC_RELEASE(&r.tables.tables);
}

/* Findings come first, and as text; rows that only a drawing needs are not there. */
TEST(test_plain_findings)
{
	struct report r = { .analysis_json =
				    (char *)"{\"findings\":[{\"severity\":\"high\",\"text\":"
					    "\"gpu0 <b>idles\",\"saves_at_most_ns\":2500000,"
					    "\"evidence\":\"idle\"},{\"severity\":\"low\","
					    "\"text\":\"one more\",\"saves_at_most_ns\":"
					    "null}]}" };
	struct table *t = table_new("lane_spans");
	CLEANUP(xfreep) char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	table_col(t, "name", TABLE_STR, NULL);
	table_str(t, "a span");
	table_row(t);
	VEC_PUSH(&r.tables.tables, t);
	html_write_plain(&r, 10, f);
	fclose(f);
	assert_has(text, "What stands out", "gpu0 &#60;b&#62;idles", "saves at most 2.50 ms",
		   "one more");
	assert_lacks(text, "a span", "lane_spans");
	assert_true(strstr(text, "What stands out") < strstr(text, "Device busy"));
	table_free(t);
	VEC_RELEASE(&r.tables.tables);
}

/* A cost says what divided its energy. */
TEST(test_plain_costs)
{
	static const char *const functions[] = { "scope", "name" };
	static const char *const energy[] = { "counter", "device", "view", "name", "estimate" };
	static const char *const row[] = { "e", "gpu0", "host", "f", "power" };
	struct report r = REPORT_INIT;
	struct table *f = table_new("functions"), *e = table_new("energy"),
		     *t = table_new("energy_totals");
	CLEANUP(xfreep) char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	for (size_t i = 0; i < ARRAY_LEN(functions); i++)
		table_col(f, functions[i], TABLE_STR, NULL);
	table_col(f, "exclusive_ns", TABLE_I64, "ns");
	table_str(f, "host");
	table_str(f, "f");
	table_i64(f, 5);
	table_row(f);
	for (size_t i = 0; i < ARRAY_LEN(energy); i++)
		table_col(e, energy[i], TABLE_STR, NULL);
	table_col(e, "best_j", TABLE_F64, "J");
	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		table_str(e, row[i]);
	table_f64(e, 40);
	table_row(e);
	for (size_t i = 0; i < 3; i++)
		table_col(t, energy[i], TABLE_STR, NULL);
	table_col(t, "total_j", TABLE_F64, "J");
	for (size_t i = 0; i < 3; i++)
		table_str(t, row[i]);
	table_f64(t, 50);
	table_row(t);
	table_set_add(&r.tables, f);
	table_set_add(&r.tables, e);
	table_set_add(&r.tables, t);
	html_write_plain(&r, 10, out);
	fclose(out);
	assert_has(text, "40.0 J by power");
	table_set_release(&r.tables);
}

TEST(test_numbers_for_people)
{
	static const struct {
		double v;
		const char *si, *share;
	} cases[] = LIST({ 0, "0 J", "0 %" }, { 1, "1.00 J", "100 %" },
			 { 0.9997, "1.00 J", "99.9 %" }, { 1840, "1.84 kJ", "184000 %" },
			 { 999.6, "1.00 kJ", "99960 %" }, { 0.00001, "10.0 µJ", "< 0.01 %" },
			 { 0.773, "773 mJ", "77.3 %" }, { NAN, "–", "–" });
	char buf[48];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_string_equal(html_fmt_si(buf, cases[i].v, "J"), cases[i].si);
		assert_string_equal(html_fmt_share(buf, cases[i].v), cases[i].share);
	}
	assert_string_equal(html_fmt_time(buf, 1.24e6), "1.24 ms");
	assert_string_equal(html_fmt_time(buf, 725e9), "12 min 5 s");
}

TEST(test_writer_writes_one_file)
{
	struct report r = { .dir = dir,
			    .analysis_json = (char *)"{\"schema\":\"profrig.analysis/1\"}" };
	CLEANUP(xfreep) char *text = NULL;
	size_t n, len;
	struct err err = ERR_INIT;

	assert_int_equal(writer_html.write(&r, &err), 0);
	assert_int_equal(fs_read(kept(writer_path(&writer_html, &r)), 2000000, &text, &n, &err), 0);
	assert_int_equal(strncasecmp(text, "<!doctype html>", 15), 0);
	assert_lacks(text, "@PROFRIG_DATA@");
	if (page_html(&len)) {
		assert_has(text, "{\"analysis\":{\"schema\":\"profrig.analysis/1\"}");
		assert_true(n < 900000);
	} else {
		assert_lacks(text, "<script");
	}
	r.dir = (char *)"/nonexistent/dir";
	assert_true(writer_html.write(&r, &err) < 0);
	assert_has(err.msg, "/nonexistent/dir");
}

int main(void)
{
	return tests_run(make_dir, drop_dir);
}
