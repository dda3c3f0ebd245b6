/* The configuration tree: what YAML and JSON become, where each value came from, merging and --set.
 */
#include "test.h"

#include <math.h>

#include "profrig/base/cfg.h"
#include "profrig/base/strbuf.h"

static int text_parse(struct cfg *c, const char *text, bool json, struct err *err)
{
	cfg_init(c);
	return cfg_parse_text(c, text, strlen(text), json ? "f.json" : "f.yaml", json, LAYER_FILE,
			      err);
}

static void good(struct cfg *c, const char *text)
{
	struct err err = ERR_INIT;

	if (text_parse(c, text, false, &err) < 0)
		fail_msg("%s", err.msg);
}

TEST(scalars)
{
	static const struct {
		const char *text;
		enum cfg_kind kind;
		double f;
	} cases[] =
		LIST({ "", CFG_NULL, 0 }, { "~", CFG_NULL, 0 }, { "null", CFG_NULL, 0 },
		     { "true", CFG_BOOL, 0 }, { "False", CFG_BOOL, 0 }, { "yes", CFG_STR, 0 },
		     { "no", CFG_STR, 0 }, { "17", CFG_INT, 17 }, { "-3", CFG_INT, -3 },
		     { "+4", CFG_INT, 4 }, { "007", CFG_INT, 7 }, { "1.10", CFG_FLOAT, 1.1 },
		     { ".5", CFG_FLOAT, .5 }, { "5.", CFG_FLOAT, 5 }, { "1e3", CFG_FLOAT, 1000 },
		     { "-.5e-1", CFG_FLOAT, -.05 }, { "99999999999999999999", CFG_FLOAT, 1e20 },
		     { "1e", CFG_STR, 0 }, { ".", CFG_STR, 0 }, { "-x", CFG_STR, 0 },
		     { "nan", CFG_STR, 0 }, { "inf", CFG_STR, 0 }, { "infinity", CFG_STR, 0 },
		     { ".inf", CFG_FLOAT, INFINITY }, { "-.Inf", CFG_FLOAT, -INFINITY },
		     { "0x10", CFG_STR, 0 }, { "1_000", CFG_STR, 0 }, { "0,2-4", CFG_STR, 0 },
		     { "1.2.3", CFG_STR, 0 }, { "8g", CFG_STR, 0 }, { "12:30", CFG_STR, 0 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct cfg_node *n;
		CLEANUP(cfg_release) struct cfg c;

		CLEANUP(xfreep) char *text = xasprintf("k: %s\n", cases[i].text);
		good(&c, text);
		n = cfg_get(c.root, "k");
		assert_non_null(n);
		if (n->kind != cases[i].kind)
			fail_msg("'%s' became kind %d", cases[i].text, n->kind);
		assert_string_equal(n->s, cases[i].text);
		if (n->kind == CFG_INT || n->kind == CFG_FLOAT)
			assert_true(n->f == cases[i].f);
		if (n->kind == CFG_INT)
			assert_int_equal(n->i, (int64_t)cases[i].f);
	}
}

TEST(quoted_is_text)
{
	CLEANUP(cfg_release) struct cfg c;

	good(&c, "a: \"3\"\nb: 'true'\nc: ''\nd: \"\"\n");
	for (size_t i = 0; i < c.root->nr; i++)
		assert_int_equal(c.root->child[i]->kind, CFG_STR);
	assert_string_equal(cfg_get(c.root, "b")->s, "true");
}

/* Lists, maps and null have no text; a list gives what is no list or map in it, as written. */
TEST(text_and_words)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	CLEANUP(cfg_release) struct cfg c;

	good(&c,
	     "n: 007\nb: true\ns: \"\"\nz: null\nl: [a, 1, null, [x], {y: z}, 2.50]\nm: {a: b}\n");
	assert_string_equal(cfg_text(c.root, "n"), "007");
	assert_string_equal(cfg_text(c.root, "b"), "true");
	assert_string_equal(cfg_text(c.root, "s"), "");
	assert_null(cfg_text(c.root, "z"));
	assert_null(cfg_text(c.root, "l"));
	assert_null(cfg_text(c.root, "m"));
	assert_null(cfg_text(c.root, "absent"));
	assert_null(cfg_text(NULL, "n"));
	strvec_push(&words, "first");
	cfg_words(c.root, "l", &words);
	cfg_words(c.root, "m", &words);
	cfg_words(c.root, "absent", &words);
	cfg_words(NULL, "l", &words);
	assert_int_equal(words.nr, 5);
	assert_string_equal(words.v[1], "a");
	assert_string_equal(words.v[2], "1");
	assert_string_equal(words.v[3], "null"); /* a word like any other there */
	assert_string_equal(words.v[4], "2.50");
}

