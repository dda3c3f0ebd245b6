#include "control_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"

#define CONFIGURED "record"
/* How often the marks file is read: a mark may start the recording. The time of a mark comes from
 * the file. */
#define LOOK_NS (20 * NS_PER_MS)
#define LOOK_IDLE_NS (200 * NS_PER_MS)
#define LONGEST_NAP_MS 1000
#define FDS (CONTROL_MAX_CLIENTS + 1)
#define MAX_ACKS 32

static void control_wake(struct control *c)
{
	ssize_t w = write(c->wake[1], "", 1);

	(void)w; /* full: the thread is awake already */
}

static void wake_run(struct control *c)
{
	ssize_t w = write(c->wake_run[1], "", 1);

	(void)w;
}

static const struct runconf_record *control_configured(const struct control *c)
{
	static const struct runconf_record none = { .begin = true };

	return c->rn->pl->conf ? &c->rn->pl->conf->record : &none;
}

/* --- switching, with the lock held --- */

static void control_switched(struct control *c)
{
	c->switching = false;
	if (c->recording)
		record_opened(&c->state, c->name, c->by, clock_monotonic_ns());
	c->name[0] = '\0';
	/* The request may have changed meanwhile. */
	control_settle(c);
}

static void begin_switch(struct control *c, bool on)
{
	int64_t now = clock_monotonic_ns();

	/* Time after the request to pause is not part of a window. */
	if (!on)
		record_closed(&c->state, now);
	c->recording = on;
	c->switching = true;
	c->give_up_ns = now + CONTROL_SWITCH_S * NS_PER_S;
	switches_ask(c, on);
	run_samplers_pause(c->rn, !on);
	wake_run(c);
	if (switches_answered(c))
		control_switched(c);
}

void control_settle(struct control *c)
{
	bool want = c->state.holds.nr > 0;

	if (c->live && !c->over && !c->switching && want != c->recording)
		begin_switch(c, want);
	else if (!c->switching)
		clients_answer(c);
}

static void hold_configured(struct control *c, int64_t now)
{
	const struct runconf_record *r = control_configured(c);

	c->after_ns = 0;
	if (record_is_held_by(&c->state, CONFIGURED) ||
	    record_hold(&c->state, CONFIGURED, now, NULL) < 0)
		return;
	if (c->state.holds.nr == 1) {
		snprintf(c->name, sizeof(c->name), "%s", r->mark ? r->mark : "");
		snprintf(c->by, sizeof(c->by), "%s", CONFIGURED);
	}
	if (r->for_s > 0)
		c->until_ns = now + (int64_t)(fmin(r->for_s, 1e9) * 1e9);
	control_settle(c);
}

void control_take_mark(struct control *c, const struct record_mark *m)
{
	const struct runconf_record *r = control_configured(c);

	record_mark(&c->state, m);
	if (!r->mark || strcmp(r->mark, m->name) != 0 || c->over)
		return;
	if (r->after_s > 0)
		c->after_ns = m->t_ns + (int64_t)(fmin(r->after_s, 1e9) * 1e9);
	else
		hold_configured(c, clock_monotonic_ns());
}

static void on_mark(void *ctx, const struct record_mark *m)
{
	control_take_mark(ctx, m);
}

static void run_timers(struct control *c)
{
	int64_t now = clock_monotonic_ns();

	if (c->after_ns && now >= c->after_ns && c->live)
		hold_configured(c, now);
	if (c->until_ns && now >= c->until_ns) {
		c->until_ns = 0;
		record_release(&c->state, CONFIGURED, NULL);
		control_settle(c);
	}
	if (c->switching && (switches_answered(c) || now >= c->give_up_ns)) {
		switches_give_up(c);
		control_switched(c);
	}
}

/* --- the thread --- */

static int nap_ms(const struct control *c)
{
	int64_t now = clock_monotonic_ns(), first = clients_deadline(c);
	const int64_t times[] = { c->after_ns && c->live ? c->after_ns : INT64_MAX,
				  c->until_ns ? c->until_ns : INT64_MAX,
				  c->switching ? c->give_up_ns : INT64_MAX,
				  now + (c->live ? LOOK_NS : LOOK_IDLE_NS) };

	for (size_t i = 0; i < ARRAY_LEN(times); i++)
		first = times[i] < first ? times[i] : first;
	if (first <= now)
		return 0;
	return first - now < LONGEST_NAP_MS * NS_PER_MS ? (int)((first - now) / NS_PER_MS) + 1
							: LONGEST_NAP_MS;
}

