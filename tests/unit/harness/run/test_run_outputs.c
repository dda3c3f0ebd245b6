/* What a run leaves: outputs and their verdicts, samples, scripts, the directory itself. */
#include "run_rig.h"

#include <fcntl.h>

/* --- outputs --- */

RUN_TEST(test_verdicts)
{
	static const struct {
		const char *name, *command; /* in the tool's folder */
		bool required;
		uint64_t min_records;
		enum run_status status;
		int exit_code;
		const char *reason, *verdict;
	} cases[] = {
		{ "valid", "echo records 3 >out.json", true, 1, RUN_SUCCESS, 0, "", "valid" },
		{ "required missing", "true", true, 1, RUN_FAILED, 7,
		  "'artifacts/t/out*.json' of tool 't' is missing", "missing" },
		{ "required empty", "echo records 0 >out.json", true, 0, RUN_FAILED, 7, "is empty",
		  "empty" },
		{ "required of no bytes", ": >out.json", true, 1, RUN_FAILED, 7,
		  "is empty: 0 bytes", "empty" },
		{ "too few records", "echo records 3 >out.json", true, 4, RUN_FAILED, 7, "is empty",
		  "empty" },
		{ "required damaged", "echo bad >out.json", true, 1, RUN_FAILED, 7,
		  "is damaged: line 1: no record", "damaged" },
		{ "optional missing", "true", false, 1, RUN_PARTIAL, 6, "optional output",
		  "missing" },
		{ "optional empty", ": >out.json", false, 1, RUN_PARTIAL, 6, "is empty", "empty" },
		{ "optional damaged", "echo bad >out.json", false, 1, RUN_PARTIAL, 6, "is damaged",
		  "damaged" },
		/* A file per process, and some processes did nothing. */
		{ "one of two is empty", ": >out1.json; echo records 3 >out2.json", true, 1,
		  RUN_SUCCESS, 0, "", "empty" },
		{ "a link out of the run directory",
		  "echo records 3 >../../../outside; ln -s ../../../outside out.json", true, 1,
		  RUN_FAILED, 7, "is damaged: a symbolic link is in the way", "damaged" },
		{ "a link inside", "echo records 3 >../data; ln -s ../data out.json", true, 1,
		  RUN_FAILED, 7, "is damaged: a symbolic link is in the way", "damaged" },
		{ "a link beside the file it leads to",
		  "echo records 3 >out1.json; ln -s out1.json out2.json", true, 1, RUN_SUCCESS, 0,
		  "", "valid" },
		{ "a second name", "echo records 3 >../data; ln ../data out.json", true, 1,
		  RUN_FAILED, 7, "is damaged: the file has a second name", "damaged" },
		{ "a pipe", "mkfifo out.json", true, 1, RUN_FAILED, 7,
		  "is damaged: not a regular file", "damaged" },
		{ "the folder is a link out",
		  "echo records 3 >../../../out.json; cd ..; rm -r t; ln -s ../.. t", true, 1,
		  RUN_FAILED, 7, "", "missing" },
		{ "one of two is damaged", "echo records 3 >out1.json; echo bad >out2.json", true,
		  1, RUN_FAILED, 7, "out2.json", "valid" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const json_t *a;

		if (i > 0)
			plan_again(g);
		add_step(g, STEP_WORKLOAD, "workload",
			 textf("cd $PROFRIG_RUN_DIR/artifacts/t && { %s; }", cases[i].command));
		add_output(g, "t", "out*.json", cases[i].required, cases[i].min_records);
		rig_run(g);
		ended_as(g, cases[i].status, cases[i].exit_code, cases[i].reason);
		a = json_array_get(json_object_get(g->doc, "artifacts"), 0);
		if (strcmp(str(a, "verdict"), cases[i].verdict) != 0)
			fail_msg("%s: verdict %s", cases[i].name, str(a, "verdict"));
		assert_string_equal(str(a, "tool"), "t");
	}
}

RUN_TEST(test_artifact_facts)
{
	const json_t *a;

	add_step(g, STEP_WORKLOAD, "workload",
		 "mkdir $PROFRIG_RUN_DIR/artifacts/t/sub; echo records 12 "
		 ">$PROFRIG_RUN_DIR/artifacts/t/sub/x.json");
	add_output(g, "t", "**/*.json", true, 1);
	rig_run(g);
	ended_as(g, RUN_SUCCESS, 0, "");
	a = json_array_get(json_object_get(g->doc, "artifacts"), 0);
	assert_string_equal(str(a, "path"), "artifacts/t/sub/x.json");
	assert_int_equal(json_integer_value(json_object_get(a, "bytes")), 11);
	assert_int_equal(json_integer_value(json_object_get(a, "records")), 12);
	assert_int_equal(json_integer_value(json_object_get(a, "first_ns")), 5);
	/* printf 'records 12\n' | sha256sum */
	assert_string_equal(str(a, "sha256"),
			    "c07a67ddee1466370216a888fd9d64c9ce73b735fdc451eeac5d6253ed980bc0");
	assert_string_equal(str(a, "reader"), "found");
	assert_int_equal(g->result.artifacts, 1);
	assert_int_equal(g->result.artifacts_bad, 0);
}

/* run.json could not name it, so it would not be found again. */
RUN_TEST(test_name_that_is_no_text)
{
	add_step(g, STEP_WORKLOAD, "workload",
		 "cd $PROFRIG_RUN_DIR/artifacts/t; echo records 1 >\"$(printf 'a\\377.json')\"");
	add_output(g, "t", "*.json", true, 1);
	rig_run(g);
	assert_int_equal(g->result.exit_code, 7);
	assert_has(g->result.reason, "its name is not valid UTF-8");
}

RUN_TEST(test_check_refuses)
{
	add_step(g, STEP_WORKLOAD, "workload",
		 "echo records 1 >$PROFRIG_RUN_DIR/artifacts/t/x.json");
	add_output(g, "t", "x.json", true, 1);
	g->plan.outputs.v[0].reader = xstrdup("nosuch");
	rig_run(g);
	ended_as(g, RUN_FAILED, 7, "no reader 'nosuch'");
}

/*
 * A tool that writes where the workload stands: what it wrote now is moved, what lay there stays.
 */
RUN_TEST(test_output_in_workdir)
{
	CLEANUP(xfreep) char *old = fs_join(g->top, "old.trace");
	struct timespec past[2] = { { .tv_sec = 1000000 }, { .tv_sec = 1000000 } };
	const json_t *list;

	assert_int_equal(fs_write_atomic(old, "records 1\n", 10, NULL), 0);
	assert_int_equal(utimensat(AT_FDCWD, old, past, 0), 0);
	add_step(g, STEP_WORKLOAD, "workload", "echo records 2 >new.trace");
	add_output(g, "t", "*.trace", true, 1);
	free(g->plan.outputs.v[0].dir);
	g->plan.outputs.v[0].dir = xstrdup(g->top);
	rig_run(g);
	ended_as(g, RUN_SUCCESS, 0, "");
	list = json_object_get(g->doc, "artifacts");
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(str(json_array_get(list, 0), "path"), "artifacts/t/new.trace");
	free(read_below(g, "artifacts/t/new.trace"));
	assert_true(fs_exists(old));
	assert_false(fs_exists(in_dir(g->top, "new.trace")));
}

/* --- secrets --- */

RUN_TEST(test_secrets)
{
	static const char secret[] = "hunter2-very-secret";
	CLEANUP(strvec_release) struct strvec files = STRVEC_INIT;
	struct plan_step *s =
		add_step(g, STEP_WORKLOAD, "workload",
			 "test \"$API_TOKEN\" = hunter2-very-secret && ps axww >/dev/null");

	put_env(s, "API_TOKEN", secret, true);
	strvec_push(&s->argv, "--token=hunter2-very-secret");
	rig_run(g);
	ended_as(g, RUN_SUCCESS, 0, "");
	assert_int_equal(fs_glob(g->plan.run_dir, "run.json", &files, NULL), 0);
	assert_int_equal(files.nr, 1);
	CLEANUP(xfreep) char *text = read_below(g, "run.json");
	assert_lacks(text, secret);
	assert_has(text, "--token=***");
}

/* --- samplers --- */

RUN_TEST(test_sampler)
{
	const json_t *s;
	/* lasts until there are enough, a minute at most */

	add_sampler(g, "procfs");
	add_step(g, STEP_WORKLOAD, "workload",
		 textf("i=0; while [ $i -lt 600 ] && "
		       "[ $(grep -c '^[0-9]' '%s/samples/cpu.csv') -lt 5 ]; "
		       "do i=$((i + 1)); sleep 0.1; done",
		       g->plan.run_dir));
	rig_run(g);
	ended_as(g, RUN_SUCCESS, 0, "");
	assert_true(g->result.samples >= 5);
	s = json_array_get(json_object_get(g->doc, "samplers"), 0);
	assert_string_equal(str(s, "path"), "samples/cpu.csv");
	assert_int_equal(json_integer_value(json_object_get(s, "rows")), g->result.samples);
	assert_true(json_array_size(json_object_get(g->doc, "devices")) >= 1);
	CLEANUP(xfreep) char *csv = read_below(g, "samples/cpu.csv");
	assert_has(csv, "workload_start", "workload_end");
}

/* A recording of estimates is an estimate whatever plays it. */
RUN_TEST(test_sampler_estimated)
{
	static const char recording[] = "# estimated: yes\nt_ns,power.cpu0[W]\n1,10\n";
	CLEANUP(xfreep) char *file = fs_join(g->top, "recording.csv");
	const char *const lists[] = { "samplers", "devices" };

	assert_int_equal(fs_write_atomic(file, recording, sizeof(recording) - 1, NULL), 0);
	add_sampler(g, "replay");
	VEC_PUSH(&g->plan.samplers.v[0].options,
		 ((struct name_value){ xstrdup("file"), xstrdup(file) }));
	add_step(g, STEP_WORKLOAD, "workload", "true");
	rig_run(g);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		assert_true(json_is_true(json_object_get(
			json_array_get(json_object_get(g->doc, lists[i]), 0), "estimated")));
}

RUN_TEST(test_sampler_fails)
{
	add_sampler(g, "no-such-source");
	add_step(g, STEP_WORKLOAD, "workload", "exit 0");
	rig_run(g);
	ended_as(g, RUN_PARTIAL, 6, "no sampler 'no-such-source'");
}

/* --- copies --- */

RUN_TEST(test_copies)
{
	CLEANUP(xfreep) char *from = fs_join(g->top, "script.sh");
	CLEANUP(xfreep) char *to = fs_join(g->plan.run_dir, "scripts/01-script.sh");
	struct plan_step *s = add_step(g, STEP_WORKLOAD, "workload", "");

	assert_int_equal(fs_write_atomic(from, "#!/bin/sh\necho copied\n", 22, NULL), 0);
	VEC_PUSH(&g->plan.copies, ((struct plan_copy){ xstrdup(from), xstrdup(to) }));
	strvec_clear(&s->argv);
	strvec_push(&s->argv, to);
	rig_run(g);
	ended_as(g, RUN_SUCCESS, 0, "");
	assert_string_equal(g->live.buf, "copied\n");
}

RUN_TEST(test_copy_missing)
{
	add_step(g, STEP_WORKLOAD, "workload", "true");
	VEC_PUSH(&g->plan.copies, ((struct plan_copy){ xstrdup(in_dir(g->top, "nosuch.sh")),
						       fs_join(g->plan.run_dir, "scripts/01-x") }));
	rig_run(g);
	ended_as(g, RUN_FAILED, 1, "nosuch.sh");
}

/* --- the directory --- */

RUN_TEST(test_cannot_create)
{
	struct err err = ERR_INIT;

	assert_int_equal(fs_write_atomic(g->runs, "a file", 6, NULL), 0);
	add_step(g, STEP_WORKLOAD, "workload", "true");
	assert_true(run_execute(&g->plan, &g->opts, &g->result, &err) < 0);
	assert_has(err.msg, g->runs);
}

RUN_TEST(test_exists_already)
{
	struct err err = ERR_INIT;

	assert_int_equal(fs_mkdirs(g->plan.run_dir, 0755, NULL), 0);
	add_step(g, STEP_WORKLOAD, "workload", "true");
	assert_int_equal(run_execute(&g->plan, &g->opts, &g->result, &err), -EEXIST);
}

/* A user's own folder named `latest` is left alone. */
RUN_TEST(test_latest_is_a_folder)
{
	assert_int_equal(fs_mkdirs(in_dir(g->runs, "latest"), 0755, NULL), 0);
	add_step(g, STEP_WORKLOAD, "workload", "true");
	rig_run(g);
	ended_as(g, RUN_SUCCESS, 0, "");
	assert_true(fs_is_dir(in_dir(g->runs, "latest")));
	assert_string_equal(str(json_array_get(json_object_get(g->doc, "warnings"), 0), "code"),
			    "W_LATEST_LINK");
}

static char *latest_of(const struct rig *g)
{
	char buf[512];
	ssize_t n = readlink(in_dir(g->runs, "latest"), buf, sizeof(buf));

	return xstrndup(buf, n > 0 ? (size_t)n : 0);
}

/* A container that does not start leaves nothing, and `latest` where it was. */
RUN_TEST(test_latest_is_undone)
{
	struct err err = ERR_INIT;

	for (int before = 0; before < 2; before++) {
		CLEANUP(xfreep) char *was = NULL, *is = NULL;

		if (before) {
			plan_again(g);
			add_step(g, STEP_WORKLOAD, "workload", "true");
			rig_run(g);
			was = xstrdup(g->plan.run_id);
		}
		plan_again(g);
		g->opts.quick = true;
		g->plan.engine = engine_find("docker");
		strvec_pushl(&g->plan.engine_argv, "/bin/sh", "-c", "exit 125", NULL);
		add_step(g, STEP_WORKLOAD, "workload", "true");
		assert_int_equal(run_execute(&g->plan, &g->opts, &g->result, &err), -ENOLINK);
		g->opts.quick = false;
		assert_false(fs_exists(g->plan.run_dir));
		is = latest_of(g);
		assert_string_equal(is, was ? was : "");
	}
	plan_again(g);
	add_step(g, STEP_WORKLOAD, "workload", "true");
}

/* A run that fails before its engine is asked is the newest all the same. */
RUN_TEST(test_latest_of_a_run_that_fails_early)
{
	struct err err = ERR_INIT;

	VEC_PUSH(&g->plan.copies,
		 ((struct plan_copy){ xstrdup("/nonexistent"), fs_join(g->plan.run_dir, "x") }));
	add_step(g, STEP_WORKLOAD, "workload", "true");
	assert_int_equal(run_execute(&g->plan, &g->opts, &g->result, &err), 0);
	assert_int_equal(g->result.status, RUN_FAILED);
	assert_string_equal(kept(latest_of(g)), g->plan.run_id);
}

RUN_TEST(test_run_id)
{
	CLEANUP(xfreep)
	char *a = run_new_id("a/b c;d"), *b = run_new_id(NULL), *c = run_new_id("a/b c;d");

	assert_int_equal(strlen(a), 16 + 1 + 7 + 1 + 6);
	assert_memory_equal(a + 16, "-a-b-c-d-", 9);
	assert_int_equal(a[8], 'T');
	assert_int_equal(a[15], 'Z');
	assert_int_equal(strspn(a + 25, "0123456789abcdef"), 6);
	assert_string_not_equal(a, c);
	assert_memory_equal(b + 16, "---", 3);
}

/* --- after analysis --- */

RUN_TEST(test_note_analysis)
{
	static const char analysis[] =
		"{\"warnings\":[{\"code\":\"W_X\",\"severity\":\"warning\",\"count\":2,\"text\":"
		"\"t\"},"
		"{\"code\":\"W_Y\",\"severity\":\"note\",\"count\":1,\"text\":\"y\"},7,"
		"{\"code\":\"W_X\",\"severity\":\"warning\",\"count\":3,\"text\":\"u\"}]}";
	static const char totals[] =
		"counter,device,view,total_j,attributed_j,unattributed_j,error_rel,flags\n"
		"p,gpu0,host,1.5,1,0.5,0,\np,gpu0,device,1.5,1,0.5,0,\n"
		"p,cpu0,host,2,1,1,0,estimated\n";
	CLEANUP(xfreep) char *dir = NULL, *file = NULL, *table = NULL;
	const json_t *metrics, *list;
	size_t before, warnings;

	add_step(g, STEP_WORKLOAD, "workload", "true");
	rig_run(g);
	before = json_array_size(json_object_get(g->doc, "metrics"));
	warnings = json_array_size(json_object_get(g->doc, "warnings"));
	dir = fs_join(g->plan.run_dir, "analysis/tables");
	file = fs_join(g->plan.run_dir, "analysis/analysis.json");
	table = fs_join(dir, "energy_totals.csv");
	assert_int_equal(fs_mkdirs(dir, 0755, NULL), 0);
	assert_int_equal(fs_write_atomic(file, analysis, sizeof(analysis) - 1, NULL), 0);
	assert_int_equal(fs_write_atomic(table, totals, sizeof(totals) - 1, NULL), 0);
	/* Twice: what analysis says replaces what it said. */
	for (int i = 0; i < 2; i++)
		assert_int_equal(run_note_analysis(g->plan.run_dir, 0.25 + i, NULL), 0);
	json_decref(g->doc);
	g->doc = run_doc_load(g->plan.run_dir);
	assert_true(json_number_value(json_object_get(json_object_get(g->doc, "durations_s"),
						      "analyze")) == 1.25);
	metrics = json_object_get(g->doc, "metrics");
	assert_int_equal(json_array_size(metrics), before + 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(json_is_true(json_object_get(json_array_get(metrics, before + i),
							      "estimated")),
				 i == 1);
	list = json_object_get(g->doc, "warnings");
	assert_int_equal(json_array_size(list), warnings + 2);
	/* one row per code */
	assert_string_equal(str(json_array_get(list, warnings), "text"), "t");
	assert_int_equal(
		json_integer_value(json_object_get(json_array_get(list, warnings), "count")), 5);
	assert_string_equal(str(g->doc, "status"), "success");
}
