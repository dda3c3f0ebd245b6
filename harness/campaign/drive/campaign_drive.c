#include "campaign_drive.h"
#include "drive_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/mix.h"
#include "profrig/base/sample_stop.h"

#define STOP_CONFIDENCE 0.95
#define BACK_OFF_S 10.0
#define BACK_OFF_MAX_S 3600.0
#define SETTLE_WAIT_MS 250
#define SETTLE_WAITS 2400 /* 10 min: a run that lives is waited for so long at a time */

/* ---- telling ---- */

void campaign_count(const struct campaign_job *j, struct drive_outcome *ret, uint64_t *ret_running)
{
	uint64_t running = 0;

	*ret = (struct drive_outcome){ .runs = (uint64_t)j->plan.cells.nr * j->plan.repeat };
	for (size_t i = 0; i < j->plan.cells.nr; i++)
		for (uint32_t k = 1; k <= j->plan.repeat; k++) {
			struct attempt_name name;
			const struct run_state *r;

			attempt_name_make(j->plan.cells.v[i].id, k, 0, &name);
			r = campaign_state_find(&j->state, name.run);
			if (!r)
				continue;
			ret->committed += r->stage == RUN_COMMITTED;
			ret->failed += r->stage == RUN_GIVEN_UP;
			running += r->stage == RUN_OPEN;
			ret->attempts += r->attempts;
			ret->superseded += r->superseded;
		}
	ret->left = ret->runs - ret->committed - ret->failed;
	if (ret_running)
		*ret_running = running;
}

static void moment_fill(const struct driving *d, struct drive_moment *m)
{
	const struct drive_outcome *c = &d->count;

	m->runs = c->runs;
	m->committed = c->committed;
	m->failed = c->failed;
	m->running = d->running;
	m->block = d->groups_begun;
	m->blocks = d->groups.nr;
	m->eta_s = d->nr_s ? (d->sum_s / (double)d->nr_s + d->j->file.cooldown_s) *
				     (double)(c->runs - c->committed - c->failed) /
				     (double)d->places
			   : NAN;
}

void drive_tell(const struct driving *d, enum drive_event what, const struct driven *a,
		const char *text, double wait_s, double run_s)
{
	struct drive_moment m = {
		.what = what, .text = text ? text : "", .wait_s = wait_s, .run_s = run_s
	};

	if (!d->o->moment)
		return;
	if (a) {
		m.run = a->name.run;
		m.label = d->j->plan.cells.v[a->cell].label;
		m.attempt = a->name.number;
		m.repeat = a->name.repeat;
	}
	moment_fill(d, &m);
	d->o->moment(d->o->ctx, &m);
}

/* ---- after an attempt ---- */

static json_t *ended_json(const struct attempt_outcome *o)
{
	json_t *j = json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:s}", "state", o->state, "class",
			      attempt_class_name(o->class), "kind", o->kind, "reason", o->reason,
			      "exit", o->exit_code, "signal", o->signal, "node", o->node);

	if (o->throttled)
		json_object_set_new(j, "throttled", json_integer((json_int_t)o->throttled));
	return j;
}

/* Texts of a run directory are data: what is no UTF-8 is replaced. */
static void text_clean(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || (unsigned char)*s >= 0x7f)
			*s = '?';
}

/* How long it waits before it is made again; < 0: it is not. */
static double again_after(const struct campaign_job *j, const struct run_state *r,
			  const struct attempt_outcome *o, uint64_t seed)
{
	double wait;

	if (o->class == ATTEMPT_WORKLOAD)
		return r->failed[ATTEMPT_WORKLOAD] <= j->file.retry.workload &&
				       strvec_has(&j->file.retry.on, o->kind)
			       ? 0
			       : -1;
	if (o->class != ATTEMPT_INFRASTRUCTURE)
		return 0;
	if (r->failed[ATTEMPT_INFRASTRUCTURE] > j->file.retry.infrastructure)
		return -1;
	wait = ldexp(BACK_OFF_S, (int)r->failed[ATTEMPT_INFRASTRUCTURE] - 1);
	/* up to a tenth more, so that many do not come at once */
	return fmin(wait, BACK_OFF_MAX_S) * (1 + (double)(mix64(seed) % 1000) / 1e4);
}

