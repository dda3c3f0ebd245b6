#include "sched_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define SAID_MAX ((size_t)200)

static int pipe_make(int *ret_read, int *ret_write, struct err *err)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(err, errno, "pipe");
	*ret_read = fds[0];
	*ret_write = fds[1];
	if (fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0)
		return err_sys(err, errno, "pipe");
	return 0;
}

int sched_command_begin(struct sched_command *c, char *const *argv, char *const *env,
			double timeout_s, struct err *err)
{
	CLEANUP(xclosep) int out = -1, errs = -1;
	struct proc_opts o = PROC_OPTS_INIT;
	int r;

	sched_command_end(c);
	strbuf_clear(&c->out);
	strbuf_clear(&c->errs);
	c->out.overflow = c->errs.overflow = c->timed_out = false;
	strbuf_limit(&c->out, SCHED_OUT_MAX);
	strbuf_limit(&c->errs, SCHED_ERR_MAX);
	r = pipe_make(&c->fd[0], &out, err);
	if (r == 0)
		r = pipe_make(&c->fd[1], &errs, err);
	o.argv = argv;
	o.env = env;
	o.fd_out = out;
	o.fd_err = errs;
	if (r == 0)
		r = proc_spawn(&o, &c->pid, err);
	if (r < 0) {
		c->pid = 0;
		sched_command_end(c);
		return r;
	}
	c->deadline_ns = clock_monotonic_ns() + (int64_t)(timeout_s * (double)NS_PER_S);
	return 0;
}

/* What is there now; a program that writes without end gets no more than these reads a step. */
static void output_read(struct sched_command *c, int i)
{
	struct strbuf *to = i ? &c->errs : &c->out;
	char buf[16384];

	for (int reads = 0; c->fd[i] >= 0 && reads < 256; reads++) {
		ssize_t n = read(c->fd[i], buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			xclosep(&c->fd[i]);
		else
			strbuf_add(to, buf, (size_t)n);
	}
}

int sched_command_step(struct sched_command *c)
{
	struct proc_exit e = { 0, 0 };
	int r;

	if (c->pid == 0)
		return 1;
	/* Asked before its output is read: what it wrote before it ended is in the pipes. */
	r = proc_wait(c->pid, 0, &e, NULL);
	output_read(c, 0);
	output_read(c, 1);
	if (r == -ETIMEDOUT && clock_monotonic_ns() < c->deadline_ns)
		return 0;
	if (r == 0) {
		c->exit = e;
		c->pid = 0;
	} else {
		c->timed_out = true;
	}
	sched_command_end(c);
	return 1;
}

/* The last line that is not empty. */
static const char *last_line(const struct strbuf *sb, size_t *ret_n)
{
	const char *end = sb->buf + sb->len, *begin;

	while (end > sb->buf && strchr("\n\r \t", end[-1]))
		end--;
	begin = end;
	while (begin > sb->buf && begin[-1] != '\n')
		begin--;
	*ret_n = (size_t)(end - begin);
	return begin;
}

char *sched_command_said(const struct sched_command *c)
{
	size_t n;
	const char *line = last_line(&c->errs, &n);
	char *said;

	if (n == 0)
		line = last_line(&c->out, &n);
	said = xstrndup(line, n < SAID_MAX ? n : SAID_MAX);
	text_no_controls(said, ' ');
	return said;
}

void sched_command_end(struct sched_command *c)
{
	struct proc_exit e;

	if (c->pid > 0) {
		kill(-c->pid, SIGKILL);
		/* One that hangs in a dead file system cannot be waited for. */
		if (proc_wait(c->pid, 2000, &e, NULL) == 0)
			c->exit = e;
	}
	c->pid = 0;
	xclosep(&c->fd[0]);
	xclosep(&c->fd[1]);
}
