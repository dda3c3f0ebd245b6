/* From request to run configuration: precedence, where paths start, exit 2 against exit 3, secrets,
 * the catalogue. */
#include "conf_test.h"

#include "profrig/engine/engine.h"

struct fixture {
	struct sandbox sb;
	struct tool_set ts;
	struct runconf_request rq;
	struct runconf rc;
	struct problems p;
	struct err err;
};

static void fixture_begin(struct fixture *f)
{
	CLEANUP(strvec_release) struct strvec dirs = STRVEC_INIT;

	memset(f, 0, sizeof(*f));
	sandbox_init(&f->sb);
	sandbox_write(&f->sb, "mytools/opts.yaml",
		      "name: opts\nclass: sampler\nsampler: {kind: procfs, period_s: 0.5}\n"
		      "options: {rate: {type: int, default: 5, min: 1, max: 9}, mode: {type: "
		      "string, default: a, choices: [a, b]}}\n");
	sandbox_write(&f->sb, "mytools/broken.yaml",
		      "name: broken\nclass: wrap\nwrap: [a, '{x}']\n");
	sandbox_write(&f->sb, "mytools/env.yaml", "name: env\nclass: env\nenv: {A: 1}\n");
	strvec_pushf(&dirs, "%s/mytools", f->sb.dir);
	assert_int_equal(tool_set_load(&f->ts, &dirs, NULL), 0);
	f->rq.cwd = f->sb.dir;
}

static void fixture_end(struct fixture *f)
{
	runconf_release(&f->rc);
	tool_set_release(&f->ts);
	problems_release(&f->p);
	strvec_release(&f->rq.config_files);
	cfg_release(&f->rq.given);
	strvec_release(&f->rq.sets);
	strvec_release(&f->rq.labels);
	sandbox_release(&f->sb);
}

static int fixture_load(struct fixture *f)
{
	runconf_release(&f->rc);
	problems_release(&f->p);
	f->err = (struct err)ERR_INIT;
	return runconf_load(&f->rc, &f->rq, &f->ts, &f->p, &f->err);
}

static void load_ok(struct fixture *f)
{
	if (fixture_load(f) < 0)
		fail_msg("%s", f->err.msg);
}

/* The file profrig.yaml in the folder m, run as MODEL m. */
static void model(struct fixture *f, const char *text)
{
	sandbox_write(&f->sb, "m/profrig.yaml", text);
	f->rq.model = "m";
}

static void fixture_expect(struct fixture *f, const char *const *want)
{
	assert_int_equal(fixture_load(f), -EINVAL);
	assert_problems(&f->p, want);
}
#define EXPECT(f, ...) fixture_expect(f, (const char *const[]){ __VA_ARGS__, NULL })

static void expect_usage(struct fixture *f, const char *words)
{
	int r = fixture_load(f);

	if (r != -ENOENT || f->p.lines.nr || !strstr(f->err.msg, words))
		fail_msg("%d, %zu problems: '%s'", r, f->p.lines.nr, f->err.msg);
}

