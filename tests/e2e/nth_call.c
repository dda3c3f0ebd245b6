/*
 * nth_call CALL N error=ERRNO|signal=SIG FILE COMMAND…: runs COMMAND, in which the N-th CALL of the
 * main thread fails with ERRNO and does nothing, or begins with SIG. Ends as COMMAND does; FILE has
 * a line with INJECTED and what the call was given when COMMAND came so far, else it is empty.
 * Status 125: it cannot be done here, or the words are wrong (a message says so).
 *
 * `strace -e inject=` does the same, but stops the thread at every call. Here a filter stops it at
 * CALL alone, so that a run costs little more than one that is not watched. Children inherit the
 * filter and must be watched as long as they live, because the kernel fails a filtered call that
 * nothing watches; nothing is injected into them. So a process of its own watches, which stays
 * until the last of them ends, while this one ends with COMMAND.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profrig/base/num.h"

#ifdef __x86_64__

/* What the scripts beside this file ask for; one that lacks here is an error, not a skip. */
static const struct {
	const char *name;
	long nr;
} calls[] = { { "access", SYS_access },
	      { "bind", SYS_bind },
	      { "chmod", SYS_chmod },
	      { "clone", SYS_clone },
	      { "clone3", SYS_clone3 },
	      { "copy_file_range", SYS_copy_file_range },
	      { "dup", SYS_dup },
	      { "dup2", SYS_dup2 },
	      { "dup3", SYS_dup3 },
	      { "epoll_create1", SYS_epoll_create1 },
	      { "eventfd2", SYS_eventfd2 },
	      { "faccessat", SYS_faccessat },
	      { "faccessat2", SYS_faccessat2 },
	      { "fallocate", SYS_fallocate },
	      { "fchmod", SYS_fchmod },
	      { "fchmodat", SYS_fchmodat },
	      { "fdatasync", SYS_fdatasync },
	      { "flock", SYS_flock },
	      { "fstat", SYS_fstat },
	      { "fstatfs", SYS_fstatfs },
	      { "fsync", SYS_fsync },
	      { "ftruncate", SYS_ftruncate },
	      { "getcwd", SYS_getcwd },
	      { "getdents64", SYS_getdents64 },
	      { "getrandom", SYS_getrandom },
	      { "ioctl", SYS_ioctl },
	      { "listen", SYS_listen },
	      { "lseek", SYS_lseek },
	      { "lstat", SYS_lstat },
	      { "mkdir", SYS_mkdir },
	      { "mkdirat", SYS_mkdirat },
	      { "mmap", SYS_mmap },
	      { "mremap", SYS_mremap },
	      { "newfstatat", SYS_newfstatat },
	      { "open", SYS_open },
	      { "openat", SYS_openat },
	      { "openat2", SYS_openat2 },
	      { "pidfd_open", SYS_pidfd_open },
	      { "pipe2", SYS_pipe2 },
	      { "poll", SYS_poll },
	      { "ppoll", SYS_ppoll },
	      { "prctl", SYS_prctl },
	      { "pread64", SYS_pread64 },
	      { "prlimit64", SYS_prlimit64 },
	      { "pwrite64", SYS_pwrite64 },
	      { "read", SYS_read },
	      { "readlink", SYS_readlink },
	      { "readlinkat", SYS_readlinkat },
	      { "rename", SYS_rename },
	      { "renameat", SYS_renameat },
	      { "renameat2", SYS_renameat2 },
	      { "sched_getaffinity", SYS_sched_getaffinity },
	      { "socket", SYS_socket },
	      { "stat", SYS_stat },
	      { "statfs", SYS_statfs },
	      { "statx", SYS_statx },
	      { "symlink", SYS_symlink },
	      { "symlinkat", SYS_symlinkat },
	      { "sysinfo", SYS_sysinfo },
	      { "timerfd_create", SYS_timerfd_create },
	      { "unlink", SYS_unlink },
	      { "unlinkat", SYS_unlinkat },
	      { "vfork", SYS_vfork },
	      { "write", SYS_write } };

struct injection {
	const char *call;
	long nr;
	uint64_t when, seen;
	int error, signal; /* one of them is not 0 */
	FILE *out;
};

enum { CANNOT = 125 };

static int cannot(const char *what)
{
	fprintf(stderr, "nth_call: %s: %s\n", what, strerror(errno));
	return CANNOT;
}

static long call_number(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].nr;
	}
	return -1;
}

/* The number behind a name as one of libc's two functions has it, 0: none has. */
static int numbered(const char *name, const char *(*name_of)(int), int most)
{
	for (int i = 1; i < most; i++) {
		const char *s = name_of(i);

		if (s && strcmp(s, name) == 0)
			return i;
	}
	return 0;
}

static bool injection_parse(struct injection *in, char **words)
{
	in->call = words[0];
	in->nr = call_number(words[0]);
	if (strncmp(words[2], "error=", 6) == 0)
		in->error = numbered(words[2] + 6, strerrorname_np, 4096);
	else if (strncmp(words[2], "signal=", 7) == 0)
		in->signal = numbered(words[2] + 7, sigabbrev_np, NSIG);
	return in->nr >= 0 && num_u64(words[1], strlen(words[1]), &in->when) == 0 && in->when > 0 &&
	       (in->error || in->signal);
}

/* --- the command --- */

