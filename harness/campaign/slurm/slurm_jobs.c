#include "slurm_jobs.h"
#include "slurm_script.h"

#include <stdarg.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

#define LOOK_NS (2 * NS_PER_S) /* between two looks for the same record */

/* ---- batches ---- */

static void batch_free(struct slurm_batch *b)
{
	for (size_t i = 0; i < b->jobs.nr; i++)
		strvec_release(&b->jobs.v[i].attempts);
	VEC_RELEASE(&b->jobs);
	VEC_RELEASE(&b->strays);
	free(b->nonce);
	free(b->name);
	free(b);
}

void slurm_jobs_release(struct slurm_jobs *j)
{
	for (size_t i = 0; i < j->batches.nr; i++)
		batch_free(j->batches.v[i]);
	VEC_RELEASE(&j->batches);
	for (size_t i = 0; i < j->blames.nr; i++)
		free(j->blames.v[i].node);
	VEC_RELEASE(&j->blames);
	strvec_release(&j->excluded);
}

struct slurm_batch *slurm_batch_find(const struct slurm_jobs *j, const char *nonce)
{
	for (size_t i = 0; i < j->batches.nr; i++)
		if (!strcmp(j->batches.v[i]->nonce, nonce))
			return j->batches.v[i];
	return NULL;
}

struct slurm_batch *slurm_batch_add(struct slurm_jobs *j, const char *nonce,
				    const struct sched_job *jobs, size_t nr)
{
	struct slurm_batch *b = xcalloc(1, sizeof(*b));

	b->nonce = xstrdup(nonce);
	b->name = slurm_job_name(nonce);
	for (size_t i = 0; i < nr; i++) {
		struct slurm_job job = { .attempts = STRVEC_INIT, .time_s = jobs[i].time_s };

		strvec_pushv(&job.attempts, jobs[i].attempts);
		VEC_PUSH(&b->jobs, job);
	}
	VEC_PUSH(&j->batches, b);
	return b;
}

static bool job_is_final(const struct slurm_job *job)
{
	return job->state == SCHED_ENDED || job->state == SCHED_LOST || job->state == SCHED_REFUSED;
}

bool slurm_batch_lives(const struct slurm_batch *b)
{
	for (size_t i = 0; i < b->jobs.nr; i++)
		if (!job_is_final(&b->jobs.v[i]))
			return true;
	return false;
}

bool slurm_batch_asks(const struct slurm_batch *b)
{
	if (b->fate == SLURM_NOT_QUEUED)
		return b->absent_ns != 0;
	return (b->fate == SLURM_DOUBT || b->fate == SLURM_QUEUED) && slurm_batch_lives(b);
}

void slurm_batch_queued(struct slurm_batch *b, uint64_t id)
{
	b->fate = SLURM_QUEUED;
	b->id = id;
	b->why[0] = '\0';
	for (size_t i = 0; i < b->jobs.nr; i++)
		if (b->jobs.v[i].state == SCHED_SUBMITTING)
			b->jobs.v[i].state = SCHED_PENDING;
}

void slurm_batch_refuse(struct slurm_batch *b, bool later, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(b->why, sizeof(b->why), fmt, ap);
	va_end(ap);
	b->fate = SLURM_NOT_QUEUED;
	b->later = later;
	for (size_t i = 0; i < b->jobs.nr; i++) {
		struct slurm_job *job = &b->jobs.v[i];

		if (job_is_final(job))
			continue;
		job->state = job->cancelled ? SCHED_ENDED : SCHED_REFUSED;
		job->class = job->cancelled ? SCHED_CANCELLED : SCHED_NONE;
	}
}

/* ---- nodes ---- */

void slurm_jobs_blame(struct slurm_jobs *j, const char *node)
{
	struct slurm_blame *b;

	/* Of several nodes it is not known which one failed. */
	if (!*node || strpbrk(node, "[,") || strlen(node) > 200)
		return;
	b = VEC_FIND(&j->blames, x, !strcmp(x->node, node));
	if (!b) {
		VEC_PUSH(&j->blames, (struct slurm_blame){ xstrdup(node), 0 });
		b = &j->blames.v[j->blames.nr - 1];
	}
	if (++b->count == SCHED_BLAMES)
		strvec_push(&j->excluded, node);
}

void slurm_jobs_pardon(struct slurm_jobs *j)
{
	for (size_t i = 0; i < j->blames.nr; i++)
		j->blames.v[i].count = 0;
	strvec_clear(&j->excluded);
}

/* ---- one job ---- */

