#include "agentlink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/xalloc.h"
#include "profrig/engine/agent.h"

#define MAX_EVENT (4 * AGENT_MAX_LINE)
#define MAX_ERRS ((size_t)64 << 10)
#define SEND_TIMEOUT_NS (60 * NS_PER_S)
#define END_TIMEOUT_MS 15000

static int fd_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

/* No error here when the engine ended at once: the wait for "hello" reports the reason. */
static int hand_over_key(struct agent_link *l, struct err *err)
{
	unsigned char bytes[AGENT_KEY_LEN / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_sys(err, errno, "no random bytes for a key");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(l->key + 2 * i, 3, "%02x", bytes[i]);
	link_send(l, json_pack("{s:s, s:i, s:s}", "op", "key", "id", 0, "key", l->key), NULL);
	return 0;
}

int link_open(struct agent_link *l, char *const *argv, struct err *err)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, errs[2] = { -1, -1 };
	struct proc_opts o = PROC_OPTS_INIT;
	int r = 0;

	*l = (struct agent_link)AGENT_LINK_INIT;
	strbuf_limit(&l->errs, MAX_ERRS);
	/* Sockets, not pipes: send() can suppress SIGPIPE, and no process can open a socket by its
	 * name in /proc. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out) < 0 ||
	    pipe2(errs, O_CLOEXEC) < 0)
		r = err_sys(err, errno, "cannot make pipes for '%s'", argv[0]);
	if (r == 0) {
		o.argv = argv;
		o.fd_in = in[1];
		o.fd_out = out[1];
		o.fd_err = errs[1];
		/* A session without the terminal: profrig passes Ctrl-C on, and no process stops at
		 * a read. */
		o.new_session = true;
		r = proc_spawn(&o, &l->pid, err);
	}
	xclosep(&in[1]);
	xclosep(&out[1]);
	xclosep(&errs[1]);
	l->to = in[0];
	l->from = out[0];
	l->errs_fd = errs[0];
	if (r == 0)
		shutdown(l->from, SHUT_WR);
	if (r == 0 && (fd_nonblocking(l->to) < 0 || fd_nonblocking(l->from) < 0 ||
		       fd_nonblocking(l->errs_fd) < 0))
		r = err_sys(err, errno, "cannot set up pipes for '%s'", argv[0]);
	if (r == 0)
		r = hand_over_key(l, err);
	if (r < 0)
		link_release(l);
	return r;
}

/* --- reading --- */

