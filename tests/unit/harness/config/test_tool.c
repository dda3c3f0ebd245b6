/* tools.d: what a tool file becomes, where tools and their scripts are looked for, and that every
 * tool in the box is sound. */
#include "conf_test.h"
#include "schema.h"

#include "profrig/base/proc.h"
#include "profrig/config/placeholder.h"
#include "profrig/engine/engine.h"
#include "profrig/sampler/sampler.h"

static void tools_load(struct tool_set *ts, const char *dir)
{
	CLEANUP(strvec_release) struct strvec dirs = STRVEC_INIT;
	struct err err = ERR_INIT;

	strvec_push(&dirs, dir);
	if (tool_set_load(ts, &dirs, &err) < 0)
		fail_msg("%s", err.msg);
}

static const struct tool *one_tool(struct sandbox *sb, struct tool_set *ts, const char *text)
{
	sandbox_write(sb, "t/x.yaml", text);
	CLEANUP(xfreep) char *dir = fs_join(sb->dir, "t");

	tools_load(ts, dir);
	/* The file may call itself otherwise, and other folders have tools too. */
	for (size_t i = 0; i < ts->tools.nr; i++)
		if (!strncmp(ts->tools.v[i]->file, sb->dir, strlen(sb->dir)))
			return ts->tools.v[i];
	fail_msg("no tool came of the file");
	return NULL;
}

/* What any tool file must state; fails with the tool's name. */
static void assert_sound(const struct tool *t)
{
	assert_problems(&t->problems, (const char *const[]){ NULL });
	if (!t->about)
		fail_msg("%s: it has no about", t->file);
	if (t->class != TOOL_SAMPLER && t->outputs.nr == 0)
		fail_msg("%s: it has no outputs", t->file);
	for (size_t k = 0; k < t->outputs.nr; k++)
		if (!t->outputs.v[k].reader && !t->outputs.v[k].match.nr)
			fail_msg("%s: output %s wants a reader or match", t->file,
				 t->outputs.v[k].glob);
	if (strvec_has(&t->provides, "gpu-tracer") != strvec_has(&t->conflicts, "gpu-tracer"))
		fail_msg("%s: gpu-tracer stands in one of provides and conflicts", t->file);
	if (t->caps.nr && !t->because)
		fail_msg("%s: it needs capabilities and does not say why (because)", t->file);
	if (t->class == TOOL_WRAP && !strvec_has(&t->needs, t->wrap.v[0]))
		fail_msg("%s: needs lacks '%s'", t->file, t->wrap.v[0]);
}

TEST(shipped_tools_are_sound)
{
	static const char *const want[] = {
		/* every name of the orchestrator whose users are to feel at home */
		"rpd", "rocprof", "rocprof_hip_only", "rocprof_sys", "rocprofv3",
		"rocprofv3_compute", "rocprofv3_memory", "rocprofv3_communication",
		"rocprofv3_full", "rocprofv3_lightweight", "rocprofv3_agent",
		"rocprofv3_agent_counter", "rocprofv3_perfetto", "rocprofv3_api_overhead",
		"rocprofv3_pc_sampling", "rocm_trace_lite", "rocm_trace_lite_default",
		"rocblas_trace", "hipblaslt_trace", "miopen_trace", "tensile_trace", "rccl_trace",
		"gpu_info_power_profiler", "gpu_info_vram_profiler", "therock_check",
		"test_tools_A", "test_tools_B",
		/* and more */
		"blas_trace", "roctx_trace", "cpu_power", "cpu_usage", "rapl", "gpu_power",
		"gpu_vram", "uftrace", "rocprof-sys", "rocprof-compute", "nsys", "nsys_jax", "ncu",
		"torch_profiler", "perf", "strace", "nccl_trace", "cublas_trace", "cudnn_trace",
		"onednn_trace", "mkl_trace"
	};
	CLEANUP(tool_set_release) struct tool_set ts;
	CLEANUP(xfreep) char *dir = fs_abs("tools.d");
	size_t nr = 0;

	tools_load(&ts, "tools.d");
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		if (!tool_find(&ts, want[i]))
			fail_msg("no tool %s", want[i]);
	for (size_t i = 0; i < ts.tools.nr; i++)
		if (!strncmp(ts.tools.v[i]->file, dir, strlen(dir))) {
			assert_sound(ts.tools.v[i]);
			nr++;
		}
	assert_true(nr >= ARRAY_LEN(want));
}

