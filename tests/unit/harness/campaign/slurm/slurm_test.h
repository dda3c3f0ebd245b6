/*
 * slurm_test: a campaign's directory, a scheduler on it, and waiting for what becomes of its jobs.
 * For tests with stand-ins and for those with a real Slurm.
 */
#ifndef SLURM_TEST_H
#define SLURM_TEST_H

#include "scheduler.h"
#include "slurm_settings.h"
#include "test.h"

#include "profrig/base/clock.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"

struct bench {
	char *dir;
	struct slurm_settings settings;
	struct sched *s;
	struct strvec names; /* of attempts */
};

/* n jobs of `each` attempts: "c0-1.1", … Valid until the next call. */
static inline const struct sched_job *bench_jobs(struct bench *b, size_t n, size_t each)
{
	static struct sched_job jobs[2000];
	static char *list[4000];
	size_t at = 0;

	assert_true(n <= ARRAY_LEN(jobs) && n * (each + 1) <= ARRAY_LEN(list));
	for (size_t i = 0; i < n; i++) {
		jobs[i] = (struct sched_job){ list + at, 0 };
		for (size_t k = 0; k < each; k++) {
			strvec_pushf(&b->names, "c%zu-%zu.1", i, k + 1);
			list[at++] = b->names.v[b->names.nr - 1];
		}
		list[at++] = NULL;
	}
	return jobs;
}

static inline void bench_record(struct bench *b, const char *attempt, const char *status)
{
	CLEANUP(xfreep)
	char *name = xasprintf("runs/%s/run.json", attempt),
	     *text = xasprintf("{\"schema\":\"profrig.run/1\",\"status\":\"%s\"}", status);

	test_put(b->dir, name, text);
}

/* "x7/0 pending - 10_0 n1 PENDING; …" of all jobs; kept. */
static inline char *bench_views(struct bench *b)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	const struct sched_view *v;
	size_t n = scheduler_slurm.views(b->s, &v);

	for (size_t i = 0; i < n; i++)
		strbuf_addf(&sb, "%s/%zu %s %s %s %s %s%s%s [%s]; ", v[i].nonce, v[i].task,
			    sched_state_word(v[i].state),
			    *sched_class_word(v[i].class) ? sched_class_word(v[i].class) : "-",
			    *v[i].job ? v[i].job : "-", *v[i].node ? v[i].node : "-",
			    *v[i].word ? v[i].word : "-", v[i].stuck ? " stuck" : "",
			    v[i].later ? " later" : "", v[i].reason);
	return kept(strbuf_steal(&sb));
}

/* Steps until the views have the text, or fails. */
static inline void bench_until_s(struct bench *b, const char *text, double limit_s)
{
	int64_t end = clock_monotonic_ns() + (int64_t)(limit_s * (double)NS_PER_S);

	for (;;) {
		int ms = scheduler_slurm.step(b->s);

		assert_true(ms > 0 && ms <= 1000);
		if (strstr(bench_views(b), text))
			return;
		if (clock_monotonic_ns() > end)
			fail_msg("no '%s' in %s(%s)", text, bench_views(b),
				 scheduler_slurm.trouble(b->s));
		usleep((useconds_t)(ms < 20 ? ms : 20) * 1000);
	}
}

/* Steps for a while. */
static inline void bench_run(struct bench *b, double s)
{
	int64_t end = clock_monotonic_ns() + (int64_t)(s * (double)NS_PER_S);

	while (clock_monotonic_ns() < end) {
		scheduler_slurm.step(b->s);
		usleep(5000);
	}
}

static inline int bench_open_as(struct bench *b, const struct sched_opts *times, struct err *err)
{
	struct sched_opts o = *times;
	CLEANUP(xfreep) char *program = xasprintf("%s/profrig", b->dir);

	o.dir = b->dir;
	o.name = "demo";
	o.program = program;
	o.slurm = &b->settings;
	return scheduler_slurm.open(&o, &b->s, err);
}

static inline void bench_submit(struct bench *b, const char *nonce, size_t n, size_t each)
{
	struct err e = ERR_INIT;

	if (scheduler_slurm.submit(b->s, nonce, bench_jobs(b, n, each), n, &e) < 0)
		fail_msg("%s", e.msg);
}

#endif