TEST(lines_are_of_keys)
{
	static const char yaml[] = "# comment\n"
				   "model:\n"
				   "  command:\n"
				   "    - ./a\n"
				   "    - >\n"
				   "      folded\n"
				   "      text\n"
				   "  timeout:\n"
				   "    5\n"
				   "tools: [{name: x},\n"
				   "  {name: y}]\n";
	static const struct {
		const char *path;
		int line;
	} want[] = { { "model", 2 },
		     { "model.command", 3 },
		     { "model.command[0]", 4 },
		     { "model.command[1]", 5 },
		     { "model.timeout", 8 },
		     { "tools", 10 },
		     { "tools[0].name", 10 },
		     { "tools[1].name", 11 } };
	CLEANUP(cfg_release) struct cfg c;

	good(&c, yaml);
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		const struct cfg_node *n = cfg_path(c.root, want[i].path);
		CLEANUP(xfreep) char *where = NULL, *expected = NULL;

		assert_non_null(n);
		where = cfg_where(n);
		expected = xasprintf("f.yaml:%d", want[i].line);
		assert_string_equal(where, expected);
	}
}

static void same_tree(const struct cfg_node *a, const struct cfg_node *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->line, b->line);
	assert_int_equal(a->nr, b->nr);
	assert_int_equal(a->i, b->i);
	assert_int_equal(a->b, b->b);
	assert_true(a->f == b->f);
	if (a->key)
		assert_string_equal(a->key, b->key);
	if (a->s && a->kind != CFG_NULL)
		assert_string_equal(a->s, b->s);
	for (size_t i = 0; i < a->nr; i++)
		same_tree(a->child[i], b->child[i]);
}

/* A JSON document is a YAML document too: both parsers must agree on kinds, values, text and lines.
 */
TEST(json_is_yaml)
{
	static const char text[] = "{\n"
				   " \"a\": {\"b\": [1, 2.50, true, null,\n"
				   "   \"x, \\\"]}\\\" y\"], \"c\": {}},\n"
				   " \"d\": [],\n"
				   " \"e\":\n"
				   "   -7,\n"
				   " \"f\": [[], [{\"g\": 1e3}]]\n"
				   "}\n";
	struct err err = ERR_INIT;
	struct cfg yaml, json;

	good(&yaml, text);
	if (text_parse(&json, text, true, &err) < 0)
		fail_msg("%s", err.msg);
	same_tree(yaml.root, json.root);
	assert_int_equal(cfg_path(json.root, "a.b[4]")->line, 3);
	assert_int_equal(cfg_path(json.root, "f[1][0].g")->line, 7);
	assert_string_equal(cfg_path(json.root, "a.b[1]")->s, "2.50");
	cfg_release(&yaml);
	cfg_release(&json);
}

TEST(empty_files)
{
	static const char *const texts[] = { "", "\n \n", "# nothing\n", "---\n", "null\n" };
	struct cfg c;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		good(&c, texts[i]);
		assert_int_equal(c.root->kind, CFG_MAP);
		assert_int_equal(c.root->nr, 0);
		cfg_release(&c);
	}
	assert_int_equal(text_parse(&c, " \n", true, NULL), 0);
	cfg_release(&c);
}