static size_t poll_answers(const struct control *c, struct pollfd *fds)
{
	size_t n = 0;

	for (size_t i = 0; i < c->tools.nr && n < MAX_ACKS; i++)
		if (c->tools.v[i].state == SWITCH_ASKED && c->tools.v[i].ack >= 0)
			fds[n++] = (struct pollfd){ .fd = c->tools.v[i].ack, .events = POLLIN };
	return n;
}

static void drain_wake(struct control *c)
{
	char buf[64];

	while (read(c->wake[0], buf, sizeof(buf)) > 0)
		;
}

/* Waits for an event and handles it. */
static void control_turn(struct control *c)
{
	struct pollfd fds[FDS + 1 + MAX_ACKS];
	size_t n = FDS;
	int nap;

	clients_poll(c, fds);
	fds[n++] = (struct pollfd){ .fd = c->wake[0], .events = POLLIN };
	n += poll_answers(c, fds + n);
	nap = nap_ms(c);
	pthread_mutex_unlock(&c->lock);
	if (poll(fds, n, nap) < 0)
		for (size_t i = 0; i < n; i++)
			fds[i].revents = 0;
	drain_wake(c);
	pthread_mutex_lock(&c->lock);
	/* First, as the times of other requests are taken at their origin. */
	if (marks_read(&c->marks, false, on_mark, c))
		control_wake(c);
	clients_serve(c, fds);
	run_timers(c);
}

static void *control_serve(void *ctx)
{
	struct control *c = ctx;

	pthread_mutex_lock(&c->lock);
	while (!c->stop)
		control_turn(c);
	marks_read(&c->marks, true, on_mark, c);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

static int start_thread(struct control *c, struct err *err)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&c->thread, NULL, control_serve, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	c->running = r == 0;
	return r ? err_sys(err, r, "no thread for it") : 0;
}

/* --- its life --- */

static void hold_from_the_start(struct control *c)
{
	const struct runconf_record *r = control_configured(c);

	c->state.switched = r->given;
	c->recording = !c->rn->pl->starts_paused;
	if (!r->begin && r->given)
		return;
	if (c->recording)
		record_hold(&c->state, r->given ? CONFIGURED : "run", clock_monotonic_ns(), NULL);
}

static int control_open_files(struct control *c, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(c->rn->pl->run_dir, CONTROL_MARKS);
	int r = 0;

	if (pipe2(c->wake, O_CLOEXEC | O_NONBLOCK) < 0 ||
	    pipe2(c->wake_run, O_CLOEXEC | O_NONBLOCK) < 0)
		r = err_sys(err, errno, "cannot make pipes for it");

	if (r == 0)
		r = marks_open(&c->marks, path, c->rn->clocks.v[0].anchor.monotonic_ns, err);
	if (r == 0)
		r = switches_open(c, err);
	if (r == 0)
		r = clients_open(c, err);
	return r == 0 ? start_thread(c, err) : r;
}

void control_open(struct run *rn)
{
	struct control *c = xcalloc(1, sizeof(*c));
	struct err err = ERR_INIT;

	c->rn = rn;
	c->flag_fd = -1;
	c->wake[0] = c->wake[1] = c->wake_run[0] = c->wake_run[1] = c->listen = c->dir = -1;
	c->marks = (struct marks_file)MARKS_FILE_INIT;
	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++)
		c->clients[i] = (struct control_client){ .fd = -1, .in = STRBUF_INIT };
	pthread_mutex_init(&c->lock, NULL);
	rn->control = c;
	hold_from_the_start(c);
	if (control_open_files(c, &err) < 0)
		outcome_warn(&rn->outcome, W_NO_CONTROL, "warning",
			     "the run cannot be spoken to: %s", err.msg);
}

void control_attach(struct run *rn)
{
	rn->link.wake_fd = rn->control ? rn->control->wake_run[0] : -1;
}

static void file_share(const char *run_dir, const char *name, mode_t mode)
{
	CLEANUP(xfreep) char *path = fs_join(run_dir, name);

	door_chmod(path, mode);
}

/* In its container the workload may run as another user than profrig. */
void control_share(struct run *rn)
{
	const struct plan *pl = rn->pl;

	file_share(pl->run_dir, CONTROL_MARKS, 0666);
	file_share(pl->run_dir, CONTROL_FLAG, 0644);
	for (size_t i = 0; i < pl->controls.nr; i++) {
		if (pl->controls.v[i].fifo)
			door_chmod(pl->controls.v[i].fifo, 0666);
		if (pl->controls.v[i].ack)
			door_chmod(pl->controls.v[i].ack, 0666);
	}
}

