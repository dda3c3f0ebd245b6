#include "campaign_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

static const char *const class_names[] = { "ok", "infrastructure", "workload", "invalid",
					   "interrupted" };

const char *attempt_class_name(enum attempt_class c)
{
	return class_names[c];
}

bool attempt_class_parse(const char *name, enum attempt_class *ret)
{
	for (int i = 0; i <= ATTEMPT_INTERRUPTED; i++)
		if (!strcmp(class_names[i], name)) {
			*ret = (enum attempt_class)i;
			return true;
		}
	return false;
}

void campaign_state_init(struct campaign_state *s)
{
	*s = (struct campaign_state){ .names = intern_new() };
}

static void files_clear(struct campaign_state *s)
{
	for (size_t i = 0; i < s->files.nr; i++) {
		free(s->files.v[i].path);
		free(s->files.v[i].copy);
	}
	s->files.nr = 0;
}

void campaign_state_release(struct campaign_state *s)
{
	for (size_t i = 0; i < s->submissions.nr; i++) {
		free(s->submissions.v[i].nonce);
		json_decref(s->submissions.v[i].jobs);
	}
	VEC_RELEASE(&s->submissions);
	VEC_RELEASE(&s->superseded);
	files_clear(s);
	VEC_RELEASE(&s->files);
	VEC_RELEASE(&s->runs);
	intern_free(s->names);
	free(s->dir);
	free(s->cwd);
	free(s->plan);
	free(s->idle_boot);
	*s = (struct campaign_state){ 0 };
}

/* Ids begin at 1, as 0 is the empty text. */
struct run_state *campaign_state_run(struct campaign_state *s, const char *run)
{
	size_t at = intern_puts(s->names, run);

	if (at > s->runs.nr)
		VEC_PUSH(&s->runs,
			 ((struct run_state){ .name = intern_str(s->names, (str_id)at) }));
	return at ? &s->runs.v[at - 1] : NULL;
}

const struct run_state *campaign_state_find(const struct campaign_state *s, const char *run)
{
	str_id at = intern_find(s->names, run, strlen(run));

	return at == STR_NONE || at == 0 ? NULL : &s->runs.v[at - 1];
}

static const char *text_at(const json_t *doc, const char *key)
{
	const char *s = json_string_value(json_object_get(doc, key));

	return s ? s : "";
}

static void text_set(char **to, const char *s)
{
	free(*to);
	*to = *s ? xstrdup(s) : NULL;
}

static void opened(struct campaign_state *s, const json_t *all)
{
	const json_t *f;
	size_t i;

	text_set(&s->dir, text_at(all, "dir"));
	text_set(&s->cwd, text_at(all, "cwd"));
	files_clear(s);
	json_array_foreach(json_object_get(all, "files"), i, f) VEC_PUSH(
		&s->files,
		((struct state_file){ xstrdup(text_at(f, "path")), xstrdup(text_at(f, "copy")) }));
}