TEST(bad_texts)
{
	static const struct {
		bool json;
		const char *text, *words;
	} cases[] = {
		{ false, "a: [1,\nb: }", "f.yaml:2: " },
		{ false, "a: b: c", "f.yaml:1: " },
		{ false, "\ta: 1", "f.yaml:1: a tab, which cannot indent" },
		{ false, "a: 1\nb: @c\n", "f.yaml:2: a tab, which cannot indent, or a text" },
		{ false, "- a\n- b\n", "f.yaml:1: the file must be a map of keys" },
		{ false, "word", "f.yaml:1: the file must be a map of keys" },
		{ false, "a: 1\n---\nb: 2\n", "f.yaml:2: a second document" },
		{ false, "? [x, y]\n: 1\n", "f.yaml:1: a key must be a plain word" },
		{ false, "'': 1\n", "f.yaml:1: an empty key" },
		{ false, "a: \"x\\0y\"\n", "f.yaml:1: a NUL byte" },
		{ false, "b: &x {a: 1}\nc:\n  <<: *x\n", "f.yaml:3: merge keys" },
		{ false, "a: *nowhere\n", "f.yaml:1: an alias that names no anchor" },
		{ false, "a: &x [*x]\n", "f.yaml:1: an alias that names no anchor" },
		{ false, "*x : 1\n", "f.yaml:1: " },
		{ false, "a: 1\na: 2\n", "f.yaml:2: key 'a' is there already (line 1)" },
		{ false, "a: !!int 3\n", "f.yaml:1: a tag, which has no" },
		{ false, "a: !x {}\n", "f.yaml:1: a tag, which has no" },
		{ false, "a: \xff\xfe\n", "f.yaml: no UTF-8 text (byte 3)" },
		{ true, "{\"a\": 1,}", "f.json:1: " },
		{ true, "{\n\"a\": 1\n\"b\": 2}", "f.json:3: " },
		{ true, "{\"a\": 01}", "f.json:1: " },
		{ true, "{'a': 1}", "f.json:1: " },
		{ true, "{\"a\": 1} x", "f.json:1: " },
		{ true, "{\"a\": 1, \"a\": 2}", "f.json:1: duplicate" },
		{ true, "{\"\": 1}", "f.json:1: an empty key" },
		{ true, "{\"a\": \"\\u0000\"}", "f.json:1: " },
		{ true, "{\"a\": 99999999999999999999}", "f.json:1: " },
		{ true, "[1]", "f.json:1: the file must be a map of keys" },
		{ true, "// no\n{}", "f.json:1: " },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;
		CLEANUP(cfg_release) struct cfg c;
		int r = text_parse(&c, cases[i].text, cases[i].json, &err);

		if (r >= 0 || strncmp(err.msg, cases[i].words, strlen(cases[i].words)) != 0)
			fail_msg("case %zu '%s': %d '%s'", i, cases[i].text, r, err.msg);
	}
}

TEST(soft_problems_are_collected)
{
	struct err err = ERR_INIT;
	CLEANUP(cfg_release) struct cfg c;

	assert_int_equal(text_parse(&c, "a: 1\nb: {x: 1, x: 2}\na: 3\nc: !t 4\n", false, &err),
			 -EINVAL);
	assert_non_null(c.root);
	assert_int_equal(c.problems.lines.nr, 3);
	assert_string_equal(c.problems.lines.v[0], "f.yaml:2: key 'x' is there already (line 2)");
	assert_string_equal(c.problems.lines.v[1], "f.yaml:3: key 'a' is there already (line 1)");
	assert_string_equal(err.msg, c.problems.lines.v[0]);
	assert_int_equal(cfg_get(c.root, "a")->i, 1);
	assert_int_equal(cfg_get(c.root, "c")->i, 4);
}

static char *nested(const char *open, const char *middle, const char *close, int times)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, "{\"a\": ");
	for (int i = 0; i < times; i++)
		strbuf_addstr(&sb, open);
	strbuf_addstr(&sb, middle);
	for (int i = 0; i < times; i++)
		strbuf_addstr(&sb, close);
	strbuf_addch(&sb, '}');
	return strbuf_steal(&sb);
}

TEST(depth_has_a_limit)
{
	for (int json = 0; json < 2; json++) {
		struct err err = ERR_INIT;
		struct cfg c;

		assert_int_equal(text_parse(&c, kept(nested("[", "1", "]", 63)), json, &err), 0);
		cfg_release(&c);
		assert_true(text_parse(&c, kept(nested("[", "1", "]", 64)), json, &err) < 0);
		assert_has(err.msg, "nested too deeply");
		cfg_release(&c);
		assert_true(text_parse(&c, kept(nested("[", "1", "]", 1000)), json, &err) < 0);
		cfg_release(&c);
	}
}

