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

struct member {
	struct crew *crew;
	pthread_t thread;
	unsigned me;
	int64_t begin_ns, end_ns; /* of the last block */
} __attribute__((aligned(64)));

struct crew {
	const struct crew_work *w;
	struct member *members;
	unsigned nr;
	atomic_uint arrived, round;
	atomic_bool cancelled;
	/* written by the first one alone, while the others wait */
	uint64_t size;
	double rate; /* the best one while it warms up */
	bool warm, done;
	int64_t since_ns; /* of the warm-up, then of measuring */
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

/* By the best block so far: one that other programs interrupt would make the next ones too short. */
static void size_adapt(struct crew *c, double block_s)
{
	double size;

	c->rate = fmax(c->rate, (double)c->size / block_s);
	size = fmin(c->rate * c->w->block_s, (double)c->size * GROWTH_MAX);
	c->size = size < 1 ? 1 : (uint64_t)fmin(size, SIZE_MAX_F);
}

static void block_note(struct crew *c)
{
	double block_s = block_seconds(c);
	int64_t now = clock_monotonic_ns();
	double since = (double)(now - c->since_ns) / 1e9;

	if (!c->warm) {
		if (c->w->block_s > 0)
			size_adapt(c, block_s);
		c->warm = since >= c->w->warm_s;
		if (c->warm)
			c->since_ns = now;
		return;
	}
	VEC_PUSH(&c->rates, (double)c->size / block_s);
	c->done = c->rates.nr >= c->w->blocks_max || c->rates.nr >= BLOCKS_CAP ||
		  (c->rates.nr >= c->w->blocks_min && since >= c->w->seconds);
}

static void *member_main(void *arg)
{
	struct member *m = arg;
	struct crew *c = m->crew;

	while (all_here(c) && !c->done) {
		m->begin_ns = clock_monotonic_ns();
		c->w->part(c->w->ctx, m->me, c->nr, c->size);
		m->end_ns = clock_monotonic_ns();
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