TEST(full_model)
{
	CLEANUP(xfreep) char *dir = NULL, *data = NULL, *setup = NULL, *dockerfile = NULL;
	CLEANUP(fixture_end) struct fixture f;

	fixture_begin(&f);
	sandbox_write(&f.sb, "m/data/x", "");
	model(&f, "model: {name: mlp, command: [./run.sh, --epochs, 3, 1.50, true], image: "
		  "'mlp:demo', timeout: 10m,\n"
		  "  tags: [demo], dockerfile: docker}\n"
		  "engine: podman\n"
		  "env: {OMP: 2, VER: 1.10}\n"
		  "mounts: [{host: ./data, container: /data, mode: ro}, {host: data}]\n"
		  "gpus: 0,2-4,5-5,2,7\n"
		  "tools:\n"
		  "  - blas_trace\n"
		  "  - {name: opts, sampler: {device: 1, period_s: 0.25}, options: {rate: 7}, env: "
		  "{B: c}, wrap: [w]}\n"
		  "container: {network: host, ipc: host, shm_size: 8g, user: 0, workdir: /work, "
		  "caps: [A], options: [-x], pull: never}\n"
		  "pre_scripts: [{path: s/setup.sh, args: [a, b]}]\n"
		  "post_scripts: [/abs/post.sh]\n"
		  "grace: 2\nidle: 5s\nlabels: {k: v}\n");
	load_ok(&f);
	dir = fs_join(f.sb.dir, "m");
	data = fs_join(dir, "data");
	setup = fs_join(dir, "s/setup.sh");
	dockerfile = fs_join(dir, "docker");
	assert_string_equal(f.rc.model_name, "mlp");
	assert_int_equal(f.rc.command.nr, 5);
	assert_string_equal(f.rc.command.v[3], "1.50");
	assert_string_equal(f.rc.command.v[4], "true");
	assert_string_equal(f.rc.dir, dir);
	assert_string_equal(f.rc.image, "mlp:demo");
	assert_string_equal(f.rc.dockerfile, dockerfile);
	assert_true(f.rc.timeout_s == 600 && f.rc.grace_s == 2 && f.rc.idle_s == 5);
	assert_true(strvec_has(&f.rc.tags, "demo"));
	assert_string_equal(f.rc.engine, "podman");
	assert_string_equal(f.rc.engine_where, "m/profrig.yaml:3");
	assert_int_equal(f.rc.env.nr, 2);
	assert_string_equal(f.rc.env.v[1].value, "1.10");
	assert_string_equal(f.rc.env.v[1].origin, "m/profrig.yaml:4");
	assert_string_equal(f.rc.mounts.v[0].host, data);
	assert_string_equal(f.rc.mounts.v[0].container, "/data");
	assert_true(f.rc.mounts.v[0].read_only && !f.rc.mounts.v[1].read_only);
	assert_string_equal(f.rc.mounts.v[1].container, data);
	assert_int_equal(f.rc.gpu_list.nr, 6);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(f.rc.gpu_list.v[i], ((const int[]){ 0, 2, 3, 4, 5, 7 })[i]);
	assert_int_equal(f.rc.tools.nr, 2);
	assert_null(f.rc.tools.v[0].sampler_device);
	assert_string_equal(f.rc.tools.v[1].where, "m/profrig.yaml:9");
	assert_string_equal(f.rc.tools.v[1].options.v[0].value, "7");
	assert_string_equal(f.rc.tools.v[1].options.v[1].value, "a");
	assert_string_equal(f.rc.tools.v[1].sampler_device, "1");
	assert_true(f.rc.tools.v[1].sampler_period_s == 0.25);
	assert_true(f.rc.tools.v[1].has_wrap && !f.rc.tools.v[0].has_wrap);
	assert_string_equal(f.rc.tools.v[1].env.v[0].value, "c");
	assert_string_equal(f.rc.container.user, "0");
	assert_string_equal(f.rc.container.workdir, "/work");
	assert_true(strvec_has(&f.rc.container.caps, "A") &&
		    strvec_has(&f.rc.container.options, "-x"));
	assert_string_equal(f.rc.container.pull, "never");
	assert_string_equal(f.rc.pre.v[0].path, setup);
	assert_int_equal(f.rc.pre.v[0].args.nr, 2);
	assert_string_equal(f.rc.post.v[0].path, "/abs/post.sh");
	assert_string_equal(f.rc.labels.v[0].value, "v");
}

TEST(defaults)
{
	CLEANUP(fixture_end) struct fixture f;

	fixture_begin(&f);
	model(&f, "model: {command: [a]}\n");
	load_ok(&f);
	assert_string_equal(f.rc.model_name, "m");
	assert_null(f.rc.image);
	assert_string_equal(f.rc.engine, "auto");
	assert_string_equal(f.rc.engine_where, "built-in");
	assert_true(f.rc.timeout_s == 7200 && f.rc.grace_s == 10 && f.rc.idle_s == 0);
	assert_string_equal(f.rc.container.pull, "missing");
	assert_null(f.rc.container.network);
	assert_null(f.rc.gpus);
	assert_false(f.rc.keep || f.rc.live);
}

static const char *origin_of(const struct fixture *f, const char *path)
{
	const struct cfg_node *n = cfg_path(f->rc.effective.root, path);

	assert_non_null(n);
	return n->file;
}

