/*
 * All analyses that are wanted, of one model, by a pool of threads. A thread takes the first one,
 * in the order of the registry, that has not begun and whose `after` have ended. Each writes into a
 * table set and a log of warnings of its own; they come together in the order of the registry, so
 * tables, warnings and notes do not depend on the number of threads. With after_all an analysis
 * begins when all before it have come together.
 *
 * Memory: what as many analyses work on as there are threads, at most ANALYSIS_THREADS of them: of
 * 10 M calls in a model the peak is 710 MB with one thread, 750 to 800 MB with two.
 */
#include "session_private.h"

#include <pthread.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/workers.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

/* The longest one takes a fifth of the time of all, and each may have threads of its own. */
#define ANALYSIS_THREADS 4

enum stage { WAITS, RUNS, ENDED, TOLD };

struct task {
	const struct analysis *a;
	enum stage stage;
	int result; /* as analysis_run */
	double took_s;
	struct table_set ts;
	struct warning_log log;
	struct err err;
};

struct tasks {
	struct session *s;
	struct task *v;
	size_t nr;
	size_t left; /* tasks that have not begun */
	pthread_mutex_t lock;
	pthread_cond_t ended;
};

static struct task *task_find(struct tasks *ts, const char *name)
{
	for (size_t i = 0; i < ts->nr; i++)
		if (strcmp(ts->v[i].a->name, name) == 0)
			return &ts->v[i];
	return NULL; /* it is not wanted */
}

static bool is_ready(struct tasks *ts, const struct task *t)
{
	for (const char *const *name = t->a->after; *name; name++) {
		const struct task *before = task_find(ts, *name);

		if (before && before->stage < ENDED)
			return false;
	}
	return t->stage == WAITS && !t->a->after_all;
}

static struct task *ready_task(struct tasks *ts)
{
	for (size_t i = 0; i < ts->nr; i++)
		if (is_ready(ts, &ts->v[i]))
			return &ts->v[i];
	return NULL;
}

static void task_run(struct tasks *ts, struct task *t)
{
	struct session *s = ts->s;
	int64_t at = clock_monotonic_ns();

	for (const char *const *name = t->a->after; *name; name++) {
		const struct task *before = task_find(ts, *name);

		if (before)
			VEC_PUSH(&t->ts.others, &before->ts);
	}
	model_warn_into(&t->log);
	t->result = analysis_run(t->a, s->m, s->profile ? s->profile : s->of_model, &s->ao, &t->ts,
				 &t->err);
	if (t->result == ANALYSIS_LEFT_OUT)
		model_warn(s->m, UINT32_MAX, W_NOT_IN_PROFILE, 1, "%s", t->a->name);
	model_warn_into(NULL);
	t->took_s = session_lap_s(&at);
}

/* The listener is the caller's thread's, which is worker 0. */
static void tasks_tell(struct tasks *ts)
{
	for (size_t i = 0; i < ts->nr; i++) {
		if (ts->v[i].stage != ENDED)
			continue;
		ts->v[i].stage = TOLD;
		session_done(ts->s->o, SESSION_ANALYSE, ts->v[i].a->name);
	}
}

/* One thread's part: until nothing is left to begin. */
static void tasks_help(void *ctx, size_t i, unsigned worker)
{
	struct tasks *ts = ctx;

	(void)i;
	pthread_mutex_lock(&ts->lock);
	while (ts->left > 0) {
		struct task *t = ready_task(ts);

		if (!t) {
			pthread_cond_wait(&ts->ended, &ts->lock);
			continue;
		}
		t->stage = RUNS;
		ts->left--;
		pthread_mutex_unlock(&ts->lock);
		task_run(ts, t);
		pthread_mutex_lock(&ts->lock);
		t->stage = ENDED;
		if (worker == 0)
			tasks_tell(ts);
		pthread_cond_broadcast(&ts->ended);
	}
	pthread_mutex_unlock(&ts->lock);
}

/* What a task made, behind what those before it made. */
static void task_take(struct tasks *ts, struct task *t, struct table_set *out)
{
	struct session *s = ts->s;

	table_set_take(out, &t->ts);
	model_warnings_take(s->m, &t->log);
	if (t->result == ANALYSIS_LEFT_OUT) {
		session_note(s->o, s->out, SESSION_ANALYSIS_LEFT_OUT,
			     "analysis %s is left out: it needs --sink model", t->a->name);
	} else if (t->result < 0) {
		session_note(s->o, s->out, SESSION_ANALYSIS_FAILED, "analysis %s: %s", t->a->name,
			     t->err.msg);
		session_worsen(s->out, SESSION_PARTIAL);
	}
}

/* Those with after_all run here, alone. */
static void tasks_take(struct tasks *ts, struct table_set *out)
{
	for (size_t i = 0; i < ts->nr; i++) {
		struct task *t = &ts->v[i];

		if (t->a->after_all) {
			VEC_PUSH(&t->ts.others, out);
			task_run(ts, t);
			t->stage = ENDED;
			tasks_tell(ts);
		}
		task_take(ts, t, out);
	}
}

static void tasks_make(struct tasks *ts, const struct analysis *const *v, size_t nr)
{
	ts->v = xcalloc(nr + 1, sizeof(*ts->v));
	ts->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		ts->v[i] = (struct task){
			.a = v[i], .ts = TABLE_SET_INIT, .log = WARNING_LOG_INIT, .err = ERR_INIT
		};
		ts->left += !v[i]->after_all;
	}
	pthread_mutex_init(&ts->lock, NULL);
	pthread_cond_init(&ts->ended, NULL);
}

static void tasks_release(struct tasks *ts)
{
	pthread_mutex_destroy(&ts->lock);
	pthread_cond_destroy(&ts->ended);
	free(ts->v);
}

/* All but energy is statistics: the rest of the time that has gone by. */
static void tasks_time(struct tasks *ts, double all_s)
{
	const struct task *energy = task_find(ts, "energy");
	double energy_s = energy ? energy->took_s : 0;

	ts->s->times.attribute_s += energy_s;
	ts->s->times.stats_s += all_s - energy_s;
}

void session_run_analyses(struct session *s, const struct analysis *const *v, size_t nr,
			  struct table_set *out)
{
	CLEANUP(workers_freep) struct workers *w = workers_new(s->ao.threads);
	unsigned threads =
		workers_count(w) < ANALYSIS_THREADS ? workers_count(w) : ANALYSIS_THREADS;
	int64_t at = clock_monotonic_ns();
	struct tasks ts = { .s = s };

	s->ao.shared = analysis_shared_new();
	model_set_workers(s->m, w);
	analysis_shared_prepare(v, nr, s->m, s->profile ? s->profile : s->of_model, &s->ao);
	model_set_workers(s->m, NULL);
	tasks_make(&ts, v, nr);
	workers_run(w, threads, tasks_help, &ts);
	tasks_tell(&ts);
	tasks_take(&ts, out);
	tasks_time(&ts, session_lap_s(&at));
	tasks_release(&ts);
	analysis_shared_free(STEAL(s->ao.shared));
}
