/* One table says what a configuration may hold; here is what the checker makes of every kind of
 * mistake. */
#include "conf_test.h"
#include "schema.h"
#include "tool_int.h"

#include <ctype.h>

#include "profrig/engine/engine.h"

static void text_check(const char *text, const char *const *want)
{
	CLEANUP(problems_release) struct problems p = PROBLEMS_INIT;
	struct err err = ERR_INIT;
	CLEANUP(cfg_release) struct cfg c;

	cfg_init(&c);
	if (cfg_parse_text(&c, text, strlen(text), "profrig.yaml", false, LAYER_MODEL, &err) < 0)
		fail_msg("%s", err.msg);
	schema_expand(&c, schema_table);
	schema_check(c.root, schema_table, &p);
	assert_problems(&p, want);
}

#define CHECK(text, ...) text_check(text, (const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })

TEST(whole_configuration_is_fine)
{
	CHECK("model: {name: mlp, command: [./run.sh, --epochs, '3', 4, true], dir: x, image: "
	      "'mlp:demo',\n"
	      "  timeout: 600, tags: [demo], about: words, dockerfile: d}\n"
	      "engine: auto\n"
	      "env: {OMP_NUM_THREADS: 2, FLAG: true, EMPTY: ''}\n"
	      "mounts: [{host: ./data, container: /data, mode: ro}]\n"
	      "gpus: 0,2-4\n"
	      "tools:\n"
	      "  - {name: rocprofv3}\n"
	      "  - gpu_vram\n"
	      "  - {name: gpu_power, sampler: {device: all, period_s: 0.1}, options: {}, env: {A: "
	      "b}, wrap: [x]}\n"
	      "container: {network: host, ipc: host, shm_size: 8g, user: 0, workdir: /work, caps: "
	      "[],\n"
	      "  options: [], pull: missing}\n"
	      "secrets: {HF_TOKEN: {from_env: HF_TOKEN}}\n"
	      "pre_scripts:  [{path: pre_scripts/setup.sh, args: []}, short.sh]\n"
	      "post_scripts: [{path: post_scripts/collect.sh}]\n"
	      "grace: 5s\nkeep: false\nlive: true\nlabels: {a: b, n: 3}\n");
}

TEST(a_scalar_in_place_of_a_map_is_its_member)
{
	static const struct schema_key table[] = {
		KEY("pause", "map", "", .shorthand = "seconds"),
		KEY("pause.seconds", "seconds", "", .max = 60),
		KEY("plain", "map", ""),
		{ 0 },
	};
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "pause: 5s\n", NULL },
		{ "pause: {seconds: 5s}\n", NULL },
		{ "pause: null\n", NULL },
		{ "pause: 61\n", "a.yaml:1: pause: 61 is not between 0 and 60" },
		{ "pause: {seconds: 61}\n", "a.yaml:1: pause.seconds: 61 is not between 0 and 60" },
		{ "pause: [5]\n", "a.yaml:1: pause: want a map, not a list" },
		{ "plain: 5\n", "a.yaml:1: plain: want a map, not a number" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(problems_release) struct problems p = PROBLEMS_INIT;
		CLEANUP(cfg_release) struct cfg c;

		cfg_init(&c);
		assert_int_equal(cfg_parse_text(&c, rows[i].text, strlen(rows[i].text), "a.yaml",
						false, LAYER_FILE, NULL),
				 0);
		schema_expand(&c, table);
		schema_check(c.root, table, &p);
		if (p.lines.nr != (rows[i].want != NULL) ||
		    (rows[i].want && strcmp(p.lines.v[0], rows[i].want) != 0))
			ROW_FAIL(i, "%s", p.lines.nr ? p.lines.v[0] : "");
	}
}

TEST(unknown_keys)
{
	CHECK("model:\n"
	      "  name: x\n"
	      "  comand: [a]\n"
	      "tols: []\n"
	      "zzzzzz: 1\n"
	      "tools:\n"
	      "  - name: a\n"
	      "  - name: b\n"
	      "    optons: {}\n"
	      "    sampler: {perod_s: 1}\n"
	      "secrets: {A: {from_evn: X, from_env: Y}}\n"
	      "env.A: 1\n",
	      "profrig.yaml:3: unknown key 'comand' in model; did you mean 'command'?",
	      "profrig.yaml:4: unknown key 'tols'; did you mean 'tools'?",
	      "profrig.yaml:5: unknown key 'zzzzzz'",
	      "profrig.yaml:9: unknown key 'optons' in tools[1]; did you mean 'options'?",
	      ("profrig.yaml:10: unknown key 'perod_s' in tools[1].sampler; did you mean "
	       "'period_s'?"),
	      "profrig.yaml:11: unknown key 'from_evn' in secrets.A; did you mean 'from_env'?",
	      "profrig.yaml:12: unknown key 'env.A'; did you mean 'env'?");
}