TEST(precedence)
{
	CLEANUP(fixture_end) struct fixture f;

	fixture_begin(&f);
	model(&f, "model: {name: a, command: [x], timeout: 1, image: i1}\nengine: docker\nenv: {A: "
		  "m, B: m, C: m}\nlive: false\n");
	sandbox_write(&f.sb, "c1.yaml",
		      "engine: podman\nenv: {B: f1, C: f1}\nmodel: {timeout: 2}\n");
	sandbox_write(&f.sb, "c2.json",
		      "{\"env\": {\"C\": \"f2\"}, \"model\": {\"image\": \"i2\"}}");
	strvec_pushl(&f.rq.config_files, "c1.yaml", "c2.json", NULL);
	load_ok(&f);
	assert_string_equal(f.rc.engine, "podman");
	assert_string_equal(f.rc.image, "i2");
	assert_true(f.rc.timeout_s == 2);
	assert_string_equal(f.rc.env.v[0].value, "m");
	assert_string_equal(f.rc.env.v[1].value, "f1");
	assert_string_equal(f.rc.env.v[2].value, "f2");
	assert_string_equal(f.rc.env.v[2].origin, "c2.json:1");
	assert_string_equal(origin_of(&f, "model.timeout"), "c1.yaml");
	assert_string_equal(origin_of(&f, "grace"), "built-in");

	runconf_give(&f.rq.given, "engine", CFG_STR, "host");
	f.rq.image = "i3";
	runconf_give(&f.rq.given, "model.timeout", CFG_FLOAT, "0");
	runconf_give(&f.rq.given, "keep", CFG_BOOL, "true");
	runconf_give(&f.rq.given, "live", CFG_BOOL, "true");
	runconf_give(&f.rq.given, "tools", CFG_SEQ, "blas_trace, opts");
	strvec_pushl(&f.rq.sets, "env.C=s", "tools[1].options.rate=8", "model.name='7'", NULL);
	strvec_pushl(&f.rq.labels, "k=v=w", "e=", NULL);
	load_ok(&f);
	assert_string_equal(f.rc.engine, "host");
	assert_string_equal(f.rc.engine_where, "command line");
	assert_string_equal(f.rc.image, "i3");
	assert_true(f.rc.timeout_s == 0 && f.rc.keep && f.rc.live);
	assert_string_equal(f.rc.env.v[2].value, "s");
	assert_string_equal(f.rc.env.v[2].origin, "command line");
	assert_int_equal(f.rc.tools.nr, 2);
	assert_string_equal(f.rc.tools.v[0].tool->name, "blas_trace");
	assert_string_equal(f.rc.tools.v[1].options.v[0].value, "8");
	assert_string_equal(f.rc.tools.v[1].where, "command line");
	assert_string_equal(f.rc.model_name, "7");
	assert_string_equal(f.rc.labels.v[0].value, "v=w");
	assert_string_equal(f.rc.labels.v[1].value, "");
}

TEST(null_takes_back)
{
	CLEANUP(fixture_end) struct fixture f;

	fixture_begin(&f);
	model(&f, "model: {name: a, command: [x]}\nenv: {A: m, B: m, C: m}\nlabels: {l: m}\n"
		  "secrets: {S: {from_env: PROFRIG_NOT_SET}}\ntools: [{name: opts, options: {rate: "
		  "8}}]\n");
	sandbox_write(&f.sb, "c.yaml", "env: {B: null, OTHER: }\nsecrets: {S: null}\n");
	strvec_push(&f.rq.config_files, "c.yaml");
	strvec_pushl(&f.rq.sets, "env.A=null", "labels.l=null", "tools[0].options.rate=null", NULL);
	load_ok(&f);
	assert_int_equal(f.rc.env.nr, 1);
	assert_string_equal(f.rc.env.v[0].name, "C");
	assert_int_equal(f.rc.labels.nr, 0);
	assert_string_equal(f.rc.tools.v[0].options.v[0].value, "5");
	strvec_push(&f.rq.sets, "env.A=back");
	load_ok(&f);
	assert_string_equal(f.rc.env.v[0].value, "back");

	/* Below a model there is nothing to take back. */
	model(&f, "model: {name: a, command: [x]}\nenv: {A: }\n");
	strvec_clear(&f.rq.sets);
	EXPECT(&f, "m/profrig.yaml:2: env.A: has no value (write '' for an empty one)");
}

