/* How runs on the host end: steps, limits, signals, interrupts. */
#include "run_rig.h"
#include "warning_codes.h"

#include <pthread.h>

#include "profrig/base/fs.h"

/* --- ends that are normal --- */

RUN_TEST(test_success)
{
	json_t *w, *clocks;
	char *err;

	add_step(g, STEP_PRE, "pre-a", "echo pre >>$PROFRIG_RUN_DIR/order");
	add_step(g, STEP_WORKLOAD, "workload",
		 "echo work >>$PROFRIG_RUN_DIR/order; echo performance: 1 x/s; echo "
		 "'val_performance: 9 y'; echo performance: 2.5e1 samples/s; echo err >&2");
	add_step(g, STEP_POST, "post-a", "echo post >>$PROFRIG_RUN_DIR/order");
	rig_run(g);
	ended_as(g, RUN_SUCCESS, 0, "");
	assert_string_equal(kept(read_below(g, "order")), "pre\nwork\npost\n");
	assert_int_equal(json_array_size(json_object_get(g->doc, "steps")), 3);
	w = step_of(g, "workload");
	assert_int_equal(json_integer_value(json_object_get(w, "exit_code")), 0);
	assert_string_equal(str(w, "env_ref"), "plan.json#/steps/1/env");
	assert_string_equal(str(w, "out"), "steps/02-workload.out");
	assert_true(json_integer_value(json_object_get(w, "started_ns")) <
		    json_integer_value(json_object_get(w, "ended_ns")));
	clocks = json_object_get(g->doc, "clocks");
	assert_int_equal(json_array_size(clocks), 4);
	assert_string_equal(str(json_array_get(clocks, 1), "at"), "workload_start");
	assert_string_equal(str(json_object_get(g->doc, "versions"), "profrig"), "0.0-unit");
	assert_string_equal(str(json_object_get(g->doc, "versions"), "agent"), PROFRIG_VERSION);
	assert_true(strlen(str(json_object_get(g->doc, "host"), "kernel")) > 0);
	/* Each of the two in order; how they meet is left to chance. */
	err = strstr(g->live.buf, "err\n");
	assert_non_null(err);
	memmove(err, err + 4, strlen(err + 4) + 1);
	assert_string_equal(
		g->live.buf,
		"performance: 1 x/s\nval_performance: 9 y\nperformance: 2.5e1 samples/s\n");
	assert_true(access(in_dir(g->runs, "latest/run.json"), F_OK) == 0);
	assert_cleared_away(g);
	assert_string_equal(kept(strvec_shell(&g->phases)), "start pre workload post collect");
}

static const json_t *metric(const struct rig *g, const char *name)
{
	json_t *m;
	size_t i;

	json_array_foreach(json_object_get(g->doc, "metrics"), i,
			   m) if (!strcmp(str(m, "name"), name)) return m;
	return NULL;
}

RUN_TEST(test_performance_lines)
{
	static const struct {
		const char *text;
		double value;
		const char *unit; /* NULL: no metric */
	} cases[] = LIST(
		{ "performance: 14164 x", 14164, "x" }, { "performance: 14164/s, x", 14164, "x/s" },
		{ "performance: 1.2e+4, x", 12000, "x" }, { "performance: .5 x", .5, "x" },
		{ "performance: -3 x", -3, "x" }, { "performance: 123, /s x", 123, "x/s" },
		{ "rank 0: performance: 7 tok/s", 7, "tok/s" },
		{ "performance: 1 a\nperformance: 2 b", 2, "b" },
		{ "performance: 1 a\nperformance: none", 1, "a" },
		{ "performance: 12\nnext", 0, NULL }, { "performance: x 12", 0, NULL },
		{ "performance:12 x", 0, NULL }, { "val_performance: 3 q", 0, NULL },
		{ "performance: 1,234 tok", 1234, "tok" },
		{ "performance: 12,345.5 tok", 12345.5, "tok" },
		{ "performance: 1,23 tok", 0, NULL }, { "performance: 1234,567 tok", 0, NULL },
		{ "performance: 1,2345 tok", 0, NULL }, { "performance: 7 ms\r\nnext", 7, "ms" },
		{ "{\"train_samples_per_second\": 81.5, \"x\": 1}", 81.5, "samples_per_second" },
		{ "train_samples_per_second = 9\nperformance: 3 x", 3, "x" }, { "", 0, NULL });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const json_t *m;

		if (i > 0)
			plan_again(g);
		add_step(g, STEP_WORKLOAD, "workload", textf("printf '%%s' '%s'", cases[i].text));
		rig_run(g);
		m = metric(g, "performance");
		if (!cases[i].unit && m)
			fail_msg("'%s' gave %s %g", cases[i].text, str(m, "unit"),
				 json_number_value(json_object_get(m, "value")));
		if (!cases[i].unit)
			continue;
		if (!m)
			fail_msg("'%s' gave nothing", cases[i].text);
		assert_true(json_number_value(json_object_get(m, "value")) == cases[i].value);
		assert_string_equal(str(m, "unit"), cases[i].unit);
	}
}