static void job_gone(struct slurm_jobs *j, struct slurm_job *job, int64_t now_ns)
{
	if (job->gone_ns)
		return;
	job->gone_ns = now_ns;
	job->left_real_ns = clock_realtime_ns();
	j->changed = true;
}

static void job_back(struct slurm_job *job)
{
	job->gone_ns = job->left_real_ns = 0;
	job->class = SCHED_NONE;
}

static void job_class(struct slurm_job *job, const struct slurm_state *state)
{
	job->class = state->class;
	if (job->cancelled && !strcmp(state->word, "CANCELLED"))
		job->class = SCHED_CANCELLED;
}

static void job_enter(struct slurm_jobs *j, struct slurm_job *job, enum sched_state state)
{
	j->changed |= job->state != state;
	job->state = state;
	if (state == SCHED_RUNNING && !job->ran)
		job->running_real_ns = clock_realtime_ns();
	job->ran |= state == SCHED_RUNNING;
}

/* It must not run again. */
static void job_hold(struct slurm_jobs *j, struct slurm_job *job, int64_t now_ns)
{
	if (!job->gone_ns)
		job->cancel_due = job->stop_due = true;
	job->class = job->cancelled ? SCHED_CANCELLED : SCHED_INFRASTRUCTURE;
	job_gone(j, job, now_ns);
}

static void job_texts(struct slurm_job *job, const struct slurm_row *row)
{
	snprintf(job->word, sizeof(job->word), "%s", row->word);
	snprintf(job->reason, sizeof(job->reason), "%s", row->reason);
	if (*row->node)
		snprintf(job->node, sizeof(job->node), "%s", row->node);
}

static void job_row(struct slurm_jobs *j, struct slurm_job *job, const struct slurm_row *row,
		    int64_t now_ns)
{
	enum slurm_phase phase = row->state->phase;

	job->round = j->round;
	job->seen = true;
	/* A controller that was killed forgets also what was cancelled or given up. */
	if (job_is_final(job) && phase != SLURM_LEFT && phase != SLURM_UNKNOWN &&
	    (job->class == SCHED_CANCELLED || job->class == SCHED_INFRASTRUCTURE))
		job->cancel_due = true;
	/* What was cancelled here because it was requeued keeps that verdict. */
	if (job_is_final(job) || (job->gone_ns && phase == SLURM_LEFT && job->class != SCHED_NONE))
		return;
	job_texts(job, row);
	if (phase == SLURM_WAITS && (job->ran || slurm_reason_failed(row->reason)))
		phase = SLURM_HELD;
	if (job->cancelled && (phase == SLURM_WAITS || phase == SLURM_RUNS))
		job->cancel_due = true;
	switch (phase) {
	case SLURM_UNKNOWN:
		j->counts.odd_rows++;
		snprintf(j->odd_word, sizeof(j->odd_word), "%s", row->word);
		if (job->state == SCHED_SUBMITTING)
			job_enter(j, job, SCHED_PENDING);
		break;
	case SLURM_WAITS:
	case SLURM_RUNS:
		job_back(job);
		job_enter(j, job, phase == SLURM_RUNS ? SCHED_RUNNING : SCHED_PENDING);
		break;
	case SLURM_LEFT:
		job_class(job, row->state);
		job_gone(j, job, now_ns);
		break;
	case SLURM_HELD:
		job_hold(j, job, now_ns);
		break;
	}
}

/* ---- answers ---- */

struct taking {
	struct slurm_jobs *j;
	int64_t now_ns;
	bool accounting;
};

static struct slurm_batch *batch_of_row(const struct slurm_jobs *j, const struct slurm_row *row)
{
	if (strncmp(row->name, "pr-", 3) != 0)
		return NULL;
	return slurm_batch_find(j, row->name + 3);
}

/* First pass: which number a doubtful submission has. Two of them: the first one counts. */
static void row_identify(void *ctx, const struct slurm_row *row)
{
	struct taking *t = ctx;
	struct slurm_batch *b = batch_of_row(t->j, row);

	if (!b || !b->nameless || (b->fate != SLURM_DOUBT && b->fate != SLURM_QUEUED))
		return;
	if (b->id == 0 || row->id < b->id) {
		slurm_batch_queued(b, row->id);
		t->j->changed = true;
	}
}

static void rows_identify(struct slurm_jobs *j)
{
	for (size_t i = 0; i < j->batches.nr; i++) {
		j->batches.v[i]->nameless = j->batches.v[i]->id == 0;
		j->batches.v[i]->rest = NULL;
	}
}

