/*
 * profrig-init: PID 1 of a profiled container, or on the host the parent of every process that a
 * run starts. See profrig/agent.h for its events and requests.
 */
#include "agent_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/proc.h"

/* Bytes of unread events above which no request is read. */
#define OUT_HIGH ((size_t)1 << 20)
#define BYE_TIMEOUT_NS NS_PER_S

/* 0 where there is no /proc. */
static uint64_t start_ticks(void)
{
	char buf[1024];
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return proc_start_ticks(buf);
}

static uint64_t pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) < 0 ? 0 : (uint64_t)st.st_ino;
}

void say_hello(struct agent *a)
{
	struct utsname un = { .release = "" };
	struct event ev;
	char libc[64];

	uname(&un);
	probe_libc(libc, sizeof(libc));
	event_begin(&ev, "hello");
	json_i64(&ev.j, "protocol", AGENT_PROTOCOL);
	json_str(&ev.j, "version", PROFRIG_VERSION);
	json_str(&ev.j, "run", a->run_id);
	json_i64(&ev.j, "pid", getpid());
	json_str(&ev.j, "kernel", un.release);
	json_str(&ev.j, "arch", un.machine);
	json_str(&ev.j, "libc", libc);
	json_i64(&ev.j, "monotonic_ns", clock_monotonic_ns());
	json_i64(&ev.j, "uid", getuid());
	json_u64(&ev.j, "start_ticks", start_ticks());
	json_u64(&ev.j, "pid_ns", pid_namespace());
	json_bool(&ev.j, "ptrace", proc_may_trace());
	event_end(&ev, &a->out);
}

static int open_signals(void)
{
	sigset_t set;

	/* Ignored, not blocked: a reader that has gone gives EPIPE. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* A job manager sends these to all processes of a job; they are meant for the workload. */
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* An engine stops its container by a signal; the event gives the reader the reason. */
static void say_ending(struct agent *a, int sig)
{
	struct event ev;

	event_begin(&ev, "ending");
	json_str(&ev.j, "by", proc_signal_name(sig));
	event_end(&ev, &a->out);
}

static void take_signals(struct agent *a, int fd)
{
	struct signalfd_siginfo si;

	while (read(fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGCHLD || a->ending)
			continue;
		say_ending(a, (int)si.ssi_signo);
		kill_tree_whole(a);
	}
	steps_reap(a);
}

static void take_requests(struct agent *a)
{
	static char buf[65536];
	ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));

	if (n > 0)
		requests_feed(a, buf, (size_t)n);
	else if (n == 0 || (errno != EINTR && errno != EAGAIN))
		a->in_closed = true;
}

static void agent_turn(struct agent *a, int sigfd)
{
	bool listen = !a->in_closed && !a->ending && out_pending(&a->out) < OUT_HIGH;
	struct pollfd p[3] = {
		{ .fd = sigfd, .events = POLLIN },
		{ .fd = a->in_closed ? -1 : STDIN_FILENO, .events = listen ? POLLIN : 0 },
		/* Polled even when nothing is queued: POLLERR shows that the reader has gone. */
		{ .fd = a->out.broken ? -1 : STDOUT_FILENO,
		  .events = out_pending(&a->out) > 0 ? POLLOUT : 0 },
	};

	/* poll does not watch an output that broke since the last turn. */
	if (a->out.broken)
		kill_tree_whole(a);
	if (a->done || poll(p, 3, kill_tree_wait_ms(a)) < 0)
		return;
	if (p[0].revents)
		take_signals(a, sigfd);
	if (p[2].revents & POLLOUT)
		out_flush(&a->out);
	if (p[2].revents & (POLLERR | POLLNVAL))
		a->out.broken = true;
	if (listen && p[1].revents)
		take_requests(a);
	else if (p[1].revents & (POLLHUP | POLLERR | POLLNVAL))
		a->in_closed = true;
	if (a->in_closed || a->out.broken)
		kill_tree_whole(a);
	kill_tree_tick(a);
}

static void say_bye(struct agent *a)
{
	int64_t until = clock_monotonic_ns() + BYE_TIMEOUT_NS;
	struct event ev;

	event_begin(&ev, "bye");
	json_u64(&ev.j, "killed", a->killed);
	event_end(&ev, &a->out);
	while (!a->out.broken && out_pending(&a->out) > 0 && clock_monotonic_ns() < until) {
		struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };

		poll(&p, 1, 50);
		out_flush(&a->out);
	}
}

static int agent_serve(const char *run_id)
{
	struct agent a = { .run_id = run_id, .in = STRBUF_INIT, .out = { .q = STRBUF_INIT } };
	int flags = fcntl(STDOUT_FILENO, F_GETFL);
	int sigfd = open_signals();

	if (sigfd < 0 || flags < 0) {
		fprintf(stderr, "profrig-init: %s\n", strerror(errno));
		return 1;
	}
	fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	while (!a.done)
		agent_turn(&a, sigfd);
	steps_reap(&a);
	say_bye(&a);
	tree_release(&a.tree);
	VEC_RELEASE(&a.steps);
	VEC_RELEASE(&a.tree_kills);
	strbuf_release(&a.in);
	strbuf_release(&a.out.q);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--version")) {
		puts("profrig-init " PROFRIG_VERSION);
		return 0;
	}
	if (argc != 3 || strcmp(argv[1], "--run") != 0) {
		fputs("usage: profrig-init --run RUN_ID\n"
		      "profrig starts it; it reads requests on stdin.\n",
		      stderr);
		return 2;
	}
	/* Before the key arrives: the workload has the same user and could read it from memory. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0) {
		fprintf(stderr, "profrig-init: %s\n", strerror(errno));
		return 1;
	}
	return agent_serve(argv[2]);
}
