/* How profrig-init ends, and that nothing it started outlives it. */
#include "agent_rig.h"

static void leave_everything_running(struct rig *g)
{
	say_sh(g, 1,
	       textf("trap '' TERM INT HUP; echo $$ >%s/leader; (setsid sh -c 'trap \"\" "
		     "TERM; echo $$ >%s/escaped; while :; do sleep 1; done' &); "
		     "while :; do sleep 1; done",
		     g->dir, g->dir));
	json_decref(expect(g, "started"));
}

RIG_TEST(test_closed_input_ends_everything)
{
	pid_t leader, escaped;
	struct proc_exit x;
	int64_t t0;

	leave_everything_running(g);
	leader = written_pid(g, "leader");
	escaped = written_pid(g, "escaped");
	t0 = clock_monotonic_ns();
	close(g->to);
	g->to = -1;
	assert_int_equal(proc_wait(g->pid, PATIENCE_MS, &x, NULL), 0);
	g->pid = 0;
	assert_int_equal(x.code, 0);
	/* They were asked first; that they would never have gone by themselves is sure. */
	assert_true(clock_monotonic_ns() - t0 > 1500 * NS_PER_MS);
	assert_false(test_alive(leader));
	assert_false(test_alive(escaped));
}

static bool carried(const char *entry)
{
	CLEANUP(strvec_release) struct strvec pids = STRVEC_INIT;

	assert_int_equal(fs_list("/proc", &pids, NULL), 0);
	for (size_t i = 0; i < pids.nr; i++) {
		CLEANUP(xfreep) char *path = xasprintf("/proc/%s/environ", pids.v[i]), *data = NULL;
		size_t n;

		if (pids.v[i][0] <= '9' && fs_read(path, 1 << 21, &data, &n, NULL) == 0 &&
		    memmem(data, n, entry, strlen(entry)))
			return true;
	}
	return false;
}

/*
 * It forks and is gone while the agent looks at the processes: a list of names that is older than
 * the child must not be believed.
 */
RIG_TEST(test_closed_input_during_fork)
{
	for (int i = 0; i < 60; i++) {
		struct rig other = { .dir = g->dir };
		struct proc_exit x;

		start_agent(&other);
		rig_say(&other,
			"{\"op\":\"start\",\"id\":1,\"argv\":[\"/bin/sh\",\"-c\",\"sleep 300 & "
			"exit "
			"0\"],\"env\":[\"PATH=/bin\",\"%s\"]}",
			textf("UNIT_MARK=%d.%lld", (int)getpid(), (long long)clock_monotonic_ns()));
		/* Some moments more or less, so that one of them is the one. */
		for (volatile int k = 0; k < i * 3000; k++)
			;
		close(other.to);
		assert_int_equal(proc_wait(other.pid, PATIENCE_MS, &x, NULL), 0);
		close(other.from);
		strbuf_release(&other.in);
		assert_false(carried(textf("UNIT_MARK=%d.%lld", (int)getpid(),
					   (long long)clock_monotonic_ns())));
	}
}

RIG_TEST(test_term_ends_everything)
{
	struct proc_exit x;
	json_t *ev;

	say_sh(g, 1, "exec sleep 300");
	json_decref(expect(g, "started"));
	kill(g->pid, SIGTERM);
	ev = expect(g, "ending");
	assert_string_equal(text(ev, "by"), "SIGTERM");
	json_decref(ev);
	ev = expect(g, "exited");
	assert_int_equal(num(ev, "signal"), SIGTERM);
	json_decref(ev);
	ev = expect(g, "bye");
	assert_int_equal(num(ev, "killed"), 1);
	json_decref(ev);
	assert_int_equal(proc_wait(g->pid, PATIENCE_MS, &x, NULL), 0);
	g->pid = 0;
}

/* Killed itself, it takes its steps along. */
RIG_TEST(test_killed_agent_takes_step_along)
{
	struct proc_exit x;
	json_t *ev;
	pid_t pid;

	say_sh(g, 1, "exec sleep 300");
	ev = expect(g, "started");
	pid = (pid_t)num(ev, "pid");
	json_decref(ev);
	kill(g->pid, SIGKILL);
	proc_wait(g->pid, PATIENCE_MS, &x, NULL);
	g->pid = 0;
	assert_dead_soon(pid);
}

/* Without a reader thousands of events pile up, and the end must come all the same. */
RIG_TEST(test_full_output_pipe)
{
	struct proc_exit x;
	pid_t pid;
	json_t *ev;
	bool blocked = false;

	say_sh(g, 1, "exec sleep 300");
	ev = expect(g, "started");
	pid = (pid_t)num(ev, "pid");
	json_decref(ev);
	fcntl(g->to, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 200000 && !blocked; i++) {
		static const char line[] = "{\"op\":\"signal\",\"id\":99999,\"sig\":15}\n";
		ssize_t n = write(g->to, line, sizeof(line) - 1);

		if (n < 0 && errno == EAGAIN) {
			usleep(100000);
			n = write(g->to, line, sizeof(line) - 1);
			blocked = n < 0 && errno == EAGAIN;
		}
	}
	/* It stopped listening instead of growing. */
	assert_true(blocked);
	close(g->to);
	g->to = -1;
	assert_int_equal(proc_wait(g->pid, PATIENCE_MS, &x, NULL), 0);
	g->pid = 0;
	assert_dead_soon(pid);
}

RIG_TEST(test_reader_gone)
{
	struct proc_exit x;
	pid_t pid;
	json_t *ev;

	say_sh(g, 1, "exec sleep 300");
	ev = expect(g, "started");
	pid = (pid_t)num(ev, "pid");
	json_decref(ev);
	close(g->from);
	g->from = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(proc_wait(g->pid, PATIENCE_MS, &x, NULL), 0);
	g->pid = 0;
	assert_dead_soon(pid);
}

/* Its first word cannot be said, though its input stays open: nothing would ever end it. */
TEST(test_output_that_takes_nothing)
{
	CLEANUP(xfreep) char *path = agent_path();
	char run[] = "--run", id[] = "unit-test";
	char *argv[] = { path, run, id, NULL };
	struct proc_opts o = PROC_OPTS_INIT;
	struct proc_exit x;
	static const char key[] = "{\"op\":\"key\",\"id\":0,\"key\":\"" RIG_KEY "\"}\n";
	int in[2];
	pid_t pid;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	o.argv = argv;
	o.fd_in = in[0];
	o.fd_out = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_int_equal(proc_spawn(&o, &pid, NULL), 0);
	close(in[0]);
	close(o.fd_out);
	assert_int_equal(write(in[1], key, sizeof(key) - 1), sizeof(key) - 1);
	assert_int_equal(proc_wait(pid, PATIENCE_MS, &x, NULL), 0);
	close(in[1]);
}