TEST(every_field)
{
	CLEANUP(tool_set_release) struct tool_set ts;
	CLEANUP(sandbox_release) struct sandbox sb;
	const struct tool *t;

	sandbox_init(&sb);
	sandbox_write(&sb, "t/scripts/pre.sh", "true\n");
	sandbox_write(&sb, "post.sh", "true\n");
	t = one_tool(
		&sb, &ts,
		"name: full\nabout: all of it\nvendor: amd\nclass: wrap\n"
		"wrap: [prog, --rate, '{opt.rate}', -o, '{out}/x', '--id={run_id}', --]\n"
		"env: {A: '{out}', B: 1.50}\n"
		"unset: [OLD_PATH, B]\n"
		"needs: [prog, libx.so.1]\npreload: [liby.so]\nprovides: [p]\nconflicts: [c, d]\n"
		"conflicts_because: 'both trace'\n"
		"caps: [SYS_ADMIN]\n"
		"pre_scripts: [{path: scripts/pre.sh, args: [a, '{out}']}]\n"
		"post_scripts: [post.sh]\n"
		"sampler: {kind: nvml, device: 0, period_s: 2}\n"
		"outputs:\n"
		"  - {glob: '*.json', reader: tef, required: false, min_records: 7}\n"
		"  - any.bin\n"
		"options: {rate: {type: int, default: 5, min: 1, max: 9, about: words}, s: {type: "
		"string, default: ''}}\n");
	assert_problems(&t->problems, (const char *const[]){ NULL });
	assert_string_equal(t->name, "full");
	assert_string_equal(t->vendor, "amd");
	assert_int_equal(t->class, TOOL_WRAP);
	assert_string_equal(tool_class_name(t->class), "wrap");
	assert_int_equal(t->wrap.nr, 7);
	assert_string_equal(t->env.v[1].value, "1.50");
	assert_has(t->env.v[1].where, "x.yaml:6");
	assert_int_equal(t->unset.nr, 2);
	assert_string_equal(t->unset.v[0].name, "OLD_PATH");
	assert_has(t->unset.v[0].where, "x.yaml:7");
	assert_true(strvec_has(&t->needs, "libx.so.1") && strvec_has(&t->preload, "liby.so"));
	assert_true(strvec_has(&t->provides, "p") && strvec_has(&t->conflicts, "d"));
	assert_string_equal(t->conflicts_because, "both trace");
	assert_true(t->caps.nr == 1 && strvec_has(&t->caps, "SYS_ADMIN"));
	assert_int_equal(t->pre.nr, 1);
	assert_true(fs_is_file(t->pre.v[0].path) && *t->pre.v[0].path == '/');
	assert_string_equal(t->pre.v[0].args.v[1], "{out}");
	assert_true(fs_is_file(t->post.v[0].path) && !t->post.v[0].missing);
	assert_string_equal(t->sampler_kind, "nvml");
	assert_string_equal(t->sampler_device, "0");
	assert_true(t->sampler_period_s == 2);
	assert_int_equal(t->outputs.nr, 2);
	assert_false(t->outputs.v[0].required);
	assert_int_equal(t->outputs.v[0].min_records, 7);
	assert_string_equal(t->outputs.v[1].glob, "any.bin");
	assert_null(t->outputs.v[1].reader);
	assert_true(t->outputs.v[1].required);
	assert_int_equal(t->outputs.v[1].min_records, 1);
	assert_string_equal(tool_option_find(t, "rate")->def, "5");
	assert_null(tool_option_find(t, "none"));
}

/* A set that was only opened reads what is asked for, wherever the file is and whatever its own
 * name, and in the end the same tools. */
