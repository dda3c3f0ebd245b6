/*
 * Answers of Slurm's programs, parted by form feeds, given to two submissions one after the other:
 * those that begin with 'a' are sacct's, 'c' scontrol's, 's' sbatch's, all others squeue's.
 */
#include "fuzz.h"
#include "slurm_answer.h"
#include "slurm_jobs.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/xalloc.h"

static bool settled(void *ctx, const char *attempt)
{
	(void)ctx;
	return attempt[1] == '0';
}

/* What came from outside and goes to terminals, files and command lines. */
static void text_check(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			abort();
}

static void job_check(const struct slurm_job *job, enum sched_state was, enum sched_class class)
{
	text_check(job->word);
	text_check(job->reason);
	for (const char *c = job->node; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-,[]", *c))
			abort();
	/* The end is the end. */
	if (was >= SCHED_ENDED && (job->state != was || job->class != class))
		abort();
	if (job->state == SCHED_LOST && job->class != SCHED_INFRASTRUCTURE)
		abort();
	if (job->class == SCHED_CANCELLED && !job->cancelled)
		abort();
}

static void answer_take(struct slurm_jobs *j, const char *text, size_t n, int64_t now_ns)
{
	CLEANUP(xfreep) char *copy = xstrndup(text, n);
	uint64_t id = 0;

	switch (*copy) {
	case 'a':
		slurm_jobs_sacct(j, text + 1, n - 1, now_ns);
		break;
	case 'c':
		if (slurm_config_read(text + 1, n - 1).max_array > 4000001)
			abort();
		break;
	case 's':
		if (slurm_sbatch_read(0, copy + 1, "", &id) == SLURM_ACCEPTED && id == 0)
			abort();
		slurm_sbatch_read(1, "", copy + 1, &id);
		break;
	default:
		slurm_jobs_squeue(j, text, n, true, now_ns);
	}
}

static void jobs_step(struct slurm_jobs *j, const char *text, size_t n, int64_t now_ns)
{
	enum sched_state state[8];
	enum sched_class class[8];
	size_t at = 0;

	for (size_t i = 0; i < j->batches.nr; i++) {
		struct slurm_batch *b = j->batches.v[i];

		b->asked = slurm_batch_asks(b);
		for (size_t k = 0; k < b->jobs.nr; k++, at++) {
			state[at] = b->jobs.v[k].state;
			class[at] = b->jobs.v[k].class;
		}
	}
	answer_take(j, text, n, now_ns);
	slurm_jobs_judge(j, false, now_ns);
	at = 0;
	for (size_t i = 0; i < j->batches.nr; i++)
		for (size_t k = 0; k < j->batches.v[i]->jobs.nr; k++, at++)
			job_check(&j->batches.v[i]->jobs.v[k], state[at], class[at]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static char a0[] = "a0", a1[] = "a1", a2[] = "a2";
	static char *const list0[] = { a0, NULL }, *const list1[] = { a1, NULL },
			   *const list2[] = { a2, a0, NULL };
	const struct sched_job jobs[] = { { list0, 0 }, { list1, 0 }, { list2, 0 } };
	struct slurm_jobs j = { .settled = settled,
				.excluded = STRVEC_INIT,
				.lost_after_ns = 3 * NS_PER_S };
	struct slurm_batch *b = slurm_batch_add(&j, "x", jobs, 3);
	int64_t now_ns = NS_PER_S;

	b->array = true;
	slurm_batch_queued(b, 10);
	b = slurm_batch_add(&j, "y", jobs, 2);
	b->array = true;
	b->fate = SLURM_DOUBT;
	slurm_jobs_cancel(&j, b, 1);
	for (size_t at = 0; at <= n && now_ns < 1000 * NS_PER_S; now_ns += NS_PER_S) {
		const uint8_t *end = at < n ? memchr(data + at, '\f', n - at) : NULL;
		size_t len = end ? (size_t)(end - (data + at)) : n - at;

		jobs_step(&j, (const char *)data + at, len, now_ns);
		at += len + 1;
	}
	/* Whatever was said, silence ends all. */
	for (int i = 0; i < 20; i++, now_ns += NS_PER_S)
		jobs_step(&j, "", 0, now_ns);
	for (size_t i = 0; i < j.batches.nr; i++)
		if (slurm_batch_lives(j.batches.v[i]))
			abort();
	slurm_jobs_release(&j);
	return 0;
}
