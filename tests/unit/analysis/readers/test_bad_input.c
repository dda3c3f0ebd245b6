/*
 * Every reader against the same attacks on a small valid file of its format (bad_input.h): cut at
 * any byte, bytes changed, parts there twice or missing, absurd values, names that are no text,
 * tables and columns that are not there. Whatever the input, a read ends soon with a result of its
 * class and words about it, and leaves the file and its folder as they were.
 *
 * What a reader makes of single odd rows is in its own test; libotf2's formats are gone through
 * byte by byte in test_otf2_bytes.c; what is large is in test_big_input.c.
 */
#include "bad_input_attack.h"

#define MOST_CUTS 1500
#define MUTATIONS 600

/* --- the attacks --- */

static void sound(struct target *t)
{
	struct reading rd = read_path(t->f->reader, t->open, true);

	if (rd.r != 0 || rd.m->spans.nr + rd.m->series.nr + rd.m->inputs.v[0].library == 0)
		BAD(t, 0, "the valid file: %d %s", rd.r, rd.err.msg);
	for (size_t i = 0; i < rd.m->warnings.nr; i++)
		if (rd.m->warnings.v[i].severity != SEV_NOTE)
			BAD(t, 0, "the valid file: %s", rd.m->warnings.v[i].text);
	reading_release(&rd);
	assert_true(!attack(t, 0) || t->whole == 1);
}

/* A reader without a row here, or without a fuzz entry, would be attacked by no test. */
TEST(every_reader_is_attacked)
{
	for (const struct reader *const *r = readers; *r; r++) {
		CLEANUP(xfreep) char *entry = xasprintf("tests/fuzz/readers/fuzz_%s.c", (*r)->name);
		CLEANUP(xfreep) char *log = xasprintf("tests/fuzz/fuzz_%s.c", (*r)->name);
		size_t rows = 0;

		for (size_t i = 0; i < ARRAY_LEN(formats); i++)
			rows += strcmp(formats[i].reader, (*r)->name) == 0;
		if (rows == 0)
			fail_msg("bad_input.h: no row for the reader '%s'", (*r)->name);
		if (!fs_exists(entry) && !fs_exists(log))
			fail_msg("%s is missing: no fuzz entry for the reader", entry);
	}
}

TEST(valid)
{
	each_format("valid", sound);
}

/* What ends early is never taken for whole, but for formats that are written by appending. */
static void cuts(struct target *t)
{
	bool appended = !t->f->json && t->f->text;
	size_t step = 1 + t->n / MOST_CUTS;

	for (size_t n = 0; n + 2 < t->n; n += step)
		if (!attack_with(t, n, t->sound, n) && !appended)
			BAD(t, n, "nothing is said of the cut");
}

TEST(cut_everywhere)
{
	each_format("cut", cuts);
}

static void target_mutate(struct target *t)
{
	uint64_t seed = 0x9e3779b97f4a7c15 + t->row;

	for (size_t i = 0; i < MUTATIONS; i++) {
		CLEANUP(xfreep) char *bad = xmalloc(2 * t->n + 64);
		size_t n = t->n, from = rnd(&seed) % n, len = rnd(&seed) % 40 % (n - from) + 1;

		memcpy(bad, t->sound, n);
		switch (rnd(&seed) % 5) {
		case 0: /* bytes of any value */
			for (uint64_t k = rnd(&seed) % 6 + 1; k > 0; k--)
				bad[rnd(&seed) % n] = (char)rnd(&seed);
			break;
		case 1: /* a bit */
			bad[from] = (char)(bad[from] ^ 1 << rnd(&seed) % 8);
			break;
		case 2: /* a part is there twice */
			memmove(bad + from + len, bad + from, n - from);
			n += len;
			break;
		case 3: /* a part is missing */
			memmove(bad + from, bad + from + len, n - from - len);
			n -= len;
			break;
		default: /* a hole */
			memset(bad + from, rnd(&seed) % 2 ? 0 : 0xff, len);
			break;
		}
		attack_with(t, i, bad, n);
	}
}

TEST(mutations)
{
	each_format("mutated", target_mutate);
}

/* What can be no number is told, what is too large for a time where one is wanted. */
enum absurdity { ODD, TOO_LARGE, NO_NUMBER };

