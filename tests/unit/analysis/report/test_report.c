#include "out_file.h"
#include "report_test.h"

#include <jansson.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "profrig/model/warnings.h"

/* --- csv there and back --- */

static const struct {
	const char *name, *back; /* NULL: the same */
} hostile[] = LIST(
	{ "main", NULL }, { "", NULL }, { "a,b", NULL }, { "say \"hi\"", NULL }, { "\"", NULL },
	{ "two\nlines", NULL }, { "cr\r\nlf", NULL }, { "\r", NULL }, { "\n", NULL },
	{ "# comment?", NULL }, { "=1+2", NULL }, { "+1", NULL }, { "@SUM(A1)", NULL },
	{ " blanks ", NULL }, { "\ttab\t", NULL }, { "42", NULL }, { "nan", NULL }, { "1e3", NULL },
	{ "-", NULL }, { "<img src=x onerror=alert(1)></script>", NULL },
	{ "void f<int, char>(std::vector<std::string> const&)", NULL },
	{ "\xc3\xa9t\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x94\xa5", NULL }, { "\xef\xbb\xbfmark", NULL },
	{ "\x01\x02\x7f", NULL }, { "bad \xff\xfe end", "bad \xef\xbf\xbd\xef\xbf\xbd end" },
	{ "cut \xe6\xbc", "cut \xef\xbf\xbd\xef\xbf\xbd" },
	{ "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd" });

static const double reals[] =
	LIST(0.0, -0.0, 1.0 / 3, 5e-324, 1.7976931348623157e308, -1e-7, 1e15, 1e17, 12345.5, 2.0,
	     NAN, INFINITY, 0.1, 100.0, 1e22, 3.0, 9007199254740993.0, -INFINITY);
static const int64_t ints[] = { 0, 1, -1, INT64_MAX, INT64_MIN, 1712195495505582988 };

static struct table *hostile_table(void)
{
	struct table *t = table_new("hostile");

	table_about(t, "one row per \"hostile\" name");
	table_col(t, "name", TABLE_STR, NULL);
	table_col(t, "value_ns", TABLE_I64, "ns");
	table_col(t, "share", TABLE_F64, NULL);
	table_col(t, "big", TABLE_U64, "bytes");
	table_col(t, "text", TABLE_STR, NULL);
	for (size_t i = 0; i < 60; i++) {
		table_str(t, hostile[i % ARRAY_LEN(hostile)].name);
		table_i64(t, ints[i % ARRAY_LEN(ints)]);
		table_f64(t, reals[i % ARRAY_LEN(reals)]);
		table_u64(t, i % 2 ? UINT64_MAX : i);
		table_str(t, "7"); /* digits only, and yet a word */
		table_row(t);
	}
	return t;
}

static struct table *long_table(void)
{
	struct table *t = table_new("long");
	CLEANUP(xfreep) char *name = xmalloc(300001);

	memset(name, 'x', 300000);
	name[300000] = '\0';
	table_col(t, "name", TABLE_STR, NULL);
	for (int i = 0; i < 3; i++) {
		name[i] = ',';
		table_str(t, i == 1 ? "" : name);
		table_row(t);
	}
	return t;
}

static void assert_same(const struct table *a, const struct table *b)
{
	assert_string_equal(table_name(a), table_name(b));
	assert_string_equal(table_about_text(a), table_about_text(b));
	assert_int_equal(table_rows(a), table_rows(b));
	assert_int_equal(table_cols(a), table_cols(b));
	for (size_t c = 0; c < table_cols(a); c++) {
		const struct table_column *ca = table_column(a, c), *cb = table_column(b, c);

		assert_string_equal(ca->name, cb->name);
		assert_int_equal(ca->type, cb->type);
		assert_string_equal(ca->unit ? ca->unit : "", cb->unit ? cb->unit : "");
		for (size_t r = 0; r < table_rows(a); r++) {
			double x, y;

			switch (ca->type) {
			case TABLE_STR:
				assert_string_equal(table_get_str(a, r, c), table_get_str(b, r, c));
				break;
			case TABLE_I64:
				assert_true(table_get_i64(a, r, c) == table_get_i64(b, r, c));
				break;
			case TABLE_U64:
				assert_true(table_get_u64(a, r, c) == table_get_u64(b, r, c));
				break;
			case TABLE_F64:
				x = table_get_f64(a, r, c);
				y = table_get_f64(b, r, c);
				assert_true((isnan(x) && isnan(y)) ||
					    (x == y && signbit(x) == signbit(y)));
				break;
			}
		}
	}
}