TEST(opened_as_loaded)
{
	CLEANUP(strvec_release) struct strvec dirs = STRVEC_INIT;
	struct tool_set all, lazy;
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	sandbox_write(&sb, "t/zz.yaml", "name: perf\nabout: mine\nclass: env\nenv: {A: b}\n");
	strvec_push(&dirs, in_dir(sb.dir, "t"));
	assert_int_equal(tool_set_load(&all, &dirs, NULL), 0);
	assert_int_equal(tool_set_open(&lazy, &dirs, NULL), 0);
	assert_int_equal(lazy.tools.nr, 0);
	/* The first of a name wins, though its file is called otherwise. */
	assert_string_equal(tool_find(&lazy, "perf")->about, "mine");
	assert_string_equal(tool_find(&lazy, "rocprofv3")->name, "rocprofv3");
	assert_true(lazy.tools.nr < all.tools.nr);
	assert_null(tool_find(&lazy, "no-such-tool"));
	assert_ptr_equal(tool_find(&lazy, "perf"), tool_find(&lazy, "perf"));
	tool_set_all(&lazy);
	assert_int_equal(lazy.tools.nr, all.tools.nr);
	for (size_t i = 0; i < all.tools.nr; i++)
		assert_string_equal(lazy.tools.v[i]->file, all.tools.v[i]->file);
	tool_set_release(&all);
	tool_set_release(&lazy);
}

static const struct {
	const char *text, *words;
} mistaken[] = {
	{ "name: x\nclass: wrap\nwarp: [a]\n",
	  "x.yaml:3: unknown key 'warp'; did you mean 'wrap'?" },
	{ "name: x\nclass: warp\nwrap: [a]\n",
	  "x.yaml:2: class: unknown 'warp'; did you mean 'wrap'?" },
	{ "class: wrap\nwrap: [a]\n", "'name' is missing" },
	{ "name: x\nclass: wrap\n", "x.yaml:2: a tool of class wrap needs wrap" },
	{ "name: x\nclass: preload\n", "needs preload" },
	{ "name: x\nclass: env\n", "needs env" },
	{ "name: x\nclass: sampler\n", "needs sampler" },
	{ "name: x\nclass: script\n", "needs pre_scripts or post_scripts" },
	{ "name: x/y\nclass: wrap\nwrap: [a]\n", "x.yaml:1: name: 'x/y' cannot name a folder" },
	{ "name: workload\nclass: wrap\nwrap: [a]\n", "cannot name a folder" },
	{ "name: x\nclass: wrap\nwrap: [a, '{oops}']\n", "x.yaml:3: unknown placeholder {oops}" },
	{ "name: x\nclass: wrap\nwrap: [a, '{opt.no}']\n", "unknown placeholder {opt.no}" },
	{ "name: x\nclass: env\nenv: {A: '{outt}'}\n", "x.yaml:3: unknown placeholder {outt}" },
	{ "name: x\nclass: env\nenv: {A-B: 1}\n", "'A-B' is no name of a variable" },
	{ "name: x\nclass: env\nenv: {LD_PRELOAD: a.so}\n", "list libraries under 'preload'" },
	{ "name: x\nclass: env\nenv: {PROFRIG_OUT: a}\n", "PROFRIG_OUT is set by profrig" },
	{ "name: x\nclass: env\nenv: {A: 1}\nunset: [B, C-D]\n",
	  "x.yaml:4: unset: 'C-D' is no name of a variable" },
	{ "name: x\nclass: env\nenv: {A: 1}\nunset: ['B=1']\n",
	  "unset: 'B=' is no name of a variable" },
	{ "name: x\nclass: env\nenv: {A: 1}\nunset: ['']\n", "unset: '' is no name" },
	{ "name: x\nclass: env\nenv: {A: 1}\nunset: [PROFRIG_OUT]\n",
	  "unset: PROFRIG_OUT is set by profrig" },
	{ "name: x\nclass: env\nenv: {A: 1}\nunset: [LD_PRELOAD]\n",
	  "unset: LD_PRELOAD holds the tools' libraries" },
	{ "name: x\nclass: env\nenv: {A: 1}\nunset: {B: 1}\n", "x.yaml:4: unset: " },
	{ "name: x\nclass: env\nunset: [B]\n", "needs env" },
	{ "name: x\nclass: sampler\nsampler: {kind: nvlm}\n", "sampler.kind: unknown 'nvlm'" },
	{ "name: x\nclass: sampler\nsampler: {kind: nvml, period_s: 0}\n", "is not between" },
	{ "name: x\nclass: wrap\nwrap: [a]\noutputs: [{glob: '../x'}]\n",
	  "must stay in the tool's folder" },
	{ "name: x\nclass: wrap\nwrap: [a]\noutputs: [{glob: /x}]\n",
	  "must stay in the tool's folder" },
	{ "name: x\nclass: wrap\nwrap: [a]\noutputs: [{glob: x, reader: tfe}]\n",
	  "unknown 'tfe'; did you mean 'tef'?" },
	{ "name: x\nclass: wrap\nwrap: [a]\noutputs: [{glob: x, min_records: -1}]\n",
	  "-1 is not between" },
	{ "name: x\nclass: script\npre_scripts: [nowhere.sh]\n",
	  "x.yaml:3: script 'nowhere.sh' is neither" },
	{ "name: x\nclass: wrap\nwrap: [a]\noptions: {o: {type: int, default: x}}\n",
	  "options.o.default: want a whole number" },
	{ "name: x\nclass: wrap\nwrap: [a]\noptions: {O-O: {type: int, default: 1}}\n",
	  "'O-O' is no name of an option" },
	{ "name: x\nclass: wrap\nwrap: [a]\noptions: {o: {type: file, default: no.txt}}\n",
	  "options.o.default: file 'no.txt' is neither" },
	{ "name: x\nclass: wrap\nwrap: [a]\npasses: {option: o}\n",
	  "'o' is no option of type file" },
	{ "name: x\nclass: wrap\nwrap: [a]\npasses: {lines: a}\n",
	  "passes: want option and lines, least, or about" },
	{ "name: x\nclass: wrap\nwrap: [a]\noutputs: [{glob: x, when: {f: y}}]\n",
	  "when: there is no option 'f'" },
	{ "name: x\nclass: sampler\nsampler: {kind: nvml, period_option: p}\n",
	  "sampler.period_option: there is no option 'p'" },
	{ "name: x\nclass: wrap\nwrap: [a]\nprivileges: maybe\n", "privileges: unknown 'maybe'" },
	{ "name: x\nclass: wrap\nwrap: [a]\noptions: {o: {type: text, default: 1}}\n",
	  "unknown 'text'" },
	{ "name: x\nclass: wrap\nwrap: [a]\nname: y\n", "x.yaml:4: key 'name' is there already" },
	{ "name: [\n", "x.yaml:2: " },
};