static const struct {
	const char *text;
	enum absurdity absurd;
} values[] = {
	{ "0", ODD },
	{ "-1", ODD },
	{ "-0.0", ODD },
	{ "9223372036854775807", ODD },
	{ "-9223372036854775808", ODD },
	{ "1e-400", ODD },
	{ "18446744073709551616", TOO_LARGE },
	{ "99999999999999999999999999999999999999999999999999", TOO_LARGE },
	{ "1e400", NO_NUMBER },
	{ "-1e400", NO_NUMBER },
	{ "1e999999999999999999999", NO_NUMBER },
	{ "NaN", NO_NUMBER },
	{ "-Infinity", NO_NUMBER },
	{ "0x10", NO_NUMBER },
	{ "1_000", NO_NUMBER },
	{ "12:30", NO_NUMBER },
	{ "\xd9\xa1\xd9\xa2", NO_NUMBER }, /* digits of another script */
	{ "\xff\xfe", NO_NUMBER },
	{ "..", NO_NUMBER },
	{ "+-1", NO_NUMBER },
};

static void absurd_text(struct target *t)
{
	for (size_t i = 0; i < ARRAY_LEN(values) * 2; i++) {
		const char *v = values[i / 2].text;
		CLEANUP(xfreep)
		char *text = i % 2 ? filled(t->f, t->f->time, v, "name")
				   : filled(t->f, v, t->f->end, "name");

		bool tell = values[i / 2].absurd == NO_NUMBER ||
			    (values[i / 2].absurd == TOO_LARGE && !(i % 2 && t->f->end_is_value));

		if (!attack_with(t, i, text, strlen(text)) && tell)
			BAD(t, i, "nothing is said of '%s'", v);
	}
}

static bool is_no_time(const char *value, const char *column)
{
	static const char *const none[] = { "1e300", "9e999", "'x'", "x'00ff80'" };

	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		if (strcmp(value, none[i]) == 0)
			return strcmp(column, "value") != 0;
	return false;
}

static void absurd_rows(struct target *t)
{
	static const char *const rows[] =
		LIST("0", "-1", "9223372036854775807", "-9223372036854775808", "1e300", "-1e300",
		     "9e999", "0.5", "'x'", "''", "NULL", "x'00ff80'", "zeroblob(100000)");

	for (size_t c = 0; c < ARRAY_LEN(t->f->columns) && t->f->columns[c]; c++) {
		const char *dot = strchr(t->f->columns[c], '.');

		for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
			sqlite3 *db;
			CLEANUP(xfreep)
			char *sql = xasprintf("UPDATE \"%.*s\" SET \"%s\" = %s",
					      (int)(dot - t->f->columns[c]), t->f->columns[c],
					      dot + 1, rows[i]);

			target_write(t, t->sound, t->n);
			assert_int_equal(sqlite3_open(t->file, &db), SQLITE_OK);
			db_exec(db, sql);
			sqlite3_close(db);
			if (!attack(t, c * 100 + i) && is_no_time(rows[i], dot + 1))
				BAD(t, c * 100 + i, "nothing is said of: %s", sql);
		}
	}
}

static void absurd(struct target *t)
{
	if (t->f->text)
		absurd_text(t);
	else if (t->f->sql)
		absurd_rows(t);
}

TEST(absurd_values)
{
	each_format("absurd", absurd);
}

/* Names that are no UTF-8, hold what a terminal obeys, or end in the middle of a character. */
static void name(struct target *t)
{
	static const char *const names[] =
		LIST("\xff\xfe\xfd", "a\x80z", "\xc3", "\xe2\x82", "\xed\xa0\x80",
		     "\xf4\x90\x80\x80", "\xc0\xaf", "\x1b[31m", "\x7f\x08", "", " ",
		     "\xef\xbf\xbd", "\xf0\x9f\x8e\x89", "a\rb", "%s%n");

	for (size_t i = 0; t->f->text && i < ARRAY_LEN(names); i++) {
		CLEANUP(xfreep) char *text = filled(t->f, t->f->time, t->f->end, names[i]);

		attack_with(t, i, text, strlen(text));
	}
}

TEST(names)
{
	each_format("names", name);
}

/* --- tables and columns --- */

typedef void schema_fn(struct target *t, size_t at, const char *table, const char *column);

static void schema_change(struct target *t, size_t at, const char *sql)
{
	sqlite3 *db;
	int r;

	target_write(t, t->sound, t->n);
	assert_int_equal(sqlite3_open(t->file, &db), SQLITE_OK);
	r = sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_close(db);
	if (r == SQLITE_OK) /* keys cannot be dropped */
		attack(t, at);
}

static void without_column(struct target *t, size_t at, const char *table, const char *column)
{
	schema_change(t, at, textf("ALTER TABLE \"%s\" DROP COLUMN \"%s\"", table, column));
	schema_change(t, at + 1,
		      textf("ALTER TABLE \"%s\" RENAME COLUMN \"%s\" TO x", table, column));
}