/* What a run without tools is compared with has no idle time either, whatever says so. */
TEST(idle_is_for_the_profiled_run)
{
	CLEANUP(fixture_end) struct fixture f;

	fixture_begin(&f);
	model(&f, "model: {name: a, command: [x]}\nidle: 1m\n");
	load_ok(&f);
	assert_true(f.rc.idle_s == 60);
	runconf_give(&f.rq.given, "idle", CFG_FLOAT, "2.5");
	load_ok(&f);
	assert_true(f.rc.idle_s == 2.5);
	assert_string_equal(origin_of(&f, "idle"), "command line");
	strvec_push(&f.rq.sets, "idle=3");
	load_ok(&f);
	assert_true(f.rc.idle_s == 3);
	f.rq.bare = true;
	load_ok(&f);
	assert_true(f.rc.idle_s == 0);
	assert_int_equal(f.rc.tools.nr, 0);
}

TEST(bare_command)
{
	char *const argv[] = { (char *)"/opt/bin/train", (char *)"--lr", (char *)"0.10", (char *)"",
			       NULL };
	CLEANUP(fixture_end) struct fixture f;

	fixture_begin(&f);
	f.rq.command = argv;
	load_ok(&f);
	assert_string_equal(f.rc.model_name, "train");
	assert_string_equal(f.rc.dir, f.sb.dir);
	assert_int_equal(f.rc.command.nr, 4);
	assert_string_equal(f.rc.command.v[2], "0.10");
	assert_string_equal(f.rc.command.v[3], "");

	/* A configuration may come with it; its paths are its own, the command's folder is here. */
	sandbox_write(&f.sb, "conf/c.yaml",
		      "model: {name: named, command: [other]}\nmounts: [{host: .}]\n");
	strvec_push(&f.rq.config_files, "conf/c.yaml");
	load_ok(&f);
	assert_string_equal(f.rc.model_name, "named");
	assert_string_equal(f.rc.command.v[0], "/opt/bin/train");
	assert_string_equal(f.rc.dir, f.sb.dir);
	assert_string_equal(fs_base(f.rc.mounts.v[0].host), "conf");
}

TEST(model_in_config)
{
	CLEANUP(fixture_end) struct fixture f;

	fixture_begin(&f);
	sandbox_write(&f.sb, "conf/big.yaml", "model: {command: [x]}\n");
	strvec_push(&f.rq.config_files, "conf/big.yaml");
	load_ok(&f);
	CLEANUP(xfreep) char *dir = fs_join(f.sb.dir, "conf");
	assert_string_equal(f.rc.dir, dir);
	assert_string_equal(f.rc.model_name, "big");
	strvec_push(&f.rq.sets, "model.dir=mytools");
	load_ok(&f);
	assert_string_equal(fs_base(f.rc.dir), "mytools");
	strvec_clear(&f.rq.config_files);
	strvec_clear(&f.rq.sets);
	strvec_push(&f.rq.sets, "model.command=[/bin/x, y]");
	load_ok(&f);
	assert_string_equal(f.rc.model_name, "x");
	assert_string_equal(f.rc.dir, f.sb.dir);
}