TEST(mistakes)
{
	for (size_t i = 0; i < ARRAY_LEN(mistaken); i++) {
		CLEANUP(tool_set_release) struct tool_set ts;
		CLEANUP(sandbox_release) struct sandbox sb;
		const struct tool *t;

		sandbox_init(&sb);
		t = one_tool(&sb, &ts, mistaken[i].text);
		if (!problems_hold(&t->problems, mistaken[i].words))
			fail_msg("case %zu: '%s'", i,
				 t->problems.lines.nr ? t->problems.lines.v[0] : "");
	}
}

/*
 * The tables of config cannot see the registries they name things of: here they are held against
 * each other.
 */
TEST(names_are_those_of_the_registries)
{
	const struct schema_key *engine = schema_find(schema_table, "engine");

	for (size_t i = 0; engines[i]; i++)
		if (!schema_choice(engine->choices, engines[i]->name))
			fail_msg("schema_run.c: the choices of 'engine' lack '%s'",
				 engines[i]->name);
	for (size_t i = 0; samplers[i]; i++) {
		CLEANUP(xfreep)
		char *text = xasprintf("name: x\nclass: sampler\nsampler: {kind: %s}\n",
				       samplers[i]->name);
		CLEANUP(tool_set_release) struct tool_set ts;
		CLEANUP(sandbox_release) struct sandbox sb;

		sandbox_init(&sb);
		assert_problems(&one_tool(&sb, &ts, text)->problems, (const char *const[]){ NULL });
	}
}

