/*
 * Threads sleep between two runs. Each run has a number, so that no thread takes part twice. A
 * run's data is handed over under the lock; its jobs are taken by one atomic counter.
 */
#include "profrig/base/workers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/xalloc.h"

/*
 * How often a thread that waits lets others run before it sleeps: some 50 µs. Runs follow each
 * other within that time, and to wake a thread takes as long, on virtual machines above all.
 */
#define YIELDS 200

struct workers {
	unsigned nr; /* the caller's included */
	pthread_t *threads;
	pthread_mutex_t lock;
	pthread_cond_t begin, end;
	/* under the lock */
	atomic_uint_fast64_t run; /* looked at without it, too */
	atomic_uint busy;         /* threads that have not finished this run; as run */
	bool quit;
	void (*job)(void *ctx, size_t i, unsigned worker);
	void *ctx;
	size_t jobs;
	atomic_size_t next;
};

struct start {
	struct workers *w;
	unsigned index;
};

static void jobs_do(struct workers *w, unsigned worker)
{
	size_t i;

	while ((i = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed)) < w->jobs)
		w->job(w->ctx, i, worker);
}

static void *thread_main(void *arg)
{
	struct start start = *(struct start *)arg;
	struct workers *w = start.w;
	uint64_t done = 0;

	free(arg);
	pthread_mutex_lock(&w->lock);
	for (;;) {
		while (!w->quit && w->run == done)
			pthread_cond_wait(&w->begin, &w->lock);
		if (w->quit)
			break;
		done = w->run;
		pthread_mutex_unlock(&w->lock);
		jobs_do(w, start.index);
		pthread_mutex_lock(&w->lock);
		if (--w->busy == 0)
			pthread_cond_signal(&w->end);
		pthread_mutex_unlock(&w->lock);
		for (int i = 0; i < YIELDS && w->run == done; i++)
			sched_yield();
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static unsigned processors_count(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0 || CPU_COUNT(&set) < 1)
		return 1;
	return (unsigned)CPU_COUNT(&set);
}

/* Signals are blocked in workers, as another thread waits for them. */
static void threads_start(struct workers *w, unsigned n)
{
	sigset_t all, old;

	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* map_guard.h */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (w->nr < n) {
		struct start *start = xcalloc(1, sizeof(*start));

		*start = (struct start){ w, w->nr };
		if (pthread_create(&w->threads[w->nr - 1], NULL, thread_main, start) != 0) {
			free(start);
			break;
		}
		w->nr++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

struct workers *workers_new(unsigned n)
{
	struct workers *w = xcalloc(1, sizeof(*w));

	if (n == 0)
		n = processors_count();
	if (n > WORKERS_MAX)
		n = WORKERS_MAX;
	w->nr = 1;
	w->threads = xcalloc(n, sizeof(*w->threads));
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->begin, NULL);
	pthread_cond_init(&w->end, NULL);
	threads_start(w, n);
	return w;
}

void workers_free(struct workers *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->quit = true;
	pthread_cond_broadcast(&w->begin);
	pthread_mutex_unlock(&w->lock);
	for (unsigned i = 1; i < w->nr; i++)
		pthread_join(w->threads[i - 1], NULL);
	pthread_cond_destroy(&w->begin);
	pthread_cond_destroy(&w->end);
	pthread_mutex_destroy(&w->lock);
	free(w->threads);
	free(w);
}

void workers_freep(struct workers **w)
{
	workers_free(*w);
	*w = NULL;
}

unsigned workers_count(const struct workers *w)
{
	return w->nr;
}

void workers_run(struct workers *w, size_t n, void (*job)(void *ctx, size_t i, unsigned worker),
		 void *ctx)
{
	if (w->nr == 1 || n < 2) {
		for (size_t i = 0; i < n; i++)
			job(ctx, i, 0);
		return;
	}
	pthread_mutex_lock(&w->lock);
	w->job = job;
	w->ctx = ctx;
	w->jobs = n;
	atomic_store_explicit(&w->next, 0, memory_order_relaxed);
	w->busy = w->nr - 1;
	w->run++;
	pthread_cond_broadcast(&w->begin);
	pthread_mutex_unlock(&w->lock);
	jobs_do(w, 0);
	for (int i = 0; i < YIELDS && w->busy > 0; i++)
		sched_yield();
	pthread_mutex_lock(&w->lock);
	while (w->busy > 0)
		pthread_cond_wait(&w->end, &w->lock);
	pthread_mutex_unlock(&w->lock);
}
