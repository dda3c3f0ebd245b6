/* Literals of Python as a tree: a table, what is refused and where, and random values which Python
 * itself writes as literals and as JSON: both must be one tree. */
#include "test.h"

#include "profrig/base/cfg.h"
#include "profrig/base/proc.h"
#include "profrig/base/strbuf.h"

static int python_parse(struct cfg *c, const char *text, enum cfg_syntax syntax, struct err *err)
{
	cfg_init(c);
	return cfg_parse_value(c, text, strlen(text), "f", syntax, LAYER_FILE, err);
}

/* The tree as one line: {a: "b", c: [1, true, null]}, numbers by their text. */
static void node_show(const struct cfg_node *n, struct strbuf *sb)
{
	bool map = n->kind == CFG_MAP;

	if (n->kind == CFG_STR) {
		strbuf_addf(sb, "\"%s\"", n->s);
		return;
	}
	if (!map && n->kind != CFG_SEQ) {
		strbuf_addstr(sb, n->s);
		return;
	}
	strbuf_addch(sb, map ? '{' : '[');
	for (size_t i = 0; i < n->nr; i++) {
		strbuf_addstr(sb, i ? ", " : "");
		if (map)
			strbuf_addf(sb, "%s: ", n->child[i]->key);
		node_show(n->child[i], sb);
	}
	strbuf_addch(sb, map ? '}' : ']');
}

TEST(literals)
{
	static const struct {
		const char *text, *want;
	} cases[] = LIST(
		{ "{}", "{}" }, { "[]", "[]" }, { "()", "[]" }, { "(1)", "1" }, { "(1,)", "[1]" },
		{ "(1, 2,)", "[1, 2]" }, { "((1))", "1" }, { "([1],)", "[[1]]" },
		{ "{'a': 1, \"b\": 'x',}", "{a: 1, b: \"x\"}" },
		{ "{'a':\n{'b': [True, False, None]}}", "{a: {b: [true, false, null]}}" },
		{ " # said before\n{'a': 1 # and after\n}", "{a: 1}" },
		{ "{'a': 'x' 'y'\n\"z\"}", "{a: \"xyz\"}" }, { "('a' 'b')", "\"ab\"" },
		{ "'it\\'s'", "\"it's\"" }, { "\"it's\"", "\"it's\"" },
		{ "'\\t\\\\ \\x41\\101\\u00e4\\U0001F600'", "\"\t\\ AA\xc3\xa4\xf0\x9f\x98\x80\"" },
		{ "'\\d+ \\. \\/'", "\"\\d+ \\. \\/\"" }, { "r'\\d+\\n'", "\"\\d+\\n\"" },
		{ "R'\\''", "\"\\'\"" }, { "u'x'", "\"x\"" },
		{ "'''a\n'b' \"\"c'''", "\"a\n'b' \"\"c\"" }, { "\"\"\"a\\\nb\"\"\"", "\"ab\"" },
		{ "''", "\"\"" }, { "''''''", "\"\"" },
		{ "'{\"json\": true}'", "\"{\"json\": true}\"" },
		{ "'# no comment'", "\"# no comment\"" }, { "0", "0" }, { "-17", "-17" },
		{ "+17", "17" }, { "- 17", "-17" }, { "1_000_000", "1000000" }, { "0x1F", "31" },
		{ "-0x_ff", "-255" }, { "0o17", "15" }, { "0b101", "5" }, { "1.5", "1.5" },
		{ "1.", "1." }, { ".5", ".5" }, { "-1e-3", "-1e-3" }, { "1_0.2_5e1_0", "10.25e10" },
		{ "007.5", "007.5" }, { "9223372036854775807", "9223372036854775807" },
		{ "-9223372036854775808", "-9223372036854775808" }, { "[1,\\\n2]", "[1, 2]" });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
		struct err err = ERR_INIT;
		CLEANUP(cfg_release) struct cfg c;

		if (python_parse(&c, cases[i].text, CFG_PYTHON, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.msg);
		node_show(c.root, &sb);
		assert_string_equal(sb.buf, cases[i].want);
	}
}

TEST(kinds_and_lines)
{
	CLEANUP(cfg_release) struct cfg c;

	assert_int_equal(python_parse(&c,
				      "{'a': 1,\n 'b': [2.5,\n  'x'],\n"
				      " 'long': '''1\n2''', 'after':\n True}",
				      CFG_PYTHON, NULL),
			 0);
	assert_int_equal(cfg_get(c.root, "a")->kind, CFG_INT);
	assert_int_equal(cfg_get(c.root, "a")->i, 1);
	assert_int_equal(cfg_get(c.root, "b")->line, 2);
	assert_int_equal(cfg_path(c.root, "b[0]")->kind, CFG_FLOAT);
	assert_int_equal(cfg_path(c.root, "b[1]")->line, 3);
	assert_int_equal(cfg_get(c.root, "long")->line, 4);
	assert_int_equal(cfg_get(c.root, "after")->line, 5);
	assert_true(cfg_get(c.root, "after")->b);
}

