/*
 * The runs of a campaign by a scheduler: jobs of attempts, handed over in submissions that have a
 * nonce, and judged by what they leave.
 */
#include "campaign_drive.h"
#include "drive_priv.h"
#include "job_views.h"
#include "scheduler.h"
#include "slurm_settings.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"

#define AGAIN_NS (30 * NS_PER_S) /* a submission that could not be queued */
#define JOBS_MAX 500             /* of a submission, beside what the scheduler allows */

struct job {
	VEC(struct driven) attempts;
	struct strvec names;
	bool over;
	bool told_queued, told; /* told: that it runs */
};

struct submission {
	char nonce[SCHED_NONCE_MAX + 1];
	VEC(struct job) jobs;
	bool known; /* the journal has that it was queued */
	bool cancelled;
	int64_t again_ns; /* CLOCK_MONOTONIC: when it is handed over again; 0: it need not */
};

struct by_scheduler {
	struct driving *d;
	const struct scheduler *how;
	struct sched *s;
	struct slurm_settings slurm;
	VEC(struct submission) subs;
	size_t open; /* jobs that are not over */
	char trouble[200];
	struct job_waits waits;
};

/* ---- jobs ---- */

static void job_release(struct job *j)
{
	VEC_RELEASE(&j->attempts);
	strvec_release(&j->names);
}

static void submission_release(struct submission *s)
{
	for (size_t i = 0; i < s->jobs.nr; i++)
		job_release(&s->jobs.v[i]);
	VEC_RELEASE(&s->jobs);
}

static struct submission *submission_find(struct by_scheduler *b, const char *nonce)
{
	for (size_t i = 0; i < b->subs.nr; i++)
		if (!strcmp(b->subs.v[i].nonce, nonce))
			return &b->subs.v[i];
	return NULL;
}

static void nonce_make(char ret[SCHED_NONCE_MAX + 1])
{
	uint64_t bits[2] = { (uint64_t)clock_realtime_ns(), (uint64_t)getpid() };

	if (getrandom(bits, sizeof(bits), GRND_NONBLOCK) != (ssize_t)sizeof(bits))
		bits[1] ^= (uint64_t)clock_monotonic_ns();
	snprintf(ret, SCHED_NONCE_MAX + 1, "%016llx%08llx", (unsigned long long)bits[0],
		 (unsigned long long)bits[1] & 0xffffffffu);
}

static json_t *names_json(const struct submission *s, bool flat)
{
	json_t *all = json_array();

	for (size_t i = 0; i < s->jobs.nr; i++) {
		json_t *to = flat ? all : json_array();

		for (size_t k = 0; k < s->jobs.v[i].names.nr; k++)
			json_array_append_new(to, json_string(s->jobs.v[i].names.v[k]));
		if (!flat)
			json_array_append_new(all, to);
	}
	return all;
}

/* Owned list; the attempts are borrowed. */
static struct sched_job *jobs_of(const struct submission *s)
{
	struct sched_job *jobs = xcalloc(s->jobs.nr + 1, sizeof(*jobs));

	for (size_t i = 0; i < s->jobs.nr; i++)
		jobs[i].attempts = s->jobs.v[i].names.v;
	return jobs;
}

/* ---- handing over ---- */

/* Up to `pack` runs of one block; false: none may begin now. */
static int job_fill(struct by_scheduler *b, struct group *g, int64_t now, int64_t *ret_wait,
		    struct job *ret)
{
	const struct order_run *o;
	int r = 0;

	while (ret->attempts.nr < (size_t)b->slurm.pack && r == 0 &&
	       (o = drive_group_next(b->d, g, now, ret_wait))) {
		struct driven a;

		r = drive_intend(b->d, o, false, &a);
		if (r < 0)
			break;
		VEC_PUSH(&ret->attempts, a);
		strvec_push(&ret->names, a.name.all);
	}
	return r;
}

