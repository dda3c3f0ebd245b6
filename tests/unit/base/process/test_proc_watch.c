#include "test.h"

#include <fcntl.h>
#include <signal.h>

#include "profrig/base/clock.h"
#include "profrig/base/proc_watch.h"

static void sh(struct proc_watch *w, const char *script, char *argv[4])
{
	argv[0] = (char *)"/bin/sh";
	argv[1] = (char *)"-c";
	argv[2] = (char *)script;
	argv[3] = NULL;
	*w = (struct proc_watch)PROC_WATCH_INIT;
	w->argv = argv;
}

TEST(test_tail_and_status)
{
	CLEANUP(strvec_release) struct strvec tail = STRVEC_INIT;
	struct err err = ERR_INIT;
	struct proc_watch w;
	struct proc_exit x;
	char *argv[4];

	sh(&w, "i=0; while [ $i -lt 40 ]; do echo l$i; i=$((i+1)); done; printf last >&2; exit 3",
	   argv);
	assert_int_equal(proc_watch(&w, &tail, &x, &err), 0);
	assert_int_equal(x.code, 3);
	assert_int_equal(tail.nr, PROC_WATCH_TAIL);
	assert_string_equal(tail.v[PROC_WATCH_TAIL - 1], "last");
	assert_string_equal(tail.v[0], "l16");
	sh(&w, "kill -9 $$", argv);
	assert_int_equal(proc_watch(&w, NULL, &x, &err), 0);
	assert_int_equal(x.signal, SIGKILL);
	argv[0] = (char *)"/no/such/program";
	assert_int_equal(proc_watch(&w, NULL, &x, &err), -ENOENT);
}

static void line_keep(void *ctx, const char *line)
{
	strvec_push(ctx, line);
}

/* The secret leaves no trace, whole or line by line, in the log, the tail and the listener. */
TEST_IN(test_mask, dir)
{
	CLEANUP(xclosep) int log = open(in_dir(dir, "log"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CLEANUP(strvec_release) struct strvec tail = STRVEC_INIT, heard = STRVEC_INIT;
	CLEANUP(xfreep) char *text = NULL;
	char *mask[] = { (char *)"first-half\nsecond-half", (char *)"first", (char *)"abc", NULL };
	struct err err = ERR_INIT;
	struct proc_watch w;
	struct proc_exit x;
	char *argv[4];
	size_t n;

	sh(&w, "cat; echo; echo 'x first-half y first-half'; echo second-half | cat; echo abc",
	   argv);
	w.input = "second-half";
	w.mask = mask;
	w.log_fd = log;
	w.line = line_keep;
	w.ctx = &heard;
	assert_int_equal(proc_watch(&w, &tail, &x, &err), 0);
	assert_int_equal(fs_read(in_dir(dir, "log"), 4096, &text, &n, &err), 0);
	/* Three bytes are no secret that could be told from text. */
	assert_string_equal(text, "***\nx *** y ***\n***\nabc\n");
	assert_int_equal(tail.nr, 4);
	assert_string_equal(heard.v[1], "x *** y ***");
}

/* Lines longer than 16 KiB are cut, but not inside a secret, wherever it lies. */
TEST_IN(test_mask_of_long_lines, dir)
{
	CLEANUP(xclosep) int log = open(in_dir(dir, "log"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CLEANUP(xfreep) char *text = NULL;
	char *mask[] = { (char *)"first-half-of-all", (char *)"half", NULL };
	struct err err = ERR_INIT;
	struct proc_watch w;
	struct proc_exit x;
	size_t n, found = 0, xs = 0;
	char *argv[4];

	sh(&w,
	   "x=$(head -c 16370 /dev/zero | tr '\\0' x); i=0; while [ $i -lt 90 ]; do\n"
	   "printf '%s%s-half-%s\\n' $x first of-all$x; x=${x}x; i=$((i+1)); done",
	   argv);
	w.mask = mask;
	w.log_fd = log;
	assert_int_equal(proc_watch(&w, NULL, &x, &err), 0);
	assert_int_equal(x.code, 0);
	assert_int_equal(fs_read(in_dir(dir, "log"), (size_t)8 << 20, &text, &n, &err), 0);
	assert_lacks(text, "first");
	assert_lacks(text, "half");
	assert_lacks(text, "of-all");
	for (const char *at = text; (at = strstr(at, "***")); at += 3)
		found++;
	assert_int_equal(found, 90);
	for (const char *at = text; *at; at++)
		xs += *at == 'x';
	assert_int_equal(xs, 2 * (90 * 16370 + 89 * 90 / 2));
}

TEST_IN(test_timeout_ends_the_group, dir)
{
	CLEANUP(xfreep) char *text = NULL;
	int64_t t0 = clock_monotonic_ns(), pid = 0;
	struct err err = ERR_INIT;
	struct proc_watch w;
	struct proc_exit x;
	char *argv[4];
	size_t n;

	sh(&w, textf("(sleep 60; echo late >%s/late) & echo $! >%s/pid; wait", dir, dir), argv);
	w.timeout_s = 0.3;
	assert_int_equal(proc_watch(&w, NULL, &x, &err), -ETIMEDOUT);
	assert_has(err.msg, "took longer than 0.3 s");
	assert_true(clock_monotonic_ns() - t0 < 20 * NS_PER_S);
	assert_int_equal(fs_read(in_dir(dir, "pid"), 64, &text, &n, &err), 0);
	assert_int_equal(num_i64(text, strcspn(text, "\n"), &pid), 0);
	for (int i = 0; i < 1000 && kill((pid_t)pid, 0) == 0; i++)
		usleep(10000);
	/* Gone, or a zombie that the init of this machine has yet to take. */
	CLEANUP(xfreep) char *line = NULL;

	if (fs_read(textf("/proc/%d/stat", (int)pid), 4096, &line, &n, NULL) == 0)
		assert_has(line, ") Z");
}

/* One that does not listen is killed. */
TEST(test_interrupt)
{
	volatile sig_atomic_t interrupt = SIGINT;
	struct err err = ERR_INIT;
	struct proc_watch w;
	struct proc_exit x;
	char *argv[4];

	sh(&w, "trap '' INT; while :; do sleep 0.1; done", argv);
	w.interrupt = &interrupt;
	assert_int_equal(proc_watch(&w, NULL, &x, &err), -EINTR);
	assert_int_equal(x.signal, SIGKILL);
}

TEST(test_full_log)
{
	CLEANUP(xclosep) int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct err err = ERR_INIT;
	struct proc_watch w;
	struct proc_exit x;
	char *argv[4];

	if (full < 0) {
		print_message("no /dev/full here\n");
		skip();
	}
	sh(&w, "echo x; sleep 60", argv);
	w.log_fd = full;
	assert_int_equal(proc_watch(&w, NULL, &x, &err), -ENOSPC);
}
