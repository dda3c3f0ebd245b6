#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/proc.h"
#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"

#define END_WAIT_MS 10000

bool worker_lives(const struct worker *w)
{
	return w->pid > 0;
}

static void pipes_close(struct worker *w)
{
	if (w->in >= 0)
		close(w->in);
	if (w->out >= 0)
		close(w->out);
	w->in = w->out = -1;
	w->n = 0;
}

int worker_start(struct worker *w, const char *program, const char *dir, size_t slot,
		 struct err *err)
{
	CLEANUP(xfreep) char *number = xasprintf("%zu", slot + 1);
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	struct proc_opts po = PROC_OPTS_INIT;
	int in[2], out[2], r;

	strvec_pushl(&argv, program, "campaign", "work", dir, "--slot", number, NULL);
	if (pipe2(in, O_CLOEXEC) < 0)
		return err_sys(err, errno, "a pipe");
	if (pipe2(out, O_CLOEXEC) < 0) {
		close(in[0]);
		close(in[1]);
		return err_sys(err, errno, "a pipe");
	}
	po.argv = argv.v;
	po.fd_in = in[0];
	po.fd_out = out[1];
	po.fd_err = 2;
	po.die_with_parent = true;
	r = proc_spawn(&po, &w->pid, err);
	close(in[0]);
	close(out[1]);
	w->in = in[1];
	w->out = out[0];
	w->n = 0;
	if (r < 0) {
		w->pid = 0;
		pipes_close(w);
	}
	return r;
}

void worker_give(struct worker *w, const char *attempt)
{
	CLEANUP(xfreep) char *line = xasprintf("%s\n", attempt);

	fs_write_all(w->in, line, strlen(line));
}

/* A whole line, taken out of what was heard. */
static bool line_take(struct worker *w, char *line, size_t size)
{
	char *end = memchr(w->text, '\n', w->n);
	size_t n = end ? (size_t)(end - w->text) : 0;

	if (!end)
		return false;
	snprintf(line, size, "%.*s", (int)n, w->text);
	w->n -= n + 1;
	memmove(w->text, end + 1, w->n);
	return true;
}

static void worker_reap(struct worker *w, char died[80])
{
	struct proc_exit x = { -1, 0 };
	const char *name;

	if (proc_wait(w->pid, END_WAIT_MS, &x, NULL) < 0) {
		kill(w->pid, SIGKILL);
		proc_wait(w->pid, -1, &x, NULL);
	}
	name = proc_signal_name(x.signal);
	if (x.signal)
		snprintf(died, 80, "%s", name ? name : "a signal");
	else
		snprintf(died, 80, "exit status %d", x.code);
	w->pid = 0;
	pipes_close(w);
}

int worker_hear(struct worker *w, char *line, size_t size, char died[80])
{
	ssize_t n;

	if (w->n >= sizeof(w->text) - 1) /* no line of ours is that long */
		w->n = 0;
	do
		n = read(w->out, w->text + w->n, sizeof(w->text) - 1 - w->n);
	while (n < 0 && errno == EINTR);
	if (n <= 0) {
		worker_reap(w, died);
		return -1;
	}
	w->n += (size_t)n;
	return line_take(w, line, size);
}

void worker_signal(struct worker *w, int sig)
{
	if (w->pid > 0)
		kill(w->pid, sig);
}

void worker_end(struct worker *w)
{
	char died[80];

	if (w->pid <= 0)
		return;
	if (w->in >= 0)
		close(w->in);
	w->in = -1;
	worker_reap(w, died);
}