static size_t room(const struct by_scheduler *b)
{
	size_t most = b->how->submission_max(b->s);
	size_t left = b->open < (size_t)b->slurm.max_jobs ? (size_t)b->slurm.max_jobs - b->open : 0;

	most = most < JOBS_MAX ? most : JOBS_MAX;
	return most < left ? most : left;
}

static int submission_note(struct by_scheduler *b, struct submission *s)
{
	return campaign_job_note(b->d->j, "submit", NULL, 0,
				 json_pack("{s:s, s:o, s:o}", "name", s->nonce, "runs",
					   names_json(s, true), "jobs", names_json(s, false)),
				 b->d->err);
}

static int submission_give(struct by_scheduler *b, struct submission *s)
{
	CLEANUP(xfreep) struct sched_job *jobs = jobs_of(s);

	return b->how->submit(b->s, s->nonce, jobs, s->jobs.nr, b->d->err);
}

static void begins_tell(const struct by_scheduler *b, const struct job *j)
{
	for (size_t i = 0; i < j->attempts.nr; i++)
		drive_tell(b->d, DRIVE_BEGINS, &j->attempts.v[i], "", 0, NAN);
}

/* What may begin now, as one submission. */
static int runs_submit(struct by_scheduler *b, int64_t *ret_wait)
{
	int64_t now = clock_monotonic_ns();
	struct submission s = { .known = false };
	size_t most = room(b);
	int r = 0;

	for (size_t i = 0; i < b->d->groups.nr && r == 0; i++) {
		struct group *g = &b->d->groups.v[i];

		while (r == 0 && s.jobs.nr < most && (g->begun || !drive_budget_over(b->d))) {
			struct job j = { .names = STRVEC_INIT };

			r = job_fill(b, g, now, ret_wait, &j);
			if (!j.attempts.nr) {
				job_release(&j);
				break;
			}
			b->d->groups_begun += !g->begun;
			g->begun = true;
			VEC_PUSH(&s.jobs, j);
		}
	}
	if (r < 0 || !s.jobs.nr) {
		submission_release(&s);
		return r;
	}
	nonce_make(s.nonce);
	r = submission_note(b, &s);
	if (r == 0)
		r = submission_give(b, &s);
	for (size_t i = 0; i < s.jobs.nr; i++)
		begins_tell(b, &s.jobs.v[i]);
	b->open += s.jobs.nr;
	VEC_PUSH(&b->subs, s);
	return r;
}

/*
 * What a scheduler that is down or full did not take never began: that is no failed attempt,
 * however long it takes.
 */
static void again_soon(struct by_scheduler *b, struct submission *s, const struct sched_view *v)
{
	CLEANUP(xfreep) char *text = NULL;

	if (s->again_ns)
		return;
	s->again_ns = clock_monotonic_ns() + AGAIN_NS;
	text = xasprintf("%s: %zu %s handed over again in %d s", v->reason, s->jobs.nr,
			 s->jobs.nr == 1 ? "job is" : "jobs are", (int)(AGAIN_NS / NS_PER_S));
	drive_tell(b->d, DRIVE_NOTE, NULL, text, 0, NAN);
}

static int submissions_again(struct by_scheduler *b, int64_t *ret_wait)
{
	int64_t now = clock_monotonic_ns();
	int r = 0;

	for (size_t i = 0; i < b->subs.nr && r == 0; i++) {
		struct submission *s = &b->subs.v[i];

		if (!s->again_ns)
			continue;
		if (s->again_ns > now) {
			*ret_wait = s->again_ns < *ret_wait ? s->again_ns : *ret_wait;
			continue;
		}
		s->again_ns = 0;
		r = submission_give(b, s);
	}
	return r;
}

/* ---- what became of them ---- */