static void outcome_clean(struct attempt_outcome *o)
{
	text_clean(o->reason);
	text_clean(o->node);
	text_clean(o->signal);
	text_clean(o->state);
}

/* A commit of an attempt that did not end well is not profrig's: the workload wrote it. */
static int forged_put_aside(struct driving *d, const struct attempt_name *a)
{
	char said[200];
	int r = commit_put_aside(d->j->dir, a->run, said, d->err);

	if (*said)
		drive_tell(d, DRIVE_NOTE, NULL, said, 0, NAN);
	return r;
}

/* committed: results/<run> names it: 1. 0: it does not. */
static int attempt_note(struct driving *d, const struct attempt_name *a, struct attempt_outcome *o)
{
	struct campaign_job *j = d->j;
	struct campaign_note notes[3];
	const struct run_state *run;
	struct attempt_name other;
	int there = commit_look(j->dir, a->run, &other, NULL), r = 0;
	bool mine = there == 1 && !strcmp(other.all, a->all);
	size_t nr = 0;

	if (there == 1 && (mine ? o->class != ATTEMPT_OK : !attempt_holds(&j->where, &other))) {
		r = forged_put_aside(d, a);
		there = 0;
		mine = false;
	}
	if (r < 0)
		return r;
	if (o->class == ATTEMPT_OK && there != 1) {
		o->class = ATTEMPT_INFRASTRUCTURE;
		snprintf(o->reason, sizeof(o->reason), "its commit is gone from results/");
	}
	outcome_clean(o);
	notes[nr++] = (struct campaign_note){ "ended", a->run, a->number, ended_json(o) };
	run = campaign_state_run(&j->state, a->run);
	if (mine && !(run->stage == RUN_COMMITTED && run->committed == a->number))
		notes[nr++] = (struct campaign_note){ "committed", a->run, a->number, NULL };
	else if (!mine && there == 1 && o->class == ATTEMPT_OK)
		notes[nr++] = (struct campaign_note){ "superseded", a->run, a->number, NULL };
	if (there == 1 && !mine && run->stage != RUN_COMMITTED)
		notes[nr++] = (struct campaign_note){ "committed", a->run, other.number, NULL };
	r = campaign_job_notes(j, notes, nr, d->err);
	return r < 0 ? r : mine;
}

static int failed_note(struct campaign_job *j, const struct attempt_name *a,
		       const struct attempt_outcome *o, struct err *err)
{
	const struct run_state *r = campaign_state_run(&j->state, a->run);

	return campaign_job_note(j, "failed", a->run, 0,
				 json_pack("{s:s, s:s, s:i}", "class", attempt_class_name(o->class),
					   "reason", o->reason, "attempts", (int)r->attempts),
				 err);
}

static void enough_look(struct driving *d);

/* The run is not committed: again, or never. */
static int run_again(struct driving *d, const struct driven *a, const struct attempt_outcome *o)
{
	struct run_state *r = campaign_state_run(&d->j->state, a->name.run);
	double wait = again_after(d->j, r, o, d->j->plan.seed ^ (uint64_t)clock_realtime_ns());

	drive_tell(d, DRIVE_ENDED, a, o->reason, 0, NAN);
	if (wait < 0) {
		int rc = failed_note(d->j, &a->name, o, d->err);

		d->count.failed++;
		drive_tell(d, DRIVE_FAILED, a, o->reason, 0, NAN);
		return rc;
	}
	r->not_before_ns = clock_monotonic_ns() + (int64_t)(wait * 1e9);
	if (wait > 0 && !d->drains)
		drive_tell(d, DRIVE_WAITS, a, o->reason, wait, NAN);
	return 0;
}