/* What the base says and the file does not; where either stands. */
TEST(a_base)
{
	static const struct {
		const char *base, *words;
	} cases[] = {
		{ "base/none.yaml", "x.yaml:3: base 'base/none.yaml' is neither beside this file" },
		{ "base/two.yaml", "x.yaml:3: base 'base/two.yaml' has a base of its own" },
		{ "base/bad.yaml", "bad.yaml:1" },
		{ "base/odd.yaml", "odd.yaml:1: unknown key 'odd'" },
	};
	const struct tool_option *o;
	const struct tool *t;
	struct tool_set ts;
	struct sandbox sb;

	sandbox_init(&sb);
	sandbox_write(&sb, "base/env.yaml",
		      "class: env\nvendor: amd\nenv: {A: a, B: b}\nneeds: [n]\n"
		      "options:\n  rate: {type: int, default: 1, max: 9}\n");
	sandbox_write(&sb, "base/two.yaml", "base: base/env.yaml\n");
	sandbox_write(&sb, "base/bad.yaml", "}{");
	sandbox_write(&sb, "base/odd.yaml", "odd: 1\nclass: env\nenv: {A: a}\n");
	t = one_tool(&sb, &ts,
		     "name: y\nbase: base/env.yaml\nenv: {B: c}\nneeds: [m]\n"
		     "options: {rate: {default: 7}}\n");
	assert_problems(&t->problems, (const char *const[]){ NULL });
	assert_string_equal(t->name, "y");
	assert_string_equal(t->vendor, "amd");
	assert_int_equal(t->class, TOOL_ENV);
	assert_int_equal(t->env.nr, 2);
	assert_string_equal(t->env.v[0].value, "a");
	assert_string_equal(t->env.v[1].value, "c");
	assert_has(t->env.v[0].where, "base/env.yaml:3");
	assert_has(t->env.v[1].where, "x.yaml:3");
	assert_int_equal(t->needs.nr, 1);
	assert_string_equal(t->needs.v[0], "m");
	o = tool_option_find(t, "rate");
	assert_string_equal(o->type, "int");
	assert_string_equal(o->def, "7");
	tool_set_release(&ts);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		t = one_tool(&sb, &ts,
			     textf("name: x\nclass: env\nbase: %s\nenv: {A: 1}\n", cases[i].base));
		if (!problems_hold(&t->problems, cases[i].words))
			fail_msg("%s: '%s'", cases[i].base,
				 t->problems.lines.nr ? t->problems.lines.v[0] : "");
		tool_set_release(&ts);
	}
	sandbox_release(&sb);
}

/* A broken file is still found under its name, so that a user who asks for it learns why. */
TEST(broken_files_keep_their_name)
{
	CLEANUP(tool_set_release) struct tool_set ts;
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	assert_string_equal(one_tool(&sb, &ts, "}{")->name, "x");
	assert_non_null(tool_find(&ts, "x"));
}

TEST(first_of_a_name_wins)
{
	CLEANUP(strvec_release) struct strvec dirs = STRVEC_INIT;
	CLEANUP(tool_set_release) struct tool_set ts;
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	sandbox_write(&sb, "one/a.yaml", "name: dup\nabout: one\nclass: env\nenv: {A: 1}\n");
	sandbox_write(&sb, "two/b.yaml", "name: dup\nabout: two\nclass: env\nenv: {A: 1}\n");
	sandbox_write(&sb, "two/c.yaml", "name: only_two\nclass: env\nenv: {A: 1}\n");
	sandbox_write(&sb, "two/c.yaml~", "name: backup\n");
	sandbox_write(&sb, "env/d.yaml", "name: dup\nabout: env\nclass: env\nenv: {A: 1}\n");
	sandbox_write(&sb, "env/e.yaml",
		      "name: only_env\nclass: script\npre_scripts: [far/away.sh]\n");
	sandbox_write(&sb, "one/far/away.sh", "true\n");
	strvec_pushf(&dirs, "%s/one", sb.dir);
	strvec_pushf(&dirs, "%s/two", sb.dir);
	CLEANUP(xfreep) char *path = xasprintf("%s/nowhere:%s/env", sb.dir, sb.dir);
	setenv("PROFRIG_TOOLS_PATH", path, 1);
	assert_int_equal(tool_set_load(&ts, &dirs, NULL), 0);
	unsetenv("PROFRIG_TOOLS_PATH");
	assert_string_equal(tool_find(&ts, "dup")->about, "one");
	assert_non_null(tool_find(&ts, "only_two"));
	assert_null(tool_find(&ts, "backup"));
	/* Its script is found by the search path, not beside it. */
	assert_problems(&tool_find(&ts, "only_env")->problems, (const char *const[]){ NULL });
	assert_string_equal(ts.dirs.v[0], dirs.v[0]);
	/* The tests run in the source tree, whose own tools come behind. */
	assert_non_null(tool_find(&ts, "blas_trace"));
	for (size_t i = 1; i < ts.tools.nr; i++)
		assert_true(strcmp(ts.tools.v[i - 1]->name, ts.tools.v[i]->name) < 0);
}