static int job_over(struct by_scheduler *b, struct job *j, const struct sched_view *v)
{
	size_t nr = j->attempts.nr;
	CLEANUP(xfreep) struct attempt_outcome *o = xcalloc(nr + 1, sizeof(*o));
	CLEANUP(xfreep) char *log = b->how->log(b->s, v->nonce, v->task);
	bool node = false;
	int r = 0;

	j->over = true;
	b->open--;
	job_outcomes(&b->d->j->where, v, log, b->d->stops, j->attempts.v, nr, o);
	for (size_t i = 0; i < nr && r == 0; i++) {
		node |= o[i].class == ATTEMPT_INFRASTRUCTURE && o[i].found;
		drive_commit(b->d, &j->attempts.v[i].name, &o[i]);
		r = drive_over(b->d, &j->attempts.v[i], &o[i]);
	}
	/* a job that the scheduler has ended is its own matter */
	if (node && v->class != SCHED_INFRASTRUCTURE)
		b->how->blame(b->s, v->node);
	return r;
}

static int submitted_note(struct by_scheduler *b, struct submission *s, const struct sched_view *v)
{
	s->known = true;
	return campaign_job_note(b->d->j, "submitted", NULL, 0,
				 json_pack("{s:s, s:s, s:o}", "name", s->nonce, "job", v->job,
					   "runs", names_json(s, true)),
				 b->d->err);
}

/* Copies, as the views are gone with the next call. */
struct seen {
	char nonce[SCHED_NONCE_MAX + 1], job[64], word[64], reason[160], node[64];
	struct sched_view v;
};

static void seen_take(struct seen *to, const struct sched_view *v)
{
	to->v = *v;
	snprintf(to->nonce, sizeof(to->nonce), "%s", v->nonce);
	snprintf(to->job, sizeof(to->job), "%s", v->job);
	snprintf(to->word, sizeof(to->word), "%s", v->word);
	snprintf(to->reason, sizeof(to->reason), "%s", v->reason);
	snprintf(to->node, sizeof(to->node), "%s", v->node);
	to->v.nonce = to->nonce;
	to->v.job = to->job;
	to->v.word = to->word;
	to->v.reason = to->reason;
	to->v.node = to->node;
}

static void running_tell(struct by_scheduler *b, struct job *j, const struct sched_view *v)
{
	CLEANUP(xfreep) char *text = NULL;

	if (j->told)
		return;
	j->told = true;
	text = xasprintf("job %s runs on %s", v->job, *v->node ? v->node : "a node");
	drive_tell(b->d, DRIVE_NOTE, NULL, text, 0, NAN);
	for (size_t i = 0; i < j->attempts.nr; i++)
		j->attempts.v[i].begun_ns = clock_monotonic_ns();
}

/* Once; what it waits for is said by waits_tell. */
static void queued_tell(struct by_scheduler *b, const struct sched_view *v)
{
	struct submission *s = submission_find(b, v->nonce);
	struct job *j = s && v->task < s->jobs.nr ? &s->jobs.v[v->task] : NULL;
	CLEANUP(xfreep) char *text = NULL;

	if (!j || j->over || !*v->job || j->told_queued || v->stuck)
		return;
	text = xasprintf("job %s is queued", v->job);
	j->told_queued = true;
	drive_tell(b->d, DRIVE_NOTE, NULL, text, 0, NAN);
}

static int view_take(struct by_scheduler *b, struct seen *e)
{
	struct submission *s = submission_find(b, e->nonce);
	const struct sched_view *v = &e->v;
	struct job *j;
	int r = 0;

	if (!s || v->task >= s->jobs.nr)
		return 0;
	j = &s->jobs.v[v->task];
	if (j->over)
		return 0;
	if (!s->known && v->state != SCHED_SUBMITTING && v->state != SCHED_REFUSED)
		r = submitted_note(b, s, v);
	if (r < 0)
		return r;
	switch (v->state) {
	case SCHED_RUNNING:
		running_tell(b, j, v);
		return 0;
	case SCHED_REFUSED:
		if (v->later && !b->d->drains && !s->cancelled) {
			again_soon(b, s, v);
			return 0;
		}
		return job_over(b, j, v);
	case SCHED_ENDED:
	case SCHED_LOST:
		return job_over(b, j, v);
	default:
		return 0;
	}
}