static void without_table(struct target *t, size_t at, const char *table)
{
	schema_change(t, at, textf("DROP TABLE \"%s\"", table));
	schema_change(t, at + 1, textf("DELETE FROM \"%s\"", table));
	schema_change(t, at + 2,
		      textf("ALTER TABLE \"%s\" RENAME TO was; CREATE VIEW \"%s\" AS SELECT * "
			    "FROM was; INSERT INTO was SELECT * FROM was LIMIT 0",
			    table, table));
}

static void schema(struct target *t)
{
	CLEANUP(strvec_release) struct strvec tables = STRVEC_INIT, columns = STRVEC_INIT;
	static const char all[] = "SELECT t.name, c.name FROM sqlite_master t, "
				  "pragma_table_info(t.name) c WHERE t.type = 'table'";
	sqlite3_stmt *q;
	sqlite3 *db;

	if (!t->f->sql)
		return;
	assert_int_equal(sqlite3_open(t->file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, all, -1, &q, NULL), SQLITE_OK);
	while (sqlite3_step(q) == SQLITE_ROW) {
		strvec_push(&tables, (const char *)sqlite3_column_text(q, 0));
		strvec_push(&columns, (const char *)sqlite3_column_text(q, 1));
	}
	sqlite3_finalize(q);
	sqlite3_close(db);
	for (size_t i = 0; i < tables.nr; i++) {
		if (i == 0 || strcmp(tables.v[i], tables.v[i - 1]) != 0)
			without_table(t, i * 10, tables.v[i]);
		without_column(t, i * 10 + 3, tables.v[i], columns.v[i]);
	}
	assert_true(t->reads > tables.nr);
}

/* The nth field of each line of a text that has no quoted commas, left out. */
static char *without_field(const char *text, size_t nth)
{
	struct strbuf out = STRBUF_INIT;
	size_t field = 0;

	for (const char *p = text; *p; p++) {
		if (*p == '\n')
			field = 0;
		if (*p == ',' && ++field == (nth ? nth : 1))
			continue;
		if (field != nth || *p == '\n' || *text == '#')
			strbuf_addch(&out, *p);
	}
	return strbuf_steal(&out);
}

static void fields(struct target *t)
{
	size_t n = strlen(t->f->file);

	if (!t->f->text || strcmp(t->f->file + n - 4, ".csv") != 0)
		return;
	for (size_t i = 0; i < 12; i++) {
		CLEANUP(xfreep) char *text = without_field(t->sound, i);

		attack_with(t, i, text, strlen(text));
	}
}

TEST(missing_tables_and_columns)
{
	each_format("schema", schema);
	each_format("columns", fields);
}

/* --- device work that was never timed --- */

