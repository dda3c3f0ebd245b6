/*
 * The runs of a campaign on this machine: a worker for each slot.
 *
 * A cool-down that waits for the machine (steady.h) has one slot: it is not idle beside others. The
 * idle machine is learnt before the first run, unless the journal has it of this boot.
 */
#include "campaign_drive.h"
#include "drive_priv.h"
#include "worker.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/devices/devices.h"

#define DEAD_MAX 3 /* workers in a row that die without a trace of a run */

struct slot {
	struct worker w;
	bool busy, used; /* used: something ran in it */
	bool cooling;
	int64_t cool_until; /* CLOCK_MONOTONIC */
	size_t group;       /* SIZE_MAX: none */
	struct driven now;
};

struct local {
	struct driving *d;
	VEC(struct slot) slots;
	unsigned dead;
	struct steady *steady; /* NULL: a cool-down is a time */
	bool learnt;           /* what the idle machine is like */
	bool limit;            /* the last pause ended at its limit */
	bool limit_said;
};

/* ---- which run is next ---- */

/* The slot's own block first, then one that was begun, then a new one. */
static const struct order_run *slot_next(struct local *l, struct slot *s, int64_t now,
					 int64_t *ret_wait)
{
	struct driving *d = l->d;
	const struct order_run *o = NULL;
	bool over = drive_budget_over(d);

	if (s->group != SIZE_MAX) {
		o = drive_group_next(d, &d->groups.v[s->group], now, ret_wait);
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
			o = drive_group_next(d, g, now, ret_wait);
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

/* ---- slots ---- */

/* Not by us. Whatever it was, the run begins again a little later, and not for ever. */
static void interruption_explain(const struct local *l, const struct slot *s,
				 struct attempt_outcome *o, const char *worker_died,
				 const char *answer)
{
	CLEANUP(xfreep) char *log = NULL;
	char words[200];

	o->class = ATTEMPT_INFRASTRUCTURE;
	if (worker_died)
		snprintf(o->reason, sizeof(o->reason), "the process of the run ended: %s",
			 worker_died);
	else if (!o->found && *answer)
		snprintf(o->reason, sizeof(o->reason), "%s", answer);
	else if (!o->found) {
		log = xasprintf("%s/logs/%s.log", l->d->j->dir, s->now.name.all);
		attempt_last_words(log, "", words);
		snprintf(o->reason, sizeof(o->reason), "%s",
			 *words ? words : "it left no run.json, and printed nothing");
	}
}

static int attempt_over(struct local *l, struct slot *s, const char *worker_died,
			const char *answer)
{
	struct driving *d = l->d;
	struct attempt_outcome o;
	int r;

	attempt_judge(&d->j->where, &s->now.name, &o);
	drive_sweep(d, &s->now.name, &o);
	drive_commit(d, &s->now.name, &o);
	if (!d->stops && o.class == ATTEMPT_INTERRUPTED)
		interruption_explain(l, s, &o, worker_died, answer);
	l->dead = worker_died && !o.found ? l->dead + 1 : 0;
	s->busy = false;
	s->used = true;
	s->cool_until = clock_monotonic_ns() + (int64_t)(d->j->file.cooldown_s * 1e9);
	if (l->steady)
		steady_begin(l->steady, clock_monotonic_ns());
	r = drive_over(d, &s->now, &o);
	if (r == 0 && l->dead >= DEAD_MAX)
		r = err_set(d->err, EIO, "workers end before they begin a run: %s", worker_died);
	return r;
}

static int slot_begin(struct local *l, struct slot *s, const struct order_run *o)
{
	struct driving *d = l->d;
	struct campaign_job *j = d->j;
	int r;

	r = drive_intend(d, o, l->limit, &s->now);
	l->limit = false;
	if (r == 0 && !worker_lives(&s->w))
		r = worker_start(&s->w, d->o->program, j->dir, (size_t)(s - l->slots.v), d->err);
	if (r < 0)
		return r;
	s->busy = true;
	drive_tell(d, DRIVE_BEGINS, &s->now, "", 0, NAN);
	/* a worker that is gone is seen by its end */
	worker_give(&s->w, s->now.name.all);
	return 0;
}

/* ---- cool-downs ---- */

/* Once: what a pause waits for, or that it is a time after all. */
static void steady_say(struct local *l)
{
	struct driving *d = l->d;
	const struct steady_reading idle = steady_idle(l->steady);
	char what[160], words[120], text[400];

	steady_words(&idle, words, sizeof(words));
	if (*words && steady_looks_at(l->steady, what, sizeof(what)))
		snprintf(text, sizeof(text), "cool-downs wait for %s: %s before the first run",
			 what, words);
	else
		snprintf(text, sizeof(text),
			 "neither a temperature nor a power can be read here: cool-downs are %g s",
			 d->j->file.cooldown_s);
	drive_tell(d, DRIVE_NOTE, NULL, text, 0, NAN);
	if (*words)
		return;
	steady_free(l->steady);
	l->steady = NULL;
}

static json_t *number_or_null(double v)
{
	return isnan(v) ? json_null() : json_real(v);
}

static int steady_note(struct local *l, const struct steady_reading *r)
{
	return campaign_job_note(l->d->j, "idle", NULL, 0,
				 json_pack("{s:o, s:o, s:o}", "temperature_c",
					   number_or_null(r->temperature_c), "power_w",
					   number_or_null(r->power_w), "gpu_power_w",
					   number_or_null(r->gpu_power_w)),
				 l->d->err);
}

/* 1: the idle machine is known; 0: not before *ret_wait. */
static int steady_ready(struct local *l, int64_t now, int64_t *ret_wait)
{
	const struct campaign_state *st = &l->d->j->state;
	struct steady_reading idle;
	int r = 0;

	if (!l->steady || l->learnt)
		return 1;
	if (st->idle_boot && !strcmp(st->idle_boot, journal_boot(l->d->j->journal))) {
		const struct steady_reading was = { st->idle_c, st->idle_w, st->idle_gpu_w };

		steady_set_idle(l->steady, &was);
	} else if (!steady_learn(l->steady, now)) {
		*ret_wait = steady_next_ns(l->steady);
		return 0;
	} else {
		idle = steady_idle(l->steady);
		if (!isnan(idle.temperature_c) || !isnan(idle.power_w) || !isnan(idle.gpu_power_w))
			r = steady_note(l, &idle);
	}
	l->learnt = true;
	steady_say(l);
	return r < 0 ? r : 1;
}

/* Once: later ones are in the journal, and in the count at the end. */
static void limit_say(struct local *l)
{
	const struct steady_reading now = steady_now(l->steady);
	char words[120], text[300];

	l->limit = true;
	if (l->limit_said)
		return;
	l->limit_said = true;
	steady_words(&now, words, sizeof(words));
	snprintf(text, sizeof(text),
		 "a cool-down ended at its limit of %g s (%s): the next run begins all the same",
		 l->d->j->file.steady_rule.limit_s, *words ? words : "nothing can be read");
	drive_tell(l->d, DRIVE_NOTE, NULL, text, 0, NAN);
}

/* Whether the machine has to be waited for, once the time is over. */
static bool machine_cools(struct local *l, const struct slot *s, int64_t now, int64_t *ret_wait)
{
	enum steady_state state;

	if (!l->steady)
		return false;
	state = steady_poll(l->steady, now);
	if (state == STEADY_WAITS) {
		if (steady_next_ns(l->steady) < *ret_wait)
			*ret_wait = steady_next_ns(l->steady);
		return true;
	}
	if (state == STEADY_LIMIT && s->cool_until <= now && !l->limit && s->cooling)
		limit_say(l);
	return false;
}

/* A pause is between runs: none follows the last one. */
static bool run_follows(struct local *l, const struct slot *s, int64_t now)
{
	struct driving *d = l->d;
	bool over = drive_budget_over(d);

	for (size_t i = 0; i < d->groups.nr; i++) {
		struct group *g = &d->groups.v[i];
		int64_t wait = INT64_MAX;

		if ((g->taken && i != s->group) || (!g->begun && over))
			continue;
		if (drive_group_next(d, g, now, &wait) || wait != INT64_MAX)
			return true;
	}
	return false;
}

/* Whether it has to wait, and until when. */
static bool slot_cools(struct local *l, struct slot *s, int64_t now, int64_t *ret_wait)
{
	int64_t wait = INT64_MAX;
	bool cools;

	if (!s->used || !run_follows(l, s, now))
		return false;
	cools = machine_cools(l, s, now, &wait);
	if (s->cool_until > now) {
		cools = true;
		wait = s->cool_until < wait ? s->cool_until : wait;
	}
	if (cools && !s->cooling)
		drive_tell(l->d, DRIVE_COOLS, NULL,
			   l->steady ? "then until the machine is idle" : "",
			   fmax(0, (double)(s->cool_until - now) / 1e9), NAN);
	s->cooling = cools;
	*ret_wait = wait < *ret_wait ? wait : *ret_wait;
	return cools;
}

/* Begins what can; returns how many slots are busy. */
static int slots_fill(struct local *l, int64_t *ret_wait)
{
	struct driving *d = l->d;
	int64_t now = clock_monotonic_ns();
	int busy = 0, r = l->d->drains ? 1 : steady_ready(l, now, ret_wait);

	if (r <= 0)
		return r;
	r = 0;
	for (size_t i = 0; i < l->slots.nr && r == 0; i++) {
		struct slot *s = &l->slots.v[i];

		if (!s->busy && !d->drains && !slot_cools(l, s, now, ret_wait)) {
			const struct order_run *o = slot_next(l, s, now, ret_wait);

			if (o)
				r = slot_begin(l, s, o);
		}
		busy += s->busy;
	}
	return r < 0 ? r : busy;
}

static int slot_hear(struct local *l, struct slot *s)
{
	struct driving *d = l->d;
	char line[400], died[80];
	const char *word, *words = "";
	int r = worker_hear(&s->w, line, sizeof(line), died);

	if (r == 0)
		return 0;
	if (r < 0)
		return s->busy ? attempt_over(l, s, died, "") : 0;
	if (!s->busy || strncmp(line, s->now.name.all, strlen(s->now.name.all)) != 0)
		return 0;
	word = line + strlen(s->now.name.all);
	word += *word == ' ';
	if (!strncmp(word, "unable ", 7))
		words = word + 7;
	else if (strchr(word, ' ') && strchr(word, ' ')[1])
		drive_tell(d, DRIVE_NOTE, NULL, strchr(word, ' ') + 1, 0, NAN);
	return attempt_over(l, s, NULL, words);
}

/* ---- the loop ---- */

static int slots_wait(struct local *l, int64_t until)
{
	CLEANUP(xfreep) struct pollfd *fds = xcalloc(l->slots.nr + 1, sizeof(*fds));
	int64_t ns = drive_sleep_ns(l->d, until);
	int n, r = 0;

	for (size_t i = 0; i < l->slots.nr; i++)
		fds[i] = (struct pollfd){ .fd = l->slots.v[i].busy ? l->slots.v[i].w.out : -1,
					  .events = POLLIN };
	n = poll(fds, l->slots.nr, (int)((ns + NS_PER_MS - 1) / NS_PER_MS));
	if (n == 0 && l->d->o->ticks)
		drive_tell(l->d, DRIVE_TICK, NULL, "", 0, NAN);
	for (size_t i = 0; n > 0 && i < l->slots.nr && r == 0; i++)
		if (fds[i].revents)
			r = slot_hear(l, &l->slots.v[i]);
	return r;
}

static void runs_stop(struct local *l)
{
	for (size_t i = 0; i < l->slots.nr; i++)
		if (l->slots.v[i].busy)
			worker_signal(&l->slots.v[i].w, SIGINT);
}

static int runs_make(struct local *l)
{
	for (;;) {
		int64_t until = INT64_MAX;
		int busy, r;

		if (drive_signals_take(l->d) && l->d->stops)
			runs_stop(l);
		busy = slots_fill(l, &until);
		if (busy < 0)
			return busy;
		if (busy == 0 && (l->d->drains || until == INT64_MAX))
			return 0;
		r = slots_wait(l, until);
		if (r < 0)
			return r;
	}
}

int drive_local(struct driving *d)
{
	struct local l = { .d = d };
	int r;

	d->places = d->j->file.slots ? d->j->file.slots->nr : 1;
	for (size_t i = 0; i < d->places; i++)
		VEC_PUSH(&l.slots, ((struct slot){ .w = WORKER_INIT, .group = SIZE_MAX }));
	if (d->j->file.steady)
		l.steady =
			steady_new(devices_root(), &d->j->file.steady_rule, clock_monotonic_ns());
	r = runs_make(&l);
	if (r < 0)
		runs_stop(&l);
	for (size_t i = 0; i < l.slots.nr; i++)
		worker_end(&l.slots.v[i].w);
	VEC_RELEASE(&l.slots);
	steady_free(l.steady);
	return r;
}
