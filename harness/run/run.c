#include "run_collect.h"
#include "run_control.h"
#include "run_priv.h"
#include "run_sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/base/redact.h"

#define HELLO_TIMEOUT_MS 120000
#define DEFAULT_GRACE_S 10.0
#define REMOVE_TIMEOUT_MS 20000

static void run_anchor(struct run *rn, const char *at)
{
	VEC_PUSH(&rn->clocks, ((struct run_clock){ at, clock_anchor_now() }));
}

static void run_save(struct run *rn)
{
	struct err err = ERR_INIT;
	int r = run_json_write(rn, rn->pl->run_dir, false, &err);

	/* The old run.json stays readable; the last write uses the reserve. */
	if (r == -ENOSPC || r == -EDQUOT)
		outcome_fail(&rn->outcome, RUN_FAILED, "the disk of the run directory is full");
}

/* --- the engine --- */

static const char *engine_process(const struct run *rn)
{
	return rn->pl->engine->container ? rn->pl->engine->name : "profrig-init";
}

static void engine_hello(struct run *rn, const json_t *ev)
{
	snprintf(rn->agent_version, sizeof(rn->agent_version), "%.31s",
		 event_str(ev, "version", ""));
	snprintf(rn->libc, sizeof(rn->libc), "%.63s", event_str(ev, "libc", ""));
	rn->link_up = true;
	registry_note(rn);
	rn->verdicts_open = json_is_true(json_object_get(ev, "ptrace"));
	run_dir_share(rn, event_int(ev, "uid", 0));
	if (rn->pl->engine->container && link_agent(&rn->link) > 0) {
		CLEANUP(xfreep)
		char *map = xasprintf("/proc/%d/uid_map", (int)link_agent(&rn->link));

		run_expect_owners(rn->pl->run_dir, map);
	}
	/* A failure is found with the first step. */
	link_send(&rn->link,
		  json_pack("{s:s, s:i, s:s}", "op", "hold", "id", 0, "dir", rn->pl->run_dir),
		  NULL);
}

static void engine_start(struct run *rn)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	struct err err = ERR_INIT;
	json_t *hello = NULL;
	int r = 0;

	if (rn->pl->engine_argv.nr > 0)
		strvec_pushv(&argv, rn->pl->engine_argv.v);
	else
		r = rn->pl->engine->start(&rn->pl->spec, &argv, &err);
	/* While a workload of the same user lives, it cannot read this process's memory or open its
	 * files. */
	prctl(PR_SET_DUMPABLE, 0);
	if (r == 0)
		r = link_open(&rn->link, argv.v, &err);
	control_attach(rn);
	if (r < 0) {
		rn->unstarted = r == -EINVAL ? 0 : -ENOLINK;
		outcome_fail(&rn->outcome, RUN_FAILED, "%s%s", err.msg,
			     r == -EMFILE ? ": raise the limit, as with 'ulimit -n 64'" : "");
		return;
	}
	r = link_hello(&rn->link, HELLO_TIMEOUT_MS, rn->o->interrupt, &hello, &err);
	if (r < 0 && r != -EINTR)
		outcome_fail(&rn->outcome, RUN_FAILED, "%s %s", engine_process(rn), err.msg);
	rn->unstarted = r == -EPIPE ? -ENOLINK : 0;
	if (r == 0)
		engine_hello(rn, hello);
	json_decref(hello);
}

/* Needed after `quick`, which skips the probe before the run. */
static void engine_needs(struct run *rn)
{
	struct err err = ERR_INIT;
	int n;

	if (!rn->o->quick || !rn->o->missing || !rn->pl->engine->container || !rn->link_up)
		return;
	n = preflight_needs(rn->pl, rn->o, &rn->link, rn->o->missing, &err);
	rn->unstarted = n > 0 ? -ENOPKG : n < 0 ? -ENOLINK : 0;
}

/* Containers remove themselves (--rm) when the agent ends. This is for the case that a process in
 * between died. */