/* Its start is 0, and its end is 0 or right: it would begin when the machine was switched on. */
TEST(work_at_zero)
{
	const struct {
		const char *reader, *text;
		const char *const *sql;
		uint64_t bad;
	} cases[] = {
		{ "rpd", NULL, SQL(RPD_2 RPD_ROWS "UPDATE rocpd_op SET start = 0"), 2 },
		{ "rocprof_db", NULL,
		  SQL(ROCPROF_DB "UPDATE OPS SET BeginNs = 0; UPDATE KERN SET BeginNs = 0;"), 2 },
		{ "rocpd", NULL,
		  SQL(ROCPD(U1) "UPDATE \"rocpd_kernel_dispatch" U1 "\" SET start = 0;"
				"UPDATE \"rocpd_memory_copy" U1 "\" SET start = 0, end = 0"),
		  4 },
		{ "nsys", NULL,
		  SQL(NSYS_SMALL "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 0, end = 0"), 2 },
		{ "rocprof_csv",
		  "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Correlation_Id\","
		  "\"Start_Timestamp\",\"End_Timestamp\"\n"
		  "\"KERNEL_DISPATCH\",\"Agent 4\",1,\"k\",1,0,0\n"
		  "\"KERNEL_DISPATCH\",\"Agent 4\",1,\"k\",1,0,3464444413017300\n",
		  NULL, 2 },
		{ "tef",
		  "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,"
		  "\"tid\":7,\"ts\":0,\"dur\":5,\"args\":{\"stream\":7}}],"
		  "\"baseTimeNanoseconds\":1735632360000000000}",
		  NULL, 1 },
		{ "tef",
		  "{\"rocprofiler-sdk-tool\":[{\"buffer_records\":{\"kernel_dispatch\":[{"
		  "\"start_timestamp\":0,\"end_timestamp\":3464444413017300}]}}]}",
		  NULL, 1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = cases[i].sql ? read_sql(cases[i].reader, true, cases[i].sql)
					  : read_text(cases[i].reader, cases[i].text);

		if (rd.r != 0 || warned(rd.m, W_BAD_EVENT) != cases[i].bad)
			ROW_FAIL(i, "%d %s, %d times W_BAD_EVENT", rd.r, rd.err.msg,
				 (int)warned(rd.m, W_BAD_EVENT));
		for (size_t k = 0; k < rd.m->spans.nr; k++)
			if (span_is_work(rd.m, k))
				ROW_FAIL(i, "'%s' is there", span_name(rd.m, k));
	}
}

/* --- what says that it is of another time, and numbers that are there twice --- */

#define KERNEL_OF(id) \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":9,\"dur\":1," \
	"\"args\":{\"stream\":7,\"correlation\":" id "}}"
#define CALL_OF(id) \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"c\",\"pid\":9,\"tid\":9,\"ts\":5," \
	"\"dur\":1,\"args\":{\"correlation\":" id "}}"
#define V3_OF(lists) \
	"{\"rocprofiler-sdk-tool\":[{\"strings\":{\"buffer_records\":[{\"kind\":\"A\"," \
	"\"operations\":[\"f\"]}]}," lists "}]}"

TEST(other_versions_and_equal_ids)
{
	const struct {
		const char *reader, *text;
		const char *const *sql;
		const char *code; /* NULL: nothing is said */
		int r;
		size_t spans, links;
	} cases[] = {
		{ "nsys", NULL,
		  SQL(NSYS_SMALL "CREATE TABLE META_DATA_EXPORT(name, value); INSERT INTO "
				 "META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '99.0.0');"),
		  W_UNKNOWN_VERSION, 0, 4, 2 },
		{ "rpd", NULL,
		  SQL(RPD_2 RPD_ROWS "UPDATE rocpd_metadata SET value = '99' WHERE tag = "
				     "'schema_version'"),
		  W_UNKNOWN_VERSION, 0, 4, 2 },
		{ "rocpd", NULL,
		  SQL(ROCPD(U1) "UPDATE \"rocpd_metadata" U1 "\" SET value = '99' WHERE tag = "
				"'schema_version'"),
		  W_UNKNOWN_VERSION, 0, 5, 1 },
		{ "samples",
		  "# profrig samples: 99\n# clock: CLOCK_MONOTONIC\nt_ns,power.gpu0[W]\n1000,5\n",
		  NULL, W_UNKNOWN_VERSION, 0, 0, 0 },
		/* a number that two have is the first one's */
		{ "tef",
		  "{\"schemaVersion\":99,\"deviceProperties\":[],\"traceEvents\":[" CALL_OF(
			  "3") "," CALL_OF("3") "," KERNEL_OF("3") "," KERNEL_OF("3") "]}",
		  NULL, NULL, 0, 4, 2 },
		{ "tef",
		  V3_OF("\"kernel_symbols\":[{\"kernel_id\":1,\"kernel_name\":\"a\"},{"
			"\"kernel_id\":1,\"kernel_name\":\"b\"}],\"buffer_records\":{"
			"\"kernel_dispatch\":[{\"start_timestamp\":5,\"end_timestamp\":6,"
			"\"dispatch_info\":{\"kernel_id\":1}}]}"),
		  NULL, W_BAD_EVENT, 0, 1, 0 },
		{ "nsys", NULL,
		  SQL(NSYS_KERNEL
		      "CREATE TABLE StringIds(id INTEGER, value TEXT); INSERT INTO "
		      "StringIds VALUES (1, 'k'), (1, 'other');"
		      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (3, 4, 0, 1, 7, 1, " PID(
			      10) ", 1, 1, NULL);"),
		  W_BAD_EVENT, 0, 1, 0 },
		{ "rocprof_db", NULL,
		  SQL(ROCPROF_DB "INSERT INTO HIP VALUES (100, 200, 7, 8, 'hipLaunchKernel', '', 5,"
				 " '', 2, 8);"),
		  W_IGNORED_RECORD, 0, 4, 1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		READING rd = cases[i].sql ? read_sql(cases[i].reader, true, cases[i].sql)
					  : read_text(cases[i].reader, cases[i].text);

		if (rd.r != cases[i].r || rd.m->spans.nr != cases[i].spans ||
		    rd.m->links.nr != cases[i].links)
			ROW_FAIL(i, "%d %s, %zu spans, %zu links", rd.r, rd.err.msg, rd.m->spans.nr,
				 rd.m->links.nr);
		if (cases[i].code && warned(rd.m, cases[i].code) != 1)
			ROW_FAIL(i, "no %s", cases[i].code);
		for (size_t k = 0; !cases[i].code && k < rd.m->warnings.nr; k++)
			if (strcmp(rd.m->warnings.v[k].code, W_UNLINKED_WORK) != 0)
				ROW_FAIL(i, "%s: %s", rd.m->warnings.v[k].code,
					 rd.m->warnings.v[k].text);
	}
}
