/* The configuration that plan.json holds, and a run that is made of it. */
#include "conf_test.h"

#include <jansson.h>

#include "profrig/base/json_out.h"
#include "profrig/base/redact.h"

struct fixture {
	struct sandbox sb;
	struct tool_set ts;
	struct runconf_request rq;
	struct runconf rc;
	struct problems p;
	struct err err;
	/* what was recorded of rc */
	char *text;
	struct cfg doc, tree;
	struct strvec left_out;
	struct runconf_replay replay;
};

static int set_up(void **state)
{
	static struct fixture made;
	struct fixture *f = *state = &made;
	CLEANUP(strvec_release) struct strvec dirs = STRVEC_INIT;

	*f = (struct fixture){ .left_out = STRVEC_INIT };
	sandbox_init(&f->sb);
	sandbox_write(&f->sb, "mytools/opts.yaml",
		      "name: opts\nclass: sampler\nsampler: {kind: procfs, period_s: 0.5}\n"
		      "options:\n  rate: {type: int, default: 5}\n  share: {type: float, default: "
		      "0.5}\n  on: {type: bool, default: true}\n  list: {type: file, default: ''}\n"
		      "  word: {type: string, default: a}\n");
	sandbox_write(&f->sb, "m/counters.txt", "pmc: A\n");
	sandbox_write(&f->sb, "m/pre.sh", "true\n");
	sandbox_write(&f->sb, "m/token", "filed-token-text\n");
	strvec_pushf(&dirs, "%s/mytools", f->sb.dir);
	assert_int_equal(tool_set_load(&f->ts, &dirs, NULL), 0);
	f->rq.cwd = f->sb.dir;
	unsetenv("R_KEY");
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	runconf_release(&f->rc);
	tool_set_release(&f->ts);
	problems_release(&f->p);
	cfg_release(&f->doc);
	strvec_release(&f->left_out);
	strvec_release(&f->rq.sets);
	strvec_release(&f->rq.labels);
	strvec_release(&f->rq.config_files);
	free(f->text);
	sandbox_release(&f->sb);
	return 0;
}

#define RECORDED_TEST(name) TEST_OF(name, struct fixture *f, set_up, tear_down)

static int load(struct fixture *f)
{
	runconf_release(&f->rc);
	problems_release(&f->p);
	f->err = (struct err)ERR_INIT;
	return runconf_load(&f->rc, &f->rq, &f->ts, &f->p, &f->err);
}

static void load_ok(struct fixture *f)
{
	if (load(f) < 0)
		fail_msg("%s", f->err.msg);
}

static char *recorded(const struct runconf *rc)
{
	struct json_out j;
	char *text = NULL;
	size_t n = 0;
	FILE *to = xmemstream(&text, &n);

	json_out_init(&j, to, 0);
	json_obj(&j, NULL);
	runconf_recorded_json(rc, "host", &j);
	json_end(&j);
	fclose(to);
	return text;
}

/* Records rc, and lets the request ask for that. */
static void replay(struct fixture *f)
{
	struct cfg_node *root;

	f->text = recorded(&f->rc);
	cfg_init(&f->doc);
	assert_int_equal(cfg_parse_text(&f->doc, f->text, strlen(f->text), "plan.json", true,
					LAYER_MODEL, NULL),
			 0);
	root = cfg_get(f->doc.root, "recorded");
	f->tree.root = cfg_get(root, "configuration");
	cfg_words(root, "left_out", &f->left_out);
	f->replay = (struct runconf_replay){ &f->tree, &f->left_out, false };
	f->rq.model = NULL;
	f->rq.command = NULL;
	f->rq.replay = &f->replay;
	strvec_clear(&f->rq.sets);
}

static void model(struct fixture *f, const char *yaml)
{
	sandbox_write(&f->sb, "m/profrig.yaml", yaml);
	f->rq.model = "m";
	load_ok(f);
}

/* The value of a key of what was recorded, as JSON. */
static void has(const struct fixture *f, const char *key, const char *want)
{
	const struct cfg_node *n = cfg_path(f->tree.root, key);

	if (!want)
		assert_null(n);
	else if (!n)
		fail_msg("%s is not recorded in %s", key, f->text);
	else
		assert_string_equal(n->s, want);
}

