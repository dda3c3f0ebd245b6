#include "campaign_drive.h"
#include "worker.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/mix.h"

#define BACK_OFF_S 10.0
#define BACK_OFF_MAX_S 3600.0
#define DEAD_MAX 3
#define TICK_NS NS_PER_S
#define SETTLE_WAIT_MS 250
#define SETTLE_WAITS 2400 /* 10 min: a run that lives is waited for so long at a time */

struct slot {
	struct worker w;
	bool busy;
	bool cooling;
	int64_t cool_until; /* CLOCK_MONOTONIC */
	size_t group;       /* SIZE_MAX: none */
	struct attempt_name now;
	uint32_t cell;
	int64_t begun;
	bool used; /* something ran in it */
};

/* Runs that belong together: a block, or in sequential order a single run. */
struct group {
	size_t begin, end; /* of order.runs */
	bool begun, taken;
};

struct driving {
	struct campaign_job *j;
	const struct drive_opts *o;
	struct order order;
	VEC(struct group) groups;
	size_t groups_begun;
	VEC(struct slot) slots;
	struct drive_outcome count; /* kept up to date */
	uint64_t begun, running;
	double sum_s;
	uint64_t nr_s;
	int64_t begin_ns;
	bool drains, stops;
	unsigned dead; /* workers in a row that died without a trace of a run */
	int signal;
	struct err *err;
};

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
				     (double)d->slots.nr
			   : NAN;
}

static void tell(const struct driving *d, enum drive_event what, const struct slot *s,
		 const char *text, double wait_s, double run_s)
{
	struct drive_moment m = {
		.what = what, .text = text ? text : "", .wait_s = wait_s, .run_s = run_s
	};

	if (!d->o->moment)
		return;
	if (s) {
		m.run = s->now.run;
		m.label = d->j->plan.cells.v[s->cell].label;
		m.attempt = s->now.number;
		m.repeat = s->now.repeat;
	}
	moment_fill(d, &m);
	d->o->moment(d->o->ctx, &m);
}

/* ---- after an attempt ---- */

static json_t *ended_json(const struct attempt_outcome *o)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:s}", "state", o->state, "class",
			 attempt_class_name(o->class), "kind", o->kind, "reason", o->reason, "exit",
			 o->exit_code, "signal", o->signal, "node", o->node);
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

/* committed: results/<run> names it. */
static int attempt_note(struct campaign_job *j, const struct attempt_name *a,
			struct attempt_outcome *o, struct err *err)
{
	struct attempt_name other;
	int there = commit_look(j->dir, a->run, &other, NULL), r;
	bool mine = there == 1 && !strcmp(other.all, a->all);

	text_clean(o->reason);
	text_clean(o->node);
	text_clean(o->signal);
	text_clean(o->state);
	r = campaign_job_note(j, "ended", a->run, a->number, ended_json(o), err);
	if (r == 0 && mine)
		r = campaign_job_note(j, "committed", a->run, a->number, NULL, err);
	else if (r == 0 && there == 1 && o->class == ATTEMPT_OK)
		r = campaign_job_note(j, "superseded", a->run, a->number, NULL, err);
	if (r == 0 && there == 1 && !mine &&
	    campaign_state_run(&j->state, a->run)->stage != RUN_COMMITTED)
		r = campaign_job_note(j, "committed", a->run, other.number, NULL, err);
	return r < 0 ? r : mine;
}

static int failed_note(struct campaign_job *j, const struct attempt_name *a,
		       const struct attempt_outcome *o, struct err *err)
{
	const struct run_state *r = campaign_state_run(&j->state, a->run);

	return campaign_job_note(j, "failed", a->run, 0,
				 json_pack("{s:s, s:s, s:i}", "class",
					   attempt_class_name(o->class), "reason", o->reason,
					   "attempts", (int)r->attempts),
				 err);
}

/* The run is not committed: again, or never. */
static int run_again(struct driving *d, struct slot *s, const struct attempt_outcome *o)
{
	struct run_state *r = campaign_state_run(&d->j->state, s->now.run);
	double wait = again_after(d->j, r, o, d->j->plan.seed ^ (uint64_t)clock_realtime_ns());

	tell(d, DRIVE_ENDED, s, o->reason, 0, NAN);
	if (wait < 0) {
		int rc = failed_note(d->j, &s->now, o, d->err);

		d->count.failed++;
		tell(d, DRIVE_FAILED, s, o->reason, 0, NAN);
		return rc;
	}
	r->not_before_ns = clock_monotonic_ns() + (int64_t)(wait * 1e9);
	if (wait > 0 && !d->drains)
		tell(d, DRIVE_WAITS, s, o->reason, wait, NAN);
	return 0;
}

