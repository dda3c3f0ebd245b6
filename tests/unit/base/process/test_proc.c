/* This program is also the child of most of its tests: main knows a few roles by name. */
#include "base_test.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "profrig/base/clock.h"
#include "profrig/base/proc.h"

#define SELF "/proc/self/exe"

/* --- roles --- */

static int role_fds(void)
{
	for (int fd = 0; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("%d ", fd);
	return 0;
}

static int role_signals(void)
{
	sigset_t mask;
	int bad = 0;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int sig = 1; sig < NSIG; sig++) {
		struct sigaction sa;

		if (sigaction(sig, NULL, &sa) == 0 && sa.sa_handler == SIG_IGN)
			bad++;
		if (sigismember(&mask, sig) == 1)
			bad++;
	}
	return bad;
}

static int role_group(void)
{
	printf("%d %d %d", getpid() == getpgrp(), getpid() == getsid(0), (int)getpgrp());
	return 0;
}

/* Forbids what old kernels and strict seccomp profiles lack, then spawns as usual. */
static int role_old_kernel(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = ARRAY_LEN(code), .filter = code };
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct proc_exit end;
	struct proc_opts o = PROC_OPTS_INIT;
	pid_t pid;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		return 77;
	if (syscall(SYS_close_range, 1000U, 1000U, 0U) == 0 || errno != ENOSYS)
		return 1;
	if (dup2(0, 100) != 100 || dup2(0, 900) != 900)
		return 2;
	if (proc_capture(ARGV(SELF, "fds"), 60000, 100, &out, NULL, &end, NULL) < 0 ||
	    strcmp(out.buf, "0 1 2 ") != 0)
		return 3;
	if (proc_capture(ARGV("sleep", "600"), 50, 0, NULL, NULL, &end, NULL) != -ETIMEDOUT)
		return 4;
	o.argv = ARGV("sleep", "600");
	if (proc_spawn(&o, &pid, NULL) < 0 || proc_wait(pid, 1, &end, NULL) != -ETIMEDOUT)
		return 5;
	if (kill(pid, SIGTERM) < 0 || proc_wait(pid, 60000, &end, NULL) < 0 ||
	    end.signal != SIGTERM)
		return 6;
	return 0;
}

/* With 0, 1 and 2 closed, new descriptors land where the child's own belong. */
static int role_closed(void)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT, errs = STRBUF_INIT;
	struct proc_exit end;
	int r;

	close(0);
	close(1);
	close(2);
	r = proc_capture(ARGV("sh", "-c", "echo out; echo err >&2; read x || echo eof"), 60000,
			 1000, &out, &errs, &end, NULL);
	if (r < 0 || end.code != 0)
		return 1;
	if (strcmp(out.buf, "out\neof\n") != 0)
		return 2;
	return strcmp(errs.buf, "err\n") ? 3 : 0;
}

static int role_orphan(void)
{
	struct proc_opts o = PROC_OPTS_INIT;
	pid_t pid;

	o.argv = ARGV("sleep", "600");
	o.die_with_parent = true;
	if (proc_spawn(&o, &pid, NULL) < 0)
		return 1;
	printf("%d", (int)pid);
	fflush(stdout);
	_exit(0);
}

static const struct {
	const char *name;
	int (*run)(void);
} roles[] = {
	{ "fds", role_fds },       { "signals", role_signals },
	{ "group", role_group },   { "old-kernel", role_old_kernel },
	{ "closed", role_closed }, { "orphan", role_orphan },
};

/* --- helpers --- */

/* Spawns with stdout caught, waits, returns what it wrote (owned). */
static char *output_of(struct proc_opts *o, struct proc_exit *end)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct err err = ERR_INIT;
	int fds[2];
	char buf[512];
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	o->fd_out = fds[1];
	if (proc_spawn(o, &pid, &err) < 0)
		ROW_FAIL(0, "%s", err.msg);
	close(fds[1]);
	while ((n = read(fds[0], buf, sizeof(buf))) > 0)
		strbuf_add(&out, buf, (size_t)n);
	close(fds[0]);
	assert_int_equal(proc_wait(pid, -1, end, &err), 0);
	return strbuf_steal(&out);
}