void control_started(struct run *rn, int64_t t_ns)
{
	struct control *c = rn->control;
	const struct runconf_record *r;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	r = control_configured(c);
	c->live = true;
	c->started_ns = t_ns;
	if (c->recording)
		record_opened(&c->state, "", c->state.holds.nr ? c->state.holds.v[0].by : "run",
			      t_ns);
	if (r->begin && r->after_s > 0)
		c->after_ns = t_ns + (int64_t)(fmin(r->after_s, 1e9) * 1e9);
	else if (r->begin && r->for_s > 0)
		c->until_ns = t_ns + (int64_t)(fmin(r->for_s, 1e9) * 1e9);
	if (!c->recording)
		run_samplers_pause(rn, true);
	control_settle(c);
	pthread_mutex_unlock(&c->lock);
	control_wake(c);
}

void control_ended(struct run *rn, int64_t t_ns)
{
	struct control *c = rn->control;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->live = false;
	c->over = true;
	c->after_ns = c->until_ns = 0;
	record_closed(&c->state, t_ns);
	if (c->switching) {
		switches_give_up(c);
		c->switching = false;
		clients_answer(c);
	}
	VEC_CLEAR(&c->state.holds);
	run_samplers_pause(rn, false);
	pthread_mutex_unlock(&c->lock);
	control_wake(c);
}

void control_close(struct run *rn)
{
	struct control *c = rn->control;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_mutex_unlock(&c->lock);
	control_wake(c);
	if (c->running)
		pthread_join(c->thread, NULL);
	clients_close(c);
	switches_close(c);
	marks_close(&c->marks);
	xclosep(&c->wake[0]);
	xclosep(&c->wake[1]);
	rn->link.wake_fd = -1;
	xclosep(&c->wake_run[0]);
	xclosep(&c->wake_run[1]);
	pthread_mutex_destroy(&c->lock);
	rn->record = c->state;
	rn->control = NULL;
	if (rn->record.marks_dropped || rn->record.windows_dropped)
		outcome_warn(
			&rn->outcome, W_MARKS_DROPPED, "warning",
			"%llu marks and %llu windows were more than %d and %d and are left out",
			(unsigned long long)rn->record.marks_dropped,
			(unsigned long long)rn->record.windows_dropped, CONTROL_MAX_MARKS,
			CONTROL_MAX_WINDOWS);
	free(c);
}

void run_record_json(struct json_out *j, const struct run *rn)
{
	struct control *c = rn->control;

	if (!c) {
		record_json(j, &rn->record);
		return;
	}
	pthread_mutex_lock(&c->lock);
	record_json(j, &c->state);
	pthread_mutex_unlock(&c->lock);
}

/* --- requests to the agent, for the run's thread only --- */

static void send_step(struct run *rn, struct tool_switch *ts)
{
	const struct plan_step *ps = ts->want ? ts->plan->start : ts->plan->stop;
	struct err err = ERR_INIT;

	ts->sent = true;
	if (link_send(&rn->link, step_start_request(rn, ps, ts->id), &err) >= 0)
		return;
	ts->state = SWITCH_SILENT;
	ts->id = 0;
	snprintf(ts->why, sizeof(ts->why), "%.150s", err.msg);
}

void control_pump(struct run *rn)
{
	struct control *c = rn->control;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < c->tools.nr; i++)
		if (c->tools.v[i].id && !c->tools.v[i].sent)
			send_step(rn, &c->tools.v[i]);
	pthread_mutex_unlock(&c->lock);
}

static void step_ended(struct tool_switch *ts, const json_t *ev, bool failed)
{
	int64_t code = event_int(ev, "code", -1);

	ts->id = 0;
	ts->state = ts->want ? SWITCH_ON : SWITCH_OFF;
	if (!failed && code == 0)
		return;
	ts->state = SWITCH_SILENT;
	if (failed)
		snprintf(ts->why, sizeof(ts->why), "%.150s", event_str(ev, "text", "?"));
	else
		snprintf(ts->why, sizeof(ts->why),
			 "%s ended with status %lld (steps/control-%s.err)",
			 ts->want ? "start" : "stop", (long long)code, ts->plan->tool);
}

bool control_event(struct run *rn, const json_t *ev)
{
	struct control *c = rn->control;
	int64_t id = event_int(ev, "id", -1);
	bool failed = !strcmp(event_name(ev), "failed");

	if (!c || id < CONTROL_FIRST_ID)
		return false;
	if (!failed && strcmp(event_name(ev), "exited") != 0)
		return true;
	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < c->tools.nr; i++)
		if (c->tools.v[i].id == id)
			step_ended(&c->tools.v[i], ev, failed);
	pthread_mutex_unlock(&c->lock);
	control_wake(c);
	return true;
}
