#include "base_test.h"

#include <math.h>

#include "profrig/base/csv.h"
#include "profrig/base/strbuf.h"

/* "[a|b][c]" for two records; an error ends it with "!-errno". */
static void csv_dump(struct csv_reader *r, struct strbuf *out, struct err *err)
{
	char *const *fields;
	size_t n;
	int e;

	while ((e = csv_next(r, &fields, &n, err)) > 0) {
		assert_true(n >= 1);
		for (size_t i = 0; i < n; i++)
			strbuf_addf(out, "%s%s", i ? "|" : "[", fields[i]);
		strbuf_addch(out, ']');
	}
	if (e < 0)
		strbuf_addf(out, "!%d", -e);
}

static const struct {
	const char *text, *want;
} reads[] = {
	{ "", "" },
	{ "\n\r\n\n", "" },
	{ "a", "[a]" },
	{ "a,b\nc,d\n", "[a|b][c|d]" },
	{ "a,b\r\nc,d", "[a|b][c|d]" },
	{ "a,b\n\n\nc,d\n\n", "[a|b][c|d]" },
	{ ",", "[|]" },
	{ ",\n", "[|]" },
	{ "a,\n,b", "[a|][|b]" },
	{ "a,", "[a|]" },
	{ " a , b ", "[ a | b ]" },
	{ "\"a\",\"b\"\n", "[a|b]" },
	{ "\"a,b\",\"c\nd\",\"e\r\nf\"\r\n", "[a,b|c\nd|e\r\nf]" },
	{ "\"a\"\"b\"", "[a\"b]" },
	{ "\"\"\"\"", "[\"]" },
	{ "\"\"", "[]" },
	{ "\"\"\n\"\"\r\n", "[][]" },
	{ "\"\",\"\"", "[|]" },
	{ "a\"b,\"c\"", "[a\"b|c]" },
	{ "a\"\"b", "[a\"\"b]" },
	{ "a\rb,c\r\n", "[a\rb|c]" },
	{ "a,b\r", "[a|b]" },
	{ "\"a\"\r", "[a]" },
	{ "\r", "" },
	{ "\r\r\n", "[\r]" },
	{ "\xef\xbb\xbf"
	  "a,b",
	  "[a|b]" },
	{ "\xef\xbb\xbf\"a\"", "[a]" },
	{ "\xef\xbb\xbf", "" },
	{ "a,\xef\xbb\xbf", "[a|\xef\xbb\xbf]" },
	{ "#a,b\n", "[#a|b]" },
	/* errors */
	{ "\"a", "!22" },
	{ "a\nb,\"c", "[a]!22" },
	{ "\"", "!22" },
	{ "\"a\"b", "!22" },
	{ "\"a\" ,b", "!22" },
	{ "\"a\"\r,b", "!22" },
	{ "\"a\"\rb\n", "!22" },
	{ "\"a\"\"", "!22" },
};

TEST(test_mem)
{
	for (size_t i = 0; i < ARRAY_LEN(reads); i++) {
		CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT;
		size_t n = strlen(reads[i].text);
		CLEANUP(xfreep) char *text = xmemdup(reads[i].text, n);
		struct csv_reader *r = csv_open_mem(text, n);

		csv_dump(r, &got, NULL);
		csv_free(r);
		if (strcmp(got.buf, reads[i].want) != 0)
			ROW_FAIL(i, "'%s' reads as '%s'", reads[i].text, got.buf);
	}
	csv_free(NULL);
}

TEST(test_file_rows)
{
	CLEANUP(xfreep) char *dir = test_dir();

	for (size_t i = 0; i < ARRAY_LEN(reads); i++) {
		CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT;
		struct csv_reader *r;

		test_file(in_dir(dir, "t.csv"), reads[i].text, strlen(reads[i].text));
		assert_int_equal(csv_open_file(in_dir(dir, "t.csv"), &r, NULL), 0);
		csv_dump(r, &got, NULL);
		csv_free(r);
		if (strcmp(got.buf, reads[i].want) != 0)
			ROW_FAIL(i, "'%s' reads as '%s'", reads[i].text, got.buf);
	}
	fs_remove_tree(dir, NULL);
}

TEST(test_open_errors)
{
	struct csv_reader *r = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(csv_open_file("/profrig-none.csv", &r, &err), -ENOENT);
	assert_string_equal(err.msg, "/profrig-none.csv: No such file or directory");
	assert_int_equal(csv_open_file("/", &r, &err), -EISDIR);
	assert_null(r);
}

