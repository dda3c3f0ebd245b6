/*
 * Between fork and exec the child may call only async-signal-safe functions, because other threads
 * may have held locks at the fork. So everything that needs memory (paths to try, environment) is
 * made before, and a failure travels back as two integers through a pipe that exec closes.
 */
#include "profrig/base/proc.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/num.h"
#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define FALLBACK_MAX_FDS 65536

enum stage { STAGE_FDS, STAGE_GROUP, STAGE_CWD, STAGE_EXEC };

struct failure {
	int stage;
	int code;
};

struct plan {
	const struct proc_opts *o;
	char *const *env;
	struct strvec paths; /* to try in order */
	int fds[3];
	int report;
	pid_t parent;
};

static const char *path_of(char *const *env)
{
	for (; *env; env++)
		if (!strncmp(*env, "PATH=", 5))
			return *env + 5;
	return DEFAULT_PATH;
}

static void program_candidates(const char *name, const char *path, struct strvec *out)
{
	if (strchr(name, '/') || !*name) {
		strvec_push(out, name);
		return;
	}
	for (;;) {
		const char *end = strchrnul(path, ':');

		/* An empty element is the current directory. */
		if (end == path)
			strvec_pushf(out, "./%s", name);
		else
			strvec_pushf(out, "%.*s/%s", (int)(end - path), path, name);
		if (!*end)
			return;
		path = end + 1;
	}
}

/* --- the child --- */

static _Noreturn void child_fail(int report, enum stage stage, int code)
{
	struct failure f = { stage, code };
	ssize_t r = write(report, &f, sizeof(f));

	(void)r;
	_exit(127);
}