TEST(wrong_types)
{
	CHECK("model: [1]\n"
	      "engine: {a: b}\n"
	      "env: [A=b]\n"
	      "mounts: {host: x}\n"
	      "tools: blas_trace\n"
	      "keep: 1\n"
	      "live: 'true'\n"
	      "labels: words\n"
	      "secrets: {A: hunter2}\n"
	      "pre_scripts: [[x]]\n",
	      "profrig.yaml:1: model: want a map, not a list",
	      "profrig.yaml:2: engine: want a text, not a map",
	      "profrig.yaml:3: env: want a map, not a list",
	      "profrig.yaml:4: mounts: want a list, not a map",
	      "profrig.yaml:5: tools: want a list, not a text",
	      "profrig.yaml:6: keep: want true or false, not a number",
	      "profrig.yaml:7: live: want true or false, not a text",
	      "profrig.yaml:8: labels: want a map, not a text",
	      "profrig.yaml:9: secrets.A: want a map, not a text",
	      "profrig.yaml:10: pre_scripts[0]: want a map, not a list");
	CHECK("model: {command: ./run.sh x, name: true, image: '', timeout: soon, tags: [[a]]}\n"
	      "env: {A: [1], B: }\n",
	      "profrig.yaml:1: model.command: want a list of words, not a text: write [word, word]",
	      "profrig.yaml:1: model.name: want a text, not true or false (put it in quotes)",
	      "profrig.yaml:1: model.image: is empty",
	      "profrig.yaml:1: model.timeout: want a time such as 10, 1.5, 90s, 5m or 2h, not soon",
	      "profrig.yaml:1: model.tags[0]: want a text, not a list",
	      "profrig.yaml:2: env.A: want a text, not a list",
	      "profrig.yaml:2: env.B: has no value (write '' for an empty one)");
}

TEST(choices_and_ranges)
{
	CHECK("engine: dokcer\n"
	      "container: {pull: sometimes}\n"
	      "model: {timeout: -1}\n"
	      "grace: 2h\n"
	      "tools: [{name: a, sampler: {period_s: 0}}, {name: b, sampler: {period_s: .inf}},\n"
	      "  {name: c, sampler: {period_s: 5s}}]\n"
	      "mounts: [{host: a, mode: rx}]\n",
	      "profrig.yaml:1: engine: unknown 'dokcer'; did you mean 'docker'? (one of: "
	      "auto" ENGINE_WORDS ")",
	      "profrig.yaml:2: container.pull: unknown 'sometimes' (one of: missing, always, "
	      "never)",
	      "profrig.yaml:3: model.timeout: -1 is not between 0 and 31536000",
	      "profrig.yaml:4: grace: 2h is not between 0 and 3600",
	      "profrig.yaml:5: tools[0].sampler.period_s: 0 is not between 0.0001 and 3600",
	      "profrig.yaml:5: tools[1].sampler.period_s: want a finite number",
	      "profrig.yaml:6: tools[2].sampler.period_s: want a number, not a text",
	      "profrig.yaml:7: mounts[0].mode: unknown 'rx'; did you mean 'ro'? (one of: ro, rw)");
}

TEST(required_keys)
{
	CHECK("tools: [{options: {}}]\n"
	      "mounts:\n"
	      "  - {container: /x}\n"
	      "post_scripts: [{path: null}]\n",
	      "profrig.yaml:1: tools[0]: 'name' is missing",
	      "profrig.yaml:3: mounts[0]: 'host' is missing",
	      "profrig.yaml:4: post_scripts[0]: 'path' is missing");
}

TEST(null_is_not_given)
{
	CHECK("model:\nengine:\nenv:\ntools:\ncontainer: {pull: }\n");
}

/* A key as long as a file must neither overflow nor fill the screen. */
TEST(long_keys_are_cut)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	CLEANUP(problems_release) struct problems p = PROBLEMS_INIT;
	CLEANUP(cfg_release) struct cfg c;

	strbuf_addstr(&text, "model: {? \"");
	for (int i = 0; i < 5000; i++)
		strbuf_addch(&text, 'k');
	strbuf_addstr(&text, "\" : {a: {b: 1}}}\nlabels: {? \"");
	for (int i = 0; i < 5000; i++)
		strbuf_addch(&text, 'l');
	strbuf_addstr(&text, "\" : [1]}\n");
	cfg_init(&c);
	assert_int_equal(cfg_parse_text(&c, text.buf, text.len, "f", false, LAYER_FILE, NULL), 0);
	schema_check(c.root, schema_table, &p);
	assert_int_equal(p.lines.nr, 2);
	assert_true(strlen(p.lines.v[0]) < 200);
	assert_true(strlen(p.lines.v[1]) < 400);
}