static void waits_tell(struct by_scheduler *b, const struct sched_view *v, size_t nr)
{
	char *text;

	while (!b->d->drains && (text = job_waits_next(&b->waits, v, nr))) {
		drive_tell(b->d, DRIVE_NOTE, NULL, text, 0, NAN);
		free(text);
	}
}

static int views_take(struct by_scheduler *b)
{
	const struct sched_view *v;
	size_t nr = b->how->views(b->s, &v), n = 0;
	CLEANUP(xfreep) struct seen *all = xcalloc(nr + 1, sizeof(*all));
	int r = 0;

	waits_tell(b, v, nr);
	for (size_t i = 0; i < nr; i++)
		if (v[i].state == SCHED_PENDING)
			queued_tell(b, &v[i]);
		else if (v[i].state != SCHED_SUBMITTING)
			seen_take(&all[n++], &v[i]);
	for (size_t i = 0; i < n && r == 0; i++)
		r = view_take(b, &all[i]);
	return r;
}

static void trouble_tell(struct by_scheduler *b)
{
	const char *t = b->how->trouble(b->s);

	if (*t && strcmp(t, b->trouble) != 0)
		drive_tell(b->d, DRIVE_NOTE, NULL, t, 0, NAN);
	snprintf(b->trouble, sizeof(b->trouble), "%s", t);
}

/* ---- what an earlier process submitted ---- */

static uint32_t cell_place(const struct campaign_plan *p, const char *id)
{
	for (uint32_t i = 0; i < p->cells.nr; i++)
		if (!strcmp(p->cells.v[i].id, id))
			return i;
	return CELL_NONE;
}

/* False: it has ended, or it is of an older plan. */
static bool attempt_is_open(struct by_scheduler *b, const char *text, struct driven *ret)
{
	const struct run_state *run;

	*ret = (struct driven){ .begun_ns = clock_monotonic_ns() };
	if (!attempt_name_parse(text, &ret->name) || !ret->name.number)
		return false;
	run = campaign_state_find(&b->d->j->state, ret->name.run);
	ret->cell = cell_place(&b->d->j->plan, ret->name.cell);
	return run && run->open == ret->name.number && ret->cell != CELL_NONE;
}

/* Tasks keep their places; those whose attempts have all ended are over. */
static int submission_adopt(struct by_scheduler *b, const struct state_submission *was)
{
	struct submission s = { .known = was->known, .cancelled = was->cancelled };
	CLEANUP(xfreep) struct sched_job *jobs = NULL;
	const json_t *job, *one;
	size_t i, k, open = 0;
	int r;

	if (!sched_name_ok(was->nonce, SCHED_NONCE_MAX))
		return 0;
	snprintf(s.nonce, sizeof(s.nonce), "%s", was->nonce);
	json_array_foreach(was->jobs, i, job)
	{
		struct job j = { .names = STRVEC_INIT };
		struct driven a;

		json_array_foreach(job, k, one)
		{
			if (!json_is_string(one))
				continue;
			strvec_push(&j.names, json_string_value(one));
			if (attempt_is_open(b, json_string_value(one), &a))
				VEC_PUSH(&j.attempts, a);
		}
		j.over = j.attempts.nr == 0;
		open += !j.over;
		VEC_PUSH(&s.jobs, j);
	}
	if (!open) {
		submission_release(&s);
		return 0;
	}
	jobs = jobs_of(&s);
	r = b->how->adopt(b->s, s.nonce, jobs, s.jobs.nr, s.known, was->t_ns, b->d->err);
	if (r == 0 && s.cancelled)
		b->how->cancelled(b->s, s.nonce, SCHED_ALL);
	for (i = 0; r == 0 && i < s.jobs.nr; i++)
		b->d->running += s.jobs.v[i].attempts.nr;
	b->open += open;
	VEC_PUSH(&b->subs, s);
	return r;
}