RECORDED_TEST(kinds_and_paths)
{
	CLEANUP(xfreep) char *pre = fs_join(f->sb.dir, "m/pre.sh");
	CLEANUP(xfreep) char *list = fs_join(f->sb.dir, "m/counters.txt");
	CLEANUP(xfreep) char *dir = fs_join(f->sb.dir, "m");
	CLEANUP(xfreep) char *data = fs_join(f->sb.dir, "m/d");

	model(f, "model: {command: [./a, 1, x y], timeout: 5m}\nenv: {A: 010, B: true, C: ''}\n"
		 "tools: [{name: opts, options: {rate: 7, list: counters.txt}}]\n"
		 "pre_scripts: [pre.sh]\ngrace: 1.5\nkeep: true\nresults: {steady: 10%}\n"
		 "data: [{name: d, provider: local, path: d}, "
		 "{name: e, provider: http, path: 'http://h/x'}]\n");
	replay(f);
	has(f, "model.dir", dir);
	has(f, "model.name", "m");
	has(f, "model.command[1]", "1");
	has(f, "model.timeout", "5m");
	has(f, "engine", "host");
	has(f, "env.A", "010");
	has(f, "env.B", "true");
	assert_int_equal(cfg_path(f->tree.root, "env.B")->kind, CFG_STR);
	has(f, "env.C", "");
	has(f, "tools[0].options.rate", "7");
	assert_int_equal(cfg_path(f->tree.root, "tools[0].options.rate")->kind, CFG_INT);
	has(f, "tools[0].options.share", "0.5");
	assert_int_equal(cfg_path(f->tree.root, "tools[0].options.on")->kind, CFG_BOOL);
	has(f, "tools[0].options.list", list);
	has(f, "tools[0].sampler.period_s", "0.5");
	has(f, "pre_scripts[0].path", pre);
	has(f, "grace", "1.5");
	has(f, "keep", "true");
	has(f, "results.steady", "10%");
	has(f, "data[0].path", data);
	has(f, "data[1].path", "http://h/x");
	assert_int_equal(f->left_out.nr, 0);
}

/* A run of what was recorded records the same. */
RECORDED_TEST(again_is_the_same)
{
	CLEANUP(xfreep) char *again = NULL;

	model(f, "model: {command: [./a], args: [b], wrap: [nice], tags: [x]}\nenv: {A: '1'}\n"
		 "tools: [{name: opts, env: {X: '2'}, sampler: {device: '0', period_s: 0.25}}]\n"
		 "pre_scripts: [{path: pre.sh, args: [1], shell: bash}]\n"
		 "mounts: [{host: ., container: /m, mode: ro}]\nlabels: {team: a}\n"
		 "secrets: {T_TOKEN: {from_file: token}}\nrecord: {start: mark x, for: 3}\n");
	replay(f);
	load_ok(f);
	again = recorded(&f->rc);
	assert_string_equal(again, f->text);
	assert_string_equal(f->rc.command.v[0], "nice");
	assert_int_equal(f->rc.command.nr, 3);
	assert_int_equal(f->rc.tools.nr, 1);
}

/* A later layer wins. */
RECORDED_TEST(command_line_wins)
{
	model(f, "model: {command: [./a]}\nenv: {A: '1', B: '2'}\n");
	replay(f);
	strvec_push(&f->rq.sets, "env.A=9");
	strvec_push(&f->rq.sets, "model.name=other");
	load_ok(f);
	assert_string_equal(f->rc.env.v[0].value, "9");
	assert_string_equal(f->rc.env.v[1].value, "2");
	assert_string_equal(f->rc.model_name, "other");
}