TEST(defaults_fill_gaps)
{
	static const char text[] = "model: {timeout: 5}\nengine: null\ncontainer: null\n";
	CLEANUP(cfg_release) struct cfg c;

	cfg_init(&c);
	assert_int_equal(cfg_parse_text(&c, text, strlen(text), "f", false, LAYER_FILE, NULL), 0);
	schema_defaults(&c, schema_table);
	assert_int_equal(cfg_path(c.root, "model.timeout")->i, 5);
	assert_int_equal(cfg_path(c.root, "model.timeout")->layer, LAYER_FILE);
	assert_string_equal(cfg_get(c.root, "engine")->s, "auto");
	assert_int_equal(cfg_get(c.root, "engine")->layer, LAYER_BUILTIN);
	assert_string_equal(cfg_path(c.root, "container.pull")->s, "missing");
	assert_int_equal(cfg_get(c.root, "keep")->kind, CFG_BOOL);
	assert_false(cfg_get(c.root, "keep")->b);
	assert_int_equal(cfg_get(c.root, "grace")->i, 10);
}

/* The table itself: known type names, defaults that pass its own checks, parents before children,
 * words for people. */
TEST(table_is_consistent)
{
	static const char types[] =
		"map|list of maps|map of maps|string|path|int|float|seconds|bool|scalar|"
		"list of strings|map of strings|any";
	CLEANUP(problems_release) struct problems p = PROBLEMS_INIT;
	CLEANUP(cfg_release) struct cfg c;

	for (const struct schema_key *k = schema_table; k->path; k++) {
		CLEANUP(xfreep) char *parent = xstrdup(k->path);
		char *dot = strrchr(parent, '.');

		assert_true(schema_choice(types, k->type));
		assert_non_null(k->about);
		assert_ptr_equal(schema_find(schema_table, k->path), k);
		if (!dot)
			continue;
		*dot = '\0';
		if (dot - parent > 2 && (!strcmp(dot - 2, "[]") || !strcmp(dot - 2, ".*")))
			dot[-2] = '\0';
		if (!schema_find(schema_table, parent))
			fail_msg("%s has no parent", k->path);
	}
	cfg_init(&c);
	assert_int_equal(cfg_parse_text(&c, "", 0, "f", false, LAYER_FILE, NULL), 0);
	schema_defaults(&c, schema_table);
	schema_check(c.root, schema_table, &p);
	assert_problems(&p, (const char *const[]){ NULL });
}

/* The row of a key has each of its choices. */
static void assert_choices(const struct schema_key *k, const char *file, const char *text)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	const char *row = strstr(text, textf("\n| `%s` |", k->path));
	CLEANUP(xfreep) char *line = row ? xstrndup(row + 1, strcspn(row + 1, "\n")) : NULL;

	strvec_split(&words, k->choices ? k->choices : "", "|");
	for (size_t i = 0; line && i < words.nr; i++)
		if (!strstr(line, textf("`%s`", words.v[i])))
			fail_msg("%s: the row of %s lacks `%s`", file, k->path, words.v[i]);
}

static void assert_documented(const struct schema_key *table, const char *file, bool whole)
{
	CLEANUP(xfreep) char *text = NULL;
	struct err err = ERR_INIT;

	if (fs_read(file, (size_t)1 << 20, &text, NULL, &err) < 0)
		fail_msg("%s", err.msg);
	for (const struct schema_key *k = table; k->path; k++) {
		if ((whole || !strpbrk(k->path, ".[")) && !strstr(text, textf("`%s`", k->path)))
			fail_msg("%s does not tell of %s", file, k->path);
		if (whole)
			assert_choices(k, file, text);
	}
}

TEST(every_key_is_documented)
{
	assert_documented(schema_table, "docs/configuration.md", true);
	assert_documented(tool_table, "docs/tools.md", false);
}

TEST(every_provider_is_documented)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	CLEANUP(xfreep) char *text = NULL;

	assert_int_equal(fs_read("docs/data.md", (size_t)1 << 20, &text, NULL, NULL), 0);
	strvec_split(&words, DATA_PROVIDER_CHOICES, "|");
	for (size_t i = 0; i < words.nr; i++)
		if (!strstr(text, textf("\n| `%s` |", words.v[i])))
			fail_msg("docs/data.md has no row of %s", words.v[i]);
}

TEST(names)
{
	assert_true(schema_env_name("A_b9") && schema_env_name("_"));
	assert_false(schema_env_name("9A") || schema_env_name("") || schema_env_name("A-B") ||
		     schema_env_name("A=B"));
	assert_true(schema_file_name("rocprof-v3.1_x"));
	assert_false(schema_file_name("") || schema_file_name("..") || schema_file_name("-x") ||
		     schema_file_name("a/b") || schema_file_name("a b"));
	assert_true(schema_choice("a|bc|d", "bc") && schema_choice("a", "a"));
	assert_false(schema_choice("a|bc", "b") || schema_choice("a|bc", "") ||
		     schema_choice("a|bc", "a|bc"));
}
