#include "base_test.h"

#include <math.h>

#include "profrig/base/json_fields.h"
#include "profrig/base/strbuf.h"

struct doc {
	struct json_out j;
	FILE *f;
	char *text;
	size_t n;
};

static void doc_begin(struct doc *d, int indent)
{
	*d = (struct doc){ .text = NULL };
	d->f = open_memstream(&d->text, &d->n);
	assert_non_null(d->f);
	json_out_init(&d->j, d->f, indent);
}

static void doc_is(struct doc *d, const char *want)
{
	assert_int_equal(fclose(d->f), 0);
	assert_string_equal(d->text, want);
	assert_int_equal(d->n, strlen(want));
	free(d->text);
}

static void json_sample(struct json_out *j)
{
	json_obj(j, NULL);
	json_str(j, "name", "x");
	json_arr(j, "rows");
	json_i64(j, NULL, -3);
	json_u64(j, NULL, UINT64_MAX);
	json_f64(j, NULL, 0.1);
	json_obj(j, NULL);
	json_end(j);
	json_end(j);
	json_arr(j, "none");
	json_end(j);
	json_bool(j, "yes", true);
	json_bool(j, "no", false);
	json_nil(j, "nothing");
	json_str(j, "null", NULL);
	json_raw(j, "raw", "[1, 2]");
	json_end(j);
}

TEST(test_one_line)
{
	struct doc d;

	doc_begin(&d, 0);
	json_sample(&d.j);
	doc_is(&d, "{\"name\":\"x\",\"rows\":[-3,18446744073709551615,0.1,{}],\"none\":[],"
		   "\"yes\":true,\"no\":false,\"nothing\":null,\"null\":null,\"raw\":[1, 2]}");
}

TEST(test_indented)
{
	struct doc d;

	doc_begin(&d, 2);
	json_sample(&d.j);
	doc_is(&d, "{\n  \"name\": \"x\",\n  \"rows\": [\n    -3,\n    18446744073709551615,\n"
		   "    0.1,\n    {}\n  ],\n  \"none\": [],\n  \"yes\": true,\n  \"no\": false,\n"
		   "  \"nothing\": null,\n  \"null\": null,\n  \"raw\": [1, 2]\n}");
}

TEST(test_roots)
{
	struct doc d;

	doc_begin(&d, 0);
	json_i64(&d.j, NULL, 1);
	fputc('\n', d.f);
	json_arr(&d.j, NULL);
	json_end(&d.j);
	fputc('\n', d.f);
	json_str(&d.j, NULL, "a");
	doc_is(&d, "1\n[]\n\"a\"");
}

