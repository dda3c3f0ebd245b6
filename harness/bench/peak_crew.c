#include "peak_crew.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "profrig/base/clock.h"
#include "profrig/base/xalloc.h"

#define SPINS 256        /* before another thread may run on this processor */
#define GROWTH_MAX 16.0  /* of a block's size, from one to the next */
#define SIZE_MAX_F 1e15  /* far above what a block can be */
#define BLOCKS_CAP 65536 /* whatever blocks_max is */
#define AGREE 3          /* blocks that are the best, about: a peak that is seen once is none */
#define AGREE_WITHIN 0.98

struct member {
	struct crew *crew;
	pthread_t thread;
	unsigned me;
	int64_t begin_ns, end_ns; /* of the last block */
	int64_t cpu_ns;           /* of the last block of the warm-up */
} __attribute__((aligned(64)));

struct crew {
	const struct crew_work *w;
	struct member *members;
	unsigned nr;
	atomic_uint arrived, round;
	atomic_bool cancelled;
	/* written by the first one alone, while the others wait */
	uint64_t size;
	bool warm, done;
	int64_t since_ns;   /* of the warm-up, then of measuring */
	double best[AGREE]; /* the first ones, in order */
	VEC(double) rates;
};

/* False: the crew is not complete. */
static bool all_here(struct crew *c)
{
	unsigned round = atomic_load(&c->round);

	if (atomic_fetch_add(&c->arrived, 1) + 1 == c->nr) {
		atomic_store(&c->arrived, 0);
		atomic_fetch_add(&c->round, 1);
		return true;
	}
	for (unsigned i = 1; atomic_load(&c->round) == round; i++) {
		if (atomic_load(&c->cancelled))
			return false;
		if (i % SPINS == 0)
			sched_yield();
	}
	return true;
}

static double block_seconds(const struct crew *c)
{
	int64_t begin = c->members[0].begin_ns, end = c->members[0].end_ns;

	for (unsigned i = 1; i < c->nr; i++) {
		if (c->members[i].begin_ns < begin)
			begin = c->members[i].begin_ns;
		if (c->members[i].end_ns > end)
			end = c->members[i].end_ns;
	}
	return end > begin ? (double)(end - begin) / 1e9 : 1e-9;
}

/*
 * By the thread's own time: other programs that interrupt a block would make the next too short.
 * Whether the size may have to grow more.
 */
static bool size_adapt(struct crew *c)
{
	int64_t ns = c->members[0].cpu_ns > 0 ? c->members[0].cpu_ns : 1;
	double by = fmin(c->w->block_s * 1e9 / (double)ns, GROWTH_MAX);
	double size = fmin((double)c->size * by, SIZE_MAX_F);

	c->size = size < 1 ? 1 : (uint64_t)size;
	return by >= GROWTH_MAX && size < SIZE_MAX_F;
}

static void rate_note(struct crew *c, double rate)
{
	VEC_PUSH(&c->rates, rate);
	for (int i = 0; i < AGREE; i++)
		if (rate > c->best[i]) {
			double lower = c->best[i];

			c->best[i] = rate;
			rate = lower;
		}
}

static bool is_enough(const struct crew *c, double seconds)
{
	const struct crew_work *w = c->w;

	if (c->rates.nr >= w->blocks_max || c->rates.nr >= BLOCKS_CAP || seconds >= w->seconds_most)
		return c->rates.nr >= w->blocks_min;
	return c->rates.nr >= w->blocks_min && seconds >= w->seconds &&
	       c->best[AGREE - 1] >= AGREE_WITHIN * c->best[0];
}

static void block_note(struct crew *c)
{
	int64_t now = clock_monotonic_ns();
	double since = (double)(now - c->since_ns) / 1e9;
	bool grows;

	if (c->warm) {
		rate_note(c, (double)c->size / block_seconds(c));
		c->done = is_enough(c, since);
		return;
	}
	/* where others had the processor during the warm-up, it goes on */
	grows = c->w->block_s > 0 && size_adapt(c);
	c->warm = since >= c->w->warm_s && !grows;
	if (c->warm)
		c->since_ns = now;
}

/* c->warm stays as it is until all have done their part. */
static void part_do(struct member *m)
{
	struct crew *c = m->crew;
	int64_t cpu_ns = c->warm ? 0 : clock_thread_cpu_ns();

	m->begin_ns = clock_monotonic_ns();
	c->w->part(c->w->ctx, m->me, c->nr, c->size);
	m->end_ns = clock_monotonic_ns();
	if (!c->warm)
		m->cpu_ns = clock_thread_cpu_ns() - cpu_ns;
}

static void *member_main(void *arg)
{
	struct member *m = arg;
	struct crew *c = m->crew;

	while (all_here(c) && !c->done) {
		part_do(m);
		if (!all_here(c))
			break;
		if (m->me == 0)
			block_note(c);
	}
	return NULL;
}

static int member_start(struct member *m, int cpu)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int code = pthread_attr_init(&attr);

	if (code)
		return code;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	code = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	if (!code)
		code = pthread_create(&m->thread, &attr, member_main, m);
	pthread_attr_destroy(&attr);
	return code;
}

/* The first one from `cpu` on that is in the set; CPU_SETSIZE: there is none. */
static int cpu_from(const cpu_set_t *set, int cpu)
{
	while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, set))
		cpu++;
	return cpu;
}

static int members_run(struct crew *c, const cpu_set_t *set, struct err *err)
{
	unsigned started = 0;
	int cpu = -1, code = 0;

	for (; !code && started < c->nr; started += !code) {
		c->members[started] = (struct member){ .crew = c, .me = started };
		cpu = cpu_from(set, cpu + 1);
		code = member_start(&c->members[started], cpu);
	}
	if (code)
		atomic_store(&c->cancelled, true);
	for (unsigned i = 0; i < started; i++)
		pthread_join(c->members[i].thread, NULL);
	return code ? err_sys(err, code, "thread %u of %u", started + 1, c->nr) : 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void rates_sum_up(struct crew *c, struct crew_rates *ret)
{
	size_t n = c->rates.nr;

	qsort(c->rates.v, n, sizeof(*c->rates.v), by_value);
	ret->best = c->rates.v[n - 1];
	ret->median = (c->rates.v[(n - 1) / 2] + c->rates.v[n / 2]) / 2;
}

int crew_run(unsigned threads, const struct crew_work *w, struct crew_rates *ret, struct err *err)
{
	struct crew c = { .w = w, .nr = threads, .size = w->size, .warm = w->warm_s <= 0 };
	cpu_set_t set;
	int r;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return err_sys(err, errno, "sched_getaffinity");
	if (threads < 1 || (unsigned)CPU_COUNT(&set) < threads)
		return err_set(err, ERANGE, "%u threads and %d processors", threads,
			       CPU_COUNT(&set));
	c.members = aligned_alloc(_Alignof(struct member), threads * sizeof(*c.members));
	if (!c.members)
		xalloc_failed();
	c.since_ns = clock_monotonic_ns();
	r = members_run(&c, &set, err);
	if (r == 0)
		rates_sum_up(&c, ret);
	free(c.members);
	VEC_RELEASE(&c.rates);
	return r;
}