/* The line stands across the border of two blocks, in a line among megabytes of others. */
RUN_TEST(test_performance_in_large_output)
{
	const json_t *m;

	add_step(g, STEP_WORKLOAD, "workload",
		 "head -c 1048560 /dev/zero | tr '\\0' '\\n'; echo; echo performance: 41 first; "
		 "head -c 3000000 /dev/zero; echo; echo performance: 42 last; "
		 "head -c 2000000 /dev/urandom");
	g->opts.events.output = NULL;
	rig_run(g);
	ended_as(g, RUN_SUCCESS, 0, "");
	m = metric(g, "performance");
	assert_non_null(m);
	assert_string_equal(str(m, "unit"), "last");
}

RUN_TEST(test_binary_output)
{
	CLEANUP(xfreep) char *sent = NULL, *got = NULL;

	add_step(g, STEP_WORKLOAD, "workload",
		 "head -c 300000 /dev/urandom | tee $PROFRIG_RUN_DIR/sent");
	rig_run(g);
	ended_as(g, RUN_SUCCESS, 0, "");
	sent = read_below(g, "sent");
	got = read_below(g, "steps/01-workload.out");
	assert_memory_equal(sent, got, 300000);
	assert_int_equal(g->live.len, 300000);
	assert_memory_equal(sent, g->live.buf, 300000);
}

/* A reader that takes little at a time gets everything. */
RUN_TEST(test_live_in_bits)
{
	g->live_takes = 7;
	add_step(g, STEP_WORKLOAD, "workload", "seq 20000");
	rig_run(g);
	ended_as(g, RUN_SUCCESS, 0, "");
	assert_string_equal(g->live.buf, kept(read_below(g, "steps/01-workload.out")));
}

static size_t takes_nothing(void *ctx, const char *text, size_t n)
{
	(void)ctx, (void)text, (void)n;
	return 0;
}

/* A reader that has gone to lunch does not suspend the limits. */
RUN_TEST(test_live_without_reader)
{
	g->opts.events.output = takes_nothing;
	add_step(g, STEP_WORKLOAD, "workload", "while :; do seq 1000; done")->timeout_s = 0.3;
	rig_run(g);
	ended_as(g, RUN_TIMEOUT, 1, "longer than 0.3 s");
}

/* --- ends that are not --- */

RUN_TEST(test_nonzero)
{
	add_step(g, STEP_WORKLOAD, "workload", "exit 9");
	add_step(g, STEP_POST, "post-a", "touch $PROFRIG_RUN_DIR/post");
	rig_run(g);
	ended_as(g, RUN_FAILED, 1, "workload exited with status 9");
	assert_int_equal(g->result.workload_code, 9);
	assert_int_equal(json_integer_value(json_object_get(g->doc, "exit_code")), 9);
	assert_true(json_is_null(json_object_get(g->doc, "signal")));
	assert_string_equal(str(g->doc, "phase"), "workload");
	free(read_below(g, "post"));
}

RUN_TEST(test_killed)
{
	add_step(g, STEP_WORKLOAD, "workload", "kill -KILL $$");
	rig_run(g);
	ended_as(g, RUN_FAILED, 1, "workload was killed by SIGKILL");
	assert_int_equal(g->result.workload_signal, SIGKILL);
	assert_string_equal(str(g->doc, "signal"), "SIGKILL");
	assert_true(json_is_null(json_object_get(g->doc, "exit_code")));
}

RUN_TEST(test_cannot_start)
{
	struct plan_step *s = add_step(g, STEP_WORKLOAD, "workload", "");

	strvec_clear(&s->argv);
	strvec_push(&s->argv, "/no/such/program");
	rig_run(g);
	ended_as(g, RUN_FAILED, 1, "cannot start '/no/such/program'");
}