TEST(test_round_trip)
{
	CLEANUP(test_dir_done) char *dir = test_dir(), *again = test_dir();
	struct table *tables[] = { hostile_table(), long_table(), table_new("empty") };
	CLEANUP(table_freep) struct table *expect = table_new("hostile");

	table_col(tables[2], "name", TABLE_STR, NULL);
	table_col(tables[2], "x", TABLE_I64, NULL);
	CLEANUP(report_release) struct report r = make_report(dir, tables, ARRAY_LEN(tables));
	write_ok(&r, &writer_csv);
	CLEANUP(report_release) struct report l = load_ok(dir);

	assert_int_equal(l.tables.tables.nr, 3);
	assert_string_equal(l.dir, dir);
	assert_null(l.run_json);
	assert_same(r.tables.tables.v[1], table_set_find(&l.tables, "long"));
	assert_same(r.tables.tables.v[2], table_set_find(&l.tables, "empty"));
	struct table *back = table_set_find(&l.tables, "hostile");
	for (size_t i = 0; i < table_rows(back); i++) {
		size_t h = i % ARRAY_LEN(hostile);
		const char *want = hostile[h].back ? hostile[h].back : hostile[h].name;

		if (strcmp(table_get_str(back, i, 0), want) != 0)
			ROW_FAIL(i, "'%s' came back as '%s'", want, table_get_str(back, i, 0));
	}

	/* What was loaded writes the same bytes, and loads as the same table. */
	free(l.dir);
	l.dir = xstrdup(again);
	write_ok(&l, &writer_csv);
	static const char *const files[] = { "tables/hostile.csv", "tables/long.csv",
					     "tables/empty.csv", "analysis.json" };
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		assert_string_equal(kept(test_get(dir, files[i])), kept(test_get(again, files[i])));
	}
	CLEANUP(report_release) struct report l2 = load_ok(again);
	for (size_t i = 0; i < 3; i++)
		assert_same(l.tables.tables.v[i], l2.tables.tables.v[i]);
}

/* Cells with a leading dash, point or sign, by RFC 4180 exactly. */
TEST_IN(test_csv_bytes, dir)
{
	struct table *t = table_new("t");

	table_col(t, "name", TABLE_STR, NULL);
	table_col(t, "v", TABLE_F64, NULL);
	table_str(t, "a \"b\",c");
	table_f64(t, 0.1);
	table_row(t);
	table_str(t, "#x");
	table_f64(t, NAN);
	table_row(t);
	CLEANUP(report_release) struct report r = make_report(dir, &t, 1);
	write_ok(&r, &writer_csv);
	CLEANUP(xfreep) char *text = test_get(dir, "tables/t.csv");

	assert_string_equal(text, "name,v\n\"a \"\"b\"\",c\",0.1\n\"#x\",\n");
	assert_string_equal(kept(writer_path(&writer_csv, &r)), in_dir(dir, "tables"));
}

/* --- types of columns --- */

#define ANALYSIS(tables) "{\"schema\":\"profrig.analysis/1\",\"tables\":[" tables "]}"

TEST(test_inferred)
{
	static const struct {
		const char *csv;
		enum table_type type;
	} cases[] =
		LIST({ "v\n1\n-2\n", TABLE_I64 }, { "v\n1\n18446744073709551615\n", TABLE_U64 },
		     { "v\n-1\n18446744073709551615\n", TABLE_F64 }, { "v\n1\n2.5\n", TABLE_F64 },
		     { "v\n1\n\"\"\n", TABLE_F64 }, { "v\n1\nx\n", TABLE_STR },
		     { "name\n1\n2\n", TABLE_STR }, { "track\n1\n", TABLE_STR },
		     { "flags\n\"\"\n", TABLE_STR }, { "v\n", TABLE_STR }, { "v\n1 \n", TABLE_STR },
		     { "v\n0x10\n", TABLE_STR });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(test_dir_done) char *dir = test_dir();

		test_put(dir, "analysis.json", ANALYSIS("{\"name\":\"t\"}"));
		test_put(dir, "tables/t.csv", cases[i].csv);
		CLEANUP(report_release) struct report l = load_ok(dir);
		if (table_column(l.tables.tables.v[0], 0)->type != cases[i].type)
			ROW_FAIL(i, "type %d", table_column(l.tables.tables.v[0], 0)->type);
	}
}