TEST(test_numbers)
{
	static const struct {
		double v;
		const char *want;
	} rows[] = {
		{ 0, "0" },           { -0.0, "-0" },
		{ 1e300, "1e+300" },  { NAN, "null" },
		{ INFINITY, "null" }, { -INFINITY, "null" },
		{ 1e-7, "1e-07" },    { 1234.5678, "1234.5678" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct doc d;

		doc_begin(&d, 0);
		json_f64(&d.j, NULL, rows[i].v);
		doc_is(&d, rows[i].want);
	}
}

#define BAD "\xef\xbf\xbd"

TEST(test_strings)
{
	static const char *const rows[][2] = {
		{ "", "" },
		{ "plain text, 100%", "plain text, 100%" },
		{ "a\"b\\c", "a\\\"b\\\\c" },
		{ "\b\f\n\r\t", "\\b\\f\\n\\r\\t" },
		{ "\x01\x1f\x7f", "\\u0001\\u001f\x7f" },
		{ "</script>", "<\\/script>" },
		{ "<!--<script>", "\\u003c!--<script>" },
		{ "a<b <", "a<b <" },
		{ "<</", "<<\\/" },
		/* valid sequences of each length, at their edges */
		{ "\xc2\x80\xdf\xbf", "\xc2\x80\xdf\xbf" },
		{ "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf",
		  "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf" },
		{ "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
		/* a lone continuation, bytes that never occur, longer forms than needed */
		{ "a\x80z", "a" BAD "z" },
		{ "\xff\xfe", BAD BAD },
		{ "\xc0\xaf", BAD BAD },
		{ "\xc1\xbf", BAD BAD },
		{ "\xe0\x9f\xbf", BAD BAD BAD },
		{ "\xf0\x8f\xbf\xbf", BAD BAD BAD BAD },
		/* surrogates, past the last code point */
		{ "\xed\xa0\x80", BAD BAD BAD },
		{ "\xf4\x90\x80\x80", BAD BAD BAD BAD },
		{ "\xf5\x80\x80\x80", BAD BAD BAD BAD },
		/* cut short by the end, by text, by an escape */
		{ "\xc3", BAD },
		{ "\xe2\x82", BAD BAD },
		{ "\xf0\x9f\x98", BAD BAD BAD },
		{ "\xe2\x82z", BAD BAD "z" },
		{ "\xe2\"", BAD "\\\"" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		/* Its own block: a sequence cut by the end must not be read past it. */
		CLEANUP(xfreep) char *s = xmemdup(rows[i][0], strlen(rows[i][0]) + 1);
		struct doc d;

		doc_begin(&d, 0);
		json_obj(&d.j, NULL);
		json_str(&d.j, s, s);
		json_end(&d.j);
		doc_is(&d, textf("{\"%s\":\"%s\"}", rows[i][1], rows[i][1]));
	}
}

TEST(test_strn)
{
	CLEANUP(xfreep) char *s = xmemdup("\xe2\x82\xac", 2);
	struct doc d;

	doc_begin(&d, 0);
	json_arr(&d.j, NULL);
	json_strn(&d.j, NULL, "a\0b", 3);
	json_strn(&d.j, NULL, "abc", 0);
	json_strn(&d.j, NULL, NULL, 0);
	json_strn(&d.j, NULL, s, 2);
	json_strn(&d.j, NULL, "</", 1);
	json_end(&d.j);
	doc_is(&d, "[\"a\\u0000b\",\"\",null,\"" BAD BAD "\",\"<\"]");
}

/* Into a buffer as into a stream. */
TEST(test_quote)
{
	static const char text[] = "a\"\\\n\0\x1f</script><!-- \xc3\xa9\xff\xc3";
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, "x:");
	json_quote(&sb, text, sizeof(text) - 1);
	assert_string_equal(sb.buf, "x:\"a\\\"\\\\\\n\\u0000\\u001f<\\/script>\\u003c!-- "
				    "\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\"");
	strbuf_clear(&sb);
	json_quote(&sb, "", 0);
	assert_string_equal(sb.buf, "\"\"");
}

TEST(test_deep)
{
	CLEANUP(xfreep) char *want = xcalloc(1, 129);
	struct doc d;

	doc_begin(&d, 0);
	for (int i = 0; i < 64; i++) {
		json_arr(&d.j, NULL);
		want[i] = '[';
		want[127 - i] = ']';
	}
	for (int i = 0; i < 64; i++)
		json_end(&d.j);
	doc_is(&d, want);
}

struct inner {
	int64_t n_ns;
};
struct thing {
	char *text, *unset;
	const char *fixed;
	char chars[8], no_chars[8];
	bool yes;
	int64_t negative, zero;
	uint64_t large, none;
	double half;
	struct strvec words;
	struct inner in;
};

JSON_TABLE(thing_fields, JSON_FIELDS(struct thing, text, unset, fixed, chars, no_chars, yes),
	   JSON_FIELDS(struct thing, negative, zero, large, half, words, in.n_ns),
	   JSON_FIELD_AS(true, struct thing, no_chars, "empty"),
	   JSON_SET_FIELDS(struct thing, unset, zero, none, large));
JSON_TABLE(inner_fields, JSON_FIELDS(struct inner, n_ns));

TEST(test_fields)
{
	struct thing t = { .text = (char[]){ "a" },
			   .fixed = "",
			   .chars = "b",
			   .yes = true,
			   .negative = -1,
			   .large = UINT64_MAX,
			   .half = 0.5,
			   .words = STRVEC_INIT,
			   .in = { 7 } };
	struct inner two[] = { { 1 }, { 2 } };
	struct doc d;

	strvec_push(&t.words, "w");
	doc_begin(&d, 0);
	json_obj(&d.j, NULL);
	json_fields(&d.j, &t, thing_fields);
	json_rows_of(&d.j, "rows", two, 2, sizeof(*two), inner_fields);
	json_end(&d.j);
	doc_is(&d, "{\"text\":\"a\",\"unset\":null,\"fixed\":\"\",\"chars\":\"b\","
		   "\"no_chars\":\"\",\"yes\":true,\"negative\":-1,\"zero\":0,"
		   "\"large\":18446744073709551615,\"half\":0.5,\"words\":[\"w\"],\"n_ns\":7,"
		   "\"empty\":null,\"unset\":null,\"zero\":null,\"none\":null,"
		   "\"large\":18446744073709551615,\"rows\":[{\"n_ns\":1},{\"n_ns\":2}]}");
	strvec_release(&t.words);
}