static void error_of(const char *text, size_t n, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT;
	struct csv_reader *r = csv_open_mem(text, n);
	char *const *fields;
	size_t nr;

	csv_dump(r, &got, err);
	assert_int_equal(csv_next(r, &fields, &nr, NULL), -EINVAL);
	csv_free(r);
}

TEST(test_messages)
{
	struct err err = ERR_INIT;

	error_of("a\n\"b\nc\"\nd,\"e\n\n", 14, &err);
	assert_string_equal(err.msg, "line 4: quote without an end");
	error_of("a\n\"b\nc\"x\n", 10, &err);
	assert_string_equal(err.msg, "line 3: text behind a closing quote");
	error_of("a\nb\0c\n", 6, &err);
	assert_string_equal(err.msg, "line 2: NUL byte");
	error_of("\"\0\"", 3, &err);
	assert_string_equal(err.msg, "line 1: NUL byte");
}

TEST(test_lines)
{
	static const char text[] = "a\n\n\"b\n\nc\"\r\nd\n# x\ne\n";
	static const uint64_t lines[] = { 1, 3, 6, 8 };
	struct csv_reader *r = csv_open_mem(text, sizeof(text) - 1);
	char *const *fields;
	size_t n;

	csv_comments(r, NULL, NULL);
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		assert_int_equal(csv_next(r, &fields, &n, NULL), 1);
		assert_int_equal(csv_line(r), lines[i]);
	}
	assert_int_equal(csv_next(r, &fields, &n, NULL), 0);
	assert_int_equal(csv_next(r, &fields, &n, NULL), 0);
	csv_free(r);
}

static void on_comment(void *ctx, const char *line)
{
	strbuf_addf(ctx, "<%s>", line);
}

TEST(test_comments)
{
	static const char text[] =
		"# first, \"x\r\na,#b\n#\n#no blank\n\"#c\"\n #d\n## e f \t\n# end";
	CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT, comments = STRBUF_INIT;
	struct csv_reader *r = csv_open_mem(text, sizeof(text) - 1);

	csv_comments(r, on_comment, &comments);
	csv_dump(r, &got, NULL);
	csv_free(r);
	assert_string_equal(got.buf, "[a|#b][#c][ #d]");
	assert_string_equal(comments.buf, "<first, \"x><><no blank><# e f><end>");
}

/* Records of changing length meet the ends of the blocks everywhere. */
TEST(test_blocks)
{
	CLEANUP(xfreep) char *dir = test_dir();
	enum { N = 40000 };
	FILE *f = fopen(in_dir(dir, "t.csv"), "we");
	struct csv_writer w = { .f = f };
	struct csv_reader *r;
	char *const *fields;
	size_t n;

	assert_non_null(f);
	for (int i = 0; i < N; i++) {
		char buf[64];

		snprintf(buf, sizeof(buf), "%.*s,\"%d\"\r\n", i % 23, "abcdefghijklmnopqrstuvwxyz",
			 i);
		csv_str(&w, buf);
		csv_i64(&w, i);
		csv_str(&w, "");
		csv_end(&w);
	}
	assert_int_equal(fclose(f), 0);
	assert_int_equal(csv_open_file(in_dir(dir, "t.csv"), &r, NULL), 0);
	for (int i = 0; i < N; i++) {
		char buf[64];

		snprintf(buf, sizeof(buf), "%.*s,\"%d\"\r\n", i % 23, "abcdefghijklmnopqrstuvwxyz",
			 i);
		assert_int_equal(csv_next(r, &fields, &n, NULL), 1);
		assert_int_equal(n, 3);
		assert_string_equal(fields[0], buf);
		assert_string_equal(fields[2], "");
		assert_int_equal(csv_line(r), 2 * i + 1);
	}
	assert_int_equal(csv_next(r, &fields, &n, NULL), 0);
	csv_free(r);
	fs_remove_tree(dir, NULL);
}

static int first_record(const char *text, size_t n, size_t *ret_n, struct err *err)
{
	struct csv_reader *r = csv_open_mem(text, n);
	char *const *fields;
	int e = csv_next(r, &fields, ret_n, err);

	csv_free(r);
	return e;
}

