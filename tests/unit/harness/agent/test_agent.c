/* Steps of profrig-init: starting, signalling, reaping, and what it makes of bad requests. */
#include "agent_rig.h"

#include <sys/stat.h>

/* --- what a step is --- */

RIG_TEST(test_hello)
{
	struct rig other = { .dir = g->dir };
	struct proc_exit x;
	json_t *ev;

	start_agent(&other);
	ev = expect(&other, "hello");
	assert_int_equal(num(ev, "protocol"), AGENT_PROTOCOL);
	assert_int_equal(num(ev, "pid"), other.pid);
	assert_int_equal(num(ev, "uid"), getuid());
	assert_string_equal(text(ev, "version"), PROFRIG_VERSION);
	assert_string_equal(text(ev, "run"), "unit-test");
	assert_true(num(ev, "monotonic_ns") > 0 && num(ev, "monotonic_ns") <= clock_monotonic_ns());
	assert_true(!strncmp(text(ev, "libc"), "glibc 2.", 8));
	json_decref(ev);
	rig_say(&other, "{\"op\":\"end\"}");
	json_decref(expect(&other, "bye"));
	assert_int_equal(proc_wait(other.pid, PATIENCE_MS, &x, NULL), 0);
	assert_int_equal(x.code, 0);
	close(other.to);
	close(other.from);
	strbuf_release(&other.in);
}

RIG_TEST(test_exit_code_and_output)
{
	int64_t before = clock_monotonic_ns(), started;
	json_t *ev;

	say_sh(g, 1,
	       "echo $MARK; echo ${HOME-unset}; read x && echo stdin; i=0; while [ $i -lt 20000 ]; "
	       "do i=$((i+1)); done; exit 7");
	ev = expect(g, "started");
	assert_true(num(ev, "pid") > 0);
	started = num(ev, "t_ns");
	assert_true(started >= before);
	json_decref(ev);
	ev = expect(g, "exited");
	assert_int_equal(num(ev, "id"), 1);
	assert_int_equal(num(ev, "code"), 7);
	assert_int_equal(num(ev, "signal"), 0);
	assert_int_equal(num(ev, "strays"), 0);
	assert_true(num(ev, "t_ns") > started && num(ev, "t_ns") <= clock_monotonic_ns());
	assert_true(num(ev, "maxrss_bytes") > 100000);
	/* Which of the two gets a short time is up to the kernel's ticks. */
	assert_true(json_number_value(json_object_get(ev, "user_s")) +
			    json_number_value(json_object_get(ev, "sys_s")) >
		    0);
	json_decref(ev);
	assert_string_equal(kept(output(g, 1)), "unit\nunset\n");
}

/* What a step stamps, first thing it does and last, lies between its start and its end. */
RIG_TEST(test_stamps)
{
	for (int i = 0; i < 20; i++) {
		int64_t started, stamp;
		json_t *ev;

		rig_say(g,
			"{\"op\":\"start\",\"id\":%d,\"argv\":[\"%s\",\"--now\"],\"inherit\":true,"
			"\"out\":\"%s/%d.out\"}",
			i, kept(realpath("/proc/self/exe", NULL)), g->dir, i);
		ev = expect(g, "started");
		started = num(ev, "t_ns");
		json_decref(ev);
		ev = expect(g, "exited");
		stamp = strtoll(kept(output(g, i)), NULL, 10);
		assert_true(started <= stamp && stamp <= num(ev, "t_ns"));
		json_decref(ev);
	}
}

RIG_TEST(test_output_is_appended)
{
	for (int i = 0; i < 2; i++) {
		rig_say(g,
			"{\"op\":\"start\",\"id\":%d,\"argv\":[\"sh\",\"-c\",\"printf "
			"'a\\\\000\\\\377b'\"],\"out\":\"%s/1.out\"}",
			i + 1, g->dir);
		json_decref(expect(g, "started"));
		json_decref(expect(g, "exited"));
	}
	assert_memory_equal(kept(output(g, 1)), "a\0\377ba\0\377b", 8);
}

