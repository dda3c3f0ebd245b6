#include "bench_process.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "profrig/base/proc.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_child.h"
#include "profrig/bench/bench_driver.h"

#define END_MS 2000         /* in which a child that closed its socket has ended */
#define SHOWN ((size_t)160) /* bytes of what it printed */

static const char *const thread_variables[] = { "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS",
						"OMP_NUM_THREADS", "BLIS_NUM_THREADS",
						"MKL_NUM_THREADS" };

static bool is_thread_variable(const char *e)
{
	/* BLIS_JC_NT and its kin would override BLIS_NUM_THREADS */
	if (!strncmp(e, "BLIS_", 5) && strstr(e, "_NT="))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(thread_variables); i++) {
		size_t n = strlen(thread_variables[i]);

		if (!strncmp(e, thread_variables[i], n) && e[n] == '=')
			return true;
	}
	return false;
}

static void environment(unsigned threads, struct strvec *to)
{
	for (char **e = environ; *e; e++)
		if (!is_thread_variable(*e))
			strvec_push(to, *e);
	for (size_t i = 0; i < ARRAY_LEN(thread_variables); i++)
		strvec_pushf(to, "%s=%u", thread_variables[i], threads);
}

/* What it printed, on one line. */
static void said_add(const struct bench_process *p, struct strbuf *to)
{
	char text[SHOWN + 1];
	ssize_t n = p->said >= 0 ? pread(p->said, text, SHOWN, 0) : 0;
	size_t from;

	if (n <= 0)
		return;
	for (ssize_t i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] > '~')
			text[i] = ' ';
	text[n] = 0;
	from = strspn(text, " ");
	if (text[from])
		strbuf_addf(to, "; it said: %s", text + from);
	strbuf_rtrim(to);
}

static enum bench_status process_failed(struct bench_process *p, enum bench_status s,
					const char *words)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, words);
	said_add(p, &sb);
	snprintf(p->reason, sizeof(p->reason), "%s", sb.buf);
	p->status = s;
	return s;
}

static enum bench_status process_gone(struct bench_process *p)
{
	struct proc_exit how = { 0 };
	char words[80];

	if (proc_wait(p->pid, END_MS, &how, NULL) < 0) {
		process_failed(p, BENCH_FAILED, "it closed its socket");
	} else {
		const char *name = proc_signal_name(how.signal);

		p->pid = 0;
		if (how.signal)
			snprintf(words, sizeof(words), "%s", name ? name : "a signal");
		else
			snprintf(words, sizeof(words), "the process ended with status %d",
				 how.code);
		process_failed(p, BENCH_CRASHED, words);
	}
	bench_process_end(p);
	return p->status;
}

static enum bench_status status_named(const char *name)
{
	for (int i = BENCH_FAILED; i < BENCH_STATUSES; i++)
		if (!strcmp(bench_status_name((enum bench_status)i), name))
			return (enum bench_status)i;
	return BENCH_FAILED;
}

/* want: the first word of a good answer. */
static enum bench_status answer_read(struct bench_process *p, double timeout_s, const char *want)
{
	double ms = timeout_s * 1e3;
	struct err err = ERR_INIT;
	char words[80];
	int r = bench_link_read(&p->link, ms > 1e9 ? 1000000000 : (int)ms, &p->line, &err);

	if (r == -ETIMEDOUT) {
		snprintf(words, sizeof(words), "no answer within %.3g s", timeout_s);
		process_failed(p, BENCH_TIMEOUT, words);
		bench_process_end(p);
		return p->status;
	}
	if (r == 0)
		return process_gone(p);
	if (r > 0 && !strcmp(p->line.field[0], want))
		return BENCH_OK;
	if (r > 0 && !strcmp(p->line.field[0], "no")) {
		p->status = status_named(p->line.field[1]);
		snprintf(p->reason, sizeof(p->reason), "%s", p->line.field[2]);
	} else {
		process_failed(p, BENCH_FAILED, "its answer is none");
	}
	bench_process_end(p);
	return p->status;
}

enum bench_status bench_process_start(struct bench_process *p, const struct bench_end *end,
				      const char *cpus, const struct bench_opts *o)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT, env = STRVEC_INIT;
	struct proc_opts po = PROC_OPTS_INIT;
	int pair[2], extra[2] = { -1, -1 };
	struct err err = ERR_INIT;

	*p = (struct bench_process)BENCH_PROCESS_INIT;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return process_failed(p, BENCH_FAILED, "no socket");
	p->link.fd = pair[0];
	p->said = memfd_create("said", MFD_CLOEXEC);
	extra[0] = pair[1];
	strvec_pushl(&argv, o->program, BENCH_CHILD_COMMAND, NULL);
	strvec_pushf(&argv, "%d", pair[1]);
	strvec_pushl(&argv, cpus, end->driver->name, end->path, NULL);
	environment(o->threads, &env);
	po.argv = argv.v;
	po.env = env.v;
	po.fd_err = p->said;
	po.die_with_parent = true;
	po.extra_fds = extra;
	if (proc_spawn(&po, &p->pid, &err) < 0)
		p->pid = 0;
	close(pair[1]);
	if (!p->pid) {
		process_failed(p, BENCH_FAILED, err.msg);
		bench_process_end(p);
		return p->status;
	}
	return answer_read(p, o->timeout_s, "hello");
}

enum bench_status bench_process_ask(struct bench_process *p, double timeout_s, const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	if (p->stopped)
		kill(p->pid, SIGCONT);
	p->stopped = false;
	/* when it is gone, reading tells how */
	bench_link_write(&p->link, "%s", sb.buf);
	return answer_read(p, timeout_s, "ok");
}

void bench_process_rest(struct bench_process *p)
{
	if (p->pid && !p->stopped)
		p->stopped = kill(p->pid, SIGSTOP) == 0;
}

void bench_process_end(struct bench_process *p)
{
	struct proc_exit how;

	if (p->pid) {
		kill(p->pid, SIGKILL);
		proc_wait(p->pid, -1, &how, NULL);
	}
	p->pid = 0;
	p->stopped = false;
	xclosep(&p->link.fd);
	xclosep(&p->said);
}