static void remove_container(struct run *rn)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT, errs = STRBUF_INIT;
	const struct engine *e = rn->pl->engine;
	struct err err = ERR_INIT;
	struct proc_exit x;

	if (!e->words[ENGINE_REMOVE] || !rn->pl->spec.name || rn->pl->spec.keep)
		return;
	engine_ask(e, ENGINE_REMOVE, &argv, .of = rn->pl->spec.name);
	rn->container_left = true;
	if (proc_capture(argv.v, REMOVE_TIMEOUT_MS, 65536, &out, &errs, &x, &err) < 0)
		outcome_warn(&rn->outcome, W_CONTAINER_LEFT, "warning", "container '%s': %s",
			     rn->pl->spec.name, err.msg);
	else if (x.code != 0 && !strstr(errs.buf, "No such container"))
		outcome_warn(&rn->outcome, W_CONTAINER_LEFT, "warning", "container '%s': %.200s",
			     rn->pl->spec.name, errs.buf);
	else
		rn->container_left = false;
}

static void keep_engine_words(struct run *rn)
{
	CLEANUP(xfreep) char *path = fs_join(rn->pl->run_dir, "steps/engine.err");

	/* Engines repeat their arguments in error messages. */
	rn->link.errs.len = redact(rn->link.errs.buf, rn->link.errs.len, REDACT_MIN);
	if (rn->link.errs.len > 0)
		fs_write_atomic(path, rn->link.errs.buf, rn->link.errs.len, NULL);
}

/* A workload may be able to write to the agent's connection: as root, or through a tool. */
static void report_foreign(struct run *rn)
{
	const struct agent_link *l = &rn->link;

	if (l->foreign || l->damaged)
		outcome_warn(&rn->outcome, W_FOREIGN_EVENTS, "warning",
			     "%" PRIu64 " bytes on profrig-init's connection are not its own, and "
			     "%" PRIu64 " of its events came damaged: something else wrote there",
			     l->foreign, l->damaged);
}

static void sweep_own(const struct run *rn)
{
	struct swept s = { .id = rn->pl->run_id, .dir = rn->pl->run_dir };
	struct stat st;

	s.there = door_stat(s.dir, &st) == 0;
	if (s.there) {
		s.known.dev = st.st_dev;
		s.known.ino = st.st_ino;
	}
	s.known.agent = rn->link.agent;
	s.known.agent_ticks = rn->link.agent_ticks;
	sweep_processes(&s);
}

static void engine_stop(struct run *rn)
{
	bool clean;

	link_end(&rn->link);
	prctl(PR_SET_DUMPABLE, 1);
	report_foreign(rn);
	clean = rn->link_up && !rn->link_lost && rn->link.ended && rn->link.exit.code == 0;
	keep_engine_words(rn);
	if (clean)
		return;
	if (rn->pl->engine->container)
		remove_container(rn);
	/* Also for containers: when the daemon died, it removes none and they live on. */
	sweep_own(rn);
}

/*
 * Cleans up a run that could not begin. With exit code 125 to 127 the engine made no container, and
 * an engine that was not started has none either.
 */
static void engine_give_up(struct run *rn)
{
	bool asked = rn->link.pid > 0 || rn->link_up;

	link_end(&rn->link);
	prctl(PR_SET_DUMPABLE, 1);
	if (asked && rn->pl->engine->container && !rn->link_up &&
	    !(rn->link.ended && rn->link.exit.code >= 125 && rn->link.exit.code <= 127))
		remove_container(rn);
	if (asked)
		sweep_own(rn);
}

/* --- steps --- */

static const char *kind_words(enum step_kind k)
{
	return k == STEP_PRE ? "pre script" : k == STEP_POST ? "post script" : "workload";
}