RUN_TEST(test_not_utf8)
{
	for (int i = 0; i < 3; i++) {
		struct plan_step *s;

		if (i > 0)
			plan_again(g);
		s = add_step(g, STEP_WORKLOAD, "workload", "exit 0");
		if (i == 0) {
			strvec_push(&s->argv, "\xff\xfe");
		} else if (i == 1) {
			put_env(s, "A", "\xff", false);
		} else {
			free(s->cwd);
			s->cwd = xstrdup("/tmp/\xff");
		}
		rig_run(g);
		ended_as(g, RUN_FAILED, 1, "not valid UTF-8");
	}
}

RUN_TEST(test_too_large)
{
	struct plan_step *s = add_step(g, STEP_WORKLOAD, "workload", "exit 0");
	CLEANUP(xfreep) char *big = xmalloc(2000001);

	memset(big, 'x', 2000000);
	big[2000000] = '\0';
	put_env(s, "BIG", big, false);
	rig_run(g);
	ended_as(g, RUN_FAILED, 1, "too large");
}

/*
 * A run that comes to its limit when the workload has written <run>/ready: with a longer limit if
 * the machine did not give it the time.
 */
static void time_out_when_ready(struct rig *g, const char *command)
{
	for (double limit_s = 0.5; limit_s < 300; limit_s *= 6) {
		CLEANUP(xfreep) char *ready = NULL;

		if (limit_s > 0.5)
			plan_again(g);
		ready = fs_join(g->plan.run_dir, "ready");
		add_step(g, STEP_WORKLOAD, "workload", command)->timeout_s = limit_s;
		add_step(g, STEP_POST, "post-a", "touch $PROFRIG_RUN_DIR/post");
		rig_run(g);
		ended_as(g, RUN_TIMEOUT, 1, "longer than");
		if (fs_size(ready) > 0)
			return;
	}
	fail_msg("the workload never got ready");
}

/* The child ignores what is polite, and so does its own child in another session. */
RUN_TEST(test_timeout)
{
	time_out_when_ready(g, "cd $PROFRIG_RUN_DIR; trap '' INT TERM; setsid sh -c 'trap \"\" INT "
			       "TERM; echo $$ >escaped; while :; do sleep 0.1; done' & while [ ! "
			       "-s escaped ]; do sleep 0.02; done; echo $$ >leader; echo yes "
			       ">ready; while :; do sleep 0.1; done");
	assert_has(g->result.reason, "SIGKILL");
	assert_string_equal(str(step_of(g, "workload"), "ended_by"), "SIGKILL");
	assert_false(test_alive(pid_in(g, "leader")));
	assert_false(test_alive(pid_in(g, "escaped")));
	free(read_below(g, "post"));
}

/* No grace is none, not the usual ten seconds of it, twice. */
RUN_TEST(test_no_grace)
{
	int64_t t0 = clock_monotonic_ns();

	g->conf.grace_s = 0;
	add_step(g, STEP_WORKLOAD, "workload", "trap '' INT TERM; while :; do sleep 0.1; done")
		->timeout_s = 0.2;
	rig_run(g);
	ended_as(g, RUN_TIMEOUT, 1, "longer than 0.2 s");
	assert_true(clock_monotonic_ns() - t0 < 19 * NS_PER_S);
}

/* A workload that saves its work on INT is given the time; it is a timeout all the same. */
RUN_TEST(test_timeout_polite)
{
	g->conf.grace_s = 60;
	time_out_when_ready(g, "trap 'touch $PROFRIG_RUN_DIR/saved; exit 0' INT; echo yes "
			       ">$PROFRIG_RUN_DIR/ready; while :; do sleep 0.05; done");
	ended_as(g, RUN_TIMEOUT, 1, "SIGINT");
	free(read_below(g, "saved"));
}

RUN_TEST(test_forks_away)
{
	json_t *w;

	add_step(g, STEP_WORKLOAD, "workload",
		 "(setsid sh -c 'echo $$ >$PROFRIG_RUN_DIR/daemon; exec sleep 300' &) ; while [ ! "
		 "-s $PROFRIG_RUN_DIR/daemon ]; do sleep 0.02; done; exit 0");
	rig_run(g);
	ended_as(g, RUN_FAILED, 1, "left 1 process running");
	assert_false(test_alive(pid_in(g, "daemon")));
	w = step_of(g, "workload");
	assert_int_equal(json_integer_value(json_object_get(w, "exit_code")), 0);
	assert_int_equal(json_integer_value(json_object_get(w, "strays_killed")), 1);
}

/* Helpers that are about to end are no failure. */
RUN_TEST(test_stragglers)
{
	/* Until its parent is gone for good, which the agent sees to when it has counted. */
	add_step(g, STEP_WORKLOAD, "workload", "while kill -0 $$; do :; done 2>/dev/null & exit 0");
	rig_run(g);
	ended_as(g, RUN_SUCCESS, 0, "");
	assert_int_equal(json_integer_value(json_object_get(step_of(g, "workload"), "strays")), 1);
}

