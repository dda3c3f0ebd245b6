/* What is left of a run that was killed, on a full disk, and who cleans up. */
#include "run_rig.h"

#include <sys/mount.h>
#include <sys/wait.h>

/* --- kill -9 --- */

static bool proc_file_has(const char *pid, const char *name, const char *word)
{
	CLEANUP(xfreep) char *path = xasprintf("/proc/%s/%s", pid, name), *data = NULL;
	size_t n;

	return fs_read(path, 1 << 21, &data, &n, NULL) == 0 && memmem(data, n, word, strlen(word));
}

/* No process of this run id is left: not its agent, and none that has it in its environment. */
static void assert_no_process(const char *run_id)
{
	CLEANUP(strvec_release) struct strvec pids = STRVEC_INIT;

	assert_int_equal(fs_list("/proc", &pids, NULL), 0);
	for (size_t i = 0; i < pids.nr; i++)
		if (pids.v[i][0] >= '0' && pids.v[i][0] <= '9' &&
		    (proc_file_has(pids.v[i], "environ", textf("PROFRIG_RUN_ID=%s", run_id)) ||
		     proc_file_has(pids.v[i], "cmdline", run_id)))
			fail_msg("process %s of %s lives", pids.v[i], run_id);
}

/* Whether it still ran when it was killed. */
static bool killed_after(struct rig *g, useconds_t us)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		run_execute(&g->plan, &g->opts, &g->result, NULL);
		_exit(0);
	}
	usleep(us);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status);
}

static void add_steps(struct rig *g, int i)
{
	add_step(g, STEP_PRE, "pre-a", "(setsid sleep 300 &); sleep 0.05");
	/* One in four takes the agent its two seconds to end. */
	add_step(
		g, STEP_WORKLOAD, "workload",
		i % 4 ? "(setsid sleep 300 &); sleep 0.15"
		      : "(setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' &); sleep 0.15");
	add_step(g, STEP_POST, "post-a", "sleep 0.05");
	add_sampler(g, "procfs");
}

/* Returns whether the run was cut short: it may have been killed when all was written. */
static bool assert_finished_off(struct rig *g)
{
	const char *status;

	json_decref(g->doc);
	g->doc = run_doc_load(g->plan.run_dir);
	status = str(g->doc, "status");
	if (!strcmp(status, "running") || !strcmp(status, "planned"))
		fail_msg("%s is still '%s'", g->plan.run_dir, status);
	assert_true(strlen(str(g->doc, "ended_utc")) > 20);
	assert_cleared_away(g);
	return !strcmp(status, "interrupted");
}

/*
 * At moments all over a run, which takes 0.3 s, and a second when strays have to be ended; or
 * longer: what comes too early or too late says how fast this machine is.
 */
RUN_TEST(test_kill9)
{
	unsigned seed = (unsigned)clock_monotonic_ns(), begun = 0, finished_off = 0;
	useconds_t longest_us = 400000;

	print_message("# seed %u\n", seed);
	for (int i = 0; i < 300 && (i < 20 || begun < 8); i++) {
		CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
		bool killed;

		add_steps(g, i);
		killed = killed_after(g, (useconds_t)rand_r(&seed) %
						 (i % 2 ? longest_us / 7 : longest_us));
		finished_off += run_sweep_leftovers(NULL, &lines, NULL) > 0;
		assert_no_process(g->plan.run_id);
		assert_false(fs_exists(textf("%s/.%s.tmp", g->runs, g->plan.run_id)));
		if (!killed) {
			longest_us = longest_us / 2 + 1000;
		} else if (fs_exists(g->plan.run_dir)) {
			begun += assert_finished_off(g);
		} else if (longest_us < 10000000) {
			longest_us += longest_us / 8;
		}
		plan_release(&g->plan);
		plan_begin_at(g, g->runs);
	}
	print_message("# %u had begun, %u were finished off\n", begun, finished_off);
	assert_true(begun >= 8);
	assert_true(finished_off >= begun);
}

/* run.json is whole and right at every moment of a run, for any reader. */
RUN_TEST(test_always_readable)
{
	unsigned seen = 0;
	char last[16] = "";
	pid_t pid;

	add_step(g, STEP_PRE, "pre-a", "sleep 0.1");
	add_step(g, STEP_WORKLOAD, "workload", "sleep 0.2");
	add_step(g, STEP_POST, "post-a", "sleep 0.1");
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		run_execute(&g->plan, &g->opts, &g->result, NULL);
		_exit(0);
	}
	for (struct proc_exit x; proc_wait(pid, 2, &x, NULL) < 0;) {
		if (!fs_exists(g->plan.run_dir))
			continue;
		json_decref(g->doc);
		g->doc = run_doc_load(g->plan.run_dir);
		if (strcmp(last, str(g->doc, "status")) != 0)
			seen++;
		snprintf(last, sizeof(last), "%s", str(g->doc, "status"));
	}
	json_decref(g->doc);
	g->doc = run_doc_load(g->plan.run_dir);
	assert_string_equal(str(g->doc, "status"), "success");
	assert_true(seen >= 1);
}

