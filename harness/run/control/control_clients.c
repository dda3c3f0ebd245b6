#include "control_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "profrig/base/door.h"

#define BACKLOG 16
#define PATIENCE_NS (CONTROL_PATIENCE_S * NS_PER_S)

/* --- the socket --- */

static int bind_at(struct control *c, struct err *err)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/%s", c->dir, CONTROL_SOCKET);
	/* Linux gives this mode to the socket's file, so that no other user can connect at any
	 * moment. */
	if (fchmod(c->listen, 0600) < 0 ||
	    bind(c->listen, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    fchmodat(c->dir, CONTROL_SOCKET, 0600, 0) < 0 || listen(c->listen, BACKLOG) < 0)
		return err_sys(err, errno, "cannot listen on '%s/%s'", c->rn->pl->run_dir,
			       CONTROL_SOCKET);
	return 0;
}

int clients_open(struct control *c, struct err *err)
{
	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++)
		c->clients[i] = (struct control_client){ .fd = -1, .in = STRBUF_INIT };
	c->dir = door_open(c->rn->pl->run_dir, O_PATH | O_DIRECTORY, 0);
	c->listen = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->dir < 0 || c->listen < 0)
		return err_sys(err, errno, "cannot listen in '%s'", c->rn->pl->run_dir);
	return bind_at(c, err);
}

static void hang_up(struct control_client *cl)
{
	xclosep(&cl->fd);
	strbuf_release(&cl->in);
	cl->waits = false;
}

void clients_close(struct control *c)
{
	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++)
		hang_up(&c->clients[i]);
	xclosep(&c->listen);
	if (c->dir >= 0)
		unlinkat(c->dir, CONTROL_SOCKET, 0);
	xclosep(&c->dir);
}

/* --- answers --- */

/* Every socket has room for an answer: a peer that does not take it is disconnected. */
static void client_answer(struct control_client *cl, json_t *doc)
{
	CLEANUP(xfreep) char *text = json_dumps(doc, JSON_COMPACT);
	size_t n = text ? strlen(text) : 0;

	json_decref(doc);
	cl->waits = false;
	cl->until_ns = clock_monotonic_ns() + PATIENCE_NS;
	if (!text) {
		hang_up(cl);
		return;
	}
	text[n] = '\n';
	if (send(cl->fd, text, n + 1, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)n + 1)
		hang_up(cl);
}

static void client_refuse(struct control_client *cl, const char *words)
{
	client_answer(cl, json_pack("{s:b, s:s}", "ok", 0, "error", words));
}

static const char *why_always(const struct control *c, const struct tool_switch *ts)
{
	const struct runconf *rc = c->rn->pl->conf;

	for (size_t i = 0; rc && !rc->record.given && i < rc->tools.nr; i++)
		if (!strcmp(rc->tools.v[i].tool->name, ts->plan->tool) &&
		    rc->tools.v[i].tool->control.kind != TOOL_CONTROL_NONE)
			return "it was started without its switch: run with --record-start begin";
	return "it has no switch; what it records outside windows is left out by analysis";
}

static json_t *tools_json(const struct control *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->tools.nr; i++) {
		const struct tool_switch *ts = &c->tools.v[i];
		json_t *o =
			json_pack("{s:s, s:s}", "tool", ts->plan->tool, "state", switch_word(ts));

		if (ts->state == SWITCH_ALWAYS)
			json_object_set_new(o, "why", json_string(why_always(c, ts)));
		else if (*ts->why)
			json_object_set_new(o, "why", json_string(ts->why));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *status_json(const struct control *c)
{
	json_t *holds = json_array();

	for (size_t i = 0; i < c->state.holds.nr; i++)
		json_array_append_new(holds, json_pack("{s:s, s:I}", "by", c->state.holds.v[i].by,
						       "since_ns",
						       (json_int_t)c->state.holds.v[i].since_ns));
	return json_pack("{s:b, s:s, s:s, s:b, s:o, s:I, s:I, s:I, s:o}", "ok", 1, "run",
			 c->rn->pl->run_id, "phase",
			 c->over   ? "after the workload"
			 : c->live ? "workload"
				   : "before the workload",
			 "recording", c->recording && c->live, "holds", holds, "windows",
			 (json_int_t)c->state.windows.nr, "marks", (json_int_t)c->state.marks.nr,
			 "t_ns", (json_int_t)clock_monotonic_ns(), "tools", tools_json(c));
}

void clients_answer(struct control *c)
{
	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++)
		if (c->clients[i].fd >= 0 && c->clients[i].waits)
			client_answer(&c->clients[i], status_json(c));
}

/* --- requests --- */

static void text_of(const json_t *rq, const char *key, char *ret, const char *otherwise)
{
	const char *s = json_string_value(json_object_get(rq, key));

	record_name(ret, s ? s : "", s ? strlen(s) : 0, otherwise);
}

static void do_mark(struct control *c, struct control_client *cl, const json_t *rq)
{
	int64_t now = clock_monotonic_ns(), t = event_int(rq, "t_ns", 0);
	struct record_mark m = { .t_ns = now };

	text_of(rq, "name", m.name, "mark");
	text_of(rq, "by", m.by, "ctl");
	m.by_maker = t > 0 && t <= now && t >= c->rn->clocks.v[0].anchor.monotonic_ns;
	m.uncertainty_ns = m.by_maker ? 0 : -1;
	m.t_ns = m.by_maker ? t : now;
	control_take_mark(c, &m);
	client_answer(cl, status_json(c));
}

