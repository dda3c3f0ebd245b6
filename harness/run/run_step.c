#include "run_control.h"
#include "run_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/utf8.h"

/* How long to wait for the agent's answer to a request that it serves at once. */
#define ANSWER_NS (60 * NS_PER_S)
/* From the end of a step's first process to the agent's report; one wait counts at most
 * SILENCE_STEP_NS. */
#define SILENCE_NS (10 * NS_PER_S)
#define SILENCE_STEP_NS NS_PER_S
/* After KILL; a process that is stuck longer in the kernel is left to the container's end. */
#define AFTER_KILL_NS (10 * NS_PER_S)
#define TICK_MS 250
#define LIVE_TICK_MS 100
/*
 * Reads in one go, and how long to wait for an output that takes no data when the step has ended.
 */
#define TAIL_PORTION 16
#define TAIL_PATIENCE_NS (5 * NS_PER_S)
/* Processes that the workload left may end by themselves in the first time, and after SIGTERM in
 * the second. */
#define STRAY_WAIT_MS 1000
#define STRAY_GRACE_MS 1000

/* --- live output: the step's files, as they grow --- */

struct tail {
	const char *path;
	int fd;
};

/*
 * In portions: a workload may write faster than a terminal reads, and limits must be watched.
 * Returns whether more data is left; sets *moved when some was taken.
 */
static bool tail_pump(struct run *rn, struct tail *t, bool *moved)
{
	char buf[16384];

	if (!t->path || !rn->o->events.output)
		return false;
	if (t->fd < 0)
		t->fd = door_open(t->path, O_RDONLY | O_NONBLOCK, 0);
	for (int i = 0; i < TAIL_PORTION && t->fd >= 0; i++) {
		ssize_t n = read(t->fd, buf, sizeof(buf));
		size_t took;

		if (n <= 0)
			return false;
		took = rn->o->events.output(rn->o->events.ctx, buf, (size_t)n);
		*moved |= took > 0;
		if (took < (size_t)n) {
			lseek(t->fd, (off_t)took - n, SEEK_CUR);
			return true;
		}
	}
	return t->fd >= 0;
}

/* --- a step in progress --- */

struct progress {
	struct run *rn;
	const struct plan_step *plan;
	struct run_step *s;
	int64_t id;
	int64_t limit_ns;    /* 0 none */
	int64_t escalate_ns; /* 0: no signal was sent yet */
	struct tail tail[2];
	int gone_fd;       /* pidfd of the step's first process, -1 unknown */
	int64_t silent_ns; /* how long the agent's report of the start or the end has been due */
	bool over;
};

static void step_lost(struct progress *p, const struct err *err)
{
	struct run *rn = p->rn;
	const char *who = rn->pl->engine->container ? rn->pl->engine->name : "profrig-init";

	snprintf(p->s->text, sizeof(p->s->text), "%s %.300s while '%s' ran", who, err->msg,
		 p->plan->name);
	rn->link_lost = true;
	p->s->ended_ns = clock_monotonic_ns();
	p->over = true;
}

static void send_request(struct progress *p, json_t *rq)
{
	struct err err = ERR_INIT;
	int r = link_send(&p->rn->link, rq, &err);

	if (r == -EPIPE || r == -ETIMEDOUT) {
		step_lost(p, &err);
	} else if (r < 0) {
		snprintf(p->s->text, sizeof(p->s->text), "%.399s", err.msg);
		p->over = true;
	}
}

static json_t *json_strings(const struct strvec *sv)
{
	json_t *list = json_array();

	for (size_t i = 0; i < sv->nr; i++)
		json_array_append_new(list, json_string(sv->v[i]));
	return list;
}

json_t *step_unset(const struct plan_step *ps)
{
	json_t *names = json_array();

	for (size_t i = 0; i < ps->unset.nr; i++)
		json_array_append_new(names, json_string(ps->unset.v[i].name));
	return names;
}