/* worker_died: how, NULL: it answered. */
static int attempt_over(struct driving *d, struct slot *s, const char *worker_died,
			const char *answer)
{
	double run_s = (double)(clock_monotonic_ns() - s->begun) / 1e9;
	struct attempt_outcome o;
	int r;

	attempt_judge(d->j->dir, &s->now, &d->j->metrics, &o);
	if (!o.found && *answer) { /* the worker's own words */
		o.class = ATTEMPT_INFRASTRUCTURE;
		snprintf(o.reason, sizeof(o.reason), "%s", answer);
	}
	if (worker_died && !d->stops && o.class == ATTEMPT_INTERRUPTED) {
		o.class = ATTEMPT_INFRASTRUCTURE;
		snprintf(o.reason, sizeof(o.reason), "the process of the run ended: %s",
			 worker_died);
	}
	/* not by us: the run itself was sent a signal */
	if (!worker_died && !d->stops && o.class == ATTEMPT_INTERRUPTED && o.found)
		o.class = ATTEMPT_INFRASTRUCTURE;
	d->dead = worker_died && !o.found ? d->dead + 1 : 0;
	s->busy = false;
	s->used = true;
	s->cool_until = clock_monotonic_ns() + (int64_t)(d->j->file.cooldown_s * 1e9);
	r = attempt_note(d->j, &s->now, &o, d->err);
	if (r == 0 && d->dead >= DEAD_MAX)
		r = err_set(d->err, EIO, "workers end before they begin a run: %s", worker_died);
	if (r < 0)
		return r;
	d->running--;
	if (campaign_state_run(&d->j->state, s->now.run)->stage == RUN_COMMITTED) {
		d->count.committed++;
		if (r) {
			d->sum_s += run_s;
			d->nr_s++;
		}
		tell(d, r ? DRIVE_COMMITTED : DRIVE_SUPERSEDED, s, "", 0, run_s);
		return 0;
	}
	return run_again(d, s, &o);
}

/* ---- settling ---- */

static void run_settle_wait(const struct driving *d, const struct attempt_name *a,
			    struct attempt_outcome *o)
{
	for (int i = 0; o->running && i < SETTLE_WAITS && !*d->o->interrupt; i++) {
		if (i == 1)
			tell(d, DRIVE_NOTE, NULL, "waiting for a run that an earlier process left",
			     0, NAN);
		poll(NULL, 0, SETTLE_WAIT_MS);
		attempt_judge(d->j->dir, a, &d->j->metrics, o);
	}
}

static int open_settle(struct driving *d, const char *run, uint32_t number)
{
	struct campaign_job *j = d->j;
	struct attempt_outcome o;
	struct attempt_name a, named;
	char said[200];
	int r;

	if (!attempt_name_parse(run, &named))
		return 0;
	attempt_name_make(named.cell, named.repeat, number, &a);
	attempt_judge(j->dir, &a, &j->metrics, &o);
	run_settle_wait(d, &a, &o);
	if (o.running)
		return err_set(d->err, EBUSY, "run %s still runs, without its campaign", a.all);
	if (o.class == ATTEMPT_OK) {
		r = commit_attempt(j->dir, &a, said, d->err);
		if (r < 0)
			return r;
		if (*said)
			tell(d, DRIVE_NOTE, NULL, said, 0, NAN);
	}
	r = attempt_note(j, &a, &o, d->err);
	return r < 0 ? r : 0;
}

/* A commit that the journal does not have. */
static int commit_settle(struct driving *d, uint32_t cell, uint32_t repeat)
{
	struct attempt_name name, there;
	struct run_state *r;
	struct err why = ERR_INIT;
	int found;

	attempt_name_make(d->j->plan.cells.v[cell].id, repeat, 0, &name);
	found = commit_look(d->j->dir, name.run, &there, &why);
	r = campaign_state_run(&d->j->state, name.run);
	if (found < 0)
		tell(d, DRIVE_NOTE, NULL, why.msg, 0, NAN);
	if (found == 1 && there.number > r->attempts) {
		tell(d, DRIVE_NOTE, NULL, "a file in results/ names an attempt that never began: "
					  "it is passed over",
		     0, NAN);
		return 0;
	}
	if (found == 1 && r->stage != RUN_COMMITTED)
		return campaign_job_note(d->j, "committed", name.run, there.number, NULL, d->err);
	return 0;
}

static int settle(struct driving *d)
{
	struct campaign_state *s = &d->j->state;
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->runs.nr; i++)
		if (s->runs.v[i].open)
			r = open_settle(d, s->runs.v[i].name, s->runs.v[i].open);
	for (uint32_t c = 0; r == 0 && c < d->j->plan.cells.nr; c++)
		for (uint32_t k = 1; r == 0 && k <= d->j->plan.repeat; k++)
			r = commit_settle(d, c, k);
	return r;
}