TEST(missing_folder_of_the_command_line)
{
	CLEANUP(strvec_release) struct strvec dirs = STRVEC_INIT;
	struct err err = ERR_INIT;
	struct tool_set ts;

	strvec_push(&dirs, "/nonexistent/tools");
	assert_int_equal(tool_set_load(&ts, &dirs, &err), -ENOENT);
	assert_has(err.msg, "/nonexistent/tools");
}

TEST(options_refuse)
{
	static const struct {
		const char *type, *choices, *value, *words;
		double min, max;
	} cases[] = {
		{ "int", NULL, "5", NULL, 1, 9 },
		{ "int", NULL, "10", "10 is not between 1 and 9", 1, 9 },
		{ "int", NULL, "5.5", "want a whole number", 0, 0 },
		{ "float", NULL, "5", NULL, 0, 0 },
		{ "float", NULL, ".nan", "want a number", 0, 0 },
		{ "float", NULL, "x", "want a number", 0, 0 },
		{ "bool", NULL, "true", NULL, 0, 0 },
		{ "bool", NULL, "yes", "want true or false", 0, 0 },
		{ "string", NULL, "7", NULL, 0, 0 },
		{ "string", "a|b", "b", NULL, 0, 0 },
		{ "string", "a|b", "c", "unknown 'c' (one of: a|b)", 0, 0 },
		{ "string", NULL, "[x]", "want a single value", 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep) char *text = xasprintf("v: %s\n", cases[i].value), *got = NULL;
		struct tool_option o = { .type = (char *)cases[i].type,
					 .choices = (char *)cases[i].choices,
					 .min = cases[i].min,
					 .max = cases[i].max };
		CLEANUP(cfg_release) struct cfg c;

		cfg_init(&c);
		assert_int_equal(
			cfg_parse_text(&c, text, strlen(text), "f", false, LAYER_FILE, NULL), 0);
		got = tool_option_refuse(&o, cfg_get(c.root, "v"));
		if (!got != !cases[i].words || (got && strcmp(got, cases[i].words) != 0))
			fail_msg("case %zu: '%s'", i, got ? got : "taken");
	}
}

static const char *value_of(void *ctx, const char *name)
{
	(void)ctx;
	return !strcmp(name, "out") ? "/o" : !strcmp(name, "opt.a-b") ? "AB" : NULL;
}

TEST(placeholders)
{
	static const struct {
		const char *text, *want, *unknown;
	} cases[] = LIST({ "", "", NULL }, { "{out}", "/o", NULL },
			 { "a{out}/{opt.a-b}z", "a/o/ABz", NULL }, { "{{out}}", "{out}", NULL },
			 { "{{out}", "{/o", NULL }, { "{out}}", "/o}", NULL }, { "{}", "{}", NULL },
			 { "{", "{", NULL }, { "{out", "{out", NULL },
			 { "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}", NULL },
			 { "${X:-{out}}", "${X:-/o}", NULL }, { "{1}", "{1}", NULL },
			 { "{ out }", "{ out }", NULL }, { "{outt}", NULL, "outt" },
			 { "${HOME}", NULL, "HOME" }, { "{{{out}}}", "{{out}}", NULL });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
		CLEANUP(xfreep) char *unknown = NULL;
		int r = placeholder_expand(&sb, cases[i].text, value_of, NULL, &unknown);

		assert_int_equal(r, cases[i].unknown ? -EINVAL : 0);
		if (cases[i].unknown)
			assert_string_equal(unknown, cases[i].unknown);
		else
			assert_string_equal(sb.buf, cases[i].want);
	}
}