TEST(all_problems_at_once)
{
	CLEANUP(fixture_end) struct fixture f;

	fixture_begin(&f);
	unsetenv("PROFRIG_NO_SUCH");
	model(&f, "model:\n"
		  "  comand: [x]\n"
		  "  dir: nowhere\n"
		  "enigne: host\n"
		  "gpus: 4-2\n"
		  "mounts: [{host: missing, container: data}]\n"
		  "tools:\n"
		  "  - {name: blas_trac}\n"
		  "  - {name: opts, options: {rat: 1, mode: c}}\n"
		  "  - opts\n"
		  "  - {name: blas_trace, sampler: {device: all}}\n"
		  "env: {A-B: 1, PROFRIG_OUT: x}\n"
		  "secrets: {S: {from_env: PROFRIG_NO_SUCH}, 'T=': {from_env: HOME}}\n"
		  "container: {workdir: rel}\n"
		  "env: {}\n");
	CLEANUP(xfreep)
	char *dir = xasprintf("m/profrig.yaml:3: model.dir: no folder '%s/m/nowhere'", f.sb.dir);
	EXPECT(&f, "m/profrig.yaml:15: key 'env' is there already (line 12)",
	       "m/profrig.yaml:2: unknown key 'comand' in model; did you mean 'command'?",
	       "m/profrig.yaml:4: unknown key 'enigne'; did you mean 'engine'?",
	       "m/profrig.yaml:1: model.command is missing: nothing to run", dir,
	       "m/profrig.yaml:12: env: 'A-B' is no name of a variable",
	       "m/profrig.yaml:12: env: PROFRIG_OUT is set by profrig",
	       "m/profrig.yaml:13: secrets.S: the variable PROFRIG_NO_SUCH is not set",
	       "m/profrig.yaml:13: secrets: 'T=' is no name of a variable",
	       textf("m/profrig.yaml:6: mounts[0].host: no file or folder '%s/m/missing'",
		     f.sb.dir),
	       "m/profrig.yaml:6: mounts[0].container: want an absolute path",
	       "m/profrig.yaml:5: gpus: want all, none, or indexes such as 0,2-4, not '4-2'",
	       "m/profrig.yaml:8: unknown tool 'blas_trac'; did you mean 'blas_trace'?",
	       "m/profrig.yaml:9: option 'mode' of tool 'opts': unknown 'c' (one of: a|b)",
	       "m/profrig.yaml:9: tool 'opts' has no option 'rat'; did you mean 'rate'?",
	       "m/profrig.yaml:10: tool 'opts' is in the list twice, with different settings",
	       "m/profrig.yaml:11: tool 'blas_trace' has no sampler",
	       "m/profrig.yaml:14: container.workdir: want an absolute path");
	assert_has(f.err.msg, "profrig.yaml:15");
}

/* Both files are shown, also a value that another file overrides. */
TEST(problems_of_every_file)
{
	CLEANUP(fixture_end) struct fixture f;

	fixture_begin(&f);
	model(&f, "model: {command: [x], timeout: never}\n");
	sandbox_write(&f.sb, "c.yaml", "model: {timeout: 5}\nbogus: 1\n");
	strvec_push(&f.rq.config_files, "c.yaml");
	strvec_push(&f.rq.sets, "modle.x=1");
	EXPECT(&f,
	       "m/profrig.yaml:1: model.timeout: want a time such as 10, 1.5, 90s, 5m or 2h, not "
	       "never",
	       "c.yaml:2: unknown key 'bogus'",
	       "--set: unknown key 'modle'; did you mean 'model'?");
}

TEST(syntax_errors)
{
	CLEANUP(fixture_end) struct fixture f;

	fixture_begin(&f);
	model(&f, "model: {command: [x]}\n a: 1\n");
	assert_int_equal(fixture_load(&f), -EINVAL);
	assert_int_equal(f.p.lines.nr, 1);
	assert_int_equal(strncmp(f.p.lines.v[0], "m/profrig.yaml:2: ", 18), 0);
	sandbox_write(&f.sb, "c.json", "{\"env\": {}\n,}");
	strvec_push(&f.rq.config_files, "c.json");
	assert_int_equal(fixture_load(&f), -EINVAL);
	assert_int_equal(f.p.lines.nr, 2);
	assert_int_equal(strncmp(f.p.lines.v[1], "c.json:2: ", 10), 0);
}

