/* Outputs that are logs, outputs in groups, outputs that may be there: how a run judges them; and
 * what it writes for tools before they start. */
#include "run_rig.h"

static struct plan_output *last_output(struct rig *g)
{
	return &g->plan.outputs.v[g->plan.outputs.nr - 1];
}

static void add_log(struct rig *g, const char *glob, const char *word, uint64_t least)
{
	add_output(g, "t", glob, true, least);
	last_output(g)->match = (struct strvec)STRVEC_INIT;
	strvec_push(&last_output(g)->match, word);
}

static void workload(struct rig *g, const char *command)
{
	add_step(g, STEP_WORKLOAD, "workload",
		 textf("cd $PROFRIG_RUN_DIR/artifacts/t && %s", command));
}

static int64_t records(const struct rig *g)
{
	const json_t *a = json_array_get(json_object_get(g->doc, "artifacts"), 0);

	return json_integer_value(json_object_get(a, "records"));
}

static size_t artifacts(const struct rig *g)
{
	return json_array_size(json_object_get(g->doc, "artifacts"));
}

/* --- logs --- */

RUN_TEST(log_lines)
{
	workload(g, "printf 'a bench 1\\nnothing\\nbench\\nx' >a.log");
	add_log(g, "*.log", "bench", 2);
	rig_run(g);
	ended_as(g, RUN_SUCCESS, 0, "");
	assert_int_equal(records(g), 2);
}

/* A record that its writer did not end is no record; the words of others may end as they like. */
RUN_TEST(log_that_is_cut)
{
	workload(g, "printf 'bench 1\\nbench 2\\nbench 3, of wh' >a.log");
	add_log(g, "*.log", "bench", 1);
	rig_run(g);
	ended_as(g, RUN_FAILED, 7, "is damaged: its last line is cut short, after 2 whole ones");
	assert_int_equal(records(g), 2);
}

RUN_TEST(log_with_too_little)
{
	workload(g, "printf 'a bench 1\\nnothing\\n' >a.log");
	add_log(g, "*.log", "bench", 2);
	rig_run(g);
	ended_as(g, RUN_FAILED, 7, "1 of its lines hold bench, wanted at least 2");
}

/* Lines longer than any buffer are one line; bytes of no text do no harm. */
RUN_TEST(log_of_odd_bytes)
{
	workload(g, "{ head -c 3000000 /dev/zero | tr '\\0' x; echo ' bench bench'; "
		    "printf '\\377\\376 bench\\n'; } >a.log");
	add_log(g, "*.log", "bench", 1);
	rig_run(g);
	ended_as(g, RUN_SUCCESS, 0, "");
	assert_int_equal(records(g), 2);
}

/* One file of a process that called nothing says nothing against the other's. */
RUN_TEST(log_of_two_processes)
{
	workload(g, "echo bench >1.log; echo other >2.log");
	add_log(g, "*.log", "bench", 1);
	rig_run(g);
	ended_as(g, RUN_SUCCESS, 0, "");
	assert_int_equal(artifacts(g), 2);
}

/* --- groups --- */

static void in_group(struct rig *g, const char *glob)
{
	add_output(g, "t", glob, true, 1);
	last_output(g)->group = xstrdup("trace");
}

RUN_TEST(one_of_a_group)
{
	static const char *const left[] = { "echo records 3 >new.x", "echo records 3 >old.x",
					    "echo records 3 >old.x; echo records 0 >new.x",
					    "echo records 0 >old.x; echo records 3 >new.x" };

	for (size_t i = 0; i < ARRAY_LEN(left); i++) {
		workload(g, left[i]);
		in_group(g, "new.x");
		in_group(g, "old.x");
		rig_run(g);
		ended_as(g, RUN_SUCCESS, 0, "");
		plan_again(g);
	}
}

RUN_TEST(none_of_a_group)
{
	workload(g, "true");
	in_group(g, "new.x");
	in_group(g, "old.x");
	rig_run(g);
	ended_as(g, RUN_FAILED, 7, "'artifacts/t/old.x' of tool 't' is missing");
	plan_again(g);
	workload(g, "echo records 0 >old.x");
	in_group(g, "new.x");
	in_group(g, "old.x");
	rig_run(g);
	ended_as(g, RUN_FAILED, 7, "is empty");
	plan_again(g);
	/* What is damaged is never made good by another. */
	workload(g, "echo bad >new.x; echo records 3 >old.x");
	in_group(g, "new.x");
	in_group(g, "old.x");
	rig_run(g);
	ended_as(g, RUN_FAILED, 7, "is damaged");
}

/* --- if any --- */

RUN_TEST(if_any)
{
	static const struct {
		const char *command;
		int code;
		size_t artifacts;
	} cases[] = {
		{ "true", 0, 0 },
		{ "echo records 2 >x.csv", 0, 1 },
		{ "echo records 0 >x.csv", 0, 1 },
		{ "echo bad >x.csv", 7, 1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		workload(g, cases[i].command);
		add_output(g, "t", "*.csv", true, 1);
		last_output(g)->if_any = true;
		rig_run(g);
		if (g->result.exit_code != cases[i].code || artifacts(g) != cases[i].artifacts)
			ROW_FAIL(i, "exit %d, %zu artifacts", g->result.exit_code, artifacts(g));
		plan_again(g);
	}
}

/* --- before the start --- */

RUN_TEST(made_scripts)
{
	VEC_PUSH(&g->plan.made, ((struct plan_made){ xstrdup(in_dir(g->plan.run_dir, "wrap/prog")),
						     xstrdup("#!/bin/sh\necho made $1\n") }));
	add_step(g, STEP_WORKLOAD, "workload", "PATH=$PROFRIG_RUN_DIR/wrap:$PATH prog well");
	rig_run(g);
	ended_as(g, RUN_SUCCESS, 0, "");
	assert_string_equal(kept(read_below(g, "steps/01-workload.out")), "made well\n");
}

/* GPUs of the machine stand in run.json, whether anything samples them or not. */
RUN_TEST(devices)
{
	CLEANUP(devices_release) struct devices d = { .gpus = VEC_INIT, .rocm = "6.4.1" };
	struct gpu one = { .vendor = GPU_AMD,
			   .name = "AMD Instinct MI300X",
			   .arch = "gfx942",
			   .pci = "0000:c1:00.0",
			   .render_minor = 136,
			   .memory_bytes = 1024 };
	const json_t *o;

	VEC_PUSH(&d.gpus, one);
	g->plan.devices = &d;
	add_step(g, STEP_WORKLOAD, "workload", "true");
	rig_run(g);
	o = json_array_get(json_object_get(g->doc, "devices"), 0);
	assert_string_equal(str(o, "id"), "gpu0");
	assert_string_equal(str(o, "vendor"), "amd");
	assert_string_equal(str(o, "arch"), "gfx942");
	assert_string_equal(str(o, "driver"), "6.4.1");
	assert_int_equal(json_integer_value(json_object_get(o, "render_minor")), 136);
	assert_int_equal(json_integer_value(json_object_get(o, "memory_bytes")), 1024);
}