TEST(test_limits)
{
	size_t big = CSV_MAX_RECORD + CSV_MAX_FIELD, n;
	CLEANUP(xfreep) char *text = xmalloc(big);
	struct err err = ERR_INIT;

	memset(text, 'x', big);
	assert_int_equal(first_record(text, CSV_MAX_FIELD, &n, &err), 1);
	assert_int_equal(first_record(text, CSV_MAX_FIELD + 1, &n, &err), -EFBIG);
	assert_string_equal(err.msg, "line 1: field too long");
	text[0] = '"';
	assert_int_equal(first_record(text, big, &n, &err), -EFBIG);
	for (size_t i = 0; i < big; i += 1 << 20)
		text[i] = ',';
	assert_int_equal(first_record(text, CSV_MAX_RECORD / 2, &n, &err), 1);
	assert_int_equal(first_record(text, big, &n, &err), -EFBIG);
	assert_string_equal(err.msg, "line 1: record too long");
	memset(text, ',', CSV_MAX_FIELDS);
	assert_int_equal(first_record(text, CSV_MAX_FIELDS - 1, &n, &err), 1);
	assert_int_equal(n, CSV_MAX_FIELDS);
	assert_int_equal(first_record(text, CSV_MAX_FIELDS, &n, &err), -EFBIG);
	assert_string_equal(err.msg, "line 1: too many fields");
}

TEST(test_write)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	struct csv_writer w = { .f = f };

	csv_str(&w, "plain");
	csv_str(&w, "a,b");
	csv_str(&w, "say \"hi\"");
	csv_str(&w, "two\nlines");
	csv_str(&w, "cr\r");
	csv_str(&w, " blank ");
	csv_str(&w, "");
	csv_end(&w);
	csv_i64(&w, INT64_MIN);
	csv_u64(&w, UINT64_MAX);
	csv_f64(&w, 0.1);
	csv_f64(&w, NAN);
	csv_f64(&w, INFINITY);
	csv_f64(&w, -INFINITY);
	csv_end(&w);
	csv_str(&w, "");
	csv_end(&w);
	csv_f64(&w, NAN);
	csv_end(&w);
	csv_f64(&w, NAN);
	csv_i64(&w, 1);
	csv_end(&w);
	csv_str(&w, "#x");
	csv_str(&w, "#y");
	csv_end(&w);
	fclose(f);
	assert_string_equal(text,
			    "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\"cr\r\", blank ,\n"
			    "-9223372036854775808,18446744073709551615,0.1,,inf,-inf\n"
			    "\"\"\n\"\"\n,1\n\"#x\",#y\n");
}

/* What is written reads back as it was, whatever it was. */
TEST(test_round_trip)
{
	static const char letters[] = "a,\"\n\r# \xc3\xa4;";
	uint64_t seed = 17;

	for (int round = 0; round < 3000; round++) {
		CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;
		CLEANUP(xfreep) char *text = NULL;
		size_t n;
		FILE *f = open_memstream(&text, &n);
		struct csv_writer w = { .f = f };
		struct csv_reader *r;

		for (uint64_t rec = rnd(&seed) % 4 + 1; rec > 0; rec--) {
			uint64_t fields = rnd(&seed) % 4 + 1;

			for (uint64_t i = 0; i < fields; i++) {
				char s[8];
				size_t len = rnd(&seed) % sizeof(s);

				for (size_t k = 0; k < len; k++)
					s[k] = letters[rnd(&seed) % (sizeof(letters) - 1)];
				s[len] = '\0';
				strbuf_addf(&want, "%s%s", i ? "|" : "[", s);
				csv_str(&w, s);
			}
			strbuf_addch(&want, ']');
			csv_end(&w);
		}
		fclose(f);
		r = csv_open_mem(text, n);
		csv_comments(r, NULL, NULL);
		csv_dump(r, &got, NULL);
		csv_free(r);
		assert_string_equal(got.buf, want.buf);
	}
}

/* Nonsense ends in records or in an error, within its bounds. */
TEST(test_nonsense)
{
	static const char letters[] = "a,\"\n\r#\0\xff";
	uint64_t seed = 23;

	for (int round = 0; round < 20000; round++) {
		CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT;
		size_t n = rnd(&seed) % 24;
		CLEANUP(xfreep) char *text = xmalloc(n);
		struct csv_reader *r;

		for (size_t i = 0; i < n; i++)
			text[i] = letters[rnd(&seed) % (sizeof(letters) - 1)];
		r = csv_open_mem(text, n);
		if (round % 2)
			csv_comments(r, NULL, NULL);
		csv_dump(r, &got, NULL);
		csv_free(r);
	}
}