static double number_at(const json_t *doc, const char *key)
{
	const json_t *v = json_object_get(doc, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static void idle_event(struct campaign_state *s, const struct journal_event *e)
{
	text_set(&s->idle_boot, e->boot_id ? e->boot_id : "");
	s->idle_c = number_at(e->all, "temperature_c");
	s->idle_w = number_at(e->all, "power_w");
	s->idle_gpu_w = number_at(e->all, "gpu_power_w");
}

static void submission_event(struct campaign_state *s, const struct journal_event *e)
{
	const char *nonce = text_at(e->all, "name");
	struct state_submission *known;

	if (!strcmp(e->ev, "submit")) {
		VEC_PUSH(&s->submissions,
			 ((struct state_submission){
				 .nonce = xstrdup(nonce),
				 .jobs = json_incref(json_object_get(e->all, "jobs")),
				 .t_ns = e->t_ns }));
		return;
	}
	known = VEC_FIND(&s->submissions, k, !strcmp(k->nonce, nonce));
	if (!known)
		return;
	known->known = true;
	known->cancelled |= !strcmp(e->ev, "cancelled");
}

bool campaign_state_submitted(const struct campaign_state *s, const char *run, uint32_t attempt)
{
	CLEANUP(xfreep) char *name = xasprintf("%s.%u", run, attempt);

	for (size_t i = 0; i < s->submissions.nr; i++) {
		const json_t *job, *one;
		size_t k, n;

		json_array_foreach(s->submissions.v[i].jobs, k, job) json_array_foreach(
			job, n, one) if (json_is_string(one) &&
					 !strcmp(json_string_value(one), name)) return true;
	}
	return false;
}

bool campaign_state_is_superseded(const struct campaign_state *s, const char *run, uint32_t attempt)
{
	for (size_t i = 0; i < s->superseded.nr; i++)
		if (s->superseded.v[i].attempt == attempt && !strcmp(s->superseded.v[i].run, run))
			return true;
	return false;
}

static void superseded(struct campaign_state *s, struct run_state *r, uint32_t attempt)
{
	if (campaign_state_is_superseded(s, r->name, attempt))
		return;
	VEC_PUSH(&s->superseded, ((struct state_superseded){ r->name, attempt }));
	r->superseded++;
}

static void run_ended(struct run_state *r, const struct journal_event *e)
{
	enum attempt_class c = ATTEMPT_INTERRUPTED;

	attempt_class_parse(text_at(e->all, "class"), &c);
	r->open = 0;
	r->ended_ns = e->t_ns;
	if (r->stage == RUN_OPEN)
		r->stage = RUN_LEFT;
	r->failed[c]++;
	if (c != ATTEMPT_OK)
		snprintf(r->reason, sizeof(r->reason), "%s", text_at(e->all, "reason"));
}

static void run_event(struct campaign_state *s, struct run_state *r, const struct journal_event *e)
{
	uint32_t attempt = e->attempt > 0 && e->attempt < UINT32_MAX ? (uint32_t)e->attempt : 0;

	if (!strcmp(e->ev, "intend")) {
		r->open = attempt;
		r->attempts = attempt > r->attempts ? attempt : r->attempts;
		r->begun_ns = e->t_ns;
		s->cooldown_limit += !strcmp(text_at(e->all, "cooldown"), "limit");
		if (r->stage == RUN_LEFT)
			r->stage = RUN_OPEN;
	} else if (!strcmp(e->ev, "ended")) {
		run_ended(r, e);
		s->throttled += !strcmp(text_at(e->all, "class"), "ok") &&
				json_integer_value(json_object_get(e->all, "throttled")) > 0;
	} else if (!strcmp(e->ev, "committed")) {
		r->stage = RUN_COMMITTED;
		r->committed = attempt;
		r->attempts = attempt > r->attempts ? attempt : r->attempts;
	} else if (!strcmp(e->ev, "superseded")) {
		superseded(s, r, attempt);
	} else if (!strcmp(e->ev, "failed")) {
		r->stage = RUN_GIVEN_UP;
		snprintf(r->reason, sizeof(r->reason), "%s", text_at(e->all, "reason"));
	} else if (!strcmp(e->ev, "retry")) {
		memset(r->failed, 0, sizeof(r->failed));
		if (r->stage == RUN_GIVEN_UP || r->stage == RUN_COMMITTED)
			r->stage = RUN_LEFT;
		r->committed = 0;
	}
}

int campaign_state_seen(void *ctx, const struct journal_event *e, struct err *err)
{
	struct campaign_state *s = ctx;
	struct attempt_name name;

	s->events++;
	if (!strcmp(e->ev, "concluded"))
		s->concluded = true;
	else if (!strcmp(e->ev, "committed") || !strcmp(e->ev, "plan"))
		s->concluded = false;
	if (!strcmp(e->ev, "open")) {
		opened(s, e->all);
	} else if (!strcmp(e->ev, "plan")) {
		text_set(&s->plan, text_at(e->all, "plan"));
		s->keep_old = json_is_true(json_object_get(e->all, "keep_old"));
	} else if (!strcmp(e->ev, "idle")) {
		idle_event(s, e);
	} else if (!strcmp(e->ev, "submit") || !strcmp(e->ev, "submitted") ||
		   !strcmp(e->ev, "cancelled")) {
		submission_event(s, e);
	} else if (e->run) {
		if (!attempt_name_parse(e->run, &name) || name.number)
			return err_set(err, EBADMSG, "event %llu names no run: '%.60s'",
				       (unsigned long long)e->seq, e->run);
		run_event(s, campaign_state_run(s, e->run), e);
	}
	return 0;
}