TEST(refused)
{
	static const struct {
		const char *text, *words;
	} cases[] = LIST(
		{ "{'a': 1", "f:1: want , or } after a value" },
		{ "[1 2]", "f:1: want , or ] after a value" },
		{ "[1,\n2", "f:2: want , or ] after a value" }, { "{'a' 1}", "want : after a key" },
		{ "{1: 2}", "want a key, a text in quotes" }, { "{'a'}", "want : after a key" },
		{ "{'': 1}", "an empty key" },
		{ "{'a': 1, 'a': 2}", "key 'a' is there already (line 1)" },
		{ "{'a': true}", "true is JSON, in Python it is True" },
		{ "{'a': null}", "null is JSON, in Python it is None" },
		{ "{'a': os.system('id')}", "'os' is a name, want a text in quotes" },
		{ "__import__('os')", "'__import__' is a name" },
		{ "'a' + 'b'", "something follows the value" },
		{ "[1] * 9", "something follows the value" }, { "b'x'", "bytes and f-strings" },
		{ "f'{x}'", "bytes and f-strings" }, { "rb'x'", "bytes and f-strings" },
		{ "'x", "a string without end" }, { "'x\n'", "a string without end" },
		{ "'''x'", "a string without end" }, { "'x\\", "a string without end" },
		{ "r'x\\'", "a string without end" },
		{ "'\\x4'", "an escape in a string lacks digits" },
		{ "'\\ud800'", "half of a character" }, { "'\\U00110000'", "half of a character" },
		{ "'\\N{DASH}'", "write the character itself" }, { "'\\0'", "a NUL byte" },
		{ "'\xff'", "no UTF-8 text" }, { "012", "a number that begins with 0" },
		{ "1__0", "something follows the value" }, { "0x", "a number without digits" },
		{ "1e999", "too large" }, { "9223372036854775808", "too large" },
		{ "0x8000000000000000", "too large" }, { "2j", "a complex number" },
		{ "-", "a sign without a number" }, { "-'a'", "a sign without a number" },
		{ "{'a': }", "a character that begins no value" },
		{ "{'a':", "the text ends where a value should be" },
		{ "lambda: 1", "'lambda' is a name" });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;
		CLEANUP(cfg_release) struct cfg c;

		assert_true(python_parse(&c, cases[i].text, CFG_PYTHON, &err) < 0);
		if (!strstr(err.msg, cases[i].words))
			fail_msg("%s: '%s', not '%s'", cases[i].text, err.msg, cases[i].words);
	}
}

TEST(depth_is_bounded)
{
	CLEANUP(strbuf_release) struct strbuf deep = STRBUF_INIT;
	struct err err = ERR_INIT;
	CLEANUP(cfg_release) struct cfg c;

	for (int i = 0; i < 100000; i++)
		strbuf_addch(&deep, i % 2 ? '(' : '[');
	assert_true(python_parse(&c, deep.buf, CFG_PYTHON, &err) < 0);
	assert_has(err.msg, "nested too deeply");
}

static void assert_same(const struct cfg_node *a, const struct cfg_node *b, const char *text)
{
	bool same = a->kind == b->kind && a->nr == b->nr;

	if (same && a->kind == CFG_STR)
		same = !strcmp(a->s, b->s);
	else if (same && (a->kind == CFG_INT || a->kind == CFG_FLOAT))
		same = a->i == b->i && a->f == b->f;
	else if (same && a->kind == CFG_BOOL)
		same = a->b == b->b;
	if (!same)
		fail_msg("not the same value in %.400s", text);
	for (size_t i = 0; i < a->nr; i++) {
		if (a->kind == CFG_MAP)
			assert_string_equal(a->child[i]->key, b->child[i]->key);
		assert_same(a->child[i], b->child[i], text);
	}
}

static const char generator[] =
	"import json, random, pprint\n"
	"r = random.Random(7)\n"
	"chars = 'ab \\'\"\\\\{}[],:#\\n\\t\\u00e4\\u20ac\\U0001f600$`'\n"
	"def text():\n"
	"    return ''.join(r.choice(chars) for _ in range(r.randrange(9)))\n"
	"def value(depth):\n"
	"    k = r.randrange(9 if depth else 6)\n"
	"    if k == 0: return r.choice([True, False, None])\n"
	"    if k == 1: return r.randrange(-2**63, 2**63)\n"
	"    if k == 2: return r.choice([0.0, 1.5, -2.25e-7, r.random() * 1e20, 5e-324])\n"
	"    if k < 6: return text()\n"
	"    if k == 6: return [value(depth - 1) for _ in range(r.randrange(4))]\n"
	"    if k == 7: return tuple(value(depth - 1) for _ in range(r.randrange(4)))\n"
	"    return {text() + 'k%d' % i: value(depth - 1) for i in range(r.randrange(4))}\n"
	"for i in range(400):\n"
	"    v = value(4)\n"
	"    form = r.choice([repr, ascii, lambda x: pprint.pformat(x, width=20, "
	"sort_dicts=False)])\n"
	"    print(form(v), json.dumps(v), sep='\\x01', end='\\x02')\n";

TEST(as_python_writes_them)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	char *argv[] = { (char *)"python3", (char *)"-c", (char *)generator, NULL };
	struct proc_exit x;
	size_t n = 0;

	if (proc_capture(argv, 60000, (size_t)8 << 20, &out, NULL, &x, NULL) < 0 || x.code != 0) {
		print_message("python3 is not installed\n");
		skip();
	}
	for (char *s = out.buf, *end; (end = strchr(s, '\2')); s = end + 1, n++) {
		char *json = strchr(s, '\1');
		struct err err = ERR_INIT;
		struct cfg a, b;

		*end = *json++ = '\0';
		if (python_parse(&a, s, CFG_PYTHON, &err) < 0)
			fail_msg("%.400s: %s", s, err.msg);
		if (python_parse(&b, json, CFG_JSON, &err) < 0)
			fail_msg("%.400s: %s", json, err.msg);
		assert_same(a.root, b.root, s);
		cfg_release(&a);
		cfg_release(&b);
	}
	assert_int_equal(n, 400);
}