static int run_script(const char *script, struct strbuf *errs)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	char *const argv[] = { (char *)"/bin/sh", (char *)script, NULL };
	struct proc_exit how = { 0 };
	struct err err = ERR_INIT;

	if (proc_capture(argv, 20000, 65536, &out, errs, &how, &err) < 0)
		fail_msg("%s", err.msg);
	return how.signal ? -how.signal : how.code;
}

/* The script alone, with an uftrace of ours on PATH. */
TEST(uftrace_post_script)
{
	CLEANUP(strbuf_release) struct strbuf errs = STRBUF_INIT;
	CLEANUP(xfreep) char *path = NULL, *trace = NULL, *text = NULL, *fake = NULL;
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	sandbox_write(&sb, "bin/uftrace", "#!/bin/sh\necho \"$@\"\nexit \"${FAKE_STATUS:-0}\"\n");
	fake = fs_join(sb.dir, "bin/uftrace");
	assert_int_equal(chmod(fake, 0755), 0);
	path = xasprintf("%s/bin:%s", sb.dir, getenv("PATH"));
	trace = fs_join(sb.dir, "trace.json");
	setenv("PATH", path, 1);
	setenv("PROFRIG_OUT", sb.dir, 1);
	assert_int_equal(run_script("post_scripts/uftrace.sh", &errs), 1);
	assert_has(errs.buf, "left nothing");
	assert_false(fs_exists(trace));
	sandbox_write(&sb, "uftrace.data/info", "x");
	setenv("FAKE_STATUS", "3", 1);
	sandbox_write(&sb, "uftrace.data/perf-cpu0.dat", "x");
	sandbox_write(&sb, "uftrace.data/4711.dat", "");
	assert_int_equal(run_script("post_scripts/uftrace.sh", &errs), 0);
	assert_has(errs.buf, "uftrace recorded no call");
	assert_int_equal(fs_size(trace), 0);
	unlink(trace);
	sandbox_write(&sb, "uftrace.data/4712.dat", "calls");
	assert_int_equal(run_script("post_scripts/uftrace.sh", &errs), 1);
	assert_false(fs_exists(trace));
	unsetenv("FAKE_STATUS");
	assert_int_equal(run_script("post_scripts/uftrace.sh", &errs), 0);
	assert_int_equal(fs_read(trace, 4096, &text, NULL, NULL), 0);
	assert_has(text, "dump --chrome");
	unsetenv("PROFRIG_OUT");
	setenv("PATH", path + strlen(sb.dir) + 5, 1);
}

/* A python3 of ours stands for one with, without, and with a half-broken rocpd. */
TEST(rpd_pre_script)
{
	static const struct {
		const char *python;
		int code;
	} cases[] = {
		{ "#!/bin/sh\n[ \"$1 $2 $3\" = '-m rocpd.schema --create' ] && echo db >\"$4\"\n",
		  0 },
		{ "#!/bin/sh\necho No module named rocpd >&2\nexit 1\n", 1 },
		{ "#!/bin/sh\n: >\"$4\"\n", 1 },
	};
	CLEANUP(xfreep)
	char *path = NULL, *python = NULL, *probe = NULL, *before = xstrdup(getenv("PATH"));
	CLEANUP(sandbox_release) struct sandbox sb;

	sandbox_init(&sb);
	path = xasprintf("%s/bin:%s", sb.dir, before);
	python = fs_join(sb.dir, "bin/python3");
	probe = fs_join(sb.dir, "probe.rpd");
	setenv("PATH", path, 1);
	setenv("PROFRIG_OUT", sb.dir, 1);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_release) struct strbuf errs = STRBUF_INIT;

		sandbox_write(&sb, "bin/python3", cases[i].python);
		assert_int_equal(chmod(python, 0755), 0);
		assert_int_equal(run_script("pre_scripts/rpd.sh", &errs), cases[i].code);
		assert_int_equal(strstr(errs.buf, "no working rocpd") != NULL, cases[i].code);
		assert_false(fs_exists(probe));
	}
	setenv("PATH", before, 1);
	unsetenv("PROFRIG_OUT");
}