static void do_switch(struct control *c, struct control_client *cl, const json_t *rq, bool on)
{
	bool named = json_is_string(json_object_get(rq, "by"));
	char by[CONTROL_MAX_NAME + 1], name[CONTROL_MAX_NAME + 1];
	struct err err = ERR_INIT;
	int r;

	text_of(rq, "by", by, "ctl");
	text_of(rq, "name", name, "");
	if (c->over) {
		client_refuse(cl, "the workload is over");
		return;
	}
	r = on ? record_hold(&c->state, by, clock_monotonic_ns(), &err)
	       : record_release(&c->state, named ? by : NULL, &err);
	if (r < 0) {
		client_refuse(cl, err.msg);
		return;
	}
	c->state.switched = true;
	if (on && c->state.holds.nr == 1) {
		snprintf(c->name, sizeof(c->name), "%s", name);
		snprintf(c->by, sizeof(c->by), "%s", by);
	}
	cl->waits = true;
	control_settle(c);
	if (cl->fd >= 0 && cl->waits && !c->switching)
		client_answer(cl, status_json(c));
}

static void handle_request(struct control *c, struct control_client *cl, const char *line, size_t n)
{
	json_t *rq = json_loadb(line, n, 0, NULL);
	const char *op = json_string_value(json_object_get(rq, "op"));

	if (!op)
		client_refuse(
			cl, "no request: want one JSON object a line with op start, stop, mark or "
			    "status");
	else if (!strcmp(op, "start") || !strcmp(op, "stop"))
		do_switch(c, cl, rq, op[2] == 'a');
	else if (!strcmp(op, "mark"))
		do_mark(c, cl, rq);
	else if (!strcmp(op, "status"))
		client_answer(cl, status_json(c));
	else
		client_refuse(cl, "unknown op: there are start, stop, mark and status");
	json_decref(rq);
}

/* Handles whole lines, until one has to wait for its answer. */
static void take_lines(struct control *c, struct control_client *cl)
{
	while (cl->fd >= 0 && !cl->waits) {
		char *nl = memchr(cl->in.buf, '\n', cl->in.len);
		size_t n = nl ? (size_t)(nl - cl->in.buf) : 0;

		if (!nl && cl->in.len >= CONTROL_MAX_LINE) {
			client_refuse(cl, "a request is at most 4096 bytes");
			hang_up(cl);
		}
		if (!nl)
			return;
		/* Copied, because handling the line may hang up and free the buffer. */
		CLEANUP(xfreep) char *line = xstrndup(cl->in.buf, n);

		memmove(cl->in.buf, nl + 1, cl->in.len - n - 1);
		cl->in.len -= n + 1;
		cl->in.buf[cl->in.len] = '\0';
		handle_request(c, cl, line, n);
	}
}

static void listen_to(struct control *c, struct control_client *cl)
{
	char buf[CONTROL_MAX_LINE];
	size_t room = CONTROL_MAX_LINE - cl->in.len;
	ssize_t n = recv(cl->fd, buf, room, MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		hang_up(cl);
		return;
	}
	if (n > 0)
		strbuf_add(&cl->in, buf, (size_t)n);
	take_lines(c, cl);
}

/* --- permission --- */

static bool is_ours(int fd)
{
	struct ucred u;
	socklen_t n = sizeof(u);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &u, &n) == 0 &&
	       (u.uid == 0 || u.uid == geteuid());
}

static void let_in(struct control *c)
{
	int fd = accept4(c->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct control_client extra = { .fd = fd };

	if (fd < 0)
		return;
	for (size_t i = 0; is_ours(fd) && i < CONTROL_MAX_CLIENTS; i++) {
		struct control_client *cl = &c->clients[i];

		if (cl->fd >= 0)
			continue;
		*cl = (struct control_client){ .fd = fd,
					       .in = STRBUF_INIT,
					       .until_ns = clock_monotonic_ns() + PATIENCE_NS };
		return;
	}
	strbuf_init(&extra.in);
	client_refuse(&extra, is_ours(fd) ? "too many are connected: try again"
					  : "only the owner of the run may speak to it");
	hang_up(&extra);
}

void clients_poll(const struct control *c, struct pollfd *fds)
{
	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		const struct control_client *cl = &c->clients[i];

		fds[i] = (struct pollfd){ .fd = cl->waits ? -1 : cl->fd, .events = POLLIN };
	}
	fds[CONTROL_MAX_CLIENTS] = (struct pollfd){ .fd = c->listen, .events = POLLIN };
}

void clients_serve(struct control *c, const struct pollfd *fds)
{
	int64_t now = clock_monotonic_ns();

	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		struct control_client *cl = &c->clients[i];

		if (cl->fd >= 0 && !cl->waits && fds[i].fd == cl->fd && fds[i].revents)
			listen_to(c, cl);
		/* A client that waited for its answer may have sent more meanwhile. */
		else if (cl->fd >= 0 && !cl->waits && cl->in.len)
			take_lines(c, cl);
		if (cl->fd >= 0 && !cl->waits && now >= cl->until_ns)
			hang_up(cl);
	}
	if (fds[CONTROL_MAX_CLIENTS].revents)
		let_in(c);
}

int64_t clients_deadline(const struct control *c)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		const struct control_client *cl = &c->clients[i];

		if (cl->fd < 0 || cl->waits)
			continue;
		if (memchr(cl->in.buf, '\n', cl->in.len))
			return 0;
		first = cl->until_ns < first ? cl->until_ns : first;
	}
	return first;
}