/* What analysis.json claims of a column holds only where the cells agree. */
TEST(test_declared)
{
	static const struct {
		const char *said, *cell;
		enum table_type type;
	} cases[] = {
		{ "{\"name\":\"v\",\"type\":\"f64\"}", "1", TABLE_F64 },
		{ "{\"name\":\"v\",\"type\":\"str\"}", "1", TABLE_STR },
		{ "{\"name\":\"v\",\"type\":\"u64\"}", "1", TABLE_U64 },
		{ "{\"name\":\"v\",\"type\":\"i64\"}", "x", TABLE_STR },
		{ "{\"name\":\"v\",\"type\":\"i64\"}", "1.5", TABLE_F64 },
		{ "{\"name\":\"w\",\"type\":\"str\"}", "1", TABLE_I64 },
		{ "{\"name\":\"v\",\"type\":\"blob\"}", "1", TABLE_I64 },
		{ "{\"name\":\"v\",\"type\":7}", "1", TABLE_I64 },
		{ "7", "1", TABLE_I64 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(test_dir_done) char *dir = test_dir();

		test_put(dir, "analysis.json",
			 textf(ANALYSIS("{\"name\":\"t\",\"columns\":[%s]}"), cases[i].said));
		test_put(dir, "tables/t.csv", textf("v\n%s\n", cases[i].cell));
		CLEANUP(report_release) struct report l = load_ok(dir);
		if (table_column(l.tables.tables.v[0], 0)->type != cases[i].type)
			ROW_FAIL(i, "type %d", table_column(l.tables.tables.v[0], 0)->type);
	}
}

/* --- loading --- */

TEST(test_load_errors)
{
	static const struct {
		const char *json, *csv;
		int code;
		const char *words;
	} cases[] = {
		{ NULL, NULL, -ENOENT, "holds no analysis" },
		{ "{", "v\n1\n", -EINVAL, "analysis.json:1:" },
		{ "", "v\n1\n", -EINVAL, "analysis.json:1:" },
		{ "[]", "v\n1\n", -EINVAL, "not a JSON object" },
		{ "{\"schema\":\"profrig.run/1\"}", "v\n1\n", -EINVAL, "'profrig.run/1'" },
		{ "{}", "v\n1\n", -EINVAL, "schema is ''" },
		{ ANALYSIS("{\"name\":\"t\"}"), NULL, -EINVAL, "tables/t.csv" },
		{ ANALYSIS("{\"name\":\"t\"}"), "", -EINVAL, "no header row" },
		{ ANALYSIS("{\"name\":\"t\"}"), "a,b\n1,2\n3\n", -EINVAL, "line 3 has 1 fields" },
		{ ANALYSIS("{\"name\":\"t\"}"), "a\n\"open\n", -EINVAL, "quote" },
		{ ANALYSIS("{\"name\":\"../t\"}"), "v\n1\n", -EINVAL, "'../t' is no name" },
		{ ANALYSIS("{\"name\":\"\"}"), "v\n1\n", -EINVAL, "'' is no name" },
		{ ANALYSIS("{\"name\":\"a/b\"}"), "v\n1\n", -EINVAL, "no name" },
		{ ANALYSIS("{\"name\":7}"), "v\n1\n", -EINVAL, "no name" },
		{ ANALYSIS("null"), "v\n1\n", -EINVAL, "no name" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(test_dir_done) char *dir = test_dir();
		struct report l = REPORT_INIT;
		struct err err = ERR_INIT;

		if (cases[i].json)
			test_put(dir, "analysis.json", cases[i].json);
		if (cases[i].csv)
			test_put(dir, "tables/t.csv", cases[i].csv);
		int e = report_load(dir, &l, &err);
		if (e != cases[i].code || !strstr(err.msg, cases[i].words))
			ROW_FAIL(i, "%d '%s'", e, err.msg);
		assert_null(l.dir);
		assert_int_equal(l.tables.tables.nr, 0);
	}
	struct report l = REPORT_INIT;
	assert_int_equal(report_load("/nonexistent/profrig", &l, NULL), -ENOENT);
}

/* An analysis that lies in a run directory knows its run, from either directory. */
TEST_IN(test_load_run, dir)
{
	CLEANUP(xfreep) char *inner = fs_join(dir, "analysis");

	test_put(dir, "run.json", "{\"schema\":\"profrig.run/1\",\"id\":\"x\"}");
	test_put(dir, "analysis/analysis.json",
		 "{\"schema\":\"profrig.analysis/1\",\"tables\":[],\"checks\":["
		 "{\"name\":\"sum\",\"ok\":true,\"detail\":\"100%s\"},{\"name\":\"b\"}],"
		 "\"skipped\":[{\"name\":\"queue\",\"reason\":\"no %d\"}]}");
	for (int i = 0; i < 2; i++) {
		CLEANUP(report_release) struct report l = load_ok(i ? dir : inner);

		assert_string_equal(l.dir, inner);
		assert_string_equal(l.run_json, "{\"schema\":\"profrig.run/1\",\"id\":\"x\"}");
		assert_string_equal(l.run_dir, kept(fs_abs(dir)));
		assert_int_equal(l.tables.checks.nr, 2);
		assert_true(l.tables.checks.v[0].ok);
		assert_string_equal(l.tables.checks.v[0].detail, "100%s");
		assert_false(l.tables.checks.v[1].ok);
		assert_int_equal(l.tables.skipped.nr, 1);
		assert_string_equal(l.tables.skipped.v[0].name, "queue");
		assert_string_equal(l.tables.skipped.v[0].reason, "no %d");
	}
	test_put(dir, "run.json", "{ broken");
	CLEANUP(report_release) struct report l = load_ok(inner);
	assert_null(l.run_json);
	assert_null(l.run_dir);
}

/* --- tables of an earlier analysis --- */

static struct table *tiny(const char *name)
{
	struct table *t = table_new(name);

	table_col(t, "v", TABLE_I64, NULL);
	table_i64(t, 1);
	table_row(t);
	return t;
}

TEST(test_stale)
{
	static const struct writer *const orders[][2] = { { &writer_csv, &writer_json },
							  { &writer_json, &writer_csv } };

	for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
		CLEANUP(test_dir_done) char *dir = test_dir();
		struct table *before[] = { tiny("a"), tiny("b") }, *after[] = { tiny("a") };
		CLEANUP(report_release) struct report old = make_report(dir, before, 2);
		CLEANUP(report_release) struct report new = make_report(dir, after, 1);

		test_put(dir, "tables/mine.csv", "x\n");
		write_ok(&old, orders[i][0]);
		write_ok(&old, orders[i][1]);
		assert_true(has_file(dir, "tables/a.csv") && has_file(dir, "tables/b.csv"));
		write_ok(&new, orders[i][0]);
		write_ok(&new, orders[i][1]);
		assert_true(has_file(dir, "tables/a.csv"));
		assert_false(has_file(dir, "tables/b.csv"));
		assert_true(has_file(dir, "tables/mine.csv"));

		/* A made-up list of old tables reaches nothing outside. */
		test_put(dir, "victim.csv", "x\n");
		test_put(dir, "analysis.json", ANALYSIS("{\"name\":\"../victim\"}"));
		write_ok(&new, orders[i][0]);
		assert_true(has_file(dir, "victim.csv"));
	}
}

/* All that an analysis wrote goes, and nothing else; without one nothing does. */
TEST(test_clear)
{
	static const char *const ours[] = { "analysis.json",      "report.json",
					    "report.html",        "tables/a.csv",
					    "folded/time.folded", "folded/energy-x-gpu0.folded" };
	static const char *const others[] = { "tables/mine.csv", "folded/mine.folded", "notes.txt",
					      "victim.csv" };

	for (int round = 0; round < 2; round++) {
		CLEANUP(test_dir_done) char *dir = test_dir();

		for (size_t i = 0; i < ARRAY_LEN(ours); i++)
			test_put(dir, ours[i], "x");
		for (size_t i = 0; i < ARRAY_LEN(others); i++)
			test_put(dir, others[i], "x");
		test_put(dir, "analysis.json",
			 round ? ANALYSIS("{\"name\":\"a\"},{\"name\":\"../victim\"},{}")
			       : "{\"schema\": \"other/1\", \"tables\": [{\"name\": \"a\"}]}");
		report_clear(dir);
		for (size_t i = 0; i < ARRAY_LEN(ours); i++)
			assert_int_equal(has_file(dir, ours[i]), !round);
		for (size_t i = 0; i < ARRAY_LEN(others); i++)
			assert_true(has_file(dir, others[i]));
	}
	report_clear("/nonexistent/profrig");
}

/* What a writer says it shows is what is removed when the next analysis begins. */
TEST(test_clear_knows_writers)
{
	CLEANUP(test_dir_done) char *dir = test_dir();

	for (size_t i = 0; writers[i]; i++) {
		const struct writer *w = writers[i];

		if (!strchr(w->shown, '.'))
			continue; /* a folder: test_clear has its names */
		test_put(dir, w->shown, "x");
		test_put(dir, "analysis.json", ANALYSIS(""));
		report_clear(dir);
		if (has_file(dir, w->shown))
			fail_msg("%s stays: the writer '%s' has no .file", w->shown, w->name);
	}
}

TEST(test_files_are_documented)
{
	static const char *const docs[] = { "docs/contract.md", "include/profrig/report/writer.h" };

	for (size_t i = 0; i < ARRAY_LEN(docs); i++) {
		CLEANUP(xfreep) char *text = NULL;
		size_t n;

		assert_int_equal(fs_read(docs[i], 1 << 20, &text, &n, NULL), 0);
		for (size_t k = 0; writers[k]; k++)
			if (!strstr(text, writers[k]->shown))
				fail_msg("%s does not name %s", docs[i], writers[k]->shown);
	}
}

TEST_IN(test_bad_name, dir)
{
	struct table *t = tiny("../t");
	CLEANUP(report_release) struct report r = make_report(dir, &t, 1);
	struct err err = ERR_INIT;

	assert_int_equal(writer_csv.write(&r, &err), -EINVAL);
	assert_has(err.msg, "'../t' is no name for a table");
}

/* --- analysis.json and report.json --- */

static json_t *json_parse(const char *text)
{
	json_error_t why;
	json_t *doc = json_loads(text, 0, &why);

	if (!doc)
		fail_msg("%d:%d %s", why.line, why.column, why.text);
	return doc;
}

static json_t *at(json_t *doc, const char *key)
{
	json_t *v = json_object_get(doc, key);

	if (!v)
		fail_msg("no member '%s'", key);
	return v;
}

static const char *word(json_t *doc, const char *key)
{
	return json_string_value(at(doc, key));
}

static json_int_t whole(json_t *doc, const char *key)
{
	return json_integer_value(at(doc, key));
}

static struct model *described_model(void)
{
	struct maker k = { .m = model_new() };
	const int64_t t0 = 1712195495505582988;
	struct series_def se = {
		.name = "energy.gpu3", .unit = "J", .device = "gpu3", .track = TRACK_NONE
	};

	k.s = model_sink(k.m);
	k.s->ops->input(k.s, "dir/\"one\".json", "tef");
	struct input *in = k.s->ops->current(k.s);
	in->clock = TRACE_CLOCK_OWN;
	in->format = xstrdup("Trace Event Format");
	in->resolution_hz = 3699958577.0;
	in->has_realtime_anchor = true;
	in->anchor_own_ns = 5;
	in->anchor_realtime_ns = 6;
	k.s->ops->clock(k.s);
	sink_fact(k.s, "regions", 21);
	make_call(&k, make_thread(&k, 1, 1, 0, "main"), t0, t0 + 100, "f");
	make_span(&k, make_thread(&k, 1, 1, 0, "main"), SPAN_INSTANT, t0 + 7, t0 + 7, "i", 0);
	make_span(&k, make_queue(&k, "gpu1", 0), SPAN_KERNEL, t0 + 50, t0 + 250, "k", 0);
	make_span(&k, make_queue(&k, "gpu1", 1), SPAN_KERNEL, t0 + 50, t0 + 60, "k", 0);
	k.s->ops->sample(k.s, k.s->ops->series(k.s, &se), t0 + 10, 1.0);
	k.s->ops->input_end(k.s);
	k.s->ops->input(k.s, "two.csv", "samples");
	in = k.s->ops->current(k.s);
	in->partial = true;
	in->clock = TRACE_CLOCK_OWN;
	k.s->ops->clock(k.s);
	k.s->ops->warn(k.s, W_TRUNCATED, 3, "two.csv:9: cut");
	k.s->ops->input_end(k.s);
	model_finish(k.m);
	model_warn(k.m, UINT32_MAX, W_ESTIMATED, 1, "a guess");
	return k.m;
}

TEST(test_analysis_json)
{
	CLEANUP(model_freep) struct model *m = described_model();
	CLEANUP(report_release) struct report r = REPORT_INIT;
	struct table_set *ts = &r.tables;
	struct report_timings times = { 0.5, 0.25, 0, 1, 2 };
	struct table *counters = table_new("counters");

	table_about(counters, "one row per series");
	table_col(counters, "device", TABLE_STR, NULL);
	table_col(counters, "mean", TABLE_F64, "W");
	table_str(counters, "gpu7");
	table_f64(counters, 1);
	table_row(counters);
	table_set_add(ts, counters);
	table_set_check(ts, "sum", false, "1 != 2");

	json_t *doc = json_parse(kept(report_analysis_json(m, &r, &times))), *in, *w, *t;

	assert_true(json_is_null(at(doc, "run")));

	assert_string_equal(word(doc, "schema"), "profrig.analysis/1");
	assert_true(json_is_true(at(doc, "partial")));
	assert_true(whole(doc, "origin_ns") == 1712195495505582988);
	assert_int_equal(whole(at(doc, "window"), "start_ns"), 0);
	assert_int_equal(whole(at(doc, "window"), "end_ns"), 250);

	assert_int_equal(json_array_size(at(doc, "inputs")), 2);
	in = json_array_get(at(doc, "inputs"), 0);
	assert_string_equal(word(in, "path"), "dir/\"one\".json");
	assert_string_equal(word(in, "format"), "Trace Event Format");
	assert_string_equal(word(in, "reader"), "tef");
	assert_int_equal(whole(in, "spans"), 4);
	assert_int_equal(whole(in, "instants"), 1);
	assert_int_equal(whole(in, "samples"), 1);
	assert_int_equal(whole(in, "tracks"), 3);
	assert_int_equal(whole(in, "links"), 0);
	assert_false(json_is_true(at(in, "partial")));
	assert_string_equal(word(at(in, "clock"), "kind"), "own");
	assert_true(json_number_value(at(at(in, "clock"), "resolution_hz")) == 3699958577.0);
	assert_int_equal(whole(at(in, "clock"), "anchor_realtime_ns"), 6);
	assert_int_equal(whole(at(in, "facts"), "regions"), 21);
	in = json_array_get(at(doc, "inputs"), 1);
	assert_true(json_is_true(at(in, "partial")));
	assert_string_equal(word(in, "format"), "samples");
	assert_null(json_object_get(in, "start_ns"));

	assert_int_equal(json_array_size(at(doc, "devices")), 3);
	static const char *const devices[] = { "gpu1", "gpu3", "gpu7" };
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(json_string_value(json_array_get(at(doc, "devices"), i)),
				    devices[i]);

	w = json_array_get(at(doc, "warnings"), 0);
	assert_string_equal(word(w, "code"), W_TRUNCATED);
	assert_string_equal(word(w, "severity"), "error");
	assert_int_equal(whole(w, "count"), 3);
	assert_string_equal(word(w, "text"), "two.csv:9: cut");
	assert_string_equal(word(w, "input"), "two.csv");
	w = json_array_get(at(doc, "warnings"), json_array_size(at(doc, "warnings")) - 1);
	assert_string_equal(word(w, "severity"), "note");
	assert_true(json_is_null(at(w, "input")));

	t = json_array_get(at(doc, "tables"), 0);
	assert_string_equal(word(t, "name"), "counters");
	assert_string_equal(word(t, "file"), "tables/counters.csv");
	assert_int_equal(whole(t, "rows"), 1);
	assert_string_equal(word(t, "about"), "one row per series");
	assert_string_equal(word(json_array_get(at(t, "columns"), 1), "unit"), "W");
	assert_string_equal(word(json_array_get(at(t, "columns"), 1), "type"), "f64");
	t = json_array_get(at(doc, "checks"), 0);
	assert_string_equal(word(t, "name"), "sum");
	assert_true(json_is_false(at(t, "ok")));
	assert_string_equal(word(t, "detail"), "1 != 2");
	assert_true(json_number_value(at(at(doc, "timings_s"), "read")) == 0.5);
	assert_true(json_number_value(at(at(doc, "timings_s"), "write")) == 2);
	json_decref(doc);
}

/* One that lies elsewhere names its run, which is taken while it is still that one. */
TEST(test_load_run_elsewhere)
{
	CLEANUP(test_dir_done) char *run = test_dir(), *dir = test_dir();
	CLEANUP(model_freep) struct model *m = described_model();
	struct report r = { .dir = dir,
			    .run_dir = run,
			    .run_json = (char *)"{\"schema\":\"profrig.run/1\",\"id\":\"x\"}" };
	struct report_timings times = { 0 };

	test_put(run, "run.json", r.run_json);
	test_put(dir, "analysis.json", kept(report_analysis_json(m, &r, &times)));
	for (int same = 1; same >= 0; same--) {
		CLEANUP(report_release) struct report l = load_ok(dir);

		assert_true((l.run_json && l.run_dir) == same);
		if (same) {
			assert_string_equal(l.run_json, r.run_json);
			assert_string_equal(l.run_dir, run);
		}
		test_put(run, "run.json", "{\"schema\":\"profrig.run/1\",\"id\":\"y\"}");
	}
}

/* --- costs for XLA --- */

TEST_IN(test_pgle, dir)
{
	struct report r = { .dir = xstrdup(dir) };
	CLEANUP(xfreep) char *path = fs_join(dir, "pgle.pbtxt");
	CLEANUP(xfreep) char *text = NULL;
	struct table *t = table_new("program_ops");
	struct err err = ERR_INIT;
	static const struct {
		const char *module, *op;
		int64_t total, cost;
	} rows[] = LIST({ "jit_f", "fusion.1", 100, 7 }, { "jit_f", "all-reduce.2", 50, 40000 },
			{ "jit_g", "fusion.1", 300, 1500 }, { "jit_h", "fusion.1", 200, 9 },
			{ "jit_h", "odd \"name\"\n", 1, 2000 });

	table_col(t, "module", TABLE_STR, NULL);
	table_col(t, "op", TABLE_STR, NULL);
	table_col(t, "total_ns", TABLE_I64, "ns");
	table_col(t, "cost_ns", TABLE_I64, "ns");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		table_str(t, rows[i].module);
		table_str(t, rows[i].op);
		table_i64(t, rows[i].total);
		table_i64(t, rows[i].cost);
		table_row(t);
	}
	table_set_add(&r.tables, t);
	if (writer_find("pgle")->write(&r, &err) < 0)
		fail_msg("%s", err.msg);
	assert_true(fs_read(path, 1 << 20, &text, &(size_t){ 0 }, NULL) >= 0);
	assert_string_equal(text, "costs { name: \"fusion.1\" cost_us: 1.5 }\n"
				  "costs { name: \"all-reduce.2\" cost_us: 40 }\n"
				  "costs { name: \"odd \\\"name\\\"\\012\" cost_us: 2 }\n");
	report_release(&r);
	/* without such programs there is none, also where one was */
	r = (struct report){ .dir = xstrdup(dir) };
	assert_int_equal(writer_find("pgle")->write(&r, &err), 0);
	assert_false(fs_exists(path));
	report_release(&r);
}