static int spawn_error(struct proc_opts *o, struct err *err)
{
	pid_t pid = -7;
	int r = proc_spawn(o, &pid, err);

	assert_int_equal(pid, -7);
	/* No process is left behind. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	return r;
}

/* --- tests --- */

TEST(test_errors)
{
	CLEANUP(xfreep) char *dir = test_dir(), *path = xasprintf("PATH=%s:/profrig-none", dir);
	struct proc_opts o = PROC_OPTS_INIT;
	struct err err = ERR_INIT;

	o.argv = ARGV("profrig-none");
	assert_int_equal(spawn_error(&o, &err), -ENOENT);
	assert_string_equal(err.msg, "cannot start 'profrig-none': No such file or directory");
	o.argv = ARGV("/profrig-none/x");
	assert_int_equal(spawn_error(&o, &err), -ENOENT);
	o.argv = ARGV("");
	assert_int_equal(spawn_error(&o, &err), -ENOENT);
	o.argv = ARGV("/");
	assert_int_equal(spawn_error(&o, &err), -EACCES);
	assert_string_equal(err.msg, "cannot start '/': Permission denied");
	/* Found but not to be run tells more than not found further on. */
	test_file(in_dir(dir, "plain"), "x", 1);
	o.argv = ARGV("plain");
	o.env = (char *[]){ path, NULL };
	assert_int_equal(spawn_error(&o, &err), -EACCES);
	/* Without '#!' this is no program: no shell steps in. */
	test_file(in_dir(dir, "script"), "exit 0\n", 7);
	assert_int_equal(chmod(in_dir(dir, "script"), 0755), 0);
	o.argv = ARGV("script");
	assert_int_equal(spawn_error(&o, &err), -ENOEXEC);
	o.argv = ARGV("/bin/true");
	o.cwd = "/profrig-none";
	assert_int_equal(spawn_error(&o, &err), -ENOENT);
	assert_string_equal(err.msg, "cannot start '/bin/true': directory '/profrig-none': "
				     "No such file or directory");
	o.cwd = NULL;
	o.fd_out = 987;
	assert_int_equal(spawn_error(&o, &err), -EBADF);
	o.fd_out = -1;
	o.extra_fds = (const int[]){ 987, -1 };
	assert_int_equal(spawn_error(&o, &err), -EBADF);
	assert_string_equal(err.msg, "cannot start '/bin/true': descriptor 987 is not open");
	fs_remove_tree(dir, NULL);
}

TEST(test_exits)
{
	static const struct {
		const char *script;
		struct proc_exit end;
	} rows[] =
		LIST({ "exit 0", { 0, 0 } }, { "exit 127", { 127, 0 } }, { "exit 255", { 255, 0 } },
		     { "kill -TERM $$", { -1, SIGTERM } }, { "kill -KILL $$", { -1, SIGKILL } });

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct proc_exit end = { 99, 99 };

		assert_int_equal(proc_capture(ARGV("sh", "-c", rows[i].script), 60000, 0, NULL,
					      NULL, &end, NULL),
				 0);
		assert_int_equal(end.code, rows[i].end.code);
		assert_int_equal(end.signal, rows[i].end.signal);
	}
}

TEST(test_environment)
{
	CLEANUP(xfreep) char *dir = test_dir(), *tool = fs_join(dir, "profrig-tool");
	CLEANUP(xfreep) char *path = xasprintf("PATH=/profrig-none:%s", dir);
	static const char text[] = "#!/bin/sh\necho \"$0|$1|$A|$HOME\"; pwd -P\n";
	struct proc_opts o = PROC_OPTS_INIT;
	struct proc_exit end;

	test_file(tool, text, sizeof(text) - 1);
	assert_int_equal(chmod(tool, 0755), 0);
	/* The PATH is that of the child, not ours. */
	o.argv = ARGV("profrig-tool", "x y; *");
	o.env = (char *[]){ (char[]){ "A=1" }, path, NULL };
	o.cwd = "/";
	CLEANUP(xfreep) char *got = output_of(&o, &end);
	assert_string_equal(got, textf("%s|x y; *|1|\n/\n", tool));
	assert_int_equal(end.code, 0);
	xfreep(&got);
	/* No PATH: the usual places. A relative path counts from cwd. */
	o.argv = ARGV("sh", "-c", "echo found");
	o.env = (char *[]){ NULL };
	got = output_of(&o, &end);
	assert_string_equal(got, "found\n");
	xfreep(&got);
	o.argv = ARGV("./profrig-tool");
	o.cwd = dir;
	got = output_of(&o, &end);
	assert_int_equal(strncmp(got, "./profrig-tool|||\n", 18), 0);
	xfreep(&got);
	o.env = (char *[]){ (char[]){ "PATH=/profrig-none::/bin" }, NULL };
	o.argv = ARGV("profrig-tool");
	got = output_of(&o, &end);
	assert_int_equal(strncmp(got, "./profrig-tool|||\n", 18), 0);
	fs_remove_tree(dir, NULL);
}