int drive_over(struct driving *d, const struct driven *a, struct attempt_outcome *o)
{
	double run_s = (double)(clock_monotonic_ns() - a->begun_ns) / 1e9;
	bool was = campaign_state_run(&d->j->state, a->name.run)->stage == RUN_COMMITTED;
	int mine = attempt_note(d, &a->name, o);

	if (mine < 0)
		return mine;
	d->running--;
	if (campaign_state_run(&d->j->state, a->name.run)->stage != RUN_COMMITTED)
		return run_again(d, a, o);
	d->count.committed += !was;
	if (mine) {
		d->sum_s += run_s;
		d->nr_s++;
	}
	enough_look(d);
	text_clean(o->figure);
	drive_tell(d, mine ? DRIVE_COMMITTED : DRIVE_SUPERSEDED, a, o->figure, 0,
		   isnan(o->workload_s) ? run_s : o->workload_s);
	return 0;
}

/* One that was throttled is made again, a few times; then it counts and is flagged. */
static void throttled_judge(struct driving *d, const struct attempt_name *a,
			    struct attempt_outcome *o)
{
	const struct run_state *r = campaign_state_run(&d->j->state, a->run);
	bool again = r->failed[ATTEMPT_INVALID] < d->j->file.retry.invalid;
	char text[sizeof(a->all) + sizeof(o->reason) + 2];

	if (o->class != ATTEMPT_OK || !o->throttled)
		return;
	snprintf(o->reason, sizeof(o->reason), "the processor was throttled %" PRIu64 " time%s%s",
		 o->throttled, o->throttled == 1 ? "" : "s",
		 again ? "" : ", and it counts: no extra run is left (retry.invalid)");
	if (again) {
		o->class = ATTEMPT_INVALID;
		return;
	}
	snprintf(text, sizeof(text), "%s: %s", a->all, o->reason);
	drive_tell(d, DRIVE_NOTE, NULL, text, 0, NAN);
}

void drive_commit(struct driving *d, const struct attempt_name *a, struct attempt_outcome *o)
{
	struct err why = ERR_INIT;
	char said[200];

	throttled_judge(d, a, o);
	if (o->class != ATTEMPT_OK)
		return;
	if (attempt_commit(&d->j->where, a, said, &why) < 0) {
		o->class = ATTEMPT_INFRASTRUCTURE;
		snprintf(o->reason, sizeof(o->reason), "it cannot be committed: %.160s", why.msg);
	}
	if (*said)
		drive_tell(d, DRIVE_NOTE, NULL, said, 0, NAN);
}

int drive_intend(struct driving *d, const struct order_run *o, bool limit, struct driven *ret)
{
	const struct run_state *run = drive_run(d, o);
	json_t *fields;
	int r;

	*ret = (struct driven){ .cell = o->cell };
	attempt_name_make(d->j->plan.cells.v[o->cell].id, o->block + 1, run->attempts + 1,
			  &ret->name);
	fields = json_pack("{s:s, s:I, s:I, s:I}", "cell", ret->name.cell, "repeat",
			   (json_int_t)ret->name.repeat, "block", (json_int_t)o->block + 1, "pos",
			   (json_int_t)(o - d->order.runs.v) + 1);
	if (limit)
		json_object_set_new(fields, "cooldown", json_string("limit"));
	r = campaign_job_note(d->j, "intend", ret->name.run, ret->name.number, fields, d->err);
	if (r < 0)
		return r;
	ret->begun_ns = clock_monotonic_ns();
	d->begun++;
	d->running++;
	return 0;
}

/* ---- settling ---- */

static void run_settle_wait(const struct driving *d, const struct attempt_name *a,
			    struct attempt_outcome *o)
{
	for (int i = 0; o->running && i < SETTLE_WAITS && !*d->o->interrupt; i++) {
		if (i == 1)
			drive_tell(d, DRIVE_NOTE, NULL,
				   "waiting for a run that an earlier process left", 0, NAN);
		poll(NULL, 0, SETTLE_WAIT_MS);
		attempt_judge(&d->j->where, a, o);
	}
}