static void batch_stray(struct slurm_jobs *j, struct slurm_batch *b, const struct slurm_row *row)
{
	if (row->state->phase == SLURM_LEFT || VEC_FIND(&b->strays, x, *x == row->id))
		return;
	VEC_PUSH(&b->strays, row->id);
	j->counts.strays++;
}

static void row_take(void *ctx, const struct slurm_row *row)
{
	struct taking *t = ctx;
	struct slurm_batch *b = batch_of_row(t->j, row);
	size_t task;

	if (!b)
		return;
	/* The second of two queueings, or one that was queued after it was given up. */
	if (row->id != b->id || b->fate == SLURM_NOT_QUEUED) {
		if (!t->accounting)
			batch_stray(t->j, b, row);
		return;
	}
	/* An array's tasks that never began are one row, once they are cancelled. */
	if (b->array && row->task == SLURM_NO_TASK && row->state->phase == SLURM_LEFT) {
		b->rest = row->state;
		return;
	}
	task = b->array ? row->task : 0;
	if (task >= b->jobs.nr) {
		t->j->counts.odd_rows++;
		return;
	}
	/* Accounting keeps RUNNING for jobs whose end it missed: only ends count. */
	if (!t->accounting || row->state->phase == SLURM_LEFT)
		job_row(t->j, &b->jobs.v[task], row, t->now_ns);
}

static bool batch_any_settled(struct slurm_jobs *j, const struct slurm_batch *b)
{
	for (size_t i = 0; i < b->jobs.nr; i++)
		if (j->settled(j->ctx, b->jobs.v[i].attempts.v[0]))
			return true;
	return false;
}

/* Not there. Once may be too early: what a controller has taken in, it may not yet show. */
static void doubt_absent(struct slurm_jobs *j, struct slurm_batch *b, int64_t now_ns)
{
	j->counts.lookups++;
	/* It ran long ago: another process submitted it, and Slurm has forgotten it. */
	if (batch_any_settled(j, b)) {
		slurm_batch_queued(b, 0);
		return;
	}
	if (!b->absent_ns) {
		b->absent_ns = now_ns;
		return;
	}
	if (now_ns - b->absent_ns >= j->lost_after_ns) {
		CLEANUP(xfreep) char *said = xstrdup(b->why);

		slurm_batch_refuse(b, true, "not queued, as two look-ups by name say%s%s",
				   *said ? "; sbatch: " : "", said);
		for (size_t i = 0; i < b->jobs.nr; i++)
			b->jobs.v[i].stop_due = true;
		j->changed = true;
	}
}

/*
 * A task that never began has no row of its own. It takes the state of the array's row. Without
 * that row it is CANCELLED if profrig has cancelled it: scancel removes such a task from the queue.
 */
static void queued_absent(struct slurm_jobs *j, struct slurm_batch *b, int64_t now_ns)
{
	static const struct slurm_state cancelled = { "CANCELLED", SLURM_LEFT,
						      SCHED_INFRASTRUCTURE };

	for (size_t i = 0; i < b->jobs.nr; i++) {
		struct slurm_job *job = &b->jobs.v[i];

		if (job->round == j->round || job_is_final(job))
			continue;
		if (!job->ran && job->class == SCHED_NONE && (b->rest || job->cancelled)) {
			const struct slurm_state *state = b->rest ? b->rest : &cancelled;

			job_class(job, state);
			snprintf(job->word, sizeof(job->word), "%s", state->word);
		}
		job_gone(j, job, now_ns);
	}
}

struct slurm_read slurm_jobs_squeue(struct slurm_jobs *j, const char *text, size_t n, bool whole,
				    int64_t now_ns)
{
	struct taking t = { j, now_ns, false };
	struct slurm_read r;

	j->round++;
	j->odd_word[0] = '\0';
	rows_identify(j);
	slurm_squeue_read(text, n, row_identify, &t);
	r = slurm_squeue_read(text, n, row_take, &t);
	j->counts.odd_rows += r.odd;
	for (size_t i = 0; whole && !r.doubt && i < j->batches.nr; i++) {
		struct slurm_batch *b = j->batches.v[i];

		if (!b->asked)
			continue;
		b->round = j->round;
		if (b->fate == SLURM_DOUBT)
			doubt_absent(j, b, now_ns);
		if (b->fate == SLURM_QUEUED)
			queued_absent(j, b, now_ns);
	}
	return r;
}

struct slurm_read slurm_jobs_sacct(struct slurm_jobs *j, const char *text, size_t n, int64_t now_ns)
{
	struct taking t = { j, now_ns, true };
	struct slurm_read r;

	rows_identify(j);
	slurm_sacct_read(text, n, row_identify, &t);
	r = slurm_sacct_read(text, n, row_take, &t);
	j->counts.odd_rows += r.odd;
	return r;
}