TEST(test_descriptors)
{
	int leak = dup2(0, 200); /* not close-on-exec */
	int wanted = dup2(0, 300);
	int marked = fcntl(0, F_DUPFD_CLOEXEC, 310);
	int extra[] = { wanted, marked, -1 };
	struct proc_opts o = PROC_OPTS_INIT;
	struct proc_exit end;

	assert_true(leak == 200 && wanted == 300);
	o.argv = ARGV(SELF, "fds");
	CLEANUP(xfreep) char *got = output_of(&o, &end);
	assert_string_equal(got, "0 1 2 ");
	xfreep(&got);
	o.extra_fds = extra;
	got = output_of(&o, &end);
	assert_string_equal(got, textf("0 1 2 300 %d ", marked));
	close(leak);
	close(wanted);
	close(marked);
}

/* stdout to 2 and stderr to 1: one dup2 must not take the other's source away. */
TEST(test_swapped)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT, errs = STRBUF_INIT;
	int saved[2] = { dup(1), dup(2) }, a[2], b[2];
	struct proc_opts o = PROC_OPTS_INIT;
	struct proc_exit end;
	char text[2][16] = { "", "" };
	pid_t pid;
	int r;

	assert_int_equal(pipe2(a, O_CLOEXEC), 0);
	assert_int_equal(pipe2(b, O_CLOEXEC), 0);
	o.argv = ARGV("sh", "-c", "printf out; printf err >&2");
	o.fd_out = 2;
	o.fd_err = 1;
	fflush(stdout);
	dup2(a[1], 1);
	dup2(b[1], 2);
	r = proc_spawn(&o, &pid, NULL);
	dup2(saved[0], 1);
	dup2(saved[1], 2);
	assert_int_equal(r, 0);
	assert_int_equal(proc_wait(pid, -1, &end, NULL), 0);
	assert_int_equal(read(a[0], text[0], 15), 3);
	assert_int_equal(read(b[0], text[1], 15), 3);
	assert_string_equal(text[0], "err");
	assert_string_equal(text[1], "out");
	for (int i = 0; i < 2; i++) {
		close(saved[i]);
		close(a[i]);
		close(b[i]);
	}
}

TEST(test_roles)
{
	struct proc_exit end;

	assert_int_equal(proc_capture(ARGV(SELF, "closed"), 60000, 0, NULL, NULL, &end, NULL), 0);
	assert_int_equal(end.code, 0);
}

TEST(test_old_kernel)
{
	struct proc_exit end;

	assert_int_equal(proc_capture(ARGV(SELF, "old-kernel"), 300000, 0, NULL, NULL, &end, NULL),
			 0);
	if (end.code == 77) {
		print_message("seccomp filters are not allowed here\n");
		skip();
	}
	assert_int_equal(end.code, 0);
}

static void on_signal(int sig UNUSED)
{
}

TEST(test_signals)
{
	struct sigaction handler = { .sa_handler = on_signal }, ignore = { .sa_handler = SIG_IGN };
	struct sigaction old[2];
	struct proc_opts o = PROC_OPTS_INIT;
	sigset_t block, mask;
	struct proc_exit end;
	pid_t pid;

	sigaction(SIGUSR1, &handler, &old[0]);
	sigaction(SIGPIPE, &ignore, &old[1]);
	sigemptyset(&block);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGUSR2);
	sigprocmask(SIG_BLOCK, &block, &mask);
	o.argv = ARGV(SELF, "signals");
	assert_int_equal(proc_spawn(&o, &pid, NULL), 0);
	assert_int_equal(proc_wait(pid, 60000, &end, NULL), 0);
	assert_int_equal(end.code, 0);
	/* Ours are as they were. */
	sigprocmask(SIG_SETMASK, &mask, &block);
	assert_int_equal(sigismember(&block, SIGTERM), 1);
	assert_int_equal(sigismember(&block, SIGHUP), 0);
	sigaction(SIGUSR1, &old[0], NULL);
	sigaction(SIGPIPE, &old[1], &ignore);
	assert_true(ignore.sa_handler == SIG_IGN);
}