RIG_TEST(test_inherit)
{
	rig_say(g,
		"{\"op\":\"start\",\"id\":1,\"argv\":[\"sh\",\"-c\",\"echo $UNIT_GIVEN "
		"$UNIT_CALLER "
		"$UNIT_BOTH\"],\"inherit\":true,"
		"\"env\":[\"UNIT_GIVEN=g\",\"UNIT_BOTH=new\"],\"out\":\"%s/1.out\",\"cwd\":\"/\"}",
		g->dir);
	json_decref(expect(g, "started"));
	json_decref(expect(g, "exited"));
	assert_string_equal(kept(output(g, 1)), "g caller new\n");
}

/* What the request sets stays, whatever it asks to leave out. */
RIG_TEST(test_unset)
{
	rig_say(g,
		"{\"op\":\"start\",\"id\":1,\"argv\":[\"sh\",\"-c\",\"echo ${UNIT_CALLER-none} "
		"${UNIT_BOTH-none} ${UNIT_GIVEN-none}\"],\"inherit\":true,"
		"\"env\":[\"UNIT_BOTH=new\",\"UNIT_GIVEN=g\"],"
		"\"unset\":[\"UNIT_CALLER\",\"UNIT_BOTH\",\"UNIT_GIV\",\"UNIT_NOWHERE\"],"
		"\"out\":\"%s/1.out\",\"cwd\":\"/\"}",
		g->dir);
	json_decref(expect(g, "started"));
	json_decref(expect(g, "exited"));
	assert_string_equal(kept(output(g, 1)), "none new g\n");
}

RIG_TEST(test_mkdir_and_cwd)
{
	rig_say(g,
		"{\"op\":\"start\",\"id\":1,\"argv\":[\"pwd\"],\"mkdir\":[\"%s/a/b\"],\"cwd\":\"%s/"
		"a/"
		"b\",\"out\":\"%s/1.out\"}",
		g->dir, g->dir, g->dir);
	json_decref(expect(g, "started"));
	json_decref(expect(g, "exited"));
	assert_string_equal(kept(output(g, 1)), textf("%s/a/b\n", g->dir));
}

