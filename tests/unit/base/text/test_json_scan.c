#include "readers_test.h"

#include "profrig/base/json_scan.h"

/* The tokenizer may look 64 bytes behind the text: copies get that room, filled with what would
 * change results if it were read as data. */
static char *padded(const char *text, size_t n)
{
	char *p = xmalloc(n + 64);

	memcpy(p, text, n);
	memset(p + n, '"', 64);
	return p;
}

TEST(skipping)
{
	static const struct {
		const char *text;
		int r;
		size_t used;
	} cases[] = {
		{ "{} x", 0, 2 },
		{ " [1, {\"a\": \"]}\"}, []] ,", 0, 21 },
		{ "\"a\\\"b\\\\\" ,", 0, 8 },
		{ "-1.5e3,", 0, 6 },
		{ "NaN]", 0, 3 },
		{ "\""
		  "0123456789abcdef0123456789abcdef\\\"0123456789"
		  "\" ",
		  0, 46 },
		{ "{\"a\": [1}", JSON_BAD, 8 },
		{ "[}", JSON_BAD, 1 },
		{ "{\"a\": [1", JSON_CUT, 8 },
		{ "\"abc", JSON_CUT, 4 },
		{ "\"abc\\", JSON_CUT, 5 },
		{ "{\"abc\\\"}", JSON_CUT, 8 },
		{ "12", JSON_CUT, 2 },
		{ "", JSON_CUT, 0 },
		{ "#", JSON_BAD, 0 },
		{ ",", JSON_BAD, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		size_t n = strlen(cases[i].text);
		CLEANUP(xfreep) char *p = padded(cases[i].text, n);
		struct json_cur c = { p, p + n };

		assert_int_equal(json_skip(&c), cases[i].r);
		assert_int_equal(c.p - p, cases[i].used);
	}
}

TEST(depth)
{
	char text[2 * (JSON_MAX_DEPTH + 1) + 1];

	for (size_t d = JSON_MAX_DEPTH; d <= JSON_MAX_DEPTH + 1; d++) {
		struct json_cur c;

		for (size_t i = 0; i < d; i++) {
			text[i] = i % 2 ? '{' : '[';
			text[2 * d - 1 - i] = i % 2 ? '}' : ']';
		}
		CLEANUP(xfreep) char *p = padded(text, 2 * d);
		c = (struct json_cur){ p, p + 2 * d };
		assert_int_equal(json_skip(&c), d > JSON_MAX_DEPTH ? JSON_BAD : 0);
	}
}

/* Keys and values of one object joined, and how it ended. */
static int scan_walk(const char *text, struct strbuf *out)
{
	size_t n = strlen(text);
	CLEANUP(xfreep) char *p = padded(text, n);
	struct json_cur c = { p, p + n };
	struct json_text key, value;
	bool some = false;
	int r = json_open(&c, '{');

	strbuf_clear(out);
	while (r >= 0 && (r = json_member(&c, &some, &key)) > 0) {
		r = json_scalar(&c, &value);
		if (r == 0) {
			strbuf_add(out, key.p, key.n);
			strbuf_addch(out, value.quoted ? '~' : '=');
			strbuf_add(out, value.p, value.n);
			strbuf_addch(out, ';');
		}
	}
	return r;
}

TEST(members)
{
	static const struct {
		const char *text, *got;
		int r;
	} cases[] =
		LIST({ "{}", "", 0 }, { " { \"a\" : 1 , \"b\":\"x\" } ", "a=1;b~x;", 0 },
		     { "{,\"a\":1,,}", "a=1;", 0 }, { "{\"a\":true,\"b\":\"\"}", "a=true;b~;", 0 },
		     { "{\"a\":1 \"b\":2}", "a=1;", JSON_BAD }, { "{\"a\" 1}", "", JSON_BAD },
		     { "{a:1}", "", JSON_BAD }, { "{\"a\":1]", "a=1;", JSON_BAD },
		     { "{\"a\":}", "", JSON_BAD }, { "{\"a\":1", "", JSON_CUT },
		     { "{\"a\":\"1\"", "a~1;", JSON_CUT }, { "{\"a\":", "", JSON_CUT },
		     { "{\"a\"", "", JSON_CUT }, { "{", "", JSON_CUT }, { "[", "", JSON_BAD });
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(scan_walk(cases[i].text, &sb), cases[i].r);
		assert_string_equal(sb.buf, cases[i].got);
	}
}