TEST(test_groups)
{
	static const struct {
		bool same, session;
		const char *want;
	} rows[] = { { false, false, "1 0" }, { true, false, "0 0" }, { false, true, "1 1" } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct proc_opts o = PROC_OPTS_INIT;
		struct proc_exit end;

		o.argv = ARGV(SELF, "group");
		o.same_group = rows[i].same;
		o.new_session = rows[i].session;
		CLEANUP(xfreep) char *got = output_of(&o, &end);
		assert_memory_equal(got, rows[i].want, 3);
		if (rows[i].same)
			assert_int_equal(strtol(got + 4, NULL, 10), getpgrp());
	}
}

static bool alive(pid_t pid)
{
	CLEANUP(xfreep) char *text = NULL;
	const char *state;

	if (fs_read(textf("/proc/%d/stat", (int)pid), 4096, &text, NULL, NULL) < 0)
		return false;
	state = strrchr(text, ')');
	return state && state[2] != 'Z' && state[2] != 'X';
}

static bool dies_soon(pid_t pid)
{
	for (int i = 0; i < 6000 && alive(pid); i++)
		clock_sleep_until_ns(clock_monotonic_ns() + 10 * NS_PER_MS);
	return !alive(pid);
}

TEST(test_die_with_parent)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct proc_exit end;
	pid_t pid;

	assert_int_equal(proc_capture(ARGV(SELF, "orphan"), 60000, 100, &out, NULL, &end, NULL), 0);
	assert_int_equal(end.code, 0);
	pid = (pid_t)strtol(out.buf, NULL, 10);
	assert_true(pid > 0);
	assert_true(dies_soon(pid));
}

TEST(test_wait)
{
	struct proc_opts o = PROC_OPTS_INIT;
	struct err err = ERR_INIT;
	struct proc_exit end;
	int64_t t;
	pid_t pid;

	o.argv = ARGV("sleep", "600");
	assert_int_equal(proc_spawn(&o, &pid, NULL), 0);
	assert_int_equal(proc_wait(pid, 0, &end, &err), -ETIMEDOUT);
	t = clock_monotonic_ns();
	assert_int_equal(proc_wait(pid, 30, &end, &err), -ETIMEDOUT);
	t = clock_monotonic_ns() - t;
	assert_true(t >= 30 * NS_PER_MS && t < 300 * NS_PER_S);
	assert_has(err.msg, "still runs after 30 ms");
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(proc_wait(pid, 60000, &end, &err), 0);
	assert_int_equal(end.signal, SIGTERM);
	assert_int_equal(end.code, -1);
	assert_int_equal(proc_wait(pid, 0, &end, &err), -ECHILD);
	assert_int_equal(proc_wait(pid, -1, &end, &err), -ECHILD);
}

TEST(test_capture)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT, errs = STRBUF_INIT;
	struct proc_exit end;
	char *const *argv = ARGV("sh", "-c", "printf abc; printf defgh >&2; exit 3");

	strbuf_addstr(&out, "<");
	assert_int_equal(proc_capture(argv, 60000, 4, &out, &errs, &end, NULL), 0);
	assert_string_equal(out.buf, "<abc");
	assert_string_equal(errs.buf, "defg");
	assert_false(out.overflow);
	assert_true(errs.overflow);
	assert_int_equal(end.code, 3);
	/* Far more than a pipe holds, far more than is wanted. */
	strbuf_clear(&out);
	argv = ARGV("sh", "-c", "head -c 5000000 /dev/zero");
	assert_int_equal(proc_capture(argv, -1, 1000000, &out, NULL, &end, NULL), 0);
	assert_int_equal(out.len, 1000000);
	assert_int_equal(end.code, 0);
	strbuf_clear(&out);
	assert_int_equal(proc_capture(argv, -1, 6000000, &out, NULL, &end, NULL), 0);
	assert_int_equal(out.len, 5000000);
	assert_int_equal(proc_capture(ARGV("profrig-none"), -1, 1, &out, &errs, &end, NULL),
			 -ENOENT);
}

/*
 * The whole group goes, also while it writes without end. A machine that takes the CPU away gets
 * more time to let the program say anything at all.
 */
