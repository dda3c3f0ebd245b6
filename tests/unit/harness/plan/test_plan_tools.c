/*
 * What tools bring into a plan beside their words: privileges of containers, files that options
 * name and how often the workload runs, outputs that depend on options, tools in front of one
 * program, device files.
 */
#include "conf_test.h"

#include "profrig/base/proc.h"
#include "profrig/plan/plan.h"

struct fixture {
	struct sandbox sb;
	struct tool_set ts;
	struct runconf_request rq;
	struct runconf rc;
	struct problems p;
	struct err err;
	struct plan pl;
	struct devices devices;
	const char *engine;
	char *tools;
};

static char *const command[] = { (char *)"./run.sh", (char *)"--", (char *)"-x", NULL };

static int set_up(void **state)
{
	static struct fixture made;
	struct fixture *f = *state = &made;

	memset(f, 0, sizeof(*f));
	sandbox_init(&f->sb);
	f->rq.cwd = f->sb.dir;
	f->rq.command = command;
	f->rq.image = "img:1";
	f->engine = "docker";
	sandbox_write(&f->sb, "t/.keep", "");
	return 0;
}

static void put_tool(struct fixture *f, const char *name, const char *text)
{
	sandbox_write(&f->sb, textf("t/%s.yaml", name),
		      textf("name: %s\nabout: x\n%s", name, text));
}

static int fixture_plan(struct fixture *f, const char *tools)
{
	CLEANUP(strvec_release) struct strvec dirs = STRVEC_INIT;
	struct plan_request prq = { .conf = &f->rc,
				    .run_id = "R1",
				    .run_dir = "/runs/R1",
				    .lib_dir = "/lib/profrig",
				    .devices = &f->devices };
	int r;

	strvec_push(&dirs, in_dir(f->sb.dir, "t"));
	plan_release(&f->pl);
	runconf_release(&f->rc);
	problems_release(&f->p);
	tool_set_release(&f->ts);
	assert_int_equal(tool_set_load(&f->ts, &dirs, NULL), 0);
	runconf_give(&f->rq.given, "tools", tools ? CFG_SEQ : CFG_NULL, tools);
	r = runconf_load(&f->rc, &f->rq, &f->ts, &f->p, &f->err);
	prq.engine = engine_find(f->engine);
	return r < 0 ? r : plan_make(&prq, &f->pl, &f->p, &f->err);
}

static void make_ok(struct fixture *f, const char *tools)
{
	if (fixture_plan(f, tools) < 0)
		fail_msg("%s", f->err.msg);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	plan_release(&f->pl);
	runconf_release(&f->rc);
	tool_set_release(&f->ts);
	problems_release(&f->p);
	cfg_release(&f->rq.given);
	strvec_release(&f->rq.sets);
	strvec_release(&f->rq.config_files);
	devices_release(&f->devices);
	sandbox_release(&f->sb);
	return 0;
}

#define PLAN_TEST(name) TEST_OF(name, struct fixture *f, set_up, tear_down)

static const struct plan_step *workload(const struct fixture *f)
{
	for (size_t i = 0; i < f->pl.steps.nr; i++)
		if (f->pl.steps.v[i].kind == STEP_WORKLOAD)
			return &f->pl.steps.v[i];
	fail_msg("no workload");
	abort();
}

static void argv_is(const struct strvec *argv, const char *want)
{
	assert_string_equal(kept(strvec_shell(argv)), want);
}