RIG_TEST(test_cannot_start)
{
	static const struct {
		const char *request;
		int code;
		const char *word;
	} cases[] = {
		{ "\"argv\":[\"no-such-program-here\"]", ENOENT, "no-such-program-here" },
		{ "\"argv\":[\"/etc/passwd\"]", EACCES, "/etc/passwd" },
		{ "\"argv\":[]", EINVAL, "argv" },
		{ "\"argv\":[\"true\",7]", EINVAL, "argv" },
		{ "\"argv\":\"true\"", EINVAL, "argv" },
		{ "\"argv\":[\"true\"],\"env\":[\"NOVALUE\"]", EINVAL, "env" },
		{ "\"argv\":[\"true\"],\"unset\":[\"A\",\"B=c\"]", EINVAL, "'unset'[1]" },
		{ "\"argv\":[\"true\"],\"unset\":[\"\"]", EINVAL, "'unset'[0]" },
		{ "\"argv\":[\"true\"],\"unset\":\"A\"", EINVAL, "unset" },
		{ "\"argv\":[\"true\"],\"cwd\":\"/no/such/dir\"", ENOENT, "/no/such/dir" },
		{ "\"argv\":[\"true\"],\"out\":\"/no/such/dir/x\"", ENOENT, "/no/such/dir/x" },
		{ "\"argv\":[\"true\"],\"err\":\"/proc/self/status/x\"", ENOTDIR, "status/x" },
		{ "\"argv\":[\"true\"],\"out\":\"/etc\"", EISDIR, "/etc" },
		{ "\"argv\":[\"true\"],\"mkdir\":[\"/etc/passwd/x\"]", ENOTDIR, "passwd" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		json_t *ev;

		rig_say(g, "{\"op\":\"start\",\"id\":%zu,%s}", i, cases[i].request);
		ev = expect(g, "failed");
		assert_int_equal(num(ev, "id"), i);
		assert_int_equal(num(ev, "errno"), cases[i].code);
		assert_has(text(ev, "text"), cases[i].word);
		json_decref(ev);
	}
}

/* A FIFO without a reader would hold its opener. */
RIG_TEST(test_fifo_as_output)
{
	assert_int_equal(mkfifo(in_dir(g->dir, "fifo"), 0600), 0);
	rig_say(g, "{\"op\":\"start\",\"id\":1,\"argv\":[\"true\"],\"out\":\"%s\"}",
		in_dir(g->dir, "fifo"));
	json_decref(expect(g, "failed"));
}

/* --- signals and what steps leave behind --- */

RIG_TEST(test_killed_by_signal)
{
	json_t *ev;

	say_sh(g, 1, "kill -SEGV $$");
	json_decref(expect(g, "started"));
	ev = expect(g, "exited");
	assert_int_equal(num(ev, "code"), -1);
	assert_int_equal(num(ev, "signal"), SIGSEGV);
	json_decref(ev);
}

RIG_TEST(test_signal_reaches_group_and_strays)
{
	pid_t in_group, escaped;
	json_t *ev;

	say_sh(g, 1,
	       textf("sleep 300 & echo $! >%s/group; setsid sh -c 'echo $$ >%s/escaped; "
		     "exec sleep 300' & wait",
		     g->dir, g->dir));
	json_decref(expect(g, "started"));
	in_group = written_pid(g, "group");
	escaped = written_pid(g, "escaped");
	assert_true(test_alive(in_group) && test_alive(escaped));
	rig_say(g, "{\"op\":\"signal\",\"id\":1,\"sig\":%d}", SIGTERM);
	ev = expect(g, "exited");
	assert_int_equal(num(ev, "signal"), SIGTERM);
	json_decref(ev);
	assert_dead_soon(in_group);
	assert_dead_soon(escaped);
}

static void wait_state(pid_t pid, char state)
{
	for (int i = 0; i < LOOKS; i++) {
		CLEANUP(xfreep) char *data = NULL;
		const char *bracket;

		assert_int_equal(fs_read(textf("/proc/%d/stat", (int)pid), 4096, &data, NULL, NULL),
				 0);
		bracket = strrchr(data, ')');
		if (bracket && bracket[2] == state)
			return;
		usleep(LOOK_US);
	}
	fail_msg("process %d does not come into state %c", (int)pid, state);
}

/* A stopped process cannot take TERM until it is continued. */
RIG_TEST(test_signal_reaches_stopped)
{
	json_t *ev;

	say_sh(g, 1, "kill -STOP $$");
	ev = expect(g, "started");
	wait_state((pid_t)num(ev, "pid"), 'T');
	json_decref(ev);
	rig_say(g, "{\"op\":\"signal\",\"id\":1,\"sig\":%d}", SIGTERM);
	ev = expect(g, "exited");
	assert_int_equal(num(ev, "signal"), SIGTERM);
	json_decref(ev);
}

RIG_TEST(test_reap_finds_double_fork)
{
	pid_t daemon, child;
	json_t *ev;

	/* A daemon as the book has it, ignoring what is polite; and its child. */
	say_sh(g, 1,
	       textf("(setsid sh -c 'trap \"\" TERM INT HUP; echo $$ >%s/daemon; sh -c "
		     "\"echo \\$\\$ >%s/child; exec sleep 300\"; :' "
		     "</dev/null >/dev/null 2>&1 &) ; while [ ! -s %s/child ]; do sleep "
		     "0.02; done; exit 0",
		     g->dir, g->dir, g->dir));
	json_decref(expect(g, "started"));
	ev = expect(g, "exited");
	assert_int_equal(num(ev, "code"), 0);
	assert_int_equal(num(ev, "strays"), 2);
	json_decref(ev);
	daemon = written_pid(g, "daemon");
	child = written_pid(g, "child");
	assert_true(test_alive(daemon) && test_alive(child));
	rig_say(g, "{\"op\":\"reap\",\"id\":1,\"grace_ms\":200}");
	ev = expect(g, "reaped");
	assert_int_equal(num(ev, "id"), 1);
	assert_true(num(ev, "killed") >= 2);
	json_decref(ev);
	assert_false(test_alive(daemon));
	assert_false(test_alive(child));
}

/* A step that is over at once and leaves one process, which ends when <dir>/go is there. */
static pid_t leave_one_waiting(struct rig *g)
{
	json_t *ev;

	say_sh(g, 1,
	       textf("sh -c 'echo $$ >%s/waiting; while [ ! -e %s/go ]; do :; done' & "
		     "while [ ! -s %s/waiting ]; do :; done",
		     g->dir, g->dir, g->dir));
	json_decref(expect(g, "started"));
	ev = expect(g, "exited");
	assert_int_equal(num(ev, "strays"), 1);
	json_decref(ev);
	return written_pid(g, "waiting");
}

static void reaped_unharmed(struct rig *g)
{
	json_t *ev = expect(g, "reaped");

	assert_int_equal(num(ev, "killed"), 0);
	json_decref(ev);
}

RIG_TEST(test_reap_waits)
{
	leave_one_waiting(g);
	rig_say(g, "{\"op\":\"reap\",\"id\":1,\"wait_ms\":%d,\"grace_ms\":200}", PATIENCE_MS);
	test_put(g->dir, "go", "");
	reaped_unharmed(g);
}

/* On a machine that stands still for longer than the wait, no process has had the time to end. */
RIG_TEST(test_reap_waits_through_stall)
{
	pid_t waiting = leave_one_waiting(g);

	rig_say(g, "{\"op\":\"reap\",\"id\":1,\"wait_ms\":1000,\"grace_ms\":200}");
	usleep(100000); /* it has heard */
	kill(g->pid, SIGSTOP);
	kill(waiting, SIGSTOP);
	test_put(g->dir, "go", "");
	usleep(1500000);
	kill(g->pid, SIGCONT);
	usleep(LOOK_US);
	kill(waiting, SIGCONT);
	reaped_unharmed(g);
}

/* What a first step left running is not a second one's stray, and outlives its reaping. */
RIG_TEST(test_reap_spares_earlier_steps)
{
	pid_t server;
	json_t *ev;

	say_sh(g, 1,
	       textf("(setsid sh -c 'echo $$ >%s/server; exec sleep 300' &); while [ "
		     "! -s %s/server ]; do sleep 0.02; done",
		     g->dir, g->dir));
	json_decref(expect(g, "started"));
	json_decref(expect(g, "exited"));
	server = written_pid(g, "server");
	say_sh(g, 2, "(setsid sleep 300 &); sleep 0.1; exit 0");
	json_decref(expect(g, "started"));
	ev = expect(g, "exited");
	assert_int_equal(num(ev, "strays"), 1);
	json_decref(ev);
	rig_say(g, "{\"op\":\"reap\",\"id\":2,\"grace_ms\":100}");
	ev = expect(g, "reaped");
	assert_int_equal(num(ev, "killed"), 1);
	json_decref(ev);
	assert_true(test_alive(server));
	rig_say(g, "{\"op\":\"reap\",\"id\":1,\"grace_ms\":100}");
	ev = expect(g, "reaped");
	assert_int_equal(num(ev, "killed"), 1);
	json_decref(ev);
	assert_false(test_alive(server));
}

/* --- hostile requests --- */

RIG_TEST(test_bad_requests)
{
	static const char *const lines[] =
		LIST("hello", "[1,2]", "7", "{\"op\":\"start\"}", "{\"id\":1}",
		     "{\"op\":\"fly\",\"id\":1}", "{\"op\":\"signal\",\"id\":5,\"sig\":9}",
		     "{\"op\":\"reap\",\"id\":5}", "{\"op\":\"probe\",\"id\":1,\"needs\":{}}",
		     "{\"op\":\"start\",\"id\":\"x\"}", "{\"op\":\"start\",\"id\":-4}",
		     "{\"op\":7,\"id\":1}", "{\"op\":\"probe\",\"id\":1,\"needs\":[null]}",
		     "{\"op\":\"x\",\"op\":\"y\"}",
		     "{\"op\":\"start\",\"id\":1,\"argv\":[\"a\\u0000b\"]}", "\377\376{",
		     "{\"op\":\"start\",\"id\":99999999999999999999999}");

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		json_t *ev;

		rig_say(g, "%s", lines[i]);
		ev = expect(g, "error");
		assert_true(strlen(text(ev, "text")) > 0);
		json_decref(ev);
	}
	rig_say(g, "\n   \r");
	say_sh(g, 1, "exit 0");
	json_decref(expect(g, "started"));
	json_decref(expect(g, "exited"));
}