/* A server started by a pre script lives through the workload and until the end, not longer. */
RUN_TEST(test_pre_server)
{
	add_step(g, STEP_PRE, "pre-server",
		 "(setsid sh -c 'echo $$ >$PROFRIG_RUN_DIR/server; exec sleep 300' &) ; while [ ! "
		 "-s $PROFRIG_RUN_DIR/server ]; do sleep 0.02; done");
	add_step(g, STEP_WORKLOAD, "workload", "(setsid sleep 300 &); exit 0");
	add_step(g, STEP_POST, "post-ask",
		 "kill -0 $(cat $PROFRIG_RUN_DIR/server) && touch $PROFRIG_RUN_DIR/met");
	rig_run(g);
	free(read_below(g, "met"));
	assert_false(test_alive(pid_in(g, "server")));
}

RUN_TEST(test_pre_fails)
{
	add_step(g, STEP_PRE, "pre-good", "true");
	add_step(g, STEP_PRE, "pre-bad", "exit 4");
	add_step(g, STEP_PRE, "pre-later", "touch $PROFRIG_RUN_DIR/ran");
	add_step(g, STEP_WORKLOAD, "workload", "touch $PROFRIG_RUN_DIR/ran");
	add_step(g, STEP_POST, "post-a", "touch $PROFRIG_RUN_DIR/post");
	rig_run(g);
	ended_as(g, RUN_FAILED, 1, "pre script 'pre-bad' exited with status 4");
	assert_string_equal(str(g->doc, "phase"), "pre");
	assert_false(fs_exists(in_dir(g->plan.run_dir, "ran")));
	free(read_below(g, "post"));
	assert_int_equal(json_array_size(json_object_get(g->doc, "steps")), 3);
	assert_int_equal(g->result.workload_code, -1);
}

RUN_TEST(test_post_fails)
{
	add_step(g, STEP_WORKLOAD, "workload", "exit 0");
	add_step(g, STEP_POST, "post-bad", "exit 5");
	add_step(g, STEP_POST, "post-later", "touch $PROFRIG_RUN_DIR/post");
	rig_run(g);
	ended_as(g, RUN_FAILED, 1, "post script 'post-bad' exited with status 5");
	assert_string_equal(str(g->doc, "phase"), "post");
	free(read_below(g, "post"));
}

/* The first failure names the run. */
RUN_TEST(test_first_failure_wins)
{
	add_step(g, STEP_WORKLOAD, "workload", "exit 6");
	add_step(g, STEP_POST, "post-bad", "exit 5");
	add_output(g, "t", "must.json", true, 1);
	rig_run(g);
	ended_as(g, RUN_FAILED, 1, "workload exited with status 6");
}

/* --- the agent dies --- */

RUN_TEST(test_agent_killed)
{
	add_step(g, STEP_WORKLOAD, "workload",
		 "(setsid sh -c 'echo $$ >$PROFRIG_RUN_DIR/escaped; exec sleep 300' &); while [ ! "
		 "-s $PROFRIG_RUN_DIR/escaped ]; do sleep 0.02; done; "
		 "echo records 3 >$PROFRIG_RUN_DIR/artifacts/t/must.json; kill -KILL $PPID; sleep "
		 "300");
	add_step(g, STEP_POST, "post-a", "true");
	add_output(g, "t", "must.json", true, 1);
	rig_run(g);
	ended_as(g, RUN_FAILED, 1, "profrig-init was killed by SIGKILL while 'workload' ran");
	assert_int_equal(json_array_size(json_object_get(g->doc, "steps")), 1);
	/* What was there is collected all the same, and nothing lives on. */
	assert_string_equal(str(json_array_get(json_object_get(g->doc, "artifacts"), 0), "verdict"),
			    "valid");
	assert_false(test_alive(pid_in(g, "escaped")));
}

RUN_TEST(test_agent_stopped)
{
	add_step(g, STEP_WORKLOAD, "workload", "kill -TERM $PPID; exec sleep 300");
	add_step(g, STEP_POST, "post-a", "true");
	rig_run(g);
	ended_as(g, RUN_FAILED, 1, "profrig-init was stopped (SIGTERM) while 'workload' ran");
}