static void take_bytes(int *fd, struct strbuf *to, size_t max)
{
	char buf[16384];

	while (*fd >= 0 && (max == 0 || to->len < max)) {
		ssize_t n = read(*fd, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			xclosep(fd);
		else
			strbuf_add(to, buf, (size_t)n);
	}
}

/* Waits until there is data to read (or, with want_write, room to write) and reads it. */
static void link_pump(struct agent_link *l, int timeout_ms, bool want_write)
{
	struct pollfd p[4] = {
		{ .fd = l->from, .events = POLLIN },
		{ .fd = l->errs_fd, .events = POLLIN },
		{ .fd = want_write ? l->to : -1, .events = POLLOUT },
		{ .fd = l->wake_fd, .events = POLLIN },
	};
	char woken[64];

	if (poll(p, 4, timeout_ms) <= 0)
		return;
	while (p[3].revents && read(l->wake_fd, woken, sizeof(woken)) == sizeof(woken))
		;
	take_bytes(&l->errs_fd, &l->errs, 0);
	take_bytes(&l->from, &l->in, MAX_EVENT + 1);
	if (l->from < 0)
		l->eof = true;
}

static void drop_taken(struct agent_link *l)
{
	if (l->taken == 0)
		return;
	memmove(l->in.buf, l->in.buf + l->taken, l->in.len - l->taken);
	l->in.len -= l->taken;
	l->in.buf[l->in.len] = '\0';
	l->taken = 0;
}

/* Bytes from before "hello" are the engine's own output. */
static void take_foreign(struct agent_link *l, size_t n)
{
	l->taken += n;
	if (l->greeted)
		l->foreign += n;
}

/* The text behind the last key in a line: an event before it was cut off. NULL: there is no key. */
static const char *behind_key(const struct agent_link *l, const char *line, size_t n)
{
	const char *found = NULL, *at = line, *end = line + n;

	while ((at = memmem(at, (size_t)(end - at), l->key, AGENT_KEY_LEN))) {
		at += AGENT_KEY_LEN;
		found = at;
	}
	return found;
}

/*
 * Drops an unfinished line that is longer than any event, except the end that may still become one.
 */
static void drop_endless(struct agent_link *l)
{
	const char *at = behind_key(l, l->in.buf, l->in.len);
	size_t from = at ? (size_t)(at - l->in.buf) - AGENT_KEY_LEN : l->in.len - AGENT_KEY_LEN;

	if (l->in.len <= MAX_EVENT)
		return;
	take_foreign(l, from ? from : AGENT_KEY_LEN);
	drop_taken(l);
}

/* Agents of older versions have no key and send "hello" at once. */
static bool is_old_hello(const char *line, size_t n)
{
	json_t *ev = json_loadb(line, n, 0, NULL);
	bool is = strcmp(event_name(ev) ? event_name(ev) : "", "hello") == 0;

	json_decref(ev);
	return is;
}

/* The next whole line that is an event. Bytes of other writers are counted and skipped. */
static json_t *next_event(struct agent_link *l)
{
	for (;;) {
		const char *line = l->in.buf + l->taken;
		const char *end = memchr(line, '\n', l->in.len - l->taken), *at;
		json_t *ev;

		if (!end) {
			drop_taken(l);
			drop_endless(l);
			return NULL;
		}
		at = behind_key(l, line, (size_t)(end - line));
		if (!at) {
			l->old |= !l->greeted && is_old_hello(line, (size_t)(end - line));
			take_foreign(l, (size_t)(end - line) + 1);
			continue;
		}
		take_foreign(l, (size_t)(at - line) - AGENT_KEY_LEN);
		l->taken += (size_t)(end - at) + AGENT_KEY_LEN + 1;
		ev = json_loadb(at, (size_t)(end - at), 0, NULL);
		if (event_name(ev))
			return ev;
		l->damaged++;
		json_decref(ev);
	}
}

/* Engines print advice behind the error. */
static bool is_advice(const char *line)
{
	static const char *const begins[] = { "Usage:", "See '", "Run '" };

	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		if (!strncmp(line, begins[i], strlen(begins[i])))
			return true;
	return !*line;
}

/* The last line that is no advice. */
static const char *last_line(struct strbuf *sb)
{
	char *nl = sb->buf;

	do {
		strbuf_rtrim(sb);
		nl = strrchr(sb->buf, '\n');
		if (!nl || !is_advice(nl + 1))
			break;
		sb->len = (size_t)(nl - sb->buf);
		*nl = '\0';
	} while (sb->len);
	return nl ? nl + 1 : sb->buf;
}

/* The engine's process has closed its output: reports how it ended, with its last words. */
static int link_gone(struct agent_link *l, struct err *err)
{
	const char *words;
	const char *sig;

	if (!l->ended && l->pid > 0)
		l->ended = proc_wait(l->pid, 2000, &l->exit, NULL) == 0;
	take_bytes(&l->errs_fd, &l->errs, 0);
	words = last_line(&l->errs);
	sig = l->ended && l->exit.signal ? proc_signal_name(l->exit.signal) : NULL;
	if (sig)
		return err_set(err, EPIPE, "was killed by %s%s%s", sig, *words ? ": " : "", words);
	if (l->ended)
		return err_set(err, EPIPE, "ended with status %d%s%s", l->exit.code,
			       *words ? ": " : "", words);
	return err_set(err, EPIPE, "closed the connection%s%s", *words ? ": " : "", words);
}

int link_next(struct agent_link *l, int timeout_ms, json_t **ret, struct err *err)
{
	*ret = next_event(l);
	if (*ret)
		return 1;
	if (!l->eof)
		link_pump(l, timeout_ms, false);
	/* Another process may hold the pipe open when the engine's process is dead. */
	if (!l->eof && !l->ended && proc_wait(l->pid, 0, &l->exit, NULL) == 0) {
		l->ended = true;
		link_pump(l, 0, false);
		l->eof = true;
	}
	*ret = next_event(l);
	if (*ret)
		return 1;
	return l->eof ? link_gone(l, err) : 0;
}

int link_send(struct agent_link *l, json_t *rq, struct err *err)
{
	int64_t until = clock_monotonic_ns() + SEND_TIMEOUT_NS;
	CLEANUP(xfreep) char *text = rq ? json_dumps(rq, JSON_COMPACT) : NULL;
	size_t n = text ? strlen(text) : 0;

	json_decref(rq);
	if (!text)
		return err_set(err, EILSEQ, "request is not valid UTF-8");
	if (n > AGENT_MAX_LINE)
		return err_set(err, E2BIG,
			       "request of %zu bytes: arguments and environment are too large", n);
	text[n++] = '\n'; /* over the NUL */
	link_wake(l);     /* a step may have stopped the agent */
	for (size_t at = 0; at < n;) {
		ssize_t w = l->to < 0 ? -1 : send(l->to, text + at, n - at, MSG_NOSIGNAL);

		if (w > 0) {
			at += (size_t)w;
		} else if (l->to >= 0 && (errno == EAGAIN || errno == EINTR) && !l->eof) {
			if (clock_monotonic_ns() > until)
				return err_set(err, ETIMEDOUT, "takes no requests");
			link_pump(l, 1000, true);
		} else {
			return link_gone(l, err);
		}
	}
	return 0;
}

int link_hello(struct agent_link *l, int timeout_ms, const volatile sig_atomic_t *interrupt,
	       json_t **ret, struct err *err)
{
	int64_t until = clock_monotonic_ns() + timeout_ms * NS_PER_MS;

	while (clock_monotonic_ns() < until) {
		int r = link_next(l, 250, ret, err);

		if (r < 0)
			return r;
		if (r > 0 && !strcmp(event_name(*ret), "hello")) {
			l->greeted = true;
			if (event_int(*ret, "protocol", 0) == AGENT_PROTOCOL) {
				link_prove(l, *ret);
				return 0;
			}
			json_decref(*ret);
			return err_set(err, EPROTO, "profrig-init is of another version");
		}
		if (r > 0)
			json_decref(*ret);
		if (l->old)
			return err_set(err, EPROTO, "profrig-init is of another version");
		if (interrupt && *interrupt)
			return err_set(err, EINTR, "interrupted");
	}
	return err_set(err, ETIMEDOUT, "no word from profrig-init in %d s", timeout_ms / 1000);
}

/* --- the end --- */

void link_end(struct agent_link *l)
{
	int64_t until = clock_monotonic_ns() + END_TIMEOUT_MS * NS_PER_MS;
	json_t *ev;

	if (l->pid <= 0)
		return;
	/* The end of its input reaches the agent in any case, if it runs. */
	link_wake(l);
	xclosep(&l->to);
	while (!l->eof && clock_monotonic_ns() < until)
		if (link_next(l, 250, &ev, NULL) > 0)
			json_decref(ev);
	if (!l->ended)
		l->ended = proc_wait(l->pid, l->eof ? 5000 : 0, &l->exit, NULL) == 0;
	if (!l->ended) {
		kill(-l->pid, SIGKILL);
		l->ended = proc_wait(l->pid, 5000, &l->exit, NULL) == 0;
	}
	take_bytes(&l->errs_fd, &l->errs, 0);
	l->pid = 0;
}

void link_release(struct agent_link *l)
{
	if (l->pid > 0)
		link_end(l);
	xclosep(&l->to);
	xclosep(&l->from);
	xclosep(&l->errs_fd);
	xclosep(&l->agent_fd);
	strbuf_release(&l->in);
	strbuf_release(&l->errs);
	*l = (struct agent_link)AGENT_LINK_INIT;
}

/* --- events --- */

const char *event_name(const json_t *ev)
{
	return json_string_value(json_object_get(ev, "ev"));
}

int64_t event_int(const json_t *ev, const char *key, int64_t def)
{
	const json_t *v = json_object_get(ev, key);

	return json_is_integer(v) ? (int64_t)json_integer_value(v) : def;
}

double event_num(const json_t *ev, const char *key, double def)
{
	const json_t *v = json_object_get(ev, key);

	return json_is_number(v) ? json_number_value(v) : def;
}

const char *event_str(const json_t *ev, const char *key, const char *def)
{
	const char *s = json_string_value(json_object_get(ev, key));

	return s ? s : def;
}