RIG_TEST(test_oversized_line)
{
	CLEANUP(xfreep) char *block = xmalloc(65536);
	json_t *ev;

	memset(block, 'x', 65536);
	for (int i = 0; i < 64; i++)
		assert_int_equal(write(g->to, block, 65536), 65536);
	ev = expect(g, "error");
	assert_has(text(ev, "text"), "1048576");
	json_decref(ev);
	rig_say(g, "the end of it");
	say_sh(g, 1, "exit 0");
	json_decref(expect(g, "started"));
	json_decref(expect(g, "exited"));
}

/* The largest line allowed is a request like any other. */
RIG_TEST(test_largest_line)
{
	CLEANUP(strbuf_release) struct strbuf rq = STRBUF_INIT;
	static const char tail[] = "\"]}\n";
	size_t at = 0;

	strbuf_addf(&rq,
		    "{\"op\":\"start\",\"id\":1,\"argv\":[\"sh\",\"-c\",\"echo $#\",\"sh\",\"");
	/* One argument may have 128 KiB. */
	while (rq.len + sizeof(tail) < AGENT_MAX_LINE)
		strbuf_addstr(&rq, rq.len % 1024 == 0 ? "\",\"" : "a");
	rq.len -= 200;
	strbuf_addf(&rq, "\"],\"out\":\"%s/1.out\"}", g->dir);
	strbuf_addch(&rq, '\n');
	assert_true(rq.len <= AGENT_MAX_LINE);
	while (at < rq.len) {
		ssize_t n = write(g->to, rq.buf + at, rq.len - at);

		assert_true(n > 0);
		at += (size_t)n;
	}
	json_decref(expect(g, "started"));
	json_decref(expect(g, "exited"));
	assert_true(strtol(kept(output(g, 1)), NULL, 10) > 500);
}

RIG_TEST(test_id_in_use)
{
	json_t *ev;

	say_sh(g, 1, "sleep 300");
	json_decref(expect(g, "started"));
	say_sh(g, 1, "exit 0");
	ev = expect(g, "failed");
	assert_int_equal(num(ev, "errno"), EEXIST);
	json_decref(ev);
}

int main(int argc, char **argv)
{
	/* As a step of its own: see test_stamps. */
	if (argc == 2 && !strcmp(argv[1], "--now")) {
		printf("%lld\n", (long long)clock_monotonic_ns());
		return 0;
	}
	setenv("UNIT_CALLER", "caller", 1);
	setenv("UNIT_BOTH", "old", 1);
	return tests_run(NULL, NULL);
}