static void explain_end(struct run *rn, const char *who, const struct run_step *s)
{
	if (s->signal) {
		const char *name = proc_signal_name(s->signal);

		outcome_fail(
			&rn->outcome, RUN_FAILED, "%s was killed by %s%s", who,
			name ? name : "a signal",
			s->signal == SIGKILL && !s->sent
				? ", not by profrig, and for no lack of memory that the kernel "
				  "tells of"
				: "");
	} else {
		/* A shell reports the end by a signal in this form. */
		const char *of = s->code > 128 ? proc_signal_name(s->code - 128) : NULL;

		outcome_fail(&rn->outcome, RUN_FAILED, "%s exited with status %d%s%s%s", who,
			     s->code, of ? " (128 + " : "", of ? of : "", of ? ")" : "");
	}
}

/* Called before other reasons for the same end are noted. */
static void explain_oom(struct run *rn, const char *who, const struct run_step *s)
{
	bool killed = s->signal == SIGKILL || s->code == 128 + SIGKILL;
	const char *where = s->oom_group ? "its memory cgroup is full" : "the machine is full";
	uint64_t n = s->oom_group ? s->oom_group : s->oom_machine;

	if (!n || s->sent || (!killed && !s->oom_group))
		return;
	outcome_warn(&rn->outcome, W_OOM, "error",
		     "the kernel killed %llu process%s for lack of memory: %s",
		     (unsigned long long)n, n == 1 ? "" : "es", where);
	if (killed)
		outcome_fail(&rn->outcome, RUN_FAILED,
			     "%s was killed by the kernel for lack of memory (OOM): %s", who,
			     where);
	else if (!step_went_well(s))
		outcome_fail(&rn->outcome, RUN_FAILED,
			     "%s exited with status %d after the kernel had killed %llu of its "
			     "processes for lack of memory (OOM): %s",
			     who, s->code, (unsigned long long)n, where);
}

static void judge_step(struct run *rn, size_t i)
{
	const struct plan_step *ps = &rn->pl->steps.v[i];
	const struct run_step *s = &rn->steps.v[i];
	CLEANUP(xfreep)
	char *who = ps->kind == STEP_WORKLOAD
			    ? xstrdup("workload")
			    : xasprintf("%s '%s'", kind_words(ps->kind), ps->name);
	const char *sent = proc_signal_name(s->sent);

	if (s->killed)
		outcome_warn(&rn->outcome, W_STRAYS, "warning",
			     "%s left %llu process%s running; %s ended", who,
			     (unsigned long long)s->killed, s->killed == 1 ? "" : "es",
			     s->killed == 1 ? "it was" : "they were");
	explain_oom(rn, who, s);
	/* An interrupt takes precedence over all other ends. */
	if ((step_went_well(s) && !s->killed) || s->interrupted)
		return;
	if (*s->text && s->timed_out)
		outcome_fail(&rn->outcome, RUN_TIMEOUT, "%s took longer than %g s and %s", who,
			     ps->timeout_s, s->text);
	else if (*s->text)
		outcome_fail(&rn->outcome, RUN_FAILED, "%s: %s", who, s->text);
	else if (s->timed_out)
		outcome_fail(&rn->outcome, RUN_TIMEOUT,
			     "%s took longer than %g s and was ended (%s)", who, ps->timeout_s,
			     sent ? sent : "?");
	else if (!step_went_well(s))
		explain_end(rn, who, s);
	else
		outcome_fail(&rn->outcome, RUN_FAILED,
			     "%s ended but left %llu process%s running, which %s ended", who,
			     (unsigned long long)s->killed, s->killed == 1 ? "" : "es",
			     s->killed == 1 ? "was" : "were");
}

static double step_seconds(const struct run_step *s)
{
	return s->started_ns && s->ended_ns ? (double)(s->ended_ns - s->started_ns) / 1e9 : 0;
}

/* Runs the steps of one kind in order; a pre script that fails ends its kind. Returns their time.
 */