static void child_signals(void)
{
	struct sigaction sa = { .sa_handler = SIG_DFL };
	sigset_t none;

	/* SIGKILL, SIGSTOP and libc's own signals fail, which is right. */
	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &sa, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Room for struct linux_dirent64: 8 ino, 8 offset, 2 length, 1 type, the name. */
#define DIRENT_LEN_AT 16
#define DIRENT_NAME_AT 19

/* For kernels (or seccomp profiles) without close_range. opendir allocates, so it is not used. */
static int mark_by_list(void)
{
	_Alignas(8) char buf[4096];
	int dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n;

	if (dir < 0)
		return -errno;
	while ((n = syscall(SYS_getdents64, dir, buf, sizeof(buf))) > 0) {
		for (long at = 0; at < n;) {
			const char *name = buf + at + DIRENT_NAME_AT;
			unsigned short len;
			uint64_t fd;

			memcpy(&len, buf + at + DIRENT_LEN_AT, sizeof(len));
			at += len;
			if (num_u64(name, strlen(name), &fd) == 0 && fd > 2)
				fcntl((int)fd, F_SETFD, FD_CLOEXEC);
		}
	}
	close(dir);
	return n < 0 ? -EIO : 0;
}

/* Descriptors above 2 are closed by exec and not now: the report pipe must live until then. */
static void mark_others(void)
{
	struct rlimit rl;
	rlim_t max = FALLBACK_MAX_FDS;

	if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
		return;
	if (mark_by_list() == 0)
		return;
	if (getrlimit(RLIMIT_NOFILE, &rl) == 0 && rl.rlim_cur < max)
		max = rl.rlim_cur;
	for (int fd = 3; fd < (int)max; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* All sources first move above 2, so that no dup2 overwrites one still needed (stdout and stderr
 * swapped, for example). */
static void child_fds(struct plan *p)
{
	int high[3];

	p->report = fcntl(p->report, F_DUPFD_CLOEXEC, 3);
	if (p->report < 0)
		_exit(127);
	for (int i = 0; i < 3; i++) {
		high[i] = fcntl(p->fds[i], F_DUPFD_CLOEXEC, 3);
		if (high[i] < 0)
			child_fail(p->report, STAGE_FDS, errno);
	}
	for (int i = 0; i < 3; i++)
		if (dup2(high[i], i) < 0)
			child_fail(p->report, STAGE_FDS, errno);
	mark_others();
	for (const int *fd = p->o->extra_fds; fd && *fd >= 0; fd++)
		if (fcntl(*fd, F_SETFD, 0) < 0)
			child_fail(p->report, STAGE_FDS, errno);
}

/* Goes on like execvp when a directory of PATH is missing or unreadable. */
static int child_exec(const struct plan *p)
{
	int code = ENOENT;

	for (size_t i = 0; i < p->paths.nr; i++) {
		execve(p->paths.v[i], p->o->argv, p->env);
		switch (errno) {
		case ENOENT:
		case ENOTDIR:
		case ESTALE:
		case ENODEV:
		case ETIMEDOUT:
			break;
		case EACCES:
			/* An unreadable directory of PATH is not reported: it is unknown whether
			 * the program is there. */
			if (p->paths.nr == 1 || access(p->paths.v[i], F_OK) == 0)
				code = EACCES;
			break;
		default:
			return errno;
		}
	}
	return code;
}

static _Noreturn void child_main(struct plan *p)
{
	const struct proc_opts *o = p->o;

	child_fds(p);
	if (o->new_session) {
		if (setsid() < 0)
			child_fail(p->report, STAGE_GROUP, errno);
	} else if (!o->same_group) {
		if (setpgid(0, 0) < 0)
			child_fail(p->report, STAGE_GROUP, errno);
	}
	if (o->die_with_parent) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* The parent may have ended before the request. */
		if (getppid() != p->parent)
			_exit(127);
	}
	if (o->cwd && chdir(o->cwd) < 0)
		child_fail(p->report, STAGE_CWD, errno);
	child_signals();
	child_fail(p->report, STAGE_EXEC, child_exec(p));
}

/* --- the parent --- */

static pid_t fork_blocked(struct plan *p)
{
	sigset_t all, old;
	pid_t pid;
	int saved;

	/* profrig's handlers must not run in the child: they would write to the parent's pipes. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = fork();
	if (pid == 0)
		child_main(p);
	saved = errno;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = saved;
	return pid;
}

static int check_fds(const struct proc_opts *o, struct err *err)
{
	for (const int *fd = o->extra_fds; fd && *fd >= 0; fd++)
		if (fcntl(*fd, F_GETFD) < 0)
			return err_set(err, EBADF, "cannot start '%s': descriptor %d is not open",
				       o->argv[0], *fd);
	return 0;
}

static int failure_explain(const struct proc_opts *o, const struct failure *f, struct err *err)
{
	switch ((enum stage)f->stage) {
	case STAGE_FDS:
		return err_sys(err, f->code, "cannot start '%s': descriptors", o->argv[0]);
	case STAGE_GROUP:
		return err_sys(err, f->code, "cannot start '%s': process group", o->argv[0]);
	case STAGE_CWD:
		return err_sys(err, f->code, "cannot start '%s': directory '%s'", o->argv[0],
			       o->cwd);
	case STAGE_EXEC:
		break;
	}
	return err_sys(err, f->code, "cannot start '%s'", o->argv[0]);
}

/* Blocks until the child has called exec (the pipe closes) or has reported why it could not. */
static int await_exec(const struct proc_opts *o, int fd, pid_t pid, struct err *err)
{
	struct failure f = { 0, 0 };
	ssize_t n;

	do {
		n = read(fd, &f, sizeof(f));
	} while (n < 0 && errno == EINTR);
	if (n == 0)
		return 0;
	/* Without a complete report the program may run in an unknown state, so it is killed. */
	if (n != (ssize_t)sizeof(f))
		kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (n != (ssize_t)sizeof(f))
		f = (struct failure){ STAGE_EXEC, EIO };
	return failure_explain(o, &f, err);
}

static int plan_spawn(struct plan *p, pid_t *ret_pid, struct err *err)
{
	const struct proc_opts *o = p->o;
	CLEANUP(xclosep) int null = -1, from_child = -1, to_parent = -1;
	int pipe_fds[2];
	pid_t pid;
	int r;

	for (int i = 0; i < 3; i++) {
		if (p->fds[i] >= 0)
			continue;
		if (null < 0)
			null = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (null < 0)
			return err_sys(err, errno, "cannot start '%s': /dev/null", o->argv[0]);
		p->fds[i] = null;
	}
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return err_sys(err, errno, "cannot start '%s': pipe", o->argv[0]);
	from_child = pipe_fds[0];
	to_parent = p->report = pipe_fds[1];
	p->parent = getpid();
	pid = fork_blocked(p);
	if (pid < 0)
		return err_sys(err, errno, "cannot start '%s': fork", o->argv[0]);
	/* Parent and child both set it, so it is set whichever runs first. */
	if (!o->same_group && !o->new_session)
		setpgid(pid, pid);
	xclosep(&to_parent);
	r = await_exec(o, from_child, pid, err);
	if (r < 0)
		return r;
	*ret_pid = pid;
	return 0;
}

int proc_spawn(const struct proc_opts *o, pid_t *ret_pid, struct err *err)
{
	struct plan p = {
		.o = o,
		.env = o->env ? o->env : environ,
		.paths = STRVEC_INIT,
		.fds = { o->fd_in, o->fd_out, o->fd_err },
	};
	int r;

	assert(o->argv && o->argv[0]);
	r = check_fds(o, err);
	if (r < 0)
		return r;
	program_candidates(o->argv[0], path_of(p.env), &p.paths);
	r = plan_spawn(&p, ret_pid, err);
	strvec_release(&p.paths);
	return r;
}

struct proc_exit proc_exit_from_status(int status)
{
	if (WIFSIGNALED(status))
		return (struct proc_exit){ -1, WTERMSIG(status) };
	return (struct proc_exit){ WEXITSTATUS(status), 0 };
}

/* 1 ended, 0 still runs, -errno. */
static int child_reap(pid_t pid, int flags, struct proc_exit *ret)
{
	int status;
	pid_t r;

	do {
		r = waitpid(pid, &status, flags);
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	if (r == 0)
		return 0;
	*ret = proc_exit_from_status(status);
	return 1;
}

static int pidfd_of(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0U);
}

static int64_t ms_until(int64_t deadline_ns)
{
	int64_t left = deadline_ns - clock_monotonic_ns();

	return left <= 0 ? 0 : (left + NS_PER_MS - 1) / NS_PER_MS;
}

int proc_wait(pid_t pid, int timeout_ms, struct proc_exit *ret, struct err *err)
{
	int64_t deadline = clock_monotonic_ns() + timeout_ms * NS_PER_MS;
	CLEANUP(xclosep) int pidfd = -1;
	int64_t nap = 1;
	int r;

	for (;;) {
		int64_t left;

		r = child_reap(pid, timeout_ms < 0 ? 0 : WNOHANG, ret);
		if (r < 0)
			return err_sys(err, -r, "cannot wait for process %d", (int)pid);
		if (r > 0)
			return 0;
		left = ms_until(deadline);
		if (left == 0)
			return err_set(err, ETIMEDOUT, "process %d still runs after %d ms",
				       (int)pid, timeout_ms);
		if (pidfd < 0)
			pidfd = pidfd_of(pid);
		if (pidfd >= 0) {
			struct pollfd p = { .fd = pidfd, .events = POLLIN };

			poll(&p, 1, (int)left);
		} else {
			/* No pidfd here (Linux before 5.3, seccomp): ask again, less and less
			 * often. */
			poll(NULL, 0, (int)(nap < left ? nap : left));
			nap = nap < 16 ? nap * 2 : 20;
		}
	}
}

/* --- capture --- */

struct stream {
	int fd;            /* -1 once it ended */
	struct strbuf *to; /* NULL: not wanted */
	size_t left;
};

/*
 * Reads the bytes that are there now. Bytes over the limit are read too, so that the program does
 * not block on a full pipe. The number of reads covers the largest pipe and is bounded, as a
 * program may write without end.
 */
static void stream_drain(struct stream *s)
{
	char buf[16384];

	for (int reads = 0; s->fd >= 0 && reads < 64; reads++) {
		ssize_t n = read(s->fd, buf, sizeof(buf));
		size_t keep;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			xclosep(&s->fd);
			return;
		}
		keep = (size_t)n < s->left ? (size_t)n : s->left;
		strbuf_add(s->to, buf, keep);
		s->left -= keep;
		if (keep < (size_t)n)
			s->to->overflow = true;
	}
}

static int stream_open(struct stream *s, struct strbuf *to, size_t max, int *ret_write,
		       struct err *err)
{
	int fds[2];

	if (!to)
		return 0;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(err, errno, "pipe");
	s->fd = fds[0];
	s->to = to;
	s->left = max;
	*ret_write = fds[1];
	if (fcntl(s->fd, F_SETFL, O_NONBLOCK) < 0)
		return err_sys(err, errno, "pipe");
	return 0;
}

/*
 * Ends when the program ends, not when its pipes do: its background processes may hold them for
 * ever. Without pidfd the poll is cut into short ones.
 */
static int child_collect(pid_t pid, int timeout_ms, struct stream s[2], struct proc_exit *ret)
{
	int64_t deadline = clock_monotonic_ns() + timeout_ms * NS_PER_MS;
	CLEANUP(xclosep) int pidfd = pidfd_of(pid);

	for (;;) {
		struct pollfd p[3] = {
			{ .fd = s[0].fd, .events = POLLIN },
			{ .fd = s[1].fd, .events = POLLIN },
			{ .fd = pidfd, .events = POLLIN },
		};
		int64_t wait = timeout_ms < 0 ? -1 : ms_until(deadline);
		int r;

		if (wait == 0)
			return -ETIMEDOUT;
		if (pidfd < 0 && (wait < 0 || wait > 20))
			wait = 20;
		poll(p, ARRAY_LEN(p), (int)wait);
		/* Reaped before reading: the program's last output is then in the pipe. */
		r = child_reap(pid, WNOHANG, ret);
		stream_drain(&s[0]);
		stream_drain(&s[1]);
		if (r != 0)
			return r < 0 ? r : 0;
	}
}

static int child_capture(const struct proc_opts *opts, int timeout_ms, struct stream s[2],
			 int fds[2], struct proc_exit *ret, struct err *err)
{
	struct proc_opts o = *opts;
	pid_t pid;
	int r;

	o.fd_out = fds[0];
	o.fd_err = fds[1];
	r = proc_spawn(&o, &pid, err);
	if (r < 0)
		return r;
	xclosep(&fds[0]);
	xclosep(&fds[1]);
	r = child_collect(pid, timeout_ms, s, ret);
	if (r == -ETIMEDOUT) {
		kill(-pid, SIGKILL);
		child_reap(pid, 0, ret);
		return err_set(err, ETIMEDOUT, "'%s' was killed after %d ms", o.argv[0],
			       timeout_ms);
	}
	if (r < 0)
		return err_sys(err, -r, "cannot wait for '%s'", o.argv[0]);
	return 0;
}

int proc_capture_opts(const struct proc_opts *o, int timeout_ms, size_t max, struct strbuf *out,
		      struct strbuf *errs, struct proc_exit *ret, struct err *err)
{
	struct stream s[2] = { { .fd = -1 }, { .fd = -1 } };
	int fds[2] = { -1, -1 };
	int r;

	r = stream_open(&s[0], out, max, &fds[0], err);
	if (r == 0)
		r = stream_open(&s[1], errs, max, &fds[1], err);
	if (r == 0)
		r = child_capture(o, timeout_ms, s, fds, ret, err);
	else
		r = err_wrap(err, r, "cannot start '%s'", o->argv[0]);
	for (int i = 0; i < 2; i++) {
		xclosep(&s[i].fd);
		xclosep(&fds[i]);
	}
	return r;
}

int proc_capture(char *const *argv, int timeout_ms, size_t max, struct strbuf *out,
		 struct strbuf *errs, struct proc_exit *ret, struct err *err)
{
	struct proc_opts o = PROC_OPTS_INIT;

	o.argv = argv;
	return proc_capture_opts(&o, timeout_ms, max, out, errs, ret, err);
}

/* --- names --- */

#define NAME(s) [s] = #s

static const char *const signal_names[] = {
	NAME(SIGHUP),    NAME(SIGINT),  NAME(SIGQUIT),  NAME(SIGILL),  NAME(SIGTRAP),
	NAME(SIGABRT),   NAME(SIGBUS),  NAME(SIGFPE),   NAME(SIGKILL), NAME(SIGUSR1),
	NAME(SIGSEGV),   NAME(SIGUSR2), NAME(SIGPIPE),  NAME(SIGALRM), NAME(SIGTERM),
	NAME(SIGSTKFLT), NAME(SIGCHLD), NAME(SIGCONT),  NAME(SIGSTOP), NAME(SIGTSTP),
	NAME(SIGTTIN),   NAME(SIGTTOU), NAME(SIGURG),   NAME(SIGXCPU), NAME(SIGXFSZ),
	NAME(SIGVTALRM), NAME(SIGPROF), NAME(SIGWINCH), NAME(SIGIO),   NAME(SIGPWR),
	NAME(SIGSYS),
};

const char *proc_signal_name(int sig)
{
	return sig > 0 && sig < (int)ARRAY_LEN(signal_names) ? signal_names[sig] : NULL;
}

uint64_t proc_start_ticks(const char *stat)
{
	/* The name in brackets may hold anything. */
	const char *at = strrchr(stat, ')');
	uint64_t v = 0;

	for (int i = 2; at && i < 22; i++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	if (at)
		num_u64(at, strcspn(at, " \n"), &v);
	return v;
}

bool proc_may_trace(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capget, &head, data) < 0 || (data[0].permitted >> CAP_SYS_PTRACE & 1);
}