TEST(test_capture_timeout)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct err err = ERR_INIT;
	struct proc_exit end;
	int ms = 100;
	pid_t pid;

	do {
		ms *= 2;
		strbuf_clear(&out);
		assert_int_equal(proc_capture(ARGV("sh", "-c", "sleep 600 & echo $!; wait"), ms,
					      100, &out, NULL, &end, &err),
				 -ETIMEDOUT);
	} while (!out.len && ms < 50000);
	assert_string_equal(err.msg, textf("'sh' was killed after %d ms", ms));
	assert_int_equal(end.signal, SIGKILL);
	pid = (pid_t)strtol(out.buf, NULL, 10);
	assert_true(pid > 0 && dies_soon(pid));
	ms = 100;
	do {
		ms *= 2;
		strbuf_clear(&out);
		assert_int_equal(proc_capture(ARGV("yes"), ms, 100, &out, NULL, &end, &err),
				 -ETIMEDOUT);
	} while (!out.len && ms < 50000);
	assert_int_equal(out.len, 100);
}

/* What a program leaves in the background keeps the pipe, but not us. */
TEST(test_capture_background)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct proc_exit end;
	pid_t pid;

	assert_int_equal(proc_capture(ARGV("sh", "-c", "sleep 600 & echo $!"), 300000, 100, &out,
				      NULL, &end, NULL),
			 0);
	pid = (pid_t)strtol(out.buf, NULL, 10);
	assert_true(pid > 0 && kill(pid, SIGKILL) == 0);
}

static void *spawner(void *arg)
{
	int *bad = arg;

	for (int i = 0; i < 20; i++) {
		CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
		struct proc_exit end;

		if (proc_capture(ARGV(SELF, "fds"), 60000, 100, &out, NULL, &end, NULL) < 0 ||
		    strcmp(out.buf, "0 1 2 ") != 0)
			(*bad)++;
	}
	return NULL;
}

TEST(test_threads)
{
	pthread_t threads[4];
	int bad[4] = { 0 };

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, spawner, &bad[i]), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(bad[i], 0);
	}
}

/* Descriptors of ours are closed again, whichever way a call ends. */
TEST(test_no_leaks)
{
	CLEANUP(strvec_release) struct strvec before = STRVEC_INIT, after = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct proc_exit end;

	fs_list("/proc/self/fd", &before, NULL);
	for (int i = 0; i < 10; i++) {
		proc_capture(ARGV("profrig-none"), -1, 1, &out, &out, &end, NULL);
		proc_capture(ARGV("true"), -1, 1, &out, &out, &end, NULL);
		proc_capture(ARGV("sleep", "9"), 1, 1, &out, NULL, &end, NULL);
	}
	fs_list("/proc/self/fd", &after, NULL);
	assert_int_equal(before.nr, after.nr);
}

TEST(test_names)
{
	assert_string_equal(proc_signal_name(SIGKILL), "SIGKILL");
	assert_string_equal(proc_signal_name(SIGSYS), "SIGSYS");
	assert_null(proc_signal_name(0));
	assert_null(proc_signal_name(-1));
	assert_null(proc_signal_name(64));
	assert_null(proc_signal_name(1000000));
	for (int sig = 1; sig < 32; sig++)
		assert_memory_equal(proc_signal_name(sig), "SIG", 3);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < ARRAY_LEN(roles); i++)
		if (!strcmp(argv[1], roles[i].name))
			return roles[i].run();
	return tests_run(NULL, NULL);
}

/* What a signal ended said nothing. */
TEST_IN(questions, dir)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT, errs = STRBUF_INIT;
	struct proc_exit end;

	/* the second time it answers */
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(
		proc_question(ARGV("sh", "-c",
				   "echo half; [ -e asked ] || { touch asked; kill -9 $$; }; "
				   "echo whole"),
			      60000, 100, &out, &errs, &end, NULL),
		0);
	assert_string_equal(out.buf, "half\nwhole\n");
	assert_int_equal(end.code, 0);
	/* never */
	assert_int_equal(proc_question(ARGV("sh", "-c", "echo x >>times; kill -9 $$"), 60000, 100,
				       &out, NULL, &end, NULL),
			 0);
	assert_int_equal(end.signal, SIGKILL);
	/* one that says no is not asked again */
	assert_int_equal(proc_question(ARGV("sh", "-c", "echo y >>times; exit 3"), 60000, 100, &out,
				       NULL, &end, NULL),
			 0);
	assert_int_equal(end.code, 3);
	assert_int_equal(proc_question(ARGV("cat", "times"), 60000, 100, &out, NULL, &end, NULL),
			 0);
	assert_string_equal(out.buf, "x\nx\nx\ny\n");
	assert_int_equal(chdir("/"), 0);
}