static double run_steps(struct run *rn, enum step_kind kind)
{
	double total = 0;

	for (size_t i = 0; i < rn->steps.nr; i++) {
		if (rn->pl->steps.v[i].kind != kind)
			continue;
		if (rn->link_lost || !rn->link_up)
			break;
		step_run(rn, i);
		bool failed_before = rn->outcome.failed_phase;
		judge_step(rn, i);
		if (!failed_before && rn->outcome.failed_phase)
			rn->outcome.failed_step = i + 1;
		total += step_seconds(&rn->steps.v[i]);
		run_save(rn);
		outcome_take_interrupt(&rn->outcome);
		if (kind == STEP_PRE && (rn->outcome.interrupt || !step_went_well(&rn->steps.v[i])))
			break;
	}
	return total;
}

static bool has_kind(const struct run *rn, enum step_kind kind)
{
	return VEC_FIND(&rn->pl->steps, x, x->kind == kind);
}

static void do_pre(struct run *rn)
{
	if (!has_kind(rn, STEP_PRE) || !rn->link_up)
		return;
	outcome_phase(&rn->outcome, "pre");
	rn->pre_s = run_steps(rn, STEP_PRE);
}

static bool may_go_on(struct run *rn)
{
	outcome_take_interrupt(&rn->outcome);
	return rn->link_up && !rn->link_lost && outcome_good(&rn->outcome);
}

static void do_idle_before(struct run *rn, double s)
{
	if (!(s > 0) || !may_go_on(rn))
		return;
	run_anchor(rn, "idle_start");
	run_idle(rn, "before", s);
	run_save(rn);
}

/* Before post scripts, which may use the device. After a failure, return at once. */
static void do_idle_after(struct run *rn, double s)
{
	if (!(s > 0) || !may_go_on(rn))
		return;
	run_idle(rn, "after", s);
	run_anchor(rn, "idle_end");
	run_save(rn);
}

static void do_workload(struct run *rn)
{
	double idle_s;

	if (!may_go_on(rn))
		return;
	rn->outcome.skipped = rn->pl->conf && rn->pl->conf->skip_workload;
	if (rn->outcome.skipped)
		return;
	run_samplers_open(rn);
	run_samplers_start(rn);
	idle_s = run_idle_s(rn);
	do_idle_before(rn, idle_s);
	if (may_go_on(rn)) {
		run_results_before(rn);
		outcome_phase(&rn->outcome, "workload");
		mean_clock_begin(rn);
		run_anchor(rn, "workload_start");
		run_samplers_mark(rn, "workload_start");
		rn->workload_s = run_steps(rn, STEP_WORKLOAD);
		mean_clock_end(rn);
		control_ended(rn, clock_monotonic_ns());
		run_samplers_mark(rn, "workload_end");
		run_anchor(rn, "workload_end");
		rn->workload_done = true;
		do_idle_after(rn, idle_s);
	}
	run_samplers_stop(rn);
	if (run_disk_full(rn->pl->run_dir)) {
		outcome_warn(&rn->outcome, W_DISK_FULL, "error",
			     "the disk of the run directory is full");
		outcome_fail(&rn->outcome, RUN_FAILED, "the disk of the run directory is full");
	}
}

static void do_post(struct run *rn)
{
	if (!has_kind(rn, STEP_POST) || !rn->link_up || rn->link_lost)
		return;
	outcome_phase(&rn->outcome, "post");
	rn->post_s = run_steps(rn, STEP_POST);
}

/* --- the whole run --- */

static void run_begin(struct run *rn)
{
	struct err err = ERR_INIT;

	run_anchor(rn, "begin");
	rn->started_realtime_ns = rn->clocks.v[0].anchor.realtime_ns;
	if (rn->pl->conf && rn->pl->conf->grace_s >= 0 && isfinite(rn->pl->conf->grace_s))
		rn->grace_s = rn->pl->conf->grace_s;
	for (size_t i = 0; i < rn->pl->steps.nr; i++)
		VEC_PUSH(&rn->steps, ((struct run_step){ .code = -1 }));
	if (registry_enter(rn->pl, &rn->reg, &err) < 0)
		outcome_warn(&rn->outcome, W_NOT_REGISTERED, "warning", "%s", err.msg);
	for (size_t i = 0; rn->o->notes && i < rn->o->notes->nr; i++)
		outcome_warn(&rn->outcome, W_PULL_FAILED, "warning", "%s", rn->o->notes->v[i]);
	run_facts_begin(rn);
}

