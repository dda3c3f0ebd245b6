/*
 * The plan: stacking order, environments and their disputes, words for the engine, and the three
 * printed forms, which are compared with tests/fixtures/plan/<case>.{txt,json,sh}. PROFRIG_UPDATE=1
 * writes those files anew.
 */
#include "conf_test.h"

#include "profrig/base/proc.h"
#include "profrig/plan/plan.h"

#define FIXTURES "tests/fixtures/plan"
#define SECRET "hunter-of-the-caller"

static int start_box(const struct engine_spec *s, struct strvec *argv, struct err *err)
{
	(void)err;
	strvec_pushl(argv, "box", "start", "--name", s->name, s->image, NULL);
	return 0;
}

static int start_here(const struct engine_spec *s, struct strvec *argv, struct err *err)
{
	if (!strcmp(s->lib_dir, "/nowhere"))
		return err_set(err, ENOENT, "no agent");
	strvec_pushf(argv, "%s/profrig-init", s->lib_dir);
	return 0;
}

static const struct engine box = {
	.name = "box", .about = "a container", .container = true, .start = start_box
};
static const struct engine here = { .name = "host", .about = "none", .start = start_here };

struct fixture {
	struct tool_set ts;
	struct runconf_request rq;
	struct runconf rc;
	struct problems p;
	struct err err;
	struct plan pl;
	struct plan_request prq;
	char *cwd;
};

static int set_up(void **state)
{
	static struct fixture made;
	struct fixture *f = *state = &made;
	CLEANUP(strvec_release) struct strvec dirs = STRVEC_INIT;

	memset(f, 0, sizeof(*f));
	setenv("PROFRIG_TEST_SECRET", SECRET, 1);
	unsetenv("LD_PRELOAD");
	unsetenv("ROCR_VISIBLE_DEVICES");
	unsetenv("HIP_VISIBLE_DEVICES");
	unsetenv("CUDA_VISIBLE_DEVICES");
	unsetenv("GPU_DEVICE_ORDINAL");
	strvec_push(&dirs, FIXTURES "/tools.d");
	assert_int_equal(tool_set_load(&f->ts, &dirs, NULL), 0);
	f->cwd = fs_abs(".");
	f->rq.cwd = f->cwd;
	f->prq = (struct plan_request){ .engine = &here,
					.run_id = "20250102T030405Z-m-abcdef",
					.run_dir = "/runs/one",
					.lib_dir = "/lib/profrig" };
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	plan_release(&f->pl);
	runconf_release(&f->rc);
	tool_set_release(&f->ts);
	problems_release(&f->p);
	strvec_release(&f->rq.config_files);
	cfg_release(&f->rq.given);
	strvec_release(&f->rq.sets);
	unsetenv("PROFRIG_TEST_SECRET");
	free(f->cwd);
	return 0;
}

#define PLAN_TEST(name) TEST_OF(name, struct fixture *f, set_up, tear_down)

static int fixture_plan(struct fixture *f)
{
	plan_release(&f->pl);
	runconf_release(&f->rc);
	problems_release(&f->p);
	f->err = (struct err)ERR_INIT;
	if (runconf_load(&f->rc, &f->rq, &f->ts, &f->p, &f->err) < 0)
		fail_msg("%s", f->err.msg);
	f->prq.conf = &f->rc;
	return plan_make(&f->prq, &f->pl, &f->p, &f->err);
}

static void make_ok(struct fixture *f)
{
	if (fixture_plan(f) < 0)
		fail_msg("%s", f->err.msg);
}

static void command(struct fixture *f, const char *tools)
{
	static char *const argv[] = { (char *)"/bin/true", NULL };

	f->rq.model = NULL;
	f->rq.command = argv;
	runconf_give(&f->rq.given, "tools", tools ? CFG_SEQ : CFG_NULL, tools);
}

static void conf_set(struct fixture *f, const char *assignment)
{
	strvec_clear(&f->rq.sets);
	if (assignment)
		strvec_push(&f->rq.sets, assignment);
}

static const struct plan_step *workload(const struct fixture *f)
{
	for (size_t i = 0; i < f->pl.steps.nr; i++)
		if (f->pl.steps.v[i].kind == STEP_WORKLOAD)
			return &f->pl.steps.v[i];
	fail_msg("no workload");
	abort();
}