static int filter_call(long nr)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) == 0)
		return 0;
	/* Without root the kernel wants a promise first that nothing gains rights. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
}

/* Waits until it is watched. */
static _Noreturn void command_run(long nr, int go, char **argv)
{
	char c;

	if (read(go, &c, 1) != 1)
		_exit(CANNOT);
	if (filter_call(nr) != 0)
		_exit(cannot("seccomp"));
	execvp(argv[0], argv);
	_exit(cannot(argv[0]));
}

/* --- the watcher --- */

/* A text that an argument points to, when it does. */
static void show_text(FILE *out, pid_t pid, unsigned long long at)
{
	char text[81];
	struct iovec to = { text, sizeof(text) - 1 };
	struct iovec from = { (void *)(uintptr_t)at,
			      sizeof(text) - 1 }; /* NOLINT(performance-no-int-to-ptr) */
	ssize_t n = at < 4096 ? -1 : process_vm_readv(pid, &to, 1, &from, 1, 0);

	if (n <= 0 || text[0] < ' ' || text[0] > '~')
		return;
	text[n] = '\0';
	fputs(" \"", out);
	for (const char *s = text; *s >= ' ' && *s <= '~'; s++)
		fputc(*s, out);
	fputc('"', out);
}

static void show_file(FILE *out, pid_t pid, unsigned long long fd)
{
	char path[64], target[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%llu", pid, fd);
	n = readlink(path, target, sizeof(target) - 1);
	if (n > 0)
		fprintf(out, " <%.*s>", (int)n, target);
}

static int inject(struct injection *in, pid_t pid)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) != 0)
		return -1;
	fprintf(in->out, "INJECTED %s(%#llx", in->call, regs.rdi);
	show_file(in->out, pid, regs.rdi);
	show_text(in->out, pid, regs.rdi);
	fprintf(in->out, ", %#llx", regs.rsi);
	show_text(in->out, pid, regs.rsi);
	fprintf(in->out, ", %#llx", regs.rdx);
	show_text(in->out, pid, regs.rdx);
	fputs(")\n", in->out);
	fflush(in->out);
	if (in->signal)
		return (int)syscall(SYS_tgkill, pid, pid, in->signal);
	regs.orig_rax = (unsigned long long)-1;
	regs.rax = (unsigned long long)-(long long)in->error;
	return ptrace(PTRACE_SETREGS, pid, NULL, &regs);
}

/* One that stopped goes on, with the signal that it was about to get. */
static int go_on(struct injection *in, pid_t pid, bool is_command, int status)
{
	int event = status >> 16, sig = WSTOPSIG(status), rc = 0;

	if (event == PTRACE_EVENT_STOP && sig != SIGTRAP) {
		ptrace(PTRACE_LISTEN, pid, NULL, NULL);
		return 0;
	}
	if (event == PTRACE_EVENT_SECCOMP && is_command && ++in->seen == in->when)
		rc = inject(in, pid);
	ptrace(PTRACE_CONT, pid, NULL,
	       (void *)(intptr_t)(event ? 0 : sig)); /* NOLINT(performance-no-int-to-ptr) */
	return rc;
}

struct end {
	int status;
	bool last; /* nothing is left to be watched */
};

static bool tell(int told, int status)
{
	struct end end = { .status = status };
	siginfo_t si;

	end.last = waitid(P_ALL, 0, &si, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0 &&
		   errno == ECHILD;
	return write(told, &end, sizeof(end)) == sizeof(end) && close(told) == 0;
}

/* Returns when the last process has ended; writes the status of the command as soon as it ends. */
static void watch(struct injection *in, pid_t command, int told)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (pid < 0)
			continue;
		if (WIFSTOPPED(status)) {
			if (go_on(in, pid, pid == command, status) != 0)
				return;
		} else if (pid == command && !tell(told, status)) {
			return;
		}
	}
}

/* A caller that reads what the command wrote must not wait for this process, too. */
static void hold_nothing(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	close(null);
}

static int watcher(struct injection *in, int told, char **argv)
{
	const unsigned long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |
				      PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
				      PTRACE_O_TRACEEXEC;
	int go[2];
	pid_t command;

	if (pipe2(go, O_CLOEXEC) != 0)
		return cannot("pipe");
	command = fork();
	if (command < 0)
		return cannot("fork");
	if (command == 0) {
		close(go[1]);
		command_run(in->nr, go[0], argv);
	}
	if (ptrace(PTRACE_SEIZE, command, NULL, options) != 0)
		return cannot("ptrace");
	if (write(go[1], "", 1) != 1)
		return cannot("write");
	close(go[0]);
	close(go[1]);
	hold_nothing();
	watch(in, command, told);
	return 0;
}

static int end_like(int status)
{
	const struct rlimit no_core = { 0, 0 };

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	struct injection in = { 0 };
	struct end end;
	int told[2];
	pid_t pid;

	if (argc < 6 || !injection_parse(&in, argv + 1)) {
		fputs("nth_call CALL N error=ERRNO|signal=SIG FILE COMMAND…\n", stderr);
		return CANNOT;
	}
	in.out = fopen(argv[4], "we");
	if (!in.out || pipe2(told, O_CLOEXEC) != 0)
		return cannot(argv[4]);
	pid = fork();
	if (pid < 0)
		return cannot("fork");
	if (pid == 0)
		_exit(watcher(&in, told[1], argv + 5));
	close(told[1]);
	if (read(told[0], &end, sizeof(end)) != sizeof(end))
		return CANNOT;
	/* So that its time counts among ours. */
	if (end.last)
		waitpid(pid, NULL, 0);
	return end_like(end.status);
}

#else

int main(void)
{
	fputs("nth_call: the registers of this machine are not known\n", stderr);
	return 125;
}

#endif