static int submissions_adopt(struct by_scheduler *b)
{
	const struct campaign_state *s = &b->d->j->state;
	int r = 0;

	for (size_t i = 0; i < s->submissions.nr && r == 0; i++)
		r = submission_adopt(b, &s->submissions.v[i]);
	return r;
}

/* ---- the loop ---- */

static int jobs_stop(struct by_scheduler *b)
{
	int r = 0;

	for (size_t i = 0; i < b->subs.nr && r == 0; i++) {
		struct submission *s = &b->subs.v[i];
		bool open = false;

		for (size_t k = 0; k < s->jobs.nr; k++)
			open |= !s->jobs.v[k].over;
		if (!open || s->cancelled)
			continue;
		s->cancelled = true;
		b->how->cancel(b->s, s->nonce, SCHED_ALL);
		r = campaign_job_note(b->d->j, "cancelled", NULL, 0,
				      json_pack("{s:s}", "name", s->nonce), b->d->err);
	}
	return r;
}

static int runs_make(struct by_scheduler *b)
{
	for (;;) {
		int64_t until = INT64_MAX, ns;
		int ms = 0, r = 0;
		bool idle;

		if (drive_signals_take(b->d) && b->d->stops)
			r = jobs_stop(b);
		if (r == 0 && !b->d->drains)
			r = runs_submit(b, &until);
		if (r == 0 && !b->d->drains)
			r = submissions_again(b, &until);
		/* jobs that end below may make room for others */
		idle = b->open == 0 && until == INT64_MAX;
		if (r == 0)
			ms = b->how->step(b->s);
		if (r == 0)
			r = views_take(b);
		if (r < 0)
			return r;
		trouble_tell(b);
		if (b->open == 0 && (b->d->drains || idle))
			return 0;
		ns = drive_sleep_ns(b->d, until);
		if (ms >= 0 && (int64_t)ms * NS_PER_MS < ns)
			ns = (int64_t)ms * NS_PER_MS;
		poll(NULL, 0, (int)((ns + NS_PER_MS - 1) / NS_PER_MS));
		if (b->d->o->ticks)
			drive_tell(b->d, DRIVE_TICK, NULL, "", 0, NAN);
	}
}

static bool settled(void *ctx, const char *attempt)
{
	const struct by_scheduler *b = ctx;

	return sched_settled(b->d->j->dir, attempt, slurm_run_nodes(&b->slurm));
}

static int scheduler_open(struct by_scheduler *b, const char *program)
{
	const struct campaign_file *f = &b->d->j->file;
	struct sched_opts o = { .dir = b->d->j->dir,
				.name = f->name,
				.program = b->slurm.program ? b->slurm.program : program,
				.settled = settled,
				.ctx = b,
				.slurm = &b->slurm };

	b->how = scheduler_find(f->scheduler);
	if (!b->how)
		return err_set(b->d->err, EINVAL, "no scheduler '%s'", f->scheduler);
	return b->how->open(&o, &b->s, b->d->err);
}

int drive_scheduler(struct driving *d)
{
	struct by_scheduler b = { .d = d };
	struct problems problems = PROBLEMS_INIT;
	CLEANUP(xfreep) char *self = fs_self_dir();
	CLEANUP(xfreep) char *program = fs_join(self, "profrig");
	int r = 0;

	slurm_settings_init(&b.slurm);
	slurm_settings_read(cfg_get(d->j->file.tree.root, "slurm"), &b.slurm, &problems);
	if (problems.lines.nr)
		r = err_set(d->err, EINVAL, "%s", problems.lines.v[0]);
	if (r == 0)
		r = scheduler_open(&b, program);
	if (r == 0)
		r = submissions_adopt(&b);
	d->places = 1;
	if (r == 0)
		r = runs_make(&b);
	if (b.s)
		b.how->close(b.s);
	for (size_t i = 0; i < b.subs.nr; i++)
		submission_release(&b.subs.v[i]);
	VEC_RELEASE(&b.subs);
	job_waits_release(&b.waits);
	slurm_settings_release(&b.slurm);
	problems_release(&problems);
	return r;
}