json_t *step_start_request(const struct run *rn, const struct plan_step *ps, int64_t id)
{
	json_t *rq = json_object(), *env = json_array();

	for (size_t i = 0; i < ps->env.nr; i++) {
		CLEANUP(xfreep)
		char *entry = xasprintf("%s=%s", ps->env.v[i].name, ps->env.v[i].value);

		if (run_data_there(rn, ps->env.v[i].data))
			json_array_append_new(env, json_string(entry));
	}
	json_object_set_new(rq, "op", json_string("start"));
	json_object_set_new(rq, "id", json_integer(id));
	json_object_set_new(rq, "argv", json_strings(&ps->argv));
	json_object_set_new(rq, "env", env);
	/* In a container the agent's environment is the image's own, which steps inherit. */
	json_object_set_new(rq, "inherit",
			    json_boolean(ps->inherit_env || rn->pl->engine->container));
	if (ps->unset.nr)
		json_object_set_new(rq, "unset", step_unset(ps));
	if (ps->cwd)
		json_object_set_new(rq, "cwd", json_string(ps->cwd));
	/* Also in a container: rootless ones have no cpuset when cgroups are not delegated. */
	if (rn->pl->spec.cpus)
		json_object_set_new(rq, "cpus", json_string(rn->pl->spec.cpus));
	if (ps->out)
		json_object_set_new(rq, "out", json_string(ps->out));
	if (ps->err)
		json_object_set_new(rq, "err", json_string(ps->err));
	return rq;
}

static bool is_text(const char *s)
{
	return !s || utf8_valid(s);
}

/* JSON cannot hold other bytes, and a request without them would start something else. */
static bool all_text(const struct plan_step *ps)
{
	for (size_t i = 0; i < ps->argv.nr; i++)
		if (!is_text(ps->argv.v[i]))
			return false;
	for (size_t i = 0; i < ps->env.nr; i++)
		if (!is_text(ps->env.v[i].name) || !is_text(ps->env.v[i].value))
			return false;
	return is_text(ps->cwd) && is_text(ps->out) && is_text(ps->err);
}

static void send_signal(struct progress *p, int sig)
{
	p->s->sent = sig;
	p->escalate_ns = clock_monotonic_ns() +
			 (sig == SIGKILL ? AFTER_KILL_NS : (int64_t)(p->rn->grace_s * 1e9));
	send_request(p, json_pack("{s:s, s:I, s:i}", "op", "signal", "id", (json_int_t)p->id, "sig",
				  sig));
}

/* INT → TERM → KILL → no more waiting. */
static void step_escalate(struct progress *p)
{
	switch (p->s->sent) {
	case 0:
		send_signal(p, SIGINT);
		break;
	case SIGINT:
		send_signal(p, SIGTERM);
		break;
	case SIGTERM:
		send_signal(p, SIGKILL);
		break;
	default:
		snprintf(p->s->text, sizeof(p->s->text), "does not even end after SIGKILL");
		p->over = true;
		break;
	}
}

/* tell false: the signals came before a handler was installed. */
static void pass_on(struct progress *p, bool tell)
{
	static const int sigs[] = { SIGUSR1, SIGUSR2 };
	volatile sig_atomic_t *came = p->rn->o->forward;

	for (size_t i = 0; came && i < ARRAY_LEN(sigs); i++) {
		if (!came[i])
			continue;
		came[i] = 0;
		if (tell)
			send_request(p, json_pack("{s:s, s:I, s:i}", "op", "forward", "id",
						  (json_int_t)p->id, "sig", sigs[i]));
	}
}

static void watch_limits(struct progress *p)
{
	int64_t now = clock_monotonic_ns();

	if (outcome_take_interrupt(&p->rn->outcome)) {
		p->s->interrupted = p->s->interrupted ? p->s->interrupted : SIGINT;
		/* A second interrupt, or one while the step is being ended: escalate at once. */
		if (p->s->sent || p->rn->outcome.interrupts > 1)
			send_signal(p, SIGKILL);
		else
			step_escalate(p);
	} else if (p->s->sent) {
		if (now >= p->escalate_ns)
			step_escalate(p);
	} else if (p->limit_ns && now >= p->limit_ns) {
		p->s->timed_out = SIGINT;
		step_escalate(p);
	}
}

static void on_started(struct progress *p, const json_t *ev)
{
	struct run *rn = p->rn;
	struct run_step *s = p->s;
	bool inside = rn->pl->engine->container;
	pid_t child;

	s->pid = event_int(ev, "pid", 0);
	p->gone_fd = link_child(&rn->link, s->pid, &child);
	s->started_ns = event_int(ev, "t_ns", clock_monotonic_ns());
	p->silent_ns = 0;
	p->limit_ns = 0;
	if (p->plan->timeout_s > 0 && p->plan->timeout_s < 1e9)
		p->limit_ns = s->started_ns + (int64_t)(p->plan->timeout_s * 1e9);
	if (p->plan->kind != STEP_WORKLOAD)
		return;
	control_started(rn, s->started_ns);
	/* The first process of the container may be gone already; the agent is the ancestor of all
	 * others. */
	s->host_pid = child > 0 ? child : inside ? link_agent(&rn->link) : s->pid;
	if (s->host_pid > 0)
		run_samplers_target(rn, (pid_t)s->host_pid);
	/* From here on run.json shows the started workload even if profrig is killed. */
	run_json_write(rn, rn->pl->run_dir, false, NULL);
}

