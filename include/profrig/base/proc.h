/*
 * proc: the only fork in profrig.
 *
 * proc_spawn starts a program from an argv vector (no shell) and reports an exec failure as -errno
 * with a message, not as exit 127. The child gets its own process group unless asked otherwise,
 * default signal dispositions, an empty signal mask, and only descriptors 0, 1, 2 plus what
 * `extra_fds` names. A file without '#!' that the kernel does not know is -ENOEXEC; no shell is
 * tried.
 */
#ifndef PROFRIG_PROC_H
#define PROFRIG_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profrig/base/err.h"
#include "profrig/base/strbuf.h"

struct proc_opts {
	char *const *argv; /* argv[0] is looked up in PATH of `env` when it has no '/' */
	char *const *env;  /* NULL: inherit */
	const char *cwd;   /* NULL: inherit */
	int fd_in;         /* -1: /dev/null */
	int fd_out;        /* -1: /dev/null */
	int fd_err;        /* -1: /dev/null */
	bool same_group;   /* stay in the caller's process group */
	bool new_session;  /* setsid: survives the terminal */
	/* PR_SET_PDEATHSIG SIGKILL; the kernel means the thread that called */
	bool die_with_parent;
	const int *extra_fds; /* kept open under their own numbers; ended by -1; may be NULL */
};

#define PROC_OPTS_INIT \
	{ \
		.fd_in = -1, .fd_out = -1, .fd_err = -1 \
	}

struct proc_exit {
	int code;   /* exit status, -1 when killed by a signal */
	int signal; /* 0 when it exited */
};

int proc_spawn(const struct proc_opts *o, pid_t *ret_pid, struct err *err);
/*
 * Waits for one child; timeout_ms < 0 = for ever. -ETIMEDOUT when time is up (the child lives on).
 */
int proc_wait(pid_t pid, int timeout_ms, struct proc_exit *ret, struct err *err);
/* From a wait status. */
struct proc_exit proc_exit_from_status(int status);
/*
 * Runs argv, collects at most `max` bytes of stdout (and of stderr when `errs` is not NULL), kills
 * the group at the timeout (-ETIMEDOUT; < 0 = none). Returns when the program ends, also when a
 * background process still holds its pipes. Bytes past max are dropped and set .overflow. A
 * non-zero exit is no error here: see ret.
 */
int proc_capture(char *const *argv, int timeout_ms, size_t max, struct strbuf *out,
		 struct strbuf *errs, struct proc_exit *ret, struct err *err);
/*
 * The same for a program that only tells something: one that a signal ended said nothing, and is
 * asked again, up to three times in all.
 */
int proc_question(char *const *argv, int timeout_ms, size_t max, struct strbuf *out,
		  struct strbuf *errs, struct proc_exit *ret, struct err *err);
/* proc_capture with an environment and the like; out and errs stand for its fd_out and fd_err. */
int proc_capture_opts(const struct proc_opts *o, int timeout_ms, size_t max, struct strbuf *out,
		      struct strbuf *errs, struct proc_exit *ret, struct err *err);
/* Whether this process and its children have CAP_SYS_PTRACE. True when that is not known. */
bool proc_may_trace(void);
/* When a process began, in ticks since boot, by the text of its /proc/PID/stat. 0: unknown. */
uint64_t proc_start_ticks(const char *stat);
/* Of this boot, for which alone process ids are valid. Owned; "" unknown. */
char *proc_boot_id(void);
/* "SIGKILL" for 9; NULL when unknown. */
const char *proc_signal_name(int sig);

#endif