static __attribute__((noinline)) char *printed(const struct fixture *f)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	plan_print_text(&f->pl, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* --- privileges --- */

static const char wants[] = "class: wrap\nwrap: [w, --]\ncaps: [SYS_ADMIN, PERFMON]\n"
			    "security: [seccomp=unconfined]\nbecause: it reads counters\n";

PLAN_TEST(privileges)
{
	put_tool(f, "w", wants);
	put_tool(f, "soft", "class: env\nenv: {A: b}\ncaps: [SYS_PTRACE]\nprivileges: wanted\n");
	make_ok(f, "w,soft");
	/* Nothing for nothing. */
	assert_int_equal(f->pl.spec.caps.nr, 0);
	assert_int_equal(f->pl.spec.security.nr, 0);
	assert_int_equal(f->pl.privileges.nr, 4);
	CLEANUP(xfreep) char *before = printed(f);
	assert_has(before,
		   "lacks the capability SYS_ADMIN, which "
		   "--privileged-profiling gives: it reads counters",
		   "lacks the security option seccomp=unconfined",
		   "would use the capability SYS_PTRACE");
	/* All that is declared, and nothing else. */
	runconf_give(&f->rq.given, "container.privileged_profiling", CFG_BOOL, "true");
	make_ok(f, "w,soft");
	argv_is(&f->pl.spec.caps, "SYS_ADMIN PERFMON SYS_PTRACE");
	argv_is(&f->pl.spec.security, "seccomp=unconfined");
	CLEANUP(xfreep) char *start = strvec_shell(&f->pl.engine_argv);
	assert_has(start, "--cap-add SYS_ADMIN --cap-add PERFMON --cap-add SYS_PTRACE "
			  "--security-opt seccomp=unconfined");
	assert_lacks(start, "--privileged", "apparmor");
	CLEANUP(xfreep) char *text = printed(f);
	assert_has(text, "gives the container the capability SYS_ADMIN "
			 "(container.privileged_profiling): it reads counters");
	/* Without tools there is nothing to give. */
	make_ok(f, NULL);
	assert_int_equal(f->pl.spec.caps.nr + f->pl.spec.security.nr, 0);
	/* On host there is nothing to give it. */
	f->engine = "host";
	make_ok(f, "w");
	assert_int_equal(f->pl.privileges.nr, 0);
}

/* The user's own words count, however they are written. */
PLAN_TEST(privileges_of_the_user)
{
	static const struct {
		const char *set, *by[3];
	} cases[] = {
		{ "container.caps=[CAP_SYS_ADMIN]", { "container.caps", NULL, NULL } },
		{ "container.caps=[ALL]", { "container.caps", "container.caps", NULL } },
		{ "container.options=[--security-opt, seccomp=unconfined, --cap-add=PERFMON]",
		  { NULL, "container.options", "container.options" } },
		{ "container.options=[--privileged]",
		  { "container.options: --privileged", "container.options: --privileged",
		    "container.options: --privileged" } },
		{ "container.options=[--security-opt, seccomp=mine.json]", { NULL, NULL, NULL } },
	};

	put_tool(f, "w", wants);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		strvec_clear(&f->rq.sets);
		strvec_push(&f->rq.sets, cases[i].set);
		make_ok(f, "w");
		for (size_t k = 0; k < 3; k++) {
			const char *by = f->pl.privileges.v[k].by, *want = cases[i].by[k];

			if (!by != !want || (by && strcmp(by, want) != 0))
				ROW_FAIL(i, "%s: %s", f->pl.privileges.v[k].what, by ? by : "-");
		}
	}
}

/* --- files and passes --- */

PLAN_TEST(passes)
{
	sandbox_write(&f->sb, "t/counters/two.txt",
		      "# a comment\npmc: A B\n\n  pmc: C\n#pmc: D\nrange: 1:4\n");
	sandbox_write(&f->sb, "mine.txt", "pmc: X\npmc: Y\npmc: Z\n");
	put_tool(f, "c",
		 "class: wrap\nwrap: [w, -i, '{opt.counters}', --]\n"
		 "passes: {option: counters, lines: 'pmc:'}\n"
		 "options: {counters: {type: file, default: counters/two.txt}}\n");
	put_tool(f, "n", "class: wrap\nwrap: [n, --]\npasses: {least: 5, about: it replays}\n");
	make_ok(f, "c");
	argv_is(&workload(f)->argv, "w -i /runs/R1/files/c/two.txt -- ./run.sh -- -x");
	assert_int_equal(f->pl.passes, 2);
	assert_true(workload(f)->timeout_s == 2 * 7200);
	assert_int_equal(f->pl.copies.nr, 1);
	assert_string_equal(f->pl.copies.v[0].to, "/runs/R1/files/c/two.txt");
	assert_has(f->pl.copies.v[0].from, "/t/counters/two.txt");
	CLEANUP(xfreep) char *text = printed(f);
	assert_has(text, "runs the workload at least 2 times: once for each line "
			 "'pmc:' of counters/two.txt");
	/* One's own file, from where one is; both together multiply. */
	strvec_push(&f->rq.sets, "tools[0].options.counters=mine.txt");
	make_ok(f, "c,n");
	assert_int_equal(f->rc.tools.v[0].passes, 3);
	assert_int_equal(f->pl.passes, 15);
	assert_true(workload(f)->timeout_s == 15 * 7200);
	/* No limit stays none. */
	runconf_give(&f->rq.given, "model.timeout", CFG_FLOAT, "0");
	make_ok(f, "c,n");
	assert_true(workload(f)->timeout_s == 0);
	strvec_clear(&f->rq.sets);
	strvec_push(&f->rq.sets, "tools[0].options.counters=nowhere.txt");
	assert_int_equal(fixture_plan(f, "c"), -EINVAL);
	assert_true(problems_hold(&f->p, "option 'counters' of tool 'c': no file 'nowhere.txt'"));
	sandbox_write(&f->sb, "none.txt", "range: 1:4\n");
	strvec_clear(&f->rq.sets);
	strvec_push(&f->rq.sets, "tools[0].options.counters=none.txt");
	assert_int_equal(fixture_plan(f, "c"), -EINVAL);
	assert_true(problems_hold(&f->p, "has no line that begins with 'pmc:'"));
}