static void run_all_steps(struct run *rn)
{
	struct err err = ERR_INIT;

	run_dir_latest(rn);
	if (run_dir_fill(rn, &err) < 0) {
		outcome_fail(&rn->outcome, RUN_FAILED, "%s", err.msg);
		return;
	}
	rn->outcome.status = RUN_RUNNING;
	run_data_fetch(rn);
	run_save(rn);
	if (!outcome_good(&rn->outcome))
		return;
	control_open(rn);
	run_source_make(rn);
	run_hold(rn);
	outcome_phase(&rn->outcome, "start");
	mean_clock_open(rn);
	if (outcome_good(&rn->outcome))
		engine_start(rn);
	engine_needs(rn);
	run_facts_end(rn);
	if (rn->unstarted && rn->o->quick && rn->pl->engine->container)
		return;
	rn->unstarted = 0;
	run_save(rn);
	do_pre(rn);
	do_workload(rn);
	do_post(rn);
	outcome_phase(&rn->outcome, "collect");
	run_own(rn);
	engine_stop(rn);
	control_close(rn);
	/* Without a workload the tools have no outputs. */
	if (!rn->outcome.skipped)
		run_collect(rn);
	run_wrap_at_check(rn);
	run_samplers_check(rn);
	run_results(rn);
	run_source_done(rn);
}

#define CLOCK_STEP_NS NS_PER_S

/* By the clock of the start, so that a run does not end before it began. */
static int64_t end_of_day(struct run *rn)
{
	const struct clock_anchor *first = &rn->clocks.v[0].anchor;
	const struct clock_anchor *last = &rn->clocks.v[rn->clocks.nr - 1].anchor;
	/* Boot time includes sleep, as the time of day does. */
	int64_t ended = first->realtime_ns + (last->boottime_ns - first->boottime_ns);
	int64_t step = last->realtime_ns - ended;

	if (step > -CLOCK_STEP_NS && step < CLOCK_STEP_NS)
		return last->realtime_ns > first->realtime_ns ? last->realtime_ns : ended;
	outcome_warn(
		&rn->outcome, W_CLOCK_STEP, "note",
		"the machine's clock was set by %+.3f s during the run; its times of day are those "
		"of the clock before",
		(double)step / 1e9);
	return ended;
}

static void run_finish(struct run *rn, struct run_result *ret)
{
	struct err err = ERR_INIT;

	ret->exit_code = outcome_conclude(&rn->outcome);
	run_anchor(rn, "close");
	rn->ended_realtime_ns = end_of_day(rn);
	if (run_json_write(rn, rn->pl->run_dir, true, &err) < 0)
		ret->exit_code = outcome_unwritten(&rn->outcome, err.msg);
	run_dir_close(rn);
	/* Other processes see the run as live until its analysis is written, too. */
	ret->locked = rn->lock_fd >= 0;
	ret->lock_fd = rn->lock_fd;
	rn->lock_fd = -1;
}

const struct run_step *run_workload(const struct run *rn)
{
	const struct plan_step *ps = plan_workload(rn->pl);

	return ps && rn->steps.nr ? &rn->steps.v[ps - rn->pl->steps.v] : NULL;
}