static int open_settle(struct driving *d, const char *run, uint32_t number)
{
	struct attempt_outcome o;
	struct attempt_name a, named;
	int r;

	if (!attempt_name_parse(run, &named))
		return 0;
	attempt_name_make(named.cell, named.repeat, number, &a);
	attempt_judge(&d->j->where, &a, &o);
	run_settle_wait(d, &a, &o);
	if (o.running && *d->o->interrupt) {
		d->signal = *d->o->interrupt;
		d->drains = d->stops = true;
		return err_set(d->err, EINTR, "run %s still runs, without its campaign", a.all);
	}
	if (!strcmp(d->j->file.scheduler, "local"))
		drive_sweep(d, &a, &o);
	if (o.running)
		return err_set(d->err, EBUSY, "run %s still runs, without its campaign", a.all);
	drive_commit(d, &a, &o);
	r = attempt_note(d, &a, &o);
	return r < 0 ? r : 0;
}

/* The journal has a commit that results/ lacks: it is made again, or the run is left again. */
static int commit_restore(struct driving *d, const struct attempt_name *name, uint32_t number)
{
	CLEANUP(xfreep) char *text = NULL;
	struct attempt_name a;
	char said[200] = "";
	bool there;
	int r = 0;

	attempt_name_make(name->cell, name->repeat, number, &a);
	there = attempt_holds(&d->j->where, &a);
	if (there)
		r = attempt_commit(&d->j->where, &a, said, d->err);
	else
		r = campaign_job_note(d->j, "retry", name->run, 0, NULL, d->err);
	if (r < 0)
		return r;
	if (*said)
		drive_tell(d, DRIVE_NOTE, NULL, said, 0, NAN);
	text = xasprintf(there ? "results/%s was gone: it is written again from the run directory"
			       : "results/%s and its run directory are gone: the run is made again",
			 name->run);
	drive_tell(d, DRIVE_NOTE, NULL, text, 0, NAN);
	return 0;
}

/* What results/ and the journal say of a run becomes the same. */
static int commit_settle(struct driving *d, uint32_t cell, uint32_t repeat)
{
	struct attempt_name name, there;
	struct run_state *r;
	struct err why = ERR_INIT;
	int found;

	attempt_name_make(d->j->plan.cells.v[cell].id, repeat, 0, &name);
	found = commit_look(d->j->dir, name.run, &there, &why);
	/* no file of another kind, but one that cannot be looked at: nothing is known then */
	if (found < 0 && found != -EBADMSG)
		return err_set(d->err, -found, "%s", why.msg);
	r = campaign_state_run(&d->j->state, name.run);
	/* a job's, whose end comes later */
	if (r->open && r->stage != RUN_COMMITTED)
		return 0;
	if (r->stage == RUN_COMMITTED && found == 1 &&
	    (there.number == r->committed || attempt_holds(&d->j->where, &there)))
		return 0;
	if (r->stage == RUN_COMMITTED)
		return commit_restore(d, &name, r->committed);
	if (found < 0)
		drive_tell(d, DRIVE_NOTE, NULL, why.msg, 0, NAN);
	if (found != 1)
		return 0;
	if (!attempt_holds(&d->j->where, &there))
		return forged_put_aside(d, &name);
	return campaign_job_note(d->j, "committed", name.run, there.number, NULL, d->err);
}

static int commits_settle(struct driving *d)
{
	int r = 0;

	for (uint32_t c = 0; r == 0 && c < d->j->plan.cells.nr; c++)
		for (uint32_t k = 1; r == 0 && k <= d->j->plan.repeat; k++)
			r = commit_settle(d, c, k);
	return r;
}

static int settle(struct driving *d)
{
	struct campaign_state *s = &d->j->state;
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->runs.nr; i++)
		if (s->runs.v[i].open &&
		    !campaign_state_submitted(s, s->runs.v[i].name, s->runs.v[i].open))
			r = open_settle(d, s->runs.v[i].name, s->runs.v[i].open);
	if (r == 0)
		r = commits_settle(d);
	return r < 0 ? r : drive_late(d);
}

