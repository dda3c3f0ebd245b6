/*
 * agent_rig: drives the real profrig-init ($B/profrig-init) over pipes, as a run would.
 */
#ifndef PROFRIG_AGENT_RIG_H
#define PROFRIG_AGENT_RIG_H

#include "test.h"

#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>

#include "profrig/base/clock.h"
#include "profrig/base/proc.h"
#include "profrig/base/strbuf.h"
#include "profrig/engine/agent.h"

/* Ends a test that hangs; nothing may take so long, however little the machine gives it. */
#define PATIENCE_MS 120000
#define LOOK_US 20000
#define LOOKS (PATIENCE_MS * 1000 / LOOK_US)

#define RIG_KEY "0123456789abcdef0123456789abcdef"

struct rig {
	pid_t pid;
	int to, from;
	struct strbuf in;
	char *dir;
};

static inline char *agent_path(void)
{
	const char *b = getenv("B");

	return fs_join(b ? b : "build", "profrig-init");
}

static inline void start_agent(struct rig *g)
{
	CLEANUP(xfreep) char *path = agent_path();
	char run[] = "--run", id[] = "unit-test";
	char *argv[] = { path, run, id, NULL };
	struct proc_opts o = PROC_OPTS_INIT;
	struct err err = ERR_INIT;
	int in[2], out[2];
	static const char key[] = "{\"op\":\"key\",\"id\":0,\"key\":\"" RIG_KEY "\"}\n";

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	o.argv = argv;
	o.fd_in = in[0];
	o.fd_out = out[1];
	o.fd_err = STDERR_FILENO;
	if (proc_spawn(&o, &g->pid, &err) < 0)
		fail_msg("%s", err.msg);
	close(in[0]);
	close(out[1]);
	g->to = in[1];
	g->from = out[0];
	strbuf_init(&g->in);
	assert_int_equal(write(g->to, key, sizeof(key) - 1), sizeof(key) - 1);
}

static inline json_t *next_event(struct rig *g, int timeout_ms)
{
	int64_t until = clock_monotonic_ns() + timeout_ms * NS_PER_MS;

	for (;;) {
		char *nl = memchr(g->in.buf, '\n', g->in.len);
		struct pollfd p = { .fd = g->from, .events = POLLIN };
		int64_t left = (until - clock_monotonic_ns()) / NS_PER_MS;
		char buf[65536];
		ssize_t n;

		if (nl) {
			size_t len = (size_t)(nl - g->in.buf);
			json_t *ev;

			assert_true(len > AGENT_KEY_LEN &&
				    !memcmp(g->in.buf, RIG_KEY " ", AGENT_KEY_LEN + 1));
			ev = json_loadb(g->in.buf + AGENT_KEY_LEN, len - AGENT_KEY_LEN, 0, NULL);
			assert_non_null(ev);
			memmove(g->in.buf, nl + 1, g->in.len - len - 1);
			g->in.len -= len + 1;
			return ev;
		}
		if (left <= 0 || poll(&p, 1, (int)left) <= 0)
			return NULL;
		n = read(g->from, buf, sizeof(buf));
		if (n <= 0)
			return NULL;
		strbuf_add(&g->in, buf, (size_t)n);
	}
}

static inline const char *name_of(const json_t *ev)
{
	return json_string_value(json_object_get(ev, "ev"));
}

static inline int64_t num(const json_t *ev, const char *key)
{
	return json_integer_value(json_object_get(ev, key));
}

static inline const char *text(const json_t *ev, const char *key)
{
	const char *s = json_string_value(json_object_get(ev, key));

	return s ? s : "";
}

/* The next event, which must have this name. */
static inline json_t *expect(struct rig *g, const char *name)
{
	json_t *ev = next_event(g, PATIENCE_MS);

	assert_non_null(ev);
	if (strcmp(name_of(ev), name) != 0)
		fail_msg("expected '%s', got %s", name, json_dumps(ev, 0));
	return ev;
}

static inline void rig_say(struct rig *g, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static inline void rig_say(struct rig *g, const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&line, fmt, ap);
	va_end(ap);
	strbuf_addch(&line, '\n');
	assert_int_equal(write(g->to, line.buf, line.len), (ssize_t)line.len);
}

/* A shell command as step `id`, its output in <dir>/<id>.out. */
static inline void say_sh(struct rig *g, int id, const char *command)
{
	json_t *rq = json_pack("{s:s, s:i, s:[s,s,s], s:[s,s], s:o, s:o}", "op", "start", "id", id,
			       "argv", "/bin/sh", "-c", command, "env", "PATH=/usr/bin:/bin",
			       "MARK=unit", "out", json_sprintf("%s/%d.out", g->dir, id), "err",
			       json_sprintf("%s/%d.err", g->dir, id));
	CLEANUP(xfreep) char *line = json_dumps(rq, JSON_COMPACT);

	rig_say(g, "%s", line);
	json_decref(rq);
}

static inline char *output(struct rig *g, int id)
{
	CLEANUP(xfreep) char *path = xasprintf("%s/%d.out", g->dir, id);
	char *data;

	assert_int_equal(fs_read(path, 1 << 20, &data, NULL, NULL), 0);
	return data;
}

/* A pid that a step wrote into <dir>/<name>; waited for. */
static inline pid_t written_pid(struct rig *g, const char *name)
{
	CLEANUP(xfreep) char *path = fs_join(g->dir, name);

	for (int i = 0; i < LOOKS; i++) {
		CLEANUP(xfreep) char *data = NULL;

		if (fs_read(path, 64, &data, NULL, NULL) == 0 && strchr(data, '\n'))
			return (pid_t)strtol(data, NULL, 10);
		usleep(LOOK_US);
	}
	fail_msg("'%s' was not written", path);
	return 0;
}

static inline void assert_dead_soon(pid_t pid)
{
	for (int i = 0; i < LOOKS; i++) {
		if (!test_alive(pid))
			return;
		usleep(LOOK_US);
	}
	fail_msg("process %d lives", (int)pid);
}

static inline int setup(void **state)
{
	struct rig *g = xcalloc(1, sizeof(*g));

	signal(SIGPIPE, SIG_IGN);
	g->dir = test_dir();
	start_agent(g);
	json_decref(expect(g, "hello"));
	*state = g;
	return 0;
}

static inline int teardown(void **state)
{
	struct rig *g = *state;
	struct proc_exit x;

	if (g->to >= 0)
		close(g->to);
	if (g->pid > 0 && proc_wait(g->pid, PATIENCE_MS, &x, NULL) < 0) {
		kill(g->pid, SIGKILL);
		proc_wait(g->pid, PATIENCE_MS, &x, NULL);
	}
	close(g->from);
	strbuf_release(&g->in);
	test_dir_done(&g->dir);
	free(g);
	return 0;
}

#define RIG_TEST(f) TEST_OF(f, struct rig *g, setup, teardown)

#endif
