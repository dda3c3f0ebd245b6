#include "job_views.h"

#include <string.h>

#include "profrig/base/xalloc.h"

/* ---- ends ---- */

static enum attempt_class class_of_job(const struct sched_view *v)
{
	if (v->state == SCHED_LOST || (v->class == SCHED_WORKLOAD && !strcmp(v->word, "FAILED")))
		return ATTEMPT_INFRASTRUCTURE;
	if (v->state == SCHED_REFUSED && v->later)
		return ATTEMPT_INTERRUPTED;
	switch (v->class) {
	case SCHED_WORKLOAD:
		return ATTEMPT_WORKLOAD;
	case SCHED_CANCELLED:
		return ATTEMPT_INTERRUPTED;
	default:
		return ATTEMPT_INFRASTRUCTURE;
	}
}

/* "28_3: TIMEOUT (TimeLimit)"; a job that is lost or was refused has a sentence as reason. */
static void job_words(const struct sched_view *v, char *to, size_t size)
{
	const char *reason = strcmp(v->reason, "None") != 0 ? v->reason : "";
	const char *between = *v->job ? ": " : "";

	if (v->state != SCHED_ENDED || !*v->word)
		snprintf(to, size, "%s%s%.150s", v->job, between,
			 *reason ? reason : "the job is lost");
	else if (v->class == SCHED_INFRASTRUCTURE && !strcmp(v->word, "CANCELLED") && !*reason)
		snprintf(to, size, "%s%s%s, not by this campaign", v->job, between, v->word);
	else
		snprintf(to, size, "%s%s%s%s%.100s%s", v->job, between, v->word,
			 *reason ? " (" : "", reason, *reason ? ")" : "");
}

/*
 * Where slurmd itself counts memory it kills a job with all that is in it, profrig too, and calls
 * that FAILED (JobLaunchFailure): JobAcctGatherParams=OverMemoryKill. The job's log says so.
 */
static bool job_was_too_big(const struct sched_view *v, const char *log, char said[200])
{
	*said = 0;
	if (v->state == SCHED_ENDED && !strcmp(v->word, "FAILED"))
		attempt_last_words(log, "exceeded memory limit", said);
	return *said;
}

static const char *kind_of_job(const struct sched_view *v)
{
	if (!strcmp(v->word, "TIMEOUT") || !strcmp(v->word, "DEADLINE"))
		return "timeout";
	return !strncmp(v->word, "OUT_OF_ME", 9) ? "oom" : "exit";
}

/* Of what schedulers send to all processes of a job that they end. */
static bool died_of_signal(const struct attempt_outcome *o)
{
	if (!strcmp(o->kind, "signal"))
		return !strcmp(o->signal, "SIGTERM") || !strcmp(o->signal, "SIGKILL");
	return !strcmp(o->kind, "exit") && (o->exit_code == 128 + 15 || o->exit_code == 128 + 9);
}

/* The scheduler has ended the job, and it was not for its failure. */
static bool ended_early(const struct sched_view *v)
{
	return v->state == SCHED_ENDED &&
	       (v->class == SCHED_INFRASTRUCTURE || !strcmp(kind_of_job(v), "timeout"));
}

static bool needs_job(const struct sched_view *v, const struct attempt_outcome *o, bool last,
		      bool stops)
{
	if (o->class == ATTEMPT_WORKLOAD)
		return last && ended_early(v) && died_of_signal(o);
	return o->class == ATTEMPT_INTERRUPTED &&
	       !(o->found && !o->running && !strcmp(o->state, "interrupted") && stops);
}

/* begun: an attempt of it has. */
static void end_of_job(const struct sched_view *v, const char *log, bool begun,
		       struct attempt_outcome *ret)
{
	char said[200];
	bool big = job_was_too_big(v, log, said);
	size_t n;

	ret->class = big ? ATTEMPT_WORKLOAD : class_of_job(v);
	job_words(v, ret->reason, sizeof(ret->reason));
	n = strlen(ret->reason);
	if (!big && !begun && v->state != SCHED_REFUSED)
		attempt_last_words(log, "", said);
	snprintf(ret->reason + n, sizeof(ret->reason) - n, "%s%s", *said ? ": " : "", said);
	if (begun && !ret->found) {
		ret->class = ATTEMPT_INTERRUPTED;
		snprintf(ret->reason, sizeof(ret->reason), "%s%sthe job ended before it began",
			 v->job, *v->job ? ": " : "");
	}
	ret->kind[0] = '\0';
	if (ret->class == ATTEMPT_WORKLOAD)
		snprintf(ret->kind, sizeof(ret->kind), "%s", big ? "oom" : kind_of_job(v));
	/* as the scheduler calls it */
	if (*v->node && !strpbrk(v->node, "[,"))
		snprintf(ret->node, sizeof(ret->node), "%.64s", v->node);
}

void job_outcomes(const struct attempt_where *w, const struct sched_view *v, const char *log,
		  bool stops, const struct driven *attempts, size_t nr, struct attempt_outcome *ret)
{
	size_t begun = 0;

	for (size_t i = 0; i < nr; i++) {
		attempt_judge(w, &attempts[i].name, &ret[i]);
		begun = ret[i].found ? i + 1 : begun;
	}
	for (size_t i = 0; i < nr; i++) {
		if (needs_job(v, &ret[i], i + 1 == begun, stops))
			end_of_job(v, log, begun > 0, &ret[i]);
		if (v->state == SCHED_REFUSED && !ret[i].found)
			snprintf(ret[i].state, sizeof(ret[i].state), "refused");
	}
}

/* ---- waiting ---- */

void job_waits_release(struct job_waits *w)
{
	for (size_t i = 0; i < w->said.nr; i++)
		free(w->said.v[i]);
	VEC_RELEASE(&w->said);
}

static bool waits_for(const struct sched_view *v, const char *reason)
{
	return v->stuck && (!reason || !strcmp(v->reason, reason));
}

static size_t waiting(const struct sched_view *v, size_t nr, const char *reason)
{
	size_t n = 0;

	for (size_t i = 0; i < nr; i++)
		n += waits_for(&v[i], reason);
	return n;
}

static bool was_said(const struct job_waits *w, const char *reason)
{
	return VEC_FIND(&w->said, x, !strcmp(*x, reason)) != NULL;
}

char *job_waits_next(struct job_waits *w, const struct sched_view *v, size_t nr)
{
	for (size_t i = w->said.nr; i-- > 0;)
		if (!waiting(v, nr, w->said.v[i])) {
			free(w->said.v[i]);
			w->said.v[i] = w->said.v[--w->said.nr];
		}
	for (size_t i = 0; i < nr; i++) {
		size_t n;

		if (!waits_for(&v[i], NULL) || was_said(w, v[i].reason))
			continue;
		n = waiting(v, nr, v[i].reason);
		VEC_PUSH(&w->said, xstrdup(v[i].reason));
		if (n == 1)
			return xasprintf("job %s waits: %s: %s", v[i].job, v[i].reason, v[i].stuck);
		return xasprintf("%zu jobs wait, such as %s: %s: %s", n, v[i].job, v[i].reason,
				 v[i].stuck);
	}
	return NULL;
}
