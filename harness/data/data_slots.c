/*
 * Several files of one set at a time, as a distant server takes longer to answer than to send, and
 * shares its bandwidth between connections. Each lane is a thread with its own connection that
 * takes the next file. The caller's thread shows the progress of all and handles interrupts. The
 * first error ends all lanes; the next try continues with the bytes that they received.
 */
#include "data_priv.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "profrig/base/clock.h"
#include "profrig/base/xalloc.h"

#define SLOTS 8
#define SHOW_NS (100 * NS_PER_MS)

struct slots;

struct slot {
	struct slots *all;
	struct fetch f;
	struct data_opts opts; /* without messages: the caller's thread prints them */
	struct data_result ret;
	_Atomic uint64_t got; /* of the current file */
	pthread_t thread;
};

struct slots {
	struct fetch *f;
	data_get *get;
	struct data_job *jobs;
	size_t nr;
	atomic_bool stop;
	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t changed;
	size_t next, running;
	uint64_t finished; /* bytes of finished files */
	int code;
	struct err err;
};

static void note_got(void *ctx, uint64_t done, uint64_t total)
{
	struct slot *l = ctx;

	(void)total;
	atomic_store(&l->got, done);
}

/* Keeps the first error. The lock is held. */
static void slots_give_up(struct slots *all, int code, const struct err *err)
{
	if (all->code)
		return;
	all->code = code;
	all->err = *err;
	atomic_store(&all->stop, true);
}

static void *slot_main(void *arg)
{
	struct slot *l = arg;
	struct slots *all = l->all;

	pthread_mutex_lock(&all->lock);
	while (!atomic_load(&all->stop) && all->next < all->nr) {
		struct data_job *job = &all->jobs[all->next++];
		struct err err = ERR_INIT;
		int r;

		pthread_mutex_unlock(&all->lock);
		r = data_fetch_one(&l->f, job, all->get, &err);
		pthread_mutex_lock(&all->lock);
		atomic_store(&l->got, 0);
		if (r == 0)
			all->finished += (uint64_t)job->file->bytes;
		else
			slots_give_up(all, r, &err);
	}
	all->running--;
	pthread_cond_signal(&all->changed);
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

static void show_progress(const struct slots *all, const struct slot *slots, size_t nr)
{
	const struct data_opts *o = all->f->o;
	uint64_t done = all->f->done + all->finished;

	for (size_t i = 0; i < nr; i++)
		done += atomic_load(&slots[i].got);
	if (o->progress)
		o->progress(o->ctx, done, all->f->total);
	else if (o->tick)
		o->tick(o->ctx);
}

static void wait_for_all(struct slots *all, const struct slot *slots, size_t nr)
{
	struct err why = ERR_INIT;

	pthread_mutex_lock(&all->lock);
	while (all->running > 0) {
		int64_t next = clock_monotonic_ns() + SHOW_NS;
		struct timespec ts = { next / NS_PER_S, next % NS_PER_S };

		pthread_cond_timedwait(&all->changed, &all->lock, &ts);
		show_progress(all, slots, nr);
		if (fetch_interrupted(all->f)) {
			err_set(&why, EINTR, "interrupted");
			slots_give_up(all, -EINTR, &why);
		}
	}
	pthread_mutex_unlock(&all->lock);
}

/* The connection is opened by the caller's thread: only one thread may open libcurl's first. */
static int open_slot(struct slot *l, struct slots *all, struct err *err)
{
	l->all = all;
	l->opts = (struct data_opts){ .progress = note_got, .ctx = l };
	l->f = (struct fetch){ .s = all->f->s,
			       .o = &l->opts,
			       .dir = all->f->dir,
			       .http = http_open(err),
			       .ret = &l->ret,
			       .stop = &all->stop };
	return l->f.http ? 0 : -ENOTSUP;
}

/* Signals are left to the caller's thread. Returns the number of threads. */
static size_t start_threads(struct slots *all, struct slot *slots, size_t nr)
{
	sigset_t every, old;
	size_t n;

	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &old);
	all->running = nr;
	for (n = 0; n < nr; n++)
		if (pthread_create(&slots[n].thread, NULL, slot_main, &slots[n]) != 0)
			break;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_mutex_lock(&all->lock);
	all->running -= nr - n;
	pthread_mutex_unlock(&all->lock);
	return n;
}

static int run_slots(struct slots *all, struct slot *slots, size_t nr, struct err *err)
{
	size_t n = start_threads(all, slots, nr);

	if (n == 0)
		return err_set(err, EAGAIN, "cannot start a thread");
	wait_for_all(all, slots, n);
	for (size_t i = 0; i < n; i++) {
		pthread_join(slots[i].thread, NULL);
		all->f->ret->fetched_bytes += slots[i].ret.fetched_bytes;
	}
	if (all->code < 0 && err)
		*err = all->err;
	return all->code;
}

int data_slots(struct fetch *f, struct data_job *jobs, size_t nr, data_get *get, struct err *err)
{
	struct slots all = { .f = f, .get = get, .jobs = jobs, .nr = nr, .err = ERR_INIT };
	struct slot slots[SLOTS] = { 0 };
	size_t nr_slots = nr < SLOTS ? nr : SLOTS, opened = 0;
	pthread_condattr_t attr;
	int r = 0;

	pthread_mutex_init(&all.lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&all.changed, &attr);
	pthread_condattr_destroy(&attr);
	while (r == 0 && opened < nr_slots)
		r = open_slot(&slots[opened++], &all, err);
	if (r == 0)
		r = run_slots(&all, slots, nr_slots, err);
	for (size_t i = 0; i < opened; i++)
		http_close(slots[i].f.http);
	pthread_cond_destroy(&all.changed);
	pthread_mutex_destroy(&all.lock);
	return r;
}