TEST(decoding)
{
#define FFFD "\xef\xbf\xbd"
	static const struct {
		const char *raw, *want;
	} cases[] = {
		{ "plain \xc3\xa9 \xf0\x9f\x98\x80", "plain \xc3\xa9 \xf0\x9f\x98\x80" },
		{ "\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t" },
		{ "\\u0041\\u00e9\\u20AC\\uD83D\\uDE00", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "\\ud83d", FFFD },
		{ "\\ud83d\\u0041", FFFD "A" },
		{ "\\ude00x", FFFD "x" },
		{ "\\u12", FFFD "u12" },
		{ "\\uzzzz", FFFD "uzzzz" },
		{ "\\u0000", FFFD },
		{ "\xff\xfe", FFFD FFFD },
		{ "\xc0\xaf", FFFD FFFD },          /* overlong */
		{ "\xed\xa0\x80", FFFD FFFD FFFD }, /* surrogate */
		{ "\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD },
		{ "\xe2\x82", FFFD FFFD },
	};
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct json_text t = { .p = cases[i].raw, .n = strlen(cases[i].raw) };

		strbuf_clear(&sb);
		json_decode(&t, &sb);
		assert_string_equal(sb.buf, cases[i].want);
		assert_int_equal(json_plain_len(&t) == t.n,
				 strcmp(cases[i].raw, cases[i].want) == 0);
	}
}

struct by_table {
	struct json_text name;
	const char *list;
	int items;
};

static int item_count(struct json_cur *c, void *to)
{
	struct by_table *t = to;

	t->items++;
	return json_skip(c);
}

static int take_items(struct json_cur *c, void *to)
{
	return json_elements(c, item_count, to);
}

TEST(members_by_table)
{
	static const struct json_known fields[] = {
		JSON_INTO("name", json_take_text, struct by_table, name),
		JSON_INTO("list", json_take_list, struct by_table, list),
		JSON_CALL("items", take_items),
	};
	static const struct {
		const char *text, *name;
		int items, r;
	} cases[] = LIST({ "{\"x\":{\"name\":3},\"name\":\"a\",\"items\":[1,[2]]}", "a", 2, 0 },
			 { "{\"name\":[],\"items\":{},\"list\":7}", "", 0, 0 },
			 { "[{\"name\":1}]", "", 0, 0 }, { "7 ", "", 0, 0 },
			 { "{\"name\":1,\"items\":[1,", "1", 1, JSON_CUT },
			 { "{\"items\":[1 2]}", "", 1, JSON_BAD });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		size_t n = strlen(cases[i].text);
		CLEANUP(xfreep) char *p = padded(cases[i].text, n);
		struct json_cur c = { p, p + n };
		struct by_table t = { .list = NULL };
		int r = json_members(&c, fields, ARRAY_LEN(fields), &t);

		if (r != cases[i].r || t.items != cases[i].items || t.list ||
		    t.name.n != strlen(cases[i].name) ||
		    strncmp(t.name.n ? t.name.p : "", cases[i].name, t.name.n) != 0)
			ROW_FAIL(i, "%d, %d items, '%.*s'", r, t.items, (int)t.name.n, t.name.p);
	}
}

/* Strings of every length against every place of their end in a block. */
TEST(string_ends)
{
	char text[200];

	for (size_t lead = 0; lead < 20; lead++) {
		for (size_t n = 0; n < 70; n++) {
			struct json_cur c;
			struct json_text t;

			memset(text, ' ', lead);
			text[lead] = '"';
			memset(text + lead + 1, 'x', n);
			text[lead + 1 + n] = '"';
			CLEANUP(xfreep) char *p = padded(text, lead + n + 2);
			c = (struct json_cur){ p, p + lead + n + 2 };
			assert_int_equal(json_scalar(&c, &t), 0);
			assert_int_equal(t.n, n);
			assert_true(t.quoted && !t.escaped && c.p == c.end);
			c = (struct json_cur){ p, p + lead + n + 1 };
			assert_int_equal(json_scalar(&c, &t), JSON_CUT);
		}
	}
}