bool slurm_batch_wants_sacct(const struct slurm_batch *b)
{
	if (b->fate == SLURM_DOUBT)
		return b->absent_ns != 0;
	for (size_t i = 0; b->fate == SLURM_QUEUED && i < b->jobs.nr; i++) {
		const struct slurm_job *job = &b->jobs.v[i];

		if (!job_is_final(job) && job->gone_ns && job->class == SCHED_NONE)
			return true;
	}
	return false;
}

/* ---- the end ---- */

static bool job_settled(struct slurm_jobs *j, struct slurm_job *job)
{
	while (job->settled < job->attempts.nr && j->settled(j->ctx, job->attempts.v[job->settled]))
		job->settled++;
	return job->settled == job->attempts.nr;
}

/* Preemption, or a scancel by others, is no fault of the node. */
static bool node_failed(const struct slurm_job *job)
{
	static const char *const words[] = { "NODE_FAIL", "BOOT_FAIL", "LAUNCH_FAILED",
					     "RECONFIG_FAIL" };

	if (job->class != SCHED_INFRASTRUCTURE)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(job->word, words[i]))
			return true;
	return job->state == SCHED_LOST || slurm_reason_failed(job->reason);
}

static void job_end(struct slurm_jobs *j, struct slurm_job *job, enum sched_state state)
{
	job->state = state;
	if (node_failed(job))
		slurm_jobs_blame(j, job->node);
	j->changed = true;
}

static void job_lose(struct slurm_jobs *j, struct slurm_job *job)
{
	bool completed = job->class == SCHED_OK;

	snprintf(job->reason, sizeof(job->reason), "%s, and left no record within %lld s",
		 completed   ? "is COMPLETED, as Slurm says"
		 : job->seen ? "is gone from Slurm without a word"
			     : "was never seen in Slurm",
		 (long long)(j->lost_after_ns / NS_PER_S));
	job->class = SCHED_INFRASTRUCTURE;
	job->stop_due = true;
	job_end(j, job, SCHED_LOST);
}

static void job_judge(struct slurm_jobs *j, struct slurm_job *job, bool silent, int64_t now_ns)
{
	bool over;

	if (job_is_final(job) || (!job->gone_ns && !(silent && job->state == SCHED_RUNNING)))
		return;
	over = job->gone_ns && now_ns - job->gone_ns >= j->lost_after_ns;
	/* What never ran has written nothing. */
	over |= job->gone_ns && job->class == SCHED_CANCELLED && !job->ran;
	if (!over && job->looked_ns && now_ns - job->looked_ns < LOOK_NS)
		return;
	job->looked_ns = now_ns;
	if (job_settled(j, job)) {
		job_gone(j, job, now_ns);
		if (job->class == SCHED_NONE)
			job->class = SCHED_OK;
		job_end(j, job, SCHED_ENDED);
	} else if (over && (job->class == SCHED_NONE || job->class == SCHED_OK)) {
		job_lose(j, job);
	} else if (over) {
		job_end(j, job, SCHED_ENDED);
	}
}

void slurm_jobs_judge(struct slurm_jobs *j, bool silent, int64_t now_ns)
{
	for (size_t i = 0; i < j->batches.nr; i++)
		for (size_t k = 0; k < j->batches.v[i]->jobs.nr; k++)
			job_judge(j, &j->batches.v[i]->jobs.v[k], silent, now_ns);
}

bool slurm_jobs_wait(const struct slurm_jobs *j)
{
	for (size_t i = 0; i < j->batches.nr; i++)
		for (size_t k = 0; k < j->batches.v[i]->jobs.nr; k++)
			if (j->batches.v[i]->jobs.v[k].gone_ns &&
			    !job_is_final(&j->batches.v[i]->jobs.v[k]))
				return true;
	return false;
}

void slurm_jobs_cancel(struct slurm_jobs *j, struct slurm_batch *b, size_t task)
{
	for (size_t i = 0; i < b->jobs.nr; i++) {
		struct slurm_job *job = &b->jobs.v[i];

		if ((task != SCHED_ALL && task != i) || job_is_final(job))
			continue;
		job->cancelled = job->stop_due = true;
		if (b->fate == SLURM_TO_SEND && task == SCHED_ALL) {
			job->class = SCHED_CANCELLED;
			job->state = SCHED_ENDED;
			j->changed = true;
		} else {
			job->cancel_due = !job->gone_ns;
		}
	}
	if (b->fate == SLURM_TO_SEND && task == SCHED_ALL)
		b->fate = SLURM_NOT_QUEUED;
}