RECORDED_TEST(secrets_come_from_the_environment)
{
	model(f, "model: {command: [./a]}\nenv: {R_KEY: a-secret-of-then}\n"
		 "tools: [{name: opts, env: {R_TOKEN: another-secret}}]\n");
	replay(f);
	assert_null(strstr(f->text, "a-secret-of-then"));
	assert_null(strstr(f->text, "another-secret"));
	assert_int_equal(f->left_out.nr, 2);
	assert_int_equal(load(f), -EINVAL);
	assert_true(problems_hold(&f->p, "set the variable R_KEY"));
	assert_true(problems_hold(&f->p, "set the variable R_TOKEN"));
	setenv("R_KEY", "a-secret-of-today", 1);
	setenv("R_TOKEN", "today-too", 1);
	load_ok(f);
	assert_string_equal(f->rc.env.v[0].value, "a-secret-of-today");
	assert_true(f->rc.env.v[0].secret);
	assert_string_equal(f->rc.tools.v[0].env.v[0].value, "today-too");
	unsetenv("R_KEY");
	unsetenv("R_TOKEN");
	/* Other tools do not get it, and a value that is given is asked for no more. */
	strvec_push(&f->rq.sets, "tools=[]");
	strvec_push(&f->rq.sets, "env.R_KEY=given-by-hand");
	load_ok(f);
	assert_string_equal(f->rc.env.v[0].value, "given-by-hand");
}

RECORDED_TEST(masked_and_odd_words_are_asked_for)
{
	char a[] = "./a", b[] = "say the-word-that-is-secret";
	char *const command[] = { a, b, NULL };

	redact_learn("the-word-that-is-secret");
	f->rq.command = command;
	load_ok(f);
	replay(f);
	has(f, "model.command", NULL);
	assert_string_equal(f->left_out.v[0], "model.command");
	assert_int_equal(load(f), -EINVAL);
	assert_true(problems_hold(&f->p, "model.command: it held a secret"));
	strvec_push(&f->rq.sets, "model.command=[./b]");
	load_ok(f);
	assert_string_equal(f->rc.command.v[0], "./b");
}

RECORDED_TEST(bytes_that_are_no_utf8)
{
	char a[] = "./a", b[] = "\xff";
	char *const command[] = { a, b, NULL };

	f->rq.command = command;
	load_ok(f);
	replay(f);
	assert_string_equal(f->left_out.v[0], "model.command");
}

/* It is text of others: checked as every configuration is. */
RECORDED_TEST(bad_ones)
{
	static const struct {
		const char *json, *words;
	} bad[] = {
		{ "{\"model\":{\"command\":[\"a\"]},\"enigne\":\"host\"}",
		  "did you mean 'engine'" },
		{ "{\"model\":{\"command\":\"a\"}}", "model.command: want a list" },
		{ "{\"model\":{\"command\":[\"a\"],\"dir\":\"/no/such/folder\"}}",
		  "model.dir: no folder '/no/such/folder'" },
		{ "{\"model\":{\"command\":[\"a\"]},\"tools\":[{\"name\":\"gone\"}]}",
		  "unknown tool 'gone'" },
		{ "{}", "nothing to run" },
	};

	f->replay = (struct runconf_replay){ &f->tree, &f->left_out, false };
	f->rq.replay = &f->replay;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		cfg_release(&f->doc);
		cfg_init(&f->doc);
		assert_int_equal(cfg_parse_text(&f->doc, bad[i].json, strlen(bad[i].json),
						"plan.json", true, LAYER_MODEL, NULL),
				 0);
		f->tree.root = f->doc.root;
		assert_int_equal(load(f), -EINVAL);
		if (!problems_hold(&f->p, bad[i].words))
			ROW_FAIL(i, "no '%s' in %s", bad[i].words, f->p.lines.v[0]);
	}
}

RECORDED_TEST(odd_keys_that_were_left_out)
{
	static const char *const keys[] = { "",          "env.",          "tools[9].env.A_KEY",
					    "tools[",    "a.b[99999999]", "env.A_KEY.x",
					    "tools.env", "[[]]" };

	model(f, "model: {command: [./a]}\ntools: [opts]\n");
	replay(f);
	setenv("A_KEY", "not for these", 1);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		strvec_clear(&f->left_out);
		strvec_push(&f->left_out, keys[i]);
		assert_int_equal(load(f), -EINVAL);
		assert_int_equal(f->p.lines.nr, 1);
	}
	unsetenv("A_KEY");
}