/* ---- what comes next ---- */

static void groups_make(struct driving *d)
{
	bool alone = d->j->plan.order == ORDER_SEQUENTIAL;

	order_make((uint32_t)d->j->plan.cells.nr, d->j->plan.repeat, d->j->plan.order,
		   d->j->plan.seed, &d->order);
	for (size_t i = 0; i < d->order.runs.nr; i++) {
		struct group *last = d->groups.nr ? &d->groups.v[d->groups.nr - 1] : NULL;

		if (last && !alone &&
		    d->order.runs.v[last->begin].block == d->order.runs.v[i].block)
			last->end = i + 1;
		else
			VEC_PUSH(&d->groups, ((struct group){ .begin = i, .end = i + 1 }));
	}
}

struct run_state *drive_run(struct driving *d, const struct order_run *o)
{
	size_t at = (size_t)(o - d->order.runs.v);

	return &d->j->state.runs.v[d->places_of[at]];
}

/* Runs are found by name once, not each time that the next one is looked for. */
static void places_find(struct driving *d)
{
	d->places_of = xcalloc(d->order.runs.nr + 1, sizeof(*d->places_of));
	for (size_t i = 0; i < d->order.runs.nr; i++) {
		const struct order_run *o = &d->order.runs.v[i];
		struct attempt_name name;

		attempt_name_make(d->j->plan.cells.v[o->cell].id, o->block + 1, 0, &name);
		d->places_of[i] =
			(uint32_t)(campaign_state_run(&d->j->state, name.run) - d->j->state.runs.v);
	}
}

/*
 * A run of the group that may begin now: those that were not tried stand in front of those that
 * failed, which so are at the end of their block. *ret_wait: when the first of the others may.
 */
const struct order_run *drive_group_next(struct driving *d, struct group *g, int64_t now,
					 int64_t *ret_wait)
{
	const struct order_run *again = NULL;
	bool open = false;

	if (g->done)
		return NULL;
	for (size_t i = g->begin; i < g->end; i++) {
		const struct order_run *o = &d->order.runs.v[i];
		const struct run_state *r = drive_run(d, o);

		open |= r->stage == RUN_LEFT || r->stage == RUN_OPEN;
		if (r->stage != RUN_LEFT)
			continue;
		if (r->not_before_ns > now) {
			*ret_wait = r->not_before_ns < *ret_wait ? r->not_before_ns : *ret_wait;
			continue;
		}
		if (!r->not_before_ns)
			return o;
		again = again ? again : o;
	}
	g->done = !open;
	return again;
}

static struct run_state *run_at(struct driving *d, uint32_t cell, uint32_t block)
{
	struct attempt_name name;

	attempt_name_make(d->j->plan.cells.v[cell].id, block + 1, 0, &name);
	return campaign_state_run(&d->j->state, name.run);
}

/* How many blocks, from the first one on, have all their runs committed. */
static uint32_t blocks_whole(struct driving *d)
{
	uint32_t block = 0;

	for (; block < d->j->plan.repeat; block++)
		for (uint32_t cell = 0; cell < d->j->plan.cells.nr; cell++)
			if (run_at(d, cell, block)->stage != RUN_COMMITTED)
				return block;
	return block;
}

/* Whether the cell needs no more than these blocks. */
static bool cell_is_known(struct driving *d, uint32_t cell, uint32_t blocks)
{
	const struct campaign_stop *rule = &d->j->file.stop;
	struct sample_stop_rule r = { rule->within, STOP_CONFIDENCE, rule->first, 0 };
	CLEANUP(xfreep) double *v = xcalloc(blocks, sizeof(*v));
	struct sample_stop s;

	for (uint32_t block = 0; block < blocks; block++) {
		const struct run_state *run = run_at(d, cell, block);
		struct attempt_name name;

		attempt_name_make(d->j->plan.cells.v[cell].id, block + 1, run->committed, &name);
		v[block] = attempt_metric(&d->j->where, &name, rule->metric);
	}
	sample_stop_stein(v, blocks, &r, &s);
	return s.done;
}