TEST(aliases_are_copies_and_count)
{
	CLEANUP(strbuf_release) struct strbuf bomb = STRBUF_INIT;
	struct err err = ERR_INIT;
	struct cfg c;

	good(&c, "base: &b {x: 1, l: [1, 2]}\nuse:\n  *b\ns: &s word\nt: *s\nw: [*b]\n");
	assert_null(cfg_path(c.root, "w[0]")->key);
	assert_int_equal(cfg_path(c.root, "w[0].l[0]")->i, 1);
	assert_int_equal(cfg_path(c.root, "use.l[1]")->i, 2);
	assert_int_equal(cfg_get(c.root, "use")->line, 2);
	assert_int_equal(cfg_path(c.root, "use.x")->line, 1);
	assert_string_equal(cfg_get(c.root, "t")->s, "word");
	cfg_release(&c);

	strbuf_addstr(&bomb, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
	for (int i = 1; i < 12; i++) {
		strbuf_addf(&bomb, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++)
			strbuf_addf(&bomb, "%s*a%d", k ? ", " : "", i - 1);
		strbuf_addstr(&bomb, "]\n");
	}
	assert_true(text_parse(&c, bomb.buf, false, &err) < 0);
	assert_has(err.msg, "more than 100000 values");
	assert_true(c.pool.bytes < (size_t)64 << 20);
	cfg_release(&c);
}

TEST(sizes_have_limits)
{
	CLEANUP(strbuf_release) struct strbuf keys = STRBUF_INIT, big = STRBUF_INIT;
	struct err err = ERR_INIT;
	struct cfg c;

	for (int i = 0; i < 1025; i++)
		strbuf_addf(&keys, "k%d: 1\n", i);
	assert_true(text_parse(&c, keys.buf, false, &err) < 0);
	assert_string_equal(err.msg, "f.yaml:1025: a map of more than 1024 keys");
	cfg_release(&c);

	strbuf_addstr(&big, "# ");
	while (big.len <= (size_t)4 << 20)
		strbuf_addstr(&big, "0123456789abcdef");
	assert_int_equal(text_parse(&c, big.buf, false, &err), -EFBIG);
	cfg_release(&c);
}

TEST(parse_file_errors)
{
	struct err err = ERR_INIT;
	CLEANUP(cfg_release) struct cfg c;

	cfg_init(&c);
	assert_int_equal(cfg_parse_file(&c, "/nonexistent/x.yaml", LAYER_FILE, &err), -ENOENT);
	assert_int_equal(cfg_parse_file(&c, "/", LAYER_FILE, &err), -EISDIR);
}

TEST(paths)
{
	CLEANUP(cfg_release) struct cfg c;

	good(&c, "a: {b: [{c: 1}, {c: 2}]}\n");
	assert_int_equal(cfg_path(c.root, "a.b[1].c")->i, 2);
	assert_ptr_equal(cfg_path(c.root, ""), c.root);
	assert_null(cfg_path(c.root, "a.b[2]"));
	assert_null(cfg_path(c.root, "a.b.c"));
	assert_null(cfg_path(c.root, "a[0]"));
	assert_null(cfg_path(c.root, "a.b[x]"));
	assert_null(cfg_path(c.root, "a.b[1"));
	assert_null(cfg_path(c.root, "a..b"));
	assert_null(cfg_path(c.root, "a.b[99999999999999999999]"));
}

TEST(set_values)
{
	static const struct {
		const char *set, *path, *text;
		enum cfg_kind kind;
	} cases[] = {
		{ "a.b[0].c=9", "a.b[0].c", "9", CFG_INT },
		{ "a.b[1]=x", "a.b[1]", "x", CFG_STR },
		{ "new.deep.key='7'", "new.deep.key", "7", CFG_STR },
		{ "list[0].name=t", "list[0].name", "t", CFG_STR },
		{ "list[1].name=u", "list[1].name", "u", CFG_STR },
		{ "env.A=x=y", "env.A", "x=y", CFG_STR },
		{ "flag=true", "flag", "true", CFG_BOOL },
		{ "empty=", "empty", "", CFG_NULL },
		{ "a.b=[1, {c: 2}]", "a.b[1].c", "2", CFG_INT },
	};
	struct err err = ERR_INIT;
	CLEANUP(cfg_release) struct cfg c;

	good(&c, "a: {b: [{c: 1}]}\n");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct cfg_node *n;

		if (cfg_set(&c, cases[i].set, &err) < 0)
			fail_msg("%s: %s", cases[i].set, err.msg);
		n = cfg_path(c.root, cases[i].path);
		assert_non_null(n);
		assert_int_equal(n->kind, cases[i].kind);
		if (cases[i].kind != CFG_NULL)
			assert_string_equal(n->s, cases[i].text);
		assert_int_equal(n->layer, LAYER_CLI);
		assert_string_equal(n->file, "--set");
		assert_int_equal(n->line, 0);
	}
}