TEST(unknown_names)
{
	CLEANUP(fixture_end) struct fixture f;

	fixture_begin(&f);
	model(&f, "model: {command: [x]}\n");
	runconf_give(&f.rq.given, "tools", CFG_SEQ, "blas_trace,blas_trac");
	expect_usage(&f, "unknown tool 'blas_trac'; did you mean 'blas_trace'?");
	runconf_give(&f.rq.given, "tools", CFG_SEQ, "zzz");
	expect_usage(&f, "unknown tool 'zzz' (see 'profrig list tools')");
	runconf_give(&f.rq.given, "tools", CFG_NULL, NULL);
	strvec_push(&f.rq.sets, "tools=[blas_trac]");
	expect_usage(&f, "unknown tool 'blas_trac'");
	strvec_clear(&f.rq.sets);
	runconf_give(&f.rq.given, "engine", CFG_STR, "dokcer");
	expect_usage(&f, "unknown engine 'dokcer'; did you mean 'docker'?");
	runconf_give(&f.rq.given, "engine", CFG_STR, "zzz");
	expect_usage(&f, "unknown engine 'zzz' (see 'profrig list engines')");
	runconf_give(&f.rq.given, "engine", CFG_NULL, NULL);
	strvec_push(&f.rq.sets, "engine=dokcer");
	expect_usage(&f, "unknown engine 'dokcer'");
	strvec_clear(&f.rq.sets);
	f.rq.model = "mm";
	expect_usage(&f, "unknown model 'mm'");
	f.rq.model = "./mm";
	expect_usage(&f, "model './mm': no such file or folder");
	f.rq.model = "./mytools";
	expect_usage(&f, "holds no profrig.yaml");
	f.rq.model = "m";
	strvec_push(&f.rq.config_files, "nope.yaml");
	expect_usage(&f, "no such file: 'nope.yaml'");
	strvec_clear(&f.rq.config_files);
	strvec_push(&f.rq.sets, "words");
	expect_usage(&f, "want KEY=VALUE");
	strvec_clear(&f.rq.sets);
	strvec_push(&f.rq.labels, "words");
	expect_usage(&f, "--label 'words'");
	strvec_clear(&f.rq.labels);
	f.rq.command = (char *const[]){ (char *)"x", NULL };
	expect_usage(&f, "want one of them");
	f.rq.command = NULL;
	/* In a file the same names are problems of the file. */
	model(&f, "model: {command: [x]}\ntools: [zzz]\nengine: dokcer\n");
	EXPECT(&f,
	       "m/profrig.yaml:3: engine: unknown 'dokcer'; did you mean 'docker'? (one of: "
	       "auto" ENGINE_WORDS ")",
	       "m/profrig.yaml:2: unknown tool 'zzz' (see 'profrig list tools')");
}

TEST(nothing_to_run)
{
	CLEANUP(fixture_end) struct fixture f;

	fixture_begin(&f);
	EXPECT(&f, "nothing to run: name a model, give a command after --, or model.command in "
		   "--config");
	model(&f, "model: {name: x}\n");
	EXPECT(&f, "m/profrig.yaml:1: model.command is missing: nothing to run");
	model(&f, "env: {}\n");
	EXPECT(&f, "m/profrig.yaml: model.command is missing: nothing to run");
	model(&f, "model: {command: []}\n");
	EXPECT(&f, "m/profrig.yaml:1: model.command is missing: nothing to run");
	model(&f, "model: {command: ['']}\n");
	EXPECT(&f, "m/profrig.yaml:1: model.command: the program's name is empty");
}

TEST(broken_tools_matter_when_used)
{
	CLEANUP(fixture_end) struct fixture f;

	fixture_begin(&f);
	model(&f, "model: {command: [x]}\ntools: [env]\n");
	load_ok(&f);
	runconf_give(&f.rq.given, "tools", CFG_SEQ, "broken");
	assert_int_equal(fixture_load(&f), -EINVAL);
	assert_true(problems_hold(&f.p, "broken.yaml:3: unknown placeholder {x}"));
}

static bool tree_holds(const struct cfg_node *n, const char *text)
{
	if (n->s && strstr(n->s, text))
		return true;
	for (size_t i = 0; i < n->nr; i++)
		if (tree_holds(n->child[i], text))
			return true;
	return false;
}