TEST_IN(test_report_json, dir)
{
	struct table *t = hostile_table();
	CLEANUP(report_release) struct report r = make_report(dir, &t, 1);

	r.run_json = xstrdup("{\"id\":\"</script>\"}");
	write_ok(&r, &writer_json);
	CLEANUP(xfreep) char *text = test_get(dir, "report.json");
	json_t *doc = json_parse(text), *table = at(at(doc, "tables"), "hostile");

	assert_string_equal(word(doc, "schema"), "profrig.report/1");
	assert_string_equal(word(at(doc, "analysis"), "schema"), "profrig.analysis/1");
	assert_string_equal(word(at(doc, "run"), "id"), "</script>");
	assert_int_equal(json_array_size(at(table, "columns")), 5);
	assert_string_equal(word(json_array_get(at(table, "columns"), 1), "unit"), "ns");
	assert_int_equal(json_array_size(json_array_get(at(table, "data"), 4)), 60);
	for (size_t i = 0; i < ARRAY_LEN(hostile); i++) {
		json_t *cell = json_array_get(json_array_get(at(table, "data"), 0), i);
		const char *want = hostile[i].back ? hostile[i].back : hostile[i].name;

		if (strcmp(json_string_value(cell), want) != 0)
			ROW_FAIL(i, "'%s'", json_string_value(cell));
	}
	assert_true(json_integer_value(json_array_get(json_array_get(at(table, "data"), 1), 5)) ==
		    1712195495505582988);
	assert_true(json_is_null(json_array_get(json_array_get(at(table, "data"), 2), 10)));
	assert_string_equal(
		json_string_value(json_array_get(json_array_get(at(table, "data"), 3), 1)),
		"18446744073709551615");
	assert_int_equal(
		json_integer_value(json_array_get(json_array_get(at(table, "data"), 3), 2)), 2);
	json_decref(doc);

	free(r.run_json);
	r.run_json = xstrdup("{\"id\":");
	write_ok(&r, &writer_json);
	doc = json_parse(kept(test_get(dir, "report.json")));
	assert_true(json_is_null(at(doc, "run")));
	json_decref(doc);
}