static void on_exited(struct progress *p, const json_t *ev)
{
	struct run_step *s = p->s;

	s->ended = true;
	s->ended_ns = event_int(ev, "t_ns", clock_monotonic_ns());
	s->code = (int)event_int(ev, "code", -1);
	s->signal = (int)event_int(ev, "signal", 0);
	s->user_s = event_num(ev, "user_s", 0);
	s->sys_s = event_num(ev, "sys_s", 0);
	s->maxrss_bytes = event_int(ev, "maxrss_bytes", 0);
	s->strays = (uint64_t)event_int(ev, "strays", 0);
	if (p->plan->kind == STEP_WORKLOAD)
		oom_end(&s->oom, "", &s->oom_group, &s->oom_machine);
	p->over = true;
	if (p->plan->kind == STEP_WORKLOAD)
		control_ended(p->rn, s->ended_ns);
}

/* The container (or the agent) was stopped by another program. */
static void on_ending(struct progress *p, const json_t *ev)
{
	bool inside = p->rn->pl->engine->container;

	snprintf(p->s->text, sizeof(p->s->text), "%s was stopped (%s) while '%s' ran",
		 inside ? "the container" : "profrig-init", event_str(ev, "by", "?"),
		 p->plan->name);
	p->rn->link_lost = true;
}

static void on_event(struct progress *p, const json_t *ev)
{
	const char *name = event_name(ev);

	if (!strcmp(name, "ending"))
		on_ending(p, ev);
	if (control_event(p->rn, ev))
		return;
	if (event_int(ev, "id", -1) != p->id)
		return;
	if (!strcmp(name, "started")) {
		on_started(p, ev);
	} else if (!strcmp(name, "exited")) {
		on_exited(p, ev);
	} else if (!strcmp(name, "failed")) {
		snprintf(p->s->text, sizeof(p->s->text), "%s",
			 event_str(ev, "text", "could not be started"));
		p->over = true;
	}
}

/* Returns whether more data is waiting and would be taken. */
static bool pump_tails(struct progress *p, bool *more)
{
	bool moved = false;

	*more = false;
	if (p->plan->kind != STEP_WORKLOAD)
		return false;
	*more |= tail_pump(p->rn, &p->tail[0], &moved);
	*more |= tail_pump(p->rn, &p->tail[1], &moved);
	return *more && moved;
}

/* Shows the remaining output when the step is over. The files have all of it, so the wait is
 * limited. */
static void drain_tails(struct progress *p)
{
	int64_t until = clock_monotonic_ns() + TAIL_PATIENCE_NS;
	bool moved, more;

	do {
		moved = pump_tails(p, &more);
		if (moved)
			until = clock_monotonic_ns() + TAIL_PATIENCE_NS;
		else if (more)
			clock_sleep_until_ns(clock_monotonic_ns() + LIVE_TICK_MS * NS_PER_MS);
	} while (more && clock_monotonic_ns() < until && !outcome_take_interrupt(&p->rn->outcome));
	xclosep(&p->tail[0].fd);
	xclosep(&p->tail[1].fd);
}

static bool first_process_gone(const struct progress *p)
{
	struct pollfd gone = { .fd = p->gone_fd, .events = POLLIN };

	return p->gone_fd >= 0 && poll(&gone, 1, 0) > 0;
}

/*
 * The agent must report that the step began or, once its first process is gone, how it ended. The
 * agent may be stopped, also by a quick step (it is continued here), or its report was lost.
 * Without the report the step has failed. Time in which profrig itself was stopped does not count.
 */
static void watch_silence(struct progress *p, int64_t waited_ns)
{
	bool began = p->s->started_ns != 0;

	if (began && !first_process_gone(p))
		return;
	p->silent_ns += waited_ns < SILENCE_STEP_NS ? waited_ns : SILENCE_STEP_NS;
	if (p->silent_ns > SILENCE_NS / 2)
		link_wake(&p->rn->link);
	if (!began && p->silent_ns > ANSWER_NS) {
		struct err err = ERR_INIT;

		err_set(&err, ETIMEDOUT, "gave no answer");
		step_lost(p, &err);
	}
	if (!began || p->silent_ns < SILENCE_NS)
		return;
	snprintf(
		p->s->text, sizeof(p->s->text),
		"'%s' ended, and profrig-init has not said how within %d s: it was stopped, or its "
		"connection was tampered with",
		p->plan->name, (int)(SILENCE_NS / NS_PER_S));
	p->rn->link_lost = true;
	p->s->ended_ns = clock_monotonic_ns();
	p->over = true;
}

