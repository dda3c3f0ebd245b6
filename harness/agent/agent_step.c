#include "agent_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/proc.h"

int step_find(const struct agent *a, int64_t id)
{
	for (size_t i = a->steps.nr; i-- > 0;)
		if (a->steps.v[i].id == id)
			return (int)i;
	return -1;
}

static int make_dirs(const char *path, struct err *err)
{
	CLEANUP(xfreep) char *p = xstrdup(path);

	for (char *slash = p + 1; *p; slash++) {
		bool last = *slash == '\0';

		if (*slash != '/' && !last)
			continue;
		*slash = '\0';
		if (door_mkdir(p, 0777) < 0 && errno != EEXIST)
			return err_sys(err, errno, "cannot make '%s'", p);
		if (last)
			break;
		*slash = '/';
	}
	return 0;
}

/* Opens the file for a step's output. NULL: /dev/null. */
static int open_output(const char *path, int *ret_fd, struct err *err)
{
	int fd;

	if (!path)
		return 0;
	/* O_NONBLOCK: in a folder that is not held, a FIFO must not block the agent. */
	fd = door_open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK, 0644);
	if (fd < 0)
		return err_sys(err, errno, "cannot open '%s'", path);
	fcntl(fd, F_SETFL, O_APPEND);
	*ret_fd = fd;
	return 0;
}

static int step_spawn(const json_t *rq, pid_t *ret_pid, struct err *err)
{
	CLEANUP(strvec_release)
	struct strvec argv = STRVEC_INIT, env = STRVEC_INIT, dirs = STRVEC_INIT;
	CLEANUP(xclosep) int out = -1, errs = -1;
	struct proc_opts o = PROC_OPTS_INIT;
	cpu_set_t was;
	int r, placed;

	r = request_strings(rq, "argv", &argv, err);
	if (r == 0 && (argv.nr == 0 || !*argv.v[0]))
		r = err_set(err, EINVAL, "no program in 'argv'");
	if (r == 0)
		r = request_env(rq, &env, err);
	if (r == 0)
		r = request_strings(rq, "mkdir", &dirs, err);
	for (size_t i = 0; r == 0 && i < dirs.nr; i++)
		r = make_dirs(dirs.v[i], err);
	if (r == 0)
		r = open_output(json_string_value(json_object_get(rq, "out")), &out, err);
	if (r == 0)
		r = open_output(json_string_value(json_object_get(rq, "err")), &errs, err);
	if (r < 0)
		return r;
	o.argv = argv.v;
	o.env = env.v;
	o.cwd = json_string_value(json_object_get(rq, "cwd"));
	o.fd_out = out;
	o.fd_err = errs;
	/* The steps die with the agent. */
	o.die_with_parent = true;
	placed = place_take(rq, &was, err);
	if (placed < 0)
		return placed;
	r = proc_spawn(&o, ret_pid, err);
	if (placed)
		place_back(&was);
	return r;
}

void step_start(struct agent *a, int64_t id, const json_t *rq)
{
	struct err err = ERR_INIT;
	struct event ev;
	int64_t t_ns = 0;
	pid_t pid;
	int old = step_find(a, id), r;

	if (old >= 0 && a->steps.v[old].running)
		r = err_set(&err, EEXIST, "step %lld is running", (long long)id);
	else if (a->steps.nr >= AGENT_MAX_STEPS)
		r = err_set(&err, EMFILE, "more than %d steps", AGENT_MAX_STEPS);
	else {
		tree_scan(a);
		/* Taken before the fork, so that no act of the step is earlier than its start. */
		t_ns = clock_monotonic_ns();
		r = step_spawn(rq, &pid, &err);
	}
	if (r < 0) {
		event_begin(&ev, "failed");
		json_i64(&ev.j, "id", id);
		json_i64(&ev.j, "errno", -r);
		json_str(&ev.j, "text", err.msg);
		event_end(&ev, &a->out);
		return;
	}
	VEC_PUSH(&a->steps, ((struct step){ .id = id, .pid = pid, .running = true }));
	event_begin(&ev, "started");
	json_i64(&ev.j, "id", id);
	json_i64(&ev.j, "pid", pid);
	json_i64(&ev.j, "t_ns", t_ns);
	event_end(&ev, &a->out);
}

void step_signal(struct agent *a, int index, int sig)
{
	const struct step *s = &a->steps.v[index];

	tree_scan(a);
	/* The whole group at once, so that no process escapes by a fork. */
	if (s->running) {
		kill(-s->pid, sig);
		if (sig == SIGTERM || sig == SIGINT || sig == SIGHUP)
			kill(-s->pid, SIGCONT);
	}
	tree_signal(a, index, sig, s->running ? s->pid : 0);
}

void step_forward(struct agent *a, int index, int sig)
{
	const struct step *s = &a->steps.v[index];

	tree_scan(a);
	if (tree_signal_catching(a, index, sig) == 0 && s->running)
		kill(s->pid, sig);
}

static double timeval_s(const struct timeval *tv)
{
	return (double)tv->tv_sec + (double)tv->tv_usec * 1e-6;
}

static void step_ended(struct agent *a, struct step *s, int64_t t_ns, int status,
		       const struct rusage *ru, size_t strays)
{
	struct proc_exit x = proc_exit_from_status(status);
	struct event ev;

	event_begin(&ev, "exited");
	json_i64(&ev.j, "id", s->id);
	json_i64(&ev.j, "code", x.code);
	json_i64(&ev.j, "signal", x.signal);
	json_i64(&ev.j, "t_ns", t_ns);
	json_f64(&ev.j, "user_s", timeval_s(&ru->ru_utime));
	json_f64(&ev.j, "sys_s", timeval_s(&ru->ru_stime));
	json_i64(&ev.j, "maxrss_bytes", (int64_t)ru->ru_maxrss * 1024);
	json_u64(&ev.j, "strays", strays);
	event_end(&ev, &a->out);
}

/*
 * Scans before it reaps: while the first process is a zombie its pid still names the group, so the
 * scan can find the processes that the step left behind.
 */
void steps_reap(struct agent *a)
{
	for (;;) {
		siginfo_t si = { .si_pid = 0 };
		struct step *s = NULL;
		struct rusage ru;
		size_t strays = 0;
		int64_t t_ns;
		int status;

		if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) < 0 || si.si_pid == 0)
			return;
		/* The time of the scan does not belong to the step. */
		t_ns = clock_monotonic_ns();
		for (size_t i = 0; i < a->steps.nr && !s; i++)
			if (a->steps.v[i].running && a->steps.v[i].pid == si.si_pid)
				s = &a->steps.v[i];
		if (s) {
			tree_scan(a);
			strays = tree_count(a, (int)(s - a->steps.v));
		}
		if (wait4(si.si_pid, &status, WNOHANG, &ru) != si.si_pid)
			return;
		if (s) {
			s->running = false;
			step_ended(a, s, t_ns, status, &ru, strays);
		}
	}
}