static void fill_result(const struct run *rn, struct run_result *ret)
{
	const struct run_step *w = run_workload(rn);

	ret->status = rn->outcome.status;
	snprintf(ret->reason, sizeof(ret->reason), "%s", rn->outcome.reason);
	ret->workload_code = -1;
	if (w && w->ended) {
		ret->workload_code = w->code;
		ret->workload_signal = w->signal;
	}
	ret->workload_s = rn->workload_s;
	ret->failed_step = rn->outcome.failed_step;
	for (size_t i = 0; i < rn->metrics.nr && !*ret->result; i++)
		if (rn->metrics.v[i].detail && isfinite(rn->metrics.v[i].value))
			snprintf(ret->result, sizeof(ret->result), "%.6g %.120s",
				 rn->metrics.v[i].value, rn->metrics.v[i].unit);
	for (size_t i = 0; i < rn->artifacts.nr; i++) {
		ret->artifacts++;
		ret->artifacts_bad += strcmp(rn->artifacts.v[i].v.verdict, "valid") != 0;
		ret->artifacts_unread += rn->artifacts.v[i].v.unread;
	}
	for (size_t i = 0; i < rn->samplers.nr; i++)
		ret->samples += rn->samplers.v[i].stats.rows;
	ret->run_dir = xstrdup(rn->pl->run_dir);
}

FIELD_TABLE(artifact_fields, TEXT_FIELDS(struct run_artifact, path));
FIELD_TABLE(metric_fields, TEXT_FIELDS(struct run_metric, detail));
FIELD_TABLE(seen_fields, TEXT_FIELDS(struct run_seen, path));
FIELD_TABLE(run_fields, TEXT_FIELDS(struct run, made, latest_was),
	    FIELD_VEC(struct run, seen, seen_fields), FIELD_VEC(struct run, clocks, NULL),
	    FIELD_VEC(struct run, idle, NULL), FIELD_VEC(struct run, steps, NULL),
	    FIELD_VEC(struct run, artifacts, artifact_fields),
	    FIELD_VEC(struct run, metrics, metric_fields), FIELD_VEC(struct run, devices, NULL),
	    FIELD_VEC(struct run, samplers, NULL));

static void run_release(struct run *rn)
{
	link_release(&rn->link);
	run_let_go(rn);
	if (rn->container_left)
		registry_leave_behind(&rn->reg);
	else
		registry_leave(&rn->reg);
	xclosep(&rn->lock_fd);
	for (size_t i = 0; i < rn->samplers.nr; i++)
		sampling_stats_release(&rn->samplers.v[i].stats);
	fields_release(rn, run_fields);
	outcome_release(&rn->outcome);
	run_data_release(rn);
	mean_clock_release(rn);
	record_free(&rn->record);
}

int run_execute(const struct plan *pl, const struct run_opts *o, struct run_result *ret,
		struct err *err)
{
	struct run rn = {
		.pl = pl,
		.o = o,
		.grace_s = DEFAULT_GRACE_S,
		.reg = REGISTRATION_INIT,
		.lock_fd = -1,
		.link = AGENT_LINK_INIT,
		.held = STRVEC_INIT,
		.outcome = { .events = &o->events, .pending = o->interrupt, .phase = "prepare" },
	};
	int r;

	*ret = (struct run_result){ .workload_code = -1 };
	run_begin(&rn);
	r = run_dir_make(&rn, err);
	if (r == 0) {
		registry_note(&rn);
		run_all_steps(&rn);
	}
	run_facts_end(&rn);
	if (r == 0 && rn.unstarted) {
		r = err_set(err, -rn.unstarted, "%s", rn.outcome.reason);
		engine_give_up(&rn);
		control_close(&rn);
		run_dir_unmake(&rn);
	} else if (r == 0) {
		run_finish(&rn, ret);
		fill_result(&rn, ret);
		/* So that a caller with more runs stops, too. */
		if (rn.outcome.interrupt && o->interrupt)
			*o->interrupt = rn.outcome.interrupt;
	}
	run_release(&rn);
	return r;
}

void run_result_over(struct run_result *r)
{
	CLEANUP(xfreep) char *lock = r->run_dir ? fs_join(r->run_dir, RUN_LOCK) : NULL;

	if (!r->locked)
		return;
	r->locked = false;
	if (lock)
		door_unlink(lock);
	xclosep(&r->lock_fd);
}

void run_result_release(struct run_result *r)
{
	run_result_over(r);
	free(r->run_dir);
	*r = (struct run_result){ .workload_code = -1 };
}