TEST(set_refusals)
{
	static const struct {
		const char *set, *words;
	} cases[] = LIST({ "nothing", "--set 'nothing': want KEY=VALUE" },
			 { "=3", "want KEY=VALUE" }, { "a..b=3", "want a path like" },
			 { ".a=3", "want a path like" }, { "a[=3", "want a path like" },
			 { "l[3]=x", "index 3, but the list has 2 entries" },
			 { "l.x=1", "l is a list: write [N]" }, { "s.x=1", "s is a single value" },
			 { "m[0]=1", "m is a map: write .NAME" }, { "s=[1", "--set s: " },
			 { "s={a: 1, a: 2}", "is there already" }, { "s=!!str x", "a tag, " });
	CLEANUP(cfg_release) struct cfg c;

	good(&c, "l: [1, 2]\ns: x\nm: {k: v}\n");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;

		assert_true(cfg_set(&c, cases[i].set, &err) < 0);
		if (!strstr(err.msg, cases[i].words))
			fail_msg("%s: '%s'", cases[i].set, err.msg);
	}
}

/* What stands behind '=' may be a password. */
TEST(set_does_not_repeat_values)
{
	static const char *const values[] = { "hunter2", "*hunter2", "!hunter2 x", "{hunter2: [",
					      "@hunter2" };

	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		struct err err = ERR_INIT;
		CLEANUP(cfg_release) struct cfg c;

		good(&c, "env: [1]\n");
		assert_true(cfg_set(&c, textf("env.TOKEN=%s", values[i]), &err) < 0);
		assert_lacks(err.msg, "hunter2");
	}
}

TEST(merging)
{
	static const char text[] = "m: {b: {y: 9}, c: 3}\nl: [7]\ns: new\nt: 5\nu: 6\n";
	struct cfg base, over;

	good(&base, "m: {a: 1, b: {x: 1, y: 2}}\nl: [1, 2, 3]\ns: old\nt: {k: 1}\n");
	cfg_init(&over);
	assert_int_equal(
		cfg_parse_text(&over, text, strlen(text), "over.yaml", false, LAYER_FILE, NULL), 0);
	cfg_merge(&base, &over);
	cfg_release(&over);
	assert_int_equal(cfg_path(base.root, "m.a")->i, 1);
	assert_int_equal(cfg_path(base.root, "m.b.x")->i, 1);
	assert_int_equal(cfg_path(base.root, "m.b.y")->i, 9);
	assert_int_equal(cfg_path(base.root, "m.c")->i, 3);
	assert_int_equal(cfg_get(base.root, "l")->nr, 1);
	assert_string_equal(cfg_get(base.root, "s")->s, "new");
	assert_string_equal(cfg_get(base.root, "s")->file, "over.yaml");
	assert_string_equal(cfg_path(base.root, "m.b.x")->file, "f.yaml");
	assert_int_equal(cfg_get(base.root, "t")->kind, CFG_INT);
	assert_string_equal(cfg_get(base.root, "t")->key, "t");
	assert_int_equal(base.root->nr, 5);
	cfg_release(&base);
}

TEST(problems_once_and_bounded)
{
	CLEANUP(problems_release) struct problems p = PROBLEMS_INIT;

	cfg_problem(&p, NULL, "same");
	cfg_problem(&p, NULL, "same");
	assert_int_equal(p.lines.nr, 1);
	for (int i = 0; i < 500; i++)
		cfg_problem(&p, NULL, "problem %d", i);
	assert_int_equal(p.lines.nr, 201);
	assert_string_equal(p.lines.v[200], "there are more problems than these");
}

TEST(did_you_mean)
{
	static const char *const words[] = { "command", "comment", "name", "timeout",
					     "env",     "id",      NULL };
	static const struct {
		const char *word, *want;
	} cases[] =
		LIST({ "comand", "command" }, { "commnad", "command" }, { "COMMAND", "command" },
		     { "commandd", "command" }, { "timout", "timeout" }, { "tiemout", "timeout" },
		     { "nmae", "name" }, { "evn", "env" }, { "x", NULL }, { "zz", NULL },
		     { "banana", NULL }, { "commander-in-chief", NULL }, { "", NULL });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got = cfg_did_you_mean(cases[i].word, words);

		if (!cases[i].want != !got || (got && strcmp(got, cases[i].want) != 0))
			fail_msg("'%s' gave '%s'", cases[i].word, got ? got : "nothing");
	}
}