/* --- outputs --- */

PLAN_TEST(outputs)
{
	put_tool(f, "o",
		 "class: env\nenv: {A: b}\noutputs:\n"
		 "  - {glob: a.csv, reader: rocprof_csv, when: {format: csv}}\n"
		 "  - {glob: a.db, reader: rocpd, when: {format: rocpd}}\n"
		 "  - {glob: x.log, match: [one, two]}\n"
		 "  - {glob: extra, if_any: true}\n"
		 "  - {glob: g1, group: g}\n"
		 "options: {format: {type: string, default: csv, choices: [csv, rocpd]}}\n");
	make_ok(f, "o");
	assert_int_equal(f->pl.outputs.nr, 4);
	assert_string_equal(f->pl.outputs.v[0].glob, "a.csv");
	argv_is(&f->pl.outputs.v[1].match, "one two");
	assert_true(f->pl.outputs.v[2].if_any);
	assert_string_equal(f->pl.outputs.v[3].group, "g");
	strvec_push(&f->rq.sets, "tools[0].options.format=rocpd");
	make_ok(f, "o");
	assert_string_equal(f->pl.outputs.v[0].glob, "a.db");
}

/* --- in front of one program --- */

PLAN_TEST(wrap_at)
{
	put_tool(f, "in", "class: wrap\nwrap: [in, -o, '{out}/it''s', --]\n");
	put_tool(f, "out", "class: wrap\nwrap: [out, --]\n");
	put_tool(f, "env", "class: env\nenv: {A: b}\n");
	runconf_give(&f->rq.given, "wrap_at", CFG_SEQ, "python3");
	make_ok(f, "in,out");
	argv_is(&workload(f)->argv,
		"/bin/sh -c 'PATH=$0:$PATH; export PATH; exec \"$@\"' /runs/R1/wrap ./run.sh -- "
		"-x");
	assert_int_equal(f->pl.made.nr, 1);
	assert_string_equal(f->pl.made.v[0].to, "/runs/R1/wrap/python3");
	assert_has(f->pl.made.v[0].text,
		   "exec out -- in -o '/runs/R1/artifacts/in/it'\\''s' -- "
		   "\"$__profrig_program\" \"$@\"\n",
		   "\n__profrig_program=python3\n");
	/* A tool without words has nothing to put anywhere. */
	make_ok(f, "env");
	argv_is(&workload(f)->argv, "./run.sh -- -x");
	assert_int_equal(f->pl.made.nr, 0);
	runconf_give(&f->rq.given, "wrap_at", CFG_SEQ, "/usr/bin/python3");
	assert_int_equal(fixture_plan(f, "in"), -EINVAL);
	assert_true(
		problems_hold(&f->p, "wrap_at: '/usr/bin/python3': want the name of a program"));
	runconf_give(&f->rq.given, "wrap_at", CFG_SEQ, "..");
	assert_int_equal(fixture_plan(f, "in"), -EINVAL);
	assert_true(problems_hold(&f->p, "wrap_at: '..': want the name of a program"));
}

/* --- twice --- */

/* Two tools with the same words are two tools; one tool named twice is one. */
PLAN_TEST(twice)
{
	put_tool(f, "a", "class: wrap\nwrap: [w, --]\noptions: {n: {type: int, default: 1}}\n");
	put_tool(f, "b", "class: wrap\nwrap: [w, --]\n");
	make_ok(f, "a,b,a");
	argv_is(&workload(f)->argv, "w -- w -- ./run.sh -- -x");
	assert_int_equal(f->rc.tools.nr, 2);
	strvec_push(&f->rq.sets, "tools[2].options.n=2");
	assert_int_equal(fixture_plan(f, "a,b,a"), -EINVAL);
	assert_true(problems_hold(&f->p, "tool 'a' is in the list twice, with different settings"));
	strvec_clear(&f->rq.sets);
	strvec_push(&f->rq.sets, "tools[0].options.n=2");
	assert_int_equal(fixture_plan(f, "a,a"), -EINVAL);
	strvec_push(&f->rq.sets, "tools[1].options.n=2");
	make_ok(f, "a,a");
	assert_int_equal(f->rc.tools.nr, 1);
}