/* A run that lives is not touched, whatever its run.json says. */
RUN_TEST(test_sweep_spares_the_living)
{
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
	struct proc_exit x;
	pid_t pid;

	add_step(g, STEP_WORKLOAD, "workload",
		 "cd $PROFRIG_RUN_DIR; touch working; while [ ! -e go ]; do sleep 0.02; done");
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		run_execute(&g->plan, &g->opts, &g->result, NULL);
		_exit(0);
	}
	assert_true(wait_for_file(in_dir(g->plan.run_dir, "working")));
	assert_int_equal(run_sweep_leftovers(NULL, &lines, NULL), 0);
	assert_int_equal(lines.nr, 0);
	test_put(g->plan.run_dir, "go", "");
	assert_int_equal(proc_wait(pid, 120000, &x, NULL), 0);
	g->doc = run_doc_load(g->plan.run_dir);
	assert_string_equal(str(g->doc, "status"), "success");
}

RUN_TEST(test_sweep_hostile_registry)
{
	static const char *const texts[] = LIST(
		"", "{", "[]", "{\"run_dir\":7}", "{\"run_dir\":\"relative\",\"engine\":\"x\"}",
		"{\"run_dir\":\"/no/such/dir\",\"engine\":\"host\"}");
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT, names = STRVEC_INIT;
	CLEANUP(xfreep) char *dir = fs_join(getenv("XDG_RUNTIME_DIR"), "profrig");

	assert_int_equal(fs_mkdirs(dir, 0700, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CLEANUP(xfreep) char *path = xasprintf("%s/entry-%zu", dir, i);

		assert_int_equal(fs_write_atomic(path, texts[i], strlen(texts[i]), NULL), 0);
	}
	assert_int_equal(run_sweep_leftovers(NULL, &lines, NULL), ARRAY_LEN(texts));
	assert_int_equal(fs_list(dir, &names, NULL), 0);
	assert_int_equal(names.nr, 0);
}

/* What is said once is true once: a run that had ended is not marked again. */
RUN_TEST(test_sweep_says_it_once)
{
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
	CLEANUP(xfreep)
	char *path = xasprintf("%s/profrig/%s", getenv("XDG_RUNTIME_DIR"), g->plan.run_id),
	     *entry = xasprintf("{\"run_dir\":\"%s\",\"engine\":\"host\"}", g->plan.run_dir);

	add_step(g, STEP_WORKLOAD, "workload", "true");
	rig_run(g);
	assert_int_equal(fs_write_atomic(path, entry, strlen(entry), NULL), 0);
	assert_int_equal(run_sweep_leftovers(NULL, &lines, NULL), 1);
	assert_int_equal(lines.nr, 0);
	json_decref(g->doc);
	g->doc = run_doc_load(g->plan.run_dir);
	assert_string_equal(str(g->doc, "status"), "success");
}

/*
 * An engine whose daemon hangs: the container stays, and so does the entry, until a later profrig
 * can remove it.
 */
static const char hanging_script[] =
	"#!/bin/sh\n"
	"d=$(dirname \"$0\")\n"
	"case $1 in\n"
	"run) exit 125 ;;\n"
	"rm) test -e $d/works || exit 1; touch $d/removed ;;\n"
	"ps) test -e $d/works || exit 1\n"
	"	test -e $d/removed || echo \"profrig-$(cat $d/id) $(cat $d/id)\" ;;\n"
	"esac\n";

RUN_TEST(test_container_left)
{
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;

	test_put(g->top, "docker", hanging_script);
	test_put(g->top, "id", g->plan.run_id);
	assert_int_equal(chmod(in_dir(g->top, "docker"), 0755), 0);
	setenv("PROFRIG_DOCKER", in_dir(g->top, "docker"), 1);
	g->plan.engine = engine_find("docker");
	g->plan.spec.image = xstrdup("img:1");
	add_step(g, STEP_WORKLOAD, "workload", "true");
	rig_run(g);
	ended_as(g, RUN_FAILED, 1, "ended with status 125");
	assert_string_equal(str(json_array_get(json_object_get(g->doc, "warnings"), 0), "code"),
			    W_CONTAINER_LEFT);
	run_sweep_leftovers(NULL, &lines, NULL);
	assert_int_equal(lines.nr, 0);
	test_put(g->top, "works", "");
	run_sweep_leftovers(NULL, &lines, NULL);
	assert_int_equal(lines.nr, 1);
	assert_has(lines.v[0], "removed container profrig-");
	assert_cleared_away(g);
	unsetenv("PROFRIG_DOCKER");
}

/* --- a full disk --- */

RUN_TEST(test_full_disk)
{
	CLEANUP(xfreep) char *disk = fs_join(g->top, "disk");
	int64_t bytes;

	assert_int_equal(mkdir(disk, 0755), 0);
	if (mount("tmpfs", disk, "tmpfs", 0, "size=2m") < 0) {
		print_message("# mounting a tmpfs: %s\n", strerror(errno));
		skip();
	}
	plan_release(&g->plan);
	plan_begin_at(g, disk);
	/* It ignores that it cannot write, as many do. */
	add_step(g, STEP_WORKLOAD, "workload", "head -c 50000000 /dev/zero 2>/dev/null; exit 0");
	add_step(g, STEP_POST, "post-a",
		 "head -c 50000000 /dev/zero >$PROFRIG_RUN_DIR/more 2>/dev/null; exit 0");
	g->opts.runs_dir = disk;
	g->opts.events.output = NULL;
	rig_run(g);
	bytes = fs_size(g->plan.steps.v[0].out);
	umount2(disk, MNT_DETACH);
	assert_true(bytes > 500000);
	ended_as(g, RUN_FAILED, 1, "disk of the run directory is full");
}