static void wait_for_end(struct progress *p)
{
	int tick = p->rn->o->events.output ? LIVE_TICK_MS : TICK_MS;
	bool flowing = false, more;

	while (!p->over) {
		struct err err = ERR_INIT;
		int64_t now = clock_monotonic_ns(),
			next = p->s->sent ? p->escalate_ns : p->limit_ns;
		int wait = flowing ? 0 : tick;
		json_t *ev;
		int r;

		if (next && next - now < (int64_t)wait * NS_PER_MS)
			wait = next > now ? (int)((next - now) / NS_PER_MS) + 1 : 0;
		r = link_next(&p->rn->link, wait, &ev, &err);
		if (r > 0) {
			on_event(p, ev);
			json_decref(ev);
		} else if (r < 0) {
			step_lost(p, &err);
		}
		if (p->over)
			break;
		watch_silence(p, clock_monotonic_ns() - now);
		if (p->over)
			break;
		control_pump(p->rn);
		mean_clock_poll(p->rn);
		flowing = pump_tails(p, &more);
		if (p->rn->o->events.tick)
			p->rn->o->events.tick(p->rn->o->events.ctx);
		watch_limits(p);
		pass_on(p, p->plan->kind == STEP_WORKLOAD && p->s->started_ns && !p->s->sent);
	}
	drain_tails(p);
	xclosep(&p->gone_fd);
}

/* Ends the processes that the step left: after a wait when the step ended by itself, at once when
 * it was ended. */
static void reap_strays(struct progress *p)
{
	int64_t until = clock_monotonic_ns() + ANSWER_NS;
	bool calm = !p->s->sent;
	struct err err = ERR_INIT;
	json_t *ev;
	int r;

	p->over = false;
	send_request(p, json_pack("{s:s, s:I, s:i, s:i}", "op", "reap", "id", (json_int_t)p->id,
				  "wait_ms", calm ? STRAY_WAIT_MS : 0, "grace_ms", STRAY_GRACE_MS));
	while (!p->over && clock_monotonic_ns() < until) {
		r = link_next(&p->rn->link, TICK_MS, &ev, &err);
		if (r < 0) {
			step_lost(p, &err);
			return;
		}
		if (r == 0) {
			link_wake(&p->rn->link);
			continue;
		}
		if (event_int(ev, "id", -1) == p->id && !strcmp(event_name(ev), "reaped")) {
			p->s->killed = (uint64_t)event_int(ev, "killed", 0);
			p->over = true;
		}
		json_decref(ev);
	}
}

bool step_went_well(const struct run_step *s)
{
	return s->ended && s->code == 0 && s->signal == 0 && !s->timed_out && !s->interrupted &&
	       !*s->text;
}

void step_run(struct run *rn, size_t index)
{
	const struct plan_step *ps = &rn->pl->steps.v[index];
	struct progress p = {
		.rn = rn,
		.plan = ps,
		.s = &rn->steps.v[index],
		.id = (int64_t)index + 1,
		.tail = { { ps->out, -1 }, { ps->err, -1 } },
		.gone_fd = -1,
	};

	*p.s = (struct run_step){ .ran = true, .code = -1 };
	if (!all_text(ps)) {
		snprintf(p.s->text, sizeof(p.s->text),
			 "an argument, an environment value or a path is not valid UTF-8");
		return;
	}
	/* The agent shares its memory cgroup with the workload, and may be gone when the step's end
	 * is known. */
	if (ps->kind == STEP_WORKLOAD)
		oom_begin(&p.s->oom, "",
			  rn->pl->engine->container ? link_agent(&rn->link) : getpid());
	pass_on(&p, false);
	send_request(&p, step_start_request(rn, ps, p.id));
	wait_for_end(&p);
	if (!p.s->ended || rn->link_lost)
		return;
	/* A pre script may start a process that lives until a post script ends it. */
	if (p.s->strays > 0 && (ps->kind == STEP_WORKLOAD || p.s->sent))
		reap_strays(&p);
}