static const struct plan_env *var(const struct plan_step *s, const char *name)
{
	for (size_t i = 0; i < s->env.nr; i++)
		if (!strcmp(s->env.v[i].name, name))
			return &s->env.v[i];
	return NULL;
}

static const struct plan_env *must_var(const struct plan_step *s, const char *name)
{
	const struct plan_env *e = var(s, name);

	if (e)
		return e;
	fail_msg("no %s", name);
	abort();
}

static void assert_var(const struct plan_step *s, const char *name, const char *value,
		       const char *origin)
{
	const struct plan_env *e = must_var(s, name);

	assert_string_equal(e->value, value);
	if (origin && !strstr(e->origin, origin))
		fail_msg("%s comes from '%s'", name, e->origin);
}

PLAN_TEST(stacking)
{
	static const char *const names[] = { "pre-B-say", "pre-A-say",  "pre-user",  "workload",
					     "post-user", "post-A-say", "post-B-say" };
	static const char *const argv[] = { "/bin/sh",   "-c", NULL,      "cmd_B",   "/bin/sh",
					    "-c",        NULL, "cmd A's", "/bin/sh", "workload.sh",
					    "two words", "--", "$HOME",   "it's" };
	const struct plan_step *w;

	f->rq.model = FIXTURES "/stack";
	make_ok(f);
	assert_int_equal(f->pl.steps.nr, ARRAY_LEN(names));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(xfreep)
		char *out = xasprintf("/runs/one/steps/%02zu-%s.out", i + 1, names[i]);

		assert_string_equal(f->pl.steps.v[i].name, names[i]);
		assert_string_equal(f->pl.steps.v[i].out, out);
	}
	w = workload(f);
	assert_int_equal(w->argv.nr, ARRAY_LEN(argv));
	for (size_t i = 0; i < ARRAY_LEN(argv); i++)
		if (argv[i])
			assert_string_equal(w->argv.v[i], argv[i]);
	assert_true(w->timeout_s == 300 && f->pl.steps.v[0].timeout_s == 600);
	assert_string_equal(fs_base(w->cwd), "stack");
	assert_true(w->inherit_env);
}

PLAN_TEST(scripts_see_their_tool)
{
	const struct plan_step *a, *user;

	f->rq.model = FIXTURES "/stack";
	conf_set(f, "tools[0]={name: A, options: {level: 9}}");
	make_ok(f);
	a = &f->pl.steps.v[1];
	user = &f->pl.steps.v[2];
	assert_string_equal(a->tool, "A");
	assert_string_equal(a->argv.v[0], "/bin/sh");
	assert_string_equal(a->argv.v[1], "/runs/one/scripts/02-say.sh");
	assert_string_equal(a->argv.v[2], "pre_script A");
	assert_string_equal(a->argv.v[3], "9");
	assert_var(a, "PROFRIG_TOOL", "A", "profrig");
	assert_var(a, "PROFRIG_OUT", "/runs/one/artifacts/A", "profrig");
	assert_var(a, "PROFRIG_OPT_LEVEL", "9", "command line");
	assert_var(a, "OMP", "2", "stack/profrig.yaml:7");
	assert_null(var(a, "A_OUT"));
	assert_null(user->tool);
	assert_var(user, "PROFRIG_OUT", "/runs/one/artifacts/workload", "profrig");
	assert_null(var(user, "PROFRIG_TOOL"));
	/* Secrets are the workload's alone. */
	for (size_t i = 0; i < f->pl.steps.nr; i++)
		assert_int_equal(var(&f->pl.steps.v[i], "HF_TOKEN") != NULL,
				 f->pl.steps.v[i].kind == STEP_WORKLOAD);
	assert_int_equal(f->pl.copies.nr, 6);
	assert_string_equal(f->pl.copies.v[1].to, "/runs/one/scripts/02-say.sh");
	assert_true(fs_is_file(f->pl.copies.v[1].from));
}