/* After each whole block. */
static void enough_look(struct driving *d)
{
	const struct campaign_stop *rule = &d->j->file.stop;
	uint32_t blocks;

	if (!rule->metric || d->enough)
		return;
	blocks = blocks_whole(d);
	if (blocks <= d->looked || blocks < rule->first)
		return;
	d->looked = blocks;
	for (uint32_t cell = 0; cell < d->j->plan.cells.nr; cell++)
		if (!cell_is_known(d, cell, blocks))
			return;
	d->enough = true;
	drive_tell(d, DRIVE_NOTE, NULL,
		   "the mean of every cell is known well enough: no further "
		   "block begins",
		   0, NAN);
}

bool drive_budget_over(struct driving *d)
{
	const struct campaign_file *f = &d->j->file;
	double s = (double)(clock_monotonic_ns() - d->begin_ns) / 1e9;

	return d->enough || (f->budget_s > 0 && s >= f->budget_s) ||
	       (f->budget_runs && d->begun >= f->budget_runs);
}

/* Blocks of which something ran before count as begun: a budget ends between blocks. */
static void groups_begun(struct driving *d)
{
	for (size_t i = 0; i < d->groups.nr; i++) {
		size_t left = 0, n = d->groups.v[i].end - d->groups.v[i].begin;

		for (size_t k = d->groups.v[i].begin; k < d->groups.v[i].end; k++)
			left += drive_run(d, &d->order.runs.v[k])->stage == RUN_LEFT;
		d->groups.v[i].begun = left < n;
		d->groups_begun += left < n;
	}
}

/* ---- all ---- */

bool drive_signals_take(struct driving *d)
{
	int sig = *d->o->interrupt;

	if (!sig)
		return false;
	*d->o->interrupt = 0;
	if (d->drains || d->o->at_once || sig == SIGTERM) {
		d->stops = true;
		d->signal = sig;
	}
	d->drains = true;
	drive_tell(d, DRIVE_DRAINS, NULL,
		   d->stops ? "runs are ended"
			    : "no further run begins; once more ends those that run",
		   0, NAN);
	return true;
}

int64_t drive_sleep_ns(const struct driving *d, int64_t until)
{
	int64_t now = clock_monotonic_ns(), ns = until == INT64_MAX ? IDLE_NS : until - now;

	if (ns < 0)
		ns = 0;
	/* a signal between the look at it and the wait is seen then */
	if (ns > IDLE_NS)
		ns = IDLE_NS;
	if (d->o->ticks && ns > TICK_NS)
		ns = TICK_NS;
	return ns;
}

int campaign_drive(struct campaign_job *j, const struct drive_opts *o, struct drive_outcome *ret,
		   struct err *err)
{
	struct driving d = {
		.j = j, .o = o, .places = 1, .begin_ns = clock_monotonic_ns(), .err = err
	};
	int r = settle(&d);

	groups_make(&d);
	places_find(&d);
	groups_begun(&d);
	campaign_count(j, &d.count, NULL);
	if (r == 0)
		r = strcmp(j->file.scheduler, "local") ? drive_scheduler(&d) : drive_local(&d);
	drive_sweep_rest(&d);
	/* what a workload did to results/ meanwhile */
	if (r == 0)
		r = commits_settle(&d);
	if (r == 0)
		r = drive_late(&d);
	if (r == 0 && d.enough && d.running == 0)
		r = campaign_job_shorten(j, (uint32_t)d.groups_begun, err);
	campaign_count(j, ret, NULL);
	ret->drained = d.drains || (ret->left && drive_budget_over(&d));
	ret->signal = d.signal;
	order_release(&d.order);
	free(d.places_of);
	VEC_RELEASE(&d.groups);
	return r;
}