/* --- devices --- */

PLAN_TEST(cpus)
{
	static const struct {
		const char *text, *want; /* want NULL: a problem */
	} cases[] = LIST({ "14-18,32,44-44,62", "14-18,32,44,62" }, { "3,1,2,1-2", "1-3" },
			 { "0", "0" }, { "4-2", NULL }, { "a", NULL }, { "1,,x", NULL },
			 { "99999", NULL }, { "-1", NULL });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		strvec_clear(&f->rq.sets);
		strvec_pushf(&f->rq.sets, "cpus='%s'", cases[i].text);
		if (!cases[i].want) {
			if (fixture_plan(f, NULL) != -EINVAL ||
			    !problems_hold(&f->p, "cpus: want all"))
				ROW_FAIL(i, "%s", cases[i].text);
			continue;
		}
		make_ok(f, NULL);
		assert_string_equal(f->pl.spec.cpus, cases[i].want);
		CLEANUP(xfreep) char *start = strvec_shell(&f->pl.engine_argv);
		assert_has(start, textf("--cpuset-cpus %s", cases[i].want));
	}
}

static void put_gpu(struct fixture *f, enum gpu_vendor v, int minor, int group)
{
	struct gpu g = { .vendor = v,
			 .index = (int)devices_count(&f->devices, v),
			 .render_minor = minor,
			 .group = group };

	VEC_PUSH(&f->devices.gpus, g);
}

/* Numbers of render nodes are the machine's, not 128 and up. */
PLAN_TEST(gpu_nodes)
{
	for (int i = 0; i < 8; i++)
		put_gpu(f, GPU_AMD, 136 + 8 * (i % 4) + i / 4, 109);
	strvec_push(&f->rq.sets, "gpus='0,2-4,5-5,7'");
	make_ok(f, NULL);
	assert_string_equal(f->pl.spec.gpus, "0,2,3,4,5,7");
	argv_is(&f->pl.spec.gpu_nodes,
		"/dev/kfd /dev/dri/renderD136 /dev/dri/renderD152 /dev/dri/renderD160 "
		"/dev/dri/renderD137 /dev/dri/renderD145 /dev/dri/renderD161");
	CLEANUP(xfreep) char *start = strvec_shell(&f->pl.engine_argv);
	assert_has(start, "--device /dev/kfd --device /dev/dri/renderD136 ", "--group-add 109");
	assert_lacks(start, "--device /dev/dri ");
	/* All are those there are, one by one. */
	strvec_clear(&f->rq.sets);
	strvec_push(&f->rq.sets, "gpus=all");
	make_ok(f, NULL);
	assert_int_equal(f->pl.spec.gpu_nodes.nr, 9);
	/* None asked for, none given. */
	strvec_clear(&f->rq.sets);
	make_ok(f, NULL);
	assert_int_equal(f->pl.spec.gpu_nodes.nr, 0);
}

PLAN_TEST(nvidia_gpus)
{
	put_gpu(f, GPU_NVIDIA, 0, -1);
	put_gpu(f, GPU_NVIDIA, 3, -1);
	snprintf(f->devices.amd_why, sizeof(f->devices.amd_why), "no AMD GPU");
	strvec_push(&f->rq.sets, "gpus='0,1'");
	make_ok(f, NULL);
	CLEANUP(xfreep) char *docker = strvec_shell(&f->pl.engine_argv);
	assert_has(docker, " --gpus '\"device=0,1\"' ");
	f->engine = "podman";
	make_ok(f, NULL);
	CLEANUP(xfreep) char *bare = strvec_shell(&f->pl.engine_argv);
	assert_has(bare, "--device /dev/nvidiactl --device /dev/nvidia-uvm --device "
			 "/dev/nvidia0 --device /dev/nvidia3");
	f->devices.cdi = true;
	make_ok(f, NULL);
	CLEANUP(xfreep) char *cdi = strvec_shell(&f->pl.engine_argv);
	assert_has(cdi, "--device nvidia.com/gpu=0 --device nvidia.com/gpu=1");
	/* Where all GPUs are shown, variables say which. */
	f->engine = "apptainer";
	make_ok(f, NULL);
	assert_has(kept(strvec_shell(&f->pl.engine_argv)), " --nv ");
	bool found = false;
	for (size_t i = 0; i < workload(f)->env.nr; i++)
		found |= !strcmp(workload(f)->env.v[i].name, "CUDA_VISIBLE_DEVICES") &&
			 !strcmp(workload(f)->env.v[i].value, "0,1");
	assert_true(found);
}