PLAN_TEST(workload_environment)
{
	const struct plan_step *w;

	f->rq.model = FIXTURES "/stack";
	f->prq.host = "node7";
	make_ok(f);
	w = workload(f);
	assert_var(w, "PROFRIG_RUN_ID", f->prq.run_id, "profrig");
	assert_var(w, "PROFRIG_RUN_DIR", "/runs/one", "profrig");
	assert_var(w, "PROFRIG_OUT", "/runs/one/artifacts/workload", "profrig");
	assert_var(w, "PROFRIG_HOST", "node7", "profrig");
	assert_var(w, "A_OUT", "/runs/one/artifacts/A", "tools.d/A.yaml:5");
	assert_var(w, "SHARED", "same", "B.yaml:5");
	assert_var(w, "HF_TOKEN", "hunter2", "profrig.yaml:8");
	assert_true(must_var(w, "HF_TOKEN")->secret && !must_var(w, "OMP")->secret);
	assert_null(var(w, "LD_PRELOAD"));
	for (size_t i = 1; i < w->env.nr; i++)
		assert_true(strcmp(w->env.v[i - 1].name, w->env.v[i].name) < 0);
}

PLAN_TEST(disputes)
{
	command(f, "A,C");
	assert_int_equal(fixture_plan(f), -EINVAL);
	assert_int_equal(f->p.lines.nr, 1);
	assert_true(problems_hold(
		&f->p, "command line: tools 'A' and 'C' give SHARED different values: 'same' ("));
	assert_true(problems_hold(&f->p, "C.yaml:5): settle it under env"));
	/* The user settles it, for all or for one of them. */
	conf_set(f, "env.SHARED=mine");
	make_ok(f);
	assert_var(workload(f), "SHARED", "mine", "command line");
	conf_set(f, "tools[1].env.SHARED=same");
	make_ok(f);
	assert_var(workload(f), "SHARED", "same", "command line");
	for (int i = 0; i < 2; i++) {
		conf_set(f, textf("tools[%d].env.SHARED=third", i));
		make_ok(f);
		assert_var(workload(f), "SHARED", "third", "command line");
	}
	/* Two entries that disagree settle nothing. */
	strvec_push(&f->rq.sets, "tools[0].env.SHARED=fourth");
	assert_int_equal(fixture_plan(f), -EINVAL);
	assert_true(problems_hold(&f->p, "'fourth' (command line), 'third' (command line)"));
	/* Values of secret variables are not shown. */
	command(f, "C,D");
	conf_set(f, "tools[1].env.X='{opt.none}'");
	assert_int_equal(fixture_plan(f), -EINVAL);
	assert_true(problems_hold(&f->p, "tools 'C' and 'D' give API_TOKEN different values ("));
	assert_false(problems_hold(&f->p, "from-"));
	/* All that is wrong at once. */
	assert_true(problems_hold(&f->p, "tools 'C' and 'D' cannot run together (c-words)"));
	assert_true(
		problems_hold(&f->p, "tool 'D': unknown placeholder {opt.none} in '{opt.none}'"));
	assert_int_equal(f->p.lines.nr, 3);
}