int campaign_settle(struct campaign_job *j, const struct drive_opts *o, struct err *err)
{
	struct driving d = { .j = j, .o = o, .err = err };

	return settle(&d);
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

static struct run_state *run_of(struct driving *d, const struct order_run *o)
{
	struct attempt_name name;

	attempt_name_make(d->j->plan.cells.v[o->cell].id, o->block + 1, 0, &name);
	return campaign_state_run(&d->j->state, name.run);
}

/*
 * A run of the group that may begin now: those that were not tried stand in front of those that
 * failed, which so are at the end of their block. *ret_wait: when the first of the others may.
 */
static const struct order_run *group_next(struct driving *d, const struct group *g, int64_t now,
					  int64_t *ret_wait)
{
	const struct order_run *again = NULL;

	for (size_t i = g->begin; i < g->end; i++) {
		const struct order_run *o = &d->order.runs.v[i];
		const struct run_state *r = run_of(d, o);

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
	return again;
}

static bool budget_over(struct driving *d)
{
	const struct campaign_file *f = &d->j->file;
	double s = (double)(clock_monotonic_ns() - d->begin_ns) / 1e9;

	return (f->budget_s > 0 && s >= f->budget_s) ||
	       (f->budget_runs && d->begun >= f->budget_runs);
}

/* The slot's own block first, then one that was begun, then a new one. */
static const struct order_run *slot_next(struct driving *d, struct slot *s, int64_t now,
					 int64_t *ret_wait)
{
	const struct order_run *o = NULL;
	bool over = budget_over(d);

	if (s->group != SIZE_MAX) {
		o = group_next(d, &d->groups.v[s->group], now, ret_wait);
		if (o)
			return o;
		d->groups.v[s->group].taken = false;
		s->group = SIZE_MAX;
	}
	for (int fresh = 0; fresh < 2 && !o; fresh++)
		for (size_t i = 0; i < d->groups.nr && !o; i++) {
			struct group *g = &d->groups.v[i];

			if (g->taken || g->begun == (fresh == 1) || (fresh && over))
				continue;
			o = group_next(d, g, now, ret_wait);
			if (!o)
				continue;
			if (fresh && over)
				return NULL;
			d->groups_begun += !g->begun;
			g->begun = g->taken = true;
			s->group = i;
		}
	return o;
}

/* Blocks of which something ran before count as begun: a budget ends between blocks. */
static void groups_begun(struct driving *d)
{
	for (size_t i = 0; i < d->groups.nr; i++) {
		size_t left = 0, n = d->groups.v[i].end - d->groups.v[i].begin;

		for (size_t k = d->groups.v[i].begin; k < d->groups.v[i].end; k++)
			left += run_of(d, &d->order.runs.v[k])->stage == RUN_LEFT;
		d->groups.v[i].begun = left < n;
		d->groups_begun += left < n;
	}
}

/* ---- slots ---- */

static int slot_begin(struct driving *d, struct slot *s, const struct order_run *o)
{
	struct campaign_job *j = d->j;
	struct run_state *run = run_of(d, o);
	int r;

	s->cell = o->cell;
	attempt_name_make(j->plan.cells.v[o->cell].id, o->block + 1, run->attempts + 1, &s->now);
	r = campaign_job_note(j, "intend", s->now.run, s->now.number,
			      json_pack("{s:s, s:I, s:I, s:I}", "cell", s->now.cell, "repeat",
					(json_int_t)s->now.repeat, "block", (json_int_t)o->block + 1,
					"pos", (json_int_t)(o - d->order.runs.v) + 1),
			      d->err);
	if (r == 0 && !worker_lives(&s->w))
		r = worker_start(&s->w, d->o->program, j->dir, (size_t)(s - d->slots.v), d->err);
	if (r < 0)
		return r;
	s->busy = true;
	s->begun = clock_monotonic_ns();
	d->begun++;
	d->running++;
	tell(d, DRIVE_BEGINS, s, "", 0, NAN);
	/* a worker that is gone is seen by its end */
	worker_give(&s->w, s->now.all);
	return 0;
}

/* Whether it has to wait, and until when. */
static bool slot_cools(struct driving *d, struct slot *s, int64_t now, int64_t *ret_wait)
{
	if (!s->used || s->cool_until <= now) {
		s->cooling = false;
		return false;
	}
	if (!s->cooling)
		tell(d, DRIVE_COOLS, NULL, "", (double)(s->cool_until - now) / 1e9, NAN);
	s->cooling = true;
	*ret_wait = s->cool_until < *ret_wait ? s->cool_until : *ret_wait;
	return true;
}

/* Begins what can; returns how many slots are busy. */
static int slots_fill(struct driving *d, int64_t *ret_wait)
{
	int64_t now = clock_monotonic_ns();
	int busy = 0, r = 0;

	for (size_t i = 0; i < d->slots.nr && r == 0; i++) {
		struct slot *s = &d->slots.v[i];

		if (!s->busy && !d->drains && !slot_cools(d, s, now, ret_wait)) {
			const struct order_run *o = slot_next(d, s, now, ret_wait);

			if (o)
				r = slot_begin(d, s, o);
		}
		busy += s->busy;
	}
	return r < 0 ? r : busy;
}

static int slot_hear(struct driving *d, struct slot *s)
{
	char line[400], died[80];
	const char *word, *words = "";
	int r = worker_hear(&s->w, line, sizeof(line), died);

	if (r == 0)
		return 0;
	if (r < 0)
		return s->busy ? attempt_over(d, s, died, "") : 0;
	if (!s->busy || strncmp(line, s->now.all, strlen(s->now.all)) != 0)
		return 0;
	word = line + strlen(s->now.all);
	word += *word == ' ';
	if (!strncmp(word, "unable ", 7))
		words = word + 7;
	else if (strchr(word, ' ') && strchr(word, ' ')[1])
		tell(d, DRIVE_NOTE, NULL, strchr(word, ' ') + 1, 0, NAN);
	return attempt_over(d, s, NULL, words);
}

/* ---- the loop ---- */

static void signals_take(struct driving *d)
{
	int sig = *d->o->interrupt;

	if (!sig)
		return;
	*d->o->interrupt = 0;
	if (d->drains || sig == SIGTERM) {
		d->stops = true;
		d->signal = sig;
		for (size_t i = 0; i < d->slots.nr; i++)
			if (d->slots.v[i].busy)
				worker_signal(&d->slots.v[i].w, SIGINT);
	}
	d->drains = true;
	tell(d, DRIVE_DRAINS, NULL,
	     d->stops ? "runs are ended" : "no further run begins; once more ends those that run", 0,
	     NAN);
}

static int64_t sleep_ns(const struct driving *d, int64_t until)
{
	int64_t now = clock_monotonic_ns(), ns = until == INT64_MAX ? -1 : until - now;

	if (until != INT64_MAX && ns < 0)
		ns = 0;
	if (d->o->ticks && (ns < 0 || ns > TICK_NS))
		ns = TICK_NS;
	return ns;
}

static int slots_wait(struct driving *d, int64_t until)
{
	CLEANUP(xfreep) struct pollfd *fds = xcalloc(d->slots.nr + 1, sizeof(*fds));
	int64_t ns = sleep_ns(d, until);
	int n, r = 0;

	for (size_t i = 0; i < d->slots.nr; i++)
		fds[i] = (struct pollfd){ .fd = d->slots.v[i].busy ? d->slots.v[i].w.out : -1,
					  .events = POLLIN };
	/* a signal between the look at it and this call is seen a second later */
	if (ns < 0 || ns > 5 * NS_PER_S)
		ns = 5 * NS_PER_S;
	n = poll(fds, d->slots.nr, (int)((ns + NS_PER_MS - 1) / NS_PER_MS));
	if (n == 0 && d->o->ticks)
		tell(d, DRIVE_TICK, NULL, "", 0, NAN);
	for (size_t i = 0; n > 0 && i < d->slots.nr && r == 0; i++)
		if (fds[i].revents)
			r = slot_hear(d, &d->slots.v[i]);
	return r;
}

static int runs_make(struct driving *d)
{
	for (;;) {
		int64_t until = INT64_MAX;
		int busy, r;

		signals_take(d);
		busy = slots_fill(d, &until);
		if (busy < 0)
			return busy;
		if (busy == 0 && (d->drains || until == INT64_MAX))
			return 0;
		r = slots_wait(d, until);
		if (r < 0)
			return r;
	}
}

static void slots_close(struct driving *d)
{
	for (size_t i = 0; i < d->slots.nr; i++)
		worker_end(&d->slots.v[i].w);
	VEC_RELEASE(&d->slots);
}

int campaign_drive(struct campaign_job *j, const struct drive_opts *o, struct drive_outcome *ret,
		   struct err *err)
{
	struct driving d = { .j = j, .o = o, .begin_ns = clock_monotonic_ns(), .err = err };
	size_t slots = j->file.slots ? j->file.slots->nr : 1;
	int r = settle(&d);

	groups_make(&d);
	groups_begun(&d);
	for (size_t i = 0; i < slots; i++)
		VEC_PUSH(&d.slots, ((struct slot){ .w = WORKER_INIT, .group = SIZE_MAX }));
	campaign_count(j, &d.count, NULL);
	if (r == 0)
		r = runs_make(&d);
	slots_close(&d);
	campaign_count(j, ret, NULL);
	ret->drained = d.drains || (ret->left && budget_over(&d));
	ret->signal = d.signal;
	order_release(&d.order);
	VEC_RELEASE(&d.groups);
	return r;
}