TEST(secrets)
{
	CLEANUP(fixture_end) struct fixture f;

	fixture_begin(&f);
	setenv("PROFRIG_TEST_FROM", "hunter2", 1);
	model(&f, "model: {command: [x]}\n"
		  "env: {API_KEY: hunter3, PLAIN: open}\n"
		  "secrets: {HF: {from_env: PROFRIG_TEST_FROM}}\n"
		  "tools: [{name: env, env: {MY_TOKEN: hunter4}}]\n");
	strvec_push(&f.rq.sets, "env.DB_PASSWORD=hunter5");
	load_ok(&f);
	assert_int_equal(f.rc.env.nr, 4);
	assert_true(f.rc.env.v[0].secret && !f.rc.env.v[1].secret && f.rc.env.v[2].secret &&
		    f.rc.env.v[3].secret);
	assert_string_equal(f.rc.env.v[0].value, "hunter3");
	assert_string_equal(f.rc.env.v[3].value, "hunter2");
	assert_string_equal(f.rc.env.v[3].origin, "m/profrig.yaml:3");
	assert_true(tree_holds(f.rc.effective.root, "open"));
	assert_false(tree_holds(f.rc.effective.root, "hunter"));
	model(&f, "model: {command: [x]}\nenv: {HF: a}\nsecrets: {HF: {from_env: "
		  "PROFRIG_TEST_FROM}}\n");
	strvec_clear(&f.rq.sets);
	EXPECT(&f, "m/profrig.yaml:3: secrets.HF: is also under env");
	/* A secret written where a map belongs must not come back in the words about it. */
	model(&f, "model: {command: [x]}\nsecrets: {HF: hunter6, G: [hunter7]}\n");
	assert_int_equal(fixture_load(&f), -EINVAL);
	assert_false(problems_hold(&f.p, "hunter"));
	unsetenv("PROFRIG_TEST_FROM");
}

TEST(secret_names)
{
	static const char *const yes[] =
		LIST("HF_TOKEN", "TOKEN", "API_KEY", "KEY", "AWS_SECRET_ACCESS_KEY",
		     "X_CREDENTIALS_Y", "CREDENTIAL", "DB_PASSWORD", "my_token");
	static const char *const no[] =
		LIST("TOKENIZERS_PARALLELISM", "KEYBOARD", "MONKEY", "PASSWORDLESS", "PATH", "",
		     "_", "SECRETARY", "TOKENS_PER_S");

	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		if (!runconf_is_secret_name(yes[i]))
			fail_msg("%s", yes[i]);
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		if (runconf_is_secret_name(no[i]))
			fail_msg("%s", no[i]);
}

TEST(gpu_lists)
{
	static const struct {
		const char *text;
		int nr; /* -1: a problem */
	} cases[] = {
		{ "all", 0 },  { "none", 0 },   { "0", 1 },
		{ "3,1", 2 },  { "'0-7'", 8 },  { "0, 2 ,4", 3 },
		{ "1023", 1 }, { "1024", -1 },  { "'-1'", -1 },
		{ "0-", -1 },  { "a", -1 },     { "0;1", -1 },
		{ "','", -1 }, { "1-2-3", -1 }, { "0-99999999999999999999", -1 },
		{ "0x1", -1 }, { "1.5", -1 },
	};
	CLEANUP(fixture_end) struct fixture f;

	fixture_begin(&f);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep)
		char *text = xasprintf("model: {command: [x]}\ngpus: %s\n", cases[i].text);
		int r;

		model(&f, text);
		r = fixture_load(&f);
		if ((r < 0) != (cases[i].nr < 0) ||
		    (r == 0 && f.rc.gpu_list.nr != (size_t)cases[i].nr))
			fail_msg("gpus: %s", cases[i].text);
	}
	model(&f, "model: {command: [x]}\ngpus: none\n");
	load_ok(&f);
	assert_null(f.rc.gpus);
}