/* What anything sets stays; what only the caller has goes. */
PLAN_TEST(unset)
{
	static const struct {
		const char *set; /* --set */
		size_t nr;
	} cases[] = {
		{ NULL, 1 },
		{ "env.PLAN_TEST_STALE=mine", 0 },
		{ "tools[0].env.PLAN_TEST_STALE=mine", 0 },
		{ "tools[1].env.PLAN_TEST_STALE=mine", 0 },
		{ "secrets.PLAN_TEST_STALE.from_env=PROFRIG_TEST_SECRET", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct plan_step *w;

		command(f, "A,B");
		conf_set(f, cases[i].set);
		make_ok(f);
		w = workload(f);
		if (w->unset.nr != cases[i].nr || !var(w, "PLAN_TEST_STALE") != !!w->unset.nr)
			fail_msg("case %zu: %zu are unset", i, w->unset.nr);
		assert_var(w, "SHARED", "same", NULL);
		for (size_t k = 0; k < f->pl.steps.nr; k++)
			if (&f->pl.steps.v[k] != w)
				assert_int_equal(f->pl.steps.v[k].unset.nr, 0);
		if (!w->unset.nr)
			continue;
		assert_string_equal(w->unset.v[0].name, "PLAN_TEST_STALE");
		assert_has(w->unset.v[0].origin, "tools.d/A.yaml:16");
	}
}

/* Also of the selection of GPUs, which a plan writes down when it is inherited. */
PLAN_TEST(unset_of_several)
{
	CLEANUP(strvec_release) struct strvec dirs = STRVEC_INIT;
	CLEANUP(sandbox_release) struct sandbox sb;
	const struct plan_step *w;

	sandbox_init(&sb);
	sandbox_write(&sb, "t/one.yaml",
		      "name: one\nclass: env\nenv: {C: c}\n"
		      "unset: [Z, ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES]\n");
	sandbox_write(&sb, "t/two.yaml",
		      "name: two\nclass: env\nenv: {D: d}\nunset: [C, B, Z, B]\n");
	strvec_push(&dirs, in_dir(sb.dir, "t"));
	tool_set_release(&f->ts);
	assert_int_equal(tool_set_load(&f->ts, &dirs, NULL), 0);
	setenv("ROCR_VISIBLE_DEVICES", "4,5", 1);
	setenv("HIP_VISIBLE_DEVICES", "1", 1);
	command(f, "one,two");
	conf_set(f, "gpus=0");
	make_ok(f);
	w = workload(f);
	assert_var(w, "C", "c", "one.yaml:3");
	assert_var(w, "HIP_VISIBLE_DEVICES", "0", "command line");
	assert_null(var(w, "ROCR_VISIBLE_DEVICES"));
	assert_int_equal(w->unset.nr, 3);
	assert_string_equal(w->unset.v[0].name, "B");
	assert_string_equal(w->unset.v[1].name, "ROCR_VISIBLE_DEVICES");
	assert_string_equal(w->unset.v[2].name, "Z");
	assert_has(w->unset.v[2].origin, "one.yaml:4");
}

PLAN_TEST(conflicts)
{
	static const struct {
		const char *tools, *words;
	} cases[] = {
		{ "D,E", "'D' and 'E' cannot run together (tracer)" },
		{ "E,D", "'E' and 'D' cannot run together (tracer)" },
		{ "D", NULL },
		{ "A,B,E", NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		command(f, cases[i].tools);
		assert_int_equal(fixture_plan(f), cases[i].words ? -EINVAL : 0);
		assert_int_equal(f->p.lines.nr, cases[i].words ? 1 : 0);
		if (cases[i].words)
			assert_true(problems_hold(&f->p, cases[i].words));
	}
}

PLAN_TEST(preloads)
{
	command(f, "D,A");
	make_ok(f);
	assert_var(workload(f), "LD_PRELOAD", "/lib/profrig/libprofrig_d.so", "D");
	/* The caller's own stays loaded, behind. */
	setenv("LD_PRELOAD", "", 1);
	make_ok(f);
	assert_var(workload(f), "LD_PRELOAD", "/lib/profrig/libprofrig_d.so", "D");
	free(f->rc.caller_preload);
	f->rc.caller_preload = xstrdup("libasan.so");
	plan_release(&f->pl);
	assert_int_equal(plan_make(&f->prq, &f->pl, &f->p, NULL), 0);
	assert_var(workload(f), "LD_PRELOAD", "/lib/profrig/libprofrig_d.so:libasan.so",
		   "D, the caller's environment");
	unsetenv("LD_PRELOAD");
	conf_set(f, "env.LD_PRELOAD=mine.so");
	make_ok(f);
	assert_var(workload(f), "LD_PRELOAD", "/lib/profrig/libprofrig_d.so:mine.so",
		   "D, command line");
	f->prq.lib_dir = "/with blank";
	assert_int_equal(fixture_plan(f), -EINVAL);
	assert_true(problems_hold(&f->p, "LD_PRELOAD cannot hold"));
}

static bool hides(const struct plan *pl, const char *container)
{
	for (size_t i = 0; i < pl->spec.run_mounts.nr; i++)
		if (!strcmp(pl->spec.run_mounts.v[i].container, container))
			return !strcmp(pl->spec.run_mounts.v[i].host, "/runs/one/" PLAN_HIDDEN);
	return false;
}

PLAN_TEST(runs_are_hidden_also_behind_links)
{
	CLEANUP(strvec_release) struct strvec real = STRVEC_INIT;

	f->rq.model = FIXTURES "/container";
	f->prq.engine = &box;
	f->prq.real = &real;
	conf_set(f, "mounts=[{host: /, container: /all}, {host: /usr, container: /data}]");
	make_ok(f);
	assert_true(hides(&f->pl, "/all/runs") && !hides(&f->pl, "/data/one"));
	strvec_pushl(&real, "/usr", "/runs", NULL);
	make_ok(f);
	assert_true(hides(&f->pl, "/all/runs") && hides(&f->pl, "/data/one"));
	strvec_pushl(&real, "/runs", "/elsewhere", NULL);
	make_ok(f);
	assert_true(hides(&f->pl, "/all/elsewhere") && !hides(&f->pl, "/data/one"));
}

PLAN_TEST(container)
{
	const struct engine_spec *s;

	f->rq.model = FIXTURES "/container";
	f->prq.engine = &box;
	f->prq.limits = (struct engine_limits){ .files = 20000, .processes = 4096 };
	make_ok(f);
	s = &f->pl.spec;
	assert_var(workload(f), "LD_PRELOAD",
		   "/.profrig/libprofrig_c.so:/opt/c/libc_trace.so:libjemalloc.so.2", "C, ");
	assert_var(workload(f), "HF_TOKEN", SECRET, "profrig.yaml:9");
	assert_null(var(workload(f), "CUDA_VISIBLE_DEVICES"));
	assert_string_equal(s->name, "profrig-20250102T030405Z-m-abcdef");
	assert_string_equal(s->image, "registry/boxed:1");
	assert_string_equal(s->run_dir, "/runs/one");
	assert_true(s->max_files == 20000 && s->max_processes == 4096);
	assert_string_equal(s->lib_dir, "/lib/profrig");
	assert_string_equal(s->gpus, "0,2,3");
	assert_int_equal(s->gpu_list.nr, 3);
	assert_string_equal(s->network, "none");
	assert_string_equal(s->shm_size, "8g");
	assert_string_equal(s->pull, "missing");
	assert_null(s->user);
	assert_int_equal(s->mounts.nr, 2);
	assert_string_equal(s->mounts.v[0].host, f->rc.dir);
	assert_string_equal(s->mounts.v[0].container, f->rc.dir);
	assert_false(s->mounts.v[0].read_only);
	assert_string_equal(s->mounts.v[1].container, "/data");
	assert_true(s->mounts.v[1].read_only);
	assert_string_equal(s->workdir, f->rc.dir);
	assert_true(strvec_has(&s->caps, "SYS_PTRACE") && strvec_has(&s->options, "4g"));
	/* What the tool wants beside it is not given unless the configuration says so. */
	assert_int_equal(s->caps.nr, 1);
	assert_int_equal(f->pl.privileges.nr, 2);
	assert_null(f->pl.privileges.v[0].by);
	assert_string_equal(f->pl.privileges.v[1].by, "container.caps");
	assert_string_equal(f->pl.engine_argv.v[0], "box");
	assert_int_equal(f->pl.samplers.nr, 1);
	assert_string_equal(f->pl.samplers.v[0].kind, "nvml");
	assert_string_equal(f->pl.samplers.v[0].device, "0");
	assert_true(f->pl.samplers.v[0].period_s == 0.05);
	assert_string_equal(f->pl.samplers.v[0].out, "/runs/one/samples/E.csv");
	assert_string_equal(f->pl.samplers.v[0].options.v[0].name, "source");
	/* With a workdir the image holds the model. */
	conf_set(f, "container.workdir=/work");
	make_ok(f);
	assert_int_equal(f->pl.spec.mounts.nr, 1);
	assert_string_equal(f->pl.spec.workdir, "/work");
	assert_string_equal(workload(f)->cwd, "/work");
	/* A mount of the user's at the model's folder is not doubled. */
	conf_set(f, NULL);
	conf_set(f, textf("mounts=[{host: /, container: %s}]", f->rc.dir));
	make_ok(f);
	assert_int_equal(f->pl.spec.mounts.nr, 1);
}

PLAN_TEST(container_needs_an_image)
{
	command(f, "A");
	f->prq.engine = &box;
	conf_set(f, "container.workdir=/work");
	assert_int_equal(fixture_plan(f), -EINVAL);
	assert_true(problems_hold(&f->p,
				  "built-in: engine 'box' needs an image: model.image or --image"));
	assert_true(problems_hold(
		&f->p,
		"tool 'A' writes './left-behind.json' into a folder that only the container has"));
	assert_int_equal(f->p.lines.nr, 2);
}

PLAN_TEST(gpus_on_host)
{
	command(f, "");
	conf_set(f, "gpus=2,0");
	make_ok(f);
	assert_var(workload(f), "HIP_VISIBLE_DEVICES", "2,0", "command line");
	assert_var(workload(f), "CUDA_VISIBLE_DEVICES", "2,0", "command line");
	strvec_push(&f->rq.sets, "env.CUDA_VISIBLE_DEVICES=5");
	make_ok(f);
	assert_var(workload(f), "CUDA_VISIBLE_DEVICES", "5", "command line");
	conf_set(f, "gpus=none");
	make_ok(f);
	assert_var(workload(f), "HIP_VISIBLE_DEVICES", "-1", "command line");
	assert_var(workload(f), "CUDA_VISIBLE_DEVICES", "-1", "command line");
	conf_set(f, "gpus=all");
	make_ok(f);
	assert_null(var(workload(f), "CUDA_VISIBLE_DEVICES"));
	conf_set(f, "gpus=null");
	make_ok(f);
	assert_null(var(workload(f), "CUDA_VISIBLE_DEVICES"));
}

/* What the workload would inherit is written down; what the configuration says goes before it. */
PLAN_TEST(gpus_of_the_caller)
{
	setenv("ROCR_VISIBLE_DEVICES", "4,5", 1);
	setenv("HIP_VISIBLE_DEVICES", "1", 1);
	command(f, "");
	make_ok(f);
	assert_var(workload(f), "ROCR_VISIBLE_DEVICES", "4,5", "the caller's environment");
	assert_var(workload(f), "HIP_VISIBLE_DEVICES", "1", "the caller's environment");
	assert_null(var(workload(f), "GPU_DEVICE_ORDINAL"));
	conf_set(f, "gpus=0");
	make_ok(f);
	assert_var(workload(f), "ROCR_VISIBLE_DEVICES", "4,5", "the caller's environment");
	assert_var(workload(f), "HIP_VISIBLE_DEVICES", "0", "command line");
}

PLAN_TEST(containers_have_no_gpus_of_the_caller)
{
	setenv("ROCR_VISIBLE_DEVICES", "4,5", 1);
	f->rq.model = FIXTURES "/container";
	f->prq.engine = &box;
	make_ok(f);
	assert_null(var(workload(f), "ROCR_VISIBLE_DEVICES"));
}

static bool needs(const struct plan *pl, const char *tool, const char *what)
{
	for (size_t i = 0; i < pl->needs.nr; i++)
		if (!strcmp(pl->needs.v[i].tool, tool) && !strcmp(pl->needs.v[i].what, what))
			return true;
	return false;
}

PLAN_TEST(needs_and_outputs)
{
	command(f, "A,D");
	make_ok(f);
	assert_true(needs(&f->pl, "A", "sh") && needs(&f->pl, "A", "/bin/sh"));
	assert_true(needs(&f->pl, "D", "/lib/profrig/libprofrig_d.so"));
	assert_int_equal(f->pl.needs.nr, 3);
	assert_int_equal(f->pl.outputs.nr, 2);
	assert_string_equal(f->pl.outputs.v[0].dir, "/runs/one/artifacts/A");
	assert_string_equal(f->pl.outputs.v[0].glob, "said-*.txt");
	assert_false(f->pl.outputs.v[0].required);
	assert_string_equal(f->pl.outputs.v[1].dir, f->cwd);
	assert_string_equal(f->pl.outputs.v[1].glob, "left-behind.json");
	assert_int_equal(f->pl.outputs.v[1].min_records, 1);
	assert_true(strvec_has(&f->pl.mkdirs, "/runs/one/artifacts/D") &&
		    strvec_has(&f->pl.mkdirs, "/runs/one/steps") &&
		    strvec_has(&f->pl.mkdirs, "/runs/one/artifacts/workload"));
	/* Another wrap is another need. */
	conf_set(f, "tools[0].wrap=[other, '{out}']");
	make_ok(f);
	assert_true(needs(&f->pl, "A", "other"));
	/* It has scripts. */
	assert_true(needs(&f->pl, "A", "/bin/sh") && !needs(&f->pl, "D", "/bin/sh"));
	assert_int_equal(f->pl.needs.nr, 4);
	assert_string_equal(workload(f)->argv.v[1], "/runs/one/artifacts/A");
	assert_int_equal(workload(f)->argv.nr, 3);
}

PLAN_TEST(missing_scripts)
{
	f->rq.model = FIXTURES "/stack";
	conf_set(f, "pre_scripts=[nowhere.sh]");
	assert_int_equal(fixture_plan(f), -EINVAL);
	assert_int_equal(f->p.lines.nr, 1);
	assert_true(problems_hold(&f->p, "command line: script '"));
	assert_true(problems_hold(&f->p, "/nowhere.sh' is not there"));
}

PLAN_TEST(step_names_are_unique_and_safe)
{
	f->rq.model = FIXTURES "/stack";
	conf_set(f, "pre_scripts=[tests/fixtures/plan/stack/scripts/user.sh, "
		    "tests/fixtures/plan/stack/scripts/user.sh]");
	make_ok(f);
	assert_string_equal(f->pl.steps.v[2].name, "pre-user");
	assert_string_equal(f->pl.steps.v[3].name, "pre-user-2");
}

PLAN_TEST(engine_refuses)
{
	command(f, "A");
	f->prq.lib_dir = "/nowhere";
	assert_int_equal(fixture_plan(f), -ENOENT);
	assert_string_equal(f->err.msg, "no agent");
	assert_int_equal(f->p.lines.nr, 0);
}

/* --- printed forms --- */

static char *printed(const struct fixture *f, void (*print)(const struct plan *, FILE *))
{
	struct strbuf sb = STRBUF_INIT;
	char *text = NULL;
	size_t n = 0, len = strlen(f->cwd);
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	print(&f->pl, out);
	fclose(out);
	/* The one thing that depends on where the tests run. */
	for (const char *s = text, *hit;; s = hit + len) {
		hit = strstr(s, f->cwd);
		if (!hit) {
			strbuf_addstr(&sb, s);
			break;
		}
		strbuf_add(&sb, s, (size_t)(hit - s));
		strbuf_addstr(&sb, "/HERE");
	}
	free(text);
	return strbuf_steal(&sb);
}

static void plan_compare(const struct fixture *f, const char *name, const char *suffix,
			 void (*print)(const struct plan *, FILE *))
{
	CLEANUP(xfreep)
	char *path = xasprintf(FIXTURES "/%s.%s", name, suffix), *got = printed(f, print),
	     *want = NULL;
	struct err err = ERR_INIT;

	assert_lacks(got, "hunter");
	assert_has(got, "***");
	if (getenv("PROFRIG_UPDATE")) {
		assert_int_equal(fs_write_atomic(path, got, strlen(got), &err), 0);
		return;
	}
	if (fs_read(path, (size_t)1 << 20, &want, NULL, &err) < 0)
		fail_msg("%s (PROFRIG_UPDATE=1 writes it)", err.msg);
	assert_string_equal(got, want);
}

static void assert_printed(struct fixture *f, const char *name)
{
	CLEANUP(xfreep) char *model = xasprintf(FIXTURES "/%s", name);

	f->rq.model = model;
	make_ok(f);
	plan_compare(f, name, "txt", plan_print_text);
	plan_compare(f, name, "json", plan_print_json);
	plan_compare(f, name, "sh", plan_print_sh);
}

PLAN_TEST(printed_stack)
{
	assert_printed(f, "stack");
}

PLAN_TEST(printed_container)
{
	f->prq.engine = &box;
	assert_printed(f, "container");
}

static int run_sh(struct fixture *f, const struct sandbox *sb, const char *complaint)
{
	CLEANUP(xfreep) char *text = NULL, *path = fs_join(sb->dir, "plan.sh");
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT, errs = STRBUF_INIT;
	char *const argv[] = { (char *)"/bin/sh", path, NULL };
	struct proc_exit how = { 0 };
	size_t n = 0;
	FILE *file = open_memstream(&text, &n);

	plan_print_sh(&f->pl, file);
	fclose(file);
	sandbox_write(sb, "plan.sh", text);
	assert_int_equal(proc_capture(argv, 120000, 65536, &out, &errs, &how, &f->err), 0);
	if (complaint)
		assert_has(errs.buf, complaint);
	else
		assert_string_equal(errs.buf, "");
	assert_lacks(text, SECRET);
	return how.code;
}

static char *file_slurp(const struct sandbox *sb, const char *rel)
{
	char *text = NULL;

	if (fs_read(in_dir(sb->dir, rel), 65536, &text, NULL, NULL) < 0)
		fail_msg("no %s", rel);
	return text;
}

/* The sh form does what it says: same order, words untouched, post scripts also after a failure,
 * none of the rest after a failed pre script. */
PLAN_TEST(sh_form_runs)
{
	CLEANUP(xfreep)
	char *order = NULL, *out = NULL, *want = NULL, *said = NULL, *failed = NULL,
	     *stopped = NULL;
	struct sandbox sb;

	sandbox_init(&sb);
	f->rq.model = FIXTURES "/stack";
	f->prq.run_dir = sb.dir;
	setenv("HF_TOKEN", "hunter2", 1);
	make_ok(f);
	assert_int_equal(run_sh(f, &sb, NULL), 0);
	order = file_slurp(&sb, "order");
	assert_string_equal(
		order,
		"pre_script B\npre_script A "
		"3\nuser_pre\ncmd_B\ncmd_A\nworkload\nuser_post\npost_script A\npost_script B\n");
	out = file_slurp(&sb, "steps/04-workload.out");
	want = xasprintf("[two words][--][$HOME][it's]\nshared=same a_out=%s/artifacts/A "
			 "out=%s/artifacts/workload id=%s\n",
			 sb.dir, sb.dir, f->prq.run_id);
	assert_string_equal(out, want);
	said = file_slurp(&sb, "artifacts/A/said-pre_script A.txt");
	assert_string_equal(said, "A level=3 model=2\n");
	sandbox_release(&sb);

	sandbox_init(&sb);
	f->prq.run_dir = sb.dir;
	conf_set(f, "env.WORKLOAD_STATUS='7'");
	make_ok(f);
	assert_int_equal(run_sh(f, &sb, NULL), 7);
	failed = file_slurp(&sb, "order");
	assert_has(failed, "workload\nuser_post\npost_script A\npost_script B\n");
	sandbox_release(&sb);

	sandbox_init(&sb);
	sandbox_write(&sb, "bad.sh", "exit 3\n");
	f->prq.run_dir = sb.dir;
	conf_set(f, textf("pre_scripts=[%s/bad.sh]", sb.dir));
	make_ok(f);
	assert_int_equal(run_sh(f, &sb, NULL), 3);
	stopped = file_slurp(&sb, "order");
	assert_string_equal(
		stopped, "pre_script B\npre_script A 3\nuser_post\npost_script A\npost_script B\n");
	sandbox_release(&sb);
	unsetenv("HF_TOKEN");
}

PLAN_TEST(sh_form_unsets)
{
	static char *const argv[] = { (char *)"/bin/sh", (char *)"-c",
				      (char *)"exit ${PLAN_TEST_STALE-5}", NULL };
	struct sandbox sb;

	setenv("PLAN_TEST_STALE", "6", 1);
	for (int set = 0; set < 2; set++) {
		sandbox_init(&sb);
		command(f, "A");
		f->rq.command = argv;
		f->prq.run_dir = sb.dir;
		conf_set(f, set ? "env.PLAN_TEST_STALE='7'" : NULL);
		make_ok(f);
		assert_int_equal(run_sh(f, &sb, NULL), set ? 7 : 5);
		sandbox_release(&sb);
	}
	unsetenv("PLAN_TEST_STALE");
}

/* Secrets come from the environment of the script's caller, under the name they have there. */
PLAN_TEST(sh_form_secrets)
{
	static char *const argv[] = { (char *)"/bin/sh", (char *)"-c",
				      (char *)"test ${#T} = 20 && test ${#MY_KEY} = 7", NULL };
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	f->rq.command = argv;
	f->prq.run_dir = sb.dir;
	conf_set(f, "secrets.T.from_env=PROFRIG_TEST_SECRET");
	strvec_push(&f->rq.sets, "env.MY_KEY=literal");
	make_ok(f);
	setenv("MY_KEY", "literal", 1);
	assert_int_equal(run_sh(f, &sb, NULL), 0);
	unsetenv("MY_KEY");
	assert_int_not_equal(run_sh(f, &sb, "MY_KEY: holds a secret"), 0);
	setenv("MY_KEY", "literal", 1);
	unsetenv("PROFRIG_TEST_SECRET");
	assert_int_not_equal(run_sh(f, &sb, "PROFRIG_TEST_SECRET: holds a secret"), 0);
	unsetenv("MY_KEY");
}