/* --- files appear whole or not at all --- */

static void assert_alone(const char *dir, const char *name)
{
	CLEANUP(strvec_release) struct strvec have = STRVEC_INIT;

	assert_int_equal(fs_list(dir, &have, NULL), 0);
	assert_int_equal(have.nr, 1);
	assert_string_equal(have.v[0], name);
}

TEST_IN(test_out_file, dir)
{
	struct out_file o = OUT_FILE_INIT;
	struct rlimit old, small;
	struct err err = ERR_INIT;
	CLEANUP(xfreep) char *folder = fs_join(dir, "d");

	test_put(dir, "d/f", "old");
	assert_int_equal(out_file_open(dir, "d/f", &o, &err), 0);
	fputs("half", o.f);
	out_file_drop(&o);
	assert_file(dir, "d/f", "old");
	assert_alone(folder, "f");

	/* A disk that is full: a write past the limit fails as it would there. */
	assert_int_equal(out_file_open(dir, "d/f", &o, &err), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){ 4096, old.rlim_max };
	setrlimit(RLIMIT_FSIZE, &small);
	for (int i = 0; i < 10000; i++)
		fputs("0123456789", o.f);
	int e = out_file_commit(&o, &err);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(e, -EFBIG);
	assert_has(err.msg, "d/f");
	assert_file(dir, "d/f", "old");
	assert_alone(folder, "f");

	/* The first error is reported, also when there is room again. */
	assert_int_equal(out_file_open(dir, "d/f", &o, &err), 0);
	setrlimit(RLIMIT_FSIZE, &small);
	for (int i = 0; i < 10000; i++)
		fputs("0123456789", o.f);
	setrlimit(RLIMIT_FSIZE, &old);
	fputs("more", o.f);
	assert_int_equal(out_file_commit(&o, &err), -EFBIG);
	assert_file(dir, "d/f", "old");
	assert_alone(folder, "f");

	assert_int_equal(out_file_open(dir, "d/f", &o, &err), 0);
	fputs("new", o.f);
	assert_int_equal(out_file_commit(&o, &err), 0);
	assert_file(dir, "d/f", "new");
	assert_alone(folder, "f");

	/* a file where a folder should be */
	assert_true(out_file_open(dir, "d/f/g", &o, &err) < 0);
	assert_null(o.f);
}