RUN_TEST(test_no_agent)
{
	add_step(g, STEP_WORKLOAD, "workload", "exit 0");
	free(g->plan.spec.lib_dir);
	g->plan.spec.lib_dir = xstrdup("/no/such/dir");
	rig_run(g);
	ended_as(g, RUN_FAILED, 1, "/no/such/dir/profrig-init");
	assert_int_equal(json_array_size(json_object_get(g->doc, "steps")), 0);
}

/* Says nothing that is an event, and then ends with words. */
RUN_TEST(test_engine_fails)
{
	add_step(g, STEP_WORKLOAD, "workload", "exit 0");
	strvec_pushl(&g->plan.engine_argv, "/bin/sh", "-c",
		     "echo '{}'; echo chatter; echo first >&2; echo 'no such image' >&2; exit 125",
		     NULL);
	rig_run(g);
	ended_as(g, RUN_FAILED, 1, "ended with status 125: no such image");
	assert_string_equal(kept(read_below(g, "steps/engine.err")), "first\nno such image");
}

/* --- interrupts --- */

struct poke {
	volatile sig_atomic_t *flag;
	int sig, times;
	const char *when; /* a file that must be there first */
};

static AS_HANDLER void *poke_thread(void *arg)
{
	struct poke *p = arg;

	wait_for_file(p->when);
	for (int i = 0; i < p->times; i++) {
		/* The last one was heard. */
		for (int k = 0; k < 12000 && *p->flag; k++)
			usleep(10000);
		*p->flag = p->sig;
	}
	return NULL;
}

static void interrupted_run(struct rig *g, int sig, int times)
{
	CLEANUP(xfreep) char *when = fs_join(g->plan.run_dir, "working");
	struct poke p = { &g->interrupt, sig, times, when };
	pthread_t th;

	assert_int_equal(pthread_create(&th, NULL, poke_thread, &p), 0);
	rig_run(g);
	pthread_join(th, NULL);
}

RUN_TEST(test_interrupt)
{
	g->conf.grace_s = 60;
	add_step(g, STEP_WORKLOAD, "workload", "touch $PROFRIG_RUN_DIR/working; exec sleep 300");
	add_step(g, STEP_POST, "post-a", "touch $PROFRIG_RUN_DIR/post");
	interrupted_run(g, SIGINT, 1);
	ended_as(g, RUN_INTERRUPTED, 130, "SIGINT");
	assert_string_equal(str(step_of(g, "workload"), "signal"), "SIGINT");
	free(read_below(g, "post"));
	/* The caller sees it too. */
	assert_int_equal(g->interrupt, SIGINT);
}

RUN_TEST(test_interrupt_term)
{
	add_step(g, STEP_WORKLOAD, "workload",
		 "trap '' INT; touch $PROFRIG_RUN_DIR/working; while :; do sleep 0.1; done");
	interrupted_run(g, SIGTERM, 1);
	ended_as(g, RUN_INTERRUPTED, 143, "SIGTERM");
	assert_string_equal(str(step_of(g, "workload"), "signal"), "SIGTERM");
}

/* The second one does not wait for a grace of ten minutes. */
RUN_TEST(test_interrupt_twice)
{
	int64_t t0 = clock_monotonic_ns();

	g->conf.grace_s = 600;
	add_step(g, STEP_WORKLOAD, "workload",
		 "trap '' INT TERM; touch $PROFRIG_RUN_DIR/working; while :; do sleep 0.1; done");
	interrupted_run(g, SIGINT, 2);
	ended_as(g, RUN_INTERRUPTED, 130, "SIGINT");
	assert_string_equal(str(step_of(g, "workload"), "signal"), "SIGKILL");
	assert_true(clock_monotonic_ns() - t0 < 600 * NS_PER_S);
}

RUN_TEST(test_interrupt_before_workload)
{
	add_step(g, STEP_PRE, "pre-a", "touch $PROFRIG_RUN_DIR/working; exec sleep 300");
	add_step(g, STEP_WORKLOAD, "workload", "true");
	interrupted_run(g, SIGINT, 1);
	ended_as(g, RUN_INTERRUPTED, 130, "SIGINT");
	assert_string_equal(str(g->doc, "phase"), "pre");
	assert_null(step_of(g, "workload"));
}

/* --- warnings --- */

static bool has_row(const char *code)
{
	for (const struct run_warning_info *w = run_warning_table; w->code; w++) {
		if (!strcmp(w->code, code))
			return true;
	}
	return false;
}

/* What `profrig list warnings` says. */
TEST(test_run_warning_table)
{
	size_t rows = 0;

	while (run_warning_table[rows].code)
		rows++;
	expect_warning_codes("include/profrig/run/run.h", "harness/run/outcome.c", has_row, rows);
}