TEST(arguments_of_paths)
{
	static const struct {
		const char *path, *args, *want;
	} rows[] = {
		{ "models.json#a", ":x=1", "models.json#a:x=1" },
		{ "models.json#a:y=2:z", ":x=1", "models.json#a:x=1" },
		{ "models.json#a:y=2", "", "models.json#a" },
		{ "m/profrig.yaml", ":x=1", "m/profrig.yaml#:x=1" },
		{ "m/profrig.yaml#:y=2", ":x=1", "m/profrig.yaml#:x=1" },
		{ "m/profrig.yaml#:y=2", "", "m/profrig.yaml" },
		{ "odd:name/profrig.yaml", "", "odd:name/profrig.yaml" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_string_equal(kept(catalog_path_with(rows[i].path, rows[i].args)),
				    rows[i].want);
	}
}

TEST(catalogue)
{
	CLEANUP(strvec_release) struct strvec paths = STRVEC_INIT;
	struct catalog c;
	CLEANUP(fixture_end) struct fixture f;

	fixture_begin(&f);
	sandbox_write(&f.sb, "profrig.yaml", "model: {name: top, command: [t], tags: [x]}\n");
	sandbox_write(&f.sb, "alpha/profrig.yaml",
		      "model: {command: [a], tags: [x, y], about: first, image: i}\n");
	sandbox_write(&f.sb, "examples/beta/profrig.yaml", "model: {name: beta, command: [b]}\n");
	sandbox_write(&f.sb, "examples/alpha/profrig.yaml", "model: {command: [hidden]}\n");
	sandbox_write(&f.sb, "bad/profrig.yaml", "model: [\n");
	sandbox_write(&f.sb, "deep/er/profrig.yaml", "model: {name: deep, command: [d]}\n");
	assert_int_equal(catalog_load(&c, f.sb.dir, NULL), 0);
	assert_int_equal(c.models.nr, 4);
	assert_string_equal(c.models.v[0].name, "top");
	assert_string_equal(c.models.v[1].name, "alpha");
	assert_string_equal(c.models.v[1].path, "alpha/profrig.yaml");
	assert_string_equal(c.models.v[1].about, "first");
	assert_string_equal(c.models.v[1].image, "i");
	assert_int_equal(strncmp(c.models.v[2].about, "BROKEN: ", 8), 0);
	assert_string_equal(c.models.v[3].path, "examples/beta/profrig.yaml");
	assert_int_equal(catalog_match(&c, "x", &paths), 2);
	assert_int_equal(catalog_match(&c, "all", &paths), 4);
	assert_int_equal(catalog_match(&c, "beta", &paths), 1);
	assert_int_equal(catalog_match(&c, "gamma", &paths), 0);
	/* Each once. */
	assert_int_equal(paths.nr, 4);
	catalog_release(&c);

	f.rq.model = "beta";
	load_ok(&f);
	assert_string_equal(f.rc.command.v[0], "b");
	assert_string_equal(fs_base(f.rc.dir), "beta");
	/* A program beside its configuration has the model's name; other files are read. */
	sandbox_write(&f.sb, "beta",
		      "\x7f"
		      "ELF");
	load_ok(&f);
	assert_string_equal(f.rc.command.v[0], "b");
	sandbox_write(&f.sb, "gamma", "model: {command: [g]}\n");
	f.rq.model = "gamma";
	load_ok(&f);
	assert_string_equal(f.rc.command.v[0], "g");
	f.rq.model = "y";
	load_ok(&f);
	assert_string_equal(f.rc.command.v[0], "a");
	f.rq.model = "x";
	expect_usage(&f, "'x' stands for 2 models");
	f.rq.model = "bta";
	expect_usage(&f, "unknown model 'bta'; did you mean 'beta'?");
	f.rq.model = ".";
	load_ok(&f);
	assert_string_equal(f.rc.model_name, "top");
	f.rq.model = "examples/beta/";
	load_ok(&f);
	assert_string_equal(f.rc.model_name, "beta");
	f.rq.model = "deep/er/profrig.yaml";
	load_ok(&f);
	assert_string_equal(f.rc.model_name, "deep");
	assert_int_equal(catalog_load(&c, "/nonexistent", NULL), -ENOENT);
}

/* The configuration that the repository ships. */
TEST(example_loads)
{
	CLEANUP(xfreep) char *here = fs_abs(".");
	CLEANUP(fixture_end) struct fixture f;

	fixture_begin(&f);
	f.rq.cwd = here;
	f.rq.model = "mlp";
	load_ok(&f);
	assert_string_equal(f.rc.model_name, "mlp");
	assert_int_equal(f.rc.tools.nr, 4);
}
